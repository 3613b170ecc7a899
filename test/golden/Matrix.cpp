//===- Matrix.cpp - mma.sync and wgmma -------------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Golden.h"

namespace heddle::golden {

namespace {
/// "{%r1, %r2, ...}"
std::string list(const char *reg, unsigned first, unsigned count) {
  std::string s = "{";
  for (unsigned i = 0; i < count; ++i)
    s += std::string(i ? ", " : "") + reg + std::to_string(first + i);
  return s + "}";
}
std::string loads(const char *reg, unsigned first, unsigned count, unsigned word) {
  std::string s;
  for (unsigned i = 0; i < count; ++i)
    s += std::string("ld.global.b32 ") + reg + std::to_string(first + i) + ", [%d60+" + std::to_string(4 * (word + i)) + "];\n";
  return s;
}
std::string stores(const char *reg, unsigned first, unsigned count) {
  std::string s;
  for (unsigned i = 0; i < count; ++i)
    s += "st.global.b32 [%d61+" + std::to_string(4 * i) + "], " + reg + std::to_string(first + i) + ";\n";
  return s;
}

void mma(std::vector<Case> &cases, const std::string &what, unsigned a, unsigned b, unsigned c, const char *cReg, Word ab, Word accumulator,
         const std::string &suffix, Compare compare, double tolerance, const char *target) {
  Case x;
  x.name = "mma.sync/" + what + suffix;
  x.target = target;
  x.threads = 64;
  x.record.assign(a + b, ab);
  x.record.insert(x.record.end(), c, accumulator);
  x.outWords = c;
  x.compare = compare;
  x.tolerance = tolerance;
  const unsigned at = cReg[1] == 'r' ? 20 : 1;
  x.body = loads("%r", 1, a, 0) + loads("%r", 10, b, a) + loads(cReg, at, c, a + b) + "mma.sync.aligned." + what + " " + list(cReg, at, c) + ", " +
           list("%r", 1, a) + ", " + list("%r", 10, b) + ", " + list(cReg, at, c) + ";\n" + stores(cReg, at, c);
  cases.push_back(std::move(x));
}

struct Wgmma {
  const char *types;          ///< "f32.bf16.bf16"
  unsigned k;
  Word data;
  unsigned swizzle = 0;       ///< bytes: 0, 32, 64, 128
  bool transA = false, transB = false, registersA = false, half = false;
};

void wgmma(std::vector<Case> &cases, const Wgmma &w, const std::string &suffix, Compare compare, double tolerance, unsigned repeat = 2) {
  Case x;
  const unsigned n = 16;
  const unsigned regs = w.half ? n / 4 : n / 2;
  x.name = std::string("wgmma/") + w.types + ".swizzle" + std::to_string(w.swizzle) + (w.transA ? ".ta" : "") + (w.transB ? ".tb" : "") +
           (w.registersA ? ".ra" : "") + suffix;
  x.target = "sm_90a";
  x.threads = 128;
  x.shared = 32768;
  x.record.assign(1, w.data);
  x.records = 8192; // words of shared memory
  x.outWords = compare == Compare::Bits ? regs : 4; // of the others not all are kept
  x.compare = compare;
  x.tolerance = tolerance;
  // Matrices of 16 KiB each. No swizzle: core matrices of 8 x 16 bytes, leading 128, stride 256 bytes.
  const unsigned mode = w.swizzle == 128 ? 1 : w.swizzle == 64 ? 2 : w.swizzle == 32 ? 3 : 0;
  const unsigned leading = w.swizzle ? 2048 : 128, stride = w.swizzle ? 8 * w.swizzle : 256;
  const uint64_t fields = uint64_t(mode) << 62 | uint64_t(stride / 16) << 32 | uint64_t(leading / 16) << 16;
  const bool two = std::string(w.types).find("bf16") != std::string::npos || std::string(w.types).find(".f16.f16") != std::string::npos;
  x.body = "mov.u32 %r20, smem;\nshl.b32 %r21, %r62, 2;\nadd.u32 %r22, %r20, %r21;\ncvt.u64.u32 %d1, %r21;\nadd.u64 %d1, %d1, %d63;\nmov.u32 %r23, 0;\n"
           "C: ld.global.u32 %r24, [%d1];\nst.shared.u32 [%r22], %r24;\nadd.u64 %d1, %d1, 512;\nadd.u32 %r22, %r22, 512;\nadd.u32 %r23, %r23, 1;\n"
           "setp.lt.u32 %p1, %r23, 64;\n@%p1 bra C;\nfence.proxy.async.shared::cta;\nbar.sync 0;\nshr.u32 %r25, %r20, 4;\ncvt.u64.u32 %d2, %r25;\nor.b64 %d2, %d2, " +
           std::to_string(fields) + ";\nadd.u64 %d3, %d2, 1024;\nadd.u64 %d4, %d63, 16384;\ncvt.u64.u32 %d5, %r21;\nadd.u64 %d4, %d4, %d5;\n"
           "ld.global.u32 %r1, [%d4];\nld.global.u32 %r2, [%d4+512];\nld.global.u32 %r3, [%d4+1024];\nld.global.u32 %r4, [%d4+1536];\n"
           "wgmma.fence.sync.aligned;\n";
  const char *reg = w.half ? "%r" : "%f";
  const unsigned first = w.half ? 40 : 1;
  // Each one accumulates other rows of A; every third is subtracted.
  for (unsigned i = 0; i < repeat; ++i)
    x.body += std::string(i && !w.registersA ? "add.u64 %d2, %d2, 64;\n" : "") + "setp." + (i ? "eq" : "ne") +
              ".u32 %p2, %r20, %r20;\nwgmma.mma_async.sync.aligned.m64n16k" + std::to_string(w.k) + "." + w.types + " " + list(reg, first, regs) + ", " +
              (w.registersA ? list("%r", 1, 4) : "%d2") + ", %d3, %p2, 1, " + (i % 3 == 1 ? "-1" : "1") +
              (two ? std::string(w.registersA ? "" : w.transA ? ", 1" : ", 0") + (w.transB ? ", 1" : ", 0") : "") + ";\n";
  x.body += "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n" + stores(reg, first, x.outWords);
  cases.push_back(std::move(x));
}
} // namespace

void addMatrix(std::vector<Case> &cases) {
  using W = Word;
  using C = Compare;
  const auto floats = [&](const std::string &what, unsigned a, unsigned b, unsigned c, Word ints, Word near, const char *target = "sm_80") {
    mma(cases, what, a, b, c, "%f", ints, W::F32Ints, "/ints", C::Bits, 0, target);
    mma(cases, what, a, b, c, "%f", near, W::F32Near, "/near", C::F32, 0x1p-20, target);
  };
  floats("m16n8k16.row.col.f32.bf16.bf16.f32", 4, 2, 4, W::BF16x2Ints, W::BF16x2Near);
  floats("m16n8k8.row.col.f32.bf16.bf16.f32", 2, 1, 4, W::BF16x2Ints, W::BF16x2Near);
  floats("m16n8k16.row.col.f32.f16.f16.f32", 4, 2, 4, W::F16x2Ints, W::F16x2Near);
  floats("m16n8k8.row.col.f32.f16.f16.f32", 2, 1, 4, W::F16x2Ints, W::F16x2Near);
  floats("m16n8k8.row.col.f32.tf32.tf32.f32", 4, 2, 4, W::F32Ints, W::F32Near);
  floats("m16n8k4.row.col.f32.tf32.tf32.f32", 2, 1, 4, W::F32Ints, W::F32Near);
  mma(cases, "m16n8k16.row.col.f16.f16.f16.f16", 4, 2, 2, "%r", W::F16x2Ints, W::F16x2Ints, "/ints", C::Bits, 0, "sm_80");
  mma(cases, "m16n8k16.row.col.f16.f16.f16.f16", 4, 2, 2, "%r", W::F16x2Near, W::F16x2Near, "/near", C::F16x2, 0x1p-8, "sm_80");
  for (const char *types : {"s8.s8", "u8.u8", "s8.u8"}) {
    mma(cases, std::string("m16n8k32.row.col.s32.") + types + ".s32", 4, 2, 4, "%r", W::Bits, W::Bits, "", C::Bits, 0, "sm_80");
    mma(cases, std::string("m16n8k32.row.col.satfinite.s32.") + types + ".s32", 4, 2, 4, "%r", W::Bits, W::Bits, "", C::Bits, 0, "sm_80");
  }
  mma(cases, "m16n8k16.row.col.s32.u8.s8.s32", 2, 1, 4, "%r", W::Bits, W::Bits, "", C::Bits, 0, "sm_80");
  floats("m16n8k32.row.col.f32.e4m3.e4m3.f32", 4, 2, 4, W::E4M3x4Ints, W::E4M3x4Near, "sm_90a");
  floats("m16n8k32.row.col.f32.e5m2.e4m3.f32", 4, 2, 4, W::E5M2x4Ints, W::E5M2x4Near, "sm_90a");
  for (unsigned swizzle : {0, 32, 64, 128}) {
    wgmma(cases, {"f32.bf16.bf16", 16, W::BF16x2Ints, swizzle}, "/ints", C::Bits, 0);
    wgmma(cases, {"f32.bf16.bf16", 16, W::BF16x2Near, swizzle}, "/near", C::F32, 0x1p-20);
    wgmma(cases, {"f32.tf32.tf32", 8, W::F32Ints, swizzle}, "/ints", C::Bits, 0);
    wgmma(cases, {"f32.e4m3.e5m2", 32, W::E4M3x4Ints, swizzle}, "/ints", C::Bits, 0);
  }
  for (unsigned swizzle : {32, 64, 128}) {
    wgmma(cases, {"f32.bf16.bf16", 16, W::BF16x2Ints, swizzle, true, false}, "/ints", C::Bits, 0);
    wgmma(cases, {"f32.bf16.bf16", 16, W::BF16x2Ints, swizzle, false, true}, "/ints", C::Bits, 0);
    wgmma(cases, {"f32.f16.f16", 16, W::F16x2Ints, swizzle, true, true}, "/ints", C::Bits, 0);
  }
  wgmma(cases, {"f32.f16.f16", 16, W::F16x2Near, 128}, "/near", C::F32, 0x1p-20);
  wgmma(cases, {"f32.tf32.tf32", 8, W::F32Near, 128}, "/near", C::F32, 0x1p-20);
  wgmma(cases, {"f32.bf16.bf16", 16, W::BF16x2Ints, 128, false, false, true}, "/ints", C::Bits, 0, 3);
  wgmma(cases, {"f32.e4m3.e4m3", 32, W::E4M3x4Ints, 128, false, false, true}, "/ints", C::Bits, 0, 3);
  Wgmma half{"f16.f16.f16", 16, W::F16x2Ints, 128};
  half.half = true;
  wgmma(cases, half, "/ints", C::Bits, 0);
  half.data = W::F16x2Near;
  wgmma(cases, half, "/near", C::F16x2, 0x1p-7);
  // FP8 sums keep few bits: values of all magnitudes, one product sum and several. The bits tell how many.
  for (const char *types : {"f32.e4m3.e4m3", "f32.e5m2.e5m2", "f32.e4m3.e5m2"}) {
    const Word near = types[5] == '4' ? W::E4M3x4Near : W::E5M2x4Near;
    wgmma(cases, {types, 32, near, 128}, "/near", C::F32, 0x1p-11);
    wgmma(cases, {types, 32, near, 128}, "/once", C::F32, 0x1p-12, 1);
    wgmma(cases, {types, 32, near, 128}, "/long", C::F32, 0x1p-9, 8);
  }
  wgmma(cases, {"f32.e4m3.e4m3", 32, W::E4M3x4, 128}, "/any", C::F32, 0x1p-11, 1);
}

} // namespace heddle::golden
