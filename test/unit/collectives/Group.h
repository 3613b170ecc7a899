//===- Group.h - a collective on emulated ranks -----------------*- C++ -*-===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plays the runtime: memory for every rank, the communicator's block (docs/communication.md),
// parameters and grid as the package says, race checks on. Elements are small integers, so that
// every sum is exact; bytes around each tensor are a pattern that nothing may touch.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_COLLECTIVES_GROUP_H
#define HEDDLE_TEST_COLLECTIVES_GROUP_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace heddle::collectives {

struct Job {
  std::string kernel, target = "sm_90a";
  unsigned world = 2;
  int64_t size = 0;      ///< elements of a rank's part
  std::string form = {}; ///< the entry's suffix, e.g. "__unaligned"; empty: the first that fits
  unsigned shift = 0;    ///< elements by which tensors are out of line
  unsigned launches = 1; ///< one after the other, with different inputs
  uint64_t seed = 0;
  bool races = true;
  unsigned multiprocessors = 8;
  uint64_t deadline = 1'000'000'000'000; ///< of a wait, in the emulator's nanoseconds
  int missing = -1;                      ///< this rank never launches
  bool aborted = false;                  ///< the abort word is set from the start
  std::function<std::string(const std::string &ptx, const std::string &entry)> change = {};
};

struct FaultRecord {
  uint32_t code, peer, channel, role;
  uint64_t expected, found, epoch;
  uint32_t wait, unused[5];
};

struct Result {
  std::string error;               ///< empty: ran, and every byte is right
  std::string entry;               ///< what was launched
  std::vector<FaultRecord> faults; ///< of each rank, code 0: none
};

Result run(const Job &job);

} // namespace heddle::collectives

#endif // HEDDLE_TEST_COLLECTIVES_GROUP_H
