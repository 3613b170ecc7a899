//===- CpAsync.cpp - cp.async, its groups and mbarrier arrivals ----------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/core/Decoder.h"
#include "runtime/emulator/ops/Lanes.h"

namespace heddle::emulator {

namespace {
void reportWait(Warp &w, const Instr &i, WaitKind kind, const std::vector<uint64_t> &ops) {
  if (!w.m->observer)
    return;
  WaitEvent e;
  e.at = w.ref(i);
  e.lanes = w.exec;
  e.kind = kind;
  e.ops = ops.data();
  e.count = unsigned(ops.size());
  w.m->observer->wait(e);
}

struct CpAsyncOp : AsyncOp {
  uint32_t left = 0; ///< lanes not copied yet
  uint64_t source[32];
  uint32_t target[32], take[32]; ///< shared offsets; bytes read, the rest is zero
  uint32_t bytes = 0;
  bool step(MachineImpl &m) override {
    uint32_t now = left;
    if (m.schedule != Schedule::RoundRobin && std::popcount(left) > 4)
      now &= uint32_t(m.rng.next() >> 32);
    for (; now && !m.failed; now &= now - 1) {
      int l = std::countr_zero(now);
      uint8_t *to = resolveShared(m, *this, cta->rank, target[l], bytes, true, Proxy::Generic);
      if (!to)
        return true;
      uint8_t buffer[16] = {};
      if (take[l]) {
        const uint8_t *from = resolveGlobal(m, *this, source[l], take[l], false, Proxy::Generic);
        if (!from)
          return true;
        std::memcpy(buffer, from, take[l]);
      }
      std::memcpy(to, buffer, bytes);
      left &= ~(1u << l);
    }
    return left == 0;
  }
};

void execCpAsync(Warp &w, const Instr &i) { // d: source address (64-bit temp), b: source size, c: ignore-src
  auto op = std::make_shared<CpAsyncOp>();
  uint64_t address[32];
  laneAddresses(w, i, address);
  const uint64_t *src = lanes64(w, i.d);
  uint32_t ignored = i.c.none() ? 0 : predBits(w, i.c);
  for (uint32_t m = w.exec; m; m &= m - 1) {
    int l = std::countr_zero(m);
    unsigned rank;
    if (!sharedAddress(w, i, l, i.space, address[l], rank, op->target[l]))
      return;
    op->source[l] = src[l];
    op->take[l] = i.b.none() ? i.bytes : lanes32(w, i.b)[l];
    if (op->take[l] > i.bytes)
      return w.fail(i, ErrorKind::Operand, "expected a source size of at most " + std::to_string(i.bytes) + ", got " + std::to_string(op->take[l]), l);
    if (ignored >> l & 1)
      op->take[l] = 0;
    if (op->target[l] % i.bytes || (op->take[l] && src[l] % i.bytes))
      return w.fail(i, ErrorKind::Misaligned, "expected addresses that are multiples of " + std::to_string(i.bytes) + ", got " + hex(address[l]) + " and " + hex(src[l]), l);
  }
  op->kind = AsyncKind::CpAsync;
  op->cta = w.cta;
  op->at = w.ref(i);
  op->instr = &i;
  op->lanes = op->left = w.exec;
  op->bytes = i.bytes;
  op->writesShared = 1u << w.cta->rank;
  w.cpAsync.add(op, w.exec);
  w.m->submit(*w.cta->cluster, op);
}

void execCommit(Warp &w, const Instr &i) { // i.mode 1: bulk
  (i.mode ? w.bulk : w.cpAsync).commit(w.exec);
}

void execWaitGroup(Warp &w, const Instr &i) { // i.mode bit 0: bulk, 1: .read, 2: wait_all
  AsyncGroups &g = i.mode & 1 ? w.bulk : w.cpAsync;
  if (i.mode & 4)
    for (auto &item : g.open)
      if ((item.lanes & w.exec) && !item.op->done)
        return w.block(WaitOn::CpAsync);
  std::vector<uint64_t> ops;
  if (!g.waited(w.exec, unsigned(i.imm), i.mode & 2, w.m->observer ? &ops : nullptr))
    return w.block(i.mode & 1 ? WaitOn::BulkGroup : WaitOn::CpAsync);
  if (i.mode & 4) {
    for (auto &item : g.open)
      if (item.lanes & w.exec)
        ops.push_back(item.op->id);
    g.commit(w.exec);
    if (w.m->observer)
      g.closed.pop_back();
    g.prune();
  }
  reportWait(w, i, i.mode & 1 ? (i.mode & 2 ? WaitKind::BulkGroupRead : WaitKind::BulkGroup) : WaitKind::CpAsyncGroup, ops);
}

struct ArriveOp : AsyncOp {
  std::vector<AsyncRef> before;
  struct One { unsigned rank; uint32_t offset; };
  std::vector<One> arrivals;
  bool ready() const override {
    for (const AsyncRef &b : before)
      if (!b->done)
        return false;
    return true;
  }
  bool step(MachineImpl &m) override {
    for (const One &a : arrivals)
      if (!m.failed)
        mbarrierAsyncArrive(m, *this, a.rank, a.offset, 1);
    return true;
  }
};

void execCpArrive(Warp &w, const Instr &i) { // i.mode 1: .noinc
  uint64_t address[32];
  laneAddresses(w, i, address);
  auto op = std::make_shared<ArriveOp>();
  for (uint32_t m = w.exec; m; m &= m - 1) {
    int l = std::countr_zero(m);
    unsigned rank;
    uint32_t offset;
    if (!sharedAddress(w, i, l, i.space, address[l], rank, offset))
      return;
    Mbarrier *b = findMbarrier(w, i, l, rank, offset);
    if (!b)
      return;
    if (!i.mode)
      ++b->pending;
    op->arrivals.push_back({rank, offset});
  }
  for (auto &item : w.cpAsync.open)
    if ((item.lanes & w.exec) && !item.op->done)
      op->before.push_back(item.op);
  for (auto &g : w.cpAsync.closed)
    for (const AsyncRef &o : g.ops)
      if ((g.lanes & w.exec) && !o->done)
        op->before.push_back(o);
  op->kind = AsyncKind::MbarrierArrive;
  op->cta = w.cta;
  op->at = w.ref(i);
  op->instr = &i;
  op->lanes = w.exec;
  op->writesShared = 1u << w.cta->rank;
  w.m->submit(*w.cta->cluster, op);
}

void decodeGroup(Decode &d, bool bulk) {
  unsigned kind = d.oneOf({"commit_group", "wait_group", "wait_all"}, "an operation");
  if (bulk && kind == 2)
    d.fail("unknown modifier '.wait_all'");
  d.i.mode = bulk;
  if (kind == 0) {
    d.finish();
    d.operands(0);
    d.i.fn = execCommit;
    return d.emit();
  }
  if (bulk && d.take("read"))
    d.i.mode |= 2;
  d.finish();
  if (kind == 2) {
    d.operands(0);
    d.i.mode |= 4;
  } else {
    d.operands(1);
    d.i.imm = int64_t(d.constant(d.op(0), "the number of groups"));
    if (d.i.imm < 0 || d.i.imm > 1 << 20)
      d.fail("expected a small number of groups");
  }
  d.i.fn = execWaitGroup;
  d.emit();
}

void decodeCp(Decode &d) {
  if (d.take("reduce")) {
    d.expect("async");
    d.expect("bulk");
    d.need(target::Feature::BulkTensorCopy);
    d.i.mode = 1;
    return d.take("tensor") ? decodeBulkTensor(d) : decodeBulk(d);
  }
  d.expect("async");
  if (d.take("bulk")) {
    d.need(target::Feature::BulkTensorCopy);
    if (d.peek() == "commit_group" || d.peek() == "wait_group")
      return decodeGroup(d, true);
    if (d.take("tensor"))
      return decodeBulkTensor(d);
    return decodeBulk(d);
  }
  d.need(target::Feature::AsyncCopy);
  if (d.peek() == "commit_group" || d.peek() == "wait_group" || d.peek() == "wait_all")
    return decodeGroup(d, false);
  if (d.take("mbarrier")) {
    d.expect("arrive");
    d.i.mode = d.take("noinc");
    d.i.space = d.take("shared") || d.take("shared::cta") ? Space::Shared : Space::Generic;
    d.type({Ty::B64});
    d.finish();
    d.operands(1);
    if (d.address(d.op(0)) == Space::Shared)
      d.i.space = Space::Shared;
    d.i.fn = execCpArrive;
    return d.emit();
  }
  bool cg = d.oneOf({"ca", "cg"}, "a cache operator");
  if (!d.take("shared::cta"))
    d.expect("shared");
  d.i.space = Space::Shared;
  d.expect("global");
  bool hint = d.take("L2::cache_hint");
  d.maybe({"L2::64B", "L2::128B", "L2::256B"});
  d.finish();
  d.operands(3, 5);
  uint64_t bytes = d.constant(d.op(2), "the size");
  if ((bytes != 4 && bytes != 8 && bytes != 16) || (cg && bytes != 16))
    d.fail("expected a size of " + std::string(cg ? "16" : "4, 8 or 16") + ", got " + std::to_string(bytes));
  d.i.bytes = uint8_t(bytes);
  size_t left = d.count() - 3 - hint;
  if (left > 1)
    d.fail("expected at most one source size or predicate");
  if (left == 1) {
    const Operand &o = d.op(3);
    if (o.kind == Operand::Reg && d.regBits(o) == 1)
      d.i.c = d.predSrc(o);
    else
      d.i.b = d.src(o, 32);
  }
  if (hint)
    d.src(d.count() - 1, 64);
  Opnd source = d.address64(d.op(1));
  d.address(d.op(0));
  d.i.d = source;
  d.i.fn = execCpAsync;
  d.emit();
}
} // namespace

void registerCpAsync(OpTable &t) { t["cp"] = decodeCp; }

} // namespace heddle::emulator
