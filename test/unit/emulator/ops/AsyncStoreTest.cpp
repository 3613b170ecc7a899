//===- AsyncStoreTest.cpp - st.async, red.async, st.bulk -----------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "../Harness.h"

using namespace heddle::emulator;
using namespace heddle::emulator::test;

/// Two blocks of one thread in a cluster; each has an mbarrier at 0 and 64 bytes of zeros at 64. %r3: the other
/// block's memory. `send` runs in both, then each waits for its own barrier's `bytes` and loads four words from 64.
static Kernel pair(const std::string &send, unsigned bytes) {
  Kernel k;
  k.threads = 1;
  k.blocks = k.cluster = 2;
  k.shared = 128;
  k.outWords = 4;
  k.body = "mov.u32 %r1, smem;\nmov.b32 %r4, 0;\nst.shared.v4.u32 [smem+64], {%r4, %r4, %r4, %r4};\nmbarrier.init.b64 [smem], 1;\nfence.mbarrier_init.release.cluster;\n"
           "mbarrier.arrive.expect_tx.shared.b64 _, [smem], " + std::to_string(bytes) + ";\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\nmov.u32 %r2, %cluster_ctarank;\n"
           "xor.b32 %r5, %r2, 1;\nmapa.shared::cluster.u32 %r3, %r1, %r5;\nadd.u32 %r6, %r3, 64;\n" + send +
           "\nX: mbarrier.try_wait.parity.b64 %p2, [smem], 0;\n@!%p2 bra X;\nld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [smem+64];\nst.global.v4.u32 [%d61], {%r10, %r11, %r12, %r13};\n"
           "barrier.cluster.arrive;\nbarrier.cluster.wait;";
  return k;
}
using Words = std::vector<uint32_t>;

TEST(EmulatorAsyncStore, WritesTheOtherBlockAndCountsBytes) {
  Kernel k = pair("add.u32 %r7, %r2, 70;\nst.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r6], %r7, [%r3];\nmov.u32 %r7, 0;\n"
                  "cvt.u64.u32 %d1, %r2;\nmov.u64 %d2, 9;\nadd.u32 %r6, %r6, 8;\nst.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u64 [%r6], %d2, [%r3];", 12);
  for (uint64_t seed = 0; seed < 12; ++seed) {
    k.options.seed = seed;
    Outcome o = run(k);
    ASSERT_EQ(o.error(), "");
    EXPECT_EQ(o.out, (Words{71, 0, 9, 0, 70, 0, 9, 0}));
  }
  k = pair("mov.f32 %f1, 0f3f800000;\nst.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%r6], {%f1, %f1, %f1, %f1}, [%r3];", 16);
  Outcome o = run(k);
  ASSERT_EQ(o.error(), "");
  EXPECT_EQ(o.out, Words(8, 0x3f800000));
}

TEST(EmulatorAsyncStore, ReducesInTheOtherBlock) {
  const std::string red = "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.";
  Kernel k = pair("mov.u32 %r7, 5;\n" + red + "add.u32 [%r6], %r7, [%r3];\n" + red + "add.u32 [%r6], %r7, [%r3];\nmov.s32 %r8, -4;\n" + red +
                  "min.s32 [%r6+4], %r8, [%r3];\n" + red + "inc.u32 [%r6+8], %r7, [%r3];\n" + red + "or.b32 [%r6+12], 6, [%r3];", 20);
  for (uint64_t seed = 0; seed < 12; ++seed) {
    k.options.seed = seed;
    Outcome o = run(k);
    ASSERT_EQ(o.error(), "");
    EXPECT_EQ(o.out, (Words{10, 0xfffffffc, 1, 6, 10, 0xfffffffc, 1, 6}));
  }
}

TEST(EmulatorAsyncStore, TooFewBytesIsADeadlock) {
  Kernel k = pair("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r6], %r2, [%r3];", 8);
  Outcome o = run(k);
  EXPECT_EQ(o.kind(), ErrorKind::Deadlock);
  EXPECT_NE(o.report.text().find("lacks 0 of 1 arrivals and 4 bytes"), std::string::npos) << o.report.text();
}

TEST(EmulatorAsyncStore, Misuse) {
  EXPECT_EQ(run(pair("add.u32 %r6, %r6, 2;\nst.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r6], %r2, [%r3];", 4)).kind(), ErrorKind::Misaligned);
  EXPECT_EQ(run(pair("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r6], %r2, [%r1];", 4)).kind(), ErrorKind::Operand);
  EXPECT_EQ(run(pair("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r6], %r2, [%r3+8];", 4)).kind(), ErrorKind::Barrier);
  Kernel k = pair("red.async.shared::cluster.mbarrier::complete_tx::bytes.min.s32 [%r6], %r2, [%r3];", 4);
  EXPECT_EQ(run(k).kind(), ErrorKind::Parse); // no .relaxed.cluster
  k = pair("st.async.release.gpu.global.b32 [%d62], %r2;", 4);
  EXPECT_EQ(run(k).kind(), ErrorKind::Unsupported); // sm_90a
}

TEST(EmulatorAsyncStore, ReleasesToGlobalMemory) {
  Kernel k;
  k.target = "sm_100a";
  k.threads = 4;
  k.outWords = 1;
  k.body = "st.async.release.gpu.global.b32 [%d61], %r62;\nbar.sync 0;\nred.async.release.sys.global.add.u32 [%d62], 3;\nst.async.mmio.release.sys.global.u32 [%d62+8], 44;";
  Outcome o = run(k);
  ASSERT_EQ(o.error(), "");
  EXPECT_EQ(o.out, (Words{12, 1, 44, 3}));
}

TEST(EmulatorAsyncStore, BulkClears) {
  Kernel k;
  k.target = "sm_100a";
  k.threads = 1;
  k.shared = 64;
  k.outWords = 2;
  k.body = "mov.u32 %r1, 7;\nst.shared.u32 [smem], %r1;\nst.shared.u32 [smem+40], %r1;\nmov.u64 %d1, 40;\nst.bulk.weak.shared::cta [smem], %d1, 0;\n"
           "ld.shared.u32 %r2, [smem+36];\nld.shared.u32 %r3, [smem+40];\nst.global.v2.u32 [%d61], {%r2, %r3};";
  Outcome o = run(k);
  ASSERT_EQ(o.error(), "");
  EXPECT_EQ(o.out, (Words{0, 7}));
  k.body = "mov.u64 %d1, 12;\nst.bulk.weak.shared::cta [smem], %d1, 0;";
  EXPECT_EQ(run(k).kind(), ErrorKind::Operand);
  k.body = "mov.u64 %d1, 128;\nst.bulk.weak.shared::cta [smem], %d1, 0;";
  EXPECT_EQ(run(k).kind(), ErrorKind::OutOfBounds);
  k.target = "sm_90a";
  EXPECT_EQ(run(k).kind(), ErrorKind::Unsupported);
}
