//===- BarrierTest.cpp - bar, barrier, barrier.cluster -------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "../Harness.h"

using namespace heddle::emulator;
using namespace heddle::emulator::test;

TEST(EmulatorBarrier, WholeBlock) {
  Kernel k;
  k.threads = 256;
  k.shared = 1024;
  k.body = "mov.u32 %r1, smem;\nshl.b32 %r2, %r62, 2;\nadd.u32 %r3, %r1, %r2;\nst.shared.u32 [%r3], %r62;\nbar.sync 0;\n"
           "xor.b32 %r4, %r62, 255;\nshl.b32 %r4, %r4, 2;\nadd.u32 %r4, %r1, %r4;\nld.shared.u32 %r5, [%r4];\nst.global.u32 [%d61], %r5;";
  for (uint64_t seed = 0; seed < 6; ++seed) {
    k.options.seed = seed;
    Outcome o = run(k);
    ASSERT_EQ(o.error(), "");
    EXPECT_EQ(o.out[3], 252u);
  }
}

TEST(EmulatorBarrier, CountsAndArrivals) {
  Kernel k; // warps 0 and 1 produce, warp 2 consumes
  k.threads = 96;
  k.shared = 256;
  k.body = "mov.u32 %r1, smem;\nsetp.ge.u32 %p1, %r62, 64;\n@%p1 bra C;\nshl.b32 %r2, %r62, 2;\nadd.u32 %r3, %r1, %r2;\nst.shared.u32 [%r3], %r62;\n"
           "bar.arrive 3, 96;\nbra E;\nC: barrier.cta.sync.aligned 3, 96;\nld.shared.u32 %r4, [smem+252];\nst.global.u32 [%d61], %r4;\nE:";
  for (uint64_t seed = 0; seed < 6; ++seed) {
    k.options.seed = seed;
    Outcome o = run(k);
    ASSERT_EQ(o.error(), "");
    EXPECT_EQ(o.out[64], 63u);
  }
}

TEST(EmulatorBarrier, Reductions) {
  Kernel k;
  k.threads = 64;
  k.body = "setp.lt.u32 %p1, %r62, 40;\nbarrier.cta.red.popc.aligned.u32 %r1, 1, %p1;\nbar.red.and.pred %p2, 1, %p1;\n"
           "bar.red.or.pred %p3, 1, %p1;\nselp.u32 %r2, 100, 0, %p2;\nselp.u32 %r3, 1000, 0, %p3;\nadd.u32 %r1, %r1, %r2;\nadd.u32 %r1, %r1, %r3;\n"
           "st.global.u32 [%d61], %r1;";
  Outcome o = run(k);
  ASSERT_EQ(o.error(), "");
  EXPECT_EQ(o.out[0], 1040u);
  EXPECT_EQ(o.out[63], 1040u);
}

TEST(EmulatorBarrier, MissingWarpIsADeadlock) {
  Kernel k;
  k.threads = 64;
  k.roles = {{"early", 0, 1}, {"late", 1, 1}};
  k.body = "setp.lt.u32 %p1, %r62, 32;\n@%p1 exit;\nbar.sync 0;";
  Outcome o = run(k);
  ASSERT_EQ(o.kind(), ErrorKind::Deadlock);
  ASSERT_GE(o.report.errors.size(), 2u);
  EXPECT_EQ(o.report.errors[1].role, "late");
  EXPECT_NE(o.report.errors[1].message.find("32 of 64 threads"), std::string::npos) << o.report.text();
}

TEST(EmulatorBarrier, Misuse) {
  Kernel k;
  k.threads = 64;
  k.body = "bar.sync 16;";
  EXPECT_EQ(run(k).kind(), ErrorKind::Barrier);
  k.body = "bar.sync 1, 33;";
  EXPECT_EQ(run(k).kind(), ErrorKind::Barrier);
  k.body = "setp.lt.u32 %p1, %r62, 32;\n@%p1 bra A;\nbar.sync 1, 64;\nbra E;\nA: bar.sync 1, 32;\nE:";
  k.options.schedule = Schedule::RoundRobin;
  // 32 threads of the one count and 32 of the other meet, unless the small group passed first.
  k.body = "setp.lt.u32 %p1, %r62, 32;\n@%p1 bra A;\nbar.arrive 1, 96;\nbra E;\nA: bar.arrive 1, 64;\nE:";
  k.threads = 96;
  EXPECT_NE(run(k).error().find("in use with"), std::string::npos);
  k.body = "setp.lt.u32 %p1, %r61, 16;\n@%p1 bar.sync 0;";
  EXPECT_EQ(run(k).kind(), ErrorKind::Convergence);
}

TEST(EmulatorBarrier, Cluster) {
  Kernel k;
  k.blocks = 4;
  k.cluster = 4;
  k.body = "st.global.u32 [%d61], 7;\nbarrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;\n"
           "ld.global.u32 %r1, [%d62+384];\nst.global.u32 [%d61], %r1;";
  for (uint64_t seed = 0; seed < 6; ++seed) {
    k.options.seed = seed;
    Outcome o = run(k);
    ASSERT_EQ(o.error(), "");
    EXPECT_EQ(o.out[0], 7u);
  }
  k.body = "barrier.cluster.wait;";
  EXPECT_EQ(run(k).kind(), ErrorKind::Barrier);
  k.body = "mov.u32 %r1, %cluster_ctarank;\nsetp.eq.u32 %p1, %r1, 2;\n@%p1 bra L;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\nexit;\n"
           "L: ld.volatile.global.u32 %r2, [%d62];\nbra L;";
  EXPECT_EQ(run(k).kind(), ErrorKind::Deadlock);
}
