//===- Tcgen05Test.cpp - fifth-generation tensor cores --------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Tcgen05.h"
#include "TestSupport.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace heddle::emulator::tensor;
using namespace heddle::emulator::tensor::test;

namespace {

constexpr uint32_t sharedBytes = 228 * 1024;

struct Case {
  Tcgen05Kind kind;
  Elem a, b, d;
  unsigned m, n, group = 1;
  bool transA = false, transB = false, negA = false, negB = false, tmemA = false;
  Swizzle swizzle = Swizzle::B128;
  unsigned vector = 0;
  Elem scale = Elem::UE8M0;
  unsigned lane = 0; ///< of D (and A)
  unsigned scaleInputD = 0;
  bool disableSome = false;
  bool stationary = false;
  /// Parts of the columns that lie in lanes of their own (Layouts B, E and G).
  unsigned parts() const { return stationary ? 128 / m : group == 2 && m == 128 ? 2 : 1; }
};

unsigned kOf(Tcgen05Kind kind) {
  switch (kind) {
  case Tcgen05Kind::F16:
    return 16;
  case Tcgen05Kind::TF32:
    return 8;
  case Tcgen05Kind::MxF4:
  case Tcgen05Kind::MxF4NvF4:
    return 64;
  default:
    return 32;
  }
}

uint32_t formatOf(Tcgen05Kind kind, Elem e) {
  switch (e) {
  case Elem::BF16:
  case Elem::S8:
  case Elem::E5M2:
    return 1;
  case Elem::TF32:
    return 2;
  case Elem::E2M3:
    return 3;
  case Elem::E3M2:
    return 4;
  case Elem::E2M1:
    return kind == Tcgen05Kind::MxF4 || kind == Tcgen05Kind::MxF4NvF4 ? 1 : 5;
  default:
    return 0;
  }
}

/// Instruction descriptor, from the tables of PTX ISA 9.0.
uint32_t descriptorOf(const Case &c, unsigned idA, unsigned idB) {
  uint32_t bits = formatOf(c.kind, c.a) << 7 | formatOf(c.kind, c.b) << 10 |
                  uint32_t(c.negA) << 13 | uint32_t(c.negB) << 14 | uint32_t(c.transA) << 15 |
                  uint32_t(c.transB) << 16 | (c.n >> 3) << 17;
  if (c.kind >= Tcgen05Kind::MxF8F6F4)
    return bits | idB << 4 | uint32_t(c.scale == Elem::UE8M0) << 23 | (c.m >> 7) << 27 | idA << 29;
  const uint32_t d = c.d == Elem::F16 ? 0 : c.d == Elem::F32 ? 1 : 2;
  return bits | d << 4 | (c.m >> 4) << 24;
}

/// Puts the elements of one matrix row, k ascending, into shared memory.
void place(std::vector<uint8_t> &shared, const MatrixDescriptor &d, bool mnMajor, const Case &c,
           Elem e, const Matrix &m, unsigned row0, unsigned rows) {
  const unsigned bits = elemBits(e);
  const bool nibbles = kOf(c.kind) == 64;
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned k = 0; k < m.cols; ++k) {
      const uint32_t value = m.bits[(row0 + r) * m.cols + k];
      if (bits >= 8) {
        const unsigned size = bits / 8;
        const uint32_t at =
            mnMajor ? mnMajorAddress(d, r * size, k) : kMajorAddress(d, r, k * size);
        std::memcpy(&shared[at], &value, size);
      } else { // in 16-byte units of 32 (packed) or 16 (padded) elements
        const unsigned per = nibbles ? 32 : 16, bit = k % per * bits;
        const uint32_t unit = kMajorAddress(d, r, k / per * 16);
        uint32_t word = shared[unit + bit / 8] | shared[unit + bit / 8 + 1] << 8;
        word = (word & ~(((1u << bits) - 1) << bit % 8)) | value << bit % 8;
        shared[unit + bit / 8] = static_cast<uint8_t>(word);
        if (bit % 8 + bits > 8)
          shared[unit + bit / 8 + 1] = static_cast<uint8_t>(word >> 8);
      }
    }
}

/// Lane of row `row` (of the CTA's rows) and column n, per the layouts' figures.
void whereD(const Case &c, unsigned row, unsigned n, unsigned &lane, unsigned &column) {
  lane = row, column = n;
  if (c.group == 1 && c.m == 64) // Layout F
    lane = c.lane + row / 16 * 32 + row % 16;
  if (c.parts() > 1) { // Layouts B, E, G
    lane = row + n / (c.n / c.parts()) * (128 / c.parts());
    column = n % (c.n / c.parts());
  }
}

void check(const Case &c, bool integers, std::mt19937 &rng) {
  SCOPED_TRACE("kind " + std::to_string(int(c.kind)) + " " + std::string(elemName(c.a)) + " m" +
               std::to_string(c.m) + " n" + std::to_string(c.n) + " group " +
               std::to_string(c.group) + " swizzle " + std::to_string(int(c.swizzle)) +
               (c.transA ? " ta" : "") + (c.transB ? " tb" : "") + (c.tmemA ? " ts" : ""));
  const unsigned k = kOf(c.kind), rows = c.m / c.group, ctaN = c.n / c.group;
  const int limit = elemBits(c.a) < 8 || elemBits(c.b) < 8 ? 1 : 3;
  const Matrix a =
      integers ? integerMatrix(c.m, k, c.a, limit, rng) : randomMatrix(c.m, k, c.a, rng);
  const Matrix b =
      integers ? integerMatrix(c.n, k, c.b, limit, rng) : randomMatrix(c.n, k, c.b, rng);
  const auto descriptor = [&](uint32_t start, bool mnMajor) {
    MatrixDescriptor d{start, 0, 0, 0, c.swizzle};
    const uint32_t span = swizzleSpan(c.swizzle);
    if (!mnMajor)
      d.stride = c.swizzle == Swizzle::None ? 256 : 8 * span, d.leading = 128;
    else if (c.swizzle == Swizzle::None)
      d.stride = 128, d.leading = 8192;
    else if (c.swizzle == Swizzle::B128Base32)
      d.stride = 512, d.leading = 2048;
    else
      d.stride = 8 * span, d.leading = 4 * 8 * span;
    return d;
  };
  const MatrixDescriptor da = descriptor(1024, c.transA), db = descriptor(96 * 1024, c.transB);

  Tcgen05Mma mma;
  mma.kind = c.kind, mma.ctaGroup = c.group, mma.stationary = c.stationary;
  const unsigned idA = c.vector == 1 ? 3 : c.vector == 2 ? 2 : 0, idB = c.vector == 1 ? 1 : 0;
  mma.idesc = descriptorOf(c, idA, idB);
  mma.d = c.lane << 16 | 40;
  mma.aDesc = encodeTcgen05Descriptor(da), mma.bDesc = encodeTcgen05Descriptor(db);
  mma.aInTmem = c.tmemA, mma.aTmem = c.lane << 16 | 400;
  mma.scaleInputD = c.scaleInputD;
  mma.scaleVector = c.vector, mma.scaleA = 420, mma.scaleB = 440;
  mma.model = modelForTcgen05(c.kind);
  uint32_t mask[8];
  if (c.disableSome) {
    for (uint32_t &w : mask)
      w = rng();
    mma.disableLane = mask;
  }

  std::vector<uint8_t> shared[2];
  TensorMemory tmem[2];
  CtaMemory ctas[2];
  for (unsigned cta = 0; cta < c.group; ++cta) {
    shared[cta].assign(sharedBytes, 0xff);
    for (uint32_t &cell : tmem[cta].cells)
      cell = 0x7fc00000 | rng() % 1000; // NaN: unused cells must not matter
    ctas[cta] = {shared[cta].data(), sharedBytes, &tmem[cta]};
    place(shared[cta], db, c.transB, c, c.b, b, cta * ctaN, ctaN);
    if (!c.tmemA) {
      place(shared[cta], da, c.transA, c, c.a, a, cta * rows, rows);
      continue;
    }
    for (unsigned row = 0; row < rows; ++row)
      for (unsigned copy = 0; copy < c.parts(); ++copy) {
        unsigned lane, unused;
        whereD(c, row, copy * c.n / c.parts(), lane, unused);
        uint32_t cells[8] = {};
        const unsigned bits = elemBits(c.a);
        for (unsigned kk = 0; kk < k; ++kk) {
          const uint32_t value = a.bits[(cta * rows + row) * k + kk];
          const unsigned width = bits >= 8 || k == 64 ? bits : 8; // byte containers
          const unsigned at = kk * width + (width == 8 && bits == 4 ? 2 : 0);
          cells[at / 32] |= value << at % 32;
        }
        for (unsigned i = 0; i < 8; ++i)
          tmem[cta].at(lane, 400 + i) = cells[i];
      }
  }
  // Scales: element (row, chunk) in byte id + chunk of lane row % 32 (all four
  // partitions), column row / 32. In Layout B each half of the columns has its own.
  std::vector<double> rowScale(c.m * 4, 1.0), colScale(c.n * 4, 1.0);
  if (c.vector) {
    const auto fresh = [&] {
      return c.scale == Elem::UE8M0 ? uint32_t(125 + rng() % 5) : uint32_t(0x30 + rng() % 16);
    };
    const auto valueOfScale = [&](uint32_t byte) {
      return c.scale == Elem::UE8M0 ? std::pow(2.0, double(byte) - 127)
                                    : definedValue(Elem::E4M3, byte);
    };
    const auto put = [&](TensorMemory &t, unsigned lane, unsigned column, unsigned byte,
                         uint32_t value) {
      uint32_t &cell = t.at(lane, column);
      cell = (cell & ~(0xffu << 8 * byte)) | value << 8 * byte;
    };
    for (unsigned chunk = 0; chunk < c.vector; ++chunk) {
      for (unsigned row = 0; row < c.m; ++row) {
        const uint32_t s = fresh();
        rowScale[row * 4 + chunk] = valueOfScale(s);
        const unsigned local = row % rows;
        for (unsigned p = 0; p < 4; ++p)
          put(tmem[row / rows], 32 * p + local % 32, 420 + local / 32, idA + chunk, s);
      }
      const bool layoutB = c.group == 2 && c.m == 128;
      for (unsigned n = 0; n < c.n; ++n) {
        const uint32_t s = fresh();
        colScale[n * 4 + chunk] = valueOfScale(s);
        const unsigned local = layoutB ? n % (c.n / 2) : n;
        for (unsigned cta = 0; cta < c.group; ++cta)
          for (unsigned p = 0; p < 4; ++p)
            if (!layoutB || p / 2 == n / (c.n / 2))
              put(tmem[cta], 32 * p + local % 32, 440 + local / 32, idB + chunk, s);
      }
    }
  }
  for (bool inputD : {false, true}) {
    mma.enableInputD = inputD;
    std::vector<double> before(c.m * c.n);
    std::vector<uint32_t> cellsBefore(c.m * c.n);
    for (unsigned row = 0; row < c.m; ++row)
      for (unsigned n = 0; n < c.n; ++n) {
        unsigned lane, column;
        whereD(c, row % rows, n, lane, column);
        const int v = static_cast<int>(rng() % 17) - 8;
        before[row * c.n + n] = inputD ? v * std::pow(2.0, -double(c.scaleInputD)) : 0;
        uint32_t &cell = tmem[row / rows].at(lane, 40 + column);
        cell = c.d == Elem::S32   ? uint32_t(v)
               : c.d == Elem::F16 ? encode(Elem::F16, v)
                                  : asBits(float(v));
        cellsBefore[row * c.n + n] = cell;
      }
    const Problem p = tcgen05Mma(mma, ctas);
    ASSERT_FALSE(p) << *p;
    const double sign = (c.negA ? -1 : 1) * (c.negB ? -1 : 1);
    for (unsigned row = 0; row < c.m; ++row)
      for (unsigned n = 0; n < c.n; ++n) {
        unsigned lane, column;
        whereD(c, row % rows, n, lane, column);
        const uint32_t cell = tmem[row / rows].at(lane, 40 + column);
        if (c.disableSome && (mask[row / rows * 4 + lane / 32] >> lane % 32 & 1)) {
          ASSERT_EQ(cell, cellsBefore[row * c.n + n]);
          continue;
        }
        double sum = 0, size = 0;
        for (unsigned kk = 0; kk < k; ++kk) {
          const unsigned chunk = c.vector ? kk / (k / c.vector) : 0;
          const double term = sign * a.value(row, kk) * b.value(n, kk) * rowScale[row * 4 + chunk] *
                              colScale[n * 4 + chunk];
          sum += term, size += std::fabs(term);
        }
        sum += before[row * c.n + n], size += std::fabs(before[row * c.n + n]);
        const double got = c.d == Elem::S32   ? static_cast<int32_t>(cell)
                           : c.d == Elem::F16 ? definedValue(Elem::F16, cell)
                                              : asFloat(cell);
        if (c.d == Elem::S32 || (integers && !c.vector))
          ASSERT_EQ(got, sum) << "row " << row << " column " << n;
        else
          ASSERT_NEAR(got, sum, size * (c.d == Elem::F16 ? 0x1p-10 : 0x1p-22))
              << "row " << row << " column " << n;
      }
  }
}

const Swizzle swizzles[] = {Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128};

TEST(Tcgen05, KindsFromSharedMemoryInEveryLayout) {
  std::mt19937 rng(71);
  for (Swizzle s : swizzles)
    for (bool integers : {true, false}) {
      Case c{Tcgen05Kind::F16, Elem::BF16, Elem::BF16, Elem::F32, 128, 256};
      c.swizzle = s;
      check(c, integers, rng);
      c = {Tcgen05Kind::F16, Elem::F16, Elem::F16, Elem::F16, 64, 24};
      c.swizzle = s;
      check(c, integers, rng);
      c = {Tcgen05Kind::TF32, Elem::TF32, Elem::TF32, Elem::F32, 128, 40};
      c.swizzle = s;
      check(c, integers, rng);
      c = {Tcgen05Kind::F8F6F4, Elem::E4M3, Elem::E5M2, Elem::F32, 128, 64};
      c.swizzle = s;
      check(c, integers, rng);
      c = {Tcgen05Kind::I8, Elem::S8, Elem::U8, Elem::S32, 64, 48};
      c.swizzle = s;
      check(c, integers, rng);
    }
}

TEST(Tcgen05, WeightStationaryFillsAllLanes) {
  std::mt19937 rng(77);
  for (unsigned m : {32u, 64u, 128u})
    for (unsigned n : {64u, 128u, 256u})
      for (bool tmemA : {false, true}) {
        Case c{Tcgen05Kind::F16, Elem::BF16, Elem::BF16, Elem::F32, m, n};
        c.stationary = true, c.tmemA = tmemA;
        check(c, true, rng);
        c = {Tcgen05Kind::F8F6F4, Elem::E4M3, Elem::E2M1, Elem::F16, m, n};
        c.stationary = true, c.tmemA = tmemA;
        check(c, true, rng);
        c = {Tcgen05Kind::I8, Elem::S8, Elem::U8, Elem::S32, m, n};
        c.stationary = true, c.tmemA = tmemA;
        check(c, false, rng);
      }
  InstructionDescriptor d;
  Case c{Tcgen05Kind::F16, Elem::BF16, Elem::BF16, Elem::F32, 32, 48};
  Problem p = decodeInstructionDescriptor(c.kind, descriptorOf(c, 0, 0), 1, d, true);
  ASSERT_TRUE(p);
  EXPECT_EQ(*p, "expected N 64, 128 or 256 with .ws, got 48");
  EXPECT_TRUE(
      decodeInstructionDescriptor(c.kind, descriptorOf(c, 0, 0), 1, d)); // M 32 only with .ws
}

TEST(Tcgen05, TransposedOperands) {
  std::mt19937 rng(72);
  for (int t = 1; t < 4; ++t) {
    for (Swizzle s : swizzles) {
      Case c{Tcgen05Kind::F16, Elem::F16, Elem::F16, Elem::F32, 128, 64};
      c.transA = t & 1, c.transB = t & 2, c.swizzle = s;
      check(c, true, rng);
      c.kind = Tcgen05Kind::F8F6F4, c.a = Elem::E4M3, c.b = Elem::E4M3;
      check(c, true, rng);
    }
    Case c{Tcgen05Kind::TF32, Elem::TF32, Elem::TF32, Elem::F32, 128, 64};
    c.transA = c.transB = true, c.swizzle = Swizzle::B128Base32;
    check(c, true, rng);
  }
}

TEST(Tcgen05, NegationScaleOfDAndDisabledLanes) {
  std::mt19937 rng(73);
  Case c{Tcgen05Kind::F16, Elem::BF16, Elem::BF16, Elem::F32, 128, 32};
  for (int t = 0; t < 4; ++t) {
    c.negA = t & 1, c.negB = t & 2;
    check(c, true, rng);
  }
  c.negA = c.negB = false;
  c.scaleInputD = 3;
  check(c, true, rng);
  c.scaleInputD = 0, c.disableSome = true;
  check(c, true, rng);
  c.group = 2, c.m = 256;
  check(c, true, rng);
  c.m = 128;
  check(c, true, rng);
}

TEST(Tcgen05, HalfDatapathFromLane16) {
  std::mt19937 rng(74);
  Case c{Tcgen05Kind::F16, Elem::F16, Elem::F16, Elem::F32, 64, 64};
  c.lane = 16;
  check(c, true, rng);
  c.tmemA = true;
  check(c, true, rng);
}

TEST(Tcgen05, PairsOfCtas) {
  std::mt19937 rng(75);
  for (unsigned m : {128u, 256u})
    for (bool tmemA : {false, true})
      for (bool integers : {true, false}) {
        Case c{Tcgen05Kind::F16, Elem::BF16, Elem::BF16, Elem::F32, m, 256, 2};
        c.tmemA = tmemA;
        check(c, integers, rng);
        c = {Tcgen05Kind::F8F6F4, Elem::E4M3, Elem::E4M3, Elem::F32, m, 64, 2};
        c.tmemA = tmemA;
        check(c, integers, rng);
        c.n = 128, c.transB = true;
        check(c, integers, rng);
      }
}

TEST(Tcgen05, AInTensorMemory) {
  std::mt19937 rng(76);
  for (unsigned m : {64u, 128u}) {
    for (Elem e : {Elem::F16, Elem::BF16}) {
      Case c{Tcgen05Kind::F16, e, e, Elem::F32, m, 64};
      c.tmemA = true;
      check(c, true, rng);
    }
    Case c{Tcgen05Kind::TF32, Elem::TF32, Elem::TF32, Elem::F32, m, 64};
    c.tmemA = true;
    check(c, true, rng);
    c = {Tcgen05Kind::I8, Elem::S8, Elem::S8, Elem::S32, m, 32};
    c.tmemA = true;
    check(c, true, rng);
  }
}

const Elem narrow[] = {Elem::E4M3, Elem::E5M2, Elem::E2M3, Elem::E3M2, Elem::E2M1};

TEST(Tcgen05, EveryPairOfNarrowTypes) {
  std::mt19937 rng(77);
  for (Elem a : narrow)
    for (Elem b : narrow)
      for (bool tmemA : {false, true}) {
        Case c{Tcgen05Kind::F8F6F4, a, b, Elem::F32, 128, 16};
        c.tmemA = tmemA;
        check(c, false, rng);
        c.kind = Tcgen05Kind::MxF8F6F4, c.vector = 1;
        check(c, false, rng);
      }
}

TEST(Tcgen05, BlockScaledKinds) {
  std::mt19937 rng(78);
  for (unsigned group : {1u, 2u})
    for (unsigned m : {128u, 256u})
      for (unsigned n : {16u, 96u, 256u}) {
        if (group == 1 && m == 256)
          continue;
        Case c{Tcgen05Kind::MxF8F6F4, Elem::E4M3, Elem::E4M3, Elem::F32, m, n, group};
        c.vector = 1;
        check(c, false, rng);
        c = {Tcgen05Kind::MxF4, Elem::E2M1, Elem::E2M1, Elem::F32, m, n, group};
        c.vector = 2;
        check(c, false, rng);
        c.kind = Tcgen05Kind::MxF4NvF4;
        check(c, false, rng);
        c.vector = 4;
        check(c, false, rng);
        c.scale = Elem::UE4M3;
        check(c, false, rng);
      }
}

TEST(Tcgen05, FootprintCountsEveryOperand) {
  Tcgen05Mma mma;
  const Case c{Tcgen05Kind::F16, Elem::BF16, Elem::BF16, Elem::F32, 128, 256, 2};
  mma.ctaGroup = 2;
  mma.idesc = descriptorOf(c, 0, 0);
  const MatrixDescriptor da{1024, 16, 1024, 0, Swizzle::B128},
      db{65536, 16, 1024, 0, Swizzle::B128};
  mma.aDesc = encodeTcgen05Descriptor(da), mma.bDesc = encodeTcgen05Descriptor(db);
  mma.enableInputD = true;
  Tcgen05Footprint f;
  ASSERT_FALSE(tcgen05MmaFootprint(mma, sharedBytes, f));
  uint32_t bytes[2] = {};
  for (const ByteRun &r : f.sharedReads)
    bytes[r.cta] += r.bytes;
  EXPECT_EQ(bytes[0], (64u + 128u) * 32);
  EXPECT_EQ(bytes[1], (64u + 128u) * 32);
  ASSERT_EQ(f.tmemWrites.size(), 2u);
  EXPECT_EQ(f.tmemWrites[1].cta, 1);
  EXPECT_EQ(f.tmemWrites[0].lanes, 128);
  EXPECT_EQ(f.tmemWrites[0].columns, 128);
  EXPECT_EQ(f.tmemReads.size(), 2u);
  mma.enableInputD = false;
  f = {};
  ASSERT_FALSE(tcgen05MmaFootprint(mma, sharedBytes, f));
  EXPECT_TRUE(f.tmemReads.empty());
}

TEST(Tcgen05, DecodesTheDescriptorOfAKnownKernel) {
  // kind::f16, bf16 x bf16 -> f32, M 128, N 256.
  const uint32_t bits = 1u << 4 | 1u << 7 | 1u << 10 | (256u >> 3) << 17 | (128u >> 4) << 24;
  InstructionDescriptor d;
  ASSERT_FALSE(decodeInstructionDescriptor(Tcgen05Kind::F16, bits, 1, d));
  EXPECT_EQ(d.m, 128u);
  EXPECT_EQ(d.n, 256u);
  EXPECT_EQ(d.k, 16u);
  EXPECT_EQ(d.a, Elem::BF16);
  EXPECT_EQ(d.d, Elem::F32);
}

TEST(Tcgen05, RefusesMalformedInstructions) {
  InstructionDescriptor d;
  const uint32_t good = 1u << 4 | 1u << 7 | 1u << 10 | 32u << 17 | 8u << 24;
  const auto message = [&](Tcgen05Kind kind, uint32_t bits, unsigned group) {
    const Problem p = decodeInstructionDescriptor(kind, bits, group, d);
    return p ? *p : std::string();
  };
  EXPECT_EQ(message(Tcgen05Kind::F16, good, 1), "");
  EXPECT_EQ(message(Tcgen05Kind::F16, good, 2), "");
  EXPECT_EQ(message(Tcgen05Kind::F16, (good & ~(31u << 24)) | 4u << 24, 2),
            "expected M 128 or 256 for kind::f16 with cta_group::2, got 64");
  EXPECT_EQ(message(Tcgen05Kind::F16, (good & ~(63u << 17)) | 1u << 17, 2),
            "expected N to be a multiple of 16 up to 256, got 8");
  EXPECT_NE(message(Tcgen05Kind::F16, good | 4, 1), "");          // sparse
  EXPECT_NE(message(Tcgen05Kind::F16, good | 1u << 30, 1), "");   // max shift without .ws
  EXPECT_NE(message(Tcgen05Kind::F16, good & ~(1u << 4), 1), ""); // f16 D of bf16
  EXPECT_NE(message(Tcgen05Kind::TF32, good, 1), "");
  EXPECT_NE(message(Tcgen05Kind::I8, good | 1u << 13, 1), "");

  Tcgen05Mma mma;
  mma.idesc = good;
  mma.aDesc = mma.bDesc = encodeTcgen05Descriptor({1024, 16, 1024, 0, Swizzle::B128});
  Tcgen05Footprint f;
  EXPECT_FALSE(tcgen05MmaFootprint(mma, sharedBytes, f));
  const auto refused = [&](auto change) {
    Tcgen05Mma bad = mma;
    change(bad);
    Tcgen05Footprint g;
    return tcgen05MmaFootprint(bad, sharedBytes, g).has_value();
  };
  EXPECT_TRUE(refused([](Tcgen05Mma &m) { m.d = 300; }));       // beyond column 512
  EXPECT_TRUE(refused([](Tcgen05Mma &m) { m.d = 16u << 16; })); // lane
  EXPECT_TRUE(refused([](Tcgen05Mma &m) { m.bDesc = 0; }));
  EXPECT_TRUE(refused([](Tcgen05Mma &m) { m.scaleInputD = 16; }));
  EXPECT_TRUE(refused([](Tcgen05Mma &m) { m.scaleVector = 1; }));
  EXPECT_TRUE(refused([](Tcgen05Mma &m) { m.aInTmem = true, m.aTmem = 508; }));
  EXPECT_TRUE(refused([](Tcgen05Mma &m) { m.ctaGroup = 3; }));
  EXPECT_TRUE(refused([](Tcgen05Mma &m) {
    m.bDesc = encodeTcgen05Descriptor({230000, 16, 1024, 0, Swizzle::B128});
  }));
}

} // namespace
