//===- DescriptorTest.cpp - shared-memory matrix descriptors --------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Addresses are checked against the canonical layouts that PTX ISA 9.0 states as CuTe
// layouts, evaluated mode by mode in elements, and against its examples.
//
//===----------------------------------------------------------------------===//
#include "Descriptor.h"

#include <gtest/gtest.h>

#include <set>

using namespace heddle::emulator::tensor;

namespace {

/// Swizzle<B, 4, 3> on a byte address: bits [4, 4+B) XOR bits [7, 7+B).
uint32_t cuteSwizzle(unsigned bits, uint32_t address) {
  const uint32_t mask = (1u << bits) - 1;
  return address ^ (address >> 7 & mask) << 4;
}

unsigned bitsOf(Swizzle s) {
  return s == Swizzle::None ? 0 : s == Swizzle::B32 ? 1 : s == Swizzle::B64 ? 2 : 3;
}

const Swizzle swizzles[] = {Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128};

TEST(Descriptor, WgmmaFields) {
  // The descriptor of a known-good K-major kernel: start 0x12340 >> 4, LBO 16,
  // SBO 1024 bytes, 128-byte swizzle.
  const uint64_t bits = (64ull << 32) | (1ull << 62) | (1ull << 16) | (0x12340 >> 4);
  MatrixDescriptor d;
  ASSERT_FALSE(decodeWgmmaDescriptor(bits, d));
  EXPECT_EQ(d.start, 0x12340u);
  EXPECT_EQ(d.leading, 16u);
  EXPECT_EQ(d.stride, 1024u);
  EXPECT_EQ(d.baseOffset, 0u);
  EXPECT_EQ(d.swizzle, Swizzle::B128);
  EXPECT_EQ(encodeWgmmaDescriptor(d), bits);
  ASSERT_FALSE(decodeWgmmaDescriptor(uint64_t(3) << 62 | uint64_t(5) << 49, d));
  EXPECT_EQ(d.swizzle, Swizzle::B32);
  EXPECT_EQ(d.baseOffset, 5u);
  EXPECT_TRUE(decodeWgmmaDescriptor(uint64_t(5) << 49, d)); // base offset without swizzle
}

TEST(Descriptor, Tcgen05FieldsAndErrors) {
  const uint64_t good = (64ull << 32) | (1ull << 46) | (2ull << 61) | (1ull << 16) | 0x40;
  MatrixDescriptor d;
  ASSERT_FALSE(decodeTcgen05Descriptor(good, d));
  EXPECT_EQ(d.swizzle, Swizzle::B128);
  EXPECT_EQ(d.start, 0x400u);
  EXPECT_EQ(encodeTcgen05Descriptor(d), good);
  Problem p = decodeTcgen05Descriptor(good & ~(1ull << 46), d);
  ASSERT_TRUE(p);
  EXPECT_EQ(*p, "expected 0b001 in bits 46-48 of the matrix descriptor, got 0");
  EXPECT_TRUE(decodeTcgen05Descriptor(good | 3ull << 61, d)); // 3 is invalid
  EXPECT_TRUE(decodeTcgen05Descriptor(good | 1ull << 52, d)); // absolute mode
  EXPECT_TRUE(decodeTcgen05Descriptor(good | 1ull << 55, d)); // fixed zero bits
}

TEST(Descriptor, KMajorCanonicalLayouts) {
  for (unsigned bits : {8u, 16u, 32u})
    for (Swizzle s : swizzles) {
      const unsigned t = 128 / bits, size = bits / 8, w = swizzleSpan(s) / 16;
      const MatrixDescriptor d{1024, 2048, 4096, 0, s};
      for (uint32_t row = 0; row < 64; ++row)
        for (uint32_t k = 0; k < 2 * t; ++k) {
          if (s != Swizzle::None && k * size >= swizzleSpan(s))
            continue;
          // None:    ((8,m),(T,2k)) : ((1T,SBO),(1,LBO))
          // swizzle: ((8,m),(T,2k)) : ((wT,SBO),(1,T))
          uint32_t element = row % 8 * w * t + k % t;
          uint32_t bytes = element * size + row / 8 * 4096;
          bytes += s == Swizzle::None ? k / t * 2048 : k / t * t * size;
          const uint32_t expected = cuteSwizzle(bitsOf(s), 1024 + bytes);
          ASSERT_EQ(kMajorAddress(d, row, k * size), expected) << row << "," << k;
        }
    }
}

TEST(Descriptor, MNMajorCanonicalLayouts) {
  for (unsigned bits : {8u, 16u})
    for (Swizzle s : swizzles) {
      const unsigned t = 128 / bits, size = bits / 8, w = swizzleSpan(s) / 16;
      const MatrixDescriptor d{2048, 8192, 1024, 0, s};
      for (uint32_t mn = 0; mn < 64; ++mn)
        for (uint32_t k = 0; k < 16; ++k) {
          // None:    ((T,1,m),(8,k)) : ((1,T,SBO),(1T,LBO))
          // swizzle: ((T,w,m),(8,k)) : ((1,T,LBO),(wT,SBO))
          uint32_t bytes;
          if (s == Swizzle::None)
            bytes = (mn % t + k % 8 * t) * size + mn / t * 1024 + k / 8 * 8192;
          else
            bytes = (mn % t + mn / t % w * t + k % 8 * w * t) * size + mn / (t * w) * 8192 +
                    k / 8 * 1024;
          const uint32_t expected = cuteSwizzle(bitsOf(s), 2048 + bytes);
          ASSERT_EQ(mnMajorAddress(d, mn * size, k), expected) << mn << "," << k;
        }
    }
}

TEST(Descriptor, ExamplesOfThePtxManual) {
  // K-major, no swizzle, tf32: LBO 64 elements, SBO 32 elements; layout
  // ((8,2),(4,4)):((4,32),(1,64)).
  MatrixDescriptor d{0, 64 * 4, 32 * 4, 0, Swizzle::None};
  EXPECT_EQ(kMajorAddress(d, 9, 5 * 4), (4u + 32 + 1 + 64) * 4);
  // MN-major, 32-byte swizzle, bf16: ((8,2,2),(8,2)):((1,8,128),(16,256)) before swizzling.
  d = {0, 128 * 2, 256 * 2, 0, Swizzle::B32};
  const uint32_t linear = (3u + 8 + 128 + 2 * 16 + 256) * 2;
  EXPECT_EQ(mnMajorAddress(d, (3 + 8 + 16) * 2, 2 + 8), cuteSwizzle(1, linear));
}

TEST(Descriptor, AdvancingTheStartWithinASwizzledRow) {
  // What kernels do along K: the start moves by 32 bytes inside the 128-byte row.
  const MatrixDescriptor base{4096, 16, 1024, 0, Swizzle::B128};
  for (unsigned step = 0; step < 4; ++step) {
    MatrixDescriptor d = base;
    d.start += 32 * step;
    for (uint32_t row = 0; row < 64; ++row)
      for (uint32_t byte = 0; byte < 32; ++byte)
        ASSERT_EQ(kMajorAddress(d, row, byte), kMajorAddress(base, row, 32 * step + byte));
  }
}

TEST(Descriptor, BaseOffsetMovesThePhase) {
  // A pattern that starts at 3 * 128: its first row is not permuted.
  const MatrixDescriptor d{3 * 128, 16, 1024, 3, Swizzle::B128};
  EXPECT_EQ(kMajorAddress(d, 0, 16), 3u * 128 + 16);
  EXPECT_EQ(kMajorAddress(d, 1, 16), 4u * 128 + 0);
}

TEST(Descriptor, Atoms32OfTcgen05PermuteByThirtyTwoBytes) {
  // Swizzle<2, 5, 2>: bits [5, 7) XOR bits [7, 9).
  for (uint32_t a = 0; a < 2048; ++a)
    ASSERT_EQ(swizzleAddress(Swizzle::B128Base32, 0, a), a ^ (a >> 7 & 3) << 5);
}

TEST(Descriptor, RunsCoverEveryByteOnce) {
  for (Swizzle s : swizzles)
    for (bool mnMajor : {false, true}) {
      const MatrixDescriptor d{1024, 4096, 1024, 0, s};
      std::vector<ByteRun> runs;
      const unsigned mn = 64, k = 16;
      ASSERT_FALSE(operandRuns(d, mnMajor, mn, k, 16, 1 << 18, runs));
      std::set<uint32_t> covered, expected;
      for (const ByteRun &r : runs)
        for (uint32_t b = 0; b < r.bytes; ++b)
          EXPECT_TRUE(covered.insert(r.address + b).second);
      for (unsigned i = 0; i < mn; ++i)
        for (unsigned kk = 0; kk < k; ++kk)
          for (unsigned b = 0; b < 2; ++b)
            expected.insert(mnMajor ? mnMajorAddress(d, 2 * i, kk) + b
                                    : kMajorAddress(d, i, 2 * kk) + b);
      EXPECT_EQ(covered, expected);
    }
}

TEST(Descriptor, RunsOutsideOfSharedMemoryAreRefused) {
  const MatrixDescriptor d{230000, 16, 1024, 0, Swizzle::B128};
  std::vector<ByteRun> runs;
  const Problem p = operandRuns(d, false, 64, 16, 16, 232448, runs);
  ASSERT_TRUE(p);
  EXPECT_NE(p->find("expected a matrix within 232448 bytes of shared memory"), std::string::npos);
}

} // namespace
