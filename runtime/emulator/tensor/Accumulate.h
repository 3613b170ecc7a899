//===- Accumulate.h - dense inner products of tensor-core instructions ----===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The arithmetic that mma.sync, wgmma and tcgen05.mma share once their operands are
// dense arrays. Two models of a tensor core's sum are offered (AccumulateModel, Types.h).
//
// The exact model is for 16-bit, tf32 and Blackwell's narrow types: hardware keeps 24
// (Ampere, Ada) or 25 (Hopper, Blackwell) fraction bits below the largest exponent and
// truncates the result to f32, so it differs from the exact sum by a unit or two in f32's
// last place; PTX leaves order and rounding open. The truncated model is for e4m3/e5m2
// on Ada and Hopper, which keep 13 fraction bits, inside the sum and in the f32 result:
// a long sum that is not promoted to f32 registers loses accuracy, as it does there.
//
// Sources: DeepSeek-V3 Technical Report (arXiv:2412.19437), sections 3.3.2 and 3.5.2
// (about 14 bits, products aligned to the largest exponent); "MMA-Sim: Bit-Accurate
// Reference Model of Tensor Cores and Matrix Cores" (arXiv:2511.10909): fraction bits
// and block lengths per generation, rounding toward zero to f32, to nearest for f16.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_EMULATOR_TENSOR_ACCUMULATE_H
#define HEDDLE_EMULATOR_TENSOR_ACCUMULATE_H

#include "Types.h"

namespace heddle::emulator::tensor {

/// Row-major dense operands of one instruction: A is m x k, B is k x n, both without
/// padding. Limits: m <= 256, n <= 256, k <= 96.
struct DenseFloat {
  unsigned m, n, k;
  const float *a;
  const float *b;
  /// Smallest normal exponent of the operand's format (truncated model only): subnormals
  /// align by it, not by their leading bit.
  int minExponentA = -126, minExponentB = -126;
};

/// c (m x n, row-major, f32 values) = round(A * B + c). With `useC` false c is only
/// written. Results that are NaN are the canonical NaN. With `toF16` the result is
/// rounded to nearest even to f16 (and stored as its f32 value).
void accumulate(const DenseFloat &operands, const AccumulateModel &model, bool useC, bool toF16,
                float *c);

/// Integer operands widened to 16 bits; c wraps modulo 2^32, or is clamped to s32 when
/// `saturate`.
struct DenseInt {
  unsigned m, n, k;
  const int16_t *a;
  const int16_t *b;
};
void accumulate(const DenseInt &operands, bool useC, bool saturate, int32_t *c);

/// What a model must satisfy: at most 20 fraction bits, a block of 1..96 with fraction bits.
Problem checkModel(const AccumulateModel &model);

/// The smallest normal exponent of a format, for DenseFloat.
int minExponent(Elem e);

} // namespace heddle::emulator::tensor

#endif // HEDDLE_EMULATOR_TENSOR_ACCUMULATE_H
