//===- Wgmma.cpp - warpgroup matrix instructions -------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A wgmma starts when all four warps of the warpgroup have issued it and ends, in
// issue order within the warpgroup, at any time the machine likes; only then are
// its operands read (shared memory and A registers alike) and D written.
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/core/Decoder.h"
#include "runtime/emulator/ops/Lanes.h"
#include "runtime/emulator/tensor/Wgmma.h"

#include <charconv>

namespace heddle::emulator {

void execFence(Warp &w, const Instr &i);

struct WgmmaForm {
  tensor::WgmmaConfig config;
  tensor::WgmmaRegisters regs;
};

struct WgmmaOp : AsyncOp {
  const WgmmaForm *form = nullptr;
  unsigned warpgroup = 0;
  unsigned issued = 0;   ///< warps that have issued it
  uint64_t sequence = 0; ///< number within the warpgroup
  uint64_t descA = 0, descB = 0;
  bool scaleD = false;
  bool ready() const override { return issued == 4 && AsyncOp::ready(); }

  bool step(MachineImpl &m) override {
    const auto &c = form->config;
    const auto size = uint32_t(cta->shared.size());
    if (m.observer || !cta->written.empty()) {
      std::vector<tensor::ByteRun> runs;
      if (auto p = tensor::wgmmaReads(c, descA, descB, size, runs)) {
        failAsync(m, *this, ErrorKind::Operand, *p);
        return true;
      }
      for (const auto &r : runs)
        if (!resolveShared(m, *this, cta->rank, r.address, r.bytes, false))
          return true;
    }
    std::vector<uint32_t> a(form->regs.a * 128), d(form->regs.d * 128);
    const Opnd *list = &cta->launch->program->lists[instr->list];
    auto each = [&](auto f) {
      for (unsigned k = 0; k < 4; ++k) {
        Warp &w = cta->warps[warpgroup * 4 + k];
        f(w, k * 32);
      }
    };
    each([&](Warp &w, unsigned at) {
      for (unsigned r = 0; r < form->regs.d && scaleD; ++r)
        std::memcpy(&d[r * 128 + at], lanes32(w, list[r]), 128);
      for (unsigned r = 0; r < form->regs.a; ++r)
        std::memcpy(&a[r * 128 + at], lanes32(w, list[form->regs.d + r]), 128);
    });
    if (auto p = tensor::wgmma(c, cta->shared.data(), size, descA, a.data(), descB, scaleD, d.data())) {
      failAsync(m, *this, ErrorKind::Operand, *p);
      return true;
    }
    each([&](Warp &w, unsigned at) {
      for (unsigned r = 0; r < form->regs.d; ++r)
        std::memcpy(lanes32(w, list[r]), &d[r * 128 + at], 128);
    });
    ++m.report.stats.tensorOps;
    if (m.observer) {
      AsyncEvent e;
      e.at = at;
      e.op = id;
      e.kind = kind;
      e.lanes = lanes;
      std::vector<uint32_t> offsets;
      for (unsigned r = 0; r < form->regs.d; ++r)
        offsets.push_back(list[r].offset() * 4);
      m.observer->registersInFlight(e, offsets.data(), unsigned(offsets.size()), true);
    }
    auto &ops = cta->warpgroups[warpgroup].ops;
    ops.remove_if([&](const std::shared_ptr<WgmmaOp> &o) { return o.get() == this; });
    return true;
  }
};

namespace {
bool wholeWarpgroup(Warp &w, const Instr &i) {
  if (w.index / 4 * 4 + 4 <= w.cta->warps.size() && w.live == ~0u)
    return true;
  w.fail(i, ErrorKind::Convergence, "expected a full warpgroup of four warps of 32 lanes");
  return false;
}

// list: D, A registers; a: descriptor A, b: descriptor B, c: scale-d predicate.
void execMmaAsync(Warp &w, const Instr &i) {
  if (!wholeWarpgroup(w, i))
    return;
  const auto &f = *static_cast<const WgmmaForm *>(i.ext);
  Cta::Warpgroup &wg = w.cta->warpgroups[w.index / 4];
  uint64_t da = i.a.none() ? 0 : lanes64(w, i.a)[0], db = lanes64(w, i.b)[0];
  bool scale = predBits(w, i.c) & 1;
  for (int l = 1; l < 32; ++l)
    if ((!i.a.none() && lanes64(w, i.a)[l] != da) || lanes64(w, i.b)[l] != db)
      return w.fail(i, ErrorKind::Operand, "lanes give different descriptors", l);
  if (predBits(w, i.c) != 0 && predBits(w, i.c) != ~0u)
    return w.fail(i, ErrorKind::Operand, "lanes give different scale-d predicates");
  if (!claimRegisters(w, i, f.regs.d, true))
    return;
  // The first warp creates the operation, the others join it.
  std::shared_ptr<WgmmaOp> op;
  for (auto &o : wg.ops)
    if (o->sequence == w.wgmmaIssued)
      op = o;
  if (!op) {
    op = std::make_shared<WgmmaOp>();
    op->kind = AsyncKind::Wgmma;
    op->sequence = w.wgmmaIssued;
    op->cta = w.cta;
    op->at = w.ref(i);
    op->instr = &i;
    op->form = &f;
    op->warpgroup = w.index / 4;
    op->descA = da;
    op->descB = db;
    op->scaleD = scale;
    op->readsShared = 1u << w.cta->rank;
    op->after = wg.last;
    wg.last = op;
    wg.ops.push_back(op);
    w.m->submit(*w.cta->cluster, op);
  } else if (op->instr != &i) {
    return w.fail(i, ErrorKind::Convergence, "another warp of the warpgroup issued the wgmma of line " + std::to_string(op->at.line) + " in its place");
  } else if (op->descA != da || op->descB != db || op->scaleD != scale) {
    return w.fail(i, ErrorKind::Operand, "warps of the warpgroup give different descriptors or scale-d");
  }
  ++op->issued;
  ++w.wgmmaIssued;
  w.wgmmaOpen.push_back(op);
  w.m->noteProgress();
  if (w.m->observer) {
    AsyncEvent e;
    e.at = w.ref(i);
    e.op = op->id;
    e.kind = op->kind;
    e.lanes = w.exec;
    std::vector<uint32_t> offsets;
    const Opnd *list = &w.program->lists[i.list];
    for (unsigned r = 0; r < f.regs.d; ++r)
      offsets.push_back(list[r].offset() * 4);
    w.m->observer->registersInFlight(e, offsets.data(), unsigned(offsets.size()), true);
    offsets.clear();
    for (unsigned r = 0; r < f.regs.a; ++r)
      offsets.push_back(list[f.regs.d + r].offset() * 4);
    if (!offsets.empty())
      w.m->observer->registersInFlight(e, offsets.data(), unsigned(offsets.size()), false);
  }
}

void execWgmmaFence(Warp &w, const Instr &i) {
  if (!wholeWarpgroup(w, i))
    return;
  fenceRegisters(w);
  execFence(w, i);
}

void execWgmmaCommit(Warp &w, const Instr &i) {
  if (!wholeWarpgroup(w, i))
    return;
  w.wgmmaGroups.push_back({std::move(w.wgmmaOpen)});
  w.wgmmaOpen.clear();
}

void execWgmmaWait(Warp &w, const Instr &i) {
  if (!wholeWarpgroup(w, i))
    return;
  size_t check = w.wgmmaGroups.size() > size_t(i.imm) ? w.wgmmaGroups.size() - size_t(i.imm) : 0;
  auto it = w.wgmmaGroups.begin();
  for (size_t k = 0; k < check; ++k, ++it)
    for (auto &op : it->ops)
      if (!op->done)
        return w.block(WaitOn::WgmmaGroup);
  std::vector<uint64_t> ops;
  for (size_t k = 0; k < check; ++k) {
    for (auto &op : w.wgmmaGroups.front().ops)
      ops.push_back(op->id);
    for (auto &op : w.wgmmaGroups.front().ops)
      releaseRegisters(w, *op->instr, op->form->regs.d);
    w.wgmmaGroups.pop_front();
  }
  if (w.m->observer) {
    WaitEvent e;
    e.at = w.ref(i);
    e.lanes = w.exec;
    e.kind = WaitKind::WgmmaGroup;
    e.ops = ops.data();
    e.count = unsigned(ops.size());
    w.m->observer->wait(e);
  }
}

void decodeMmaAsync(Decode &d) {
  using tensor::Elem;
  WgmmaForm f;
  d.expect("sync");
  d.expect("aligned");
  std::string_view s = d.peek();
  // .m64nNkK
  bool shaped = s.substr(0, 4) == "m64n";
  if (shaped) {
    const char *end = s.data() + s.size();
    auto [p, e] = std::from_chars(s.data() + 4, end, f.config.n);
    shaped = e == std::errc() && p != end && *p == 'k';
    if (shaped) {
      auto [q, e2] = std::from_chars(p + 1, end, f.config.k);
      shaped = e2 == std::errc() && q == end;
    }
  }
  if (!shaped)
    d.fail("expected a shape (.m64nNkK), found '." + std::string(s) + "'");
  d.take(s);
  static constexpr Elem out[] = {Elem::F16, Elem::F32, Elem::S32};
  f.config.d = out[d.oneOf({"f16", "f32", "s32"}, "the type of D")];
  f.config.satfinite = d.take("satfinite");
  static constexpr Elem in[] = {Elem::F16, Elem::BF16, Elem::TF32, Elem::E4M3, Elem::E5M2, Elem::S8, Elem::U8};
  f.config.a = in[d.oneOf({"f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8"}, "the type of A")];
  f.config.b = in[d.oneOf({"f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8"}, "the type of B")];
  f.config.satfinite |= d.take("satfinite");
  d.finish();
  d.operands(4, 8);
  const auto &dRegs = d.vector(d.op(0), "D");
  f.config.aInRegisters = d.op(1).kind == Operand::Vector;
  bool integer = tensor::isInteger(f.config.a);
  bool sixteen = f.config.a == Elem::F16 || f.config.a == Elem::BF16;
  size_t n = 4 + (integer ? 0 : 2) + (sixteen ? (f.config.aInRegisters ? 1 : 2) : 0);
  d.operands(n);
  auto flag = [&](size_t at, const char *what, bool sign) {
    int64_t v = int64_t(d.constant(d.op(at), what));
    if (sign ? v != 1 && v != -1 : v != 0 && v != 1)
      d.fail(std::string("expected ") + (sign ? "1 or -1" : "0 or 1") + " for " + what + ", got " + std::to_string(v));
    return sign ? v == -1 : v == 1;
  };
  if (!integer) {
    f.config.negateA = flag(4, "imm-scale-a", true);
    f.config.negateB = flag(5, "imm-scale-b", true);
  }
  if (sixteen) {
    size_t at = 6;
    if (!f.config.aInRegisters)
      f.config.transposeA = flag(at++, "imm-trans-a", false);
    f.config.transposeB = flag(at, "imm-trans-b", false);
  }
  f.config.model = tensor::modelForWgmma(f.config.a);
  if (auto p = tensor::checkWgmma(f.config))
    d.fail(*p);
  f.regs = tensor::wgmmaRegisters(f.config);
  std::vector<Opnd> regs;
  if (dRegs.size() != f.regs.d)
    d.fail("expected " + std::to_string(f.regs.d) + " registers of D, got " + std::to_string(dRegs.size()));
  for (const Operand &o : dRegs)
    regs.push_back(d.dst(o, 32));
  if (f.config.aInRegisters) {
    if (d.op(1).elems.size() != f.regs.a)
      d.fail("expected " + std::to_string(f.regs.a) + " registers of A, got " + std::to_string(d.op(1).elems.size()));
    for (const Operand &o : d.op(1).elems)
      regs.push_back(d.src(o, 32));
  } else {
    d.i.a = d.src(1, 64);
    f.regs.a = 0;
  }
  d.i.b = d.src(2, 64);
  d.i.c = d.predSrc(d.op(3));
  d.i.list = d.list(regs);
  d.i.count = uint16_t(regs.size());
  d.i.ext = d.own(f);
  d.i.flags |= Aligned | UsesLater;
  d.i.fn = execMmaAsync;
  d.emit();
}

void decodeWgmma(Decode &d) {
  if (d.target.mma != target::MmaFamily::Wgmma)
    d.fail("target " + std::string(d.target.name) + " lacks this instruction", ErrorKind::Unsupported);
  unsigned kind = d.oneOf({"mma_async", "fence", "commit_group", "wait_group"}, "an operation");
  if (kind == 0)
    return decodeMmaAsync(d);
  d.expect("sync");
  d.expect("aligned");
  d.finish();
  d.i.flags |= Aligned;
  if (kind == 3) {
    d.operands(1);
    d.i.imm = int64_t(d.constant(d.op(0), "the number of groups"));
    if (d.i.imm < 0 || d.i.imm > 7)
      d.fail("expected 0 to 7 groups, got " + std::to_string(d.i.imm));
    d.i.fn = execWgmmaWait;
  } else {
    d.operands(0);
    d.i.sub = uint8_t(FenceKind::WgmmaFence);
    d.i.fn = kind == 1 ? execWgmmaFence : execWgmmaCommit;
  }
  d.emit();
}
} // namespace

void registerWgmma(OpTable &t) { t["wgmma"] = decodeWgmma; }

} // namespace heddle::emulator
