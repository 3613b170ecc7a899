//===- Tcgen05Ops.cpp - texts of the tensor-memory ops ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/PTX/IR/PTXDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace heddle::ptx;

std::string Tcgen05LoadOp::getPtxText() {
  unsigned count = getResult().size();
  std::string registers;
  for (unsigned i = 0; i < count; ++i)
    registers += (i ? ", $" : "$") + std::to_string(i);
  return llvm::formatv("tcgen05.ld.sync.aligned.32x32b.x{0}.b32 {{{1}}, [${0}];", count, registers);
}

LogicalResult Tcgen05LoadOp::verify() {
  unsigned count = getResult().size();
  if (!llvm::isPowerOf2_32(count) || count > 128)
    return emitOpError("expected a power of two of columns, at most 128, got ") << count;
  return success();
}

std::string Tcgen05WaitLoadOp::getPtxText() { return "tcgen05.wait::ld.sync.aligned;"; }

unsigned Tcgen05WaitLoadOp::getNumTied() { return getValues().size(); }

LogicalResult Tcgen05WaitLoadOp::verify() {
  if (getValues().empty())
    return emitOpError("expected the values that were loaded");
  return success();
}
