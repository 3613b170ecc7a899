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

Value OperandScale::at(Value row) {
  Emitter &e = k.e;
  SmallVector<Value> indices(offsets);
  size_t rank = indices.size();
  Value &rowIndex = indices[rank - 2];
  rowIndex = e.div(e.add(rowIndex, row), e.i32(blockRows));
  if (transposed)
    std::swap(indices[rank - 2], indices[rank - 1]);
  size_t clamped = transposed ? rank - 1 : rank - 2;
  indices[clamped] =
      e.min(indices[clamped], e.sub(k.sizeValue(memory->sizes[clamped]), e.i32(1)));
  return e.make<LLVM::LoadOp>(e.getF32Type(), k.elementPointer(*memory, indices),
                              /*alignment=*/4, /*isVolatile=*/false, /*isNonTemporal=*/false,
                              /*isInvariant=*/true);
}

void ElementScales::load(const TileScales &a, ArrayRef<Value> rows, const TileScales &b,
                         ArrayRef<Value> columns) {
  OperandScale scalesA(k, a), scalesB(k, b);
  for (Value row : rows)
    rowScales.push_back(scalesA.at(row));
  for (Value column : columns)
    columnScales.push_back(scalesB.at(column));
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
