//===- Promotion.cpp - partial sums into f32, scaled ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread loads the scales of the rows and columns it holds from global memory, where
// they stay in caches from one K block to the next; issued before the multiplication,
// the loads are hidden by it.
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

OperandScale::OperandScale(KernelLowering &k, const TileScales &scales)
    : k(k), memory(&k.memory(scales.memory)), blockRows(scales.block[0]),
      transposed(scales.transposed) {
  for (Value offset : scales.offsets)
    offsets.push_back(k.e.toI32(k.lookup(offset)));
  offsets.back() = k.e.div(offsets.back(), k.e.i32(scales.block[1]));
}

SmallVector<Value> OperandScale::at(const TileRows &rows) {
  size_t rowDim = offsets.size() - (transposed ? 1 : 2);
  if (blockRows == 1 && memory->strides[rowDim].factors.empty())
    return near(rows);
  SmallVector<Value> scales;
  for (int64_t offset : rows.offsets)
    scales.push_back(clamped(k.e.add(rows.base, offset)));
  return scales;
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

Value OperandScale::clamped(Value row) {
  Emitter &e = k.e;
  SmallVector<Value> indices(offsets);
  size_t rank = indices.size();
  Value &rowIndex = indices[rank - 2];
  rowIndex = e.div(e.add(rowIndex, row), e.i32(blockRows));
  if (transposed)
    std::swap(indices[rank - 2], indices[rank - 1]);
  size_t rowDim = rank - (transposed ? 1 : 2);
  indices[rowDim] = e.min(indices[rowDim], e.sub(k.sizeValue(memory->sizes[rowDim]), e.i32(1)));
  return e.make<LLVM::LoadOp>(e.getF32Type(), k.elementPointer(*memory, indices),
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
