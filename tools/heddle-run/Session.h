//===- Session.h - a problem on a device ----------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Opens the device, loads the kernel, copies tensors there and back, launches and
// times. One session is for one thread.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TOOLS_RUN_SESSION_H
#define HEDDLE_TOOLS_RUN_SESSION_H

#include "Problem.h"
#include "heddle-rt/heddle.hpp"

namespace heddle::run {

/// Why a run stops, and what the process returns for it.
struct Failure {
  int exitCode = ExitPassed;
  std::string message;
  explicit operator bool() const { return exitCode != ExitPassed; }
};
Failure failureOf(const Status &status);
Failure failureOf(Error error);

struct Timing {
  int runs = 0, copies = 0;
  double minUs = 0, medianUs = 0, meanUs = 0; ///< single launches, between events
  double backToBackUs = 0;                    ///< a launch, many in a row
};

class Session {
public:
  Failure open(const Options &options) { return open(options.device); }
  Failure open(const std::string &device);
  Failure load(const pkg::PackageFile &package, const Options &options);
  /// Allocates the tensors with their guards and copies them there.
  Failure upload(const Problem &problem);
  /// Makes this session a rank: symmetric tensors come from the communicator, launches name it and
  /// go to a stream of their own.
  Failure join(Comm comm);
  /// Launches once and waits. `variant` is 0 when there was nothing to do.
  Failure run(const Problem &problem, const Options &options);
  /// The two halves of it.
  Failure launch(const Problem &problem, const Options &options);
  Failure wait();
  /// Launches `runs` times after a warm-up, each between events, then as often without. For ranks,
  /// each in a thread of its own.
  Failure timeRank(const Problem &problem, const Options &options,
                   std::vector<double> &microseconds, double &backToBack);
  /// Everything of one tensor, guards too.
  Failure download(size_t tensor, std::vector<uint8_t> &bytes);
  /// Launches over copies of the tensors that exceed the L2 cache several times.
  Failure time(const Problem &problem, const Options &options, Timing &timing);

  const heddle_device_info &device() const { return info; }
  const Device &handle() const { return *dev; }
  const Comm *rank() const { return comm ? &*comm : nullptr; }
  int32_t variant() const { return chosen; }
  std::string variantDescription() const;

private:
  /// Device memory of one argument; empty for scalars.
  struct Place {
    Buffer own; ///< unless it lies in the symmetric heap
    void *data = nullptr;
    uint64_t bytes = 0;
  };
  using Buffers = std::vector<Place>;
  Failure allocate(const Problem &problem, Buffers &buffers);
  heddle_launch_options launchOptions(const Options &options) const;
  std::vector<Argument> arguments(const Problem &problem, const Buffers &buffers) const;

  std::optional<Device> dev;
  std::optional<Module> module;
  std::optional<Kernel> kernel;
  heddle_device_info info = {};
  std::optional<Comm> comm;
  std::optional<Stream> stream; ///< of a rank; else the default one is used
  Buffers buffers;
  int32_t chosen = 0;
};

} // namespace heddle::run

#endif // HEDDLE_TOOLS_RUN_SESSION_H
