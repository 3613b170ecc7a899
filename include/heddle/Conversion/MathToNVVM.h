//===- MathToNVVM.h - math functions to what NVIDIA GPUs have ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_CONVERSION_MATHTONVVM_H
#define HEDDLE_CONVERSION_MATHTONVVM_H

#include <memory>

namespace mlir {
class Pass;
} // namespace mlir

namespace heddle {

/// Expands exp, exp2, log, tanh, erf and rsqrt of f32 scalars, and divisions that may be
/// approximate, into arith, math.fma and ptx ops; no library is needed.
std::unique_ptr<mlir::Pass> createConvertMathToNVVMPass();
/// Makes it available as `--convert-math-to-nvvm`.
void registerConvertMathToNVVMPass();

} // namespace heddle

#endif // HEDDLE_CONVERSION_MATHTONVVM_H
