//===- Tcgen05MoveTest.cpp - tensor memory loads, stores and copies -------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Tcgen05.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>

using namespace heddle::emulator::tensor;

namespace {

uint32_t address(unsigned lane, unsigned column) { return lane << 16 | column; }

TensorMemory numbered() {
  TensorMemory t;
  for (unsigned lane = 0; lane < 128; ++lane)
    for (unsigned column = 0; column < 512; ++column)
      t.at(lane, column) = lane << 16 | column;
  return t;
}

const TmemShape shapes[] = {TmemShape::S16x64b, TmemShape::S16x128b, TmemShape::S16x256b,
                            TmemShape::S32x32b, TmemShape::S16x32bx2};

TEST(TmemLoad, RegistersOfEachShapePerTableOfThePtxManual) {
  for (unsigned num = 1; num <= 128; num *= 2) {
    EXPECT_EQ(tmemRegisters({TmemShape::S32x32b, num}), num);
    EXPECT_EQ(tmemRegisters({TmemShape::S16x64b, num}), num);
    EXPECT_EQ(tmemRegisters({TmemShape::S16x32bx2, num}), num);
    EXPECT_EQ(tmemRegisters({TmemShape::S16x128b, num}), 2 * num);
    EXPECT_EQ(tmemRegisters({TmemShape::S16x256b, num}), 4 * num);
  }
}

TEST(TmemLoad, ThirtyTwoLanesGetTheirOwnRow) {
  const TensorMemory t = numbered();
  const TmemMove move{TmemShape::S32x32b, 16, false, 0, 2};
  ASSERT_FALSE(checkTmemMove(move, address(64, 100)));
  std::vector<uint32_t> r(16 * 32);
  tmemLoad(move, t, address(64, 100), r.data());
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 16; ++i)
      ASSERT_EQ(r[i * 32 + lane], (64 + lane) << 16 | (100 + i));
}

TEST(TmemLoad, SixteenBy256FollowsTheMmaAccumulatorFragment) {
  // Registers 0-3 of a lane are the c0..c3 of an m16n8 accumulator: rows g and g + 8,
  // columns 2t and 2t + 1.
  const TensorMemory t = numbered();
  std::vector<uint32_t> r(8 * 32);
  tmemLoad({TmemShape::S16x256b, 2}, t, address(0, 8), r.data());
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 8; ++i) {
      const unsigned row = lane / 4 + (i % 4 >= 2 ? 8 : 0);
      const unsigned column = 8 + lane % 4 * 2 + i % 2 + i / 4 * 8;
      ASSERT_EQ(r[i * 32 + lane], row << 16 | column);
    }
}

TEST(TmemLoad, EveryShapeCoversItsRectangleOnce) {
  for (TmemShape s : shapes)
    for (unsigned num : {1u, 4u, 32u})
      for (bool pack : {false, true}) {
        TmemMove move{s, num, pack, 0, 1};
        move.halfSplitOff = s == TmemShape::S16x32bx2 ? num * (pack ? 2 : 1) + 3 : 0;
        const uint32_t at = address(s == TmemShape::S32x32b ? 32 : 48, 10);
        const Problem p = checkTmemMove(move, at);
        if (p) // packed shapes of many columns do not fit
          continue;
        std::vector<TmemRun> runs;
        tmemRuns(move, at, runs);
        std::set<std::pair<unsigned, unsigned>> expected, seen;
        for (const TmemRun &r : runs)
          for (unsigned i = 0; i < r.lanes; ++i)
            for (unsigned j = 0; j < r.columns; ++j)
              EXPECT_TRUE(expected.insert({r.lane + i, r.column + j}).second);
        for (unsigned thread = 0; thread < 32; ++thread)
          for (unsigned reg = 0; reg < tmemRegisters(move); ++reg) {
            const TmemCell c = tmemCell(move, at, thread, reg);
            EXPECT_TRUE(seen.insert({c.lane, c.column}).second);
            if (pack)
              EXPECT_TRUE(seen.insert({c.lane, c.column + 1}).second);
          }
        EXPECT_EQ(seen, expected) << int(s) << " x" << num << " pack " << pack;
      }
}

TEST(TmemLoad, PackingJoinsTheLowHalvesOfNeighbours) {
  const TensorMemory t = numbered();
  std::vector<uint32_t> r(4 * 32);
  tmemLoad({TmemShape::S32x32b, 4, true}, t, address(0, 20), r.data());
  for (unsigned i = 0; i < 4; ++i)
    ASSERT_EQ(r[i * 32 + 5], (20 + 2 * i) | (21 + 2 * i) << 16);
}

TEST(TmemStore, UndoesTheLoadOfEveryShape) {
  std::mt19937 rng(61);
  for (TmemShape s : shapes)
    for (bool pack : {false, true}) {
      TmemMove move{s, 8, pack, 40, 3};
      const uint32_t at = address(96, 64);
      ASSERT_FALSE(checkTmemMove(move, at));
      std::vector<uint32_t> out(tmemRegisters(move) * 32), back(out.size());
      for (uint32_t &x : out)
        x = rng();
      TensorMemory t;
      tmemStore(move, t, at, out.data());
      tmemLoad(move, t, at, back.data());
      EXPECT_EQ(out, back);
    }
}

TEST(TmemMoveCheck, WarpsMayOnlyTouchTheirLanes) {
  EXPECT_EQ(*checkTmemMove({TmemShape::S32x32b, 1, false, 0, 1}, address(0, 0)),
            "expected tensor memory lane 32 for warp 1 of its warpgroup, got lane 0");
  EXPECT_FALSE(checkTmemMove({TmemShape::S16x64b, 1, false, 0, 1}, address(48, 0)));
  EXPECT_TRUE(checkTmemMove({TmemShape::S32x32b, 1, false, 0, 1}, address(48, 0)));
  EXPECT_TRUE(checkTmemMove({TmemShape::S32x32b, 3, false, 0, 0}, address(0, 0)));
  EXPECT_TRUE(checkTmemMove({TmemShape::S16x256b, 64, false, 0, 0}, address(0, 0)));
  EXPECT_TRUE(checkTmemMove({TmemShape::S32x32b, 32, false, 0, 0}, address(0, 490)));
}

//===----------------------------------------------------------------------===//
// cp
//===----------------------------------------------------------------------===//

struct CopyCase {
  TmemCopyShape shape;
  unsigned rows, bytes;
  std::vector<std::vector<unsigned>> lanes; ///< of each row
};

std::vector<CopyCase> copyCases() {
  std::vector<CopyCase> all;
  const auto add = [&](TmemCopyShape s, unsigned rows, unsigned bytes, auto lanesOf) {
    CopyCase c{s, rows, bytes, {}};
    for (unsigned r = 0; r < rows; ++r)
      c.lanes.push_back(lanesOf(r));
    all.push_back(std::move(c));
  };
  using L = std::vector<unsigned>;
  add(TmemCopyShape::S128x256b, 128, 32, [](unsigned r) { return L{r}; });
  add(TmemCopyShape::S128x128b, 128, 16, [](unsigned r) { return L{r}; });
  add(TmemCopyShape::S4x256b, 4, 32, [](unsigned r) { return L{32 * r}; });
  // Warps 0 and 2 get the first half, 1 and 3 the second.
  add(TmemCopyShape::S64x128bWarpx2_02_13, 64, 16, [](unsigned r) { return L{r, r + 64}; });
  // Warps 0 and 1 get the first half, 2 and 3 the second.
  add(TmemCopyShape::S64x128bWarpx2_01_23, 64, 16,
      [](unsigned r) { return r < 32 ? L{r, r + 32} : L{r + 32, r + 64}; });
  add(TmemCopyShape::S32x128bWarpx4, 32, 16,
      [](unsigned r) { return L{r, r + 32, r + 64, r + 96}; });
  return all;
}

TEST(TmemCopyTest, EveryShapeReachesItsLanes) {
  std::mt19937 rng(62);
  for (const CopyCase &c : copyCases())
    for (Swizzle s : {Swizzle::None, Swizzle::B32, Swizzle::B128}) {
      if (s == Swizzle::B32 && c.bytes == 16)
        continue;
      std::vector<uint8_t> shared(64 * 1024);
      for (uint8_t &b : shared)
        b = static_cast<uint8_t>(rng());
      const MatrixDescriptor d{1024, 4096, s == Swizzle::None ? 128u : 8 * swizzleSpan(s), 0, s};
      TmemCopy copy{c.shape, TmemCopyFormat::None, address(0, 33), encodeTcgen05Descriptor(d)};
      TensorMemory t;
      Tcgen05Footprint f;
      ASSERT_FALSE(tcgen05CpFootprint(copy, shared.size(), f));
      ASSERT_FALSE(tcgen05Cp(copy, shared.data(), shared.size(), t));
      uint32_t read = 0;
      for (const ByteRun &r : f.sharedReads)
        read += r.bytes;
      EXPECT_EQ(read, c.rows * c.bytes);
      std::set<unsigned> touched;
      for (unsigned row = 0; row < c.rows; ++row)
        for (unsigned lane : c.lanes[row]) {
          touched.insert(lane);
          for (unsigned w = 0; w < c.bytes / 4; ++w) {
            uint32_t want;
            std::memcpy(&want, &shared[kMajorAddress(d, row, 4 * w)], 4);
            ASSERT_EQ(t.at(lane, 33 + w), want) << int(c.shape) << " row " << row;
          }
        }
      std::set<unsigned> written;
      for (const TmemRun &r : f.tmemWrites)
        for (unsigned i = 0; i < r.lanes; ++i)
          written.insert(r.lane + i);
      EXPECT_EQ(written, touched);
    }
}

TEST(TmemCopyTest, DecompressesFourAndSixBits) {
  std::vector<uint8_t> shared(4096, 0xff);
  for (unsigned i = 0; i < 8; ++i)
    shared[i] = static_cast<uint8_t>((2 * i) | (2 * i + 1) << 4); // elements 0..15
  const MatrixDescriptor d{0, 1024, 128, 0, Swizzle::None};
  TmemCopy copy{TmemCopyShape::S32x128bWarpx4, TmemCopyFormat::B8x16FromB4x16P64, 0,
                encodeTcgen05Descriptor(d)};
  TensorMemory t;
  ASSERT_FALSE(tcgen05Cp(copy, shared.data(), shared.size(), t));
  for (unsigned i = 0; i < 16; ++i)
    EXPECT_EQ(t.at(64, i / 4) >> 8 * (i % 4) & 0xff, i << 2);
  uint64_t bits = 0; // the first ten 6-bit elements: 1..10
  for (unsigned i = 0; i < 10; ++i)
    bits |= uint64_t(i + 1) << 6 * i;
  std::memcpy(shared.data(), &bits, 7);
  copy.format = TmemCopyFormat::B8x16FromB6x16P32;
  ASSERT_FALSE(tcgen05Cp(copy, shared.data(), shared.size(), t));
  for (unsigned i = 0; i < 9; ++i)
    EXPECT_EQ(t.at(0, i / 4) >> 8 * (i % 4) & 0xff, i + 1);
  Tcgen05Footprint f;
  ASSERT_FALSE(tcgen05CpFootprint(copy, shared.size(), f));
  uint32_t read = 0;
  for (const ByteRun &r : f.sharedReads)
    read += r.bytes;
  EXPECT_EQ(read, 32u * 12); // not the padding
}

TEST(TmemCopyTest, RefusesBadTargets) {
  const MatrixDescriptor d{0, 1024, 128, 0, Swizzle::None};
  std::vector<uint8_t> shared(1024);
  TensorMemory t;
  TmemCopy copy{TmemCopyShape::S128x128b, TmemCopyFormat::None, 0, encodeTcgen05Descriptor(d)};
  EXPECT_TRUE(tcgen05Cp(copy, shared.data(), shared.size(), t)); // needs 2048 bytes
  copy.address = address(0, 510);
  EXPECT_TRUE(tcgen05Cp(copy, shared.data(), 4096, t));
  copy.address = address(32, 0);
  EXPECT_TRUE(tcgen05Cp(copy, shared.data(), 4096, t));
  copy.address = 0, copy.desc = 0;
  EXPECT_TRUE(tcgen05Cp(copy, shared.data(), 4096, t));
}

} // namespace
