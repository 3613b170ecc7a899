//===- MatrixMoveTest.cpp - ldmatrix and stmatrix -------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "MmaSync.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

using namespace heddle::emulator::tensor;

namespace {

std::vector<uint8_t> randomRows(std::mt19937 &rng) {
  std::vector<uint8_t> rows(32 * 16);
  for (uint8_t &b : rows)
    b = static_cast<uint8_t>(rng());
  return rows;
}

uint16_t half(const std::vector<uint8_t> &rows, unsigned row, unsigned col) {
  uint16_t v;
  std::memcpy(&v, &rows[row * 16 + 2 * col], 2);
  return v;
}

TEST(Ldmatrix, EachLaneGetsTwoNeighboursOfItsRow) {
  std::mt19937 rng(41);
  for (unsigned count : {1u, 2u, 4u}) {
    const auto rows = randomRows(rng);
    const MatrixMove move{MatrixShape::M8N8B16, count, false};
    ASSERT_FALSE(checkLdmatrix(move));
    EXPECT_EQ(ldmatrixSize(move).rows, 8 * count);
    EXPECT_EQ(ldmatrixSize(move).registers, count);
    std::vector<uint32_t> regs(4 * 32);
    ldmatrix(move, rows.data(), regs.data());
    for (unsigned m = 0; m < count; ++m)
      for (unsigned lane = 0; lane < 32; ++lane) {
        const unsigned row = m * 8 + lane / 4, col = lane % 4 * 2;
        ASSERT_EQ(regs[m * 32 + lane],
                  uint32_t(half(rows, row, col)) | uint32_t(half(rows, row, col + 1)) << 16);
      }
  }
}

TEST(Ldmatrix, TransposedLanesGetTwoNeighboursOfAColumn) {
  std::mt19937 rng(42);
  const auto rows = randomRows(rng);
  const MatrixMove move{MatrixShape::M8N8B16, 4, true};
  std::vector<uint32_t> regs(4 * 32);
  ldmatrix(move, rows.data(), regs.data());
  for (unsigned m = 0; m < 4; ++m)
    for (unsigned lane = 0; lane < 32; ++lane) {
      const unsigned col = lane / 4, row = m * 8 + lane % 4 * 2;
      ASSERT_EQ(regs[m * 32 + lane],
                uint32_t(half(rows, row, col)) | uint32_t(half(rows, row + 1, col)) << 16);
    }
}

TEST(Ldmatrix, SixteenBySixteenBytesCoverTheMatrixOnce) {
  // Every byte of the matrix reaches exactly one lane: rows 4t .. 4t+3 and columns g, g + 8.
  std::vector<uint8_t> rows(32 * 16);
  for (unsigned i = 0; i < 256; ++i)
    rows[i] = static_cast<uint8_t>(i);
  const MatrixMove move{MatrixShape::M16N16B8, 1, true};
  ASSERT_FALSE(checkLdmatrix(move));
  EXPECT_EQ(ldmatrixSize(move).rows, 16u);
  EXPECT_EQ(ldmatrixSize(move).registers, 2u);
  std::vector<uint32_t> regs(4 * 32);
  ldmatrix(move, rows.data(), regs.data());
  std::vector<int> seen(256);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned r = 0; r < 2; ++r)
      for (unsigned b = 0; b < 4; ++b) {
        const unsigned byte = regs[r * 32 + lane] >> 8 * b & 0xff;
        ++seen[byte];
        EXPECT_EQ(byte / 16 / 4, lane % 4);
        EXPECT_EQ(byte % 16 % 8, lane / 4);
      }
  for (int s : seen)
    EXPECT_EQ(s, 1);
  EXPECT_TRUE(checkLdmatrix({MatrixShape::M16N16B8, 1, false}));
  EXPECT_TRUE(checkLdmatrix({MatrixShape::M16N16B8, 4, true}));
}

TEST(Ldmatrix, WidensFourAndSixBitRows) {
  std::vector<uint8_t> rows(32 * 16, 0xff);
  for (unsigned row = 0; row < 8; ++row) {
    unsigned bits4[2] = {0, 0};
    uint8_t packed6[12] = {};
    for (unsigned i = 0; i < 16; ++i) {
      bits4[i / 8] |= (row + i) % 16 << 4 * (i % 8);
      const unsigned v = (3 * row + 5 * i) % 64, at = 6 * i;
      packed6[at / 8] |= static_cast<uint8_t>(v << at % 8);
      if (at % 8 > 2)
        packed6[at / 8 + 1] |= static_cast<uint8_t>(v >> (8 - at % 8));
    }
    std::memcpy(&rows[row * 16], bits4, 8);
    std::memcpy(&rows[(8 + row) * 16], packed6, 12);
  }
  std::vector<uint32_t> regs(4 * 32);
  ldmatrix({MatrixShape::M8N16B8x4P64, 1, false}, rows.data(), regs.data());
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 4; ++i)
      ASSERT_EQ(regs[lane] >> 8 * i & 0xff, (lane / 4 + lane % 4 * 4 + i) % 16);
  ldmatrix({MatrixShape::M8N16B8x6P32, 1, false}, rows.data() + 8 * 16, regs.data());
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 4; ++i)
      ASSERT_EQ(regs[lane] >> 8 * i & 0xff, (3 * (lane / 4) + 5 * (lane % 4 * 4 + i)) % 64);
}

TEST(Stmatrix, UndoesLdmatrix) {
  std::mt19937 rng(43);
  for (bool trans : {false, true})
    for (unsigned count : {1u, 2u, 4u}) {
      const auto rows = randomRows(rng);
      const MatrixMove move{MatrixShape::M8N8B16, count, trans};
      ASSERT_FALSE(checkStmatrix(move));
      std::vector<uint32_t> regs(4 * 32);
      ldmatrix(move, rows.data(), regs.data());
      std::vector<uint8_t> back(32 * 16);
      stmatrix(move, regs.data(), back.data());
      EXPECT_TRUE(std::equal(back.begin(), back.begin() + 8 * count * 16, rows.begin()));
    }
}

TEST(Stmatrix, ByteMatricesAreStoredByColumn) {
  // Lane 4g + t holds (g, 2t), (g, 2t+1), (g+8, 2t), (g+8, 2t+1) of a 16 x 8 matrix.
  std::vector<uint32_t> regs(32);
  const auto value = [](unsigned row, unsigned col) { return row * 8 + col; };
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned g = lane / 4, t = lane % 4;
    regs[lane] = value(g, 2 * t) | value(g, 2 * t + 1) << 8 | value(g + 8, 2 * t) << 16 |
                 value(g + 8, 2 * t + 1) << 24;
  }
  std::vector<uint8_t> rows(32 * 16);
  const MatrixMove move{MatrixShape::M16N8B8, 1, true};
  ASSERT_FALSE(checkStmatrix(move));
  stmatrix(move, regs.data(), rows.data());
  for (unsigned col = 0; col < 8; ++col)
    for (unsigned row = 0; row < 16; ++row)
      ASSERT_EQ(rows[col * 16 + row], value(row, col));
  EXPECT_TRUE(checkStmatrix({MatrixShape::M16N8B8, 1, false}));
  EXPECT_EQ(*checkStmatrix({MatrixShape::M8N8B16, 3, false}), "expected .num x1, x2 or x4, got x3");
}

} // namespace
