//===- DeviceApi.cpp - devices, memory, streams, events in C --------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"
#include "Registry.h"
#include <cstring>

using namespace heddle::rt;

namespace {

template <size_t N> void copyText(char (&to)[N], const std::string &from) {
  size_t length = std::min(from.size(), N - 1);
  std::memcpy(to, from.data(), length);
  to[length] = '\0';
}

heddle_device_info publicInfo(const DeviceInfo &info) {
  heddle_device_info out = {};
  copyText(out.name, info.name);
  copyText(out.description, info.description);
  out.major = int32_t(info.major);
  out.minor = int32_t(info.minor);
  out.multiprocessors = int32_t(info.multiprocessors);
  out.emulated = info.emulated;
  out.memory_bytes = info.memoryBytes;
  out.shared_bytes = info.sharedBytesPerBlock;
  out.l2_bytes = info.l2Bytes;
  out.driver_version = int32_t(info.driverVersion);
  return out;
}

/// Runs `body` with the device behind a handle.
template <typename Body>
heddle_status withDevice(heddle_device handle, Body &&body,
                         std::source_location where = std::source_location::current()) {
  return guarded(
      [&]() -> Status {
        if (!handle)
          return nullError("a device", where);
        return body(*handle->device);
      },
      where);
}

/// Says how much memory was needed and is free.
Status outOfMemory(Device &device, uint64_t bytes) {
  uint64_t free = 0, total = 0;
  if (!device.memoryInfo(free, total))
    return Status::error(HEDDLE_OUT_OF_MEMORY,
                         text("out of memory on ", device.info().name, ": need ", bytes, " bytes"));
  return Status::error(HEDDLE_OUT_OF_MEMORY,
                       text("out of memory on ", device.info().name, ": need ", bytes, " bytes, ",
                            free, " of ", total, " are free"));
}

} // namespace

extern "C" {

heddle_status heddle_device_list(heddle_device_info *infos, size_t capacity, size_t *count) {
  return guarded([&]() -> Status {
    if (!count || (!infos && capacity))
      return nullError(count ? "an array of device infos" : "a place for the count");
    std::vector<DeviceInfo> devices = Registry::get().devices();
    for (size_t i = 0; i < std::min(capacity, devices.size()); ++i)
      infos[i] = publicInfo(devices[i]);
    *count = devices.size();
    return {};
  });
}

heddle_status heddle_device_open(const char *name, heddle_device *device) {
  return guarded([&]() -> Status {
    if (!name || !device)
      return nullError(name ? "a place for the device" : "a device name");
    auto made = std::make_unique<heddle_device_object>();
    if (Status status = Registry::get().open(name, made->device); !status)
      return status;
    *device = made.release();
    return {};
  });
}

void heddle_device_close(heddle_device device) { delete device; }

heddle_status heddle_device_properties(heddle_device device, heddle_device_info *info) {
  return withDevice(device, [&](Device &d) -> Status {
    if (!info)
      return nullError("a place for the properties");
    *info = publicInfo(d.info());
    return {};
  });
}

heddle_status heddle_device_memory(heddle_device device, uint64_t *free_bytes,
                                   uint64_t *total_bytes) {
  return withDevice(device, [&](Device &d) -> Status {
    if (!free_bytes || !total_bytes)
      return nullError("places for the free and the total bytes");
    return d.memoryInfo(*free_bytes, *total_bytes);
  });
}

heddle_status heddle_device_sync(heddle_device device) {
  return withDevice(device, [](Device &d) { return d.sync(); });
}

heddle_status heddle_device_check(heddle_device device) {
  return withDevice(device, [](Device &d) { return d.check(); });
}

heddle_status heddle_alloc(heddle_device device, uint64_t bytes, void **pointer) {
  return withDevice(device, [&](Device &d) -> Status {
    if (!pointer)
      return nullError("a place for the pointer");
    if (bytes == 0) {
      *pointer = nullptr;
      return {};
    }
    Status status = d.alloc(bytes, *pointer);
    return status.code() == HEDDLE_OUT_OF_MEMORY ? outOfMemory(d, bytes) : std::move(status);
  });
}

heddle_status heddle_free(heddle_device device, void *pointer) {
  if (!pointer)
    return nullptr;
  return withDevice(device, [&](Device &d) { return d.free(pointer); });
}

heddle_status heddle_copy(heddle_device device, void *to, const void *from, uint64_t bytes,
                          heddle_stream stream) {
  return withDevice(device, [&](Device &d) -> Status {
    if (bytes == 0)
      return {};
    if (!to || !from)
      return nullError(to ? "memory to copy from" : "memory to copy to");
    return d.copy(to, from, bytes, stream);
  });
}

heddle_status heddle_fill(heddle_device device, void *pointer, uint8_t value, uint64_t bytes,
                          heddle_stream stream) {
  return withDevice(device, [&](Device &d) -> Status {
    if (bytes == 0)
      return {};
    if (!pointer)
      return nullError("memory to fill");
    return d.fill(pointer, value, bytes, stream);
  });
}

heddle_status heddle_stream_create(heddle_device device, heddle_stream *stream) {
  return withDevice(device, [&](Device &d) {
    return stream ? d.createStream(*stream) : nullError("a place for the stream");
  });
}

heddle_status heddle_stream_destroy(heddle_device device, heddle_stream stream) {
  if (!stream)
    return nullptr;
  return withDevice(device, [&](Device &d) { return d.destroyStream(stream); });
}

heddle_status heddle_stream_sync(heddle_device device, heddle_stream stream) {
  return withDevice(device, [&](Device &d) { return d.syncStream(stream); });
}

heddle_status heddle_event_create(heddle_device device, heddle_event *event) {
  return guarded([&]() -> Status {
    if (!device || !event)
      return nullError(device ? "a place for the event" : "a device");
    auto made = std::make_unique<heddle_event_object>();
    made->device = device->device;
    if (Status status = made->device->createEvent(made->event); !status)
      return status;
    *event = made.release();
    return {};
  });
}

void heddle_event_destroy(heddle_event event) { delete event; }

heddle_status heddle_event_record(heddle_event event, heddle_stream stream) {
  return guarded([&] {
    return event ? event->device->recordEvent(*event->event, stream) : nullError("an event");
  });
}

heddle_status heddle_event_sync(heddle_event event) {
  return guarded(
      [&] { return event ? event->device->syncEvent(*event->event) : nullError("an event"); });
}

heddle_status heddle_event_elapsed(heddle_event start, heddle_event stop, float *milliseconds) {
  return guarded([&]() -> Status {
    if (!start || !stop || !milliseconds)
      return nullError("two events and a place for the time");
    // Opening a device twice gives two objects for the same GPU.
    const std::string &a = start->device->info().name, &b = stop->device->info().name;
    if (a != b)
      return Status::error(HEDDLE_INVALID_ARGUMENT,
                           text("expected two events of one device, got ", a, " and ", b));
    return start->device->elapsed(*start->event, *stop->event, *milliseconds);
  });
}
}
