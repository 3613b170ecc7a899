//===- Supervisor.h - work in a child process under a deadline ------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_LIB_MEASURE_SUPERVISOR_H
#define HEDDLE_LIB_MEASURE_SUPERVISOR_H

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

namespace heddle::measure {

/// How a child ended.
struct ChildEnd {
  bool hung = false; ///< it was silent for longer than the deadline and was killed
  int signal = 0, exitCode = 0;
  std::string describe() const;
};

/// Runs `body` in a forked child with the writing end of a pipe; `onLine` gets each line that it
/// writes, without its end. A child that is silent for `deadline` is killed. The caller has one
/// thread and has opened no GPU. The child dies with its parent.
ChildEnd superviseChild(const std::function<int(int)> &body, std::chrono::milliseconds deadline,
                        const std::function<void(std::string_view)> &onLine);

} // namespace heddle::measure

#endif // HEDDLE_LIB_MEASURE_SUPERVISOR_H
