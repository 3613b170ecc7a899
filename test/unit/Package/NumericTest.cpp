//===- NumericTest.cpp - conversions of element types ---------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every value of each small format, and around every midpoint between two neighbours:
// since conversion is monotonic, that is every input there is.
//
//===----------------------------------------------------------------------===//
#include "heddle/Package/Numeric.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace heddle::pkg;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();

struct Format {
  const char *name;
  uint32_t (*to)(double);
  double (*from)(uint32_t);
  int bits;
  uint32_t maxFinite, overflow, nan;
  double largest, smallest;
};

const Format formats[] = {
    {"f16", [](double v) -> uint32_t { return toF16(v); },
     [](uint32_t b) { return fromF16(static_cast<uint16_t>(b)); }, 16, 0x7bff, 0x7c00, 0x7fff,
     65504.0, 0x1p-24},
    {"bf16", [](double v) -> uint32_t { return toBF16(v); },
     [](uint32_t b) { return fromBF16(static_cast<uint16_t>(b)); }, 16, 0x7f7f, 0x7f80, 0x7fff,
     0x1.fep127, 0x1p-133},
    {"e4m3", [](double v) -> uint32_t { return toF8E4M3(v); },
     [](uint32_t b) { return fromF8E4M3(static_cast<uint8_t>(b)); }, 8, 0x7e, 0x7e, 0x7f, 448.0,
     0x1p-9},
    {"e5m2", [](double v) -> uint32_t { return toF8E5M2(v); },
     [](uint32_t b) { return fromF8E5M2(static_cast<uint8_t>(b)); }, 8, 0x7b, 0x7b, 0x7f, 57344.0,
     0x1p-16},
};

TEST(NumericTest, HasTheFormatsLimits) {
  for (const Format &f : formats) {
    EXPECT_EQ(f.from(f.maxFinite), f.largest) << f.name;
    EXPECT_EQ(f.from(1), f.smallest) << f.name;
    EXPECT_EQ(f.from(0), 0.0) << f.name;
    EXPECT_TRUE(std::isnan(f.from(f.nan))) << f.name;
  }
  EXPECT_EQ(fromF16(0x7c00), infinity);
  EXPECT_EQ(fromF16(0xfc00), -infinity);
  EXPECT_EQ(fromBF16(0x7f80), infinity);
  EXPECT_EQ(fromF8E5M2(0x7c), infinity);
  EXPECT_EQ(fromF8E5M2(0xfc), -infinity);
  EXPECT_TRUE(std::isnan(fromF8E4M3(0xff)));
  EXPECT_EQ(fromF16(0x3c00), 1.0);
  EXPECT_EQ(fromBF16(0x3f80), 1.0);
  EXPECT_EQ(fromF8E4M3(0x38), 1.0);
  EXPECT_EQ(fromF8E5M2(0x3c), 1.0);
}

TEST(NumericTest, EveryValueConvertsToItself) {
  for (const Format &f : formats) {
    const uint32_t sign = 1u << (f.bits - 1);
    for (uint32_t bits = 0; bits <= f.maxFinite; ++bits) {
      ASSERT_EQ(f.to(f.from(bits)), bits) << f.name;
      ASSERT_EQ(f.to(f.from(bits | sign)), bits | sign) << f.name;
      ASSERT_EQ(f.from(bits | sign), -f.from(bits)) << f.name;
    }
  }
}

TEST(NumericTest, RoundsToNearestEvenBetweenAllNeighbours) {
  for (const Format &f : formats) {
    const uint32_t sign = 1u << (f.bits - 1);
    for (uint32_t bits = 0; bits < f.maxFinite; ++bits) {
      const double low = f.from(bits), high = f.from(bits + 1);
      ASSERT_LT(low, high) << f.name << " " << bits;
      const double middle = (low + high) / 2; // exact in double
      const uint32_t even = bits & 1 ? bits + 1 : bits;
      ASSERT_EQ(f.to(middle), even) << f.name << " " << bits;
      ASSERT_EQ(f.to(-middle), even | sign) << f.name << " " << bits;
      ASSERT_EQ(f.to(std::nextafter(middle, 0.0)), bits) << f.name << " " << bits;
      ASSERT_EQ(f.to(std::nextafter(middle, infinity)), bits + 1) << f.name << " " << bits;
      ASSERT_EQ(f.to(std::nextafter(low, infinity)), bits) << f.name << " " << bits;
      ASSERT_EQ(f.to(std::nextafter(high, 0.0)), bits + 1) << f.name << " " << bits;
    }
  }
}

TEST(NumericTest, OverflowsToInfinityOrSaturates) {
  for (const Format &f : formats) {
    const uint32_t sign = 1u << (f.bits - 1);
    const double last = f.largest - f.from(f.maxFinite - 1); // the last step
    EXPECT_EQ(f.to(std::nextafter(f.largest + last / 2, 0.0)), f.maxFinite) << f.name;
    for (double v : {f.largest + last / 2, f.largest * 2, 1e300, infinity}) {
      EXPECT_EQ(f.to(v), f.overflow) << f.name << " " << v;
      EXPECT_EQ(f.to(-v), f.overflow | sign) << f.name << " " << v;
    }
  }
}

TEST(NumericTest, KeepsNaNAndTheSignOfZero) {
  for (const Format &f : formats) {
    EXPECT_EQ(f.to(nan), f.nan) << f.name;
    EXPECT_EQ(f.to(-0.0), 1u << (f.bits - 1)) << f.name;
    EXPECT_EQ(f.to(0x1p-1074), 0u) << f.name;
    EXPECT_EQ(f.to(-0x1p-1000), 1u << (f.bits - 1)) << f.name;
    EXPECT_EQ(f.to(f.smallest / 2), 0u) << f.name;
    EXPECT_EQ(f.to(f.smallest * 0.75), 1u) << f.name;
  }
}

TEST(NumericTest, RoundsFromDoubleOnce) {
  // Through float these would first become ties.
  EXPECT_EQ(toF16(1.0 + 0x1p-11 + 0x1p-40), 0x3c01);
  EXPECT_EQ(toBF16(1.0 + 0x1p-8 + 0x1p-40), 0x3f81);
}

#ifdef __FLT16_MANT_DIG__
TEST(NumericTest, AgreesWithTheCompilersHalf) {
  std::mt19937 random(7);
  for (int i = 0; i < 2000000; ++i) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (std::isnan(value))
      continue;
    const auto half = static_cast<_Float16>(value);
    uint16_t bits;
    std::memcpy(&bits, &half, sizeof bits);
    ASSERT_EQ(toF16(value), bits) << value;
  }
}
#endif

TEST(NumericTest, RoundsToWideTypes) {
  EXPECT_EQ(roundTo(DType::f64, 0.1), 0.1);
  EXPECT_EQ(roundTo(DType::f32, 0.1), static_cast<double>(0.1f));
  EXPECT_EQ(roundTo(DType::f32, 1e39), infinity);
  EXPECT_EQ(roundTo(DType::i8, 2.5), 2.0);
  EXPECT_EQ(roundTo(DType::i8, 3.5), 4.0);
  EXPECT_EQ(roundTo(DType::i8, -1000), -128.0);
  EXPECT_EQ(roundTo(DType::i8, 127.5), 127.0);
  EXPECT_EQ(roundTo(DType::i32, 3e9), 2147483647.0);
  EXPECT_EQ(roundTo(DType::i32, nan), 0.0);
  EXPECT_EQ(roundTo(DType::i64, -1e30), -0x1p63);
  EXPECT_EQ(roundTo(DType::f8e4m3, 1000), 448.0);
}

TEST(NumericTest, StoresLoadsAndStrides) {
  const DType types[] = {DType::f32, DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2,
                         DType::i8,  DType::i32, DType::i64,  DType::f64};
  const size_t bytes[] = {4, 2, 2, 1, 1, 1, 4, 8, 8};
  for (size_t t = 0; t < std::size(types); ++t) {
    std::vector<unsigned char> memory(1 + bytes[t] * 20); // misaligned on purpose
    unsigned char *base = memory.data() + 1;
    for (size_t i = 0; i < 20; ++i)
      storeElement(types[t], base + i * bytes[t], static_cast<double>(i % 8) - 3);
    for (size_t i = 0; i < 20; ++i)
      EXPECT_EQ(loadElement(types[t], base + i * bytes[t]), static_cast<double>(i % 8) - 3);
    double out[6];
    loadElements(types[t], base, 2, 1, 6, out);
    EXPECT_EQ(out[0], -1);
    EXPECT_EQ(out[5], 4);
    loadElements(types[t], base, 1, 3, 6, out);
    EXPECT_EQ(out[1], 1);
    EXPECT_EQ(out[5], -3);
    loadElements(types[t], base, 9, -2, 3, out);
    EXPECT_EQ(out[0], -2);
    EXPECT_EQ(out[2], 2);
  }
}

} // namespace
