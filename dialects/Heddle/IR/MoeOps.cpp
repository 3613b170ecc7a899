//===- MoeOps.cpp - mixtures of experts ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/Heddle/IR/HeddleDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace heddle::spec;

// A warp routes a token: each lane has experts / 32 of the scores in registers, and a lane
// each of the results and of the groups.
constexpr int64_t mostExperts = 2048, mostChosen = 32, mostGroups = 32;

static LogicalResult verifyRows(Operation *op, StringRef what, Value value, int64_t rows,
                                int64_t cols) {
  auto type = cast<RankedTensorType>(value.getType());
  auto text = [](int64_t size) {
    return ShapedType::isDynamic(size) ? std::string("?") : std::to_string(size);
  };
  if (type.getRank() == 2 && type.getDimSize(0) == rows && type.getDimSize(1) == cols)
    return success();
  return op->emitOpError("expected ")
         << what << " of shape " << text(rows) << "x" << text(cols) << ", got " << type;
}

static LogicalResult verifyGroups(RouteOp op, int64_t experts) {
  if (!op.getGroups())
    return success();
  int64_t groups = *op.getGroups(), keep = *op.getKeep();
  if (groups < 1 || groups > mostGroups || experts % groups)
    return op.emitOpError("expected groups to be from 1 to ")
           << mostGroups << " and to divide the " << experts << " experts, got " << groups;
  if (experts / groups < 2)
    return op.emitOpError("expected at least 2 experts a group, since its best two count, got ")
           << experts / groups;
  if (keep < 1 || keep > groups)
    return op.emitOpError("expected keep to be from 1 to the ")
           << groups << " groups, got " << keep;
  if (keep * (experts / groups) < static_cast<int64_t>(op.getTop()))
    return op.emitOpError("expected the ")
           << keep << " groups that stay to have at least top " << op.getTop() << " experts, got "
           << keep * (experts / groups);
  return success();
}

LogicalResult RouteOp::verify() {
  auto scores = cast<RankedTensorType>(getScores().getType());
  if (scores.getRank() != 2 || scores.isDynamicDim(1))
    return emitOpError("expected scores of tokens x experts with the number of experts known, got ")
           << scores;
  int64_t tokens = scores.getDimSize(0), experts = scores.getDimSize(1), top = getTop();
  if (experts > mostExperts)
    return emitOpError("expected at most ") << mostExperts << " experts, got " << experts;
  if (top < 1 || top > std::min(mostChosen, experts))
    return emitOpError("expected top to be from 1 to ")
           << std::min(mostChosen, experts) << ", got " << top;
  if (getBias()) {
    auto bias = cast<RankedTensorType>(getBias().getType());
    if (bias.getRank() != 1 || bias.getDimSize(0) != experts)
      return emitOpError("expected a bias for each of the ") << experts << " experts, got " << bias;
  }
  if (failed(verifyGroups(*this, experts)) ||
      failed(verifyRows(*this, "ids", getIds(), tokens, top)))
    return failure();
  return verifyRows(*this, "weights", getWeights(), tokens, top);
}

//===----------------------------------------------------------------------===//
// Between ranks
//===----------------------------------------------------------------------===//

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Tokens by their experts; no more experts than ids can number.
static LogicalResult verifyIds(Operation *op, RankedTensorType ids, int64_t tokens,
                               int64_t experts) {
  if (ids.getRank() != 2 || ids.isDynamicDim(1) || ids.getDimSize(1) < 1 ||
      ids.getDimSize(1) > mostChosen)
    return op->emitOpError("expected ids of tokens x 1 to ") << mostChosen << ", got " << ids;
  if (ids.getDimSize(0) != tokens)
    return op->emitOpError("expected as many rows of ids as tokens, got ") << ids;
  if (experts < 1 || experts > 65536)
    return op->emitOpError("expected 1 to 65536 experts a rank, got ") << experts;
  return success();
}

/// `parts` is `part` with the number of ranks in front.
static LogicalResult verifyParts(Operation *op, StringRef what, RankedTensorType parts,
                                 RankedTensorType part) {
  if (parts.getRank() == part.getRank() + 1 && parts.isDynamicDim(0) &&
      parts.getShape().drop_front() == part.getShape() &&
      parts.getElementType() == part.getElementType())
    return success();
  return op->emitOpError("expected ")
         << what << " like " << part << " with the number of ranks, a ?, in front, got " << parts;
}

LogicalResult DispatchOp::verify() {
  RankedTensorType x = typeOf(getX()), ids = typeOf(getIds()), weights = typeOf(getWeights());
  if (x.getRank() != 2)
    return emitOpError("expected x of tokens x elements, got ") << x;
  if (failed(verifyIds(*this, ids, x.getDimSize(0), getExperts())))
    return failure();
  if (weights.getShape() != ids.getShape())
    return emitOpError("expected a weight for each id, got ") << weights << " and " << ids;
  return success(
      succeeded(verifyParts(*this, "rows", typeOf(getRows()), x)) &&
      succeeded(verifyParts(*this, "the rows' ids", typeOf(getRowIds()), ids)) &&
      succeeded(verifyParts(*this, "the rows' weights", typeOf(getRowWeights()), weights)));
}

LogicalResult CombineOp::verify() {
  RankedTensorType result = typeOf(getResult());
  Type element = result.getElementType();
  if (result.getRank() != 2)
    return emitOpError("expected a result of tokens x elements, got ") << result;
  if (!element.isF32() && !element.isF16() && !element.isBF16())
    return emitOpError("expected elements of f32, f16 or bf16 to sum, got ") << element;
  if (failed(verifyIds(*this, typeOf(getIds()), result.getDimSize(0), getExperts())))
    return failure();
  return verifyParts(*this, "rows", typeOf(getRows()), result);
}

LogicalResult ExpertListsOp::verify() {
  RankedTensorType ids = typeOf(getIds()), offsets = typeOf(getOffsets()), list = typeOf(getList());
  int64_t experts = getExperts();
  if (ids.getRank() != 3 || !ids.isDynamicDim(0) || ids.isDynamicDim(2) || ids.getDimSize(2) < 1)
    return emitOpError("expected ids of ranks, a ?, x tokens x a number that is known, got ")
           << ids;
  if (experts < 1 || experts > 65536)
    return emitOpError("expected 1 to 65536 experts a rank, got ") << experts;
  if (offsets.getRank() != 1 || offsets.getDimSize(0) != experts + 1)
    return emitOpError("expected ")
           << experts + 1 << " offsets of " << experts << " experts, got " << offsets;
  if (list != ids)
    return emitOpError("expected a list like the ids, ") << ids << ", got " << list;
  return success();
}
