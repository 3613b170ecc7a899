//===- ArithmeticTest.cpp - rounded arithmetic ----------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Directed rounding is checked by its definition: the result is the neighbour of the
// exact value on the right side. Exact values are computed in __float128 where they
// fit, else by comparing with exact remainders.
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"

#include <gtest/gtest.h>

#include <functional>

using namespace heddle::emulator::tensor;
using namespace heddle::emulator::tensor::test;

namespace {

/// Random floats: full range, near-equal exponents, subnormals.
float randomFloat(std::mt19937 &rng) {
  const uint32_t bits = rng();
  switch (rng() % 4) {
  case 0:
    return asFloat(bits);
  case 1: // near one
    return asFloat((bits & 0x807fffff) | (120 + rng() % 14) << 23);
  case 2: // subnormal or tiny
    return asFloat((bits & 0x807fffff) | (rng() % 3) << 23);
  default: // few bits
    return asFloat(bits & 0xffff0000);
  }
}

/// The float nearest to a __float128, or the one on a side, found from the double
/// conversion by stepping.
float expected(__float128 exact, Round round) {
  float f = static_cast<float>(exact);
  // Make f the largest float <= exact.
  while (static_cast<__float128>(f) > exact)
    f = std::nextafter(f, -HUGE_VALF);
  while (std::nextafter(f, HUGE_VALF) <= exact)
    f = std::nextafter(f, HUGE_VALF);
  if (static_cast<__float128>(f) == exact)
    return f;
  const float above = std::nextafter(f, HUGE_VALF);
  switch (round) {
  case Round::Down:
    return f;
  case Round::Up:
    return above;
  case Round::Zero:
    return exact > 0 ? f : above;
  default: {
    // Infinity counts as 2^128 for nearest.
    const __float128 top = std::isinf(above) ? __float128(0x1p128) : __float128(above);
    const __float128 low = std::isinf(f) ? -__float128(0x1p128) : __float128(f);
    const __float128 toUp = top - exact, toDown = exact - low;
    if (toUp != toDown)
      return toUp < toDown ? above : f;
    return asBits(f) % 2 == 0 ? f : above;
  }
  }
}

bool sameFloat(float a, float b) { return (std::isnan(a) && std::isnan(b)) || (a == b); }

const Round rounds[] = {Round::NearestEven, Round::Zero, Round::Down, Round::Up};

TEST(ArithmeticF32, AddAndMultiplyInEveryMode) {
  std::mt19937 rng(3);
  for (int i = 0; i < 200000; ++i) {
    const float a = randomFloat(rng), b = randomFloat(rng);
    if (!std::isfinite(a) || !std::isfinite(b))
      continue;
    for (Round r : rounds) {
      // 113 bits: a sum of floats needs up to 277, so keep the exponents close.
      if (std::abs(std::ilogb(a) - std::ilogb(b)) < 80 && a != 0 && b != 0) {
        const __float128 sum = __float128(a) + __float128(b);
        if (sum != 0)
          ASSERT_TRUE(sameFloat(addF32(a, b, {r}), expected(sum, r)))
              << a << " + " << b << " mode " << int(r);
      }
      const __float128 product = __float128(a) * __float128(b);
      ASSERT_TRUE(sameFloat(mulF32(a, b, {r}), expected(product, r)))
          << a << " * " << b << " mode " << int(r);
    }
  }
}

TEST(ArithmeticF32, FarOperandsRoundBySignOfTheSmall) {
  EXPECT_EQ(addF32(1.0f, 0x1p-149f, {Round::Up}), 1.0f + 0x1p-23f);
  EXPECT_EQ(addF32(1.0f, -0x1p-149f, {Round::Zero}), 1.0f - 0x1p-24f);
  EXPECT_EQ(addF32(0x1p127f, -0x1p-149f, {Round::Down}), std::nextafter(0x1p127f, 0.0f));
  EXPECT_EQ(subF32(1.0f, 0x1p-149f, {Round::Up}), 1.0f);
}

TEST(ArithmeticF32, FmaInEveryMode) {
  std::mt19937 rng(4);
  for (int i = 0; i < 200000; ++i) {
    const float a = randomFloat(rng), b = randomFloat(rng), c = randomFloat(rng);
    if (!std::isfinite(a) || !std::isfinite(b) || !std::isfinite(c) || a == 0 || b == 0 || c == 0)
      continue;
    ASSERT_TRUE(sameFloat(fmaF32(a, b, c), std::fma(a, b, c))) << a << " " << b << " " << c;
    if (std::abs(std::ilogb(a) + std::ilogb(b) - std::ilogb(c)) > 60)
      continue;
    const __float128 exact = __float128(a) * __float128(b) + __float128(c);
    if (exact != 0)
      for (Round r : rounds)
        ASSERT_TRUE(sameFloat(fmaF32(a, b, c, {r}), expected(exact, r)))
            << a << " " << b << " " << c << " mode " << int(r);
  }
}

TEST(ArithmeticF32, DivisionAndRootBracketTheExactValue) {
  std::mt19937 rng(5);
  for (int i = 0; i < 200000; ++i) {
    const float a = randomFloat(rng), b = randomFloat(rng);
    if (!std::isfinite(a) || !std::isfinite(b) || a == 0 || b == 0)
      continue;
    ASSERT_TRUE(sameFloat(divF32(a, b), a / b));
    const float down = divF32(a, b, {Round::Down}), up = divF32(a, b, {Round::Up});
    // down <= a / b <= up, one place apart unless exact: multiply out, exactly.
    const bool flip = b < 0;
    const __float128 x = __float128(a);
    if (std::isfinite(down))
      ASSERT_TRUE(flip ? __float128(down) * b >= x : __float128(down) * b <= x) << a << "/" << b;
    if (std::isfinite(up))
      ASSERT_TRUE(flip ? __float128(up) * b <= x : __float128(up) * b >= x) << a << "/" << b;
    ASSERT_TRUE(down == up || std::nextafter(down, HUGE_VALF) == up) << a << "/" << b;
    if (down == up && std::isfinite(down))
      ASSERT_TRUE(__float128(down) * b == x);
    if (a > 0) {
      ASSERT_EQ(sqrtF32(a), std::sqrt(a));
      const float low = sqrtF32(a, {Round::Down}), high = sqrtF32(a, {Round::Up});
      ASSERT_TRUE(__float128(low) * low <= x && __float128(high) * high >= x) << a;
      ASSERT_TRUE(low == high || std::nextafter(low, HUGE_VALF) == high);
    }
  }
}

TEST(ArithmeticF32, ZeroSignsFlushingSaturationAndNaN) {
  EXPECT_FALSE(std::signbit(addF32(1.0f, -1.0f)));
  EXPECT_TRUE(std::signbit(addF32(1.0f, -1.0f, {Round::Down})));
  EXPECT_TRUE(std::signbit(addF32(-0.0f, -0.0f)));
  EXPECT_TRUE(std::signbit(fmaF32(1.0f, 1.0f, -1.0f, {Round::Down})));
  const Mode ftz{Round::NearestEven, true, false}, sat{Round::NearestEven, false, true};
  EXPECT_EQ(addF32(0x1p-140f, 1.0f, {Round::Up, true, false}), 1.0f); // operand flushed
  EXPECT_EQ(mulF32(0x1p-100f, -0x1p-30f, ftz), 0.0f);                 // result flushed
  EXPECT_TRUE(std::signbit(mulF32(0x1p-100f, -0x1p-30f, ftz)));
  EXPECT_EQ(addF32(3.0f, 4.0f, sat), 1.0f);
  EXPECT_EQ(addF32(-3.0f, -4.0f, sat), 0.0f);
  EXPECT_EQ(mulF32(NAN, 1.0f, sat), 0.0f);
  EXPECT_EQ(asBits(addF32(INFINITY, -INFINITY)), canonicalNaN32);
  EXPECT_EQ(asBits(mulF32(asFloat(0xffc12345), 1.0f)), canonicalNaN32);
  EXPECT_EQ(divF32(1.0f, 0.0f, {Round::Zero}), INFINITY);
  EXPECT_EQ(mulF32(0x1p100f, 0x1p100f, {Round::Zero}), std::numeric_limits<float>::max());
}

TEST(ArithmeticF32, MinMax) {
  EXPECT_EQ(minF32(NAN, 2.0f), 2.0f);
  EXPECT_EQ(asBits(minF32(NAN, NAN)), canonicalNaN32);
  EXPECT_EQ(asBits(maxF32(NAN, 2.0f, {false, true, false})), canonicalNaN32);
  EXPECT_TRUE(std::signbit(minF32(0.0f, -0.0f)));
  EXPECT_FALSE(std::signbit(maxF32(-0.0f, 0.0f)));
  EXPECT_EQ(minF32(-3.0f, 2.0f, {false, false, true}), -2.0f);
  EXPECT_EQ(maxF32(-3.0f, -2.0f, {false, false, true}), 3.0f);
}

TEST(ArithmeticF64, DirectedModesBracketAndRestoreTheHost) {
  std::mt19937_64 rng(6);
  std::uniform_real_distribution<double> d(-10, 10);
  for (int i = 0; i < 20000; ++i) {
    const double a = d(rng), b = d(rng), c = d(rng);
    EXPECT_EQ(addF64(a, b), a + b);
    EXPECT_EQ(mulF64(a, b), a * b);
    EXPECT_EQ(fmaF64(a, b, c), std::fma(a, b, c));
    const __float128 product = __float128(a) * b;
    ASSERT_TRUE(mulF64(a, b, Round::Down) <= product && mulF64(a, b, Round::Up) >= product);
    const __float128 sum = __float128(a) + b;
    ASSERT_TRUE(addF64(a, b, Round::Down) <= sum && addF64(a, b, Round::Up) >= sum);
    ASSERT_TRUE(std::fabs(addF64(a, b, Round::Zero)) <= std::fabs(a + b));
  }
  EXPECT_EQ(divF64(1, 3, Round::Up), std::nextafter(divF64(1, 3, Round::Down), 1.0));
  EXPECT_EQ(sqrtF64(2, Round::Up), std::nextafter(sqrtF64(2, Round::Down), 2.0));
}

//===----------------------------------------------------------------------===//
// 16-bit types: a double holds f16 sums and products exactly; bf16 needs __float128.
//===----------------------------------------------------------------------===//

uint16_t round16(Elem e, __float128 exact) {
  // Round to odd in binary64, then once to 16 bits.
  double head = static_cast<double>(exact);
  const __float128 rest = exact - head;
  return static_cast<uint16_t>(encodeWithTail(e, head, rest == 0 ? 0 : rest > 0 ? 1 : -1));
}

TEST(Arithmetic16, AllF16SumsAndProductsOfOneRowOfOperands) {
  for (uint32_t b : {0x3c01u, 0x0001u, 0x8bffu, 0x7bffu, 0x1234u, 0xb555u})
    for (uint32_t a = 0; a < 1u << 16; ++a) {
      const double x = definedValue(Elem::F16, a), y = definedValue(Elem::F16, b);
      if (!std::isfinite(x))
        continue;
      ASSERT_EQ(add16(Elem::F16, a, b), encode(Elem::F16, x + y)) << a << " " << b;
      ASSERT_EQ(sub16(Elem::F16, a, b), encode(Elem::F16, x - y));
      ASSERT_EQ(mul16(Elem::F16, a, b), encode(Elem::F16, x * y));
    }
}

TEST(Arithmetic16, RandomFmaOfBothTypes) {
  std::mt19937 rng(7);
  for (Elem e : {Elem::F16, Elem::BF16})
    for (int i = 0; i < 200000; ++i) {
      const uint16_t a = rng(), b = rng(), c = rng();
      const double x = definedValue(e, a), y = definedValue(e, b), z = definedValue(e, c);
      if (!std::isfinite(x) || !std::isfinite(y) || !std::isfinite(z) || x == 0 || y == 0 ||
          z == 0 || std::abs(std::ilogb(x) + std::ilogb(y) - std::ilogb(z)) > 80)
        continue;
      const __float128 exact = __float128(x) * y + z;
      if (exact != 0)
        ASSERT_EQ(fma16(e, a, b, c), round16(e, exact)) << a << " " << b << " " << c;
      if (std::abs(std::ilogb(x) - std::ilogb(y)) < 80 && x + y != 0)
        ASSERT_EQ(add16(e, a, b), round16(e, __float128(x) + y));
    }
}

TEST(Arithmetic16, PackedHalvesAreIndependentAndModesApply) {
  EXPECT_EQ(add16x2(Elem::F16, 0x3c004000, 0x3c003c00), 0x40004200u);
  EXPECT_EQ(fma16x2(Elem::BF16, 0x3f804000, 0x40004000, 0x3f800000), 0x40404080u);
  EXPECT_EQ(min16x2(Elem::BF16, 0x3f80c000, 0x40003f80), 0x3f80c000u);
  EXPECT_EQ(max16(Elem::F16, 0x7e00, 0x3c00), 0x3c00);
  EXPECT_EQ(max16(Elem::F16, 0x7e00, 0x3c00, {false, true, false}), 0x7fff);
  EXPECT_EQ(add16(Elem::F16, 0x0001, 0x0000, {true, false, false}), 0);      // flushed
  EXPECT_EQ(add16(Elem::F16, 0x4000, 0x4000, {false, true, false}), 0x3c00); // sat
  EXPECT_EQ(fma16(Elem::F16, 0xbc00, 0x3c00, 0, {false, false, true}), 0);   // relu
}

//===----------------------------------------------------------------------===//
// Approximations: PTX's bounds and special values
//===----------------------------------------------------------------------===//

TEST(Approximations, StayWithinHalfAnUlpAndKeepSpecialValues) {
  std::mt19937 rng(8);
  std::uniform_real_distribution<float> d(-20, 20);
  for (int i = 0; i < 20000; ++i) {
    const float x = d(rng);
    EXPECT_FLOAT_EQ(approxF32(Approx::Ex2, x), std::exp2(x));
    EXPECT_FLOAT_EQ(approxF32(Approx::Tanh, x), std::tanh(x));
    EXPECT_FLOAT_EQ(approxF32(Approx::Rcp, x), 1.0f / x);
    EXPECT_FLOAT_EQ(approxF32(Approx::Lg2, std::fabs(x)), std::log2(std::fabs(x)));
  }
  EXPECT_EQ(approxF32(Approx::Ex2, -INFINITY), 0.0f);
  EXPECT_EQ(approxF32(Approx::Ex2, INFINITY), INFINITY);
  EXPECT_EQ(approxF32(Approx::Lg2, 0.0f), -INFINITY);
  EXPECT_EQ(asBits(approxF32(Approx::Lg2, -1.0f)), canonicalNaN32);
  EXPECT_EQ(approxF32(Approx::Rcp, -0.0f), -INFINITY);
  EXPECT_EQ(approxF32(Approx::Rsqrt, -0.0f), -INFINITY);
  EXPECT_EQ(approxF32(Approx::Rsqrt, 4.0f), 0.5f);
  EXPECT_EQ(asBits(approxF32(Approx::Sin, INFINITY)), canonicalNaN32);
  EXPECT_EQ(approxF32(Approx::Rcp, 0x1p-140f, true), INFINITY); // flushed operand
  EXPECT_EQ(approx16(Elem::F16, Approx::Ex2, 0x4000), 0x4400);  // 2^2
  EXPECT_EQ(approx16x2(Elem::BF16, Approx::Tanh, 0x7f800000), 0x3f800000u);
}

} // namespace
