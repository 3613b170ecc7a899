//===- Matrix.cpp - ldmatrix, stmatrix, movmatrix, mma.sync --------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/core/Decoder.h"
#include "runtime/emulator/ops/Lanes.h"
#include "runtime/emulator/tensor/MmaSync.h"

#include <charconv>

namespace heddle::emulator {

namespace {
using tensor::Elem;

struct MoveForm {
  tensor::MatrixMove move;
  tensor::MatrixMoveSize size;
};

void execLdmatrix(Warp &w, const Instr &i) {
  const auto &f = *static_cast<const MoveForm *>(i.ext);
  uint64_t address[32];
  uint8_t *host[32];
  laneAddresses(w, i, address);
  uint32_t all = w.exec;
  // Lanes past the rows give no address.
  w.exec = f.size.rows >= 32 ? ~0u : (1u << f.size.rows) - 1;
  if ((all & w.exec) != w.exec) {
    w.exec = all;
    return w.fail(i, ErrorKind::Convergence, "expected all lanes that give row addresses to take part");
  }
  for (uint32_t m = w.exec; m; m &= m - 1) {
    int l = std::countr_zero(m);
    if (address[l] % 16)
      return w.fail(i, ErrorKind::Misaligned, "expected a row at a multiple of 16, got " + hex(address[l]), l);
  }
  bool whole = f.size.rowBytes == 16 || f.size.rowBytes == 8;
  bool ok = whole ? resolve(w, i, i.space, address, f.size.rowBytes, AccRead, host)
                  : resolve(w, i, i.space, address, 16, AccRead | AccNoInit, host);
  if (!ok)
    return;
  w.exec = all;
  uint8_t rows[32 * 16] = {};
  for (unsigned r = 0; r < f.size.rows; ++r)
    std::memcpy(rows + r * 16, host[r], f.size.rowBytes);
  uint32_t regs[8 * 32];
  tensor::ldmatrix(f.move, rows, regs);
  const Opnd *list = &w.program->lists[i.list];
  for (unsigned k = 0; k < i.count; ++k)
    forLanes(all, [&](int l) { lanes32(w, list[k])[l] = regs[k * 32 + unsigned(l)]; });
}

void execStmatrix(Warp &w, const Instr &i) {
  const auto &f = *static_cast<const MoveForm *>(i.ext);
  uint64_t address[32];
  uint8_t *host[32];
  laneAddresses(w, i, address);
  w.exec = f.size.rows >= 32 ? ~0u : (1u << f.size.rows) - 1;
  for (uint32_t m = w.exec; m; m &= m - 1) {
    int l = std::countr_zero(m);
    if (address[l] % 16)
      return w.fail(i, ErrorKind::Misaligned, "expected a row at a multiple of 16, got " + hex(address[l]), l);
  }
  if (!resolve(w, i, i.space, address, 16, AccWrite, host))
    return;
  uint8_t rows[32 * 16];
  uint32_t regs[8 * 32];
  const Opnd *list = &w.program->lists[i.list];
  for (unsigned k = 0; k < i.count; ++k)
    std::memcpy(regs + k * 32, lanes32(w, list[k]), 128);
  tensor::stmatrix(f.move, regs, rows);
  for (unsigned r = 0; r < f.size.rows; ++r)
    std::memcpy(host[r], rows + r * 16, f.size.rowBytes);
  w.m->noteProgress();
}

void decodeMove(Decode &d, bool store) {
  using S = tensor::MatrixShape;
  MoveForm f;
  if (store)
    d.need(target::Feature::StMatrix);
  d.expect("sync");
  d.expect("aligned");
  unsigned shape = d.oneOf({"m8n8", "m16n16", "m8n16", "m16n8"}, "a shape");
  static constexpr unsigned counts[] = {1, 2, 4};
  f.move.count = counts[d.oneOf({"x1", "x2", "x4"}, "a count")];
  f.move.trans = d.take("trans");
  if (d.take("shared") || d.take("shared::cta"))
    d.i.space = Space::Shared;
  else
    d.i.space = Space::Generic;
  unsigned type;
  if (shape == 0) {
    d.expect("b16");
    f.move.shape = S::M8N8B16;
  } else if (store) {
    d.expect("b8");
    if (shape != 3)
      d.fail("expected .m8n8 or .m16n8");
    f.move.shape = S::M16N8B8;
  } else {
    type = d.oneOf({"b8", "b8x16"}, "a type");
    unsigned from = type ? d.oneOf({"b6x16_p32", "b4x16_p64"}, "a source format") + 1 : 0;
    if (shape == 1)
      f.move.shape = from == 0 ? S::M16N16B8 : from == 1 ? S::M16N16B6x16P32 : S::M16N16B4x16P64;
    else if (shape == 2 && from)
      f.move.shape = from == 1 ? S::M8N16B8x6P32 : S::M8N16B8x4P64;
    else
      d.fail("unknown shape and type");
  }
  if (f.move.shape != S::M8N8B16)
    d.needCapability(10, 0);
  else
    d.needCapability(7, 5);
  d.finish();
  if (auto p = store ? tensor::checkStmatrix(f.move) : tensor::checkLdmatrix(f.move))
    d.fail(*p);
  f.size = store ? tensor::stmatrixSize(f.move) : tensor::ldmatrixSize(f.move);
  d.operands(2);
  const Operand &list = d.op(store ? 1 : 0);
  std::vector<Opnd> regs;
  if (list.kind == Operand::Vector) {
    for (const Operand &o : list.elems)
      regs.push_back(store ? d.src(o, 32) : d.dst(o, 32));
  } else {
    regs.push_back(store ? d.src(list, 32) : d.dst(list, 32));
  }
  if (regs.size() != f.size.registers)
    d.fail("expected " + std::to_string(f.size.registers) + " registers, got " + std::to_string(regs.size()));
  if (d.address(d.op(store ? 0 : 1)) == Space::Shared)
    d.i.space = Space::Shared;
  d.i.list = d.list(regs);
  d.i.count = uint16_t(regs.size());
  d.i.ext = d.own(f);
  d.i.flags |= Aligned;
  d.i.fn = store ? execStmatrix : execLdmatrix;
  d.emit();
}
void decodeLdmatrix(Decode &d) { decodeMove(d, false); }
void decodeStmatrix(Decode &d) { decodeMove(d, true); }

/// movmatrix: lane l's 2 elements of row l / 4 go where the transpose puts them.
void execMovmatrix(Warp &w, const Instr &i) {
  uint16_t m[8][8];
  const uint32_t *a = lanes32(w, i.a);
  for (unsigned l = 0; l < 32; ++l)
    for (unsigned k = 0; k < 2; ++k)
      m[l / 4][l % 4 * 2 + k] = uint16_t(a[l] >> (16 * k));
  uint32_t *d = lanes32(w, i.d);
  for (unsigned l = 0; l < 32; ++l)
    d[l] = uint32_t(m[l % 4 * 2][l / 4]) | uint32_t(m[l % 4 * 2 + 1][l / 4]) << 16;
}
void decodeMovmatrix(Decode &d) {
  d.expect("sync");
  d.expect("aligned");
  d.expect("m8n8");
  d.expect("trans");
  d.expect("b16");
  d.finish();
  d.operands(2);
  d.i.a = d.src(1, 32);
  d.i.d = d.dst(0, 32);
  d.i.flags |= Aligned;
  d.i.fn = execMovmatrix;
  d.emit();
}

struct MmaForm {
  tensor::MmaConfig config;
  tensor::MmaRegisters regs;
  bool scaled = false;
};

// list: D, A, B, C registers; with scales: scale A, scale B, then immediates in i.imm.
void execMma(Warp &w, const Instr &i) {
  const auto &f = *static_cast<const MmaForm *>(i.ext);
  const Opnd *list = &w.program->lists[i.list];
  uint32_t a[8 * 32], b[8 * 32], c[16 * 32], d[16 * 32];
  const Opnd *pa = list + f.regs.d, *pb = pa + f.regs.a, *pc = pb + f.regs.b;
  for (unsigned k = 0; k < f.regs.a; ++k)
    std::memcpy(a + k * 32, lanes32(w, pa[k]), 128);
  for (unsigned k = 0; k < f.regs.b; ++k)
    std::memcpy(b + k * 32, lanes32(w, pb[k]), 128);
  for (unsigned k = 0; k < f.regs.d; ++k)
    std::memcpy(c + k * 32, lanes32(w, pc[k]), 128);
  tensor::MmaScales scales;
  if (f.scaled) {
    const Opnd *ps = pc + f.regs.d;
    scales.a = lanes32(w, ps[0]);
    scales.b = lanes32(w, ps[1]);
    int l = firstLane(w.exec);
    scales.byteA = lanes32(w, ps[2])[l] & 0xffff;
    scales.threadA = lanes32(w, ps[3])[l] & 0xffff;
    scales.byteB = lanes32(w, ps[4])[l] & 0xffff;
    scales.threadB = lanes32(w, ps[5])[l] & 0xffff;
    if (auto p = tensor::checkMmaScales(f.config, scales))
      return w.fail(i, ErrorKind::Operand, *p);
  }
  tensor::mmaSync(f.config, a, b, c, d, scales);
  for (unsigned k = 0; k < f.regs.d; ++k)
    std::memcpy(lanes32(w, list[k]), d + k * 32, 128);
  ++w.m->report.stats.tensorOps;
}

Elem takeElem(Decode &d, const char *what) {
  static constexpr Elem elems[] = {Elem::F16,  Elem::BF16, Elem::TF32, Elem::E4M3, Elem::E5M2, Elem::E2M1, Elem::E3M2,
                                   Elem::E2M3, Elem::S8,   Elem::U8,   Elem::F32,  Elem::S32,  Elem::UE8M0, Elem::UE4M3};
  return elems[d.oneOf({"f16", "bf16", "tf32", "e4m3", "e5m2", "e2m1", "e3m2", "e2m3", "s8", "u8", "f32", "s32", "ue8m0", "ue4m3"}, what)];
}

void decodeMma(Decode &d) {
  using K = tensor::MmaKind;
  MmaForm f;
  d.expect("sync");
  d.expect("aligned");
  auto shape = [&] {
    std::string_view s = d.peek();
    unsigned v[3] = {};
    const char *p = s.data(), *end = p + s.size();
    static constexpr char letters[] = {'m', 'n', 'k'};
    for (int k = 0; k < 3; ++k) {
      if (p == end || *p != letters[k])
        d.fail("expected a shape (.mMnNkK), found '." + std::string(s) + "'");
      auto [q, e] = std::from_chars(p + 1, end, v[k]);
      if (e != std::errc())
        d.fail("expected a shape (.mMnNkK), found '." + std::string(s) + "'");
      p = q;
    }
    if (p != end)
      d.fail("expected a shape (.mMnNkK), found '." + std::string(s) + "'");
    d.take(s);
    f.config.m = v[0];
    f.config.n = v[1];
    f.config.k = v[2];
  };
  shape();
  d.expect("row");
  d.expect("col");
  static constexpr K kinds[] = {K::F8F6F4, K::MxF8F6F4, K::MxF4, K::MxF4NvF4};
  int kind = d.maybe({"kind::f8f6f4", "kind::mxf8f6f4", "kind::mxf4", "kind::mxf4nvf4"});
  if (kind >= 0) {
    f.config.kind = kinds[kind];
    d.need(target::Feature::BlockScaleMma);
    if (d.target.mma != target::MmaFamily::MmaSync)
      d.fail("target " + std::string(d.target.name) + " lacks .kind for mma.sync", ErrorKind::Unsupported);
  }
  if (kind >= 1) {
    d.expect("block_scale");
    f.scaled = true;
    int v = d.maybe({"scale_vec::1X", "scale_vec::2X", "scale_vec::4X"});
    f.config.scaleVector = v >= 0 ? 1u << v : kind == 1 ? 1 : 2;
    if (v < 0 && kind == 3)
      d.fail("expected .scale_vec::2X or .scale_vec::4X");
  }
  f.config.satfinite = d.take("satfinite");
  f.config.d = takeElem(d, "the type of D");
  f.config.a = takeElem(d, "the type of A");
  f.config.b = takeElem(d, "the type of B");
  Elem c = takeElem(d, "the type of C");
  if (c != f.config.d)
    d.fail("expected equal types of C and D");
  if (f.scaled)
    f.config.scale = takeElem(d, "the type of the scales");
  d.finish();
  bool fp8 = f.config.a == Elem::E4M3 || f.config.a == Elem::E5M2;
  if (fp8 && kind < 0)
    d.needCapability(8, 9);
  else if (f.config.a == Elem::BF16 || f.config.a == Elem::TF32)
    d.needCapability(8, 0);
  f.config.model = tensor::modelForMmaSync(d.target.major, d.target.minor, f.config.a);
  if (auto p = tensor::checkMma(f.config))
    d.fail(*p);
  f.regs = tensor::mmaRegisters(f.config);
  d.operands(f.scaled ? 8 : 4);
  std::vector<Opnd> regs;
  auto add = [&](size_t n, unsigned count, bool dst, const char *what) {
    const Operand &o = d.op(n);
    size_t have = o.kind == Operand::Vector ? o.elems.size() : 1;
    if (have != count)
      d.fail(std::string("expected ") + std::to_string(count) + " registers of " + what + ", got " + std::to_string(have));
    for (size_t k = 0; k < have; ++k) {
      const Operand &e = o.kind == Operand::Vector ? o.elems[k] : o;
      regs.push_back(dst ? d.dst(e, 32) : d.src(e, 32));
    }
  };
  add(0, f.regs.d, true, "D");
  add(1, f.regs.a, false, "A");
  add(2, f.regs.b, false, "B");
  add(3, f.regs.d, false, "C");
  if (f.scaled) {
    // scale-a, {byte, thread}, scale-b, {byte, thread}
    regs.push_back(d.src(4, 32));
    regs.push_back(d.src(6, 32));
    for (size_t n : {size_t(5), size_t(7)}) {
      const auto &ids = d.vector(d.op(n), "the scale selectors");
      if (ids.size() != 2)
        d.fail("expected {byte-id, thread-id}");
      for (const Operand &o : ids)
        regs.push_back(d.src(o, 16));
    }
  }
  d.i.list = d.list(regs);
  d.i.ext = d.own(f);
  d.i.flags |= Aligned;
  d.i.fn = execMma;
  d.emit();
}
} // namespace

void registerMatrix(OpTable &t) {
  t["ldmatrix"] = decodeLdmatrix;
  t["stmatrix"] = decodeStmatrix;
  t["movmatrix"] = decodeMovmatrix;
  t["mma"] = decodeMma;
}

} // namespace heddle::emulator
