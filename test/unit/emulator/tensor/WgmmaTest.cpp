//===- WgmmaTest.cpp - warpgroup matrix instructions ----------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Wgmma.h"
#include "TestSupport.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>

using namespace heddle::emulator::tensor;
using namespace heddle::emulator::tensor::test;

namespace {

constexpr uint32_t sharedBytes = 228 * 1024;

/// Writes a matrix (rows: M or N, columns: k) through the layout of a descriptor.
void place(std::vector<uint8_t> &shared, const MatrixDescriptor &d, bool mnMajor, Elem e,
           const Matrix &m) {
  const unsigned size = elemBits(e) / 8;
  for (unsigned r = 0; r < m.rows; ++r)
    for (unsigned k = 0; k < m.cols; ++k) {
      const uint32_t at = mnMajor ? mnMajorAddress(d, r * size, k) : kMajorAddress(d, r, k * size);
      std::memcpy(&shared[at], &m.bits[r * m.cols + k], size);
    }
}

struct Case {
  Elem a, b, d;
  unsigned n, k;
  bool registersA = false, transA = false, transB = false, negA = false, negB = false;
  Swizzle swizzle = Swizzle::B128;
};

/// Runs the case on random or integer data and compares with a double product.
void check(const Case &c, bool integers, std::mt19937 &rng) {
  SCOPED_TRACE(std::string(elemName(c.d)) + "." + std::string(elemName(c.a)) + " n" +
               std::to_string(c.n) + " swizzle " + std::to_string(int(c.swizzle)) +
               (c.transA ? " ta" : "") + (c.transB ? " tb" : ""));
  WgmmaConfig config;
  config.n = c.n, config.k = c.k;
  config.a = c.a, config.b = c.b, config.d = c.d;
  config.aInRegisters = c.registersA;
  config.transposeA = c.transA, config.transposeB = c.transB;
  config.negateA = c.negA, config.negateB = c.negB;
  config.model = modelForWgmma(c.a);
  ASSERT_FALSE(checkWgmma(config)) << *checkWgmma(config);

  const int limit = 3;
  const Matrix a =
      integers ? integerMatrix(64, c.k, c.a, limit, rng) : randomMatrix(64, c.k, c.a, rng);
  const Matrix b =
      integers ? integerMatrix(c.n, c.k, c.b, limit, rng) : randomMatrix(c.n, c.k, c.b, rng);
  std::vector<uint8_t> shared(sharedBytes, 0xff);
  // K-major: LBO only without swizzle. MN-major swizzled: LBO between spans, SBO between
  // groups of 8 k; the strides below keep all pieces apart.
  const auto descriptor = [&](uint32_t start, bool mnMajor) {
    MatrixDescriptor d{start, 0, 0, 0, c.swizzle};
    if (!mnMajor) {
      d.stride = c.swizzle == Swizzle::None ? 256 : 8 * swizzleSpan(c.swizzle);
      d.leading = 128;
    } else if (c.swizzle == Swizzle::None) {
      d.stride = 128, d.leading = 8192;
    } else {
      d.stride = 8 * swizzleSpan(c.swizzle), d.leading = 2 * 8 * swizzleSpan(c.swizzle);
    }
    return d;
  };
  const MatrixDescriptor da = descriptor(1024, c.transA), db = descriptor(64 * 1024, c.transB);
  uint32_t registersA[4 * 128] = {};
  if (c.registersA) {
    // PTX: for m64nNk16, a_i lies in row 16 * warp + groupID (+8 for i = 2,3,6,7) and
    // column 2 * threadInGroup + (i & 1) (+8 for i >= 4); for the other types the same
    // with 1 or 4 elements instead of 2.
    const unsigned per = 32 / elemBits(c.a); // elements in a register
    for (unsigned thread = 0; thread < 128; ++thread)
      for (unsigned i = 0; i < 4 * per; ++i) {
        const unsigned reg = i / per, lane = thread % 32;
        const unsigned row = thread / 32 * 16 + lane / 4 + (reg % 2 ? 8 : 0);
        const unsigned col = lane % 4 * per + i % per + (reg >= 2 ? 4 * per : 0);
        registersA[reg * 128 + thread] |= a.bits[row * c.k + col] << i % per * elemBits(c.a);
      }
  } else {
    place(shared, da, c.transA, c.a, a);
  }
  place(shared, db, c.transB, c.b, b);

  const bool half = c.d == Elem::F16;
  const unsigned registers = wgmmaRegisters(config).d;
  EXPECT_EQ(registers, half ? c.n / 4 : c.n / 2);
  for (bool scaleD : {false, true}) {
    std::vector<uint32_t> d(registers * 128);
    std::vector<double> before(64 * c.n);
    for (unsigned thread = 0; thread < 128; ++thread)
      for (unsigned i = 0; i < c.n / 2; ++i) {
        unsigned row, col;
        wgmmaElementD(thread, i, row, col);
        const int v = static_cast<int>(rng() % 17) - 8;
        before[row * c.n + col] = scaleD ? v : 0;
        if (half)
          d[i / 2 * 128 + thread] |= encode(Elem::F16, v) << 16 * (i % 2);
        else
          d[i * 128 + thread] = c.d == Elem::S32 ? static_cast<uint32_t>(v) : asBits(float(v));
      }
    const Problem p =
        wgmma(config, shared.data(), sharedBytes, encodeWgmmaDescriptor(da),
              c.registersA ? registersA : nullptr, encodeWgmmaDescriptor(db), scaleD, d.data());
    ASSERT_FALSE(p) << *p;
    const double sign = (c.negA ? -1 : 1) * (c.negB ? -1 : 1);
    for (unsigned thread = 0; thread < 128; ++thread)
      for (unsigned i = 0; i < c.n / 2; ++i) {
        unsigned row, col;
        wgmmaElementD(thread, i, row, col);
        double sum = 0, size = 0;
        for (unsigned k = 0; k < c.k; ++k) {
          sum += sign * a.value(row, k) * b.value(col, k);
          size += std::fabs(a.value(row, k) * b.value(col, k));
        }
        sum += before[row * c.n + col];
        size += std::fabs(before[row * c.n + col]);
        double got;
        if (half)
          got = definedValue(Elem::F16, d[i / 2 * 128 + thread] >> 16 * (i % 2) & 0xffff);
        else if (c.d == Elem::S32)
          got = static_cast<int32_t>(d[i * 128 + thread]);
        else
          got = asFloat(d[i * 128 + thread]);
        if (integers || c.d == Elem::S32)
          ASSERT_EQ(got, sum) << "row " << row << " column " << col;
        else
          ASSERT_NEAR(got, sum,
                      size * (half                 ? 0x1p-10
                              : elemBits(c.a) == 8 ? 0x1p-8
                                                   : 0x1p-22))
              << "row " << row << " column " << col;
      }
  }
}

TEST(Wgmma, ElementsOfDFollowThePtxFormula) {
  // PTX, "WGMMA .m64nNk16 register fragment layout for accumulator matrix D".
  for (unsigned thread = 0; thread < 128; ++thread)
    for (unsigned i = 0; i < 128; ++i) {
      const unsigned lane = thread % 32, warp = thread / 32;
      unsigned row, col;
      wgmmaElementD(thread, i, row, col);
      const unsigned groupID = lane >> 2, threadInGroup = lane % 4;
      ASSERT_EQ(row, warp * 16 + groupID + (i % 4 >= 2 ? 8 : 0));
      ASSERT_EQ(col, i / 4 * 8 + threadInGroup * 2 + (i & 1));
    }
}

TEST(Wgmma, EveryTypeInEveryKMajorLayout) {
  std::mt19937 rng(21);
  const Case cases[] = {
      {Elem::BF16, Elem::BF16, Elem::F32, 256, 16}, {Elem::F16, Elem::F16, Elem::F32, 64, 16},
      {Elem::F16, Elem::F16, Elem::F16, 24, 16},    {Elem::TF32, Elem::TF32, Elem::F32, 128, 8},
      {Elem::E4M3, Elem::E4M3, Elem::F32, 136, 32}, {Elem::E5M2, Elem::E4M3, Elem::F32, 8, 32},
      {Elem::E4M3, Elem::E5M2, Elem::F16, 16, 32},  {Elem::S8, Elem::S8, Elem::S32, 96, 32},
      {Elem::U8, Elem::S8, Elem::S32, 32, 32},
  };
  for (Case c : cases)
    for (Swizzle s : {Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128})
      for (bool registers : {false, true})
        for (bool integers : {false, true}) {
          c.swizzle = s;
          c.registersA = registers;
          if (!(c.d == Elem::F16 && !integers && elemBits(c.a) == 8)) // products overflow f16
            check(c, integers, rng);
        }
}

TEST(Wgmma, TransposedOperandsInEveryLayout) {
  std::mt19937 rng(22);
  for (Swizzle s : {Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128})
    for (int t = 1; t < 4; ++t)
      for (unsigned n : {8u, 64u, 256u}) {
        Case c{Elem::BF16, Elem::BF16, Elem::F32, n, 16};
        c.transA = t & 1, c.transB = t & 2;
        c.swizzle = s;
        check(c, true, rng);
        check(c, false, rng);
      }
}

TEST(Wgmma, NegatedOperands) {
  std::mt19937 rng(23);
  for (int t = 0; t < 4; ++t) {
    Case c{Elem::F16, Elem::F16, Elem::F32, 32, 16};
    c.negA = t & 1, c.negB = t & 2;
    check(c, true, rng);
  }
}

TEST(Wgmma, ReadsNameExactlyTheOperandBytes) {
  WgmmaConfig config;
  config.n = 128;
  const MatrixDescriptor a{1024, 16, 1024, 0, Swizzle::B128}, b{32768, 16, 1024, 0, Swizzle::B128};
  std::vector<ByteRun> runs;
  ASSERT_FALSE(
      wgmmaReads(config, encodeWgmmaDescriptor(a), encodeWgmmaDescriptor(b), sharedBytes, runs));
  uint32_t total = 0;
  for (const ByteRun &r : runs)
    total += r.bytes;
  EXPECT_EQ(total, (64u + 128u) * 32);
  config.aInRegisters = true;
  runs.clear();
  ASSERT_FALSE(wgmmaReads(config, 0, encodeWgmmaDescriptor(b), sharedBytes, runs));
  total = 0;
  for (const ByteRun &r : runs)
    total += r.bytes;
  EXPECT_EQ(total, 128u * 32);
}

TEST(Wgmma, RefusesWhatPtxDoesNotDefine) {
  WgmmaConfig good;
  EXPECT_FALSE(checkWgmma(good));
  WgmmaConfig c = good;
  c.n = 12;
  EXPECT_EQ(*checkWgmma(c), "expected N to be a multiple of 8 from 8 to 256, got 12");
  c = good, c.n = 264;
  EXPECT_TRUE(checkWgmma(c));
  c = good, c.d = Elem::F16;
  EXPECT_TRUE(checkWgmma(c)); // bf16 with f16 accumulator
  c = good, c.a = c.b = Elem::TF32, c.k = 8, c.transposeB = true;
  EXPECT_TRUE(checkWgmma(c));
  c = good, c.a = c.b = Elem::S8, c.d = Elem::S32, c.k = 32, c.n = 40;
  EXPECT_TRUE(checkWgmma(c));
  c = good, c.k = 8;
  EXPECT_TRUE(checkWgmma(c));
  std::vector<uint32_t> d(128 * 128);
  std::vector<uint8_t> shared(1024);
  const Problem p = wgmma(good, shared.data(), 1024, 0, nullptr, 0x3fff, true, d.data());
  ASSERT_TRUE(p);
  EXPECT_NE(p->find("operand B: expected a matrix within 1024 bytes"), std::string::npos) << *p;
}

TEST(Wgmma, LongFp8SumsNeedPromotion) {
  // K = 4096 of positive e4m3 data: the short accumulator loses what promotion every 128
  // of K keeps, as on the hardware.
  std::mt19937 rng(24);
  WgmmaConfig config;
  config.n = 8, config.k = 32;
  config.a = config.b = Elem::E4M3;
  config.model = modelForWgmma(Elem::E4M3);
  std::vector<uint8_t> shared(sharedBytes);
  const MatrixDescriptor da{0, 128, 256, 0, Swizzle::None}, db{8192, 128, 256, 0, Swizzle::None};
  std::vector<uint32_t> plain(4 * 128), partial(4 * 128);
  double exact = 0, promoted = 0;
  for (int step = 0; step < 128; ++step) {
    Matrix a = randomMatrix(64, 32, Elem::E4M3, rng), b = randomMatrix(8, 32, Elem::E4M3, rng);
    for (Matrix *m : {&a, &b})
      for (unsigned i = 0; i < m->bits.size(); ++i) {
        m->bits[i] = 0x30 + m->bits[i] % 16; // 0.5 to 1.9
        m->values[i] = definedValue(Elem::E4M3, m->bits[i]);
      }
    place(shared, da, false, Elem::E4M3, a);
    place(shared, db, false, Elem::E4M3, b);
    for (unsigned k = 0; k < 32; ++k)
      exact += a.value(0, k) * b.value(0, k);
    const uint64_t xa = encodeWgmmaDescriptor(da), xb = encodeWgmmaDescriptor(db);
    ASSERT_FALSE(
        wgmma(config, shared.data(), sharedBytes, xa, nullptr, xb, step != 0, plain.data()));
    ASSERT_FALSE(
        wgmma(config, shared.data(), sharedBytes, xa, nullptr, xb, step % 4 != 0, partial.data()));
    if (step % 4 == 3)
      promoted += asFloat(partial[0]);
  }
  const double lost = std::fabs(asFloat(plain[0]) - exact) / exact;
  const double kept = std::fabs(promoted - exact) / exact;
  EXPECT_GT(lost, 1e-3);
  EXPECT_LT(kept, 1e-3);
  EXPECT_GT(lost, 4 * kept);
}

} // namespace
