//===- Misc.cpp - setmaxnreg, griddepcontrol, clusterlaunchcontrol and the rest ---===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/core/Decoder.h"
#include "runtime/emulator/ops/Lanes.h"

namespace heddle::emulator {

namespace {
void execNothing(Warp &, const Instr &) {}

/// The pool is the block's: what .dec frees, .inc takes; a launch leaves none over.
void execSetmaxnreg(Warp &w, const Instr &i) { // i.sub 1: inc
  Cta &a = *w.cta;
  auto want = unsigned(i.imm);
  if (i.sub) {
    if (want < w.registers)
      return w.fail(i, ErrorKind::Operand, "expected at least the warp's " + std::to_string(w.registers) + " registers, got " + std::to_string(want));
    int64_t need = int64_t(want - w.registers) * 32;
    if (need > a.registerPool) {
      w.g->token = uint64_t(need);
      return w.block(WaitOn::RegisterPool);
    }
    a.registerPool -= need;
  } else {
    if (want > w.registers)
      return w.fail(i, ErrorKind::Operand, "expected at most the warp's " + std::to_string(w.registers) + " registers, got " + std::to_string(want));
    a.registerPool += int64_t(w.registers - want) * 32;
    a.cluster->bump();
  }
  w.registers = want;
  w.m->noteProgress();
}
void decodeSetmaxnreg(Decode &d) {
  d.need(target::Feature::SetMaxNReg);
  d.i.sub = uint8_t(1 - d.oneOf({"inc", "dec"}, "a direction"));
  d.expect("sync");
  d.expect("aligned");
  d.type({Ty::U32});
  d.finish();
  d.operands(1);
  uint64_t n = d.constant(d.op(0), "the number of registers");
  if (n < 24 || n > 256 || n % 8)
    d.fail("expected a multiple of 8 from 24 to 256, got " + std::to_string(n));
  d.i.imm = int64_t(n);
  d.i.flags |= Aligned;
  d.i.fn = execSetmaxnreg;
  d.emit();
}

void execGridDep(Warp &w, const Instr &i) { // i.sub 0 wait, 1 launch_dependents
  Launch &l = *w.cta->launch;
  if (i.sub == 0) {
    if (l.previous && !l.previous->complete)
      return w.block(WaitOn::GridDependency);
  } else if (!w.cta->allowedDependents) {
    w.cta->allowedDependents = true;
    ++l.launchDependents;
    w.m->noteProgress();
  }
  if (w.m->observer) {
    SyncEvent e;
    e.at = w.ref(i);
    e.lanes = w.exec;
    e.kind = i.sub ? SyncKind::GridDepLaunch : SyncKind::GridDepWait;
    w.m->observer->sync(e);
  }
}
void decodeGridDep(Decode &d) {
  d.need(target::Feature::GridDepControl);
  d.i.sub = uint8_t(d.oneOf({"wait", "launch_dependents"}, "an operation"));
  d.finish();
  d.operands(0);
  d.i.fn = execGridDep;
  d.emit();
}

void execNanosleep(Warp &w, const Instr &i) {
  Group &g = *w.g;
  if (g.arrived) { // slept
    if (w.m->time < g.wakeAt)
      return w.block(WaitOn::Sleep);
    g.arrived = false;
    return;
  }
  uint32_t ns = lanes32(w, i.a)[firstLane(w.exec)];
  g.wakeAt = w.m->time + std::min(ns, 1000000u);
  g.arrived = true;
  w.m->poll();
  w.block(WaitOn::Sleep);
}
void decodeNanosleep(Decode &d) {
  d.type({Ty::U32});
  d.finish();
  d.operands(1);
  d.i.a = d.src(0, 32);
  d.i.fn = execNanosleep;
  d.emit();
}

/// createpolicy: policies only steer caches; the value is opaque.
void execPolicy(Warp &w, const Instr &i) {
  forLanes(w.exec, [&](int l) { lanes64(w, i.d)[l] = uint64_t(i.imm); });
}
void decodePolicy(Decode &d) {
  unsigned kind = d.oneOf({"fractional", "range", "cvt"}, "a kind");
  d.needCapability(8, 0);
  if (kind == 2) {
    d.expect("L2");
    d.type({Ty::B64});
    d.finish();
    d.operands(2);
    d.src(1, 64);
  } else {
    if (kind == 1)
      d.take("global");
    int n = 0;
    while (d.maybe({"L2::evict_last", "L2::evict_normal", "L2::evict_first", "L2::evict_unchanged"}) >= 0)
      ++n;
    if (n < 1 || n > 2)
      d.fail("expected one or two priorities");
    d.type({Ty::B64});
    d.finish();
    if (kind == 0) {
      d.operands(1, 2);
      if (d.count() == 2)
        d.srcTy(d.op(1), Ty::F32);
    } else {
      d.operands(4);
      d.address64(d.op(1));
      d.src(2, 32);
      d.src(3, 32);
    }
  }
  d.i.d = d.dst(0, 64);
  d.i.imm = 0x14f0000000000000;
  d.i.fn = execPolicy;
  d.emit();
}

// clusterlaunchcontrol: the response is 16 bytes, (valid, x, y, z) of the first block.
struct CancelOp : AsyncOp {
  uint32_t offset = 0, barOffset = 0, ranks = 0;
  bool step(MachineImpl &m) override {
    Launch &l = *cta->launch;
    uint32_t response[4] = {0, 0, 0, 0};
    if (l.nextCluster < l.totalClusters) {
      uint64_t n = l.nextCluster++;
      ++l.doneClusters;
      if (l.launchDependents < l.totalCtas)
        l.launchDependents += l.cluster.volume();
      response[0] = 1;
      response[1] = uint32_t(n % l.clusters.x) * l.cluster.x;
      response[2] = uint32_t(n / l.clusters.x % l.clusters.y) * l.cluster.y;
      response[3] = uint32_t(n / l.clusters.x / l.clusters.y) * l.cluster.z;
    }
    for (uint32_t r = ranks; r && !m.failed; r &= r - 1) {
      auto rank = unsigned(std::countr_zero(r));
      uint8_t *to = resolveShared(m, *this, rank, offset, 16, true);
      if (!to)
        return true;
      std::memcpy(to, response, 16);
      mbarrierComplete(m, *this, rank, barOffset, 16);
    }
    return true;
  }
};
void execTryCancel(Warp &w, const Instr &i) { // d: response, c: mbarrier; i.mode: multicast
  for (uint32_t m = w.exec; m; m &= m - 1) {
    int l = std::countr_zero(m);
    auto op = std::make_shared<CancelOp>();
    unsigned rank, barRank;
    if (!sharedAddress(w, i, l, i.space, lanes64(w, i.d)[l], rank, op->offset) ||
        !sharedAddress(w, i, l, i.space, lanes64(w, i.c)[l], barRank, op->barOffset))
      return;
    if (op->offset % 16)
      return w.fail(i, ErrorKind::Misaligned, "expected a response at a multiple of 16", l);
    if (rank != w.cta->rank || barRank != w.cta->rank)
      return w.fail(i, ErrorKind::Operand, "expected response and mbarrier in the executing block", l);
    op->kind = AsyncKind::LaunchCancel;
    op->cta = w.cta;
    op->at = w.ref(i);
    op->instr = &i;
    op->lanes = 1u << l;
    op->ranks = i.mode ? (1u << w.cta->cluster->ctas.size()) - 1 : 1u << rank;
    op->writesShared = op->ranks;
    w.m->submit(*w.cta->cluster, op);
  }
}
void execQueryCancel(Warp &w, const Instr &i) { // i.sub: 0 is_canceled, 1 v4, 2..4 ::x ::y ::z
  const uint64_t *lo = lanes64(w, i.a), *hi = lo + 32;
  if (i.sub == 0) {
    uint32_t p = 0;
    for (int l = 0; l < 32; ++l)
      p |= uint32_t(uint32_t(lo[l]) == 1) << l;
    return setPred(w, i.d, p);
  }
  for (uint32_t m = w.exec; m; m &= m - 1) {
    int l = std::countr_zero(m);
    if (uint32_t(lo[l]) != 1)
      return w.fail(i, ErrorKind::Operand, "the response does not hold a cancelled launch", l);
    uint32_t v[4] = {uint32_t(lo[l] >> 32), uint32_t(hi[l]), uint32_t(hi[l] >> 32), 0};
    if (i.sub == 1)
      for (unsigned k = 0; k < 4; ++k) {
        Opnd o = w.program->lists[i.list + k];
        if (!o.none())
          lanes32(w, o)[l] = v[k];
      }
    else
      lanes32(w, i.d)[l] = v[i.sub - 2];
  }
}
void decodeLaunchControl(Decode &d) {
  d.need(target::Feature::ClusterLaunchControl);
  if (d.take("try_cancel")) {
    d.expect("async");
    d.i.space = d.take("shared::cta") ? Space::Shared : Space::Generic;
    d.expect("mbarrier::complete_tx::bytes");
    d.i.mode = d.take("multicast::cluster::all");
    d.expect("b128");
    d.finish();
    d.operands(2);
    d.i.c = d.address64(d.op(1));
    d.i.d = d.address64(d.op(0));
    d.i.fn = execTryCancel;
    return d.emit();
  }
  d.expect("query_cancel");
  unsigned what = d.oneOf({"is_canceled", "get_first_ctaid", "get_first_ctaid::x", "get_first_ctaid::y", "get_first_ctaid::z"}, "a query");
  d.i.sub = uint8_t(what);
  if (what == 0) {
    d.expect("pred");
  } else if (what == 1) {
    d.expect("v4");
    d.expect("b32");
  } else {
    d.expect("b32");
  }
  d.expect("b128");
  d.finish();
  d.operands(2);
  d.i.a = d.src(1, 128);
  if (what == 0) {
    d.i.d = d.pred(d.op(0), true);
  } else if (what == 1) {
    const auto &list = d.vector(d.op(0), "the block");
    if (list.size() != 4)
      d.fail("expected 4 elements, got " + std::to_string(list.size()));
    std::vector<Opnd> regs;
    for (const Operand &o : list)
      regs.push_back(o.kind == Operand::Sink ? Opnd{} : d.dst(o, 32));
    d.i.list = d.list(regs);
  } else {
    d.i.d = d.dst(0, 32);
  }
  d.i.fn = execQueryCancel;
  d.emit();
}

void decodeNothing(Decode &d) { // pmevent, brkpt
  if (d.root() == "pmevent") {
    d.take("mask");
    d.finish();
    d.operands(1);
    d.constant(d.op(0), "the event");
  } else {
    d.finish();
    d.operands(0);
  }
  d.i.fn = execNothing;
  d.emit();
}
} // namespace

void registerMisc(OpTable &t) {
  t["setmaxnreg"] = decodeSetmaxnreg;
  t["griddepcontrol"] = decodeGridDep;
  t["nanosleep"] = decodeNanosleep;
  t["createpolicy"] = decodePolicy;
  t["clusterlaunchcontrol"] = decodeLaunchControl;
  t["pmevent"] = t["brkpt"] = decodeNothing;
}

} // namespace heddle::emulator
