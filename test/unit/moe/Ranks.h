//===- Ranks.h - a kernel on emulated ranks ---------------------*- C++ -*-===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plays the runtime: memory for every rank, the communicator's block (docs/communication.md),
// parameters and grid as the package says, race checks on. Elements are small integers; what is
// not expected to change, around tensors and in them, is compared as well.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_MOE_RANKS_H
#define HEDDLE_TEST_MOE_RANKS_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace heddle::moe {

/// An element's value; none: it stays as it was.
using Value = std::optional<int>;

struct Job {
  std::string kernel = {}, target = "sm_90a";
  unsigned world = 2;
  int64_t tokens = 0, hidden = 0; ///< run-time sizes, where the kernel has them
  std::string form = {};          ///< the entry's suffix; empty: the first that fits
  unsigned shift = 0;             ///< elements by which tensors are out of line
  unsigned launches = 1;
  uint64_t seed = 0;
  uint64_t deadline = 1'000'000'000'000; ///< of a wait, in the emulator's nanoseconds
  int missing = -1;                      ///< this rank never launches
  /// Element i of input `arg` of a rank, and of an output after a launch.
  std::function<int(unsigned launch, unsigned rank, unsigned arg, int64_t i)> input = {};
  std::function<Value(unsigned launch, unsigned rank, unsigned arg, int64_t i)> output = {};
};

struct FaultRecord {
  uint32_t code, peer, channel, role;
  uint64_t expected, found, epoch;
  uint32_t wait, unused[5];
};

struct Result {
  std::string error; ///< empty: ran, and every byte is right
  std::string entry; ///< what was launched
  std::vector<FaultRecord> faults;
};

Result run(const Job &job);

} // namespace heddle::moe

#endif // HEDDLE_TEST_MOE_RANKS_H
