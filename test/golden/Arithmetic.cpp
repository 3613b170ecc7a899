//===- Arithmetic.cpp - integers, floats, approximations, conversions -----===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Golden.h"

namespace heddle::golden {

namespace {
struct Row {
  const char *text;
  std::vector<Word> inputs;
  Compare compare = Compare::Bits;
  double tolerance = 0;
};

/// The case's name: the family and the instruction, without operands.
void add(std::vector<Case> &cases, const std::string &family, const std::vector<Row> &rows, const char *target = "sm_80") {
  for (const Row &row : rows) {
    std::string text = row.text;
    std::string name = family + "/" + text.substr(0, text.find(' '));
    for (bool again = true; again;) { // forms that differ in operands only
      again = false;
      for (const Case &c : cases)
        if (c.name == name) {
          name += "'";
          again = true;
        }
    }
    cases.push_back(statement(name, text, row.inputs, target));
    cases.back().compare = row.compare;
    cases.back().tolerance = row.tolerance;
  }
}
constexpr auto I = Word::Bits, S = Word::Small, F = Word::F32, D = Word::F64High, H = Word::F16x2, B = Word::BF16x2;
constexpr auto Rel = Compare::F32Rel;
} // namespace

void addConversions(std::vector<Case> &cases) {
  add(cases, "cvt",
      {{"cvt.rn.f16.f32 %h0, %f1;", {F}},
       {"cvt.rz.f16.f32 %h0, %f1;", {F}},
       {"cvt.rn.sat.f16.f32 %h0, %f1;", {F}},
       {"cvt.rn.bf16.f32 %h0, %f1;", {F}},
       {"cvt.rz.bf16.f32 %h0, %f1;", {F}},
       {"cvt.rn.relu.bf16.f32 %h0, %f1;", {F}},
       {"cvt.rn.f16x2.f32 %r0, %f1, %f2;", {F, F}},
       {"cvt.rz.bf16x2.f32 %r0, %f1, %f2;", {F, F}},
       {"cvt.rn.relu.bf16x2.f32 %r0, %f1, %f2;", {F, F}},
       {"cvt.rna.tf32.f32 %r0, %f1;", {F}},
       {"cvt.f32.f16 %f0, %h1;", {H}},
       {"cvt.f64.f16 %d0, %h1;", {H}},
       {"cvt.rni.s32.f32 %r0, %f1;", {F}},
       {"cvt.rzi.s32.f32 %r0, %f1;", {F}},
       {"cvt.rmi.s32.f32 %r0, %f1;", {F}},
       {"cvt.rpi.u32.f32 %r0, %f1;", {F}},
       {"cvt.rzi.ftz.u32.f32 %r0, %f1;", {F}},
       {"cvt.rni.s64.f32 %d0, %f1;", {F}},
       {"cvt.rzi.u64.f32 %d0, %f1;", {F}},
       {"cvt.rzi.s8.f32 %r0, %f1;", {F}},
       {"cvt.rni.u16.f32 %h0, %f1;", {F}},
       {"cvt.rzi.s32.f16 %r0, %h1;", {H}},
       {"cvt.rni.u8.f16 %r0, %h1;", {H}},
       {"cvt.rn.f32.s32 %f0, %r1;", {I}},
       {"cvt.rz.f32.u32 %f0, %r1;", {I}},
       {"cvt.rp.f32.s64 %f0, %d1;", {I}},
       {"cvt.rm.f32.u64 %f0, %d1;", {I}},
       {"cvt.rn.f64.s64 %d0, %d1;", {I}},
       {"cvt.rn.f16.s32 %h0, %r1;", {I}},
       {"cvt.rn.f16.u16 %h0, %h1;", {I}},
       {"cvt.rn.f32.f64 %f0, %d1;", {D}},
       {"cvt.rp.ftz.f32.f64 %f0, %d1;", {D}},
       {"cvt.rz.f16.f64 %h0, %d1;", {D}},
       {"cvt.f64.f32 %d0, %f1;", {F}},
       {"cvt.rzi.s32.f64 %r0, %d1;", {D}},
       {"cvt.rni.u64.f64 %d0, %d1;", {D}},
       {"cvt.sat.f32.f32 %f0, %f1;", {F}},
       {"cvt.ftz.f32.f32 %f0, %f1;", {F}},
       {"cvt.rni.f32.f32 %f0, %f1;", {F}},
       {"cvt.rmi.ftz.f32.f32 %f0, %f1;", {F}},
       {"cvt.rzi.f64.f64 %d0, %d1;", {D}},
       {"cvt.rpi.f16.f16 %h0, %h1;", {H}},
       {"cvt.sat.s8.s32 %r0, %r1;", {I}},
       {"cvt.sat.u16.s32 %h0, %r1;", {I}},
       {"cvt.s8.s32 %r0, %r1;", {I}},
       {"cvt.sat.s32.s64 %r0, %d1;", {I}},
       {"cvt.sat.u64.s64 %d0, %d1;", {I}}});
  add(cases, "cvt",
      {{"cvt.rn.satfinite.e4m3x2.f32 %h0, %f1, %f2;", {F, F}},
       {"cvt.rn.satfinite.e5m2x2.f32 %h0, %f1, %f2;", {F, F}},
       {"cvt.rn.satfinite.relu.e4m3x2.f32 %h0, %f1, %f2;", {F, F}},
       {"cvt.rn.satfinite.e4m3x2.f16x2 %h0, %r1;", {H}},
       {"cvt.rn.satfinite.e5m2x2.f16x2 %h0, %r1;", {H}},
       {"cvt.rn.f16x2.e4m3x2 %r0, %h1;", {I}},
       {"cvt.rn.f16x2.e5m2x2 %r0, %h1;", {I}},
       {"cvt.rn.relu.f16x2.e5m2x2 %r0, %h1;", {I}},
       {"cvt.f32.bf16 %f0, %h1;", {B}},
       {"cvt.rn.bf16.s32 %h0, %r1;", {I}},
       {"cvt.rzi.s32.bf16 %r0, %h1;", {B}},
       {"cvt.rn.bf16.f16 %h0, %h1;", {H}},
       {"cvt.rn.tf32.f32 %r0, %f1;", {F}},
       {"cvt.rz.relu.tf32.f32 %r0, %f1;", {F}}},
      "sm_90a");
}

void addArithmetic(std::vector<Case> &cases) {
  add(cases, "integer",
      {{"mad.lo.s32 %r0, %r1, %r2, %r3;", {I, I, I}},
       {"mad.hi.s32 %r0, %r1, %r2, %r3;", {I, I, I}},
       {"mad.hi.sat.s32 %r0, %r1, %r2, %r3;", {I, I, I}},
       {"mul.hi.u32 %r0, %r1, %r2;", {I, I}},
       {"mul.wide.s32 %d0, %r1, %r2;", {I, I}},
       {"mul.hi.s64 %d0, %d1, %d2;", {I, I}},
       {"mul.wide.u16 %r0, %h1, %h2;", {I, I}},
       {"mul24.hi.s32 %r0, %r1, %r2;", {I, I}},
       {"mad24.lo.u32 %r0, %r1, %r2, %r3;", {I, I, I}},
       {"add.sat.s32 %r0, %r1, %r2;", {I, I}},
       {"sub.sat.s32 %r0, %r1, %r2;", {I, I}},
       {"add.cc.u32 %r4, %r1, %r2;\naddc.u32 %r0, %r3, %r3;", {I, I, I}},
       {"sub.cc.u32 %r4, %r1, %r2;\nsubc.u32 %r0, %r3, %r1;", {I, I, I}},
       {"or.b32 %r2, %r2, 1;\ndiv.s32 %r0, %r1, %r2;", {I, S}},
       {"or.b32 %r2, %r2, 1;\nrem.s32 %r0, %r1, %r2;", {I, I}},
       {"or.b64 %d2, %d2, 1;\ndiv.u64 %d0, %d1, %d2;", {I, I}},
       {"or.b64 %d2, %d2, 1;\nrem.s64 %d0, %d1, %d2;", {I, I}},
       {"abs.s32 %r0, %r1;", {I}},
       {"min.s32 %r0, %r1, %r2;", {I, I}},
       {"max.u64 %d0, %d1, %d2;", {I, I}},
       {"sad.s32 %r0, %r1, %r2, %r3;", {I, I, I}},
       {"shl.b32 %r0, %r1, %r2;", {I, S}},
       {"shr.s32 %r0, %r1, %r2;", {I, S}},
       {"shr.u64 %d0, %d1, %r2;", {I, S}},
       {"shr.s16 %h0, %h1, %r2;", {I, S}},
       {"shf.l.wrap.b32 %r0, %r1, %r2, %r3;", {I, I, S}},
       {"shf.r.clamp.b32 %r0, %r1, %r2, %r3;", {I, I, S}},
       {"lop3.b32 %r0, %r1, %r2, %r3, 0x96;", {I, I, I}},
       {"lop3.b32 %r0, %r1, %r2, %r3, 0xe8;", {I, I, I}},
       {"bfe.s32 %r0, %r1, %r2, %r3;", {I, S, S}},
       {"bfe.u64 %d0, %d1, %r2, %r3;", {I, S, S}},
       {"bfi.b32 %r0, %r1, %r2, %r3, %r4;", {I, I, S, S}},
       {"bmsk.clamp.b32 %r0, %r1, %r2;", {S, S}},
       {"bmsk.wrap.b32 %r0, %r1, %r2;", {S, S}},
       {"szext.clamp.s32 %r0, %r1, %r2;", {I, S}},
       {"fns.b32 %r0, %r1, %r2, 1;", {I, S}},
       {"brev.b32 %r0, %r1;", {I}},
       {"popc.b64 %r0, %d1;", {I}},
       {"clz.b32 %r0, %r1;", {I}},
       {"bfind.s32 %r0, %r1;", {I}},
       {"bfind.shiftamt.u32 %r0, %r1;", {I}},
       {"prmt.b32 %r0, %r1, %r2, %r3;", {I, I, I}},
       {"prmt.b32.f4e %r0, %r1, %r2, %r3;", {I, I, I}},
       {"prmt.b32.b4e %r0, %r1, %r2, %r3;", {I, I, I}},
       {"prmt.b32.rc8 %r0, %r1, %r2, %r3;", {I, I, I}},
       {"prmt.b32.ecl %r0, %r1, %r2, %r3;", {I, I, I}},
       {"prmt.b32.ecr %r0, %r1, %r2, %r3;", {I, I, I}},
       {"prmt.b32.rc16 %r0, %r1, %r2, %r3;", {I, I, I}},
       {"dp4a.s32.u32 %r0, %r1, %r2, %r3;", {I, I, I}},
       {"dp2a.hi.u32.s32 %r0, %r1, %r2, %r3;", {I, I, I}},
       {"setp.lt.s32 %p0, %r1, %r2;", {I, I}},
       {"setp.hi.u32 %p0, %r1, %r2;", {I, I}},
       {"set.ge.u32.s32 %r0, %r1, %r2;", {I, I}},
       {"slct.s32.s32 %r0, %r1, %r2, %r3;", {I, I, I}}});
  add(cases, "float",
      {{"add.rn.f32 %f0, %f1, %f2;", {F, F}},
       {"add.rz.f32 %f0, %f1, %f2;", {F, F}},
       {"sub.rp.f32 %f0, %f1, %f2;", {F, F}},
       {"add.ftz.sat.f32 %f0, %f1, %f2;", {F, F}},
       {"mul.rn.f32 %f0, %f1, %f2;", {F, F}},
       {"mul.rm.ftz.f32 %f0, %f1, %f2;", {F, F}},
       {"fma.rn.f32 %f0, %f1, %f2, %f3;", {F, F, F}},
       {"fma.rz.f32 %f0, %f1, %f2, %f3;", {F, F, F}},
       {"fma.rn.ftz.f32 %f0, %f1, %f2, %f3;", {F, F, F}},
       {"fma.rn.sat.f32 %f0, %f1, %f2, %f3;", {F, F, F}},
       {"div.rn.f32 %f0, %f1, %f2;", {F, F}},
       {"div.rz.ftz.f32 %f0, %f1, %f2;", {F, F}},
       {"rcp.rn.f32 %f0, %f1;", {F}},
       {"sqrt.rn.f32 %f0, %f1;", {F}},
       {"sqrt.rp.f32 %f0, %f1;", {F}},
       {"add.rn.f64 %d0, %d1, %d2;", {D, D}},
       {"fma.rm.f64 %d0, %d1, %d2, %d3;", {D, D, D}},
       {"div.rn.f64 %d0, %d1, %d2;", {D, D}},
       {"sqrt.rn.f64 %d0, %d1;", {D}},
       {"min.f32 %f0, %f1, %f2;", {F, F}},
       {"max.NaN.f32 %f0, %f1, %f2;", {F, F}},
       {"max.ftz.f32 %f0, %f1, %f2;", {F, F}},
       {"max.f64 %d0, %d1, %d2;", {D, D}},
       {"abs.f32 %f0, %f1;", {F}},
       {"neg.ftz.f32 %f0, %f1;", {F}},
       {"copysign.f32 %f0, %f1, %f2;", {F, F}},
       {"testp.subnormal.f32 %p0, %f1;", {F}},
       {"testp.finite.f32 %p0, %f1;", {F}},
       {"setp.ltu.f32 %p0, %f1, %f2;", {F, F}},
       {"setp.geu.ftz.f32 %p0, %f1, %f2;", {F, F}},
       {"set.neu.f32.f32 %f0, %f1, %f2;", {F, F}},
       {"add.f16 %h0, %h1, %h2;", {H, H}},
       {"add.sat.f16x2 %r0, %r1, %r2;", {H, H}},
       {"sub.ftz.f16x2 %r0, %r1, %r2;", {H, H}},
       {"mul.f16x2 %r0, %r1, %r2;", {H, H}},
       {"fma.rn.f16x2 %r0, %r1, %r2, %r3;", {H, H, H}},
       {"fma.rn.relu.f16x2 %r0, %r1, %r2, %r3;", {H, H, H}},
       {"fma.rn.bf16x2 %r0, %r1, %r2, %r3;", {B, B, B}},
       {"fma.rn.relu.bf16 %h0, %h1, %h2, %h3;", {B, B, B}},
       {"min.f16x2 %r0, %r1, %r2;", {H, H}},
       {"max.NaN.bf16x2 %r0, %r1, %r2;", {B, B}},
       {"min.bf16x2 %r0, %r1, %r2;", {B, B}},
       {"abs.bf16x2 %r0, %r1;", {B}},
       {"neg.f16x2 %r0, %r1;", {H}},
       {"setp.lt.f16 %p0, %h1, %h2;", {H, H}}});
  add(cases, "float",
      {{"min.xorsign.abs.f32 %f0, %f1, %f2;", {F, F}},
       {"add.rn.bf16x2 %r0, %r1, %r2;", {B, B}},
       {"mul.bf16x2 %r0, %r1, %r2;", {B, B}},
       {"sub.bf16 %h0, %h1, %h2;", {B, B}}},
      "sm_90a");
  add(cases, "approx",
      {{"ex2.approx.f32 %f0, %f1;", {Word::F32Near}, Rel, 0x1p-21},
       {"ex2.approx.ftz.f32 %f0, %f1;", {F}, Rel, 0x1p-21},
       {"lg2.approx.f32 %f0, %f1;", {F}, Compare::F32Log, 0x1p-21},
       {"rcp.approx.f32 %f0, %f1;", {F}, Rel, 0x1p-22},
       {"rcp.approx.ftz.f32 %f0, %f1;", {F}, Rel, 0x1p-22},
       {"rsqrt.approx.f32 %f0, %f1;", {F}, Rel, 0x1p-21},
       {"sqrt.approx.ftz.f32 %f0, %f1;", {F}, Rel, 0x1p-21},
       {"div.approx.f32 %f0, %f1, %f2;", {Word::F32Near, Word::F32Near}, Rel, 0x1p-21},
       {"div.full.f32 %f0, %f1, %f2;", {Word::F32Near, Word::F32Near}, Rel, 0x1p-21},
       {"tanh.approx.f32 %f0, %f1;", {Word::F32Near}, Rel, 0x1p-10},
       {"sin.approx.f32 %f0, %f1;", {Word::F32Near}, Compare::F32, 0x1p-20},
       {"cos.approx.f32 %f0, %f1;", {Word::F32Near}, Compare::F32, 0x1p-20},
       {"ex2.approx.f16x2 %r0, %r1;", {Word::F16x2Near}, Compare::F16x2, 0x1p-9},
       {"tanh.approx.f16x2 %r0, %r1;", {Word::F16x2Near}, Compare::F16x2, 0x1p-8}});
  add(cases, "approx",
      {{"ex2.approx.ftz.bf16x2 %r0, %r1;", {Word::BF16x2Near}, Compare::BF16x2, 0x1p-6},
       {"tanh.approx.bf16x2 %r0, %r1;", {Word::BF16x2Near}, Compare::BF16x2, 0x1p-6}},
      "sm_90a");
}

} // namespace heddle::golden
