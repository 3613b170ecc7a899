//===- PipeOps.cpp - pipes and their verbs ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/Warp/IR/WarpDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace heddle::warp;

#define GET_OP_CLASSES
#include "dialects/Warp/IR/WarpOps.cpp.inc"

LogicalResult PipeOp::verify() {
  if (getName().empty())
    return emitOpError("expected a name");
  if (!(*this)->getParentOfType<KernelOp>())
    return emitOpError("expected to be inside a warp.kernel");
  return success();
}

//===----------------------------------------------------------------------===//
// acquire, wait
//===----------------------------------------------------------------------===//

/// `%a, %b = warp.wait %p : !warp.pipe<...>`; the results' types are the pipe's.
static ParseResult parseTake(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand pipe;
  Type type;
  SMLoc loc;
  if (parser.parseOperand(pipe) || parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColon() || parser.getCurrentLocation(&loc) || parser.parseType(type))
    return failure();
  auto pipeType = dyn_cast<PipeType>(type);
  if (!pipeType)
    return parser.emitError(loc, "expected a pipe type, got ") << type;
  result.addTypes(pipeType.getElements());
  return parser.resolveOperand(pipe, type, result.operands);
}

static void printTake(OpAsmPrinter &printer, Operation *op) {
  printer << " " << op->getOperand(0);
  printer.printOptionalAttrDict(op->getAttrs());
  printer << " : " << op->getOperand(0).getType();
}

static LogicalResult verifyTake(Operation *op) {
  auto type = cast<PipeType>(op->getOperand(0).getType());
  if (op->getResultTypes() != TypeRange(type.getElements()))
    return op->emitOpError("expected one result for each part of a slot of ") << type;
  return success();
}

ParseResult AcquireOp::parse(OpAsmParser &p, OperationState &r) { return parseTake(p, r); }
void AcquireOp::print(OpAsmPrinter &p) { printTake(p, *this); }
LogicalResult AcquireOp::verify() { return verifyTake(*this); }
ParseResult WaitOp::parse(OpAsmParser &p, OperationState &r) { return parseTake(p, r); }
void WaitOp::print(OpAsmPrinter &p) { printTake(p, *this); }
LogicalResult WaitOp::verify() { return verifyTake(*this); }

//===----------------------------------------------------------------------===//
// commit, release
//===----------------------------------------------------------------------===//

LogicalResult CommitOp::verify() {
  auto type = cast<PipeType>(getPipe().getType());
  bool tiles = type.hasTiles();
  if (tiles && !getValues().empty())
    return emitOpError("expected no values: tiles are filled in place");
  if (!tiles && getValues().getTypes() != TypeRange(type.getElements()))
    return emitOpError("expected the accumulator that fills the slot of ") << type;
  return success();
}

LogicalResult ReleaseOp::verify() {
  if (getLag() > 1)
    return emitOpError("expected lag to be 0 or 1, got ") << getLag();
  if (getAfter() && !isa<AccType>(getAfter().getType()))
    return emitOpError("expected after to name an accumulator, got ") << getAfter().getType();
  return success();
}
