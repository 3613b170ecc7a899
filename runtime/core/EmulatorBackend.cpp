//===- EmulatorBackend.cpp - the PTX emulator as a device -----------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// "emulator:<target>[,seed=N][,sms=N][,limit=N][,checks=races|none][,trace=FILE][,stats=FILE]
// [,threads=N][,group=NAME]": executes the PTX of a package on the CPU. limit=N ends a launch after
// so many warp instructions; checks=races reports data races (slower); trace=FILE writes what every
// warp, copy and matrix instruction did, for Perfetto, after each launch; stats=FILE counts by
// role (JSON when the name ends in .json, "-" is standard output); threads=N is host
// threads for the blocks of a kernel, where nothing observes it. Devices of one process with the
// same group= share their memory and run together. Work runs at once, in the calling thread, or in
// a group when somebody waits; what a kernel does wrong is reported as on a GPU, by the next sync
// or check, and for good. Streams and events exist so that programs need no second path; an event's
// time is that of the host.
//
//===----------------------------------------------------------------------===//

#include "Backend.h"
#include "EmulatorFabric.h"
#include "emulator/Emulator.h"
#include "emulator/core/Sim.h"
#include "emulator/tensor/TensorMap.h"
#include "heddle/Target/Target.h"
#include <charconv>
#include <chrono>
#include <cstring>
#include <map>

namespace heddle::rt {

namespace {

namespace emu = heddle::emulator;

struct EmulatorImage final : Image {
  std::shared_ptr<const emu::Module> module;
};

struct EmulatorEntry final : Entry {
  unsigned residentPerMultiprocessor() const override { return 0; }
  std::shared_ptr<const emu::Module> module;
  EntryDesc desc;
};

struct EmulatorEvent final : Event {
  std::chrono::steady_clock::time_point time;
};

using Settings = EmulatorSettings;

DeviceInfo describe(const Settings &settings) {
  const target::Target &t = *settings.target;
  const target::Chip &chip = target::defaultChip(t);
  DeviceInfo info;
  info.name = text("emulator:", t.name);
  info.description = text("emulated ", chip.name);
  info.target = t.name;
  info.major = t.major;
  info.minor = t.minor;
  info.multiprocessors = settings.multiprocessors ? settings.multiprocessors : chip.sms;
  info.emulated = true;
  info.memoryBytes = emu::Limits().maxMemory;
  info.sharedBytesPerBlock = t.sharedPerBlock;
  info.l2Bytes = chip.l2Bytes;
  return info;
}

class EmulatorDevice final : public Device {
public:
  EmulatorDevice(const Settings &settings, std::shared_ptr<EmulatorFabric> joined)
      : deviceInfo(describe(settings)), target(*settings.target), fabric(std::move(joined)),
        device(fabric->add(settings)) {}
  ~EmulatorDevice() override { fabric->leave(); }

  const DeviceInfo &info() const override { return deviceInfo; }
  Status alloc(uint64_t bytes, void *&pointer) override;
  Status free(void *pointer) override;
  Status memoryInfo(uint64_t &freeBytes, uint64_t &totalBytes) override;
  Status copy(void *to, const void *from, uint64_t bytes, Stream stream) override;
  Status fill(void *pointer, uint8_t value, uint64_t bytes, Stream stream) override;
  Status allocationOf(const void *pointer, uint64_t &base, uint64_t &bytes) override;
  Status canAddress(rt::Device &peer) override;
  Status allocShared(uint64_t bytes, std::span<rt::Device *const> users, bool exportable,
                     std::unique_ptr<SharedMemory> &memory) override;
  Status mapHost(void *host, uint64_t bytes, uint64_t &address) override;
  Status unmapHost(void *host) override;
  Status createStream(Stream &stream) override;
  Status destroyStream(Stream stream) override;
  Status syncStream(Stream) override { return sync(); }
  Status sync() override;
  Status check() override;
  Status createEvent(std::unique_ptr<Event> &event) override;
  Status recordEvent(Event &event, Stream stream) override;
  Status syncEvent(Event &) override { return sync(); }
  Status elapsed(Event &start, Event &stop, float &milliseconds) override;
  Status loadImage(const ImageDesc &desc, std::unique_ptr<Image> &image) override;
  Status findEntry(Image &image, const EntryDesc &desc, std::unique_ptr<Entry> &entry) override;
  Status encodeTensorMap(const TensorMapDesc &desc, TensorMapBytes &map) override;
  Status launch(Entry &entry, const LaunchDesc &launch, Stream stream) override;

private:
  emu::Device *owner(const void *pointer) const {
    return fabric->owner(reinterpret_cast<uintptr_t>(pointer));
  }
  Status view(const void *pointer, uint64_t bytes, void *&host) const;
  Status lost() const; ///< an error when a kernel failed

  DeviceInfo deviceInfo;
  const target::Target &target;
  std::shared_ptr<EmulatorFabric> fabric;
  emu::Device &device;
  std::map<uint64_t, uint64_t> allocations; ///< start to bytes
  std::map<void *, uint64_t> mapped;        ///< host memory to its address
};

/// A symmetric heap. Keeps the fabric, so that peers may still read it when its device is closed.
class EmulatorShared final : public SharedMemory {
public:
  EmulatorShared(std::shared_ptr<EmulatorFabric> fabric, emu::Device &device, uint64_t start)
      : fabric(std::move(fabric)), device(device), start(start) {}
  ~EmulatorShared() override {
    auto lock = fabric->lock();
    fabric->drain(lock, device);
    device.free(start);
  }
  uint64_t address() const override { return start; }

private:
  std::shared_ptr<EmulatorFabric> fabric;
  emu::Device &device;
  uint64_t start;
};

Status EmulatorDevice::canAddress(rt::Device &peer) {
  auto *other = dynamic_cast<EmulatorDevice *>(&peer);
  if (other && other->fabric == fabric)
    return {};
  return Status::error(HEDDLE_UNAVAILABLE,
                       text("expected emulated devices of one group (open them as ",
                            deviceInfo.name, ",group=<name>), got ", deviceInfo.name, " and ",
                            peer.info().name, " of different groups"));
}

Status EmulatorDevice::allocShared(uint64_t bytes, std::span<rt::Device *const> users,
                                   bool exportable, std::unique_ptr<SharedMemory> &memory) {
  if (exportable)
    return Status::error(HEDDLE_UNAVAILABLE, "the ranks of emulated devices live in one process");
  for (rt::Device *user : users)
    if (Status status = user == this ? Status() : user->canAddress(*this); !status)
      return status;
  auto lock = fabric->lock();
  emu::DevicePtr made = device.allocate(bytes);
  if (!made)
    return Status::error(HEDDLE_OUT_OF_MEMORY, text("cannot allocate ", bytes, " bytes on ",
                                                    deviceInfo.name, " for a symmetric heap"));
  memory = std::make_unique<EmulatorShared>(fabric, device, made);
  return {};
}

Status EmulatorDevice::mapHost(void *host, uint64_t bytes, uint64_t &address) {
  auto lock = fabric->lock();
  address = device.mapHost(host, bytes);
  if (!address)
    return Status::error(HEDDLE_OUT_OF_MEMORY,
                         text("cannot map ", bytes, " bytes of host memory on ", deviceInfo.name));
  mapped[host] = address;
  return {};
}

Status EmulatorDevice::unmapHost(void *host) {
  auto lock = fabric->lock();
  fabric->drain(lock, device);
  auto known = mapped.find(host);
  if (known == mapped.end() || !device.free(known->second))
    return Status::error(HEDDLE_INTERNAL, "host memory was not mapped");
  mapped.erase(known);
  return {};
}

Status EmulatorDevice::alloc(uint64_t bytes, void *&pointer) {
  auto lock = fabric->lock();
  emu::DevicePtr made = device.allocate(bytes);
  if (!made)
    return Status::error(HEDDLE_OUT_OF_MEMORY,
                         text("cannot allocate ", bytes, " bytes on ", deviceInfo.name));
  allocations.emplace(made, bytes);
  pointer = reinterpret_cast<void *>(made);
  return {};
}

Status EmulatorDevice::free(void *pointer) {
  auto lock = fabric->lock();
  fabric->drain(lock, device);
  uint64_t address = reinterpret_cast<uintptr_t>(pointer);
  if (!device.free(address))
    return Status::error(HEDDLE_DEVICE_ERROR,
                         text("cannot free memory of ", deviceInfo.name,
                              ": the address is not the start of an allocation"));
  allocations.erase(address);
  return {};
}

Status EmulatorDevice::memoryInfo(uint64_t &freeBytes, uint64_t &totalBytes) {
  auto lock = fabric->lock();
  uint64_t used = 0;
  for (auto &[start, bytes] : allocations)
    used += bytes;
  totalBytes = fabric->machine().options().limits.maxMemory;
  freeBytes = used < totalBytes ? totalBytes - used : 0;
  return {};
}

/// The host's view of device memory; host memory is its own view.
Status EmulatorDevice::view(const void *pointer, uint64_t bytes, void *&host) const {
  host = const_cast<void *>(pointer);
  emu::Device *of = owner(pointer);
  if (!of)
    return {};
  host = of->hostView(reinterpret_cast<uintptr_t>(pointer), bytes);
  if (host)
    return {};
  return Status::error(
      HEDDLE_INVALID_ARGUMENT,
      text("expected ", bytes, " bytes inside one allocation of ", deviceInfo.name));
}

Status EmulatorDevice::copy(void *to, const void *from, uint64_t bytes, Stream) {
  auto lock = fabric->lock();
  fabric->drain(lock, device);
  void *target = nullptr, *source = nullptr;
  if (Status status = view(to, bytes, target); !status)
    return status;
  if (Status status = view(from, bytes, source); !status)
    return status;
  // copyIn also notes that the bytes are written now.
  if (emu::Device *of = owner(to)) {
    if (!of->copyIn(reinterpret_cast<uintptr_t>(to), source, bytes))
      return Status::error(HEDDLE_INTERNAL, "an emulated copy failed");
  } else {
    std::memmove(target, source, bytes);
  }
  return {};
}

Status EmulatorDevice::fill(void *pointer, uint8_t value, uint64_t bytes, Stream) {
  auto lock = fabric->lock();
  fabric->drain(lock, device);
  if (device.fill(reinterpret_cast<uintptr_t>(pointer), value, bytes))
    return {};
  return Status::error(
      HEDDLE_INVALID_ARGUMENT,
      text("expected ", bytes, " bytes inside one allocation of ", deviceInfo.name));
}

Status EmulatorDevice::allocationOf(const void *pointer, uint64_t &base, uint64_t &bytes) {
  auto lock = fabric->lock();
  uint64_t address = reinterpret_cast<uintptr_t>(pointer);
  auto after = allocations.upper_bound(address);
  if (after == allocations.begin() || address >= std::prev(after)->first + std::prev(after)->second)
    return Status::error(HEDDLE_NOT_FOUND, text("not an address of memory on ", deviceInfo.name));
  base = std::prev(after)->first;
  bytes = std::prev(after)->second;
  return {};
}

Status EmulatorDevice::createStream(Stream &stream) {
  stream = new char; // an identity; work is never queued
  return {};
}

Status EmulatorDevice::destroyStream(Stream stream) {
  delete static_cast<char *>(stream);
  return {};
}

Status EmulatorDevice::check() {
  auto lock = fabric->lock();
  return lost();
}

Status EmulatorDevice::sync() {
  auto lock = fabric->lock();
  fabric->drain(lock, device);
  return lost();
}

Status EmulatorDevice::lost() const {
  if (fabric->failure().empty())
    return {};
  return Status::error(HEDDLE_DEVICE_LOST,
                       text("a kernel failed on ", deviceInfo.name, ": ", fabric->failure()));
}

Status EmulatorDevice::createEvent(std::unique_ptr<Event> &event) {
  event = std::make_unique<EmulatorEvent>();
  return {};
}

Status EmulatorDevice::recordEvent(Event &event, Stream) {
  static_cast<EmulatorEvent &>(event).time = std::chrono::steady_clock::now();
  return {};
}

Status EmulatorDevice::elapsed(Event &start, Event &stop, float &milliseconds) {
  auto difference =
      static_cast<EmulatorEvent &>(stop).time - static_cast<EmulatorEvent &>(start).time;
  milliseconds = std::chrono::duration<float, std::milli>(difference).count();
  return {};
}

Status EmulatorDevice::loadImage(const ImageDesc &desc, std::unique_ptr<Image> &image) {
  emu::Error error;
  auto made = std::make_unique<EmulatorImage>();
  made->module = emu::Module::parse(desc.ptx, target, &error);
  if (!made->module)
    return Status::error(HEDDLE_DEVICE_ERROR, text("cannot load the PTX for ", desc.target, " on ",
                                                   deviceInfo.name, ": ", error.text()));
  image = std::move(made);
  return {};
}

Status EmulatorDevice::findEntry(Image &image, const EntryDesc &desc,
                                 std::unique_ptr<Entry> &entry) {
  const auto &module = static_cast<EmulatorImage &>(image).module;
  const emu::EntryInfo *found = module->entry(desc.name);
  if (!found)
    return Status::error(HEDDLE_DEVICE_ERROR,
                         text("cannot find entry '", desc.name, "' in its image"));
  // The manifest and the PTX must lay the parameters out alike.
  if (found->params.size() != desc.params.size())
    return Status::error(HEDDLE_INVALID_PACKAGE,
                         text("entry '", desc.name, "': the PTX has ", found->params.size(),
                              " parameters, the manifest ", desc.params.size()));
  for (size_t i = 0; i < desc.params.size(); ++i)
    if (found->params[i].offset != desc.params[i].offset ||
        found->params[i].bytes != desc.params[i].size)
      return Status::error(HEDDLE_INVALID_PACKAGE,
                           text("entry '", desc.name, "': parameter ", i, " has ",
                                found->params[i].bytes, " bytes at ", found->params[i].offset,
                                " in the PTX, ", desc.params[i].size, " bytes at ",
                                desc.params[i].offset, " in the manifest"));
  auto made = std::make_unique<EmulatorEntry>();
  made->module = module;
  made->desc = desc;
  entry = std::move(made);
  return {};
}

Status EmulatorDevice::encodeTensorMap(const TensorMapDesc &desc, TensorMapBytes &map) {
  using emu::tensor::MapType;
  static constexpr MapType types[] = {MapType::F32, MapType::F16, MapType::BF16,
                                      MapType::U8,  MapType::U8,  MapType::U8,
                                      MapType::S32, MapType::S64, MapType::F64};
  if (desc.dtype >= std::size(types))
    return Status::error(HEDDLE_INVALID_PACKAGE,
                         text("unknown element type ", desc.dtype, " of a tensor map"));
  emu::tensor::TensorMap model;
  model.type = types[desc.dtype];
  model.rank = desc.rank;
  model.address = desc.address;
  model.dims = desc.dims;
  // The model's stride i belongs to dimension i; ours starts at dimension 1.
  for (unsigned i = 1; i < desc.rank; ++i)
    model.strides[i] = desc.strides[i - 1];
  model.box = desc.box;
  model.swizzle = static_cast<emu::tensor::MapSwizzle>(desc.swizzle);
  model.l2 = static_cast<emu::tensor::MapL2>(desc.l2Promotion == 64    ? 1
                                             : desc.l2Promotion == 128 ? 2
                                             : desc.l2Promotion == 256 ? 3
                                                                       : 0);
  emu::tensor::TensorMapBytes bytes;
  if (auto problem = emu::tensor::encodeTensorMap(model, bytes))
    return Status::error(HEDDLE_INVALID_ARGUMENT, text("cannot encode a tensor map: ", *problem));
  std::memcpy(map.bytes.data(), bytes.data(), bytes.size());
  return {};
}

Status EmulatorDevice::launch(Entry &entry, const LaunchDesc &launch, Stream) {
  auto &e = static_cast<EmulatorEntry &>(entry);
  auto lock = fabric->lock();
  if (Status status = lost(); !status)
    return status;
  auto dim = [](const std::array<unsigned, 3> &d) { return emu::Dim3{d[0], d[1], d[2]}; };
  emu::LaunchConfig config;
  config.grid = dim(launch.grid);
  config.block = dim(e.desc.block);
  config.cluster = dim(e.desc.cluster);
  config.dynamicShared = e.desc.sharedBytes;
  config.registersPerThread = e.desc.registers;
  config.programmaticDependent = launch.overlap;
  config.params.resize(launch.params.size());
  std::memcpy(config.params.data(), launch.params.data(), launch.params.size());
  for (const RoleDesc &role : e.desc.roles)
    config.roles.push_back({role.name, role.firstWarp, role.warps});
  emu::Error error;
  if (!device.enqueue(e.module, e.desc.name, std::move(config), &error))
    return Status::error(HEDDLE_DEVICE_ERROR, text("cannot launch '", e.desc.name, "' on ",
                                                   deviceInfo.name, ": ", error.text()));
  return fabric->launched(lock, device, *e.module, e.desc.name);
}

class EmulatorBackend final : public Backend {
public:
  std::string_view name() const override { return "emulator"; }
  void list(std::vector<DeviceInfo> &devices) override {
    for (const target::Target *t : target::allTargets()) {
      Settings settings;
      settings.target = t;
      devices.push_back(describe(settings));
    }
  }
  Status open(std::string_view which, std::shared_ptr<Device> &device) override {
    Settings settings;
    if (Status status = parse(which, settings); !status)
      return status;
    std::shared_ptr<EmulatorFabric> fabric;
    if (Status status = EmulatorFabric::join(settings, fabric); !status)
      return status;
    device = std::make_shared<EmulatorDevice>(settings, std::move(fabric));
    return {};
  }

private:
  static Status parse(std::string_view text, Settings &settings);
};

Status EmulatorBackend::parse(std::string_view which, Settings &settings) {
  size_t comma = which.find(',');
  settings.target = target::findTarget(which.substr(0, comma));
  if (!settings.target)
    return Status::error(HEDDLE_NOT_FOUND,
                         text("expected emulator:<target> with one of ", target::knownTargetNames(),
                              ", got '", which.substr(0, comma), "'"));
  while (comma != std::string_view::npos) {
    which.remove_prefix(comma + 1);
    comma = which.find(',');
    std::string_view option = which.substr(0, comma);
    size_t equals = option.find('=');
    std::string_view key = option.substr(0, equals),
                     value = equals == std::string_view::npos ? "" : option.substr(equals + 1);
    uint64_t number = 0;
    auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    bool valid = error == std::errc() && end == value.data() + value.size() && !value.empty();
    if (valid && key == "seed")
      settings.seed = number;
    else if (valid && key == "sms" && number >= 1 && number <= 1024)
      settings.multiprocessors = unsigned(number);
    else if (valid && key == "limit")
      settings.limit = number;
    else if (key == "checks" && (value == "races" || value == "none"))
      settings.races = value == "races";
    else if (key == "group" && !value.empty())
      settings.group = std::string(value);
    else if (key == "trace" && !value.empty())
      settings.trace = std::string(value);
    else if (key == "stats" && !value.empty())
      settings.stats = std::string(value);
    else if (valid && key == "threads" && number >= 1 && number <= 1024)
      settings.threads = unsigned(number);
    else
      return Status::error(HEDDLE_INVALID_ARGUMENT,
                           text("expected seed=<number>, sms=<1 to 1024>, checks=<races or none>, "
                                "limit=<instructions>, group=<name>, trace=<file>, "
                                "stats=<file> or threads=<1 to 1024>, got '",
                                option, "'"));
  }
  return {};
}

} // namespace

std::unique_ptr<Backend> createEmulatorBackend() { return std::make_unique<EmulatorBackend>(); }

} // namespace heddle::rt
