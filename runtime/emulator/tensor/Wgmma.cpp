//===- Wgmma.cpp - warpgroup matrix instructions --------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Wgmma.h"
#include "Accumulate.h"
#include "Numeric.h"
#include "Operand.h"

#include <cstring>

namespace heddle::emulator::tensor {

namespace {

constexpr unsigned rowsM = 64, threads = 128;

bool isFp8(Elem e) { return e == Elem::E4M3 || e == Elem::E5M2; }
bool is16(Elem e) { return e == Elem::F16 || e == Elem::BF16; }

unsigned requiredK(Elem a) { return a == Elem::TF32 ? 8 : is16(a) ? 16 : 32; }

std::string typeNames(const WgmmaConfig &c) {
  std::string text(elemName(c.d));
  return text.append(".").append(elemName(c.a)).append(".").append(elemName(c.b));
}

bool typesFit(const WgmmaConfig &c) {
  if (c.a == Elem::F16)
    return c.b == Elem::F16 && (c.d == Elem::F32 || c.d == Elem::F16);
  if (c.a == Elem::BF16 || c.a == Elem::TF32)
    return c.b == c.a && c.d == Elem::F32;
  if (isFp8(c.a))
    return isFp8(c.b) && (c.d == Elem::F32 || c.d == Elem::F16);
  if (c.a == Elem::S8 || c.a == Elem::U8)
    return (c.b == Elem::S8 || c.b == Elem::U8) && c.d == Elem::S32;
  return false;
}

SharedOperand operandA(const WgmmaConfig &c, const MatrixDescriptor &d) {
  return {d, c.transposeA, rowsM, c.k, c.a, Packing::Dense};
}
SharedOperand operandB(const WgmmaConfig &c, const MatrixDescriptor &d) {
  return {d, c.transposeB, c.n, c.k, c.b, Packing::Dense};
}

/// A in registers: register r of a thread covers four bytes of row g + 8 * (r & 1) of the
/// warp's 16 rows, from byte 4 * t + 16 * (r >> 1) of the 32-byte row (lane = 4 * g + t).
void gatherRegistersA(const WgmmaConfig &c, const uint32_t *registers, float *a) {
  uint8_t rows[rowsM][32];
  for (unsigned r = 0; r < 4; ++r)
    for (unsigned thread = 0; thread < threads; ++thread) {
      const unsigned lane = thread % 32;
      const unsigned row = thread / 32 * 16 + lane / 4 + 8 * (r & 1);
      std::memcpy(&rows[row][4 * (lane % 4) + 16 * (r >> 1)], &registers[r * threads + thread], 4);
    }
  const unsigned perUnit = elementsPerUnit(c.a, Packing::Dense);
  for (unsigned row = 0; row < rowsM; ++row)
    for (unsigned unit = 0; unit < 2; ++unit)
      decodeUnit(c.a, Packing::Dense, &rows[row][16 * unit], a + row * c.k + unit * perUnit);
}

/// Inside this file the columns of D are kept in the order (block of 8, low bit of the
/// column, rest): the four threads of a quad then hold four neighbours of a row.
constexpr unsigned ordered(unsigned col) { return col / 8 * 8 + col % 2 * 4 + col % 8 / 2; }

/// Calls f(index in the register array, index in the ordered m x n array) for every four
/// f32 or s32 elements of `rows` rows of D, the array starting at row0.
template <typename F> void forEachQuad(unsigned n, unsigned row0, unsigned rows, F f) {
  for (unsigned row = row0; row < row0 + rows; ++row) {
    const unsigned half = row / 8 % 2, thread = row / 16 * 32 + row % 8 * 4;
    for (unsigned quad = 0; quad < n / 4; ++quad) // two of each block of 8 columns
      f((quad / 2 * 4 + half * 2 + quad % 2) * threads + thread, (row - row0) * n + quad * 4);
  }
}

/// The same for f16: the two elements of a register are in neighbouring quads.
void unpackHalves(unsigned n, unsigned row0, unsigned rows, const uint32_t *d, float *c) {
  forEachQuad(n, row0, rows, [&](unsigned reg, unsigned at) {
    const unsigned high = reg / threads % 2, thread = reg % threads;
    for (unsigned t = 0; t < 4; ++t)
      c[at + t] = decodeF16(
          static_cast<uint16_t>(d[reg / threads / 2 * threads + thread + t] >> 16 * high));
  });
}
void packHalves(unsigned n, unsigned row0, unsigned rows, const float *c, uint32_t *d) {
  forEachQuad(n, row0, rows, [&](unsigned reg, unsigned at) {
    const unsigned high = reg / threads % 2, thread = reg % threads;
    for (unsigned t = 0; t < 4; ++t) {
      uint32_t &cell = d[reg / threads / 2 * threads + thread + t];
      const uint32_t bits = exactF16(c[at + t]);
      cell = high ? (cell & 0xffff) | bits << 16 : (cell & 0xffff0000) | bits;
    }
  });
}

struct Scratch {
  std::vector<float> a, b, c;
  std::vector<int32_t> ic;
  Products products;
};

/// Where the columns go in a panelled B, in the order above.
struct ColumnOrder {
  uint16_t at[256];
  explicit constexpr ColumnOrder(unsigned k) : at() {
    for (unsigned col = 0; col < 256; ++col)
      at[col] = static_cast<uint16_t>(panelIndex(0, ordered(col), k));
  }
};
constexpr ColumnOrder columnOrders[] = {ColumnOrder(8), ColumnOrder(16), ColumnOrder(32)};

} // namespace

Problem checkWgmma(const WgmmaConfig &c) {
  if (!typesFit(c))
    return "expected a type combination of wgmma.mma_async, got " + typeNames(c);
  if (c.k != requiredK(c.a))
    return "expected K " + std::to_string(requiredK(c.a)) + " for " + typeNames(c) + ", got " +
           std::to_string(c.k);
  if (c.n < 8 || c.n > 256 || c.n % 8)
    return "expected N to be a multiple of 8 from 8 to 256, got " + std::to_string(c.n);
  if (isInteger(c.a) && c.n > 32 && c.n % 16)
    return "expected N above 32 to be a multiple of 16 for integers, got " + std::to_string(c.n);
  if ((c.transposeA || c.transposeB) && !is16(c.a))
    return "expected transposed operands only with 16-bit types, got " + typeNames(c);
  if (c.transposeA && c.aInRegisters)
    return "expected no transpose of A in registers, got transpose";
  if ((c.negateA || c.negateB) && isInteger(c.a))
    return "expected no negation of integer operands, got imm-scale -1";
  if (c.satfinite && !isInteger(c.a))
    return "expected .satfinite only with integer operands, got " + typeNames(c);
  return checkModel(c.model, c.a, c.b);
}

AccumulateModel modelForWgmma(Elem a) {
  return isFp8(a) ? AccumulateModel{13, 32, true} : AccumulateModel{0, 0, true};
}

WgmmaRegisters wgmmaRegisters(const WgmmaConfig &c) {
  return {c.aInRegisters ? 4u : 0u, c.d == Elem::F16 ? c.n / 4 : c.n / 2};
}

Problem wgmmaReads(const WgmmaConfig &c, uint64_t descA, uint64_t descB, uint32_t sharedBytes,
                   std::vector<ByteRun> &out) {
  MatrixDescriptor d;
  if (!c.aInRegisters) {
    if (Problem p = decodeWgmmaDescriptor(descA, d))
      return "operand A: " + *p;
    if (Problem p = operandRuns(d, c.transposeA, rowsM, c.k, elemBits(c.a), sharedBytes, out))
      return "operand A: " + *p;
  }
  if (Problem p = decodeWgmmaDescriptor(descB, d))
    return "operand B: " + *p;
  if (Problem p = operandRuns(d, c.transposeB, c.n, c.k, elemBits(c.b), sharedBytes, out))
    return "operand B: " + *p;
  return std::nullopt;
}

void wgmmaElementD(unsigned thread, unsigned index, unsigned &row, unsigned &col) {
  const unsigned lane = thread % 32;
  row = thread / 32 * 16 + lane / 4 + (index & 2) * 4;
  col = index / 4 * 8 + lane % 4 * 2 + (index & 1);
}

Problem wgmma(const WgmmaConfig &config, const uint8_t *shared, uint32_t sharedBytes,
              uint64_t descA, const uint32_t *aRegisters, uint64_t descB, bool scaleD,
              uint32_t *d) {
  thread_local Scratch s;
  const unsigned n = config.n, k = config.k;
  s.a.resize(rowsM * k);
  s.b.resize(k * n);
  if (config.aInRegisters) {
    gatherRegistersA(config, aRegisters, s.a.data());
  } else {
    MatrixDescriptor desc;
    if (Problem p = decodeWgmmaDescriptor(descA, desc))
      return "operand A: " + *p;
    if (Problem p = gather(operandA(config, desc), shared, sharedBytes, k, 1, s.a.data()))
      return "operand A: " + *p;
  }
  MatrixDescriptor desc;
  if (Problem p = decodeWgmmaDescriptor(descB, desc))
    return "operand B: " + *p;
  if (Problem p = gather(operandB(config, desc), shared, sharedBytes, 1, 8, s.b.data(),
                         columnOrders[k / 16].at))
    return "operand B: " + *p;

  if (config.d == Elem::S32) {
    s.ic.resize(rowsM * n);
    if (scaleD)
      forEachQuad(n, 0, rowsM,
                  [&](unsigned reg, unsigned at) { std::memcpy(&s.ic[at], &d[reg], 16); });
    accumulate(DenseInt{rowsM, n, k, s.a.data(), s.b.data()}, scaleD, config.satfinite,
               s.ic.data());
    forEachQuad(n, 0, rowsM,
                [&](unsigned reg, unsigned at) { std::memcpy(&d[reg], &s.ic[at], 16); });
    return std::nullopt;
  }

  if (config.negateA != config.negateB)
    for (float &x : s.a)
      x = -x;
  const bool half = config.d == Elem::F16;
  // Four rows at a time: their quads fill whole cache lines of the register array.
  constexpr unsigned rows = 4;
  s.c.resize(rows * n);
  s.products.setB(n, k, s.b.data(), minExponent(config.b), config.model);
  for (unsigned row0 = 0; row0 < rowsM; row0 += rows) {
    float *c = s.c.data();
    if (scaleD && half)
      unpackHalves(n, row0, rows, d, c);
    else if (scaleD)
      forEachQuad(n, row0, rows,
                  [&](unsigned reg, unsigned at) { std::memcpy(c + at, &d[reg], 16); });
    s.products.rows(rows, s.a.data() + row0 * k, minExponent(config.a), scaleD, half, c);
    if (half)
      packHalves(n, row0, rows, c, d);
    else
      forEachQuad(n, row0, rows,
                  [&](unsigned reg, unsigned at) { std::memcpy(&d[reg], c + at, 16); });
  }
  return std::nullopt;
}

} // namespace heddle::emulator::tensor
