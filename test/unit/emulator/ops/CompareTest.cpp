//===- CompareTest.cpp - setp, set, selp, slct, testp --------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Expected values follow from PTX ISA 9.0, "Comparison and Selection Instructions".
#include "../Harness.h"

#include <limits>

using namespace heddle::emulator::test;

static const uint32_t nan32 = 0x7fc00000;

TEST(EmulatorCompare, Integers) {
  EXPECT_EQ(eval("setp.lt.s32 %p0, %r1, %r2;", {uint32_t(-1), 1}), 1u);
  EXPECT_EQ(eval("setp.lt.u32 %p0, %r1, %r2;", {uint32_t(-1), 1}), 0u);
  EXPECT_EQ(eval("setp.hi.u32 %p0, %r1, %r2;", {uint32_t(-1), 1}), 1u);
  EXPECT_EQ(eval("setp.ge.s64 %p0, %d1, %d2;", {5, 5}), 1u);
  EXPECT_EQ(eval("setp.eq.b16 %p0, %h1, %h2;", {5, 0x10005}), 1u);
  EXPECT_EQ(eval("setp.le.s16 %p0, %h1, 0;", {0x8000}), 1u);
}

TEST(EmulatorCompare, FloatsWithNaN) {
  for (const char *ordered : {"eq", "ne", "lt", "le", "gt", "ge", "num"})
    EXPECT_EQ(eval(std::string("setp.") + ordered + ".f32 %p0, %f1, %f2;", {nan32, bits(1)}), 0u) << ordered;
  for (const char *unordered : {"equ", "neu", "ltu", "leu", "gtu", "geu", "nan"})
    EXPECT_EQ(eval(std::string("setp.") + unordered + ".f32 %p0, %f1, %f2;", {nan32, bits(1)}), 1u) << unordered;
  EXPECT_EQ(eval("setp.ltu.f64 %p0, %d1, %d2;", {bits64(2), bits64(1)}), 0u);
  EXPECT_EQ(eval("setp.gt.f16 %p0, %h1, %h2;", {0x4000, 0x3c00}), 1u);
  EXPECT_EQ(eval("setp.gt.bf16 %p0, %h1, %h2;", {0x3f80, 0x4000}), 0u);
  EXPECT_EQ(eval("setp.eq.ftz.f32 %p0, %f1, %f2;", {1, 0}), 1u); // a subnormal flushes to zero
  EXPECT_EQ(eval("setp.eq.f32 %p0, %f1, %f2;", {1, 0}), 0u);
}

TEST(EmulatorCompare, BooleanCombination) {
  EXPECT_EQ(eval("setp.ne.u32 %p1, %r2, 0;\nsetp.eq.and.u32 %p0, %r1, 4, %p1;", {4, 1}), 1u);
  EXPECT_EQ(eval("setp.ne.u32 %p1, %r2, 0;\nsetp.eq.and.u32 %p0, %r1, 4, !%p1;", {4, 1}), 0u);
  EXPECT_EQ(eval("setp.ne.u32 %p1, %r2, 0;\nsetp.eq.xor.u32 %p0, %r1, 4, %p1;", {4, 1}), 0u);
  EXPECT_EQ(eval("setp.eq.u32 %p1|%p0, %r1, 4;", {4}), 0u);
  // q combines the inverse comparison with the same predicate
  EXPECT_EQ(eval("setp.ne.u32 %p1, %r2, 0;\nsetp.eq.or.u32 %p2|%p0, %r1, 4, %p1;", {4, 1}), 1u);
  EXPECT_EQ(eval("setp.gt.f16x2 %p1|%p0, %r1, %r2;", {0x40003c00, 0x3c003c00}), 1u);
  EXPECT_EQ(eval("setp.gt.f16x2 %p0|%p1, %r1, %r2;", {0x40003c00, 0x3c003c00}), 0u);
}

TEST(EmulatorCompare, SetSelectTest) {
  EXPECT_EQ(eval("set.lt.u32.s32 %r0, %r1, 0;", {uint32_t(-1)}), 0xffffffffu);
  EXPECT_EQ(eval("set.lt.f32.s32 %f0, %r1, 0;", {uint32_t(-1)}), bits(1.0f));
  EXPECT_EQ(eval("setp.ne.u32 %p1, %r1, 0;\nselp.b64 %d0, %d2, %d3, %p1;", {0, 5, 1ull << 50}), 1ull << 50);
  EXPECT_EQ(eval("selp.f32 %f0, 0f3F800000, 0f40000000, 1;", {}), bits(1.0f));
  EXPECT_EQ(eval("slct.u32.s32 %r0, %r1, %r2, %r3;", {7, 8, uint32_t(-1)}), 8u);
  EXPECT_EQ(eval("slct.u32.f32 %r0, %r1, %r2, %f3;", {7, 8, bits(0.5f)}), 7u);
  EXPECT_EQ(eval("testp.infinite.f32 %p0, %f1;", {0x7f800000}), 1u);
  EXPECT_EQ(eval("testp.subnormal.f32 %p0, %f1;", {1}), 1u);
  EXPECT_EQ(eval("testp.notanumber.f64 %p0, %d1;", {0x7ff8000000000000}), 1u);
  EXPECT_EQ(eval("testp.finite.f32 %p0, %f1;", {nan32}), 0u);
}
