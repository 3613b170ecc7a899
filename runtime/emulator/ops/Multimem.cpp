//===- Multimem.cpp - multimem.ld_reduce, .st, .red ----------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A multicast object (Machine::multicast) stands for the same range of several allocations,
// mostly one a device. Each instruction visits its members in their order; hardware leaves
// the order of a floating-point reduction open. Every member's access is checked and observed
// as an ordinary one.
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/core/Decoder.h"
#include "runtime/emulator/ops/Atomic.h"
#include "runtime/emulator/ops/Lanes.h"
#include "runtime/emulator/tensor/Numeric.h"

namespace heddle::emulator {

namespace {
/// i.mode
enum Kind : uint8_t { LdReduce, St, Red };

bool packed(Ty t) { return t == Ty::F16x2 || t == Ty::BF16x2; }

/// The object that holds all lanes' addresses; null after w.fail.
const Multicast *objectOf(Warp &w, const Instr &i, const uint64_t *address, uint32_t bytes) {
  const Multicast *found = nullptr;
  for (uint32_t m = w.exec; m; m &= m - 1) {
    int l = std::countr_zero(m);
    const Multicast *object = w.m->findMulticast(address[l]);
    if (!object || address[l] - object->base + bytes > object->bytes) {
      w.fail(i, ErrorKind::OutOfBounds, "expected an address of a multicast object, got " + hex(address[l]), l);
      return nullptr;
    }
    if (found && object != found) {
      w.fail(i, ErrorKind::Operand, "lanes name different multicast objects", l);
      return nullptr;
    }
    found = object;
  }
  return found;
}

/// Partial sums of f16 and bf16 in f32 (.acc::f32).
struct WideSum {
  float part[32][8][2];
};

float part(Ty t, uint32_t bits, unsigned half) {
  auto v = uint16_t(bits >> (16 * half));
  return t == Ty::F16 || t == Ty::F16x2 ? tensor::decodeF16(v) : tensor::decodeBF16(v);
}
uint32_t round16(Ty t, float v) {
  return tensor::encode(t == Ty::F16 || t == Ty::F16x2 ? tensor::Elem::F16 : tensor::Elem::BF16, v);
}

void execMultimem(Warp &w, const Instr &i) {
  alignas(64) uint64_t address[32], member[32];
  uint8_t *host[32];
  laneAddresses(w, i, address);
  const uint32_t bytes = uint32_t(i.bytes) * i.vec;
  const Multicast *object = objectOf(w, i, address, bytes);
  if (!object)
    return;
  const Opnd *list = &w.program->lists[i.list];
  const bool wide = i.round; // .acc::f32
  WideSum sums;
  uint64_t result[8][32];
  const uint8_t flags = i.mode == LdReduce ? AccRead : i.mode == St ? AccWrite : AccRead | AccWrite | AccAtomic;
  bool first = true;
  for (uint64_t base : object->members) {
    for (uint32_t m = w.exec; m; m &= m - 1) {
      int l = std::countr_zero(m);
      member[l] = base + (address[l] - object->base);
    }
    if (!resolve(w, i, Space::Global, member, bytes, uint8_t(flags), host))
      return;
    for (unsigned v = 0; v < i.vec; ++v)
      forLanes(w.exec, [&](int l) {
        uint8_t *p = host[l] + v * i.bytes;
        uint64_t x = 0;
        if (i.mode == LdReduce) {
          std::memcpy(&x, p, i.bytes);
          for (unsigned h = 0; wide && h < (packed(i.ty) ? 2u : 1u); ++h) {
            float f = part(i.ty, uint32_t(x), h);
            sums.part[l][v][h] = first ? f : tensor::addF32(sums.part[l][v][h], f);
          }
          result[v][l] = first ? x : combine(i.sub, i.ty, result[v][l], x, 0);
          return;
        }
        x = i.bytes == 8 ? lanes64(w, list[v])[l] : lanes32(w, list[v])[l];
        updateMemory(p, i.bytes, i.mode == Red ? i.sub : uint8_t(AExch), i.ty, x, 0);
      });
    first = false;
  }
  if (i.mode != LdReduce) {
    w.m->noteProgress();
    return;
  }
  for (unsigned v = 0; v < i.vec; ++v)
    forLanes(w.exec, [&](int l) {
      uint64_t x = result[v][l];
      if (wide)
        x = round16(i.ty, sums.part[l][v][0]) | (packed(i.ty) ? round16(i.ty, sums.part[l][v][1]) << 16 : 0);
      if (i.bytes == 8)
        lanes64(w, list[v])[l] = x;
      else
        lanes32(w, list[v])[l] = uint32_t(x);
    });
  if (i.sem != Sem::Weak) {
    w.m->poll();
    w.signal |= SigYield;
  }
}

void decodeMultimem(Decode &d) {
  d.needCapability(9, 0);
  d.need(target::Feature::Clusters);
  unsigned kind = d.oneOf({"ld_reduce", "st", "red"}, "an operation");
  d.i.mode = uint8_t(kind);
  Sem s = d.semantics(kind != Red);
  if (s == Sem::Volatile || s == Sem::AcqRel || (kind == LdReduce ? s == Sem::Release : s == Sem::Acquire))
    d.fail("ordering does not fit the operation");
  if (s != Sem::Weak && d.i.scope == Scope::None)
    d.fail("expected a scope (.cta, .cluster, .gpu, .sys)");
  if (kind == Red && s == Sem::Weak) {
    d.i.sem = Sem::Relaxed;
    d.i.scope = Scope::Sys;
  }
  d.i.space = d.take("global") ? Space::Global : Space::Generic;
  if (kind != St) {
    static constexpr uint8_t ops[] = {AAdd, AMin, AMax, AAnd, AOr, AXor};
    d.i.sub = ops[d.oneOf({"add", "min", "max", "and", "or", "xor"}, "an operation")];
  }
  bool wide = kind == LdReduce && d.take("acc::f32");
  if (d.peek() == "acc::f16")
    d.fail("fp8 reductions are not emulated");
  int vec = d.maybe({"v2", "v4", "v8"});
  d.i.vec = uint8_t(vec < 0 ? 1 : 2u << vec);
  if (d.peek().substr(0, 4) == "e4m3" || d.peek().substr(0, 4) == "e5m2")
    d.fail("fp8 types of multimem are not emulated");
  Ty t;
  if (kind == St)
    t = d.type({Ty::B32, Ty::B64, Ty::U32, Ty::U64, Ty::S32, Ty::S64, Ty::F16, Ty::F16x2, Ty::BF16, Ty::BF16x2, Ty::F32, Ty::F64});
  else if (d.i.sub == AAdd)
    t = d.type({Ty::U32, Ty::S32, Ty::U64, Ty::F16, Ty::F16x2, Ty::BF16, Ty::BF16x2, Ty::F32, Ty::F64});
  else if (d.i.sub == AMin || d.i.sub == AMax)
    t = d.type({Ty::U32, Ty::S32, Ty::U64, Ty::S64, Ty::F16, Ty::F16x2, Ty::BF16, Ty::BF16x2});
  else
    t = d.type({Ty::B32, Ty::B64});
  d.finish();
  d.operands(2);
  d.i.ty = t;
  d.i.bytes = uint8_t(tyBits(t) / 8);
  const bool sixteen = t == Ty::F16 || t == Ty::BF16 || packed(t);
  if (wide && !(sixteen && d.i.sub == AAdd))
    d.fail("expected .add of f16 or bf16 with .acc::f32");
  d.i.round = wide;
  const unsigned total = unsigned(d.i.bytes) * d.i.vec;
  if (d.i.vec > 1 && !(sixteen || t == Ty::F32))
    d.fail("expected a floating-point type of at most 32 bits with a vector");
  if (total != 4 && total != 8 && total != 16)
    d.fail("expected 4, 8 or 16 bytes, got " + std::to_string(total));
  const Operand &where = d.op(kind == LdReduce ? 1 : 0), &what = d.op(kind == LdReduce ? 0 : 1);
  std::vector<Opnd> regs;
  auto one = [&](const Operand &o) { regs.push_back(kind == LdReduce ? d.dst(o, tyBits(t)) : d.srcTy(o, t)); };
  if (d.i.vec > 1) {
    const auto &elements = d.vector(what, "the elements");
    if (elements.size() != d.i.vec)
      d.fail("expected " + std::to_string(d.i.vec) + " elements, got " + std::to_string(elements.size()));
    for (const Operand &o : elements)
      one(o);
  } else {
    one(what);
  }
  d.i.list = d.list(regs);
  if (d.address(where) != Space::Generic)
    d.fail("expected an address of a multicast object, got a variable");
  d.i.fn = execMultimem;
  d.emit();
}
} // namespace

void registerMultimem(OpTable &t) { t["multimem"] = decodeMultimem; }

} // namespace heddle::emulator
