//===- CpAsyncTest.cpp - cp.async and bulk copies ------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "../Harness.h"

using namespace heddle::emulator;
using namespace heddle::emulator::test;

static Kernel kernel(const std::string &body, unsigned threads = 32) {
  Kernel k;
  k.threads = threads;
  k.shared = 1024;
  k.body = body;
  for (uint32_t n = 0; n < 512; ++n)
    k.input.push_back(n);
  return k;
}

TEST(EmulatorCpAsync, GroupsAndZeroFill) {
  Kernel k = kernel("mov.u32 %r1, smem;\nshl.b32 %r2, %r61, 4;\nadd.u32 %r3, %r1, %r2;\nmul.wide.u32 %d1, %r61, 16;\nadd.u64 %d2, %d63, %d1;\n"
                    "cp.async.cg.shared.global [%r3], [%d2], 16;\ncp.async.commit_group;\n"
                    "cp.async.ca.shared.global [%r3+512], [%d2], 8, 4;\ncp.async.commit_group;\ncp.async.wait_group 1;\n"
                    "ld.shared.u32 %r4, [%r3+12];\ncp.async.wait_group 0;\nld.shared.u32 %r5, [%r3+512];\nld.shared.u32 %r6, [%r3+516];\n"
                    "mad.lo.u32 %r4, %r5, 1000, %r4;\nadd.u32 %r4, %r4, %r6;\nst.global.u32 [%d61], %r4;");
  for (uint64_t seed = 0; seed < 8; ++seed) {
    k.options.seed = seed;
    Outcome o = run(k);
    ASSERT_EQ(o.error(), "");
    EXPECT_EQ(o.out[2], 8011u);
  }
}

TEST(EmulatorCpAsync, NoWaitReadsUnwrittenMemory) {
  Kernel k = kernel("mov.u32 %r1, smem;\nshl.b32 %r2, %r61, 4;\nadd.u32 %r3, %r1, %r2;\nmul.wide.u32 %d1, %r61, 16;\nadd.u64 %d2, %d63, %d1;\n"
                    "cp.async.cg.shared.global [%r3], [%d2], 16;\ncp.async.commit_group;\ncp.async.wait_group 1;\n"
                    "ld.shared.u32 %r4, [%r3+12];\nst.global.u32 [%d61], %r4;\ncp.async.wait_all;");
  k.options.schedule = Schedule::LateAsync;
  EXPECT_EQ(run(k).kind(), ErrorKind::Uninitialised);
}

TEST(EmulatorCpAsync, MbarrierArrival) {
  Kernel k = kernel("mov.u32 %r1, smem;\nsetp.ne.u32 %p1, %r61, 0;\n@%p1 bra I;\nmbarrier.init.b64 [smem], 32;\nI: bar.sync 0;\n"
                    "shl.b32 %r2, %r61, 2;\nadd.u32 %r3, %r1, %r2;\nmul.wide.u32 %d1, %r61, 4;\nadd.u64 %d2, %d63, %d1;\n"
                    "cp.async.ca.shared.global [%r3+64], [%d2], 4;\ncp.async.mbarrier.arrive.noinc.shared.b64 [smem];\n"
                    "X: mbarrier.try_wait.parity.b64 %p2, [smem], 0;\n@!%p2 bra X;\nld.shared.u32 %r4, [smem+84];\nst.global.u32 [%d61], %r4;");
  for (uint64_t seed = 0; seed < 8; ++seed) {
    k.options.seed = seed;
    Outcome o = run(k);
    ASSERT_EQ(o.error(), "");
    EXPECT_EQ(o.out[0], 5u);
  }
}

static const char *waitAndStore = "X: mbarrier.try_wait.parity.b64 %p2, [smem], 0;\n@!%p2 bra X;\n";

TEST(EmulatorBulk, GlobalToSharedAndBack) {
  Kernel k = kernel(std::string("mbarrier.init.b64 [smem], 1;\nmov.u32 %r1, smem;\nmbarrier.arrive.expect_tx.shared.b64 _, [smem], 256;\n"
                    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1+64], [%d63], 256, [smem];\n") + waitAndStore +
                    "fence.proxy.async.shared::cta;\ncp.async.bulk.global.shared::cta.bulk_group [%d62], [%r1+64], 16;\n"
                    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d62+16], [%r1+64], 16;\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\ncp.async.bulk.wait_group 0;", 1);
  k.outWords = 8;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    k.options.seed = seed;
    Outcome o = run(k);
    ASSERT_EQ(o.error(), "");
    EXPECT_EQ(o.out[3], 3u);
    EXPECT_EQ(o.out[7], 3u);
  }
}

TEST(EmulatorBulk, WrongByteCountHangs) {
  Kernel k = kernel(std::string("mbarrier.init.b64 [smem], 1;\nmov.u32 %r1, smem;\nmbarrier.arrive.expect_tx.shared.b64 _, [smem], 272;\n"
                    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1+64], [%d63], 256, [smem];\n") + waitAndStore, 1);
  Outcome o = run(k);
  ASSERT_EQ(o.kind(), ErrorKind::Deadlock);
  EXPECT_NE(o.report.errors.at(1).message.find("and 16 bytes"), std::string::npos);
}

TEST(EmulatorBulk, BetweenBlocksAndMulticast) {
  Kernel k = kernel("mbarrier.init.b64 [smem], 1;\nmbarrier.init.b64 [smem+8], 1;\nfence.mbarrier_init.release.cluster;\nmov.u32 %r1, smem;\nmov.u32 %r2, %cluster_ctarank;\n"
                    "mbarrier.arrive.expect_tx.shared.b64 _, [smem], 64;\nmbarrier.arrive.expect_tx.shared.b64 _, [smem+8], 16;\n"
                    "barrier.cluster.arrive;\nbarrier.cluster.wait;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra W;\nmov.u16 %h1, 3;\n"
                    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1+64], [%d63], 64, [%r1], %h1;\n"
                    "W: mbarrier.try_wait.parity.b64 %p2, [smem], 0;\n@!%p2 bra W;\n"
                    "xor.b32 %r3, %r2, 1;\nmapa.shared::cluster.u32 %r4, %r1, %r3;\nadd.u32 %r5, %r4, 256;\nadd.u32 %r6, %r4, 8;\n"
                    "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r5], [%r1+64], 16, [%r6];\n"
                    "V: mbarrier.try_wait.parity.b64 %p2, [smem+8], 0;\n@!%p2 bra V;\nld.shared.u32 %r7, [smem+268];\nld.shared.u32 %r8, [smem+124];\n"
                    "mad.lo.u32 %r7, %r7, 100, %r8;\nst.global.u32 [%d61], %r7;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;", 1);
  k.blocks = 2;
  k.cluster = 2;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    k.options.seed = seed;
    Outcome o = run(k);
    ASSERT_EQ(o.error(), "");
    EXPECT_EQ(o.out[0], 315u);
    EXPECT_EQ(o.out[1], 315u);
  }
}

TEST(EmulatorBulk, Misuse) {
  struct Case { std::string body, message; } cases[] = {
      {"mov.u32 %r1, smem;\ncp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1+64], [%d63], 24, [smem];", "multiple of 16, got 24"},
      {"mov.u32 %r1, smem;\ncp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1+68], [%d63], 32, [smem];", "multiples of 16"},
      {"mov.u32 %r1, smem;\ncp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1+64], [%d63], 32, [smem];\nL: ld.volatile.global.u32 %r2, [%d62];\nbra L;", "no mbarrier is initialised"},
      {"mov.u32 %r1, smem;\nst.shared.u32 [smem], 1;\nst.shared.v2.u32 [smem+8], {%r1, %r1};\nst.shared.u32 [smem+4], 1;\ncp.async.bulk.global.shared::cta.bulk_group [%d62], [%r1], 16;\ncp.async.bulk.commit_group;", "exits while an asynchronous operation"},
      {"mov.u32 %r1, smem;\nmbarrier.init.b64 [smem], 1;\ncp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1+1008], [%d63], 32, [smem];\nL: ld.volatile.global.u32 %r2, [%d62];\nbra L;", "the block has 1024 bytes"},
      {"mov.u32 %r1, smem;\nmbarrier.init.b64 [smem], 1;\nmov.u64 %d1, 64;\ncp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1+64], [%d1], 32, [smem];\nL: ld.volatile.global.u32 %r2, [%d62];\nbra L;", "out-of-bounds read"},
      {"mov.u32 %r1, smem;\ncp.async.bulk.global.shared::cta.bulk_group [%d62], [%r1], 16;\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;", "which nothing has written"},
  };
  for (const auto &c : cases) {
    Kernel k = kernel(c.body, 1);
    k.outWords = 8;
    k.options.schedule = Schedule::LateAsync;
    EXPECT_NE(run(k).error().find(c.message), std::string::npos) << c.body << ": " << run(k).error();
  }
  Kernel k;
  k.target = "sm_80";
  k.body = "cp.async.bulk.commit_group;";
  EXPECT_EQ(run(k).kind(), ErrorKind::Unsupported);
}
