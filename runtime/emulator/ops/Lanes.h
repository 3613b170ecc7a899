//===- Lanes.h - loops over the lanes of a warp --------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_EMULATOR_OPS_LANES_H
#define HEDDLE_EMULATOR_OPS_LANES_H

#include "runtime/emulator/core/Machine.h"

#include <cstring>

namespace heddle::emulator {

template <class F> inline void forLanes(uint32_t mask, F &&f) {
  if (mask == ~0u) {
    for (int l = 0; l < 32; ++l)
      f(l);
    return;
  }
  while (mask) {
    f(std::countr_zero(mask));
    mask &= mask - 1;
  }
}

inline uint32_t *lanes32(Warp &w, Opnd o) { return w.bases[o.base()] + o.offset(); }
inline uint64_t *lanes64(Warp &w, Opnd o) {
  return reinterpret_cast<uint64_t *>(w.bases[o.base()] + o.offset());
}
inline uint32_t predBits(Warp &w, Opnd o) { return w.bases[2][o.offset()]; }
inline void setPred(Warp &w, Opnd o, uint32_t value) {
  uint32_t &d = w.bases[2][o.offset()];
  d = (d & ~w.exec) | (value & w.exec);
}

/// Storage of a value: narrow types sit zero-extended in 32-bit words.
template <class T> struct Storage { using Word = std::conditional_t<(sizeof(T) > 4), uint64_t, uint32_t>; };
template <class T> using WordOf = typename Storage<T>::Word;
template <class T> inline WordOf<T> *words(Warp &w, Opnd o) {
  return reinterpret_cast<WordOf<T> *>(w.bases[o.base()] + o.offset());
}
template <unsigned N> struct UIntOf;
template <> struct UIntOf<1> { using type = uint8_t; };
template <> struct UIntOf<2> { using type = uint16_t; };
template <> struct UIntOf<4> { using type = uint32_t; };
template <> struct UIntOf<8> { using type = uint64_t; };
template <class T> inline T unpack(WordOf<T> v) {
  return std::bit_cast<T>(static_cast<typename UIntOf<sizeof(T)>::type>(v));
}
template <class T> inline WordOf<T> pack(T v) {
  return std::bit_cast<typename UIntOf<sizeof(T)>::type>(v);
}

/// d = f(a) and so on, lane by lane; with all lanes active the loops vectorise.
template <class R, class A, class F> inline void mapLanes(Warp &w, const Instr &i, F f) {
  auto *d = words<R>(w, i.d);
  auto *a = words<A>(w, i.a);
  if (w.exec == ~0u) {
    alignas(64) WordOf<R> t[32];
    for (int l = 0; l < 32; ++l)
      t[l] = pack<R>(f(unpack<A>(a[l])));
    std::memcpy(d, t, sizeof t);
    return;
  }
  for (uint32_t m = w.exec; m; m &= m - 1) {
    int l = std::countr_zero(m);
    d[l] = pack<R>(f(unpack<A>(a[l])));
  }
}
template <class R, class A, class B, class F> inline void mapLanes2(Warp &w, const Instr &i, F f) {
  auto *d = words<R>(w, i.d);
  auto *a = words<A>(w, i.a);
  auto *b = words<B>(w, i.b);
  if (w.exec == ~0u) {
    alignas(64) WordOf<R> t[32];
    for (int l = 0; l < 32; ++l)
      t[l] = pack<R>(f(unpack<A>(a[l]), unpack<B>(b[l])));
    std::memcpy(d, t, sizeof t);
    return;
  }
  for (uint32_t m = w.exec; m; m &= m - 1) {
    int l = std::countr_zero(m);
    d[l] = pack<R>(f(unpack<A>(a[l]), unpack<B>(b[l])));
  }
}
template <class R, class A, class B, class C, class F> inline void mapLanes3(Warp &w, const Instr &i, F f) {
  auto *d = words<R>(w, i.d);
  auto *a = words<A>(w, i.a);
  auto *b = words<B>(w, i.b);
  auto *c = words<C>(w, i.c);
  if (w.exec == ~0u) {
    alignas(64) WordOf<R> t[32];
    for (int l = 0; l < 32; ++l)
      t[l] = pack<R>(f(unpack<A>(a[l]), unpack<B>(b[l]), unpack<C>(c[l])));
    std::memcpy(d, t, sizeof t);
    return;
  }
  for (uint32_t m = w.exec; m; m &= m - 1) {
    int l = std::countr_zero(m);
    d[l] = pack<R>(f(unpack<A>(a[l]), unpack<B>(b[l]), unpack<C>(c[l])));
  }
}

/// The lanes of an integer operand, whatever the width; and whether they agree.
inline uint64_t laneValue(Warp &w, Opnd o, unsigned bits, int lane) {
  return bits == 64 ? lanes64(w, o)[lane] : lanes32(w, o)[lane];
}
inline int firstLane(uint32_t mask) { return std::countr_zero(mask); }

/// Addresses of the active lanes of an instruction decoded with Decode::address.
inline void laneAddresses(Warp &w, const Instr &i, uint64_t *out) {
  if (i.ty2 == Ty::B64) {
    const uint64_t *a = lanes64(w, i.a);
    for (int l = 0; l < 32; ++l)
      out[l] = a[l] + uint64_t(i.imm);
  } else {
    const uint32_t *a = lanes32(w, i.a);
    for (int l = 0; l < 32; ++l)
      out[l] = uint32_t(a[l] + uint32_t(i.imm));
  }
}

void execSpecial(Warp &w, const Instr &i); ///< d = special register i.sub (Move.cpp)

std::string hex(uint64_t v);

} // namespace heddle::emulator

#endif // HEDDLE_EMULATOR_OPS_LANES_H
