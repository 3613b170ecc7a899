//===- CopyLowering.cpp - tiles between global and shared memory ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelLowering.h"
#include "dialects/PTX/IR/PTXDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::warp;

LogicalResult KernelLowering::lowerCopy(CopyOp op) {
  switch (op.getEngine()) {
  case Engine::Bulk:
    if (!target.has(target::Feature::BulkTensorCopy))
      return error(op, Twine("expected an engine of ") + target.name.data() +
                           " (async, threads), got bulk");
    return bulkCopy(op);
  case Engine::Async:
    return asyncCopy(op);
  case Engine::Threads:
    return op.isLoad() ? threadsLoad(op) : threadsStore(op);
  }
  llvm_unreachable("unknown engine");
}

//===----------------------------------------------------------------------===//
// Bulk: one thread, tensor maps
//===----------------------------------------------------------------------===//

Value KernelLowering::mapPointer(CopyOp op) {
  unsigned arg = cast<BlockArgument>(op.getMemory()).getArgNumber();
  TileType tile = cast<TileType>(op.getTile().getType());
  for (MapParam &map : maps)
    if (map.arg == arg && map.tile == tile && map.shares == getShares(op) &&
        map.ragged == static_cast<bool>(op.getEnd()))
      return map.pointer;
  llvm_unreachable("every bulk copy has a tensor map");
}

/// One tensor copy a panel. Coordinates run innermost first. What CTAs of a cluster share
/// each copies a part of, along the dimension that panels do not cut, to all of them.
LogicalResult KernelLowering::bulkCopy(CopyOp op) {
  TileType tile = cast<TileType>(op.getTile().getType());
  Value address = tileAddress(op.getTile()), map = mapPointer(op);
  SmallVector<Value> coordinates;
  for (Value offset : llvm::reverse(op.getOffsets()))
    coordinates.push_back(e.toI32(lookup(offset)));
  Value ctas;
  if (op.getMulticast() && getShares(op) > 1) {
    bool row = *op.getMulticast() == ClusterAxis::Row;
    int64_t part = tile.getStrided() / getShares(op);
    Value skipped = e.mul(row ? clusterCol : clusterRow, part);
    coordinates[1] = e.add(coordinates[1], skipped);
    address = e.add(address, e.mul(skipped, 128));
    ctas = maskOf(state(pipeOf(op.getTile())), row, !row);
  }
  // See MapParam::ragged: rows end where the map's row dimension does.
  if (op.getEnd()) {
    Value end = e.toI32(lookup(op.getEnd()));
    coordinates[1] = e.add(coordinates[1], e.sub(e.i32(raggedRows), end));
    coordinates.append({end, e.i32(raggedRows)});
  }
  Value first = coordinates[0];
  for (int64_t panel = 0; panel < tile.getNumPanels(); ++panel) {
    Value at = e.add(address, panel * tile.getPanelBytes());
    coordinates[0] = e.add(first, panel * tile.getPanelElements());
    if (op.isLoad()) {
      PipeState &s = state(pipeOf(op.getTile()));
      Value full = fullBarrier(s, s.heldIndex);
      if (ctas)
        e.make<ptx::BulkTensorLoadMulticastOp>(at, map, full, ctas, coordinates);
      else
        e.make<ptx::BulkTensorLoadOp>(at, map, full, coordinates);
    } else {
      e.make<ptx::BulkTensorStoreOp>(at, map, coordinates);
    }
  }
  if (!op.isLoad()) {
    e.make<ptx::BulkCommitOp>();
    usesBulkStore = true;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Async and threads: all threads of the role
//===----------------------------------------------------------------------===//

/// Memref indices (i32) of a tile element.
SmallVector<Value> KernelLowering::tileIndices(CopyOp op, Value row, Value col) {
  SmallVector<Value> indices;
  for (Value offset : op.getOffsets())
    indices.push_back(e.toI32(lookup(offset)));
  if (op.getTransposed())
    std::swap(row, col);
  indices[indices.size() - 2] = e.add(indices[indices.size() - 2], row);
  indices.back() = e.add(indices.back(), col);
  return indices;
}

std::pair<Value, Value> KernelLowering::listedRow(CopyOp op, Value row) {
  using P = arith::CmpIPredicate;
  MemoryArg &m = memory(op.getMemory()), &list = memory(op.getRows());
  Value size = sizeValue(list.sizes[0]);
  Value end = op.getEnd() ? e.toI32(lookup(op.getEnd())) : size;
  Value place = e.min(row, e.sub(size, e.i32(1)));
  Value listed = e.make<LLVM::LoadOp>(e.getI32Type(), elementPointer(list, {place}));
  Value there = e.lt(listed, sizeValue(m.sizes[m.type.getRank() - 2])); // not when negative
  there = e.bitAnd(there, e.compare(P::slt, row, end));
  return {e.select(there, listed, e.i32(0)), there};
}

Value KernelLowering::rowsEnd(MemoryArg &m, Value end) {
  return end ? e.toI32(lookup(end)) : sizeValue(m.sizes[m.type.getRank() - 2]);
}

Value KernelLowering::inBounds(MemoryArg &m, ArrayRef<Value> indices, Value end) {
  int64_t rank = m.type.getRank();
  using P = arith::CmpIPredicate;
  Value row = e.compare(P::slt, indices[rank - 2], rowsEnd(m, end));
  Value col = e.compare(P::slt, indices[rank - 1], sizeValue(m.sizes[rank - 1]));
  return e.bitAnd(row, col);
}

/// 16-byte cp.async; bytes outside the memref are filled with zeros.
LogicalResult KernelLowering::asyncCopy(CopyOp op) {
  TileType tile = cast<TileType>(op.getTile().getType());
  MemoryArg &m = memory(op.getMemory());
  constrainAlignment(m, 16);
  int64_t bytes = tile.getElementBytes(), perChunk = 16 / bytes;
  int64_t chunksPerRow = tile.getContiguous() / perChunk;
  int64_t chunks = chunksPerRow * tile.getStrided(), threads = 32 * role.warps;
  Value base = tileAddress(op.getTile());
  auto sharedPtr = LLVM::LLVMPointerType::get(e.getContext(), 3);
  int64_t rank = m.type.getRank();
  auto one = [&](Value chunk) {
    Value strided = e.div(chunk, e.i32(chunksPerRow));
    Value contiguous = e.mul(e.rem(chunk, e.i32(chunksPerRow)), perChunk);
    bool mn = tile.getMajor() == Major::MN;
    Value row = mn ? contiguous : strided, col = mn ? strided : contiguous;
    SmallVector<Value> indices = tileIndices(op, row, col);
    // How many bytes of the chunk exist; the address stays inside the memref.
    Value left = e.sub(sizeValue(m.sizes[rank - 1]), indices[rank - 1]);
    Value valid = e.mul(e.make<arith::MaxSIOp>(e.min(left, e.i32(perChunk)), e.i32(0)), bytes);
    Value rowExists;
    if (op.getRows())
      std::tie(indices[rank - 2], rowExists) = listedRow(op, indices[rank - 2]);
    else
      rowExists = e.compare(arith::CmpIPredicate::slt, indices[rank - 2], rowsEnd(m, op.getEnd()));
    valid = e.select(rowExists, valid, e.i32(0));
    Value exists = e.compare(arith::CmpIPredicate::ne, valid, e.i32(0));
    for (Value &index : MutableArrayRef<Value>(indices).take_back(2))
      index = e.select(exists, index, e.i32(0));
    Value target = e.make<LLVM::IntToPtrOp>(sharedPtr, elementAddress(tile, base, row, col));
    e.make<NVVM::CpAsyncOp>(target, elementPointer(m, indices), 16, NVVM::LoadCacheModifierKind::CG,
                            valid);
  };
  int64_t whole = chunks / threads;
  if (whole > 16) {
    auto loop = e.make<scf::ForOp>(e.i32(0), e.i32(whole), e.i32(1));
    OpBuilder::InsertionGuard guard(e);
    e.setInsertionPoint(loop.getBody()->getTerminator());
    one(e.add(role.threadInRole, e.mul(loop.getInductionVar(), threads)));
  } else {
    for (int64_t i = 0; i < whole; ++i)
      one(e.add(role.threadInRole, i * threads));
  }
  if (chunks % threads) {
    Value last = e.add(role.threadInRole, whole * threads);
    e.ifThen(e.lt(last, e.i32(chunks)), [&] { one(last); });
  }
  return success();
}

/// Deals the tile's elements to threads, neighbours in memory to neighbours; `body` gets up
/// to 8 elements of this thread at once, so that their loads overlap.
void KernelLowering::forEachTileElement(CopyOp op,
                                        function_ref<void(ArrayRef<Value>, ArrayRef<Value>)> body) {
  TileType tile = cast<TileType>(op.getTile().getType());
  int64_t fast = op.getTransposed() ? tile.getRows() : tile.getCols();
  int64_t total = tile.getRows() * tile.getCols(), threads = 32 * role.warps;
  auto batch = [&](Value first, int64_t count) {
    SmallVector<Value> rows, cols;
    for (int64_t i = 0; i < count; ++i) {
      Value id = e.add(first, i * threads);
      Value slow = e.div(id, e.i32(fast)), quick = e.rem(id, e.i32(fast));
      rows.push_back(op.getTransposed() ? quick : slow);
      cols.push_back(op.getTransposed() ? slow : quick);
    }
    body(rows, cols);
  };
  int64_t each = total / threads, batches = each / 8;
  if (batches) {
    auto loop = e.make<scf::ForOp>(e.i32(0), e.i32(batches), e.i32(1));
    OpBuilder::InsertionGuard guard(e);
    e.setInsertionPoint(loop.getBody()->getTerminator());
    batch(e.add(role.threadInRole, e.mul(loop.getInductionVar(), 8 * threads)), 8);
  }
  if (int64_t rest = each % 8)
    batch(e.add(role.threadInRole, batches * 8 * threads), rest);
  if (total % threads) {
    Value last = e.add(role.threadInRole, each * threads);
    e.ifThen(e.lt(last, e.i32(total)), [&] { batch(last, 1); });
  }
}

LogicalResult KernelLowering::threadsLoad(CopyOp op) {
  TileType tile = cast<TileType>(op.getTile().getType());
  MemoryArg &m = memory(op.getMemory());
  Value base = tileAddress(op.getTile());
  auto sharedPtr = LLVM::LLVMPointerType::get(e.getContext(), 3);
  int64_t rank = m.type.getRank();
  Type element = storageType(tile.getElementType());
  forEachTileElement(op, [&](ArrayRef<Value> rows, ArrayRef<Value> cols) {
    SmallVector<Value> values;
    for (auto [row, col] : llvm::zip(rows, cols)) {
      SmallVector<Value> indices = tileIndices(op, row, col);
      Value there;
      if (op.getRows())
        std::tie(indices[rank - 2], there) = listedRow(op, indices[rank - 2]);
      Value inside = inBounds(m, indices, op.getRows() ? Value() : op.getEnd());
      if (there)
        inside = e.bitAnd(inside, there);
      for (int64_t d = rank - 2; d < rank; ++d)
        indices[d] = e.min(indices[d], e.sub(sizeValue(m.sizes[d]), e.i32(1)));
      Value loaded = e.make<LLVM::LoadOp>(element, elementPointer(m, indices));
      Value zero = e.make<arith::ConstantOp>(cast<TypedAttr>(e.getZeroAttr(element)));
      values.push_back(e.select(inside, loaded, zero));
    }
    for (auto [row, col, value] : llvm::zip(rows, cols, values))
      e.make<LLVM::StoreOp>(
          value, e.make<LLVM::IntToPtrOp>(sharedPtr, elementAddress(tile, base, row, col)));
  });
  return success();
}

LogicalResult KernelLowering::threadsStore(CopyOp op) {
  TileType tile = cast<TileType>(op.getTile().getType());
  MemoryArg &m = memory(op.getMemory());
  Value base = tileAddress(op.getTile());
  auto sharedPtr = LLVM::LLVMPointerType::get(e.getContext(), 3);
  forEachTileElement(op, [&](ArrayRef<Value> rows, ArrayRef<Value> cols) {
    for (auto [row, col] : llvm::zip(rows, cols)) {
      SmallVector<Value> indices = tileIndices(op, row, col);
      Value address = elementAddress(tile, base, row, col);
      e.ifThen(inBounds(m, indices, op.getEnd()), [&] {
        Value value = e.make<LLVM::LoadOp>(storageType(tile.getElementType()),
                                           e.make<LLVM::IntToPtrOp>(sharedPtr, address));
        e.make<LLVM::StoreOp>(value, elementPointer(m, indices));
      });
    }
  });
  return success();
}
