//===- PacketLowering.cpp - data that carry their flags ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread moves 8 bytes of data as one 16-byte access of two words (docs/rationale/
// peer-ordering.md). All loads of a thread are on their way before its first store.
//
//===----------------------------------------------------------------------===//
#include "KernelLowering.h"
#include "dialects/PTX/IR/PTXDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::warp;

static int64_t elementBytesOf(Value memory) {
  return cast<MemRefType>(memory.getType()).getElementTypeBitWidth() / 8;
}

/// i64: where rank `owner` (null: this one) receives from `other` in this launch.
Value KernelLowering::packetAddress(Value pipe, Value owner, Value other) {
  int64_t area = packetBytes(*pipe.getDefiningOp<PeerPipeOp>().getCapacity());
  Value base = owner ? e.add(e.sub(comm.area, comm.heap), heapOf(owner)) : comm.area;
  Value turn = e.make<arith::AndIOp>(comm.epoch, e.i64(1));
  Value place = e.mul(e.add(e.mul(turn, comm.world), other), area);
  Value before = e.mul(comm.world, comm.packets.lookup(pipe));
  return e.add(e.add(e.add(base, before), place), channelHeaderBytes);
}

/// The 8-byte units of this thread: whether the unit exists, its first element, where its words
/// are in the area (i64).
void KernelLowering::forEachPacket(Value pipe, Value count, int64_t elementBytes,
                                   function_ref<void(Value, Value, Value)> body) {
  int64_t threads = 32 * role.warps, capacity = *pipe.getDefiningOp<PeerPipeOp>().getCapacity();
  int64_t width = 8 / elementBytes;
  Value thread = e.toI64(role.threadInRole);
  for (int64_t first = 0; first * 8 < capacity; first += threads) {
    Value unit = e.add(thread, first);
    Value element = e.mul(unit, width);
    body(e.compare(arith::CmpIPredicate::slt, element, count), element, e.mul(unit, 16));
  }
}

static Value pointerTo(Emitter &e, Value address) {
  return e.make<LLVM::IntToPtrOp>(LLVM::LLVMPointerType::get(e.getContext(), 1), address);
}

/// 8 bytes of memory as two i32 where `inside`, else zeros.
static Value loadPair(Emitter &e, Value inside, function_ref<Value()> address) {
  auto pair = VectorType::get({2}, e.getI32Type());
  auto load = e.make<scf::IfOp>(TypeRange(pair), inside, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(load.thenBlock());
  Value loaded = e.make<LLVM::LoadOp>(pair, address(), 8);
  e.make<scf::YieldOp>(loaded);
  e.setInsertionPointToStart(load.elseBlock());
  Value none = e.make<arith::ConstantOp>(cast<TypedAttr>(e.getZeroAttr(pair)));
  e.make<scf::YieldOp>(none);
  return load.getResult(0);
}

LogicalResult KernelLowering::lowerPacketSend(PacketSendOp op) {
  Value rank = lookup(op.getRank()), offset = lookup(op.getOffset());
  Value others = e.compare(arith::CmpIPredicate::ne, rank, comm.rank);
  Value sends = e.bitAnd(lookup(op.getAlive()), others);
  Value launch = e.make<arith::TruncIOp>(e.getI32Type(), comm.epoch);
  Value area = packetAddress(op.getPipe(), rank, comm.rank);
  SmallVector<std::array<Value, 3>> units; // whether, data, address
  forEachPacket(op.getPipe(), lookup(op.getCount()), elementBytesOf(op.getSource()),
                [&](Value inside, Value element, Value bytes) {
                  Value now = e.bitAnd(inside, sends);
                  Value data =
                      loadPair(e, now, [&] { return rowAddress(op.getSource(), offset, element); });
                  units.push_back({now, data, e.add(area, bytes)});
                });
  for (auto [now, data, address] : units)
    e.ifThen(now, [&, data = data, address = address] {
      Value first = e.make<vector::ExtractOp>(data, 0), second = e.make<vector::ExtractOp>(data, 1);
      e.make<ptx::PacketStoreOp>(pointerTo(e, address), first, second, launch);
    });
  return success();
}

/// Two i32 that have arrived at `address`; the status of the wait is added to `status`.
Value KernelLowering::packetWait(Value address, Value rank, Value alive,
                                 SmallVectorImpl<Value> &status) {
  Type i32 = e.getI32Type();
  Value launch = e.make<arith::TruncIOp>(i32, comm.epoch);
  auto wait = e.make<ptx::PacketWaitOp>(i32, i32, i32, pointerTo(e, address), launch, comm.block,
                                        e.toI32(alive));
  status.push_back(wait.getStatus());
  return e.make<vector::FromElementsOp>(VectorType::get({2}, i32),
                                        ValueRange{wait.getFirst(), wait.getSecond()});
}

/// Whether all waits of this thread went well.
Value KernelLowering::allArrived(ArrayRef<Value> status, Value alive) {
  for (Value s : status)
    alive = e.bitAnd(alive, e.eq(s, 0));
  return alive;
}

LogicalResult KernelLowering::lowerPacketReceive(PacketReceiveOp op) {
  Value rank = lookup(op.getRank()), alive = lookup(op.getAlive());
  Value other = e.compare(arith::CmpIPredicate::ne, rank, comm.rank);
  Value area = packetAddress(op.getPipe(), Value(), rank);
  Value channel = e.make<NVVM::BlockIdXOp>(e.getI32Type()), number = e.i32(comm.waits++);
  SmallVector<Value> status;
  forEachPacket(op.getPipe(), lookup(op.getCount()), elementBytesOf(op.getTarget()),
                [&](Value inside, Value element, Value bytes) {
                  Value now = e.bitAnd(e.bitAnd(inside, other), alive);
                  Value data = packetWait(e.add(area, bytes), rank, now, status);
                  e.make<ptx::RecordFaultOp>(status.back(), comm.block, e.toI32(rank), channel,
                                             e.i32(role.number), comm.epoch, e.i64(0), comm.epoch,
                                             number);
                  Value stores = e.bitAnd(now, e.eq(status.back(), 0));
                  e.ifThen(stores, [&] {
                    Value to = rowAddress(op.getTarget(), lookup(op.getOffset()), element);
                    e.make<LLVM::StoreOp>(data, to, 8);
                  });
                  alive = allArrived(status.back(), alive);
                });
  syncWarp();
  mapping.map(op.getOk(), alive);
  return success();
}

LogicalResult KernelLowering::lowerPacketAdd(PacketAddOp op) {
  SpreadType type = op.getSum().getType();
  int64_t width = type.getWidth();
  Type element = cast<MemRefType>(op.getSelf().getType()).getElementType();
  auto raw = VectorType::get({width}, element), wide = VectorType::get({width}, e.getF32Type());
  Value rank = lookup(op.getRank()), alive = lookup(op.getAlive()), sum = lookup(op.getSum());
  Value self = e.compare(arith::CmpIPredicate::eq, rank, comm.rank);
  Value other = e.compare(arith::CmpIPredicate::ne, rank, comm.rank);
  Value area = packetAddress(op.getPipe(), Value(), rank);
  Value channel = e.make<NVVM::BlockIdXOp>(e.getI32Type()), number = e.i32(comm.waits++);
  int64_t unit = 0;
  forEachPacket(op.getPipe(), lookup(op.getCount()), elementBytesOf(op.getSelf()),
                [&](Value inside, Value at, Value bytes) {
                  SmallVector<Value> status;
                  Value mine = loadPair(e, e.bitAnd(inside, self), [&] {
                    return rowAddress(op.getSelf(), lookup(op.getOffset()), at);
                  });
                  Value now = e.bitAnd(e.bitAnd(inside, other), alive);
                  Value theirs = packetWait(e.add(area, bytes), rank, now, status);
                  e.make<ptx::RecordFaultOp>(status.back(), comm.block, e.toI32(rank), channel,
                                             e.i32(role.number), comm.epoch, e.i64(0), comm.epoch,
                                             number);
                  alive = allArrived(status, alive);
                  Value value = e.make<LLVM::BitcastOp>(raw, e.select(self, mine, theirs));
                  if (!element.isF32())
                    value = e.make<arith::ExtFOp>(wide, value);
                  SmallVector<int64_t> first{unit++ * width}, one{1}, size{width};
                  Value old = e.make<vector::ExtractStridedSliceOp>(sum, first, size, one);
                  sum = e.make<vector::InsertStridedSliceOp>(e.make<arith::AddFOp>(old, value), sum,
                                                             first, one);
                });
  syncWarp();
  mapping.map(op.getResult(), sum);
  mapping.map(op.getOk(), alive);
  return success();
}
