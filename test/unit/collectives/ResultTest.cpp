//===- ResultTest.cpp - collectives give the right bytes ------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Group.h"

#include <gtest/gtest.h>

using namespace heddle::collectives;

namespace {

const std::string kernels[] = {"gather", "swap", "scatter", "reduce", "spread"};
const std::string targets[] = {"sm_80", "sm_89", "sm_90a", "sm_100a", "sm_103a", "sm_120a"};

void expectRight(const Job &job) {
  Result result = run(job);
  EXPECT_EQ(result.error, "") << job.kernel << " " << result.entry << " on " << job.target << ", "
                              << job.world << " ranks of " << job.size << " elements, seed "
                              << job.seed;
  for (const FaultRecord &fault : result.faults)
    EXPECT_EQ(fault.code, 0u);
}

/// The entry that a job launches.
std::string formOf(Job job) {
  job.races = false;
  return run(job).entry;
}

} // namespace

/// Several launches in a row: counters go on from launch to launch.
TEST(Collectives, EveryTarget) {
  for (const std::string &target : targets)
    for (const std::string &kernel : kernels)
      expectRight({.kernel = kernel, .target = target, .world = 2, .size = 1000, .launches = 3});
}

/// A few bytes, as words that carry the launch's number.
TEST(Collectives, Packets) {
  for (const std::string &target : targets)
    for (const std::string &kernel : kernels)
      for (unsigned world : {2u, 3u})
        for (int64_t size : {8, 136, 384})
          if (kernel != "spread")
            expectRight({.kernel = kernel,
                         .target = target,
                         .world = world,
                         .size = size,
                         .form = "__packets",
                         .launches = 4,
                         .seed = world});
  EXPECT_EQ(formOf({.kernel = "gather", .size = 384}), "gather__packets");
  EXPECT_EQ(formOf({.kernel = "gather", .size = 392}), "gather"); // 3 channels x 256 bytes
}

TEST(Collectives, RankCounts) {
  for (const std::string &kernel : kernels)
    for (unsigned world : {1u, 3u, 4u, 8u})
      if (world > 1 || kernel != "spread") // its root is rank 1
        expectRight({.kernel = kernel, .world = world, .size = 520, .launches = 2, .seed = world});
}

/// From one element to many chunks a channel, with tails of every kind.
TEST(Collectives, Sizes) {
  for (const std::string &target : {"sm_80", "sm_90a"})
    for (const std::string &kernel : kernels)
      for (int64_t size : {1, 7, 8, 63, 64, 128, 384, 385, 1021, 3000, 3001})
        expectRight({.kernel = kernel, .target = target, .world = 2, .size = size});
}

TEST(Collectives, BytesAndWideSums) {
  for (int64_t size : {1, 16, 100, 1040}) {
    expectRight({.kernel = "gather_bytes", .world = 3, .size = size});
    expectRight({.kernel = "reduce_wide", .world = 3, .size = size});
    expectRight({.kernel = "reduce_wide", .target = "sm_80", .world = 2, .size = size});
  }
}

/// Tensors at odd addresses, or of odd sizes, take the form that moves single elements.
TEST(Collectives, Unaligned) {
  for (const std::string &kernel : kernels) {
    expectRight({.kernel = kernel, .world = 2, .size = 136, .shift = 1});
    EXPECT_EQ(formOf({.kernel = kernel, .size = 136, .shift = 1}), kernel + "__unaligned");
    EXPECT_EQ(formOf({.kernel = kernel, .size = 137}), kernel + "__unaligned");
    EXPECT_EQ(formOf({.kernel = kernel, .size = 1000}), kernel);
  }
}

TEST(Collectives, TwoShots) {
  for (const std::string &target : targets)
    for (unsigned world : {2u, 3u, 5u})
      for (int64_t size : {8, 200, 2000})
        expectRight({.kernel = "reduce",
                     .target = target,
                     .world = world,
                     .size = size,
                     .form = "__two_shot",
                     .launches = 2});
}

/// With more ranks one shot moves too much: beyond a size two are taken.
TEST(Collectives, ShotsBySize) {
  EXPECT_EQ(formOf({.kernel = "reduce", .world = 4, .size = 262144}), "reduce");
  EXPECT_EQ(formOf({.kernel = "reduce", .world = 4, .size = 262152}), "reduce__two_shot");
}

TEST(Collectives, BarrierMeets) {
  for (unsigned world : {1u, 2u, 5u})
    expectRight({.kernel = "meet", .world = world, .launches = 3});
}

TEST(Collectives, Seeds) {
  for (uint64_t seed = 1; seed <= 5; ++seed)
    for (const std::string &kernel : kernels)
      expectRight({.kernel = kernel, .world = 4, .size = 776, .launches = 2, .seed = seed});
}
