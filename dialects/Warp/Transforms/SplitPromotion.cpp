//===- SplitPromotion.cpp - warp-split-promotion --------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In:  stages with resolved links; multiplications that promote, each carried by the loop
//      around it from the acquire of its accumulator to the commit.
// Out: where accumulators are in tensor memory, a slot of their pipe holds one partial sum:
//      the loop acquires, overwrites and commits one in each iteration, and the consumer
//      waits for each in a loop of the same length that adds them up in registers
//      (warp.promote). Other targets: unchanged.
// Not: several multiplications into one accumulator; accumulators with several consumers.
//
//===----------------------------------------------------------------------===//
#include "dialects/Warp/Transforms/Network.h"
#include "dialects/Warp/Transforms/Passes.h"
#include "mlir/IR/IRMapping.h"

namespace heddle::warp {
#define GEN_PASS_DEF_SPLITPROMOTIONPASS
#include "dialects/Warp/Transforms/Passes.h.inc"
} // namespace heddle::warp

using namespace mlir;
using namespace heddle::warp;
using heddle::target::MmaFamily;

namespace {
struct SplitPromotionPass : heddle::warp::impl::SplitPromotionPassBase<SplitPromotionPass> {
  using Base::Base;
  void runOnOperation() override;
};

/// One multiplication that promotes and what its accumulator passes.
struct Promotion {
  MmaOp mma;
  scf::ForOp loop;
  AcquireOp acquire;
  CommitOp commit;
  WaitOp wait;
  ReleaseOp release;

  LogicalResult find();
  LogicalResult addUp();
  void commitEach();
};
} // namespace

LogicalResult Promotion::find() {
  auto fail = [&](StringRef what) {
    return mma.emitOpError("cannot promote sums in tensor memory: expected ") << what;
  };
  loop = dyn_cast<scf::ForOp>(mma->getParentOp());
  auto arg = dyn_cast<BlockArgument>(mma.getAcc());
  if (!loop || !arg || arg.getOwner() != loop.getBody() || loop.getNumRegionIterArgs() != 1 ||
      loop.getYieldedValues()[0] != mma.getResult() || !arg.hasOneUse())
    return fail("an accumulator that is the only value the loop around it carries");
  acquire = loop.getInitArgs()[0].getDefiningOp<AcquireOp>();
  if (!acquire || !acquire.getSlots()[0].hasOneUse())
    return fail("the loop to start with an acquired accumulator");
  Value result = loop.getResult(0);
  commit = result.hasOneUse() ? dyn_cast<CommitOp>(*result.user_begin()) : CommitOp();
  if (!commit || commit.getPipe() != acquire.getPipe())
    return fail("the loop's result to be committed to the pipe it was acquired from");
  auto flag = mma.getAccumulate().getDefiningOp<arith::CmpIOp>();
  if (!flag || flag.getPredicate() != arith::CmpIPredicate::ne ||
      flag.getLhs() != loop.getInductionVar() ||
      !areEquivalent(flag.getRhs(), loop.getLowerBound()))
    return fail("every iteration but the first to accumulate");
  PipeUses uses = getUses(getPipe(acquire));
  if (uses.acquires.size() != 1 || uses.waits.size() != 1 || uses.releases.size() != 1)
    return fail("one acquire, wait and release of the accumulator's pipe");
  wait = uses.waits[0], release = uses.releases[0];
  if (wait->getBlock() != release->getBlock() || !isa<ForEachOp>(wait->getParentOp()) ||
      !runInStep(wait->getParentOp(), loop->getParentOp()))
    return fail("a consumer that takes one accumulator an item");
  return success();
}

/// The consumer's loop. What it shares with the producer's is computed again.
LogicalResult Promotion::addUp() {
  IRMapping same;
  for (auto [from, to] : llvm::zip(loop->getParentOp()->getRegion(0).getArguments(),
                                   wait->getParentOp()->getRegion(0).getArguments()))
    same.map(from, to);
  OpBuilder b(wait);
  Location loc = mma.getLoc();
  LogicalResult possible = success();
  std::function<Value(Value)> again = [&](Value v) -> Value {
    if (same.contains(v))
      return same.lookup(v);
    Operation *op = v.getDefiningOp();
    bool outside = op ? isa<KernelOp>(op->getParentOp())
                      : isa<KernelOp>(cast<BlockArgument>(v).getOwner()->getParentOp());
    if (outside)
      return v;
    if (!op || !isMemoryEffectFree(op) || op->getNumRegions()) {
      possible = mma.emitOpError("expected offsets of scales and bounds of the loop that depend on "
                                 "nothing but the item and the iteration");
      return v;
    }
    for (Value operand : op->getOperands())
      same.map(operand, again(operand));
    b.clone(*op, same);
    return same.lookup(v);
  };
  AccType type = mma.getAcc().getType();
  Value bounds[] = {again(loop.getLowerBound()), again(loop.getUpperBound()),
                    again(loop.getStep())};
  Value zero = ZeroOp::create(b, loc, type);
  auto sum = scf::ForOp::create(b, loc, bounds[0], bounds[1], bounds[2], zero);
  same.map(loop.getInductionVar(), sum.getInductionVar());
  b.setInsertionPointToStart(sum.getBody());
  SmallVector<Value> offsets[2];
  for (bool isA : {true, false})
    if (mma.hasScales())
      for (Value offset : mma.getScales(isA).offsets)
        offsets[isA].push_back(again(offset));
  Value partial = WaitOp::create(b, loc, wait.getPipe()).getSlots()[0];
  auto add = PromoteOp::create(b, loc, type, partial, sum.getRegionIterArgs()[0], mma.getScaleA(),
                               offsets[1], mma.getScaleABlockAttr(), mma.getScaleB(), offsets[0],
                               mma.getScaleBBlockAttr(), mma.getTransposedScaleAAttr(),
                               mma.getTransposedScaleBAttr());
  ReleaseOp::create(b, loc, wait.getPipe(), Value(), 0);
  scf::YieldOp::create(b, loc, add.getResult());
  wait.getSlots()[0].replaceAllUsesWith(sum.getResult(0));
  wait.erase(), release.erase();
  return possible;
}

/// The producer's loop, which carries nothing any more.
void Promotion::commitEach() {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  auto each =
      scf::ForOp::create(b, loc, loop.getLowerBound(), loop.getUpperBound(), loop.getStep());
  each->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  Block *body = each.getBody();
  b.setInsertionPointToStart(body);
  Value slot = AcquireOp::create(b, loc, acquire.getPipe()).getSlots()[0];
  loop.getInductionVar().replaceAllUsesWith(each.getInductionVar());
  loop.getRegionIterArg(0).replaceAllUsesWith(slot);
  Operation *end = body->getTerminator();
  for (Operation &op : llvm::make_early_inc_range(loop.getBody()->without_terminator()))
    op.moveBefore(end);
  b.setInsertionPoint(mma);
  mma.getAccumulateMutable().assign(arith::ConstantOp::create(b, loc, b.getBoolAttr(false)));
  b.setInsertionPoint(end);
  CommitOp::create(b, loc, acquire.getPipe(), mma.getResult());
  commit.erase(), loop.erase(), acquire.erase();
  // What is left is a plain multiplication.
  mma.setPromote(false);
  mma.getScaleAMutable().clear(), mma.getScaleAOffsetsMutable().clear();
  mma.getScaleBMutable().clear(), mma.getScaleBOffsetsMutable().clear();
  mma.removeScaleABlockAttr(), mma.removeScaleBBlockAttr();
  mma.setTransposedScaleA(false), mma.setTransposedScaleB(false);
}

void SplitPromotionPass::runOnOperation() {
  KernelOp kernel = getOperation();
  const heddle::target::Target *target = getTarget(kernel);
  if (!target) {
    kernel.emitOpError("expected a target (run warp-resolve-links), got none");
    return signalPassFailure();
  }
  if (target->mma != MmaFamily::Tcgen05)
    return;
  SmallVector<Promotion> promotions;
  kernel.walk([&](MmaOp mma) {
    if (mma.isPromoted())
      promotions.push_back({mma, {}, {}, {}, {}, {}});
  });
  for (Promotion &promotion : promotions) {
    if (failed(promotion.find()) || failed(promotion.addUp()))
      return signalPassFailure();
    promotion.commitEach();
  }
}
