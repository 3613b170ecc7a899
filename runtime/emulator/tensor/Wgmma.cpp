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

/// Calls f(index of the register array, row, column) for all f32 or s32 elements of D.
template <typename F> void forEachD(unsigned n, F f) {
  for (unsigned warp = 0; warp < 4; ++warp)
    for (unsigned half = 0; half < 2; ++half)
      for (unsigned g = 0; g < 8; ++g)
        for (unsigned block = 0; block < n / 8; ++block)
          for (unsigned t = 0; t < 4; ++t)
            for (unsigned i = 0; i < 2; ++i)
              f(block * 4 + half * 2 + i, warp * 32 + g * 4 + t, warp * 16 + half * 8 + g,
                block * 8 + t * 2 + i);
}

struct Scratch {
  std::vector<float> a, b, c;
  std::vector<int16_t> ia, ib;
  std::vector<int32_t> ic;
};

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
  return checkModel(c.model);
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
  if (Problem p = gather(operandB(config, desc), shared, sharedBytes, 1, n, s.b.data()))
    return "operand B: " + *p;

  if (config.d == Elem::S32) {
    s.ia.assign(s.a.begin(), s.a.end());
    s.ib.assign(s.b.begin(), s.b.end());
    s.ic.resize(rowsM * n);
    if (scaleD)
      forEachD(n, [&](unsigned reg, unsigned thread, unsigned row, unsigned col) {
        s.ic[row * n + col] = static_cast<int32_t>(d[reg * threads + thread]);
      });
    accumulate(DenseInt{rowsM, n, k, s.ia.data(), s.ib.data()}, scaleD, config.satfinite,
               s.ic.data());
    forEachD(n, [&](unsigned reg, unsigned thread, unsigned row, unsigned col) {
      d[reg * threads + thread] = static_cast<uint32_t>(s.ic[row * n + col]);
    });
    return std::nullopt;
  }

  if (config.negateA != config.negateB)
    for (float &x : s.a)
      x = -x;
  s.c.resize(rowsM * n);
  const bool half = config.d == Elem::F16;
  if (scaleD)
    forEachD(n, [&](unsigned reg, unsigned thread, unsigned row, unsigned col) {
      s.c[row * n + col] =
          half ? decodeF16(static_cast<uint16_t>(d[reg / 2 * threads + thread] >> 16 * (reg & 1)))
               : asFloat(d[reg * threads + thread]);
    });
  accumulate(
      DenseFloat{rowsM, n, k, s.a.data(), s.b.data(), minExponent(config.a), minExponent(config.b)},
      config.model, scaleD, half, s.c.data());
  forEachD(n, [&](unsigned reg, unsigned thread, unsigned row, unsigned col) {
    const float value = s.c[row * n + col];
    if (half) {
      uint32_t &cell = d[reg / 2 * threads + thread];
      const uint32_t bits = encode(Elem::F16, value);
      cell = reg & 1 ? (cell & 0xffff) | bits << 16 : (cell & 0xffff0000) | bits;
    } else {
      d[reg * threads + thread] = asBits(value);
    }
  });
  return std::nullopt;
}

} // namespace heddle::emulator::tensor
