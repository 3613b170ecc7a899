//===- EmulatorFabric.cpp - emulated devices that run together ------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmulatorFabric.h"
#include "emulator/core/Sim.h"

#include <chrono>
#include <map>
#include <thread>

namespace heddle::rt {

/// How long kernels of a group wait for a launch that somebody else has yet to make.
static constexpr std::chrono::seconds patience(30);
/// Warp instructions between two looks at what other threads want.
static constexpr uint64_t turn = 4'000'000;

static emu::MachineOptions machineOptions(const EmulatorSettings &settings) {
  emu::MachineOptions options;
  options.seed = settings.seed;
  options.limits.maxInstructions = settings.limit;
  options.threads = settings.threads;
  return options;
}

EmulatorFabric::EmulatorFabric(const EmulatorSettings &settings)
    : settings(settings), emulated(machineOptions(settings)) {
  if (settings.races)
    observers.add(races.emplace());
  if (!settings.trace.empty())
    observers.add(trace.emplace());
  if (!settings.stats.empty())
    observers.add(stats.emplace());
  if (!observers.empty())
    emulated.setObserver(&observers);
}

Status EmulatorFabric::join(const EmulatorSettings &settings,
                            std::shared_ptr<EmulatorFabric> &fabric) {
  if (settings.group.empty()) {
    fabric = std::make_shared<EmulatorFabric>(settings);
    return {};
  }
  static std::mutex groupsMutex;
  static std::map<std::string, std::weak_ptr<EmulatorFabric>> groups;
  std::lock_guard guard(groupsMutex);
  std::weak_ptr<EmulatorFabric> &known = groups[settings.group];
  fabric = known.lock();
  if (!fabric) {
    fabric = std::make_shared<EmulatorFabric>(settings);
    known = fabric;
    return {};
  }
  const EmulatorSettings &first = fabric->settings;
  if (first.seed != settings.seed || first.limit != settings.limit ||
      first.races != settings.races || first.trace != settings.trace ||
      first.stats != settings.stats)
    return Status::error(HEDDLE_INVALID_ARGUMENT,
                         text("expected the seed, limit, checks, trace and stats that group '",
                              settings.group, "' was opened with"));
  return {};
}

emu::Device &EmulatorFabric::add(const EmulatorSettings &of) {
  Lock held = lock();
  devices.push_back(&emulated.addDevice(*of.target, of.multiprocessors));
  ++open;
  return *devices.back();
}

void EmulatorFabric::leave() {
  Lock held = lock();
  --open;
  happened();
}

void EmulatorFabric::happened() {
  ++events;
  waiting = 0; // who waited looks again
  changed.notify_all();
}

emu::Device *EmulatorFabric::owner(uint64_t address) const {
  const uint64_t index = (address - emu::deviceBase) / emu::deviceStride;
  return address >= emu::deviceBase && index < devices.size() ? devices[index] : nullptr;
}

void EmulatorFabric::run(bool othersMayHelp, emu::RunState &state) {
  emulated.options().externalAgents = othersMayHelp;
  state = emulated.run(settings.group.empty() ? 0 : turn);
  if (state != emu::RunState::Done && state != emu::RunState::Failed)
    return;
  emu::Report report = emulated.takeReport();
  if (state == emu::RunState::Failed || !report.ok)
    failed = text("'", lastEntry, "': ", report.errors.empty() ? "it did not end" : report.text());
}

Status EmulatorFabric::launched(Lock &held, emu::Device &device, const emu::Module &module,
                                const std::string &entry) {
  lastEntry = entry;
  if (stats)
    stats->begin(module, entry);
  happened();
  if (settings.group.empty())
    drain(held, device);
  std::string problem;
  if (settings.group.empty() && trace && !trace->write(settings.trace, &problem))
    return Status::error(HEDDLE_DEVICE_ERROR, problem);
  if (settings.group.empty() && stats && !stats->write(settings.stats, &problem))
    return Status::error(HEDDLE_DEVICE_ERROR, problem);
  return {};
}

void EmulatorFabric::drain(Lock &held, emu::Device &device) {
  bool othersMayHelp = open > 1;
  uint64_t seen = events;
  auto deadline = std::chrono::steady_clock::now() + patience;
  if (device.impl().queue.empty())
    return;
  while (!device.impl().queue.empty() && failed.empty()) {
    if (events != seen) {
      seen = events;
      othersMayHelp = open > 1;
      deadline = std::chrono::steady_clock::now() + patience;
    }
    emu::RunState state;
    run(othersMayHelp, state);
    if (state == emu::RunState::Done)
      break;
    if (state == emu::RunState::Budget) {
      held.unlock(); // let others launch; the mutex alone would come back here
      do
        std::this_thread::yield();
      while (wanting);
      held.lock();
      continue;
    }
    // Idle. Whoever could change that waits itself, or does not come.
    const bool allWait = waiting + 1 >= open;
    if (allWait || std::chrono::steady_clock::now() > deadline) {
      othersMayHelp = false;
      continue;
    }
    ++waiting;
    changed.wait_for(held, std::chrono::milliseconds(50),
                     [&] { return events != seen || !failed.empty() || waiting >= open; });
    if (events == seen)
      --waiting;
  }
  happened();
  std::string problem;
  if (!settings.group.empty() && trace && !trace->write(settings.trace, &problem) && failed.empty())
    failed = problem;
  if (!settings.group.empty() && stats && !stats->write(settings.stats, &problem) && failed.empty())
    failed = problem;
}

} // namespace heddle::rt
