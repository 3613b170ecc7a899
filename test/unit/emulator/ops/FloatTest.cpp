//===- FloatTest.cpp - floating-point arithmetic -------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The formats and roundings have tests of their own (tensor/); these show that each instruction
// form reaches the right function with the right modifiers.
#include "../Harness.h"

#include <cmath>

using namespace heddle::emulator::test;

TEST(EmulatorFloat, RoundingModes) {
  float a = 1.0f, tiny = std::ldexp(1.0f, -30);
  EXPECT_EQ(eval("add.f32 %f0, %f1, %f2;", {bits(a), bits(tiny)}), bits(1.0f));
  EXPECT_EQ(eval("add.rn.f32 %f0, %f1, %f2;", {bits(a), bits(tiny)}), bits(1.0f));
  EXPECT_EQ(eval("add.rp.f32 %f0, %f1, %f2;", {bits(a), bits(tiny)}), bits(std::nextafter(1.0f, 2.0f)));
  EXPECT_EQ(eval("add.rz.f32 %f0, %f1, %f2;", {bits(a), bits(-tiny)}), bits(std::nextafter(1.0f, 0.0f)));
  EXPECT_EQ(eval("sub.rm.f32 %f0, %f1, %f2;", {bits(-a), bits(tiny)}), bits(std::nextafter(-1.0f, -2.0f)));
  // 3 * 0x3eaaaaab lies just above 1
  EXPECT_EQ(eval("mul.rz.f32 %f0, %f1, %f2;", {bits(3), 0x3eaaaaab}), bits(1.0f));
  EXPECT_EQ(eval("mul.rp.f32 %f0, %f1, %f2;", {bits(3), 0x3eaaaaab}), bits(std::nextafter(1.0f, 2.0f)));
  EXPECT_EQ(eval("add.rp.f64 %d0, %d1, %d2;", {bits64(1.0), bits64(1e-30)}), bits64(std::nextafter(1.0, 2.0)));
}

TEST(EmulatorFloat, FusedMultiplyAddRoundsOnce) {
  float a = 1.0f + std::ldexp(1.0f, -12);
  float product = a * a;
  EXPECT_EQ(eval("fma.rn.f32 %f0, %f1, %f1, %f2;", {bits(a), bits(-product)}), bits(std::fma(a, a, -product)));
  EXPECT_NE(std::fma(a, a, -product), 0.0f);
  EXPECT_EQ(eval("mul.f32 %f3, %f1, %f1;\nadd.f32 %f0, %f3, %f2;", {bits(a), bits(-product)}), 0u);
  EXPECT_EQ(eval("fma.rn.f64 %d0, %d1, %d1, %d2;", {bits64(3), bits64(1)}), bits64(10));
  EXPECT_EQ(eval("mad.rn.f32 %f0, %f1, %f1, %f2;", {bits(3), bits(1)}), bits(10));
  EXPECT_EQ(eval("fma.rn.relu.bf16x2 %r0, %r1, %r2, %r3;", {0x3f80bf80, 0x3f803f80, 0}), 0x3f800000u);
  EXPECT_EQ(eval("fma.rn.f16 %h0, %h1, %h2, %h3;", {0x4000, 0x4000, 0x3c00}), 0x4500u); // 2*2+1 = 5
}

TEST(EmulatorFloat, MixedPrecisionWidensThenRoundsOnce) {
  const uint32_t third = 0x3eab, big = 0x4b00; // bf16: 0.333984375, 8388608
  auto wide = [](uint32_t b) { float f; b <<= 16; std::memcpy(&f, &b, 4); return f; };
  EXPECT_EQ(eval("add.f32.bf16 %f0, %h1, %f2;", {third, bits(2.5f)}, "sm_100a"), bits(wide(third) + 2.5f));
  EXPECT_EQ(eval("add.rz.f32.bf16 %f0, %h1, %f2;", {big, bits(0.75f)}, "sm_120a"), bits(8388608.0f));
  EXPECT_EQ(eval("add.rp.f32.bf16 %f0, %h1, %f2;", {big, bits(0.25f)}, "sm_103a"), bits(8388609.0f));
  EXPECT_EQ(eval("sub.rn.f32.f16 %f0, %h1, %f2;", {0x3800, bits(2)}, "sm_100a"), bits(-1.5f)); // a - c
  EXPECT_EQ(eval("sub.sat.f32.f16 %f0, %h1, %f2;", {0x3800, bits(2)}, "sm_100a"), 0u);
  EXPECT_EQ(eval("fma.rn.f32.bf16 %f0, %h1, %h1, %f2;", {third, bits(-0.25f)}, "sm_100a"), bits(std::fma(wide(third), wide(third), -0.25f)));
  EXPECT_EQ(eval("fma.rm.sat.f32.f16 %f0, %h1, %h2, %f3;", {0x4000, 0x4000, bits(-3.5f)}, "sm_120a"), bits(0.5f));
  Kernel k;
  k.body = "add.f32.bf16 %f0, %h1, %f1;";
  EXPECT_EQ(run(k).kind(), heddle::emulator::ErrorKind::Unsupported); // sm_90a
  k.target = "sm_100a";
  k.body = "add.ftz.f32.bf16 %f0, %h1, %f1;";
  EXPECT_EQ(run(k).kind(), heddle::emulator::ErrorKind::Parse);
  k.body = "mul.f32.bf16 %f0, %h1, %f1;";
  EXPECT_EQ(run(k).kind(), heddle::emulator::ErrorKind::Parse);
}

TEST(EmulatorFloat, FlushAndSaturate) {
  EXPECT_EQ(eval("add.ftz.f32 %f0, %f1, %f2;", {1, 1}), 0u);
  EXPECT_EQ(eval("add.f32 %f0, %f1, %f2;", {1, 1}), 2u);
  EXPECT_EQ(eval("mul.sat.f32 %f0, %f1, %f2;", {bits(3), bits(2)}), bits(1.0f));
  EXPECT_EQ(eval("add.sat.f32 %f0, %f1, %f2;", {bits(-3), bits(2)}), 0u);
  EXPECT_EQ(eval("add.f32 %f0, %f1, %f2;", {0x7f800000, 0xff800000}), 0x7fffffffu); // canonical NaN
}

TEST(EmulatorFloat, MinMax) {
  EXPECT_EQ(eval("min.f32 %f0, %f1, %f2;", {0x7fc00000, bits(3)}), bits(3));
  EXPECT_EQ(eval("min.NaN.f32 %f0, %f1, %f2;", {0x7fc00000, bits(3)}), 0x7fffffffu);
  EXPECT_EQ(eval("max.f32 %f0, %f1, %f2;", {0x80000000, 0}), 0u);
  EXPECT_EQ(eval("max.f64 %d0, %d1, %d2;", {bits64(-1), bits64(2)}), bits64(2));
  EXPECT_EQ(eval("max.bf16x2 %r0, %r1, %r2;", {0x3f804000, 0x40003f80}), 0x40004000u);
  EXPECT_EQ(eval("min.xorsign.abs.f32 %f0, %f1, %f2;", {bits(-2), bits(3)}), bits(-2));
  EXPECT_EQ(eval("min.f32 %f0, %f1, %f2, %f3;", {bits(4), bits(3), bits(2)}, "sm_100a"), bits(2));
}

TEST(EmulatorFloat, DivisionAndRoots) {
  EXPECT_EQ(eval("div.rn.f32 %f0, %f1, %f2;", {bits(1), bits(3)}), bits(1.0f / 3.0f));
  EXPECT_EQ(eval("div.full.f32 %f0, %f1, %f2;", {bits(6), bits(3)}), bits(2.0f));
  EXPECT_EQ(eval("div.rn.f64 %d0, %d1, %d2;", {bits64(1), bits64(3)}), bits64(1.0 / 3.0));
  EXPECT_EQ(eval("rcp.rn.f32 %f0, %f1;", {bits(4)}), bits(0.25f));
  EXPECT_EQ(eval("rcp.approx.ftz.f32 %f0, %f1;", {bits(4)}), bits(0.25f));
  EXPECT_EQ(eval("sqrt.rn.f32 %f0, %f1;", {bits(2)}), bits(std::sqrt(2.0f)));
  EXPECT_EQ(eval("rsqrt.approx.f32 %f0, %f1;", {bits(16)}), bits(0.25f));
  EXPECT_EQ(eval("sqrt.rn.f64 %d0, %d1;", {bits64(2)}), bits64(std::sqrt(2.0)));
}

TEST(EmulatorFloat, Approximations) {
  EXPECT_EQ(eval("ex2.approx.ftz.f32 %f0, %f1;", {bits(3)}), bits(8));
  EXPECT_EQ(eval("lg2.approx.f32 %f0, %f1;", {bits(32)}), bits(5));
  EXPECT_EQ(eval("sin.approx.f32 %f0, %f1;", {0}), 0u);
  EXPECT_EQ(eval("cos.approx.f32 %f0, %f1;", {0}), bits(1));
  EXPECT_EQ(eval("tanh.approx.f32 %f0, %f1;", {bits(100)}), bits(1));
  EXPECT_EQ(eval("ex2.approx.f16 %h0, %h1;", {0x4000}), 0x4400u); // 2^2
}

TEST(EmulatorFloat, SignsAndHalves) {
  EXPECT_EQ(eval("neg.f32 %f0, %f1;", {bits(1)}), bits(-1));
  EXPECT_EQ(eval("abs.f64 %d0, %d1;", {bits64(-2)}), bits64(2));
  EXPECT_EQ(eval("neg.bf16x2 %r0, %r1;", {0x3f80bf80}), 0xbf803f80u);
  EXPECT_EQ(eval("abs.f16 %h0, %h1;", {0xbc00}), 0x3c00u);
  EXPECT_EQ(eval("copysign.f32 %f0, %f1, %f2;", {bits(-1), bits(5)}), bits(-5));
  EXPECT_EQ(eval("add.f16x2 %r0, %r1, %r2;", {0x3c003c00, 0x40003c00}), 0x42004000u);
  EXPECT_EQ(eval("mul.bf16 %h0, %h1, %h2;", {0x4000, 0x4040}), 0x40c0u);
  EXPECT_EQ(eval("sub.rn.bf16x2 %r0, %r1, %r1;", {0x40004000}), 0u);
  EXPECT_EQ(eval("fma.rn.f32x2 %d0, %d1, %d2, %d3;",
                 {uint64_t(bits(2)) << 32 | bits(3), uint64_t(bits(5)) << 32 | bits(7), uint64_t(bits(1)) << 32 | bits(2)}, "sm_100a"),
            uint64_t(bits(11)) << 32 | bits(23));
}
