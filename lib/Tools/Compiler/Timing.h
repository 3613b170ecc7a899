//===- Timing.h - how long each step takes ---------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_LIB_TOOLS_COMPILER_TIMING_H
#define HEDDLE_LIB_TOOLS_COMPILER_TIMING_H

#include <chrono>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace heddle::tools {

/// Sums of time by step, in the order in which steps were first seen. Thread-safe.
class Timing {
public:
  using Clock = std::chrono::steady_clock;

  /// Runs `step` and adds its time to `name`.
  template <typename F> auto measure(const char *name, F &&step) {
    struct Scope {
      Timing &timing;
      const char *name;
      Clock::time_point start = Clock::now();
      ~Scope() { timing.add(name, Clock::now() - start); }
    } scope{*this, name};
    return step();
  }

  void add(const std::string &name, Clock::duration time) {
    std::lock_guard lock(mutex);
    for (auto &[known, sum] : sums)
      if (known == name) {
        sum += time;
        return;
      }
    sums.emplace_back(name, time);
  }

  /// A line for the end of the report.
  void note(std::string line) {
    std::lock_guard lock(mutex);
    notes.push_back(std::move(line));
  }

  /// One line a step, and the wall time since `this` was made, then the notes.
  std::string report() const;

private:
  mutable std::mutex mutex;
  std::vector<std::pair<std::string, Clock::duration>> sums;
  std::vector<std::string> notes;
  Clock::time_point start = Clock::now();
};

} // namespace heddle::tools

#endif // HEDDLE_LIB_TOOLS_COMPILER_TIMING_H
