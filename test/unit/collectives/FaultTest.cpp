//===- FaultTest.cpp - a rank that does not come --------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every other rank ends by itself and says for whom it waited, whatever its roles were doing.
//
//===----------------------------------------------------------------------===//
#include "Group.h"

#include <gtest/gtest.h>

using namespace heddle::collectives;

namespace {
const std::string kernels[] = {"gather", "swap", "scatter", "reduce", "spread", "meet"};

void expectFaults(Job job, uint32_t code) {
  job.deadline = 20'000;
  Result result = run(job);
  EXPECT_EQ(result.error, "") << job.kernel << " on " << job.target;
  ASSERT_EQ(result.faults.size(), job.world);
  for (unsigned r = 0; r < job.world; ++r) {
    const FaultRecord &fault = result.faults[r];
    if (static_cast<int>(r) == job.missing) {
      EXPECT_EQ(fault.code, 0u);
      continue;
    }
    EXPECT_EQ(fault.code, code) << job.kernel << " rank " << r;
    EXPECT_EQ(fault.epoch, 1u);
    EXPECT_EQ(fault.expected, 1u);
    EXPECT_EQ(fault.found, 0u);
    if (job.missing >= 0 && job.world == 2) {
      EXPECT_EQ(fault.peer, static_cast<uint32_t>(job.missing));
    }
  }
}
} // namespace

TEST(CollectiveFaults, ARankThatNeverLaunches) {
  for (const char *target : {"sm_80", "sm_90a", "sm_100a"})
    for (const std::string &kernel : kernels)
      for (unsigned world : {2u, 4u})
        expectFaults({.kernel = kernel,
                      .target = target,
                      .world = world,
                      .size = 2000,
                      .missing = int(world) - 1},
                     1);
  expectFaults({.kernel = "reduce", .world = 3, .size = 2000, .form = "__two_shot", .missing = 0},
               1);
}

/// Told to stop, a rank that waits for another one stops long before its deadline.
TEST(CollectiveFaults, AbortWord) {
  for (const std::string &kernel : kernels) {
    Job job{.kernel = kernel, .world = 2, .size = 2000, .missing = 1, .aborted = true};
    Result result = run(job);
    EXPECT_EQ(result.error, "") << kernel;
    EXPECT_EQ(result.faults[0].code, 2u) << kernel;
    EXPECT_EQ(result.faults[0].peer, 1u) << kernel;
  }
}
