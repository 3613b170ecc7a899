//===- Types.h - shared types of the tensor-core model --------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Vocabulary of the pure functions in this folder. Nothing here keeps state: every
// function is thread-safe, allocates only what it returns, and throws nothing of its
// own (std::bad_alloc apart).
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_EMULATOR_TENSOR_TYPES_H
#define HEDDLE_EMULATOR_TENSOR_TYPES_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::emulator::tensor {

/// Element formats of tensor-core operands, accumulators and scales.
enum class Elem : uint8_t {
  F16,
  BF16,
  TF32,
  E4M3,
  E5M2,
  E2M1,
  E3M2,
  E2M3,
  UE8M0,
  UE4M3,
  S8,
  U8,
  F32,
  S32,
};
std::string_view elemName(Elem e); ///< PTX spelling: "f16", "e4m3", ...
unsigned elemBits(Elem e); ///< value bits: 16, 16, 32 (tf32), 8, 8, 4, 6, 6, 8, 8, 8, 8, 32, 32
constexpr bool isInteger(Elem e) { return e == Elem::S8 || e == Elem::U8 || e == Elem::S32; }

/// Why something is refused: nullopt when it is fine, else a message in the project's
/// style ("expected N to be a multiple of 8, got 12").
using Problem = std::optional<std::string>;

/// A contiguous run of bytes: an address in the shared window of one CTA of the pair.
struct ByteRun {
  uint32_t address; ///< bytes, in the shared::cta window
  uint32_t bytes;
  uint8_t cta = 0; ///< 0: this CTA (or the even CTA of a pair), 1: the odd CTA
};
/// A rectangle of tensor memory: `columns` 32-bit cells of each of `lanes` lanes.
struct TmemRun {
  uint16_t lane, lanes, column, columns;
  uint8_t cta = 0;
};

/// How an instruction's products are summed and added to the accumulator.
///   fractionBits == 0: products are exact, summed in binary64 in ascending k,
///     the accumulator is added in binary64 and the sum rounded once to the
///     accumulator's type.
///   fractionBits == F > 0: products and accumulator are aligned to the largest
///     exponent among them and truncated to F fraction bits, summed exactly in fixed
///     point (a "truncated fused dot product"); the sum is truncated to f32 with at
///     most F fraction bits. At most `block` products are summed at a time, block
///     after block in ascending k.
/// `towardZero` says how the last rounding to f32 is done (to f16: always nearest).
/// Source for the hardware's numbers: see Accumulate.h.
struct AccumulateModel {
  uint8_t fractionBits = 0;
  uint8_t block = 0;
  bool towardZero = true;
};

} // namespace heddle::emulator::tensor

#endif // HEDDLE_EMULATOR_TENSOR_TYPES_H
