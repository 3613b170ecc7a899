//===- Atomic.cpp - atom and red -----------------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/core/Decoder.h"
#include "runtime/emulator/ops/Atomic.h"
#include "runtime/emulator/ops/Lanes.h"
#include "runtime/emulator/tensor/Numeric.h"

#include <cmath>

namespace heddle::emulator {

using tensor::Elem;

uint64_t combine(uint8_t op, Ty t, uint64_t old, uint64_t b, uint64_t c) {
  switch (op) {
  case AExch: return b;
  case ACas: return old == b ? c : old;
  case AAnd: return old & b;
  case AOr: return old | b;
  case AXor: return old ^ b;
  case AInc: return uint32_t(old) >= uint32_t(b) ? 0 : uint32_t(old) + 1;
  case ADec: return uint32_t(old) == 0 || uint32_t(old) > uint32_t(b) ? uint32_t(b) : uint32_t(old) - 1;
  default: break;
  }
  switch (t) {
  case Ty::U32:
    if (op == AAdd)
      return uint32_t(old + b);
    return op == AMin ? std::min(uint32_t(old), uint32_t(b)) : std::max(uint32_t(old), uint32_t(b));
  case Ty::S32:
    if (op == AAdd)
      return uint32_t(old + b);
    return uint32_t(op == AMin ? std::min(int32_t(old), int32_t(b)) : std::max(int32_t(old), int32_t(b)));
  case Ty::U64:
    if (op == AAdd)
      return old + b;
    return op == AMin ? std::min(old, b) : std::max(old, b);
  case Ty::S64:
    if (op == AAdd)
      return old + b;
    return uint64_t(op == AMin ? std::min(int64_t(old), int64_t(b)) : std::max(int64_t(old), int64_t(b)));
  case Ty::F32: {
    float x = tensor::asFloat(uint32_t(old)), y = tensor::asFloat(uint32_t(b));
    return tensor::asBits(op == AAdd ? tensor::addF32(x, y) : op == AMin ? tensor::minF32(x, y) : tensor::maxF32(x, y));
  }
  case Ty::F64: return std::bit_cast<uint64_t>(tensor::addF64(std::bit_cast<double>(old), std::bit_cast<double>(b)));
  case Ty::F16:
  case Ty::BF16: {
    Elem e = t == Ty::F16 ? Elem::F16 : Elem::BF16;
    return op == AAdd   ? tensor::add16(e, uint16_t(old), uint16_t(b))
           : op == AMin ? tensor::min16(e, uint16_t(old), uint16_t(b))
                        : tensor::max16(e, uint16_t(old), uint16_t(b));
  }
  case Ty::F16x2:
  case Ty::BF16x2: {
    Elem e = t == Ty::F16x2 ? Elem::F16 : Elem::BF16;
    return op == AAdd   ? tensor::add16x2(e, uint32_t(old), uint32_t(b))
           : op == AMin ? tensor::min16x2(e, uint32_t(old), uint32_t(b))
                        : tensor::max16x2(e, uint32_t(old), uint32_t(b));
  }
  default: return old;
  }
}

/// A truly atomic update, as other processes may share the memory.
template <class T> static uint64_t update(uint8_t *p, uint8_t op, Ty t, uint64_t b, uint64_t c) {
  T *at = reinterpret_cast<T *>(p);
  T old = __atomic_load_n(at, __ATOMIC_ACQUIRE);
  while (!__atomic_compare_exchange_n(at, &old, T(combine(op, t, old, b, c)), false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    ;
  return old;
}
uint64_t updateMemory(uint8_t *p, unsigned bytes, uint8_t op, Ty t, uint64_t b, uint64_t c) {
  switch (bytes) {
  case 2: return update<uint16_t>(p, op, t, b & 0xffff, c & 0xffff);
  case 4: return update<uint32_t>(p, op, t, b, c);
  default: return update<uint64_t>(p, op, t, b, c);
  }
}

namespace {

void execAtomic(Warp &w, const Instr &i) {
  alignas(64) uint64_t address[32];
  uint8_t *host[32];
  laneAddresses(w, i, address);
  uint32_t total = uint32_t(i.bytes) * i.vec;
  if (!resolve(w, i, i.space, address, total, AccRead | AccWrite | AccAtomic, host))
    return;
  const Opnd *src = i.vec > 1 ? &w.program->lists[i.list] : &i.b;
  const Opnd *dst = i.vec > 1 ? src + i.vec : &i.d;
  bool changed = false;
  for (uint32_t m = w.exec; m; m &= m - 1) {
    int l = std::countr_zero(m);
    if (i.bytes == 16) {
      uint64_t *p = reinterpret_cast<uint64_t *>(host[l]);
      uint64_t lo = p[0], hi = p[1];
      const uint64_t *b = lanes64(w, i.b);
      if (i.sub == AExch) {
        p[0] = b[l];
        p[1] = b[l + 32];
        changed = true;
      } else if (lo == b[l] && hi == b[l + 32]) {
        p[0] = lanes64(w, i.c)[l];
        p[1] = lanes64(w, i.c)[l + 32];
        changed = true;
      }
      if (!i.d.none()) {
        lanes64(w, i.d)[l] = lo;
        lanes64(w, i.d)[l + 32] = hi;
      }
      continue;
    }
    for (unsigned v = 0; v < i.vec; ++v) {
      uint64_t b = i.bytes == 8 ? lanes64(w, src[v])[l] : lanes32(w, src[v])[l];
      uint64_t c = i.c.none() ? 0 : i.bytes == 8 ? lanes64(w, i.c)[l] : lanes32(w, i.c)[l];
      uint8_t *p = host[l] + v * i.bytes;
      uint64_t old = updateMemory(p, i.bytes, i.sub, i.ty, b, c);
      changed |= combine(i.sub, i.ty, old, b, c) != old;
      if (i.mode || dst[v].none())
        continue;
      if (i.bytes == 8)
        lanes64(w, dst[v])[l] = old;
      else
        lanes32(w, dst[v])[l] = uint32_t(old);
    }
  }
  if (changed) {
    w.m->noteProgress();
  } else {
    w.m->poll();
    w.signal |= SigYield;
  }
}

void decodeAtomic(Decode &d) {
  bool red = d.root() == "red";
  if (red && d.peek() == "async")
    return decodeAsyncStore(d);
  d.i.mode = red;
  Sem s = d.semantics(false);
  if (red && (s == Sem::Acquire || s == Sem::AcqRel))
    d.fail("expected .relaxed or .release");
  if (s == Sem::Weak) {
    d.i.sem = Sem::Relaxed;
    d.scope();
    if (d.i.scope == Scope::None)
      d.i.scope = Scope::Gpu;
  } else if (d.i.scope == Scope::None) {
    d.i.scope = Scope::Gpu;
  }
  switch (d.maybe({"global", "shared", "shared::cta", "shared::cluster"})) {
  case 0: d.i.space = Space::Global; break;
  case 1:
  case 2: d.i.space = Space::Shared; break;
  case 3: d.i.space = Space::SharedCluster; break;
  default: d.i.space = Space::Generic; break;
  }
  bool hint = false;
  auto vec = [&] {
    hint |= d.take("L2::cache_hint");
    int v = d.maybe({"v2", "v4", "v8"});
    if (v >= 0)
      d.i.vec = uint8_t(2u << v);
  };
  vec();
  unsigned op = d.oneOf({"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"}, "an operation");
  d.i.sub = uint8_t(op);
  if (d.take("noftz") || d.take("ftz")) {
  }
  vec();
  Ty t = Ty::None;
  bool vector = d.i.vec > 1;
  if (vector) {
    d.needCapability(9, 0);
    if (d.i.space != Space::Global && d.i.space != Space::Generic)
      d.fail("expected .global with a vector");
    if (op > AMax)
      d.fail("expected .add, .min or .max with a vector");
    t = op == AAdd ? d.type({Ty::F32, Ty::F16, Ty::BF16, Ty::F16x2, Ty::BF16x2}) : d.type({Ty::F16, Ty::BF16, Ty::F16x2, Ty::BF16x2});
  } else {
    switch (op) {
    case AAdd: t = d.type({Ty::U32, Ty::S32, Ty::U64, Ty::S64, Ty::F32, Ty::F64, Ty::F16, Ty::BF16, Ty::F16x2, Ty::BF16x2}); break;
    case AMin:
    case AMax: t = d.type({Ty::U32, Ty::S32, Ty::U64, Ty::S64}); break;
    case AInc:
    case ADec: t = d.type({Ty::U32}); break;
    case AExch: t = d.type({Ty::B32, Ty::B64, Ty::B128}); break;
    case ACas: t = d.type({Ty::B16, Ty::B32, Ty::B64, Ty::B128}); break;
    default: t = d.type({Ty::B32, Ty::B64}); break;
    }
  }
  if (t == Ty::S64 && op == AAdd)
    d.fail("expected .u64 to add");
  hint |= d.take("L2::cache_hint");
  d.finish();
  d.i.ty = t;
  d.i.bytes = uint8_t(tyBits(t) / 8);
  if (t == Ty::B128)
    d.needCapability(9, 0);
  if (red && op >= AExch)
    d.fail("red knows no such operation");
  bool needOld = !red;
  size_t n = (needOld ? 1 : 0) + 2 + (op == ACas) + hint;
  d.operands(n);
  size_t at = needOld ? 1 : 0;
  Space named = d.address(d.op(at));
  if (named != Space::Generic && named != d.i.space)
    d.fail("the variable is in another state space");
  ++at;
  unsigned bits = tyBits(t);
  if (vector) {
    std::vector<Opnd> regs;
    for (const Operand &o : d.vector(d.op(at), "the operands"))
      regs.push_back(d.srcTy(o, t));
    if (regs.size() != d.i.vec)
      d.fail("expected " + std::to_string(d.i.vec) + " elements, got " + std::to_string(regs.size()));
    for (unsigned v = 0; v < d.i.vec; ++v) {
      if (!needOld) {
        regs.push_back(Opnd{});
        continue;
      }
      const auto &out = d.vector(d.op(0), "the results");
      if (out.size() != d.i.vec)
        d.fail("expected " + std::to_string(d.i.vec) + " results, got " + std::to_string(out.size()));
      regs.push_back(out[v].kind == Operand::Sink ? Opnd{} : d.dst(out[v], bits));
    }
    d.i.list = d.list(regs);
  } else {
    d.i.b = d.srcTy(d.op(at), t);
    if (op == ACas)
      d.i.c = d.src(at + 1, bits);
    if (needOld && d.op(0).kind != Operand::Sink)
      d.i.d = d.dst(0, bits);
  }
  if (hint)
    d.src(n - 1, 64);
  d.i.fn = execAtomic;
  d.emit();
}
} // namespace

void registerAtomic(OpTable &t) { t["atom"] = t["red"] = decodeAtomic; }

} // namespace heddle::emulator
