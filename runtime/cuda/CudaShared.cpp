//===- CudaShared.cpp - memory that several GPUs address --------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Symmetric heaps through the driver's virtual memory management: physical memory on one
// GPU, mapped once in the process's address space, with access for every GPU of the
// communicator (CUDA driver API, virtual memory management). Between processes the physical
// memory travels as a file descriptor, or, where that is not to be had, by CUDA IPC.
//
//===----------------------------------------------------------------------===//

#include "CudaDevice.h"
#include <algorithm>
#include <cstring>

namespace heddle::rt::cu {

namespace {

/// How a ticket's memory was made.
enum TicketKind : uint32_t { PosixHandle = 1, IpcMemory = 2 };

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
  Status exportTo(HeapTicket &ticket) override {
    Scope scope(driver, context);
    ticket.kind = PosixHandle;
    Result result = scope.result;
    if (result == Success)
      result = driver.memExportToShareableHandle(&ticket.fd, handle, HandlePosixFd, 0);
    return driver.status(result, "share device memory with other processes");
  }
  /// Maps the handle for `users`.
  Result map(std::span<const DeviceId> users, size_t granularity) {
    Result result = driver.memAddressReserve(&start, bytes, granularity, 0, 0);
    if (result != Success)
      return result;
    result = driver.memMap(start, bytes, 0, handle, 0);
    isMapped = result == Success;
    std::vector<AccessDescription> access;
    for (DeviceId user : users)
      access.push_back({{LocationDevice, user}, AccessReadWrite});
    return isMapped ? driver.memSetAccess(start, bytes, access.data(), access.size()) : result;
  }

  const Driver &driver;
  Context context;
  AllocationHandle handle = 0;
  Pointer start = 0;
  size_t bytes = 0; ///< a multiple of the granularity
  bool isMapped = false;
};

/// Memory that CUDA IPC shares, where handles cannot be: by who owns it, or by who opened it.
class IpcShared final : public SharedMemory {
public:
  IpcShared(const Driver &driver, Context context, bool owns)
      : driver(driver), context(context), owns(owns) {}
  ~IpcShared() override {
    Scope scope(driver, context);
    if (start && owns)
      driver.memFree(start);
    else if (start)
      driver.ipcCloseMemHandle(start);
  }
  uint64_t address() const override { return start; }
  Status exportTo(HeapTicket &ticket) override {
    Scope scope(driver, context);
    IpcHandle ipc;
    static_assert(sizeof(ipc) == HeapTicket::bytesMax);
    ticket.kind = IpcMemory;
    Result result = scope.result;
    if (result == Success)
      result = driver.ipcGetMemHandle(&ipc, start);
    std::memcpy(ticket.data.data(), &ipc, sizeof(ipc));
    return driver.status(result, "share device memory with other processes (CUDA IPC)");
  }

  const Driver &driver;
  Context context;
  const bool owns;
  Pointer start = 0;
};

} // namespace

std::string CudaDevice::identity() const {
  Uuid uuid = {};
  if (!driver.deviceGetUuid || driver.deviceGetUuid(&uuid, id) != Success)
    return Device::identity();
  std::string out = "GPU ";
  for (char byte : uuid.bytes) {
    out += "0123456789abcdef"[(byte >> 4) & 15];
    out += "0123456789abcdef"[byte & 15];
  }
  return out;
}

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
  // Where file descriptors cannot carry memory (some containers), CUDA IPC may.
  if (exportable && result != Success && result != OutOfMemory && driver.ipcGetMemHandle &&
      driver.ipcOpenMemHandle && driver.ipcCloseMemHandle)
    return allocIpc(bytes, memory);
  if (result != Success)
    return driver.status(result, text("allocate ", made->bytes, " bytes on ", deviceInfo.name));
  std::vector<DeviceId> ids = {id};
  for (rt::Device *user : users)
    if (auto *gpu = dynamic_cast<CudaDevice *>(user);
        gpu && std::find(ids.begin(), ids.end(), gpu->id) == ids.end())
      ids.push_back(gpu->id);
  result = made->map(ids, granularity);
  if (result != Success)
    return driver.status(result, text("map ", made->bytes, " bytes of ", deviceInfo.name));
  if (Status status = clear(made->start, made->bytes); !status)
    return status;
  memory = std::move(made);
  return {};
}

Status CudaDevice::clear(Pointer start, size_t bytes) {
  Result result = driver.memsetD8Async(start, 0, bytes, nullptr);
  if (result == Success)
    result = driver.streamSynchronize(nullptr);
  return driver.status(result, text("clear memory of ", deviceInfo.name));
}

Status CudaDevice::allocIpc(uint64_t bytes, std::unique_ptr<SharedMemory> &memory) {
  auto made = std::make_unique<IpcShared>(driver, context, /*owns=*/true);
  if (Result result = driver.memAlloc(&made->start, bytes); result != Success)
    return driver.status(result, text("allocate ", bytes, " bytes on ", deviceInfo.name));
  if (Status status = clear(made->start, bytes); !status)
    return status;
  memory = std::move(made);
  return {};
}

Status CudaDevice::openShared(const HeapTicket &ticket, uint64_t bytes,
                              std::unique_ptr<SharedMemory> &memory) {
  Scope scope(driver, context);
  if (scope.result != Success)
    return driver.status(scope.result, text("use ", deviceInfo.name));
  if (ticket.kind == IpcMemory) {
    auto opened = std::make_unique<IpcShared>(driver, context, /*owns=*/false);
    IpcHandle ipc;
    std::memcpy(&ipc, ticket.data.data(), sizeof(ipc));
    if (!driver.ipcOpenMemHandle || !driver.ipcCloseMemHandle)
      return Status::error(HEDDLE_UNAVAILABLE, "the driver has no CUDA IPC");
    if (Result result = driver.ipcOpenMemHandle(&opened->start, ipc, IpcLazyEnablePeerAccess);
        result != Success)
      return driver.status(
          result, text("address memory of another process on ", deviceInfo.name, " (CUDA IPC)"));
    memory = std::move(opened);
    return {};
  }
  if (!driver.hasVirtualMemory() || ticket.kind != PosixHandle)
    return Status::error(HEDDLE_UNAVAILABLE, "the driver cannot map memory of other processes");
  AllocationProperties properties = {};
  properties.type = AllocationPinned;
  properties.handleTypes = HandlePosixFd;
  properties.location = {LocationDevice, id};
  size_t granularity = 0;
  auto opened = std::make_unique<CudaShared>(driver, context);
  Result result =
      driver.memGetAllocationGranularity(&granularity, &properties, GranularityRecommended);
  if (result == Success) {
    opened->bytes = (bytes + granularity - 1) / granularity * granularity;
    result = driver.memImportFromShareableHandle(
        &opened->handle, reinterpret_cast<void *>(intptr_t(ticket.fd)), HandlePosixFd);
  }
  if (result == Success)
    result = opened->map({&id, 1}, granularity);
  if (result != Success)
    return driver.status(
        result, text("address memory of another process on ", deviceInfo.name,
                     " (peer access between the GPUs is needed unless they are the same)"));
  memory = std::move(opened);
  return {};
}

Status CudaDevice::mapHost(void *host, uint64_t bytes, uint64_t &address) {
  Scope scope(driver, context);
  Pointer there = 0;
  Result result = scope.result;
  if (result == Success)
    result = driver.memHostRegister(host, bytes, HostRegisterPortable | HostRegisterMapped);
  const bool mine = result == Success;
  // Else another device of this process has done it, for all of them.
  if (result != Success && result != HostMemoryAlreadyRegistered)
    return driver.status(result, text("let ", deviceInfo.name, " address host memory"));
  result = driver.memHostGetDevicePointer(&there, host, 0);
  if (result != Success) {
    if (mine)
      driver.memHostUnregister(host);
    return driver.status(result, text("find host memory on ", deviceInfo.name));
  }
  address = there;
  return {};
}

Status CudaDevice::unmapHost(void *host) {
  Scope scope(driver, context);
  Result result = scope.result == Success ? driver.memHostUnregister(host) : scope.result;
  if (result == HostMemoryNotRegistered) // by another device of this process
    result = Success;
  return driver.status(result, text("take host memory back from ", deviceInfo.name));
}

} // namespace heddle::rt::cu
