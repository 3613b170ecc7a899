//===- TraceWriter.h - what warps and engines do over time ------*- C++ -*-===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes the trace event format that Perfetto and Chrome open: a process for each
// block, a thread for each warp with its role, the warp's waits, and asynchronous
// slices from issue to completion of copies and matrix instructions. One unit of time
// is one warp instruction of the machine, shown as 1 us.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_EMULATOR_TRACE_TRACEWRITER_H
#define HEDDLE_EMULATOR_TRACE_TRACEWRITER_H

#include "runtime/emulator/Observer.h"

#include <map>
#include <unordered_map>

namespace heddle::emulator {

class TraceWriter final : public Observer {
public:
  /// Counts kept over all launches.
  struct Counts {
    uint64_t sharedAccesses = 0;  ///< instructions of warps
    uint64_t sharedConflicts = 0; ///< passes beyond those the bytes need
    uint64_t barrierWaits = 0, blockedTime = 0;
    uint64_t copies = 0, matrixOps = 0;
    uint64_t globalReadBytes = 0, globalWriteBytes = 0, sharedReadBytes = 0, sharedWriteBytes = 0;
    uint64_t asyncReadBytes = 0, asyncWriteBytes = 0, tensorBytes = 0;
  };

  /// Events beyond `maxEvents` are counted, not kept.
  explicit TraceWriter(size_t maxEvents = 1'000'000) : maxEvents(maxEvents) {}
  const Counts &counts() const { return counted; }
  /// The trace as JSON, complete at any time between launches.
  std::string json() const;
  /// False, with *error when not null, when the file cannot be written.
  bool write(const std::string &path, std::string *error);

  void access(const AccessEvent &e) override;
  void sync(const SyncEvent &e) override;
  void asyncIssue(const AsyncEvent &e) override;
  void asyncComplete(const AsyncEvent &e, bool readsDone) override;
  void ctaStart(const WarpRef &at, unsigned warps) override;
  void warpEnd(const WarpRef &at) override;
  void blocked(const WarpRef &at, std::string_view why) override;
  void resumed(const WarpRef &at) override;

private:
  struct Wait {
    uint64_t from = 0, to = 0;
    uint32_t line = 0;
    std::string why;
    bool open = false, kept = false;
  };
  struct Track {
    uint64_t start = 0;
    std::string role;
    Wait wait;
  };
  Track &track(const WarpRef &at);
  void flush(const WarpRef &at, Track &t);
  void emit(std::string event);
  void countConflicts(const AccessEvent &e);

  std::string eventsFrom(size_t first) const;
  std::string closing() const;

  size_t maxEvents, dropped = 0;
  std::string lastPath;     ///< of write
  size_t writtenEvents = 0; ///< in that file
  long closingAt = 0;       ///< where what follows the events starts in it
  std::vector<std::string> events; ///< one JSON object each
  std::map<std::pair<uint64_t, unsigned>, Track> tracks;
  std::unordered_map<uint64_t, uint64_t> started; ///< block to time
  std::unordered_map<uint64_t, uint64_t> issued; ///< operation to time
  Counts counted;
};

} // namespace heddle::emulator

#endif // HEDDLE_EMULATOR_TRACE_TRACEWRITER_H
