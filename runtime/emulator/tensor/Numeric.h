//===- Numeric.h - number formats and exactly rounded arithmetic ----------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decoding, encoding and arithmetic of PTX number formats (PTX ISA 9.0, sections
// "Alternate Floating-Point Data Formats", "cvt", "Floating Point Instructions").
// All results are a function of the operands alone: nothing depends on the host's
// rounding mode or its flush-to-zero setting being changed (both must be at their
// defaults). NaN results are the canonical NaN of the result type as PTX defines it.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_EMULATOR_TENSOR_NUMERIC_H
#define HEDDLE_EMULATOR_TENSOR_NUMERIC_H

#include "Types.h"

#include <bit>

namespace heddle::emulator::tensor {

/// .rn .rz .rm .rp .rna
enum class Round : uint8_t { NearestEven, Zero, Down, Up, NearestAway };

inline constexpr uint32_t canonicalNaN32 = 0x7fffffffu;
inline constexpr uint16_t canonicalNaN16 = 0x7fffu; ///< f16 and bf16

inline float asFloat(uint32_t bits) { return std::bit_cast<float>(bits); }
inline uint32_t asBits(float value) { return std::bit_cast<uint32_t>(value); }

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

/// The value of the low elemBits(e) bits. F32 and integer formats convert to the
/// nearest float. TF32 reads as the tensor core does: the low 13 bits are ignored.
/// UE8M0 0xff and every NaN pattern give the canonical NaN. UE4M3 ignores the sign bit.
float decode(Elem e, uint32_t bits);
/// 256 (E4M3, E5M2, UE8M0, UE4M3, S8, U8), 64 (E3M2, E2M3) or 16 (E2M1) values;
/// nullptr for wider formats.
const float *decodeTable(Elem e);
inline float decodeBF16(uint16_t b) { return asFloat(uint32_t(b) << 16); }
float decodeF16(uint16_t b);

/// The pattern of a float that is exactly an f16 value (infinity and NaN too).
uint16_t exactF16(float value);
/// `value` rounded once to nearest even to f16, as a float; NaN becomes canonical.
inline float roundToF16(double value) {
  if (!(value < 65520.0 && value > -65520.0)) // beyond the largest, infinite or NaN
    return value != value ? asFloat(canonicalNaN32)
                          : asFloat(value < 0 ? 0xff800000u : 0x7f800000u);
  // Adding 1.5 * 2^52 quanta leaves no bits below the quantum; f16 has 10 fraction bits
  // and no exponent below -14.
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  uint64_t exponent = bits >> 52 & 0x7ff;
  exponent = exponent < 1023 - 14 ? 1023 - 14 : exponent;
  const double magic = std::bit_cast<double>((exponent + 42) << 52 | uint64_t(1) << 51);
  const float rounded = static_cast<float>((value + magic) - magic);
  return asFloat(asBits(rounded) | static_cast<uint32_t>(bits >> 32 & 0x80000000)); // keeps -0
}

struct EncodeOptions {
  Round round = Round::NearestEven;
  bool satfinite = false; ///< overflow and infinity give the largest finite value
  bool relu = false;      ///< negative values give +0, NaN stays the canonical NaN
};
/// Encodes with one rounding. Formats without infinity (E4M3) overflow to NaN unless
/// satfinite; E2M1, E3M2, E2M3 always saturate and turn NaN into +max, as cvt defines. UE8M0
/// gives the power of two at or below (Zero), at or above (Up) or nearest to the magnitude,
/// its smallest for 0.
uint32_t encode(Elem e, double value, EncodeOptions options = {});
/// As encode() for an exact result that is not a double: it lies strictly between `value`
/// and the next double on the side of `tail`, of which only the sign counts.
uint32_t encodeWithTail(Elem e, double value, double tail, EncodeOptions options = {});

/// cvt.<round>{.relu}{.satfinite}.<to>x2.f32 d, hi, lo. F16, BF16: 32 bits; E4M3, E5M2,
/// E3M2, E2M3, UE8M0: 16 bits; E2M1: 8 bits (`hi` in the upper half).
uint32_t cvtPack2(Elem to, float hi, float lo, EncodeOptions options);
/// cvt.<round>{...}.<to>x2.<from>x2: both halves; `to` is F16 or BF16 with narrow `from`,
/// or narrow with from = F16x2/BF16x2.
uint32_t cvtPacked(Elem to, Elem from, uint32_t packed, EncodeOptions options);
/// cvt.rna.tf32.f32 / cvt.{rn,rz}.tf32.f32
uint32_t cvtTF32(float value, EncodeOptions options);

/// cvt from float to an integer of `bits` (8, 16, 32, 64): saturates at the limits, NaN
/// gives 0 (for 32-bit and narrower; 64-bit: 0x8000000000000000, as PTX defines).
uint64_t cvtFloatToInt(double value, unsigned bits, bool isSigned, Round round);
/// cvt from integer with one rounding.
float cvtIntToF32(uint64_t value, bool isSigned, Round round);
double cvtIntToF64(uint64_t value, bool isSigned, Round round);
/// cvt.<round>.f32.f64.
float cvtF64ToF32(double value, Round round, bool ftz = false, bool sat = false);
/// cvt.{rni,rzi,rmi,rpi}.f32.f32 and f64.f64: rounds to an integral value.
double roundToIntegral(double value, Round round);

//===----------------------------------------------------------------------===//
// f32 arithmetic: {add,sub,mul,fma,div,rcp,sqrt}.<round>{.ftz}{.sat}.f32
//===----------------------------------------------------------------------===//

struct Mode {
  Round round = Round::NearestEven;
  bool ftz = false; ///< subnormal operands and results become zero of the same sign
  bool sat = false; ///< clamp to [0, 1], NaN gives +0
};
float flush(float value); ///< the ftz rule
float addF32(float a, float b, Mode m = {});
float subF32(float a, float b, Mode m = {});
float mulF32(float a, float b, Mode m = {});
float fmaF32(float a, float b, float c, Mode m = {});
float divF32(float a, float b, Mode m = {});
float rcpF32(float a, Mode m = {});
float sqrtF32(float a, Mode m = {});

struct MinMaxMode {
  bool ftz = false;
  bool nan = false;        ///< .NaN: a NaN operand gives the canonical NaN
  bool xorsignAbs = false; ///< .xorsign.abs
};
/// Without .NaN one NaN operand gives the other operand. -0 < +0.
float minF32(float a, float b, MinMaxMode m = {});
float maxF32(float a, float b, MinMaxMode m = {});

/// f64 with .rn/.rz/.rm/.rp.
double addF64(double a, double b, Round r = Round::NearestEven);
double mulF64(double a, double b, Round r = Round::NearestEven);
double divF64(double a, double b, Round r = Round::NearestEven);
double sqrtF64(double a, Round r = Round::NearestEven);
double fmaF64(double a, double b, double c, Round r = Round::NearestEven);

//===----------------------------------------------------------------------===//
// f16 and bf16 (type is Elem::F16 or Elem::BF16): one rounding to nearest even
//===----------------------------------------------------------------------===//

struct Mode16 {
  bool ftz = false;  ///< f16 only
  bool sat = false;  ///< f16 only
  bool relu = false; ///< fma only: negative results and NaN: see PTX
};
uint16_t add16(Elem type, uint16_t a, uint16_t b, Mode16 m = {});
uint16_t sub16(Elem type, uint16_t a, uint16_t b, Mode16 m = {});
uint16_t mul16(Elem type, uint16_t a, uint16_t b, Mode16 m = {});
uint16_t fma16(Elem type, uint16_t a, uint16_t b, uint16_t c, Mode16 m = {});
uint16_t min16(Elem type, uint16_t a, uint16_t b, MinMaxMode m = {});
uint16_t max16(Elem type, uint16_t a, uint16_t b, MinMaxMode m = {});
/// The same on both halves of an x2 register.
uint32_t add16x2(Elem type, uint32_t a, uint32_t b, Mode16 m = {});
uint32_t sub16x2(Elem type, uint32_t a, uint32_t b, Mode16 m = {});
uint32_t mul16x2(Elem type, uint32_t a, uint32_t b, Mode16 m = {});
uint32_t fma16x2(Elem type, uint32_t a, uint32_t b, uint32_t c, Mode16 m = {});
uint32_t min16x2(Elem type, uint32_t a, uint32_t b, MinMaxMode m = {});
uint32_t max16x2(Elem type, uint32_t a, uint32_t b, MinMaxMode m = {});

//===----------------------------------------------------------------------===//
// Approximations: computed in binary64 and rounded once to nearest even (so within
// the error bounds of PTX, not bit-equal to a GPU); special values as PTX tables give.
//===----------------------------------------------------------------------===//

enum class Approx : uint8_t { Ex2, Lg2, Rcp, Rsqrt, Sqrt, Sin, Cos, Tanh };
float approxF32(Approx op, float a, bool ftz = false);
float divApproxF32(float a, float b, bool ftz = false); ///< also div.full
/// ex2.approx and tanh.approx of f16 and bf16.
uint16_t approx16(Elem type, Approx op, uint16_t a, bool ftz = false);
uint32_t approx16x2(Elem type, Approx op, uint32_t a, bool ftz = false);

} // namespace heddle::emulator::tensor

#endif // HEDDLE_EMULATOR_TENSOR_NUMERIC_H
