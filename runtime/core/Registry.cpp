//===- Registry.cpp - the backends there are ------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registry.h"
#include <unistd.h>

namespace heddle::rt {

static Status noCommunicator(const Device &device) {
  return Status::error(HEDDLE_UNAVAILABLE,
                       text(device.info().name, " cannot share memory with other ranks"));
}
Status Device::canAddress(Device &) { return noCommunicator(*this); }
Status Device::allocShared(uint64_t, std::span<Device *const>, bool,
                           std::unique_ptr<SharedMemory> &) {
  return noCommunicator(*this);
}
Status Device::openShared(const HeapTicket &, uint64_t, std::unique_ptr<SharedMemory> &) {
  return noCommunicator(*this);
}
Status SharedMemory::exportTo(HeapTicket &) {
  return Status::error(HEDDLE_UNAVAILABLE, "the memory cannot be shared with other processes");
}
std::string Device::identity() const { return text(info().name, " of process ", ::getpid()); }
Status Device::mapHost(void *, uint64_t, uint64_t &) { return noCommunicator(*this); }
Status Device::unmapHost(void *) { return noCommunicator(*this); }

Registry &Registry::get() {
  // Never destroyed: devices may be closed by other static destructors.
  static Registry *registry = [] {
    auto *made = new Registry;
    registerBuiltinBackends(*made);
    return made;
  }();
  return *registry;
}

Backend *Registry::find(std::string_view name) {
  std::lock_guard lock(mutex);
  for (auto &backend : backends)
    if (backend->name() == name)
      return backend.get();
  return nullptr;
}

std::vector<Backend *> Registry::snapshot() {
  std::lock_guard lock(mutex);
  std::vector<Backend *> all;
  for (auto &backend : backends)
    all.push_back(backend.get());
  return all;
}

Status Registry::add(std::unique_ptr<Backend> backend) {
  if (find(backend->name()))
    return Status::error(HEDDLE_INVALID_ARGUMENT,
                         text("backend '", backend->name(), "' is registered already"));
  std::lock_guard lock(mutex);
  backends.push_back(std::move(backend));
  return {};
}

std::vector<DeviceInfo> Registry::devices() {
  std::vector<DeviceInfo> devices;
  for (Backend *backend : snapshot())
    backend->list(devices);
  return devices;
}

Status Registry::open(std::string_view name, std::shared_ptr<Device> &device) {
  size_t colon = name.find(':');
  std::string_view kind = name.substr(0, colon);
  std::string_view which = colon == std::string_view::npos ? "" : name.substr(colon + 1);
  if (Backend *backend = find(kind))
    return backend->open(which, device);
  std::string known;
  for (Backend *backend : snapshot())
    known += text(known.empty() ? "" : ", ", backend->name());
  return Status::error(
      HEDDLE_NOT_FOUND,
      text("expected a device like cuda:0 of one of the backends ", known, ", got '", name, "'"));
}

} // namespace heddle::rt
