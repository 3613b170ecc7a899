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
    StringRef pipe = need.pipe->getAttrOfType<StringAttr>("name").getValue();
    InFlightDiagnostic diag =
        need.verb->emitOpError("expected warp.fence <")
        << stringifyFenceKind(need.kind) << "> " << (need.beforeVerb ? "before" : "after")
        << " it to order what is written to pipe \"" << pipe << "\" by " << need.writer
        << " and read by " << need.reader << ", found none";
    diag.attachNote(need.pipe->getLoc()) << "pipe \"" << pipe << "\"";
    return diag;
  }
  return success();
}

/// Accumulators that ordinary code touches must be complete.
static LogicalResult checkReads(KernelOp kernel) {
  LogicalResult result = success();
  kernel.walk([&](Operation *op) {
    if (!isa<StoreOp, PackOp, CombineOp>(op) || !isInFlight(op->getOperand(0)))
      return WalkResult::advance();
    result = op->emitOpError("expected warp.mma_wait between the multiplications of ")
             << describeProcess(getProcess(op)) << " and this read of their accumulator";
    return WalkResult::interrupt();
  });
  return result;
}

/// Whether a multiplication that `reads` lists, inside of `op`, reads the slot.
static bool multipliesFrom(Operation *op, ArrayRef<Access> reads) {
  return llvm::any_of(
      reads, [&](auto &a) { return a.agent == Agent::TensorCore && op->isAncestor(a.op); });
}

/// Registers: a lagging release comes behind every multiplication of its loop, whose groups
/// it lets run on; another one behind a wait for all of them.
static bool followsWait(ReleaseOp release, ArrayRef<Access> reads) {
  if (release.getLag()) {
    for (Operation *op = release->getNextNode(); op; op = op->getNextNode())
      if (op->walk([](MmaOp) { return WalkResult::interrupt(); }).wasInterrupted())
        return false;
    for (Operation *op = release->getPrevNode(); op; op = op->getPrevNode())
      if (multipliesFrom(op, reads))
        return isa<scf::ForOp>(release->getParentOp());
    return false;
  }
  for (Operation *op = release->getPrevNode(); op; op = op->getPrevNode()) {
    auto mma = dyn_cast<MmaOp>(op);
    if (isa<MmaWaitOp>(op) || (mma && mma.isPromoted()))
      return true;
    if (multipliesFrom(op, reads))
      return false;
  }
  return false;
}

/// Tensor memory: the release names a multiplication, and none that reads the slot comes
/// between the two.
static bool namesLastRead(ReleaseOp release, ArrayRef<Access> reads) {
  if (!release.getAfter())
    return false;
  Operation *named = release.getAfter().getDefiningOp();
  for (Operation *op = release->getPrevNode(); op && op != named; op = op->getPrevNode())
    if (multipliesFrom(op, reads))
      return false;
  return true;
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
    bool registers = target.mma == MmaFamily::Wgmma;
    if (registers ? followsWait(release, reads) : namesLastRead(release, reads))
      continue;
    StringRef wanted =
        !registers         ? "to name, with after, the last multiplication that reads the slot"
        : release.getLag() ? "that lags to follow every multiplication of the loop it is in"
                           : "to follow warp.mma_wait or to lag (run warp-lag-releases)";
    return release.emitOpError("expected the release of pipe \"")
           << pipe.getName() << "\" in " << describeProcess(getProcess(release)) << " " << wanted
           << ": the tensor core may still read what "
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
  if (failed(checkFences(kernel, *target)) || failed(checkPeerPipes(kernel, *target)))
    return signalPassFailure();
  if (target->mma == MmaFamily::Wgmma && failed(checkReads(kernel)))
    return signalPassFailure();
  if (target->mma != MmaFamily::MmaSync)
    for (PipeOp pipe : getPipes(kernel))
      if (pipe.getPipe().getType().hasTiles() && failed(checkReleases(pipe, *target)))
        return signalPassFailure();
}
