//===- NumericTest.cpp - formats and conversions --------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace heddle::emulator::tensor;
using namespace heddle::emulator::tensor::test;

namespace {

const Elem narrowFormats[] = {Elem::E4M3, Elem::E5M2, Elem::E2M1, Elem::E3M2, Elem::E2M3};
const Elem roundedFormats[] = {Elem::F16,  Elem::BF16, Elem::E4M3, Elem::E5M2,
                               Elem::E2M1, Elem::E3M2, Elem::E2M3};

bool same(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

TEST(Decode, EveryPatternOfEveryNarrowFormat) {
  for (Elem e : narrowFormats)
    for (uint32_t b = 0; b < 1u << elemBits(e); ++b) {
      EXPECT_TRUE(same(decode(e, b), definedValue(e, b))) << elemName(e) << " " << b;
      EXPECT_TRUE(same(decodeTable(e)[b], definedValue(e, b))) << elemName(e) << " " << b;
    }
}

TEST(Decode, EveryPatternOf16BitFormats) {
  for (Elem e : {Elem::F16, Elem::BF16})
    for (uint32_t b = 0; b < 1u << 16; ++b)
      ASSERT_TRUE(same(decode(e, b), definedValue(e, b))) << elemName(e) << " " << b;
}

TEST(Decode, PowersOfTwoOfUE8M0AndUnsignedE4M3) {
  for (uint32_t b = 0; b < 255; ++b)
    EXPECT_EQ(decode(Elem::UE8M0, b), std::pow(2.0, double(b) - 127));
  EXPECT_TRUE(std::isnan(decode(Elem::UE8M0, 255)));
  for (uint32_t b = 0; b < 127; ++b)
    EXPECT_EQ(decode(Elem::UE4M3, b | 0x80), definedValue(Elem::E4M3, b));
}

TEST(Decode, TensorCoresIgnoreTheLowBitsOfTF32) {
  EXPECT_EQ(decode(Elem::TF32, 0x3f801fff), 1.0f);
  EXPECT_EQ(decode(Elem::TF32, 0x3f802000), 1.0f + 0x1p-10f);
}

/// All finite values of a format with even/odd patterns, ascending.
struct Value {
  double value;
  uint32_t bits;
};
std::vector<Value> valuesOf(Elem e) {
  std::vector<Value> all;
  const uint32_t sign = 1u << (elemBits(e) - 1);
  for (uint32_t b = 0; b < 1u << elemBits(e); ++b)
    if (std::isfinite(definedValue(e, b)) && b != sign) // one zero
      all.push_back({definedValue(e, b), b});
  std::sort(all.begin(), all.end(), [](auto &x, auto &y) { return x.value < y.value; });
  return all;
}

/// Rounds by search in the list of values; saturating.
double roundBySearch(const std::vector<Value> &all, double x, Round round) {
  if (x >= all.back().value)
    return all.back().value;
  if (x <= all.front().value)
    return all.front().value;
  auto up = std::lower_bound(all.begin(), all.end(), x,
                             [](const Value &v, double y) { return v.value < y; });
  if (up->value == x)
    return x;
  auto down = up - 1;
  switch (round) {
  case Round::Zero:
    return x > 0 ? down->value : up->value;
  case Round::Down:
    return down->value;
  case Round::Up:
    return up->value;
  default: {
    const double toUp = up->value - x, toDown = x - down->value;
    if (toUp != toDown)
      return toUp < toDown ? up->value : down->value;
    if (round == Round::NearestAway)
      return x > 0 ? up->value : down->value;
    return up->bits % 2 == 0 ? up->value : down->value;
  }
  }
}

TEST(Encode, EveryF16ValueToEveryNarrowFormatInEveryMode) {
  for (Elem e : narrowFormats) {
    const auto all = valuesOf(e);
    for (Round round :
         {Round::NearestEven, Round::Zero, Round::Down, Round::Up, Round::NearestAway})
      for (uint32_t b = 0; b < 1u << 16; ++b) {
        const double x = definedValue(Elem::F16, b);
        if (!std::isfinite(x))
          continue;
        const double got = definedValue(e, encode(e, x, {round, true, false}));
        ASSERT_EQ(got, roundBySearch(all, x, round))
            << elemName(e) << " of " << x << " mode " << int(round);
      }
  }
}

TEST(Encode, NeighboursAndMidpointsOf16BitFormats) {
  for (Elem e : {Elem::F16, Elem::BF16}) {
    const auto all = valuesOf(e);
    for (size_t i = 0; i + 1 < all.size(); i += e == Elem::F16 ? 1 : 3) {
      const double middle = (all[i].value + all[i + 1].value) / 2;
      for (double x : {all[i].value, middle, std::nextafter(middle, 1e300),
                       std::nextafter(middle, -1e300), std::nextafter(all[i].value, 1e300)})
        for (Round round : {Round::NearestEven, Round::Zero, Round::NearestAway, Round::Up}) {
          const double got = definedValue(e, encode(e, x, {round, true, false}));
          ASSERT_EQ(got, roundBySearch(all, x, round)) << elemName(e) << " of " << x;
        }
    }
  }
}

TEST(Encode, RoundTripsEveryPattern) {
  for (Elem e : roundedFormats)
    for (uint32_t b = 0; b < 1u << elemBits(e); ++b)
      if (std::isfinite(definedValue(e, b)))
        ASSERT_EQ(encode(e, definedValue(e, b)), b) << elemName(e);
}

TEST(Encode, F32MatchesTheHost) {
  std::mt19937_64 rng(1);
  for (int i = 0; i < 200000; ++i) {
    const double x = std::bit_cast<double>(rng());
    if (std::isnan(x))
      continue;
    int exponent;
    // Most doubles are far outside of f32: bring half of them near it.
    const double y = i % 2 ? x : std::ldexp(std::frexp(x, &exponent), int(rng() % 300) - 160);
    ASSERT_EQ(encode(Elem::F32, y), asBits(static_cast<float>(y))) << y;
  }
}

TEST(Encode, FastF16PathsAgree) {
  for (uint32_t b = 0; b < 1u << 16; ++b) {
    const double x = definedValue(Elem::F16, b);
    ASSERT_EQ(exactF16(static_cast<float>(x)), std::isnan(x) ? 0x7fffu : b);
  }
  std::mt19937_64 rng(9);
  for (int i = 0; i < 300000; ++i) {
    const double x = std::ldexp(static_cast<double>(rng()) - 0x1p63, int(rng() % 50) - 95);
    const double y = i % 3 ? x : std::ldexp(double(int(rng() % 8192) - 4096), int(rng() % 20) - 26);
    ASSERT_EQ(asBits(roundToF16(y)), asBits(decodeF16(encode(Elem::F16, y)))) << y;
  }
  EXPECT_EQ(roundToF16(65519.999), 65504.0f);
  EXPECT_EQ(roundToF16(-65520.0), -INFINITY);
  EXPECT_TRUE(std::signbit(roundToF16(-0.0)));
  EXPECT_EQ(asBits(roundToF16(std::nan(""))), canonicalNaN32);
}

TEST(Encode, TailDecidesTiesAndDirectedRounding) {
  const double tie = 1.0 + 0x1p-24; // between 1 and its successor
  EXPECT_EQ(encodeWithTail(Elem::F32, tie, 0), asBits(1.0f));
  EXPECT_EQ(encodeWithTail(Elem::F32, tie, 1), asBits(1.0f + 0x1p-23f));
  EXPECT_EQ(encodeWithTail(Elem::F32, tie, -1), asBits(1.0f));
  EXPECT_EQ(encodeWithTail(Elem::F32, 1.0, -1, {Round::Zero}), asBits(1.0f - 0x1p-24f));
  EXPECT_EQ(encodeWithTail(Elem::F32, 1.0, 1, {Round::Up}), asBits(1.0f + 0x1p-23f));
  EXPECT_EQ(encodeWithTail(Elem::F32, -1.0, 1, {Round::Zero}), asBits(-1.0f + 0x1p-24f));
}

TEST(Encode, OverflowAndSpecialValues) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const EncodeOptions plain{}, sat{Round::NearestEven, true, false},
      zero{Round::Zero, false, false}, relu{Round::NearestEven, false, true};
  EXPECT_EQ(encode(Elem::F16, 65520.0, plain), 0x7c00u); // rounds to 65536
  EXPECT_EQ(encode(Elem::F16, 65519.9, plain), 0x7bffu);
  EXPECT_EQ(encode(Elem::F16, 1e9, zero), 0x7bffu);
  EXPECT_EQ(encode(Elem::F16, inf, zero), 0x7c00u);
  EXPECT_EQ(encode(Elem::F16, inf, sat), 0x7bffu);
  EXPECT_EQ(encode(Elem::BF16, -inf, sat), 0xff7fu);
  EXPECT_EQ(encode(Elem::F16, nan, sat), 0x7fffu);
  EXPECT_EQ(encode(Elem::BF16, nan, relu), 0x7fffu);
  EXPECT_EQ(encode(Elem::BF16, -3.0, relu), 0u);
  EXPECT_EQ(encode(Elem::BF16, -0.0, relu), 0u);
  EXPECT_EQ(encode(Elem::E4M3, 1000.0, sat), 0x7eu);
  EXPECT_EQ(encode(Elem::E4M3, -inf, sat), 0xfeu);
  EXPECT_EQ(encode(Elem::E4M3, nan, sat), 0x7fu);
  EXPECT_EQ(encode(Elem::E5M2, 1e6, sat), 0x7bu);
  EXPECT_EQ(encode(Elem::E5M2, nan, sat), 0x7fu);
  EXPECT_EQ(encode(Elem::E2M1, nan, sat), 0x7u); // +max
  EXPECT_EQ(encode(Elem::E2M1, -100, sat), 0xfu);
  EXPECT_EQ(encode(Elem::E3M2, nan, sat), 0x1fu);
  EXPECT_EQ(encode(Elem::E2M3, 100, sat), 0x1fu);
  EXPECT_EQ(encode(Elem::TF32, nan, plain), canonicalNaN32);
  EXPECT_EQ(encode(Elem::TF32, inf, plain), 0x7f800000u);
}

TEST(Encode, UE8M0RoundsToPowersOfTwo) {
  const EncodeOptions up{Round::Up, true, false}, zero{Round::Zero, true, false};
  for (int e = -126; e < 127; ++e) {
    const double p = std::ldexp(1.0, e);
    EXPECT_EQ(encode(Elem::UE8M0, p, up), uint32_t(e + 127));
    EXPECT_EQ(encode(Elem::UE8M0, p * 1.25, up), uint32_t(e + 128));
    EXPECT_EQ(encode(Elem::UE8M0, p * 1.25, zero), uint32_t(e + 127));
    EXPECT_EQ(encode(Elem::UE8M0, -p * 1.75, zero), uint32_t(e + 127));
  }
  EXPECT_EQ(encode(Elem::UE8M0, 0.0, up), 0u);
  EXPECT_EQ(encode(Elem::UE8M0, std::nan(""), up), 0xffu);
  EXPECT_EQ(encode(Elem::UE8M0, HUGE_VAL, up), 0xfeu);
}

TEST(Cvt, PacksAIntoTheUpperHalf) {
  const EncodeOptions rn{}, sat{Round::NearestEven, true, false};
  EXPECT_EQ(cvtPack2(Elem::BF16, 1.0f, 2.0f, rn), 0x3f804000u);
  EXPECT_EQ(cvtPack2(Elem::F16, 1.0f, 2.0f, rn), 0x3c004000u);
  EXPECT_EQ(cvtPack2(Elem::E4M3, 1.0f, 2.0f, sat), 0x3840u);
  EXPECT_EQ(cvtPack2(Elem::E5M2, 1.0f, 2.0f, sat), 0x3c40u);
  EXPECT_EQ(cvtPack2(Elem::E2M1, 1.0f, 2.0f, sat), 0x24u);
  EXPECT_EQ(cvtPack2(Elem::E2M3, 1.0f, 2.0f, sat), 0x0810u);
  EXPECT_EQ(cvtPack2(Elem::E3M2, 1.0f, 2.0f, sat), 0x0c10u);
  EXPECT_EQ(cvtPack2(Elem::UE8M0, 1.0f, 2.0f, {Round::Up, true, false}), 0x7f80u);
}

TEST(Cvt, UnpacksEveryPairOfNarrowValues) {
  for (Elem e : narrowFormats) {
    const unsigned width = e == Elem::E2M1 ? 4 : 8;
    for (uint32_t b = 0; b < 1u << elemBits(e); ++b) {
      const uint32_t half = cvtPacked(Elem::F16, e, b << width | 1, {});
      EXPECT_TRUE(same(definedValue(Elem::F16, half >> 16), definedValue(e, b)));
      EXPECT_EQ(definedValue(Elem::F16, half & 0xffff), definedValue(e, 1));
    }
  }
  EXPECT_EQ(cvtPacked(Elem::BF16, Elem::UE8M0, 0x7f80, {}), 0x3f804000u);
  EXPECT_EQ(cvtPacked(Elem::E4M3, Elem::F16, 0x3c004000u, {Round::NearestEven, true, false}),
            0x3840u);
}

TEST(Cvt, TF32RoundsHalfAwayWithRna) {
  const float tie = 1.0f + 0x1p-11f; // half of the last place of tf32
  EXPECT_EQ(cvtTF32(tie, {Round::NearestAway}), asBits(1.0f + 0x1p-10f));
  EXPECT_EQ(cvtTF32(tie, {Round::NearestEven}), asBits(1.0f));
  EXPECT_EQ(cvtTF32(-tie, {Round::NearestAway}), asBits(-1.0f - 0x1p-10f));
  EXPECT_EQ(cvtTF32(std::nextafter(tie, 2.0f), {Round::Zero}), asBits(1.0f));
}

TEST(Cvt, FloatToIntegerSaturates) {
  EXPECT_EQ(cvtFloatToInt(3e9, 32, true, Round::Zero), 0x7fffffffu);
  EXPECT_EQ(static_cast<int32_t>(cvtFloatToInt(-3e9, 32, true, Round::Zero)), INT32_MIN);
  EXPECT_EQ(cvtFloatToInt(-1, 32, false, Round::Zero), 0u);
  EXPECT_EQ(cvtFloatToInt(5e9, 32, false, Round::Zero), 0xffffffffu);
  EXPECT_EQ(cvtFloatToInt(std::nan(""), 32, true, Round::Zero), 0u);
  EXPECT_EQ(cvtFloatToInt(std::nan(""), 64, true, Round::Zero), 0x8000000000000000u);
  EXPECT_EQ(cvtFloatToInt(2.5, 32, true, Round::NearestEven), 2u);
  EXPECT_EQ(cvtFloatToInt(3.5, 32, true, Round::NearestEven), 4u);
  EXPECT_EQ(static_cast<int64_t>(cvtFloatToInt(-2.5, 64, true, Round::Down)), -3);
  EXPECT_EQ(cvtFloatToInt(2.1, 8, false, Round::Up), 3u);
  EXPECT_EQ(static_cast<int64_t>(cvtFloatToInt(-200, 8, true, Round::Zero)), -128);
  EXPECT_EQ(cvtFloatToInt(1e30, 64, false, Round::Zero), ~uint64_t(0));
}

TEST(Cvt, IntegerToFloatRoundsOnce) {
  std::mt19937_64 rng(2);
  for (int i = 0; i < 100000; ++i) {
    const uint64_t u = rng() >> rng() % 64;
    ASSERT_EQ(cvtIntToF32(u, false, Round::NearestEven), static_cast<float>(u)) << u;
    ASSERT_EQ(cvtIntToF32(u, true, Round::NearestEven), static_cast<float>(int64_t(u)));
    ASSERT_EQ(cvtIntToF64(u, false, Round::NearestEven), static_cast<double>(u));
    ASSERT_EQ(cvtIntToF64(u, true, Round::NearestEven), static_cast<double>(int64_t(u)));
    const auto down =
        static_cast<__int128>(static_cast<long double>(cvtIntToF32(u, false, Round::Zero)));
    const auto up =
        static_cast<__int128>(static_cast<long double>(cvtIntToF32(u, false, Round::Up)));
    ASSERT_LE(down, static_cast<__int128>(u));
    ASSERT_GE(up, static_cast<__int128>(u));
    ASSERT_TRUE(down == up || std::nextafter(cvtIntToF32(u, false, Round::Zero), HUGE_VALF) ==
                                  cvtIntToF32(u, false, Round::Up));
  }
}

} // namespace
