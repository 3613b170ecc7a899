//===- MmaSync.h - warp-level matrix instructions -------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mma.sync.aligned (dense), ldmatrix and stmatrix as functions of 32 lanes' registers
// (PTX ISA 9.0, "Warp-level Matrix Instructions").
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_EMULATOR_TENSOR_MMASYNC_H
#define HEDDLE_EMULATOR_TENSOR_MMASYNC_H

#include "Types.h"

namespace heddle::emulator::tensor {

enum class MmaKind : uint8_t { Plain, F8F6F4, MxF8F6F4, MxF4, MxF4NvF4 };

/// One mma.sync form. Registers of an operand are 32-bit; an operand is an array
/// [register][lane] of 32 lanes: element (r, lane) at index r * 32 + lane.
struct MmaConfig {
  unsigned m = 16, n = 8, k = 16;
  Elem a = Elem::F16, b = Elem::F16;
  Elem d = Elem::F32; ///< also the type of C: F32, F16, S32
  MmaKind kind = MmaKind::Plain;
  bool satfinite = false;     ///< integer: clamp
  unsigned scaleVector = 0;   ///< block-scaled kinds: .scale_vec::NX, N = 1, 2, 4
  Elem scale = Elem::UE8M0;   ///< UE8M0 or UE4M3
  AccumulateModel model = {}; ///< see modelForMmaSync
};
/// Scale operands of a block-scaled mma.sync: one 32-bit register of each lane and the
/// two immediates (byte-id, thread-id).
struct MmaScales {
  const uint32_t *a = nullptr; ///< 32 lanes
  const uint32_t *b = nullptr;
  unsigned byteA = 0, threadA = 0, byteB = 0, threadB = 0;
};

/// Refuses shapes, types and qualifiers that PTX does not define.
Problem checkMma(const MmaConfig &config);
/// Numbers of 32-bit registers a lane holds of A, B and C/D.
struct MmaRegisters {
  unsigned a, b, d;
};
MmaRegisters mmaRegisters(const MmaConfig &config);
/// Row/column (A: row m, column k; B: row k, column n; D: row m, column n) of the
/// `index`-th element (element 0 in the low bits of register 0) that `lane` holds.
struct Coord {
  unsigned row, col;
};
Coord mmaElementA(const MmaConfig &config, unsigned lane, unsigned index);
Coord mmaElementB(const MmaConfig &config, unsigned lane, unsigned index);
Coord mmaElementD(const MmaConfig &config, unsigned lane, unsigned index);
/// D = A * B + C. `config` must have passed checkMma. c and d may alias.
void mmaSync(const MmaConfig &config, const uint32_t *a, const uint32_t *b, const uint32_t *c,
             uint32_t *d, const MmaScales &scales = {});
Problem checkMmaScales(const MmaConfig &config, const MmaScales &scales);

/// The accumulation a generation's tensor cores show (major: compute capability major,
/// minor). Wide types: binary64 with truncation; e4m3/e5m2 before capability 10: short.
AccumulateModel modelForMmaSync(unsigned major, unsigned minor, Elem a);

//===----------------------------------------------------------------------===//
// ldmatrix, stmatrix
//===----------------------------------------------------------------------===//

enum class MatrixShape : uint8_t {
  M8N8B16,        ///< 8 rows of 16 bytes
  M16N16B8,       ///< 16 rows of 16 bytes, always transposed (ldmatrix)
  M8N16B8x4P64,   ///< .m8n16.b8x16.b4x16_p64: 8 rows of 8 bytes, widened to bytes
  M8N16B8x6P32,   ///< .m8n16.b8x16.b6x16_p32: 8 rows of 12 bytes, widened
  M16N16B4x16P64, ///< .m16n16.b8x16.b4x16_p64 (transposed)
  M16N16B6x16P32, ///< .m16n16.b8x16.b6x16_p32 (transposed)
  M16N8B8,        ///< stmatrix .m16n8.b8, transposed
};
struct MatrixMove {
  MatrixShape shape = MatrixShape::M8N8B16;
  unsigned count = 1; ///< .x1 .x2 .x4
  bool trans = false;
};
Problem checkLdmatrix(const MatrixMove &move);
Problem checkStmatrix(const MatrixMove &move);
/// Number of row addresses used (lanes 0..n-1 give them), bytes a row occupies in
/// memory, and 32-bit registers a lane gets.
struct MatrixMoveSize {
  unsigned rows, rowBytes, registers;
};
MatrixMoveSize ldmatrixSize(const MatrixMove &move);
MatrixMoveSize stmatrixSize(const MatrixMove &move);
/// rows: `rows * 16` bytes, row i at rows + i * 16 (the caller has read rowBytes from
/// lane i's address). Fills registers [register][lane].
void ldmatrix(const MatrixMove &move, const uint8_t *rows, uint32_t *registers);
/// The inverse: fills row i at rows + i * 16 (rowBytes valid) from registers.
void stmatrix(const MatrixMove &move, const uint32_t *registers, uint8_t *rows);

} // namespace heddle::emulator::tensor

#endif // HEDDLE_EMULATOR_TENSOR_MMASYNC_H
