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

/// Index of B's element (row k of K, column n) in a panelled B: panels of 8 columns, each
/// row-major. Long rows would share few sets of a cache.
constexpr unsigned panelIndex(unsigned k, unsigned n, unsigned kTotal) {
  return (n / 8 * kTotal + k) * 8 + n % 8;
}

/// Products with one panelled matrix B (k x n): set once, then used for any number of
/// rows of A. Limits: n <= 256 and a multiple of 8, k <= 96. An object is
/// for one thread at a time and keeps its buffers, so that a reused one allocates nothing.
class Products {
public:
  /// Keeps a pointer to b. `minExponentB`: the smallest normal exponent of B's format
  /// (truncated model only): subnormals align by it, not by their leading bit.
  void setB(unsigned n, unsigned k, const float *b, int minExponentB, const AccumulateModel &model);
  /// c (m x n, row-major, f32 values) = round(A * B + c) for A of m x k. With `useC` false
  /// c is only written. NaN results are the canonical NaN. With `toF16` the result is
  /// rounded to nearest even to f16 (and stored as its f32 value).
  void rows(unsigned m, const float *a, int minExponentA, bool useC, bool toF16, float *c);

private:
  void truncatedRows(unsigned m, const float *a, int minExponentA, bool toF16, float *c);

  unsigned n = 0, k = 0;
  const float *b = nullptr;
  AccumulateModel model;
  bool finiteB = true;
  std::vector<double> wideB, sums;
  std::vector<int> exponentsA, exponentsB;
};

/// 8-bit integers as floats, B panelled: with k <= 64 their sums of products stay below 2^24, where
/// binary32 is exact. c wraps modulo 2^32, or is clamped to s32 when `saturate`.
struct DenseInt {
  unsigned m, n, k;
  const float *a;
  const float *b;
};
void accumulate(const DenseInt &operands, bool useC, bool saturate, int32_t *c);

/// What a model must satisfy: at most 20 fraction bits, blocks of at most 96 products, and
/// fraction bits only with e4m3 and e5m2 operands (wider ones have other exponents).
Problem checkModel(const AccumulateModel &model, Elem a, Elem b);

/// The smallest normal exponent of a format, for DenseFloat.
int minExponent(Elem e);

} // namespace heddle::emulator::tensor

#endif // HEDDLE_EMULATOR_TENSOR_ACCUMULATE_H
