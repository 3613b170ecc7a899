//===- CheckTest.cpp - tests of the legality rules ------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Common.h"
#include <limits>

using namespace heddle;
using namespace heddle::tuning;
using target::CopyEngine;
using target::DType;
using Aligned = GemmProblem::Aligned;

static const target::Target &hopper() { return targetNamed("sm_90a"); }
static const target::Target &blackwell() { return targetNamed("sm_100a"); }
static const target::Target &ampere() { return targetNamed("sm_80"); }
static const target::Target &workstation() { return targetNamed("sm_120a"); }

TEST(Check, KnownGoodSchedulesAreLegal) {
  EXPECT_TRUE(legal(hopperSchedule(), square(8192), hopper()));
  EXPECT_TRUE(legal(blackwellSchedule(), square(8192), blackwell()));
  EXPECT_TRUE(legal(blackwellSchedule(), square(8192), targetNamed("sm_103a")));
  EXPECT_TRUE(legal(ampereSchedule(), square(8192), ampere()));
}

TEST(Check, Type) {
  GemmProblem p = square(512);
  p.a = p.b = DType::F8E4M3;
  EXPECT_TRUE(rejected(ampereSchedule(), p, ampere(), "type",
                       {"sm_80", "f8E4M3FN", "sm_89, sm_90a, sm_100a, sm_103a, sm_120a"}));
  p.a = DType::F16, p.b = DType::BF16;
  EXPECT_TRUE(rejected(hopperSchedule(), p, hopper(), "type", {"f16 and bf16"}));
  p = square(512);
  p.out = DType::TF32;
  EXPECT_TRUE(rejected(hopperSchedule(), p, hopper(), "type", {"f32, f16, bf16, f8E4M3FN"}));
  p.out = DType::F8E4M3;
  EXPECT_TRUE(legal(hopperSchedule(), p, hopper()));
  EXPECT_TRUE(rejected(ampereSchedule(), p, ampere(), "type",
                       {"sm_80", "f8E4M3FN", "sm_89, sm_90a, sm_100a, sm_103a, sm_120a"}));
}

TEST(Check, MixedEightBitTypesAreLegal) {
  GemmProblem p = square(512);
  p.a = DType::F8E4M3, p.b = DType::F8E5M2;
  Schedule s = hopperSchedule();
  s.tileN = 128, s.tileK = 128;
  EXPECT_TRUE(legal(s, p, hopper()));
}

TEST(Check, F32IsMultipliedAsTF32) {
  GemmProblem p = square(512);
  p.a = p.b = p.out = DType::F32;
  Schedule s = hopperSchedule();
  s.tileK = 32;
  EXPECT_TRUE(legal(s, p, hopper()));
}

TEST(Check, Cluster) {
  Schedule s = hopperSchedule();
  s.clusterM = 2;
  EXPECT_TRUE(legal(s, square(8192), hopper()));
  s.clusterN = 4;
  EXPECT_TRUE(legal(s, square(8192), hopper()));
  s.clusterM = 4;
  EXPECT_TRUE(rejected(s, square(8192), hopper(), "cluster", {"at most 8", "4 x 4"}));
  s.clusterM = 9;
  EXPECT_TRUE(rejected(s, square(8192), hopper(), "cluster", {"1 to 8 CTAs", "along M", "9"}));
  s = hopperSchedule();
  s.clusterN = 2, s.copy = CopyEngine::Threads;
  EXPECT_TRUE(rejected(s, square(8192), hopper(), "cluster", {"copy=bulk", "1 x 2"}));
  s = blackwellSchedule();
  s.clusterM = 8, s.tileN = 32;
  EXPECT_TRUE(rejected(s, square(8192), blackwell(), "cluster", {"32 rows", "B", "8 CTAs", "4 each"}));
  s = ampereSchedule();
  s.clusterN = 2;
  EXPECT_TRUE(rejected(s, square(8192), ampere(), "cluster", {"1 CTA", "sm_80", "not multicast"}));
}

TEST(Check, SplitK) {
  Schedule s = hopperSchedule();
  s.splitK = 4;
  EXPECT_TRUE(rejected(s, square(8192), hopper(), "accumulator-registers", {"at most 232", "288"}));
  s.tileN = 128;
  EXPECT_TRUE(legal(s, square(8192), hopper()));
  EXPECT_TRUE(rejected(s, square(128), hopper(), "split-k", {"each of 4 CTAs", "2 of 64"}));
  s.splitK = 17;
  EXPECT_TRUE(rejected(s, square(8192), hopper(), "split-k", {"1 to 16", "17"}));
  s.splitK = 2, s.store = StorePath::Bulk, s.storeStages = 1, s.stages = 3;
  EXPECT_TRUE(rejected(s, square(8192), hopper(), "split-k", {"store=direct", "split_k=2"}));
  s = blackwellSchedule();
  s.splitK = 2;
  EXPECT_TRUE(rejected(s, square(8192), blackwell(), "split-k", {"at most 128", "256"}));
  s.tileN = 128;
  EXPECT_TRUE(legal(s, square(8192), blackwell()));
}

// With swap everything that is about A is about B.
TEST(Check, SwapExchangesOperands) {
  Schedule s = hopperSchedule();
  s.tileN = 16, s.stages = 4, s.swap = 1;
  GemmProblem p = square(8192);
  p.m = 16;
  EXPECT_TRUE(legal(s, p, hopper()));
  p.aKMajor = false; // 16 rows of A are 32 bytes
  EXPECT_TRUE(rejected(s, p, hopper(), "k-swizzle", {"tile N", "N contiguous"}));
  p.aKMajor = true, p.out = DType::F8E4M3, p.a = p.b = DType::F8E4M3, s.tileK = 128;
  s.tileM = 64, s.mmaWarps = 4, s.store = StorePath::Bulk, s.storeStages = 1;
  s.loadRegisters = s.mmaRegisters = 0;
  EXPECT_TRUE(rejected(s, p, hopper(), "store-path", {"tile M", "128", "64"}));
  // A slot of the store: 128 columns of the result, 16 of its rows.
  p.out = DType::BF16, s.tileM = 128;
  EXPECT_EQ(sharedLayout(s, p).stagingBytes, 128 * 16 * 2);
  EXPECT_EQ(sharedLayout(s, p).aBytes, 128 * 128);
}

TEST(Check, TileMultiple) {
  Schedule s = hopperSchedule();
  s.tileM = 192;
  EXPECT_TRUE(rejected(s, square(512), hopper(), "tile-multiple", {"64", "2 warpgroups", "192"}));
  s.tileM = 32;
  EXPECT_TRUE(rejected(s, square(512), hopper(), "tile-multiple", {"64", "32"}));
  s = hopperSchedule();
  s.tileN = 100;
  EXPECT_TRUE(rejected(s, square(512), hopper(), "tile-multiple", {"multiple of 8, got 100"}));
  s.tileN = 264;
  EXPECT_TRUE(rejected(s, square(512), hopper(), "tile-multiple", {"from 1 to 256, got 264"}));
  for (int64_t bad : {int64_t{0}, int64_t{-64}, std::numeric_limits<int64_t>::max()}) {
    s = hopperSchedule();
    s.tileM = bad;
    EXPECT_TRUE(rejected(s, square(512), hopper(), "tile-multiple"));
  }
  s = blackwellSchedule();
  s.tileM = 64;
  EXPECT_TRUE(rejected(s, square(512), blackwell(), "tile-multiple", {"128", "64"}));
  s = blackwellSchedule();
  s.tileN = 24;
  EXPECT_TRUE(rejected(s, square(512), blackwell(), "tile-multiple", {"multiple of 16, got 24"}));
  s = ampereSchedule();
  s.tileM = 24;
  EXPECT_TRUE(rejected(s, square(512), ampere(), "tile-multiple", {"multiple of 16, got 24"}));
  s = ampereSchedule();
  s.mmaWarps = 7; // 128 x 128 does not divide by 7
  EXPECT_TRUE(rejected(s, square(512), ampere(), "tile-multiple", {"7 warps", "128 x 128"}));
}

TEST(Check, KSwizzle) {
  Schedule s = hopperSchedule();
  s.tileK = 32;
  EXPECT_TRUE(rejected(s, square(512), hopper(), "k-swizzle", {"128 bytes", "64 bytes"}));
  s.tileK = 128;
  EXPECT_TRUE(rejected(s, square(512), hopper(), "k-swizzle", {"256 bytes"}));
  GemmProblem p = square(512);
  p.bKMajor = false;
  s = hopperSchedule();
  s.tileN = 96; // 192 bytes: one and a half panels
  EXPECT_TRUE(rejected(s, p, hopper(), "k-swizzle", {"tile N", "192 bytes"}));
  s.tileN = 192;
  EXPECT_TRUE(legal(s, p, hopper()));
  p.bKMajor = true;
  s.tileN = 96;
  EXPECT_TRUE(legal(s, p, hopper()));
}

TEST(Check, Warps) {
  Schedule s = hopperSchedule();
  s.loadWarps = 1;
  EXPECT_TRUE(rejected(s, square(512), hopper(), "warps", {"load warps", "4", "1"}));
  s = hopperSchedule();
  s.mmaWarps = 6;
  EXPECT_TRUE(rejected(s, square(512), hopper(), "warps", {"mma warps", "6"}));
  s = hopperSchedule();
  s.epilogueWarps = 4;
  EXPECT_TRUE(rejected(s, square(512), hopper(), "warps", {"no epilogue warps"}));
  for (int bad : {0, -4, 33, std::numeric_limits<int>::max()}) {
    s = hopperSchedule();
    s.loadWarps = bad;
    EXPECT_TRUE(rejected(s, square(512), hopper(), "warps"));
    s = hopperSchedule();
    s.mmaWarps = bad;
    EXPECT_TRUE(rejected(s, square(512), hopper(), "warps"));
  }
  s = blackwellSchedule();
  s.epilogueWarps = 0;
  EXPECT_TRUE(rejected(s, square(512), blackwell(), "warps", {"4 epilogue warps", "got 0"}));
  s = blackwellSchedule();
  s.loadWarps = 1; // the epilogue would start at warp 3
  EXPECT_TRUE(rejected(s, square(512), blackwell(), "warps", {"multiple of 4", "got 3"}));
}

TEST(Check, StagesAndRaster) {
  Schedule s = hopperSchedule();
  for (int bad : {1, 0, -1, 33, std::numeric_limits<int>::max()}) {
    s.stages = bad;
    EXPECT_TRUE(rejected(s, square(512), hopper(), "stages", {"2 to 32"}));
  }
  s = hopperSchedule();
  s.accStages = 2;
  EXPECT_TRUE(rejected(s, square(512), hopper(), "stages", {"without tensor memory"}));
  s = blackwellSchedule();
  s.accStages = 3;
  EXPECT_TRUE(rejected(s, square(512), blackwell(), "stages", {"1 or 2"}));
  s = hopperSchedule();
  s.raster = 0;
  EXPECT_TRUE(rejected(s, square(512), hopper(), "raster", {"got 0"}));
}

TEST(Check, CopyEngine) {
  Schedule s = ampereSchedule();
  s.copy = CopyEngine::Bulk;
  EXPECT_TRUE(rejected(s, square(512), ampere(), "copy-engine", {"sm_80", "bulk tensor copies"}));
  GemmProblem p = square(512);
  p.loadAligned = Aligned::No;
  EXPECT_TRUE(rejected(hopperSchedule(), p, hopper(), "copy-engine", {"16 bytes", "copy=threads"}));
  EXPECT_TRUE(rejected(ampereSchedule(), p, ampere(), "copy-engine", {"asynchronous"}));
  p.loadAligned = Aligned::AtLaunch;
  EXPECT_TRUE(legal(hopperSchedule(), p, hopper()));
  p.loadAligned = Aligned::No;
  s = hopperSchedule();
  s.copy = CopyEngine::Threads;
  EXPECT_TRUE(legal(s, p, hopper()));
}

TEST(Check, GatheredRows) {
  GemmProblem p = square(512);
  p.gathers = true;
  EXPECT_TRUE(legal(hopperSchedule(), p, hopper()));
  EXPECT_TRUE(legal(ampereSchedule(), p, ampere()));
  Schedule s = hopperSchedule();
  s.clusterN = 2;
  EXPECT_TRUE(rejected(s, p, hopper(), "cluster", {"gathered", "got 2"}));
  s = blackwellSchedule();
  s.loadWarps = s.mmaWarps = 2;
  EXPECT_TRUE(rejected(s, p, blackwell(), "copy-engine", {"4 load warps", "got 2"}));
}

TEST(Check, OperandMajor) {
  GemmProblem p = square(512);
  p.a = p.b = DType::TF32, p.out = DType::F32, p.aKMajor = false;
  Schedule s = hopperSchedule();
  s.tileK = 32;
  EXPECT_TRUE(rejected(s, p, hopper(), "operand-major", {"A", "tf32", "copy=threads"}));
  s.copy = CopyEngine::Threads;
  EXPECT_TRUE(legal(s, p, hopper()));
  p.a = p.b = DType::F8E4M3, p.aKMajor = true, p.bKMajor = false, p.out = DType::BF16;
  Schedule b = blackwellSchedule();
  b.tileK = 128;
  EXPECT_TRUE(rejected(b, p, blackwell(), "operand-major", {"B", "f8E4M3FN", "N contiguous"}));
  p.a = p.b = DType::BF16, p.aKMajor = p.bKMajor = false;
  EXPECT_TRUE(legal(hopperSchedule(), p, hopper()));
  EXPECT_TRUE(legal(blackwellSchedule(), p, blackwell()));
}

TEST(Check, StorePath) {
  Schedule s = ampereSchedule();
  s.store = StorePath::Bulk, s.storeStages = 2;
  EXPECT_TRUE(rejected(s, square(512), ampere(), "store-path", {"sm_80"}));
  s = hopperSchedule();
  s.store = StorePath::Bulk, s.storeStages = 2;
  EXPECT_TRUE(legal(s, square(512), hopper()));
  s.storeStages = 0;
  EXPECT_TRUE(rejected(s, square(512), hopper(), "store-path", {"1 to 8", "got 0"}));
  s.storeStages = std::numeric_limits<int>::max();
  EXPECT_TRUE(rejected(s, square(512), hopper(), "store-path"));
  s.storeStages = 2, s.tileN = 96;
  EXPECT_TRUE(rejected(s, square(512), hopper(), "store-path", {"multiple of 64", "got 96"}));
  GemmProblem p = square(512);
  p.out = DType::F32; // 32 columns a slot
  EXPECT_TRUE(legal(s, p, hopper()));
  s = hopperSchedule();
  s.store = StorePath::Bulk, s.storeStages = 2;
  p = square(512);
  p.storeAligned = Aligned::No;
  EXPECT_TRUE(rejected(s, p, hopper(), "store-path", {"16 bytes", "store=direct"}));
  p.storeAligned = Aligned::AtLaunch;
  EXPECT_TRUE(legal(s, p, hopper()));
  s.store = StorePath::Direct;
  EXPECT_TRUE(rejected(s, p, hopper(), "store-path", {"0 store stages", "got 2"}));
}

TEST(Check, Threads) {
  Schedule s = ampereSchedule();
  s.loadWarps = 32, s.mmaWarps = 8;
  EXPECT_TRUE(rejected(s, square(512), ampere(), "threads", {"1024", "1280"}));
  s = ampereSchedule();
  s.ctasPerSM = 0;
  EXPECT_TRUE(rejected(s, square(512), ampere(), "threads", {"1 to 32", "got 0"}));
  s.ctasPerSM = 33;
  EXPECT_TRUE(rejected(s, square(512), ampere(), "threads", {"got 33"}));
  s.ctasPerSM = 6;
  EXPECT_TRUE(rejected(s, square(512), ampere(), "threads", {"64 warps", "72"}));
}

TEST(Check, TensorMemory) {
  Schedule s = blackwellSchedule();
  EXPECT_TRUE(legal(s, square(512), blackwell()));
  s.ctasPerSM = 2;
  EXPECT_TRUE(rejected(s, square(512), blackwell(), "tensor-memory", {"512", "1024"}));
  s.tileN = 144, s.stages = 2; // 288 columns, allocated as 512
  EXPECT_TRUE(rejected(s, square(512), blackwell(), "tensor-memory", {"512", "1024"}));
  s.tileN = 128, s.stages = 3; // 256 columns each
  EXPECT_TRUE(legal(s, square(512), blackwell()));
}

TEST(Layout, TensorMemoryColumnsArePowersOfTwo) {
  Schedule s = blackwellSchedule();
  EXPECT_EQ(tensorMemoryColumns(s), 512);
  s.tileN = 16, s.accStages = 1;
  EXPECT_EQ(tensorMemoryColumns(s), 32);
  s.tileN = 48;
  EXPECT_EQ(tensorMemoryColumns(s), 64);
  s.tileN = 96, s.accStages = 2;
  EXPECT_EQ(tensorMemoryColumns(s), 256);
}

TEST(Check, AccumulatorRegisters) {
  Schedule s = hopperSchedule();
  s.tileM = 256; // 256 accumulators a thread
  EXPECT_TRUE(rejected(s, square(512), hopper(), "accumulator-registers", {"232", "288"}));
  s.tileN = 192, s.stages = 3; // 192 fit a budget of 232
  EXPECT_TRUE(legal(s, square(512), hopper()));
  s.mmaRegisters = 216;
  EXPECT_TRUE(rejected(s, square(512), hopper(), "accumulator-registers", {"216", "224"}));
  // 8-bit operands keep a second set on wgmma.
  GemmProblem p = square(512);
  p.a = p.b = DType::F8E4M3;
  s = hopperSchedule();
  s.tileK = 128;
  EXPECT_TRUE(rejected(s, p, hopper(), "accumulator-registers", {"282"}));
  s.tileN = 192;
  EXPECT_TRUE(legal(s, p, hopper()));
  // mma.sync: 128x256 in 4 warps is 256 accumulators.
  s = ampereSchedule();
  s.tileN = 256, s.mmaWarps = 4, s.stages = 2;
  EXPECT_TRUE(rejected(s, square(512), ampere(), "accumulator-registers", {"255"}));
}

TEST(Check, PromotionAndScalesTakeRegisters) {
  // 256 x 128 in two warpgroups: 128 accumulators and one set of 64 partial sums for both blocks.
  GemmProblem p = square(4096);
  p.a = p.b = DType::F8E4M3;
  Schedule s = hopperSchedule();
  s.tileM = 256, s.tileN = 128, s.tileK = 128, s.stages = 3;
  EXPECT_EQ(mmaRegistersNeeded(s, p, hopper()), 128 + 64 + 26);
  EXPECT_TRUE(legal(s, p, hopper()));
  // Scales of 4 rows and of one block of columns, with what addresses take.
  p.scaleRowsA = 1, p.scaleRowsB = 128;
  EXPECT_EQ(mmaRegistersNeeded(s, p, hopper()), 128 + 64 + 26 + 7);
  // A scale a column: 32 of them.
  p.scaleRowsB = 1;
  EXPECT_TRUE(rejected(s, p, hopper(), "accumulator-registers", {"256"}));
  // In tensor memory the warps that read add up a row each, once there are scales.
  p = square(4096);
  p.a = p.b = DType::F8E4M3;
  Schedule b = blackwellSchedule();
  b.tileN = 256, b.tileK = 128, b.stages = 3;
  EXPECT_TRUE(legal(b, p, blackwell()));
  p.scaleRowsA = 1, p.scaleRowsB = 128;
  EXPECT_TRUE(rejected(b, p, blackwell(), "register-cap", {"255"}));
  b.tileN = 128;
  EXPECT_TRUE(legal(b, p, blackwell()));
}

TEST(Check, RegisterCap) {
  // 192 accumulators without moving registers: 168 are there.
  Schedule s = hopperSchedule();
  s.tileM = 256, s.tileN = 192, s.stages = 3, s.loadRegisters = s.mmaRegisters = 0;
  EXPECT_TRUE(rejected(s, square(512), hopper(), "register-cap", {"168", "384 threads", "224"}));
  // m64n256 ties up 154 registers; 512 threads have 128 at launch.
  s = hopperSchedule();
  s.loadWarps = 8, s.mmaRegisters = 200;
  EXPECT_TRUE(rejected(s, square(512), hopper(), "register-cap", {"128", "512 threads", "154"}));
  s.tileN = 192;
  EXPECT_TRUE(legal(s, square(512), hopper()));
  s = ampereSchedule();
  s.ctasPerSM = 2, s.stages = 2;
  EXPECT_TRUE(rejected(s, square(512), ampere(), "register-cap", {"80", "2 CTAs"}));
}

TEST(Check, SharedMemory) {
  Schedule s = hopperSchedule();
  s.stages = 5;
  EXPECT_TRUE(rejected(s, square(512), hopper(), "shared-memory",
                       {"232448", "246784", "1024 header + 5 stages x (16384 A + 32768 B)"}));
  s.stages = 4, s.store = StorePath::Bulk, s.storeStages = 2;
  EXPECT_TRUE(legal(s, square(512), hopper())); // 230400
  s.storeStages = 3;
  EXPECT_TRUE(rejected(s, square(512), hopper(), "shared-memory", {"246784"}));
  s = ampereSchedule();
  EXPECT_TRUE(rejected(s, square(512), targetNamed("sm_89"), "shared-memory", {"101376"}));
  // Each CTA fits, two do not: (3 x 32768 + 1024 + 1024) x 2.
  s.ctasPerSM = 2, s.stages = 3, s.mmaWarps = 4, s.tileM = s.tileN = 64, s.stages = 6;
  EXPECT_TRUE(rejected(s, square(512), ampere(), "shared-memory", {"167936", "200704", "2 CTAs"}));
  s.stages = 4;
  EXPECT_TRUE(legal(s, square(512), ampere()));
}

TEST(Check, EveryNameIsListedOnce) {
  auto names = rejectionNames();
  for (size_t i = 0; i < names.size(); ++i)
    for (size_t j = i + 1; j < names.size(); ++j)
      EXPECT_NE(names[i], names[j]);
}

//===----------------------------------------------------------------------===//
// The register pool
//===----------------------------------------------------------------------===//

TEST(RegisterPool, LaunchRegisters) {
  Schedule s = hopperSchedule();
  EXPECT_EQ(launchRegisters(s, hopper()), 168); // 384 threads
  s.loadWarps = 1;
  EXPECT_EQ(launchRegisters(s, hopper()), 168); // 288: warps are allocated by four
  s.loadWarps = 4, s.mmaWarps = 4;
  EXPECT_EQ(launchRegisters(s, hopper()), 255); // 256
  s.mmaWarps = 12;
  EXPECT_EQ(launchRegisters(s, hopper()), 128); // 512
  s.mmaWarps = 8, s.ctasPerSM = 2;
  EXPECT_EQ(launchRegisters(s, hopper()), 80);
  s = ampereSchedule();
  s.loadWarps = 1, s.mmaWarps = 1;
  EXPECT_EQ(launchRegisters(s, ampere()), 255);
}

// 40 + 2 x 240 = 520 > 504 hangs a real H200.
TEST(RegisterPool, RejectsWhatHangs) {
  Schedule s = hopperSchedule();
  s.mmaRegisters = 240;
  EXPECT_TRUE(rejected(s, square(512), hopper(), "register-pool",
                       {"504", "168", "520", "40 x 1 load + 240 x 2 mma"}));
  s.loadRegisters = 24;
  EXPECT_TRUE(legal(s, square(512), hopper())); // 24 + 2 x 240 = 504, exactly
  s.loadRegisters = 32;
  EXPECT_TRUE(rejected(s, square(512), hopper(), "register-pool", {"512"}));
}

TEST(RegisterPool, KnownBudgets) {
  for (auto [load, mma] : {std::pair{40, 232}, {24, 240}, {48, 224}, {56, 224}, {168, 168}}) {
    Schedule s = hopperSchedule();
    s.loadRegisters = load, s.mmaRegisters = mma;
    EXPECT_TRUE(legal(s, square(512), hopper())) << load << "/" << mma;
  }
}

// Exactly the sums up to 504 pass, over all values.
TEST(RegisterPool, TheBoundaryIsExact) {
  int legalOnes = 0;
  for (int load = 24; load <= 256; load += 8)
    for (int mma = 160; mma <= 248; mma += 8) {
      Schedule s = hopperSchedule();
      s.loadRegisters = load, s.mmaRegisters = mma;
      auto r = check(s, square(512), hopper());
      EXPECT_EQ(!r, load + 2 * mma <= 504) << load << "/" << mma;
      if (r) {
        EXPECT_EQ(r->name, "register-pool");
      }
      legalOnes += !r;
    }
  EXPECT_GT(legalOnes, 20);
}

TEST(RegisterPool, Granularity) {
  for (auto [load, mma] : {std::pair{44, 232},
                           {40, 230},
                           {16, 232},
                           {40, 264},
                           {0, 232},
                           {-8, 232},
                           {40, 0},
                           {1 << 30, 232}}) {
    Schedule s = hopperSchedule();
    s.tileN = 64; // few accumulators, so that only the pool objects
    s.loadRegisters = load, s.mmaRegisters = mma;
    EXPECT_TRUE(rejected(s, square(512), hopper(), "register-pool", {"multiple of 8"}))
        << load << "/" << mma;
  }
}

TEST(RegisterPool, NeedsTheFeatureAndWholeWarpgroups) {
  Schedule s = ampereSchedule();
  s.loadRegisters = 40, s.mmaRegisters = 232;
  EXPECT_TRUE(rejected(s, square(512), ampere(), "register-pool", {"sm_80", "40 and 232"}));
  s.copy = CopyEngine::Bulk, s.stages = 2, s.loadWarps = 2;
  EXPECT_TRUE(rejected(s, square(512), workstation(), "register-pool", {"load warps", "2"}));
  s.loadWarps = 4;
  EXPECT_TRUE(legal(s, square(512), workstation()));
}

TEST(RegisterPool, CountsWarpgroupsOfEachRole) {
  Schedule s = hopperSchedule();
  s.loadWarps = 8, s.tileN = 192; // 4 warpgroups of 128
  s.loadRegisters = 56, s.mmaRegisters = 200;
  EXPECT_TRUE(legal(s, square(512), hopper())); // 112 + 400 = 512
  s.mmaRegisters = 208;
  EXPECT_TRUE(rejected(s, square(512), hopper(), "register-pool",
                       {"512", "528", "56 x 2 load + 208 x 2 mma"}));
  // An epilogue in its own warps keeps what it had at launch.
  s = blackwellSchedule();
  s.loadWarps = 4, s.mmaWarps = 4, s.loadRegisters = 40, s.mmaRegisters = 240;
  EXPECT_TRUE(legal(s, square(512), blackwell())); // 40 + 240 + 168 <= 504
  s.loadRegisters = 104, s.mmaRegisters = 240;
  EXPECT_TRUE(
      rejected(s, square(512), blackwell(), "register-pool", {"504", "512", "168 x 1 epilogue"}));
}

TEST(RegisterPool, OneConsumerWarpgroup) {
  Schedule s = hopperSchedule();
  s.tileM = 64, s.mmaWarps = 4;
  for (auto [load, mma] : {std::pair{0, 0}, {40, 232}, {24, 240}, {248, 248}}) {
    s.loadRegisters = load, s.mmaRegisters = mma;
    EXPECT_TRUE(legal(s, square(512), hopper())) << load << "/" << mma;
  }
  // 255 at launch are 248 in whole units of 8: 256 + 248 is more than there is.
  s.loadRegisters = 256, s.mmaRegisters = 248;
  EXPECT_TRUE(rejected(s, square(512), hopper(), "register-pool", {"496", "504"}));
}

//===----------------------------------------------------------------------===//
// Shared memory and warps
//===----------------------------------------------------------------------===//

TEST(Layout, OffsetsAndTotal) {
  Schedule s = hopperSchedule();
  s.store = StorePath::Bulk, s.storeStages = 2;
  SharedLayout l = sharedLayout(s, square(512));
  EXPECT_EQ(l.aOffset, 1024);
  EXPECT_EQ(l.aBytes, 128 * 128);
  EXPECT_EQ(l.bOffset, 1024 + 4 * 16384);
  EXPECT_EQ(l.bBytes, 256 * 128);
  EXPECT_EQ(l.stagingOffset, 1024 + 4 * (16384 + 32768));
  EXPECT_EQ(l.stagingBytes, 128 * 128);
  EXPECT_EQ(l.total, 230400);
  EXPECT_EQ(sharedBytes(s, square(512), hopper()), 230400);
  s.store = StorePath::Direct;
  EXPECT_EQ(sharedLayout(s, square(512)).total, 197632); // as the kernel measured
  GemmProblem grouped = square(512);
  grouped.groups = 5; // first row, size and tiles before each, and all tiles
  EXPECT_EQ(sharedLayout(s, grouped).total, 197632 + 64);
}

TEST(Layout, SlotMajor) {
  GemmProblem p = square(512);
  p.aKMajor = false;
  Schedule s = hopperSchedule();
  EXPECT_FALSE(slotKMajor(s, p, true));
  EXPECT_TRUE(slotKMajor(s, p, false));
  s.copy = CopyEngine::Threads; // 16-bit operands need no transposition
  EXPECT_FALSE(slotKMajor(s, p, true));
  p.a = p.b = DType::TF32;
  EXPECT_TRUE(slotKMajor(s, p, true));
  s.copy = CopyEngine::Bulk;
  EXPECT_FALSE(slotKMajor(s, p, true));
}

TEST(Layout, WarpGrids) {
  auto grid = [](int64_t m, int64_t n, int warps, target::MmaFamily family) {
    Schedule s;
    s.tileM = m, s.tileN = n, s.mmaWarps = warps;
    WarpGrid g = warpGrid(s, family);
    return std::pair{g.m, g.n};
  };
  using target::MmaFamily;
  EXPECT_EQ(grid(128, 128, 4, MmaFamily::MmaSync), (std::pair{2, 2}));
  EXPECT_EQ(grid(128, 256, 8, MmaFamily::MmaSync), (std::pair{2, 4}));
  EXPECT_EQ(grid(64, 256, 4, MmaFamily::MmaSync), (std::pair{1, 4}));
  EXPECT_EQ(grid(64, 64, 4, MmaFamily::MmaSync), (std::pair{2, 2}));
  EXPECT_EQ(grid(16, 8, 1, MmaFamily::MmaSync), (std::pair{1, 1}));
  EXPECT_EQ(grid(16, 8, 2, MmaFamily::MmaSync), (std::pair{0, 0}));
  EXPECT_EQ(grid(128, 256, 8, MmaFamily::Wgmma), (std::pair{2, 1}));
  EXPECT_EQ(grid(256, 128, 8, MmaFamily::Wgmma), (std::pair{2, 1}));
  EXPECT_EQ(grid(64, 128, 8, MmaFamily::Wgmma), (std::pair{0, 0}));
  EXPECT_EQ(grid(128, 256, 2, MmaFamily::Tcgen05), (std::pair{1, 1}));
}
