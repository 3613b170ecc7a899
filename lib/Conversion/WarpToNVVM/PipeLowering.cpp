//===- PipeLowering.cpp - acquire, commit, wait, release, fences ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelLowering.h"
#include "dialects/PTX/IR/PTXDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::warp;

KernelLowering::PipeState &KernelLowering::state(Value pipe) { return pipes.find(pipe)->second; }

Value KernelLowering::fullBarrier(PipeState &s, Value index) {
  return e.add(e.add(sharedBase, *s.op.getBarriers()), e.shl(index, 3));
}
Value KernelLowering::emptyBarrier(PipeState &s, Value index) {
  return e.add(fullBarrier(s, index), 8 * s.type.getDepth());
}

/// Gives the slot's parts their addresses.
void KernelLowering::bindSlot(PipeState &s, Value pipe, ResultRange parts) {
  s.heldIndex = load(s.index);
  if (s.type.getLink() == Link::Tmem) {
    int64_t columns = cast<AccType>(s.type.getElements().front()).getCols();
    mapping.map(parts[0],
                e.add(e.add(family->tmemBase(), *s.op.getOffset()), e.mul(s.heldIndex, columns)));
    return;
  }
  Value address =
      e.add(e.add(sharedBase, *s.op.getOffset()), e.mul(s.heldIndex, s.type.getSlotBytes()));
  for (Value part : parts) {
    mapping.map(part, address);
    tilePipe[part] = pipe;
    address = e.add(address, cast<TileType>(part.getType()).getBytes());
  }
}

/// Steps to the next slot of the ring.
void KernelLowering::advance(PipeState &s) {
  Value next = e.add(load(s.index), 1);
  Value wrapped = e.eq(next, s.type.getDepth());
  store(s.index, e.select(wrapped, e.i32(0), next));
  Value phase = load(s.phase);
  store(s.phase, e.select(wrapped, e.bitXor(phase, e.i32(1)), phase));
}

//===----------------------------------------------------------------------===//
// CTAs of a cluster
//===----------------------------------------------------------------------===//

/// The rank of the `number`th CTA that writes to this one's slots; itself beyond the last.
/// First come those of its row, or itself, then the others of its column.
Value KernelLowering::writerRank(PipeState &s, Value number) {
  int64_t inRow = s.reach.alongRow ? cluster.cols : 1;
  Value row = clusterRow, col = clusterCol;
  if (s.reach.alongRow)
    col = e.select(e.lt(number, e.i32(inRow)), number, clusterCol);
  if (s.reach.alongCol) {
    Value other = e.add(number, -inRow);
    other = e.add(other, e.toI32(e.compare(arith::CmpIPredicate::uge, other, clusterRow)));
    row = e.select(e.lt(e.add(number, -inRow), e.i32(cluster.rows - 1)), other, clusterRow);
  }
  return e.add(e.mul(row, cluster.cols), col);
}

/// The CTAs (i16) of this one's row or column of the cluster, or of both.
Value KernelLowering::maskOf(PipeState &s, bool row, bool col) {
  int64_t ofRow = (int64_t(1) << cluster.cols) - 1, ofCol = 0;
  for (int64_t i = 0; i < cluster.rows; ++i)
    ofCol |= int64_t(1) << (i * cluster.cols);
  Value mask = e.i32(0);
  if (row)
    mask = e.make<arith::ShLIOp>(e.i32(ofRow), e.mul(clusterRow, cluster.cols));
  if (col)
    mask = e.bitOr(mask, e.make<arith::ShLIOp>(e.i32(ofCol), clusterCol));
  return e.make<arith::TruncIOp>(e.getI16Type(), mask);
}

/// Waits for the slot to take next. A fresh barrier counts as having completed the phase
/// before its first.
void KernelLowering::waitEmpty(PipeState &s) {
  Value barrier = emptyBarrier(s, load(s.index)), parity = e.bitXor(load(s.phase), e.i32(1));
  if (s.reach.writers() > 1)
    e.make<ptx::MBarrierWaitClusterOp>(barrier, parity, s.orders);
  else
    waitBarrier(barrier, parity);
}

/// The warp's arrival that makes slot `index` empty, if `condition` (null: always): one lane
/// arrives, or one for each CTA that writes to the slot.
void KernelLowering::arriveEmpty(PipeState &s, Value index, Value condition) {
  int64_t writers = s.reach.writers();
  Value mine = writers > 1 ? e.lt(lane, e.i32(writers)) : e.eq(lane, 0);
  if (condition)
    mine = e.bitAnd(condition, mine);
  Value barrier = emptyBarrier(s, index);
  if (writers > 1)
    e.make<ptx::MBarrierArriveRemoteIfOp>(e.add(s.writerBase, e.sub(barrier, sharedBase)),
                                          e.toI32(mine), s.orders);
  else
    e.make<ptx::MBarrierArriveIfOp>(barrier, e.toI32(mine));
}

//===----------------------------------------------------------------------===//
// Verbs
//===----------------------------------------------------------------------===//

LogicalResult KernelLowering::lowerAcquire(AcquireOp op) {
  PipeState &s = state(op.getPipe());
  if (s.type.getLink() == Link::Regs) {
    mapping.map(op.getSlots()[0], family->initialAcc(cast<AccType>(s.type.getElements()[0])));
    return success();
  }
  if (!s.op.getBarriers())
    return error(op, "expected a placed pipe: run warp-allocate first");
  waitEmpty(s);
  bindSlot(s, op.getPipe(), op.getSlots());
  // Bulk copies announce how many bytes will come, and arrive, before they are issued.
  int64_t bytes = 0;
  for (Value part : op.getSlots())
    for (Operation *user : part.getUsers())
      if (auto copy = dyn_cast<CopyOp>(user);
          copy && copy.isLoad() && copy.getEngine() == Engine::Bulk)
        bytes += cast<TileType>(part.getType()).getBytes();
  if (bytes && bytes != s.type.getSlotBytes())
    return error(op, "expected every part of the slot to be filled by bulk copies, or none");
  if (bytes)
    e.make<ptx::MBarrierExpectTxOp>(fullBarrier(s, s.heldIndex), e.i32(bytes));
  return success();
}

LogicalResult KernelLowering::lowerWait(WaitOp op) {
  PipeState &s = state(op.getPipe());
  if (!s.op.getBarriers())
    return error(op, "expected a placed pipe: run warp-allocate first");
  waitBarrier(fullBarrier(s, load(s.index)), load(s.phase));
  bindSlot(s, op.getPipe(), op.getSlots());
  // Consumers step on at once: releases go by a cursor of their own.
  advance(s);
  return success();
}

LogicalResult KernelLowering::lowerCommit(CommitOp op) {
  PipeState &s = state(op.getPipe());
  if (s.type.getLink() == Link::Regs)
    return error(op, "expected no commit on a regs pipe after roles are assigned");
  Value full = fullBarrier(s, s.heldIndex);
  // Who filled the slot decides how it becomes full.
  bool bulk = false, async = false;
  if (s.type.getLink() == Link::Tmem) {
    family->commitTo(full);
    advance(s);
    return success();
  }
  op->getParentOfType<RoleOp>().walk([&](AcquireOp acquire) {
    if (acquire.getPipe() == op.getPipe())
      for (Value part : acquire.getSlots())
        for (Operation *user : part.getUsers())
          if (auto copy = dyn_cast<CopyOp>(user); copy && copy.isLoad()) {
            bulk |= copy.getEngine() == Engine::Bulk;
            async |= copy.getEngine() == Engine::Async;
          } else if (auto transfer = dyn_cast<TransferOp>(user); transfer && transfer.isLoad()) {
            bulk = true;
          }
  });
  if (async) {
    Value pointer = e.make<LLVM::IntToPtrOp>(LLVM::LLVMPointerType::get(e.getContext(), 3), full);
    e.make<NVVM::CpAsyncMBarrierArriveOp>(pointer, /*noinc=*/true);
  } else if (!bulk) {
    syncWarp();
    e.ifThen(e.eq(lane, 0), [&] { arrive(full); });
  }
  advance(s);
  return success();
}

void KernelLowering::releaseEarly(MmaOp op) {
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode()) {
    auto release = dyn_cast<ReleaseOp>(next);
    bool mine = release && !release.getLag() && !release.getAfter() &&
                (release.getPipe() == pipeOf(op.getA()) || release.getPipe() == pipeOf(op.getB()));
    if (!mine || failed(lowerRelease(release)))
      return;
    released.insert(release);
  }
}

/// The transfers from or to slots of the pipe that `release` gives back, in its role.
static SmallVector<TransferOp> pipeTransfers(ReleaseOp release) {
  SmallVector<TransferOp> transfers;
  release->getParentOfType<RoleOp>().walk([&](TransferOp transfer) {
    Operation *taker = transfer.getTile() ? transfer.getTile().getDefiningOp() : nullptr;
    if (taker && isa<WaitOp>(taker) && taker->getOperand(0) == release.getPipe())
      transfers.push_back(transfer);
  });
  return transfers;
}

/// Closes the group of this slot's stores. Half of the ring's slots may still be read by such
/// groups, so that stores overlap; the slot that was stored so many slots before is released.
/// At the end of the role that many stay unreleased: nobody takes them any more.
void KernelLowering::releaseStored(PipeState &s) {
  int64_t pending = s.type.getDepth() / 2;
  e.make<ptx::BulkCommitOp>();
  e.make<ptx::BulkWaitReadOp>(e.getI32IntegerAttr(pending));
  Value index = load(s.freeIndex), stored = load(s.stored);
  Value behind = e.compare(arith::CmpIPredicate::sge, stored, e.i32(pending));
  e.make<ptx::MBarrierArriveIfOp>(emptyBarrier(s, index), e.toI32(behind));
  Value next = e.add(index, 1);
  next = e.select(e.eq(next, s.type.getDepth()), e.i32(0), next);
  store(s.freeIndex, e.select(behind, next, index));
  store(s.stored, e.select(behind, stored, e.add(stored, 1)));
}

LogicalResult KernelLowering::lowerRelease(ReleaseOp op) {
  if (released.erase(op))
    return success();
  PipeState &s = state(op.getPipe());
  if (s.type.getLink() == Link::Regs)
    return error(op, "expected no release on a regs pipe after roles are assigned");
  Value index = load(s.freeIndex), barrier = emptyBarrier(s, index);
  auto step = [&](Value from) {
    Value next = e.add(from, 1);
    return e.select(e.eq(next, s.type.getDepth()), e.i32(0), next);
  };
  if (op.getLag()) {
    // The groups issued in this iteration may still run; those before have read their slots.
    auto loop = op->getParentOfType<scf::ForOp>();
    unsigned groups = 0;
    loop.getBody()->walk([&](MmaOp mma) { groups += !mma.isPromoted(); });
    bool first = true;
    for (Operation *o = op->getPrevNode(); o; o = o->getPrevNode())
      if (auto other = dyn_cast<ReleaseOp>(o); other && other.getLag())
        first = false;
    if (first)
      family->waitLagged(groups);
    Value notFirst = e.compare(arith::CmpIPredicate::ne, lookup(loop.getInductionVar()),
                               lookup(loop.getLowerBound()));
    arriveEmpty(s, index, notFirst);
    store(s.freeIndex, e.select(notFirst, step(index), index));
    return success();
  }
  if (op.getAfter() && target.mma == target::MmaFamily::Tcgen05) {
    bool shared = s.reach.writers() > 1;
    family->commitTo(barrier, shared ? maskOf(s, s.reach.alongRow, s.reach.alongCol) : Value());
  } else if (role.single &&
             llvm::any_of(pipeTransfers(op), [](TransferOp t) { return t.isStore(); })) {
    releaseStored(s);
    return success();
  } else if (role.single) {
    bool bulkStore = false;
    op->getParentOfType<RoleOp>().walk([&](CopyOp copy) {
      bulkStore |= !copy.isLoad() && pipeOf(copy.getTile()) == op.getPipe();
    });
    if (bulkStore)
      e.make<ptx::BulkWaitReadOp>(e.getI32IntegerAttr(0));
    if (s.reach.writers() == 1)
      arrive(barrier);
    else
      for (int64_t i = 0; i < s.reach.writers(); ++i)
        e.make<ptx::MBarrierArriveRemoteIfOp>(
            e.make<ptx::MapSharedOp>(e.getI32Type(), barrier, writerRank(s, e.i32(i))), e.i32(1),
            s.orders);
  } else {
    syncWarp();
    arriveEmpty(s, index, Value());
  }
  store(s.freeIndex, step(index));
  return success();
}

/// At the end of a producer whose slots are released by asynchronous arrivals, or from other
/// CTAs: waits for the last of them, since shared memory must outlive what is on its way to it.
void KernelLowering::drainReleases() {
  llvm::SetVector<Value> drained;
  role.op.walk([&](AcquireOp acquire) { drained.insert(acquire.getPipe()); });
  for (Value pipe : drained) {
    PipeState &s = state(pipe);
    bool asynchronous = llvm::any_of(pipe.getUsers(), [&](Operation *user) {
      auto release = dyn_cast<ReleaseOp>(user);
      return release && release.getAfter() && target.mma == target::MmaFamily::Tcgen05;
    });
    if (!asynchronous && s.reach.writers() == 1)
      continue;
    // A slot that was never taken counts as released, as in acquire.
    auto loop = e.make<scf::ForOp>(e.i32(0), e.i32(s.type.getDepth()), e.i32(1));
    OpBuilder::InsertionGuard guard(e);
    e.setInsertionPoint(loop.getBody()->getTerminator());
    waitEmpty(s);
    advance(s);
  }
}

void KernelLowering::lowerFence(FenceOp op) {
  switch (op.getKind()) {
  case FenceKind::BulkDone:
    e.make<ptx::BulkWaitOp>(e.getI32IntegerAttr(0));
    return;
  case FenceKind::ProxyGlobal:
    e.make<NVVM::FenceProxyOp>(
        NVVM::ProxyKindAttr::get(e.getContext(), NVVM::ProxyKind::async_global),
        NVVM::SharedSpaceAttr());
    return;
  case FenceKind::ProxyAsync:
    e.make<NVVM::FenceProxyOp>(
        NVVM::ProxyKindAttr::get(e.getContext(), NVVM::ProxyKind::async_shared),
        NVVM::SharedSpaceAttr::get(e.getContext(), NVVM::SharedSpace::shared_cta));
    return;
  case FenceKind::TmemBefore:
    e.make<NVVM::Tcgen05FenceOp>(NVVM::Tcgen05FenceKind::BEFORE_THREAD_SYNC);
    return;
  case FenceKind::TmemAfter:
    e.make<NVVM::Tcgen05FenceOp>(NVVM::Tcgen05FenceKind::AFTER_THREAD_SYNC);
    return;
  }
}
