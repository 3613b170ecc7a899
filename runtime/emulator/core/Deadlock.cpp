//===- Deadlock.cpp - who waits for what when nothing can run ------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/core/Machine.h"
#include "runtime/emulator/ops/Lanes.h"

namespace heddle::emulator {

static std::string describeWait(const Warp &w, const Group &g) {
  const Cta &a = *w.cta;
  uint32_t reserved = a.launch->device->target->sharedReserved;
  switch (g.wait) {
  case WaitOn::None: return "is running";
  case WaitOn::Converge: {
    return "waits for lanes " + hex(w.live & ~g.mask) + " of its warp to reach the same instruction";
  }
  case WaitOn::Barrier: {
    const NamedBarrier &b = a.barriers[g.waitAddress & 15];
    std::string s = "waits at barrier " + std::to_string(g.waitAddress) + ": " + std::to_string(b.arrived) + " of " +
                    std::to_string(b.expected) + " threads have arrived";
    return s;
  }
  case WaitOn::ClusterBarrier:
    return "waits at the cluster barrier: " + std::to_string(a.cluster->barrierArrived) + " of " +
           std::to_string(a.cluster->threads - a.cluster->barrierExited) + " threads have arrived";
  case WaitOn::Mbarrier: {
    const Cta &owner = *a.cluster->ctas[g.waitOwner];
    std::string s = "waits for phase " + std::to_string(g.waitPhase & 1) + " of the mbarrier at shared offset " +
                    std::to_string(g.waitAddress - reserved);
    if (g.waitOwner != a.rank)
      s += " of block rank " + std::to_string(g.waitOwner);
    auto it = owner.mbarriers.find(g.waitAddress);
    if (it != owner.mbarriers.end())
      s += ": phase " + std::to_string(it->second.phase) + " lacks " + std::to_string(it->second.pending) + " of " +
           std::to_string(it->second.expected) + " arrivals and " + std::to_string(it->second.tx) + " bytes";
    return s;
  }
  case WaitOn::CpAsync: return "waits for its cp.async groups";
  case WaitOn::BulkGroup: return "waits for its bulk copy groups";
  case WaitOn::WgmmaGroup: return "waits for its wgmma groups (all four warps of the warpgroup must issue them)";
  case WaitOn::TcgenWait: return "waits for its tcgen05 loads or stores";
  case WaitOn::TensorMemory: return "waits for tensor memory that another warp must free";
  case WaitOn::RegisterPool:
    return "waits for the register pool: it holds " + std::to_string(a.registerPool) + " free registers, and the warp asks for " +
           std::to_string(g.token) + " more";
  case WaitOn::GridDependency: return "waits for the launch ahead to end";
  case WaitOn::Sleep: return "sleeps";
  case WaitOn::WarpgroupAllWarps: return "waits for the other warps of its warpgroup";
  }
  return "";
}

void MachineImpl::reportDeadlock(const char *headline) {
  bool pool = false;
  unsigned stuck = 0;
  std::vector<Error> list;
  eachCluster([&](Cluster &c) {
    for (auto &cta : c.ctas)
      for (Warp &w : cta->warps) {
        if (!w.live)
          continue;
        ++stuck;
        for (Group &g : w.groups) {
          pool |= g.wait == WaitOn::RegisterPool;
          if (list.size() + 1 >= options.limits.maxErrors)
            continue;
          const Instr &i = w.program->code[g.pc];
          Error e;
          e.kind = ErrorKind::Deadlock;
          e.message = (g.mask == w.live ? std::string("the warp ") : "lanes " + hex(g.mask) + " of the warp ") +
                      (g.wait == WaitOn::None ? "polls" : describeWait(w, g)) + " in '" +
                      w.program->names[i.name].substr(0, 100) + "'";
          e.line = i.line;
          e.source = c.launch->module->impl().location(i.loc);
          e.role = std::string(w.role);
          e.device = c.launch->device->ordinal;
          e.cta = cta->ctaid;
          e.warp = int(w.index);
          list.push_back(std::move(e));
        }
      }
  });
  Error head;
  head.kind = ErrorKind::Deadlock;
  head.message = std::string(headline) + "; " + std::to_string(stuck) + " warps are stuck" +
                 (pool ? ", some of them on the register pool (setmaxnreg asks for more than is released)" : "");
  addError(std::move(head), true);
  for (Error &e : list)
    addError(std::move(e), true);
}

} // namespace heddle::emulator
