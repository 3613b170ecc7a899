//===- Report.h - what heddle-run prints ----------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Text for people, or one JSON object for programs (--json).
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TOOLS_RUN_REPORT_H
#define HEDDLE_TOOLS_RUN_REPORT_H

#include "Check.h"
#include "Session.h"

namespace heddle::run {

/// Everything one run found.
struct Report {
  const Problem *problem = nullptr;
  heddle_device_info device = {};
  int32_t variant = 0;
  std::string variantDescription;
  size_t rank = 0;       ///< of this process; those above 0 print their results only
  int ranks = 0;         ///< 0: no ranks were asked for
  std::string transport; ///< how they reach each other; empty: there is no communicator
  std::vector<CheckResult> checks;
  std::vector<std::string> outside; ///< writes where none may be
  std::optional<Timing> timing;
  double operations = 0, bytes = 0; ///< of one launch; 0: unknown
  bool wrong() const;
};

void printReport(const Report &report, bool json);
/// An error: to stderr as text, or to stdout as JSON.
void printFailure(const Failure &failure, bool json);
/// Prints the devices there are.
Failure printDevices(bool json);
/// Which of the devices that --device selects (all GPUs, or emulated ones) reach whose memory.
Failure printTopology(const Options &options);

} // namespace heddle::run

#endif // HEDDLE_TOOLS_RUN_REPORT_H
