//===- TileOps.cpp - work on tiles and accumulators ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/Warp/IR/WarpDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace heddle::warp;

/// Elements, arguments and yield of an element region.
static LogicalResult verifyElementRegion(Operation *op, Region &region, Type element,
                                         Type result) {
  Block &block = region.front();
  if (block.getNumArguments() != 3 || block.getArgument(0).getType() != element ||
      !block.getArgument(1).getType().isIndex() || !block.getArgument(2).getType().isIndex())
    return op->emitOpError("expected region arguments (")
           << element << ", index, index), got (" << block.getArgumentTypes() << ")";
  auto yield = dyn_cast_or_null<YieldOp>(block.empty() ? nullptr : &block.back());
  if (!yield)
    return op->emitOpError("expected the region to end in warp.yield");
  if (yield.getValue().getType() != result)
    return op->emitOpError("expected the region to yield ")
           << result << ", got " << yield.getValue().getType();
  return success();
}

static LogicalResult verifyOffsets(Operation *op, Value memory, OperandRange offsets) {
  int64_t rank = cast<MemRefType>(memory.getType()).getRank();
  if (rank < 2)
    return op->emitOpError("expected a memref of rank 2 or more, got rank ") << rank;
  if (static_cast<int64_t>(offsets.size()) != rank)
    return op->emitOpError("expected ") << rank << " offsets, got " << offsets.size();
  return success();
}

/// Linear tiles are for warp.transfer and sums.
static LogicalResult verifyPanels(Operation *op, TileType tile) {
  if (tile.isLinear())
    return op->emitOpError("expected a tile with panels, got ") << tile;
  return success();
}

LogicalResult CopyOp::verify() {
  bool fromTile = isa<TileType>(getSource().getType()), toTile = isa<TileType>(getTarget().getType());
  if (fromTile == toTile)
    return emitOpError("expected one side to be a tile and the other a memref, got ")
           << getSource().getType() << " and " << getTarget().getType();
  if (!(isLoad() ? getTargetOffsets() : getSourceOffsets()).empty())
    return emitOpError("expected offsets on the memref only");
  if (failed(verifyOffsets(*this, getMemory(), getOffsets())))
    return failure();
  auto tile = cast<TileType>(getTile().getType());
  if (failed(verifyPanels(*this, tile)))
    return failure();
  auto memory = cast<MemRefType>(getMemory().getType());
  if (tile.getElementType() != memory.getElementType())
    return emitOpError("expected equal element types, got ")
           << memory.getElementType() << " and " << tile.getElementType();
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(memory.getStridesAndOffset(strides, offset)))
    return emitOpError("expected a memref with strides, got ") << memory;
  if (getEngine() != Engine::Threads) {
    if (strides.back() != 1)
      return emitOpError("expected the last dimension of the memref to be contiguous for engine ")
             << stringifyEngine(getEngine()) << ", got " << memory;
    if ((tile.getMajor() == Major::MN) != getTransposed())
      return emitOpError("expected engine threads, which alone can transpose: the tile is ")
             << stringifyMajor(tile.getMajor()) << "-major and the copy is "
             << (getTransposed() ? "" : "not ") << "transposed";
  }
  if (getRows()) {
    auto list = cast<MemRefType>(getRows().getType());
    if (list.getRank() != 1 || !list.getElementType().isInteger(32))
      return emitOpError("expected a list of rows as memref<?xi32>, got ") << list;
    if (!isLoad() || getEngine() == Engine::Bulk || getTransposed())
      return emitOpError("expected a load by engine async or threads, not transposed, with a list of rows");
  }
  if (!isLoad() && getEngine() == Engine::Async)
    return emitOpError("expected engine bulk or threads for a copy to global memory");
  if (!getMulticast())
    return success();
  if (!isLoad() || getEngine() != Engine::Bulk)
    return emitOpError("expected a copy by engine bulk to shared memory to be multicast, got ")
           << (isLoad() ? "engine " : "a copy to global memory by engine ")
           << stringifyEngine(getEngine());
  auto acquire = getTile().getDefiningOp<AcquireOp>();
  if (!acquire || acquire.getPipe().getType().getLink() != Link::Cluster)
    return emitOpError("expected the acquired slot of a pipe of link cluster to be multicast to");
  return success();
}

/// The scales of one operand; `k` is the K of its tile, 0 when not known.
static LogicalResult verifyScale(Operation *op, StringRef name, const TileScales &scales,
                                 int64_t k) {
  auto type = cast<MemRefType>(scales.memory.getType());
  if (!type.getElementType().isF32())
    return op->emitOpError("expected scales of f32 for ") << name << ", got " << type;
  if (failed(verifyOffsets(op, scales.memory, scales.offsets)))
    return failure();
  ArrayRef<int64_t> block = scales.block;
  if (block.size() != 2 || (block[0] != 1 && block[0] != 128) || block[1] < 1)
    return op->emitOpError("expected a scale of ")
           << name << " to cover 1 or 128 rows by K, got [" << block << "]";
  if (k && block[1] != k)
    return op->emitOpError("expected a scale of ")
           << name << " to cover the tile's K, " << k << ", got " << block[1];
  return success();
}

/// Scales of both operands or of none.
template <typename Op> static LogicalResult verifyScales(Op op, int64_t k) {
  bool any = op.getScaleA() || op.getScaleB() || op.getScaleABlock() || op.getScaleBBlock();
  bool all = op.getScaleA() && op.getScaleB() && op.getScaleABlock() && op.getScaleBBlock();
  if (any && !all)
    return op.emitOpError("expected scales of both operands or of none");
  if (!all)
    return success();
  if (failed(verifyScale(op, "a", op.getScales(true), k)))
    return failure();
  return verifyScale(op, "b", op.getScales(false), k);
}

LogicalResult MmaOp::verify() {
  TileType a = getA().getType(), b = getB().getType();
  AccType acc = getAcc().getType();
  if (failed(verifyPanels(*this, a)) || failed(verifyPanels(*this, b)))
    return failure();
  if (a.getElementType().getIntOrFloatBitWidth() != b.getElementType().getIntOrFloatBitWidth())
    return emitOpError("expected operands of one width, got ")
           << a.getElementType() << " and " << b.getElementType();
  if (a.getCols() != b.getCols())
    return emitOpError("expected equal K, got ") << a.getCols() << " and " << b.getCols();
  if (a.getRows() != acc.getRows() || b.getRows() != acc.getCols())
    return emitOpError("expected an accumulator of ")
           << a.getRows() << "x" << b.getRows() << ", got " << acc;
  return verifyScales(*this, a.getCols());
}

LogicalResult PromoteOp::verify() { return verifyScales(*this, /*k=*/0); }

LogicalResult ReadOp::verify() {
  auto type = cast<MemRefType>(getMemory().getType());
  if (static_cast<int64_t>(getIndices().size()) != type.getRank())
    return emitOpError("expected ") << type.getRank() << " indices, got " << getIndices().size();
  return success();
}

LogicalResult MapOp::verify() {
  TileType from = getSource().getType(), to = getTarget().getType();
  if (failed(verifyPanels(*this, from)) || failed(verifyPanels(*this, to)))
    return failure();
  if (from.getRows() != to.getRows() || from.getCols() != to.getCols())
    return emitOpError("expected tiles of one shape, got ") << from << " and " << to;
  return verifyElementRegion(*this, getBody(), from.getElementType(), to.getElementType());
}

LogicalResult StoreOp::verify() {
  if (failed(verifyOffsets(*this, getMemory(), getOffsets())))
    return failure();
  return verifyElementRegion(*this, getBody(), getAcc().getType().getElementType(),
                             cast<MemRefType>(getMemory().getType()).getElementType());
}

LogicalResult CombineOp::verify() {
  Block &block = getBody().front();
  if (block.getNumArguments() != 1 || block.getArgument(0).getType() != getAcc().getType())
    return emitOpError("expected one region argument of ")
           << getAcc().getType() << ", got (" << block.getArgumentTypes() << ")";
  if (getSplits() < 2 || getSplits() > 64)
    return emitOpError("expected 2 to 64 parts, got ") << getSplits();
  WalkResult alone = getBody().walk([&](Operation *op) {
    if (!isa<CopyOp, PackOp, MapOp, MmaOp, AcquireOp, WaitOp, CommitOp, ReleaseOp>(op))
      return WalkResult::advance();
    op->emitOpError("expected no work of several warps in warp.combine");
    return WalkResult::interrupt();
  });
  return failure(alone.wasInterrupted());
}

LogicalResult PackOp::verify() {
  AccType acc = getAcc().getType();
  TileType tile = getTile().getType();
  if (failed(verifyPanels(*this, tile)))
    return failure();
  if (tile.getRows() != acc.getRows())
    return emitOpError("expected the tile to have ")
           << acc.getRows() << " rows, got " << tile.getRows();
  if (static_cast<int64_t>(getFirst()) + tile.getCols() > acc.getCols())
    return emitOpError("expected columns within the accumulator's ")
           << acc.getCols() << ", got " << getFirst() << " to " << getFirst() + tile.getCols();
  return verifyElementRegion(*this, getBody(), acc.getElementType(), tile.getElementType());
}
