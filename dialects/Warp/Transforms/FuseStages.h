//===- FuseStages.h - joining stages through registers --------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_WARP_TRANSFORMS_FUSESTAGES_H
#define HEDDLE_DIALECTS_WARP_TRANSFORMS_FUSESTAGES_H

#include "dialects/Warp/IR/WarpDialect.h"

namespace heddle::warp {

/// Joins the producer and every consumer of the `regs` pipe into the producer, whose
/// commit then hands its values over directly; the consumers are erased. `onFuse` hears
/// of each pair before it is joined. Errors name the pipe and what does not fit.
mlir::LogicalResult fuseThroughRegs(PipeOp pipe,
                                    llvm::function_ref<void(StageOp into, StageOp from)> onFuse);

} // namespace heddle::warp

#endif // HEDDLE_DIALECTS_WARP_TRANSFORMS_FUSESTAGES_H
