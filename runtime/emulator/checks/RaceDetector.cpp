//===- RaceDetector.cpp - data races by happens-before -------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A warp's threads share one time, which every release advances; an access carries
// the time and its lane. Before a barrier or an mbarrier joins two lanes, what one of
// them did is unknown to the other, also within a warp.
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/checks/RaceDetector.h"

#include <algorithm>
#include <bit>
#include <cstdio>

namespace heddle::emulator {

using checks::Clock;
using checks::Clocks;
using checks::component;
using checks::Entry;
using checks::Part;

/// An access to an mbarrier in shared memory, for a report.
static AccessEvent accessToBarrier(const WarpRef &at) {
  AccessEvent a;
  a.at = at;
  a.space = Space::Shared;
  a.bytes = 8;
  return a;
}

void RaceDetector::ctaStart(const WarpRef &at, unsigned warps) {
  // Launches follow one another unless some still run.
  if (live == 0 && at.launch != launch) {
    blocks.clear();
    lastBlock = nullptr;
    operations.clear();
    clusters.clear();
    flagged.clear();
    refused.clear();
    reported.clear();
    found = 0;
    global.clear();
    devices.clear();
  }
  launch = at.launch;
  Order &order = devices[at.device];
  if (order.launch != at.launch)
    order.launch = at.launch, order.atStart = order.ended;
  ++live;
  Block &b = blocks[at.ctaId];
  b.at = at;
  b.warps.resize(warps);
  for (WarpState &w : b.warps) {
    w.lanes.resize(1);
    w.lanes[0].mask = ~0u;
    w.lanes[0].known = order.atStart;
  }
}

void RaceDetector::ctaEnd(const WarpRef &at) {
  if (live)
    --live;
  auto it = blocks.find(at.ctaId);
  if (it == blocks.end())
    return;
  for (unsigned n = 0; n < it->second.warps.size(); ++n) {
    WarpRef who = it->second.at;
    who.warp = n;
    publish(who, it->second.warps[n], ~0u, devices[at.device].ended);
  }
  // The end of a launch is visible to every proxy.
  Clocks &ended = devices[at.device].ended;
  for (Clock *proxy : {&ended.proxy[0], &ended.proxy[1], &ended.over})
    proxy->join(ended.all);
  it->second.ended = true;
  it->second.shared.clear();
  it->second.tensor.clear();
  it->second.mbarriers.clear();
  for (WarpState &w : it->second.warps)
    w.lanes.clear();
}

RaceDetector::WarpState *RaceDetector::warp(const WarpRef &at) {
  if (!lastBlock || lastBlock->at.ctaId != at.ctaId) {
    auto it = blocks.find(at.ctaId);
    if (it == blocks.end())
      return nullptr;
    lastBlock = &it->second;
  }
  if (at.warp >= lastBlock->warps.size() || lastBlock->ended)
    return nullptr;
  WarpState &w = lastBlock->warps[at.warp];
  if (w.role.empty() && !at.role.empty())
    w.role = std::string(at.role);
  return &w;
}

RaceDetector::Lanes *RaceDetector::of(WarpState &w, unsigned lane) {
  for (Lanes &g : w.lanes)
    if (g.mask >> lane & 1)
      return &g;
  return nullptr;
}

/// What the lanes know and did, for whoever acquires `into`.
void RaceDetector::publish(const WarpRef &at, WarpState &w, uint32_t lanes, Clocks &into) {
  for (Lanes &g : w.lanes) {
    uint32_t both = g.mask & lanes;
    if (!both)
      continue;
    into.join(g.known);
    into.all.raiseLanes(ownKey(at), w.time, both);
  }
  ++w.time;
}

void RaceDetector::acquire(WarpState &w, uint32_t lanes, const Clocks &from) {
  each(w, lanes, [&](Lanes &g) { g.known.join(from); });
}

/// The lanes learn all that any of them knows and did.
void RaceDetector::merge(const WarpRef &at, WarpState &w, uint32_t lanes) {
  Lanes all;
  std::vector<Lanes> rest;
  for (Lanes &g : w.lanes) {
    uint32_t both = g.mask & lanes;
    if (!both) {
      rest.push_back(std::move(g));
      continue;
    }
    all.mask |= both;
    all.known.join(g.known);
    all.tensor.join(g.tensor);
    for (const Seen &s : g.seen)
      see(all, s);
    all.released.join(g.released);
    all.releasedScope = std::max(all.releasedScope, g.releasedScope);
    if (g.mask & ~lanes) {
      g.mask &= ~lanes;
      rest.push_back(std::move(g));
    }
  }
  if (!all.mask)
    return;
  if (rest.empty())
    all.known.all.raise(ownKey(at), w.time);
  else
    all.known.all.raiseLanes(ownKey(at), w.time, all.mask);
  ++w.time;
  rest.insert(rest.begin(), std::move(all));
  w.lanes = std::move(rest);
}

void RaceDetector::sync(const SyncEvent &e) {
  WarpState *w = e.lanes ? warp(e.at) : nullptr;
  switch (e.kind) {
  case SyncKind::BarArrive:
  case SyncKind::BarWait:
  case SyncKind::ClusterArrive:
  case SyncKind::ClusterWait: {
    if (!w)
      return;
    bool cluster = e.kind == SyncKind::ClusterArrive || e.kind == SyncKind::ClusterWait;
    Barrier &b = cluster ? clusters[e.at.clusterId] : blocks[e.at.ctaId].named[e.barrier & 15];
    if (e.kind == SyncKind::BarArrive || e.kind == SyncKind::ClusterArrive) {
      if (isRelease(e.sem))
        publish(e.at, *w, e.lanes, b.phases[e.phase]);
      return;
    }
    if (!isAcquire(e.sem))
      return;
    acquire(*w, e.lanes, b.phases[e.phase]);
    merge(e.at, *w, e.lanes);
    while (!b.phases.empty() && b.phases.begin()->first + 8 < e.phase)
      b.phases.erase(b.phases.begin());
    return;
  }
  case SyncKind::WarpSync:
    if (w)
      merge(e.at, *w, e.lanes);
    return;
  case SyncKind::BarRelease:
  case SyncKind::GridDepWait:
  case SyncKind::GridDepLaunch:
    return;
  default:
    return mbarrier(e, w);
  }
}

void RaceDetector::mbarrier(const SyncEvent &e, WarpState *w) {
  auto block = blocks.find(e.owner);
  if (block == blocks.end() || block->second.ended)
    return;
  Barrier &b = block->second.mbarriers[e.address];
  const uint64_t key = component(e.owner, Part::Mbarrier, e.address / 8);
  auto initKnown = [&]() {
    if (!b.initialised || !w)
      return;
    Entry now;
    now.ctaId = e.at.ctaId;
    now.warp = uint8_t(e.at.warp);
    now.line = e.at.line;
    now.loc = e.at.loc;
    now.when = w->time;
    for (uint32_t m = e.lanes; m; m &= m - 1) {
      unsigned l = unsigned(std::countr_zero(m));
      now.lanes = 1u << l;
      Lanes *g = of(*w, l);
      Memo memo;
      if (!g || order(b.init, now, {g->known, g->tensor, memo}, Space::Shared, e.owner) ==
                    Verdict::Ordered) {
        // Lanes of another warp that know the same need one look.
        if (g && (b.init.ctaId != now.ctaId || b.init.warp != now.warp))
          m &= ~g->mask | 1u << l;
        continue;
      }
      AccessEvent a = accessToBarrier(e.at);
      a.lanes = now.lanes;
      reportRace(a, b.init, now, Verdict::Unordered, e.address, e.owner, true);
      return;
    }
  };
  switch (e.kind) {
  case SyncKind::MbarInit:
    b.first = b.last;
    b.arriving.clear();
    b.initialised = w != nullptr;
    b.init = Entry{};
    b.init.ctaId = e.at.ctaId;
    b.init.warp = uint8_t(e.at.warp);
    b.init.lanes = e.lanes;
    b.init.line = e.at.line;
    b.init.loc = e.at.loc;
    b.init.when = w ? w->time : 0;
    b.init.write = true;
    b.visible = false;
    block->second.invisible.push_back(e.address);
    return;
  case SyncKind::MbarExpectTx:
    return initKnown();
  case SyncKind::MbarArrive:
  case SyncKind::MbarCompleteTx:
    if (e.op) {
      auto it = operations.find(e.op);
      if (it == operations.end())
        return;
      Operation &op = it->second;
      checkVisible(e, b, op);
      b.arriving.join(op.known);
      if (e.kind == SyncKind::MbarArrive) {
        const bool commit = op.kind == AsyncKind::TcgenCommit;
        const uint64_t done =
            component(op.at.ctaId, commit ? Part::Tcgen : Part::CpAsync, op.at.warp);
        for (Clock *clock : {&b.arriving.all, &b.arriving.over, &b.arriving.tensor}) {
          if (commit)
            clock->raise(done, e.op);
          else
            clock->raiseLanes(done, e.op, op.lanes);
        }
        return;
      }
      uint64_t value = b.first + e.phase + 1;
      for (auto &c : op.completions)
        if (c.owner == e.owner && c.key == key) {
          c.value = std::max(c.value, value);
          return;
        }
      op.completions.push_back({e.owner, key, value});
      return;
    }
    initKnown();
    if (w && isRelease(e.sem))
      publish(e.at, *w, e.lanes, b.arriving);
    else if (w)
      for (const Lanes &g : w->lanes)
        if (g.mask & e.lanes)
          b.arriving.over.join(g.known.over);
    return;
  case SyncKind::MbarPhase:
    b.complete.join(b.arriving);
    b.arriving.clear();
    b.last = b.first + e.phase + 1;
    b.complete.all.raise(key, b.last);
    b.complete.over.raise(key, b.last);
    return;
  case SyncKind::MbarWait:
    initKnown();
    if (w && isAcquire(e.sem))
      acquire(*w, e.lanes, b.complete);
    else if (w)
      each(*w, e.lanes, [&](Lanes &g) { g.known.over.join(b.complete.over); });
    return;
  case SyncKind::MbarNoWait:
    return initKnown();
  default:
    return;
  }
}

void RaceDetector::fence(const FenceEvent &e) {
  WarpState *w = warp(e.at);
  if (!w)
    return;
  switch (e.kind) {
  case FenceKind::Thread:
    if (isAcquire(e.sem))
      each(*w, e.lanes, [&](Lanes &g) {
        std::erase_if(g.seen, [&](const Seen &s) {
          if (!covers(std::min(s.scope, e.scope), s.at, e.at)) {
            refuse(s.at, e.at);
            return false;
          }
          g.known.join(s.known);
          return true;
        });
      });
    if (isRelease(e.sem)) {
      each(*w, e.lanes, [&](Lanes &g) {
        g.released = g.known;
        g.released.all.raiseLanes(ownKey(e.at), w->time, g.mask);
        g.releasedScope = e.scope;
      });
      ++w->time;
    }
    return;
  case FenceKind::ProxyAsync:
  case FenceKind::ProxyAsyncGlobal:
  case FenceKind::ProxyAsyncShared:
    each(*w, e.lanes, [&](Lanes &g) {
      for (int s = 0; s < 2; ++s) {
        if (e.kind == (s ? FenceKind::ProxyAsyncShared : FenceKind::ProxyAsyncGlobal))
          continue;
        g.known.proxy[s].join(g.known.all);
        g.known.proxy[s].raiseLanes(ownKey(e.at), w->time, g.mask);
      }
    });
    ++w->time;
    makeVisible(e);
    return;
  case FenceKind::MbarrierInit:
    return makeVisible(e);
  case FenceKind::TcgenBefore:
    each(*w, e.lanes, [&](Lanes &g) { g.known.tensor.join(g.known.all); });
    return;
  case FenceKind::TcgenAfter:
    each(*w, e.lanes, [&](Lanes &g) { g.tensor.join(g.known.tensor); });
    return;
  default:
    return;
  }
}

/// The fence shows the async proxy what these lanes have initialised.
void RaceDetector::makeVisible(const FenceEvent &e) {
  auto block = blocks.find(e.at.ctaId);
  if (block == blocks.end() || e.kind == FenceKind::ProxyAsyncGlobal)
    return;
  std::erase_if(block->second.invisible, [&](uint64_t address) {
    Barrier &b = block->second.mbarriers[address];
    bool mine = b.init.warp == e.at.warp && (b.init.lanes & e.lanes);
    b.visible |= mine;
    return mine;
  });
}

/// The initialisation must be ordered before what an operation does to the mbarrier, and shown to
/// the async proxy.
void RaceDetector::checkVisible(const SyncEvent &e, Barrier &b, Operation &op) {
  if (!b.initialised)
    return;
  Entry now;
  now.ctaId = op.at.ctaId;
  now.warp = uint8_t(op.at.warp);
  now.line = op.at.line;
  now.loc = op.at.loc;
  now.when = e.op;
  now.write = true;
  Verdict v = order(b.init, now, {op.known, op.tensor, op.memo}, Space::Shared, e.owner);
  const bool asyncProxy = op.kind == AsyncKind::BulkCopy || op.kind == AsyncKind::TensorCopy ||
                          op.kind == AsyncKind::TcgenCommit;
  if (v == Verdict::Ordered && asyncProxy && !b.visible)
    v = Verdict::NoProxyFence;
  if (v == Verdict::Ordered)
    return;
  AccessEvent a = accessToBarrier(e.at);
  a.op = e.op;
  reportRace(a, b.init, now, v, e.address, e.owner, true);
}

void RaceDetector::asyncIssue(const AsyncEvent &e) {
  Operation &op = operations[e.op];
  op.kind = e.kind;
  op.at = e.at;
  op.at.role = {};
  op.role = std::string(e.at.role);
  op.lanes = e.lanes;
  WarpState *w = e.lanes ? warp(e.at) : nullptr;
  if (!w)
    return;
  publish(e.at, *w, e.lanes, op.known);
  for (const Lanes &g : w->lanes)
    if (g.mask & e.lanes)
      op.tensor.join(g.tensor);
}

/// Each warp of a warpgroup issues its part of a wgmma, and none waits for the others: the
/// operation knows only what all four of them know.
void RaceDetector::registersInFlight(const AsyncEvent &e, const uint32_t *, unsigned,
                                     bool written) {
  auto it = operations.find(e.op);
  WarpState *w = e.lanes && written ? warp(e.at) : nullptr;
  if (e.kind != AsyncKind::Wgmma || !w || it == operations.end())
    return;
  if (it->second.issuers++ == 0)
    return publish(e.at, *w, e.lanes, it->second.known);
  Clocks known;
  publish(e.at, *w, e.lanes, known);
  it->second.known.meet(known);
}

void RaceDetector::asyncComplete(const AsyncEvent &e, bool readsDone) {
  auto it = operations.find(e.op);
  if (!readsDone && it != operations.end())
    it->second.known.clear();
}

void RaceDetector::wait(const WaitEvent &e) {
  WarpState *w = warp(e.at);
  if (!w || !e.count)
    return;
  uint64_t latest = *std::max_element(e.ops, e.ops + e.count);
  static constexpr Part parts[] = {Part::CpAsync, Part::Bulk,    Part::BulkRead,
                                   Part::Wgmma,   Part::TcgenLd, Part::TcgenSt};
  Part part = parts[size_t(e.kind)];
  // A thread waits for its own operations only, a warp for what it issued as one.
  const bool collective = part == Part::Wgmma || part == Part::TcgenLd || part == Part::TcgenSt;
  each(*w, e.lanes, [&](Lanes &g) {
    const uint32_t lanes = collective ? ~0u : g.mask;
    for (Clock *clock : {&g.known.all, &g.known.over}) {
      clock->raiseLanes(component(e.at.ctaId, part, e.at.warp), latest, lanes);
      if (part == Part::Bulk)
        clock->raiseLanes(component(e.at.ctaId, Part::BulkRead, e.at.warp), latest, lanes);
    }
  });
}

} // namespace heddle::emulator
