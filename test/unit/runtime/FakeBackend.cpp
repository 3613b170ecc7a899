//===- FakeBackend.cpp - a device that records what it is asked -----------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeBackend.h"
#include "TestPackages.h"
#include <cstdlib>
#include <cstring>

namespace heddle::rt::test {

namespace {

struct FakeEvent final : Event {
  double time = 0;
};
struct FakeImage final : Image {};
struct FakeEntry final : Entry {
  unsigned residentPerMultiprocessor() const override { return resident; }
  EntryDesc desc;
  unsigned resident = 1;
};

std::weak_ptr<FakeDevice> last;

class FakeBackend final : public Backend {
public:
  std::string_view name() const override { return "fake"; }
  void list(std::vector<DeviceInfo> &devices) override { devices.push_back(describe(9, 0)); }
  Status open(std::string_view which, std::shared_ptr<Device> &device) override {
    unsigned major = 0, minor = 0;
    if (std::sscanf(std::string(which).c_str(), "%u.%u", &major, &minor) != 2)
      return Status::error(HEDDLE_NOT_FOUND, "no such fake");
    auto made = std::make_shared<FakeDevice>(describe(major, minor));
    last = made;
    device = std::move(made);
    return {};
  }
  static DeviceInfo describe(unsigned major, unsigned minor) {
    DeviceInfo info;
    info.name = text("fake:", major, '.', minor);
    info.description = "Fake GPU";
    info.major = major;
    info.minor = minor;
    info.multiprocessors = 4;
    info.memoryBytes = uint64_t(1) << 32;
    info.l2Bytes = 1 << 16;
    return info;
  }
};

} // namespace

FakeDevice::~FakeDevice() = default;

Status FakeDevice::alloc(uint64_t bytes, void *&pointer) {
  uint64_t used = 0;
  for (auto &[address, block] : memory)
    used += block.size();
  if (bytes > capacity - used)
    return Status::error(HEDDLE_OUT_OF_MEMORY, "full");
  // 256-byte aligned inside a block of its own.
  std::vector<uint8_t> block(bytes + 512);
  uint64_t address = (reinterpret_cast<uintptr_t>(block.data()) + 255) / 256 * 256;
  memory.emplace(address, std::move(block));
  pointer = reinterpret_cast<void *>(address);
  return {};
}

Status FakeDevice::free(void *pointer) {
  if (!memory.erase(reinterpret_cast<uintptr_t>(pointer)))
    return Status::error(HEDDLE_DEVICE_ERROR, "not allocated");
  return {};
}

Status FakeDevice::memoryInfo(uint64_t &freeBytes, uint64_t &totalBytes) {
  freeBytes = totalBytes = capacity;
  return {};
}

Status FakeDevice::copy(void *to, const void *from, uint64_t bytes, Stream) {
  std::memcpy(to, from, bytes);
  return {};
}

Status FakeDevice::fill(void *pointer, uint8_t value, uint64_t bytes, Stream) {
  std::memset(pointer, value, bytes);
  return {};
}

Status FakeDevice::allocationOf(const void *pointer, uint64_t &base, uint64_t &bytes) {
  uint64_t address = reinterpret_cast<uintptr_t>(pointer);
  for (auto &[start, block] : memory)
    if (address >= start && address < start + block.size() - 512) {
      base = start;
      bytes = block.size() - 512;
      return {};
    }
  return Status::error(HEDDLE_NOT_FOUND, "not device memory");
}

Status FakeDevice::mapHost(void *host, uint64_t bytes, uint64_t &address) {
  mapped[host] = bytes;
  address = reinterpret_cast<uintptr_t>(host);
  return {};
}

Status FakeDevice::unmapHost(void *host) {
  return mapped.erase(host) ? Status() : Status::error(HEDDLE_INTERNAL, "was not mapped");
}

Status FakeDevice::createStream(Stream &stream) {
  stream = new int;
  return {};
}

Status FakeDevice::destroyStream(Stream stream) {
  delete static_cast<int *>(stream);
  return {};
}

Status FakeDevice::sync() {
  return asyncError.empty() ? Status() : Status::error(HEDDLE_DEVICE_LOST, asyncError);
}

Status FakeDevice::createEvent(std::unique_ptr<Event> &event) {
  event = std::make_unique<FakeEvent>();
  return {};
}

Status FakeDevice::recordEvent(Event &event, Stream) {
  // Time passes by 2 ms a launch.
  static_cast<FakeEvent &>(event).time = 2.0 * double(launches.size());
  return {};
}

Status FakeDevice::elapsed(Event &start, Event &stop, float &milliseconds) {
  milliseconds = float(static_cast<FakeEvent &>(stop).time - static_cast<FakeEvent &>(start).time);
  return {};
}

Status FakeDevice::loadImage(const ImageDesc &desc, std::unique_ptr<Image> &image) {
  if (desc.useCubin ? refuseCubins : refusePtx)
    return Status::error(HEDDLE_DEVICE_ERROR, desc.useCubin ? "cubin refused" : "ptx refused");
  loaded.push_back(text(desc.target, desc.useCubin ? " cubin" : " ptx"));
  image = std::make_unique<FakeImage>();
  return {};
}

Status FakeDevice::findEntry(Image &, const EntryDesc &desc, std::unique_ptr<Entry> &entry) {
  auto made = std::make_unique<FakeEntry>();
  made->desc = desc;
  made->resident = resident;
  entry = std::move(made);
  return {};
}

Status FakeDevice::encodeTensorMap(const TensorMapDesc &desc, TensorMapBytes &map) {
  ++encodes;
  std::memcpy(map.bytes.data(), &desc.address, sizeof(desc.address));
  return {};
}

Status FakeDevice::launch(Entry &entry, const LaunchDesc &launch, Stream stream) {
  launches.push_back({static_cast<FakeEntry &>(entry).desc,
                      launch.grid,
                      {launch.params.begin(), launch.params.end()},
                      stream});
  if (execute)
    execute(launches.back());
  else
    runTestKernel(launches.back());
  return {};
}

void registerFake() {
  static bool done = [] { return Registry::get().add(std::make_unique<FakeBackend>()).ok(); }();
  (void)done;
}

std::shared_ptr<FakeDevice> openFake(unsigned major, unsigned minor) {
  registerFake();
  std::shared_ptr<Device> device;
  if (Status status = Registry::get().open(text("fake:", major, '.', minor), device); !status)
    std::abort();
  return std::static_pointer_cast<FakeDevice>(device);
}

FakeDevice &lastFake() { return *last.lock(); }

} // namespace heddle::rt::test
