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

TEST(EmulatorTensorCopy, GathersAndScattersFourRows) {
  Kernel k = kernel("mbarrier.init.b64 [smem], 1;\nmov.u32 %r1, smem;\nmbarrier.arrive.expect_tx.shared.b64 _, [smem], 128;\nmov.u32 %r2, 4;\nmov.u32 %r3, 9;\nmov.u32 %r4, 2;\nmov.u32 %r5, 15;\nmov.u32 %r6, -3;\n"
                    "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%r1+128], [%d63, {%r2, %r3, %r4, %r5, %r6}], [smem];\n" + untilFull +
                    "ld.shared.u32 %r10, [smem+128];\nld.shared.u32 %r11, [smem+164];\nld.shared.u32 %r12, [smem+192];\nld.shared.u32 %r13, [smem+224];\nst.global.v4.u32 [%d61], {%r10, %r11, %r12, %r13};\n"
                    "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%d63, {%r2, %r4, %r3, %r6, %r5}], [%r1+128];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"
                    "ld.global.u32 %r10, [%d63+272];\nld.global.u32 %r11, [%d63+1104];\nst.global.v2.u32 [%d61+16], {%r10, %r11};"); // (2, 4) and (15, 4)
  auto prepare = k.prepare;
  k.target = "sm_100a";
  k.outWords = 6;
  k.prepare = [](Device &, DevicePtr, DevicePtr in, std::vector<uint32_t> &input) {
    tensor::TensorMap m;
    m.type = tensor::MapType::U32;
    m.rank = 2;
    m.address = in + 128;
    m.dims = {16, 16};
    m.strides = {4, 64};
    m.box = {8, 1};
    tensor::TensorMapBytes bytes;
    ASSERT_FALSE(tensor::encodeTensorMap(m, bytes));
    std::memcpy(input.data(), bytes.data(), 128);
  };
  for (uint64_t seed = 0; seed < 8; ++seed) {
    k.options.seed = seed;
    Outcome o = run(k);
    ASSERT_EQ(o.error(), "");
    EXPECT_EQ(std::vector<uint32_t>(o.out.begin(), o.out.end()), (std::vector<uint32_t>{904, 205, 1504, 0, 904, 0}));
  }
  k.target = "sm_90a";
  EXPECT_EQ(run(k).kind(), ErrorKind::Unsupported);
  k.target = "sm_100a";
  k.prepare = prepare; // a box of four rows
  EXPECT_NE(run(k).error().find("a box of one row"), std::string::npos);
}

TEST(EmulatorTensorCopy, Im2colLoadsPixels) {
  // C 4 (u32), W 4, H 4: two pixels from base pixel (3, 0) with offset (0, 1): (3, 1) and, in the next row of base pixels, (0, 2).
  Kernel k = kernel("mbarrier.init.b64 [smem], 1;\nmov.u32 %r1, smem;\nmbarrier.arrive.expect_tx.shared.b64 _, [smem], 32;\nmov.u32 %r2, 0;\nmov.u32 %r3, 3;\nmov.u16 %h1, 0;\nmov.u16 %h2, 1;\n"
                    "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1+128], [%d63, {%r2, %r3, %r2, %r2}], [smem], {%h1, %h2};\n" + untilFull +
                    "ld.shared.u32 %r10, [smem+132];\nld.shared.u32 %r11, [smem+148];\nst.global.v2.u32 [%d61], {%r10, %r11};\n"
                    "mov.u32 %r3, 1;\ncp.reduce.async.bulk.tensor.4d.global.shared::cta.add.im2col_no_offs.bulk_group [%d63, {%r2, %r3, %r2, %r2}], [%r1+128];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"
                    "ld.global.u32 %r10, [%d63+148];\nst.global.u32 [%d61+8], %r10;");
  k.outWords = 4;
  k.prepare = [](Device &, DevicePtr, DevicePtr in, std::vector<uint32_t> &input) {
    tensor::TensorMap m;
    m.type = tensor::MapType::U32;
    m.im2col = true;
    m.rank = 4;
    m.address = in + 128;
    m.dims = {4, 4, 4, 1};
    m.strides = {4, 16, 64, 256};
    m.box = {4, 2};
    tensor::TensorMapBytes bytes;
    ASSERT_FALSE(tensor::encodeTensorMap(m, bytes));
    std::memcpy(input.data(), bytes.data(), 128);
  };
  for (uint64_t seed = 0; seed < 8; ++seed) {
    k.options.seed = seed;
    Outcome o = run(k);
    ASSERT_EQ(o.error(), "");
    EXPECT_EQ(o.out[0], k.input[32 + 16 + 12 + 1]);
    EXPECT_EQ(o.out[1], k.input[32 + 32 + 1]);
    EXPECT_EQ(o.out[2], k.input[32 + 4 + 1] + o.out[0]);
  }
  k.body = "cp.async.bulk.tensor.2d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1], [%d63, {%r2, %r3}], [smem], {%h1};";
  EXPECT_EQ(run(k).kind(), ErrorKind::Parse);
}

TEST(EmulatorTensorCopy, MapsAreReplacedAndPublished) {
  // The map goes to shared memory, gets another address, and back to global memory.
  Kernel k = kernel("mov.u32 %r1, smem;\nmov.u32 %r9, 0;\nC: cvt.u64.u32 %d1, %r9;\nadd.u64 %d2, %d63, %d1;\nld.global.u32 %r2, [%d2];\nadd.u32 %r3, %r1, %r9;\nst.shared.u32 [%r3+256], %r2;\nadd.u32 %r9, %r9, 4;\nsetp.lt.u32 %p1, %r9, 128;\n@%p1 bra C;\n"
                    "add.u64 %d3, %d63, 256;\nadd.u32 %r4, %r1, 256;\ntensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r4], %d3;\ntensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r4], 1, 2;\n"
                    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d63], [%r4], 128;\nfence.proxy.tensormap::generic.acquire.gpu [%d63], 128;\n"
                    "mbarrier.init.b64 [smem], 1;\nmbarrier.arrive.expect_tx.shared.b64 _, [smem], 64;\nmov.u32 %r2, 4;\n"
                    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1+512], [%d63, {%r2, %r2}], [smem];\n" + untilFull +
                    "ld.shared.u32 %r4, [smem+512];\nst.global.u32 [%d61], %r4;");
  Outcome o = run(k);
  ASSERT_EQ(o.error(), "");
  EXPECT_EQ(o.out[0], 604u); // two rows further
  k.target = "sm_80";
  EXPECT_EQ(run(k).kind(), ErrorKind::Unsupported);
  k = kernel("add.u64 %d3, %d63, 128;\ntensormap.replace.tile.fill_mode.global.b1024.b32 [%d3], 1;");
  EXPECT_EQ(run(k).kind(), ErrorKind::Operand); // no map
  k = kernel("add.u64 %d3, %d63, 64;\ntensormap.replace.tile.fill_mode.global.b1024.b32 [%d3], 1;");
  EXPECT_EQ(run(k).kind(), ErrorKind::Misaligned);
}
