//===- Check.h - results against the reference ----------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares what the device computed with the package's reference in double
// precision, over all points or a sample that always holds the corners, and looks
// for bytes that changed outside the output. A NaN never passes.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TOOLS_RUN_CHECK_H
#define HEDDLE_TOOLS_RUN_CHECK_H

#include "Npy.h"
#include "Problem.h"
#include "heddle/Package/Reference.h"

namespace heddle::run {

/// What may differ, from the element types.
struct Tolerance {
  double relative = 0; ///< |out - ref| / |ref| over the output (Euclidean norm)
  double element = 0;  ///< of one element, times its size plus the root mean square
};
Tolerance toleranceOf(const Problem &problem, pkg::DType output);

struct CheckResult {
  bool ok = true;
  std::string output; ///< the argument's name
  bool sampled = false;
  int64_t points = 0, total = 0;
  double relativeError = 0, maxAbsError = 0;
  double tolerance = 0;
  std::vector<std::string> problems; ///< what is wrong; empty when ok
};

/// Checks output number `output` of the kernel; `device` is the argument's memory after the run,
/// laid out as TensorData::host.
Expected<CheckResult> checkOutput(const Problem &problem, size_t output,
                                  std::span<const uint8_t> device, const Options &options,
                                  int64_t multiprocessors);
/// The same for one rank of several, whose problems differ in their values only.
Expected<CheckResult> checkOutput(std::span<const Problem> ranks, size_t rank, size_t output,
                                  std::span<const uint8_t> device, const Options &options,
                                  int64_t multiprocessors);

/// Bytes that changed where they must not: around and between the elements of an output, anywhere
/// in an input. Empty when none did.
/// Compares tensor `index` with `expected`, which has its shape. The error is one of the command
/// line.
Expected<CheckResult> checkAgainst(const Problem &problem, size_t index,
                                   std::span<const uint8_t> device, const NpyArray &expected,
                                   const Options &options);

std::string changedOutside(const TensorData &tensor, std::span<const uint8_t> device);

/// "(3, 5)".
std::string pointText(std::span<const int64_t> point);

} // namespace heddle::run

#endif // HEDDLE_TOOLS_RUN_CHECK_H
