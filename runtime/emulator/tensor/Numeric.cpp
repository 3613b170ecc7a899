//===- Numeric.cpp - formats and conversions ------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Numeric.h"

#include <array>
#include <cmath>
#include <limits>

namespace heddle::emulator::tensor {

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

namespace {

/// How a format stores a number. Biases and limits: PTX ISA 9.0, "Alternate
/// Floating-Point Data Formats"; OCP Microscaling Formats 1.0.
struct Format {
  int exponentBits, mantissaBits, bias;
  uint32_t maxFinite; ///< bits of the largest finite value
  uint32_t infinity;  ///< 0: the format has none
  uint32_t nan;       ///< 0: the format has none
  int shift;          ///< position of the lowest stored bit (tf32 lies in the upper 19)
};

constexpr Format formatOf(Elem e) {
  switch (e) {
  case Elem::F16:
    return {5, 10, 15, 0x7bff, 0x7c00, 0x7fff, 0};
  case Elem::BF16:
    return {8, 7, 127, 0x7f7f, 0x7f80, 0x7fff, 0};
  case Elem::TF32:
    return {8, 10, 127, 0x3fbff, 0x3fc00, 0x3ffff, 13};
  case Elem::E4M3:
  case Elem::UE4M3:
    return {4, 3, 7, 0x7e, 0, 0x7f, 0};
  case Elem::E5M2:
    return {5, 2, 15, 0x7b, 0x7c, 0x7f, 0};
  case Elem::E2M1:
    return {2, 1, 1, 0x7, 0, 0, 0};
  case Elem::E3M2:
    return {3, 2, 3, 0x1f, 0, 0, 0};
  case Elem::E2M3:
    return {2, 3, 1, 0x1f, 0, 0, 0};
  default:
    return {8, 23, 127, 0x7f7fffff, 0x7f800000, 0x7fffffff, 0}; // F32
  }
}

/// Decodes bit by bit; the tables below are filled from it.
float decodeSmall(Elem e, uint32_t bits) {
  if (e == Elem::S8)
    return static_cast<float>(static_cast<int8_t>(bits));
  if (e == Elem::U8)
    return static_cast<float>(static_cast<uint8_t>(bits));
  if (e == Elem::UE8M0) {
    bits &= 0xff;
    return bits == 0xff ? asFloat(canonicalNaN32) : std::ldexp(1.0f, static_cast<int>(bits) - 127);
  }
  const Format f = formatOf(e);
  const int width = 1 + f.exponentBits + f.mantissaBits;
  const bool negative = e != Elem::UE4M3 && ((bits >> (width - 1)) & 1);
  const uint32_t magnitude = bits & ((1u << (width - 1)) - 1);
  const float sign = negative ? -1.0f : 1.0f;
  if (f.infinity && magnitude == f.infinity)
    return sign * std::numeric_limits<float>::infinity();
  if (f.nan && magnitude > (f.infinity ? f.infinity : f.maxFinite))
    return asFloat(canonicalNaN32);
  const int exponent = static_cast<int>(magnitude >> f.mantissaBits);
  const int mantissa = static_cast<int>(magnitude & ((1u << f.mantissaBits) - 1));
  const int significand = exponent ? mantissa + (1 << f.mantissaBits) : mantissa;
  return sign * std::ldexp(static_cast<float>(significand),
                           (exponent ? exponent : 1) - f.bias - f.mantissaBits);
}

struct Tables {
  std::array<std::array<float, 256>, 9> values{};
  Tables() {
    constexpr Elem elems[9] = {Elem::E4M3,  Elem::E5M2,  Elem::E2M1, Elem::E3M2, Elem::E2M3,
                               Elem::UE8M0, Elem::UE4M3, Elem::S8,   Elem::U8};
    for (unsigned t = 0; t < 9; ++t)
      for (uint32_t b = 0; b < 256; ++b)
        values[t][b] = decodeSmall(elems[t], b);
  }
};
const Tables &tables() {
  static const Tables instance;
  return instance;
}

constexpr int tableIndex(Elem e) {
  switch (e) {
  case Elem::E4M3:
    return 0;
  case Elem::E5M2:
    return 1;
  case Elem::E2M1:
    return 2;
  case Elem::E3M2:
    return 3;
  case Elem::E2M3:
    return 4;
  case Elem::UE8M0:
    return 5;
  case Elem::UE4M3:
    return 6;
  case Elem::S8:
    return 7;
  case Elem::U8:
    return 8;
  default:
    return -1;
  }
}

} // namespace

std::string_view elemName(Elem e) {
  constexpr std::string_view names[] = {"f16",  "bf16",  "tf32",  "e4m3", "e5m2", "e2m1", "e3m2",
                                        "e2m3", "ue8m0", "ue4m3", "s8",   "u8",   "f32",  "s32"};
  return names[static_cast<unsigned>(e)];
}

unsigned elemBits(Elem e) {
  constexpr unsigned char bits[] = {16, 16, 32, 8, 8, 4, 6, 6, 8, 8, 8, 8, 32, 32};
  return bits[static_cast<unsigned>(e)];
}

const float *decodeTable(Elem e) {
  const int index = tableIndex(e);
  return index < 0 ? nullptr : tables().values[static_cast<unsigned>(index)].data();
}

float decodeF16(uint16_t b) {
  const uint32_t sign = uint32_t(b & 0x8000) << 16;
  const uint32_t magnitude = b & 0x7fff;
  if (magnitude > 0x7c00)
    return asFloat(canonicalNaN32);
  if (magnitude == 0x7c00)
    return asFloat(sign | 0x7f800000);
  // Subnormals come out right: (magnitude << 13) is a subnormal float, and the product
  // with a power of two is exact.
  return asFloat(sign | asBits(asFloat(magnitude << 13) * 0x1p112f));
}

uint16_t exactF16(float value) {
  const uint32_t bits = asBits(value);
  const uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return canonicalNaN16;
  if (magnitude >= 0x38800000) // normal, or infinite
    return static_cast<uint16_t>(
        sign | (magnitude == 0x7f800000 ? 0x7c00 : (magnitude >> 13) - (112u << 10)));
  return static_cast<uint16_t>(sign | static_cast<uint32_t>(asFloat(magnitude) * 0x1p24f));
}

float decode(Elem e, uint32_t bits) {
  switch (e) {
  case Elem::F16:
    return decodeF16(static_cast<uint16_t>(bits));
  case Elem::BF16:
    return decodeBF16(static_cast<uint16_t>(bits));
  case Elem::TF32:
    return asFloat(bits & ~0x1fffu);
  case Elem::F32:
    return asFloat(bits);
  case Elem::S32:
    return static_cast<float>(static_cast<int32_t>(bits));
  default:
    return decodeTable(e)[bits & 0xff];
  }
}

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

namespace {

/// Whether magnitude `kept` + `rest` / 2^shift rounds away from zero.
bool roundsAway(Round round, bool negative, uint64_t kept, uint64_t rest, uint64_t half) {
  switch (round) {
  case Round::NearestEven:
    return rest > half || (rest == half && (kept & 1));
  case Round::NearestAway:
    return rest >= half;
  case Round::Zero:
    return false;
  case Round::Down:
    return negative && rest != 0;
  case Round::Up:
    return !negative && rest != 0;
  }
  return false;
}

uint32_t encodeUE8M0(double value, EncodeOptions options) {
  if (std::isnan(value))
    return 0xff;
  const double magnitude = std::fabs(value); // the format has no sign
  if (std::isinf(magnitude))
    return options.satfinite || options.round == Round::Zero ? 0xfe : 0xff;
  if (magnitude <= 0x1p-127)
    return 0;
  int exponent;
  const double fraction = std::frexp(magnitude, &exponent); // [0.5, 1)
  int result = exponent - 1 + 127;
  const bool exact = fraction == 0.5;
  if (!exact && options.round == Round::Up)
    ++result;
  else if (options.round == Round::NearestEven || options.round == Round::NearestAway)
    result += fraction >= 0.75 ? 1 : 0;
  if (result > 0xfe)
    return options.satfinite ? 0xfe : 0xff;
  return static_cast<uint32_t>(result);
}

} // namespace

uint32_t encodeWithTail(Elem e, double value, double tail, EncodeOptions options) {
  if (e == Elem::UE8M0)
    return encodeUE8M0(value, options);
  const Format f = formatOf(e);
  const uint32_t signBit = 1u << (f.exponentBits + f.mantissaBits);
  const auto done = [&](uint32_t bits) {
    return bits << f.shift | (f.shift && (bits & ~signBit) == f.nan ? 0x1fffu : 0u);
  };
  if (std::isnan(value))
    return f.nan ? done(f.nan) : f.maxFinite;
  const bool negative = e != Elem::UE4M3 && std::signbit(value);
  const uint32_t sign = negative ? signBit : 0;
  if (options.relu && negative)
    return 0;
  const auto overflow = [&](bool infinite) {
    const bool away =
        infinite || options.round == Round::NearestEven || options.round == Round::NearestAway ||
        (options.round == Round::Down && negative) || (options.round == Round::Up && !negative);
    if (options.satfinite || !f.nan || !away)
      return done(sign | f.maxFinite);
    return done(sign | (f.infinity ? f.infinity : f.nan));
  };
  if (std::isinf(value))
    return overflow(true);
  if (value == 0)
    return done(sign);

  const uint64_t raw = std::bit_cast<uint64_t>(value) & 0x7fffffffffffffffull;
  int exponent = static_cast<int>(raw >> 52) - 1023;
  uint64_t significand = raw & 0xfffffffffffffull;
  if (exponent == -1023) { // subnormal double
    const int lead = std::countl_zero(significand) - 11;
    significand <<= lead;
    exponent = -1022 - lead;
  } else {
    significand |= 1ull << 52;
  }
  const bool outward = tail != 0 && (tail < 0) == std::signbit(value);
  const bool inward = tail != 0 && !outward;
  // Just below a power of two the quotient by the quantum of the upper binade is one bit
  // short; the pattern computed below is still that of the neighbour.
  significand = (significand << 2) + (outward ? 1 : 0) - (inward ? 1 : 0);

  // significand * 2^(exponent - 54) = kept * 2^(quantum) + rest
  const int minExponent = 1 - f.bias;
  const int quantum = std::max(exponent, minExponent) - f.mantissaBits;
  const int shift = quantum - (exponent - 54);
  uint64_t kept = 0, rest = significand, half = ~0ull;
  if (shift < 60) {
    kept = significand >> shift;
    rest = significand & ((1ull << shift) - 1);
    half = 1ull << (shift - 1);
  }
  if (roundsAway(options.round, negative, kept, rest, half))
    ++kept;
  const uint64_t bits =
      exponent < minExponent
          ? kept
          : (static_cast<uint64_t>(exponent + f.bias - 1) << f.mantissaBits) + kept;
  if (exponent > 2000 || bits > f.maxFinite)
    return overflow(false);
  return done(sign | static_cast<uint32_t>(bits));
}

uint32_t encode(Elem e, double value, EncodeOptions options) {
  return encodeWithTail(e, value, 0, options);
}

//===----------------------------------------------------------------------===//
// cvt
//===----------------------------------------------------------------------===//

uint32_t cvtPack2(Elem to, float hi, float lo, EncodeOptions options) {
  const unsigned width = to == Elem::F16 || to == Elem::BF16 ? 16 : to == Elem::E2M1 ? 4 : 8;
  return encode(to, hi, options) << width | encode(to, lo, options);
}

uint32_t cvtPacked(Elem to, Elem from, uint32_t packed, EncodeOptions options) {
  const unsigned width = from == Elem::F16 || from == Elem::BF16 ? 16 : from == Elem::E2M1 ? 4 : 8;
  const uint32_t mask = (1u << width) - 1;
  return cvtPack2(to, decode(from, packed >> width & mask), decode(from, packed & mask), options);
}

uint32_t cvtTF32(float value, EncodeOptions options) { return encode(Elem::TF32, value, options); }

double roundToIntegral(double value, Round round) {
  switch (round) {
  case Round::NearestEven:
    return std::nearbyint(value); // the host's rounding mode is at its default
  case Round::NearestAway:
    return std::round(value);
  case Round::Zero:
    return std::trunc(value);
  case Round::Down:
    return std::floor(value);
  case Round::Up:
    return std::ceil(value);
  }
  return value;
}

uint64_t cvtFloatToInt(double value, unsigned bits, bool isSigned, Round round) {
  if (std::isnan(value))
    return bits == 64 ? 0x8000000000000000ull : 0;
  const double integral = roundToIntegral(value, round);
  const double limit = std::ldexp(1.0, static_cast<int>(isSigned ? bits - 1 : bits));
  if (isSigned) {
    if (integral >= limit)
      return (1ull << (bits - 1)) - 1;
    if (integral < -limit)
      return bits == 64 ? 1ull << 63 : (~0ull << (bits - 1));
    return static_cast<uint64_t>(static_cast<int64_t>(integral));
  }
  if (integral <= 0)
    return 0;
  if (integral >= limit)
    return bits == 64 ? ~0ull : (1ull << bits) - 1;
  return static_cast<uint64_t>(integral);
}

float cvtIntToF32(uint64_t value, bool isSigned, Round round) {
  const bool negative = isSigned && static_cast<int64_t>(value) < 0;
  const uint64_t magnitude = negative ? 0 - value : value;
  // The upper 53 bits are an exact double, the rest only decides the rounding.
  const int drop = std::max(0, 11 - std::countl_zero(magnitude));
  const double head = static_cast<double>(magnitude >> drop << drop);
  const double tail = magnitude & ((1ull << drop) - 1) ? 1.0 : 0.0;
  const double sign = negative ? -1.0 : 1.0;
  return asFloat(encodeWithTail(Elem::F32, sign * head, sign * tail, {round}));
}

double cvtIntToF64(uint64_t value, bool isSigned, Round round) {
  const bool negative = isSigned && static_cast<int64_t>(value) < 0;
  const uint64_t magnitude = negative ? 0 - value : value;
  const int drop = std::max(0, 11 - std::countl_zero(magnitude));
  if (drop == 0)
    return negative ? -static_cast<double>(magnitude) : static_cast<double>(magnitude);
  uint64_t kept = magnitude >> drop;
  if (roundsAway(round, negative, kept, magnitude & ((1ull << drop) - 1), 1ull << (drop - 1)))
    ++kept;
  const double result = std::ldexp(static_cast<double>(kept), drop);
  return negative ? -result : result;
}

float cvtF64ToF32(double value, Round round, bool ftz, bool sat) {
  float result = asFloat(encode(Elem::F32, value, {round}));
  if (ftz)
    result = flush(result);
  if (sat)
    result = result > 0 ? std::min(result, 1.0f) : 0.0f; // NaN too
  return result;
}

} // namespace heddle::emulator::tensor
