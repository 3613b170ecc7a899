//===- InsertFences.cpp - warp-insert-fences ------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In:  stages or roles with resolved links; fences may be there already.
// Out: every fence that the pipes' agents ask for (Ordering.cpp) stands directly at the
//      verb it belongs to; none is added where one does already.
// Not: removal of fences that are not needed.
//
//===----------------------------------------------------------------------===//
#include "dialects/Warp/Transforms/Ordering.h"
#include "dialects/Warp/Transforms/Passes.h"

namespace heddle::warp {
#define GEN_PASS_DEF_INSERTFENCESPASS
#include "dialects/Warp/Transforms/Passes.h.inc"
} // namespace heddle::warp

using namespace mlir;
using namespace heddle::warp;

namespace {
struct InsertFencesPass : heddle::warp::impl::InsertFencesPassBase<InsertFencesPass> {
  using Base::Base;
  void runOnOperation() override;
};
} // namespace

void InsertFencesPass::runOnOperation() {
  KernelOp kernel = getOperation();
  const heddle::target::Target *target = getTarget(kernel);
  if (!target) {
    kernel.emitOpError("expected a target (run warp-resolve-links), got none");
    return signalPassFailure();
  }
  OpBuilder builder(kernel.getContext());
  for (const FenceNeed &need : getFenceNeeds(kernel, *target)) {
    if (isMet(need))
      continue;
    if (need.beforeVerb)
      builder.setInsertionPoint(need.verb);
    else
      builder.setInsertionPointAfter(need.verb);
    FenceOp::create(builder, need.verb->getLoc(), need.kind);
  }
}
