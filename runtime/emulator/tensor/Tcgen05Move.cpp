//===- Tcgen05Move.cpp - tensor memory: ld, st, cp ------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cells of ld and st: PTX ISA 9.0, "Data Movement Shape", whose figures are spelled out
// in CUTLASS (include/cute/atom/copy_traits_sm100.hpp) and in the TVM documentation of
// its tcgen05.ld/st operations. With pack::16b and unpack::16b each 32-bit column of
// the plain shape stands for the low halves of two neighbouring columns.
//
//===----------------------------------------------------------------------===//
#include "Numeric.h"
#include "Operand.h"
#include "Tcgen05.h"

#include <algorithm>
#include <cstring>

namespace heddle::emulator::tensor {

namespace {

constexpr unsigned lanes = 32;

/// Columns of one repetition (without packing) and registers of one repetition.
struct Shape {
  unsigned rows, columns, registers, most;
};
Shape shapeOf(TmemShape s) {
  switch (s) {
  case TmemShape::S16x64b:
    return {16, 2, 1, 128};
  case TmemShape::S16x128b:
    return {16, 4, 2, 64};
  case TmemShape::S16x256b:
    return {16, 8, 4, 32};
  case TmemShape::S32x32b:
    return {32, 1, 1, 128};
  case TmemShape::S16x32bx2:
    return {16, 1, 1, 128};
  }
  return {32, 1, 1, 128};
}

} // namespace

Problem checkTmemMove(const TmemMove &m, uint32_t address) {
  const Shape s = shapeOf(m.shape);
  if (m.num == 0 || m.num > s.most || (m.num & (m.num - 1)))
    return "expected .num to be a power of two up to " + std::to_string(s.most) + ", got " +
           std::to_string(m.num);
  const unsigned lane = tmemLane(address), first = m.warpInGroup * lanes;
  const bool half = s.rows == 16 && lane == first + 16;
  if (lane != first && !half)
    return "expected tensor memory lane " + std::to_string(first) +
           (s.rows == 16 ? " or " + std::to_string(first + 16) : std::string()) + " for warp " +
           std::to_string(m.warpInGroup) + " of its warpgroup, got lane " + std::to_string(lane);
  const unsigned columns = s.columns * m.num * (m.pack16 ? 2 : 1);
  const unsigned end =
      tmemColumn(address) + columns + (m.shape == TmemShape::S16x32bx2 ? m.halfSplitOff : 0);
  if (end > TensorMemory::columns)
    return "expected columns within the 512 of tensor memory, got column " +
           std::to_string(end - 1);
  return std::nullopt;
}

unsigned tmemRegisters(const TmemMove &m) { return shapeOf(m.shape).registers * m.num; }

void tmemRuns(const TmemMove &m, uint32_t address, std::vector<TmemRun> &out) {
  const Shape s = shapeOf(m.shape);
  const auto lane = static_cast<uint16_t>(tmemLane(address));
  const auto column = static_cast<uint16_t>(tmemColumn(address));
  const auto columns = static_cast<uint16_t>(s.columns * m.num * (m.pack16 ? 2 : 1));
  out.push_back({lane, uint16_t(s.rows), column, columns});
  if (m.shape == TmemShape::S16x32bx2)
    out.push_back({lane, uint16_t(s.rows), uint16_t(column + m.halfSplitOff), columns});
}

TmemCell tmemCell(const TmemMove &m, uint32_t address, unsigned thread, unsigned reg) {
  unsigned row = 0, column = 0, offset = 0;
  switch (m.shape) {
  case TmemShape::S32x32b:
    row = thread;
    column = reg;
    break;
  case TmemShape::S16x64b:
    row = thread / 4 + 8 * (thread % 2);
    column = thread / 2 % 2 + 2 * reg;
    break;
  case TmemShape::S16x128b:
    row = thread / 4 + 8 * (reg % 2);
    column = thread % 4 + 4 * (reg / 2);
    break;
  case TmemShape::S16x256b:
    row = thread / 4 + 8 * (reg / 2 % 2);
    column = 2 * (thread % 4) + reg % 2 + 8 * (reg / 4);
    break;
  case TmemShape::S16x32bx2:
    row = thread % 16;
    column = reg;
    offset = thread / 16 * m.halfSplitOff;
    break;
  }
  return {tmemLane(address) + row, tmemColumn(address) + offset + column * (m.pack16 ? 2 : 1)};
}

void tmemLoad(const TmemMove &m, const TensorMemory &tmem, uint32_t address, uint32_t *registers) {
  const unsigned count = tmemRegisters(m);
  for (unsigned thread = 0; thread < lanes; ++thread)
    for (unsigned reg = 0; reg < count; ++reg) {
      const TmemCell c = tmemCell(m, address, thread, reg);
      const uint32_t low = tmem.at(c.lane, c.column);
      registers[reg * lanes + thread] =
          m.pack16 ? (low & 0xffff) | tmem.at(c.lane, c.column + 1) << 16 : low;
    }
}

void tmemStore(const TmemMove &m, TensorMemory &tmem, uint32_t address, const uint32_t *registers) {
  const unsigned count = tmemRegisters(m);
  for (unsigned thread = 0; thread < lanes; ++thread)
    for (unsigned reg = 0; reg < count; ++reg) {
      const TmemCell c = tmemCell(m, address, thread, reg);
      const uint32_t value = registers[reg * lanes + thread];
      tmem.at(c.lane, c.column) = m.pack16 ? value & 0xffff : value;
      if (m.pack16)
        tmem.at(c.lane, c.column + 1) = value >> 16;
    }
}

//===----------------------------------------------------------------------===//
// cp: rows of a K-major matrix in shared memory, 16 or 32 bytes each
//===----------------------------------------------------------------------===//

namespace {

struct CopyPlan {
  MatrixDescriptor desc;
  unsigned rows, bytes;
  /// Lanes that row r goes to, relative to the address's lane: lane(r) + each of copies.
  unsigned copies[4], copyCount;
  unsigned sourceBytes; ///< data bytes of each 16-byte unit in shared memory

  unsigned lane(TmemCopyShape shape, unsigned row) const {
    if (shape == TmemCopyShape::S4x256b)
      return 32 * row;
    if (shape == TmemCopyShape::S64x128bWarpx2_01_23)
      return row / 32 * 64 + row % 32;
    return row;
  }
};

Problem planCopy(const TmemCopy &copy, CopyPlan &plan) {
  if (Problem p = decodeTcgen05Descriptor(copy.desc, plan.desc))
    return p;
  plan.copies[0] = 0;
  plan.copyCount = 1;
  switch (copy.shape) {
  case TmemCopyShape::S128x256b:
    plan.rows = 128, plan.bytes = 32;
    break;
  case TmemCopyShape::S4x256b:
    plan.rows = 4, plan.bytes = 32;
    break;
  case TmemCopyShape::S128x128b:
    plan.rows = 128, plan.bytes = 16;
    break;
  case TmemCopyShape::S64x128bWarpx2_02_13:
    plan.rows = 64, plan.bytes = 16, plan.copyCount = 2, plan.copies[1] = 64;
    break;
  case TmemCopyShape::S64x128bWarpx2_01_23:
    plan.rows = 64, plan.bytes = 16, plan.copyCount = 2, plan.copies[1] = 32;
    break;
  case TmemCopyShape::S32x128bWarpx4:
    plan.rows = 32, plan.bytes = 16, plan.copyCount = 4;
    for (unsigned i = 0; i < 4; ++i)
      plan.copies[i] = 32 * i;
    break;
  }
  plan.sourceBytes = copy.format == TmemCopyFormat::B8x16FromB6x16P32   ? 12
                     : copy.format == TmemCopyFormat::B8x16FromB4x16P64 ? 8
                                                                        : 16;
  if (tmemLane(copy.address))
    return "expected tensor memory lane 0 as target of tcgen05.cp, got lane " +
           std::to_string(tmemLane(copy.address));
  if (tmemColumn(copy.address) + plan.bytes / 4 > TensorMemory::columns)
    return "expected columns within the 512 of tensor memory, got column " +
           std::to_string(tmemColumn(copy.address) + plan.bytes / 4 - 1);
  return std::nullopt;
}

/// 16 packed elements of 4 or 6 bits to bytes: e2m1 lies in bits 2-5 (the container of
/// kind::f8f6f4), 6-bit formats in bits 0-5.
void decompress(TmemCopyFormat format, const uint8_t *unit, uint8_t *bytes) {
  const bool nibbles = format == TmemCopyFormat::B8x16FromB4x16P64;
  for (unsigned i = 0; i < 16; ++i) {
    if (nibbles) {
      bytes[i] = static_cast<uint8_t>((unit[i / 2] >> 4 * (i % 2) & 0xf) << 2);
    } else {
      const unsigned at = 6 * i;
      const unsigned word = unit[at / 8] | unsigned(unit[at / 8 + 1]) << 8;
      bytes[i] = static_cast<uint8_t>(word >> at % 8 & 0x3f);
    }
  }
}

} // namespace

Problem tcgen05CpFootprint(const TmemCopy &copy, uint32_t sharedBytes, Tcgen05Footprint &out) {
  CopyPlan plan;
  if (Problem p = planCopy(copy, plan))
    return p;
  if (Problem p = operandRuns(plan.desc, false, plan.rows, plan.bytes, 8, sharedBytes,
                              out.sharedReads, plan.sourceBytes))
    return p;
  const auto column = static_cast<uint16_t>(tmemColumn(copy.address));
  const auto columns = static_cast<uint16_t>(plan.bytes / 4);
  if (copy.shape == TmemCopyShape::S4x256b)
    for (unsigned row = 0; row < 4; ++row)
      out.tmemWrites.push_back({uint16_t(32 * row), 1, column, columns});
  else // every other shape reaches all 128 lanes
    out.tmemWrites.push_back({0, TensorMemory::lanes, column, columns});
  return std::nullopt;
}

Problem tcgen05Cp(const TmemCopy &copy, const uint8_t *shared, uint32_t sharedBytes,
                  TensorMemory &tmem) {
  CopyPlan plan;
  if (Problem p = planCopy(copy, plan))
    return p;
  for (unsigned row = 0; row < plan.rows; ++row)
    for (unsigned unit = 0; unit < plan.bytes / 16; ++unit) {
      const uint32_t address = kMajorAddress(plan.desc, row, 16 * unit);
      if (address > sharedBytes || sharedBytes - address < plan.sourceBytes)
        return "expected a matrix within " + std::to_string(sharedBytes) +
               " bytes of shared memory, got bytes at " + std::to_string(address);
      uint8_t source[16] = {}, bytes[16];
      std::memcpy(source, shared + address, plan.sourceBytes);
      if (copy.format == TmemCopyFormat::None)
        std::memcpy(bytes, source, 16);
      else
        decompress(copy.format, source, bytes);
      uint32_t cells[4];
      std::memcpy(cells, bytes, 16);
      for (unsigned i = 0; i < plan.copyCount; ++i)
        for (unsigned j = 0; j < 4; ++j)
          tmem.at(plan.lane(copy.shape, row) + plan.copies[i],
                  tmemColumn(copy.address) + 4 * unit + j) = cells[j];
    }
  return std::nullopt;
}

} // namespace heddle::emulator::tensor
