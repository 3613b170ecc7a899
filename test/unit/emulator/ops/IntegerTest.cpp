//===- IntegerTest.cpp - integer arithmetic ------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Expected values follow from the definitions in PTX ISA 9.0, "Integer Arithmetic Instructions".
#include "../Harness.h"

using namespace heddle::emulator::test;

TEST(EmulatorInteger, AddSub) {
  EXPECT_EQ(eval("add.u32 %r0, %r1, %r2;", {0xffffffff, 2}), 1u);
  EXPECT_EQ(eval("add.s16 %h0, %h1, %h2;", {0x7fff, 1}), 0x8000u);
  EXPECT_EQ(eval("add.u64 %d0, %d1, %d2;", {0xffffffffull, 1}), 0x100000000u);
  EXPECT_EQ(eval("sub.s32 %r0, %r1, %r2;", {0, 1}), 0xffffffffu);
  EXPECT_EQ(eval("add.sat.s32 %r0, %r1, %r2;", {0x7fffffff, 1}), 0x7fffffffu);
  EXPECT_EQ(eval("sub.sat.s32 %r0, %r1, %r2;", {0x80000000, 1}), 0x80000000u);
  EXPECT_EQ(eval("add.u16x2 %r0, %r1, %r2;", {0xffff0001, 0x00020003}), 0x00010004u);
  EXPECT_EQ(eval("add.s32 %r0, %r1, -5;", {3}), 0xfffffffeu);
}

TEST(EmulatorInteger, Carry) {
  EXPECT_EQ(eval("add.cc.u32 %r3, %r1, %r2;\naddc.u32 %r0, 0, 0;", {0xffffffff, 1}), 1u);
  EXPECT_EQ(eval("add.cc.u32 %r3, %r1, %r2;\naddc.u32 %r0, 0, 0;", {0xfffffffe, 1}), 0u);
  EXPECT_EQ(eval("sub.cc.u32 %r3, %r1, %r2;\nsubc.u32 %r0, 5, 0;", {0, 1}), 4u);
  EXPECT_EQ(eval("add.cc.u64 %d3, %d1, %d2;\naddc.u64 %d0, 7, 0;", {~0ull, 1}), 8u);
  EXPECT_EQ(eval("mad.lo.cc.u32 %r3, %r1, %r2, -1;\nmadc.hi.u32 %r0, %r1, %r2, 0;", {0x80000000, 2}), 1u);
}

TEST(EmulatorInteger, Multiply) {
  EXPECT_EQ(eval("mul.lo.u32 %r0, %r1, %r2;", {0x10000, 0x10001}), 0x10000u);
  EXPECT_EQ(eval("mul.hi.u32 %r0, %r1, %r2;", {0xffffffff, 0xffffffff}), 0xfffffffeu);
  EXPECT_EQ(eval("mul.hi.s32 %r0, %r1, %r2;", {0xffffffff, 0xffffffff}), 0u);
  EXPECT_EQ(eval("mul.hi.u64 %d0, %d1, %d2;", {~0ull, ~0ull}), ~0ull - 1);
  EXPECT_EQ(eval("mul.hi.s64 %d0, %d1, %d2;", {~0ull, 2}), ~0ull);
  EXPECT_EQ(eval("mul.wide.s32 %d0, %r1, %r2;", {0xffffffff, 3}), uint64_t(-3));
  EXPECT_EQ(eval("mul.wide.u32 %d0, %r1, %r2;", {0xffffffff, 3}), 0x2fffffffdu);
  EXPECT_EQ(eval("mul.wide.u16 %r0, %h1, %h2;", {0xffff, 0xffff}), 0xfffe0001u);
  EXPECT_EQ(eval("mad.lo.s32 %r0, %r1, %r2, %r3;", {5, 0xffffffff, 7}), 2u);
  EXPECT_EQ(eval("mad.wide.s16 %r0, %h1, %h2, %r3;", {0xffff, 4, 1}), uint32_t(-3));
  EXPECT_EQ(eval("mad.wide.u32 %d0, %r1, %r2, %d3;", {0xffffffff, 2, 1ull << 40}), (1ull << 40) + 0x1fffffffe);
  EXPECT_EQ(eval("mad.hi.sat.s32 %r0, %r1, %r2, %r3;", {0x7fffffff, 0x7fffffff, 0x7fffffff}), 0x7fffffffu);
  EXPECT_EQ(eval("mul24.lo.u32 %r0, %r1, %r2;", {0xff000003, 0xff000005}), 15u);
  EXPECT_EQ(eval("mad24.hi.s32 %r0, %r1, %r2, %r3;", {0x800000, 0x10000, 1}), uint32_t(-0x800000 + 1));
}

TEST(EmulatorInteger, DivideAndRemainder) {
  EXPECT_EQ(eval("div.s32 %r0, %r1, %r2;", {uint32_t(-7), 2}), uint32_t(-3));
  EXPECT_EQ(eval("rem.s32 %r0, %r1, %r2;", {uint32_t(-7), 2}), uint32_t(-1));
  EXPECT_EQ(eval("div.u32 %r0, %r1, %r2;", {uint32_t(-7), 2}), 0x7ffffffcu);
  EXPECT_EQ(eval("rem.u64 %d0, %d1, %d2;", {1000000000007ull, 10}), 7u);
  EXPECT_EQ(eval("div.s32 %r0, %r1, %r2;", {0x80000000, uint32_t(-1)}), 0x80000000u);
  EXPECT_EQ(eval("rem.s64 %d0, %d1, %d2;", {1ull << 63, ~0ull}), 0u);
}

TEST(EmulatorInteger, MinMaxAbsNegSad) {
  EXPECT_EQ(eval("min.s32 %r0, %r1, %r2;", {uint32_t(-1), 1}), uint32_t(-1));
  EXPECT_EQ(eval("min.u32 %r0, %r1, %r2;", {uint32_t(-1), 1}), 1u);
  EXPECT_EQ(eval("max.s64 %d0, %d1, %d2;", {~0ull, 1}), 1u);
  EXPECT_EQ(eval("max.s16x2 %r0, %r1, %r2;", {0xffff0001, 0x00010000}), 0x00010001u);
  EXPECT_EQ(eval("abs.s32 %r0, %r1;", {uint32_t(-9)}), 9u);
  EXPECT_EQ(eval("abs.s32 %r0, %r1;", {0x80000000}), 0x80000000u);
  EXPECT_EQ(eval("neg.s16 %h0, %h1;", {1}), 0xffffu);
  EXPECT_EQ(eval("sad.u32 %r0, %r1, %r2, %r3;", {3, 10, 100}), 107u);
  EXPECT_EQ(eval("sad.s32 %r0, %r1, %r2, %r3;", {uint32_t(-3), 10, 100}), 113u);
}

TEST(EmulatorInteger, DotProducts) {
  EXPECT_EQ(eval("dp4a.u32.u32 %r0, %r1, %r2, %r3;", {0x01020304, 0x01010101, 5}), 15u);
  EXPECT_EQ(eval("dp4a.s32.s32 %r0, %r1, %r2, %r3;", {0xffffffff, 0x01020304, 0}), uint32_t(-10));
  EXPECT_EQ(eval("dp2a.lo.u32.u32 %r0, %r1, %r2, %r3;", {0x00030002, 0x04030201, 1}), 2u * 1 + 3 * 2 + 1);
  EXPECT_EQ(eval("dp2a.hi.u32.u32 %r0, %r1, %r2, %r3;", {0x00030002, 0x04030201, 1}), 2u * 3 + 3 * 4 + 1);
}

TEST(EmulatorInteger, RefusesWhatPtxDoesNotHave) {
  for (const char *bad : {"add.sat.u32 %r0, %r1, %r2;", "mul.u32 %r0, %r1, %r2;", "mul.wide.u64 %d0, %d1, %d2;",
                          "add.u32 %r0, %r1;", "add.u32 %r0, %r1, %d2;", "add.u8 %r0, %r1, %r2;", "add.u32.x %r0, %r1, %r2;"}) {
    Kernel k;
    k.body = bad;
    EXPECT_EQ(run(k).kind(), heddle::emulator::ErrorKind::Parse) << bad;
  }
}
