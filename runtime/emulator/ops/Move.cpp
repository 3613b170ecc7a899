//===- Move.cpp - mov, cvta, isspacep, mapa, special registers -----------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/core/Decoder.h"
#include "runtime/emulator/ops/Lanes.h"

namespace heddle::emulator {

static uint64_t specialValue(Warp &w, SpecialReg r, int lane) {
  using S = SpecialReg;
  const Cta &a = *w.cta;
  const Launch &l = *a.launch;
  const Dim3 &b = l.config.block, &g = l.config.grid, &c = l.cluster, &n = l.clusters;
  uint32_t t = w.index * 32 + unsigned(lane);
  switch (r) {
  case S::TidX: return t % b.x;
  case S::TidY: return t / b.x % b.y;
  case S::TidZ: return t / b.x / b.y;
  case S::NtidX: return b.x;
  case S::NtidY: return b.y;
  case S::NtidZ: return b.z;
  case S::CtaidX: return a.ctaid.x;
  case S::CtaidY: return a.ctaid.y;
  case S::CtaidZ: return a.ctaid.z;
  case S::NctaidX: return g.x;
  case S::NctaidY: return g.y;
  case S::NctaidZ: return g.z;
  case S::LaneId: return unsigned(lane);
  case S::WarpId: return w.index;
  case S::NWarpId: return l.device->target->maxWarpsPerSM;
  case S::SmId: return a.sm;
  case S::NSmId: return l.device->smCount;
  case S::ClusterIdX: return a.ctaid.x / c.x;
  case S::ClusterIdY: return a.ctaid.y / c.y;
  case S::ClusterIdZ: return a.ctaid.z / c.z;
  case S::NClusterIdX: return n.x;
  case S::NClusterIdY: return n.y;
  case S::NClusterIdZ: return n.z;
  case S::ClusterCtaidX: return a.ctaid.x % c.x;
  case S::ClusterCtaidY: return a.ctaid.y % c.y;
  case S::ClusterCtaidZ: return a.ctaid.z % c.z;
  case S::ClusterNctaidX: return c.x;
  case S::ClusterNctaidY: return c.y;
  case S::ClusterNctaidZ: return c.z;
  case S::ClusterCtaRank: return a.rank;
  case S::ClusterNctaRank: return c.volume();
  case S::IsExplicitCluster: return c.volume() > 1 || l.config.cluster.x != 0;
  case S::LanemaskEq: return 1u << lane;
  case S::LanemaskLt: return (1u << lane) - 1;
  case S::LanemaskLe: return (2u << lane) - 1;
  case S::LanemaskGt: return ~((2u << lane) - 1);
  case S::LanemaskGe: return ~((1u << lane) - 1);
  case S::Clock: return uint32_t(w.m->time - w.clockStart);
  case S::ClockHi: return uint32_t((w.m->time - w.clockStart) >> 32);
  case S::Clock64: return w.m->time - w.clockStart;
  case S::Globaltimer: return w.m->time;
  case S::GlobaltimerLo: return uint32_t(w.m->time);
  case S::GlobaltimerHi: return uint32_t(w.m->time >> 32);
  case S::DynamicSmemSize: return l.config.dynamicShared;
  case S::TotalSmemSize: return l.sharedBytes - l.device->target->sharedReserved;
  case S::AggrSmemSize: return l.sharedBytes;
  case S::GridId: return l.id;
  case S::CurrentGraphExec: return 0;
  case S::Count: break;
  }
  return 0;
}

void execSpecial(Warp &w, const Instr &i) {
  auto r = SpecialReg(i.sub);
  switch (r) {
  case SpecialReg::Clock:
  case SpecialReg::ClockHi:
  case SpecialReg::Clock64:
  case SpecialReg::Globaltimer:
  case SpecialReg::GlobaltimerLo:
  case SpecialReg::GlobaltimerHi:
    ++w.m->time;
    ++w.m->timeReads;
    break;
  default: break;
  }
  if (r >= SpecialReg::Clock64)
    forLanes(w.exec, [&](int l) { lanes64(w, i.d)[l] = specialValue(w, r, l); });
  else
    forLanes(w.exec, [&](int l) { lanes32(w, i.d)[l] = uint32_t(specialValue(w, r, l)); });
}

static void move32(Warp &w, const Instr &i) {
  mapLanes<uint32_t, uint32_t>(w, i, [](uint32_t v) { return v; });
}
static void move64(Warp &w, const Instr &i) {
  mapLanes<uint64_t, uint64_t>(w, i, [](uint64_t v) { return v; });
}
static void move128(Warp &w, const Instr &i) {
  forLanes(w.exec, [&](int l) {
    uint64_t lo = lanes64(w, i.a)[l], hi = lanes64(w, i.a)[l + 32];
    lanes64(w, i.d)[l] = lo;
    lanes64(w, i.d)[l + 32] = hi;
  });
}
static void movePred(Warp &w, const Instr &i) { setPred(w, i.d, predBits(w, i.a)); }

/// mov d, {a, b, ...}: i.list operands of i.bytes bytes each, i.mode bits of d.
static void movePack(Warp &w, const Instr &i) {
  const Opnd *list = &w.program->lists[i.list];
  unsigned bits = i.bytes * 8;
  forLanes(w.exec, [&](int l) {
    uint64_t v[2] = {0, 0};
    for (unsigned k = 0; k < i.count; ++k) {
      uint64_t e = bits == 64 ? lanes64(w, list[k])[l] : lanes32(w, list[k])[l];
      if (bits < 32)
        e &= (1u << bits) - 1;
      v[k * bits / 64] |= e << (k * bits % 64);
    }
    if (i.mode == 32)
      lanes32(w, i.d)[l] = uint32_t(v[0]);
    else
      lanes64(w, i.d)[l] = v[0];
    if (i.mode == 128)
      lanes64(w, i.d)[l + 32] = v[1];
  });
}

static void moveUnpack(Warp &w, const Instr &i) {
  const Opnd *list = &w.program->lists[i.list];
  unsigned bits = i.bytes * 8;
  forLanes(w.exec, [&](int l) {
    uint64_t v[2] = {i.mode == 32 ? lanes32(w, i.a)[l] : lanes64(w, i.a)[l], i.mode == 128 ? lanes64(w, i.a)[l + 32] : 0};
    for (unsigned k = 0; k < i.count; ++k) {
      uint64_t e = v[k * bits / 64] >> (k * bits % 64);
      if (list[k].none())
        continue;
      if (bits == 64)
        lanes64(w, list[k])[l] = e;
      else
        lanes32(w, list[k])[l] = bits == 32 ? uint32_t(e) : uint32_t(e) & ((1u << bits) - 1);
    }
  });
}

/// mov.pred p, %is_explicit_cluster
static void moveExplicitCluster(Warp &w, const Instr &i) {
  setPred(w, i.d, specialValue(w, SpecialReg::IsExplicitCluster, 0) ? ~0u : 0);
}

static void decodeMov(Decode &d) {
  Ty t = d.type({Ty::Pred, Ty::B16, Ty::B32, Ty::B64, Ty::B128, Ty::U16, Ty::U32, Ty::U64, Ty::S16, Ty::S32, Ty::S64,
                 Ty::F16, Ty::BF16, Ty::F16x2, Ty::BF16x2, Ty::F32, Ty::F64, Ty::F32x2});
  d.finish();
  d.operands(2);
  unsigned bits = tyBits(t);
  const Operand &to = d.op(0), &from = d.op(1);
  if (t == Ty::Pred && from.kind == Operand::Special && SpecialReg(from.id) == SpecialReg::IsExplicitCluster) {
    d.i.fn = moveExplicitCluster;
    d.i.d = d.pred(to, true);
    return d.emit();
  }
  if (t == Ty::Pred) {
    d.i.fn = movePred;
    d.i.a = d.predSrc(from);
    d.i.d = d.pred(to, true);
    return d.emit();
  }
  if (from.kind == Operand::Vector || to.kind == Operand::Vector) {
    bool packs = from.kind == Operand::Vector;
    const auto &list = packs ? from.elems : to.elems;
    if (packs && to.kind == Operand::Vector)
      d.fail("expected one scalar side");
    if (list.size() != 2 && list.size() != 4 && !(list.size() == 8))
      d.fail("expected 2, 4 or 8 elements, got " + std::to_string(list.size()));
    unsigned element = bits / unsigned(list.size());
    if (element < 8 || bits < 16)
      d.fail("elements are narrower than 8 bits");
    std::vector<Opnd> regs;
    for (const Operand &o : list)
      regs.push_back(packs ? d.src(o, element) : o.kind == Operand::Sink ? Opnd{} : d.dst(o, element));
    d.i.bytes = uint8_t(element / 8);
    d.i.mode = uint8_t(bits < 32 ? 32 : bits);
    d.i.count = uint16_t(regs.size());
    if (packs) {
      d.i.d = d.dst(to, bits);
      d.i.fn = movePack;
    } else {
      d.i.a = d.src(from, bits);
      d.i.fn = moveUnpack;
    }
    d.i.list = d.list(regs);
    return d.emit();
  }
  d.i.a = d.srcTy(from, t);
  d.i.d = d.dst(to, bits);
  d.i.fn = bits <= 32 ? move32 : bits == 64 ? move64 : move128;
  if (bits == 128 && from.kind != Operand::Reg)
    d.fail("expected a register");
  d.emit();
}

// cvta: i.mode 1 to the space, 0 from it; i.imm the window.
static void execCvta(Warp &w, const Instr &i) {
  if (i.bytes == 4) {
    // 32-bit results only make sense for the offset within a window.
    forLanes(w.exec, [&](int l) { lanes32(w, i.d)[l] = lanes32(w, i.a)[l]; });
    return;
  }
  uint64_t window = uint64_t(i.imm);
  forLanes(w.exec, [&](int l) {
    uint64_t a = lanes64(w, i.a)[l];
    lanes64(w, i.d)[l] = i.mode ? a - window : a + window;
  });
}

static void decodeCvta(Decode &d) {
  d.i.mode = d.take("to");
  static constexpr uint64_t windows[] = {0, 0, sharedWindow, sharedWindow, sharedWindow, localWindow, paramWindow, paramWindow};
  unsigned space = d.oneOf({"global", "const", "shared", "shared::cta", "shared::cluster", "local", "param", "param::entry"}, "a state space");
  Ty t = d.type({Ty::U64, Ty::U32});
  d.finish();
  d.operands(2);
  if (t == Ty::U32)
    d.fail("expected .u64 (addresses are 64 bits wide)");
  d.i.imm = int64_t(windows[space]);
  d.i.bytes = 8;
  d.i.a = d.src(1, 64);
  d.i.d = d.dst(0, 64);
  d.i.fn = execCvta;
  d.emit();
}

static void execIsspacep(Warp &w, const Instr &i) {
  uint32_t r = 0;
  const uint64_t *a = lanes64(w, i.a);
  for (int l = 0; l < 32; ++l) {
    bool in = false;
    switch (i.mode) {
    case 0: in = a[l] >= deviceBase && a[l] < paramWindow; break;
    case 1: in = false; break;
    case 2: // own window
      in = a[l] - sharedWindow < windowBytes && unsigned((a[l] - sharedWindow) >> sharedRankShift) == w.cta->rank;
      break;
    case 3: in = a[l] - sharedWindow < windowBytes; break;
    case 4: in = a[l] - localWindow < windowBytes; break;
    default: in = a[l] - paramWindow < windowBytes; break;
    }
    r |= uint32_t(in) << l;
  }
  setPred(w, i.d, r);
}

static void decodeIsspacep(Decode &d) {
  static constexpr uint8_t modes[] = {0, 1, 2, 2, 3, 4, 5, 5};
  d.i.mode = modes[d.oneOf({"global", "const", "shared", "shared::cta", "shared::cluster", "local", "param", "param::entry"}, "a state space")];
  d.finish();
  d.operands(2);
  d.i.a = d.src(1, 64);
  d.i.d = d.pred(d.op(0), true);
  d.i.fn = execIsspacep;
  d.emit();
}

static void execMapa(Warp &w, const Instr &i) {
  const uint32_t *rank = lanes32(w, i.b);
  unsigned size = unsigned(w.cta->cluster->ctas.size());
  for (uint32_t m = w.exec; m; m &= m - 1) {
    int l = std::countr_zero(m);
    uint64_t a = i.bytes == 8 ? lanes64(w, i.a)[l] : lanes32(w, i.a)[l];
    unsigned old;
    uint32_t offset;
    if (!sharedAddress(w, i, l, i.mode ? Space::Generic : Space::SharedCluster, a, old, offset))
      return;
    if (rank[l] >= size)
      return w.fail(i, ErrorKind::Operand,
                    "expected a rank below the cluster's " + std::to_string(size) + ", got " + std::to_string(rank[l]), l);
    uint64_t r = (uint64_t(rank[l]) << sharedRankShift | offset) + (i.mode ? sharedWindow : 0);
    if (i.bytes == 8)
      lanes64(w, i.d)[l] = r;
    else
      lanes32(w, i.d)[l] = uint32_t(r);
  }
}

static void execGetctarank(Warp &w, const Instr &i) {
  for (uint32_t m = w.exec; m; m &= m - 1) {
    int l = std::countr_zero(m);
    uint64_t a = i.bytes == 8 ? lanes64(w, i.a)[l] : lanes32(w, i.a)[l];
    unsigned rank;
    uint32_t offset;
    if (!sharedAddress(w, i, l, i.mode ? Space::Generic : Space::SharedCluster, a, rank, offset))
      return;
    lanes32(w, i.d)[l] = rank;
  }
}

static void decodeMapa(Decode &d) {
  d.need(target::Feature::Clusters);
  bool rank = d.root() == "getctarank";
  d.i.mode = !d.take("shared::cluster");
  Ty t = d.type({Ty::U32, Ty::U64});
  d.finish();
  d.operands(rank ? 2 : 3);
  d.i.bytes = uint8_t(tyBits(t) / 8);
  if (d.i.mode && d.i.bytes == 4)
    d.fail("expected .u64 for a generic address");
  d.i.a = d.src(1, tyBits(t));
  if (!rank)
    d.i.b = d.src(2, 32);
  d.i.d = d.dst(0, rank ? 32 : tyBits(t));
  d.i.fn = rank ? execGetctarank : execMapa;
  d.emit();
}

void registerMove(OpTable &t) {
  t["mov"] = decodeMov;
  t["cvta"] = decodeCvta;
  t["isspacep"] = decodeIsspacep;
  t["mapa"] = decodeMapa;
  t["getctarank"] = decodeMapa;
}

} // namespace heddle::emulator
