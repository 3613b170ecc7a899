//===- AsyncStore.cpp - st.async, red.async, st.bulk ---------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// st.async and red.async with an mbarrier take their value at once and reach the other block's
// shared memory lane by lane, later. Their forms with .release to global memory are done at
// once, which is a legal time. st.bulk clears shared memory as an ordinary weak store does.
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/core/Decoder.h"
#include "runtime/emulator/ops/Atomic.h"
#include "runtime/emulator/ops/Lanes.h"

namespace heddle::emulator {

namespace {
struct StoreOp : AsyncOp {
  uint32_t left = 0; ///< lanes not written yet
  unsigned rank[32];
  uint32_t target[32], barrier[32]; ///< shared offsets in the block of that rank
  uint8_t value[32][16];

  bool step(MachineImpl &m) override {
    const unsigned bytes = unsigned(instr->bytes) * instr->vec;
    uint32_t now = left;
    if (m.schedule != Schedule::RoundRobin && std::popcount(left) > 4)
      now &= uint32_t(m.rng.next() >> 32);
    for (; now && !m.failed; now &= now - 1) {
      int l = std::countr_zero(now);
      uint8_t *to = resolveShared(m, *this, rank[l], target[l], bytes, true, Proxy::Generic);
      if (!to)
        return true;
      if (instr->mode) { // red.async
        uint64_t b = 0;
        std::memcpy(&b, value[l], bytes);
        updateMemory(to, bytes, instr->sub, instr->ty, b, 0);
      } else {
        std::memcpy(to, value[l], bytes);
      }
      mbarrierComplete(m, *this, rank[l], barrier[l], bytes);
      left &= ~(1u << l);
    }
    return left == 0 || m.failed;
  }
};

// d: address of the mbarrier (64-bit temp), list: the elements; i.mode 1: red.async.
void execAsyncStore(Warp &w, const Instr &i) {
  auto op = std::make_shared<StoreOp>();
  uint64_t address[32];
  laneAddresses(w, i, address);
  const uint64_t *bar = lanes64(w, i.d);
  const Opnd *list = &w.program->lists[i.list];
  const uint32_t bytes = uint32_t(i.bytes) * i.vec;
  for (uint32_t m = w.exec; m; m &= m - 1) {
    int l = std::countr_zero(m);
    unsigned barRank;
    if (!sharedAddress(w, i, l, i.space, address[l], op->rank[l], op->target[l]) ||
        !sharedAddress(w, i, l, i.space, bar[l], barRank, op->barrier[l]))
      return;
    if (op->target[l] % bytes)
      return w.fail(i, ErrorKind::Misaligned, "expected an address that is a multiple of " + std::to_string(bytes) + ", got " + hex(address[l]), l);
    if (barRank != op->rank[l])
      return w.fail(i, ErrorKind::Operand, "expected the mbarrier in the block of the destination, rank " + std::to_string(op->rank[l]) + ", got rank " + std::to_string(barRank), l);
    if (!findMbarrier(w, i, l, barRank, op->barrier[l]))
      return;
    for (unsigned v = 0; v < i.vec; ++v) {
      uint64_t x = i.bytes == 8 ? lanes64(w, list[v])[l] : lanes32(w, list[v])[l];
      std::memcpy(op->value[l] + v * i.bytes, &x, i.bytes);
    }
    op->writesShared |= 1u << op->rank[l];
  }
  op->kind = AsyncKind::StoreAsync;
  op->cta = w.cta;
  op->at = w.ref(i);
  op->instr = &i;
  op->lanes = op->left = w.exec;
  w.m->submit(*w.cta->cluster, op);
}

/// st.async.release and red.async.release to global memory; i.mode 1: red.
void execRelease(Warp &w, const Instr &i) {
  alignas(64) uint64_t address[32];
  uint8_t *host[32];
  laneAddresses(w, i, address);
  const uint8_t flags = i.mode ? AccRead | AccWrite | AccAtomic : AccWrite;
  if (!resolve(w, i, i.space, address, i.bytes, uint8_t(flags), host))
    return;
  forLanes(w.exec, [&](int l) {
    uint64_t x = i.bytes == 8 ? lanes64(w, i.b)[l] : lanes32(w, i.b)[l];
    updateMemory(host[l], i.bytes, i.mode ? i.sub : uint8_t(AExch), i.ty, x, 0);
  });
  w.m->noteProgress();
}

void execBulkStore(Warp &w, const Instr &i) { // b: size
  uint64_t address[32], line[32];
  uint8_t *host[32];
  laneAddresses(w, i, address);
  const uint64_t *size = lanes64(w, i.b);
  const uint32_t lanes = w.exec;
  for (uint32_t m = lanes; m; m &= m - 1) {
    int l = std::countr_zero(m);
    if (size[l] % 8 || size[l] > 16777216)
      return w.fail(i, ErrorKind::Operand, "expected a size that is a multiple of 8 up to 16777216, got " + std::to_string(size[l]), l);
    w.exec = 1u << l;
    for (uint64_t at = 0; at < size[l]; at += 8) {
      line[l] = address[l] + at;
      if (!resolve(w, i, i.space, line, 8, AccWrite, host))
        return;
      std::memset(host[l], 0, 8);
    }
  }
  w.exec = lanes;
  w.m->noteProgress();
}

void decodeBulkStore(Decode &d) {
  d.needCapability(10, 0);
  d.take("weak");
  d.i.space = d.take("shared::cta") || d.take("shared") ? Space::Shared : Space::Generic;
  d.finish();
  d.operands(3);
  if (d.constant(d.op(2), "the initial value"))
    d.fail("expected the initial value 0");
  d.i.b = d.src(1, 64);
  if (d.address(d.op(0)) == Space::Shared)
    d.i.space = Space::Shared;
  d.i.fn = execBulkStore;
  d.emit();
}

void decodeRelease(Decode &d) {
  d.needCapability(10, 0);
  d.i.scope = d.oneOf({"gpu", "sys"}, "a scope (.gpu, .sys)") ? Scope::Sys : Scope::Gpu;
  d.i.sem = Sem::Release;
  d.i.space = d.take("global") ? Space::Global : Space::Generic;
  if (d.i.mode) {
    d.expect("add");
    d.i.sub = AAdd;
    d.i.ty = d.type({Ty::U32, Ty::S32, Ty::U64});
  } else {
    d.i.ty = d.type({Ty::B32, Ty::B64, Ty::U32, Ty::U64, Ty::S32, Ty::S64, Ty::F32, Ty::F64});
  }
  d.finish();
  d.operands(2);
  d.i.bytes = uint8_t(tyBits(d.i.ty) / 8);
  d.i.b = d.srcTy(d.op(1), d.i.ty);
  if (Space named = d.address(d.op(0)); named != Space::Generic && named != Space::Global)
    d.fail("expected global memory");
  d.i.fn = execRelease;
  d.emit();
}
} // namespace

void decodeAsyncStore(Decode &d) {
  if (d.take("bulk"))
    return decodeBulkStore(d);
  d.expect("async");
  d.i.mode = d.root() == "red";
  bool mmio = d.take("mmio");
  if (mmio || d.peek() == "release") {
    d.expect("release");
    return decodeRelease(d);
  }
  d.need(target::Feature::Clusters);
  d.i.sem = Sem::Weak;
  d.i.scope = Scope::Cluster;
  if (d.i.mode) {
    d.expect("relaxed");
    d.expect("cluster");
    d.i.sem = Sem::Relaxed;
  } else if (!d.take("weak")) {
    d.take("cluster");
  }
  d.i.space = d.take("shared::cluster") ? Space::SharedCluster : Space::Generic;
  d.expect("mbarrier::complete_tx::bytes");
  if (d.i.mode) {
    d.i.sub = uint8_t(d.oneOf({"add", "min", "max", "inc", "dec", "and", "or", "xor"}, "an operation"));
    switch (d.i.sub) {
    case AAdd: d.i.ty = d.type({Ty::U32, Ty::S32, Ty::U64, Ty::S64}); break;
    case AMin:
    case AMax: d.i.ty = d.type({Ty::U32, Ty::S32}); break;
    case AInc:
    case ADec: d.i.ty = d.type({Ty::U32}); break;
    default: d.i.ty = d.type({Ty::B32}); break;
    }
  } else {
    d.i.vec = d.take("v2") ? 2 : d.take("v4") ? 4 : 1;
    d.i.ty = d.type({Ty::B32, Ty::B64, Ty::U32, Ty::U64, Ty::S32, Ty::S64, Ty::F32, Ty::F64});
  }
  d.finish();
  d.operands(3);
  d.i.bytes = uint8_t(tyBits(d.i.ty) / 8);
  if (unsigned(d.i.bytes) * d.i.vec > 16)
    d.fail("expected at most 16 bytes");
  std::vector<Opnd> elements;
  if (d.i.vec > 1) {
    const auto &list = d.vector(d.op(1), "the elements");
    if (list.size() != d.i.vec)
      d.fail("expected " + std::to_string(d.i.vec) + " elements, got " + std::to_string(list.size()));
    for (const Operand &o : list)
      elements.push_back(d.srcTy(o, d.i.ty));
  } else {
    elements.push_back(d.srcTy(d.op(1), d.i.ty));
  }
  d.i.list = d.list(elements);
  Opnd bar = d.address64(d.op(2));
  Space named = d.address(d.op(0));
  if (named != Space::Generic && named != Space::Shared)
    d.fail("expected shared memory");
  if (d.i.space == Space::Generic && d.i.ty2 == Ty::B32)
    d.i.space = Space::SharedCluster;
  d.i.d = bar;
  d.i.fn = execAsyncStore;
  d.emit();
}

} // namespace heddle::emulator
