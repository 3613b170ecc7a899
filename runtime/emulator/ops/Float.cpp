//===- Float.cpp - floating-point arithmetic -----------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exactly rounded arithmetic comes from tensor/Numeric.h; the common forms (f32,
// nearest, no flushing) have loops of their own. Compiled with -ffp-contract=off.
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/core/Decoder.h"
#include "runtime/emulator/ops/Lanes.h"
#include "runtime/emulator/tensor/Numeric.h"

#include <cmath>

namespace heddle::emulator {

namespace {
using tensor::Approx;
using tensor::Elem;
using tensor::Mode;
using tensor::Round;

/// i.mode bits.
enum : uint8_t { Ftz = 1, Sat = 2, Relu = 4, NaNs = 8, XorSign = 16, Brain = 32 };

Mode modeOf(const Instr &i) { return Mode{Round(i.round), bool(i.mode & Ftz), bool(i.mode & Sat)}; }
tensor::Mode16 mode16(const Instr &i) { return {bool(i.mode & Ftz), bool(i.mode & Sat), bool(i.mode & Relu)}; }
tensor::MinMaxMode minMax(const Instr &i) { return {bool(i.mode & Ftz), bool(i.mode & NaNs), bool(i.mode & XorSign)}; }
Elem elem16(const Instr &i) { return i.mode & Brain ? Elem::BF16 : Elem::F16; }

inline float canonical(float v) { return v != v ? std::bit_cast<float>(tensor::canonicalNaN32) : v; }

void addF32(Warp &w, const Instr &i) { mapLanes2<float, float, float>(w, i, [](float a, float b) { return canonical(a + b); }); }
void subF32(Warp &w, const Instr &i) { mapLanes2<float, float, float>(w, i, [](float a, float b) { return canonical(a - b); }); }
void mulF32(Warp &w, const Instr &i) { mapLanes2<float, float, float>(w, i, [](float a, float b) { return canonical(a * b); }); }
void fmaF32Any(Warp &w, const Instr &i) {
  mapLanes3<float, float, float, float>(w, i, [](float a, float b, float c) { return canonical(std::fma(a, b, c)); });
}
#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) void fmaF32Fast(Warp &w, const Instr &i) {
  const float *a = reinterpret_cast<const float *>(lanes32(w, i.a)), *b = reinterpret_cast<const float *>(lanes32(w, i.b)),
              *c = reinterpret_cast<const float *>(lanes32(w, i.c));
  alignas(64) float t[32];
  for (int l = 0; l < 32; ++l) {
    float v = __builtin_fmaf(a[l], b[l], c[l]);
    t[l] = v != v ? std::bit_cast<float>(tensor::canonicalNaN32) : v;
  }
  uint32_t *d = lanes32(w, i.d);
  if (w.exec == ~0u) {
    std::memcpy(d, t, sizeof t);
    return;
  }
  for (uint32_t m = w.exec; m; m &= m - 1) {
    int l = std::countr_zero(m);
    std::memcpy(&d[l], &t[l], 4);
  }
}
const ExecFn fmaF32 = __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2") ? fmaF32Fast : fmaF32Any;
#else
const ExecFn fmaF32 = fmaF32Any;
#endif

// i.sub: 0 add, 1 sub, 2 mul.
void arithF32(Warp &w, const Instr &i) {
  Mode m = modeOf(i);
  switch (i.sub) {
  case 0: return mapLanes2<float, float, float>(w, i, [m](float a, float b) { return tensor::addF32(a, b, m); });
  case 1: return mapLanes2<float, float, float>(w, i, [m](float a, float b) { return tensor::subF32(a, b, m); });
  default: return mapLanes2<float, float, float>(w, i, [m](float a, float b) { return tensor::mulF32(a, b, m); });
  }
}
void arithF64(Warp &w, const Instr &i) {
  Round r = Round(i.round);
  switch (i.sub) {
  case 0: return mapLanes2<double, double, double>(w, i, [r](double a, double b) { return tensor::addF64(a, b, r); });
  case 1: return mapLanes2<double, double, double>(w, i, [r](double a, double b) { return tensor::addF64(a, -b, r); });
  default: return mapLanes2<double, double, double>(w, i, [r](double a, double b) { return tensor::mulF64(a, b, r); });
  }
}
void arith16(Warp &w, const Instr &i) {
  auto m = mode16(i);
  Elem e = elem16(i);
  if (i.bytes == 2)
    mapLanes2<uint16_t, uint16_t, uint16_t>(w, i, [&](uint16_t a, uint16_t b) {
      return i.sub == 0 ? tensor::add16(e, a, b, m) : i.sub == 1 ? tensor::sub16(e, a, b, m) : tensor::mul16(e, a, b, m);
    });
  else
    mapLanes2<uint32_t, uint32_t, uint32_t>(w, i, [&](uint32_t a, uint32_t b) {
      return i.sub == 0 ? tensor::add16x2(e, a, b, m) : i.sub == 1 ? tensor::sub16x2(e, a, b, m) : tensor::mul16x2(e, a, b, m);
    });
}
/// f32x2: two f32 in a 64-bit register; i.sub 3: fma.
void arithF32x2(Warp &w, const Instr &i) {
  Mode m = modeOf(i);
  forLanes(w.exec, [&](int l) {
    uint64_t a = lanes64(w, i.a)[l], b = lanes64(w, i.b)[l], c = i.sub == 3 ? lanes64(w, i.c)[l] : 0, r = 0;
    for (unsigned h = 0; h < 2; ++h) {
      float x = tensor::asFloat(uint32_t(a >> (32 * h))), y = tensor::asFloat(uint32_t(b >> (32 * h)));
      float v = i.sub == 0   ? tensor::addF32(x, y, m)
                : i.sub == 1 ? tensor::subF32(x, y, m)
                : i.sub == 2 ? tensor::mulF32(x, y, m)
                             : tensor::fmaF32(x, y, tensor::asFloat(uint32_t(c >> (32 * h))), m);
      r |= uint64_t(tensor::asBits(v)) << (32 * h);
    }
    lanes64(w, i.d)[l] = r;
  });
}
void fmaSlow(Warp &w, const Instr &i) {
  Mode m = modeOf(i);
  mapLanes3<float, float, float, float>(w, i, [m](float a, float b, float c) { return tensor::fmaF32(a, b, c, m); });
}
void fmaF64(Warp &w, const Instr &i) {
  Round r = Round(i.round);
  mapLanes3<double, double, double, double>(w, i, [r](double a, double b, double c) { return tensor::fmaF64(a, b, c, r); });
}
void fma16(Warp &w, const Instr &i) {
  auto m = mode16(i);
  Elem e = elem16(i);
  if (i.bytes == 2)
    mapLanes3<uint16_t, uint16_t, uint16_t, uint16_t>(w, i, [&](uint16_t a, uint16_t b, uint16_t c) { return tensor::fma16(e, a, b, c, m); });
  else
    mapLanes3<uint32_t, uint32_t, uint32_t, uint32_t>(w, i, [&](uint32_t a, uint32_t b, uint32_t c) { return tensor::fma16x2(e, a, b, c, m); });
}
void divF32(Warp &w, const Instr &i) {
  Mode m = modeOf(i);
  mapLanes2<float, float, float>(w, i, [m](float a, float b) { return tensor::divF32(a, b, m); });
}
void divApprox(Warp &w, const Instr &i) {
  bool ftz = i.mode & Ftz;
  mapLanes2<float, float, float>(w, i, [ftz](float a, float b) { return tensor::divApproxF32(a, b, ftz); });
}
void divF64(Warp &w, const Instr &i) { mapLanes2<double, double, double>(w, i, [](double a, double b) { return a / b; }); }
template <bool Max> void minMaxF32(Warp &w, const Instr &i) {
  auto m = minMax(i);
  if (i.c.none())
    mapLanes2<float, float, float>(w, i, [m](float a, float b) { return Max ? tensor::maxF32(a, b, m) : tensor::minF32(a, b, m); });
  else
    mapLanes3<float, float, float, float>(w, i, [m](float a, float b, float c) {
      return Max ? tensor::maxF32(tensor::maxF32(a, b, m), c, m) : tensor::minF32(tensor::minF32(a, b, m), c, m);
    });
}
template <bool Max> void minMaxF64(Warp &w, const Instr &i) {
  mapLanes2<double, double, double>(w, i, [](double a, double b) {
    if (a != a)
      return b;
    if (b != b)
      return a;
    if (a == b)
      return std::signbit(a) == Max ? b : a;
    return (a < b) != Max ? a : b;
  });
}
template <bool Max> void minMax16(Warp &w, const Instr &i) {
  auto m = minMax(i);
  Elem e = elem16(i);
  if (i.bytes == 2)
    mapLanes2<uint16_t, uint16_t, uint16_t>(w, i, [&](uint16_t a, uint16_t b) { return Max ? tensor::max16(e, a, b, m) : tensor::min16(e, a, b, m); });
  else
    mapLanes2<uint32_t, uint32_t, uint32_t>(w, i, [&](uint32_t a, uint32_t b) { return Max ? tensor::max16x2(e, a, b, m) : tensor::min16x2(e, a, b, m); });
}
void rcpF32(Warp &w, const Instr &i) {
  Mode m = modeOf(i);
  mapLanes<float, float>(w, i, [m](float a) { return tensor::rcpF32(a, m); });
}
void sqrtF32(Warp &w, const Instr &i) {
  Mode m = modeOf(i);
  mapLanes<float, float>(w, i, [m](float a) { return tensor::sqrtF32(a, m); });
}
void unaryF64(Warp &w, const Instr &i) { // i.sub: 0 rcp, 1 sqrt, 2 rsqrt
  mapLanes<double, double>(w, i, [&](double a) { return i.sub == 0 ? 1.0 / a : i.sub == 1 ? std::sqrt(a) : 1.0 / std::sqrt(a); });
}
void approxF32(Warp &w, const Instr &i) {
  bool ftz = i.mode & Ftz;
  auto op = Approx(i.sub);
  mapLanes<float, float>(w, i, [=](float a) { return tensor::approxF32(op, a, ftz); });
}
void approx16(Warp &w, const Instr &i) {
  auto op = Approx(i.sub);
  Elem e = elem16(i);
  bool ftz = i.mode & Ftz;
  if (i.bytes == 2)
    mapLanes<uint16_t, uint16_t>(w, i, [&](uint16_t a) { return tensor::approx16(e, op, a, ftz); });
  else
    mapLanes<uint32_t, uint32_t>(w, i, [&](uint32_t a) { return tensor::approx16x2(e, op, a, ftz); });
}
/// abs, neg as bit operations: i.imm the mask, i.sub 1: exclusive or, else and-not.
template <class T> void signBits(Warp &w, const Instr &i) {
  T mask = T(i.imm);
  if (i.sub)
    mapLanes<T, T>(w, i, [mask](T v) { return T(v ^ mask); });
  else
    mapLanes<T, T>(w, i, [mask](T v) { return T(v & ~mask); });
}
/// abs and neg of 16-bit halves; a NaN becomes the canonical one. i.bytes 2 or 4.
void sign16(Warp &w, const Instr &i) {
  const uint32_t infinity = i.mode & Brain ? 0x7f80 : 0x7c00;
  const bool neg = i.sub;
  auto half = [=](uint32_t h) { return (h & 0x7fff) > infinity ? 0x7fffu : neg ? h ^ 0x8000 : h & 0x7fff; };
  if (i.bytes == 2)
    mapLanes<uint16_t, uint16_t>(w, i, [=](uint16_t v) { return uint16_t(half(v)); });
  else
    mapLanes<uint32_t, uint32_t>(w, i, [=](uint32_t v) { return half(v & 0xffff) | half(v >> 16) << 16; });
}
void signFtz(Warp &w, const Instr &i) {
  bool neg = i.sub;
  mapLanes<float, float>(w, i, [neg](float a) {
    a = tensor::flush(a);
    return canonical(neg ? -a : std::fabs(a));
  });
}
template <class T> void copysign(Warp &w, const Instr &i) { // d = |b| with a's sign
  T sign = T(T(1) << (8 * sizeof(T) - 1));
  mapLanes2<T, T, T>(w, i, [sign](T a, T b) { return T((b & ~sign) | (a & sign)); });
}

/// add, sub (i.sub 0, 1) and fma of f32 with 16-bit factors: the operand is widened exactly, then
/// the sum or product is rounded once.
float widen(const Instr &i, uint16_t v) { return i.mode & Brain ? tensor::decodeBF16(v) : tensor::decodeF16(v); }
void arithMixed(Warp &w, const Instr &i) {
  Mode m = modeOf(i);
  mapLanes2<float, uint16_t, float>(w, i, [&](uint16_t a, float c) {
    return i.sub ? tensor::subF32(widen(i, a), c, m) : tensor::addF32(widen(i, a), c, m);
  });
}
void fmaMixed(Warp &w, const Instr &i) {
  Mode m = modeOf(i);
  mapLanes3<float, uint16_t, uint16_t, float>(
      w, i, [&](uint16_t a, uint16_t b, float c) { return tensor::fmaF32(widen(i, a), widen(i, b), c, m); });
}

struct Parsed {
  bool rounded = false;
  Ty ty;
};

/// {.rnd}{.ftz}{.sat}{.relu} and a float type.
Parsed takeFloat(Decode &d, std::initializer_list<Ty> types) {
  Parsed p;
  int r = d.maybe({"rn", "rz", "rm", "rp"});
  p.rounded = r >= 0;
  d.i.round = uint8_t(r < 0 ? 0 : r);
  if (d.take("ftz"))
    d.i.mode |= Ftz;
  if (d.take("sat"))
    d.i.mode |= Sat;
  if (d.take("relu"))
    d.i.mode |= Relu;
  p.ty = d.type(types);
  d.i.ty = p.ty;
  if (p.ty == Ty::BF16 || p.ty == Ty::BF16x2)
    d.i.mode |= Brain;
  d.i.bytes = uint8_t(tyBits(p.ty) / 8);
  bool sixteen = p.ty != Ty::F32 && p.ty != Ty::F64 && p.ty != Ty::F32x2;
  if (sixteen && d.i.round)
    d.fail("expected .rn for a 16-bit type");
  if ((d.i.mode & Ftz) && (p.ty == Ty::F64 || (d.i.mode & Brain)))
    d.fail("expected no .ftz for this type");
  if ((d.i.mode & Sat) && (p.ty == Ty::F64 || p.ty == Ty::F32x2 || (d.i.mode & Brain)))
    d.fail("expected no .sat for this type");
  if (d.i.mode & Brain)
    d.needCapability(8, 0);
  if (p.ty == Ty::F32x2)
    d.needCapability(10, 0);
  return p;
}

void operands(Decode &d, Ty t, unsigned n) {
  d.finish();
  d.operands(n + 1);
  d.i.a = d.srcTy(d.op(1), t);
  if (n > 1)
    d.i.b = d.srcTy(d.op(2), t);
  if (n > 2)
    d.i.c = d.srcTy(d.op(3), t);
  d.i.d = d.dst(0, tyBits(t));
  d.emit();
}

/// {.rnd}{.sat}.f32.f16 and .f32.bf16 of add, sub and fma: `factors` 16-bit operands, then one f32.
void decodeMixed(Decode &d, ExecFn fn, unsigned factors) {
  d.needCapability(10, 0);
  if (d.i.mode & (Ftz | Relu))
    d.fail("expected no .ftz and no .relu with mixed precision");
  Ty narrow = d.type({Ty::F16, Ty::BF16});
  if (narrow == Ty::BF16)
    d.i.mode |= Brain;
  d.finish();
  d.operands(factors + 2);
  d.i.a = d.srcTy(d.op(1), narrow);
  d.i.b = d.srcTy(d.op(2), factors == 2 ? narrow : Ty::F32);
  if (factors == 2)
    d.i.c = d.srcTy(d.op(3), Ty::F32);
  d.i.d = d.dst(0, 32);
  d.i.fn = fn;
  d.emit();
}

void decodeArith(Decode &d, unsigned sub) {
  Parsed p = takeFloat(d, {Ty::F16, Ty::F16x2, Ty::BF16, Ty::BF16x2, Ty::F32, Ty::F32x2, Ty::F64});
  d.i.sub = uint8_t(sub);
  if (p.ty == Ty::F32 && d.more() && sub < 2)
    return decodeMixed(d, arithMixed, 1);
  if (d.i.mode & Relu)
    d.fail("unknown modifier '.relu'");
  if (p.ty != Ty::F32 && p.ty != Ty::F32x2 && p.ty != Ty::F64 && (d.i.mode & Brain))
    d.needCapability(9, 0);
  switch (p.ty) {
  case Ty::F32:
    d.i.fn = d.i.mode || d.i.round ? arithF32 : sub == 0 ? addF32 : sub == 1 ? subF32 : mulF32;
    break;
  case Ty::F64: d.i.fn = arithF64; break;
  case Ty::F32x2: d.i.fn = arithF32x2; break;
  default: d.i.fn = arith16; break;
  }
  operands(d, p.ty, 2);
}

void decodeFma(Decode &d) {
  Parsed p = takeFloat(d, {Ty::F16, Ty::F16x2, Ty::BF16, Ty::BF16x2, Ty::F32, Ty::F32x2, Ty::F64});
  if (!p.rounded)
    d.fail("expected a rounding (.rn, .rz, .rm, .rp)");
  if (p.ty == Ty::F32 && d.more() && d.root() == "fma")
    return decodeMixed(d, fmaMixed, 2);
  bool sixteen = p.ty != Ty::F32 && p.ty != Ty::F64 && p.ty != Ty::F32x2;
  if ((d.i.mode & Relu) && !sixteen)
    d.fail("expected a 16-bit type with .relu");
  d.i.sub = 3;
  switch (p.ty) {
  case Ty::F32: d.i.fn = d.i.mode || d.i.round ? fmaSlow : fmaF32; break;
  case Ty::F64: d.i.fn = fmaF64; break;
  case Ty::F32x2: d.i.fn = arithF32x2; break;
  default: d.i.fn = fma16; break;
  }
  operands(d, p.ty, 3);
}

void decodeDiv(Decode &d) {
  int kind = d.maybe({"approx", "full"});
  Parsed p = takeFloat(d, {Ty::F32, Ty::F64});
  if (d.i.mode & (Sat | Relu))
    d.fail("unknown modifier");
  if (kind >= 0) {
    if (p.ty != Ty::F32 || p.rounded)
      d.fail("expected .f32 with .approx or .full");
    d.i.fn = divApprox;
  } else {
    if (!p.rounded)
      d.fail("expected .approx, .full or a rounding");
    if (p.ty == Ty::F64 && d.i.round)
      d.fail("f64 division is only known with .rn");
    d.i.fn = p.ty == Ty::F64 ? divF64 : divF32;
  }
  operands(d, p.ty, 2);
}

void decodeMinMax(Decode &d, bool max) {
  if (d.take("ftz"))
    d.i.mode |= Ftz;
  if (d.take("NaN"))
    d.i.mode |= NaNs;
  if (d.take("xorsign")) {
    d.expect("abs");
    d.i.mode |= XorSign;
  }
  Ty t = d.type({Ty::F16, Ty::F16x2, Ty::BF16, Ty::BF16x2, Ty::F32, Ty::F64});
  if (t == Ty::BF16 || t == Ty::BF16x2)
    d.i.mode |= Brain;
  d.i.bytes = uint8_t(tyBits(t) / 8);
  unsigned n = 2;
  if (t == Ty::F64) {
    if (d.i.mode)
      d.fail("expected no modifiers for f64");
    d.i.fn = max ? minMaxF64<true> : minMaxF64<false>;
  } else if (t == Ty::F32) {
    if (d.i.mode & NaNs)
      d.needCapability(8, 0);
    if (d.i.mode & XorSign)
      d.needCapability(8, 6);
    if (d.count() == 4) {
      d.needCapability(10, 0);
      n = 3;
    }
    d.i.fn = max ? minMaxF32<true> : minMaxF32<false>;
  } else {
    d.needCapability(8, 0);
    d.i.fn = max ? minMax16<true> : minMax16<false>;
  }
  operands(d, t, n);
}

void decodeAbsNeg(Decode &d, bool neg) {
  bool ftz = d.take("ftz");
  Ty t = d.type({Ty::F16, Ty::F16x2, Ty::BF16, Ty::BF16x2, Ty::F32, Ty::F64});
  if (ftz && t != Ty::F32)
    d.fail("expected .f32 with .ftz");
  d.i.sub = neg;
  switch (t) {
  case Ty::F64: d.i.fn = signBits<uint64_t>; d.i.imm = int64_t(uint64_t(1) << 63); break;
  case Ty::F32: d.i.fn = ftz ? signFtz : signBits<uint32_t>; d.i.imm = 0x80000000; break;
  default:
    d.i.bytes = uint8_t(tyBits(t) / 8);
    if (t == Ty::BF16 || t == Ty::BF16x2)
      d.i.mode |= Brain;
    d.i.fn = sign16;
    break;
  }
  operands(d, t, 1);
}

void decodeRcpSqrt(Decode &d) { // rcp, sqrt, rsqrt
  unsigned which = d.root() == "rcp" ? 0 : d.root() == "sqrt" ? 1 : 2;
  bool approx = d.take("approx");
  Parsed p = takeFloat(d, {Ty::F32, Ty::F64});
  if ((d.i.mode & (Sat | Relu)) || (approx && p.rounded) || (!approx && !p.rounded))
    d.fail("expected .approx or a rounding");
  if (p.ty == Ty::F64) {
    if (d.i.round)
      d.fail("f64 is only known with .rn");
    d.i.sub = uint8_t(which);
    d.i.fn = unaryF64;
  } else if (approx) {
    d.i.sub = uint8_t(which == 0 ? Approx::Rcp : which == 1 ? Approx::Sqrt : Approx::Rsqrt);
    d.i.fn = approxF32;
  } else {
    if (which == 2)
      d.fail("expected .approx");
    d.i.fn = which == 0 ? rcpF32 : sqrtF32;
  }
  operands(d, p.ty, 1);
}
/// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 reach takeFloat with .ftz and f64.
void decodeRcpSqrtRoot(Decode &d) {
  if (d.last() == "f64" && d.s.op.find(".approx.ftz.") != std::string_view::npos) {
    d.expect("approx");
    d.expect("ftz");
    d.type({Ty::F64});
    d.i.sub = d.root() == "rcp" ? 0 : 2;
    d.i.fn = unaryF64;
    return operands(d, Ty::F64, 1);
  }
  decodeRcpSqrt(d);
}

void decodeApprox(Decode &d) { // sin, cos, lg2, ex2, tanh
  static const std::map<std::string_view, Approx> ops = {
      {"sin", Approx::Sin}, {"cos", Approx::Cos}, {"lg2", Approx::Lg2}, {"ex2", Approx::Ex2}, {"tanh", Approx::Tanh}};
  Approx op = ops.at(d.root());
  d.i.sub = uint8_t(op);
  d.expect("approx");
  bool ftz = d.take("ftz");
  if (ftz)
    d.i.mode |= Ftz;
  Ty t = op == Approx::Ex2 || op == Approx::Tanh ? d.type({Ty::F32, Ty::F16, Ty::F16x2, Ty::BF16, Ty::BF16x2}) : d.type({Ty::F32});
  if (op == Approx::Tanh) {
    if (ftz)
      d.fail("expected no .ftz");
    d.needCapability(7, 5);
  }
  if (t == Ty::BF16 || t == Ty::BF16x2) {
    d.i.mode |= Brain;
    d.needCapability(9, 0);
    if (op == Approx::Ex2 && !ftz)
      d.fail("expected .ftz with a bf16 type");
  }
  d.i.bytes = uint8_t(tyBits(t) / 8);
  d.i.fn = t == Ty::F32 ? approxF32 : approx16;
  operands(d, t, 1);
}

void decodeCopysign(Decode &d) {
  Ty t = d.type({Ty::F32, Ty::F64});
  d.i.fn = t == Ty::F32 ? copysign<uint32_t> : copysign<uint64_t>;
  operands(d, t, 2);
}
} // namespace

bool decodeFloat(Decode &d) {
  Ty t = tyFromName(d.last());
  if (!tyFloat(t))
    return false;
  std::string_view r = d.root();
  if (r == "add")
    decodeArith(d, 0);
  else if (r == "sub")
    decodeArith(d, 1);
  else if (r == "mul")
    decodeArith(d, 2);
  else if (r == "mad")
    decodeFma(d);
  else if (r == "div")
    decodeDiv(d);
  else if (r == "min" || r == "max")
    decodeMinMax(d, r == "max");
  else if (r == "abs" || r == "neg")
    decodeAbsNeg(d, r == "neg");
  else
    return false;
  return true;
}

void registerFloat(OpTable &t) {
  t["fma"] = decodeFma;
  t["rcp"] = t["sqrt"] = t["rsqrt"] = decodeRcpSqrtRoot;
  t["sin"] = t["cos"] = t["lg2"] = t["ex2"] = t["tanh"] = decodeApprox;
  t["copysign"] = decodeCopysign;
}

} // namespace heddle::emulator
