//===- FaultTest.cpp - a rank that does not come --------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Tokens.h"

#include <gtest/gtest.h>

using namespace heddle::moe;

/// Every other rank ends by itself and says for whom it waited.
TEST(MoeFaults, ARankThatNeverLaunches) {
  for (const std::string target : {"sm_80", "sm_90a"})
    for (unsigned world : {2u, 4u})
      for (bool back : {false, true}) {
        const Tokens tokens{.world = world, .experts = 4, .top = 3, .tokens = 17, .hidden = 72};
        Job job{.kernel = back ? "combine" : "dispatch",
                .target = target,
                .deadline = 20'000,
                .missing = int(world) - 1};
        const Result result = run(back ? tokens.combine(job) : tokens.dispatch(job));
        EXPECT_EQ(result.error, "") << job.kernel << " on " << target;
        ASSERT_EQ(result.faults.size(), world);
        for (unsigned r = 0; r + 1 < world; ++r) {
          EXPECT_EQ(result.faults[r].code, 1u) << job.kernel << " rank " << r;
          if (world == 2) {
            EXPECT_EQ(result.faults[r].peer, world - 1);
          }
        }
        EXPECT_EQ(result.faults[world - 1].code, 0u);
      }
}
