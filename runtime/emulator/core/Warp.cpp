//===- Warp.cpp - blocking, convergence and errors of a warp -------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/core/Machine.h"
#include "runtime/emulator/ops/Lanes.h"

namespace heddle::emulator {

WarpRef Warp::ref(const Instr &i) const {
  WarpRef r;
  const Launch &l = *cta->launch;
  r.device = l.device->ordinal;
  r.launch = l.id;
  r.ctaId = cta->id;
  r.clusterId = cta->cluster->id;
  r.cta = cta->ctaid;
  r.warp = index;
  r.role = role;
  r.line = i.line;
  r.loc = i.loc;
  return r;
}

void Warp::fail(const Instr &i, ErrorKind kind, const std::string &message, int lane) {
  Error e;
  e.kind = kind;
  e.message = message + " in '" + program->names[i.name].substr(0, 100) + "'";
  e.line = i.line;
  e.source = cta->launch->module->impl().location(i.loc);
  e.role = std::string(role);
  e.device = cta->launch->device->ordinal;
  e.cta = cta->ctaid;
  e.warp = int(index);
  e.lane = lane;
  signal |= SigStop;
  m->addError(std::move(e), true);
}

void Warp::block(WaitOn on) {
  if (m->observer && g->wait == WaitOn::None && on != WaitOn::Converge) {
    static constexpr std::string_view names[] = {
        "nothing", "other lanes", "barrier", "cluster barrier", "mbarrier", "cp.async group", "bulk group",
        "wgmma group", "tcgen05 wait", "tensor memory", "register pool", "grid dependency", "sleep", "warpgroup"};
    std::string why(names[size_t(on)]);
    if (on == WaitOn::Mbarrier)
      why += " " + std::to_string(g->waitAddress - cta->launch->device->target->sharedReserved);
    m->observer->blocked(ref(program->code[g->pc]), why);
  }
  g->wait = on;
  g->epoch = on == WaitOn::Converge ? changes : cta->cluster->epoch;
  g->canTimeout = false;
  signal |= SigBlocked;
}

bool Warp::converged(uint32_t need) {
  need &= live;
  if ((g->mask & need) == need)
    return true;
  block(WaitOn::Converge);
  return false;
}

void AsyncGroups::commit(uint32_t lanes) {
  Group g{lanes, {}};
  for (auto it = open.begin(); it != open.end();) {
    if (it->lanes & lanes)
      g.ops.push_back(it->op);
    it->lanes &= ~lanes;
    it = it->lanes ? std::next(it) : open.erase(it);
  }
  closed.push_back(std::move(g));
}

bool AsyncGroups::waited(uint32_t lanes, unsigned keep, bool reads, std::vector<uint64_t> *ops) {
  // Lanes that have been through the same groups need one look.
  bool uniform = true;
  for (const Group &g : closed)
    uniform &= (g.lanes & lanes) == lanes || (g.lanes & lanes) == 0;
  for (uint32_t m = lanes; m; m = uniform ? 0 : m & (m - 1)) {
    uint32_t bit = m & (0 - m);
    unsigned newer = 0;
    for (auto it = closed.rbegin(); it != closed.rend(); ++it) {
      if (!(it->lanes & bit))
        continue;
      if (newer++ < keep)
        continue;
      for (const AsyncRef &op : it->ops)
        if (!(reads ? op->readsDone : op->done))
          return false;
    }
  }
  if (ops) {
    // An observer learns of exactly the groups waited for, so that those which are done
    // and were not waited for stay in the list.
    unsigned newer[32] = {};
    for (auto it = closed.end(); it != closed.begin();) {
      --it;
      uint32_t known = 0;
      for (uint32_t m = lanes & it->lanes; m; m &= m - 1)
        if (newer[std::countr_zero(m)]++ >= keep)
          known |= m & (0 - m);
      if (!known)
        continue;
      for (const AsyncRef &op : it->ops)
        ops->push_back(op->id);
      if (!reads)
        it->lanes &= ~known;
    }
    closed.remove_if([](const Group &g) { return g.lanes == 0; });
    if (closed.size() < 256)
      return true;
  }
  prune();
  return true;
}

/// Forgets groups from the oldest on whose operations are all done.
void AsyncGroups::prune() {
  while (!closed.empty()) {
    for (const AsyncRef &op : closed.front().ops)
      if (!op->done)
        return;
    closed.pop_front();
  }
}

} // namespace heddle::emulator
