//===- LogicTest.cpp - logic, shifts and bit fields ----------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Expected values follow from PTX ISA 9.0, "Logic and Shift Instructions" and "Integer Arithmetic".
#include "../Harness.h"

using namespace heddle::emulator::test;

TEST(EmulatorLogic, Bitwise) {
  EXPECT_EQ(eval("and.b32 %r0, %r1, %r2;", {0xff00ff00, 0x0ff00ff0}), 0x0f000f00u);
  EXPECT_EQ(eval("or.b64 %d0, %d1, %d2;", {1ull << 40, 1}), (1ull << 40) + 1);
  EXPECT_EQ(eval("xor.b16 %h0, %h1, %h2;", {0xffff, 0x00ff}), 0xff00u);
  EXPECT_EQ(eval("not.b16 %h0, %h1;", {0x00ff}), 0xff00u);
  EXPECT_EQ(eval("cnot.b32 %r0, %r1;", {0}), 1u);
  EXPECT_EQ(eval("cnot.b32 %r0, %r1;", {5}), 0u);
  EXPECT_EQ(eval("lop3.b32 %r0, %r1, %r2, %r3, 0x96;", {0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa}), 0xf0f0f0f0u ^ 0xccccccccu ^ 0xaaaaaaaau);
  EXPECT_EQ(eval("lop3.b32 %r0, %r1, %r2, %r3, 0xca;", {0xffff0000, 0x12345678, 0x9abcdef0}), 0x1234def0u);
  EXPECT_EQ(eval("setp.ne.u32 %p1, %r1, 0;\nsetp.ne.u32 %p2, %r2, 0;\nand.pred %p0, %p1, !%p2;", {1, 0}), 1u);
  EXPECT_EQ(eval("mov.pred %p1, -1;\nxor.pred %p0, %p1, -1;", {}), 0u);
}

TEST(EmulatorLogic, Shifts) {
  EXPECT_EQ(eval("shl.b32 %r0, %r1, %r2;", {1, 31}), 0x80000000u);
  EXPECT_EQ(eval("shl.b32 %r0, %r1, %r2;", {1, 32}), 0u);
  EXPECT_EQ(eval("shr.u32 %r0, %r1, %r2;", {0x80000000, 31}), 1u);
  EXPECT_EQ(eval("shr.u32 %r0, %r1, %r2;", {0x80000000, 40}), 0u);
  EXPECT_EQ(eval("shr.s32 %r0, %r1, %r2;", {0x80000000, 40}), 0xffffffffu);
  EXPECT_EQ(eval("shr.s64 %d0, %d1, 4;", {~0ull << 8}), ~0ull << 4);
  EXPECT_EQ(eval("shl.b16 %h0, %h1, 4;", {0x1234}), 0x2340u);
  EXPECT_EQ(eval("shf.l.wrap.b32 %r0, %r1, %r2, %r3;", {0x80000000, 0x1, 1}), 3u);
  EXPECT_EQ(eval("shf.r.wrap.b32 %r0, %r1, %r2, %r3;", {0x2, 0x1, 1}), 0x80000001u);
  EXPECT_EQ(eval("shf.r.clamp.b32 %r0, %r1, %r2, %r3;", {0x2, 0x12345678, 40}), 0x12345678u);
  EXPECT_EQ(eval("shf.l.clamp.b32 %r0, %r1, %r2, %r3;", {0x87654321, 0x12345678, 40}), 0x87654321u);
}

TEST(EmulatorLogic, BytePermute) {
  EXPECT_EQ(eval("prmt.b32 %r0, %r1, %r2, 0x7531;", {0x44332211, 0x88776655}), 0x88664422u);
  EXPECT_EQ(eval("prmt.b32 %r0, %r1, %r2, 0x3210;", {0x44332211, 0}), 0x44332211u);
  EXPECT_EQ(eval("prmt.b32 %r0, %r1, 0, 0x8888;", {0x80}), 0xffffffffu); // sign of byte 0, replicated
  EXPECT_EQ(eval("prmt.b32.f4e %r0, %r1, %r2, 1;", {0x33221100, 0x77665544}), 0x44332211u);
  EXPECT_EQ(eval("prmt.b32.b4e %r0, %r1, %r2, 0;", {0x33221100, 0x77665544}), 0x55667700u);
  EXPECT_EQ(eval("prmt.b32.rc8 %r0, %r1, %r2, 2;", {0x33221100, 0}), 0x22222222u);
  EXPECT_EQ(eval("prmt.b32.rc16 %r0, %r1, %r2, 1;", {0x33221100, 0}), 0x33223322u);
}

TEST(EmulatorLogic, BitFields) {
  EXPECT_EQ(eval("bfe.u32 %r0, %r1, 4, 8;", {0x00000ff0}), 0xffu);
  EXPECT_EQ(eval("bfe.s32 %r0, %r1, 4, 8;", {0x00000ff0}), 0xffffffffu);
  EXPECT_EQ(eval("bfe.u32 %r0, %r1, 28, 8;", {0xf0000000}), 0xfu);
  EXPECT_EQ(eval("bfe.s32 %r0, %r1, 28, 8;", {0xf0000000}), 0xffffffffu);
  EXPECT_EQ(eval("bfe.u64 %d0, %d1, 40, 16;", {0xabcdull << 40}), 0xabcdu);
  EXPECT_EQ(eval("bfi.b32 %r0, %r1, %r2, 8, 4;", {0xff, 0}), 0xf00u);
  EXPECT_EQ(eval("bfi.b64 %d0, %d1, %d2, 60, 8;", {0xff, 1}), (0xfull << 60) + 1);
  EXPECT_EQ(eval("popc.b32 %r0, %r1;", {0xf0f0}), 8u);
  EXPECT_EQ(eval("clz.b64 %r0, %d1;", {1}), 63u);
  EXPECT_EQ(eval("clz.b32 %r0, %r1;", {0}), 32u);
  EXPECT_EQ(eval("brev.b32 %r0, %r1;", {1}), 0x80000000u);
  EXPECT_EQ(eval("bfind.u32 %r0, %r1;", {0x100}), 8u);
  EXPECT_EQ(eval("bfind.shiftamt.u32 %r0, %r1;", {0x100}), 23u);
  EXPECT_EQ(eval("bfind.s32 %r0, %r1;", {0xffffff00}), 7u);
  EXPECT_EQ(eval("bfind.u32 %r0, %r1;", {0}), 0xffffffffu);
  EXPECT_EQ(eval("szext.wrap.s32 %r0, %r1, 4;", {0x8}), 0xfffffff8u);
  EXPECT_EQ(eval("bmsk.clamp.b32 %r0, 4, 8;", {}), 0xff0u);
  EXPECT_EQ(eval("fns.b32 %r0, %r1, 0, 2;", {0xb}), 1u);
}
