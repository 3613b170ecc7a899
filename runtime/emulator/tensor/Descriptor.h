//===- Descriptor.h - shared-memory matrix descriptors --------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The 64-bit shared-memory matrix descriptors of wgmma and tcgen05 and the address of
// every element of a matrix described by one (PTX ISA 9.0, "Shared Memory Matrix
// Layout", "Strides", "Matrix Descriptor Format", "tcgen05: Shared memory descriptor").
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_EMULATOR_TENSOR_DESCRIPTOR_H
#define HEDDLE_EMULATOR_TENSOR_DESCRIPTOR_H

#include "Types.h"

namespace heddle::emulator::tensor {

/// None: 16-byte interleaved core matrices. Swizzle128Base32: tcgen05's 128-byte mode
/// with 32-byte atoms.
enum class Swizzle : uint8_t { None, B32, B64, B128, B128Base32 };
constexpr unsigned swizzleSpan(Swizzle s) {
  return s == Swizzle::None ? 16 : s == Swizzle::B32 ? 32 : s == Swizzle::B64 ? 64 : 128;
}

struct MatrixDescriptor {
  uint32_t start = 0;     ///< bytes
  uint32_t leading = 0;   ///< leading-dimension byte offset
  uint32_t stride = 0;    ///< stride-dimension byte offset
  uint8_t baseOffset = 0; ///< 0..7
  Swizzle swizzle = Swizzle::None;
};
/// wgmma: layout in bits 62-63 (0 none, 1 128B, 2 64B, 3 32B).
Problem decodeWgmmaDescriptor(uint64_t bits, MatrixDescriptor &out);
/// tcgen05: bits 46-48 must be 0b001, layout in bits 61-63 (0 none, 1 128B with 32-byte
/// atoms, 2 128B, 4 64B, 6 32B).
Problem decodeTcgen05Descriptor(uint64_t bits, MatrixDescriptor &out);
uint64_t encodeWgmmaDescriptor(const MatrixDescriptor &d);
uint64_t encodeTcgen05Descriptor(const MatrixDescriptor &d);

/// Applies the swizzle to a byte address: 16-byte chunk index XOR row index.
uint32_t swizzleAddress(Swizzle s, uint8_t baseOffset, uint32_t address);

/// Byte address (before the low bits of sub-byte elements) of byte `kByte` of row `mn`
/// of a K-major matrix.
uint32_t kMajorAddress(const MatrixDescriptor &d, uint32_t mn, uint32_t kByte);
/// Byte address of byte `mnByte` of column `k` of an MN-major matrix.
uint32_t mnMajorAddress(const MatrixDescriptor &d, uint32_t mnByte, uint32_t k);

/// The bytes an operand of `mn` rows and `kBytes` (K-major) or `mnBytes` x `k`
/// (MN-major) covers, merged and sorted; refuses what leaves [0, sharedBytes). Of each
/// 16-byte unit only the first `unitBytes` are read (padded formats).
Problem operandRuns(const MatrixDescriptor &d, bool mnMajor, unsigned mn, unsigned k,
                    unsigned elementBits, uint32_t sharedBytes, std::vector<ByteRun> &out,
                    unsigned unitBytes = 16);

} // namespace heddle::emulator::tensor

#endif // HEDDLE_EMULATOR_TENSOR_DESCRIPTOR_H
