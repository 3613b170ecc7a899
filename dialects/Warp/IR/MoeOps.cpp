//===- MoeOps.cpp - mixtures of experts, a warp a token ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/Warp/IR/WarpDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace heddle::warp;

LogicalResult RouteOp::verify() {
  auto scores = cast<MemRefType>(getScores().getType());
  auto ids = cast<MemRefType>(getIds().getType()),
       weights = cast<MemRefType>(getWeights().getType());
  if (scores.getRank() != 2 || scores.isDynamicDim(1))
    return emitOpError("expected scores of tokens x experts with the number of experts known, got ")
           << scores;
  if (!isa<Float32Type, BFloat16Type>(scores.getElementType()))
    return emitOpError("expected scores of f32 or bf16, got ") << scores.getElementType();
  int64_t experts = scores.getDimSize(1), top = getTop(), groups = getGroups(), keep = getKeep();
  if (top < 1 || top > 32 || top > experts)
    return emitOpError("expected top to be from 1 to ")
           << std::min<int64_t>(32, experts) << ", got " << top;
  if (groups < 1 || groups > 32 || experts % groups)
    return emitOpError("expected groups to be from 1 to 32 and to divide the ")
           << experts << " experts, got " << groups;
  if (keep < 1 || keep > groups || keep * (experts / groups) < top)
    return emitOpError("expected keep to be from 1 to the ")
           << groups << " groups and to leave at least top " << top << " experts, got " << keep;
  if (getBias()) {
    auto bias = cast<MemRefType>(getBias().getType());
    if (bias.getRank() != 1 || bias.getDimSize(0) != experts || !bias.getElementType().isF32())
      return emitOpError("expected a bias in f32 for each of the ")
             << experts << " experts, got " << bias;
  }
  for (auto [name, type] : {std::pair("ids", ids), std::pair("weights", weights)})
    if (type.getRank() != 2 || type.getDimSize(1) != top)
      return emitOpError("expected ") << name << " of tokens x " << top << ", got " << type;
  if (!ids.getElementType().isInteger(32) || !weights.getElementType().isF32())
    return emitOpError("expected ids of i32 and weights of f32, got ")
           << ids.getElementType() << " and " << weights.getElementType();
  return success();
}

LogicalResult HasExpertOp::verify() {
  auto ids = cast<MemRefType>(getIds().getType());
  if (ids.getRank() != 2 || ids.isDynamicDim(1) || !ids.getElementType().isInteger(32) ||
      !ids.getLayout().isIdentity())
    return emitOpError("expected ids of i32, contiguous, with their number a token known, got ")
           << ids;
  if (getExperts() < 1)
    return emitOpError("expected at least 1 expert, got ") << getExperts();
  return success();
}

LogicalResult ListExpertsOp::verify() {
  auto ids = cast<MemRefType>(getIds().getType()),
       offsets = cast<MemRefType>(getOffsets().getType());
  auto list = cast<MemRefType>(getList().getType());
  for (auto [name, type] :
       {std::pair("ids", ids), std::pair("offsets", offsets), std::pair("a list", list)})
    if (!type.getElementType().isInteger(32) || !type.getLayout().isIdentity())
      return emitOpError("expected ") << name << " of i32, contiguous, got " << type;
  if (getExperts() < 1)
    return emitOpError("expected at least 1 expert, got ") << getExperts();
  if (offsets.getRank() != 1 || offsets.getDimSize(0) != static_cast<int64_t>(getExperts()) + 1)
    return emitOpError("expected ") << getExperts() + 1 << " offsets, got " << offsets;
  return success();
}
