//===- CudaDevice.h - a GPU through the driver API ------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Retains the GPU's primary context for its lifetime. Thread-safe: each call
// makes the context current on its thread and restores what was current before.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CUDA_CUDADEVICE_H
#define HEDDLE_RUNTIME_CUDA_CUDADEVICE_H

#include "../core/Backend.h"
#include "Driver.h"

namespace heddle::rt::cu {

/// Fills `info` without creating a context.
Status describe(const Driver &driver, int ordinal, DeviceInfo &info);

/// Makes a context current for its scope.
class Scope {
public:
  Scope(const Driver &driver, Context context);
  ~Scope();
  Scope(const Scope &) = delete;
  Scope &operator=(const Scope &) = delete;
  Result result = Success; ///< of making it current

private:
  const Driver &driver;
  bool pushed = false;
};

class CudaDevice final : public rt::Device {
public:
  static Status open(int ordinal, std::shared_ptr<rt::Device> &device);
  ~CudaDevice() override;

  const DeviceInfo &info() const override { return deviceInfo; }
  Status alloc(uint64_t bytes, void *&pointer) override;
  Status free(void *pointer) override;
  Status allocZeroed(uint64_t bytes, void *&pointer) override;
  Status captureOf(rt::Stream stream, uint64_t &capture) override;
  Status memoryInfo(uint64_t &freeBytes, uint64_t &totalBytes) override;
  Status copy(void *to, const void *from, uint64_t bytes, rt::Stream stream) override;
  Status fill(void *pointer, uint8_t value, uint64_t bytes, rt::Stream stream) override;
  Status allocationOf(const void *pointer, uint64_t &base, uint64_t &bytes) override;
  bool isSame(const rt::Device &other) const override;
  Status canAddress(rt::Device &peer) override;
  Status allocShared(uint64_t bytes, std::span<rt::Device *const> users, bool exportable,
                     std::unique_ptr<SharedMemory> &memory) override;
  std::string identity() const override;
  Status openShared(const HeapTicket &ticket, uint64_t bytes,
                    std::unique_ptr<SharedMemory> &memory) override;
  Status mapHost(void *host, uint64_t bytes, uint64_t &address) override;
  Status unmapHost(void *host) override;
  Status createStream(rt::Stream &stream) override;
  Status destroyStream(rt::Stream stream) override;
  Status syncStream(rt::Stream stream) override;
  Status sync() override;
  Status check() override;
  Status createEvent(std::unique_ptr<rt::Event> &event) override;
  Status recordEvent(rt::Event &event, rt::Stream stream) override;
  Status syncEvent(rt::Event &event) override;
  Status elapsed(rt::Event &start, rt::Event &stop, float &milliseconds) override;
  Status loadImage(const ImageDesc &desc, std::unique_ptr<Image> &image) override;
  Status findEntry(Image &image, const EntryDesc &desc, std::unique_ptr<Entry> &entry) override;
  Status encodeTensorMap(const TensorMapDesc &desc, TensorMapBytes &map) override;
  Status launch(Entry &entry, const LaunchDesc &launch, rt::Stream stream) override;

private:
  Status clear(Pointer start, size_t bytes);
  Status allocIpc(uint64_t bytes, std::unique_ptr<SharedMemory> &memory);
  CudaDevice(const Driver &driver, DeviceInfo info) : driver(driver), deviceInfo(std::move(info)) {}

  const Driver &driver;
  DeviceInfo deviceInfo;
  DeviceId id = 0;
  Context context = nullptr;
  cu::Stream probe = nullptr; ///< empty, queried for sticky errors
};

} // namespace heddle::rt::cu

#endif // HEDDLE_RUNTIME_CUDA_CUDADEVICE_H
