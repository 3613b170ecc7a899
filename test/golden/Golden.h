//===- Golden.h - small kernels whose results hardware has given -*- C++ -*-===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each case is a piece of PTX with generated inputs. A GPU runs all of them once and their output
// words are kept (results.txt); the emulator must give the same.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_GOLDEN_GOLDEN_H
#define HEDDLE_TEST_GOLDEN_GOLDEN_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace heddle::golden {

/// What an input word holds. "Ints" are small integers in a format, so that sums are exact.
enum class Word : uint8_t {
  Bits,   ///< any, with integers around the limits among them
  Small,  ///< 0 to 63
  F32,    ///< any magnitude, with zeros, infinities, NaN, subnormals and ties
  F32Near, ///< normal distribution
  F32Ints,
  F64Low, F64High, ///< the two words of a double of any magnitude
  F16x2, BF16x2,   ///< any patterns, NaN too
  F16x2Near, BF16x2Near, F16x2Ints, BF16x2Ints,
  E4M3x4, E5M2x4,  ///< any patterns but NaN
  E4M3x4Near, E5M2x4Near, E4M3x4Ints, E5M2x4Ints,
};

enum class Compare : uint8_t {
  Bits,
  F32,    ///< within tolerance * the largest magnitude of the case
  F32Rel, ///< within tolerance of each value
  F32Log, ///< as F32Rel, values below 1 as if they were 1: near 1 a logarithm has an absolute error
  F16x2, BF16x2, ///< as F32Rel, both halves
};

/// The tensor map of a case: a matrix of i32 at the input's `offset`.
struct Map {
  bool used = false;
  uint32_t offset = 0;
  std::array<uint64_t, 3> dims{};
  std::array<uint64_t, 2> strides{}; ///< bytes
  std::array<uint32_t, 3> box{};
  unsigned rank = 2;
  uint8_t swizzle = 0; ///< 0 to 3: none, 32, 64, 128 bytes
};

/// The body sees: %d62 output, %d63 input, %r63 thread of the grid, %r62 tid.x, %r61 lane, %d61 the
/// thread's place in the output, %d60 its record of the input, %d59 the tensor map; registers
/// %p0-15, %h0-31, %r0-127, %f0-63, %d0-63.
struct Case {
  std::string name;   ///< "family/what", unique
  std::string target; ///< sm_80: also run on later devices
  std::string body;
  std::vector<Word> record; ///< of the input: one a thread, or `records` of them
  unsigned records = 0;     ///< 0: one a thread
  unsigned threads = 32, blocks = 1, cluster = 1;
  unsigned outWords = 1; ///< a thread
  unsigned shared = 0;   ///< bytes
  Compare compare = Compare::Bits;
  double tolerance = 0;
  Map map;

  std::string text() const; ///< PTX
  std::vector<uint32_t> input() const;
  size_t outputWords() const { return size_t(threads) * blocks * outWords; }
};

/// All cases, in a fixed order.
std::vector<Case> allCases();
// By family, one file each.
void addArithmetic(std::vector<Case> &cases);
void addConversions(std::vector<Case> &cases);
void addWarpCases(std::vector<Case> &cases);
void addMatrix(std::vector<Case> &cases);
void addMemory(std::vector<Case> &cases);

/// A case of one statement: inputs of 64 bits in %d1.. (low words in %r1.., %f1.., low halves in
/// %h1..), the result in %r0, %f0, %h0, %d0 or %p0, whichever the text names. 128 threads.
Case statement(const std::string &name, const std::string &text, const std::vector<Word> &inputs,
               const std::string &target = "sm_80");

} // namespace heddle::golden

#endif // HEDDLE_TEST_GOLDEN_GOLDEN_H
