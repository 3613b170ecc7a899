//===- Barrier.cpp - named barriers and the cluster barrier --------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/core/Decoder.h"
#include "runtime/emulator/ops/Lanes.h"

namespace heddle::emulator {

void decodeWarpSync(Decode &d);

namespace {
void observe(Warp &w, const Instr &i, SyncKind kind, unsigned barrier, uint64_t count, uint64_t phase) {
  if (!w.m->observer)
    return;
  SyncEvent e;
  e.at = w.ref(i);
  e.lanes = w.exec;
  e.kind = kind;
  e.barrier = barrier;
  e.owner = w.cta->id;
  e.count = count;
  e.phase = phase;
  e.sem = i.sem == Sem::Weak ? Sem::AcqRel : i.sem;
  e.scope = i.scope == Scope::None ? Scope::Cta : i.scope;
  w.m->observer->sync(e);
}

/// i.sub: 0 sync, 1 arrive, 2.. red; i.mode: aligned; a: barrier, b: threads (or none).
void execBarrier(Warp &w, const Instr &i) {
  Cta &a = *w.cta;
  int lane = firstLane(w.exec);
  uint32_t id = lanes32(w, i.a)[lane];
  if (id > 15)
    return w.fail(i, ErrorKind::Barrier, "expected a barrier of 0 to 15, got " + std::to_string(id), lane);
  NamedBarrier &b = a.barriers[id];
  if (w.g->arrived) {
    if (b.generation == w.g->token) {
      w.block(WaitOn::Barrier);
      return;
    }
    w.g->arrived = false;
    if (i.sub >= 2) {
      uint32_t r = a.reduction[id][w.g->token & 1];
      if (i.sub == 2)
        forLanes(w.exec, [&](int l) { lanes32(w, i.d)[l] = r; });
      else
        setPred(w, i.d, i.sub == 3 ? (r == 0 ? ~0u : 0) : (r ? ~0u : 0));
    }
    return observe(w, i, SyncKind::BarWait, id, 0, w.g->token);
  }
  uint32_t expected = unsigned(a.warps.size()) * 32;
  if (!i.b.none()) {
    expected = lanes32(w, i.b)[lane];
    if (expected == 0 || expected % 32 || expected > a.warps.size() * 32)
      return w.fail(i, ErrorKind::Barrier,
                    "expected a thread count that is a multiple of 32 up to " + std::to_string(a.warps.size() * 32) +
                        ", got " + std::to_string(expected),
                    lane);
  }
  if (b.arrived && b.expected != expected)
    return w.fail(i, ErrorKind::Barrier,
                  "barrier " + std::to_string(id) + " is in use with " + std::to_string(b.expected) + " threads, got " +
                      std::to_string(expected),
                  lane);
  b.expected = expected;
  // A converged warp counts in full, also when lanes do not exist or have exited.
  b.arrived += w.exec == w.live ? 32 : unsigned(std::popcount(w.exec));
  uint64_t generation = b.generation;
  if (i.sub >= 2) {
    uint32_t &r = a.reduction[id][generation & 1];
    if (b.arrived <= 32 && !a.reducing[id]) {
      r = 0;
      a.reducing[id] = true;
    }
    uint32_t p = predBits(w, i.c) & w.exec;
    if (i.sub == 3) // and: count the false ones
      p = ~p & w.exec;
    r += unsigned(std::popcount(p));
  }
  if (b.arrived > b.expected)
    return w.fail(i, ErrorKind::Barrier, "more threads arrive at barrier " + std::to_string(id) + " than the " + std::to_string(b.expected) + " it expects", lane);
  ++w.m->report.stats.barrierWaits;
  observe(w, i, SyncKind::BarArrive, id, expected, generation);
  w.m->noteProgress();
  bool complete = b.arrived == b.expected;
  if (complete) {
    observe(w, i, SyncKind::BarRelease, id, expected, generation);
    b.arrived = 0;
    ++b.generation;
    a.reducing[id] = false;
    a.cluster->bump();
  }
  if (i.sub == 1)
    return;
  w.g->arrived = true;
  w.g->token = generation;
  w.g->waitAddress = id;
  if (complete)
    return execBarrier(w, i); // leaves at once
  w.block(WaitOn::Barrier);
}

void decodeBar(Decode &d) {
  bool barrier = d.root() == "barrier";
  if (!barrier && d.take("warp"))
    return decodeWarpSync(d);
  d.take("cta");
  unsigned kind = d.oneOf({"sync", "arrive", "red"}, "an operation");
  bool aligned = !barrier;
  unsigned red = 0;
  if (kind == 2) {
    red = d.oneOf({"popc", "and", "or"}, "a reduction");
    if (barrier)
      aligned = d.take("aligned");
    if (red == 0)
      d.type({Ty::U32});
    else
      d.expect("pred");
  } else if (barrier) {
    aligned = d.take("aligned");
  }
  d.finish();
  d.i.sub = uint8_t(kind == 2 ? 2 + red : kind);
  size_t first = 0;
  if (kind == 2) {
    d.operands(3, 4);
    d.i.d = red == 0 ? d.dst(0, 32) : d.pred(d.op(0), true);
    first = 1;
    d.i.c = d.predSrc(d.op(d.count() - 1));
    d.i.a = d.src(first, 32);
    if (d.count() == 4)
      d.i.b = d.src(2, 32);
  } else {
    d.operands(kind == 1 ? 2 : 1, 2);
    d.i.a = d.src(0, 32);
    if (d.count() == 2)
      d.i.b = d.src(1, 32);
  }
  if (aligned)
    d.i.flags |= Aligned;
  d.i.fn = execBarrier;
  d.emit();
}

// The cluster barrier: i.sub 0 arrive, 1 wait.
void execClusterBarrier(Warp &w, const Instr &i) {
  Cluster &c = *w.cta->cluster;
  if (i.sub == 0) {
    for (uint32_t m = w.exec; m; m &= m - 1)
      if (w.clusterArrived >> std::countr_zero(m) & 1)
        return w.fail(i, ErrorKind::Barrier, "a second barrier.cluster.arrive without a wait", std::countr_zero(m));
    w.clusterArrived |= w.exec;
    w.clusterToken = c.barrierGeneration;
    c.barrierArrived += unsigned(std::popcount(w.exec));
    observe(w, i, SyncKind::ClusterArrive, 0, c.threads, c.barrierGeneration);
    w.m->noteProgress();
    c.tryCompleteBarrier();
    return;
  }
  if ((w.exec & w.clusterArrived) != w.exec)
    return w.fail(i, ErrorKind::Barrier, "barrier.cluster.wait without an arrive", firstLane(w.exec & ~w.clusterArrived));
  if (c.barrierGeneration == w.clusterToken) {
    w.block(WaitOn::ClusterBarrier);
    return;
  }
  w.clusterArrived &= ~w.exec;
  ++w.m->report.stats.barrierWaits;
  observe(w, i, SyncKind::ClusterWait, 0, 0, w.clusterToken);
}

void decodeClusterBarrier(Decode &d) {
  d.need(target::Feature::Clusters);
  d.expect("cluster");
  d.i.sub = uint8_t(d.oneOf({"arrive", "wait"}, "an operation"));
  d.i.sem = d.i.sub ? Sem::Acquire : Sem::Release;
  if (d.i.sub == 0) {
    if (d.take("relaxed"))
      d.i.sem = Sem::Relaxed;
    else
      d.take("release");
  } else {
    d.take("acquire");
  }
  if (d.take("aligned"))
    d.i.flags |= Aligned;
  d.finish();
  d.operands(0);
  d.i.scope = Scope::Cluster;
  d.i.fn = execClusterBarrier;
  d.emit();
}

void decodeBarrierRoot(Decode &d) {
  if (d.peek() == "cluster")
    return decodeClusterBarrier(d);
  decodeBar(d);
}
} // namespace

void registerBarrier(OpTable &t) {
  t["bar"] = decodeBar;
  t["barrier"] = decodeBarrierRoot;
}

} // namespace heddle::emulator
