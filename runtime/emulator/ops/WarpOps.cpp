//===- WarpOps.cpp - shfl, vote, match, redux, elect, activemask ---------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The .sync forms wait until every live lane of the membermask is at the same
// instruction; a lane outside the mask it names is an error.
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/core/Decoder.h"
#include "runtime/emulator/ops/Lanes.h"
#include "runtime/emulator/tensor/Numeric.h"

#include <algorithm>

namespace heddle::emulator {

namespace {
/// Checks the membermask operand; 0 when the group must wait or failed.
uint32_t members(Warp &w, const Instr &i, Opnd mask) {
  const uint32_t *m = lanes32(w, mask);
  uint32_t need = m[firstLane(w.exec)];
  for (uint32_t e = w.exec; e; e &= e - 1) {
    int l = std::countr_zero(e);
    if (m[l] == need)
      continue;
    w.fail(i, ErrorKind::Convergence, "lanes give different member masks: " + hex(need) + " and " + hex(m[l]), l);
    return 0;
  }
  if (w.exec & ~need) {
    w.fail(i, ErrorKind::Convergence, "a lane executes this outside its member mask " + hex(need),
           firstLane(w.exec & ~need));
    return 0;
  }
  if (!w.converged(need))
    return 0;
  if ((w.exec & need & w.live) != (need & w.live)) {
    w.fail(i, ErrorKind::Convergence, "the predicate excludes lanes " + hex(need & w.live & ~w.exec) + " of the member mask");
    return 0;
  }
  if (w.m->observer) {
    SyncEvent e;
    e.at = w.ref(i);
    e.lanes = w.exec;
    e.kind = SyncKind::WarpSync;
    w.m->observer->sync(e);
  }
  return need;
}

void execShfl(Warp &w, const Instr &i) { // i.sub: 0 up, 1 down, 2 bfly, 3 idx
  if (!i.e.none() && !members(w, i, i.e))
    return;
  alignas(64) uint32_t out[32];
  uint32_t valid = 0;
  const uint32_t *a = lanes32(w, i.a), *b = lanes32(w, i.b), *c = lanes32(w, i.c);
  for (uint32_t m = w.exec; m; m &= m - 1) {
    int l = std::countr_zero(m);
    int bval = int(b[l] & 31), cval = int(c[l] & 31), seg = int(c[l] >> 8 & 31);
    int maxLane = (l & seg) | (cval & ~seg), minLane = l & seg;
    int j;
    bool p;
    switch (i.sub) {
    case 0: j = l - bval; p = j >= maxLane; break;
    case 1: j = l + bval; p = j <= maxLane; break;
    case 2: j = l ^ bval; p = j <= maxLane; break;
    default: j = minLane | (bval & ~seg); p = j <= maxLane; break;
    }
    if (!p)
      j = l;
    if (!(w.exec >> j & 1))
      return w.fail(i, ErrorKind::Convergence, "reads lane " + std::to_string(j) + ", which does not take part", l);
    out[l] = a[j];
    valid |= uint32_t(p) << l;
  }
  uint32_t *d = lanes32(w, i.d);
  forLanes(w.exec, [&](int l) { d[l] = out[l]; });
  if (!i.d2.none())
    setPred(w, i.d2, valid);
}

void decodeShfl(Decode &d) {
  d.expect("sync");
  d.i.sub = uint8_t(d.oneOf({"up", "down", "bfly", "idx"}, "a mode"));
  d.type({Ty::B32});
  d.finish();
  d.operands(5);
  if (d.op(0).kind == Operand::Pair) {
    d.i.d = d.dst(d.op(0).elems[0], 32);
    d.i.d2 = d.pred(d.op(0).elems[1], true);
  } else {
    d.i.d = d.dst(0, 32);
  }
  d.i.a = d.src(1, 32);
  d.i.b = d.src(2, 32);
  d.i.c = d.src(3, 32);
  d.i.e = d.src(4, 32);
  d.i.fn = execShfl;
  d.emit();
}

void execVote(Warp &w, const Instr &i) { // i.sub: 0 all, 1 any, 2 uni, 3 ballot
  uint32_t need = members(w, i, i.e);
  if (!need)
    return;
  uint32_t p = predBits(w, i.a) & w.exec, all = w.exec;
  switch (i.sub) {
  case 0: return setPred(w, i.d, p == all ? ~0u : 0);
  case 1: return setPred(w, i.d, p ? ~0u : 0);
  case 2: return setPred(w, i.d, p == all || !p ? ~0u : 0);
  default: {
    uint32_t *d = lanes32(w, i.d);
    forLanes(w.exec, [&](int l) { d[l] = p; });
  }
  }
}
void decodeVote(Decode &d) {
  d.expect("sync");
  d.i.sub = uint8_t(d.oneOf({"all", "any", "uni", "ballot"}, "a mode"));
  if (d.i.sub == 3)
    d.type({Ty::B32});
  else
    d.expect("pred");
  d.finish();
  d.operands(3);
  d.i.a = d.predSrc(d.op(1));
  d.i.e = d.src(2, 32);
  d.i.d = d.i.sub == 3 ? d.dst(0, 32) : d.pred(d.op(0), true);
  d.i.fn = execVote;
  d.emit();
}

void execMatch(Warp &w, const Instr &i) { // i.sub 0 any, 1 all; i.bytes
  if (!members(w, i, i.e))
    return;
  uint32_t *d = lanes32(w, i.d);
  uint32_t out[32] = {}, same = 0;
  for (uint32_t m = w.exec; m; m &= m - 1) {
    int l = std::countr_zero(m);
    for (uint32_t n = w.exec; n; n &= n - 1) {
      int k = std::countr_zero(n);
      if (laneValue(w, i.a, i.bytes * 8, k) == laneValue(w, i.a, i.bytes * 8, l))
        out[l] |= 1u << k;
    }
    if (out[l] == w.exec)
      same |= 1u << l;
  }
  bool all = same == w.exec;
  forLanes(w.exec, [&](int l) { d[l] = i.sub == 0 ? out[l] : all ? w.exec : 0; });
  if (!i.d2.none())
    setPred(w, i.d2, all ? ~0u : 0);
}
void decodeMatch(Decode &d) {
  d.i.sub = uint8_t(d.oneOf({"any", "all"}, "a mode"));
  d.expect("sync");
  Ty t = d.type({Ty::B32, Ty::B64});
  d.finish();
  d.operands(3);
  d.i.bytes = uint8_t(tyBits(t) / 8);
  d.i.a = d.src(1, tyBits(t));
  d.i.e = d.src(2, 32);
  if (d.op(0).kind == Operand::Pair) {
    if (d.i.sub == 0)
      d.fail("expected no predicate with .any");
    d.i.d = d.dst(d.op(0).elems[0], 32);
    d.i.d2 = d.pred(d.op(0).elems[1], true);
  } else {
    d.i.d = d.dst(0, 32);
  }
  d.i.fn = execMatch;
  d.emit();
}

void execRedux(Warp &w, const Instr &i) { // i.sub: add min max and or xor
  if (!members(w, i, i.e))
    return;
  const uint32_t *a = lanes32(w, i.a);
  uint32_t acc = a[firstLane(w.exec)];
  for (uint32_t m = w.exec & (w.exec - 1); m; m &= m - 1) {
    uint32_t v = a[std::countr_zero(m)];
    if (i.ty == Ty::F32) {
      tensor::MinMaxMode mode{false, bool(i.mode & 1), false};
      float x = tensor::asFloat(acc), y = tensor::asFloat(v);
      if (i.mode & 2)
        x = std::bit_cast<float>(tensor::asBits(x) & 0x7fffffff), y = std::bit_cast<float>(tensor::asBits(y) & 0x7fffffff);
      acc = tensor::asBits(i.sub == 1 ? tensor::minF32(x, y, mode) : tensor::maxF32(x, y, mode));
      continue;
    }
    bool s = i.ty == Ty::S32;
    switch (i.sub) {
    case 0: acc += v; break;
    case 1: acc = s ? uint32_t(std::min(int32_t(acc), int32_t(v))) : std::min(acc, v); break;
    case 2: acc = s ? uint32_t(std::max(int32_t(acc), int32_t(v))) : std::max(acc, v); break;
    case 3: acc &= v; break;
    case 4: acc |= v; break;
    default: acc ^= v; break;
    }
  }
  uint32_t *d = lanes32(w, i.d);
  forLanes(w.exec, [&](int l) { d[l] = acc; });
}
void decodeRedux(Decode &d) {
  d.needCapability(8, 0);
  d.expect("sync");
  d.i.sub = uint8_t(d.oneOf({"add", "min", "max", "and", "or", "xor"}, "an operation"));
  if (d.take("abs"))
    d.i.mode |= 2;
  if (d.take("NaN"))
    d.i.mode |= 1;
  d.i.ty = d.i.sub >= 3 ? d.type({Ty::B32}) : d.i.sub == 0 ? d.type({Ty::U32, Ty::S32}) : d.type({Ty::U32, Ty::S32, Ty::F32});
  if (d.i.mode && d.i.ty != Ty::F32)
    d.fail("expected .f32 with .abs or .NaN");
  if (d.i.ty == Ty::F32)
    d.needCapability(10, 0);
  d.finish();
  d.operands(3);
  d.i.a = d.srcTy(d.op(1), d.i.ty);
  d.i.e = d.src(2, 32);
  d.i.d = d.dst(0, 32);
  d.i.fn = execRedux;
  d.emit();
}

void execElect(Warp &w, const Instr &i) {
  if (!members(w, i, i.e))
    return;
  int leader = firstLane(w.exec);
  uint32_t *d = lanes32(w, i.d);
  forLanes(w.exec, [&](int l) { d[l] = uint32_t(leader); });
  setPred(w, i.d2, 1u << leader);
}
void decodeElect(Decode &d) {
  d.need(target::Feature::ElectSync);
  d.expect("sync");
  d.finish();
  d.operands(2);
  if (d.op(0).kind != Operand::Pair)
    d.fail("expected d|p");
  d.i.d = d.dst(d.op(0).elems[0], 32);
  d.i.d2 = d.pred(d.op(0).elems[1], true);
  d.i.e = d.src(1, 32);
  d.i.fn = execElect;
  d.emit();
}

void execActivemask(Warp &w, const Instr &i) {
  uint32_t *d = lanes32(w, i.d), m = w.exec;
  forLanes(m, [&](int l) { d[l] = m; });
}
void decodeActivemask(Decode &d) {
  d.type({Ty::B32});
  d.finish();
  d.operands(1);
  d.i.d = d.dst(0, 32);
  d.i.fn = execActivemask;
  d.emit();
}

void execWarpSync(Warp &w, const Instr &i) { members(w, i, i.e); }
} // namespace

/// bar.warp.sync, reached from the decoder of "bar".
void decodeWarpSync(Decode &d) {
  d.expect("sync");
  d.finish();
  d.operands(1);
  d.i.e = d.src(0, 32);
  d.i.fn = execWarpSync;
  d.emit();
}

void registerWarpOps(OpTable &t) {
  t["shfl"] = decodeShfl;
  t["vote"] = decodeVote;
  t["match"] = decodeMatch;
  t["redux"] = decodeRedux;
  t["elect"] = decodeElect;
  t["activemask"] = decodeActivemask;
}

} // namespace heddle::emulator
