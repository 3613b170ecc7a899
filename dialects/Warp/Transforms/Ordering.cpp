//===- Ordering.cpp - which fences a kernel needs -------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules (PTX ISA 9.0):
//   - writes of threads are in the generic proxy, bulk copies, wgmma and tcgen05.mma read
//     through the async proxy: a proxy fence stands between the two ("Async proxy",
//     "wgmma.fence"). The writing threads have one before their commit. cp.async writes in
//     the generic proxy too, but later than its thread gets to the commit; there the
//     fence follows the reader's wait, which is on the same causality path.
//   - tcgen05 instructions are ordered with barriers only by tcgen05.fence: after the wait
//     that allows them, and before the arrive that follows a tcgen05.ld ("tcgen05.fence").
//     tcgen05.commit needs none: it orders what it tracks.
//
//===----------------------------------------------------------------------===//
#include "dialects/Warp/Transforms/Ordering.h"

using namespace mlir;
using heddle::target::Feature;
using heddle::target::MmaFamily;
using heddle::target::Target;

namespace heddle::warp {

namespace {
struct Collector {
  const Target &target;
  SmallVector<FenceNeed> needs;

  void visit(PipeOp pipe);
  void orderProxies(PipeOp pipe, const PipeUses &uses);
  void orderTensorMemory(PipeOp pipe, const PipeUses &uses);
};
} // namespace

static std::string by(const Access &access) {
  return (describe(access.agent) + " of " + describeProcess(getProcess(access.op))).str();
}

void Collector::orderProxies(PipeOp pipe, const PipeUses &uses) {
  SmallVector<Access> writes, reads;
  for (AcquireOp acquire : uses.acquires)
    llvm::append_range(writes, getAccesses(acquire, target));
  for (WaitOp wait : uses.waits)
    llvm::append_range(reads, getAccesses(wait, target));
  auto byThreads = llvm::find_if(writes, [](auto &a) { return a.agent == Agent::Threads; });
  auto byCopies = llvm::find_if(writes, [](auto &a) { return a.agent == Agent::AsyncCopy; });
  auto reader = llvm::find_if(reads, [](auto &a) { return usesAsyncProxy(a.agent); });
  if (reader == reads.end())
    return;
  if (byThreads != writes.end())
    for (CommitOp commit : uses.commits)
      needs.push_back(
          {pipe, FenceKind::ProxyAsync, commit, true, writes, by(*byThreads), by(*reader)});
  if (byCopies != writes.end())
    for (WaitOp wait : uses.waits) {
      SmallVector<Access> own = getAccesses(wait, target);
      if (llvm::any_of(own, [](auto &a) { return usesAsyncProxy(a.agent); }))
        needs.push_back(
            {pipe, FenceKind::ProxyAsync, wait, false, own, by(*byCopies), by(*reader)});
    }
}

void Collector::orderTensorMemory(PipeOp pipe, const PipeUses &uses) {
  bool tmem = pipe.getPipe().getType().getLink() == Link::Tmem;
  std::string producer =
      uses.producers.empty() ? "its producer" : describeProcess(uses.producers.front());
  for (WaitOp wait : uses.waits) {
    SmallVector<Access> own = getAccesses(wait, target);
    auto reader = llvm::find_if(own, [&](auto &a) { return tmem || a.agent == Agent::TensorCore; });
    if (reader != own.end())
      needs.push_back({pipe, FenceKind::TmemAfter, wait, false, own, producer, by(*reader)});
  }
  if (!tmem)
    return;
  for (AcquireOp acquire : uses.acquires) {
    SmallVector<Access> own = getAccesses(acquire, target);
    for (Operation *consumer : uses.consumers)
      if (!own.empty()) {
        needs.push_back({pipe, FenceKind::TmemAfter, acquire, false, own, by(own.front()),
                         describeProcess(consumer)});
        break;
      }
  }
  for (ReleaseOp release : uses.releases) {
    SmallVector<Access> own;
    for (WaitOp wait : uses.waits)
      if (getProcess(wait) == getProcess(release))
        llvm::append_range(own, getAccesses(wait, target));
    needs.push_back({pipe, FenceKind::TmemBefore, release, true, own, producer,
                     describeProcess(getProcess(release))});
  }
}

void Collector::visit(PipeOp pipe) {
  PipeType type = pipe.getPipe().getType();
  PipeUses uses = getUses(pipe);
  if (type.hasTiles() && target.has(Feature::ProxyFence))
    orderProxies(pipe, uses);
  if (target.mma == MmaFamily::Tcgen05 && (type.hasTiles() || type.getLink() == Link::Tmem))
    orderTensorMemory(pipe, uses);
}

SmallVector<FenceNeed> getFenceNeeds(KernelOp kernel, const Target &target) {
  Collector collector{target, {}};
  for (PipeOp pipe : getPipes(kernel))
    collector.visit(pipe);
  addPeerFenceNeeds(kernel, target, collector.needs);
  return std::move(collector.needs);
}

bool isMet(const FenceNeed &need) {
  Operation *op = need.verb;
  while ((op = need.beforeVerb ? op->getPrevNode() : op->getNextNode())) {
    if (auto fence = dyn_cast<FenceOp>(op); fence && fence.getKind() == need.kind)
      return true;
    if (llvm::any_of(need.accesses, [&](auto &a) { return op->isAncestor(a.op); }))
      return false;
  }
  return false;
}

bool isInFlight(Value acc) {
  if (auto mma = acc.getDefiningOp<MmaOp>())
    return !mma.isPromoted();
  auto loop = acc.getDefiningOp<scf::ForOp>();
  return loop && isInFlight(loop.getYieldedValues()[cast<OpResult>(acc).getResultNumber()]);
}

} // namespace heddle::warp
