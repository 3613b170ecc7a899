//===- Internal.h - shared within lib/Tuning ------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_LIB_TUNING_INTERNAL_H
#define HEDDLE_LIB_TUNING_INTERNAL_H

#include "heddle/Tuning/Schedule.h"
#include <numeric>

namespace heddle::tuning {

constexpr int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t roundUp(int64_t a, int64_t b) { return ceilDiv(a, b) * b; }
constexpr int64_t roundDown(int64_t a, int64_t b) { return a / b * b; }

/// Bytes of an element in memory.
inline int64_t bytesOf(target::DType type) { return target::dtypeBits(type) / 8; }
/// The type tensor cores see: TF32 for F32.
target::DType multipliedAs(target::DType type);
/// Columns of a tile that one staging slot holds: those of 128 bytes; with swap, where a slot is
/// tileM columns of the result, as many rows of it as make no more bytes.
inline int64_t stagingColumns(const Schedule &s, const GemmProblem &p) {
  const int64_t columns = panelBytes / bytesOf(p.out);
  return s.swap ? std::gcd(s.tileN, columns) : columns;
}
/// Registers that a thread needs at launch whatever setmaxnreg gives the mma role
/// later: for the widest instruction, or for an epilogue in its own warps.
int launchRegistersNeeded(const Schedule &s, const GemmProblem &p, const target::Target &t);
/// Whether sums of products leave the tensor cores after each slot, to be added in f32 by the
/// warps that multiply.
bool promotes(const GemmProblem &p, const target::Target &t);
/// `p` with the sizes that are unknown replaced by those the model assumes.
GemmProblem assumeSizes(const GemmProblem &p);
/// Tiles of M to walk before N advances, for the least operand traffic of a wave.
int bestRaster(const Schedule &s, const GemmProblem &p, const target::Chip &c);
/// Fills in `microseconds` and `why` for a legal schedule.
Candidate estimate(const Schedule &s, const GemmProblem &p, const target::Target &t,
                   const target::Chip &c);

} // namespace heddle::tuning

#endif // HEDDLE_LIB_TUNING_INTERNAL_H
