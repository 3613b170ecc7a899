//===- MatrixMove.cpp - ldmatrix and stmatrix -----------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The 16-bit forms follow the figures of PTX ISA 9.0. The 8-bit transposed forms
// (m16n16, m16n8) are given there as figures only; their register order is that of
// CUTLASS's copy traits for the same instructions (include/cute/atom/
// copy_traits_sm100.hpp). With 4-bit elements the widened byte holds the element in
// its low bits (same source).
//
//===----------------------------------------------------------------------===//
#include "MmaSync.h"

#include <cstring>

namespace heddle::emulator::tensor {

namespace {

constexpr unsigned lanes = 32, pitch = 16;

bool is16x16(MatrixShape s) {
  return s == MatrixShape::M16N16B8 || s == MatrixShape::M16N16B4x16P64 ||
         s == MatrixShape::M16N16B6x16P32;
}

unsigned rowBytesOf(MatrixShape s) {
  switch (s) {
  case MatrixShape::M8N16B8x4P64:
  case MatrixShape::M16N16B4x16P64:
    return 8;
  case MatrixShape::M8N16B8x6P32:
  case MatrixShape::M16N16B6x16P32:
    return 12;
  default:
    return 16;
  }
}

/// Widens a row of 16 elements of 4 or 6 bits to bytes; copies rows of bytes.
void widenRow(MatrixShape shape, const uint8_t *row, uint8_t *bytes) {
  const unsigned rowBytes = rowBytesOf(shape);
  if (rowBytes == 16) {
    std::memcpy(bytes, row, 16);
    return;
  }
  const unsigned width = rowBytes == 8 ? 4 : 6;
  for (unsigned i = 0; i < 16; ++i) {
    const unsigned at = i * width;
    const unsigned next = at / 8 + 1 < rowBytes ? row[at / 8 + 1] : 0;
    bytes[i] = static_cast<uint8_t>((row[at / 8] | next << 8) >> at % 8 & ((1u << width) - 1));
  }
}

Problem checkCount(unsigned count, unsigned most) {
  if (count != 1 && count != 2 && (count != 4 || most < 4))
    return std::string("expected .num x1, x2") + (most == 4 ? " or x4" : "") + ", got x" +
           std::to_string(count);
  return std::nullopt;
}

} // namespace

Problem checkLdmatrix(const MatrixMove &move) {
  if (move.shape == MatrixShape::M16N8B8)
    return "expected a shape of ldmatrix, got m16n8";
  if (is16x16(move.shape)) {
    if (!move.trans)
      return "expected .trans with shape m16n16, got none";
    return checkCount(move.count, 2);
  }
  if (move.trans && move.shape != MatrixShape::M8N8B16)
    return "expected no .trans with shape m8n16, got .trans";
  return checkCount(move.count, 4);
}

Problem checkStmatrix(const MatrixMove &move) {
  if (move.shape != MatrixShape::M8N8B16 && move.shape != MatrixShape::M16N8B8)
    return "expected shape m8n8 or m16n8 of stmatrix, got another shape";
  if (move.shape == MatrixShape::M16N8B8 && !move.trans)
    return "expected .trans with shape m16n8, got none";
  return checkCount(move.count, 4);
}

MatrixMoveSize ldmatrixSize(const MatrixMove &move) {
  if (is16x16(move.shape))
    return {16 * move.count, rowBytesOf(move.shape), 2 * move.count};
  return {8 * move.count, rowBytesOf(move.shape), move.count};
}

MatrixMoveSize stmatrixSize(const MatrixMove &move) { return {8 * move.count, 16, move.count}; }

void ldmatrix(const MatrixMove &move, const uint8_t *rows, uint32_t *registers) {
  uint8_t wide[32][16];
  const MatrixMoveSize size = ldmatrixSize(move);
  for (unsigned row = 0; row < size.rows; ++row)
    widenRow(move.shape, rows + row * pitch, wide[row]);
  for (unsigned r = 0; r < size.registers; ++r)
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const unsigned g = lane / 4, t = lane % 4;
      uint8_t bytes[4];
      if (is16x16(move.shape)) {
        // Rows 4t .. 4t+3 of the matrix, bytes g and g + 8: register 0 has the first
        // two rows, register 1 the others.
        const uint8_t (*matrix)[16] = wide + r / 2 * 16;
        for (unsigned i = 0; i < 4; ++i)
          bytes[i] = matrix[4 * t + r % 2 * 2 + i % 2][g + 8 * (i / 2)];
      } else if (move.trans) {
        const uint8_t (*matrix)[16] = wide + r * 8;
        for (unsigned i = 0; i < 4; ++i)
          bytes[i] = matrix[2 * t + i / 2][2 * g + i % 2];
      } else {
        std::memcpy(bytes, &wide[r * 8 + g][4 * t], 4);
      }
      std::memcpy(&registers[r * lanes + lane], bytes, 4);
    }
}

void stmatrix(const MatrixMove &move, const uint32_t *registers, uint8_t *rows) {
  for (unsigned r = 0; r < move.count; ++r)
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const unsigned g = lane / 4, t = lane % 4;
      uint8_t bytes[4];
      std::memcpy(bytes, &registers[r * lanes + lane], 4);
      uint8_t *matrix = rows + r * 8 * pitch;
      if (move.shape == MatrixShape::M16N8B8) { // rows g, g + 8; columns 2t, 2t + 1
        for (unsigned i = 0; i < 4; ++i)
          matrix[(2 * t + i % 2) * pitch + g + 8 * (i / 2)] = bytes[i];
      } else if (move.trans) {
        for (unsigned i = 0; i < 4; ++i)
          matrix[(2 * t + i / 2) * pitch + 2 * g + i % 2] = bytes[i];
      } else {
        std::memcpy(matrix + g * pitch + 4 * t, bytes, 4);
      }
    }
}

} // namespace heddle::emulator::tensor
