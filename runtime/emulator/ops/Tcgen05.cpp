//===- Tcgen05.cpp - tensor memory: alloc, ld, st, wait, fence -----------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The matrix instructions and copies are in Tcgen05Mma.cpp.
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/core/Decoder.h"
#include "runtime/emulator/ops/Lanes.h"
#include "runtime/emulator/ops/TensorMemory.h"

#include <charconv>

namespace heddle::emulator {

void execFence(Warp &w, const Instr &i);

static constexpr unsigned unitColumns = 32, units = 512 / unitColumns;

std::string touchTmem(MachineImpl &m, const AsyncOp &op, Cta *const *ctas, const std::vector<tensor::TmemRun> &runs,
                      bool write) {
  for (const tensor::TmemRun &r : runs) {
    Cta &a = *ctas[r.cta];
    if (r.lane + r.lanes > 128 || r.column + r.columns > 512)
      return "tensor memory lanes " + std::to_string(r.lane) + "..." + std::to_string(r.lane + r.lanes - 1) + ", columns " +
             std::to_string(r.column) + "..." + std::to_string(r.column + r.columns - 1) + " do not exist";
    for (unsigned u = r.column / unitColumns; u * unitColumns < unsigned(r.column) + r.columns; ++u)
      if (a.tmemUsed.empty() || !a.tmemUsed[u])
        return "tensor memory column " + std::to_string(u * unitColumns) + " is not allocated";
    for (unsigned l = r.lane; l < unsigned(r.lane) + r.lanes; ++l) {
      uint8_t *row = a.tmemWritten.data() + l * 512 + r.column;
      if (write) {
        std::memset(row, 1, r.columns);
        continue;
      }
      for (unsigned c = 0; c < r.columns; ++c)
        if (!row[c])
          return "read of tensor memory lane " + std::to_string(l) + ", column " + std::to_string(r.column + c) +
                 ", which nothing has written";
    }
    if (m.observer) {
      std::vector<uint64_t> address(r.lanes), owner(r.lanes, a.id);
      for (unsigned l = 0; l < r.lanes; ++l)
        address[l] = uint64_t(r.lane + l) << 16 | r.column;
      AccessEvent e;
      e.at = op.at;
      e.op = op.id;
      e.space = Space::Tensor;
      e.read = !write;
      e.write = write;
      e.proxy = Proxy::Async;
      e.bytes = r.columns * 4u;
      e.address = address.data();
      e.owner = owner.data();
      e.count = r.lanes;
      m.observer->access(e);
    }
  }
  return "";
}

bool tcgenBlocks(Warp &w, const Instr &i, unsigned group, Cta **ctas) {
  ctas[0] = w.cta;
  ctas[1] = nullptr;
  if (group == 1)
    return true;
  auto &all = w.cta->cluster->ctas;
  unsigned even = w.cta->rank & ~1u;
  if (even + 1 >= all.size()) {
    w.fail(i, ErrorKind::Operand, "cta_group::2 needs a cluster with a peer block");
    return false;
  }
  ctas[0] = all[even].get();
  ctas[1] = all[even + 1].get();
  return true;
}

namespace {
unsigned takeGroup(Decode &d) { return d.oneOf({"cta_group::1", "cta_group::2"}, "a block group") + 1; }

void createTmem(Cta &a) {
  if (a.tmem)
    return;
  a.tmem = std::make_unique<tensor::TensorMemory>();
  std::fill(a.tmem->cells.begin(), a.tmem->cells.end(), 0x7fc0dead);
  a.tmemUsed.assign(units, 0);
  a.tmemWritten.assign(128 * 512, 0);
}

void execAlloc(Warp &w, const Instr &i) {
  Cta &a = *w.cta;
  int l = firstLane(w.exec);
  uint32_t columns = lanes32(w, i.b)[l];
  if (columns < 32 || columns > 512 || (columns & (columns - 1)))
    return w.fail(i, ErrorKind::Operand, "expected a power of two from 32 to 512 columns, got " + std::to_string(columns), l);
  if (a.tmemRelinquished)
    return w.fail(i, ErrorKind::Barrier, "allocation after relinquish_alloc_permit", l);
  createTmem(a);
  unsigned need = columns / unitColumns, at = 0, run = 0;
  for (; at < units && run < need; ++at)
    run = a.tmemUsed[at] ? 0 : run + 1;
  if (run < need)
    return w.block(WaitOn::TensorMemory);
  at -= need;
  // Resolve the destination before anything changes.
  uint64_t address[32];
  uint8_t *host[32];
  laneAddresses(w, i, address);
  uint32_t all = w.exec;
  w.exec = 1u << l;
  if (!resolve(w, i, i.space, address, 4, AccWrite, host))
    return;
  w.exec = all;
  for (unsigned u = 0; u < need; ++u)
    a.tmemUsed[at + u] = uint8_t(u == 0 ? need : 255); // the first unit knows the size
  for (unsigned lane = 0; lane < 128; ++lane)
    std::memset(a.tmemWritten.data() + lane * 512 + at * unitColumns, 0, columns);
  uint32_t result = at * unitColumns;
  std::memcpy(host[l], &result, 4);
  w.m->noteProgress();
}

void execDealloc(Warp &w, const Instr &i) {
  Cta &a = *w.cta;
  int l = firstLane(w.exec);
  uint32_t address = lanes32(w, i.a)[l], columns = lanes32(w, i.b)[l];
  unsigned u = address / unitColumns;
  if (address % unitColumns || u >= units || a.tmemUsed.empty() || a.tmemUsed[u] == 0 || a.tmemUsed[u] == 255 ||
      a.tmemUsed[u] * unitColumns != columns)
    return w.fail(i, ErrorKind::Barrier, "expected an address and size that tcgen05.alloc gave, got " + hex(address) + " and " + std::to_string(columns) + " columns", l);
  for (const AsyncRef &op : a.cluster->async)
    if (op->cta == &a && !op->done && (op->kind == AsyncKind::TcgenMma || op->kind == AsyncKind::TcgenCp || op->kind == AsyncKind::TcgenLd || op->kind == AsyncKind::TcgenSt))
      return w.fail(i, ErrorKind::Barrier, "tensor memory is freed while the tcgen05 operation of line " + std::to_string(op->at.line) + " is in flight", l);
  if (w.m->observer) { // to others, memory that is freed is memory that changes
    uint64_t row[32], owner[32];
    for (unsigned lane = 0; lane < 128 && !w.m->failed; lane += 32) {
      for (unsigned k = 0; k < 32; ++k) {
        row[k] = uint64_t(lane + k) << 16 | address;
        owner[k] = a.id;
      }
      AccessEvent e;
      e.at = w.ref(i);
      e.lanes = ~0u;
      e.space = Space::Tensor;
      e.write = true;
      e.bytes = columns * 4;
      e.address = row;
      e.owner = owner;
      e.count = 32;
      w.m->observer->access(e);
    }
    if (w.m->failed) {
      w.signal |= SigStop;
      return;
    }
  }
  std::fill_n(a.tmemUsed.begin() + u, columns / unitColumns, uint8_t(0));
  a.cluster->bump();
  w.m->noteProgress();
}

void execRelinquish(Warp &w, const Instr &) { w.cta->tmemRelinquished = true; }

struct MoveForm {
  tensor::TmemMove move;
  bool store = false;
};

struct TmemOp : AsyncOp {
  const MoveForm *form = nullptr;
  Warp *warp = nullptr;
  uint32_t address = 0;
  std::vector<uint32_t> regs;
  bool step(MachineImpl &m) override {
    tensor::TmemMove move = form->move;
    move.warpInGroup = warp->index % 4;
    std::vector<tensor::TmemRun> runs;
    tensor::tmemRuns(move, address, runs);
    Cta *ctas[2] = {cta, nullptr};
    std::string p = touchTmem(m, *this, ctas, runs, form->store);
    if (!p.empty()) {
      failAsync(m, *this, p.find("written") != std::string::npos ? ErrorKind::Uninitialised : ErrorKind::OutOfBounds, p);
      return true;
    }
    if (form->store) {
      tensor::tmemStore(move, *cta->tmem, address, regs.data());
      return true;
    }
    tensor::tmemLoad(move, *cta->tmem, address, regs.data());
    const Opnd *list = &warp->program->lists[instr->list];
    for (unsigned k = 0; k < instr->count; ++k)
      if (!list[k].none())
        std::memcpy(lanes32(*warp, list[k]), &regs[k * 32], 128);
    return true;
  }
};

void execMove(Warp &w, const Instr &i) {
  const auto &f = *static_cast<const MoveForm *>(i.ext);
  uint64_t address[32];
  laneAddresses(w, i, address);
  for (int l = 1; l < 32; ++l)
    if (uint32_t(address[l]) != uint32_t(address[0]) && (w.exec >> l & 1))
      return w.fail(i, ErrorKind::Operand, "lanes give different tensor memory addresses", l);
  auto op = std::make_shared<TmemOp>();
  op->form = &f;
  op->warp = &w;
  op->address = uint32_t(address[firstLane(w.exec)]);
  tensor::TmemMove move = f.move;
  move.warpInGroup = w.index % 4;
  if (!w.cta->tmem)
    return w.fail(i, ErrorKind::OutOfBounds, "the block has allocated no tensor memory");
  if (auto p = tensor::checkTmemMove(move, op->address))
    return w.fail(i, ErrorKind::Operand, *p);
  op->kind = f.store ? AsyncKind::TcgenSt : AsyncKind::TcgenLd;
  op->cta = w.cta;
  op->at = w.ref(i);
  op->instr = &i;
  op->lanes = w.exec;
  op->regs.resize(size_t(i.count) * 32);
  const Opnd *list = &w.program->lists[i.list];
  std::vector<uint32_t> offsets;
  for (unsigned k = 0; k < i.count; ++k) {
    if (list[k].none())
      continue;
    if (f.store) {
      std::memcpy(&op->regs[k * 32], lanes32(w, list[k]), 128);
    } else { // until wait::ld the registers hold nothing useful
      std::fill_n(lanes32(w, list[k]), 32, 0x7fc0beef);
      offsets.push_back(list[k].offset() * 4);
    }
  }
  if (!f.store && !claimRegisters(w, i, i.count, false))
    return;
  auto &pending = f.store ? w.tcgenSt : w.tcgenLd;
  pending.push_back(op);
  w.m->submit(*w.cta->cluster, op);
  if (w.m->observer && !offsets.empty()) {
    AsyncEvent e;
    e.at = op->at;
    e.op = op->id;
    e.kind = op->kind;
    e.lanes = w.exec;
    w.m->observer->registersInFlight(e, offsets.data(), unsigned(offsets.size()), true);
  }
}

void execTcgenWait(Warp &w, const Instr &i) { // i.sub 0 ld, 1 st
  auto &pending = i.sub ? w.tcgenSt : w.tcgenLd;
  for (const AsyncRef &op : pending)
    if (!op->done)
      return w.block(WaitOn::TcgenWait);
  if (w.m->observer) {
    std::vector<uint64_t> ops;
    for (const AsyncRef &op : pending)
      ops.push_back(op->id);
    WaitEvent e;
    e.at = w.ref(i);
    e.lanes = w.exec;
    e.kind = i.sub ? WaitKind::TcgenSt : WaitKind::TcgenLd;
    e.ops = ops.data();
    e.count = unsigned(ops.size());
    w.m->observer->wait(e);
  }
  if (!i.sub)
    for (const AsyncRef &op : pending)
      releaseRegisters(w, *op->instr, op->instr->count);
  pending.clear();
}

void decodeTmemMove(Decode &d, bool store) {
  using S = tensor::TmemShape;
  MoveForm f;
  f.store = store;
  d.expect("sync");
  d.expect("aligned");
  static constexpr S shapes[] = {S::S16x64b, S::S16x128b, S::S16x256b, S::S32x32b, S::S16x32bx2};
  f.move.shape = shapes[d.oneOf({"16x64b", "16x128b", "16x256b", "32x32b", "16x32bx2"}, "a shape")];
  unsigned num = 0;
  for (unsigned n = 1; n <= 128 && !num; n *= 2)
    if (d.take("x" + std::to_string(n)))
      num = n;
  if (!num)
    d.fail("expected a count (.x1 to .x128)");
  f.move.num = num;
  f.move.pack16 = d.take(store ? "unpack::16b" : "pack::16b");
  d.expect("b32");
  d.finish();
  bool split = f.move.shape == S::S16x32bx2;
  d.operands(split ? 3 : 2);
  size_t addressAt = store ? 0 : 1, listAt = store ? (split ? 2 : 1) : 0;
  if (split) {
    uint64_t off = d.constant(d.op(store ? 1 : 2), "the half split offset");
    if (off > 511)
      d.fail("expected a half split offset below 512");
    f.move.halfSplitOff = unsigned(off);
  }
  const Operand &list = d.op(listAt);
  std::vector<Opnd> regs;
  auto one = [&](const Operand &o) { regs.push_back(store ? d.src(o, 32) : o.kind == Operand::Sink ? Opnd{} : d.dst(o, 32)); };
  if (list.kind == Operand::Vector)
    for (const Operand &o : list.elems)
      one(o);
  else
    one(list);
  if (auto p = tensor::checkTmemMove(f.move, 0))
    d.fail(*p);
  if (regs.size() != tensor::tmemRegisters(f.move))
    d.fail("expected " + std::to_string(tensor::tmemRegisters(f.move)) + " registers, got " + std::to_string(regs.size()));
  d.address(d.op(addressAt));
  d.i.list = d.list(regs);
  d.i.count = uint16_t(regs.size());
  d.i.ext = d.own(f);
  d.i.flags |= store ? Aligned : Aligned | UsesLater;
  d.i.fn = execMove;
  d.emit();
}

void decodeTcgen05(Decode &d) {
  d.need(target::Feature::TensorMemory);
  unsigned kind = d.oneOf({"alloc", "dealloc", "relinquish_alloc_permit", "ld", "st", "wait::ld", "wait::st", "fence::before_thread_sync",
                           "fence::after_thread_sync", "mma", "cp", "commit", "shift"}, "an operation");
  if (kind == 12)
    d.fail("tcgen05.shift is not emulated: PTX does not state which neighbour a row takes");
  d.i.sub = uint8_t(kind);
  switch (kind) {
  case 0:
    takeGroup(d);
    d.expect("sync");
    d.expect("aligned");
    d.i.space = d.take("shared::cta") || d.take("shared") ? Space::Shared : Space::Generic;
    d.expect("b32");
    d.finish();
    d.operands(2);
    d.i.b = d.src(1, 32);
    if (d.address(d.op(0)) == Space::Shared)
      d.i.space = Space::Shared;
    d.i.flags |= Aligned;
    d.i.fn = execAlloc;
    return d.emit();
  case 1:
    takeGroup(d);
    d.expect("sync");
    d.expect("aligned");
    d.expect("b32");
    d.finish();
    d.operands(2);
    d.i.a = d.src(0, 32);
    d.i.b = d.src(1, 32);
    d.i.flags |= Aligned;
    d.i.fn = execDealloc;
    return d.emit();
  case 2:
    takeGroup(d);
    d.expect("sync");
    d.expect("aligned");
    d.finish();
    d.operands(0);
    d.i.flags |= Aligned;
    d.i.fn = execRelinquish;
    return d.emit();
  case 3:
  case 4: return decodeTmemMove(d, kind == 4);
  case 5:
  case 6:
    d.expect("sync");
    d.expect("aligned");
    d.finish();
    d.operands(0);
    d.i.sub = kind == 6;
    d.i.flags |= Aligned;
    d.i.fn = execTcgenWait;
    return d.emit();
  case 7:
  case 8:
    d.finish();
    d.operands(0);
    d.i.sub = uint8_t(kind == 7 ? FenceKind::TcgenBefore : FenceKind::TcgenAfter);
    d.i.fn = execFence;
    return d.emit();
  default: return decodeTcgen05Mma(d);
  }
}
} // namespace

void registerTcgen05(OpTable &t) { t["tcgen05"] = decodeTcgen05; }

} // namespace heddle::emulator
