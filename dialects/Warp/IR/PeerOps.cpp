//===- PeerOps.cpp - work between ranks ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/Warp/IR/WarpDialect.h"

using namespace mlir;
using namespace heddle::warp;

//===----------------------------------------------------------------------===//
// Pipes
//===----------------------------------------------------------------------===//

LogicalResult PeerPipeOp::verify() {
  if (getName().empty())
    return emitOpError("expected a name");
  auto kernel = dyn_cast<KernelOp>((*this)->getParentOp());
  if (!kernel)
    return emitOpError("expected to be directly inside a warp.kernel");
  PipeType type = getPipe().getType();
  if (!type.isPeer())
    return emitOpError("expected link peer, got ") << stringifyLink(type.getLink());
  if (getMemory().getTypes() != TypeRange(type.getElements()))
    return emitOpError("expected the pipe to hold the memory it is over, got ") << type;
  if ((getFlow() == Flow::Packets) != getCapacity().has_value())
    return emitOpError("expected a capacity of packets, and of them only");
  if (getCapacity()) {
    auto bytes = static_cast<int64_t>(*getCapacity());
    if (bytes < 128 || bytes > (1 << 20) || bytes % 128)
      return emitOpError("expected a capacity of 128 bytes to 1 MB in multiples of 128, got ")
             << bytes;
    if (!getMemory().empty())
      return emitOpError("expected packets over no memory");
  }
  for (Value memory : getMemory()) {
    auto arg = dyn_cast<BlockArgument>(memory);
    if (!arg || arg.getOwner() != &kernel.getBody().front())
      return emitOpError("expected arguments of the kernel as memory");
    if (!kernel.getArgAttr(arg.getArgNumber(), "warp.symmetric"))
      return emitOpError("expected argument ")
             << kernel.getArgName(arg.getArgNumber()) << " to be warp.symmetric";
    if (!cast<MemRefType>(arg.getType()).getLayout().isIdentity())
      return emitOpError("expected contiguous memory, got ") << arg.getType();
  }
  return success();
}

static LogicalResult verifyPipe(Operation *op) {
  if (!op->getOperand(0).getDefiningOp<PeerPipeOp>())
    return op->emitOpError("expected the result of a warp.peer_pipe as operand");
  return success();
}

LogicalResult PeerOp::verify() {
  if (failed(verifyPipe(*this)))
    return failure();
  if (getMemory().getTypes() != TypeRange(getPipe().getType().getElements()))
    return emitOpError("expected one result for each part of a slot of ") << getPipe().getType();
  return success();
}

/// Packets have verbs of their own.
static LogicalResult verifyVerb(Operation *op, bool packets) {
  if (failed(verifyPipe(op)))
    return failure();
  if ((op->getOperand(0).getDefiningOp<PeerPipeOp>().getFlow() == Flow::Packets) != packets)
    return op->emitOpError("expected a pipe ")
           << (packets ? "of packets" : "that is none of packets");
  return success();
}
LogicalResult PeerAcquireOp::verify() { return verifyVerb(*this, false); }
LogicalResult PeerWaitOp::verify() { return verifyVerb(*this, false); }
LogicalResult PeerCommitOp::verify() { return verifyVerb(*this, false); }
LogicalResult PeerReleaseOp::verify() { return verifyVerb(*this, false); }

//===----------------------------------------------------------------------===//
// Rows of memory
//===----------------------------------------------------------------------===//

/// A linear tile without an offset, or contiguous memory with one.
static LogicalResult verifyRow(Operation *op, StringRef what, Value row, Value offset) {
  if (auto tile = dyn_cast<TileType>(row.getType())) {
    if (!tile.isLinear())
      return op->emitOpError("expected ") << what << " to be a linear tile, got " << tile;
    if (offset)
      return op->emitOpError("expected no offset in a tile");
    return success();
  }
  if (!cast<MemRefType>(row.getType()).getLayout().isIdentity())
    return op->emitOpError("expected ") << what << " to be contiguous, got " << row.getType();
  if (!offset)
    return op->emitOpError("expected an offset in ") << what;
  return success();
}

static Type elementOf(Value row) {
  if (auto tile = dyn_cast<TileType>(row.getType()))
    return tile.getElementType();
  return cast<MemRefType>(row.getType()).getElementType();
}

LogicalResult TransferOp::verify() {
  if (failed(verifyRow(*this, "the source", getSource(), getSourceOffset())) ||
      failed(verifyRow(*this, "the target", getTarget(), getTargetOffset())))
    return failure();
  if (isLoad() && isStore())
    return emitOpError("expected memory on one side at least");
  if (elementOf(getSource()) != elementOf(getTarget()))
    return emitOpError("expected equal element types, got ")
           << elementOf(getSource()) << " and " << elementOf(getTarget());
  switch (getEngine()) {
  case Engine::Bulk:
    if (!getTile())
      return emitOpError("expected a tile on one side for engine bulk");
    return success();
  case Engine::Threads:
    if (getTile())
      return emitOpError("expected memory on both sides for engine threads");
    break;
  case Engine::Async:
    return emitOpError("expected engine bulk or threads, got async");
  }
  int64_t bytes = getWidth() * elementOf(getSource()).getIntOrFloatBitWidth() / 8;
  if (bytes < 1 || bytes > 16 || (bytes & (bytes - 1)))
    return emitOpError("expected a width of 1, 2, 4, 8 or 16 bytes, got ") << bytes;
  return success();
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

static LogicalResult verifySpread(Operation *op, StringRef what, Value row, Value offset,
                                  SpreadType spread) {
  if (failed(verifyRow(op, what, row, offset)))
    return failure();
  Type element = elementOf(row);
  if (!element.isF32() && !element.isF16() && !element.isBF16())
    return op->emitOpError("expected elements of f32, f16 or bf16, got ") << element;
  int64_t bytes = spread.getWidth() * element.getIntOrFloatBitWidth() / 8;
  if (bytes > 16)
    return op->emitOpError("expected at most 16 bytes a thread at once, got ") << bytes;
  if (auto tile = dyn_cast<TileType>(row.getType());
      tile && tile.getRows() * tile.getCols() < spread.getElements())
    return op->emitOpError("expected a tile of ")
           << spread.getElements() << " elements or more, got " << tile;
  return success();
}

LogicalResult SpreadAddOp::verify() {
  return verifySpread(*this, "the source", getSource(), getOffset(), getSum().getType());
}
LogicalResult SpreadStoreOp::verify() {
  return verifySpread(*this, "the target", getTarget(), getOffset(), getSum().getType());
}

//===----------------------------------------------------------------------===//
// Packets
//===----------------------------------------------------------------------===//

static LogicalResult verifyPacket(Operation *op, Value memory, Value offset) {
  if (failed(verifyVerb(op, true)) || failed(verifyRow(op, "memory", memory, offset)))
    return failure();
  int64_t bits = elementOf(memory).getIntOrFloatBitWidth();
  if (bits % 8 || bits > 64)
    return op->emitOpError("expected elements of 1 to 8 bytes, got ") << elementOf(memory);
  return success();
}

LogicalResult PacketSendOp::verify() { return verifyPacket(*this, getSource(), getOffset()); }
LogicalResult PacketReceiveOp::verify() { return verifyPacket(*this, getTarget(), getOffset()); }
LogicalResult PacketAddOp::verify() {
  if (failed(verifyPacket(*this, getSelf(), getOffset())) ||
      failed(verifySpread(*this, "memory", getSelf(), getOffset(), getSum().getType())))
    return failure();
  int64_t bytes = getSum().getType().getWidth() * elementOf(getSelf()).getIntOrFloatBitWidth() / 8;
  if (bytes != 8)
    return emitOpError("expected 8 bytes a thread at once, got ") << bytes;
  return success();
}
