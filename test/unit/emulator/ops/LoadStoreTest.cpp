//===- LoadStoreTest.cpp - ld and st -------------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "../Harness.h"

using namespace heddle::emulator;
using namespace heddle::emulator::test;

TEST(EmulatorLoadStore, WidthsAndSigns) {
  EXPECT_EQ(eval("st.global.u32 [%d61], %r1;\nld.global.s8 %r0, [%d61+1];", {0x8000}), 0xffffff80u);
  EXPECT_EQ(eval("st.global.u32 [%d61], %r1;\nld.global.u8 %r0, [%d61+1];", {0x8000}), 0x80u);
  EXPECT_EQ(eval("st.global.u32 [%d61], %r1;\nld.global.s16 %r0, [%d61];", {0x8000}), 0xffff8000u);
  EXPECT_EQ(eval("st.global.u32 [%d61], %r1;\nld.global.s32 %d0, [%d61];", {0x80000000}), 0xffffffff80000000u);
  EXPECT_EQ(eval("st.global.u32 [%d61], 0;\nst.global.u8 [%d61+2], %r1;\nld.global.u32 %r0, [%d61];", {0x1ab}), 0xab0000u);
  EXPECT_EQ(eval("st.global.v2.u32 [%d61], {%r1, %r2};\nld.global.u64 %d0, [%d61];", {3, 4}), 0x400000003u);
  EXPECT_EQ(eval("st.global.u64 [%d61], %d1;\nld.global.v4.u16 {%h1, %h2, %h0, %h3}, [%d61];", {0x4444333322221111}), 0x3333u);
  EXPECT_EQ(eval("st.global.u64 [%d61], %d1;\nld.global.v2.b32 {_, %r0}, [%d61];", {0x0000000900000008}), 9u);
}

TEST(EmulatorLoadStore, HintsAndOrderings) {
  EXPECT_EQ(eval("st.release.gpu.global.u32 [%d61], %r1;\nld.acquire.sys.global.u32 %r0, [%d61];", {5}), 5u);
  EXPECT_EQ(eval("st.relaxed.cta.global.u32 [%d61], %r1;\nld.relaxed.gpu.global.L1::no_allocate.u32 %r0, [%d61];", {5}), 5u);
  EXPECT_EQ(eval("st.volatile.global.u32 [%d61], %r1;\nld.volatile.global.u32 %r0, [%d61];", {5}), 5u);
  EXPECT_EQ(eval("st.global.cs.u32 [%d61], %r1;\nld.global.cg.u32 %r0, [%d61];", {5}), 5u);
  EXPECT_EQ(eval("createpolicy.fractional.L2::evict_first.b64 %d5, 0f3F800000;\nst.global.L2::cache_hint.u32 [%d61], %r1, %d5;\n"
                 "ld.global.nc.L1::no_allocate.L2::cache_hint.L2::128B.u32 %r0, [%d61], %d5;", {5}), 5u);
  EXPECT_EQ(eval("st.mmio.relaxed.sys.global.u32 [%d61], %r1;\nld.mmio.relaxed.sys.global.u32 %r0, [%d61];", {5}), 5u);
}

TEST(EmulatorLoadStore, LocalMemoryIsPrivate) {
  Kernel k;
  k.threads = 64;
  k.body = ".local .align 8 .b8 depot[64];\nmov.u64 %d1, depot;\ncvta.local.u64 %d2, %d1;\nst.local.u32 [depot+8], %r63;\n"
           "st.u32 [%d2+12], %r61;\nld.u32 %r1, [%d2+8];\nld.local.u32 %r2, [%d1+12];\nmad.lo.u32 %r3, %r2, 1000, %r1;\nst.global.u32 [%d61], %r3;";
  Outcome o = run(k);
  ASSERT_EQ(o.error(), "");
  EXPECT_EQ(o.out[40], 8040u);
}

TEST(EmulatorLoadStore, ConstantsAndGlobals) {
  Kernel k;
  k.globals = ".const .align 4 .u32 table[4] = {10, 20, 30, 40};\n.global .align 4 .b8 bytes[4] = {1, 2, 3, 4};\n"
              ".global .u64 where = generic(bytes)+1;\n.global .f32 value = 0f40000000;";
  k.body = "ld.const.u32 %r1, [table+8];\nld.global.u64 %d1, [where];\nld.u8 %r2, [%d1];\nld.global.f32 %f1, [value];\n"
           "cvt.rzi.u32.f32 %r3, %f1;\nadd.u32 %r4, %r1, %r2;\nadd.u32 %r4, %r4, %r3;\nst.global.u32 [%d61], %r4;";
  Outcome o = run(k);
  ASSERT_EQ(o.error(), "");
  EXPECT_EQ(o.out[0], 34u);
}

TEST(EmulatorLoadStore, Refusals) {
  for (const char *bad : {"ld.global.v3.u32 {%r1,%r2,%r3}, [%d61];", "ld.acquire.global.u32 %r1, [%d61];", "st.acquire.gpu.global.u32 [%d61], %r1;",
                          "ld.global.v4.u64 {%d1,%d2,%d3,%d4}, [%d61];", "ld.global.foo.u32 %r1, [%d61];", "ld.shared.u32 %r1, [out];",
                          "ld.global.u32 %h1, [%d61];", "st.param.u32 [out], %r1;"}) {
    Kernel k;
    k.body = bad;
    Outcome o = run(k);
    EXPECT_TRUE(o.kind() == ErrorKind::Parse || o.kind() == ErrorKind::Unsupported) << bad << ": " << o.error();
  }
}
