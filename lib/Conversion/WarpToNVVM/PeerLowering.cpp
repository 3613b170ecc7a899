//===- PeerLowering.cpp - pipes between ranks ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every counter has one writer and only grows: it holds the number of the launch, as the
// channel counts them, in which its slot last became full or empty. So no launch resets
// anything, and a captured graph replays. A full counter lies at the consumer, indexed by
// producer, an empty one at the producer, indexed by consumer: polls are of local memory.
//
// A wait that fails makes its role's `alive` false, and everything that depends on it does
// nothing from then on; pipes inside of the CTA go on, so that every role ends. It also sets a
// word in shared memory, which keeps other roles from passing on as full what it left undone:
// they look at it after the last slot that the failed role gave them.
//
//===----------------------------------------------------------------------===//
#include "KernelLowering.h"
#include "dialects/PTX/IR/PTXDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::warp;

/// Offsets in the communicator's block (docs/communication.md).
static constexpr int64_t rankAt = 0, worldAt = 4, heapsAt = 32;

bool KernelLowering::usesComm() {
  return kernel
      ->walk([](Operation *op) {
        return isa<PeerPipeOp, RankOp, WorldOp, ChannelOp, ChannelsOp>(op) ? WalkResult::interrupt()
                                                                           : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Reads what does not change while the kernel runs.
static Value loadConstant(Emitter &e, Type type, Value base, Value offset) {
  Value address =
      e.make<LLVM::GEPOp>(base.getType(), e.getI8Type(), base, ArrayRef<LLVM::GEPArg>{offset});
  return e.make<LLVM::LoadOp>(type, address, type.getIntOrFloatBitWidth() / 8, /*isVolatile=*/false,
                              /*isNonTemporal=*/false, /*isInvariant=*/true);
}

static Value globalPointer(Emitter &e, Value address) {
  return e.make<LLVM::IntToPtrOp>(LLVM::LLVMPointerType::get(e.getContext(), 1), address);
}

/// The heap of a rank, as this rank sees it.
Value KernelLowering::heapOf(Value rank) {
  return loadConstant(e, e.getI64Type(), comm.block, e.add(e.mul(rank, 8), heapsAt));
}

void KernelLowering::commPrologue() {
  if (!usesComm())
    return;
  for (PeerPipeOp pipe : kernel.getBody().front().getOps<PeerPipeOp>())
    if (!pipe.getCapacity())
      comm.pipes[pipe.getPipe()] = comm.pipes.size();
  comm.perRank = 2 * counterBytes * comm.pipes.size();
  for (PeerPipeOp pipe : kernel.getBody().front().getOps<PeerPipeOp>())
    if (pipe.getCapacity()) {
      comm.packets[pipe.getPipe()] = comm.perRank;
      comm.perRank += 2 * packetBytes(*pipe.getCapacity());
    }
  comm.rank = e.toI64(loadConstant(e, e.getI32Type(), comm.block, e.i64(rankAt)));
  comm.world = e.toI64(loadConstant(e, e.getI32Type(), comm.block, e.i64(worldAt)));
  comm.heap = heapOf(comm.rank);
  comm.stride = e.add(e.mul(comm.world, comm.perRank), channelHeaderBytes);
  Value channel = e.make<NVVM::BlockIdXOp>(e.getI32Type());
  comm.area = e.add(e.add(comm.heap, comm.signals), e.mul(e.toI64(channel), comm.stride));
  Value before = e.make<LLVM::LoadOp>(e.getI64Type(), globalPointer(e, comm.area), 8);
  comm.epoch = e.add(before, 1);
  if (Value word = abortWord())
    e.ifThen(e.eq(tid, 0), [&] { e.make<LLVM::StoreOp>(e.i32(0), word); });
}

/// The word in shared memory that says that a wait of this CTA has failed; null without peers.
Value KernelLowering::abortWord() {
  auto offset = kernel->getAttrOfType<IntegerAttr>("abort_word");
  if (!offset)
    return {};
  return e.make<LLVM::IntToPtrOp>(LLVM::LLVMPointerType::get(e.getContext(), 3),
                                  e.add(sharedBase, offset.getInt()));
}

/// All threads have read the count of launches: it may change.
void KernelLowering::advanceEpoch() {
  if (comm.block)
    e.ifThen(e.eq(tid, 0),
             [&] { e.make<LLVM::StoreOp>(comm.epoch, globalPointer(e, comm.area), 8); });
}

/// The counter of full (or empty) slots that rank `owner` polls for rank `other`.
Value KernelLowering::counterOf(Value pipe, bool full, Value owner, Value other) {
  unsigned row = 2 * comm.pipes.lookup(pipe) + (full ? 0 : 1);
  Value area = comm.area;
  if (owner)
    area = e.add(e.sub(comm.area, comm.heap), heapOf(owner));
  Value place = row ? e.add(e.mul(comm.world, row), other) : other;
  return globalPointer(e, e.add(area, e.add(e.mul(place, counterBytes), channelHeaderBytes)));
}

/// The same place in the heap of another rank.
LogicalResult KernelLowering::lowerPeer(PeerOp op) {
  auto pipe = op.getPipe().getDefiningOp<PeerPipeOp>();
  Value away = e.sub(heapOf(lookup(op.getRank())), comm.heap);
  for (auto [memory, result] : llvm::zip(pipe.getMemory(), op.getMemory())) {
    Value mine = e.make<LLVM::PtrToIntOp>(e.getI64Type(), memoryBase(memory));
    mapping.map(result, globalPointer(e, e.add(mine, away)));
  }
  return success();
}

/// Tells `rank` that a slot is full (or empty). Threads of a role meet first, and one tells.
void KernelLowering::lowerSignal(Value pipe, Value rank, Value alive, bool full) {
  Value tells = alive;
  if (!role.single) {
    Value all = e.make<ptx::BarrierAndOp>(e.getI32Type(), e.toI32(alive), e.i32(role.number + 1),
                                          e.i32(32 * role.warps));
    tells =
        e.bitAnd(e.compare(arith::CmpIPredicate::ne, all, e.i32(0)), e.eq(role.threadInRole, 0));
  }
  tells = e.bitAnd(tells, e.compare(arith::CmpIPredicate::ne, rank, comm.rank));
  if (Value word = full ? abortWord() : Value())
    tells =
        e.bitAnd(tells, e.eq(e.make<LLVM::LoadOp>(e.getI32Type(), word, 4, false, false, false,
                                                  false, LLVM::AtomicOrdering::monotonic, "block"),
                             0));
  e.ifThen(tells, [&] {
    e.make<ptx::StoreReleaseSysOp>(counterOf(pipe, full, rank, comm.rank), comm.epoch);
  });
}

/// Waits for `rank` to have filled (or emptied) a slot; one lane of each warp looks.
Value KernelLowering::lowerPeerWait(Value pipe, Value rank, Value alive, bool full) {
  Value counter = counterOf(pipe, full, Value(), rank);
  Value other = e.compare(arith::CmpIPredicate::ne, rank, comm.rank);
  if (!role.single)
    other = e.bitAnd(other, e.eq(lane, 0));
  auto wait = e.make<ptx::PeerWaitOp>(e.getI32Type(), e.getI64Type(), counter, comm.epoch,
                                      comm.block, e.toI32(e.bitAnd(alive, other)));
  Value channel = e.make<NVVM::BlockIdXOp>(e.getI32Type());
  e.make<ptx::RecordFaultOp>(wait.getStatus(), comm.block, e.toI32(rank), channel,
                             e.i32(role.number), comm.epoch, wait.getFound(), comm.epoch,
                             e.i32(comm.waits++));
  if (Value word = abortWord())
    e.ifThen(e.compare(arith::CmpIPredicate::ne, wait.getStatus(), e.i32(0)), [&] {
      e.make<LLVM::StoreOp>(e.i32(1), word, 4, false, false, false, LLVM::AtomicOrdering::monotonic,
                            "block");
    });
  Value status = wait.getStatus();
  if (!role.single) {
    // What one lane has acquired, all of the warp have after this.
    syncWarp();
    status = e.make<NVVM::ShflOp>(e.getI32Type(), e.i32(-1), status, e.i32(0), e.i32(31),
                                  NVVM::ShflKind::idx, UnitAttr());
  }
  return e.bitAnd(alive, e.eq(status, 0));
}
