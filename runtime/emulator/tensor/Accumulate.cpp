//===- Accumulate.cpp - dense inner products of tensor-core instructions --===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loops are written for the vectoriser and compiled for several instruction sets;
// the one to run is chosen once. Every variant gives the same bits: products of two
// 24-bit significands are exact in binary64, so fused and separate multiply-add agree,
// and each element is summed in ascending k.
//
//===----------------------------------------------------------------------===//
#include "Accumulate.h"
#include "Numeric.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#pragma STDC FP_CONTRACT ON

namespace heddle::emulator::tensor {

namespace {

constexpr unsigned maxN = 256, maxK = 96;
constexpr unsigned tileM = 4, tileN = 8;

/// f32 nearest to or, with towardZero, not beyond `s`; NaN becomes canonical.
inline float narrow(double s, bool towardZero) {
  float f = static_cast<float>(s);
  uint32_t bits = asBits(f);
  if (towardZero)
    bits -= std::fabs(static_cast<double>(f)) > std::fabs(s) ? 1 : 0;
  return s != s ? asFloat(canonicalNaN32) : asFloat(bits);
}

inline float widenF16(double s) {
  return s != s ? asFloat(canonicalNaN32) : decodeF16(static_cast<uint16_t>(encode(Elem::F16, s)));
}

//===----------------------------------------------------------------------===//
// Exact model
//===----------------------------------------------------------------------===//

/// sums (m x n) = A * B in binary64. b is k x n, n a multiple of tileN; rows of a and
/// sums beyond m are not touched.
[[gnu::always_inline]] inline void productBody(unsigned m, unsigned n, unsigned k, const float *a,
                                               const double *b, double *sums) {
  for (unsigned row = 0; row < m; row += tileM) {
    const unsigned rows = std::min(tileM, m - row);
    for (unsigned col = 0; col < n; col += tileN) {
      double acc[tileM][tileN] = {};
      if (rows == tileM) {
        for (unsigned kk = 0; kk < k; ++kk) {
          const double *bRow = b + kk * n + col;
          for (unsigned r = 0; r < tileM; ++r) {
            const double x = a[(row + r) * k + kk];
            for (unsigned j = 0; j < tileN; ++j)
              acc[r][j] += x * bRow[j];
          }
        }
      } else {
        for (unsigned kk = 0; kk < k; ++kk)
          for (unsigned r = 0; r < rows; ++r)
            for (unsigned j = 0; j < tileN; ++j)
              acc[r][j] += static_cast<double>(a[(row + r) * k + kk]) * b[kk * n + col + j];
      }
      for (unsigned r = 0; r < rows; ++r)
        std::memcpy(sums + (row + r) * n + col, acc[r], sizeof(acc[r]));
    }
  }
}

//===----------------------------------------------------------------------===//
// Truncated model
//===----------------------------------------------------------------------===//

constexpr int noExponent = -10000;

/// Exponent of a format's value: that of the leading bit, at least the format's smallest.
inline int exponentOf(float x, int smallest) {
  if (x == 0)
    return noExponent;
  const int field = static_cast<int>(asBits(x) >> 23 & 0xff);
  return std::max(field == 0 ? -126 : field - 127, smallest);
}

inline float powerOfTwo(int exponent) {
  return asFloat(static_cast<uint32_t>(exponent + 127) << 23);
}

struct TruncatedRow {
  unsigned n, k;
  int fraction;
  const float *a; ///< k
  const int *ea;  ///< k
  const float *b; ///< k x n
  const int *eb;  ///< k x n
  uint32_t keep;  ///< mantissa mask of the result
};

/// One row: c = truncate(align(a * b), align(c)).
[[gnu::always_inline]] inline void truncatedBody(const TruncatedRow &row, float *c) {
  const unsigned n = row.n;
  int top[maxN];
  int32_t sum[maxN];
  float up[maxN], down[maxN];
  for (unsigned j = 0; j < n; ++j) {
    const int field = static_cast<int>(asBits(c[j]) >> 23 & 0xff);
    top[j] = (asBits(c[j]) & 0x7fffffff) == 0 ? noExponent : std::max(field, 1) - 127;
  }
  for (unsigned kk = 0; kk < row.k; ++kk) {
    const int *eb = row.eb + kk * n;
    const int ea = row.ea[kk];
    for (unsigned j = 0; j < n; ++j)
      top[j] = std::max(top[j], ea + eb[j]);
  }
  for (unsigned j = 0; j < n; ++j) {
    // Below 2^-100 everything is flushed the same way: the scale stays a normal float.
    const int exponent = std::max(top[j], -100);
    up[j] = powerOfTwo(row.fraction - exponent);
    down[j] = powerOfTwo(exponent - row.fraction);
    sum[j] = static_cast<int32_t>(c[j] * up[j]);
  }
  for (unsigned kk = 0; kk < row.k; ++kk) {
    const float *b = row.b + kk * n;
    const float a = row.a[kk];
    for (unsigned j = 0; j < n; ++j)
      sum[j] += static_cast<int32_t>(a * b[j] * up[j]);
  }
  for (unsigned j = 0; j < n; ++j)
    c[j] = asFloat(asBits(static_cast<float>(sum[j]) * down[j]) & row.keep);
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

[[gnu::always_inline]] inline void integerBody(const DenseInt &d, int32_t *sums) {
  for (unsigned row = 0; row < d.m; ++row) {
    int32_t *out = sums + row * d.n;
    std::fill(out, out + d.n, 0);
    for (unsigned kk = 0; kk < d.k; ++kk) {
      const int32_t x = d.a[row * d.k + kk];
      const int16_t *b = d.b + kk * d.n;
      for (unsigned j = 0; j < d.n; ++j)
        out[j] += x * b[j];
    }
  }
}

//===----------------------------------------------------------------------===//
// Variants
//===----------------------------------------------------------------------===//

struct Kernels {
  void (*product)(unsigned, unsigned, unsigned, const float *, const double *, double *);
  void (*truncated)(const TruncatedRow &, float *);
  void (*integer)(const DenseInt &, int32_t *);
};

void productBase(unsigned m, unsigned n, unsigned k, const float *a, const double *b, double *s) {
  productBody(m, n, k, a, b, s);
}
void truncatedBase(const TruncatedRow &row, float *c) { truncatedBody(row, c); }
void integerBase(const DenseInt &d, int32_t *s) { integerBody(d, s); }

#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] void productAvx2(unsigned m, unsigned n, unsigned k, const float *a,
                                             const double *b, double *s) {
  productBody(m, n, k, a, b, s);
}
[[gnu::target("avx2")]] void truncatedAvx2(const TruncatedRow &row, float *c) {
  truncatedBody(row, c);
}
[[gnu::target("avx2")]] void integerAvx2(const DenseInt &d, int32_t *s) { integerBody(d, s); }
#endif

const Kernels &kernels() {
  static const Kernels chosen = [] {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
      return Kernels{productAvx2, truncatedAvx2, integerAvx2};
#endif
    return Kernels{productBase, truncatedBase, integerBase};
  }();
  return chosen;
}

/// Scratch of a thread: it is reused, so that an instruction allocates nothing.
struct Scratch {
  std::vector<double> b, sums;
  std::vector<int> ea, eb;
  std::vector<int32_t> integers;
};
Scratch &scratch() {
  thread_local Scratch instance;
  return instance;
}

void accumulateExact(const DenseFloat &d, const AccumulateModel &model, bool useC, bool toF16,
                     float *c) {
  Scratch &s = scratch();
  s.b.assign(d.b, d.b + d.k * d.n);
  s.sums.resize(d.m * d.n);
  kernels().product(d.m, d.n, d.k, d.a, s.b.data(), s.sums.data());
  const unsigned total = d.m * d.n;
  const double *sums = s.sums.data();
  if (!useC)
    std::fill(c, c + total, 0.0f);
  if (toF16) {
    for (unsigned i = 0; i < total; ++i)
      c[i] = widenF16(sums[i] + c[i]);
  } else if (model.towardZero) {
    for (unsigned i = 0; i < total; ++i)
      c[i] = narrow(sums[i] + c[i], true);
  } else {
    for (unsigned i = 0; i < total; ++i)
      c[i] = narrow(sums[i] + c[i], false);
  }
}

bool allFinite(const float *x, unsigned count) {
  bool finite = true;
  for (unsigned i = 0; i < count; ++i)
    finite &= (asBits(x[i]) & 0x7f800000) != 0x7f800000;
  return finite;
}

void accumulateTruncated(const DenseFloat &d, const AccumulateModel &model, bool useC, bool toF16,
                         float *c) {
  const unsigned total = d.m * d.n;
  if (!useC)
    std::fill(c, c + total, 0.0f);
  if (!allFinite(d.a, d.m * d.k) || !allFinite(d.b, d.k * d.n) || !allFinite(c, total)) {
    // Infinities and NaN decide the result alone; finite elements of such an
    // instruction are given exactly.
    accumulateExact(d, model, true, toF16, c);
    return;
  }
  Scratch &s = scratch();
  s.ea.resize(d.m * d.k);
  s.eb.resize(d.k * d.n);
  for (unsigned i = 0; i < d.m * d.k; ++i)
    s.ea[i] = exponentOf(d.a[i], d.minExponentA);
  for (unsigned i = 0; i < d.k * d.n; ++i)
    s.eb[i] = exponentOf(d.b[i], d.minExponentB);
  const unsigned block = model.block ? model.block : d.k;
  const uint32_t keep = toF16 ? ~0u : ~0u << (23 - std::min<unsigned>(23, model.fractionBits));
  for (unsigned k0 = 0; k0 < d.k; k0 += block)
    for (unsigned row = 0; row < d.m; ++row) {
      const TruncatedRow one{d.n,
                             std::min(block, d.k - k0),
                             model.fractionBits,
                             d.a + row * d.k + k0,
                             s.ea.data() + row * d.k + k0,
                             d.b + k0 * d.n,
                             s.eb.data() + k0 * d.n,
                             keep};
      float *out = c + row * d.n;
      kernels().truncated(one, out);
      if (toF16)
        for (unsigned j = 0; j < d.n; ++j)
          out[j] = widenF16(out[j]);
    }
}

} // namespace

void accumulate(const DenseFloat &operands, const AccumulateModel &model, bool useC, bool toF16,
                float *c) {
  if (model.fractionBits)
    accumulateTruncated(operands, model, useC, toF16, c);
  else
    accumulateExact(operands, model, useC, toF16, c);
}

void accumulate(const DenseInt &operands, bool useC, bool saturate, int32_t *c) {
  const unsigned total = operands.m * operands.n;
  Scratch &s = scratch();
  s.integers.resize(total);
  kernels().integer(operands, s.integers.data());
  for (unsigned i = 0; i < total; ++i) {
    const int64_t sum = int64_t(s.integers[i]) + (useC ? c[i] : 0);
    c[i] = saturate ? static_cast<int32_t>(std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX))
                    : static_cast<int32_t>(static_cast<uint32_t>(sum));
  }
}

Problem checkModel(const AccumulateModel &model) {
  if (model.fractionBits > 20)
    return "expected at most 20 fraction bits, got " + std::to_string(model.fractionBits);
  if (model.block > maxK)
    return "expected a block of at most 96 products, got " + std::to_string(model.block);
  return std::nullopt;
}

int minExponent(Elem e) {
  switch (e) {
  case Elem::F16:
  case Elem::E5M2:
    return -14;
  case Elem::E4M3:
    return -6;
  case Elem::E2M1:
  case Elem::E2M3:
    return 0;
  case Elem::E3M2:
    return -2;
  default:
    return -126;
  }
}

} // namespace heddle::emulator::tensor
