//===- Numeric.cpp - exact conversions of element types -------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "heddle/Package/Numeric.h"

#include "heddle/Package/Reader.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

using namespace heddle;
using namespace heddle::pkg;

namespace {

/// A binary floating-point format with a sign bit in front.
struct Format {
  int exponentBits, mantissaBits;
  uint32_t maxFinite; ///< bits of the largest finite number
  uint32_t overflow;  ///< bits that anything larger becomes
  uint32_t infinity;  ///< its bits; 0: there is none
  uint32_t nan;
};

constexpr Format f16Format{5, 10, 0x7bff, 0x7c00, 0x7c00, 0x7fff};
constexpr Format bf16Format{8, 7, 0x7f7f, 0x7f80, 0x7f80, 0x7fff};
constexpr Format e4m3Format{4, 3, 0x7e, 0x7e, 0, 0x7f};
constexpr Format e5m2Format{5, 2, 0x7b, 0x7b, 0x7c, 0x7f};

constexpr int doubleMantissa = 52, doubleBias = 1023;

template <Format F> uint32_t encode(double value) {
  constexpr int bias = (1 << (F.exponentBits - 1)) - 1;
  constexpr uint32_t signBit = 1u << (F.exponentBits + F.mantissaBits);
  const auto bits = std::bit_cast<uint64_t>(value);
  const uint32_t sign = (bits >> 63) ? signBit : 0;
  const int field = static_cast<int>(bits >> doubleMantissa & 0x7ff);
  const uint64_t fraction = bits & ((uint64_t{1} << doubleMantissa) - 1);
  if (field == 0x7ff && fraction != 0)
    return F.nan;
  if (field == 0) // zero, or far below half of any format's smallest number
    return sign;
  const int exponent = field - doubleBias;
  if (exponent > bias + 1) // infinity too
    return sign | F.overflow;
  // Drop the bits below the format's unit in the last place at this magnitude.
  const int below = std::max(0, 1 - bias - exponent);
  const int drop = doubleMantissa - F.mantissaBits + below;
  if (drop > doubleMantissa + 1)
    return sign;
  const uint64_t significand = fraction | uint64_t{1} << doubleMantissa;
  const uint64_t rest = significand & ((uint64_t{1} << drop) - 1);
  const uint64_t half = uint64_t{1} << (drop - 1);
  uint64_t rounded = significand >> drop;
  if (rest > half || (rest == half && (rounded & 1)))
    ++rounded;
  // A normal number's leading one adds 1 to the exponent field, and so does a carry.
  const uint64_t base =
      below > 0 ? 0 : static_cast<uint64_t>(exponent + bias - 1) << F.mantissaBits;
  const uint64_t magnitude = base + rounded;
  return sign | (magnitude > F.maxFinite ? F.overflow : static_cast<uint32_t>(magnitude));
}

template <Format F> double decode(uint32_t bits) {
  constexpr int bias = (1 << (F.exponentBits - 1)) - 1;
  constexpr uint32_t signBit = 1u << (F.exponentBits + F.mantissaBits);
  const uint32_t magnitude = bits & (signBit - 1);
  const double sign = bits & signBit ? -1.0 : 1.0;
  if (magnitude > F.maxFinite)
    return F.infinity != 0 && magnitude == F.infinity
               ? sign * std::numeric_limits<double>::infinity()
               : std::numeric_limits<double>::quiet_NaN();
  const auto field = static_cast<int>(magnitude >> F.mantissaBits);
  const uint32_t fraction = magnitude & ((1u << F.mantissaBits) - 1);
  const uint32_t significand = field == 0 ? fraction : fraction | 1u << F.mantissaBits;
  return sign *
         std::ldexp(static_cast<double>(significand), std::max(field, 1) - bias - F.mantissaBits);
}

template <Format F, size_t Size> std::array<double, Size> makeTable() {
  std::array<double, Size> table{};
  for (size_t i = 0; i < Size; ++i)
    table[i] = decode<F>(static_cast<uint32_t>(i));
  return table;
}

template <typename T> T saturate(double value) {
  if (std::isnan(value))
    return 0;
  const double rounded = std::nearbyint(value);
  // 2^(bits - 1) is exact; the largest value itself may not be.
  const double bound = std::ldexp(1.0, std::numeric_limits<T>::digits);
  if (rounded >= bound)
    return std::numeric_limits<T>::max();
  if (rounded < -bound)
    return std::numeric_limits<T>::min();
  return static_cast<T>(rounded);
}

/// Each element type's bits and its conversions.
struct F32 {
  using Bits = float;
  static double from(float v) { return v; }
  static float to(double v) { return static_cast<float>(v); }
};
struct F64 {
  using Bits = double;
  static double from(double v) { return v; }
  static double to(double v) { return v; }
};
struct F16 {
  using Bits = uint16_t;
  static double from(uint16_t v) { return fromF16(v); }
  static uint16_t to(double v) { return toF16(v); }
};
struct BF16 {
  using Bits = uint16_t;
  static double from(uint16_t v) { return std::bit_cast<float>(uint32_t{v} << 16); }
  static uint16_t to(double v) { return toBF16(v); }
};
struct E4M3 {
  using Bits = uint8_t;
  static double from(uint8_t v) { return fromF8E4M3(v); }
  static uint8_t to(double v) { return toF8E4M3(v); }
};
struct E5M2 {
  using Bits = uint8_t;
  static double from(uint8_t v) { return fromF8E5M2(v); }
  static uint8_t to(double v) { return toF8E5M2(v); }
};
template <typename T> struct Integer {
  using Bits = T;
  static double from(T v) { return static_cast<double>(v); }
  static T to(double v) { return saturate<T>(v); }
};

/// Calls `body` with the type's conversions.
template <typename Body> auto dispatch(DType type, Body body) {
  switch (type) {
  case DType::f32:
    return body(F32{});
  case DType::f16:
    return body(F16{});
  case DType::bf16:
    return body(BF16{});
  case DType::f8e4m3:
    return body(E4M3{});
  case DType::f8e5m2:
    return body(E5M2{});
  case DType::i8:
    return body(Integer<int8_t>{});
  case DType::i32:
    return body(Integer<int32_t>{});
  case DType::i64:
    return body(Integer<int64_t>{});
  case DType::f64:
    break;
  }
  return body(F64{});
}

template <typename Bits> Bits readBits(const unsigned char *address) {
  Bits bits;
  std::memcpy(&bits, address, sizeof bits);
  return bits;
}

} // namespace

uint16_t pkg::toF16(double value) { return static_cast<uint16_t>(encode<f16Format>(value)); }
uint16_t pkg::toBF16(double value) { return static_cast<uint16_t>(encode<bf16Format>(value)); }
uint8_t pkg::toF8E4M3(double value) { return static_cast<uint8_t>(encode<e4m3Format>(value)); }
uint8_t pkg::toF8E5M2(double value) { return static_cast<uint8_t>(encode<e5m2Format>(value)); }

double pkg::fromF16(uint16_t bits) {
  static const auto table = makeTable<f16Format, 65536>();
  return table[bits];
}
double pkg::fromBF16(uint16_t bits) { return BF16::from(bits); }
double pkg::fromF8E4M3(uint8_t bits) {
  static const auto table = makeTable<e4m3Format, 256>();
  return table[bits];
}
double pkg::fromF8E5M2(uint8_t bits) {
  static const auto table = makeTable<e5m2Format, 256>();
  return table[bits];
}

double pkg::roundTo(DType type, double value) {
  return dispatch(type, [&](auto c) { return c.from(c.to(value)); });
}

double pkg::loadElement(DType type, const void *address) {
  return dispatch(type, [&](auto c) {
    using Bits = typename decltype(c)::Bits;
    return c.from(readBits<Bits>(static_cast<const unsigned char *>(address)));
  });
}

void pkg::storeElement(DType type, void *address, double value) {
  dispatch(type, [&](auto c) {
    const typename decltype(c)::Bits bits = c.to(value);
    std::memcpy(address, &bits, sizeof bits);
  });
}

void pkg::loadElements(DType type, const void *base, int64_t offset, int64_t stride, int64_t count,
                       double *out) {
  dispatch(type, [&](auto c) {
    using Bits = typename decltype(c)::Bits;
    const auto *from =
        static_cast<const unsigned char *>(base) + offset * static_cast<int64_t>(sizeof(Bits));
    const int64_t step = stride * static_cast<int64_t>(sizeof(Bits));
    if (stride == 1) // known at compile time here: the loop vectorises
      for (int64_t i = 0; i < count; ++i)
        out[i] = c.from(readBits<Bits>(from + i * static_cast<int64_t>(sizeof(Bits))));
    else
      for (int64_t i = 0; i < count; ++i)
        out[i] = c.from(readBits<Bits>(from + i * step));
  });
}
