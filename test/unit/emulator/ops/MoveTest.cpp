//===- MoveTest.cpp - mov, cvta, special registers, mapa -----------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "../Harness.h"

using namespace heddle::emulator;
using namespace heddle::emulator::test;

TEST(EmulatorMove, PackAndUnpack) {
  EXPECT_EQ(eval("mov.b64 %d0, {%r1, %r2};", {1, 2}), 0x200000001u);
  EXPECT_EQ(eval("mov.b64 {%r3, %r0}, %d1;", {0x500000007}), 5u);
  EXPECT_EQ(eval("mov.b64 {_, %r0}, %d1;", {0x500000007}), 5u);
  EXPECT_EQ(eval("mov.b32 %r0, {%h1, %h2};", {0x1111, 0x2222}), 0x22221111u);
  EXPECT_EQ(eval("mov.b32 {%h3, %h0}, %r1;", {0x22221111}), 0x2222u);
  EXPECT_EQ(eval("mov.b128 %q0, {%d1, %d2};\nmov.b128 {%d3, %d0}, %q0;", {7, 9}), 9u);
  EXPECT_EQ(eval("mov.u32 %r0, 0x10;", {}), 16u);
  EXPECT_EQ(eval("mov.f32 %f0, 0f3F800000;", {}), 0x3f800000u);
  EXPECT_EQ(eval("mov.f64 %d0, 0d3FF0000000000000;", {}), 0x3ff0000000000000u);
}

TEST(EmulatorMove, SpecialRegisters) {
  Kernel k;
  k.threads = 64;
  k.blocks = 2;
  k.outWords = 4;
  k.body = "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %lanemask_lt;\nmov.u32 %r4, %warpid;\n"
           "st.global.v4.u32 [%d61], {%r1, %r2, %r3, %r4};";
  Outcome o = run(k);
  ASSERT_EQ(o.error(), "");
  for (unsigned t = 0; t < 128; ++t) {
    EXPECT_EQ(o.out[4 * t], t % 64);
    EXPECT_EQ(o.out[4 * t + 1], t / 64);
    EXPECT_EQ(o.out[4 * t + 2], (1u << (t % 32)) - 1);
    EXPECT_EQ(o.out[4 * t + 3], t % 64 / 32);
  }
}

TEST(EmulatorMove, GenericAddresses) {
  Kernel k;
  k.shared = 64;
  k.body = "mov.u64 %d1, smem;\ncvta.shared.u64 %d2, %d1;\nst.shared.u32 [smem+4], 77;\nld.u32 %r1, [%d2+4];\n"
           "isspacep.shared %p1, %d2;\nisspacep.global %p2, %d62;\nand.pred %p3, %p1, %p2;\nselp.u32 %r2, %r1, 0, %p3;\n"
           "cvta.to.shared.u64 %d3, %d2;\nld.shared.u32 %r3, [%d3+4];\nadd.u32 %r4, %r2, %r3;\nst.global.u32 [%d61], %r4;";
  Outcome o = run(k);
  ASSERT_EQ(o.error(), "");
  EXPECT_EQ(o.out[5], 154u);
}

TEST(EmulatorMove, MapaReachesTheOtherBlock) {
  Kernel k;
  k.blocks = 2;
  k.cluster = 2;
  k.threads = 32;
  k.shared = 128;
  k.body = "mov.u32 %r1, %cluster_ctarank;\nmov.u32 %r2, smem;\nshl.b32 %r3, %r61, 2;\nadd.u32 %r4, %r2, %r3;\n"
           "mad.lo.u32 %r5, %r1, 100, %r61;\nst.shared.u32 [%r4], %r5;\nbarrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
           "xor.b32 %r6, %r1, 1;\nmapa.shared::cluster.u32 %r7, %r4, %r6;\nld.shared::cluster.u32 %r8, [%r7];\n"
           "getctarank.shared::cluster.u32 %r9, %r7;\nmad.lo.u32 %r8, %r9, 1000, %r8;\nst.global.u32 [%d61], %r8;\n"
           "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;";
  Outcome o = run(k);
  ASSERT_EQ(o.error(), "");
  EXPECT_EQ(o.out[3], 1000u + 103u);
  EXPECT_EQ(o.out[32 + 3], 3u);
}

TEST(EmulatorMove, AccessToAnExitedBlockIsAnError) {
  Kernel k;
  k.blocks = 2;
  k.cluster = 2;
  k.threads = 1;
  k.shared = 16;
  k.body = "st.shared.u32 [smem], 1;\nmov.u32 %r1, %cluster_ctarank;\nsetp.eq.u32 %p1, %r1, 1;\n@%p1 bra L;\n"
           "mov.u32 %r5, 0;\nW: add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p2, %r5, 5000;\n@%p2 bra W;\n"
           "mov.u32 %r2, smem;\nmapa.shared::cluster.u32 %r3, %r2, 1;\nld.shared::cluster.u32 %r4, [%r3];\nL:";
  Outcome o = run(k);
  EXPECT_NE(o.error().find("has exited"), std::string::npos) << o.error();
}
