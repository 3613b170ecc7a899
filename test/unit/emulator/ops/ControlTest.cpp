//===- ControlTest.cpp - branches, loops, calls --------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "../Harness.h"

using namespace heddle::emulator;
using namespace heddle::emulator::test;

TEST(EmulatorControl, DivergentLoopsReconverge) {
  Kernel k; // lane i loops i times; all lanes must be together for the aligned barrier
  k.body = "mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nL: setp.ge.u32 %p1, %r1, %r61;\n@%p1 bra D;\nadd.u32 %r2, %r2, %r1;\nadd.u32 %r1, %r1, 1;\nbra L;\n"
           "D: bar.sync 0;\nst.global.u32 [%d61], %r2;";
  for (uint64_t seed = 0; seed < 8; ++seed) {
    k.options.seed = seed;
    Outcome o = run(k);
    ASSERT_EQ(o.error(), "");
    EXPECT_EQ(o.out[10], 45u);
  }
}

TEST(EmulatorControl, EarlyExitOfSomeLanes) {
  Kernel k;
  k.body = "setp.ge.u32 %p1, %r61, 20;\n@%p1 exit;\nshfl.sync.idx.b32 %r1, %r61, 3, 31, -1;\nst.global.u32 [%d61], %r1;";
  Outcome o = run(k);
  ASSERT_EQ(o.error(), "");
  EXPECT_EQ(o.out[19], 3u);
  EXPECT_EQ(o.out[20], 0u);
}

TEST(EmulatorControl, SpinningLanesDoNotStarveTheirWarp) {
  Kernel k; // lane 0 waits for a flag that lane 1 sets after the loop's join
  k.shared = 4;
  k.body = "st.shared.u32 [smem], 0;\nsetp.ne.u32 %p1, %r61, 0;\n@%p1 bra S;\nL: ld.volatile.shared.u32 %r1, [smem];\nsetp.eq.u32 %p2, %r1, 0;\n"
           "@%p2 bra L;\nbra E;\nS: setp.ne.u32 %p3, %r61, 1;\n@%p3 bra E;\nst.volatile.shared.u32 [smem], 5;\nE:\n"
           "bar.warp.sync -1;\nld.volatile.shared.u32 %r2, [smem];\nst.global.u32 [%d61], %r2;";
  for (uint64_t seed = 0; seed < 8; ++seed) {
    k.options.seed = seed;
    Outcome o = run(k);
    ASSERT_EQ(o.error(), "") << seed;
    EXPECT_EQ(o.out[0], 5u);
  }
}

TEST(EmulatorControl, Calls) {
  Kernel k;
  k.globals = ".func (.param .b32 r) twice(.param .b32 x)\n{\n.reg .b32 %r<4>;\nld.param.b32 %r1, [x];\nadd.u32 %r2, %r1, %r1;\n"
              "st.param.b32 [r], %r2;\nret;\n}\n"
              ".func (.param .b32 r) odd(.param .b32 x)\n{\n.reg .b32 %r<4>;\n.reg .pred %p<2>;\nld.param.b32 %r1, [x];\nand.b32 %r2, %r1, 1;\n"
              "setp.eq.u32 %p1, %r2, 0;\n@%p1 bra L;\nst.param.b32 [r], 1;\nret;\nL:\n{\n.param .b32 p;\nst.param.b32 [p], %r1;\n.param .b32 q;\n"
              "call.uni (q), twice, (p);\nld.param.b32 %r3, [q];\n}\nst.param.b32 [r], %r3;\nret;\n}\n";
  k.body = "{\n.param .b32 a;\nst.param.b32 [a], %r61;\n.param .b32 b;\ncall (b), odd, (a);\nld.param.b32 %r1, [b];\n}\nbar.sync 0;\nst.global.u32 [%d61], %r1;";
  Outcome o = run(k);
  ASSERT_EQ(o.error(), "");
  EXPECT_EQ(o.out[7], 1u);
  EXPECT_EQ(o.out[8], 16u);
}

TEST(EmulatorControl, BranchTables) {
  Kernel k;
  k.body = "and.b32 %r1, %r61, 3;\nT: .branchtargets A, B, C, A;\nbrx.idx %r1, T;\nA: mov.u32 %r2, 10;\nbra E;\nB: mov.u32 %r2, 20;\nbra E;\n"
           "C: mov.u32 %r2, 30;\nE: bar.sync 0;\nst.global.u32 [%d61], %r2;";
  Outcome o = run(k);
  ASSERT_EQ(o.error(), "");
  EXPECT_EQ(o.out[4], 10u);
  EXPECT_EQ(o.out[5], 20u);
  EXPECT_EQ(o.out[6], 30u);
  EXPECT_EQ(o.out[7], 10u);
  k.body = "T: .branchtargets A;\nbrx.idx %r61, T;\nA:";
  EXPECT_EQ(run(k).kind(), ErrorKind::Operand);
}

TEST(EmulatorControl, ScopedLabelsAndRegisters) {
  Kernel k; // the same names twice, as inline assembly has them
  k.body = "mov.u32 %r1, 0;\n{\n.reg .pred P;\nW: add.u32 %r1, %r1, 1;\nsetp.ge.u32 P, %r1, 5;\n@P bra D;\nbra W;\nD:\n}\n"
           "{\n.reg .pred P;\nW: add.u32 %r1, %r1, 2;\nsetp.ge.u32 P, %r1, 9;\n@P bra D;\nbra W;\nD:\n}\nst.global.u32 [%d61], %r1;";
  Outcome o = run(k);
  ASSERT_EQ(o.error(), "");
  EXPECT_EQ(o.out[0], 9u);
}

TEST(EmulatorControl, TrapAndRecursion) {
  Kernel k;
  k.body = "setp.eq.u32 %p1, %r61, 7;\n@%p1 trap;";
  Outcome o = run(k);
  EXPECT_EQ(o.kind(), ErrorKind::Trap);
  EXPECT_EQ(o.report.errors[0].lane, 7);
  k.globals = ".func f()\n{\ncall.uni f;\nret;\n}\n";
  k.body = "call.uni f;";
  EXPECT_NE(run(k).error().find("recursive"), std::string::npos);
  k.globals = "";
  EXPECT_NE(run(k).error().find("unknown function"), std::string::npos);
}
