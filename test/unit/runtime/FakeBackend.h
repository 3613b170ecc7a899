//===- FakeBackend.h - a device that records what it is asked -------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Devices "fake:<major>.<minor>" in host memory. They keep the last launch, can be
// told to fail, and run the entries of the packages in TestPackages.h in C++.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_UNIT_RUNTIME_FAKEBACKEND_H
#define HEDDLE_TEST_UNIT_RUNTIME_FAKEBACKEND_H

#include "core/Registry.h"
#include <functional>
#include <map>

namespace heddle::rt::test {

class FakeDevice final : public Device {
public:
  explicit FakeDevice(DeviceInfo info) : deviceInfo(std::move(info)) {}
  ~FakeDevice() override;

  const DeviceInfo &info() const override { return deviceInfo; }
  Status alloc(uint64_t bytes, void *&pointer) override;
  Status free(void *pointer) override;
  Status memoryInfo(uint64_t &freeBytes, uint64_t &totalBytes) override;
  Status copy(void *to, const void *from, uint64_t bytes, Stream stream) override;
  Status fill(void *pointer, uint8_t value, uint64_t bytes, Stream stream) override;
  Status allocationOf(const void *pointer, uint64_t &base, uint64_t &bytes) override;
  /// Host memory is its memory already.
  Status mapHost(void *host, uint64_t bytes, uint64_t &address) override;
  Status unmapHost(void *host) override;
  Status createStream(Stream &stream) override;
  Status destroyStream(Stream stream) override;
  Status syncStream(Stream) override { return sync(); }
  Status sync() override;
  Status check() override { return sync(); }
  Status createEvent(std::unique_ptr<Event> &event) override;
  Status recordEvent(Event &event, Stream stream) override;
  Status syncEvent(Event &) override { return {}; }
  Status elapsed(Event &start, Event &stop, float &milliseconds) override;
  Status loadImage(const ImageDesc &desc, std::unique_ptr<Image> &image) override;
  Status findEntry(Image &image, const EntryDesc &desc, std::unique_ptr<Entry> &entry) override;
  Status encodeTensorMap(const TensorMapDesc &desc, TensorMapBytes &map) override;
  Status launch(Entry &entry, const LaunchDesc &launch, Stream stream) override;

  // What happened.
  struct Launch {
    EntryDesc entry;
    std::array<unsigned, 3> grid;
    std::vector<std::byte> params;
    Stream stream;
  };
  std::vector<Launch> launches;
  std::vector<std::string> loaded; ///< "sm_90a cubin"
  int encodes = 0;
  std::map<uint64_t, std::vector<uint8_t>> memory;
  std::map<void *, uint64_t> mapped; ///< host memory, to its bytes

  // What shall happen.
  bool refuseCubins = false, refusePtx = false;
  uint64_t capacity = uint64_t(1) << 32; ///< bytes
  unsigned resident = 1;
  std::string asyncError; ///< reported by sync and check
  /// Run for each launch; by default the kernels of TestPackages.h.
  std::function<void(const Launch &)> execute;

private:
  DeviceInfo deviceInfo;
};

/// Registers the backend once and opens a device of this capability.
std::shared_ptr<FakeDevice> openFake(unsigned major, unsigned minor);
/// The device that "fake:<major>.<minor>" gave last through the C interface.
FakeDevice &lastFake();
void registerFake();

} // namespace heddle::rt::test

#endif // HEDDLE_TEST_UNIT_RUNTIME_FAKEBACKEND_H
