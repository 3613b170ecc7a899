//===- Tcgen05.cpp - fifth-generation tensor cores: mma -------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the rows and columns of D lie (PTX ISA 9.0, "Data Path Layout Organization";
// the figures' content is spelled out in CUTLASS, include/cute/atom/
// mma_traits_sm100_frag.hpp):
//   cta_group::1, M 128   lane = row                       (Layout D)
//   cta_group::1, M 64    lane = 32 * (row / 16) + row % 16, from lane 0 or 16 (Layout F)
//   cta_group::2, M 256   each CTA has 128 rows, as D      (Layout A)
//   cta_group::2, M 128   each CTA has 64 rows; columns of the upper half lie in lanes
//                         64-127, at the columns of the lower half (Layout B)
// With cta_group::2 each CTA's shared memory holds its rows of A and half the columns of
// B. A in tensor memory uses the lanes of D; in Layout B it is duplicated in both
// 64-lane halves. Scales: row (or column) i of a 32-lane partition lies in lane i % 32
// of that partition, column i / 32, one byte per chunk of K, the first at scaleId; each
// partition reads its own copy.
//
//===----------------------------------------------------------------------===//
#include "Tcgen05.h"
#include "Accumulate.h"
#include "Numeric.h"
#include "Operand.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace heddle::emulator::tensor {

namespace {

constexpr unsigned partition = 32; ///< lanes of a sub-core

bool blockScaled(Tcgen05Kind k) { return k >= Tcgen05Kind::MxF8F6F4; }
bool packedNibbles(Tcgen05Kind k) { return k == Tcgen05Kind::MxF4 || k == Tcgen05Kind::MxF4NvF4; }

std::string kindName(Tcgen05Kind k) {
  constexpr const char *names[] = {"f16", "tf32", "f8f6f4", "i8", "mxf8f6f4", "mxf4", "mxf4nvf4"};
  return names[static_cast<unsigned>(k)];
}

Problem decodeElem(Tcgen05Kind kind, unsigned bits, Elem &out) {
  switch (kind) {
  case Tcgen05Kind::F16:
    if (bits < 2) {
      out = bits ? Elem::BF16 : Elem::F16;
      return std::nullopt;
    }
    break;
  case Tcgen05Kind::TF32:
    if (bits == 2) {
      out = Elem::TF32;
      return std::nullopt;
    }
    break;
  case Tcgen05Kind::I8:
    if (bits < 2) {
      out = bits ? Elem::S8 : Elem::U8;
      return std::nullopt;
    }
    break;
  case Tcgen05Kind::F8F6F4:
  case Tcgen05Kind::MxF8F6F4: {
    constexpr Elem elems[] = {Elem::E4M3, Elem::E5M2, Elem::F32,
                              Elem::E2M3, Elem::E3M2, Elem::E2M1};
    if (bits < 6 && bits != 2) {
      out = elems[bits];
      return std::nullopt;
    }
    break;
  }
  case Tcgen05Kind::MxF4:
  case Tcgen05Kind::MxF4NvF4:
    if (bits == 1) {
      out = Elem::E2M1;
      return std::nullopt;
    }
    break;
  }
  return "expected an operand type of kind::" + kindName(kind) +
         " in the instruction descriptor, got " + std::to_string(bits);
}

Problem decodeD(Tcgen05Kind kind, unsigned bits, InstructionDescriptor &d) {
  const bool halfOk = kind == Tcgen05Kind::F8F6F4 ||
                      (kind == Tcgen05Kind::F16 && d.a == Elem::F16 && d.b == Elem::F16);
  if (kind == Tcgen05Kind::I8 && bits == 2)
    d.d = Elem::S32;
  else if (kind != Tcgen05Kind::I8 && bits == 1)
    d.d = Elem::F32;
  else if (bits == 0 && halfOk)
    d.d = Elem::F16;
  else
    return "expected a type of D of kind::" + kindName(kind) +
           " in the instruction descriptor, got " + std::to_string(bits);
  return std::nullopt;
}

Problem checkShape(Tcgen05Kind kind, unsigned group, const InstructionDescriptor &d,
                   bool stationary) {
  if (stationary) {
    if (group != 1 || blockScaled(kind))
      return "expected cta_group::1 and no block scaling with .ws";
    if (d.m != 32 && d.m != 64 && d.m != 128)
      return "expected M 32, 64 or 128 with .ws, got " + std::to_string(d.m);
    if (d.n != 64 && d.n != 128 && d.n != 256)
      return "expected N 64, 128 or 256 with .ws, got " + std::to_string(d.n);
    return std::nullopt;
  }
  const bool wide = group == 1 ? d.m == 128 : d.m == 256;
  const bool narrow = group == 1 ? d.m == 64 : d.m == 128;
  if (!wide && !(narrow && (group == 2 || !blockScaled(kind))))
    return "expected M " +
           std::string(group == 2          ? "128 or 256"
                       : blockScaled(kind) ? "128"
                                           : "64 or 128") +
           " for kind::" + kindName(kind) + " with cta_group::" + std::to_string(group) + ", got " +
           std::to_string(d.m);
  unsigned step = 8 * group;
  if (kind == Tcgen05Kind::I8 && (group == 2 || d.n > 32))
    step = 16 * group;
  if (d.transposeB && elemBits(d.b) == 8)
    step = 16 * group;
  if (d.n < step || d.n > 256 || d.n % step)
    return "expected N to be a multiple of " + std::to_string(step) + " up to 256, got " +
           std::to_string(d.n);
  return std::nullopt;
}

} // namespace

Problem decodeInstructionDescriptor(Tcgen05Kind kind, uint32_t bits, unsigned ctaGroup,
                                    InstructionDescriptor &out, bool stationary) {
  const auto field = [&](unsigned at, unsigned width) { return bits >> at & ((1u << width) - 1); };
  out = {};
  if (ctaGroup != 1 && ctaGroup != 2)
    return "expected cta_group 1 or 2, got " + std::to_string(ctaGroup);
  if (field(2, 1))
    return "expected a dense instruction descriptor, got the sparsity bit, which is not emulated";
  const bool scaled = blockScaled(kind), nibbles = packedNibbles(kind);
  if (Problem p = decodeElem(kind, field(7, 3), out.a))
    return "A: " + *p;
  if (Problem p = decodeElem(kind, nibbles ? field(10, 2) : field(10, 3), out.b))
    return "B: " + *p;
  out.negateA = field(13, 1);
  out.negateB = field(14, 1);
  out.transposeA = field(15, 1);
  out.transposeB = field(16, 1);
  out.n = field(17, 6) << 3;
  out.m = field(24, 5) << 4;
  const uint32_t reserved =
      scaled ? (bits & 0x0700004b) | (nibbles ? bits & 0x1000 : bits & 0x80000000)
             : bits & 0xe0800043;
  if (reserved)
    return "expected reserved bits of the instruction descriptor to be 0, got " +
           std::to_string(reserved);
  switch (kind) {
  case Tcgen05Kind::F16:
    out.k = 16;
    break;
  case Tcgen05Kind::TF32:
    out.k = 8;
    break;
  case Tcgen05Kind::F8F6F4:
  case Tcgen05Kind::I8:
  case Tcgen05Kind::MxF8F6F4:
    out.k = 32;
    break;
  default:
    out.k = 64;
    if (field(31, 1))
      return "expected K 64 in the instruction descriptor, got 96, which is not emulated";
  }
  if (scaled) {
    out.scaleIdB = field(4, 2);
    out.scaleIdA = field(29, 2);
    out.scale = field(23, 1) ? Elem::UE8M0 : Elem::UE4M3;
    if (out.scale == Elem::UE4M3 && kind != Tcgen05Kind::MxF4NvF4)
      return "expected scale type ue8m0 for kind::" + kindName(kind) + ", got ue4m3";
  } else {
    if (Problem p = decodeD(kind, field(4, 2), out))
      return p;
    out.saturate = field(3, 1);
    if (out.saturate && kind != Tcgen05Kind::I8)
      return "expected saturation only with kind::i8, got kind::" + kindName(kind);
    if ((out.negateA || out.negateB) && kind == Tcgen05Kind::I8)
      return "expected no negation with kind::i8, got negation";
  }
  for (const auto &[transposed, elem] :
       {std::pair{out.transposeA, out.a}, std::pair{out.transposeB, out.b}})
    if (transposed && (nibbles || elemBits(elem) < 8))
      return "expected K-major operands of type " + std::string(elemName(elem)) + ", got transpose";
  return checkShape(kind, ctaGroup, out, stationary);
}

AccumulateModel modelForTcgen05(Tcgen05Kind) { return {0, 0, true}; }

//===----------------------------------------------------------------------===//
// Decoded instruction
//===----------------------------------------------------------------------===//

namespace {

/// Everything that follows from the operands, decoded and checked.
struct Plan {
  InstructionDescriptor id;
  MatrixDescriptor a, b;
  unsigned group = 1;
  unsigned rows = 0;   ///< of A and D in each CTA
  unsigned halves = 1; ///< parts of the columns: Layouts B and E: 2, Layout G: 4
  unsigned partN = 0;  ///< columns of D in tensor memory: n / halves
  unsigned ctaN = 0;   ///< columns of B in each CTA's shared memory
  unsigned laneBase = 0;
  unsigned column = 0;
  unsigned scaleVector = 0;
  Packing packA = Packing::Dense, packB = Packing::Dense;

  /// Lane of a row of a CTA's D, in the given half of the columns.
  unsigned lane(unsigned row, unsigned half) const {
    if (halves > 1)
      return row + TensorMemory::lanes / halves * half;
    return rows == 64 ? laneBase + row / 16 * 32 + row % 16 : row;
  }
};

Packing sharedPacking(Tcgen05Kind kind, Elem e) {
  return elemBits(e) >= 8 || packedNibbles(kind) ? Packing::Dense : Packing::Padded;
}

Problem decodeOperand(const char *name, uint64_t bits, bool transposed, Elem elem,
                      MatrixDescriptor &out) {
  if (Problem p = decodeTcgen05Descriptor(bits, out))
    return std::string("operand ") + name + ": " + *p;
  const bool base32 = out.swizzle == Swizzle::B128Base32;
  if (transposed && (elem == Elem::TF32) != base32)
    return std::string("operand ") + name + ": expected " +
           (base32 ? "tf32 elements with" : "swizzling with 32-byte atoms for") +
           (base32 ? " transposed swizzling with 32-byte atoms, got " : " transposed tf32, got ") +
           (base32 ? std::string(elemName(elem)) : std::string("another layout"));
  return std::nullopt;
}

Problem checkScaleVector(const Tcgen05Mma &mma, const InstructionDescriptor &id, unsigned &vector) {
  vector = mma.scaleVector;
  if (!blockScaled(mma.kind))
    return vector ? Problem("expected no scale vector without block scaling, got " +
                            std::to_string(vector) + "X")
                  : std::nullopt;
  if (!vector && mma.kind == Tcgen05Kind::MxF8F6F4)
    vector = 1;
  if (!vector && mma.kind == Tcgen05Kind::MxF4)
    vector = 2;
  const bool fits = (mma.kind == Tcgen05Kind::MxF8F6F4 && vector == 1) ||
                    (mma.kind == Tcgen05Kind::MxF4 && vector == 2) ||
                    (mma.kind == Tcgen05Kind::MxF4NvF4 &&
                     (vector == 4 || (vector == 2 && id.scale == Elem::UE8M0)));
  if (!fits)
    return "expected a scale vector size of kind::" + kindName(mma.kind) + " with " +
           std::string(elemName(id.scale)) + ", got " + std::to_string(vector) + "X";
  for (unsigned at : {id.scaleIdA, id.scaleIdB})
    if (at % vector || at + vector > 4)
      return "expected a scale factor id that fits " + std::to_string(vector) + "X, got " +
             std::to_string(at);
  if (tmemLane(mma.scaleA) || tmemLane(mma.scaleB))
    return "expected scales from lane 0 of tensor memory, got lane " +
           std::to_string(tmemLane(mma.scaleA) ? tmemLane(mma.scaleA) : tmemLane(mma.scaleB));
  return std::nullopt;
}

Problem checkColumns(const char *what, unsigned column, unsigned count) {
  if (column + count > TensorMemory::columns)
    return std::string("expected ") + what + " within 512 columns of tensor memory, got columns " +
           std::to_string(column) + " to " + std::to_string(column + count - 1);
  return std::nullopt;
}

Problem makePlan(const Tcgen05Mma &mma, Plan &plan) {
  InstructionDescriptor &id = plan.id;
  if (Problem p =
          decodeInstructionDescriptor(mma.kind, mma.idesc, mma.ctaGroup, id, mma.stationary))
    return p;
  if (Problem p = checkModel(mma.model, id.a, id.b))
    return p;
  if (mma.scaleInputD > 15)
    return "expected scale-input-d from 0 to 15, got " + std::to_string(mma.scaleInputD);
  if (mma.scaleInputD && mma.kind != Tcgen05Kind::F16 && mma.kind != Tcgen05Kind::TF32)
    return "expected scale-input-d only with kind::f16 and kind::tf32, got kind::" +
           kindName(mma.kind);
  plan.group = mma.ctaGroup;
  plan.rows = id.m / mma.ctaGroup;
  plan.halves = mma.stationary                     ? TensorMemory::lanes / id.m
                : mma.ctaGroup == 2 && id.m == 128 ? 2
                                                   : 1;
  plan.partN = id.n / plan.halves;
  plan.ctaN = id.n / mma.ctaGroup;
  plan.laneBase = tmemLane(mma.d);
  plan.column = tmemColumn(mma.d);
  const bool scattered = plan.rows == 64 && plan.halves == 1;
  if (plan.laneBase != 0 && !(scattered && plan.laneBase == 16))
    return "expected D at lane 0" + std::string(scattered ? " or 16" : "") +
           " of tensor memory, got lane " + std::to_string(plan.laneBase);
  if (Problem p = checkColumns("D", plan.column, plan.partN))
    return p;
  if (mma.aInTmem) {
    if (id.transposeA)
      return "expected A in tensor memory to be K-major, got transpose";
    if (tmemLane(mma.aTmem) != plan.laneBase)
      return "expected A at the lane of D, " + std::to_string(plan.laneBase) + ", got lane " +
             std::to_string(tmemLane(mma.aTmem));
    if (Problem p = checkColumns("A", tmemColumn(mma.aTmem), 8))
      return p;
    plan.packA = elemBits(id.a) >= 8 || packedNibbles(mma.kind) ? Packing::Dense : Packing::Bytes;
  } else {
    plan.packA = sharedPacking(mma.kind, id.a);
    if (Problem p = decodeOperand("A", mma.aDesc, id.transposeA, id.a, plan.a))
      return p;
  }
  plan.packB = sharedPacking(mma.kind, id.b);
  if (Problem p = decodeOperand("B", mma.bDesc, id.transposeB, id.b, plan.b))
    return p;
  if (Problem p = checkScaleVector(mma, id, plan.scaleVector))
    return p;
  if (blockScaled(mma.kind)) {
    if (Problem p = checkColumns("scales of A", tmemColumn(mma.scaleA), (plan.rows + 31) / 32))
      return p;
    if (Problem p = checkColumns("scales of B", tmemColumn(mma.scaleB), (plan.partN + 31) / 32))
      return p;
  }
  return std::nullopt;
}

bool disabled(const Tcgen05Mma &mma, unsigned cta, unsigned lane) {
  return mma.disableLane && (mma.disableLane[cta * 4 + lane / 32] >> lane % 32 & 1);
}

/// Lanes of D that the instruction updates, as runs.
void addRunsD(const Tcgen05Mma &mma, const Plan &plan, unsigned cta, std::vector<TmemRun> &out) {
  bool used[TensorMemory::lanes] = {};
  for (unsigned half = 0; half < plan.halves; ++half)
    for (unsigned row = 0; row < plan.rows; ++row) {
      const unsigned lane = plan.lane(row, half);
      used[lane] = !disabled(mma, cta, lane);
    }
  for (unsigned lane = 0; lane < TensorMemory::lanes;) {
    unsigned end = lane;
    while (end < TensorMemory::lanes && used[end])
      ++end;
    if (end > lane)
      out.push_back({uint16_t(lane), uint16_t(end - lane), uint16_t(plan.column),
                     uint16_t(plan.partN), uint8_t(cta)});
    lane = end + 1;
  }
}

} // namespace

Problem tcgen05MmaFootprint(const Tcgen05Mma &mma, uint32_t sharedBytes, Tcgen05Footprint &out) {
  Plan plan;
  if (Problem p = makePlan(mma, plan))
    return p;
  const InstructionDescriptor &id = plan.id;
  for (unsigned cta = 0; cta < plan.group; ++cta) {
    const size_t first = out.sharedReads.size();
    if (!mma.aInTmem)
      if (Problem p =
              operandRuns(plan.a, id.transposeA, plan.rows, id.k, storageBits(id.a, plan.packA),
                          sharedBytes, out.sharedReads, unitBytes(id.a, plan.packA)))
        return "operand A: " + *p;
    if (Problem p =
            operandRuns(plan.b, id.transposeB, plan.ctaN, id.k, storageBits(id.b, plan.packB),
                        sharedBytes, out.sharedReads, unitBytes(id.b, plan.packB)))
      return "operand B: " + *p;
    for (size_t i = first; i < out.sharedReads.size(); ++i)
      out.sharedReads[i].cta = static_cast<uint8_t>(cta);

    if (mma.aInTmem) {
      const auto column = static_cast<uint16_t>(tmemColumn(mma.aTmem));
      if (plan.rows == 64 && plan.halves == 1)
        for (unsigned q = 0; q < 4; ++q)
          out.tmemReads.push_back({uint16_t(plan.laneBase + 32 * q), 16, column, 8, uint8_t(cta)});
      else
        out.tmemReads.push_back({0, 128, column, 8, uint8_t(cta)});
    }
    if (blockScaled(mma.kind))
      for (unsigned p = 0; p < 4; ++p) {
        const unsigned rowBlock = p % (plan.rows / partition);
        out.tmemReads.push_back({uint16_t(partition * p), partition,
                                 uint16_t(tmemColumn(mma.scaleA) + rowBlock), 1, uint8_t(cta)});
        const unsigned whole = plan.partN / 32, rest = plan.partN % 32;
        const auto column = static_cast<uint16_t>(tmemColumn(mma.scaleB));
        if (whole)
          out.tmemReads.push_back(
              {uint16_t(partition * p), partition, column, uint16_t(whole), uint8_t(cta)});
        if (rest)
          out.tmemReads.push_back(
              {uint16_t(partition * p), uint16_t(rest), uint16_t(column + whole), 1, uint8_t(cta)});
      }
    if (mma.enableInputD)
      addRunsD(mma, plan, cta, out.tmemReads);
    addRunsD(mma, plan, cta, out.tmemWrites);
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

namespace {

/// Where the columns go in a panelled B.
struct PanelOrder {
  uint16_t at[256];
  explicit constexpr PanelOrder(unsigned k) : at() {
    for (unsigned col = 0; col < 256; ++col)
      at[col] = static_cast<uint16_t>(panelIndex(0, col, k));
  }
};
const uint16_t *panelOrder(unsigned k) {
  static constexpr PanelOrder orders[] = {PanelOrder(8), PanelOrder(16), PanelOrder(32),
                                          PanelOrder(64)};
  return orders[k == 64 ? 3 : k / 16].at;
}

struct Scratch {
  std::vector<float> a, b, wholeB, scaledA, scaledB, d;
  std::vector<int32_t> id;
  Products products;
};

/// A of a CTA in tensor memory: 32 bytes (8 cells) of each row's lane.
void gatherTmemA(const Plan &plan, const Tcgen05Mma &mma, const TensorMemory &tmem, unsigned half,
                 float *a) {
  const unsigned perUnit = elementsPerUnit(plan.id.a, plan.packA);
  for (unsigned row = 0; row < plan.rows; ++row) {
    uint8_t bytes[32];
    for (unsigned i = 0; i < 8; ++i) {
      const uint32_t cell = tmem.at(plan.lane(row, half), tmemColumn(mma.aTmem) + i);
      std::memcpy(bytes + 4 * i, &cell, 4);
    }
    for (unsigned unit = 0; unit < 2; ++unit)
      decodeUnit(plan.id.a, plan.packA, bytes + 16 * unit, a + row * plan.id.k + unit * perUnit);
  }
}

/// Rows [row0, row0 + 32) of A and all columns of B times their scales, taken from the
/// partition of the rows' lanes.
void scaleBlock(const Plan &plan, const Tcgen05Mma &mma, const TensorMemory &tmem, unsigned row0,
                unsigned half, const float *a, const float *b, float *outA, float *outB) {
  const InstructionDescriptor &id = plan.id;
  const unsigned chunk = id.k / plan.scaleVector;
  const unsigned lane0 = plan.lane(row0, half) / partition * partition;
  const float *table = decodeTable(id.scale);
  for (unsigned r = 0; r < partition; ++r) {
    const uint32_t cell = tmem.at(lane0 + r, tmemColumn(mma.scaleA) + row0 / partition);
    for (unsigned k = 0; k < id.k; ++k)
      outA[r * id.k + k] =
          a[(row0 + r) * id.k + k] * table[cell >> 8 * (id.scaleIdA + k / chunk) & 0xff];
  }
  for (unsigned n = 0; n < plan.partN; ++n) {
    const uint32_t cell = tmem.at(lane0 + n % 32, tmemColumn(mma.scaleB) + n / 32);
    for (unsigned k = 0; k < id.k; ++k)
      outB[panelIndex(k, n, id.k)] =
          b[panelIndex(k, n, id.k)] * table[cell >> 8 * (id.scaleIdB + k / chunk) & 0xff];
  }
}

float readD(const Plan &plan, const Tcgen05Mma &mma, uint32_t cell) {
  const float value =
      plan.id.d == Elem::F16 ? decodeF16(static_cast<uint16_t>(cell)) : asFloat(cell);
  return mma.scaleInputD ? std::ldexp(value, -static_cast<int>(mma.scaleInputD)) : value;
}

/// One CTA's rows and one half of the columns.
void multiplyPart(const Plan &plan, const Tcgen05Mma &mma, TensorMemory &tmem, unsigned cta,
                  unsigned half, Scratch &s) {
  const InstructionDescriptor &id = plan.id;
  const unsigned rows = plan.rows, n = plan.partN;
  const auto forEach = [&](auto f) {
    for (unsigned row = 0; row < rows; ++row) {
      const unsigned lane = plan.lane(row, half);
      if (disabled(mma, cta, lane))
        continue;
      for (unsigned j = 0; j < n; ++j)
        f(tmem.at(lane, plan.column + j), row * n + j);
    }
  };
  if (id.d == Elem::S32) {
    s.id.assign(rows * n, 0);
    if (mma.enableInputD)
      forEach([&](uint32_t &cell, unsigned i) { s.id[i] = static_cast<int32_t>(cell); });
    accumulate(DenseInt{rows, n, id.k, s.a.data(), s.b.data()}, mma.enableInputD, id.saturate,
               s.id.data());
    forEach([&](uint32_t &cell, unsigned i) { cell = static_cast<uint32_t>(s.id[i]); });
    return;
  }
  const bool half16 = id.d == Elem::F16;
  s.d.assign(rows * n, 0.0f);
  if (mma.enableInputD)
    forEach([&](uint32_t &cell, unsigned i) { s.d[i] = readD(plan, mma, cell); });
  const int minA = minExponent(id.a), minB = minExponent(id.b);
  if (blockScaled(mma.kind)) {
    s.scaledA.resize(partition * id.k);
    s.scaledB.resize(id.k * n);
    for (unsigned row0 = 0; row0 < rows; row0 += partition) {
      scaleBlock(plan, mma, tmem, row0, half, s.a.data(), s.b.data(), s.scaledA.data(),
                 s.scaledB.data());
      s.products.setB(n, id.k, s.scaledB.data(), -126, mma.model);
      s.products.rows(partition, s.scaledA.data(), -126, mma.enableInputD, half16,
                      s.d.data() + row0 * n);
    }
  } else {
    s.products.setB(n, id.k, s.b.data(), minB, mma.model);
    s.products.rows(rows, s.a.data(), minA, mma.enableInputD, half16, s.d.data());
  }
  forEach([&](uint32_t &cell, unsigned i) { cell = half16 ? exactF16(s.d[i]) : asBits(s.d[i]); });
}

} // namespace

Problem tcgen05Mma(const Tcgen05Mma &mma, const CtaMemory *ctas) {
  Plan plan;
  if (Problem p = makePlan(mma, plan))
    return p;
  const InstructionDescriptor &id = plan.id;
  thread_local Scratch s;
  s.a.resize(plan.rows * id.k);
  s.b.resize(id.k * plan.partN);
  const unsigned ctasPerPart = plan.partN / plan.ctaN;
  if (ctasPerPart == 0) { // .ws: the parts lie side by side in one block's B
    s.wholeB.resize(id.k * plan.ctaN);
    const SharedOperand b{plan.b, id.transposeB, plan.ctaN, id.k, id.b, plan.packB};
    if (Problem p =
            gather(b, ctas[0].shared, ctas[0].sharedBytes, 1, 8, s.wholeB.data(), panelOrder(id.k)))
      return "operand B: " + *p;
  }
  for (unsigned half = 0; half < plan.halves; ++half) {
    if (ctasPerPart == 0)
      std::copy_n(s.wholeB.begin() + panelIndex(0, half * plan.partN, id.k), id.k * plan.partN,
                  s.b.begin());
    // Columns of this part lie in one CTA's shared memory (Layout B) or in all.
    for (unsigned i = 0; i < ctasPerPart; ++i) {
      const CtaMemory &source = ctas[half + i];
      const SharedOperand b{plan.b, id.transposeB, plan.ctaN, id.k, id.b, plan.packB};
      if (Problem p = gather(b, source.shared, source.sharedBytes, 1, 8,
                             s.b.data() + panelIndex(0, i * plan.ctaN, id.k), panelOrder(id.k)))
        return "operand B: " + *p;
    }
    if (id.negateB)
      for (float &x : s.b)
        x = -x;
    for (unsigned cta = 0; cta < plan.group; ++cta) {
      if (mma.aInTmem) {
        gatherTmemA(plan, mma, *ctas[cta].tmem, half, s.a.data());
      } else {
        const SharedOperand a{plan.a, id.transposeA, plan.rows, id.k, id.a, plan.packA};
        if (Problem p = gather(a, ctas[cta].shared, ctas[cta].sharedBytes, id.k, 1, s.a.data()))
          return "operand A: " + *p;
      }
      if (id.negateA)
        for (float &x : s.a)
          x = -x;
      multiplyPart(plan, mma, *ctas[cta].tmem, cta, half, s);
    }
  }
  return std::nullopt;
}

} // namespace heddle::emulator::tensor
