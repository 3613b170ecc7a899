//===- LoadStore.cpp - ld, st, prefetch, discard -------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/core/Decoder.h"
#include "runtime/emulator/ops/Lanes.h"

namespace heddle::emulator {

namespace {
template <class T> T loadAs(const uint8_t *p, Sem sem) {
  if (sem != Sem::Weak)
    return __atomic_load_n(reinterpret_cast<const T *>(p), __ATOMIC_ACQUIRE);
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class T> void storeAs(uint8_t *p, T v, Sem sem) {
  if (sem != Sem::Weak)
    __atomic_store_n(reinterpret_cast<T *>(p), v, __ATOMIC_RELEASE);
  else
    std::memcpy(p, &v, sizeof v);
}

/// A strong read that saw what one of the last few did is polling.
void notePoll(Warp &w, const Instr &i, uint64_t value) {
  auto signature = uint32_t((uint64_t(i.line) * 0x9e3779b97f4a7c15 ^ value * 0xc2b2ae3d27d4eb4f) >> 29);
  for (uint32_t seen : w.polled)
    if (seen == signature) {
      w.m->poll();
      w.signal |= SigYield;
      return;
    }
  w.polled[w.polledNext++ % 4] = signature;
}

void execLoad(Warp &w, const Instr &i) {
  alignas(64) uint64_t address[32];
  uint8_t *host[32];
  laneAddresses(w, i, address);
  if (!resolve(w, i, i.space, address, uint32_t(i.bytes) * i.vec, AccRead, host))
    return;
  const Opnd *list = i.vec > 1 ? &w.program->lists[i.list] : &i.d;
  const bool narrowSign = tySigned(i.ty);
  uint64_t sum = 0;
  for (unsigned v = 0; v < i.vec; ++v) {
    if (list[v].none())
      continue;
    uint32_t *d32 = lanes32(w, list[v]);
    uint64_t *d64 = lanes64(w, list[v]);
    unsigned off = v * i.bytes;
    switch (i.bytes) {
    case 4:
      if (i.mode) // into a 64-bit register
        forLanes(w.exec, [&](int l) {
          uint32_t x = loadAs<uint32_t>(host[l] + off, i.sem);
          d64[l] = narrowSign ? uint64_t(int64_t(int32_t(x))) : x;
        });
      else
        forLanes(w.exec, [&](int l) { d32[l] = loadAs<uint32_t>(host[l] + off, i.sem); });
      break;
    case 8: forLanes(w.exec, [&](int l) { d64[l] = loadAs<uint64_t>(host[l] + off, i.sem); }); break;
    case 16:
      forLanes(w.exec, [&](int l) {
        std::memcpy(&d64[l], host[l] + off, 8);
        std::memcpy(&d64[l + 32], host[l] + off + 8, 8);
      });
      break;
    default:
      forLanes(w.exec, [&](int l) {
        uint32_t x = i.bytes == 1 ? loadAs<uint8_t>(host[l] + off, i.sem) : loadAs<uint16_t>(host[l] + off, i.sem);
        if (narrowSign)
          x = uint32_t(i.bytes == 1 ? int32_t(int8_t(x)) : int32_t(int16_t(x)));
        if (i.mode == 2)
          d64[l] = narrowSign ? uint64_t(int64_t(int32_t(x))) : x;
        else
          d32[l] = i.mode == 0 ? x & 0xffff : x;
      });
      break;
    }
    if (i.sem != Sem::Weak) {
      int l = firstLane(w.exec);
      sum = sum * 31 + (i.bytes == 8 ? d64[l] : d32[l]);
    }
  }
  if (i.sem != Sem::Weak)
    notePoll(w, i, sum);
}

void execStore(Warp &w, const Instr &i) {
  alignas(64) uint64_t address[32];
  uint8_t *host[32];
  laneAddresses(w, i, address);
  if (!resolve(w, i, i.space, address, uint32_t(i.bytes) * i.vec, AccWrite, host))
    return;
  const Opnd *list = i.vec > 1 ? &w.program->lists[i.list] : &i.b;
  for (unsigned v = 0; v < i.vec; ++v) {
    const uint32_t *s32 = lanes32(w, list[v]);
    const uint64_t *s64 = lanes64(w, list[v]);
    unsigned off = v * i.bytes;
    switch (i.bytes) {
    case 1:
      // A wider register's low byte sits first in its word either way.
      forLanes(w.exec, [&](int l) { storeAs<uint8_t>(host[l] + off, uint8_t(i.mode == 2 ? s64[l] : s32[l]), i.sem); });
      break;
    case 2: forLanes(w.exec, [&](int l) { storeAs<uint16_t>(host[l] + off, uint16_t(i.mode == 2 ? s64[l] : s32[l]), i.sem); }); break;
    case 4: forLanes(w.exec, [&](int l) { storeAs<uint32_t>(host[l] + off, i.mode == 2 ? uint32_t(s64[l]) : s32[l], i.sem); }); break;
    case 8: forLanes(w.exec, [&](int l) { storeAs<uint64_t>(host[l] + off, s64[l], i.sem); }); break;
    default:
      forLanes(w.exec, [&](int l) {
        std::memcpy(host[l] + off, &s64[l], 8);
        std::memcpy(host[l] + off + 8, &s64[l + 32], 8);
      });
      break;
    }
  }
  w.m->noteProgress();
}

Space takeSpace(Decode &d) {
  switch (d.maybe({"global", "shared", "shared::cta", "shared::cluster", "local", "param", "param::entry", "param::func", "const"})) {
  case 0: return Space::Global;
  case 1:
  case 2: return Space::Shared;
  case 3: d.need(target::Feature::Clusters); return Space::SharedCluster;
  case 4: return Space::Local;
  case 5:
  case 6: return Space::Param;
  case 7: return Space::Local;
  case 8: return Space::Const;
  default: return Space::Generic;
  }
}

/// Cache operators, eviction priorities and prefetch sizes; they do not change results.
bool takeHints(Decode &d) {
  bool hint = false;
  for (bool more = true; more;) {
    more = d.maybe({"ca", "cg", "cs", "lu", "cv", "wb", "wt", "L1::evict_normal", "L1::evict_unchanged", "L1::evict_first",
                    "L1::evict_last", "L1::no_allocate", "L2::evict_normal", "L2::evict_first", "L2::evict_last", "L2::64B",
                    "L2::128B", "L2::256B", "unified"}) >= 0;
    if (!more && d.take("L2::cache_hint"))
      hint = more = true;
  }
  return hint;
}

void decodeLdSt(Decode &d) {
  bool load = d.root() != "st";
  if (!load && (d.peek() == "async" || d.peek() == "bulk"))
    return decodeAsyncStore(d);
  bool nc = false;
  if (d.root() == "ldu") {
    d.i.sem = Sem::Weak;
  } else if (d.take("mmio")) {
    d.i.sem = Sem::Volatile;
    d.expect("relaxed");
    d.expect("sys");
    d.i.scope = Scope::Sys;
  } else {
    Sem s = d.semantics(true);
    if (load ? s == Sem::Release || s == Sem::AcqRel : s == Sem::Acquire || s == Sem::AcqRel)
      d.fail("ordering does not fit a load or store");
    if (s != Sem::Weak && s != Sem::Volatile && d.i.scope == Scope::None)
      d.fail("expected a scope (.cta, .cluster, .gpu, .sys)");
    if (s == Sem::Volatile)
      d.i.scope = Scope::Sys;
  }
  d.i.space = takeSpace(d);
  bool hint = takeHints(d);
  if (load && d.take("nc"))
    nc = true;
  hint |= takeHints(d);
  if (d.take("v2"))
    d.i.vec = 2;
  else if (d.take("v4"))
    d.i.vec = 4;
  else if (d.take("v8"))
    d.i.vec = 8;
  Ty t = d.type({Ty::B8, Ty::B16, Ty::B32, Ty::B64, Ty::B128, Ty::U8, Ty::U16, Ty::U32, Ty::U64, Ty::S8, Ty::S16,
                 Ty::S32, Ty::S64, Ty::F16, Ty::BF16, Ty::F16x2, Ty::BF16x2, Ty::F32, Ty::F64});
  d.finish();
  d.operands(2, 3);
  if (hint != (d.count() == 3))
    d.fail("expected a cache policy operand with .L2::cache_hint and only then");
  if (hint)
    d.src(2, 64);
  if (nc && d.i.space != Space::Global && d.i.space != Space::Generic)
    d.fail("expected .global with .nc");
  d.i.ty = t;
  d.i.bytes = uint8_t(tyBits(t) / 8);
  unsigned total = d.i.bytes * d.i.vec;
  if (total > 16) {
    if (total > 32 || d.i.space != Space::Global)
      d.fail("expected an access of at most 16 bytes");
    d.needCapability(10, 0);
  }
  const Operand &where = d.op(load ? 1 : 0), &what = d.op(load ? 0 : 1);
  Space named = d.address(where);
  // A parameter of a call lives in local memory, one of the entry in the parameter buffer.
  if (d.i.space == Space::Param || (d.i.space == Space::Local && named != Space::Generic)) {
    if (named == Space::Local || named == Space::Param)
      d.i.space = named;
    else if (named != Space::Generic)
      d.fail("the variable is in another state space");
  } else if (named != Space::Generic && d.i.space != named &&
             !(d.i.space == Space::SharedCluster && named == Space::Shared)) {
    if (d.i.space == Space::Generic)
      d.fail("expected a state space: the address names a variable");
    d.fail("the variable is in another state space");
  }
  if (!load && (d.i.space == Space::Param || d.i.space == Space::Const))
    d.fail("parameters and constants cannot be written");
  // i.mode: how narrow values sit in the register: 0 16-bit, 1 32-bit, 2 64-bit.
  std::vector<Opnd> regs;
  auto one = [&](const Operand &o) {
    unsigned bits = tyBits(t), r = d.regBits(o);
    unsigned mode = 0;
    if (bits < 64)
      mode = r == 64 ? 2 : r == 32 && bits < 32 ? 1 : 0;
    if (d.isReg(o))
      d.i.mode = uint8_t(mode);
    if (load && o.kind == Operand::Sink)
      regs.push_back(Opnd{});
    else
      regs.push_back(load ? d.dstWide(o, bits) : d.srcWide(o, bits));
  };
  if (d.i.vec > 1) {
    const auto &list = d.vector(what, "the elements");
    if (list.size() != d.i.vec)
      d.fail("expected " + std::to_string(d.i.vec) + " elements, got " + std::to_string(list.size()));
    for (const Operand &o : list)
      one(o);
    d.i.list = d.list(regs);
    d.i.count = uint16_t(regs.size());
  } else {
    one(what.kind == Operand::Vector && what.elems.size() == 1 ? what.elems[0] : what);
    (load ? d.i.d : d.i.b) = regs[0];
  }
  if (load && d.i.bytes == 4)
    d.i.mode = d.i.mode == 2;
  d.i.fn = load ? execLoad : execStore;
  d.emit();
}

void execNothing(Warp &, const Instr &) {}

void decodePrefetch(Decode &d) {
  if (d.root() == "prefetchu") {
    d.expect("L1");
  } else {
    if (d.take("param") || d.take("param::entry") || d.take("const")) {
      d.expect("tensormap");
      d.need(target::Feature::BulkTensorCopy);
    } else if (d.take("tensormap")) {
      d.need(target::Feature::BulkTensorCopy);
    } else {
      d.maybe({"global", "local"});
      d.oneOf({"L1", "L2", "L2::evict_last", "L2::evict_normal"}, "a cache");
    }
  }
  d.finish();
  d.operands(1);
  d.address(d.op(0));
  d.i.fn = execNothing;
  d.emit();
}

void decodeDiscard(Decode &d) { // applypriority, discard
  d.maybe({"global"});
  if (d.root() == "discard")
    d.expect("L2");
  else
    d.expect("L2::evict_normal");
  d.finish();
  d.operands(2);
  d.address(d.op(0));
  if (d.constant(d.op(1), "the size") != 128)
    d.fail("expected a size of 128");
  d.i.fn = execNothing;
  d.emit();
}
} // namespace

void registerLoadStore(OpTable &t) {
  t["ld"] = t["st"] = t["ldu"] = decodeLdSt;
  t["prefetch"] = t["prefetchu"] = decodePrefetch;
  t["discard"] = t["applypriority"] = decodeDiscard;
}

} // namespace heddle::emulator
