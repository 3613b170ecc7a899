//===- GemmOps.cpp - matrix products ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/Heddle/IR/HeddleDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace heddle::spec;

/// Shapes are checked by the kernel, which knows the places a size comes from.
LogicalResult GemmOp::verify() {
  auto a = cast<RankedTensorType>(getA().getType()), b = cast<RankedTensorType>(getB().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  for (auto [name, type] : {std::pair("a", a), std::pair("b", b), std::pair("the result", result)})
    if (type.getRank() != 2 && type.getRank() != 3)
      return emitOpError("expected ") << name << " to have rank 2, or 3 with a batch, got " << type;
  if (a.getRank() != b.getRank() || a.getRank() != result.getRank())
    return emitOpError("expected operands and result of one rank, got ")
           << a.getRank() << ", " << b.getRank() << " and " << result.getRank();
  Type element = a.getElementType();
  if (!isa<Float32Type, Float16Type, BFloat16Type, Float8E4M3FNType, Float8E5M2Type>(element))
    return emitOpError("expected operands of bf16, f16, f32, f8E4M3FN or f8E5M2, got ") << element;
  if (element != b.getElementType())
    return emitOpError("expected operands of one element type, got ")
           << element << " and " << b.getElementType();
  if (!isa<Float32Type, Float16Type, BFloat16Type>(result.getElementType()))
    return emitOpError("expected a result of f32, f16 or bf16, got ") << result.getElementType();
  if (getAccumulate() && !getAccumulate()->isF32())
    return emitOpError("expected accumulate f32, got ") << *getAccumulate();
  if (element.isF32() && !getPrecision())
    return emitOpError("expected precision tf32: f32 operands are multiplied in TF32");
  if (!element.isF32() && getPrecision())
    return emitOpError("expected no precision for operands of ") << element;
  return success();
}
