//===- Arithmetic64.cpp - f64 arithmetic under every rounding mode --------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled with -frounding-math: the compiler then neither folds nor moves arithmetic
// across the changes of the rounding mode, which is thread-local and restored.
//
//===----------------------------------------------------------------------===//
#include "Numeric.h"

#include <cfenv>
#include <cmath>

#pragma STDC FENV_ACCESS ON

namespace heddle::emulator::tensor {

namespace {

/// Sets the host's rounding mode for a scope.
class RoundingScope {
public:
  explicit RoundingScope(Round round) : saved(std::fegetround()) {
    std::fesetround(round == Round::Zero   ? FE_TOWARDZERO
                    : round == Round::Down ? FE_DOWNWARD
                    : round == Round::Up   ? FE_UPWARD
                                           : FE_TONEAREST);
  }
  ~RoundingScope() { std::fesetround(saved); }
  RoundingScope(const RoundingScope &) = delete;
  RoundingScope &operator=(const RoundingScope &) = delete;

private:
  int saved;
};

} // namespace

double addF64(double a, double b, Round r) {
  const RoundingScope scope(r);
  volatile double x = a, y = b;
  volatile double result = x + y;
  return result;
}

double mulF64(double a, double b, Round r) {
  const RoundingScope scope(r);
  volatile double x = a, y = b;
  volatile double result = x * y;
  return result;
}

double divF64(double a, double b, Round r) {
  const RoundingScope scope(r);
  volatile double x = a, y = b;
  volatile double result = x / y;
  return result;
}

double sqrtF64(double a, Round r) {
  const RoundingScope scope(r);
  volatile double x = a;
  volatile double result = std::sqrt(x);
  return result;
}

double fmaF64(double a, double b, double c, Round r) {
  const RoundingScope scope(r);
  volatile double x = a, y = b, z = c;
  volatile double result = std::fma(x, y, z); // the C library follows the mode
  return result;
}

} // namespace heddle::emulator::tensor
