//===- Convert.cpp - cvt -------------------------------------------------===//
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
using tensor::Elem;
using tensor::EncodeOptions;
using tensor::Round;

/// i.mode bits; i.ty destination, i.ty2 source, i.round the Round, i.sub an Elem.
enum : uint8_t { Ftz = 1, Sat = 2, SatFinite = 4, Relu = 8, Integral = 16, HasRound = 32 };

uint64_t readInt(Warp &w, const Instr &i, int l) {
  unsigned bits = tyBits(i.ty2);
  uint64_t v = i.bytes == 8 ? lanes64(w, i.a)[l] : lanes32(w, i.a)[l];
  if (bits < 64) {
    v &= (uint64_t(1) << bits) - 1;
    if (tySigned(i.ty2) && (v >> (bits - 1)))
      v |= ~uint64_t(0) << bits;
  }
  return v;
}

/// Writes an integer result of i.ty; a wider register (i.vec bits) gets it extended.
void writeInt(Warp &w, const Instr &i, int l, uint64_t v) {
  unsigned bits = tyBits(i.ty);
  if (bits < 64) {
    v &= (uint64_t(1) << bits) - 1;
    if (tySigned(i.ty) && i.vec > bits && (v >> (bits - 1)))
      v |= ~uint64_t(0) << bits;
  }
  if (i.vec == 64)
    lanes64(w, i.d)[l] = v;
  else
    lanes32(w, i.d)[l] = uint32_t(i.vec <= 16 ? v & 0xffff : v);
}

double readFloat(Warp &w, const Instr &i, int l) {
  switch (i.ty2) {
  case Ty::F16: return tensor::decodeF16(uint16_t(lanes32(w, i.a)[l]));
  case Ty::BF16: return tensor::decodeBF16(uint16_t(lanes32(w, i.a)[l]));
  case Ty::F32: {
    float f = std::bit_cast<float>(lanes32(w, i.a)[l]);
    return i.mode & Ftz ? tensor::flush(f) : f;
  }
  default: return std::bit_cast<double>(lanes64(w, i.a)[l]);
  }
}

void intToInt(Warp &w, const Instr &i) {
  const bool sat = i.mode & Sat;
  const unsigned bits = tyBits(i.ty);
  forLanes(w.exec, [&](int l) {
    uint64_t v = readInt(w, i, l);
    if (sat) {
      bool neg = tySigned(i.ty2) && int64_t(v) < 0;
      if (tySigned(i.ty)) {
        int64_t hi = int64_t((uint64_t(1) << (bits - 1)) - 1), lo = -hi - 1;
        if (!tySigned(i.ty2))
          v = v > uint64_t(hi) ? uint64_t(hi) : v;
        else
          v = uint64_t(std::min(std::max(int64_t(v), lo), hi));
      } else {
        uint64_t hi = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
        v = neg ? 0 : std::min(v, hi);
      }
    }
    writeInt(w, i, l, v);
  });
}

void floatToInt(Warp &w, const Instr &i) {
  forLanes(w.exec, [&](int l) {
    if (i.ty2 == Ty::F64 && tyBits(i.ty) == 32 && std::isnan(readFloat(w, i, l)))
      return writeInt(w, i, l, 0x80000000); // as an H200 does; from narrower floats it is 0
    writeInt(w, i, l, tensor::cvtFloatToInt(readFloat(w, i, l), tyBits(i.ty), tySigned(i.ty), Round(i.round)));
  });
}

void writeFloat(Warp &w, const Instr &i, int l, double v) {
  switch (i.ty) {
  case Ty::F32: {
    float f = float(v); // exact, or rounded before
    if ((i.mode & Sat))
      f = f > 0.0f ? std::min(f, 1.0f) : 0.0f; // NaN and -0 too
    if (i.mode & Ftz)
      f = tensor::flush(f);
    lanes32(w, i.d)[l] = f != f ? tensor::canonicalNaN32 : std::bit_cast<uint32_t>(f);
    break;
  }
  case Ty::F64:
    lanes64(w, i.d)[l] = std::bit_cast<uint64_t>(v);
    break;
  default: {
    if (i.mode & Sat)
      v = v > 0.0 ? std::min(v, 1.0) : 0.0;
    EncodeOptions o{Round(i.round), bool(i.mode & SatFinite), bool(i.mode & Relu)};
    lanes32(w, i.d)[l] = tensor::encode(i.ty == Ty::F16 ? Elem::F16 : Elem::BF16, v, o);
    break;
  }
  }
}

void intToFloat(Warp &w, const Instr &i) {
  bool s = tySigned(i.ty2);
  Round r = Round(i.round);
  forLanes(w.exec, [&](int l) {
    uint64_t v = readInt(w, i, l);
    switch (i.ty) {
    case Ty::F32: writeFloat(w, i, l, double(tensor::cvtIntToF32(v, s, r))); break;
    case Ty::F64: writeFloat(w, i, l, tensor::cvtIntToF64(v, s, r)); break;
    default: {
      // Exact up to 53 bits; larger values overflow or round alike once made odd.
      uint64_t mag = s && int64_t(v) < 0 ? 0 - v : v;
      unsigned drop = mag >> 53 ? unsigned(11 - std::countl_zero(mag)) : 0;
      uint64_t kept = drop ? (mag >> drop) | ((mag & ((uint64_t(1) << drop) - 1)) != 0) : mag;
      double x = std::ldexp(double(kept), int(drop));
      writeFloat(w, i, l, s && int64_t(v) < 0 ? -x : x);
      break;
    }
    }
  });
}

/// What an H200 makes of a NaN: conversions with f64 and from bf16 keep the leading bits of its
/// fraction and make it quiet; the others give the canonical NaN. False: v is no such NaN.
bool keepNaN(Warp &w, const Instr &i, int l, double v) {
  if (!std::isnan(v) || (i.mode & (Sat | Relu | SatFinite | Integral)))
    return false;
  if (i.ty == Ty::F32 && i.ty2 == Ty::BF16) {
    lanes32(w, i.d)[l] = (lanes32(w, i.a)[l] & 0xffff) << 16 | 0x400000;
    return true;
  }
  if (i.ty2 == Ty::F64 && i.ty != Ty::F64) {
    const uint64_t b = lanes64(w, i.a)[l], sign = b >> 63, fraction = b & 0xfffffffffffff;
    lanes32(w, i.d)[l] = i.ty == Ty::F32   ? uint32_t(sign << 31 | 0x7fc00000 | fraction >> 29)
                         : i.ty == Ty::F16 ? uint32_t(sign << 15 | 0x7e00 | fraction >> 42)
                                           : uint32_t(sign << 15 | 0x7fc0 | fraction >> 45);
    return true;
  }
  if (i.ty == Ty::F64 && i.ty2 == Ty::F16) {
    const uint64_t b = lanes32(w, i.a)[l] & 0xffff;
    lanes64(w, i.d)[l] = (b >> 15) << 63 | uint64_t(0x7ff8) << 48 | (b & 0x3ff) << 42;
    return true;
  }
  return false;
}

void floatToFloat(Warp &w, const Instr &i) {
  Round r = Round(i.round);
  forLanes(w.exec, [&](int l) {
    double v = readFloat(w, i, l);
    if (keepNaN(w, i, l, v))
      return;
    if (i.mode & Integral)
      v = tensor::roundToIntegral(v, r);
    else if (i.ty == Ty::F32 && i.ty2 == Ty::F64)
      v = double(tensor::cvtF64ToF32(v, r, i.mode & Ftz, i.mode & Sat));
    writeFloat(w, i, l, v);
  });
}

EncodeOptions optionsOf(const Instr &i) { return {Round(i.round), bool(i.mode & SatFinite), bool(i.mode & Relu)}; }

void pack2(Warp &w, const Instr &i) { // d = {a high, b low} as i.sub
  auto o = optionsOf(i);
  Elem e = Elem(i.sub);
  const uint32_t *a = lanes32(w, i.a), *b = lanes32(w, i.b);
  uint32_t *d = lanes32(w, i.d);
  forLanes(w.exec, [&](int l) { d[l] = tensor::cvtPack2(e, tensor::asFloat(a[l]), tensor::asFloat(b[l]), o); });
}
void packBf16Rn(Warp &w, const Instr &i) { // the common form, vectorisable
  const uint32_t *a = lanes32(w, i.a), *b = lanes32(w, i.b);
  uint32_t *d = lanes32(w, i.d);
  auto round = [](uint32_t v) -> uint32_t {
    uint32_t r = (v + 0x7fff + (v >> 16 & 1)) >> 16;
    return (v & 0x7fffffff) > 0x7f800000 ? 0x7fff : r;
  };
  alignas(64) uint32_t t[32];
  for (int l = 0; l < 32; ++l)
    t[l] = round(a[l]) << 16 | round(b[l]);
  forLanes(w.exec, [&](int l) { d[l] = t[l]; });
}
void packed(Warp &w, const Instr &i) { // x2 to x2; i.sub to, i.bytes from
  auto o = optionsOf(i);
  const uint32_t *a = lanes32(w, i.a);
  uint32_t *d = lanes32(w, i.d);
  forLanes(w.exec, [&](int l) { d[l] = tensor::cvtPacked(Elem(i.sub), Elem(i.bytes), a[l], o); });
}
void toTf32(Warp &w, const Instr &i) {
  auto o = optionsOf(i);
  if (o.round == Round::NearestAway) { // a NaN loses its low bits only
    mapLanes<uint32_t, uint32_t>(w, i, [o](uint32_t v) {
      return (v & 0x7fffffff) > 0x7f800000 ? (v & 0xffffe000) | 0x400000 : tensor::cvtTF32(tensor::asFloat(v), o);
    });
    return;
  }
  mapLanes<uint32_t, uint32_t>(w, i, [o](uint32_t v) { return tensor::cvtTF32(tensor::asFloat(v), o); });
}
/// cvt.pack.sat.convertType.abType d, a, b{, c}
void packInt(Warp &w, const Instr &i) {
  unsigned bits = tyBits(i.ty);
  auto clamp = [&](int64_t v) -> uint32_t {
    bool s = tySigned(i.ty);
    int64_t hi = s ? (int64_t(1) << (bits - 1)) - 1 : (int64_t(1) << bits) - 1, lo = s ? -(int64_t(1) << (bits - 1)) : 0;
    return uint32_t(std::min(std::max(v, lo), hi)) & uint32_t((uint64_t(1) << bits) - 1);
  };
  forLanes(w.exec, [&](int l) {
    uint32_t a = clamp(int32_t(lanes32(w, i.a)[l])), b = clamp(int32_t(lanes32(w, i.b)[l]));
    uint32_t r = a << bits | b;
    if (!i.c.none())
      r |= lanes32(w, i.c)[l] << (2 * bits);
    lanes32(w, i.d)[l] = r;
  });
}

struct NarrowName { std::string_view name; Elem elem; unsigned bits; };
constexpr NarrowName narrow[] = {
    {"f16x2", Elem::F16, 32},  {"bf16x2", Elem::BF16, 32}, {"e4m3x2", Elem::E4M3, 16},  {"e5m2x2", Elem::E5M2, 16},
    {"e2m1x2", Elem::E2M1, 8}, {"e2m3x2", Elem::E2M3, 16}, {"e3m2x2", Elem::E3M2, 16}, {"ue8m0x2", Elem::UE8M0, 16},
};
const NarrowName *narrowOf(std::string_view n) {
  for (const NarrowName &x : narrow)
    if (x.name == n)
      return &x;
  return nullptr;
}

void decodePackInt(Decode &d) {
  d.expect("sat");
  static constexpr Ty to[] = {Ty::U16, Ty::S16, Ty::U8, Ty::S8};
  d.i.ty = to[d.oneOf({"u16", "s16", "u8", "s8"}, "a type")];
  d.type({Ty::S32});
  bool third = false;
  if (tyBits(d.i.ty) == 8) {
    d.expect("b32");
    third = true;
  }
  d.finish();
  d.operands(third ? 4 : 3);
  d.i.a = d.src(1, 32);
  d.i.b = d.src(2, 32);
  if (third)
    d.i.c = d.src(3, 32);
  d.i.d = d.dst(0, 32);
  d.i.fn = packInt;
  d.emit();
}

void decodeNarrow(Decode &d, const NarrowName &to) {
  std::string_view fromName = d.peek();
  d.i.sub = uint8_t(to.elem);
  bool wide16 = to.bits == 32;
  if (!(d.i.mode & HasRound))
    d.fail("expected a rounding");
  if (d.i.mode & (Ftz | Sat | Integral))
    d.fail("unknown modifier for this conversion");
  if (d.take("f32")) {
    d.finish();
    d.operands(3);
    if (wide16) {
      if (d.i.round > 1)
        d.fail("expected .rn or .rz");
      d.needCapability(8, 0);
    } else if (to.elem == Elem::UE8M0) {
      if (d.i.round != uint8_t(Round::Zero) && d.i.round != uint8_t(Round::Up))
        d.fail("expected .rz or .rp");
      d.needCapability(10, 0);
    } else {
      if (d.i.round)
        d.fail("expected .rn");
      if (!(d.i.mode & SatFinite))
        d.fail("expected .satfinite");
      bool small = to.elem != Elem::E4M3 && to.elem != Elem::E5M2;
      d.needCapability(small ? 10 : 8, small ? 0 : 9);
    }
    d.i.a = d.srcTy(d.op(1), Ty::F32);
    d.i.b = d.srcTy(d.op(2), Ty::F32);
    // An e2m1x2 result is 8 bits in a 16-bit register.
    d.i.d = to.bits == 8 ? d.dstWide(d.op(0), 8) : d.dst(0, to.bits);
    d.i.fn = to.elem == Elem::BF16 && d.i.round == 0 && !(d.i.mode & (Relu | SatFinite)) ? packBf16Rn : pack2;
    return d.emit();
  }
  const NarrowName *from = narrowOf(fromName);
  if (!from || !d.take(fromName))
    d.fail("unknown source type '." + std::string(fromName) + "'");
  bool known = (wide16 && from->bits < 32) || (!wide16 && from->bits == 32);
  if (!known)
    d.fail("unknown conversion");
  if (to.elem == Elem::F16 || from->elem == Elem::F16)
    d.needCapability(8, 9);
  else
    d.needCapability(10, 0);
  if (!wide16 && to.elem != Elem::UE8M0 && !(d.i.mode & SatFinite))
    d.fail("expected .satfinite");
  d.finish();
  d.operands(2);
  d.i.bytes = uint8_t(from->elem);
  d.i.a = from->bits == 8 ? d.srcWide(d.op(1), 8) : d.src(1, from->bits);
  d.i.d = to.bits == 8 ? d.dstWide(d.op(0), 8) : d.dst(0, to.bits);
  d.i.fn = packed;
  d.emit();
}

void decodeCvt(Decode &d) {
  if (d.take("pack"))
    return decodePackInt(d);
  int r = d.maybe({"rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi"});
  if (r >= 0) {
    d.i.mode |= HasRound;
    if (r >= 5)
      d.i.mode |= Integral;
    d.i.round = uint8_t(r >= 5 ? r - 5 : r);
  }
  for (bool more = true; more;) {
    more = true;
    if (d.take("ftz"))
      d.i.mode |= Ftz;
    else if (d.take("sat"))
      d.i.mode |= Sat;
    else if (d.take("satfinite"))
      d.i.mode |= SatFinite;
    else if (d.take("relu"))
      d.i.mode |= Relu;
    else
      more = false;
  }
  if (d.take("tf32")) {
    d.type({Ty::F32});
    d.finish();
    d.operands(2);
    if (!(d.i.mode & HasRound) || (d.i.round != 4 && d.i.round > 1) || (d.i.mode & (Ftz | Sat | Integral)))
      d.fail("expected .rna, .rn or .rz");
    d.needCapability(d.i.round == 4 ? 8 : 9, 0);
    d.i.a = d.srcTy(d.op(1), Ty::F32);
    d.i.d = d.dst(0, 32);
    d.i.fn = toTf32;
    return d.emit();
  }
  if (const NarrowName *to = narrowOf(d.peek())) {
    d.take(to->name);
    return decodeNarrow(d, *to);
  }
  std::initializer_list<Ty> types = {Ty::U8, Ty::U16, Ty::U32, Ty::U64, Ty::S8, Ty::S16, Ty::S32, Ty::S64, Ty::F16, Ty::BF16, Ty::F32, Ty::F64};
  Ty to = d.type(types), from = d.type(types);
  d.finish();
  d.operands(2);
  d.i.ty = to;
  d.i.ty2 = from;
  bool ff = tyFloat(to) && tyFloat(from);
  bool integral = d.i.mode & Integral, rounded = (d.i.mode & HasRound) && !integral;
  if ((d.i.mode & (SatFinite | Relu)) && !(ff && (to == Ty::F16 || to == Ty::BF16)))
    d.fail("expected a conversion to f16 or bf16 with .satfinite or .relu");
  if ((d.i.mode & Ftz) && to != Ty::F32 && from != Ty::F32)
    d.fail("expected an f32 side with .ftz");
  // ptxas takes both directions between f32 and bf16 from 8.0 on, the others from 9.0 on.
  if (to == Ty::BF16 || from == Ty::BF16)
    d.needCapability(to == Ty::F32 || from == Ty::F32 ? 8 : 9, 0);
  if (!tyFloat(to) && !tyFloat(from)) {
    if (d.i.mode & (HasRound | Ftz))
      d.fail("expected no rounding between integers");
    d.i.fn = intToInt;
  } else if (!tyFloat(to)) {
    if (!integral)
      d.fail("expected .rni, .rzi, .rmi or .rpi");
    d.i.fn = floatToInt;
  } else if (!tyFloat(from)) {
    if (!rounded || d.i.round == 4)
      d.fail("expected .rn, .rz, .rm or .rp");
    d.i.fn = intToFloat;
  } else {
    bool narrowing = tyBits(to) < tyBits(from) || (tyBits(to) == 16 && tyBits(from) == 16 && to != from);
    if (narrowing && !rounded)
      d.fail("expected .rn, .rz, .rm or .rp");
    if (!narrowing && rounded && to != from)
      d.fail("expected no rounding for a widening conversion");
    if (to == from && rounded)
      d.fail("expected an integral rounding");
    if (d.i.round == 4)
      d.fail("expected .rn, .rz, .rm or .rp");
    d.i.fn = floatToFloat;
  }
  unsigned toBits = tyBits(to), fromBits = tyBits(from);
  d.i.a = d.srcWide(d.op(1), fromBits);
  d.i.d = tyFloat(to) ? d.dst(0, toBits) : d.dstWide(d.op(0), toBits);
  unsigned a = d.regBits(d.op(1));
  d.i.bytes = uint8_t((a ? a : fromBits) == 64 ? 8 : 4);
  unsigned r0 = d.regBits(d.op(0));
  d.i.vec = uint8_t(r0 ? r0 : toBits);
  d.emit();
}
} // namespace

void registerConvert(OpTable &t) { t["cvt"] = decodeCvt; }

} // namespace heddle::emulator
