//===- Options.h - the command line of heddle-run -------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the user asked for. Plain values.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TOOLS_RUN_OPTIONS_H
#define HEDDLE_TOOLS_RUN_OPTIONS_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace heddle::run {

/// What the process returns; documented in --help.
enum ExitCode : int {
  ExitPassed = 0,
  ExitWrong = 1,    ///< the result differs from the reference, or memory around it changed
  ExitUsage = 2,    ///< the command line or an input file
  ExitNoDevice = 3, ///< no driver, no such device
  ExitPackage = 4,  ///< the package is damaged or has no code for the device
  ExitRefused = 5,  ///< the kernel does not take these sizes, strides or addresses
  ExitDevice = 6,   ///< the device failed, or ran out of memory
};

enum class Random { Normal, Uniform, Integers };
enum class CheckMode { Auto, Full, Sampled, None };

struct Options {
  std::string package;
  std::string kernel; ///< empty: the only one
  std::string device = "cuda:0";
  std::string checks, trace; ///< of an emulated device; empty: as --device says
  bool listDevices = false;
  int ranks = 0;          ///< 0: one, with a communicator only where the kernel needs it
  int ranksPerDevice = 0; ///< 0: as few as the devices there are allow
  bool processes = false; ///< each rank a process
  bool join = false;      ///< be the rank that the environment names
  bool topology = false;  ///< print who reaches whom
  std::string transport;  ///< empty: the first that works
  uint32_t timeoutMs = 0; ///< of one wait for another rank; 0: the runtime's
  std::map<std::string, int64_t> sizes;
  std::map<std::string, std::vector<int64_t>> strides; ///< elements
  std::map<std::string, int64_t> offsets;              ///< elements past an aligned address
  std::map<std::string, double> scalars;
  std::map<std::string, std::string> inputs, outputs; ///< argument to file
  /// Output to the file it is compared with, in place of the package's reference.
  std::map<std::string, std::string> references;
  std::string groups = "random"; ///< rows of groups, or how to choose them
  bool groupsGiven = false;
  Random random = Random::Normal;
  uint64_t seed = 1;
  CheckMode check = CheckMode::Auto;
  std::optional<double> tolerance; ///< of the relative error
  bool widen = false;              ///< write bf16 and f8 outputs as f32
  int timeRuns = 0;
  int variant = 0; ///< 0: any
  int multiprocessors = 0;
  unsigned threads = 0; ///< for filling and checking; 0: all cores
  std::string stats;    ///< file for what the emulator counted; empty: none
  bool json = false, quiet = false;
};

/// Parses the command line. nullopt: stop with `exitCode` (help was printed, or an error).
std::optional<Options> parseOptions(int argc, char **argv, int &exitCode);

} // namespace heddle::run

#endif // HEDDLE_TOOLS_RUN_OPTIONS_H
