//===- ElementwiseOps.cpp - element-wise work that arith and math lack ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/Heddle/IR/HeddleDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace heddle::spec;

LogicalResult BroadcastOp::verify() {
  auto from = cast<RankedTensorType>(getInput().getType());
  auto to = cast<RankedTensorType>(getResult().getType());
  if (from.getElementType() != to.getElementType())
    return emitOpError("expected one element type, got ")
           << from.getElementType() << " and " << to.getElementType();
  ArrayRef<int64_t> along = getAlong();
  if (along.size() != static_cast<size_t>(from.getRank()))
    return emitOpError("expected along to name one dimension of the result for each of ")
           << from << ", got " << along.size();
  for (auto [i, dim] : llvm::enumerate(along)) {
    if (dim < 0 || dim >= to.getRank())
      return emitOpError("expected along to hold dimensions of ") << to << ", got " << dim;
    if (i && along[i - 1] >= dim)
      return emitOpError("expected along to be ascending, got ")
             << dim << " after " << along[i - 1];
  }
  return success();
}
