//===- ConvertTest.cpp - cvt ---------------------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Expected values follow from PTX ISA 9.0, "cvt" and "cvt.pack".
#include "../Harness.h"

using namespace heddle::emulator::test;

TEST(EmulatorConvert, Integers) {
  EXPECT_EQ(eval("cvt.s32.s8 %r0, %r1;", {0x80}), 0xffffff80u);
  EXPECT_EQ(eval("cvt.u32.u8 %r0, %r1;", {0x1ff}), 0xffu);
  EXPECT_EQ(eval("cvt.s64.s32 %d0, %r1;", {0x80000000}), 0xffffffff80000000u);
  EXPECT_EQ(eval("cvt.u64.u32 %d0, %r1;", {0x80000000}), 0x80000000u);
  EXPECT_EQ(eval("cvt.u16.u32 %h0, %r1;", {0x12345678}), 0x5678u);
  EXPECT_EQ(eval("cvt.sat.u8.s32 %r0, %r1;", {uint32_t(-5)}), 0u);
  EXPECT_EQ(eval("cvt.sat.s8.s32 %r0, %r1;", {1000}), 127u);
  EXPECT_EQ(eval("cvt.s32.s16 %r0, %h1;", {0xffff}), 0xffffffffu);
  EXPECT_EQ(eval("cvt.pack.sat.s8.s32.b32 %r0, %r1, %r2, %r3;", {1000, uint32_t(-1000), 0x1234}), 0x12347f80u);
  EXPECT_EQ(eval("cvt.pack.sat.u16.s32 %r0, %r1, %r2;", {70000, 5}), 0xffff0005u);
}

TEST(EmulatorConvert, FloatsAndIntegers) {
  EXPECT_EQ(eval("cvt.rzi.s32.f32 %r0, %f1;", {bits(-2.7f)}), uint32_t(-2));
  EXPECT_EQ(eval("cvt.rni.s32.f32 %r0, %f1;", {bits(2.5f)}), 2u);
  EXPECT_EQ(eval("cvt.rmi.s32.f32 %r0, %f1;", {bits(-2.1f)}), uint32_t(-3));
  EXPECT_EQ(eval("cvt.rpi.u32.f32 %r0, %f1;", {bits(2.1f)}), 3u);
  EXPECT_EQ(eval("cvt.rzi.u32.f32 %r0, %f1;", {bits(-1.0f)}), 0u);
  EXPECT_EQ(eval("cvt.rzi.s32.f32 %r0, %f1;", {bits(1e20f)}), 0x7fffffffu);
  EXPECT_EQ(eval("cvt.rn.f32.s32 %f0, %r1;", {16777217}), bits(16777216.0f));
  EXPECT_EQ(eval("cvt.rp.f32.u32 %f0, %r1;", {16777217}), bits(16777218.0f));
  EXPECT_EQ(eval("cvt.rn.f64.u64 %d0, %d1;", {1ull << 40}), bits64(double(1ull << 40)));
  EXPECT_EQ(eval("cvt.rn.f16.s32 %h0, %r1;", {3}), 0x4200u);
  EXPECT_EQ(eval("cvt.rn.bf16.u32 %h0, %r1;", {3}), 0x4040u);
  EXPECT_EQ(eval("cvt.rzi.s32.f16 %r0, %h1;", {0xc200}), uint32_t(-3));
}

TEST(EmulatorConvert, BetweenFloats) {
  EXPECT_EQ(eval("cvt.f64.f32 %d0, %f1;", {bits(1.5f)}), bits64(1.5));
  EXPECT_EQ(eval("cvt.rn.f32.f64 %f0, %d1;", {bits64(0.1)}), bits(0.1f));
  EXPECT_EQ(eval("cvt.rz.f32.f64 %f0, %d1;", {bits64(0.7)}), bits(0.7f) - (double(0.7f) > 0.7));
  EXPECT_EQ(eval("cvt.f32.f16 %f0, %h1;", {0x3c00}), bits(1.0f));
  EXPECT_EQ(eval("cvt.f32.bf16 %f0, %h1;", {0x4049}), 0x40490000u);
  EXPECT_EQ(eval("cvt.rn.bf16.f32 %h0, %f1;", {0x3f808000}), 0x3f80u); // tie to even
  EXPECT_EQ(eval("cvt.rn.bf16.f32 %h0, %f1;", {0x3f818000}), 0x3f82u);
  EXPECT_EQ(eval("cvt.rn.f16.f32 %h0, %f1;", {bits(70000.0f)}), 0x7c00u);
  EXPECT_EQ(eval("cvt.rni.f32.f32 %f0, %f1;", {bits(3.5f)}), bits(4.0f));
  EXPECT_EQ(eval("cvt.rzi.f64.f64 %d0, %d1;", {bits64(-3.5)}), bits64(-3.0));
  EXPECT_EQ(eval("cvt.sat.f32.f32 %f0, %f1;", {bits(3.5f)}), bits(1.0f));
  EXPECT_EQ(eval("cvt.rna.tf32.f32 %r0, %f1;", {0x3f801000}), 0x3f802000u);
}

TEST(EmulatorConvert, PackedFormats) {
  EXPECT_EQ(eval("cvt.rn.bf16x2.f32 %r0, %f1, %f2;", {bits(1), bits(2)}), 0x3f804000u);
  EXPECT_EQ(eval("cvt.rn.relu.bf16x2.f32 %r0, %f1, %f2;", {bits(-1), bits(2)}), 0x00004000u);
  EXPECT_EQ(eval("cvt.rn.f16x2.f32 %r0, %f1, %f2;", {bits(1), bits(2)}), 0x3c004000u);
  EXPECT_EQ(eval("cvt.rn.bf16x2.f32 %r0, %f1, %f2;", {0x7f800001, bits(2)}), 0x7fff4000u); // NaN
  EXPECT_EQ(eval("cvt.rn.satfinite.e4m3x2.f32 %h0, %f1, %f2;", {bits(1000), bits(1)}), 0x7e38u);
  EXPECT_EQ(eval("cvt.rn.satfinite.e5m2x2.f32 %h0, %f1, %f2;", {bits(1), bits(-2)}), 0x3cc0u);
  EXPECT_EQ(eval("cvt.rn.f16x2.e4m3x2 %r0, %h1;", {0x3840}), 0x3c004000u);
  EXPECT_EQ(eval("cvt.rp.satfinite.ue8m0x2.f32 %h0, %f1, %f2;", {bits(3), bits(1)}, "sm_100a"), 0x817fu);
}

TEST(EmulatorConvert, RefusesMissingRounding) {
  for (const char *bad : {"cvt.s32.f32 %r0, %f1;", "cvt.f32.s32 %f0, %r1;", "cvt.f32.f64 %f0, %d1;", "cvt.rn.u32.u16 %r0, %h1;",
                          "cvt.rn.e4m3x2.f32 %h0, %f1, %f2;", "cvt.rn.f64.f32 %d0, %f1;"}) {
    Kernel k;
    k.body = bad;
    EXPECT_EQ(run(k).kind(), heddle::emulator::ErrorKind::Parse) << bad;
  }
  Kernel k;
  k.target = "sm_80";
  k.body = "cvt.rn.satfinite.e4m3x2.f32 %h0, %f1, %f2;";
  EXPECT_EQ(run(k).kind(), heddle::emulator::ErrorKind::Unsupported);
}
