//===- MmaSyncTest.cpp - warp-level matrix multiply-accumulate ------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The fragment formulas below are those of PTX ISA 9.0, "Matrix Fragments for mma...",
// one function per shape; they share nothing with the code under test.
//
//===----------------------------------------------------------------------===//
#include "MmaSync.h"
#include "TestSupport.h"

#include <gtest/gtest.h>

using namespace heddle::emulator::tensor;
using namespace heddle::emulator::tensor::test;

namespace {

struct Place {
  unsigned row, col;
};
using Formula = Place (*)(unsigned g, unsigned t, unsigned i);

struct Shape {
  unsigned k, elementsA, elementsB, bits; ///< per lane; bits an element takes in registers
  Formula a, b;
};

const Shape m16n8k4tf32{
    4,
    2,
    1,
    32,
    [](unsigned g, unsigned t, unsigned i) -> Place { return {i == 0 ? g : g + 8, t}; },
    [](unsigned g, unsigned t, unsigned) -> Place { return {t, g}; }};
const Shape m16n8k8tf32{
    8,
    4,
    2,
    32,
    [](unsigned g, unsigned t, unsigned i) -> Place {
      return {i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4};
    },
    [](unsigned g, unsigned t, unsigned i) -> Place { return {i == 0 ? t : t + 4, g}; }};
const Shape m16n8k8half{
    8,
    4,
    2,
    16,
    [](unsigned g, unsigned t, unsigned i) -> Place {
      return {i < 2 ? g : g + 8, t * 2 + (i & 1)};
    },
    [](unsigned g, unsigned t, unsigned i) -> Place { return {t * 2 + (i & 1), g}; }};
const Shape m16n8k16half{16,
                         8,
                         4,
                         16,
                         [](unsigned g, unsigned t, unsigned i) -> Place {
                           const bool top = i < 2 || (i >= 4 && i < 6);
                           return {top ? g : g + 8, t * 2 + (i & 1) + (i < 4 ? 0 : 8)};
                         },
                         [](unsigned g, unsigned t, unsigned i) -> Place {
                           return {t * 2 + (i & 1) + (i < 2 ? 0 : 8), g};
                         }};
const Shape m16n8k16byte{
    16,
    8,
    4,
    8,
    [](unsigned g, unsigned t, unsigned i) -> Place {
      return {i < 4 ? g : g + 8, t * 4 + (i & 3)};
    },
    [](unsigned g, unsigned t, unsigned i) -> Place { return {t * 4 + (i & 3), g}; }};
const Shape m16n8k32byte{32,
                         16,
                         8,
                         8,
                         [](unsigned g, unsigned t, unsigned i) -> Place {
                           const bool top = i < 4 || (i >= 8 && i < 12);
                           return {top ? g : g + 8, t * 4 + (i & 3) + (i < 8 ? 0 : 16)};
                         },
                         [](unsigned g, unsigned t, unsigned i) -> Place {
                           return {t * 4 + (i & 3) + (i < 4 ? 0 : 16), g};
                         }};
const Shape m16n8k64nibble{64,
                           32,
                           16,
                           4,
                           [](unsigned g, unsigned t, unsigned i) -> Place {
                             const bool top = i < 8 || (i >= 16 && i < 24);
                             return {top ? g : g + 8, t * 8 + (i & 7) + (i < 16 ? 0 : 32)};
                           },
                           [](unsigned g, unsigned t, unsigned i) -> Place {
                             return {t * 8 + (i & 7) + (i < 8 ? 0 : 32), g};
                           }};

Place placeD(unsigned g, unsigned t, unsigned i) { return {i < 2 ? g : g + 8, t * 2 + (i & 1)}; }

struct Case {
  Elem a, b, d;
  const Shape *shape;
  MmaKind kind = MmaKind::Plain;
  unsigned vector = 0;
  Elem scale = Elem::UE8M0;
};

/// Position of an element's bits inside its container in a register.
unsigned containerShift(Elem e, const Shape &s) { return s.bits == 8 && elemBits(e) == 4 ? 2 : 0; }

void check(const Case &c, bool integers, std::mt19937 &rng) {
  const Shape &s = *c.shape;
  SCOPED_TRACE(std::string(elemName(c.d)) + "." + std::string(elemName(c.a)) + "." +
               std::string(elemName(c.b)) + " k" + std::to_string(s.k));
  MmaConfig config;
  config.k = s.k;
  config.a = c.a, config.b = c.b, config.d = c.d;
  config.kind = c.kind, config.scaleVector = c.vector, config.scale = c.scale;
  config.model = {0, 0, true};
  ASSERT_FALSE(checkMma(config)) << *checkMma(config);
  const MmaRegisters regs = mmaRegisters(config);
  ASSERT_EQ(regs.a, s.elementsA * s.bits / 32);
  ASSERT_EQ(regs.b, s.elementsB * s.bits / 32);
  ASSERT_EQ(regs.d, c.d == Elem::F16 ? 2u : 4u);

  const int limit = elemBits(c.a) < 8 || elemBits(c.b) < 8 ? 1 : 3;
  const Matrix a =
      integers ? integerMatrix(16, s.k, c.a, limit, rng) : randomMatrix(16, s.k, c.a, rng);
  const Matrix b =
      integers ? integerMatrix(s.k, 8, c.b, limit, rng) : randomMatrix(s.k, 8, c.b, rng);
  std::vector<uint32_t> ra(regs.a * 32), rb(regs.b * 32), rc(4 * 32), rd(4 * 32);
  std::vector<double> before(16 * 8);
  const unsigned per = 32 / s.bits;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned g = lane >> 2, t = lane % 4;
    for (unsigned i = 0; i < s.elementsA; ++i) {
      const Place p = s.a(g, t, i);
      ra[i / per * 32 + lane] |= a.bits[p.row * s.k + p.col]
                                 << (i % per * s.bits + containerShift(c.a, s));
      const Coord at = mmaElementA(config, lane, i);
      ASSERT_TRUE(at.row == p.row && at.col == p.col) << "A of lane " << lane << " element " << i;
    }
    for (unsigned i = 0; i < s.elementsB; ++i) {
      const Place p = s.b(g, t, i);
      rb[i / per * 32 + lane] |= b.bits[p.row * 8 + p.col]
                                 << (i % per * s.bits + containerShift(c.b, s));
      const Coord at = mmaElementB(config, lane, i);
      ASSERT_TRUE(at.row == p.row && at.col == p.col) << "B of lane " << lane << " element " << i;
    }
    for (unsigned i = 0; i < 4; ++i) {
      const Place p = placeD(g, t, i);
      const int v = static_cast<int>(rng() % 9) - 4;
      before[p.row * 8 + p.col] = v;
      if (c.d == Elem::F16)
        rc[i / 2 * 32 + lane] |= encode(Elem::F16, v) << 16 * (i & 1);
      else
        rc[i * 32 + lane] = c.d == Elem::S32 ? static_cast<uint32_t>(v) : asBits(float(v));
    }
  }
  // Scales: a different power of two (or ue4m3 value) for every row, column and chunk.
  std::vector<uint32_t> sa(32), sb(32);
  MmaScales scales;
  const auto scaleOf = [&](uint32_t byte) {
    return c.scale == Elem::UE8M0 ? std::pow(2.0, double(byte) - 127)
                                  : definedValue(Elem::E4M3, byte & 0x7f);
  };
  std::vector<double> rowScale(16 * 4, 1.0), colScale(8 * 4, 1.0);
  if (c.vector) {
    for (auto *v : {&sa, &sb})
      for (uint32_t &x : *v)
        for (unsigned byte = 0; byte < 4; ++byte)
          x = x << 8 | (c.scale == Elem::UE8M0 ? 125 + rng() % 5 : 0x30 + rng() % 16);
    scales.a = sa.data(), scales.b = sb.data();
    scales.byteA = c.vector == 1 ? 3 : c.vector == 2 ? 2 : 0;
    scales.byteB = c.vector == 1 ? 1 : 0;
    scales.threadA = 1, scales.threadB = 2;
    ASSERT_FALSE(checkMmaScales(config, scales));
    for (unsigned chunk = 0; chunk < c.vector; ++chunk) {
      // Lanes with laneid % 4 == 2 or 3 provide the scales of A: the first of the pair for
      // row g, the second for row g + 8. Lanes with laneid % 4 == 2 provide those of B.
      for (unsigned row = 0; row < 16; ++row)
        rowScale[row * 4 + chunk] =
            scaleOf(sa[row % 8 * 4 + 2 + row / 8] >> 8 * (scales.byteA + chunk) & 0xff);
      for (unsigned col = 0; col < 8; ++col)
        colScale[col * 4 + chunk] = scaleOf(sb[col * 4 + 2] >> 8 * (scales.byteB + chunk) & 0xff);
    }
  }
  mmaSync(config, ra.data(), rb.data(), rc.data(), rd.data(), scales);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 4; ++i) {
      const Place p = placeD(lane >> 2, lane % 4, i);
      double sum = 0, size = 0;
      for (unsigned k = 0; k < s.k; ++k) {
        const unsigned chunk = c.vector ? k / (s.k / c.vector) : 0;
        const double term = a.value(p.row, k) * b.value(k, p.col) * rowScale[p.row * 4 + chunk] *
                            colScale[p.col * 4 + chunk];
        sum += term;
        size += std::fabs(term);
      }
      sum += before[p.row * 8 + p.col];
      size += std::fabs(before[p.row * 8 + p.col]);
      double got = asFloat(rd[i * 32 + lane]);
      if (c.d == Elem::S32)
        got = static_cast<int32_t>(rd[i * 32 + lane]);
      if (c.d == Elem::F16)
        got = definedValue(Elem::F16, rd[i / 2 * 32 + lane] >> 16 * (i & 1) & 0xffff);
      if (c.d == Elem::S32 || (integers && !c.vector))
        ASSERT_EQ(got, sum) << "row " << p.row << " column " << p.col;
      else
        ASSERT_NEAR(got, sum, size * (c.d == Elem::F16 ? 0x1p-10 : 0x1p-22));
    }
}

TEST(MmaSync, SixteenBitAndTF32) {
  std::mt19937 rng(31);
  for (bool integers : {true, false}) {
    check({Elem::F16, Elem::F16, Elem::F32, &m16n8k16half}, integers, rng);
    check({Elem::F16, Elem::F16, Elem::F16, &m16n8k16half}, integers, rng);
    check({Elem::F16, Elem::F16, Elem::F32, &m16n8k8half}, integers, rng);
    check({Elem::F16, Elem::F16, Elem::F16, &m16n8k8half}, integers, rng);
    check({Elem::BF16, Elem::BF16, Elem::F32, &m16n8k16half}, integers, rng);
    check({Elem::BF16, Elem::BF16, Elem::F32, &m16n8k8half}, integers, rng);
    check({Elem::TF32, Elem::TF32, Elem::F32, &m16n8k8tf32}, integers, rng);
    check({Elem::TF32, Elem::TF32, Elem::F32, &m16n8k4tf32}, integers, rng);
  }
}

TEST(MmaSync, EightBit) {
  std::mt19937 rng(32);
  for (Elem a : {Elem::S8, Elem::U8})
    for (Elem b : {Elem::S8, Elem::U8})
      for (const Shape *s : {&m16n8k16byte, &m16n8k32byte})
        check({a, b, Elem::S32, s}, false, rng);
  for (Elem a : {Elem::E4M3, Elem::E5M2})
    for (Elem b : {Elem::E4M3, Elem::E5M2})
      for (const Shape *s : {&m16n8k16byte, &m16n8k32byte}) {
        check({a, b, Elem::F32, s}, true, rng);
        check({a, b, Elem::F32, s}, false, rng);
        check({a, b, Elem::F16, s}, true, rng);
      }
}

const Elem narrow[] = {Elem::E4M3, Elem::E5M2, Elem::E3M2, Elem::E2M3, Elem::E2M1};

TEST(MmaSync, EveryPairOfNarrowTypesInByteContainers) {
  std::mt19937 rng(33);
  for (Elem a : narrow)
    for (Elem b : narrow) {
      check({a, b, Elem::F32, &m16n8k32byte, MmaKind::F8F6F4}, false, rng);
      check({a, b, Elem::F16, &m16n8k32byte, MmaKind::F8F6F4}, true, rng);
      check({a, b, Elem::F32, &m16n8k32byte, MmaKind::MxF8F6F4, 1}, false, rng);
    }
}

TEST(MmaSync, BlockScaledFourBit) {
  std::mt19937 rng(34);
  const Elem f4 = Elem::E2M1;
  check({f4, f4, Elem::F32, &m16n8k64nibble, MmaKind::MxF4, 2}, false, rng);
  check({f4, f4, Elem::F32, &m16n8k64nibble, MmaKind::MxF4NvF4, 2}, false, rng);
  check({f4, f4, Elem::F32, &m16n8k64nibble, MmaKind::MxF4NvF4, 4}, false, rng);
  check({f4, f4, Elem::F32, &m16n8k64nibble, MmaKind::MxF4NvF4, 4, Elem::UE4M3}, false, rng);
}

TEST(MmaSync, IntegerSaturation) {
  MmaConfig c;
  c.k = 32, c.a = c.b = Elem::U8, c.d = Elem::S32, c.satfinite = true;
  std::vector<uint32_t> a(4 * 32, 0xffffffff), b(2 * 32, 0xffffffff), acc(4 * 32, 0x7fffffff);
  mmaSync(c, a.data(), b.data(), acc.data(), acc.data());
  EXPECT_EQ(acc[5], 0x7fffffffu);
  c.satfinite = false;
  mmaSync(c, a.data(), b.data(), acc.data(), acc.data());
  EXPECT_EQ(acc[5], 0x7fffffffu + 32u * 255 * 255);
}

TEST(MmaSync, AdaFp8KeepsAShortAccumulator) {
  EXPECT_EQ(modelForMmaSync(8, 9, Elem::E4M3).fractionBits, 13);
  EXPECT_EQ(modelForMmaSync(12, 0, Elem::E4M3).fractionBits, 0);
  EXPECT_EQ(modelForMmaSync(8, 0, Elem::BF16).fractionBits, 0);
  MmaConfig c;
  c.k = 32, c.a = c.b = Elem::E4M3;
  c.model = modelForMmaSync(8, 9, Elem::E4M3);
  std::vector<uint32_t> a(4 * 32, 0x38383838), b(2 * 32, 0x38383838), acc(4 * 32); // ones
  for (uint32_t &x : acc)
    x = asBits(16384.0f);
  mmaSync(c, a.data(), b.data(), acc.data(), acc.data());
  EXPECT_EQ(asFloat(acc[0]), 16384.0f); // each one falls below 2^14 - 13 bits
}

TEST(MmaSync, RefusesWhatPtxDoesNotDefine) {
  MmaConfig c;
  EXPECT_FALSE(checkMma(c));
  c.m = 8;
  EXPECT_EQ(*checkMma(c), "expected an mma shape m16n8, got m8n8k16.f32.f16.f16");
  c = {}, c.k = 32;
  EXPECT_TRUE(checkMma(c));
  c = {}, c.a = Elem::BF16;
  EXPECT_TRUE(checkMma(c)); // mixed
  c = {}, c.kind = MmaKind::MxF4, c.a = c.b = Elem::E2M1, c.k = 64, c.scaleVector = 4;
  EXPECT_TRUE(checkMma(c));
  c.scaleVector = 2;
  EXPECT_FALSE(checkMma(c));
  uint32_t word[32] = {};
  MmaScales s;
  s.a = s.b = word;
  s.byteA = 1;
  EXPECT_EQ(*checkMmaScales(c, s), "expected a byte-id that fits .scale_vec::2X, got 1");
  s.byteA = 0, s.threadA = 2;
  EXPECT_TRUE(checkMmaScales(c, s));
}

} // namespace
