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

/// The scales of one operand: their type, what a scale covers, how many there are.
static LogicalResult verifyScale(GemmOp op, bool isA) {
  StringRef name = isA ? "scale_a" : "scale_b";
  Value tensor = isA ? op.getScaleA() : op.getScaleB();
  auto type = cast<RankedTensorType>(tensor.getType());
  auto operand = cast<RankedTensorType>((isA ? op.getA() : op.getB()).getType());
  if (!type.getElementType().isF32())
    return op.emitOpError("expected ") << name << " of f32, got " << type.getElementType();
  if (type.getRank() != operand.getRank())
    return op.emitOpError("expected ")
           << name << " to have the operand's rank " << operand.getRank() << ", got " << type;
  ArrayRef<int64_t> block = isA ? *op.getScaleABlock() : *op.getScaleBBlock();
  if (block.size() != 2 || (block[0] != 1 && block[0] != 128) || block[1] != 128)
    return op.emitOpError("expected ")
           << name << " by [1, 128] or [128, 128], got [" << block << "]";
  GemmOp::Scale scale = op.getScale(isA);
  int64_t k = operand.getDimSize(isA ? op.getADimK() : op.getBDimK());
  int64_t rows = operand.getDimSize(isA ? op.getMDim() : op.getNDim());
  if (!ShapedType::isDynamic(k) && k % scale.blockK)
    return op.emitOpError("expected K to be a multiple of ")
           << scale.blockK << ", the block of " << name << ", got " << k;
  auto check = [&](StringRef what, int64_t size, int64_t block, unsigned dim) -> LogicalResult {
    int64_t got = type.getDimSize(dim);
    if (ShapedType::isDynamic(size) ? ShapedType::isDynamic(got)
                                    : got == (size + block - 1) / block)
      return success();
    InFlightDiagnostic error = op.emitOpError("expected dimension ") << dim << " of " << name;
    if (ShapedType::isDynamic(size))
      error << " to be ?, since " << what << " is known only at run time, got " << got;
    else
      error << " to be " << (size + block - 1) / block << ", " << what << " " << size
            << " in blocks of " << block << ", got "
            << (ShapedType::isDynamic(got) ? std::string("?") : std::to_string(got));
    return error;
  };
  if (failed(check(isA ? "M" : "N", rows, scale.blockRows, scale.rowDim)))
    return failure();
  return check("K", k, scale.blockK, scale.kDim);
}

static LogicalResult verifyScales(GemmOp op) {
  if (!op.getScaleA() && !op.getScaleB()) {
    if (op.getTransposedScaleA() || op.getTransposedScaleB())
      return op.emitOpError("expected scales where their order is given, got none");
    return success();
  }
  if (!op.getScaleA() || !op.getScaleB())
    return op.emitOpError("expected scale_a and scale_b together, got only ")
           << (op.getScaleA() ? "scale_a" : "scale_b");
  if (!op.getScaleABlock() || !op.getScaleBBlock())
    return op.emitOpError("expected the block that a scale covers");
  for (Value operand : {op.getA(), op.getB()}) {
    Type element = cast<RankedTensorType>(operand.getType()).getElementType();
    if (element.getIntOrFloatBitWidth() != 8)
      return op.emitOpError("expected scales with operands of f8E4M3FN or f8E5M2 only, got ")
             << element;
  }
  return success(succeeded(verifyScale(op, true)) && succeeded(verifyScale(op, false)));
}

/// Rows of A in the order of a list.
static LogicalResult verifyRows(GemmOp op) {
  if (!op.getRows())
    return success();
  auto rows = cast<RankedTensorType>(op.getRows().getType());
  if (rows.getRank() != 1 || !rows.getElementType().isInteger(32))
    return op.emitOpError("expected rows to gather of rank 1 and type i32, got ") << rows;
  if (op.getALead() || op.getDLead() || op.getTransposeA())
    return op.emitOpError(
        "expected to gather rows of a matrix a that is not transposed, for a result of rank 2");
  if (op.hasScales())
    return op.emitOpError("expected no scales with rows to gather");
  return success();
}

/// What is grouped has the ranks and numbers of groups that its kind asks for.
static LogicalResult verifyGroups(GemmOp op) {
  if (!op.getGroups()) {
    if (op.getAligned() || op.getExpected() || op.getStatus())
      return op.emitOpError("expected groups where something is said about them, got none");
    return success();
  }
  Grouping grouping = *op.getGrouping();
  bool alongM = grouping == Grouping::AlongM, alongK = grouping == Grouping::AlongK;
  auto numbers = cast<RankedTensorType>(op.getGroups().getType());
  if (numbers.getRank() != 1 || !numbers.getElementType().isInteger(32))
    return op.emitOpError("expected groups of rank 1 and type i32, got ") << numbers;
  struct {
    StringRef name;
    unsigned lead, want;
  } leads[] = {{"a", op.getALead(), !alongM && !alongK},
               {"b", op.getBLead(), !alongK},
               {"the result", op.getDLead(), !alongM}};
  for (auto &[name, lead, want] : leads)
    if (lead != want)
      return op.emitOpError("expected ") << name << " of rank " << want + 2 << " with groups "
                                         << stringifyGrouping(grouping) << ", got " << lead + 2;
  if (alongK ? !op.getTransposeA() || op.getTransposeB() : op.getTransposeA())
    return op.emitOpError(alongK
                              ? "expected transpose_a and no transpose_b with groups along_k: the "
                                "rows of both operands are K"
                              : "expected no transpose_a with groups of rows of a");
  int64_t groups = op.getNumGroups(), most = 1024, got = numbers.getDimSize(0);
  if (ShapedType::isDynamic(groups) || groups > most)
    return op.emitOpError("expected 1 to ")
           << most << " groups, a static size, got "
           << (ShapedType::isDynamic(groups) ? std::string("?") : std::to_string(groups));
  if (got != groups && (grouping == Grouping::Masked || got != groups + 1))
    return op.emitOpError("expected ")
           << groups << (grouping == Grouping::Masked ? " counts" : " counts or one more offsets")
           << " for as many groups, got "
           << (ShapedType::isDynamic(got) ? std::string("?") : std::to_string(got));
  if (op.getAligned() &&
      (grouping == Grouping::Masked || *op.getAligned() < 1 || *op.getAligned() > 65536))
    return op.emitOpError("expected groups along_m or along_k to be aligned to 1 to 65536, got ")
           << *op.getAligned();
  if (op.getExpected() && *op.getExpected() < 1)
    return op.emitOpError("expected at least 1 row a group, got ") << *op.getExpected();
  if (alongK && op.hasScales() && op.getAligned().value_or(1) % op.getScale(true).blockK)
    return op.emitOpError("expected groups along_k aligned to a multiple of ")
           << op.getScale(true).blockK << ", which a scale covers, got "
           << op.getAligned().value_or(1);
  if (grouping == Grouping::AlongM && op.hasScales() &&
      op.getAligned().value_or(1) % op.getScale(true).blockRows)
    return op.emitOpError("expected groups along_m aligned to a multiple of ")
           << op.getScale(true).blockRows << ", the rows that a scale covers, got "
           << op.getAligned().value_or(1);
  if (!op.getStatus())
    return success();
  auto status = cast<RankedTensorType>(op.getStatus().getType());
  if (status.getRank() != 1 || status.getDimSize(0) != 1 || !status.getElementType().isInteger(32))
    return op.emitOpError("expected the state of the groups as tensor<1xi32>, got ") << status;
  return success();
}

/// Shapes are checked by the kernel, which knows the places a size comes from.
LogicalResult GemmOp::verify() {
  auto a = cast<RankedTensorType>(getA().getType()), b = cast<RankedTensorType>(getB().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  for (auto [name, type] : {std::pair("a", a), std::pair("b", b), std::pair("the result", result)})
    if (type.getRank() != 2 && type.getRank() != 3)
      return emitOpError("expected ") << name << " to have rank 2, or 3 with a batch, got " << type;
  if (failed(verifyGroups(*this)) || failed(verifyRows(*this)))
    return failure();
  if (!getGroups() && (a.getRank() != b.getRank() || a.getRank() != result.getRank()))
    return emitOpError("expected operands and result of one rank, got ")
           << a.getRank() << ", " << b.getRank() << " and " << result.getRank();
  Type element = a.getElementType();
  if (!isa<Float32Type, Float16Type, BFloat16Type, Float8E4M3FNType, Float8E5M2Type>(element))
    return emitOpError("expected operands of bf16, f16, f32, f8E4M3FN or f8E5M2, got ") << element;
  auto isByte = [](Type type) { return type.isFloat() && type.getIntOrFloatBitWidth() == 8; };
  if (element != b.getElementType() && !(isByte(element) && isByte(b.getElementType())))
    return emitOpError("expected operands of one element type, or two of 8 bits, got ")
           << element << " and " << b.getElementType();
  if (!isa<Float32Type, Float16Type, BFloat16Type>(result.getElementType()))
    return emitOpError("expected a result of f32, f16 or bf16, got ") << result.getElementType();
  if (getAccumulate() && !getAccumulate()->isF32())
    return emitOpError("expected accumulate f32, got ") << *getAccumulate();
  if (element.isF32() && !getPrecision())
    return emitOpError("expected precision tf32: f32 operands are multiplied in TF32");
  if (!element.isF32() && getPrecision())
    return emitOpError("expected no precision for operands of ") << element;
  return verifyScales(*this);
}
