//===- CudaShared.cpp - memory that several GPUs address --------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Symmetric heaps through the driver's virtual memory management: physical memory on one
// GPU, mapped once in the process's address space, with access for every GPU of the
// communicator (CUDA driver API, virtual memory management).
//
//===----------------------------------------------------------------------===//

#include "CudaDevice.h"

namespace heddle::rt::cu {

namespace {

/// Physical memory and its mapping; each step is undone only when it was done.
class CudaShared final : public SharedMemory {
public:
  CudaShared(const Driver &driver, Context context) : driver(driver), context(context) {}
  ~CudaShared() override {
    Scope scope(driver, context);
    if (isMapped)
      driver.memUnmap(start, bytes);
    if (start)
      driver.memAddressFree(start, bytes);
    if (handle)
      driver.memRelease(handle);
  }
  uint64_t address() const override { return start; }

  const Driver &driver;
  Context context;
  AllocationHandle handle = 0;
  Pointer start = 0;
  size_t bytes = 0; ///< a multiple of the granularity
  bool isMapped = false;
};

} // namespace

bool CudaDevice::isSame(const rt::Device &other) const {
  auto *gpu = dynamic_cast<const CudaDevice *>(&other);
  return gpu && gpu->id == id;
}

Status CudaDevice::canAddress(rt::Device &peer) {
  auto *other = dynamic_cast<CudaDevice *>(&peer);
  if (!other)
    return Status::error(HEDDLE_UNAVAILABLE,
                         text(deviceInfo.name, " cannot address memory of ", peer.info().name));
  if (!driver.deviceCanAccessPeer)
    return Status::error(HEDDLE_UNAVAILABLE, "the driver does not tell about peer access");
  int can = 0;
  if (Result result = driver.deviceCanAccessPeer(&can, id, other->id); result != Success)
    return driver.status(
        result, text("ask whether ", deviceInfo.name, " can address ", other->deviceInfo.name));
  if (can)
    return {};
  return Status::error(
      HEDDLE_UNAVAILABLE,
      text(deviceInfo.name, " (", deviceInfo.description, ") cannot address memory of ",
           other->deviceInfo.name, " (", other->deviceInfo.description,
           "): the driver offers no peer access between them (no NVLink, or PCIe peer access is "
           "off, as in virtual machines and with some IOMMU settings)"));
}

Status CudaDevice::allocShared(uint64_t bytes, std::span<rt::Device *const> users, bool exportable,
                               std::unique_ptr<SharedMemory> &memory) {
  if (!driver.hasVirtualMemory())
    return Status::error(HEDDLE_UNAVAILABLE,
                         text("symmetric heaps need a driver of CUDA 11.0 or newer, found ",
                              driver.version / 1000, '.', driver.version % 1000 / 10));
  Scope scope(driver, context);
  AllocationProperties properties = {};
  properties.type = AllocationPinned;
  properties.handleTypes = exportable ? HandlePosixFd : 0;
  properties.location = {LocationDevice, id};
  size_t granularity = 0;
  Result result = scope.result;
  if (result == Success)
    result = driver.memGetAllocationGranularity(&granularity, &properties, GranularityRecommended);
  if (result != Success)
    return driver.status(result, text("query the memory of ", deviceInfo.name));

  auto made = std::make_unique<CudaShared>(driver, context);
  made->bytes = (bytes + granularity - 1) / granularity * granularity;
  result = driver.memCreate(&made->handle, made->bytes, &properties, 0);
  if (result != Success)
    return driver.status(result, text("allocate ", made->bytes, " bytes on ", deviceInfo.name));
  result = driver.memAddressReserve(&made->start, made->bytes, granularity, 0, 0);
  if (result == Success) {
    result = driver.memMap(made->start, made->bytes, 0, made->handle, 0);
    made->isMapped = result == Success;
  }
  if (result != Success)
    return driver.status(result, text("map ", made->bytes, " bytes of ", deviceInfo.name));
  std::vector<AccessDescription> access = {{{LocationDevice, id}, AccessReadWrite}};
  for (rt::Device *user : users)
    if (auto *gpu = dynamic_cast<CudaDevice *>(user); gpu && gpu->id != id)
      access.push_back({{LocationDevice, gpu->id}, AccessReadWrite});
  result = driver.memSetAccess(made->start, made->bytes, access.data(), access.size());
  if (result != Success)
    return driver.status(result, text("give other GPUs access to memory of ", deviceInfo.name));
  result = driver.memsetD8Async(made->start, 0, made->bytes, nullptr);
  if (result == Success)
    result = driver.streamSynchronize(nullptr);
  if (result != Success)
    return driver.status(result, text("clear memory of ", deviceInfo.name));
  memory = std::move(made);
  return {};
}

Status CudaDevice::mapHost(void *host, uint64_t bytes, uint64_t &address) {
  Scope scope(driver, context);
  Pointer there = 0;
  Result result = scope.result;
  if (result == Success)
    result = driver.memHostRegister(host, bytes, HostRegisterPortable | HostRegisterMapped);
  if (result != Success)
    return driver.status(result, text("let ", deviceInfo.name, " address host memory"));
  result = driver.memHostGetDevicePointer(&there, host, 0);
  if (result != Success) {
    driver.memHostUnregister(host);
    return driver.status(result, text("find host memory on ", deviceInfo.name));
  }
  address = there;
  return {};
}

Status CudaDevice::unmapHost(void *host) {
  Scope scope(driver, context);
  Result result = scope.result == Success ? driver.memHostUnregister(host) : scope.result;
  return driver.status(result, text("take host memory back from ", deviceInfo.name));
}

} // namespace heddle::rt::cu
