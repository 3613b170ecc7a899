//===- MbarrierTest.cpp - mbarrier instructions --------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "../Harness.h"

using namespace heddle::emulator;
using namespace heddle::emulator::test;

static const char *init = "setp.ne.u32 %p1, %r62, 0;\n@%p1 bra I;\nmbarrier.init.shared::cta.b64 [smem], 64;\nI: bar.sync 0;\n";

TEST(EmulatorMbarrier, PhasesCountArrivals) {
  Kernel k; // 3 rounds of both warps: warp 0 waits by state, warp 1 by parity
  k.threads = 64;
  k.shared = 64;
  k.body = std::string(init) +
           "mov.u32 %r1, 0;\nsetp.ge.u32 %p2, %r62, 32;\n@%p2 bra W;\n"
           "A: st.shared.u32 [smem+8], %r1;\nmbarrier.arrive.shared::cta.b64 %d1, [smem];\nmbarrier.test_wait.shared::cta.b64 %p4, [smem], %d1;\n"
           "B: @%p4 bra C;\nmbarrier.test_wait.shared::cta.b64 %p4, [smem], %d1;\nbra B;\nC: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p3, %r1, 3;\n@%p3 bra A;\nexit;\n"
           "W: and.b32 %r2, %r1, 1;\nmbarrier.arrive.shared::cta.b64 _, [smem];\nX: mbarrier.try_wait.parity.shared::cta.b64 %p4, [smem], %r2;\n@!%p4 bra X;\n"
           "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p3, %r1, 3;\n@%p3 bra W;\nst.global.u32 [%d61], %r1;";
  Outcome o = run(k);
  ASSERT_EQ(o.error(), "");
  EXPECT_EQ(o.out[40], 3u);
}

TEST(EmulatorMbarrier, TransactionsHoldThePhase) {
  Kernel k;
  k.shared = 64;
  k.threads = 1;
  k.body = "mbarrier.init.shared.b64 [smem], 1;\nmbarrier.arrive.expect_tx.shared.b64 %d1, [smem], 64;\n"
           "mbarrier.test_wait.shared.b64 %p1, [smem], %d1;\nselp.u32 %r1, 1, 0, %p1;\nmbarrier.complete_tx.relaxed.cta.shared::cta.b64 [smem], 64;\n"
           "mbarrier.test_wait.shared.b64 %p1, [smem], %d1;\nselp.u32 %r2, 10, 0, %p1;\nmbarrier.pending_count.b64 %r3, %d1;\n"
           "add.u32 %r4, %r1, %r2;\nmad.lo.u32 %r4, %r3, 100, %r4;\nmbarrier.inval.shared.b64 [smem];\nst.global.u32 [%d61], %r4;";
  Outcome o = run(k);
  ASSERT_EQ(o.error(), "");
  EXPECT_EQ(o.out[0], 110u); // incomplete, complete, one arrival was pending
}

TEST(EmulatorMbarrier, CountsDropsAndNoComplete) {
  Kernel k;
  k.shared = 64;
  k.threads = 1;
  k.body = "mbarrier.init.b64 [smem], 5;\nmbarrier.arrive.noComplete.b64 %d1, [smem], 2;\nmbarrier.arrive_drop.b64 %d2, [smem], 1;\n"
           "mbarrier.arrive.b64 %d3, [smem], 2;\nmbarrier.test_wait.parity.b64 %p1, [smem], 0;\nselp.u32 %r1, 1, 0, %p1;\n"
           "mbarrier.arrive.b64 %d4, [smem], 4;\nmbarrier.test_wait.parity.b64 %p1, [smem], 1;\nselp.u32 %r2, 10, 0, %p1;\nadd.u32 %r1, %r1, %r2;\nst.global.u32 [%d61], %r1;";
  Outcome o = run(k);
  ASSERT_EQ(o.error(), "");
  EXPECT_EQ(o.out[0], 11u); // the second phase expects 4
}

TEST(EmulatorMbarrier, RemoteArrival) {
  Kernel k;
  k.blocks = 2;
  k.cluster = 2;
  k.threads = 64;
  k.shared = 64;
  k.body = std::string(init) + "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\nmov.u32 %r1, %cluster_ctarank;\nmov.u32 %r2, smem;\nxor.b32 %r3, %r1, 1;\n"
           "mapa.shared::cluster.u32 %r4, %r2, %r3;\nmbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];\n"
           "X: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p4, [smem], 0;\n@!%p4 bra X;\nst.global.u32 [%d61], 1;\n"
           "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;";
  for (uint64_t seed = 0; seed < 6; ++seed) {
    k.options.seed = seed;
    Outcome o = run(k);
    ASSERT_EQ(o.error(), "");
    EXPECT_EQ(o.out[127], 1u);
  }
}

TEST(EmulatorMbarrier, DeadlockNamesWhatIsMissing) {
  Kernel k;
  k.threads = 1;
  k.shared = 64;
  k.roles = {{"consumer", 0, 1}};
  k.body = ".loc 1 12 5\nmbarrier.init.b64 [smem+16], 3;\nmbarrier.arrive.expect_tx.shared.b64 _, [smem+16], 96;\n"
           "X: mbarrier.try_wait.parity.b64 %p4, [smem+16], 0;\n@!%p4 bra X;";
  k.globals = ".file 1 \"net.mlir\"";
  Outcome o = run(k);
  ASSERT_EQ(o.kind(), ErrorKind::Deadlock);
  const Error &e = o.report.errors.at(1);
  EXPECT_EQ(e.role, "consumer");
  EXPECT_EQ(e.source, "net.mlir:12:5");
  EXPECT_NE(e.message.find("shared offset 16: phase 0 lacks 2 of 3 arrivals and 96 bytes"), std::string::npos) << e.message;
}

TEST(EmulatorMbarrier, Misuse) {
  struct Case { const char *body, *message; } cases[] = {
      {"mbarrier.arrive.shared.b64 %d1, [smem];", "no initialised mbarrier"},
      {"mbarrier.init.b64 [smem], 1;\nmbarrier.init.b64 [smem], 1;", "initialised already"},
      {"mbarrier.init.b64 [smem+4], 1;", "multiple of 8"},
      {"mbarrier.init.b64 [smem], 0;", "expected a count"},
      {"mbarrier.init.b64 [smem], 1;\nst.shared.u32 [smem+4], 1;", "hits a live mbarrier"},
      {"mbarrier.init.b64 [smem], 1;\nmbarrier.arrive.b64 %d1, [smem], 2;", "expects 1 more arrivals"},
      {"mbarrier.init.b64 [smem], 1;\nmbarrier.arrive.noComplete.b64 %d1, [smem], 1;", "would complete the phase"},
      {"mbarrier.init.b64 [smem], 1;\nmbarrier.expect_tx.relaxed.cta.shared::cta.b64 [smem], 1048576;", "at most 1048575 bytes"},
      {"mbarrier.init.b64 [smem], 1;\nmbarrier.arrive.b64 %d1, [smem];\nmbarrier.arrive.b64 %d2, [smem];\nmbarrier.test_wait.b64 %p1, [smem], %d1;", "not of the current"},
      {"mbarrier.inval.b64 [smem];", "no initialised mbarrier"},
      {"mbarrier.init.b64 [smem+60], 1;", "multiple of 8"},
      {"mbarrier.init.b64 [smem+64], 1;", "the block has 64 bytes"},
  };
  for (const auto &c : cases) {
    Kernel k;
    k.threads = 1;
    k.shared = 64;
    k.body = c.body;
    EXPECT_NE(run(k).error().find(c.message), std::string::npos) << c.body << ": " << run(k).error();
  }
  Kernel k;
  k.target = "sm_80";
  k.body = "mbarrier.try_wait.shared.b64 %p1, [smem], %d1;";
  EXPECT_EQ(run(k).kind(), ErrorKind::Unsupported);
}
