//===- ResultTest.cpp - dispatch and combine give the right bytes ---------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Tokens.h"

#include <gtest/gtest.h>

using namespace heddle::moe;

namespace {

const std::string targets[] = {"sm_80", "sm_89", "sm_90a", "sm_100a", "sm_103a", "sm_120a"};

void expectRight(const Job &job) {
  const Result result = run(job);
  EXPECT_EQ(result.error, "") << job.kernel << " " << result.entry << " on " << job.target << ", "
                              << job.world << " ranks of " << job.tokens << " tokens, seed "
                              << job.seed;
  for (const FaultRecord &fault : result.faults)
    EXPECT_EQ(fault.code, 0u);
}

void expectBoth(const Tokens &tokens, Job job) {
  job.kernel = "dispatch";
  expectRight(tokens.dispatch(job));
  job.kernel = "combine";
  expectRight(tokens.combine(job));
}

Tokens usual(unsigned world, int64_t tokens, Pattern pattern = Pattern::Mixed) {
  return {
      .world = world, .experts = 4, .top = 3, .tokens = tokens, .hidden = 72, .pattern = pattern};
}

} // namespace

/// Several launches in a row: counters go on from launch to launch.
TEST(Moe, EveryTarget) {
  for (const std::string &target : targets)
    expectBoth(usual(2, 21), {.target = target, .launches = 3});
}

TEST(Moe, RankCounts) {
  for (unsigned world : {1u, 2u, 3u, 4u, 8u})
    expectBoth(usual(world, 13), {.launches = 2, .seed = world});
}

TEST(Moe, Patterns) {
  for (Pattern pattern : {Pattern::Nowhere, Pattern::One, Pattern::All})
    for (const std::string &target : {"sm_80", "sm_90a"})
      expectBoth(usual(3, 11, pattern), {.target = target});
}

TEST(Moe, TokenCounts) {
  for (int64_t tokens : {0, 1, 2, 3, 4, 40})
    expectBoth(usual(2, tokens), {.launches = 2});
}

/// Tensors at odd addresses take the form that moves single elements.
TEST(Moe, Unaligned) {
  for (const std::string &target : {"sm_80", "sm_90a"})
    expectBoth(usual(2, 9), {.target = target, .shift = 1});
  EXPECT_EQ(run(usual(2, 9).dispatch({.kernel = "dispatch", .shift = 1})).entry,
            "dispatch__unaligned");
  EXPECT_EQ(run(usual(2, 9).dispatch({.kernel = "dispatch"})).entry, "dispatch");
}

TEST(Moe, RowsOfSeveralPieces) {
  for (const std::string &target : {"sm_80", "sm_90a"})
    for (int64_t hidden : {8, 64, 72, 200, 77}) {
      const Tokens tokens{.world = 3, .experts = 1, .top = 4, .tokens = 5, .hidden = hidden};
      expectRight(tokens.dispatch({.kernel = "dispatch_pieces", .target = target, .launches = 2}));
      expectRight(tokens.combine({.kernel = "combine_pieces", .target = target, .launches = 2}));
    }
}

TEST(Moe, OtherElements) {
  const Tokens bytes{.world = 2, .experts = 3, .top = 1, .tokens = 14, .hidden = 48};
  expectRight(bytes.dispatch({.kernel = "dispatch_bytes"}));
  const Tokens wide{.world = 4, .experts = 2, .top = 2, .tokens = 9, .hidden = 40};
  expectRight(wide.combine({.kernel = "combine_wide"}));
  expectRight(wide.combine({.kernel = "combine_wide", .target = "sm_80"}));
}

TEST(Moe, Lists) {
  for (const std::string &target : targets)
    expectRight(usual(2, 21).lists({.kernel = "lists", .target = target, .launches = 2}));
  for (unsigned world : {1u, 3u, 8u})
    for (int64_t tokens : {0, 1, 10, 11, 171, 700})
      expectRight(usual(world, tokens).lists({.kernel = "lists"}));
  for (Pattern pattern : {Pattern::Nowhere, Pattern::One, Pattern::All})
    expectRight(usual(3, 200, pattern).lists({.kernel = "lists"}));
}

TEST(Moe, Seeds) {
  for (uint64_t seed = 1; seed <= 6; ++seed)
    expectBoth(usual(4, 10), {.launches = 2, .seed = seed});
}
