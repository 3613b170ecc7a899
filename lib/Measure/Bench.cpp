//===- Bench.cpp - candidates of one problem on a device ------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Bench.h"
#include "Check.h"
#include "Session.h"
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace heddle::measure {

using run::Failure;
using tuning::Outcome;
using tuning::Planned;
using Json = nlohmann::ordered_json;

namespace {

/// Caches are left cold by walking over this many times their size.
constexpr uint64_t rotation = 3;
constexpr int maxCopies = 64;
/// Launches of one round take about so long, after a warm-up of a quarter of it.
constexpr double roundMicroseconds = 20000;
constexpr int maxLaunches = 2000;
/// Before the first round, so that clocks have settled.
constexpr double clockSeconds = 0.3;

class Bench {
public:
  Bench(const MeasureOptions &options, int fd) : options(options), fd(fd) {}

  Failure open();
  Failure prepare(const Planned &first);
  /// Runs candidate `i` once and checks what it computed. A failure is one of the device.
  Failure check(size_t i, const Planned &candidate);
  Failure timeRounds();
  void say(const Json &line) const {
    std::string text = line.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
    for (size_t at = 0; at < text.size();) {
      ssize_t count = ::write(fd, text.data() + at, text.size() - at);
      if (count <= 0)
        ::_exit(run::ExitDevice); // nobody listens
      at += size_t(count);
    }
  }

private:
  struct Loaded {
    size_t candidate;
    Kernel kernel;
  };
  using Buffers = std::vector<Buffer>;

  Failure allocate(Buffers &buffers);
  std::vector<Argument> arguments(const Buffers &buffers) const;
  Expected<double> compare(std::string &problem);
  Status launchMany(Kernel &kernel, int launches, double *microseconds);
  void fail(size_t i, Outcome outcome, const std::string &detail) const {
    say({{"step", "failed"},
         {"candidate", i},
         {"outcome", tuning::outcomeName(outcome)},
         {"detail", detail.substr(0, 1000)}});
  }

  const MeasureOptions &options;
  int fd;
  run::Options runOptions;
  heddle_launch_options launch = {};
  std::optional<Device> device;
  heddle_device_info info = {};
  std::optional<pkg::PackageFile> package; // the problem points into it
  std::optional<run::Problem> problem;
  std::vector<Buffers> sets;
  std::vector<std::vector<Argument>> args;
  std::optional<Stream> stream;
  std::optional<Event> first, last;
  std::vector<std::vector<uint8_t>> right; // bytes of a result that was found right
  double rightError = 0;
  std::vector<Loaded> loaded;
  size_t turn = 0;
};

Failure Bench::open() {
  auto opened = Device::open(options.device);
  if (!opened)
    return run::failureOf(opened.status());
  device = std::move(*opened);
  auto properties = device->info();
  if (!properties)
    return run::failureOf(properties.status());
  info = *properties;
  say({{"step", "device"},
       {"device", info.emulated ? info.name : info.description},
       {"emulated", info.emulated != 0}});
  return {};
}

Failure Bench::allocate(Buffers &buffers) {
  for (const run::TensorData &tensor : problem->tensors) {
    buffers.emplace_back();
    if (!tensor.arg)
      continue;
    auto buffer = device->alloc(tensor.host.size());
    if (!buffer)
      return run::failureOf(buffer.status());
    buffers.back() = std::move(*buffer);
    if (Status status = buffers.back().upload(tensor.host.data(), tensor.host.size()); !status)
      return run::failureOf(status);
  }
  return {};
}

std::vector<Argument> Bench::arguments(const Buffers &buffers) const {
  std::vector<Argument> result;
  for (size_t i = 0; i < problem->tensors.size(); ++i) {
    const run::TensorData &tensor = problem->tensors[i];
    if (!tensor.arg)
      result.emplace_back(problem->scalars[i]);
    else
      result.emplace_back(Tensor{static_cast<heddle_dtype>(tensor.arg->dtype()),
                                 static_cast<uint8_t *>(buffers[i].data()) + tensor.begin,
                                 tensor.shape, tensor.strides});
  }
  return result;
}

Failure Bench::prepare(const Planned &plan) {
  auto opened = pkg::PackageFile::fromFile(options.folder + "/" + plan.package);
  if (!opened)
    return run::failureOf(opened.takeError());
  package = std::move(*opened);
  const pkg::Kernel *kernel = package->findKernel(plan.kernel);
  if (!kernel)
    return {run::ExitPackage, "expected " + plan.package + " to hold kernel " + plan.kernel +
                                  ", found " + package->kernelNames()};
  runOptions.kernel = plan.kernel, runOptions.sizes = plan.sizes, runOptions.quiet = true;
  runOptions.seed = options.seed, runOptions.threads = options.threads;
  runOptions.check = run::CheckMode::Sampled;
  launch.variant = 1; // the form that has the schedule, not the one for any alignment
  auto made = run::makeProblem(*kernel, runOptions, {});
  if (!made)
    return run::failureOf(made.takeError());
  problem = std::move(*made);
  run::fillInputs(*problem, runOptions, {});
  uint64_t bytes = 1;
  for (const run::TensorData &tensor : problem->tensors)
    bytes += tensor.host.size();
  int copies = info.emulated
                   ? 1
                   : int(std::clamp<uint64_t>(rotation * info.l2_bytes / bytes + 1, 1, maxCopies));
  for (int i = 0; i < copies; ++i) {
    sets.emplace_back();
    if (Failure failure = allocate(sets.back()))
      return failure;
    args.push_back(arguments(sets.back()));
  }
  for (std::optional<Event> *event : {&first, &last}) {
    auto created = device->createEvent();
    if (!created)
      return run::failureOf(created.status());
    event->emplace(std::move(*created));
  }
  auto created = device->createStream();
  if (!created)
    return run::failureOf(created.status());
  stream.emplace(std::move(*created));
  launch.stream = *stream;
  return run::failureOf(device->sync());
}

/// The largest relative error of the outputs; `problem` says what is wrong, if anything is.
Expected<double> Bench::compare(std::string &wrong) {
  std::vector<std::vector<uint8_t>> bytes(problem->tensors.size());
  for (size_t i = 0; i < bytes.size(); ++i) {
    const run::TensorData &tensor = problem->tensors[i];
    if (!tensor.arg)
      continue;
    bytes[i].resize(tensor.host.size());
    if (Status status = sets[0][i].download(bytes[i].data(), bytes[i].size()); !status)
      return Error{ErrorCode::Io, status.text()};
  }
  // Most schedules add up in the same order: the same bytes are as right.
  if (bytes == right)
    return rightError;
  double error = 0;
  for (size_t i = 0; i < bytes.size() && wrong.empty(); ++i)
    if (problem->tensors[i].arg)
      wrong = run::changedOutside(problem->tensors[i], bytes[i]);
  const auto *outputs = problem->kernel->outputs();
  if (!outputs || outputs->size() == 0)
    return Error{ErrorCode::Unsupported, "the package holds no reference to check against"};
  for (uint32_t i = 0; i < outputs->size() && wrong.empty(); ++i) {
    auto checked = run::checkOutput(*problem, i, bytes[outputs->Get(i)->arg()], runOptions,
                                    info.multiprocessors);
    if (!checked)
      return checked.takeError();
    error = std::max(error, checked->relativeError);
    if (!checked->ok)
      wrong = checked->problems.empty() ? "the result is wrong" : checked->problems.front();
  }
  if (wrong.empty())
    right = std::move(bytes), rightError = error;
  return error;
}

Failure Bench::check(size_t i, const Planned &candidate) {
  say({{"step", "begin"}, {"candidate", i}});
  auto module = device->loadFile(options.folder + "/" + candidate.package);
  if (!module) {
    fail(i, Outcome::Failed, module.status().text());
    return {};
  }
  auto kernel = module->kernel(candidate.kernel);
  if (!kernel) {
    fail(i, Outcome::Failed, kernel.status().text());
    return {};
  }
  // Guards and unwritten elements as they were before any run.
  for (size_t t = 0; t < problem->tensors.size(); ++t)
    if (const run::TensorData &tensor = problem->tensors[t]; tensor.arg && tensor.output)
      if (Status status = sets[0][t].upload(tensor.host.data(), tensor.host.size()); !status)
        return run::failureOf(status);
  if (Status status = device->sync(); !status)
    return run::failureOf(status);
  int32_t variant = 0;
  if (Status status = kernel->check(args[0], launch, &variant); !status) {
    fail(i, Outcome::Refused, status.text());
    return {};
  }
  Status status = kernel->launch(args[0], launch);
  if (status)
    status = stream->sync();
  if (!status) {
    fail(i, Outcome::Crashed, status.text());
    return {run::ExitDevice, status.text()}; // nothing more runs in this process
  }
  std::string wrong;
  auto error = compare(wrong);
  if (!error) {
    fail(i, Outcome::Failed, error.error().message);
    return {};
  }
  if (!wrong.empty()) {
    fail(i, Outcome::Wrong, wrong);
    return {};
  }
  say({{"step", "checked"}, {"candidate", i}, {"error", *error}});
  loaded.push_back({i, std::move(*kernel)});
  return {};
}

/// Launches over the copies in turn, and waits; the time of all of them.
Status Bench::launchMany(Kernel &kernel, int launches, double *microseconds) {
  Status status = first->record(*stream);
  for (int i = 0; i < launches && status; ++i)
    status = kernel.launch(args[turn++ % args.size()], launch);
  if (status)
    status = last->record(*stream);
  if (status)
    status = stream->sync();
  if (!status)
    return status;
  auto elapsed = last->since(*first);
  if (!elapsed)
    return elapsed.status();
  *microseconds = double(*elapsed) * 1000;
  return {};
}

Failure Bench::timeRounds() {
  bool cold = !info.emulated;
  for (int round = 0; round < options.rounds; ++round)
    for (size_t at = 0; at < loaded.size(); ++at) {
      Loaded &one = loaded[(at + size_t(round)) % loaded.size()]; // another one first each time
      say({{"step", "begin"}, {"candidate", one.candidate}});
      double total = 0;
      Status status = launchMany(one.kernel, 1, &total);
      auto start = std::chrono::steady_clock::now();
      while (status && cold &&
             std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() <
                 clockSeconds)
        status = launchMany(one.kernel, 10, &total), total /= 10;
      cold = false;
      int launches = 1;
      if (status && !info.emulated) {
        launches =
            int(std::clamp(roundMicroseconds / std::max(total, 1.0), 3.0, double(maxLaunches)));
        status = launchMany(one.kernel, launches / 4 + 1, &total);
      }
      if (status)
        status = launchMany(one.kernel, launches, &total);
      if (!status) {
        fail(one.candidate, Outcome::Crashed, status.text());
        return {run::ExitDevice, status.text()};
      }
      say({{"step", "time"},
           {"candidate", one.candidate},
           {"us", total / launches},
           {"launches", launches}});
    }
  return {};
}

int fatal(const Bench &bench, const Failure &failure) {
  bench.say({{"step", "fatal"}, {"code", failure.exitCode}, {"detail", failure.message}});
  return failure.exitCode;
}

} // namespace

int probeDevice(const MeasureOptions &options, int fd) {
  Bench bench(options, fd);
  if (Failure failure = bench.open())
    return fatal(bench, failure);
  return 0;
}

int runBench(const MeasureOptions &options, const std::vector<const Planned *> &candidates,
             int fd) {
  Bench bench(options, fd);
  try {
    if (Failure failure = bench.open())
      return fatal(bench, failure);
    if (Failure failure = bench.prepare(*candidates.front()))
      return fatal(bench, failure);
    for (size_t i = 0; i < candidates.size(); ++i)
      if (Failure failure = bench.check(i, *candidates[i]))
        return failure.exitCode;
    if (Failure failure = bench.timeRounds())
      return failure.exitCode;
  } catch (const std::bad_alloc &) {
    return fatal(bench, {run::ExitDevice, "out of host memory"});
  } catch (const std::exception &error) {
    return fatal(bench, {run::ExitDevice, error.what()});
  }
  bench.say({{"step", "done"}});
  return 0;
}

} // namespace heddle::measure
