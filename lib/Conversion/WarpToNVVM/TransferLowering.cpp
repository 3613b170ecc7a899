//===- TransferLowering.cpp - rows of memory and sums of them ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelLowering.h"
#include "dialects/PTX/IR/PTXDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::warp;

/// The first element of an argument, or of what warp.peer gave.
Value KernelLowering::memoryBase(Value memory) {
  return isa<BlockArgument>(memory) ? this->memory(memory).pointer : lookup(memory);
}

static Type elementOf(Value row) {
  if (auto tile = dyn_cast<TileType>(row.getType()))
    return tile.getElementType();
  return cast<MemRefType>(row.getType()).getElementType();
}

/// Pointer to element `offset` + `element` (i64, either may be null) of memory or of a tile.
Value KernelLowering::rowAddress(Value row, Value offset, Value element) {
  int64_t bytes = elementOf(row).getIntOrFloatBitWidth() / 8;
  Value base;
  if (isa<TileType>(row.getType())) {
    auto shared = LLVM::LLVMPointerType::get(e.getContext(), 3);
    base = e.make<LLVM::IntToPtrOp>(shared, tileAddress(row));
  } else {
    base = memoryBase(row);
  }
  Value at = offset && element ? e.add(offset, element) : offset ? offset : element;
  if (!at)
    return base;
  return e.make<LLVM::GEPOp>(base.getType(), e.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{e.mul(at, bytes)});
}

static Value lookupOrNull(KernelLowering &k, Value v) { return v ? k.lookup(v) : Value(); }

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

LogicalResult KernelLowering::lowerTransfer(TransferOp op) {
  if (op.getEngine() == Engine::Bulk) {
    if (!target.has(target::Feature::BulkTensorCopy))
      return error(op, Twine("expected engine threads on ") + target.name.data() + ", got bulk");
    return bulkTransfer(op);
  }
  threadsTransfer(op);
  return success();
}

LogicalResult KernelLowering::bulkTransfer(TransferOp op) {
  int64_t elementBytes = elementOf(op.getTile()).getIntOrFloatBitWidth() / 8;
  Value bytes = e.make<arith::TruncIOp>(e.getI32Type(), e.mul(lookup(op.getCount()), elementBytes));
  bool stream = op.getKeep() == Keep::Stream;
  UnitAttr hint = stream ? e.getUnitAttr() : UnitAttr();
  Value tile = tileAddress(op.getTile());
  if (op.isStore()) {
    Value to = rowAddress(op.getTarget(), lookup(op.getTargetOffset()), Value());
    e.make<ptx::BulkStoreOp>(to, tile, bytes, hint);
    usesBulkStore = true;
    return success();
  }
  PipeState &s = state(pipeOf(op.getTile()));
  Value full = fullBarrier(s, s.heldIndex);
  // The barrier counts one arrival a slot: that of the last of the slot's parts.
  bool last = true;
  for (Value part : op.getTile().getDefiningOp()->getResults())
    for (Operation *user : part.getUsers())
      if (auto other = dyn_cast<TransferOp>(user); other && other.isLoad() && other != op)
        last &= other->isBeforeInBlock(op);
  if (last)
    e.make<ptx::MBarrierExpectTxOp>(full, bytes);
  else
    e.make<ptx::MBarrierExpectMoreOp>(full, bytes);
  Value from = rowAddress(op.getSource(), lookup(op.getSourceOffset()), Value());
  e.make<ptx::BulkLoadOp>(tile, from, bytes, full, hint);
  return success();
}

/// What a thread moves at once.
static Type accessType(Emitter &e, int64_t bytes) {
  if (bytes == 16)
    return VectorType::get({4}, e.getI32Type());
  return e.getIntegerType(8 * bytes);
}

/// Neighbours in memory to neighbouring threads; several loads of a thread are on their way
/// before the first store.
void KernelLowering::threadsTransfer(TransferOp op) {
  constexpr int64_t atOnce = 4;
  int64_t elementBytes = elementOf(op.getSource()).getIntOrFloatBitWidth() / 8;
  int64_t width = op.getWidth(), step = 32 * role.warps * width, bytes = width * elementBytes;
  Value count = lookup(op.getCount());
  Value from = lookup(op.getSourceOffset()), to = lookup(op.getTargetOffset());
  Value source = rowAddress(op.getSource(), from, Value()),
        target = rowAddress(op.getTarget(), to, Value());
  Type type = accessType(e, bytes);
  auto at = [&](Value base, Value element) {
    return e.make<LLVM::GEPOp>(base.getType(), e.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{e.mul(element, elementBytes)});
  };
  auto loop = [&](Value first, Value end, int64_t by, function_ref<void(Value)> body) {
    auto made = e.make<scf::ForOp>(first, end, e.i64(by));
    OpBuilder::InsertionGuard guard(e);
    e.setInsertionPoint(made.getBody()->getTerminator());
    body(made.getInductionVar());
  };
  Value mine = e.toI64(e.mul(role.threadInRole, width));
  // Whole rounds first: every thread has `atOnce` units.
  Value round = e.i64(atOnce * step);
  Value whole = e.sub(count, e.make<arith::RemUIOp>(count, round));
  loop(e.i64(0), whole, atOnce * step, [&](Value base) {
    Value element = e.add(base, mine);
    SmallVector<Value> values;
    for (int64_t i = 0; i < atOnce; ++i)
      values.push_back(e.make<LLVM::LoadOp>(type, at(source, e.add(element, i * step)), bytes));
    for (int64_t i = 0; i < atOnce; ++i)
      e.make<LLVM::StoreOp>(values[i], at(target, e.add(element, i * step)), bytes);
  });
  loop(e.add(whole, mine), count, step, [&](Value element) {
    Value value = e.make<LLVM::LoadOp>(type, at(source, element), bytes);
    e.make<LLVM::StoreOp>(value, at(target, element), bytes);
  });
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

static int64_t unitsOf(SpreadType type, int64_t threads) {
  return (type.getElements() + type.getWidth() * threads - 1) / (type.getWidth() * threads);
}

LogicalResult KernelLowering::lowerSpreadZero(SpreadZeroOp op) {
  SpreadType type = op.getType();
  int64_t values = unitsOf(type, 32 * role.warps) * type.getWidth();
  auto vector = VectorType::get({values}, e.getF32Type());
  mapping.map(op.getResult(), e.make<arith::ConstantOp>(cast<TypedAttr>(e.getZeroAttr(vector))));
  return success();
}

/// Units of this thread: whether the unit is below `count` (i64), and its first element (i64).
void KernelLowering::forEachSpreadUnit(SpreadType type, Value count,
                                       function_ref<void(int64_t, Value, Value)> body) {
  int64_t threads = 32 * role.warps, width = type.getWidth();
  Value mine = e.toI64(e.mul(role.threadInRole, width));
  for (int64_t unit = 0; unit < unitsOf(type, threads); ++unit) {
    Value element = e.add(mine, unit * threads * width);
    body(unit, e.compare(arith::CmpIPredicate::slt, element, count), element);
  }
}

LogicalResult KernelLowering::lowerSpreadAdd(SpreadAddOp op) {
  SpreadType type = op.getType();
  int64_t width = type.getWidth();
  Type element = elementOf(op.getSource());
  auto raw = VectorType::get({width}, element), wide = VectorType::get({width}, e.getF32Type());
  Value offset = lookupOrNull(*this, op.getOffset());
  SmallVector<Value> loaded;
  int64_t bytes = width * element.getIntOrFloatBitWidth() / 8;
  forEachSpreadUnit(type, lookup(op.getCount()), [&](int64_t, Value inside, Value at) {
    auto load = e.make<scf::IfOp>(TypeRange(raw), inside, /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(e);
      e.setInsertionPointToStart(load.thenBlock());
      Value value = e.make<LLVM::LoadOp>(raw, rowAddress(op.getSource(), offset, at), bytes);
      e.make<scf::YieldOp>(value);
      e.setInsertionPointToStart(load.elseBlock());
      Value zero = e.make<arith::ConstantOp>(cast<TypedAttr>(e.getZeroAttr(raw)));
      e.make<scf::YieldOp>(zero);
    }
    loaded.push_back(load.getResult(0));
  });
  Value sum = lookup(op.getSum());
  for (auto [unit, value] : llvm::enumerate(loaded)) {
    if (!element.isF32())
      value = e.make<arith::ExtFOp>(wide, value);
    SmallVector<int64_t> first{static_cast<int64_t>(unit) * width}, one{1}, size{width};
    Value old = e.make<vector::ExtractStridedSliceOp>(sum, first, size, one);
    sum = e.make<vector::InsertStridedSliceOp>(e.make<arith::AddFOp>(old, value), sum, first, one);
  }
  mapping.map(op.getResult(), sum);
  return success();
}

LogicalResult KernelLowering::lowerSpreadStore(SpreadStoreOp op) {
  SpreadType type = op.getSum().getType();
  int64_t width = type.getWidth();
  Type element = elementOf(op.getTarget());
  auto raw = VectorType::get({width}, element);
  Value offset = lookupOrNull(*this, op.getOffset()), sum = lookup(op.getSum());
  int64_t bytes = width * element.getIntOrFloatBitWidth() / 8;
  forEachSpreadUnit(type, lookup(op.getCount()), [&](int64_t unit, Value inside, Value at) {
    SmallVector<int64_t> first{unit * width}, one{1}, size{width};
    Value value = e.make<vector::ExtractStridedSliceOp>(sum, first, size, one);
    if (!element.isF32())
      value = e.make<arith::TruncFOp>(raw, value);
    e.ifThen(inside,
             [&] { e.make<LLVM::StoreOp>(value, rowAddress(op.getTarget(), offset, at), bytes); });
  });
  return success();
}
