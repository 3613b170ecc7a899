//===- MiscTest.cpp - setmaxnreg, sleep, time, fences, launch control ----===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "../Harness.h"

using namespace heddle::emulator;
using namespace heddle::emulator::test;

static Kernel pool(const std::string &inc) {
  Kernel k;
  k.threads = 384;
  k.attributes = ".reqntid 384\n.minnctapersm 1";
  k.roles = {{"load", 0, 4}, {"mma", 4, 8}};
  k.body = "setp.ge.u32 %p1, %r62, 128;\n@%p1 bra C;\nsetmaxnreg.dec.sync.aligned.u32 40;\nexit;\nC: setmaxnreg.inc.sync.aligned.u32 " + inc + ";\nst.global.u32 [%d61], 1;";
  return k;
}

TEST(EmulatorMisc, RegisterPool) {
  // 168 registers a thread at launch: 40 + 2 * 232 fit, 40 + 2 * 240 hang an H200.
  EXPECT_EQ(run(pool("232")).error(), "");
  Outcome o = run(pool("240"));
  ASSERT_EQ(o.kind(), ErrorKind::Deadlock);
  EXPECT_NE(o.report.text().find("register pool"), std::string::npos);
  EXPECT_NE(o.report.text().find("role mma"), std::string::npos);
  EXPECT_EQ(run(pool("104")).kind(), ErrorKind::Operand);
  EXPECT_EQ(run(pool("233")).kind(), ErrorKind::Parse);
}

TEST(EmulatorMisc, TimePasses) {
  Kernel k; // waits 2 ms of virtual time, then gives up on its flag
  k.threads = 1;
  k.body = "mov.u64 %d1, %globaltimer;\nL: ld.volatile.global.u32 %r1, [%d62];\nmov.u64 %d2, %globaltimer;\nsub.u64 %d3, %d2, %d1;\n"
           "setp.lt.u64 %p1, %d3, 2000000;\n@%p1 bra L;\nmov.u64 %d4, %clock64;\nnanosleep.u32 1000;\nmov.u64 %d5, %clock64;\nsub.u64 %d6, %d5, %d4;\n"
           "setp.ge.u64 %p2, %d6, 1000;\nselp.u32 %r2, 1, 0, %p2;\nst.global.u32 [%d61], %r2;";
  Outcome o = run(k);
  ASSERT_EQ(o.error(), "");
  EXPECT_EQ(o.out[0], 1u);
}

TEST(EmulatorMisc, FencesParse) {
  Kernel k;
  k.body = "fence.sc.sys;\nfence.acq_rel.gpu;\nfence.acquire.cluster;\nfence.release.cta;\nmembar.gl;\nmembar.cta;\nfence.proxy.alias;\nfence.proxy.async;\n"
           "fence.proxy.async.global;\nfence.proxy.async.shared::cta;\nfence.mbarrier_init.release.cluster;\n"
           "fence.proxy.tensormap::generic.release.gpu;\nfence.proxy.tensormap::generic.acquire.sys [%d62], 128;\n"
           "prefetch.global.L2 [%d62];\nprefetch.tensormap [%d62];\ngriddepcontrol.wait;\ngriddepcontrol.launch_dependents;\n"
           "discard.global.L2 [%d62], 128;\nst.global.u32 [%d61], 1;";
  EXPECT_EQ(run(k).error(), "");
  k.target = "sm_80";
  k.body = "fence.proxy.async;";
  EXPECT_EQ(run(k).kind(), ErrorKind::Unsupported);
  k.body = "fence.acq_rel;";
  EXPECT_EQ(run(k).kind(), ErrorKind::Parse);
}

TEST(EmulatorMisc, ClusterLaunchControl) {
  Kernel k; // blocks steal the work of blocks that have not started
  k.target = "sm_100a";
  k.threads = 1;
  k.blocks = 600;
  k.shared = 150000; // one block a multiprocessor, so that some stay queued
  k.body = "mbarrier.init.b64 [smem], 1;\nmov.u32 %r10, 0;\nmov.u32 %r11, %ctaid.x;\nmov.u32 %r1, smem;\nadd.u32 %r2, %r1, 16;\n"
           "L: mul.wide.u32 %d1, %r11, 4;\nadd.u64 %d2, %d62, %d1;\nred.global.add.u32 [%d2], 1;\n"
           "mbarrier.arrive.expect_tx.shared.b64 _, [smem], 16;\n"
           "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r2], [%r1];\n"
           "W: mbarrier.try_wait.parity.b64 %p2, [smem], %r10;\n@!%p2 bra W;\nxor.b32 %r10, %r10, 1;\nld.shared.b128 %q0, [smem+16];\nfence.proxy.async.shared::cta;\n"
           "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %q0;\n@!%p1 bra E;\n"
           "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r11, %q0;\nbra L;\nE:";
  for (uint64_t seed = 0; seed < 3; ++seed) {
    k.options.seed = seed;
    Outcome o = run(k);
    ASSERT_EQ(o.error(), "");
    for (uint32_t v : o.out)
      EXPECT_EQ(v, 1u);
  }
}
