//===- Operand.h - operands of matrix instructions as dense arrays --------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gathers an operand that lies in shared memory (by descriptor), in registers or in
// tensor memory into a dense array of floats; the instruction models then only see
// dense arrays.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_EMULATOR_TENSOR_OPERAND_H
#define HEDDLE_EMULATOR_TENSOR_OPERAND_H

#include "Descriptor.h"
#include "Types.h"

namespace heddle::emulator::tensor {

/// How the elements of an operand are packed into 16-byte units.
///   Dense   no gaps: 4 (tf32), 8 (16-bit), 16 (8-bit), 32 (4-bit) elements
///   Padded  16 elements of 4 or 6 bits, then 8 or 4 bytes of padding (kind::f8f6f4 and
///           kind::mxf8f6f4 in shared memory)
///   Bytes   one element of 4 or 6 bits in each byte; e2m1 in bits 2-5, others in bits
///           0-5 (mma.sync registers, tensor memory)
enum class Packing : uint8_t { Dense, Padded, Bytes };

/// Elements in 16 bytes.
unsigned elementsPerUnit(Elem e, Packing packing);
/// Bytes of a 16-byte unit that hold data.
unsigned unitBytes(Elem e, Packing packing);
/// Decodes `elementsPerUnit` elements.
void decodeUnit(Elem e, Packing packing, const uint8_t *unit, float *out);

/// A matrix in shared memory of `mn` rows (M of A, N of B) and k columns.
struct SharedOperand {
  MatrixDescriptor descriptor;
  bool mnMajor = false;
  unsigned mn = 0, k = 0;
  Elem elem = Elem::BF16;
  Packing packing = Packing::Dense;
};
/// Bits an element occupies on average, padding included: what addresses advance by.
unsigned storageBits(Elem e, Packing packing);
/// out[row * strideMn + column * strideK] = element, or, with `order`, out[order[row] *
/// strideMn + ...]. Refuses addresses outside [0, sharedBytes).
Problem gather(const SharedOperand &operand, const uint8_t *shared, uint32_t sharedBytes,
               unsigned strideMn, unsigned strideK, float *out, const uint16_t *order = nullptr);

} // namespace heddle::emulator::tensor

#endif // HEDDLE_EMULATOR_TENSOR_OPERAND_H
