//===- TensorCoreTest.cpp - wgmma and tcgen05 instructions ---------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Layouts and number formats are tested in tensor/; matrices of equal elements suffice here.
#include "../Harness.h"

using namespace heddle::emulator;
using namespace heddle::emulator::test;

/// Fills 8 KiB of shared memory with bf16 ones, then the body.
static Kernel ones(const std::string &body, const std::string &target) {
  Kernel k;
  k.target = target;
  k.threads = 128;
  k.shared = 16384;
  k.outWords = 4;
  k.body = "mov.u32 %r1, smem;\nshl.b32 %r2, %r62, 4;\nadd.u32 %r3, %r1, %r2;\nmov.b32 %r4, 0x3f803f80;\nmov.u32 %r5, 0;\n"
           "F: st.shared.v4.b32 [%r3], {%r4, %r4, %r4, %r4};\nadd.u32 %r3, %r3, 2048;\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 4;\n@%p1 bra F;\n"
           "fence.proxy.async.shared::cta;\nbar.sync 0;\nbfe.u32 %r6, %r1, 4, 14;\ncvt.u64.u32 %d1, %r6;\n" + body;
  return k;
}
/// leading 128 bytes, stride 256 bytes, no swizzle
static const std::string wgmmaDesc = "or.b64 %d1, %d1, 0x0000001000080000;\n";
static const std::string mma = "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, %d1, %d1, %p2, 1, 1, 0, 0;\n";
static const std::string out = "st.global.v4.f32 [%d61], {%f1, %f2, %f3, %f4};";

TEST(EmulatorWgmma, AccumulatesInGroups) {
  Kernel k = ones(wgmmaDesc + "wgmma.fence.sync.aligned;\nsetp.ne.u32 %p2, %r1, %r1;\n" + mma + "setp.eq.u32 %p2, %r1, %r1;\n" + mma +
                  "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n" + out, "sm_90a");
  for (uint64_t seed = 0; seed < 8; ++seed) {
    k.options.seed = seed;
    Outcome o = run(k);
    ASSERT_EQ(o.error(), "");
    for (unsigned n = 0; n < 512; ++n)
      EXPECT_EQ(o.outF(n), 32.0f);
    EXPECT_EQ(o.report.stats.tensorOps, 2u);
  }
}

/// The text of the error of `body` under every schedule.
static void expectRegisterError(const std::string &body, const std::string &target, const std::string &expected) {
  for (Schedule schedule : {Schedule::RoundRobin, Schedule::LateAsync, Schedule::Random}) {
    Kernel k = ones(body, target);
    k.options.schedule = schedule;
    Outcome o = run(k);
    EXPECT_NE(o.error().find(expected), std::string::npos) << o.error();
    ASSERT_FALSE(o.report.errors.empty());
    EXPECT_EQ(o.kind(), ErrorKind::Race);
  }
}

TEST(EmulatorWgmma, RegistersInFlight) {
  const std::string start = wgmmaDesc + "mov.f32 %f1, 0f42280000;\nwgmma.fence.sync.aligned;\nsetp.ne.u32 %p2, %r1, %r1;\n" + mma +
                            "wgmma.commit_group.sync.aligned;\n", end = "wgmma.wait_group.sync.aligned 0;\n" + out;
  expectRegisterError(start + "mov.f32 %f5, %f1;\n" + end, "sm_90a", "read of a register that the instruction of line");
  expectRegisterError(start + "mov.f32 %f4, %f5;\n" + end, "sm_90a", "write to a register that the instruction of line");
  expectRegisterError(start + "st.global.v4.f32 [%d61], {%f1, %f2, %f3, %f4};\n" + end, "sm_90a", "still writes, expected wgmma.wait_group");
  // A wait that leaves a group in flight is not enough.
  expectRegisterError(start + "wgmma.wait_group.sync.aligned 1;\nmov.f32 %f5, %f1;\n" + end, "sm_90a", "still writes");
  expectRegisterError(wgmmaDesc + "mov.b32 %r7, 0x3f803f80;\nwgmma.fence.sync.aligned;\nsetp.ne.u32 %p2, %r1, %r1;\n"
                      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, {%r7, %r7, %r7, %r7}, %d1, %p2, 1, -1, 0;\n"
                      "wgmma.commit_group.sync.aligned;\nmov.b32 %r7, 0;\n" + end, "sm_90a", "still reads");
}

TEST(EmulatorWgmma, RegistersNeedAFence) {
  const std::string end = "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n" + out;
  expectRegisterError(wgmmaDesc + "setp.ne.u32 %p2, %r1, %r1;\n" + mma + end, "sm_90a", "before the first wgmma");
  expectRegisterError(wgmmaDesc + "wgmma.fence.sync.aligned;\nmov.f32 %f2, 0f00000000;\nsetp.ne.u32 %p2, %r1, %r1;\n" + mma + end, "sm_90a",
                      "expected a wgmma.fence between");
}

TEST(EmulatorWgmma, Misuse) {
  Kernel k = ones(wgmmaDesc + "wgmma.fence.sync.aligned;\nsetp.lt.u32 %p3, %r62, 96;\n@!%p3 exit;\n" + mma + "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;", "sm_90a");
  Outcome o = run(k);
  EXPECT_EQ(o.kind(), ErrorKind::Deadlock);
  EXPECT_NE(o.report.text().find("all four warps"), std::string::npos);
  k = ones(wgmmaDesc + "wgmma.fence.sync.aligned;\n" + mma + "wgmma.commit_group.sync.aligned;", "sm_90a");
  k.options.schedule = Schedule::LateAsync;
  EXPECT_NE(run(k).error().find("exits while an asynchronous operation"), std::string::npos);
  k = ones(wgmmaDesc + mma, "sm_100a");
  EXPECT_EQ(run(k).kind(), ErrorKind::Unsupported);
  k = ones("wgmma.mma_async.sync.aligned.m64n12k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, %d1, %d1, %p2, 1, 1, 0, 0;\n", "sm_90a");
  EXPECT_EQ(run(k).kind(), ErrorKind::Parse);
}

/// M 128, N 32, K 16 of bf16 ones into f32.
static std::string tcgen(const std::string &after) {
  // Barrier and address of the allocation behind the matrices; descriptor: leading 128, stride 256, version 1.
  return "or.b64 %d1, %d1, 0x0000401000080000;\nsetp.ge.u32 %p4, %r62, 32;\n@%p4 bra S;\ntcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [smem+8200], 32;\n"
         "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\nsetp.ne.u32 %p5, %r62, 0;\n@%p5 bra S;\nmbarrier.init.b64 [smem+8192], 1;\nS: bar.sync 0;\n"
         "ld.shared.u32 %r7, [smem+8200];\nsetp.ne.u32 %p5, %r62, 0;\n@%p5 bra M;\nmov.pred %p6, 0;\n"
         "tcgen05.mma.cta_group::1.kind::f16 [%r7], %d1, %d1, 0x08080490, %p6;\nmov.pred %p6, 1;\n"
         "tcgen05.mma.cta_group::1.kind::f16.collector::a::discard [%r7], %d1, %d1, 0x08080490, %p6;\n"
         "mov.u32 %r8, smem;\nadd.u32 %r8, %r8, 8192;\ncvt.u64.u32 %d5, %r8;\ntcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%d5];\n"
         "M: mbarrier.try_wait.parity.b64 %p2, [smem+8192], 0;\n@!%p2 bra M;\ntcgen05.fence::after_thread_sync;\nshl.b32 %r9, %r62, 16;\nand.b32 %r9, %r9, 0x600000;\nadd.u32 %r9, %r9, %r7;\n"
         "tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r10, %r11, %r12, %r13}, [%r9];\n" + after +
         "bar.sync 0;\n@%p4 bra E;\ntcgen05.dealloc.cta_group::1.sync.aligned.b32 %r7, 32;\nE:";
}

TEST(EmulatorTcgen05, MultipliesAndLoads) {
  Kernel k = ones(tcgen("tcgen05.wait::ld.sync.aligned;\nst.global.v4.b32 [%d61], {%r10, %r11, %r12, %r13};\n"), "sm_100a");
  for (uint64_t seed = 0; seed < 8; ++seed) {
    k.options.seed = seed;
    Outcome o = run(k);
    ASSERT_EQ(o.error(), "");
    for (unsigned n = 0; n < 512; ++n)
      EXPECT_EQ(o.outF(n), 32.0f) << n;
  }
}

TEST(EmulatorTcgen05, LoadedRegistersNeedTheWait) {
  expectRegisterError(tcgen("mov.b32 %r14, %r10;\ntcgen05.wait::ld.sync.aligned;\nst.global.v4.b32 [%d61], {%r14, %r11, %r12, %r13};\n"), "sm_100a",
                      "still writes, expected tcgen05.wait::ld");
  expectRegisterError(tcgen("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r10}, [%r9];\ntcgen05.wait::ld.sync.aligned;\n"), "sm_100a",
                      "still uses, expected tcgen05.wait::ld");
}

TEST(EmulatorTcgen05, Misuse) {
  struct Case { std::string body, message; } cases[] = {
      {"tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r10}, [%r5];", "allocated no tensor memory"},
      {"setp.ge.u32 %p4, %r62, 32;\n@%p4 exit;\ntcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [smem+8200], 48;", "power of two"},
      {"setp.ge.u32 %p4, %r62, 32;\n@%p4 exit;\ntcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [smem+8200], 64;", "without deallocating"},
      {"setp.ge.u32 %p4, %r62, 32;\n@%p4 exit;\ntcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [smem+8200], 64;\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%r10}, [%r5];\ntcgen05.wait::ld.sync.aligned;", "which nothing has written"},
      {"setp.ge.u32 %p4, %r62, 32;\n@%p4 exit;\ntcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [smem+8200], 32;\nadd.u32 %r5, %r5, 60;\ntcgen05.st.sync.aligned.32x32b.x1.b32 [%r5], {%r10};\ntcgen05.wait::st.sync.aligned;", "not allocated"},
      {"setp.ge.u32 %p4, %r62, 32;\n@%p4 exit;\ntcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [smem+8200], 512;\ntcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [smem+8204], 32;", "tensor memory that another warp must free"},
      {"setp.ge.u32 %p4, %r62, 32;\n@%p4 exit;\ntcgen05.dealloc.cta_group::1.sync.aligned.b32 %r5, 32;", "that tcgen05.alloc gave"},
  };
  for (const auto &c : cases) {
    Kernel k = ones(c.body, "sm_100a");
    k.body += "";
    Outcome o = run(k);
    std::string text = o.parse.message.empty() ? o.report.text() : o.parse.text();
    EXPECT_NE(text.find(c.message), std::string::npos) << c.body << ": " << text;
  }
  Kernel k = ones("tcgen05.wait::ld.sync.aligned;", "sm_120a");
  EXPECT_EQ(run(k).kind(), ErrorKind::Unsupported);
}

TEST(EmulatorTcgen05, WeightStationary) {
  // M 64, N 64: row r of columns 32 to 63 lies in lane 64 + r.
  std::string text = tcgen("tcgen05.wait::ld.sync.aligned;\nst.global.v4.b32 [%d61], {%r10, %r11, %r12, %r13};\n");
  auto swap = [&](const std::string &from, const std::string &to) {
    size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  };
  swap("tcgen05.mma.cta_group::1.kind::f16 [%r7], %d1, %d1, 0x08080490, %p6;", "tcgen05.mma.ws.cta_group::1.kind::f16 [%r7], %d1, %d1, 0x04100490, %p6;");
  swap("tcgen05.mma.cta_group::1.kind::f16.collector::a::discard [%r7], %d1, %d1, 0x08080490, %p6;",
       "mov.u64 %d9, 0;\ntcgen05.mma.ws.cta_group::1.kind::f16.collector::b2::lastuse [%r7], %d1, %d1, 0x04100490, %p6, %d9;");
  Kernel k = ones(text, "sm_100a");
  for (uint64_t seed = 0; seed < 4; ++seed) {
    k.options.seed = seed;
    Outcome o = run(k);
    ASSERT_EQ(o.error(), "");
    for (unsigned n = 0; n < 512; ++n)
      EXPECT_EQ(o.outF(n), 32.0f) << n;
  }
  swap("mov.u64 %d9, 0;", "mov.u64 %d9, 0x8000000000;");
  EXPECT_NE(run(ones(text, "sm_100a")).error().find("masks are not emulated"), std::string::npos);
  EXPECT_EQ(run(ones("tcgen05.shift.cta_group::1.down [%r7];", "sm_100a")).kind(), ErrorKind::Parse);
  EXPECT_EQ(run(ones("tcgen05.mma.cta_group::1.kind::f16.ashift [%r7], [%r7], %d1, %r1, %p6;", "sm_100a")).kind(), ErrorKind::Parse);
}
