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

constexpr unsigned maxK = 96;
constexpr unsigned tileM = 4, tileN = 8;

/// Vectors of the compiler; an instruction set with shorter ones splits them.
using Float8 = float __attribute__((vector_size(32)));
using Int8 = int32_t __attribute__((vector_size(32)));
using Double4 = double __attribute__((vector_size(32)));
using Long4 = int64_t __attribute__((vector_size(32)));
using Float4 = float __attribute__((vector_size(16)));
using Int4 = int32_t __attribute__((vector_size(16)));

template <typename V> [[gnu::always_inline]] inline void load(V &to, const void *from) {
  std::memcpy(&to, from, sizeof(V));
}
template <typename V> [[gnu::always_inline]] inline void store(void *to, const V &from) {
  std::memcpy(to, &from, sizeof(V));
}

//===----------------------------------------------------------------------===//
// Exact model
//===----------------------------------------------------------------------===//

/// round(sum + c) to f32, nearest or toward zero; NaN becomes canonical.
[[gnu::always_inline]] inline void finish4(const double *sum, float *c, bool towardZero) {
  Double4 s;
  Float4 before;
  load(s, sum);
  load(before, c);
  s += __builtin_convertvector(before, Double4);
  const Float4 nearest = __builtin_convertvector(s, Float4);
  Int4 bits;
  load(bits, &nearest);
  if (towardZero) {
    // One place back where the conversion went away from zero (infinity: to the largest).
    const Double4 back = __builtin_convertvector(nearest, Double4);
    Long4 sizeBack, sizeExact;
    load(sizeBack, &back);
    load(sizeExact, &s);
    const Long4 magnitude = Long4{} + INT64_MAX;
    const Long4 away = (sizeBack & magnitude) > (sizeExact & magnitude);
    bits += __builtin_convertvector(away, Int4); // a mask is -1
  }
  const Int4 nan = nearest != nearest;
  bits = nan ? Int4{} + static_cast<int32_t>(canonicalNaN32) : bits;
  store(c, bits);
}

/// A * B for tiles of tileM x tileN, then f(row, column, tile of tileN sums) for each row of
/// a tile. T: binary64, or binary32 where integers are small enough to stay exact. n is a
/// multiple of tileN.
template <typename T, typename F>
[[gnu::always_inline]] inline void productBody(unsigned m, unsigned n, unsigned k, const float *a,
                                               const T *b, F f) {
  T tileA[maxK * tileM]; // tileM rows of A, k-major; rows beyond m are zero
  for (unsigned row = 0; row < m; row += tileM) {
    const unsigned rows = std::min(tileM, m - row);
    for (unsigned kk = 0; kk < k; ++kk)
      for (unsigned r = 0; r < tileM; ++r)
        tileA[kk * tileM + r] = r < rows ? static_cast<T>(a[(row + r) * k + kk]) : T(0);
    for (unsigned col = 0; col < n; col += tileN) {
      T acc[tileM][tileN] = {};
      const T *bTile = b + col * k;
      for (unsigned kk = 0; kk < k; ++kk, bTile += tileN)
        for (unsigned r = 0; r < tileM; ++r)
          for (unsigned j = 0; j < tileN; ++j)
            acc[r][j] += tileA[kk * tileM + r] * bTile[j];
      for (unsigned r = 0; r < rows; ++r)
        f(row + r, col, acc[r]);
    }
  }
}

[[gnu::always_inline]] inline void exactBody(unsigned m, unsigned n, unsigned k, const float *a,
                                             const double *b, bool towardZero, float *c) {
  productBody(m, n, k, a, b, [&](unsigned row, unsigned col, const double *sums) {
    finish4(sums, c + row * n + col, towardZero);
    finish4(sums + 4, c + row * n + col + 4, towardZero);
  });
}

template <typename T>
[[gnu::always_inline]] inline void sumsBody(unsigned m, unsigned n, unsigned k, const float *a,
                                            const T *b, T *sums) {
  productBody(m, n, k, a, b, [&](unsigned row, unsigned col, const T *tile) {
    std::memcpy(sums + row * n + col, tile, tileN * sizeof(T));
  });
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

struct Truncated {
  unsigned m, n, k;
  unsigned strideA; ///< of the rows of a and ea
  unsigned panel;   ///< elements of a panel of b and eb
  int fraction;
  const float *a, *b; ///< m x k (strided), panels
  const int *ea, *eb; ///< exponents of the elements
  uint32_t keep;      ///< bits of the result's pattern
};

/// c = truncate(align(a * b), align(c)) for tiles of tileM x 8 elements.
[[gnu::always_inline]] inline void truncatedBody(const Truncated &t, float *c) {
  for (unsigned row = 0; row < t.m; row += tileM) {
    const unsigned rows = std::min(tileM, t.m - row);
    // Rows beyond m repeat the last one; their results are dropped.
    const float *a[tileM];
    const int *ea[tileM];
    for (unsigned r = 0; r < tileM; ++r) {
      a[r] = t.a + (row + std::min(r, rows - 1)) * t.strideA;
      ea[r] = t.ea + (row + std::min(r, rows - 1)) * t.strideA;
    }
    for (unsigned col = 0; col < t.n; col += 8) {
      Int8 top[tileM], sum[tileM];
      Float8 up[tileM], down[tileM];
      for (unsigned r = 0; r < tileM; ++r) {
        load(top[r], c + (row + std::min(r, rows - 1)) * t.n + col); // the bits
        const Int8 magnitude = top[r] & 0x7fffffff;
        const Int8 field = magnitude >> 23;
        const Int8 zero = magnitude == 0;
        top[r] = (zero & noExponent) | (~zero & ((field > 1 ? field : field * 0 + 1) - 127));
      }
      for (unsigned kk = 0; kk < t.k; ++kk) {
        Int8 eb;
        load(eb, t.eb + col / 8 * t.panel + kk * 8);
        for (unsigned r = 0; r < tileM; ++r) {
          const Int8 e = eb + ea[r][kk];
          top[r] = e > top[r] ? e : top[r];
        }
      }
      for (unsigned r = 0; r < tileM; ++r) {
        // Below 2^-100 everything is cut the same way: the scale stays a normal float.
        const Int8 exponent = top[r] > -100 ? top[r] : top[r] * 0 - 100;
        const Int8 upBits = (t.fraction - exponent + 127) << 23;
        const Int8 downBits = (exponent - t.fraction + 127) << 23;
        load(up[r], &upBits);
        load(down[r], &downBits);
        Float8 start;
        load(start, c + (row + std::min(r, rows - 1)) * t.n + col);
        sum[r] = __builtin_convertvector(start * up[r], Int8); // toward zero
      }
      for (unsigned kk = 0; kk < t.k; ++kk) {
        Float8 b;
        load(b, t.b + col / 8 * t.panel + kk * 8);
        for (unsigned r = 0; r < tileM; ++r)
          sum[r] += __builtin_convertvector(b * a[r][kk] * up[r], Int8);
      }
      for (unsigned r = 0; r < rows; ++r) {
        const Float8 value = __builtin_convertvector(sum[r], Float8) * down[r];
        Int8 bits;
        load(bits, &value);
        bits &= static_cast<int32_t>(t.keep);
        store(c + (row + r) * t.n + col, bits);
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Variants
//===----------------------------------------------------------------------===//

struct Kernels {
  void (*exact)(unsigned, unsigned, unsigned, const float *, const double *, bool, float *);
  void (*sums)(unsigned, unsigned, unsigned, const float *, const double *, double *);
  void (*smallSums)(unsigned, unsigned, unsigned, const float *, const float *, float *);
  void (*truncated)(const Truncated &, float *);
};

void exactBase(unsigned m, unsigned n, unsigned k, const float *a, const double *b, bool towardZero,
               float *c) {
  exactBody(m, n, k, a, b, towardZero, c);
}
void sumsBase(unsigned m, unsigned n, unsigned k, const float *a, const double *b, double *s) {
  sumsBody(m, n, k, a, b, s);
}
void smallSumsBase(unsigned m, unsigned n, unsigned k, const float *a, const float *b, float *s) {
  sumsBody(m, n, k, a, b, s);
}
void truncatedBase(const Truncated &t, float *c) { truncatedBody(t, c); }

#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] void exactAvx2(unsigned m, unsigned n, unsigned k, const float *a,
                                           const double *b, bool towardZero, float *c) {
  exactBody(m, n, k, a, b, towardZero, c);
}
[[gnu::target("avx2,fma")]] void sumsAvx2(unsigned m, unsigned n, unsigned k, const float *a,
                                          const double *b, double *s) {
  sumsBody(m, n, k, a, b, s);
}
[[gnu::target("avx2,fma")]] void smallSumsAvx2(unsigned m, unsigned n, unsigned k, const float *a,
                                               const float *b, float *s) {
  sumsBody(m, n, k, a, b, s);
}
[[gnu::target("avx2")]] void truncatedAvx2(const Truncated &t, float *c) { truncatedBody(t, c); }
#endif

const Kernels &kernels() {
  static const Kernels chosen = [] {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
      return Kernels{exactAvx2, sumsAvx2, smallSumsAvx2, truncatedAvx2};
#endif
    return Kernels{exactBase, sumsBase, smallSumsBase, truncatedBase};
  }();
  return chosen;
}

bool allFinite(const float *x, unsigned count) {
  bool finite = true;
  for (unsigned i = 0; i < count; ++i)
    finite &= (asBits(x[i]) & 0x7f800000) != 0x7f800000;
  return finite;
}

} // namespace

void Products::setB(unsigned newN, unsigned newK, const float *newB, int minExponentB,
                    const AccumulateModel &newModel) {
  n = newN, k = newK, b = newB, model = newModel;
  wideB.resize(k * n);
  std::copy_n(b, k * n, wideB.begin());
  if (!model.fractionBits)
    return;
  finiteB = allFinite(b, k * n);
  exponentsB.resize(k * n);
  for (unsigned i = 0; i < k * n; ++i)
    exponentsB[i] = exponentOf(b[i], minExponentB);
}

void Products::rows(unsigned m, const float *a, int minExponentA, bool useC, bool toF16, float *c) {
  if (!useC)
    std::fill(c, c + m * n, 0.0f);
  // Infinities and NaN decide a result alone; the finite elements next to them are
  // then given exactly.
  if (model.fractionBits && finiteB && allFinite(a, m * k) && allFinite(c, m * n)) {
    truncatedRows(m, a, minExponentA, toF16, c);
    return;
  }
  if (!toF16) {
    kernels().exact(m, n, k, a, wideB.data(), model.towardZero, c);
    return;
  }
  sums.resize(m * n);
  kernels().sums(m, n, k, a, wideB.data(), sums.data());
  for (unsigned i = 0; i < m * n; ++i)
    c[i] = roundToF16(sums[i] + c[i]);
}

void Products::truncatedRows(unsigned m, const float *a, int minExponentA, bool toF16, float *c) {
  exponentsA.resize(m * k);
  for (unsigned i = 0; i < m * k; ++i)
    exponentsA[i] = exponentOf(a[i], minExponentA);
  const unsigned block = model.block ? model.block : k;
  const uint32_t keep = toF16 ? ~0u : ~0u << (23 - std::min<unsigned>(23, model.fractionBits));
  for (unsigned k0 = 0; k0 < k; k0 += block) {
    kernels().truncated(Truncated{m, n, std::min(block, k - k0), k, 8 * k, model.fractionBits,
                                  a + k0, b + k0 * 8, exponentsA.data() + k0,
                                  exponentsB.data() + k0 * 8, keep},
                        c);
    if (toF16)
      for (unsigned i = 0; i < m * n; ++i)
        c[i] = roundToF16(c[i]);
  }
}

void accumulate(const DenseInt &operands, bool useC, bool saturate, int32_t *c) {
  thread_local std::vector<float> sums;
  const unsigned total = operands.m * operands.n;
  sums.resize(total);
  kernels().smallSums(operands.m, operands.n, operands.k, operands.a, operands.b, sums.data());
  for (unsigned i = 0; i < total; ++i) {
    const auto product = static_cast<int32_t>(sums[i]);
    const int32_t before = useC ? c[i] : 0;
    if (saturate)
      c[i] = static_cast<int32_t>(
          std::clamp<int64_t>(int64_t(product) + before, INT32_MIN, INT32_MAX));
    else
      c[i] = static_cast<int32_t>(static_cast<uint32_t>(product) + static_cast<uint32_t>(before));
  }
}

Problem checkModel(const AccumulateModel &model, Elem a, Elem b) {
  for (Elem e : {a, b})
    if (model.fractionBits && e != Elem::E4M3 && e != Elem::E5M2)
      return "expected a short accumulator only with e4m3 and e5m2, got " +
             std::string(elemName(e));
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
