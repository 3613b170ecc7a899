//===- PeerOrdering.cpp - ordering between ranks --------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The verbs of a peer pipe are a release and an acquire at system scope (st.release.sys,
// ld.acquire.sys), done in the generic proxy, after all threads of the role have met. What
// else is needed follows from who touches the slot (docs/rationale/peer-ordering.md):
//   - bulk stores are complete only after a wait for their groups: one stands before the
//     commit of what they wrote;
//   - they, and bulk loads, are of the async proxy: a proxy fence stands between them and the
//     verb, on the side of the process that copies;
//   - a slot that bulk loads read is released only by a process that has waited for the pipe
//     they fill: that wait is what shows that the reads are done.
//
//===----------------------------------------------------------------------===//
#include "dialects/Warp/Transforms/Ordering.h"

using namespace mlir;
using heddle::target::Feature;
using heddle::target::Target;

namespace heddle::warp {

static Agent agentOf(Operation *op) {
  auto transfer = dyn_cast<TransferOp>(op);
  return transfer ? agentOf(transfer) : Agent::Threads;
}

/// Reads and writes of the memory of `pipe`, on any rank, in `process`.
static SmallVector<Access> getPeerAccesses(PeerPipeOp pipe, Operation *process) {
  SmallVector<Access> accesses;
  auto isSlot = [&](Value memory) {
    return getPeerPipe(memory) == pipe || llvm::is_contained(pipe.getMemory(), memory);
  };
  process->walk([&](Operation *op) {
    if (auto transfer = dyn_cast<TransferOp>(op)) {
      if (isSlot(transfer.getSource()))
        accesses.push_back({op, agentOf(op), false});
      if (isSlot(transfer.getTarget()))
        accesses.push_back({op, agentOf(op), true});
    } else if (auto add = dyn_cast<SpreadAddOp>(op); add && isSlot(add.getSource())) {
      accesses.push_back({op, Agent::Threads, false});
    } else if (auto store = dyn_cast<SpreadStoreOp>(op); store && isSlot(store.getTarget())) {
      accesses.push_back({op, Agent::Threads, true});
    }
  });
  return accesses;
}

static SmallVector<Operation *> getVerbs(PeerPipeOp pipe, Operation *process) {
  SmallVector<Operation *> verbs;
  process->walk([&](Operation *op) {
    if (isPeerVerb(op) && op->getOperand(0) == pipe.getPipe())
      verbs.push_back(op);
  });
  return verbs;
}

/// The verb, or the outermost loop around it that holds none of `accesses`: what stands there
/// is done once for all ranks.
static Operation *placeOf(Operation *verb, ArrayRef<Access> accesses) {
  auto holdsOne = [&](Operation *loop) {
    return llvm::any_of(accesses, [&](const Access &a) { return loop->isAncestor(a.op); });
  };
  Operation *place = verb;
  while (isa<scf::ForOp>(place->getParentOp()) && !holdsOne(place->getParentOp()))
    place = place->getParentOp();
  return place;
}

static std::string describeAccess(const Access &access) {
  return (describe(access.agent) + " of " + describeProcess(getProcess(access.op))).str();
}

void addPeerFenceNeeds(KernelOp kernel, const Target &target, SmallVectorImpl<FenceNeed> &needs) {
  if (!target.has(Feature::ProxyFence))
    return; // and no bulk copies either
  for (PeerPipeOp pipe : getPeerPipes(kernel))
    for (Operation *process : getProcesses(kernel)) {
      SmallVector<Access> bulk;
      for (const Access &access : getPeerAccesses(pipe, process))
        if (access.agent == Agent::CopyEngine)
          bulk.push_back(access);
      auto writes = llvm::find_if(bulk, [](const Access &a) { return a.write; });
      if (bulk.empty())
        continue;
      for (Operation *verb : getVerbs(pipe, process)) {
        Operation *place = placeOf(verb, bulk);
        std::string own = describeAccess(bulk.front()), other = "another rank";
        if (isa<PeerAcquireOp, PeerWaitOp>(verb)) {
          needs.push_back({pipe, FenceKind::ProxyGlobal, place, false, bulk, other, own});
        } else if (isa<PeerCommitOp>(verb) && writes != bulk.end()) {
          needs.push_back({pipe, FenceKind::BulkDone, place, true, bulk, own, other});
          needs.push_back({pipe, FenceKind::ProxyGlobal, place, true, bulk, own, other});
        }
      }
    }
}

//===----------------------------------------------------------------------===//
// What no fence can mend
//===----------------------------------------------------------------------===//

/// Whether `a` comes before `b` in their process, loops and all.
static bool comesBefore(Operation *a, Operation *b) {
  Operation *process = getProcess(a);
  Block &body = process->getRegion(0).front();
  Operation *x = body.findAncestorOpInBlock(*a), *y = body.findAncestorOpInBlock(*b);
  if (x != y)
    return x->isBeforeInBlock(y);
  // In one loop: by place in it.
  while (x == y && x != a && x != b) {
    Block &inner = x->getRegion(0).front();
    x = inner.findAncestorOpInBlock(*a), y = inner.findAncestorOpInBlock(*b);
  }
  return x && y && x != y && x->isBeforeInBlock(y);
}

/// A process that touches slots has taken them itself, with the verb that this kind of access
/// needs, before.
static LogicalResult checkTaken(PeerPipeOp pipe, Operation *process) {
  SmallVector<Operation *> verbs = getVerbs(pipe, process);
  for (const Access &access : getPeerAccesses(pipe, process)) {
    auto viaPeer = [&](Value memory) { return memory && getPeerPipe(memory) == pipe; };
    bool remote = llvm::any_of(access.op->getOperands(), viaPeer);
    bool push = pipe.getFlow() == Flow::Push;
    if (!remote || push != access.write)
      continue; // the rank's own memory, which the protocol model looks at
    auto takes = [&](Operation *verb) {
      return (push ? isa<PeerAcquireOp>(verb) : isa<PeerWaitOp>(verb)) &&
             comesBefore(verb, access.op);
    };
    if (llvm::none_of(verbs, takes))
      return access.op->emitOpError("expected ")
             << (push ? "warp.peer_acquire" : "warp.peer_wait") << " of pipe \"" << pipe.getName()
             << "\" before it in " << describeProcess(process) << ", found none";
  }
  return success();
}

/// The pipe whose slots a bulk load fills.
static PipeOp filledBy(Operation *load) {
  auto transfer = dyn_cast<TransferOp>(load);
  Operation *taker = transfer && transfer.isLoad() ? getTaker(transfer.getTarget()) : nullptr;
  return taker ? getPipe(taker) : PipeOp();
}

static LogicalResult checkReleased(PeerPipeOp pipe, const Access &read, Operation *verb) {
  PipeOp filled = filledBy(read.op);
  if (filled)
    for (WaitOp wait : getUses(filled).waits)
      if (getProcess(wait) == getProcess(verb) && comesBefore(wait, verb))
        return success();
  return verb->emitOpError("expected the release of pipe \"")
         << pipe.getName() << "\" to follow a warp.wait for what " << describeAccess(read)
         << " fills: the copy may still read what another rank overwrites";
}

LogicalResult checkPeerPipes(KernelOp kernel, const Target &) {
  for (PeerPipeOp pipe : getPeerPipes(kernel)) {
    SmallVector<Access> reads;
    for (Operation *process : getProcesses(kernel)) {
      if (failed(checkTaken(pipe, process)))
        return failure();
      for (const Access &access : getPeerAccesses(pipe, process))
        if (!access.write && access.agent == Agent::CopyEngine && pipe.getFlow() == Flow::Pull)
          reads.push_back(access);
    }
    for (Operation *process : getProcesses(kernel))
      for (Operation *verb : getVerbs(pipe, process))
        if (isa<PeerReleaseOp>(verb))
          for (const Access &read : reads)
            if (failed(checkReleased(pipe, read, verb)))
              return failure();
  }
  return success();
}

} // namespace heddle::warp
