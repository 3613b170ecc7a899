//===- MatrixTest.cpp - ldmatrix, stmatrix, mma.sync ---------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The fragments' layouts are tested in tensor/; here: decoding, addresses and registers.
#include "../Harness.h"

using namespace heddle::emulator;
using namespace heddle::emulator::test;

TEST(EmulatorMatrix, LoadTransposeStore) {
  Kernel k; // element (r, c) = 8 r + c; the transposed load of lane l holds (2(l%4), l/4) and the next row
  k.shared = 512;
  k.outWords = 2;
  k.body = "mov.u32 %r1, smem;\nshl.b32 %r2, %r61, 1;\nadd.u32 %r3, %r1, %r2;\ncvt.u16.u32 %h1, %r61;\nadd.u16 %h2, %h1, 32;\nst.shared.u16 [%r3], %h1;\nst.shared.u16 [%r3+64], %h2;\n"
           "bar.warp.sync -1;\nand.b32 %r4, %r61, 7;\nshl.b32 %r4, %r4, 4;\nadd.u32 %r5, %r1, %r4;\n"
           "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r6}, [%r5];\nldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r7}, [%r5];\n"
           "stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r5+128], {%r7};\nbar.warp.sync -1;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r8}, [%r5+128];\n"
           "movmatrix.sync.aligned.m8n8.trans.b16 %r9, %r7;\nsub.u32 %r8, %r8, %r6;\nsub.u32 %r9, %r9, %r6;\nor.b32 %r8, %r8, %r9;\n"
           "setp.ne.u32 %p1, %r8, 0;\n@%p1 trap;\nst.global.v2.u32 [%d61], {%r6, %r7};";
  Outcome o = run(k);
  ASSERT_EQ(o.error(), "");
  for (unsigned l = 0; l < 32; ++l) {
    EXPECT_EQ(o.out[2 * l], (2 * l) | (2 * l + 1) << 16);
    unsigned row = l % 4 * 2, col = l / 4;
    EXPECT_EQ(o.out[2 * l + 1], (8 * row + col) | (8 * (row + 1) + col) << 16);
  }
}

TEST(EmulatorMatrix, MultiplyOfOnes) {
  Kernel k; // all ones: every element of D is k + c
  k.outWords = 4;
  k.body = "mov.b32 %r1, 0x3f803f80;\nmov.f32 %f1, 0f40A00000;\n"
           "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f2, %f3, %f4, %f5}, {%r1, %r1, %r1, %r1}, {%r1, %r1}, {%f1, %f1, %f1, %f1};\n"
           "st.global.v4.f32 [%d61], {%f2, %f3, %f4, %f5};";
  Outcome o = run(k);
  ASSERT_EQ(o.error(), "");
  for (unsigned n = 0; n < 128; ++n)
    EXPECT_EQ(o.outF(n), 21.0f);
  EXPECT_EQ(o.report.stats.tensorOps, 1u);
}

TEST(EmulatorMatrix, Refusals) {
  Kernel k;
  k.target = "sm_80";
  k.body = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%f2, %f3, %f4, %f5}, {%r1, %r1, %r1, %r1}, {%r1, %r1}, {%f1, %f1, %f1, %f1};";
  EXPECT_EQ(run(k).kind(), ErrorKind::Unsupported);
  k.target = "sm_89";
  EXPECT_EQ(run(k).error(), "");
  k.body = "mma.sync.aligned.m16n8k17.row.col.f32.bf16.bf16.f32 {%f2, %f3, %f4, %f5}, {%r1, %r1, %r1, %r1}, {%r1, %r1}, {%f1, %f1, %f1, %f1};";
  EXPECT_EQ(run(k).kind(), ErrorKind::Parse);
  k.body = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f2, %f3, %f4}, {%r1, %r1, %r1, %r1}, {%r1, %r1}, {%f1, %f1, %f1, %f1};";
  EXPECT_NE(run(k).error().find("expected 4 registers of D, got 3"), std::string::npos);
  k.body = "stmatrix.sync.aligned.m8n8.x1.shared.b16 [smem], {%r7};";
  EXPECT_EQ(run(k).kind(), ErrorKind::Unsupported);
  k.body = "setp.lt.u32 %p1, %r61, 16;\n@%p1 mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f2, %f3, %f4, %f5}, {%r1, %r1, %r1, %r1}, {%r1, %r1}, {%f1, %f1, %f1, %f1};";
  EXPECT_EQ(run(k).kind(), ErrorKind::Convergence);
}
