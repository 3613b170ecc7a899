//===- TestSupport.h - helpers of the tensor-model tests ------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Definitions written from the format tables of PTX ISA 9.0 and the OCP
// specifications, independent of the code under test.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_EMULATOR_TENSOR_TESTSUPPORT_H
#define HEDDLE_TEST_EMULATOR_TENSOR_TESTSUPPORT_H

#include "Numeric.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace heddle::emulator::tensor::test {

/// Sign, exponent and mantissa widths and bias, and the value written out.
inline double definedValue(Elem e, uint32_t bits) {
  int ebits, mbits, bias;
  bool ieee = false;
  switch (e) {
  case Elem::F16:
    ebits = 5, mbits = 10, bias = 15, ieee = true;
    break;
  case Elem::BF16:
    ebits = 8, mbits = 7, bias = 127, ieee = true;
    break;
  case Elem::E5M2:
    ebits = 5, mbits = 2, bias = 15, ieee = true;
    break;
  case Elem::E4M3:
    ebits = 4, mbits = 3, bias = 7;
    break;
  case Elem::E3M2:
    ebits = 3, mbits = 2, bias = 3;
    break;
  case Elem::E2M3:
    ebits = 2, mbits = 3, bias = 1;
    break;
  case Elem::E2M1:
    ebits = 2, mbits = 1, bias = 1;
    break;
  default:
    return std::nan("");
  }
  const int sign = static_cast<int>(bits >> (ebits + mbits) & 1);
  const int exponent = static_cast<int>(bits >> mbits & ((1u << ebits) - 1));
  const int mantissa = static_cast<int>(bits & ((1u << mbits) - 1));
  const int last = (1 << ebits) - 1;
  if (ieee && exponent == last)
    return mantissa ? std::nan("") : (sign ? -1 : 1) * std::numeric_limits<double>::infinity();
  if (e == Elem::E4M3 && exponent == last && mantissa == 7)
    return std::nan("");
  const double fraction = mantissa / std::pow(2.0, mbits);
  const double magnitude = exponent == 0 ? fraction * std::pow(2.0, 1 - bias)
                                         : (1 + fraction) * std::pow(2.0, exponent - bias);
  return sign ? -magnitude : magnitude;
}

/// Random bits of an element that is neither NaN nor infinite.
inline uint32_t randomBits(Elem e, std::mt19937 &rng) {
  for (;;) {
    uint32_t bits = rng();
    switch (e) {
    case Elem::TF32:
    case Elem::F32: { // moderate exponents
      std::uniform_real_distribution<float> d(-8, 8);
      return asBits(d(rng));
    }
    case Elem::F16:
    case Elem::BF16: {
      std::uniform_real_distribution<float> d(-8, 8);
      return encode(e, d(rng));
    }
    case Elem::S8:
    case Elem::U8:
      return bits & 0xff;
    default:
      bits &= (1u << elemBits(e)) - 1;
      if (std::isfinite(definedValue(e, bits)))
        return bits;
    }
  }
}

/// The value an operand's bits stand for.
inline double valueOf(Elem e, uint32_t bits) {
  switch (e) {
  case Elem::S8:
    return static_cast<int8_t>(bits);
  case Elem::U8:
    return static_cast<uint8_t>(bits);
  case Elem::TF32:
    return asFloat(bits & 0xffffe000);
  case Elem::F32:
    return asFloat(bits);
  default:
    return definedValue(e, bits);
  }
}

/// A matrix of element bits with its values.
struct Matrix {
  unsigned rows, cols;
  std::vector<uint32_t> bits;
  std::vector<double> values;
  uint32_t &at(unsigned r, unsigned c) { return bits[r * cols + c]; }
  double value(unsigned r, unsigned c) const { return values[r * cols + c]; }
};
inline Matrix randomMatrix(unsigned rows, unsigned cols, Elem e, std::mt19937 &rng) {
  Matrix m{rows, cols, std::vector<uint32_t>(rows * cols), std::vector<double>(rows * cols)};
  for (unsigned i = 0; i < rows * cols; ++i) {
    m.bits[i] = randomBits(e, rng);
    m.values[i] = valueOf(e, m.bits[i]);
  }
  return m;
}
/// Integers small enough that every sum is exact in every model of the type.
inline Matrix integerMatrix(unsigned rows, unsigned cols, Elem e, int limit, std::mt19937 &rng) {
  Matrix m{rows, cols, std::vector<uint32_t>(rows * cols), std::vector<double>(rows * cols)};
  std::uniform_int_distribution<int> d(e == Elem::U8 ? 0 : -limit, limit);
  for (unsigned i = 0; i < rows * cols; ++i) {
    const int v = d(rng);
    m.bits[i] = isInteger(e) ? static_cast<uint32_t>(v) & 0xff : encode(e, v);
    m.values[i] = valueOf(e, m.bits[i]);
  }
  return m;
}

} // namespace heddle::emulator::tensor::test

#endif // HEDDLE_TEST_EMULATOR_TENSOR_TESTSUPPORT_H
