//===- Wgmma.h - warpgroup matrix instructions ----------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// wgmma.mma_async (dense) as a function of shared memory and 128 threads' registers
// (PTX ISA 9.0, "Asynchronous Warpgroup Level Matrix Instructions").
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_EMULATOR_TENSOR_WGMMA_H
#define HEDDLE_EMULATOR_TENSOR_WGMMA_H

#include "Descriptor.h"
#include "Types.h"

namespace heddle::emulator::tensor {

/// One wgmma form, M = 64. K follows from the type: 16 (16-bit), 8 (tf32), 32 (8-bit).
struct WgmmaConfig {
  unsigned n = 64, k = 16;
  Elem a = Elem::BF16, b = Elem::BF16;
  Elem d = Elem::F32; ///< F32, F16, S32
  bool aInRegisters = false;
  bool transposeA = false, transposeB = false; ///< 1: MN-major
  bool negateA = false, negateB = false;       ///< imm-scale -1
  bool satfinite = false;                      ///< integer
  AccumulateModel model = {};                  ///< see modelForWgmma
};
Problem checkWgmma(const WgmmaConfig &config);
/// f16, bf16, tf32: binary64 with truncation. e4m3, e5m2: 13 fraction bits.
AccumulateModel modelForWgmma(Elem a);

/// 32-bit registers a thread holds of A (in registers) and D.
struct WgmmaRegisters {
  unsigned a, d;
};
WgmmaRegisters wgmmaRegisters(const WgmmaConfig &config);

/// The bytes of shared memory the instruction reads; sharedBytes is the size of the
/// CTA's window. Also refuses malformed descriptors.
Problem wgmmaReads(const WgmmaConfig &config, uint64_t descA, uint64_t descB, uint32_t sharedBytes,
                   std::vector<ByteRun> &out);

/// D = A * B + (scaleD ? D : 0). `shared` is the CTA's shared window (address 0 first),
/// sharedBytes long. aRegisters (A in registers) and d are [register][thread] of 128
/// threads: index r * 128 + thread. descA is ignored with A in registers.
Problem wgmma(const WgmmaConfig &config, const uint8_t *shared, uint32_t sharedBytes,
              uint64_t descA, const uint32_t *aRegisters, uint64_t descB, bool scaleD, uint32_t *d);

/// Row and column of the `index`-th element of D (f32: one a register, f16: two) that
/// `thread` of the warpgroup holds.
void wgmmaElementD(unsigned thread, unsigned index, unsigned &row, unsigned &col);

} // namespace heddle::emulator::tensor

#endif // HEDDLE_EMULATOR_TENSOR_WGMMA_H
