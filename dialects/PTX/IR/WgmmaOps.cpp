//===- WgmmaOps.cpp - texts of the warpgroup matrix multiply ops ===//
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

std::string WgmmaBlockOp::getPtxText() {
  unsigned count = getAcc().size(), a = 2 * count, b = a + 1, accumulate = a + 2;
  std::string regs = "{";
  for (unsigned i = 0; i < count; ++i)
    regs += (i ? ", $" : "$") + std::to_string(i);
  regs += "}";
  // Only 16-bit operands can be MN-major; the others have no transpose immediates.
  bool transposable = getK() == 16;
  std::string tail = "1, 1";
  if (transposable)
    tail += llvm::formatv(", {0}, {1}", int(getAMnMajor()), int(getBMnMajor()));
  std::string name =
      llvm::formatv("wgmma.mma_async.sync.aligned.m64n{0}k{1}.f32.{2}.{3}", getN(), getK(), getType(),
                    getBType().value_or(getType()));
  std::string text = "{\n\t.reg .pred p, q;\n\t.reg .b64 da, db;\n\t";
  text += llvm::formatv("setp.ne.b32 p, ${0}, 0;\n\tsetp.ne.b32 q, 1, 0;\n\t", accumulate);
  text += "wgmma.fence.sync.aligned;\n\t";
  text += llvm::formatv("{0} {1}, ${2}, ${3}, p, {4};\n\t", name, regs, a, b, tail);
  for (unsigned step = 1; step < getSteps(); ++step) {
    text += llvm::formatv("add.s64 da, ${0}, {1};\n\tadd.s64 db, ${2}, {3};\n\t", a,
                          step * getAStep(), b, step * getBStep());
    text += llvm::formatv("{0} {1}, da, db, q, {2};\n\t", name, regs, tail);
  }
  return text + "wgmma.commit_group.sync.aligned;\n\t}";
}

unsigned WgmmaBlockOp::getNumTied() { return getAcc().size(); }

LogicalResult WgmmaBlockOp::verify() {
  if (getN() < 8 || getN() > 256 || getN() % 8)
    return emitOpError("expected n to be a multiple of 8 in 8..256, got ") << getN();
  if (getAcc().size() != getN() / 2 || getResult().size() != getN() / 2)
    return emitOpError("expected ") << getN() / 2 << " accumulators a thread, got "
                                    << getAcc().size();
  StringRef type = getType();
  unsigned k = instructionK(type);
  if (!k)
    return emitOpError("expected type bf16, f16, tf32, e4m3 or e5m2, got ") << type;
  if (getK() != k)
    return emitOpError("expected k ") << k << " for " << type << ", got " << getK();
  if (getSteps() < 1)
    return emitOpError("expected at least 1 step, got ") << getSteps();
  if ((getAMnMajor() || getBMnMajor()) && getK() != 16)
    return emitOpError("expected 16-bit operands where one is MN-major, got k ") << getK();
  return success();
}

std::string WgmmaWaitOp::getPtxText() {
  return llvm::formatv("wgmma.wait_group.sync.aligned {0};", getPending());
}

unsigned WgmmaWaitOp::getNumTied() { return getAcc().size(); }
