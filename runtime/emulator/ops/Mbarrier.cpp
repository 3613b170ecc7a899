//===- Mbarrier.cpp - mbarrier objects and instructions ------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state of an mbarrier is kept beside shared memory, so that every misuse shows:
// operations on memory without a live mbarrier, writes over one, counts that do not
// fit, a second initialisation without inval. A state token is
// (phase << 32 | pending arrivals).
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/core/Decoder.h"
#include "runtime/emulator/ops/Lanes.h"

namespace heddle::emulator {

static constexpr uint32_t maxCount = (1u << 20) - 1;
static constexpr int64_t maxTx = (1 << 20) - 1;

static uint32_t shown(const Warp &w, uint32_t offset) { return offset - w.cta->launch->device->target->sharedReserved; }

static void observe(MachineImpl &m, const WarpRef &at, uint32_t lanes, uint64_t op, const Instr *i, SyncKind kind,
                    const Cta &owner, uint32_t offset, uint64_t count, uint64_t phase) {
  if (!m.observer)
    return;
  SyncEvent e;
  e.at = at;
  e.lanes = lanes;
  e.op = op;
  e.kind = kind;
  e.owner = owner.id;
  e.address = offset;
  e.count = count;
  e.phase = phase;
  if (i && i->sem != Sem::Weak)
    e.sem = i->sem;
  if (i && i->scope != Scope::None)
    e.scope = i->scope;
  m.observer->sync(e);
}

Mbarrier *findMbarrier(Warp &w, const Instr &i, int lane, unsigned rank, uint32_t offset) {
  Cta &owner = *w.cta->cluster->ctas[rank];
  if (offset % 8) {
    w.fail(i, ErrorKind::Misaligned, "expected an mbarrier at a multiple of 8, got shared offset " + std::to_string(shown(w, offset)), lane);
    return nullptr;
  }
  auto it = owner.mbarriers.find(offset);
  if (it == owner.mbarriers.end()) {
    w.fail(i, ErrorKind::Barrier, "there is no initialised mbarrier at shared offset " + std::to_string(shown(w, offset)) +
                                      (rank != w.cta->rank ? " of block rank " + std::to_string(rank) : ""), lane);
    return nullptr;
  }
  return &it->second;
}

/// Completes the phase when nothing is pending.
static void settle(MachineImpl &m, Cta &owner, uint32_t offset, Mbarrier &b, const WarpRef &at) {
  m.noteProgress();
  if (b.pending || b.tx)
    return;
  observe(m, at, 0, 0, nullptr, SyncKind::MbarPhase, owner, offset, b.expected, b.phase);
  ++b.phase;
  b.expected = b.pending = b.next;
  owner.cluster->bump();
}

void mbarrierComplete(MachineImpl &m, const AsyncOp &op, unsigned rank, uint32_t offset, uint32_t bytes) {
  Cta &owner = *op.cta->cluster->ctas[rank];
  uint32_t reserved = op.cta->launch->device->target->sharedReserved;
  if (owner.exited)
    return failAsync(m, op, ErrorKind::Barrier, "bytes arrive at an mbarrier of block rank " + std::to_string(rank) + ", which has exited");
  auto it = owner.mbarriers.find(offset);
  if (it == owner.mbarriers.end())
    return failAsync(m, op, ErrorKind::Barrier, "bytes arrive at shared offset " + std::to_string(offset - reserved) + ", where no mbarrier is initialised");
  Mbarrier &b = it->second;
  b.tx -= bytes;
  if (b.tx < -maxTx)
    return failAsync(m, op, ErrorKind::Barrier, "the pending bytes of the mbarrier at shared offset " + std::to_string(offset - reserved) + " fall below " + std::to_string(-maxTx));
  observe(m, op.at, 0, op.id, nullptr, SyncKind::MbarCompleteTx, owner, offset, bytes, b.phase);
  settle(m, owner, offset, b, op.at);
}

void mbarrierAsyncArrive(MachineImpl &m, const AsyncOp &op, unsigned rank, uint32_t offset, uint32_t count) {
  Cta &owner = *op.cta->cluster->ctas[rank];
  uint32_t reserved = op.cta->launch->device->target->sharedReserved;
  if (owner.exited)
    return failAsync(m, op, ErrorKind::Barrier, "an asynchronous arrival at an mbarrier of block rank " + std::to_string(rank) + ", which has exited");
  auto it = owner.mbarriers.find(offset);
  if (it == owner.mbarriers.end())
    return failAsync(m, op, ErrorKind::Barrier, "an asynchronous arrival at shared offset " + std::to_string(offset - reserved) + ", where no mbarrier is initialised");
  Mbarrier &b = it->second;
  if (count > b.pending)
    return failAsync(m, op, ErrorKind::Barrier, "the mbarrier at shared offset " + std::to_string(offset - reserved) + " expects " + std::to_string(b.pending) + " more arrivals in this phase, got " + std::to_string(count));
  observe(m, op.at, 0, op.id, nullptr, SyncKind::MbarArrive, owner, offset, count, b.phase);
  b.pending -= count;
  settle(m, owner, offset, b, op.at);
}

namespace {
/// i.sub
enum Kind : uint8_t { Init, Inval, Arrive, Drop, ExpectTx, CompleteTx, Test, Try };
/// i.mode bits
enum : uint8_t { WithTx = 1, NoComplete = 2, Parity = 4, Returns = 8, Remote = 16 };

bool target(Warp &w, const Instr &i, int l, const uint64_t *address, unsigned &rank, uint32_t &offset) {
  return sharedAddress(w, i, l, i.space, address[l], rank, offset);
}

bool inBounds(Warp &w, const Instr &i, int l, Cta &owner, uint32_t offset) {
  uint32_t reserved = w.cta->launch->device->target->sharedReserved;
  if (offset % 8) {
    w.fail(i, ErrorKind::Misaligned, "expected an mbarrier at a multiple of 8, got shared offset " + std::to_string(shown(w, offset)), l);
    return false;
  }
  if (offset < reserved || offset + 8 > owner.shared.size()) {
    w.fail(i, ErrorKind::OutOfBounds, "mbarrier at shared offset " + std::to_string(int64_t(offset) - int64_t(reserved)) + ", the block has " + std::to_string(owner.shared.size() - reserved) + " bytes", l);
    return false;
  }
  return true;
}

void execInit(Warp &w, const Instr &i) {
  uint64_t address[32];
  laneAddresses(w, i, address);
  const uint32_t *count = lanes32(w, i.b);
  for (uint32_t m = w.exec; m; m &= m - 1) {
    int l = std::countr_zero(m);
    unsigned rank;
    uint32_t offset;
    if (!target(w, i, l, address, rank, offset))
      return;
    Cta &owner = *w.cta->cluster->ctas[rank];
    if (rank != w.cta->rank)
      return w.fail(i, ErrorKind::Barrier, "an mbarrier of another block cannot be initialised", l);
    if (!inBounds(w, i, l, owner, offset))
      return;
    auto it = owner.mbarriers.find(offset);
    if (i.sub == Inval) {
      if (it == owner.mbarriers.end())
        return w.fail(i, ErrorKind::Barrier, "there is no initialised mbarrier at shared offset " + std::to_string(shown(w, offset)), l);
      observe(*w.m, w.ref(i), 1u << l, 0, &i, SyncKind::MbarInval, owner, offset, 0, it->second.phase);
      owner.mbarriers.erase(it);
      if (!owner.written.empty())
        std::memset(owner.written.data() + offset, 0, 8);
      continue;
    }
    if (it != owner.mbarriers.end())
      return w.fail(i, ErrorKind::Barrier, "the mbarrier at shared offset " + std::to_string(shown(w, offset)) + " is initialised already", l);
    if (count[l] == 0 || count[l] > maxCount)
      return w.fail(i, ErrorKind::Operand, "expected a count of 1 to " + std::to_string(maxCount) + ", got " + std::to_string(count[l]), l);
    owner.mbarriers[offset] = {count[l], count[l], count[l], 0, 0};
    owner.mbarLow = std::min(owner.mbarLow, offset);
    owner.mbarHigh = std::max(owner.mbarHigh, offset + 8);
    owner.markWritten(offset, 8);
    observe(*w.m, w.ref(i), 1u << l, 0, &i, SyncKind::MbarInit, owner, offset, count[l], 0);
    owner.cluster->bump();
    w.m->noteProgress();
  }
}

void execArrive(Warp &w, const Instr &i) {
  uint64_t address[32];
  laneAddresses(w, i, address);
  for (uint32_t m = w.exec; m; m &= m - 1) {
    int l = std::countr_zero(m);
    unsigned rank;
    uint32_t offset;
    if (!target(w, i, l, address, rank, offset))
      return;
    Mbarrier *b = findMbarrier(w, i, l, rank, offset);
    if (!b)
      return;
    Cta &owner = *w.cta->cluster->ctas[rank];
    int64_t tx = 0;
    uint32_t count = 1;
    bool hasTx = i.sub == ExpectTx || i.sub == CompleteTx || (i.mode & WithTx);
    if (hasTx)
      tx = lanes32(w, i.b)[l];
    else if (!i.b.none())
      count = lanes32(w, i.b)[l];
    if (i.sub == ExpectTx || i.sub == CompleteTx)
      count = 0;
    if (hasTx && tx > maxTx)
      return w.fail(i, ErrorKind::Operand, "expected at most " + std::to_string(maxTx) + " bytes, got " + std::to_string(tx), l);
    if (!hasTx && (count == 0 || count > maxCount))
      return w.fail(i, ErrorKind::Operand, "expected a count of 1 to " + std::to_string(maxCount) + ", got " + std::to_string(count), l);
    if (i.mode & Returns)
      lanes64(w, i.d)[l] = b->phase << 32 | b->pending;
    WarpRef at = w.ref(i);
    if (hasTx) {
      if (i.sub == CompleteTx) {
        b->tx -= tx;
        observe(*w.m, at, 1u << l, 0, &i, SyncKind::MbarCompleteTx, owner, offset, uint64_t(tx), b->phase);
      } else {
        b->tx += tx;
        observe(*w.m, at, 1u << l, 0, &i, SyncKind::MbarExpectTx, owner, offset, uint64_t(tx), b->phase);
      }
      if (b->tx > maxTx || b->tx < -maxTx)
        return w.fail(i, ErrorKind::Barrier, "the pending bytes of the mbarrier leave the range of " + std::to_string(maxTx) + ": " + std::to_string(b->tx), l);
    }
    if (count) {
      if (count > b->pending)
        return w.fail(i, ErrorKind::Barrier, "the mbarrier at shared offset " + std::to_string(shown(w, offset)) + " expects " + std::to_string(b->pending) + " more arrivals in this phase, got " + std::to_string(count), l);
      if ((i.mode & NoComplete) && count >= b->pending)
        return w.fail(i, ErrorKind::Barrier, "arrive.noComplete would complete the phase", l);
      if (i.sub == Drop) {
        if (count > b->next)
          return w.fail(i, ErrorKind::Barrier, "arrive_drop takes more arrivals than the mbarrier expects", l);
        b->next -= count;
      }
      observe(*w.m, at, 1u << l, 0, &i, SyncKind::MbarArrive, owner, offset, count, b->phase);
      b->pending -= count;
    }
    settle(*w.m, owner, offset, *b, at);
  }
}

/// try_wait may return false at any time: each one does so the first time it would
/// suspend its warp, and now and then later, so that code that takes a return for
/// completion is found out.
bool givesUp(Warp &w, const Instr &i) {
  const uint64_t bit = uint64_t(1) << (i.line & 63);
  if (!(w.gaveUp & bit)) {
    w.gaveUp |= bit;
    return true;
  }
  return w.m->rng.below(16) == 0;
}

void execWait(Warp &w, const Instr &i) {
  uint64_t address[32];
  laneAddresses(w, i, address);
  uint32_t result = 0;
  bool stuck = false;
  int last = -1; // lanes mostly wait for the same
  for (uint32_t m = w.exec; m; m &= m - 1) {
    int l = std::countr_zero(m);
    unsigned rank;
    uint32_t offset;
    if (last >= 0 && address[l] == address[last] &&
        (i.mode & Parity ? lanes32(w, i.b)[l] == lanes32(w, i.b)[last] : lanes64(w, i.b)[l] == lanes64(w, i.b)[last])) {
      result |= (result >> last & 1) << l;
      continue;
    }
    last = l;
    if (!target(w, i, l, address, rank, offset))
      return;
    if (rank != w.cta->rank)
      return w.fail(i, ErrorKind::Barrier, "an mbarrier of another block cannot be waited for", l);
    Mbarrier *b = findMbarrier(w, i, l, rank, offset);
    if (!b)
      return;
    uint64_t phase; // waited for
    if (i.mode & Parity) {
      uint32_t p = lanes32(w, i.b)[l];
      if (p > 1)
        return w.fail(i, ErrorKind::Operand, "expected a parity of 0 or 1, got " + std::to_string(p), l);
      phase = (b->phase & 1) == p ? b->phase : b->phase - 1;
    } else {
      uint64_t state = lanes64(w, i.b)[l];
      phase = state >> 32;
      if ((b->phase & 0xffffffff) != phase && ((b->phase - 1) & 0xffffffff) != phase)
        return w.fail(i, ErrorKind::Operand, "the state is not of the current or the preceding phase", l);
      phase = (b->phase & 0xffffffff) == phase ? b->phase : b->phase - 1;
    }
    bool done = phase != b->phase;
    result |= uint32_t(done) << l;
    if (!done) {
      stuck = true;
      w.g->waitOwner = rank;
      w.g->waitAddress = offset;
      w.g->waitPhase = b->phase;
    }
  }
  if (stuck && i.sub == Try && !w.g->timedOut && !givesUp(w, i)) {
    w.block(WaitOn::Mbarrier);
    w.g->canTimeout = true;
    return;
  }
  w.g->timedOut = false;
  if (stuck) {
    w.m->poll();
    w.signal |= SigYield;
  }
  ++w.m->report.stats.barrierWaits;
  if (w.m->observer)
    for (uint32_t m = w.exec, same = 0; m; m &= ~same) {
      int l = std::countr_zero(m);
      unsigned rank;
      uint32_t offset;
      target(w, i, l, address, rank, offset);
      const Mbarrier &b = w.cta->mbarriers[offset];
      bool done = result >> l & 1;
      same = 0; // one event for the lanes that wait for the same phase
      for (uint32_t o = m; o; o &= o - 1) {
        int k = std::countr_zero(o);
        if (address[k] == address[l] && bool(result >> k & 1) == done)
          same |= 1u << k;
      }
      observe(*w.m, w.ref(i), same, 0, &i, done ? SyncKind::MbarWait : SyncKind::MbarNoWait, *w.cta, offset, 0,
              done ? b.phase - 1 : b.phase);
    }
  setPred(w, i.d, result);
}

void execPending(Warp &w, const Instr &i) {
  forLanes(w.exec, [&](int l) { lanes32(w, i.d)[l] = uint32_t(lanes64(w, i.a)[l]); });
}

void takeSpace(Decode &d, bool cluster) {
  if (d.take("shared") || d.take("shared::cta"))
    d.i.space = Space::Shared;
  else if (cluster && d.take("shared::cluster")) {
    d.need(heddle::target::Feature::Clusters);
    d.i.space = Space::SharedCluster;
    d.i.mode |= Remote;
  } else
    d.i.space = Space::Generic;
}
void finishAddress(Decode &d, size_t n) {
  Space named = d.address(d.op(n));
  if (named != Space::Generic && named != Space::Shared)
    d.fail("expected an mbarrier in shared memory");
  if (d.i.space == Space::Generic && d.i.ty2 == Ty::B32)
    d.fail("expected a 64-bit generic address");
  // A variable names its own block's memory.
  if (named == Space::Shared && d.i.space == Space::Generic)
    d.i.space = Space::Shared;
}

void decodeMbarrier(Decode &d) {
  using heddle::target::Feature;
  unsigned kind = d.oneOf({"init", "inval", "arrive", "arrive_drop", "expect_tx", "complete_tx", "test_wait", "try_wait", "pending_count"}, "an operation");
  d.i.sub = uint8_t(kind);
  if (kind == 8) {
    d.type({Ty::B64});
    d.finish();
    d.operands(2);
    d.i.a = d.src(1, 64);
    d.i.d = d.dst(0, 32);
    d.i.fn = execPending;
    return d.emit();
  }
  if (kind == Init || kind == Inval) {
    takeSpace(d, false);
    d.type({Ty::B64});
    d.finish();
    d.operands(kind == Init ? 2 : 1);
    if (kind == Init)
      d.i.b = d.src(1, 32);
    finishAddress(d, 0);
    d.i.fn = execInit;
    return d.emit();
  }
  auto order = [&](bool acquires) {
    d.i.sem = acquires ? Sem::Acquire : Sem::Release;
    d.i.scope = Scope::Cta;
    int s = d.maybe({"acquire", "release", "relaxed"});
    if (s == 0 && !acquires)
      d.fail("expected .release or .relaxed");
    if (s == 1 && acquires)
      d.fail("expected .acquire or .relaxed");
    if (s == 2)
      d.i.sem = Sem::Relaxed;
    int c = d.maybe({"cta", "cluster"});
    if (c == 1) {
      d.i.scope = Scope::Cluster;
      d.need(Feature::Clusters);
    }
    if (s >= 0 && c < 0)
      d.fail("expected a scope (.cta, .cluster)");
  };
  if (kind == Test || kind == Try) {
    if (kind == Try)
      d.need(Feature::TryWait);
    if (d.take("parity"))
      d.i.mode |= Parity;
    order(true);
    takeSpace(d, false);
    d.type({Ty::B64});
    d.finish();
    d.operands(3, kind == Try ? 4 : 3);
    d.i.b = d.i.mode & Parity ? d.src(2, 32) : d.src(2, 64);
    if (d.count() == 4)
      d.src(3, 32);
    d.i.d = d.pred(d.op(0), true);
    finishAddress(d, 1);
    d.i.fn = execWait;
    return d.emit();
  }
  if (kind == ExpectTx || kind == CompleteTx) {
    d.need(Feature::BulkTensorCopy);
    d.i.sem = Sem::Relaxed;
    d.i.scope = Scope::Cta;
    if (d.take("relaxed")) {
      if (d.oneOf({"cta", "cluster"}, "a scope"))
        d.i.scope = Scope::Cluster;
    }
    takeSpace(d, true);
    d.type({Ty::B64});
    d.finish();
    d.operands(2);
    d.i.b = d.src(1, 32);
    finishAddress(d, 0);
    d.i.fn = execArrive;
    return d.emit();
  }
  bool early = d.take("expect_tx");
  bool noComplete = d.take("noComplete");
  order(false);
  takeSpace(d, true);
  d.type({Ty::B64});
  d.finish();
  if (early) {
    d.need(Feature::BulkTensorCopy);
    d.i.mode |= WithTx;
  }
  if (noComplete)
    d.i.mode |= NoComplete;
  // Forms: [addr] | [addr], n | d, [addr] | d, [addr], n
  bool result = d.count() > 0 && d.op(0).kind != Operand::Address;
  size_t at = result ? 1 : 0;
  d.operands(at + 1, at + 2);
  if (early && d.count() != at + 2)
    d.fail("expected the number of bytes");
  if (noComplete && d.count() != at + 2)
    d.fail("expected a count");
  if (d.count() == at + 2) {
    if (!early && !noComplete && !d.target.has(Feature::TryWait))
      d.fail("target " + std::string(d.target.name) + " takes a count only with .noComplete", ErrorKind::Unsupported);
    d.i.b = d.src(at + 1, 32);
  }
  if (result && d.op(0).kind == Operand::Reg) {
    if (d.i.mode & Remote)
      d.fail("an arrival at a shared::cluster mbarrier returns no state, expected '_'");
    d.i.d = d.dst(0, 64);
    d.i.mode |= Returns;
  }
  finishAddress(d, at);
  d.i.fn = execArrive;
  d.emit();
}
} // namespace

void registerMbarrier(OpTable &t) { t["mbarrier"] = decodeMbarrier; }

} // namespace heddle::emulator
