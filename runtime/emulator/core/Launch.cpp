//===- Launch.cpp - launches: checks, residency, blocks and their end ----===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/core/Machine.h"
#include "runtime/emulator/ops/Lanes.h"

#include <algorithm>

namespace heddle::emulator {

namespace {
Error launchError(const std::string &message) {
  Error e;
  e.kind = ErrorKind::Launch;
  e.message = message;
  return e;
}
std::string text(Dim3 d) {
  return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
}
std::string num(uint64_t v) { return std::to_string(v); }
} // namespace

const std::vector<uint64_t> *DeviceImpl::load(const std::shared_ptr<const Module> &module) {
  for (Loaded &l : loaded)
    if (l.module == module)
      return &l.addresses;
  const Ast &ast = module->impl().ast;
  Loaded l{module, std::vector<uint64_t>(ast.variables.size())};
  for (size_t n = 0; n < ast.variables.size(); ++n) {
    const Variable &v = ast.variables[n];
    if ((v.space != VarSpace::Global && v.space != VarSpace::Const) || v.bytes == 0)
      continue;
    l.addresses[n] = allocate(v.bytes, nullptr, false);
    if (!l.addresses[n])
      return nullptr;
    if (!v.init.empty())
      std::memcpy(m->find(l.addresses[n])->host, v.init.data(), v.init.size());
  }
  for (size_t n = 0; n < ast.variables.size(); ++n)
    for (const Variable::Reloc &r : ast.variables[n].relocs)
      if (l.addresses[n]) {
        uint64_t value = l.addresses[r.variable] + uint64_t(r.addend);
        std::memcpy(m->find(l.addresses[n])->host + r.offset, &value, 8);
      }
  loaded.push_back(std::move(l));
  return &loaded.back().addresses;
}

LaunchId Device::enqueue(const std::shared_ptr<const Module> &module, std::string_view entry, LaunchConfig config,
                         Error *error) {
  DeviceImpl &d = *impl_;
  const target::Target &t = *d.target;
  auto fail = [&](const std::string &message) -> LaunchId {
    *error = launchError(message + " (entry '" + std::string(entry) + "')");
    error->device = d.ordinal;
    return 0;
  };
  const EntryInfo *info = module ? module->entry(entry) : nullptr;
  if (!info)
    return fail("the module has no such entry");
  if (&module->target() != &t && module->target().name != t.name)
    return fail("expected a module for " + std::string(t.name) + ", got one for " + std::string(module->target().name));
  auto l = std::make_unique<Launch>();
  size_t index = size_t(info - module->entries().data());
  l->program = module->impl().programs[index].get();
  l->module = module;
  l->device = &d;
  Dim3 g = config.grid, b = config.block, c = config.cluster;
  if (c.x == 0)
    c = info->cluster.x ? info->cluster : Dim3{1, 1, 1};
  else if (info->cluster.x && (c.x != info->cluster.x || c.y != info->cluster.y || c.z != info->cluster.z))
    return fail("expected the cluster " + text(info->cluster) + " of the entry, got " + text(c));
  if (g.x == 0 || g.y == 0 || g.z == 0 || g.x > 0x7fffffffu || g.y > 65535 || g.z > 65535)
    return fail("expected a grid of at most (2147483647,65535,65535), got " + text(g));
  if (b.x == 0 || b.y == 0 || b.z == 0 || b.x > 1024 || b.y > 1024 || b.z > 64 || b.volume() > t.maxThreadsPerBlock)
    return fail("expected a block of 1 to " + num(t.maxThreadsPerBlock) + " threads, got " + text(b));
  if (info->reqntid.x && (b.x != info->reqntid.x || b.y != info->reqntid.y || b.z != info->reqntid.z))
    return fail("expected the block " + text(info->reqntid) + " of .reqntid, got " + text(b));
  if (info->maxntid.x && b.volume() > info->maxntid.volume())
    return fail("expected a block of at most " + num(info->maxntid.volume()) + " threads (.maxntid), got " + num(b.volume()));
  if (c.volume() > 1 && !t.has(target::Feature::Clusters))
    return fail("target " + std::string(t.name) + " has no clusters");
  if (c.volume() > 16)
    return fail("expected a cluster of at most 16 blocks, got " + num(c.volume()));
  if (c.y == 0 || c.z == 0 || g.x % c.x || g.y % c.y || g.z % c.z)
    return fail("expected the grid " + text(g) + " to be a multiple of the cluster " + text(c));
  if (config.params.size() != info->paramBytes)
    return fail("expected " + num(info->paramBytes) + " bytes of parameters, got " + num(config.params.size()));
  l->dynamicOffset = t.sharedReserved + info->staticShared;
  l->dynamicOffset = (l->dynamicOffset + l->program->dynamicAlign - 1) / l->program->dynamicAlign * l->program->dynamicAlign;
  uint64_t shared = uint64_t(l->dynamicOffset) - t.sharedReserved + config.dynamicShared;
  if (shared > t.sharedPerBlock)
    return fail("expected at most " + num(t.sharedPerBlock) + " bytes of shared memory, got " + num(shared));
  l->sharedBytes = uint32_t(t.sharedReserved + shared);
  l->threads = unsigned(b.volume());
  l->warps = (l->threads + 31) / 32;
  for (const Role &r : config.roles)
    if (r.firstWarp + r.warps > l->warps)
      return fail("role '" + r.name + "' names warps past the last of " + num(l->warps));
  unsigned ctas = std::max(1u, info->minCtasPerSM);
  unsigned most = t.registersPerSM / (l->warps * 32 * ctas) / t.registerUnit * t.registerUnit;
  if (t.registerUnit > 8) // a unit is registers a warp
    most = t.registersPerSM / (l->warps * 32 * ctas) / (t.registerUnit / 32) * (t.registerUnit / 32);
  l->registers = config.registersPerThread ? config.registersPerThread : std::min(most, t.maxRegistersPerThread);
  if (!config.registersPerThread && info->maxRegisters)
    l->registers = std::min(l->registers, info->maxRegisters);
  if (l->registers == 0 || uint64_t(l->registers) * l->warps * 32 > t.registersPerSM)
    return fail("the block needs more than the " + num(t.registersPerSM) + " registers of a multiprocessor");
  unsigned perSM = std::min({t.maxBlocksPerSM, std::max(1u, t.maxWarpsPerSM / l->warps),
                             std::max(1u, t.sharedPerSM / std::max(1u, l->sharedBytes)),
                             std::max(1u, t.registersPerSM / (std::max(1u, config.registersPerThread ? l->registers : 32u) * l->warps * 32))});
  l->residentLimit = d.smCount * std::max(1u, perSM);
  if (c.volume() > l->residentLimit)
    return fail("a cluster of " + num(c.volume()) + " blocks does not fit the device");
  l->cluster = c;
  l->clusters = {g.x / c.x, g.y / c.y, g.z / c.z};
  l->totalClusters = l->clusters.volume();
  l->totalCtas = g.volume();
  const std::vector<uint64_t> *addresses = d.load(module);
  if (!addresses)
    return fail("the module's variables do not fit the memory limit");
  l->consts = l->program->consts;
  for (const Program::Reloc &r : l->program->relocs) {
    uint64_t v = (*addresses)[r.variable] + uint64_t(r.addend);
    for (int k = 0; k < 32; ++k)
      std::memcpy(&l->consts[r.word + 2 * size_t(k)], &v, 8);
  }
  l->config = std::move(config);
  l->id = d.m->nextLaunch++;
  l->previous = d.queue.empty() ? nullptr : d.queue.back().get();
  LaunchId id = l->id;
  if (d.m->nextLaunch == id + 1 && d.queue.empty()) {
    bool idle = true;
    for (auto &other : d.m->devices)
      idle &= other->impl().queue.empty();
    if (idle) { // a fresh start: choices depend on the seed alone
      d.m->rng.seed(d.m->options.seed);
      Schedule s = d.m->options.schedule;
      if (s == Schedule::BySeed) {
        static constexpr Schedule all[] = {Schedule::RoundRobin, Schedule::Random, Schedule::LateAsync};
        s = d.m->options.seed == 0 ? Schedule::RoundRobin : all[d.m->rng.below(3)];
      }
      d.m->schedule = s;
    }
  }
  d.queue.push_back(std::move(l));
  return id;
}

uint64_t MachineImpl::clusterBytes(const Launch &l) {
  uint64_t warp = l.program->regWords * 4ull + l.program->preds * 4ull + l.program->localBytes * 32ull + sizeof(Warp);
  return (l.sharedBytes * 2ull + l.warps * warp) * l.cluster.volume();
}

bool MachineImpl::admit() {
  bool any = false;
  for (auto &device : devices) {
    DeviceImpl &d = device->impl();
    double used = 0;
    const Launch *ahead = nullptr;
    for (auto &lp : d.queue) {
      Launch &l = *lp;
      bool may = !ahead || (l.config.programmaticDependent && ahead->nextCluster == ahead->totalClusters &&
                            ahead->launchDependents >= ahead->totalCtas);
      if (!may)
        break;
      l.started = true;
      used += double(l.resident.size() * l.cluster.volume()) / l.residentLimit;
      double share = double(l.cluster.volume()) / l.residentLimit;
      while (!failed && l.nextCluster < l.totalClusters && used + share <= 1.0000001) {
        startCluster(l);
        used += share;
        any = true;
      }
      ahead = &l;
    }
  }
  return any;
}

void MachineImpl::startCluster(Launch &l) {
  uint64_t bytes = clusterBytes(l);
  if (!takeMemory(bytes)) {
    Error e;
    e.kind = ErrorKind::Limit;
    e.message = "the blocks of '" + l.program->entry + "' need more than the memory limit of " +
                std::to_string(options.limits.maxMemory) + " bytes";
    addError(std::move(e), true);
    return;
  }
  l.resident.push_back(makeCluster(l, l.nextCluster++));
  if (observer)
    for (auto &a : l.resident.back()->ctas)
      observer->ctaStart(a->warps[0].ref(l.program->code[0]), l.warps);
}

std::unique_ptr<Cluster> MachineImpl::makeCluster(Launch &l, uint64_t n) {
  auto cp = std::make_unique<Cluster>();
  Cluster &c = *cp;
  c.id = nextCluster++;
  c.launch = &l;
  Dim3 base{uint32_t(n % l.clusters.x) * l.cluster.x, uint32_t(n / l.clusters.x % l.clusters.y) * l.cluster.y,
            uint32_t(n / l.clusters.x / l.clusters.y) * l.cluster.z};
  for (unsigned rank = 0; rank < l.cluster.volume(); ++rank) {
    auto ctap = std::make_unique<Cta>();
    Cta &a = *ctap;
    a.id = nextCta++;
    a.rank = rank;
    a.ctaid = {base.x + rank % l.cluster.x, base.y + rank / l.cluster.x % l.cluster.y,
               base.z + rank / l.cluster.x / l.cluster.y};
    a.cluster = &c;
    a.launch = &l;
    a.m = this;
    a.sm = unsigned((n * l.cluster.volume() + rank) % l.device->smCount);
    a.shared.assign(l.sharedBytes, 0xcd);
    if (options.checkUninitialisedShared)
      a.written.assign(l.sharedBytes, 0);
    a.threads = l.threads;
    a.warps = std::vector<Warp>(l.warps);
    a.liveWarps = l.warps;
    a.warpgroups.resize((l.warps + 3) / 4);
    for (unsigned k = 0; k < l.warps; ++k) {
      Warp &w = a.warps[k];
      w.cta = &a;
      w.m = this;
      w.index = k;
      w.program = l.program;
      w.regs.assign(l.program->regWords + 32, 0x7fc0dead);
      w.preds.assign(l.program->preds, 0);
      w.local.assign(size_t(l.program->localBytes) * 32, 0);
      w.bases[0] = w.regs.data();
      w.bases[1] = l.consts.data();
      w.bases[2] = w.preds.data();
      unsigned lanes = std::min(32u, l.threads - k * 32);
      w.live = lanes == 32 ? ~0u : (1u << lanes) - 1;
      w.groups.emplace_back();
      w.groups.back().mask = w.live;
      w.registers = l.registers;
      w.clockStart = instructions;
      for (const Role &r : l.config.roles)
        if (k >= r.firstWarp && k < r.firstWarp + r.warps)
          w.role = r.name;
    }
    c.threads += l.threads;
    c.liveWarps += l.warps;
    c.ctas.push_back(std::move(ctap));
  }
  c.liveCtas = unsigned(c.ctas.size());
  return cp;
}

void MachineImpl::retire(Launch &l, std::list<std::unique_ptr<Cluster>>::iterator &it) {
  memoryUsed -= clusterBytes(l);
  it = l.resident.erase(it);
  ++l.doneClusters;
  noteProgress();
  if (l.nextCluster == l.totalClusters && l.resident.empty()) {
    l.complete = true;
    for (auto &other : l.device->queue) {
      if (other->previous == &l)
        other->previous = nullptr;
      for (auto &c : other->resident)
        c->bump();
    }
  }
}

/// Lanes leave the kernel for good.
void exitLanes(Warp &w, uint32_t lanes) {
  MachineImpl &m = *w.m;
  Cta &a = *w.cta;
  Cluster &c = *a.cluster;
  Group *g = w.g;
  const Instr &i = w.program->code[g->pc];
  g->mask &= ~lanes;
  w.live &= ~lanes;
  ++w.changes;
  w.signal |= SigRepick;
  c.barrierExited += unsigned(std::popcount(lanes));
  if (!g->mask)
    w.groups.remove_if([&](const Group &x) { return &x == g; });
  else
    g->pc = w.next;
  if (w.clusterToken == c.barrierGeneration)
    c.barrierBoth += unsigned(std::popcount(lanes & w.clusterArrived));
  c.bump();
  c.tryCompleteBarrier();
  if (w.live)
    return;
  m.noteProgress();
  if (m.observer)
    m.observer->warpEnd(w.ref(i));
  --c.liveWarps;
  if (--a.liveWarps)
    return;
  for (const AsyncRef &op : c.async) {
    bool mine = op->cta == &a;
    bool touches = (op->writesShared >> a.rank & 1) || ((op->readsShared >> a.rank & 1) && !op->readsDone);
    if (touches && !op->done) {
      Error e;
      e.kind = ErrorKind::Barrier;
      e.message = std::string("the block exits while an asynchronous operation on its shared memory, issued at line ") +
                  std::to_string(op->at.line) + (mine ? "" : " by another block") + ", is in flight";
      e.line = i.line;
      e.source = a.launch->module->impl().location(i.loc);
      e.device = a.launch->device->ordinal;
      e.cta = a.ctaid;
      e.role = std::string(op->at.role);
      m.addError(std::move(e), true);
      w.signal |= SigStop;
      return;
    }
  }
  if (std::any_of(a.tmemUsed.begin(), a.tmemUsed.end(), [](uint8_t u) { return u != 0; })) {
    w.fail(i, ErrorKind::Barrier, "the block exits without deallocating its tensor memory");
    return;
  }
  a.exited = true;
  --c.liveCtas;
  if (a.launch->launchDependents < a.launch->totalCtas && !a.allowedDependents)
    ++a.launch->launchDependents;
  if (m.observer)
    m.observer->ctaEnd(w.ref(i));
}

} // namespace heddle::emulator
