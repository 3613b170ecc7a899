//===- Arithmetic.cpp - f32, f16 and bf16 arithmetic, exactly rounded -----===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every operation is reduced to a pair (value, tail): `value` is a binary64 number and
// the exact result lies strictly on tail's side of it (or is it, when tail is 0); the
// pair is then rounded once. Sums give the pair by the error-free transformation
// TwoSum, which is exact in binary64 for operands of this range; products of two
// 24-bit significands fit 53 bits; a quotient or root of 24-bit significands that is not
// itself a number of at most 25 bits differs from every such number by more than 2^-50
// relatively, so its binary64 value lies on the right side. Round to nearest of +, -, *, / and sqrt
// is the host's own (IEEE 754).
//
//===----------------------------------------------------------------------===//
#include "Numeric.h"

#include <cmath>

namespace heddle::emulator::tensor {

namespace {

struct Exact {
  double value, tail;
};

/// a + b exactly. No intermediate overflows: |a|, |b| < 2^300.
Exact twoSum(double a, double b) {
  const double sum = a + b;
  if (!std::isfinite(sum))
    return {sum, 0};
  const double bb = sum - a;
  return {sum, (a - (sum - bb)) + (b - bb)};
}

float finish(float value, const Mode &m) {
  if (std::isnan(value))
    return m.sat ? 0.0f : asFloat(canonicalNaN32);
  if (m.ftz)
    value = flush(value);
  if (m.sat)
    value = value > 0 ? (value < 1.0f ? value : 1.0f) : 0.0f;
  return value;
}

float finish(Exact x, const Mode &m) {
  return finish(asFloat(encodeWithTail(Elem::F32, x.value, x.tail, {m.round})), m);
}

/// An exact zero of operands of unlike sign is -0 when rounding down.
bool cancels(const Exact &x, bool signA, bool signB) {
  return x.value == 0 && x.tail == 0 && signA != signB;
}

} // namespace

float flush(float value) {
  const uint32_t bits = asBits(value);
  return bits & 0x7f800000 ? value : asFloat(bits & 0x80000000);
}

float addF32(float a, float b, Mode m) {
  if (m.ftz)
    a = flush(a), b = flush(b);
  if (m.round == Round::NearestEven)
    return finish(a + b, m);
  const Exact x = twoSum(a, b);
  if (cancels(x, std::signbit(a), std::signbit(b)))
    return finish(m.round == Round::Down ? -0.0f : 0.0f, m);
  return finish(x, m);
}

float subF32(float a, float b, Mode m) { return addF32(a, -b, m); }

float mulF32(float a, float b, Mode m) {
  if (m.ftz)
    a = flush(a), b = flush(b);
  if (m.round == Round::NearestEven)
    return finish(a * b, m);
  return finish(Exact{double(a) * double(b), 0}, m);
}

float fmaF32(float a, float b, float c, Mode m) {
  if (m.ftz)
    a = flush(a), b = flush(b), c = flush(c);
  if (m.round == Round::NearestEven)
    return finish(std::fma(a, b, c), m); // IEEE 754 in the C library or the processor
  const double product = double(a) * double(b);
  const Exact x = twoSum(product, c);
  if (cancels(x, std::signbit(product), std::signbit(c)))
    return finish(m.round == Round::Down ? -0.0f : 0.0f, m);
  return finish(x, m);
}

float divF32(float a, float b, Mode m) {
  if (m.ftz)
    a = flush(a), b = flush(b);
  if (m.round == Round::NearestEven)
    return finish(a / b, m);
  return finish(Exact{double(a) / double(b), 0}, m);
}

float rcpF32(float a, Mode m) { return divF32(1.0f, a, m); }

float sqrtF32(float a, Mode m) {
  if (m.ftz)
    a = flush(a);
  if (m.round == Round::NearestEven)
    return finish(std::sqrt(a), m);
  return finish(Exact{std::sqrt(double(a)), 0}, m);
}

//===----------------------------------------------------------------------===//
// min, max
//===----------------------------------------------------------------------===//

namespace {

float selectF32(float a, float b, MinMaxMode m, bool takeMax) {
  if (m.ftz)
    a = flush(a), b = flush(b);
  const uint32_t sign = (asBits(a) ^ asBits(b)) & 0x80000000;
  if (std::isnan(a) || std::isnan(b)) {
    if (m.nan || (std::isnan(a) && std::isnan(b)))
      return asFloat(canonicalNaN32);
    const float other = std::isnan(a) ? b : a;
    return m.xorsignAbs ? asFloat((asBits(other) & 0x7fffffff) | sign) : other;
  }
  if (m.xorsignAbs)
    a = std::fabs(a), b = std::fabs(b);
  const bool aLess = a < b || (a == b && std::signbit(a) && !std::signbit(b));
  const float chosen = aLess != takeMax ? a : b;
  return m.xorsignAbs ? asFloat((asBits(chosen) & 0x7fffffff) | sign) : chosen;
}

} // namespace

float minF32(float a, float b, MinMaxMode m) { return selectF32(a, b, m, false); }
float maxF32(float a, float b, MinMaxMode m) { return selectF32(a, b, m, true); }

//===----------------------------------------------------------------------===//
// 16-bit types
//===----------------------------------------------------------------------===//

namespace {

uint16_t flush16(Elem type, uint16_t a) {
  const uint16_t exponentMask = type == Elem::F16 ? 0x7c00 : 0x7f80;
  return a & exponentMask ? a : a & 0x8000;
}

float load16(Elem type, uint16_t a, bool ftz) { return decode(type, ftz ? flush16(type, a) : a); }

uint16_t finish16(Elem type, Exact x, Mode16 m) {
  auto bits = static_cast<uint16_t>(encodeWithTail(type, x.value, x.tail, {}));
  const bool isNaN = std::isnan(x.value);
  if (m.ftz)
    bits = flush16(type, bits);
  if (m.sat) {
    const uint16_t one = type == Elem::F16 ? 0x3c00 : 0x3f80;
    bits = isNaN || (bits & 0x8000) ? 0 : std::min(bits, one);
  }
  if (m.relu && !isNaN && (bits & 0x8000))
    bits = 0;
  return bits;
}

template <typename Op> uint32_t pairwise(uint32_t a, uint32_t b, Op op) {
  const uint32_t hi = op(static_cast<uint16_t>(a >> 16), static_cast<uint16_t>(b >> 16));
  return hi << 16 | op(static_cast<uint16_t>(a), static_cast<uint16_t>(b));
}

uint16_t select16(Elem type, uint16_t a, uint16_t b, MinMaxMode m, bool takeMax) {
  if (m.ftz)
    a = flush16(type, a), b = flush16(type, b);
  const float result =
      selectF32(decode(type, a), decode(type, b), {false, m.nan, m.xorsignAbs}, takeMax);
  return static_cast<uint16_t>(encode(type, result));
}

} // namespace

uint16_t add16(Elem type, uint16_t a, uint16_t b, Mode16 m) {
  return finish16(type, twoSum(load16(type, a, m.ftz), load16(type, b, m.ftz)), m);
}
uint16_t sub16(Elem type, uint16_t a, uint16_t b, Mode16 m) {
  return add16(type, a, b ^ 0x8000, m);
}
uint16_t mul16(Elem type, uint16_t a, uint16_t b, Mode16 m) {
  return finish16(type, {double(load16(type, a, m.ftz)) * double(load16(type, b, m.ftz)), 0}, m);
}
uint16_t fma16(Elem type, uint16_t a, uint16_t b, uint16_t c, Mode16 m) {
  const double product = double(load16(type, a, m.ftz)) * double(load16(type, b, m.ftz));
  return finish16(type, twoSum(product, load16(type, c, m.ftz)), m);
}
uint16_t min16(Elem type, uint16_t a, uint16_t b, MinMaxMode m) {
  return select16(type, a, b, m, false);
}
uint16_t max16(Elem type, uint16_t a, uint16_t b, MinMaxMode m) {
  return select16(type, a, b, m, true);
}

uint32_t add16x2(Elem type, uint32_t a, uint32_t b, Mode16 m) {
  return pairwise(a, b, [&](uint16_t x, uint16_t y) { return add16(type, x, y, m); });
}
uint32_t sub16x2(Elem type, uint32_t a, uint32_t b, Mode16 m) {
  return pairwise(a, b, [&](uint16_t x, uint16_t y) { return sub16(type, x, y, m); });
}
uint32_t mul16x2(Elem type, uint32_t a, uint32_t b, Mode16 m) {
  return pairwise(a, b, [&](uint16_t x, uint16_t y) { return mul16(type, x, y, m); });
}
uint32_t fma16x2(Elem type, uint32_t a, uint32_t b, uint32_t c, Mode16 m) {
  const uint32_t hi = fma16(type, static_cast<uint16_t>(a >> 16), static_cast<uint16_t>(b >> 16),
                            static_cast<uint16_t>(c >> 16), m);
  return hi << 16 | fma16(type, static_cast<uint16_t>(a), static_cast<uint16_t>(b),
                          static_cast<uint16_t>(c), m);
}
uint32_t min16x2(Elem type, uint32_t a, uint32_t b, MinMaxMode m) {
  return pairwise(a, b, [&](uint16_t x, uint16_t y) { return min16(type, x, y, m); });
}
uint32_t max16x2(Elem type, uint32_t a, uint32_t b, MinMaxMode m) {
  return pairwise(a, b, [&](uint16_t x, uint16_t y) { return max16(type, x, y, m); });
}

//===----------------------------------------------------------------------===//
// Approximations
//===----------------------------------------------------------------------===//

namespace {

double evaluate(Approx op, double x) {
  switch (op) {
  case Approx::Ex2:
    return std::exp2(x);
  case Approx::Lg2:
    return x < 0 ? std::nan("") : std::log2(x);
  case Approx::Rcp:
    return 1.0 / x;
  case Approx::Rsqrt:
    return x == 0 ? 1.0 / x : 1.0 / std::sqrt(x);
  case Approx::Sqrt:
    return std::sqrt(x);
  case Approx::Sin:
    return std::sin(x);
  case Approx::Cos:
    return std::cos(x);
  case Approx::Tanh:
    return std::tanh(x);
  }
  return x;
}

} // namespace

float approxF32(Approx op, float a, bool ftz) {
  if (ftz)
    a = flush(a);
  return finish(asFloat(encode(Elem::F32, evaluate(op, a))), Mode{Round::NearestEven, ftz, false});
}

float divApproxF32(float a, float b, bool ftz) {
  return divF32(a, b, {Round::NearestEven, ftz, false});
}

uint16_t approx16(Elem type, Approx op, uint16_t a, bool ftz) {
  return finish16(type, {evaluate(op, load16(type, a, ftz)), 0}, {ftz, false, false});
}

uint32_t approx16x2(Elem type, Approx op, uint32_t a, bool ftz) {
  const uint32_t hi = approx16(type, op, static_cast<uint16_t>(a >> 16), ftz);
  return hi << 16 | approx16(type, op, static_cast<uint16_t>(a), ftz);
}

} // namespace heddle::emulator::tensor
