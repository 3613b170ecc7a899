//===- Bench.h - candidates of one problem on a device --------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the child process of heddle-tune measure does. It tells its parent about each step in a
// JSON line, so that the parent knows which candidate a hang or a crash belongs to:
//
//   {"step":"device", "device", "emulated"}        opened
//   {"step":"begin", "candidate"}                  about to run one
//   {"step":"checked", "candidate", "error"}       its result is right
//   {"step":"failed", "candidate", "outcome", "detail"}
//   {"step":"time", "candidate", "us", "launches"} one round of one candidate
//   {"step":"fatal", "code", "detail"}             nothing can be measured
//   {"step":"done"}
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_LIB_MEASURE_BENCH_H
#define HEDDLE_LIB_MEASURE_BENCH_H

#include "Problem.h"
#include "heddle/Tuning/Record.h"

namespace heddle::measure {

struct MeasureOptions {
  std::string folder, results, device = "cuda:0";
  double deadline = 30, budget = 0; ///< seconds; budget 0: no end
  int rounds = 7;
  uint64_t seed = 1;
  unsigned threads = 0;
  bool quiet = false;
};

/// Opens the device and tells about it. Returns an exit code.
int probeDevice(const MeasureOptions &options, int fd);

/// Checks and times candidates, all of one kernel and with the same sizes. Returns an exit code.
int runBench(const MeasureOptions &options, const std::vector<const tuning::Planned *> &candidates,
             int fd);

} // namespace heddle::measure

#endif // HEDDLE_LIB_MEASURE_BENCH_H
