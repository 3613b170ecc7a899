//===- EmulatorFabric.h - emulated devices that run together --*- C++ -*-===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The machine behind one emulated device, or behind those of a process that name the same group.
// Devices of a group load and store each other's memory, their kernels may wait for one another,
// and races are found across them. A launch on a device alone runs at once; launches on devices of
// a group are queued until somebody waits.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RT_CORE_EMULATORFABRIC_H
#define HEDDLE_RT_CORE_EMULATORFABRIC_H

#include "Status.h"
#include "emulator/Emulator.h"
#include "emulator/checks/RaceDetector.h"
#include "emulator/stats/Collector.h"
#include "emulator/trace/Fanout.h"
#include "emulator/trace/TraceWriter.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>

namespace heddle::rt {

namespace emu = heddle::emulator;

/// What the name of an emulated device asks for.
struct EmulatorSettings {
  const target::Target *target = nullptr;
  uint64_t seed = 0;
  unsigned multiprocessors = 0; ///< 0: those of the target's default chip
  uint64_t limit = 0;           ///< warp instructions of a launch, 0: any number
  bool races = false;           ///< report data races
  std::string trace;            ///< file of the trace; empty: none
  std::string stats;            ///< file of the statistics; empty: none
  unsigned threads = 0;         ///< host threads; 0: one a core
  std::string group;            ///< empty: alone
};

class EmulatorFabric {
public:
  explicit EmulatorFabric(const EmulatorSettings &settings);

  /// The fabric for a new device: of its group, when there is one, else a new one. An error when
  /// the group was opened with other settings.
  static Status join(const EmulatorSettings &settings, std::shared_ptr<EmulatorFabric> &fabric);

  /// Adds a device; `leave` when nobody uses it any longer.
  emu::Device &add(const EmulatorSettings &settings);
  void leave();

  using Lock = std::unique_lock<std::mutex>;
  /// Over the machine, its devices and all that follows.
  Lock lock() {
    ++wanting;
    Lock held(mutex);
    --wanting;
    return held;
  }
  /// After a launch was queued: runs it, or leaves it to who waits.
  Status launched(Lock &lock, emu::Device &device, const emu::Module &module,
                  const std::string &entry);
  /// Runs until nothing is queued on `device`. In a group it waits for the launches of other
  /// devices that kernels here wait for, unless those wait as well: that is a deadlock. With `lock`
  /// held, released while it waits.
  void drain(Lock &lock, emu::Device &device);
  /// Of an earlier launch; empty: none.
  const std::string &failure() const { return failed; }
  /// The device whose memory `address` may be; nullptr for host memory.
  emu::Device *owner(uint64_t address) const;
  emu::Machine &machine() { return emulated; }

private:
  void happened();
  void run(bool othersMayHelp, emu::RunState &state);

  const EmulatorSettings settings;
  std::mutex mutex;
  std::atomic<unsigned> wanting = 0; ///< threads on their way into lock()
  std::condition_variable changed;
  emu::Machine emulated;
  std::vector<emu::Device *> devices;
  unsigned open = 0;    ///< devices in use
  uint64_t events = 0;  ///< launches, ends of them, devices closed
  unsigned waiting = 0; ///< threads that wait for other devices, and saw the last event
  std::string failed;
  std::string lastEntry;
  std::optional<emu::RaceDetector> races;
  std::optional<emu::TraceWriter> trace;
  std::optional<emu::Collector> stats;
  emu::Fanout observers;
};

} // namespace heddle::rt

#endif // HEDDLE_RT_CORE_EMULATORFABRIC_H
