//===- Operand.cpp - operands of matrix instructions as dense arrays ------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Operand.h"
#include "Numeric.h"

#include <algorithm>
#include <cstring>

namespace heddle::emulator::tensor {

unsigned storageBits(Elem e, Packing packing) {
  return packing == Packing::Dense ? elemBits(e) : 8;
}

unsigned elementsPerUnit(Elem e, Packing packing) { return 128 / storageBits(e, packing); }

unsigned unitBytes(Elem e, Packing packing) {
  return packing == Packing::Padded ? 2 * elemBits(e) : 16;
}

void decodeUnit(Elem e, Packing packing, const uint8_t *unit, float *out) {
  switch (e) {
  case Elem::BF16:
    for (unsigned i = 0; i < 8; ++i) {
      uint16_t bits;
      std::memcpy(&bits, unit + 2 * i, 2);
      out[i] = decodeBF16(bits);
    }
    return;
  case Elem::F16:
    for (unsigned i = 0; i < 8; ++i) {
      uint16_t bits;
      std::memcpy(&bits, unit + 2 * i, 2);
      out[i] = decodeF16(bits);
    }
    return;
  case Elem::TF32:
  case Elem::F32:
    for (unsigned i = 0; i < 4; ++i) {
      uint32_t bits;
      std::memcpy(&bits, unit + 4 * i, 4);
      out[i] = decode(e, bits);
    }
    return;
  default:
    break;
  }
  const float *table = decodeTable(e);
  const unsigned bits = elemBits(e);
  if (bits == 8) {
    for (unsigned i = 0; i < 16; ++i)
      out[i] = table[unit[i]];
  } else if (packing == Packing::Bytes) {
    const unsigned shift = bits == 4 ? 2 : 0;
    for (unsigned i = 0; i < 16; ++i)
      out[i] = table[unit[i] >> shift & ((1u << bits) - 1)];
  } else if (bits == 4) {
    const unsigned count = packing == Packing::Dense ? 32 : 16;
    for (unsigned i = 0; i < count; ++i)
      out[i] = table[unit[i / 2] >> 4 * (i % 2) & 0xf];
  } else { // 6 bits, packed
    for (unsigned i = 0; i < 16; ++i) {
      const unsigned at = 6 * i;
      const unsigned word = unit[at / 8] | unsigned(at / 8 + 1 < 16 ? unit[at / 8 + 1] : 0) << 8;
      out[i] = table[word >> at % 8 & 0x3f];
    }
  }
}

Problem gather(const SharedOperand &operand, const uint8_t *shared, uint32_t sharedBytes,
               unsigned strideMn, unsigned strideK, float *out, const uint16_t *order) {
  const unsigned perUnit = elementsPerUnit(operand.elem, operand.packing);
  const unsigned rows = operand.mnMajor ? operand.k : operand.mn;
  const unsigned length = operand.mnMajor ? operand.mn : operand.k;
  const unsigned rowStride = operand.mnMajor ? strideK : strideMn;
  const uint16_t *rowOrder = operand.mnMajor ? nullptr : order;
  const uint16_t *stepOrder = operand.mnMajor ? order : nullptr;
  const unsigned step = operand.mnMajor ? strideMn : strideK;
  float values[32];
  for (unsigned row = 0; row < rows; ++row)
    for (unsigned at = 0; at < length; at += perUnit) {
      const uint32_t byte = at / perUnit * 16;
      const uint32_t address = operand.mnMajor ? mnMajorAddress(operand.descriptor, byte, row)
                                               : kMajorAddress(operand.descriptor, row, byte);
      const unsigned count = std::min(perUnit, length - at);
      const unsigned bytes =
          operand.packing == Packing::Dense ? count * elemBits(operand.elem) / 8 : count;
      if (address > sharedBytes || sharedBytes - address < bytes)
        return "expected a matrix within " + std::to_string(sharedBytes) +
               " bytes of shared memory, got bytes at " + std::to_string(address);
      uint8_t unit[16] = {};
      std::memcpy(unit, shared + address, bytes);
      decodeUnit(operand.elem, operand.packing, unit, values);
      float *target = out + (rowOrder ? rowOrder[row] : row) * rowStride;
      if (stepOrder)
        for (unsigned i = 0; i < count; ++i)
          target[stepOrder[at + i] * step] = values[i];
      else
        for (unsigned i = 0; i < count; ++i)
          target[(at + i) * step] = values[i];
    }
  return std::nullopt;
}

} // namespace heddle::emulator::tensor
