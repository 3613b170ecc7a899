//===- LagReleases.cpp - warp-lag-releases --------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In:  roles (or stages) whose releases name the multiplications that read the slot.
// Out: where multiplications run in the background into registers (wgmma): releases in
//      the loop that carries the accumulator lag one iteration, the last slot is
//      released after the loop, and nothing but a multiplication touches an accumulator
//      that warp.mma_wait has not passed. Elsewhere nothing changes: mma.sync is done
//      when it returns, and tcgen05 releases through its own commit.
// Not: loops that carry an accumulator and run no iteration (their last release would
//      have no slot).
//
//===----------------------------------------------------------------------===//
#include "dialects/Warp/Transforms/Ordering.h"
#include "dialects/Warp/Transforms/Passes.h"

namespace heddle::warp {
#define GEN_PASS_DEF_LAGRELEASESPASS
#include "dialects/Warp/Transforms/Passes.h.inc"
} // namespace heddle::warp

using namespace mlir;
using namespace heddle::warp;
using heddle::target::MmaFamily;

namespace {
struct LagReleasesPass : heddle::warp::impl::LagReleasesPassBase<LagReleasesPass> {
  using Base::Base;
  void runOnOperation() override;
};
} // namespace

/// The position among `loop`'s carried values through which `acc`, defined in its body,
/// reaches the next iteration.
static std::optional<unsigned> carriedAs(scf::ForOp loop, Value acc) {
  for (auto [i, value] : llvm::enumerate(loop.getYieldedValues())) {
    // The accumulator may pass through further multiplications before the yield.
    for (Value v = value; v;) {
      if (v == acc)
        return i;
      auto mma = v.getDefiningOp<MmaOp>();
      v = mma ? mma.getAcc() : Value();
    }
  }
  return std::nullopt;
}

/// The warp.mma_wait on `acc` placed after `after`, which every later user but those in
/// `keep` reads from; an existing one is used again.
static Value waitAfter(Value acc, Operation *after) {
  if (auto wait = dyn_cast_or_null<MmaWaitOp>(after->getNextNode()); wait && wait.getAcc() == acc)
    return wait.getResult();
  OpBuilder builder(acc.getContext());
  builder.setInsertionPointAfter(after);
  auto wait = MmaWaitOp::create(builder, after->getLoc(), acc.getType(), acc);
  Block *block = wait->getBlock();
  acc.replaceUsesWithIf(wait.getResult(), [&](OpOperand &use) {
    Operation *user = block->findAncestorOpInBlock(*use.getOwner());
    return user && wait->isBeforeInBlock(user);
  });
  return wait.getResult();
}

/// The release goes behind every multiplication of the loop, so that "all but this
/// iteration's groups" is one number for all releases.
static void lagRelease(ReleaseOp release, scf::ForOp loop, unsigned carried) {
  release.setLag(1);
  Operation *last = nullptr;
  for (Operation *op = release->getNextNode(); op; op = op->getNextNode())
    if (op->walk([](MmaOp) { return WalkResult::interrupt(); }).wasInterrupted())
      last = op;
  if (last) {
    while (auto next = dyn_cast<ReleaseOp>(last->getNextNode())) {
      if (!next.getLag())
        break;
      last = next;
    }
    release->moveAfter(last);
  }
  Value result = loop.getResult(carried);
  Value waited = waitAfter(result, loop);
  OpBuilder builder(release.getContext());
  // After the wait and the releases already there, so that pipes keep their order.
  Operation *before = waited.getDefiningOp();
  while (isa_and_nonnull<ReleaseOp>(before->getNextNode()))
    before = before->getNextNode();
  builder.setInsertionPointAfter(before);
  ReleaseOp::create(builder, release.getLoc(), release.getPipe(), Value(), 0);
}

static void releaseAfterWait(ReleaseOp release) {
  Value acc = release.getAfter();
  if (isInFlight(acc)) {
    Operation *before = release->getPrevNode();
    // `after` names a value defined earlier in some enclosing block, so that the block
    // starts with the release only when that value comes from outside.
    if (before) {
      waitAfter(acc, before);
    } else {
      OpBuilder builder(release);
      MmaWaitOp::create(builder, release.getLoc(), acc.getType(), acc);
    }
  }
  release.getAfterMutable().clear();
}

/// Puts a wait before the first op that reads an accumulator still in flight.
static void waitBeforeReads(Operation *process) {
  SmallVector<Operation *> readers;
  process->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<StoreOp, PackOp, CombineOp, CommitOp>(op))
      readers.push_back(op);
  });
  for (Operation *reader : readers)
    for (OpOperand &operand : reader->getOpOperands()) {
      Value acc = operand.get();
      if (!isa<AccType>(acc.getType()) || !isInFlight(acc))
        continue;
      if (acc.getDefiningOp<scf::ForOp>()) {
        waitAfter(acc, acc.getDefiningOp());
      } else if (Operation *before = reader->getPrevNode();
                 before && reader->getBlock() == acc.getParentBlock()) {
        waitAfter(acc, before);
      } else {
        waitAfter(acc, acc.getDefiningOp());
      }
    }
}

void LagReleasesPass::runOnOperation() {
  KernelOp kernel = getOperation();
  const heddle::target::Target *target = getTarget(kernel);
  if (!target) {
    kernel.emitOpError("expected a target (run warp-resolve-links), got none");
    return signalPassFailure();
  }
  if (target->mma != MmaFamily::Wgmma)
    return;
  SmallVector<ReleaseOp> releases;
  kernel.walk<WalkOrder::PreOrder>([&](ReleaseOp release) {
    if (release.getAfter() && release.getLag() == 0)
      releases.push_back(release);
  });
  for (ReleaseOp release : releases) {
    auto loop = dyn_cast<scf::ForOp>(release->getParentOp());
    std::optional<unsigned> carried;
    if (loop && isInFlight(release.getAfter())) // not after one that promotes
      carried = carriedAs(loop, release.getAfter());
    if (carried)
      lagRelease(release, loop, *carried);
    else
      releaseAfterWait(release);
  }
  for (Operation *process : getProcesses(kernel))
    waitBeforeReads(process);
}
