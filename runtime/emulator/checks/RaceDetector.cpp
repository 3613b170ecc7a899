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

static bool isRelease(Sem s) { return s == Sem::Release || s == Sem::AcqRel || s == Sem::SeqCst; }
static bool isAcquire(Sem s) { return s == Sem::Acquire || s == Sem::AcqRel || s == Sem::SeqCst; }

void RaceDetector::ctaStart(const WarpRef &at, unsigned warps) {
  // Launches follow one another unless some still run.
  if (live == 0 && at.launch != launch) {
    blocks.clear();
    lastBlock = nullptr;
    operations.clear();
    clusters.clear();
    flagged.clear();
    global.clear();
  }
  launch = at.launch;
  ++live;
  Block &b = blocks[at.ctaId];
  b.at = at;
  b.warps.resize(warps);
  for (WarpState &w : b.warps) {
    w.lanes.resize(1);
    w.lanes[0].mask = ~0u;
  }
}

void RaceDetector::ctaEnd(const WarpRef &at) {
  if (live)
    --live;
  auto it = blocks.find(at.ctaId);
  if (it == blocks.end())
    return;
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

template <class F> void RaceDetector::each(WarpState &w, uint32_t lanes, F f) {
  for (size_t n = 0, end = w.lanes.size(); n < end; ++n) {
    uint32_t both = w.lanes[n].mask & lanes;
    if (!both)
      continue;
    if (both == w.lanes[n].mask) {
      f(w.lanes[n]);
      continue;
    }
    Lanes part = w.lanes[n];
    part.mask = both;
    w.lanes[n].mask &= ~both;
    f(part);
    w.lanes.push_back(std::move(part));
  }
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
    all.seen.join(g.seen);
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
      if (!g ||
          order(b.init, now, {g->known, g->tensor}, Space::Shared, e.owner) == Verdict::Ordered)
        continue;
      AccessEvent a;
      a.at = e.at;
      a.lanes = now.lanes;
      a.space = Space::Shared;
      a.bytes = 8;
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
        if (op.kind == AsyncKind::TcgenCommit) {
          b.arriving.all.raise(component(op.at.ctaId, Part::Tcgen, op.at.warp), e.op);
          b.arriving.tensor.raise(component(op.at.ctaId, Part::Tcgen, op.at.warp), e.op);
        } else {
          b.arriving.all.raiseLanes(component(op.at.ctaId, Part::CpAsync, op.at.warp), e.op,
                                    op.lanes);
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
    return;
  case SyncKind::MbarPhase:
    b.complete.join(b.arriving);
    b.arriving.clear();
    b.last = b.first + e.phase + 1;
    b.complete.all.raise(key, b.last);
    return;
  case SyncKind::MbarWait:
    initKnown();
    if (w && isAcquire(e.sem))
      acquire(*w, e.lanes, b.complete);
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
        g.known.join(g.seen);
        g.seen.clear();
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

void RaceDetector::checkVisible(const SyncEvent &e, Barrier &b, const Operation &op) {
  const bool asyncProxy = op.kind == AsyncKind::BulkCopy || op.kind == AsyncKind::TensorCopy ||
                          op.kind == AsyncKind::TcgenCommit;
  if (b.visible || !b.initialised || !asyncProxy)
    return;
  Entry now;
  now.ctaId = op.at.ctaId;
  now.warp = uint8_t(op.at.warp);
  now.line = op.at.line;
  now.loc = op.at.loc;
  now.when = e.op;
  now.write = true;
  now.asyncProxy = true;
  AccessEvent a;
  a.at = e.at;
  a.op = e.op;
  a.space = Space::Shared;
  a.bytes = 8;
  reportRace(a, b.init, now, Verdict::NoProxyFence, e.address, e.owner, true);
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
  // A thread waits for its own operations only.
  each(*w, e.lanes, [&](Lanes &g) {
    g.known.all.raiseLanes(component(e.at.ctaId, part, e.at.warp), latest, g.mask);
    if (part == Part::Bulk)
      g.known.all.raiseLanes(component(e.at.ctaId, Part::BulkRead, e.at.warp), latest, g.mask);
  });
}

bool RaceDetector::completionKnown(const Entry &e, const Clock &clock, uint64_t owner) {
  auto it = operations.find(e.when);
  if (it == operations.end())
    return true;
  const Operation &op = it->second;
  for (const auto &c : op.completions)
    if ((!e.write || c.owner == owner) && clock.knows(c.key, c.value))
      return true;
  if (!op.completions.empty())
    return false;
  Part part = Part::CpAsync;
  unsigned index = op.at.warp;
  switch (op.kind) {
  case AsyncKind::BulkCopy:
  case AsyncKind::TensorCopy:
    part = e.write ? Part::Bulk : Part::BulkRead;
    break;
  case AsyncKind::Wgmma: // each warp of the warpgroup does a part of it
    for (index &= ~3u; index % 4 != 3; ++index)
      if (!clock.knows(component(op.at.ctaId, Part::Wgmma, index), e.when, ~0u))
        return false;
    part = Part::Wgmma;
    break;
  case AsyncKind::TcgenMma:
  case AsyncKind::TcgenCp:
  case AsyncKind::TcgenCommit:
    part = Part::Tcgen;
    break;
  case AsyncKind::TcgenLd:
    part = Part::TcgenLd;
    break;
  case AsyncKind::TcgenSt:
    part = Part::TcgenSt;
    break;
  default:
    break;
  }
  // A commit speaks for all that its thread issued before.
  const uint32_t lanes = part == Part::Tcgen ? 0 : part == Part::Wgmma ? ~0u : op.lanes;
  return clock.knows(component(op.at.ctaId, part, index), e.when, lanes);
}

static bool covers(Scope s, const WarpRef &a, const WarpRef &b) {
  if (a.ctaId == b.ctaId)
    return true;
  if (a.device != b.device)
    return s == Scope::Sys;
  return s == Scope::Gpu || s == Scope::Sys || (s == Scope::Cluster && a.clusterId == b.clusterId);
}

RaceDetector::Verdict RaceDetector::order(const Entry &before, const Entry &now, const View &view,
                                          Space space, uint64_t owner) {
  const Clocks &known = view.known;
  const bool sameWarp = before.ctaId == now.ctaId && before.warp == now.warp;
  if (before.lanes == 0 && now.lanes == 0 && (before.when == now.when))
    return Verdict::Ordered;
  if (before.lanes && sameWarp && before.lanes == now.lanes)
    return Verdict::Ordered;
  bool ordered;
  if (before.lanes) {
    uint32_t others = sameWarp ? before.lanes & ~now.lanes : before.lanes;
    ordered =
        known.all.knows(component(before.ctaId, Part::Threads, before.warp), before.when, others);
  } else {
    ordered = completionKnown(before, known.all, owner);
    if (!ordered && now.lanes == 0 && before.ctaId == now.ctaId) {
      // Matrix instructions and tensor memory copies of one warp, and wgmmas of a
      // warpgroup, run in the order of issue.
      auto a = operations.find(before.when), b = operations.find(now.when);
      auto chained = [](AsyncKind k) {
        return k == AsyncKind::TcgenMma || k == AsyncKind::TcgenCp;
      };
      if (a != operations.end() && b != operations.end())
        ordered = (sameWarp && chained(a->second.kind) && chained(b->second.kind)) ||
                  (before.warp / 4 == now.warp / 4 && a->second.kind == AsyncKind::Wgmma &&
                   b->second.kind == AsyncKind::Wgmma);
    }
  }
  if (!ordered) {
    if (before.ctaId != now.ctaId) {
      auto a = blocks.find(before.ctaId), b = blocks.find(now.ctaId);
      if (a == blocks.end() || b == blocks.end())
        return Verdict::Ordered;
      // Launches of a device are ordered; programmatic dependents are not followed.
      if (a->second.at.device == b->second.at.device && a->second.at.launch != b->second.at.launch)
        return Verdict::Ordered;
      if (before.strong && now.strong)
        return covers(before.scope, a->second.at, b->second.at) &&
                       covers(now.scope, a->second.at, b->second.at)
                   ? Verdict::Ordered
                   : Verdict::Scope;
    } else if (before.strong && now.strong) {
      return Verdict::Ordered;
    }
    return Verdict::Unordered;
  }
  if (now.asyncProxy && !before.asyncProxy && before.write && space != Space::Tensor) {
    const Clock &fenced = known.proxy[space == Space::Global];
    bool ok = before.lanes ? fenced.knows(component(before.ctaId, Part::Threads, before.warp),
                                          before.when, before.lanes)
                           : completionKnown(before, fenced, owner);
    if (!ok)
      return Verdict::NoProxyFence;
  }
  // Within a warp tcgen05 instructions and their waits are ordered without fences.
  if (space == Space::Tensor && !before.lanes && !sameWarp &&
      !completionKnown(before, view.tensor, owner))
    return Verdict::NoTensorFence;
  return Verdict::Ordered;
}

void RaceDetector::touch(checks::Shadow &shadow, const AccessEvent &e, uint64_t address,
                         uint64_t owner, const Entry &entry, const View &view) {
  Entry now = entry;
  for (uint64_t at = address & ~uint64_t(15), end = address + e.bytes; at < end; at += 16) {
    unsigned from = address > at ? unsigned(address - at) : 0,
             to = end - at < 16 ? unsigned(end - at) : 16;
    now.bytes = uint16_t(((1u << to) - 1) & ~((1u << from) - 1));
    checks::Cell &cell = shadow.cell(at);
    for (const Entry &o : cell.entries) {
      if (!(o.bytes & now.bytes) || !(o.write || now.write) ||
          (o.atomic && now.atomic && !o.lanes && !now.lanes))
        continue;
      Verdict v = order(o, now, view, e.space, owner);
      if (v != Verdict::Ordered)
        reportRace(e, o, now, v, address, owner);
    }
    cell.add(now);
  }
}

void RaceDetector::access(const AccessEvent &e) {
  if (e.space != Space::Shared && e.space != Space::Global && e.space != Space::Tensor)
    return;
  Entry entry;
  entry.ctaId = e.at.ctaId;
  entry.warp = uint8_t(e.at.warp);
  entry.line = e.at.line;
  entry.loc = e.at.loc;
  entry.write = e.write;
  entry.atomic = e.atomic;
  entry.strong = e.sem != Sem::Weak || e.atomic;
  entry.scope = e.atomic && e.scope == Scope::None ? Scope::Gpu : e.scope;
  entry.asyncProxy = e.proxy != Proxy::Generic;
  auto shadowOf = [&](unsigned n) -> checks::Shadow * {
    if (e.space == Space::Global)
      return &global;
    auto it = blocks.find(e.owner[n]);
    if (it == blocks.end() || it->second.ended)
      return nullptr;
    return e.space == Space::Tensor ? &it->second.tensor : &it->second.shared;
  };
  auto place = [&](unsigned n) {
    uint64_t a = e.address[n]; // tensor memory: 2048 bytes a lane, 4 a column
    return e.space == Space::Tensor ? (a >> 16) * 2048 + (a & 0xffff) * 4 : a;
  };
  if (!e.lanes) {
    auto it = operations.find(e.op);
    if (it == operations.end())
      return;
    entry.when = e.op;
    for (unsigned n = 0; n < e.count; ++n)
      if (checks::Shadow *s = shadowOf(n))
        touch(*s, e, place(n), e.owner ? e.owner[n] : 0, entry,
              {it->second.known, it->second.tensor});
    return;
  }
  WarpState *w = warp(e.at);
  if (!w)
    return;
  entry.when = w->time;
  checks::Shadow *s = nullptr;
  uint64_t sOwner = 0;
  Lanes *g = nullptr;
  for (uint32_t m = e.lanes; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    if (!s || (e.owner && e.owner[l] != sOwner)) {
      s = shadowOf(l);
      sOwner = e.owner ? e.owner[l] : 0;
    }
    if (!g || !(g->mask >> l & 1))
      g = of(*w, l);
    if (!s || !g)
      continue;
    entry.lanes = 1u << l;
    touch(*s, e, place(l), sOwner, entry, {g->known, g->tensor});
  }
  if (entry.strong)
    flags(e, *w);
}

/// Release and acquire patterns on memory.
void RaceDetector::flags(const AccessEvent &e, WarpState &w) {
  std::vector<std::pair<unsigned, uint64_t>> at;
  for (uint32_t m = e.lanes; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    // Shared addresses of a block and global addresses do not meet.
    at.push_back({l, e.owner ? uint64_t(1) << 63 | e.owner[l] << 24 | e.address[l] : e.address[l]});
  }
  if (e.read)
    for (auto [l, address] : at) {
      auto it = flagged.find(address);
      if (it == flagged.end())
        continue;
      each(w, 1u << l, [&](Lanes &g) {
        for (const Flag &f : it->second)
          if (covers(f.scope, f.at, e.at)) {
            if (isAcquire(e.sem) &&
                covers(e.scope == Scope::None ? Scope::Gpu : e.scope, f.at, e.at))
              g.known.join(f.known);
            else
              g.seen.join(f.known);
          }
      });
    }
  if (!e.write)
    return;
  for (auto [l, address] : at) {
    std::vector<Flag> &list = flagged[address];
    if (!e.read && !e.atomic)
      list.clear(); // readers of this value see nothing of earlier releases
    Lanes *g = of(w, l);
    if (!g)
      continue;
    Flag f{e.scope == Scope::None ? Scope::Gpu : e.scope, e.at, {}};
    f.at.role = {};
    if (isRelease(e.sem)) {
      f.known = g->known;
      f.known.all.raiseLanes(ownKey(e.at), w.time, 1u << l);
    } else if (g->releasedScope != Scope::None) {
      f.scope = std::min(f.scope, g->releasedScope);
      f.known = g->released;
    } else {
      continue;
    }
    bool joined = false;
    for (Flag &o : list)
      if (o.scope == f.scope && (o.at.ctaId == f.at.ctaId || o.scope >= Scope::Gpu) &&
          o.at.device == f.at.device) {
        o.known.join(f.known);
        if (o.at.ctaId != f.at.ctaId)
          o.at = f.at;
        joined = true;
      }
    if (!joined)
      list.push_back(std::move(f));
  }
  ++w.time;
}

std::string RaceDetector::describe(const Entry &e, const char *what) {
  std::string out = what ? what : e.atomic ? "atomic access" : e.write ? "write" : "read";
  auto block = blocks.find(e.ctaId);
  std::string role;
  if (block != blocks.end() && e.warp < block->second.warps.size())
    role = block->second.warps[e.warp].role;
  if (!e.lanes) {
    static constexpr std::string_view names[] = {
        "cp.async",    "bulk copy",        "tensor copy",    "wgmma",
        "tcgen05.mma", "tcgen05.cp",       "tcgen05.commit", "tcgen05.ld",
        "tcgen05.st",  "mbarrier arrival", "cancel request"};
    auto op = operations.find(e.when);
    out += " by the " +
           std::string(op == operations.end() ? "operation" : names[size_t(op->second.kind)]);
    if (role.empty() && op != operations.end())
      role = op->second.role;
  }
  out += " of line " + std::to_string(e.line) + " (";
  if (!role.empty())
    out += "role " + role + ", ";
  out += "warp " + std::to_string(e.warp);
  if (e.lanes)
    out += ", lane " + std::to_string(std::countr_zero(e.lanes));
  if (block != blocks.end()) {
    const WarpRef &b = block->second.at;
    out += ", cta (" + std::to_string(b.cta.x) + "," + std::to_string(b.cta.y) + "," +
           std::to_string(b.cta.z) + ")";
    WarpRef at = b;
    at.loc = e.loc;
    if (std::string source = sourceOf(at); !source.empty())
      out += ", at " + source;
  }
  return out + ")";
}

void RaceDetector::reportRace(const AccessEvent &e, const Entry &before, const Entry &now,
                              Verdict v, uint64_t address, uint64_t owner, bool mbarrier) {
  if (found >= maxFindings || !reported.insert({before.line, now.line}).second)
    return;
  ++found;
  std::string where;
  char hex[32];
  if (e.space == Space::Global) {
    std::snprintf(hex, sizeof hex, "0x%llx", static_cast<unsigned long long>(address));
    where = std::string("global memory at ") + hex;
  } else if (e.space == Space::Shared) {
    where = (mbarrier ? "the mbarrier at shared offset " : "shared offset ") +
            std::to_string(int64_t(address) - int64_t(sharedReserved(e.at.device)));
    if (owner != now.ctaId)
      where += " of another block";
  } else {
    where = "tensor memory lane " + std::to_string(address / 2048) + ", column " +
            std::to_string(address % 2048 / 4);
  }
  Error error;
  error.kind = ErrorKind::Race;
  error.message = "data race on " + where + ": the " +
                  (mbarrier ? describe(now, "use") : describe(now)) + " and the earlier " +
                  (mbarrier ? describe(before, "initialisation") : describe(before));
  switch (v) {
  case Verdict::NoProxyFence:
    error.message += mbarrier ? " lack a fence.mbarrier_init or fence.proxy.async between them"
                              : " lack a fence.proxy.async between them: the thread that writes "
                                "needs one before it releases";
    break;
  case Verdict::NoTensorFence:
    error.message += " lack tcgen05 fences between them: tcgen05.fence::before_thread_sync ahead "
                     "of the release, "
                     "tcgen05.fence::after_thread_sync behind the wait";
    break;
  case Verdict::Scope:
    error.message += " are of too small a scope for each other";
    break;
  default:
    error.message += !before.lanes && before.write && now.lanes
                         ? " are not ordered: nothing waited for the operation to complete"
                     : !before.lanes && now.write
                         ? " are not ordered: the operation may still be using this memory"
                         : " are not ordered by any barrier, release or wait";
  }
  error.line = now.line;
  error.source = sourceOf(e.at);
  error.role = std::string(e.at.role);
  error.device = e.at.device;
  error.cta = e.at.cta;
  error.warp = int(now.warp);
  error.lane = now.lanes ? std::countr_zero(now.lanes) : -1;
  report(std::move(error), found >= maxFindings);
}

} // namespace heddle::emulator
