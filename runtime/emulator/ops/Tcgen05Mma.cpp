//===- Tcgen05Mma.cpp - tcgen05.mma, cp and commit ----------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations of one warp run in the order they were issued (PTX: mma and cp
// of one thread are pipelined), each at any later time; commit arrives at its
// mbarrier when all earlier ones have ended.
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/core/Decoder.h"
#include "runtime/emulator/ops/Lanes.h"
#include "runtime/emulator/ops/TensorMemory.h"

namespace heddle::emulator {

namespace {
using tensor::Tcgen05Kind;

struct TcgenForm {
  Tcgen05Kind kind = Tcgen05Kind::F16;
  unsigned group = 1;
  bool aInTmem = false, blockScale = false, multicast = false, stationary = false, zeroMask = false;
  unsigned scaleVector = 0, scaleInputD = 0, disableWords = 0;
  tensor::TmemCopyShape shape = tensor::TmemCopyShape::S32x128bWarpx4;
  tensor::TmemCopyFormat format = tensor::TmemCopyFormat::None;
};

struct TcgenOp : AsyncOp {
  const TcgenForm *form = nullptr;
  Cta *ctas[2] = {};
  /// Footprint checks shared by mma and cp; false after an error.
  bool touch(MachineImpl &m, const tensor::Tcgen05Footprint &fp) {
    for (const auto &r : fp.sharedReads)
      if (!resolveShared(m, *this, ctas[r.cta]->rank, r.address, r.bytes, false))
        return false;
    std::string p = touchTmem(m, *this, ctas, fp.tmemReads, false);
    if (p.empty())
      p = touchTmem(m, *this, ctas, fp.tmemWrites, true);
    if (p.empty())
      return !m.failed;
    failAsync(m, *this, p.find("written") != std::string::npos ? ErrorKind::Uninitialised : ErrorKind::OutOfBounds, p);
    return false;
  }
  bool problem(MachineImpl &m, const tensor::Problem &p) {
    if (p)
      failAsync(m, *this, ErrorKind::Operand, *p);
    return p.has_value();
  }
};

struct MmaOp : TcgenOp {
  tensor::Tcgen05Mma mma;
  uint32_t disable[8];
  bool step(MachineImpl &m) override {
    tensor::Tcgen05Footprint fp;
    auto bytes = uint32_t(cta->shared.size());
    if (problem(m, tensor::tcgen05MmaFootprint(mma, bytes, fp)) || !touch(m, fp))
      return true;
    tensor::CtaMemory memory[2];
    for (unsigned k = 0; k < form->group; ++k)
      memory[k] = {ctas[k]->shared.data(), bytes, ctas[k]->tmem.get()};
    problem(m, tensor::tcgen05Mma(mma, memory));
    ++m.report.stats.tensorOps;
    return true;
  }
};

struct CopyOp : TcgenOp {
  tensor::TmemCopy copy;
  bool step(MachineImpl &m) override {
    for (unsigned k = 0; k < form->group; ++k) {
      Cta *own[2] = {ctas[k], nullptr};
      tensor::Tcgen05Footprint fp;
      auto bytes = uint32_t(ctas[k]->shared.size());
      if (problem(m, tensor::tcgen05CpFootprint(copy, bytes, fp)))
        return true;
      for (const auto &r : fp.sharedReads)
        if (!resolveShared(m, *this, own[0]->rank, r.address, r.bytes, false))
          return true;
      std::string p = touchTmem(m, *this, own, fp.tmemWrites, true);
      if (!p.empty()) {
        failAsync(m, *this, ErrorKind::OutOfBounds, p);
        return true;
      }
      if (problem(m, tensor::tcgen05Cp(copy, ctas[k]->shared.data(), bytes, *ctas[k]->tmem)))
        return true;
    }
    return true;
  }
};

struct CommitOp : TcgenOp {
  uint32_t offset = 0, ranks = 0;
  bool step(MachineImpl &m) override {
    for (uint32_t r = ranks; r && !m.failed; r &= r - 1)
      mbarrierAsyncArrive(m, *this, unsigned(std::countr_zero(r)), offset, 1);
    return true;
  }
};

/// Common part of issuing; false after an error.
bool issue(Warp &w, const Instr &i, int l, TcgenOp &op, const TcgenForm &f, AsyncKind kind) {
  op.kind = kind;
  op.form = &f;
  op.cta = w.cta;
  op.at = w.ref(i);
  op.instr = &i;
  op.lanes = 1u << l;
  if (!tcgenBlocks(w, i, f.group, op.ctas))
    return false;
  op.after = w.tcgenLast;
  if (kind == AsyncKind::TcgenCommit)
    return true;
  for (unsigned k = 0; k < f.group; ++k) {
    op.readsShared |= 1u << op.ctas[k]->rank;
    if (!op.ctas[k]->tmem) {
      w.fail(i, ErrorKind::OutOfBounds, "the block has allocated no tensor memory", l);
      return false;
    }
  }
  return true;
}

// d: D address, a: A descriptor or address, b: B descriptor, c: idesc, e: enable-input-d;
// list: scale A, scale B, then disable-output-lane words.
void execMma(Warp &w, const Instr &i) {
  const auto &f = *static_cast<const TcgenForm *>(i.ext);
  const Opnd *list = &w.program->lists[i.list];
  for (uint32_t m = w.exec; m; m &= m - 1) {
    int l = std::countr_zero(m);
    auto op = std::make_shared<MmaOp>();
    if (!issue(w, i, l, *op, f, AsyncKind::TcgenMma))
      return;
    tensor::Tcgen05Mma &x = op->mma;
    x.kind = f.kind;
    x.ctaGroup = f.group;
    x.stationary = f.stationary;
    if (f.zeroMask && (lanes64(w, list[0])[l] >> 39 & 1))
      return w.fail(i, ErrorKind::Operand, "expected a zero-column mask descriptor that zeroes nothing (bit 39 clear); masks are not emulated", l);
    x.idesc = lanes32(w, i.c)[l];
    x.d = uint32_t(lanes64(w, i.d)[l]);
    x.aInTmem = f.aInTmem;
    (f.aInTmem ? void(x.aTmem = uint32_t(lanes64(w, i.a)[l])) : void(x.aDesc = lanes64(w, i.a)[l]));
    x.bDesc = lanes64(w, i.b)[l];
    x.enableInputD = predBits(w, i.e) >> l & 1;
    x.scaleInputD = f.scaleInputD;
    x.scaleVector = f.scaleVector;
    if (f.blockScale) {
      x.scaleA = uint32_t(lanes64(w, list[0])[l]);
      x.scaleB = uint32_t(lanes64(w, list[1])[l]);
    }
    for (unsigned k = 0; k < f.disableWords; ++k)
      op->disable[k] = lanes32(w, list[(f.blockScale ? 2 : 0) + k])[l];
    if (f.disableWords)
      x.disableLane = op->disable;
    x.model = tensor::modelForTcgen05(f.kind);
    w.tcgenLast = op;
    w.m->submit(*w.cta->cluster, op);
  }
}

void execCopy(Warp &w, const Instr &i) {
  const auto &f = *static_cast<const TcgenForm *>(i.ext);
  for (uint32_t m = w.exec; m; m &= m - 1) {
    int l = std::countr_zero(m);
    auto op = std::make_shared<CopyOp>();
    if (!issue(w, i, l, *op, f, AsyncKind::TcgenCp))
      return;
    op->copy.shape = f.shape;
    op->copy.format = f.format;
    op->copy.address = uint32_t(lanes64(w, i.d)[l]);
    op->copy.desc = lanes64(w, i.b)[l];
    w.tcgenLast = op;
    w.m->submit(*w.cta->cluster, op);
  }
}

void execCommit(Warp &w, const Instr &i) {
  const auto &f = *static_cast<const TcgenForm *>(i.ext);
  for (uint32_t m = w.exec; m; m &= m - 1) {
    int l = std::countr_zero(m);
    auto op = std::make_shared<CommitOp>();
    if (!issue(w, i, l, *op, f, AsyncKind::TcgenCommit))
      return;
    unsigned rank;
    if (!sharedAddress(w, i, l, i.space, lanes64(w, i.d)[l], rank, op->offset))
      return;
    op->ranks = 1u << rank;
    if (f.multicast) {
      op->ranks = lanes32(w, i.b)[l] & 0xffff;
      if (!op->ranks || op->ranks >> w.cta->cluster->ctas.size())
        return w.fail(i, ErrorKind::Operand, "expected a mask of blocks of the cluster, got " + hex(op->ranks), l);
    }
    op->writesShared = op->ranks;
    w.m->submit(*w.cta->cluster, op);
  }
}

/// [d], a, b, idesc, enable-input-d {, zero-column-mask}
void decodeStationary(Decode &d, TcgenForm f) {
  d.maybe({"collector::b0::fill", "collector::b0::use", "collector::b0::lastuse", "collector::b0::discard",
           "collector::b1::fill", "collector::b1::use", "collector::b1::lastuse", "collector::b1::discard",
           "collector::b2::fill", "collector::b2::use", "collector::b2::lastuse", "collector::b2::discard",
           "collector::b3::fill", "collector::b3::use", "collector::b3::lastuse", "collector::b3::discard"});
  d.finish();
  d.operands(5, 6);
  std::vector<Opnd> extra;
  d.i.b = d.src(2, 64);
  d.i.c = d.src(3, 32);
  f.aInTmem = d.op(1).kind == Operand::Address;
  d.i.a = f.aInTmem ? d.address64(d.op(1)) : d.src(1, 64);
  d.i.e = d.predSrc(d.op(4));
  f.zeroMask = d.count() == 6;
  if (f.zeroMask)
    extra.push_back(d.src(5, 64));
  d.i.d = d.address64(d.op(0));
  d.i.list = d.list(extra);
  d.i.ext = d.own(f);
  d.i.fn = execMma;
  d.emit();
}

void decodeMma(Decode &d) {
  using K = Tcgen05Kind;
  TcgenForm f;
  f.stationary = d.take("ws");
  if (d.peek() == "sp")
    d.fail("sparse tcgen05.mma is not emulated");
  f.group = d.oneOf({"cta_group::1", "cta_group::2"}, "a block group") + 1;
  static constexpr K kinds[] = {K::F16, K::TF32, K::F8F6F4, K::I8, K::MxF8F6F4, K::MxF4, K::MxF4NvF4};
  f.kind = kinds[d.oneOf({"kind::f16", "kind::tf32", "kind::f8f6f4", "kind::i8", "kind::mxf8f6f4", "kind::mxf4", "kind::mxf4nvf4"}, "a kind")];
  if (f.kind == K::I8 && d.target.minor != 0)
    d.fail("target " + std::string(d.target.name) + " lacks kind::i8", ErrorKind::Unsupported);
  if (f.stationary) {
    if (f.group != 1 || f.kind >= K::MxF8F6F4)
      d.fail("expected .cta_group::1 and a kind without block scaling with .ws");
    return decodeStationary(d, f);
  }
  if (f.kind >= K::MxF8F6F4) {
    d.need(target::Feature::BlockScaleMma);
    d.expect("block_scale");
    f.blockScale = true;
    int v = d.maybe({"scale_vec::1X", "scale_vec::2X", "scale_vec::4X"});
    if (v >= 0)
      f.scaleVector = 1u << v;
    int b = v < 0 ? d.maybe({"block16", "block32"}) : -1;
    if (b >= 0)
      f.scaleVector = f.kind == K::MxF8F6F4 ? 1 : b == 0 ? 4 : 2;
    if (b == 0 && f.kind != K::MxF4NvF4)
      d.fail("expected .kind::mxf4nvf4 with .block16");
  }
  if (d.take("ashift"))
    d.fail("tcgen05.mma.ashift is not emulated: PTX does not state which neighbour a row of A takes");
  d.maybe({"collector::a::fill", "collector::a::use", "collector::a::lastuse", "collector::a::discard"});
  d.finish();
  // [d], a, b, idesc, {[scale-A], [scale-B],} {disable,} enable {, scale-input-d}
  d.operands(f.blockScale ? 7 : 5, 7);
  std::vector<Opnd> extra;
  size_t at = 4;
  d.i.b = d.src(2, 64);
  d.i.c = d.src(3, 32);
  f.aInTmem = d.op(1).kind == Operand::Address;
  d.i.a = f.aInTmem ? d.address64(d.op(1)) : d.src(1, 64);
  if (f.blockScale) {
    extra.push_back(d.address64(d.op(4)));
    extra.push_back(d.address64(d.op(5)));
    at = 6;
  } else if (d.op(at).kind == Operand::Vector) {
    const auto &words = d.op(at).elems;
    f.disableWords = f.group == 1 ? 4 : 8;
    if (words.size() != f.disableWords)
      d.fail("expected " + std::to_string(f.disableWords) + " words of disabled lanes, got " + std::to_string(words.size()));
    for (const Operand &o : words)
      extra.push_back(d.src(o, 32));
    ++at;
  }
  if (at >= d.count())
    d.fail("expected the predicate enable-input-d");
  d.i.e = d.predSrc(d.op(at++));
  if (at < d.count()) {
    if (f.kind != K::F16 && f.kind != K::TF32)
      d.fail("expected .kind::f16 or .kind::tf32 with scale-input-d");
    uint64_t s = d.constant(d.op(at++), "scale-input-d");
    if (s > 15)
      d.fail("expected scale-input-d to be 0 to 15, got " + std::to_string(s));
    f.scaleInputD = unsigned(s);
  }
  if (at != d.count())
    d.fail("expected no more operands");
  d.i.d = d.address64(d.op(0));
  d.i.list = d.list(extra);
  d.i.ext = d.own(f);
  d.i.fn = execMma;
  d.emit();
}

void decodeCopy(Decode &d) {
  using S = tensor::TmemCopyShape;
  using F = tensor::TmemCopyFormat;
  TcgenForm f;
  f.group = d.oneOf({"cta_group::1", "cta_group::2"}, "a block group") + 1;
  switch (d.oneOf({"128x256b", "4x256b", "128x128b", "64x128b", "32x128b"}, "a shape")) {
  case 0: f.shape = S::S128x256b; break;
  case 1: f.shape = S::S4x256b; break;
  case 2: f.shape = S::S128x128b; break;
  case 3: f.shape = d.oneOf({"warpx2::02_13", "warpx2::01_23"}, "a multicast") ? S::S64x128bWarpx2_01_23 : S::S64x128bWarpx2_02_13; break;
  default:
    d.expect("warpx4");
    f.shape = S::S32x128bWarpx4;
    break;
  }
  if (d.take("b8x16"))
    f.format = d.oneOf({"b6x16_p32", "b4x16_p64"}, "a format") ? F::B8x16FromB4x16P64 : F::B8x16FromB6x16P32;
  d.finish();
  d.operands(2);
  d.i.b = d.src(1, 64);
  d.i.d = d.address64(d.op(0));
  d.i.ext = d.own(f);
  d.i.fn = execCopy;
  d.emit();
}
} // namespace

/// i.sub: 9 mma, 10 cp, 11 commit (see decodeTcgen05).
void decodeTcgen05Mma(Decode &d) {
  unsigned kind = d.i.sub;
  if (kind == 9)
    return decodeMma(d);
  if (kind == 10)
    return decodeCopy(d);
  TcgenForm f;
  f.group = d.oneOf({"cta_group::1", "cta_group::2"}, "a block group") + 1;
  d.expect("mbarrier::arrive::one");
  d.i.space = d.take("shared::cluster") ? Space::SharedCluster : Space::Generic;
  f.multicast = d.take("multicast::cluster");
  d.expect("b64");
  d.finish();
  d.operands(1 + f.multicast);
  if (f.multicast)
    d.i.b = d.src(1, 16);
  d.i.fn = execCommit;
  d.i.d = d.address64(d.op(0));
  d.i.ext = d.own(f);
  d.emit();
}

} // namespace heddle::emulator
