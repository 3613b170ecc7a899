//===- LowerToLLVM.h - scalar code to the llvm dialect ---------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_CONVERSION_LOWERTOLLVM_H
#define HEDDLE_CONVERSION_LOWERTOLLVM_H

#include <memory>

namespace mlir {
class Pass;
} // namespace mlir

namespace heddle {

/// Lowers scf, cf, arith, math, vector, memref and ub inside llvm.func to the llvm
/// dialect, in one conversion, with an index of 32 bits.
std::unique_ptr<mlir::Pass> createLowerToLLVMPass();
/// Makes it available as `--lower-to-llvm`.
void registerLowerToLLVMPass();

} // namespace heddle

#endif // HEDDLE_CONVERSION_LOWERTOLLVM_H
