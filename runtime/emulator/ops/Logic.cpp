//===- Logic.cpp - logic, shifts and bit fields --------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/core/Decoder.h"
#include "runtime/emulator/ops/Lanes.h"

#include <algorithm>

namespace heddle::emulator {

namespace {
struct And { template <class T> static T f(T a, T b) { return T(a & b); } };
struct Or { template <class T> static T f(T a, T b) { return T(a | b); } };
struct Xor { template <class T> static T f(T a, T b) { return T(a ^ b); } };
template <class Op, class T> void exec2(Warp &w, const Instr &i) {
  mapLanes2<T, T, T>(w, i, [](T a, T b) { return Op::template f<T>(a, b); });
}
template <class Op> void execPred2(Warp &w, const Instr &i) {
  setPred(w, i.d, Op::template f<uint32_t>(predBits(w, i.a), predBits(w, i.b)));
}
void execPredNot(Warp &w, const Instr &i) { setPred(w, i.d, ~predBits(w, i.a)); }

template <class Op> void decodeLogic(Decode &d) {
  Ty t = d.type({Ty::Pred, Ty::B16, Ty::B32, Ty::B64});
  d.finish();
  d.operands(3);
  if (t == Ty::Pred) {
    d.i.fn = execPred2<Op>;
    d.i.a = d.predSrc(d.op(1));
    d.i.b = d.predSrc(d.op(2));
    d.i.d = d.pred(d.op(0), true);
    return d.emit();
  }
  d.i.fn = t == Ty::B64 ? exec2<Op, uint64_t> : exec2<Op, uint32_t>;
  d.i.a = d.src(1, tyBits(t));
  d.i.b = d.src(2, tyBits(t));
  d.i.d = d.dst(0, tyBits(t));
  d.emit();
}

template <class T> void execNot(Warp &w, const Instr &i) { mapLanes<T, T>(w, i, [](T v) { return T(~v); }); }
template <class T> void execCnot(Warp &w, const Instr &i) { mapLanes<T, T>(w, i, [](T v) { return T(v == 0); }); }
void decodeNot(Decode &d) {
  bool c = d.root() == "cnot";
  Ty t = d.type({Ty::Pred, Ty::B16, Ty::B32, Ty::B64});
  d.finish();
  d.operands(2);
  if (t == Ty::Pred) {
    if (c)
      d.fail("expected an integer type");
    d.i.fn = execPredNot;
    d.i.a = d.predSrc(d.op(1));
    d.i.d = d.pred(d.op(0), true);
    return d.emit();
  }
  d.i.fn = t == Ty::B16   ? (c ? execCnot<uint16_t> : execNot<uint16_t>)
           : t == Ty::B32 ? (c ? execCnot<uint32_t> : execNot<uint32_t>)
                          : (c ? execCnot<uint64_t> : execNot<uint64_t>);
  d.i.a = d.src(1, tyBits(t));
  d.i.d = d.dst(0, tyBits(t));
  d.emit();
}

void execLop3(Warp &w, const Instr &i) {
  const unsigned lut = i.sub;
  mapLanes3<uint32_t, uint32_t, uint32_t, uint32_t>(w, i, [lut](uint32_t a, uint32_t b, uint32_t c) {
    uint32_t r = 0;
    r |= (lut & 1) ? ~a & ~b & ~c : 0;
    r |= (lut & 2) ? ~a & ~b & c : 0;
    r |= (lut & 4) ? ~a & b & ~c : 0;
    r |= (lut & 8) ? ~a & b & c : 0;
    r |= (lut & 16) ? a & ~b & ~c : 0;
    r |= (lut & 32) ? a & ~b & c : 0;
    r |= (lut & 64) ? a & b & ~c : 0;
    r |= (lut & 128) ? a & b & c : 0;
    return r;
  });
}
void decodeLop3(Decode &d) {
  d.type({Ty::B32});
  d.finish();
  d.operands(5);
  uint64_t lut = d.constant(d.op(4), "the table");
  if (lut > 255)
    d.fail("expected a table of 0 to 255, got " + std::to_string(lut));
  d.i.sub = uint8_t(lut);
  d.i.fn = execLop3;
  d.i.a = d.src(1, 32);
  d.i.b = d.src(2, 32);
  d.i.c = d.src(3, 32);
  d.i.d = d.dst(0, 32);
  d.emit();
}

template <class T> void execShl(Warp &w, const Instr &i) {
  mapLanes2<T, T, uint32_t>(w, i, [](T a, uint32_t b) { return b >= 8 * sizeof(T) ? T(0) : T(a << b); });
}
template <class T> void execShr(Warp &w, const Instr &i) {
  mapLanes2<T, T, uint32_t>(w, i, [](T a, uint32_t b) { return T(a >> std::min<uint32_t>(b, 8 * sizeof(T) - 1)) * T(std::is_signed_v<T> || b < 8 * sizeof(T)); });
}
void decodeShift(Decode &d) {
  bool left = d.root() == "shl";
  Ty t = left ? d.type({Ty::B16, Ty::B32, Ty::B64})
              : d.type({Ty::B16, Ty::B32, Ty::B64, Ty::U16, Ty::U32, Ty::U64, Ty::S16, Ty::S32, Ty::S64});
  d.finish();
  d.operands(3);
  unsigned bits = tyBits(t);
  if (left)
    d.i.fn = bits == 16 ? execShl<uint16_t> : bits == 32 ? execShl<uint32_t> : execShl<uint64_t>;
  else if (tySigned(t))
    d.i.fn = bits == 16 ? execShr<int16_t> : bits == 32 ? execShr<int32_t> : execShr<int64_t>;
  else
    d.i.fn = bits == 16 ? execShr<uint16_t> : bits == 32 ? execShr<uint32_t> : execShr<uint64_t>;
  d.i.a = d.src(1, bits);
  d.i.b = d.src(2, 32);
  d.i.d = d.dst(0, bits);
  d.emit();
}

void execShf(Warp &w, const Instr &i) { // i.mode bit 0: right, bit 1: wrap
  const bool right = i.mode & 1, wrap = i.mode & 2;
  mapLanes3<uint32_t, uint32_t, uint32_t, uint32_t>(w, i, [=](uint32_t a, uint32_t b, uint32_t c) {
    uint64_t v = uint64_t(b) << 32 | a;
    uint32_t n = wrap ? c & 31 : std::min(c, 32u);
    return right ? uint32_t(v >> n) : uint32_t((v << n) >> 32);
  });
}
void decodeShf(Decode &d) {
  d.i.mode = uint8_t(d.oneOf({"l", "r"}, "a direction"));
  d.i.mode |= uint8_t(d.oneOf({"clamp", "wrap"}, "a mode") << 1);
  d.type({Ty::B32});
  d.finish();
  d.operands(4);
  d.i.fn = execShf;
  d.i.a = d.src(1, 32);
  d.i.b = d.src(2, 32);
  d.i.c = d.src(3, 32);
  d.i.d = d.dst(0, 32);
  d.emit();
}

uint32_t permute(uint32_t a, uint32_t b, uint32_t selector, unsigned mode) {
  uint64_t v = uint64_t(b) << 32 | a;
  auto byte = [&](unsigned k) { return uint32_t(v >> (8 * (k & 7))) & 255; };
  uint32_t r = 0;
  unsigned s = selector & 3;
  for (unsigned k = 0; k < 4; ++k) {
    uint32_t x = 0;
    switch (mode) {
    case 0: {
      unsigned sel = selector >> (4 * k);
      x = byte(sel & 7);
      if (sel & 8)
        x = x & 128 ? 255 : 0;
      break;
    }
    case 1: x = byte(s + k); break;                                 // f4e
    case 2: x = byte((s + 8 - k) & 7); break;                       // b4e
    case 3: x = byte(s); break;                                     // rc8
    case 4: x = byte(std::max(s, k)); break;                        // ecl
    case 5: x = byte(std::min(s, k)); break;                        // ecr
    default: x = byte((s & 1) * 2 + (k & 1)); break;                // rc16
    }
    r |= x << (8 * k);
  }
  return r;
}
void execPrmt(Warp &w, const Instr &i) {
  const unsigned mode = i.mode;
  mapLanes3<uint32_t, uint32_t, uint32_t, uint32_t>(
      w, i, [mode](uint32_t a, uint32_t b, uint32_t c) { return permute(a, b, c, mode); });
}
void decodePrmt(Decode &d) {
  d.type({Ty::B32});
  d.i.mode = uint8_t(d.maybe({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"}) + 1);
  d.finish();
  d.operands(4);
  d.i.fn = execPrmt;
  d.i.a = d.src(1, 32);
  d.i.b = d.src(2, 32);
  d.i.c = d.src(3, 32);
  d.i.d = d.dst(0, 32);
  d.emit();
}

template <class T> void execBfe(Warp &w, const Instr &i) {
  using W = std::make_unsigned_t<T>;
  constexpr unsigned bits = 8 * sizeof(T);
  mapLanes3<W, W, uint32_t, uint32_t>(w, i, [](W a, uint32_t b, uint32_t c) {
    unsigned pos = b & 255, len = c & 255;
    if (len == 0)
      return W(0);
    bool sign = false;
    if constexpr (std::is_signed_v<T>)
      sign = (a >> std::min(pos + len - 1, bits - 1)) & 1;
    W r = pos < bits ? W(a >> pos) : W(0);
    unsigned have = pos < bits ? std::min(len, bits - pos) : 0;
    W mask = have >= bits ? ~W(0) : W((W(1) << have) - 1);
    return sign ? W((r & mask) | ~mask) : W(r & mask);
  });
}
void decodeBfe(Decode &d) {
  Ty t = d.type({Ty::U32, Ty::U64, Ty::S32, Ty::S64});
  d.finish();
  d.operands(4);
  d.i.fn = t == Ty::U32 ? execBfe<uint32_t> : t == Ty::S32 ? execBfe<int32_t> : t == Ty::U64 ? execBfe<uint64_t> : execBfe<int64_t>;
  d.i.a = d.src(1, tyBits(t));
  d.i.b = d.src(2, 32);
  d.i.c = d.src(3, 32);
  d.i.d = d.dst(0, tyBits(t));
  d.emit();
}

template <class T> void execBfi(Warp &w, const Instr &i) {
  constexpr unsigned bits = 8 * sizeof(T);
  forLanes(w.exec, [&](int l) {
    T a = words<T>(w, i.a)[l], b = words<T>(w, i.b)[l];
    unsigned pos = lanes32(w, i.c)[l] & 255, len = lanes32(w, i.e)[l] & 255;
    T mask = 0;
    if (len && pos < bits) {
      unsigned have = std::min(len, bits - pos);
      mask = T((have >= bits ? ~T(0) : T((T(1) << have) - 1)) << pos);
    }
    words<T>(w, i.d)[l] = T((b & ~mask) | ((pos < bits ? T(a << pos) : T(0)) & mask));
  });
}
void decodeBfi(Decode &d) {
  Ty t = d.type({Ty::B32, Ty::B64});
  d.finish();
  d.operands(5);
  d.i.fn = t == Ty::B32 ? execBfi<uint32_t> : execBfi<uint64_t>;
  d.i.a = d.src(1, tyBits(t));
  d.i.b = d.src(2, tyBits(t));
  d.i.c = d.src(3, 32);
  d.i.e = d.src(4, 32);
  d.i.d = d.dst(0, tyBits(t));
  d.emit();
}

template <class T> void execPopc(Warp &w, const Instr &i) { mapLanes<uint32_t, T>(w, i, [](T v) { return uint32_t(std::popcount(v)); }); }
template <class T> void execClz(Warp &w, const Instr &i) { mapLanes<uint32_t, T>(w, i, [](T v) { return uint32_t(std::countl_zero(v)); }); }
template <class T> void execBrev(Warp &w, const Instr &i) {
  mapLanes<T, T>(w, i, [](T v) {
    T r = 0;
    for (unsigned k = 0; k < 8 * sizeof(T); ++k, v >>= 1)
      r = T(r << 1) | (v & 1);
    return r;
  });
}
template <class T> void execBfind(Warp &w, const Instr &i) { // i.mode: .shiftamt
  using W = std::make_unsigned_t<T>;
  const bool amount = i.mode;
  mapLanes<uint32_t, T>(w, i, [amount](T v) {
    W x = v < 0 ? W(~v) : W(v);
    if (x == 0)
      return ~0u;
    unsigned n = unsigned(std::countl_zero(x));
    return amount ? n : unsigned(8 * sizeof(T) - 1 - n);
  });
}
void decodeCount(Decode &d) {
  std::string_view r = d.root();
  if (r == "bfind") {
    d.i.mode = d.take("shiftamt");
    Ty t = d.type({Ty::U32, Ty::U64, Ty::S32, Ty::S64});
    d.i.fn = t == Ty::U32 ? execBfind<uint32_t> : t == Ty::S32 ? execBfind<int32_t> : t == Ty::U64 ? execBfind<uint64_t> : execBfind<int64_t>;
    d.finish();
    d.operands(2);
    d.i.a = d.src(1, tyBits(t));
    d.i.d = d.dst(0, 32);
    return d.emit();
  }
  Ty t = d.type({Ty::B32, Ty::B64});
  bool wide = t == Ty::B64;
  d.finish();
  d.operands(2);
  d.i.fn = r == "popc"  ? (wide ? execPopc<uint64_t> : execPopc<uint32_t>)
           : r == "clz" ? (wide ? execClz<uint64_t> : execClz<uint32_t>)
                        : (wide ? execBrev<uint64_t> : execBrev<uint32_t>);
  d.i.a = d.src(1, tyBits(t));
  d.i.d = d.dst(0, r == "brev" ? tyBits(t) : 32);
  d.emit();
}

void execSzext(Warp &w, const Instr &i) { // i.mode bit 0: wrap, bit 1: signed
  const unsigned mode = i.mode;
  mapLanes2<uint32_t, uint32_t, uint32_t>(w, i, [mode](uint32_t a, uint32_t b) {
    uint32_t n = mode & 1 ? b & 31 : std::min(b, 32u);
    if (n == 0)
      return 0u;
    if (n == 32)
      return a;
    uint32_t mask = (1u << n) - 1;
    return (mode & 2) && (a >> (n - 1) & 1) ? a | ~mask : a & mask;
  });
}
void execBmsk(Warp &w, const Instr &i) {
  const bool wrap = i.mode;
  mapLanes2<uint32_t, uint32_t, uint32_t>(w, i, [wrap](uint32_t a, uint32_t b) {
    uint32_t pos = wrap ? a & 31 : std::min(a, 32u), len = wrap ? b & 31 : std::min(b, 32u);
    uint64_t m = ((uint64_t(1) << len) - 1) << pos;
    return uint32_t(m);
  });
}
void decodeSzext(Decode &d) {
  bool mask = d.root() == "bmsk";
  d.i.mode = uint8_t(d.oneOf({"clamp", "wrap"}, "a mode"));
  if (mask)
    d.type({Ty::B32});
  else
    d.i.mode |= uint8_t((d.type({Ty::U32, Ty::S32}) == Ty::S32) << 1);
  d.finish();
  d.operands(3);
  d.i.fn = mask ? execBmsk : execSzext;
  d.i.a = d.src(1, 32);
  d.i.b = d.src(2, 32);
  d.i.d = d.dst(0, 32);
  d.emit();
}

void execFns(Warp &w, const Instr &i) {
  mapLanes3<uint32_t, uint32_t, uint32_t, int32_t>(w, i, [](uint32_t mask, uint32_t base, int32_t offset) {
    if (base > 31)
      return ~0u;
    if (offset == 0)
      return mask >> base & 1 ? base : ~0u;
    int step = offset > 0 ? 1 : -1, left = offset > 0 ? offset : -offset;
    for (int pos = int(base); pos >= 0 && pos < 32; pos += step)
      if ((mask >> pos & 1) && --left == 0)
        return uint32_t(pos);
    return ~0u;
  });
}
void decodeFns(Decode &d) {
  d.type({Ty::B32});
  d.finish();
  d.operands(4);
  d.i.fn = execFns;
  d.i.a = d.src(1, 32);
  d.i.b = d.src(2, 32);
  d.i.c = d.src(3, 32);
  d.i.d = d.dst(0, 32);
  d.emit();
}
} // namespace

void registerLogic(OpTable &t) {
  t["and"] = decodeLogic<And>;
  t["or"] = decodeLogic<Or>;
  t["xor"] = decodeLogic<Xor>;
  t["not"] = t["cnot"] = decodeNot;
  t["lop3"] = decodeLop3;
  t["shl"] = t["shr"] = decodeShift;
  t["shf"] = decodeShf;
  t["prmt"] = decodePrmt;
  t["bfe"] = decodeBfe;
  t["bfi"] = decodeBfi;
  t["popc"] = t["clz"] = t["brev"] = t["bfind"] = decodeCount;
  t["szext"] = t["bmsk"] = decodeSzext;
  t["fns"] = decodeFns;
}

} // namespace heddle::emulator
