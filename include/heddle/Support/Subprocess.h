//===- Subprocess.h - running another program ------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_SUPPORT_SUBPROCESS_H
#define HEDDLE_SUPPORT_SUBPROCESS_H

#include "heddle/Support/Result.h"
#include <chrono>
#include <string>
#include <vector>

namespace heddle {

/// How a program ended. `signal` is 0 when it exited by itself.
struct ProcessResult {
  int exitCode = 0;
  int signal = 0;
  bool timedOut = false; ///< it was killed when its time was over
  std::string output;    ///< stdout and stderr, as they came

  bool succeeded() const { return !timedOut && signal == 0 && exitCode == 0; }
};

/// Runs `argv[0]` (a path, not looked up) without a shell, with empty standard input, in a process
/// group of its own, until it ends and its output is closed, or `timeout` is over; then the whole
/// group is killed. Output beyond 16 MiB is dropped. An Error only when it could not be started.
/// Thread-safe.
Expected<ProcessResult> runProcess(const std::vector<std::string> &argv,
                                   std::chrono::milliseconds timeout);

/// Kills the groups of all programs that run now (up to 64). A terminal's interrupt reaches only
/// the caller's own group, so a handler of SIGINT calls this. Async-signal-safe.
void killRunningProcesses();

} // namespace heddle

#endif // HEDDLE_SUPPORT_SUBPROCESS_H
