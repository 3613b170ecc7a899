//===- Common.h - schedules known to be legal -----------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_UNIT_TUNING_COMMON_H
#define HEDDLE_TEST_UNIT_TUNING_COMMON_H

#include "heddle/Tuning/Schedule.h"
#include <gtest/gtest.h>

namespace heddle::tuning {

inline const target::Target &targetNamed(std::string_view name) {
  const target::Target *t = target::findTarget(name);
  EXPECT_NE(t, nullptr) << name;
  return *t;
}

inline const target::Chip &chipNamed(std::string_view name) {
  const target::Chip *c = target::findChip(name);
  EXPECT_NE(c, nullptr) << name;
  return *c;
}

/// 128x256x64, two consumer warpgroups: runs on an H200.
inline Schedule hopperSchedule() {
  Schedule s;
  s.tileM = 128, s.tileN = 256, s.tileK = 64, s.stages = 4;
  s.loadWarps = 4, s.mmaWarps = 8, s.loadRegisters = 40, s.mmaRegisters = 232;
  return s;
}

inline Schedule blackwellSchedule() {
  Schedule s;
  s.tileM = 128, s.tileN = 256, s.tileK = 64, s.stages = 4;
  s.loadWarps = 2, s.mmaWarps = 2, s.epilogueWarps = 4, s.accStages = 2;
  return s;
}

inline Schedule ampereSchedule() {
  Schedule s;
  s.tileM = 128, s.tileN = 128, s.tileK = 64, s.stages = 4;
  s.loadWarps = 4, s.mmaWarps = 8, s.copy = target::CopyEngine::Async;
  return s;
}

inline GemmProblem square(int64_t size) {
  GemmProblem p;
  p.m = p.n = p.k = size;
  return p;
}

/// Legal, or the reason in the failure's text.
inline ::testing::AssertionResult legal(const Schedule &s, const GemmProblem &p,
                                        const target::Target &t) {
  if (auto r = check(s, p, t))
    return ::testing::AssertionFailure() << r->name << ": " << r->detail;
  return ::testing::AssertionSuccess();
}

/// Rejected under `name`, with every one of `parts` in the detail.
inline ::testing::AssertionResult rejected(const Schedule &s, const GemmProblem &p,
                                           const target::Target &t, std::string_view name,
                                           std::vector<std::string> parts = {}) {
  auto r = check(s, p, t);
  if (!r)
    return ::testing::AssertionFailure() << "legal: " << toString(s);
  if (r->name != name)
    return ::testing::AssertionFailure() << r->name << ": " << r->detail;
  for (const std::string &part : parts)
    if (r->detail.find(part) == std::string::npos)
      return ::testing::AssertionFailure() << "no '" << part << "' in: " << r->detail;
  return ::testing::AssertionSuccess();
}

} // namespace heddle::tuning

#endif // HEDDLE_TEST_UNIT_TUNING_COMMON_H
