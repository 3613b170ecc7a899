//===- FuseStages.cpp - joining stages through registers ------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loops around the producer's commit and the consumer's wait must run in step. They
// become one nest: at each level the consumer's code before the inner loop follows the
// producer's, and the innermost level of the consumer takes the place of the commit.
// This is one of the orders in which the two could have run, so that the result is
// right; whether it still cannot hang is for warp-verify-protocol to say.
//
//===----------------------------------------------------------------------===//
#include "dialects/Warp/Transforms/FuseStages.h"
#include "dialects/Warp/Transforms/Network.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace heddle::warp;

/// The loops around `op` within its process, outermost first; fails on anything else.
static FailureOr<SmallVector<Operation *>> getLoops(Operation *op, PipeOp pipe) {
  SmallVector<Operation *> loops;
  for (Operation *up = op->getParentOp(); up && !isa<StageOp>(up); up = up->getParentOp()) {
    if (!isa<ForEachOp, scf::ForOp>(up))
      return op->emitOpError("expected only loops around the verbs of regs pipe \"")
             << pipe.getName() << "\", got " << up->getName();
    loops.push_back(up);
  }
  std::reverse(loops.begin(), loops.end());
  return loops;
}

/// Moves the ops of `from` (but a terminator scf.yield) before `before`.
static void moveOps(Block::iterator first, Block::iterator last, Operation *before) {
  while (first != last) {
    Operation &op = *first++;
    if (!isa<scf::YieldOp>(op))
      op.moveBefore(before);
  }
}

/// Adds the loop-carried values of `from` to `into`: the returned loop replaces `into`.
/// The body of `from` stays where it is, with its arguments replaced.
static scf::ForOp mergeCarried(scf::ForOp into, scf::ForOp from) {
  from.getInductionVar().replaceAllUsesWith(into.getInductionVar());
  if (from.getInitArgs().empty())
    return into;
  OpBuilder builder(into);
  SmallVector<Value> inits(into.getInitArgs());
  llvm::append_range(inits, from.getInitArgs());
  auto merged = scf::ForOp::create(builder, into.getLoc(), into.getLowerBound(),
                                   into.getUpperBound(), into.getStep(), inits);
  merged->setDiscardableAttrs(into->getDiscardableAttrDictionary());
  Block *body = merged.getBody();
  if (!body->empty())
    body->getTerminator()->erase();
  unsigned own = into.getNumRegionIterArgs();
  into.getInductionVar().replaceAllUsesWith(merged.getInductionVar());
  for (unsigned i = 0; i < own; ++i) {
    into.getRegionIterArg(i).replaceAllUsesWith(merged.getRegionIterArg(i));
    into.getResult(i).replaceAllUsesWith(merged.getResult(i));
  }
  for (unsigned i = 0; i < from.getNumRegionIterArgs(); ++i) {
    from.getRegionIterArg(i).replaceAllUsesWith(merged.getRegionIterArg(own + i));
    from.getResult(i).replaceAllUsesWith(merged.getResult(own + i));
  }
  body->getOperations().splice(body->end(), into.getBody()->getOperations());
  Operation *yield = body->getTerminator();
  SmallVector<Value> yielded(yield->getOperands());
  llvm::append_range(yielded, from.getBody()->getTerminator()->getOperands());
  yield->setOperands(yielded);
  into->erase();
  return merged;
}

namespace {
/// One producer and one consumer of a regs pipe on the way into one stage.
struct Fusion {
  PipeOp pipe;
  CommitOp commit;
  WaitOp wait;
  StageOp into, from;
  SmallVector<Operation *> intoLoops, fromLoops;

  LogicalResult check();
  void join();
  InFlightDiagnostic error();
};
} // namespace

InFlightDiagnostic Fusion::error() {
  InFlightDiagnostic diag = pipe.emitOpError()
                            << "regs pipe \"" << pipe.getName() << "\" from "
                            << describeProcess(into) << " to " << describeProcess(from) << ": ";
  return diag;
}

LogicalResult Fusion::check() {
  FailureOr<SmallVector<Operation *>> a = getLoops(commit, pipe), b = getLoops(wait, pipe);
  if (failed(a) || failed(b))
    return failure();
  intoLoops = *a, fromLoops = *b;
  if (intoLoops.size() != fromLoops.size())
    return error() << "expected commit and wait in equally many loops, got " << intoLoops.size()
                   << " and " << fromLoops.size();
  auto same = [&](Value x, Value y) {
    for (auto [p, q] : llvm::zip(intoLoops, fromLoops))
      for (auto [v, w] : llvm::zip(p->getRegion(0).getArguments(), q->getRegion(0).getArguments()))
        if ((x == v && y == w) || (x == w && y == v))
          return isa<ForEachOp>(p) || v.getArgNumber() == 0;
    return false;
  };
  for (auto [p, q] : llvm::zip(intoLoops, fromLoops))
    if (!runInStep(p, q, same)) {
      InFlightDiagnostic diag = error()
                                << "expected loops of equal iterations around commit and wait";
      diag.attachNote(p->getLoc()) << "loop around the commit";
      diag.attachNote(q->getLoc()) << "loop around the wait";
      return diag;
    }
  return success();
}

void Fusion::join() {
  // Outer levels: the consumer's code before and after its inner loop goes beside the
  // producer's inner loop.
  Block *fromBlock = &from.getBody().front();
  for (size_t i = 0; i < intoLoops.size(); ++i) {
    Operation *p = intoLoops[i], *q = fromLoops[i];
    moveOps(fromBlock->begin(), Block::iterator(q), p);
    Operation *after = p->getNextNode();
    if (!after) { // a block without terminator: append
      Block *block = p->getBlock();
      for (Operation *op = q->getNextNode(); op;) {
        Operation *next = op->getNextNode();
        op->moveBefore(block, block->end());
        op = next;
      }
    } else {
      moveOps(std::next(Block::iterator(q)), fromBlock->end(), after);
    }
    if (auto loop = dyn_cast<scf::ForOp>(p)) {
      intoLoops[i] = mergeCarried(loop, cast<scf::ForOp>(q));
    } else {
      for (auto [v, w] : llvm::zip(q->getRegion(0).getArguments(), p->getRegion(0).getArguments()))
        v.replaceAllUsesWith(w);
    }
    fromBlock = &q->getRegion(0).front();
  }
  moveOps(fromBlock->begin(), fromBlock->end(), commit);
  from.erase();
}

/// With both ends in one stage: hands the committed value to the wait.
static LogicalResult forward(PipeOp pipe, CommitOp commit, WaitOp wait) {
  if (commit->getBlock() == wait->getBlock() && wait->isBeforeInBlock(commit))
    for (Value v : commit.getValues())
      if (Operation *def = v.getDefiningOp(); def && wait->isBeforeInBlock(def))
        return pipe.emitOpError("expected the value of regs pipe \"")
               << pipe.getName() << "\" before its use, got it after";
  wait->replaceAllUsesWith(commit.getValues());
  wait.erase();
  return success();
}

LogicalResult heddle::warp::fuseThroughRegs(PipeOp pipe,
                                            llvm::function_ref<void(StageOp, StageOp)> onFuse) {
  PipeUses uses = getUses(pipe);
  if (uses.commits.size() != 1 || uses.acquires.size() != 1 || uses.waits.empty() ||
      uses.waits.size() != uses.consumers.size())
    return pipe.emitOpError("expected one acquire, one commit and one wait a consumer on regs "
                            "pipe \"")
           << pipe.getName() << "\", got " << uses.acquires.size() << ", " << uses.commits.size()
           << " and " << uses.waits.size() << " in " << uses.consumers.size() << " consumers";
  CommitOp commit = uses.commits.front();
  for (WaitOp wait : uses.waits) {
    Fusion fusion{
        pipe, commit, wait, cast<StageOp>(getProcess(commit)), cast<StageOp>(getProcess(wait)),
        {},   {}};
    if (fusion.into != fusion.from) {
      if (failed(fusion.check()))
        return failure();
      onFuse(fusion.into, fusion.from);
      fusion.join();
    } else if (commit->getBlock() != wait->getBlock()) {
      return pipe.emitOpError("expected commit and wait of regs pipe \"")
             << pipe.getName() << "\" at one level of " << describeProcess(fusion.into);
    }
    if (failed(forward(pipe, commit, wait)))
      return failure();
  }
  for (ReleaseOp release : uses.releases)
    release.erase();
  commit.erase();
  return success();
}
