//===- Integer.cpp - integer arithmetic ----------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/core/Decoder.h"
#include "runtime/emulator/ops/Lanes.h"

#include <limits>

namespace heddle::emulator {

namespace {
using u128 = unsigned __int128;
using s128 = __int128;
template <class T> using Wide = std::conditional_t<
    sizeof(T) == 8, std::conditional_t<std::is_signed_v<T>, s128, u128>,
    std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
                       std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>>>;
template <class T> using U = std::make_unsigned_t<T>;

struct Add { template <class T> static T f(T a, T b) { return T(U<T>(a) + U<T>(b)); } };
struct Sub { template <class T> static T f(T a, T b) { return T(U<T>(a) - U<T>(b)); } };
struct MulLo { template <class T> static T f(T a, T b) { return T(uint64_t(a) * uint64_t(b)); } };
struct MulHi { template <class T> static T f(T a, T b) { return T((Wide<T>(a) * Wide<T>(b)) >> (8 * sizeof(T))); } };
struct Min { template <class T> static T f(T a, T b) { return a < b ? a : b; } };
struct Max { template <class T> static T f(T a, T b) { return a > b ? a : b; } };
/// Division by zero is unspecified in PTX; GPUs give all ones and the dividend.
struct Div {
  template <class T> static T f(T a, T b) {
    if (b == 0)
      return T(-1);
    if constexpr (std::is_signed_v<T>)
      if (b == T(-1))
        return T(U<T>(0) - U<T>(a));
    return T(a / b);
  }
};
struct Rem {
  template <class T> static T f(T a, T b) {
    if (b == 0)
      return a;
    if constexpr (std::is_signed_v<T>)
      if (b == T(-1))
        return 0;
    return T(a % b);
  }
};
struct AddSat {
  template <class T> static T f(T a, T b) {
    int64_t v = int64_t(a) + int64_t(b);
    return T(v > std::numeric_limits<int32_t>::max() ? std::numeric_limits<int32_t>::max()
             : v < std::numeric_limits<int32_t>::min() ? std::numeric_limits<int32_t>::min() : v);
  }
};
struct SubSat { template <class T> static T f(T a, T b) {
    int64_t v = int64_t(a) - int64_t(b);
    return T(v > std::numeric_limits<int32_t>::max() ? std::numeric_limits<int32_t>::max()
             : v < std::numeric_limits<int32_t>::min() ? std::numeric_limits<int32_t>::min() : v);
  } };

template <class Op, class T> void exec2(Warp &w, const Instr &i) {
  mapLanes2<T, T, T>(w, i, [](T a, T b) { return Op::template f<T>(a, b); });
}
template <class Op, class T> void execHalves(Warp &w, const Instr &i) {
  mapLanes2<uint32_t, uint32_t, uint32_t>(w, i, [](uint32_t a, uint32_t b) {
    T lo = Op::template f<T>(T(a), T(b)), hi = Op::template f<T>(T(a >> 16), T(b >> 16));
    return uint32_t(uint16_t(lo)) | uint32_t(uint16_t(hi)) << 16;
  });
}
template <class Op> ExecFn pick2(Ty t) {
  switch (t) {
  case Ty::U16: return exec2<Op, uint16_t>;
  case Ty::S16: return exec2<Op, int16_t>;
  case Ty::U32: return exec2<Op, uint32_t>;
  case Ty::S32: return exec2<Op, int32_t>;
  case Ty::U64: return exec2<Op, uint64_t>;
  default: return exec2<Op, int64_t>;
  }
}

template <class T> void execMulWide(Warp &w, const Instr &i) {
  mapLanes2<Wide<T>, T, T>(w, i, [](T a, T b) { return Wide<T>(a) * Wide<T>(b); });
}
template <class T> void execMadWide(Warp &w, const Instr &i) {
  using W = Wide<T>;
  mapLanes3<W, T, T, W>(w, i, [](T a, T b, W c) { return W(U<W>(W(a) * W(b)) + U<W>(c)); });
}
template <class T> void execMadLo(Warp &w, const Instr &i) {
  mapLanes3<T, T, T, T>(w, i, [](T a, T b, T c) { return T(uint64_t(a) * uint64_t(b) + uint64_t(c)); });
}
template <class T> void execMadHi(Warp &w, const Instr &i) {
  mapLanes3<T, T, T, T>(w, i, [](T a, T b, T c) { return T(U<T>(MulHi::f<T>(a, b)) + U<T>(c)); });
}
void execMadHiSat(Warp &w, const Instr &i) {
  mapLanes3<int32_t, int32_t, int32_t, int32_t>(
      w, i, [](int32_t a, int32_t b, int32_t c) { return AddSat::f<int32_t>(MulHi::f<int32_t>(a, b), c); });
}
template <class T> void execSad(Warp &w, const Instr &i) {
  mapLanes3<T, T, T, T>(w, i, [](T a, T b, T c) { return T(U<T>(c) + (a < b ? U<T>(b) - U<T>(a) : U<T>(a) - U<T>(b))); });
}

/// Picks f<T> for 16, 32 and 64 bits.
struct Fns { ExecFn u16, s16, u32, s32, u64, s64; };
ExecFn byType(const Fns &f, Ty t) {
  switch (t) {
  case Ty::U16: return f.u16;
  case Ty::S16: return f.s16;
  case Ty::U32: return f.u32;
  case Ty::S32: return f.s32;
  case Ty::U64: return f.u64;
  default: return f.s64;
  }
}

// With the carry flag (predicate 0 of the warp): i.mode 1 reads it, 2 writes it.
template <class T, bool Subtract> void execCarry(Warp &w, const Instr &i) {
  uint32_t cc = w.bases[2][0], out = 0;
  auto *d = words<T>(w, i.d);
  auto *a = words<T>(w, i.a);
  auto *b = words<T>(w, i.b);
  forLanes(w.exec, [&](int l) {
    u128 in = (i.mode & 1) ? (cc >> l) & 1 : 0;
    u128 v = Subtract ? u128(T(a[l])) - u128(T(b[l])) - in : u128(T(a[l])) + u128(T(b[l])) + in;
    d[l] = T(v);
    out |= uint32_t((v >> (8 * sizeof(T))) & 1) << l;
  });
  if (i.mode & 2)
    w.bases[2][0] = (cc & ~w.exec) | (out & w.exec);
}
template <class T> void execMadCarry(Warp &w, const Instr &i) { // i.sub: 1 hi
  uint32_t cc = w.bases[2][0], out = 0;
  auto *d = words<T>(w, i.d);
  auto *a = words<T>(w, i.a);
  auto *b = words<T>(w, i.b);
  auto *c = words<T>(w, i.c);
  forLanes(w.exec, [&](int l) {
    T p = i.sub ? MulHi::f<T>(T(a[l]), T(b[l])) : T(T(a[l]) * T(b[l]));
    u128 v = u128(U<T>(p)) + u128(U<T>(c[l])) + ((i.mode & 1) ? (cc >> l) & 1 : 0);
    d[l] = U<T>(v);
    out |= uint32_t((v >> (8 * sizeof(T))) & 1) << l;
  });
  if (i.mode & 2)
    w.bases[2][0] = (cc & ~w.exec) | (out & w.exec);
}

void binary(Decode &d, Ty t) {
  d.finish();
  d.operands(3);
  unsigned bits = tyBits(t);
  d.i.a = d.src(1, bits);
  d.i.b = d.src(2, bits);
  d.i.d = d.dst(0, bits);
  d.emit();
}

void decodeAddSub(Decode &d) {
  if (decodeFloat(d))
    return;
  bool sub = d.root().substr(0, 3) == "sub";
  d.i.mode = d.root().size() == 4; // addc, subc
  bool sat = d.take("sat");
  if (d.take("cc"))
    d.i.mode |= 2;
  if (d.i.mode) {
    Ty t = d.type({Ty::U32, Ty::S32, Ty::U64, Ty::S64, Ty::B32, Ty::B64});
    bool wide = tyBits(t) == 64;
    d.i.fn = sub ? (wide ? execCarry<uint64_t, true> : execCarry<uint32_t, true>)
                 : (wide ? execCarry<uint64_t, false> : execCarry<uint32_t, false>);
    return binary(d, t);
  }
  if (d.take("u16x2") || d.take("s16x2")) {
    d.needCapability(9, 0);
    d.i.fn = sub ? execHalves<Sub, uint16_t> : execHalves<Add, uint16_t>;
    return binary(d, Ty::U32);
  }
  Ty t = d.type({Ty::U16, Ty::U32, Ty::U64, Ty::S16, Ty::S32, Ty::S64});
  if (sat && t != Ty::S32)
    d.fail("expected .s32 with .sat");
  d.i.fn = sat ? (sub ? exec2<SubSat, int32_t> : exec2<AddSat, int32_t>) : sub ? pick2<Sub>(t) : pick2<Add>(t);
  binary(d, t);
}

void decodeMul(Decode &d) {
  if (decodeFloat(d))
    return;
  unsigned part = d.oneOf({"lo", "hi", "wide"}, "a part");
  Ty t = d.type({Ty::U16, Ty::U32, Ty::U64, Ty::S16, Ty::S32, Ty::S64});
  if (part < 2) {
    d.i.fn = part ? pick2<MulHi>(t) : pick2<MulLo>(t);
    return binary(d, t);
  }
  if (tyBits(t) == 64)
    d.fail("expected a 16-bit or 32-bit type with .wide");
  d.finish();
  d.operands(3);
  d.i.fn = byType({execMulWide<uint16_t>, execMulWide<int16_t>, execMulWide<uint32_t>, execMulWide<int32_t>, nullptr, nullptr}, t);
  d.i.a = d.src(1, tyBits(t));
  d.i.b = d.src(2, tyBits(t));
  d.i.d = d.dst(0, 2 * tyBits(t));
  d.emit();
}

void decodeMad(Decode &d) {
  if (d.root() == "mad" && decodeFloat(d))
    return;
  d.i.mode = d.root() == "madc";
  unsigned part = d.oneOf({"lo", "hi", "wide"}, "a part");
  bool sat = d.take("sat");
  if (d.take("cc"))
    d.i.mode |= 2;
  Ty t = d.type({Ty::U16, Ty::U32, Ty::U64, Ty::S16, Ty::S32, Ty::S64});
  unsigned bits = tyBits(t), wide = part == 2 ? 2 * bits : bits;
  if (sat && (part != 1 || t != Ty::S32))
    d.fail("expected .hi.s32 with .sat");
  if (part == 2 && bits == 64)
    d.fail("expected a 16-bit or 32-bit type with .wide");
  d.finish();
  d.operands(4);
  if (d.i.mode) {
    if (part == 2 || bits == 16 || sat)
      d.fail("expected a 32-bit or 64-bit .lo or .hi with a carry");
    d.i.sub = uint8_t(part);
    d.i.fn = byType({nullptr, nullptr, execMadCarry<uint32_t>, execMadCarry<int32_t>, execMadCarry<uint64_t>, execMadCarry<int64_t>}, t);
  } else if (sat) {
    d.i.fn = execMadHiSat;
  } else if (part == 0) {
    d.i.fn = byType({execMadLo<uint16_t>, execMadLo<int16_t>, execMadLo<uint32_t>, execMadLo<int32_t>, execMadLo<uint64_t>, execMadLo<int64_t>}, t);
  } else if (part == 1) {
    d.i.fn = byType({execMadHi<uint16_t>, execMadHi<int16_t>, execMadHi<uint32_t>, execMadHi<int32_t>, execMadHi<uint64_t>, execMadHi<int64_t>}, t);
  } else {
    d.i.fn = byType({execMadWide<uint16_t>, execMadWide<int16_t>, execMadWide<uint32_t>, execMadWide<int32_t>, nullptr, nullptr}, t);
  }
  d.i.a = d.src(1, bits);
  d.i.b = d.src(2, bits);
  d.i.c = d.src(3, wide);
  d.i.d = d.dst(0, wide);
  d.emit();
}

// mul24 / mad24: the low 24 bits of each factor.
template <class T> void exec24(Warp &w, const Instr &i) { // i.mode 1: high, i.sub 1: add c
  auto cut = [](T v) -> int64_t { return std::is_signed_v<T> ? int64_t(int32_t(uint32_t(v) << 8) >> 8) : int64_t(uint32_t(v) & 0xffffff); };
  auto *d = words<T>(w, i.d);
  forLanes(w.exec, [&](int l) {
    int64_t p = cut(T(words<T>(w, i.a)[l])) * cut(T(words<T>(w, i.b)[l]));
    uint32_t r = i.mode ? uint32_t(p >> 16) : uint32_t(p);
    d[l] = r + (i.sub ? words<T>(w, i.c)[l] : 0);
  });
}
void decode24(Decode &d) {
  d.i.sub = d.root() == "mad24";
  d.i.mode = uint8_t(d.oneOf({"lo", "hi"}, "a part"));
  Ty t = d.type({Ty::U32, Ty::S32});
  d.finish();
  d.operands(3 + d.i.sub);
  d.i.fn = t == Ty::U32 ? exec24<uint32_t> : exec24<int32_t>;
  d.i.a = d.src(1, 32);
  d.i.b = d.src(2, 32);
  if (d.i.sub)
    d.i.c = d.src(3, 32);
  d.i.d = d.dst(0, 32);
  d.emit();
}

void decodeDivRem(Decode &d) {
  if (decodeFloat(d))
    return;
  Ty t = d.type({Ty::U16, Ty::U32, Ty::U64, Ty::S16, Ty::S32, Ty::S64});
  d.i.fn = d.root() == "div" ? pick2<Div>(t) : pick2<Rem>(t);
  binary(d, t);
}

void decodeMinMax(Decode &d) {
  if (decodeFloat(d))
    return;
  bool min = d.root() == "min";
  bool relu = d.take("relu");
  bool u = false;
  if ((u = d.take("u16x2")) || d.take("s16x2")) {
    d.needCapability(9, 0);
    if (relu)
      d.fail("expected no .relu");
    d.i.fn = u ? (min ? execHalves<Min, uint16_t> : execHalves<Max, uint16_t>)
               : (min ? execHalves<Min, int16_t> : execHalves<Max, int16_t>);
    return binary(d, Ty::U32);
  }
  Ty t = d.type({Ty::U16, Ty::U32, Ty::U64, Ty::S16, Ty::S32, Ty::S64});
  if (relu)
    d.fail("expected no .relu for an integer type");
  d.i.fn = min ? pick2<Min>(t) : pick2<Max>(t);
  binary(d, t);
}

template <class T> void execAbs(Warp &w, const Instr &i) {
  mapLanes<T, T>(w, i, [](T v) { return T(v < 0 ? U<T>(0) - U<T>(v) : U<T>(v)); });
}
template <class T> void execNeg(Warp &w, const Instr &i) {
  mapLanes<T, T>(w, i, [](T v) { return T(U<T>(0) - U<T>(v)); });
}
void decodeAbsNeg(Decode &d) {
  if (decodeFloat(d))
    return;
  Ty t = d.type({Ty::S16, Ty::S32, Ty::S64});
  d.finish();
  d.operands(2);
  Fns abs{nullptr, execAbs<int16_t>, nullptr, execAbs<int32_t>, nullptr, execAbs<int64_t>};
  Fns neg{nullptr, execNeg<int16_t>, nullptr, execNeg<int32_t>, nullptr, execNeg<int64_t>};
  d.i.fn = byType(d.root() == "abs" ? abs : neg, t);
  d.i.a = d.src(1, tyBits(t));
  d.i.d = d.dst(0, tyBits(t));
  d.emit();
}

void decodeSad(Decode &d) {
  Ty t = d.type({Ty::U16, Ty::U32, Ty::U64, Ty::S16, Ty::S32, Ty::S64});
  d.finish();
  d.operands(4);
  d.i.fn = byType({execSad<uint16_t>, execSad<int16_t>, execSad<uint32_t>, execSad<int32_t>, execSad<uint64_t>, execSad<int64_t>}, t);
  d.i.a = d.src(1, tyBits(t));
  d.i.b = d.src(2, tyBits(t));
  d.i.c = d.src(3, tyBits(t));
  d.i.d = d.dst(0, tyBits(t));
  d.emit();
}

// dp4a, dp2a: i.mode bit 0 A signed, bit 1 B signed; i.sub 4, or 2 with the low or high half of B.
void execDp(Warp &w, const Instr &i) {
  auto byte = [](uint32_t v, unsigned k, bool s) { uint32_t b = v >> (8 * k) & 255; return s ? int64_t(int8_t(b)) : int64_t(b); };
  forLanes(w.exec, [&](int l) {
    uint32_t a = lanes32(w, i.a)[l], b = lanes32(w, i.b)[l];
    int64_t sum = 0;
    for (unsigned k = 0; k < (i.sub == 4 ? 4u : 2u); ++k) {
      int64_t x = i.sub == 4 ? byte(a, k, i.mode & 1)
                  : (i.mode & 1) ? int64_t(int16_t(a >> (16 * k))) : int64_t(uint16_t(a >> (16 * k)));
      sum += x * byte(b, k + (i.sub == 3 ? 2 : 0), i.mode & 2);
    }
    lanes32(w, i.d)[l] = lanes32(w, i.c)[l] + uint32_t(sum);
  });
}
void decodeDp(Decode &d) {
  d.i.sub = 4;
  if (d.root() == "dp2a")
    d.i.sub = uint8_t(2 + d.oneOf({"lo", "hi"}, "a half"));
  Ty a = d.type({Ty::U32, Ty::S32}), b = d.type({Ty::U32, Ty::S32});
  d.finish();
  d.operands(4);
  d.i.mode = uint8_t((a == Ty::S32) | (b == Ty::S32) << 1);
  d.i.fn = execDp;
  d.i.a = d.src(1, 32);
  d.i.b = d.src(2, 32);
  d.i.c = d.src(3, 32);
  d.i.d = d.dst(0, 32);
  d.emit();
}
} // namespace

void registerInteger(OpTable &t) {
  t["add"] = t["sub"] = t["addc"] = t["subc"] = decodeAddSub;
  t["mul"] = decodeMul;
  t["mad"] = t["madc"] = decodeMad;
  t["mul24"] = t["mad24"] = decode24;
  t["div"] = t["rem"] = decodeDivRem;
  t["min"] = t["max"] = decodeMinMax;
  t["abs"] = t["neg"] = decodeAbsNeg;
  t["sad"] = decodeSad;
  t["dp4a"] = t["dp2a"] = decodeDp;
}

} // namespace heddle::emulator
