//===- Ranks.cpp - a kernel on several ranks ---------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ranks.h"
#include "heddle/Package/Expr.h"
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace heddle::run {

namespace {

/// The name of each rank's device.
Failure deviceNames(const Options &options, size_t ranks, std::vector<std::string> &names) {
  const std::string &device = options.device;
  if (device.starts_with("emulator:")) {
    if (options.ranksPerDevice > 1)
      return {ExitUsage, "--ranks-per-device: expected 1 on emulated devices, got " +
                             std::to_string(options.ranksPerDevice)};
    const bool grouped = device.find(",group=") != std::string::npos;
    names.assign(ranks, grouped ? device : device + ",group=run" + std::to_string(::getpid()));
    return {};
  }
  if (!device.starts_with("cuda")) {
    names.assign(ranks, device);
    return {};
  }
  // cuda:<first>: the ranks start there.
  size_t first = 0, count = 0;
  if (size_t colon = device.find(':'); colon != std::string::npos)
    std::from_chars(device.data() + colon + 1, device.data() + device.size(), first);
  auto devices = Device::list();
  if (!devices)
    return failureOf(devices.status());
  for (const heddle_device_info &info : *devices)
    count += std::string_view(info.name).starts_with("cuda:");
  const size_t usable = std::max<size_t>(count > first ? count - first : 0, 1);
  const size_t share =
      options.ranksPerDevice ? size_t(options.ranksPerDevice) : (ranks + usable - 1) / usable;
  for (size_t r = 0; r < ranks; ++r)
    names.push_back("cuda:" + std::to_string(first + r / share));
  return {};
}

/// The largest value of the forms' signal_bytes.
uint64_t signalBytes(const Problem &problem, int64_t multiprocessors, size_t world) {
  int64_t most = 0;
  for (const pkg::Variant *variant : *problem.kernel->variants())
    if (variant->signal_bytes())
      if (auto bytes = pkg::evaluateExpr(variant->signal_bytes(),
                                         {problem.symbols, multiprocessors, int64_t(world)}))
        most = std::max(most, *bytes);
  return uint64_t(most);
}

} // namespace

std::string fileOfRank(const std::string &path, size_t rank) {
  std::string out = path;
  for (size_t at = out.find("%r"); at != std::string::npos; at = out.find("%r", at))
    out.replace(at, 2, std::to_string(rank));
  return out;
}

Failure Ranks::join(Options &options) {
  int32_t rank = 0, world = 0;
  if (Status status = heddle_comm_find_rank(nullptr, &rank, &world); !status)
    return failureOf(status);
  options.ranks = world;
  own = size_t(rank);
  isProcess = true;
  return {};
}

bool startProcesses(Options &options, Failure &failure) {
  // A port of this run; the ranks start at once, so nobody else takes it meanwhile.
  const std::string port = std::to_string(20000 + ::getpid() % 20000);
  std::vector<pid_t> processes;
  for (int r = 0; r < options.ranks; ++r) {
    std::fflush(nullptr);
    const pid_t process = ::fork();
    if (process == 0) {
      ::setenv("RANK", std::to_string(r).c_str(), 1);
      ::setenv("WORLD_SIZE", std::to_string(options.ranks).c_str(), 1);
      ::setenv("MASTER_ADDR", "127.0.0.1", 1);
      ::setenv("HEDDLE_PORT", port.c_str(), 1);
      options.join = true;
      return false;
    }
    if (process < 0) {
      failure = {ExitDevice, "cannot start a process for rank " + std::to_string(r)};
      break; // the others find out that it is missing
    }
    processes.push_back(process);
  }
  for (size_t r = 0; r < processes.size(); ++r) {
    int state = 0;
    ::waitpid(processes[r], &state, 0);
    if (failure)
      continue;
    if (WIFSIGNALED(state))
      failure = {ExitDevice, "the process of rank " + std::to_string(r) + " was ended by signal " +
                                 std::to_string(WTERMSIG(state))};
    else if (WEXITSTATUS(state) != ExitPassed)
      failure = {WEXITSTATUS(state), ""}; // it has told why
  }
  return true;
}

Failure Ranks::leave() {
  return isProcess && joined() ? failureOf(sessions[0].rank()->barrier()) : Failure();
}

Failure Ranks::open(const Options &options) {
  if (options.ranks == 0) {
    sessions.resize(1);
    return sessions[0].open(options);
  }
  std::vector<std::string> names;
  if (Failure failure = deviceNames(options, size_t(options.ranks), names))
    return failure;
  if (isProcess)
    names = {names[own]};
  sessions.resize(names.size());
  for (size_t r = 0; r < names.size(); ++r)
    if (Failure failure = sessions[r].open(names[r]))
      return {failure.exitCode, "rank " + std::to_string(own + r) + ": " + failure.message};
  return {};
}

Failure Ranks::load(const pkg::PackageFile &package, const Options &options) {
  for (Session &session : sessions)
    if (Failure failure = session.load(package, options))
      return failure;
  return {};
}

Failure Ranks::makeComms(std::span<const Problem> problems, const Options &options) {
  constexpr uint64_t alignment = 256, spare = 4096;
  heddle_comm_options comm = {};
  comm.heap_bytes = alignment;
  for (const TensorData &tensor : problems[0].tensors)
    if (tensor.arg && tensor.arg->symmetric())
      comm.heap_bytes += (tensor.host.size() + alignment - 1) / alignment * alignment;
  comm.signal_bytes =
      spare + signalBytes(problems[0], sessions[0].device().multiprocessors, problems.size());
  comm.timeout_ms = options.timeoutMs;
  comm.transport = options.transport.c_str();
  if (isProcess) {
    auto made = Comm::create(sessions[0].handle(), comm);
    return made ? sessions[0].join(std::move(*made)) : failureOf(made.status());
  }
  std::vector<Device> devices;
  for (const Session &session : sessions)
    devices.push_back(session.handle());
  auto comms = Comm::createLocal(devices, comm);
  if (!comms)
    return failureOf(comms.status());
  for (size_t r = 0; r < sessions.size(); ++r)
    if (Failure failure = sessions[r].join(std::move((*comms)[r])))
      return failure;
  return {};
}

Failure Ranks::upload(std::span<const Problem> problems, const Options &options) {
  if (options.ranks || talks(*problems[0].kernel))
    if (Failure failure = makeComms(problems, options))
      return failure;
  for (size_t r = 0; r < sessions.size(); ++r)
    if (Failure failure = sessions[r].upload(problems[own + r]))
      return failure;
  return {};
}

Failure Ranks::run(std::span<const Problem> problems, const Options &options) {
  if (!joined())
    return sessions[0].run(problems[own], options);
  Failure first;
  for (size_t r = 0; r < sessions.size() && !first; ++r)
    first = sessions[r].launch(problems[own + r], options);
  // The ranks that run must not wait for the ones that could not be launched.
  if (first)
    (void)sessions[0].rank()->abort(first.message);
  for (Session &session : sessions)
    if (Failure failure = session.wait(); failure && !first)
      first = failure;
  for (Session &session : sessions)
    if (Failure failure = failureOf(session.rank()->check()); failure && !first)
      first = failure;
  return first;
}

Failure Ranks::time(std::span<const Problem> problems, const Options &options, Timing &timing) {
  if (!joined())
    return sessions[0].time(problems[0], options, timing);
  std::vector<std::vector<double>> times(sessions.size());
  std::vector<double> backToBack(sessions.size());
  std::vector<Failure> failures(sessions.size());
  std::vector<std::thread> threads;
  for (size_t r = 0; r < sessions.size(); ++r)
    threads.emplace_back([&, r] {
      failures[r] = sessions[r].timeRank(problems[own + r], options, times[r], backToBack[r]);
      // The others must not wait for a rank that gave up.
      if (failures[r])
        (void)sessions[r].rank()->abort(failures[r].message);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (size_t r = 0; r < sessions.size(); ++r) {
    Failure failed = failures[r];
    if (!failed)
      failed = failureOf(sessions[r].rank()->check());
    if (failed)
      return {failed.exitCode, "rank " + std::to_string(own + r) + ": " + failed.message};
  }
  std::vector<double> slowest(times[0]);
  for (const std::vector<double> &rank : times)
    for (size_t i = 0; i < slowest.size(); ++i)
      slowest[i] = std::max(slowest[i], rank[i]);
  std::sort(slowest.begin(), slowest.end());
  timing.runs = options.timeRuns;
  timing.copies = 1;
  timing.minUs = slowest.front();
  timing.medianUs = slowest[slowest.size() / 2];
  for (double time : slowest)
    timing.meanUs += time / double(slowest.size());
  timing.backToBackUs = *std::max_element(backToBack.begin(), backToBack.end());
  return {};
}

} // namespace heddle::run
