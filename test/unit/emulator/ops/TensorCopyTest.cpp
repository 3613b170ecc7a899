//===- TensorCopyTest.cpp - tensor copies by tensor maps -----------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Boxes, swizzles and fills are tested in tensor/; here: instructions, barriers, multicast.
#include "../Harness.h"
#include "runtime/emulator/tensor/TensorMap.h"

using namespace heddle::emulator;
using namespace heddle::emulator::test;
namespace tensor = heddle::emulator::tensor;

/// Input: the map in words 0..31, then 16 rows of 16 words; element (r, c) = 100 r + c.
static Kernel kernel(const std::string &body, tensor::MapSwizzle swizzle = tensor::MapSwizzle::None) {
  Kernel k;
  k.threads = 1;
  k.shared = 4096;
  k.input.resize(32 + 256);
  for (uint32_t r = 0; r < 16; ++r)
    for (uint32_t c = 0; c < 16; ++c)
      k.input[32 + r * 16 + c] = 100 * r + c;
  k.prepare = [swizzle](Device &, DevicePtr out, DevicePtr in, std::vector<uint32_t> &input) {
    (void)out;
    tensor::TensorMap m;
    m.type = tensor::MapType::U32;
    m.rank = 2;
    m.address = in + 128;
    m.dims = {16, 16};
    m.strides = {4, 64};
    m.box = {8, 4};
    m.swizzle = swizzle;
    tensor::TensorMapBytes bytes;
    auto problem = tensor::encodeTensorMap(m, bytes);
    ASSERT_FALSE(problem) << *problem;
    std::memcpy(input.data(), bytes.data(), 128);
  };
  k.body = body;
  return k;
}
static const std::string untilFull = "X: mbarrier.try_wait.parity.b64 %p2, [smem], 0;\n@!%p2 bra X;\n";

TEST(EmulatorTensorCopy, LoadsABoxWithFill) {
  Kernel k = kernel("mbarrier.init.b64 [smem], 1;\nmov.u32 %r1, smem;\nmbarrier.arrive.expect_tx.shared.b64 _, [smem], 128;\nmov.u32 %r2, 12;\nmov.u32 %r3, -1;\n"
                    "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r1+128], [%d63, {%r2, %r3}], [smem];\n" + untilFull +
                    "ld.shared.u32 %r4, [smem+128];\nld.shared.u32 %r5, [smem+164];\nld.shared.u32 %r6, [smem+176];\nst.global.v4.u32 [%d61], {%r4, %r5, %r6, %r1};");
  k.outWords = 4;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    k.options.seed = seed;
    Outcome o = run(k);
    ASSERT_EQ(o.error(), "");
    EXPECT_EQ(o.out[0], 0u);   // row -1
    EXPECT_EQ(o.out[1], 13u);  // row 0, column 13
    EXPECT_EQ(o.out[2], 0u);   // column 16
  }
}

TEST(EmulatorTensorCopy, StoresAndReduces) {
  Kernel k = kernel("mbarrier.init.b64 [smem], 1;\nmov.u32 %r1, smem;\nmbarrier.arrive.expect_tx.shared.b64 _, [smem], 128;\nmov.u32 %r2, 0;\nmov.u32 %r3, 4;\n"
                    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1+128], [%d63, {%r2, %r3}], [smem];\n" + untilFull +
                    "mov.u32 %r3, 8;\ncp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%d63, {%r2, %r3}], [%r1+128];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"
                    "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%d63, {%r2, %r3}], [%r1+128];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\ncp.async.bulk.wait_group 0;\n"
                    "ld.global.u32 %r4, [%d63+652];\nst.global.u32 [%d61], %r4;"); // row 8, column 3: 128 + 8 * 64 + 12
  for (uint64_t seed = 0; seed < 8; ++seed) {
    k.options.seed = seed;
    Outcome o = run(k);
    ASSERT_EQ(o.error(), "");
    EXPECT_EQ(o.out[0], 806u);
  }
}

TEST(EmulatorTensorCopy, MulticastSignalsEveryBlock) {
  Kernel k = kernel("mbarrier.init.b64 [smem], 1;\nmov.u32 %r1, smem;\nmov.u32 %r7, %cluster_ctarank;\nfence.mbarrier_init.release.cluster;\nmbarrier.arrive.expect_tx.shared.b64 _, [smem], 128;\n"
                    "barrier.cluster.arrive;\nbarrier.cluster.wait;\nsetp.ne.u32 %p1, %r7, 1;\n@%p1 bra X;\nmov.u32 %r2, 8;\nmov.u16 %h1, 5;\nadd.u32 %r8, %r1, 128;\n"
                    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r8], [%d63, {%r2, %r2}], [%r1], %h1;\n" +
                    std::string("X: setp.eq.u32 %p3, %r7, 1;\n@%p3 bra E;\nsetp.eq.u32 %p3, %r7, 3;\n@%p3 bra E;\nY: mbarrier.try_wait.parity.b64 %p2, [smem], 0;\n@!%p2 bra Y;\n") +
                    "ld.shared.u32 %r4, [smem+128];\nst.global.u32 [%d61], %r4;\nE: barrier.cluster.arrive;\nbarrier.cluster.wait;");
  k.blocks = 4;
  k.cluster = 4;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    k.options.seed = seed;
    Outcome o = run(k);
    ASSERT_EQ(o.error(), "");
    EXPECT_EQ(o.out[0], 808u);
    EXPECT_EQ(o.out[2], 808u);
    EXPECT_EQ(o.out[1], 0u);
  }
}

TEST(EmulatorTensorCopy, Misuse) {
  struct Case { std::string body, message; } cases[] = {
      {"mov.u32 %r1, smem;\nmbarrier.init.b64 [smem], 1;\ncp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r1+64], [%d63, {0, 0}], [smem];", "multiple of 128"},
      {"mov.u32 %r1, smem;\nmbarrier.init.b64 [smem], 1;\ncp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r1+128], [%d63, {0, 0, 0}], [smem];", "expected a tensor map of rank 3, got 2"},
      {"mov.u32 %r1, smem;\nmbarrier.init.b64 [smem], 1;\nadd.u64 %d1, %d63, 128;\ncp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r1+128], [%d1, {0, 0}], [smem];", "bad tensor map"},
      {"mov.u32 %r1, smem;\nmbarrier.init.b64 [smem], 1;\nadd.u64 %d1, %d63, 8;\ncp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r1+128], [%d1, {0, 0}], [smem];", "multiple of 64"},
      {"mov.u32 %r1, smem;\ncp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r1+128], [%d63, {0}], [smem];", "expected 2 coordinates"},
      {"mov.u32 %r1, smem;\nmbarrier.init.b64 [smem], 1;\ncp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r1+128], [%d63, {0, 0}], [smem];", "exits while an asynchronous operation"},
  };
  for (const auto &c : cases) {
    Kernel k = kernel(c.body);
    k.options.schedule = Schedule::LateAsync;
    EXPECT_NE(run(k).error().find(c.message), std::string::npos) << c.body << ": " << run(k).error();
  }
}
