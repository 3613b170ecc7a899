//===- Machine.cpp - warps, groups and asynchronous operations in turn ---===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/core/Machine.h"

#include <algorithm>

namespace heddle::emulator {

void MachineImpl::addError(Error error, bool stop) {
  if (stop)
    failed = true;
  if (report.errors.size() < options.limits.maxErrors)
    report.errors.push_back(std::move(error));
}

bool MachineImpl::takeMemory(uint64_t bytes) {
  if (options.limits.maxMemory && memoryUsed + bytes > options.limits.maxMemory)
    return false;
  memoryUsed += bytes;
  return true;
}

void MachineImpl::submit(Cluster &cluster, AsyncRef op) {
  op->id = nextOp++;
  if (observer) {
    AsyncEvent e;
    e.at = op->at;
    e.lanes = op->lanes;
    e.op = op->id;
    e.kind = op->kind;
    observer->asyncIssue(e);
  }
  cluster.async.push_back(std::move(op));
}

void MachineImpl::finish(Cluster &cluster, AsyncOp &op) {
  op.done = op.readsDone = true;
  op.after.reset(); // or the chain would grow without end
  cluster.bump();
  noteProgress();
  if (observer) {
    AsyncEvent e;
    e.at = op.at;
    e.lanes = op.lanes;
    e.op = op.id;
    e.kind = op.kind;
    observer->asyncComplete(e, false);
  }
}

static bool runnable(const MachineImpl &m, const Warp &w, const Group &g) {
  switch (g.wait) {
  case WaitOn::None: return true;
  case WaitOn::Converge: return g.epoch != w.changes;
  case WaitOn::Sleep: return m.time >= g.wakeAt;
  default: return g.timedOut || g.epoch != w.cta->cluster->epoch;
  }
}

static bool earlier(const Program &p, const Group &a, const Group &b) {
  for (size_t n = 0;; ++n) {
    uint32_t ra = n < a.stack.size() ? p.rank[a.stack[n] - 1] : p.rank[a.pc];
    uint32_t rb = n < b.stack.size() ? p.rank[b.stack[n] - 1] : p.rank[b.pc];
    if (ra != rb)
      return ra < rb;
    if (n >= a.stack.size() || n >= b.stack.size())
      return a.stack.size() > b.stack.size();
  }
}

Group *MachineImpl::pick(Warp &w) {
  if (w.groups.size() == 1) {
    Group &g = w.groups.front();
    return runnable(*this, w, g) ? &g : nullptr;
  }
  for (auto a = w.groups.begin(); a != w.groups.end(); ++a) { // meet again
    for (auto b = std::next(a); b != w.groups.end();) {
      bool plain = !a->arrived && !b->arrived && a->wait != WaitOn::Sleep && b->wait != WaitOn::Sleep;
      if (plain && a->pc == b->pc && a->stack == b->stack) {
        a->mask |= b->mask;
        a->wait = WaitOn::None;
        a->timedOut |= b->timedOut;
        b = w.groups.erase(b);
        ++w.changes;
      } else {
        ++b;
      }
    }
  }
  Group *best = nullptr;
  unsigned ready = 0;
  for (Group &g : w.groups)
    if (runnable(*this, w, g)) {
      ++ready;
      if (!best || earlier(*w.program, g, *best))
        best = &g;
    }
  if (ready < 2) {
    w.slice = 0;
    return best;
  }
  // Now and then another group runs although the earliest one could, so that
  // lanes that spin do not starve the lanes they wait for.
  uint64_t window = w.slice / 1024;
  if (window % 2 == 1 || (schedule == Schedule::Random && rng.below(8) == 0)) {
    unsigned n = unsigned(window / 2 % (ready - 1));
    for (Group &g : w.groups)
      if (&g != best && runnable(*this, w, g) && n-- == 0)
        return &g;
  }
  return best;
}

uint64_t MachineImpl::runWarp(Warp &w, uint64_t quantum) {
  const Instr *code = w.program->code.data();
  uint64_t ran = 0;
  uint64_t lanes = 0;
  const bool trace = observer && observer->wantsInstructions();
  w.allBlocked = false;
  while (ran < quantum) {
    Group *g = pick(w);
    if (!g) {
      w.allBlocked = true;
      w.blockedEpoch = w.cta->cluster->epoch;
      break;
    }
    if (observer && g->wait != WaitOn::None && g->wait != WaitOn::Converge)
      observer->resumed(w.ref(code[g->pc]));
    g->wait = WaitOn::None;
    w.g = g;
    const bool several = w.groups.size() > 1;
    uint64_t before = ran;
    w.signal = SigNone;
    do {
      const Instr &i = code[g->pc];
      uint32_t mask = g->mask;
      if (i.flags & HasPred) {
        uint32_t p = w.bases[2][i.pred.offset()];
        mask &= i.flags & PredNeg ? ~p : p;
      }
      if (mask) {
        if ((i.flags & Aligned) && (g->mask != w.live || mask != g->mask)) {
          if (mask != g->mask) {
            w.exec = mask;
            w.fail(i, ErrorKind::Convergence, "the predicate differs between lanes that must execute this together");
            return ran;
          }
          w.exec = mask;
          if (!w.converged(w.live))
            break;
        }
        if (trace) {
          observer->instruction(w.ref(i), mask);
          if (failed)
            return ran;
        }
        w.exec = mask;
        if ((i.flags & TouchesAsync) && !touchRegisters(w, i)) [[unlikely]]
          return ran;
        w.next = g->pc + 1;
        i.fn(w, i);
        if (w.signal & (SigBlocked | SigStop)) [[unlikely]]
          break;
        lanes += unsigned(std::popcount(mask));
        if (w.signal & SigRepick) {
          ++ran;
          break;
        }
        g->pc = w.next;
        ++ran;
        if (w.signal) [[unlikely]]
          break;
      } else {
        ++g->pc;
        ++ran;
      }
    } while (ran < quantum && !(several && (code[g->pc].flags & Leader)));
    if (w.signal & SigStop)
      break;
    if (several)
      w.slice += ran - before;
    if (w.groups.empty() || (w.signal & SigYield))
      break;
  }
  instructions += ran;
  time += ran;
  w.cta->launch->instructions += ran;
  report.stats.warpInstructions += ran;
  report.stats.threadInstructions += lanes;
  return ran;
}

bool MachineImpl::stepAsync(Cluster &c) {
  if (c.async.empty())
    return false;
  const bool inOrder = schedule == Schedule::RoundRobin;
  size_t n = inOrder ? 0 : rng.below(uint32_t(c.async.size()));
  for (size_t tried = 0; tried < c.async.size(); ++tried, n = n + 1 < c.async.size() ? n + 1 : 0) {
    if (!c.async[n]->ready())
      continue;
    AsyncRef op = c.async[n];
    if (op->step(*this)) {
      if (!op->done)
        finish(c, *op);
      if (inOrder) {
        c.async.erase(c.async.begin() + ptrdiff_t(n));
      } else {
        c.async[n] = std::move(c.async.back());
        c.async.pop_back();
      }
    }
    return true;
  }
  return false;
}

bool MachineImpl::slice(Cluster &c, uint64_t &used) {
  bool any = false;
  unsigned rounds = schedule == Schedule::Random ? 1 + rng.below(8) : 4;
  for (unsigned r = 0; r < rounds && c.liveWarps; ++r) {
    bool ran = false;
    size_t warpsRan = 0;
    const uint64_t pollsBefore = polls, progressBefore = progress;
    size_t perCta = c.ctas[0]->warps.size(), total = perCta * c.ctas.size();
    size_t start = schedule == Schedule::Random ? rng.below(uint32_t(total)) : c.nextWarp++ % total;
    for (size_t k = 0; k < total; ++k) {
      size_t at = start + k < total ? start + k : start + k - total;
      Warp &w = c.ctas[at / perCta]->warps[at % perCta];
      if (!w.live)
        continue;
      if (w.allBlocked && w.blockedEpoch == c.epoch) {
        bool wake = false;
        for (const Group &g : w.groups)
          wake |= g.timedOut || (g.wait == WaitOn::Sleep && time >= g.wakeAt);
        if (!wake)
          continue;
      }
      uint64_t n = runWarp(w, schedule == Schedule::Random ? 1 + rng.below(160) : 128);
      used += n;
      ran |= n != 0;
      warpsRan += n != 0;
      if (failed)
        return true;
    }
    any |= ran;
    size_t steps = 0;
    switch (schedule) {
    case Schedule::LateAsync: { // nothing moves while a warp does more than poll
      const bool polled = progress == progressBefore && polls - pollsBefore >= warpsRan;
      steps = ran && !polled ? 0 : 1;
      break;
    }
    case Schedule::Random: steps = rng.below(uint32_t(c.async.size()) + 1) + (ran ? 0 : 1); break;
    default: steps = 1 + c.async.size() / 2; break;
    }
    bool moved = false;
    while (steps-- && stepAsync(c)) {
      moved = true;
      if (failed)
        return true;
    }
    any |= moved;
    if (!ran && !moved)
      break;
  }
  if (!c.liveWarps)
    while (!c.async.empty() && stepAsync(c)) {
      any = true;
      if (failed)
        return true;
    }
  return any;
}

bool MachineImpl::overLimits() {
  const Limits &l = options.limits;
  Error e;
  e.kind = ErrorKind::Limit;
  if (l.maxInstructions)
    for (auto &d : root->devices)
      for (auto &launch : d->impl().queue)
        if (launch->instructions > l.maxInstructions) {
          e.message = "the launch of '" + launch->program->entry + "' executed more than the limit of " +
                      std::to_string(l.maxInstructions) + " warp instructions";
          e.device = d->ordinal();
          addError(std::move(e), true);
          return true;
        }
  if (l.maxSeconds > 0) {
    double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
    if (s > l.maxSeconds) {
      e.message = "the run took longer than the limit of " + std::to_string(l.maxSeconds) + " s";
      addError(std::move(e), true);
      return true;
    }
  }
  return false;
}

RunState MachineImpl::run(uint64_t budget) {
  started_ = std::chrono::steady_clock::now();
  uint64_t used = 0;
  polls = 0;
  if (!budget && !failed)
    if (Launch *l = independentLaunch())
      runShards(*l);
  for (;;) {
    bool any = !failed && admit();
    bool work = false;
    for (size_t n = 0; n < devices.size() && !failed; ++n) {
      DeviceImpl &d = devices[n]->impl();
      for (auto li = d.queue.begin(); li != d.queue.end() && !failed; ++li) {
        Launch &l = **li;
        work |= !l.complete;
        size_t skip = schedule == Schedule::Random ? rng.below(uint32_t(l.resident.size())) : 0;
        auto it = std::next(l.resident.begin(), ptrdiff_t(skip));
        for (size_t k = l.resident.size(); k > 0 && !failed && !l.resident.empty(); --k) {
          if (it == l.resident.end())
            it = l.resident.begin();
          any |= slice(**it, used);
          if (!failed && !(*it)->liveWarps && (*it)->async.empty()) {
            retire(l, it);
            any = true;
          } else {
            ++it;
          }
        }
      }
      d.queue.remove_if([](const std::unique_ptr<Launch> &l) { return l->complete; });
    }
    if (failed || overLimits()) {
      dropAll();
      return RunState::Failed;
    }
    if (!work)
      return RunState::Done;
    if (budget && used >= budget)
      return RunState::Budget;
    if (options.externalAgents) {
      followRealTime();
      if (any && polls <= 10000)
        continue;
      uint64_t wake;
      suspended(wake); // lets waits with a limit return false in the next run
      return RunState::Idle;
    }
    if (any && polls <= 200000)
      continue;
    if (!wakeIdle()) {
      dropAll();
      return RunState::Failed;
    }
  }
}

void MachineImpl::dropAll() {
  for (auto &d : devices) {
    for (auto &l : d->impl().queue)
      memoryUsed -= clusterBytes(*l) * l->resident.size();
    d->impl().queue.clear();
  }
}

/// With agents outside, deadlines mean real time.
void MachineImpl::followRealTime() {
  auto passed = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - born_);
  time = std::max(time, uint64_t(1'000'000'000) + uint64_t(passed.count()));
}

bool MachineImpl::suspended(uint64_t &wake) {
  bool waiting = false;
  wake = ~uint64_t(0);
  eachCluster([&](Cluster &c) {
    for (auto &cta : c.ctas)
      for (Warp &w : cta->warps)
        for (Group &g : w.groups) {
          if (g.wait == WaitOn::Sleep) {
            waiting = true;
            wake = std::min(wake, g.wakeAt);
          } else if (g.wait != WaitOn::None && g.canTimeout) {
            waiting = true;
            g.timedOut = true;
          }
        }
  });
  return waiting;
}

/// Nothing moved: lets virtual time pass until a sleep or a suspended wait ends. When
/// that has been done a few times and nothing came of it, the launch is stuck.
bool MachineImpl::wakeIdle() {
  if (progress != idleProgress_) {
    idleProgress_ = progress;
    idleRounds_ = 0;
    idleJump_ = 1000;
    idleTimeReads_ = timeReads;
  }
  ++idleRounds_;
  const bool polling = polls > 200000;
  // Code that reads the clock may act when a deadline passes: give it 2^40 ns.
  unsigned patience = timeReads != idleTimeReads_ ? 41 : 8;
  uint64_t wake;
  const bool waiting = suspended(wake) || polling;
  if (!waiting || idleRounds_ > patience) {
    reportDeadlock(polling ? "threads poll memory that nothing will change" : "no warp can run and nothing is in flight");
    return false;
  }
  time += idleJump_;
  idleJump_ *= 2;
  if (wake != ~uint64_t(0))
    time = std::max(time, wake);
  polls = polling ? 190000 : 0;
  return true;
}

} // namespace heddle::emulator
