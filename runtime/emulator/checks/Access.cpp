//===- Access.cpp - accesses to memory, and flags in it  -===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/checks/RaceDetector.h"

#include <algorithm>
#include <bit>

namespace heddle::emulator {

using checks::Clock;
using checks::Clocks;
using checks::component;
using checks::Entry;
using checks::Part;

bool covers(Scope s, const WarpRef &a, const WarpRef &b) {
  if (a.ctaId == b.ctaId)
    return true;
  if (a.device != b.device)
    return s == Scope::Sys;
  return s == Scope::Gpu || s == Scope::Sys || (s == Scope::Cluster && a.clusterId == b.clusterId);
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
    // Who only writes need not see what the operation wrote, only that it is over.
    if (!ordered && now.write && !now.atomic)
      ordered = completionKnown(before, known.over, owner);
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

static bool sameHistory(const Entry &a, const Entry &b) {
  return a.when == b.when && a.lanes == b.lanes && a.ctaId == b.ctaId && a.warp == b.warp &&
         a.write == b.write && a.atomic == b.atomic && a.strong == b.strong && a.scope == b.scope &&
         a.asyncProxy == b.asyncProxy;
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
      // Between lanes of one warp the order depends on the lanes.
      const bool any = !o.lanes || o.ctaId != now.ctaId || o.warp != now.warp;
      Memo &memo = view.memo;
      const bool known = memo.looked && any && memo.owner == owner && sameHistory(memo.before, o);
      Verdict v = known ? memo.verdict : order(o, now, view, e.space, owner);
      if (any && !known)
        memo = {o, owner, v, true};
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
              {it->second.known, it->second.tensor, it->second.memo});
    return;
  }
  WarpState *w = warp(e.at);
  if (!w)
    return;
  entry.when = w->time;
  checks::Shadow *s = nullptr;
  uint64_t sOwner = 0;
  Lanes *g = nullptr;
  Memo memo;
  for (uint32_t m = e.lanes; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    if (!s || (e.owner && e.owner[l] != sOwner)) {
      s = shadowOf(l);
      sOwner = e.owner ? e.owner[l] : 0;
    }
    if (!g || !(g->mask >> l & 1)) {
      g = of(*w, l);
      memo.looked = false;
    }
    if (!s || !g)
      continue;
    entry.lanes = 1u << l;
    touch(*s, e, place(l), sOwner, entry, {g->known, g->tensor, memo});
  }
  if (entry.strong)
    flags(e, *w);
}

void RaceDetector::see(Lanes &g, const Seen &from) {
  for (Seen &s : g.seen)
    if (s.scope == from.scope && s.at.ctaId == from.at.ctaId)
      return s.known.join(from.known);
  g.seen.push_back(from);
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
        const Scope scope = e.scope == Scope::None ? Scope::Gpu : e.scope;
        for (const Flag &f : it->second) {
          if (!covers(f.scope, f.at, e.at) || (isAcquire(e.sem) && !covers(scope, f.at, e.at)))
            refuse(f.at, e.at);
          else if (isAcquire(e.sem))
            g.known.join(f.known);
          else
            see(g, {scope, f.at, f.known});
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

} // namespace heddle::emulator
