//===- Tcgen05.h - tensor memory and fifth-generation tensor cores --------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// tcgen05.mma and .mma.ws (dense), .ld, .st and .cp as functions of shared memory and tensor memory
// (PTX ISA 9.0, "TensorCore 5th Generation Family Instructions").
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_EMULATOR_TENSOR_TCGEN05_H
#define HEDDLE_EMULATOR_TENSOR_TCGEN05_H

#include "Descriptor.h"
#include "Types.h"

namespace heddle::emulator::tensor {

/// 128 lanes x 512 columns of 32-bit cells. A tensor memory address holds the lane in
/// bits 16-31 and the column in bits 0-15.
struct TensorMemory {
  static constexpr unsigned lanes = 128, columns = 512;
  std::vector<uint32_t> cells = std::vector<uint32_t>(lanes * columns);
  uint32_t &at(unsigned lane, unsigned column) { return cells[lane * columns + column]; }
  uint32_t at(unsigned lane, unsigned column) const { return cells[lane * columns + column]; }
};
constexpr unsigned tmemLane(uint32_t address) { return address >> 16; }
constexpr unsigned tmemColumn(uint32_t address) { return address & 0xffff; }

//===----------------------------------------------------------------------===//
// mma
//===----------------------------------------------------------------------===//

enum class Tcgen05Kind : uint8_t { F16, TF32, F8F6F4, I8, MxF8F6F4, MxF4, MxF4NvF4 };

/// The 32-bit instruction descriptor, decoded for a kind.
struct InstructionDescriptor {
  unsigned m = 0, n = 0, k = 0;
  Elem a = Elem::F16, b = Elem::F16, d = Elem::F32;
  bool saturate = false, negateA = false, negateB = false;
  bool transposeA = false, transposeB = false; ///< 1: MN-major
  Elem scale = Elem::UE8M0;                    ///< block-scaled kinds
  unsigned scaleIdA = 0, scaleIdB = 0;         ///< byte of the cell that holds the first scale
};
/// `stationary`: of tcgen05.mma.ws, which has shapes of its own.
Problem decodeInstructionDescriptor(Tcgen05Kind kind, uint32_t bits, unsigned ctaGroup,
                                    InstructionDescriptor &out, bool stationary = false);

struct Tcgen05Mma {
  Tcgen05Kind kind = Tcgen05Kind::F16;
  unsigned ctaGroup = 1;   ///< 1 or 2
  bool stationary = false; ///< tcgen05.mma.ws: M 32, 64 or 128; D of M 32 and 64 fills all lanes
  uint32_t idesc = 0;
  uint32_t d = 0; ///< tensor memory address
  bool aInTmem = false;
  uint32_t aTmem = 0; ///< with aInTmem
  uint64_t aDesc = 0; ///< without
  uint64_t bDesc = 0;
  bool enableInputD = false;
  unsigned scaleInputD = 0;              ///< D * 2^-n, 0..15 (f16, tf32)
  const uint32_t *disableLane = nullptr; ///< 4 (cta_group::1) or 8 words, or nullptr
  unsigned scaleVector = 0;              ///< block-scaled: 1, 2, 4; 0: the kind's default
  uint32_t scaleA = 0, scaleB = 0;       ///< tensor memory addresses
  AccumulateModel model = {};            ///< see modelForTcgen05
};
/// Memory of one CTA of the group. With ctaGroup 2: [0] the even, [1] the odd CTA.
struct CtaMemory {
  const uint8_t *shared = nullptr;
  uint32_t sharedBytes = 0;
  TensorMemory *tmem = nullptr;
};
AccumulateModel modelForTcgen05(Tcgen05Kind kind);
/// What the instruction reads and writes, for checks; refuses malformed operands.
struct Tcgen05Footprint {
  std::vector<ByteRun> sharedReads;
  std::vector<TmemRun> tmemReads;  ///< A in TMEM, scales, and D when it is an input
  std::vector<TmemRun> tmemWrites; ///< D
};
Problem tcgen05MmaFootprint(const Tcgen05Mma &mma, uint32_t sharedBytes, Tcgen05Footprint &out);
Problem tcgen05Mma(const Tcgen05Mma &mma, const CtaMemory *ctas);

//===----------------------------------------------------------------------===//
// ld, st
//===----------------------------------------------------------------------===//

enum class TmemShape : uint8_t { S16x64b, S16x128b, S16x256b, S32x32b, S16x32bx2 };
struct TmemMove {
  TmemShape shape = TmemShape::S32x32b;
  unsigned num = 1;          ///< .x1 ... .x128
  bool pack16 = false;       ///< ld .pack::16b, st .unpack::16b
  unsigned halfSplitOff = 0; ///< .16x32bx2: columns between the two halves
  unsigned warpInGroup = 0;  ///< warp id % 4: which 32 lanes the warp may touch
};
Problem checkTmemMove(const TmemMove &move, uint32_t address);
unsigned tmemRegisters(const TmemMove &move); ///< 32-bit registers a lane uses
/// The cells a move touches.
void tmemRuns(const TmemMove &move, uint32_t address, std::vector<TmemRun> &out);
/// Cell (lane, column) of `reg` of thread `lane`; with pack16 the register's low half
/// is this cell and the high half the next column.
struct TmemCell {
  unsigned lane, column;
};
TmemCell tmemCell(const TmemMove &move, uint32_t address, unsigned thread, unsigned reg);
/// registers: [register][lane], index r * 32 + lane.
void tmemLoad(const TmemMove &move, const TensorMemory &tmem, uint32_t address,
              uint32_t *registers);
void tmemStore(const TmemMove &move, TensorMemory &tmem, uint32_t address,
               const uint32_t *registers);

//===----------------------------------------------------------------------===//
// cp
//===----------------------------------------------------------------------===//

enum class TmemCopyShape : uint8_t {
  S128x256b,
  S4x256b,
  S128x128b,
  S64x128bWarpx2_02_13,
  S64x128bWarpx2_01_23,
  S32x128bWarpx4,
};
enum class TmemCopyFormat : uint8_t { None, B8x16FromB6x16P32, B8x16FromB4x16P64 };
struct TmemCopy {
  TmemCopyShape shape = TmemCopyShape::S32x128bWarpx4;
  TmemCopyFormat format = TmemCopyFormat::None;
  uint32_t address = 0; ///< tensor memory
  uint64_t desc = 0;    ///< shared memory
};
Problem tcgen05CpFootprint(const TmemCopy &copy, uint32_t sharedBytes, Tcgen05Footprint &out);
Problem tcgen05Cp(const TmemCopy &copy, const uint8_t *shared, uint32_t sharedBytes,
                  TensorMemory &tmem);

} // namespace heddle::emulator::tensor

#endif // HEDDLE_EMULATOR_TENSOR_TCGEN05_H
