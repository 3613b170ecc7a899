//===- MmaSync.cpp - warp-level matrix multiply-accumulate ----------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fragment of mma.m16n8kK is best seen in bytes: register r of A holds four bytes of
// row g + 8 * (r & 1), from byte 4 * t + 16 * (r >> 1) of the row; register r of B four
// bytes of column g, from byte 4 * t + 16 * r (lane = 4 * g + t). This holds for every
// element width, which is why one code path serves all shapes.
//
//===----------------------------------------------------------------------===//
#include "MmaSync.h"
#include "Accumulate.h"
#include "Numeric.h"
#include "Operand.h"

#include <cstring>

namespace heddle::emulator::tensor {

namespace {

constexpr unsigned lanes = 32;

bool isFp8(Elem e) { return e == Elem::E4M3 || e == Elem::E5M2; }
bool isNarrow(Elem e) { return isFp8(e) || e == Elem::E2M1 || e == Elem::E3M2 || e == Elem::E2M3; }
bool blockScaled(MmaKind kind) { return kind >= MmaKind::MxF8F6F4; }
/// 4-bit kinds pack two elements a byte; all others hold one element in at least a byte.
bool packedNibbles(MmaKind kind) { return kind == MmaKind::MxF4 || kind == MmaKind::MxF4NvF4; }

Packing packingOf(const MmaConfig &c) {
  return packedNibbles(c.kind) ? Packing::Dense : Packing::Bytes;
}
unsigned storage(const MmaConfig &c, Elem e) {
  return elemBits(e) >= 8 ? elemBits(e) : packedNibbles(c.kind) ? 4 : 8;
}
unsigned bytesOfRow(const MmaConfig &c) { return c.k * storage(c, c.a) / 8; }

std::string describe(const MmaConfig &c) {
  std::string text =
      "m" + std::to_string(c.m) + "n" + std::to_string(c.n) + "k" + std::to_string(c.k) + ".";
  return text.append(elemName(c.d))
      .append(".")
      .append(elemName(c.a))
      .append(".")
      .append(elemName(c.b));
}

bool plainFits(const MmaConfig &c) {
  switch (c.a) {
  case Elem::F16:
    return c.b == Elem::F16 && (c.d == Elem::F32 || c.d == Elem::F16) && (c.k == 8 || c.k == 16);
  case Elem::BF16:
    return c.b == Elem::BF16 && c.d == Elem::F32 && (c.k == 8 || c.k == 16);
  case Elem::TF32:
    return c.b == Elem::TF32 && c.d == Elem::F32 && (c.k == 4 || c.k == 8);
  case Elem::E4M3:
  case Elem::E5M2:
    return isFp8(c.b) && (c.d == Elem::F32 || c.d == Elem::F16) && (c.k == 16 || c.k == 32);
  case Elem::S8:
  case Elem::U8:
    return (c.b == Elem::S8 || c.b == Elem::U8) && c.d == Elem::S32 && (c.k == 16 || c.k == 32);
  default:
    return false;
  }
}

} // namespace

Problem checkMma(const MmaConfig &c) {
  if (c.m != 16 || c.n != 8)
    return "expected an mma shape m16n8, got " + describe(c);
  bool fits = false;
  switch (c.kind) {
  case MmaKind::Plain:
    fits = plainFits(c);
    break;
  case MmaKind::F8F6F4:
    fits = isNarrow(c.a) && isNarrow(c.b) && c.k == 32 && (c.d == Elem::F32 || c.d == Elem::F16);
    break;
  case MmaKind::MxF8F6F4:
    fits = isNarrow(c.a) && isNarrow(c.b) && c.k == 32 && c.d == Elem::F32;
    break;
  case MmaKind::MxF4:
  case MmaKind::MxF4NvF4:
    fits = c.a == Elem::E2M1 && c.b == Elem::E2M1 && c.k == 64 && c.d == Elem::F32;
    break;
  }
  if (!fits)
    return "expected a shape and types of mma.sync, got " + describe(c);
  if (c.satfinite && !isInteger(c.a))
    return "expected .satfinite only with integer operands, got " + describe(c);
  if (!blockScaled(c.kind) && c.scaleVector)
    return "expected no .scale_vec without block scaling, got " + std::to_string(c.scaleVector) +
           "X";
  if (blockScaled(c.kind)) {
    const bool ue8m0 = c.scale == Elem::UE8M0, ue4m3 = c.scale == Elem::UE4M3;
    const unsigned v = c.scaleVector;
    const bool ok =
        (c.kind == MmaKind::MxF8F6F4 && v == 1 && ue8m0) ||
        (c.kind == MmaKind::MxF4 && v == 2 && ue8m0) ||
        (c.kind == MmaKind::MxF4NvF4 && ((ue8m0 && (v == 2 || v == 4)) || (ue4m3 && v == 4)));
    if (!ok)
      return "expected a .scale_vec and scale type of the kind, got " + std::to_string(v) + "X." +
             std::string(elemName(c.scale));
  }
  return checkModel(c.model, c.a, c.b);
}

Problem checkMmaScales(const MmaConfig &c, const MmaScales &s) {
  if (!blockScaled(c.kind))
    return std::nullopt;
  const auto badByte = [&](unsigned id) {
    return id > 3 || (c.scaleVector == 2 && id % 2) || (c.scaleVector == 4 && id);
  };
  if (badByte(s.byteA) || badByte(s.byteB))
    return "expected a byte-id that fits .scale_vec::" + std::to_string(c.scaleVector) + "X, got " +
           std::to_string(badByte(s.byteA) ? s.byteA : s.byteB);
  if (s.threadA > 1)
    return "expected thread-id-a 0 or 1, got " + std::to_string(s.threadA);
  if (s.threadB > 3)
    return "expected thread-id-b 0 to 3, got " + std::to_string(s.threadB);
  if (!s.a || !s.b)
    return "expected scale registers for a block-scaled mma, got none";
  return std::nullopt;
}

MmaRegisters mmaRegisters(const MmaConfig &c) {
  const unsigned bytes = bytesOfRow(c);
  return {bytes / 8, bytes / 16, c.d == Elem::F16 ? 2u : 4u};
}

Coord mmaElementA(const MmaConfig &c, unsigned lane, unsigned index) {
  const unsigned bits = storage(c, c.a), perRegister = 32 / bits;
  const unsigned r = index / perRegister;
  const unsigned byte = 4 * (lane % 4) + 16 * (r >> 1);
  return {lane / 4 + 8 * (r & 1), byte * 8 / bits + index % perRegister};
}
Coord mmaElementB(const MmaConfig &c, unsigned lane, unsigned index) {
  const unsigned bits = storage(c, c.b), perRegister = 32 / bits;
  const unsigned byte = 4 * (lane % 4) + 16 * (index / perRegister);
  return {byte * 8 / bits + index % perRegister, lane / 4};
}
Coord mmaElementD(const MmaConfig &, unsigned lane, unsigned index) {
  return {lane / 4 + 8 * (index >> 1), 2 * (lane % 4) + (index & 1)};
}

AccumulateModel modelForMmaSync(unsigned major, unsigned, Elem a) {
  // Ada; two halves of K = 32 one after the other. An H200 keeps f32 sums here, unlike in wgmma.
  if (isFp8(a) && major < 9)
    return {13, 16, true};
  return {0, 0, true};
}

namespace {

/// Fills rows of `bytes` bytes from fragments and decodes them.
void gatherA(const MmaConfig &c, const uint32_t *registers, float *a) {
  const unsigned bytes = bytesOfRow(c), count = bytes / 8;
  uint8_t rows[16][32] = {};
  for (unsigned r = 0; r < count; ++r)
    for (unsigned lane = 0; lane < lanes; ++lane)
      std::memcpy(&rows[lane / 4 + 8 * (r & 1)][4 * (lane % 4) + 16 * (r >> 1)],
                  &registers[r * lanes + lane], 4);
  float values[32];
  const unsigned perUnit = 128 / storage(c, c.a);
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned unit = 0; unit * 16 < bytes; ++unit) {
      decodeUnit(c.a, packingOf(c), &rows[row][16 * unit], values);
      std::memcpy(a + row * c.k + unit * perUnit, values, perUnit * sizeof(float));
    }
}

void gatherB(const MmaConfig &c, const uint32_t *registers, float *b) {
  const unsigned bytes = bytesOfRow(c), count = bytes / 16;
  uint8_t columns[8][32] = {};
  for (unsigned r = 0; r < count; ++r)
    for (unsigned lane = 0; lane < lanes; ++lane)
      std::memcpy(&columns[lane / 4][4 * (lane % 4) + 16 * r], &registers[r * lanes + lane], 4);
  float values[32];
  const unsigned perUnit = 128 / storage(c, c.b);
  for (unsigned col = 0; col < 8; ++col)
    for (unsigned unit = 0; unit * 16 < bytes; ++unit) {
      decodeUnit(c.b, packingOf(c), &columns[col][16 * unit], values);
      for (unsigned i = 0; i < perUnit; ++i)
        b[(unit * perUnit + i) * 8 + col] = values[i];
    }
}

/// Multiplies the chunks of A's rows and B's columns by their scales. Row g takes its
/// scales from lane 4 * g + 2 * thread-id-a, row g + 8 from the lane after it; column g
/// from lane 4 * g + thread-id-b.
void applyScales(const MmaConfig &c, const MmaScales &s, float *a, float *b) {
  const unsigned chunk = c.k / c.scaleVector;
  const float *table = decodeTable(c.scale);
  for (unsigned row = 0; row < 16; ++row) {
    const uint32_t word = s.a[4 * (row % 8) + 2 * s.threadA + row / 8];
    for (unsigned k = 0; k < c.k; ++k)
      a[row * c.k + k] *= table[word >> 8 * (s.byteA + k / chunk) & 0xff];
  }
  for (unsigned col = 0; col < 8; ++col) {
    const uint32_t word = s.b[4 * col + s.threadB];
    for (unsigned k = 0; k < c.k; ++k)
      b[k * 8 + col] *= table[word >> 8 * (s.byteB + k / chunk) & 0xff];
  }
}

} // namespace

void mmaSync(const MmaConfig &config, const uint32_t *a, const uint32_t *b, const uint32_t *c,
             uint32_t *d, const MmaScales &scales) {
  constexpr unsigned m = 16, n = 8, maxK = 64;
  float denseA[m * maxK], denseB[maxK * n];
  gatherA(config, a, denseA);
  gatherB(config, b, denseB);
  if (config.d == Elem::S32) {
    int32_t ic[m * n];
    for (unsigned lane = 0; lane < lanes; ++lane)
      for (unsigned i = 0; i < 4; ++i) {
        const Coord at = mmaElementD(config, lane, i);
        ic[at.row * n + at.col] = static_cast<int32_t>(c[i * lanes + lane]);
      }
    accumulate(DenseInt{m, n, config.k, denseA, denseB}, true, config.satfinite, ic);
    for (unsigned lane = 0; lane < lanes; ++lane)
      for (unsigned i = 0; i < 4; ++i) {
        const Coord at = mmaElementD(config, lane, i);
        d[i * lanes + lane] = static_cast<uint32_t>(ic[at.row * n + at.col]);
      }
    return;
  }
  if (blockScaled(config.kind))
    applyScales(config, scales, denseA, denseB);
  const bool half = config.d == Elem::F16;
  float sums[m * n];
  for (unsigned lane = 0; lane < lanes; ++lane)
    for (unsigned i = 0; i < 4; ++i) {
      const Coord at = mmaElementD(config, lane, i);
      sums[at.row * n + at.col] =
          half ? decodeF16(static_cast<uint16_t>(c[i / 2 * lanes + lane] >> 16 * (i & 1)))
               : asFloat(c[i * lanes + lane]);
    }
  thread_local Products products;
  products.setB(n, config.k, denseB, minExponent(config.b), config.model);
  products.rows(m, denseA, minExponent(config.a), true, half, sums);
  for (unsigned lane = 0; lane < lanes; ++lane)
    for (unsigned i = 0; i < 4; ++i) {
      const Coord at = mmaElementD(config, lane, i);
      const float value = sums[at.row * n + at.col];
      if (half) {
        uint32_t &cell = d[i / 2 * lanes + lane];
        const uint32_t bits = exactF16(value);
        cell = i & 1 ? (cell & 0xffff) | bits << 16 : bits;
      } else {
        d[i * lanes + lane] = asBits(value);
      }
    }
}

} // namespace heddle::emulator::tensor
