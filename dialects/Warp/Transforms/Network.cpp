//===- Network.cpp - stages, roles and pipes of a kernel ------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/Warp/Transforms/Network.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using heddle::target::MmaFamily;
using heddle::target::Target;

namespace heddle::warp {

//===----------------------------------------------------------------------===//
// Processes
//===----------------------------------------------------------------------===//

SmallVector<Operation *> getProcesses(KernelOp kernel) {
  SmallVector<Operation *> processes;
  for (Operation &op : kernel.getBody().front())
    if (isa<StageOp, RoleOp>(op))
      processes.push_back(&op);
  return processes;
}

Operation *getProcess(Operation *op) {
  while (op && !isa<StageOp, RoleOp>(op))
    op = op->getParentOp();
  return op;
}

StringRef getProcessName(Operation *process) {
  return process->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName()).getValue();
}

std::string describeProcess(Operation *process) {
  return ((isa<StageOp>(process) ? "stage \"" : "role \"") + getProcessName(process) + "\"").str();
}

//===----------------------------------------------------------------------===//
// Pipes
//===----------------------------------------------------------------------===//

SmallVector<PipeOp> getPipes(KernelOp kernel) {
  return llvm::to_vector(kernel.getBody().front().getOps<PipeOp>());
}

SmallVector<PeerPipeOp> getPeerPipes(KernelOp kernel) {
  return llvm::to_vector(kernel.getBody().front().getOps<PeerPipeOp>());
}

bool isPeerVerb(Operation *op) {
  return isa<PeerAcquireOp, PeerCommitOp, PeerWaitOp, PeerReleaseOp, PacketSendOp,
             PacketReceiveOp, PacketAddOp>(op);
}

PeerPipeOp getPeerPipe(Value memory) {
  auto peer = memory.getDefiningOp<PeerOp>();
  return peer ? peer.getPipe().getDefiningOp<PeerPipeOp>() : PeerPipeOp();
}

PipeOp getPipe(Operation *verb) { return verb->getOperand(0).getDefiningOp<PipeOp>(); }

Operation *getTaker(Value tile) {
  Operation *op = tile.getDefiningOp();
  return op && isa<AcquireOp, WaitOp>(op) ? op : nullptr;
}

Operation *getAccTaker(Value acc) {
  while (acc) {
    if (Operation *taker = getTaker(acc))
      return taker;
    if (auto arg = dyn_cast<BlockArgument>(acc)) {
      auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp());
      OpOperand *init = loop ? loop.getTiedLoopInit(arg) : nullptr;
      acc = init ? init->get() : Value();
      continue;
    }
    Operation *op = acc.getDefiningOp();
    if (auto loop = dyn_cast<scf::ForOp>(op))
      acc = loop.getInitArgs()[cast<OpResult>(acc).getResultNumber()];
    else if (isa<MmaOp, MmaWaitOp>(op))
      acc = isa<MmaOp>(op) ? cast<MmaOp>(op).getAcc() : cast<MmaWaitOp>(op).getAcc();
    else
      return nullptr;
  }
  return nullptr;
}

PipeUses getUses(PipeOp pipe) {
  PipeUses uses;
  auto add = [](SmallVector<Operation *> &list, Operation *op) {
    Operation *process = getProcess(op);
    if (process && !llvm::is_contained(list, process))
      list.push_back(process);
  };
  pipe->getParentOfType<KernelOp>().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isa<AcquireOp, CommitOp, WaitOp, ReleaseOp>(op) || op->getOperand(0) != pipe.getPipe())
      return;
    TypeSwitch<Operation *>(op)
        .Case<AcquireOp>([&](auto v) { uses.acquires.push_back(v), add(uses.producers, v); })
        .Case<CommitOp>([&](auto v) { uses.commits.push_back(v), add(uses.producers, v); })
        .Case<WaitOp>([&](auto v) { uses.waits.push_back(v), add(uses.consumers, v); })
        .Case<ReleaseOp>([&](auto v) { uses.releases.push_back(v), add(uses.consumers, v); });
  });
  return uses;
}

//===----------------------------------------------------------------------===//
// Agents
//===----------------------------------------------------------------------===//

StringRef describe(Agent agent) {
  switch (agent) {
  case Agent::Threads:
    return "threads";
  case Agent::AsyncCopy:
    return "asynchronous copies of threads";
  case Agent::CopyEngine:
    return "the copy engine";
  case Agent::TensorCore:
    return "the tensor core";
  }
  return "";
}

static Agent agentOf(CopyOp copy) {
  switch (copy.getEngine()) {
  case Engine::Bulk:
    return Agent::CopyEngine;
  case Engine::Async:
    return Agent::AsyncCopy;
  case Engine::Threads:
    break;
  }
  return Agent::Threads;
}

Agent agentOf(TransferOp transfer) {
  return transfer.getEngine() == Engine::Bulk ? Agent::CopyEngine : Agent::Threads;
}

/// Values that may be the same accumulator as `use.get()` after the user is done.
static SmallVector<Value> flowsTo(OpOperand &use) {
  Operation *user = use.getOwner();
  if (isa<MmaOp, MmaWaitOp>(user))
    return {user->getResult(0)};
  if (auto loop = dyn_cast<scf::ForOp>(user))
    if (BlockArgument arg = loop.getTiedLoopRegionIterArg(&use))
      return {arg, loop.getTiedLoopResult(&use)};
  if (isa<scf::YieldOp>(user))
    if (auto loop = dyn_cast<scf::ForOp>(user->getParentOp())) {
      unsigned i = use.getOperandNumber();
      return {loop.getRegionIterArg(i), loop.getResult(i)};
    }
  return {};
}

SmallVector<Access> getAccesses(Operation *taker, const Target &target) {
  Agent mma = target.mma == MmaFamily::MmaSync ? Agent::Threads : Agent::TensorCore;
  SmallVector<Access> accesses;
  SmallVector<Value> work(llvm::reverse(taker->getResults())); // the first part first
  DenseSet<Value> seen(work.begin(), work.end());
  while (!work.empty()) {
    Value value = work.pop_back_val();
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      TypeSwitch<Operation *>(user)
          .Case<CopyOp>([&](auto op) { accesses.push_back({op, agentOf(op), op.isLoad()}); })
          .Case<TransferOp>([&](auto op) {
            accesses.push_back({op, agentOf(op), op.getTarget() == value});
          })
          .Case<SpreadAddOp>([&](auto op) { accesses.push_back({op, Agent::Threads, false}); })
          .Case<SpreadStoreOp>([&](auto op) { accesses.push_back({op, Agent::Threads, true}); })
          .Case<MapOp>(
              [&](auto op) { accesses.push_back({op, Agent::Threads, op.getTarget() == value}); })
          .Case<PackOp>(
              [&](auto op) { accesses.push_back({op, Agent::Threads, op.getTile() == value}); })
          .Case<StoreOp, PromoteOp, CombineOp>(
              [&](auto op) { accesses.push_back({op, Agent::Threads, false}); })
          .Case<MmaOp>([&](auto op) { accesses.push_back({op, mma, op.getAcc() == value}); });
      if (isa<AccType>(value.getType()))
        for (Value next : flowsTo(use))
          if (seen.insert(next).second)
            work.push_back(next);
    }
  }
  return accesses;
}

bool isTileWork(Operation *op) {
  return isa<CopyOp, MmaOp, MapOp, StoreOp, PackOp, PromoteOp, CombineOp, TransferOp, SpreadAddOp,
             SpreadStoreOp>(op);
}

bool isSingleThreaded(Operation *process, const Target &target) {
  return !process
              ->walk([&](Operation *op) {
                bool collective = isa<MapOp, StoreOp, PackOp, PromoteOp, CombineOp, SpreadZeroOp, SpreadAddOp,
                                      SpreadStoreOp, PacketSendOp, PacketReceiveOp, PacketAddOp, RouteOp,
                                      ListExpertsOp>(op);
                if (auto copy = dyn_cast<CopyOp>(op))
                  collective = copy.getEngine() != Engine::Bulk;
                if (auto transfer = dyn_cast<TransferOp>(op))
                  collective = transfer.getEngine() != Engine::Bulk;
                if (isa<MmaOp>(op))
                  collective = target.mma != MmaFamily::Tcgen05;
                return collective ? WalkResult::interrupt() : WalkResult::advance();
              })
              .wasInterrupted();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

bool areEquivalent(Value a, Value b, llvm::function_ref<bool(Value, Value)> same) {
  if (a == b || (same && same(a, b)))
    return true;
  auto x = dyn_cast<OpResult>(a), y = dyn_cast<OpResult>(b);
  if (!x || !y || x.getResultNumber() != y.getResultNumber())
    return false;
  Operation *p = x.getOwner(), *q = y.getOwner();
  // memref.dim is pure on memrefs that are kernel arguments.
  return p->getName() == q->getName() && p->getNumRegions() == 0 && isMemoryEffectFree(p) &&
         p->getAttrDictionary() == q->getAttrDictionary() &&
         p->getNumOperands() == q->getNumOperands() && p->getResultTypes() == q->getResultTypes() &&
         llvm::all_of(llvm::zip(p->getOperands(), q->getOperands()), [&](auto pair) {
           return areEquivalent(std::get<0>(pair), std::get<1>(pair), same);
         });
}

bool runInStep(Operation *a, Operation *b, llvm::function_ref<bool(Value, Value)> same) {
  if (auto x = dyn_cast<ForEachOp>(a), y = dyn_cast<ForEachOp>(b); x && y)
    return areEquivalent(x.getStream(), y.getStream(), same);
  auto x = dyn_cast<scf::ForOp>(a), y = dyn_cast<scf::ForOp>(b);
  return x && y && areEquivalent(x.getLowerBound(), y.getLowerBound(), same) &&
         areEquivalent(x.getUpperBound(), y.getUpperBound(), same) &&
         areEquivalent(x.getStep(), y.getStep(), same);
}

} // namespace heddle::warp
