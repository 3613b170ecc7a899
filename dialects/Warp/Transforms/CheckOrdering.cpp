//===- CheckOrdering.cpp - warp-check-ordering ----------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In:  roles after warp-lag-releases and warp-insert-fences, edited or not.
// Out: unchanged, or an error that names pipe, writer, reader and what is missing.
// Not: a proof for orders other than the ones those passes make: a fence counts at the
//      level of its verb only.
//
//===----------------------------------------------------------------------===//
#include "dialects/Warp/Transforms/Ordering.h"
#include "dialects/Warp/Transforms/Passes.h"

namespace heddle::warp {
#define GEN_PASS_DEF_CHECKORDERINGPASS
#include "dialects/Warp/Transforms/Passes.h.inc"
} // namespace heddle::warp

using namespace mlir;
using namespace heddle::warp;
using heddle::target::MmaFamily;
using heddle::target::Target;

namespace {
struct CheckOrderingPass : heddle::warp::impl::CheckOrderingPassBase<CheckOrderingPass> {
  using Base::Base;
  void runOnOperation() override;
};
} // namespace

static LogicalResult checkFences(KernelOp kernel, const Target &target) {
  for (const FenceNeed &need : getFenceNeeds(kernel, target)) {
    if (isMet(need))
      continue;
    PipeOp pipe = need.pipe;
    InFlightDiagnostic diag =
        need.verb->emitOpError("expected warp.fence <")
        << stringifyFenceKind(need.kind) << "> " << (need.beforeVerb ? "before" : "after")
        << " it to order what is written to pipe \"" << pipe.getName() << "\" by " << need.writer
        << " and read by " << need.reader << ", found none";
    diag.attachNote(pipe.getLoc()) << "pipe \"" << pipe.getName() << "\"";
    return diag;
  }
  return success();
}

/// Accumulators that ordinary code touches must be complete.
static LogicalResult checkReads(KernelOp kernel) {
  LogicalResult result = success();
  kernel.walk([&](Operation *op) {
    if (!isa<StoreOp, PackOp>(op) || !isInFlight(op->getOperand(0)))
      return WalkResult::advance();
    result = op->emitOpError("expected warp.mma_wait between the multiplications of ")
             << describeProcess(getProcess(op)) << " and this read of their accumulator";
    return WalkResult::interrupt();
  });
  return result;
}

/// Whether the release follows multiplications that `reads` has at its level only once
/// they are done.
static bool waitsForReads(ReleaseOp release, ArrayRef<Access> reads, const Target &target) {
  auto reading = [&](Operation *op) {
    return llvm::any_of(
        reads, [&](auto &a) { return a.agent == Agent::TensorCore && op->isAncestor(a.op); });
  };
  Operation *named = release.getAfter() ? release.getAfter().getDefiningOp() : nullptr;
  for (Operation *op = release->getPrevNode(); op; op = op->getPrevNode()) {
    if (op == named || (isa<MmaWaitOp>(op) && target.mma == MmaFamily::Wgmma))
      return true;
    if (reading(op))
      return false;
  }
  return release.getAfter() != nullptr;
}

/// A slot that the tensor core reads in the background is released after that.
static LogicalResult checkReleases(PipeOp pipe, const Target &target) {
  PipeUses uses = getUses(pipe);
  for (ReleaseOp release : uses.releases) {
    SmallVector<Access> reads;
    for (WaitOp wait : uses.waits)
      if (getProcess(wait) == getProcess(release))
        llvm::append_range(reads, getAccesses(wait, target));
    if (llvm::none_of(reads, [](auto &a) { return a.agent == Agent::TensorCore; }))
      continue;
    if (release.getLag() && !isa<scf::ForOp>(release->getParentOp()))
      return release.emitOpError("expected lag in a loop that carries an accumulator, got it in ")
             << release->getParentOp()->getName();
    if (!waitsForReads(release, reads, target))
      return release.emitOpError("expected the release of pipe \"")
             << pipe.getName() << "\" to name, with after, the last multiplication of "
             << describeProcess(getProcess(release))
             << " that reads the slot: the tensor core may still read what "
             << (uses.producers.empty() ? "its producer" : describeProcess(uses.producers.front()))
             << " overwrites";
  }
  return success();
}

void CheckOrderingPass::runOnOperation() {
  KernelOp kernel = getOperation();
  const Target *target = getTarget(kernel);
  if (!target) {
    kernel.emitOpError("expected a target (run warp-resolve-links), got none");
    return signalPassFailure();
  }
  if (failed(checkFences(kernel, *target)))
    return signalPassFailure();
  if (target->mma == MmaFamily::Wgmma && failed(checkReads(kernel)))
    return signalPassFailure();
  if (target->mma != MmaFamily::MmaSync)
    for (PipeOp pipe : getPipes(kernel))
      if (pipe.getPipe().getType().getLink() == Link::Smem && failed(checkReleases(pipe, *target)))
        return signalPassFailure();
}
