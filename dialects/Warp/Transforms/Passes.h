//===- Passes.h - passes on the warp dialect ------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All run on warp.kernel ops (nest them: `pm.nest<warp::KernelOp>()`), need only the
// kernel they run on, and leave it unchanged or half-done when they fail. The order is
//
//   resolve-links, verify-protocol, assign-roles, lag-releases, insert-fences,
//   check-ordering, allocate
//
// and, before instructions are emitted, verify-protocol, check-ordering, verify-roles.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_WARP_TRANSFORMS_PASSES_H
#define HEDDLE_DIALECTS_WARP_TRANSFORMS_PASSES_H

#include "dialects/Warp/IR/WarpDialect.h"
#include "mlir/Pass/Pass.h"

namespace heddle::warp {

#define GEN_PASS_DECL
#include "dialects/Warp/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "dialects/Warp/Transforms/Passes.h.inc"

} // namespace heddle::warp

#endif // HEDDLE_DIALECTS_WARP_TRANSFORMS_PASSES_H
