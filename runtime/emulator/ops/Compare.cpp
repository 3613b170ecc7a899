//===- Compare.cpp - setp, set, selp, slct, testp ------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/core/Decoder.h"
#include "runtime/emulator/ops/Lanes.h"
#include "runtime/emulator/tensor/Numeric.h"

#include <cmath>

namespace heddle::emulator {

namespace {
enum Cmp : uint8_t { Eq, Ne, Lt, Le, Gt, Ge, Lo, Ls, Hi, Hs, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan };

template <Cmp C, class T> bool compare(T a, T b) {
  if constexpr (C == Eq || C == Equ)
    return a == b || (C == Equ && (a != a || b != b));
  else if constexpr (C == Ne)
    return a != b && a == a && b == b;
  else if constexpr (C == Neu)
    return a != b;
  else if constexpr (C == Lt || C == Lo)
    return a < b;
  else if constexpr (C == Le || C == Ls)
    return a <= b;
  else if constexpr (C == Gt || C == Hi)
    return a > b;
  else if constexpr (C == Ge || C == Hs)
    return a >= b;
  else if constexpr (C == Ltu)
    return !(a >= b);
  else if constexpr (C == Leu)
    return !(a > b);
  else if constexpr (C == Gtu)
    return !(a <= b);
  else if constexpr (C == Geu)
    return !(a < b);
  else if constexpr (C == Num)
    return a == a && b == b;
  else
    return a != a || b != b;
}

/// Reads a lane as the type that comparisons use.
template <class T> T value(WordOf<T> v) { return unpack<T>(v); }
struct Half { uint16_t v; };
struct BHalf { uint16_t v; };
template <class T> struct Reader {
  using Word = WordOf<T>;
  using Val = T;
  static T get(Word v) { return unpack<T>(v); }
};
template <> struct Reader<Half> {
  using Word = uint32_t;
  using Val = float;
  static float get(uint32_t v) { return tensor::decodeF16(uint16_t(v)); }
};
template <> struct Reader<BHalf> {
  using Word = uint32_t;
  using Val = float;
  static float get(uint32_t v) { return tensor::decodeBF16(uint16_t(v)); }
};

using CompareFn = uint32_t (*)(Warp &, const Instr &);
template <Cmp C, class T, bool Ftz> uint32_t lanesCompare(Warp &w, const Instr &i) {
  using R = Reader<T>;
  auto *a = reinterpret_cast<typename R::Word *>(lanes32(w, i.a));
  auto *b = reinterpret_cast<typename R::Word *>(lanes32(w, i.b));
  uint32_t r = 0;
  for (int l = 0; l < 32; ++l) {
    auto x = R::get(a[l]), y = R::get(b[l]);
    if constexpr (Ftz) {
      x = tensor::flush(x);
      y = tensor::flush(y);
    }
    r |= uint32_t(compare<C, typename R::Val>(x, y)) << l;
  }
  return r;
}
template <class T, bool Ftz = false> CompareFn pickCompare(unsigned c, bool isFloat) {
  switch (c) {
  case Eq: return lanesCompare<Eq, T, Ftz>;
  case Ne: return lanesCompare<Ne, T, Ftz>;
  case Lt: return lanesCompare<Lt, T, Ftz>;
  case Le: return lanesCompare<Le, T, Ftz>;
  case Gt: return lanesCompare<Gt, T, Ftz>;
  case Ge: return lanesCompare<Ge, T, Ftz>;
  default: break;
  }
  if constexpr (std::is_integral_v<T>) {
    if (std::is_unsigned_v<T>)
      switch (c) {
      case Lo: return lanesCompare<Lo, T, Ftz>;
      case Ls: return lanesCompare<Ls, T, Ftz>;
      case Hi: return lanesCompare<Hi, T, Ftz>;
      case Hs: return lanesCompare<Hs, T, Ftz>;
      default: return nullptr;
      }
    return nullptr;
  } else {
    switch (isFloat ? c : Eq) {
    case Equ: return lanesCompare<Equ, T, Ftz>;
    case Neu: return lanesCompare<Neu, T, Ftz>;
    case Ltu: return lanesCompare<Ltu, T, Ftz>;
    case Leu: return lanesCompare<Leu, T, Ftz>;
    case Gtu: return lanesCompare<Gtu, T, Ftz>;
    case Geu: return lanesCompare<Geu, T, Ftz>;
    case Num: return lanesCompare<Num, T, Ftz>;
    case Nan: return lanesCompare<Nan, T, Ftz>;
    default: return nullptr;
    }
  }
}

CompareFn compareFor(Decode &d, unsigned c, Ty t, bool ftz) {
  CompareFn f = nullptr;
  if (ftz && t != Ty::F32 && t != Ty::F16)
    d.fail("expected .f32 or .f16 with .ftz");
  bool bits = t == Ty::B16 || t == Ty::B32 || t == Ty::B64;
  if (bits && c > Ne)
    d.fail("expected .eq or .ne for an untyped comparison");
  switch (t) {
  case Ty::B16: case Ty::U16: f = pickCompare<uint16_t>(c, false); break;
  case Ty::B32: case Ty::U32: f = pickCompare<uint32_t>(c, false); break;
  case Ty::B64: case Ty::U64: f = pickCompare<uint64_t>(c, false); break;
  case Ty::S16: f = pickCompare<int16_t>(c, false); break;
  case Ty::S32: f = pickCompare<int32_t>(c, false); break;
  case Ty::S64: f = pickCompare<int64_t>(c, false); break;
  case Ty::F32: f = ftz ? pickCompare<float, true>(c, true) : pickCompare<float>(c, true); break;
  case Ty::F64: f = pickCompare<double>(c, true); break;
  case Ty::F16: f = pickCompare<Half>(c, true); break;
  default: f = pickCompare<BHalf>(c, true); break;
  }
  if (!f)
    d.fail("comparison does not fit the type");
  return f;
}

struct SetpExt { CompareFn f; };

uint32_t combine(unsigned op, uint32_t r, uint32_t c) { return op == 1 ? r & c : op == 2 ? r | c : op == 3 ? r ^ c : r; }

void execSetp(Warp &w, const Instr &i) {
  uint32_t r = static_cast<const SetpExt *>(i.ext)->f(w, i);
  if (i.sub) {
    uint32_t c = predBits(w, i.c);
    uint32_t inverse = combine(i.sub, ~r, c);
    r = combine(i.sub, r, c);
    setPred(w, i.d, r);
    if (!i.d2.none())
      setPred(w, i.d2, inverse);
    return;
  }
  setPred(w, i.d, r);
  if (!i.d2.none())
    setPred(w, i.d2, ~r);
}

void execSetpHalves(Warp &w, const Instr &i) { // f16x2: p from the low, q from the high halves
  const uint32_t *a = lanes32(w, i.a), *b = lanes32(w, i.b);
  const auto f = static_cast<const SetpExt *>(i.ext)->f;
  uint32_t r[2];
  alignas(64) uint32_t x[32], y[32];
  for (unsigned h = 0; h < 2; ++h) {
    for (int l = 0; l < 32; ++l) {
      x[l] = a[l] >> (16 * h) & 0xffff;
      y[l] = b[l] >> (16 * h) & 0xffff;
    }
    Instr half = i;
    half.a = Opnd::make(3, 0);
    // The comparison reads through bases[3]: a, then b 32 words on.
    alignas(64) uint32_t both[64];
    std::memcpy(both, x, sizeof x);
    std::memcpy(both + 32, y, sizeof y);
    w.bases[3] = both;
    half.b = Opnd::make(3, 32);
    r[h] = f(w, half);
    w.bases[3] = nullptr;
    if (i.sub)
      r[h] = combine(i.sub, r[h], predBits(w, i.c));
  }
  setPred(w, i.d, r[0]);
  if (!i.d2.none())
    setPred(w, i.d2, r[1]);
}

unsigned takeCompare(Decode &d) {
  return d.oneOf({"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"},
                 "a comparison");
}

void decodeSetp(Decode &d) {
  unsigned c = takeCompare(d);
  d.i.sub = uint8_t(d.maybe({"and", "or", "xor"}) + 1);
  bool ftz = d.take("ftz");
  bool halves = d.peek() == "f16x2" || d.peek() == "bf16x2";
  Ty t = d.type({Ty::B16, Ty::B32, Ty::B64, Ty::U16, Ty::U32, Ty::U64, Ty::S16, Ty::S32, Ty::S64, Ty::F16, Ty::BF16,
                 Ty::F32, Ty::F64, Ty::F16x2, Ty::BF16x2});
  d.finish();
  d.operands(d.i.sub ? 4 : 3);
  d.i.a = d.srcTy(d.op(1), t);
  d.i.b = d.srcTy(d.op(2), t);
  if (d.i.sub)
    d.i.c = d.predSrc(d.op(3));
  if (d.op(0).kind == Operand::Pair) {
    d.i.d = d.pred(d.op(0).elems[0], true);
    d.i.d2 = d.pred(d.op(0).elems[1], true);
  } else {
    d.i.d = d.pred(d.op(0), true);
  }
  Ty scalar = t == Ty::F16x2 ? Ty::F16 : t == Ty::BF16x2 ? Ty::BF16 : t;
  d.i.ext = d.own(SetpExt{compareFor(d, c, scalar, ftz)});
  d.i.fn = halves ? execSetpHalves : execSetp;
  d.emit();
}

void execSet(Warp &w, const Instr &i) { // i.mode: 0 integer, 1 f32
  uint32_t r = static_cast<const SetpExt *>(i.ext)->f(w, i);
  if (i.sub)
    r = combine(i.sub, r, predBits(w, i.c));
  forLanes(w.exec, [&](int l) {
    bool on = r >> l & 1;
    lanes32(w, i.d)[l] = i.mode == 1 ? (on ? 0x3f800000u : 0) : i.mode == 2 ? (on ? 0x3c00u : 0) : i.mode == 3 ? (on ? 0x3f80u : 0) : (on ? ~0u : 0) & uint32_t(i.imm);
  });
}
void decodeSet(Decode &d) {
  unsigned c = takeCompare(d);
  d.i.sub = uint8_t(d.maybe({"and", "or", "xor"}) + 1);
  bool ftz = d.take("ftz");
  Ty to = d.type({Ty::U32, Ty::S32, Ty::F32, Ty::F16, Ty::BF16, Ty::U16, Ty::S16});
  Ty t = d.type({Ty::B16, Ty::B32, Ty::B64, Ty::U16, Ty::U32, Ty::U64, Ty::S16, Ty::S32, Ty::S64, Ty::F16, Ty::BF16, Ty::F32, Ty::F64});
  d.finish();
  d.operands(d.i.sub ? 4 : 3);
  d.i.a = d.srcTy(d.op(1), t);
  d.i.b = d.srcTy(d.op(2), t);
  if (d.i.sub)
    d.i.c = d.predSrc(d.op(3));
  d.i.mode = to == Ty::F32 ? 1 : to == Ty::F16 ? 2 : to == Ty::BF16 ? 3 : 0;
  d.i.imm = tyBits(to) == 16 ? 0xffff : 0xffffffff;
  d.i.d = d.dst(0, tyBits(to));
  d.i.ext = d.own(SetpExt{compareFor(d, c, t, ftz)});
  d.i.fn = execSet;
  d.emit();
}

template <class T> void execSelp(Warp &w, const Instr &i) {
  uint32_t p = predBits(w, i.c);
  auto *d = words<T>(w, i.d);
  const auto *a = words<T>(w, i.a), *b = words<T>(w, i.b);
  forLanes(w.exec, [&](int l) { d[l] = p >> l & 1 ? a[l] : b[l]; });
}
void decodeSelp(Decode &d) {
  Ty t = d.type({Ty::B16, Ty::B32, Ty::B64, Ty::U16, Ty::U32, Ty::U64, Ty::S16, Ty::S32, Ty::S64, Ty::F16, Ty::BF16, Ty::F32, Ty::F64});
  d.finish();
  d.operands(4);
  d.i.fn = tyBits(t) == 64 ? execSelp<uint64_t> : execSelp<uint32_t>;
  d.i.a = d.srcTy(d.op(1), t);
  d.i.b = d.srcTy(d.op(2), t);
  d.i.c = d.predSrc(d.op(3));
  d.i.d = d.dst(0, tyBits(t));
  d.emit();
}

template <class T> void execSlct(Warp &w, const Instr &i) { // i.mode 1: c is a float
  auto *d = words<T>(w, i.d);
  const auto *a = words<T>(w, i.a), *b = words<T>(w, i.b);
  const uint32_t *c = lanes32(w, i.c);
  forLanes(w.exec, [&](int l) {
    float f = std::bit_cast<float>(c[l]);
    if (i.mode == 2)
      f = tensor::flush(f);
    bool take = i.mode ? f >= 0 : int32_t(c[l]) >= 0;
    d[l] = take ? a[l] : b[l];
  });
}
void decodeSlct(Decode &d) {
  bool ftz = d.take("ftz");
  Ty t = d.type({Ty::B16, Ty::B32, Ty::B64, Ty::U16, Ty::U32, Ty::U64, Ty::S16, Ty::S32, Ty::S64, Ty::F32, Ty::F64});
  Ty s = d.type({Ty::S32, Ty::F32});
  d.finish();
  d.operands(4);
  if (ftz && s != Ty::F32)
    d.fail("expected .f32 with .ftz");
  d.i.mode = s == Ty::F32 ? 1 + ftz : 0;
  d.i.fn = tyBits(t) == 64 ? execSlct<uint64_t> : execSlct<uint32_t>;
  d.i.a = d.srcTy(d.op(1), t);
  d.i.b = d.srcTy(d.op(2), t);
  d.i.c = d.srcTy(d.op(3), s);
  d.i.d = d.dst(0, tyBits(t));
  d.emit();
}

void execTestp(Warp &w, const Instr &i) {
  uint32_t r = 0;
  for (int l = 0; l < 32; ++l) {
    bool on = false;
    int kind;
    if (i.ty == Ty::F64)
      kind = std::fpclassify(std::bit_cast<double>(lanes64(w, i.a)[l]));
    else
      kind = std::fpclassify(std::bit_cast<float>(lanes32(w, i.a)[l]));
    switch (i.sub) {
    case 0: on = kind != FP_NAN && kind != FP_INFINITE; break;
    case 1: on = kind == FP_INFINITE; break;
    case 2: on = kind != FP_NAN; break;
    case 3: on = kind == FP_NAN; break;
    case 4: on = kind == FP_NORMAL || kind == FP_ZERO; break;
    default: on = kind == FP_SUBNORMAL; break;
    }
    r |= uint32_t(on) << l;
  }
  setPred(w, i.d, r);
}
void decodeTestp(Decode &d) {
  d.i.sub = uint8_t(d.oneOf({"finite", "infinite", "number", "notanumber", "normal", "subnormal"}, "a property"));
  d.i.ty = d.type({Ty::F32, Ty::F64});
  d.finish();
  d.operands(2);
  d.i.a = d.srcTy(d.op(1), d.i.ty);
  d.i.d = d.pred(d.op(0), true);
  d.i.fn = execTestp;
  d.emit();
}
} // namespace

void registerCompare(OpTable &t) {
  t["setp"] = decodeSetp;
  t["set"] = decodeSet;
  t["selp"] = decodeSelp;
  t["slct"] = decodeSlct;
  t["testp"] = decodeTestp;
}

} // namespace heddle::emulator
