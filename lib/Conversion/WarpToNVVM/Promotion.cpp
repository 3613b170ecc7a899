//===- Promotion.cpp - partial sums into f32, scaled ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread loads the scales of the rows and columns it holds from global memory, where
// they stay in caches from one K block to the next. Where multiplications run in the
// background the loads are issued a K block ahead: a multiplication is shorter than the way
// to the L2 under load (docs/performance.md).
//
//===----------------------------------------------------------------------===//
#include "Promotion.h"
#include "dialects/PTX/IR/PTXDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <numeric>

using namespace mlir;
using namespace heddle;
using namespace heddle::warp;

int64_t heddle::rowsWithOneScale(const TileScales &scales, int64_t tileRows, int64_t part) {
  return std::gcd(std::gcd(scales.block[0], tileRows), part);
}

static SmallVector<Value> lookup(KernelLowering &k, ValueRange values) {
  return llvm::map_to_vector(values, [&](Value v) { return k.lookup(v); });
}

OperandScale::OperandScale(KernelLowering &k, const TileScales &scales)
    : OperandScale(k, scales, lookup(k, scales.offsets)) {}

OperandScale::OperandScale(KernelLowering &k, const TileScales &scales, ValueRange at)
    : k(k), memory(&k.memory(scales.memory)), blockRows(scales.block[0]),
      transposed(scales.transposed) {
  for (Value offset : at)
    offsets.push_back(k.e.toI32(offset));
  offsets.back() = k.e.div(offsets.back(), k.e.i32(scales.block[1]));
  // A group of nothing may begin at the end of K.
  if (!k.kernel.getBody().front().getOps<GroupsOp>().empty()) {
    size_t kDim = offsets.size() - (transposed ? 2 : 1);
    offsets.back() = k.e.min(offsets.back(), k.e.sub(k.sizeValue(memory->sizes[kDim]), k.e.i32(1)));
  }
}

SmallVector<Value> OperandScale::at(const TileRows &rows, Value wanted) {
  size_t rowDim = offsets.size() - (transposed ? 1 : 2);
  if (blockRows == 1 && memory->strides[rowDim].factors.empty())
    return near(rows);
  SmallVector<Value> scales;
  for (int64_t offset : rows.offsets)
    scales.push_back(clamped(k.e.add(rows.base, offset), wanted));
  return scales;
}

Value OperandScale::rowsLeft(const TileRows &rows) {
  size_t rank = offsets.size(), rowDim = rank - (transposed ? 1 : 2);
  Value count = k.sizeValue(memory->sizes[rowDim]);
  if (blockRows != 1)
    count = k.e.mul(count, blockRows);
  return k.e.sub(count, k.e.add(offsets[rank - 2], rows.base));
}

/// Rows with a scale each, a constant distance apart in memory.
SmallVector<Value> OperandScale::near(const TileRows &rows) {
  Emitter &e = k.e;
  SmallVector<Value> indices(offsets);
  size_t rank = indices.size(), rowDim = rank - (transposed ? 1 : 2);
  Value row = e.add(indices[rank - 2], rows.base);
  indices[rank - 2] = row;
  if (transposed)
    std::swap(indices[rank - 2], indices[rank - 1]);
  Value address = k.elementPointer(*memory, indices);
  Value limit = e.sub(k.sizeValue(memory->sizes[rowDim]), row);
  SmallVector<Value> scales;
  for (int64_t offset : rows.offsets)
    scales.push_back(e.make<ptx::LoadBelowOp>(
        e.getF32Type(), address, e.getI64IntegerAttr(offset * memory->strides[rowDim].constant * 4),
        e.getI64IntegerAttr(offset), limit));
  return scales;
}

Value OperandScale::clamped(Value row, Value wanted) {
  Emitter &e = k.e;
  SmallVector<Value> indices(offsets);
  size_t rank = indices.size();
  Value &rowIndex = indices[rank - 2];
  rowIndex = e.div(e.add(rowIndex, row), e.i32(blockRows));
  if (transposed)
    std::swap(indices[rank - 2], indices[rank - 1]);
  size_t rowDim = rank - (transposed ? 1 : 2);
  indices[rowDim] = e.min(indices[rowDim], e.sub(k.sizeValue(memory->sizes[rowDim]), e.i32(1)));
  Value address = k.elementPointer(*memory, indices);
  if (wanted)
    return e.make<ptx::LoadBelowOp>(e.getF32Type(), address, e.getI64IntegerAttr(0),
                                    e.getI64IntegerAttr(0), wanted);
  return e.make<LLVM::LoadOp>(e.getF32Type(), address,
                              /*alignment=*/4, /*isVolatile=*/false, /*isNonTemporal=*/false,
                              /*isInvariant=*/true);
}

Value ElementScales::add(Value partial, Value acc, size_t row, size_t column) {
  Emitter &e = k.e;
  if (rowScales.empty())
    return e.make<arith::AddFOp>(partial, acc);
  Value &scale = products[{row, column}];
  if (!scale)
    scale = e.make<arith::MulFOp>(rowScales[row], columnScales[column]);
  return e.make<math::FmaOp>(partial, scale, acc);
}

//===----------------------------------------------------------------------===//
// An iteration ahead
//===----------------------------------------------------------------------===//

/// Whether `v` can be computed for another iteration of `loop`: from its induction variable and
/// from values outside of it, by ops without effects.
static bool dependsOnIteration(Value v, scf::ForOp loop) {
  if (v == loop.getInductionVar() || !loop.getRegion().isAncestor(v.getParentRegion()))
    return true;
  Operation *op = v.getDefiningOp();
  return op && isMemoryEffectFree(op) && op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperands(), [&](Value x) { return dependsOnIteration(x, loop); });
}

/// `v` for the iteration that `map` names.
static Value inIteration(Emitter &e, Value v, scf::ForOp loop, IRMapping &map) {
  if (map.contains(v))
    return map.lookup(v);
  if (!loop.getRegion().isAncestor(v.getParentRegion()))
    return v;
  Operation *op = v.getDefiningOp();
  for (Value operand : op->getOperands())
    map.map(operand, inIteration(e, operand, loop, map));
  e.clone(*op, map);
  return map.lookup(v);
}

void ElementScales::fetch(Value iv, const TileRows &rows, const TileRows &columns) {
  IRMapping map;
  map.map(ahead->loop.getInductionVar(), iv);
  auto operand = [&](const TileScales &scales) {
    SmallVector<Value> offsets;
    for (Value offset : scales.offsets)
      offsets.push_back(inIteration(k.e, k.lookup(offset), ahead->loop, map));
    return OperandScale(k, scales, offsets);
  };
  OperandScale a = operand(ahead->a);
  SmallVector<Value> fresh = a.at(rows);
  // By a predicate that differs from thread to thread: ptxas would move what it knows to be
  // uniform to a uniform register, and wait for it in the same iteration.
  llvm::append_range(fresh, operand(ahead->b).at(columns, a.rowsLeft(rows)));
  if (ahead->registers.empty())
    for (size_t i = 0; i < fresh.size(); ++i)
      ahead->registers.push_back(k.allocaAtEntry(k.e.getF32Type()));
  for (auto [value, slot] : llvm::zip(fresh, ahead->registers))
    k.store(slot, value);
}

void ElementScales::loadAhead(const TileScales &a, const TileScales &b, RowsAndColumns place) {
  Emitter &e = k.e;
  auto [rows, columns] = place();
  auto loop = dyn_cast<scf::ForOp>(e.getInsertionBlock()->getParentOp());
  auto movable = [&](Value v) { return dependsOnIteration(k.lookup(v), loop); };
  if (!loop || !llvm::all_of(a.offsets, movable) || !llvm::all_of(b.offsets, movable))
    return load(a, rows, b, columns);
  ahead.emplace(Ahead{loop, a, b, rows, columns, {}});
  {
    OpBuilder::InsertionGuard guard(e);
    e.setInsertionPoint(loop);
    auto [firstRows, firstColumns] = place();
    fetch(loop.getLowerBound(), firstRows, firstColumns);
  }
  auto value = [&](Value slot) -> Value { return e.make<LLVM::LoadOp>(e.getF32Type(), slot); };
  ArrayRef<Value> all(ahead->registers);
  rowScales = llvm::map_to_vector(all.take_front(rows.offsets.size()), value);
  columnScales = llvm::map_to_vector(all.drop_front(rows.offsets.size()), value);
  // Made here, so that the registers are free for the next.
  products.clear();
  for (size_t row = 0; row < rowScales.size(); ++row)
    for (size_t column = 0; column < columnScales.size(); ++column)
      products[{row, column}] = e.make<arith::MulFOp>(rowScales[row], columnScales[column]);
}

void ElementScales::fetchNext() {
  if (!ahead)
    return;
  Emitter &e = k.e;
  scf::ForOp loop = ahead->loop;
  // The last iteration loads its own again, since those past the end need not exist.
  Value iv = loop.getInductionVar();
  Value next = e.make<arith::AddIOp>(iv, loop.getStep());
  Value more = e.make<arith::CmpIOp>(arith::CmpIPredicate::slt, next, loop.getUpperBound());
  fetch(e.select(more, next, iv), ahead->rows, ahead->columns);
}
