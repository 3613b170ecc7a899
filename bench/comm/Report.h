//===- Report.h - table, JSON and plot of the benchmark ---------*- C++ -*-===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_BENCH_COMM_REPORT_H
#define HEDDLE_BENCH_COMM_REPORT_H

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::bench {

/// One operation at one size. Times in microseconds, medians; one a contender.
struct Line {
  std::string op;
  uint64_t bytes;  ///< what a rank has: the part it sends to all, or all that it sends
  uint64_t remote; ///< bytes that reach a rank from others
  std::vector<double> times, spreads; ///< spread: (largest - smallest) / median
};

struct Summary {
  std::vector<std::string> contenders; ///< packages, then NCCL where it is there
  bool nccl = false;                   ///< the last contender is
  std::vector<Line> lines;
  double link = 0; ///< GB/s in one direction, both busy, by the copy engines of this run
  int world = 0;
  std::string device, ncclVersion;
};

void printHeader(const Summary &s);
void printLine(const Summary &s, const Line &line);
/// Geometric means of NCCL's time over each contender's.
void printMeans(const Summary &s);
bool writeJson(const Summary &s, const std::string &path);
/// Bandwidth by size, one panel an operation, the link drawn.
bool writeSvg(const Summary &s, const std::string &path);

} // namespace heddle::bench

#endif // HEDDLE_BENCH_COMM_REPORT_H
