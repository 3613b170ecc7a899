//===- ElementLowering.cpp - element regions: map, store, pack, read ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelLowering.h"
#include "dialects/PTX/IR/PTXDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <numeric>

using namespace mlir;
using namespace heddle;
using namespace heddle::warp;

Value KernelLowering::inlineRegion(Region &region, Value x, Value row, Value col) {
  Block &block = region.front();
  mapping.map(block.getArgument(0), x);
  mapping.map(block.getArgument(1), e.toIndex(row));
  mapping.map(block.getArgument(2), e.toIndex(col));
  for (Operation &op : block.without_terminator())
    if (failed(lowerOp(op)))
      return {};
  return lookup(cast<YieldOp>(block.getTerminator()).getValue());
}

/// Never touches what lies outside: indices stop at the last element.
LogicalResult KernelLowering::lowerRead(ReadOp op) {
  MemoryArg &m = memory(op.getMemory());
  SmallVector<Value> indices;
  for (auto [i, index] : llvm::enumerate(op.getIndices()))
    indices.push_back(e.min(e.toI32(lookup(index)), e.sub(sizeValue(m.sizes[i]), e.i32(1))));
  mapping.map(op.getValue(), e.make<LLVM::LoadOp>(m.type.getElementType(), elementPointer(m, indices)));
  return success();
}

//===----------------------------------------------------------------------===//
// map: shared to shared
//===----------------------------------------------------------------------===//

LogicalResult KernelLowering::lowerMap(MapOp op) {
  TileType from = op.getSource().getType(), to = op.getTarget().getType();
  Value fromBase = tileAddress(op.getSource()), toBase = tileAddress(op.getTarget());
  auto sharedPtr = LLVM::LLVMPointerType::get(e.getContext(), 3);
  int64_t total = from.getRows() * from.getCols(), threads = 32 * role.warps;
  LogicalResult result = success();
  auto one = [&](Value id) {
    // Neighbouring threads take neighbours of the source's contiguous dimension.
    Value strided = e.div(id, e.i32(from.getContiguous()));
    Value contiguous = e.rem(id, e.i32(from.getContiguous()));
    bool mn = from.getMajor() == Major::MN;
    Value row = mn ? contiguous : strided, col = mn ? strided : contiguous;
    Value x = e.make<LLVM::LoadOp>(from.getElementType(),
                                   e.make<LLVM::IntToPtrOp>(sharedPtr, elementAddress(from, fromBase, row, col)));
    Value y = inlineRegion(op.getBody(), x, row, col);
    if (!y) {
      result = failure();
      return;
    }
    e.make<LLVM::StoreOp>(y, e.make<LLVM::IntToPtrOp>(sharedPtr, elementAddress(to, toBase, row, col)));
  };
  if (total >= threads) {
    auto loop = e.make<scf::ForOp>(e.i32(0), e.i32(total / threads), e.i32(1));
    OpBuilder::InsertionGuard guard(e);
    e.setInsertionPoint(loop.getBody()->getTerminator());
    one(e.add(role.threadInRole, e.mul(loop.getInductionVar(), threads)));
  }
  if (total % threads) {
    Value last = e.add(role.threadInRole, total / threads * threads);
    e.ifThen(e.lt(last, e.i32(total)), [&] { one(last); });
  }
  return result;
}

//===----------------------------------------------------------------------===//
// store: accumulators to global memory
//===----------------------------------------------------------------------===//

/// The end of the run of neighbours from `first` on that one store of up to `length` can take.
static size_t runEnd(ArrayRef<FragmentElement> piece, size_t first, int64_t length) {
  size_t end = first + 1;
  while (end < piece.size() && end - first < static_cast<size_t>(length) &&
         piece[end].row == piece[first].row &&
         piece[end].col == piece[first].col + int64_t(end - first))
    ++end;
  size_t count = end - first;
  return count & (count - 1) || piece[first].col % int64_t(count) ? first + 1 : end;
}

/// Columns [first, first + count) of an accumulator, in straight-line code or, `atOnce` elements
/// of a thread at a time, in loops; first and count are multiples of `alignment`.
void KernelLowering::visitPieces(Value acc, Value first, int64_t count, int64_t alignment,
                                 int64_t atOnce, PieceVisitor visit) {
  auto type = cast<AccType>(acc.getType());
  if (atOnce)
    return family->loopPieces(type, lookup(acc), first, count, alignment, atOnce, visit);
  family->forEachPiece(type, lookup(acc), *getConstantIntValue(first), count,
                       [&](ArrayRef<FragmentElement> piece) { visit(piece, e.i32(0), e.i32(0)); });
}

/// How many neighbouring elements one store may write: what the row stride and the number of
/// columns allow. Dynamic ones become launch constraints where the kernel's copies demand
/// 16-byte rows anyway; else the answer is 1.
int64_t KernelLowering::vectorLength(MemoryArg &m) {
  int64_t rank = m.type.getRank(), bytes = m.type.getElementTypeBitWidth() / 8;
  // The form that takes what others refuse must not refuse rows itself.
  auto variant = kernel->getAttrOfType<StringAttr>("heddle.variant");
  bool takesAny = variant && variant.getValue() == "unaligned", strict = false;
  if (!takesAny)
    kernel.walk([&](CopyOp copy) { strict |= copy.getEngine() != Engine::Threads; });
  int64_t want = std::min<int64_t>(family->columnAlignment(), 16 / bytes);
  if (m.strides[rank - 1].constant != 1 || !m.strides[rank - 1].factors.empty())
    return 1;
  auto fits = [&](int64_t constant, bool dynamic, int64_t n) {
    return dynamic ? strict : constant % n == 0;
  };
  int64_t length = want;
  for (; length > 1; length /= 2) {
    bool ok = fits(m.sizes[rank - 1].constant, !m.sizes[rank - 1].isStatic(), length);
    for (int64_t d = 0; d + 1 < rank; ++d)
      ok &= fits(m.strides[d].constant, !m.strides[d].factors.empty(), length);
    if (ok)
      break;
  }
  if (length == 1)
    return 1;
  constrainAlignment(m, length * bytes);
  if (!m.sizes[rank - 1].isStatic())
    constrain("multiple_of", sizeExpr(m.sizes[rank - 1]), length, "columns of " + m.name);
  return length;
}

LogicalResult KernelLowering::lowerStore(StoreOp op) {
  MemoryArg &m = memory(op.getMemory());
  AccType type = op.getAcc().getType();
  int64_t rank = m.type.getRank();
  SmallVector<Value> offsets;
  for (Value v : op.getOffsets())
    offsets.push_back(e.toI32(lookup(v)));
  auto [rowBase, colBase] = family->fragmentBase(type);
  // Neighbouring columns of the accumulator lie in rows of the memref when it is transposed.
  const bool transposed = op.getTransposed();
  const int64_t rowDim = rank - (transposed ? 1 : 2), colDim = rank - (transposed ? 2 : 1);
  Value row0 = e.add(offsets[rowDim], rowBase), col0 = e.add(offsets[colDim], colBase);
  int64_t length = transposed ? 1 : vectorLength(m);
  LogicalResult result = success();
  Type element = storageType(m.type.getElementType());
  int64_t elementBytes = m.type.getElementTypeBitWidth() / 8;
  auto visit = [&](ArrayRef<FragmentElement> piece, Value pieceRow, Value pieceCol) {
    Value firstRow = e.add(row0, pieceRow), firstCol = e.add(col0, pieceCol);
    for (size_t i = 0; i < piece.size();) {
      size_t end = runEnd(piece, i, length);
      Value row = e.add(firstRow, piece[i].row), col = e.add(firstCol, piece[i].col);
      SmallVector<Value> values;
      for (size_t j = i; j < end; ++j) {
        Value neighbour = e.add(firstCol, piece[j].col);
        Value y = inlineRegion(op.getBody(), piece[j].value, transposed ? neighbour : row,
                               transposed ? row : neighbour);
        if (!y) {
          result = failure();
          return;
        }
        values.push_back(y);
      }
      SmallVector<Value> indices(offsets);
      indices[rowDim] = row, indices[colDim] = col;
      e.ifThen(inBounds(m, indices, op.getEnd()), [&] {
        Value value = values[0];
        if (values.size() > 1)
          value = e.make<vector::FromElementsOp>(VectorType::get(values.size(), element), values);
        e.make<LLVM::StoreOp>(value, elementPointer(m, indices), elementBytes * values.size());
      });
      i = end;
    }
  };
  // A bounds check and an address each store.
  int64_t atOnce = elementsAtOnce(op.getBody(), type, (6 + length - 1) / length);
  visitPieces(op.getAcc(), e.i32(0), type.getCols(), type.getCols(), atOnce, visit);
  return result;
}

//===----------------------------------------------------------------------===//
// pack: accumulators to shared memory
//===----------------------------------------------------------------------===//

LogicalResult KernelLowering::lowerPack(PackOp op) {
  AccType type = op.getAcc().getType();
  TileType tile = op.getTile().getType();
  auto [rowBase, colBase] = family->fragmentBase(type);
  Value row0 = e.add(e.toI32(lookup(op.getRowBase())), rowBase);
  Value col0 = e.add(e.toI32(lookup(op.getColBase())), colBase);
  bool matrices = family->hasMatrixFragments() && target.has(target::Feature::StMatrix) &&
                  tile.getElementBytes() == 2;
  LogicalResult result = success();
  Value first = chunkColumn ? chunkColumn : e.i32(op.getFirst());
  auto visit = [&](ArrayRef<FragmentElement> piece, Value row, Value col) {
    SmallVector<FragmentElement> done;
    for (const FragmentElement &el : piece) {
      Value y = inlineRegion(op.getBody(), el.value, e.add(e.add(row0, row), el.row),
                             e.add(e.add(col0, col), el.col));
      if (!y) {
        result = failure();
        return;
      }
      done.push_back({y, el.row, el.col});
    }
    // In the tile, columns count from the chunk's first.
    Value tileCol = chunkColumn ? e.sub(col, first) : e.add(col, -int64_t(op.getFirst()));
    matrices ? packMatrices(op, done, row, tileCol) : packElements(op, done, row, tileCol);
  };
  int64_t alignment = std::gcd(int64_t(op.getFirst()), tile.getCols());
  int64_t atOnce = alignment % 8 ? 0 : elementsAtOnce(op.getBody(), type);
  visitPieces(op.getAcc(), first, tile.getCols(), alignment, atOnce, visit);
  return result;
}

/// 16 x 16 elements at a time: four 8x8 matrices, each lane naming one row of one of them, as it
/// lies in the tile: one column where the tile has rows contiguous.
void KernelLowering::packMatrices(PackOp op, ArrayRef<FragmentElement> piece, Value pieceRow,
                                  Value pieceCol) {
  TileType tile = op.getTile().getType();
  auto [warpRow, warpCol] = family->matrixBase(op.getAcc().getType());
  DenseMap<std::pair<int64_t, int64_t>, Value> at;
  int64_t rows = 0, firstCol = piece[0].col, lastCol = piece[0].col;
  for (const FragmentElement &el : piece) {
    at[{el.row, el.col}] = el.value;
    rows = std::max(rows, el.row + 8);
    firstCol = std::min(firstCol, el.col), lastCol = std::max(lastCol, el.col);
  }
  auto pair = [&](int64_t row, int64_t col) -> Value {
    auto type = VectorType::get(2, tile.getElementType());
    Value v = e.make<vector::FromElementsOp>(type, ValueRange{at.lookup({row, col}), at.lookup({row, col + 1})});
    return e.make<LLVM::BitcastOp>(e.getI32Type(), v);
  };
  int64_t firstRow = piece[0].row / 16 * 16;
  for (int64_t row = firstRow; row < rows; row += 16)
    for (int64_t col = firstCol; col < lastCol; col += 16) {
      bool wide = at.count({row, col + 8});
      SmallVector<Value> values{pair(row, col), pair(row + 8, col)};
      if (wide)
        values.append({pair(row, col + 8), pair(row + 8, col + 8)});
      // Matrix i is rows (i & 1) * 8, columns (i >> 1) * 8; lane l names row l % 8 of matrix l / 8.
      bool mn = tile.getMajor() == Major::MN;
      Value r = e.add(e.add(e.add(warpRow, pieceRow), row), e.bitAnd(lane, mn ? 8 : 15));
      Value c = e.add(warpCol, e.add(pieceCol, col));
      if (mn)
        c = e.add(c, e.bitAnd(lane, 7));
      if (wide)
        c = e.add(c, e.shl(e.shr(lane, 4), 3));
      Value address = elementAddress(tile, tileAddress(op.getTile()), r, c);
      e.make<ptx::StMatrixOp>(address, values, mn ? e.getUnitAttr() : UnitAttr());
    }
}

void KernelLowering::packElements(PackOp op, ArrayRef<FragmentElement> piece, Value pieceRow,
                                  Value pieceCol) {
  TileType tile = op.getTile().getType();
  auto [rowBase, colBase] = family->fragmentBase(op.getAcc().getType());
  auto sharedPtr = LLVM::LLVMPointerType::get(e.getContext(), 3);
  int64_t bytes = tile.getElementBytes();
  int64_t length = tile.getMajor() == Major::K ? std::min<int64_t>(family->columnAlignment(), 16 / bytes) : 1;
  for (size_t i = 0; i < piece.size();) {
    size_t end = runEnd(piece, i, length);
    SmallVector<Value> values;
    for (size_t j = i; j < end; ++j)
      values.push_back(piece[j].value);
    Value value = values[0];
    if (values.size() > 1)
      value = e.make<vector::FromElementsOp>(VectorType::get(values.size(), storageType(tile.getElementType())), values);
    Value row = e.add(e.add(rowBase, pieceRow), piece[i].row);
    Value col = e.add(colBase, e.add(pieceCol, piece[i].col));
    Value address = elementAddress(tile, tileAddress(op.getTile()), row, col);
    e.make<LLVM::StoreOp>(value, e.make<LLVM::IntToPtrOp>(sharedPtr, address), bytes * values.size());
    i = end;
  }
}
