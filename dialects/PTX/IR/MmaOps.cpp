//===- MmaOps.cpp - texts of the warp matrix multiply ops ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/PTX/IR/OpText.h"
#include "dialects/PTX/IR/PTXDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace heddle::ptx;

std::string LdMatrixOp::getPtxText() {
  unsigned count = getMatrices().size();
  return llvm::formatv("ldmatrix.sync.aligned.m8n8.x{0}{1}.shared.b16 {2}, [${3}];", count,
                       getTransposed() ? ".trans" : "", operandList(0, count), count);
}

LogicalResult LdMatrixOp::verify() {
  unsigned count = getMatrices().size();
  if (count != 1 && count != 2 && count != 4)
    return emitOpError("expected 1, 2 or 4 matrices, got ") << count;
  return success();
}

std::string MmaSyncOp::getPtxText() {
  return llvm::formatv("mma.sync.aligned.m16n8k{0}.row.col.f32.{1}.{2}.f32 {3}, {4}, {5}, {3};",
                       getK(), getType(), getBType().value_or(getType()), operandList(0, 4), operandList(8, 4),
                       operandList(12, 2));
}

unsigned MmaSyncOp::getNumTied() { return 4; }
bool MmaSyncOp::isVolatile() { return false; }

LogicalResult MmaSyncOp::verify() {
  if (getAcc().size() != 4 || getResult().size() != 4 || getA().size() != 4 || getB().size() != 2)
    return emitOpError("expected 4 accumulators, 4 registers of a and 2 of b, got ")
           << getAcc().size() << ", " << getA().size() << " and " << getB().size();
  StringRef type = getType();
  unsigned expected = instructionK(type);
  if (!expected)
    return emitOpError("expected type bf16, f16, tf32, e4m3 or e5m2, got ") << type;
  if (getK() != expected)
    return emitOpError("expected k ") << expected << " for " << type << ", got " << getK();
  return success();
}
