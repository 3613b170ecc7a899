//===- Session.cpp - a problem on a device --------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"
#include <algorithm>
#include <chrono>

namespace heddle::run {

namespace {

/// Caches are left cold by walking over this many times their size.
constexpr uint64_t rotation = 3;
constexpr int maxCopies = 64;
constexpr double warmUpSeconds = 0.2;

} // namespace

Failure failureOf(const Status &status) {
  switch (status.code()) {
  case HEDDLE_OK:
    return {};
  case HEDDLE_UNAVAILABLE:
  case HEDDLE_NOT_FOUND:
    return {ExitNoDevice, status.text()};
  case HEDDLE_INVALID_PACKAGE:
  case HEDDLE_NO_IMAGE:
    return {ExitPackage, status.text()};
  case HEDDLE_SHAPE_MISMATCH:
  case HEDDLE_MISALIGNED:
  case HEDDLE_OUT_OF_RANGE:
  case HEDDLE_NO_VARIANT:
    return {ExitRefused, status.text()};
  case HEDDLE_COMM_MISMATCH:
  case HEDDLE_INVALID_ARGUMENT:
  case HEDDLE_IO_ERROR:
    return {ExitUsage, status.text()};
  default:
    return {ExitDevice, status.text()};
  }
}

Failure failureOf(Error error) {
  bool package = error.code == ErrorCode::Damaged || error.code == ErrorCode::Unsupported;
  return {package ? ExitPackage : ExitUsage, std::move(error.message)};
}

heddle_launch_options Session::launchOptions(const Options &options) const {
  heddle_launch_options launch = {};
  launch.stream = stream ? heddle_stream(*stream) : nullptr;
  launch.variant = options.variant;
  launch.multiprocessors = options.multiprocessors;
  launch.comm = comm ? comm->handle() : nullptr;
  return launch;
}

Failure Session::join(Comm rank) {
  auto made = dev->createStream();
  if (!made)
    return failureOf(made.status());
  stream = std::move(*made);
  comm = std::move(rank);
  return {};
}

Failure Session::open(const std::string &device) {
  auto opened = Device::open(device);
  if (!opened)
    return failureOf(opened.status());
  dev = std::move(*opened);
  auto properties = dev->info();
  if (!properties)
    return failureOf(properties.status());
  info = *properties;
  return {};
}

Failure Session::load(const pkg::PackageFile &package, const Options &options) {
  auto loaded = dev->load(package.bytes().data(), package.bytes().size());
  if (!loaded)
    return failureOf(loaded.status());
  module = std::move(*loaded);
  auto found = module->kernel(options.kernel);
  if (!found)
    return failureOf(found.status());
  kernel = std::move(*found);
  return {};
}

std::string Session::variantDescription() const {
  const char *text = heddle_kernel_variant_description(kernel->handle(), size_t(chosen));
  return text ? text : "nothing to compute";
}

Failure Session::allocate(const Problem &problem, Buffers &to) {
  to.clear();
  for (const TensorData &tensor : problem.tensors) {
    if (!tensor.arg) {
      to.emplace_back();
      continue;
    }
    Place place;
    place.bytes = tensor.host.size();
    if (comm && tensor.arg->symmetric()) {
      auto memory = comm->alloc(place.bytes);
      if (!memory)
        return failureOf(memory.status());
      place.data = *memory;
    } else {
      auto buffer = dev->alloc(place.bytes);
      if (!buffer)
        return failureOf(buffer.status());
      place.own = std::move(*buffer);
      place.data = place.own.data();
    }
    if (Status status =
            heddle_copy(dev->handle(), place.data, tensor.host.data(), place.bytes, nullptr);
        !status)
      return failureOf(status);
    to.push_back(std::move(place));
  }
  return {};
}

Failure Session::upload(const Problem &problem) {
  if (Failure failure = allocate(problem, buffers))
    return failure;
  // Ranks launch on a stream that does not wait for the copies.
  return comm ? failureOf(dev->sync()) : Failure();
}

std::vector<Argument> Session::arguments(const Problem &problem, const Buffers &from) const {
  std::vector<Argument> arguments;
  for (size_t i = 0; i < problem.tensors.size(); ++i) {
    const TensorData &tensor = problem.tensors[i];
    if (!tensor.arg)
      arguments.emplace_back(problem.scalars[i]);
    else
      arguments.emplace_back(Tensor{static_cast<heddle_dtype>(tensor.arg->dtype()),
                                    static_cast<uint8_t *>(from[i].data) + tensor.begin,
                                    tensor.shape, tensor.strides});
  }
  return arguments;
}

Failure Session::run(const Problem &problem, const Options &options) {
  if (Failure failure = launch(problem, options))
    return failure;
  return wait();
}

Failure Session::launch(const Problem &problem, const Options &options) {
  std::vector<Argument> args = arguments(problem, buffers);
  heddle_launch_options launch = launchOptions(options);
  launch.check_pointers = 1;
  if (Status status = kernel->check(args, launch, &chosen); !status)
    return failureOf(status);
  return failureOf(kernel->launch(args, launch));
}

Failure Session::wait() { return failureOf(dev->sync()); }

Failure Session::download(size_t tensor, std::vector<uint8_t> &bytes) {
  const Place &place = buffers[tensor];
  bytes.resize(place.bytes);
  Status status = heddle_copy(dev->handle(), bytes.data(), place.data, place.bytes, nullptr);
  if (status)
    status = heddle_stream_sync(dev->handle(), nullptr);
  return failureOf(status);
}

Failure Session::time(const Problem &problem, const Options &options, Timing &timing) {
  auto stream = dev->createStream();
  if (!stream)
    return failureOf(stream.status());
  uint64_t bytes = 1;
  for (const TensorData &tensor : problem.tensors)
    bytes += tensor.host.size();
  int copies = int(std::clamp<uint64_t>(rotation * info.l2_bytes / bytes + 1, 1, maxCopies));
  std::vector<Buffers> sets(static_cast<size_t>(copies));
  std::vector<std::vector<Argument>> args;
  for (Buffers &set : sets) {
    if (Failure failure = allocate(problem, set))
      return failure;
    args.push_back(arguments(problem, set));
  }
  if (Status status = dev->sync(); !status)
    return failureOf(status);

  heddle_launch_options launch = launchOptions(options);
  launch.stream = *stream;
  size_t turn = 0;
  auto launchNext = [&] { return kernel->launch(args[turn++ % args.size()], launch); };
  // Warm up: code, caches and clocks.
  auto start = std::chrono::steady_clock::now();
  for (int i = 0;
       i < 3 || std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() <
                    warmUpSeconds;
       ++i) {
    Status status = launchNext();
    if (status)
      status = stream->sync();
    if (!status)
      return failureOf(status);
  }

  std::vector<Event> events;
  for (int i = 0; i < 2 * options.timeRuns + 2; ++i) {
    auto event = dev->createEvent();
    if (!event)
      return failureOf(event.status());
    events.push_back(std::move(*event));
  }
  Status status;
  for (int i = 0; i < options.timeRuns && status; ++i) {
    status = events[size_t(2 * i)].record(*stream);
    if (status)
      status = launchNext();
    if (status)
      status = events[size_t(2 * i + 1)].record(*stream);
  }
  Event &first = events[events.size() - 2], &last = events.back();
  if (status)
    status = first.record(*stream);
  for (int i = 0; i < options.timeRuns && status; ++i)
    status = launchNext();
  if (status)
    status = last.record(*stream);
  if (status)
    status = stream->sync();
  if (!status)
    return failureOf(status);

  std::vector<double> times;
  for (int i = 0; i < options.timeRuns; ++i) {
    auto elapsed = events[size_t(2 * i + 1)].since(events[size_t(2 * i)]);
    if (!elapsed)
      return failureOf(elapsed.status());
    times.push_back(*elapsed * 1000.0);
    timing.meanUs += times.back() / options.timeRuns;
  }
  auto total = last.since(first);
  if (!total)
    return failureOf(total.status());
  std::sort(times.begin(), times.end());
  timing.runs = options.timeRuns;
  timing.copies = copies;
  timing.minUs = times.front();
  timing.medianUs = times[times.size() / 2];
  timing.backToBackUs = *total * 1000.0 / options.timeRuns;
  return {};
}

Failure Session::timeRank(const Problem &problem, const Options &options,
                          std::vector<double> &microseconds, double &backToBack) {
  const std::vector<Argument> args = arguments(problem, buffers);
  const heddle_launch_options launch = launchOptions(options);
  std::vector<Event> events;
  for (int i = 0; i < 2 * options.timeRuns + 2; ++i) {
    auto event = dev->createEvent();
    if (!event)
      return failureOf(event.status());
    events.push_back(std::move(*event));
  }
  // As many on every rank: launches are collective.
  const int warmUps = info.emulated ? 1 : 20;
  Status status;
  for (int i = 0; i < warmUps && status; ++i)
    status = kernel->launch(args, launch);
  if (status)
    status = stream->sync();
  for (int i = 0; i < options.timeRuns && status; ++i) {
    status = events[size_t(2 * i)].record(*stream);
    if (status)
      status = kernel->launch(args, launch);
    if (status)
      status = events[size_t(2 * i + 1)].record(*stream);
  }
  Event &first = events[events.size() - 2], &last = events.back();
  if (status)
    status = first.record(*stream);
  for (int i = 0; i < options.timeRuns && status; ++i)
    status = kernel->launch(args, launch);
  if (status)
    status = last.record(*stream);
  if (status)
    status = stream->sync();
  for (int i = 0; i < options.timeRuns && status; ++i) {
    auto elapsed = events[size_t(2 * i + 1)].since(events[size_t(2 * i)]);
    if (!elapsed)
      return failureOf(elapsed.status());
    microseconds.push_back(*elapsed * 1000.0);
  }
  if (!status)
    return failureOf(status);
  auto total = last.since(first);
  if (!total)
    return failureOf(total.status());
  backToBack = *total * 1000.0 / options.timeRuns;
  return {};
}

} // namespace heddle::run
