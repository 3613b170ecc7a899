//===- AccumulateTest.cpp - sums of tensor-core products ------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Accumulate.h"
#include "TestSupport.h"

#include <gtest/gtest.h>

using namespace heddle::emulator::tensor;
using namespace heddle::emulator::tensor::test;

namespace {

std::vector<float> floats(const Matrix &m) { return {m.values.begin(), m.values.end()}; }

struct Dense {
  unsigned m, n, k;
  const float *a, *b;
  int minExponentA = -126, minExponentB = -126;
};
void accumulateFloat(const Dense &d, const AccumulateModel &model, bool useC, float *c) {
  std::vector<float> panelled(d.k * d.n);
  for (unsigned k = 0; k < d.k; ++k)
    for (unsigned n = 0; n < d.n; ++n)
      panelled[panelIndex(k, n, d.k)] = d.b[k * d.n + n];
  Products products;
  products.setB(d.n, d.k, panelled.data(), d.minExponentB, model);
  products.rows(d.m, d.a, d.minExponentA, useC, false, c);
}

/// The truncated model, straight from its definition: every term is cut (toward zero) to
/// `fraction` bits below the largest exponent, and the sum to f32 with `fraction` bits.
float truncatedDot(const std::vector<std::pair<double, double>> &factors, double c, int fraction,
                   int minExpA, int minExpB) {
  const auto exponent = [](double x, int smallest) { return std::max(std::ilogb(x), smallest); };
  int top = -100000;
  if (c != 0)
    top = std::ilogb(c);
  for (auto [a, b] : factors)
    if (a != 0 && b != 0)
      top = std::max(top, exponent(a, minExpA) + exponent(b, minExpB));
  if (top == -100000)
    return 0;
  const double unit = std::ldexp(1.0, top - fraction);
  double sum = std::trunc(c / unit);
  for (auto [a, b] : factors)
    sum += std::trunc(a * b / unit);
  sum *= unit;
  if (sum == 0)
    return 0;
  const double last = std::ldexp(1.0, std::ilogb(sum) - fraction);
  return static_cast<float>(std::trunc(sum / last) * last);
}

TEST(Accumulate, ExactModelEqualsRoundedDoubleSum) {
  std::mt19937 rng(11);
  for (auto [m, n, k] :
       {std::array{64u, 256u, 16u}, {16u, 8u, 8u}, {3u, 24u, 5u}, {128u, 8u, 32u}}) {
    const Matrix a = randomMatrix(m, k, Elem::BF16, rng), b = randomMatrix(k, n, Elem::BF16, rng);
    std::vector<float> c(m * n);
    std::uniform_real_distribution<float> d(-100, 100);
    for (float &x : c)
      x = d(rng);
    for (bool towardZero : {false, true}) {
      std::vector<float> got = c;
      const auto fa = floats(a), fb = floats(b);
      accumulateFloat(Dense{m, n, k, fa.data(), fb.data()}, {0, 0, towardZero}, true, got.data());
      for (unsigned i = 0; i < m; ++i)
        for (unsigned j = 0; j < n; ++j) {
          double sum = 0;
          for (unsigned kk = 0; kk < k; ++kk)
            sum += a.value(i, kk) * b.value(kk, j);
          sum += c[i * n + j];
          ASSERT_EQ(got[i * n + j], cvtF64ToF32(sum, towardZero ? Round::Zero : Round::NearestEven))
              << i << "," << j << " of " << m << "x" << n << "x" << k;
        }
    }
  }
}

TEST(Accumulate, IntegerDataIsExact) {
  std::mt19937 rng(12);
  const Matrix a = integerMatrix(64, 16, Elem::BF16, 100, rng);
  const Matrix b = integerMatrix(16, 64, Elem::BF16, 100, rng);
  const auto fa = floats(a), fb = floats(b);
  std::vector<float> c(64 * 64, 12345.0f);
  accumulateFloat(Dense{64, 64, 16, fa.data(), fb.data()}, {0, 0, true}, true, c.data());
  for (unsigned i = 0; i < 64; ++i)
    for (unsigned j = 0; j < 64; ++j) {
      int64_t sum = 12345;
      for (unsigned k = 0; k < 16; ++k)
        sum += static_cast<int64_t>(a.value(i, k)) * static_cast<int64_t>(b.value(k, j));
      ASSERT_EQ(c[i * 64 + j], static_cast<float>(sum));
    }
}

TEST(Accumulate, TruncatedModelEqualsItsDefinition) {
  std::mt19937 rng(13);
  for (auto [ea, eb] : {std::pair{Elem::E4M3, Elem::E4M3}, {Elem::E5M2, Elem::E4M3}}) {
    const unsigned m = 16, n = 40, k = 32;
    const Matrix a = randomMatrix(m, k, ea, rng), b = randomMatrix(k, n, eb, rng);
    const auto fa = floats(a), fb = floats(b);
    for (int round = 0; round < 8; ++round) {
      std::vector<float> c(m * n);
      std::uniform_real_distribution<float> d(-1, 1);
      for (float &x : c)
        x = std::ldexp(d(rng), static_cast<int>(rng() % 40) - 20);
      std::vector<float> got = c;
      accumulateFloat(Dense{m, n, k, fa.data(), fb.data(), minExponent(ea), minExponent(eb)},
                      {13, 32, true}, true, got.data());
      for (unsigned i = 0; i < m; ++i)
        for (unsigned j = 0; j < n; ++j) {
          std::vector<std::pair<double, double>> f;
          for (unsigned kk = 0; kk < k; ++kk)
            f.emplace_back(a.value(i, kk), b.value(kk, j));
          ASSERT_EQ(got[i * n + j],
                    truncatedDot(f, c[i * n + j], 13, minExponent(ea), minExponent(eb)))
              << i << "," << j;
        }
    }
  }
}

TEST(Accumulate, TruncatedModelOfTinyValues) {
  // Products of subnormals and tiny accumulators: everything lies far below one.
  std::mt19937 rng(14);
  const unsigned m = 4, n = 16, k = 32;
  for (int round = 0; round < 20; ++round) {
    Matrix a = randomMatrix(m, k, Elem::E5M2, rng), b = randomMatrix(k, n, Elem::E5M2, rng);
    for (Matrix *x : {&a, &b})
      for (unsigned i = 0; i < x->bits.size(); ++i) {
        x->bits[i] &= 0x87; // exponent fields 0 and 1
        x->values[i] = definedValue(Elem::E5M2, x->bits[i]);
      }
    const auto fa = floats(a), fb = floats(b);
    std::vector<float> c(m * n);
    for (float &x : c)
      x = rng() % 3 ? std::ldexp(1.0f + (rng() % 1024) / 1024.0f, -30 - int(rng() % 20)) : 0.0f;
    std::vector<float> got = c;
    accumulateFloat(Dense{m, n, k, fa.data(), fb.data(), -14, -14}, {13, 32, true}, true,
                    got.data());
    for (unsigned i = 0; i < m; ++i)
      for (unsigned j = 0; j < n; ++j) {
        std::vector<std::pair<double, double>> f;
        for (unsigned kk = 0; kk < k; ++kk)
          f.emplace_back(a.value(i, kk), b.value(kk, j));
        ASSERT_EQ(got[i * n + j], truncatedDot(f, c[i * n + j], 13, -14, -14)) << i << "," << j;
      }
  }
}

TEST(Accumulate, ShortAccumulatorLosesSmallTermsAndPromotionKeepsThem) {
  // 4096 products of one: exact in f32, but a 13-bit sum of ones stops at 2^14.
  const unsigned k = 32;
  std::vector<float> a(k, 1.0f), b(k * 8, 1.0f), c(8, 0.0f);
  const AccumulateModel hopper{13, 32, true};
  float promoted = 0;
  for (int step = 0; step < 1024; ++step)
    accumulateFloat(Dense{1, 8, k, a.data(), b.data(), -6, -6}, hopper, true, c.data());
  for (int step = 0; step < 256; ++step) {
    std::vector<float> partial(8, 0.0f);
    for (int i = 0; i < 4; ++i)
      accumulateFloat(Dense{1, 8, k, a.data(), b.data(), -6, -6}, hopper, i != 0, partial.data());
    promoted += partial[0];
  }
  EXPECT_EQ(promoted, 32768.0f);
  EXPECT_LT(c[0], 32768.0f);
  EXPECT_EQ(c[0], 16384.0f); // a one is below the last of 14 bits from here on
}

TEST(Accumulate, InfinitiesAndNaN) {
  std::vector<float> a{INFINITY, 1.0f}, b(2 * 8, 1.0f), c(8, 1.0f);
  for (unsigned char bits : {0, 13}) {
    std::vector<float> got = c;
    const AccumulateModel model{bits, 32, true};
    accumulateFloat(Dense{1, 8, 2, a.data(), b.data()}, model, true, got.data());
    EXPECT_EQ(got[0], INFINITY);
    got.assign(8, -INFINITY);
    accumulateFloat(Dense{1, 8, 2, a.data(), b.data()}, model, true, got.data());
    EXPECT_EQ(asBits(got[7]), canonicalNaN32);
  }
}

TEST(Accumulate, IntegersWrapOrSaturate) {
  std::vector<float> a(32, 127), b(32 * 8, 127);
  std::vector<int32_t> c(8, INT32_MAX - 10);
  accumulate(DenseInt{1, 8, 32, a.data(), b.data()}, true, true, c.data());
  EXPECT_EQ(c[3], INT32_MAX);
  c.assign(8, INT32_MAX - 10);
  accumulate(DenseInt{1, 8, 32, a.data(), b.data()}, true, false, c.data());
  EXPECT_EQ(c[3], static_cast<int32_t>(uint32_t(INT32_MAX - 10) + 32u * 127 * 127));
  accumulate(DenseInt{1, 8, 32, a.data(), b.data()}, false, false, c.data());
  EXPECT_EQ(c[0], 32 * 127 * 127);
}

TEST(Accumulate, RefusesModelsItCannotKeepExactly) {
  const Elem f8 = Elem::E4M3;
  EXPECT_FALSE(checkModel({13, 32, true}, f8, Elem::E5M2));
  EXPECT_TRUE(checkModel({25, 16, true}, f8, f8));
  EXPECT_TRUE(checkModel({13, 100, true}, f8, f8));
  EXPECT_TRUE(checkModel({13, 16, true}, Elem::BF16, Elem::BF16));
  EXPECT_FALSE(checkModel({0, 0, true}, Elem::BF16, Elem::BF16));
}

} // namespace
