//===- Ranks.h - a kernel on several ranks -----------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One session a rank, all in this process, or one in each process. A run without ranks is one
// session without a communicator. For one thread.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TOOLS_RUN_RANKS_H
#define HEDDLE_TOOLS_RUN_RANKS_H

#include "Session.h"

namespace heddle::run {

class Ranks {
public:
  /// This process is one rank of those that the environment names; sets options.ranks.
  Failure join(Options &options);
  /// Opens a device for each rank.
  Failure open(const Options &options);
  Failure load(const pkg::PackageFile &package, const Options &options);
  /// Joins the ranks where the kernel talks or the user asked for ranks, then fills their memory.
  Failure upload(std::span<const Problem> problems, const Options &options);
  /// Launches on all ranks, waits for all, and tells what failed first.
  Failure run(std::span<const Problem> problems, const Options &options);
  /// The slowest rank of each run.
  Failure time(std::span<const Problem> problems, const Options &options, Timing &timing);

  /// The ranks of this process: first(), first() + 1, ...
  size_t first() const { return own; }
  size_t size() const { return sessions.size(); }
  Session &operator[](size_t rank) { return sessions[rank - own]; }
  bool joined() const { return sessions.front().rank() != nullptr; }
  /// Waits for the other processes: they may still use memory of this one.
  Failure leave();

private:
  Failure makeComms(std::span<const Problem> problems, const Options &options);

  std::vector<Session> sessions;
  size_t own = 0; ///< number of the first session's rank
  bool isProcess = false;
};

/// Starts a process for each rank, in which it returns false; else waits for all of them and gives
/// the first failure by rank.
bool startProcesses(Options &options, Failure &failure);

/// The file of a rank: `%r` becomes its number.
std::string fileOfRank(const std::string &path, size_t rank);

} // namespace heddle::run

#endif // HEDDLE_TOOLS_RUN_RANKS_H
