//===- CollectiveOps.cpp - work that all ranks do together ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/Heddle/IR/HeddleDialect.h"

using namespace mlir;
using namespace heddle::spec;

/// `whole` is `part` with the number of ranks in front.
static LogicalResult verifyParts(Operation *op, StringRef what, RankedTensorType whole,
                                 RankedTensorType part) {
  if (whole.getElementType() != part.getElementType())
    return op->emitOpError("expected equal element types, got ")
           << part.getElementType() << " and " << whole.getElementType();
  if (whole.getRank() != part.getRank() + 1)
    return op->emitOpError("expected ") << what << " of rank " << part.getRank() + 1
                                        << ", one more for the ranks, got " << whole;
  if (!whole.isDynamicDim(0))
    return op->emitOpError("expected dimension 0 of ")
           << what << ", the number of ranks, to be ?, got " << whole.getDimSize(0);
  if (whole.getShape().drop_front() != part.getShape())
    return op->emitOpError("expected ") << what << " of parts like " << part << ", got " << whole;
  return success();
}

static LogicalResult verifySame(Operation *op, RankedTensorType input, RankedTensorType result) {
  if (input != result)
    return op->emitOpError("expected a result like the operand, ") << input << ", got " << result;
  return success();
}

static LogicalResult verifySum(Operation *op, RankedTensorType type) {
  Type element = type.getElementType();
  if (element.isF32() || element.isF16() || element.isBF16())
    return success();
  return op->emitOpError("expected elements of f32, f16 or bf16 to sum, got ") << element;
}

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

LogicalResult AllGatherOp::verify() {
  return verifyParts(*this, "the result", typeOf(getResult()), typeOf(getInput()));
}

LogicalResult AllToAllOp::verify() {
  RankedTensorType type = typeOf(getInput());
  if (failed(verifySame(*this, type, typeOf(getResult()))))
    return failure();
  if (!type.isDynamicDim(0))
    return emitOpError("expected dimension 0, the number of ranks, to be ?, got ")
           << type.getDimSize(0);
  return success();
}

LogicalResult ReduceScatterOp::verify() {
  if (failed(verifySum(*this, typeOf(getInput()))))
    return failure();
  return verifyParts(*this, "the operand", typeOf(getInput()), typeOf(getResult()));
}

LogicalResult AllReduceOp::verify() {
  if (failed(verifySum(*this, typeOf(getInput()))))
    return failure();
  return verifySame(*this, typeOf(getInput()), typeOf(getResult()));
}

LogicalResult RankBroadcastOp::verify() {
  auto root = static_cast<int64_t>(getRoot());
  if (root < 0 || root > INT32_MAX)
    return emitOpError("expected a root from 0 to ") << INT32_MAX << ", got " << root;
  return verifySame(*this, typeOf(getInput()), typeOf(getResult()));
}
