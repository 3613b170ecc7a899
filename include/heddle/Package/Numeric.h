//===- Numeric.h - exact conversions of element types ---------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bits to numbers and back for every element type of a package. To bits: one rounding,
// to nearest even, straight from double (so also exact for float). Values over the
// largest finite number become infinity in f32, f16 and bf16, and the largest finite
// number in the f8 types, infinities included, as PTX cvt with .satfinite does (PTX ISA,
// "cvt"); a NaN gives the type's canonical NaN. Integers round to nearest even and
// saturate; NaN gives 0. All functions are pure and thread-safe.
//
//   f16     1 sign, 5 exponent, 10 mantissa bits     bf16    1, 8, 7
//   f8e5m2  1, 5, 2 (with infinities)                f8e4m3  1, 4, 3: no infinity, NaN is 0x7f
//                                                            and 0xff, largest 448
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_PACKAGE_NUMERIC_H
#define HEDDLE_PACKAGE_NUMERIC_H

#include "heddle/Package/package_generated.h"

#include <cstdint>

namespace heddle::pkg {

uint16_t toF16(double value);
uint16_t toBF16(double value);
uint8_t toF8E4M3(double value);
uint8_t toF8E5M2(double value);

double fromF16(uint16_t bits);
double fromBF16(uint16_t bits);
double fromF8E4M3(uint8_t bits);
double fromF8E5M2(uint8_t bits);

/// The nearest number that `type` holds.
double roundTo(DType type, double value);

/// One element at `address`, which needs no alignment. i64 beyond 2^53 loses low bits.
double loadElement(DType type, const void *address);
void storeElement(DType type, void *address, double value);

/// `count` elements that lie `stride` elements apart, from element `offset` of `base` on.
void loadElements(DType type, const void *base, int64_t offset, int64_t stride, int64_t count,
                  double *out);

} // namespace heddle::pkg

#endif // HEDDLE_PACKAGE_NUMERIC_H
