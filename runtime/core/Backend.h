//===- Backend.h - what a device backend implements -----------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Backend finds devices and opens them; a Device allocates, copies, loads
// images and launches entries. The core owns the rules about packages and
// arguments, so a backend only ever sees checked, packed launches.
//
// Adding one: implement Backend, Device, Image and Entry, and add one line to
// Builtins.cpp.
//
// Ownership: the core holds each Device by shared_ptr and destroys its images,
// entries, streams and events first. Threading: all members of Backend and
// Device may be called from several threads at once; an Entry is immutable.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_BACKEND_H
#define HEDDLE_RUNTIME_CORE_BACKEND_H

#include "Status.h"
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::rt {

using Stream = void *;

struct DeviceInfo {
  std::string name;        ///< "cuda:0", "emulator:<target>"
  std::string description; ///< for people
  /// The exact target whose images run here, when the backend knows it by name
  /// (the emulator); empty: decide by capability.
  std::string target;
  unsigned major = 0, minor = 0;
  unsigned multiprocessors = 0;
  bool emulated = false;
  uint64_t memoryBytes = 0, sharedBytesPerBlock = 0, l2Bytes = 0;
  unsigned driverVersion = 0; ///< 13000 for 13.0; 0: none
};

/// The code of one target. Views live as long as the module that loads it.
struct ImageDesc {
  std::string_view target;
  unsigned ptxVersion = 0;
  std::string_view ptx;
  std::span<const uint8_t> cubin; ///< empty: none
  bool useCubin = false;          ///< which of the two to load
};

struct RoleDesc {
  std::string name;
  unsigned firstWarp = 0, warps = 0, registers = 0;
};

enum class ParamKind : uint8_t {
  TensorMap,
  Pointer,
  I32,
  I64,
  F32,
  Comm,
  Signals,
  Workspace,
  Counters
};
struct ParamDesc {
  ParamKind kind;
  uint32_t offset, size; ///< bytes into LaunchDesc::params, PTX's natural alignment
};

/// One entry of an image, with what is the same for every launch.
struct EntryDesc {
  std::string name;        ///< the symbol in the image
  std::string kernel;      ///< the kernel's name in the package
  std::string_view source; ///< the spec's text, for reports; may be empty
  std::array<unsigned, 3> block{1, 1, 1}, cluster{1, 1, 1};
  unsigned sharedBytes = 0;    ///< dynamic
  unsigned registers = 0;      ///< a thread at launch; 0: unknown
  bool mustBeResident = false; ///< all its CTAs wait for each other: launch co-resident
  bool overlaps = false;       ///< waits by itself for the launch ahead (griddepcontrol)
  std::vector<ParamDesc> params;
  uint32_t paramBytes = 0;
  std::vector<RoleDesc> roles; ///< may be empty
};

struct LaunchDesc {
  std::array<unsigned, 3> grid{1, 1, 1};
  bool overlap = false; ///< may begin while the launch ahead of it in the stream ends
  /// paramBytes bytes, 64-byte aligned, laid out by EntryDesc::params; valid only
  /// during the call.
  std::span<const std::byte> params = {};
  /// Launch co-resident where the entry asks for it; off where the core has seen to that itself.
  bool cooperative = true;
};

/// A tensor map before encoding; innermost dimension first, as in the hardware.
struct TensorMapDesc {
  static constexpr unsigned maxRank = 5;
  uint64_t address = 0;
  uint8_t dtype = 0; ///< of pkg::DType
  unsigned rank = 0;
  std::array<uint64_t, maxRank> dims{};    ///< elements
  std::array<uint64_t, maxRank> strides{}; ///< bytes; rank - 1 used
  std::array<uint32_t, maxRank> box{};     ///< elements
  uint8_t swizzle = 0;                     ///< of pkg::Swizzle
  uint16_t l2Promotion = 0;                ///< bytes
  bool operator==(const TensorMapDesc &) const = default;
};
struct alignas(64) TensorMapBytes {
  std::array<std::byte, 128> bytes{};
};

/// A loaded image. Destroying it unloads the code.
class Image {
public:
  virtual ~Image() = default;
};

/// An entry ready to launch. Refers to its image, which outlives it.
class Entry {
public:
  virtual ~Entry() = default;
  /// How many of its CTAs one multiprocessor holds at once; 0: unknown.
  virtual unsigned residentPerMultiprocessor() const = 0;
  /// How many multiprocessors its clusters can fill at once: a cluster lies within one group of
  /// multiprocessors, and what is left of a group stays idle. 0: all, or unknown.
  virtual unsigned clusteredMultiprocessors() const { return 0; }
};

class Event {
public:
  virtual ~Event() = default;
};

/// Memory on its way to another process.
struct HeapTicket {
  static constexpr unsigned bytesMax = 64;
  uint32_t kind = 0; ///< how its maker made it
  int fd = -1;       ///< travels along, as a copy; -1: none
  std::array<std::byte, bytesMax> data{};
};

/// Memory that kernels of several devices address. Destroying it frees or unmaps it.
class SharedMemory {
public:
  virtual ~SharedMemory() = default;
  virtual uint64_t address() const = 0;
  /// For other processes; the ticket's descriptor is the caller's. Only where it was asked for.
  virtual Status exportTo(HeapTicket &ticket);
};

class Device {
public:
  virtual ~Device() = default;
  virtual const DeviceInfo &info() const = 0;
  /// Whether both objects stand for one device.
  virtual bool isSame(const Device &other) const { return this == &other; }
  /// The same in every process for the same device, and for no other.
  virtual std::string identity() const;

  /// bytes > 0. Out of memory is reported by the core, with memoryInfo.
  virtual Status alloc(uint64_t bytes, void *&pointer) = 0;
  virtual Status free(void *pointer) = 0;
  /// Memory of zeros, as any stream sees it from now on. May be called while streams of this
  /// thread are captured. By default for backends without capture.
  virtual Status allocZeroed(uint64_t bytes, void *&pointer);
  /// Which capture of `stream` into a graph is under way; 0: none.
  virtual Status captureOf(Stream stream, uint64_t &capture);
  virtual Status memoryInfo(uint64_t &freeBytes, uint64_t &totalBytes) = 0;
  /// Host or device memory on both sides, ordered in the stream.
  virtual Status copy(void *to, const void *from, uint64_t bytes, Stream stream) = 0;
  virtual Status fill(void *pointer, uint8_t value, uint64_t bytes, Stream stream) = 0;
  /// The allocation `pointer` lies in. Not device memory: NOT_FOUND.
  virtual Status allocationOf(const void *pointer, uint64_t &base, uint64_t &bytes) = 0;

  // For communicators; a backend that has none of this cannot be a rank of several.
  /// Whether kernels here can address memory of `peer`. The error says why not.
  virtual Status canAddress(Device &peer);
  /// Zeroed memory here that kernels of all `users` address alike; nothing of it is in flight when
  /// this returns. `exportable`: other processes may map it too.
  virtual Status allocShared(uint64_t bytes, std::span<Device *const> users, bool exportable,
                             std::unique_ptr<SharedMemory> &memory);
  /// Memory that another process exported, for kernels here. The ticket stays the caller's.
  virtual Status openShared(const HeapTicket &ticket, uint64_t bytes,
                            std::unique_ptr<SharedMemory> &memory);
  /// Lets kernels here read and write host memory while the host does; page-aligned. The host keeps
  /// the memory until it is unmapped.
  virtual Status mapHost(void *host, uint64_t bytes, uint64_t &address);
  virtual Status unmapHost(void *host);

  virtual Status createStream(Stream &stream) = 0;
  virtual Status destroyStream(Stream stream) = 0;
  virtual Status syncStream(Stream stream) = 0;
  virtual Status sync() = 0;
  /// An error of earlier asynchronous work, without waiting.
  virtual Status check() = 0;

  virtual Status createEvent(std::unique_ptr<Event> &event) = 0;
  virtual Status recordEvent(Event &event, Stream stream) = 0;
  virtual Status syncEvent(Event &event) = 0;
  virtual Status elapsed(Event &start, Event &stop, float &milliseconds) = 0;

  virtual Status loadImage(const ImageDesc &desc, std::unique_ptr<Image> &image) = 0;
  virtual Status findEntry(Image &image, const EntryDesc &desc, std::unique_ptr<Entry> &entry) = 0;
  /// May not allocate device memory nor wait: it runs inside graph capture.
  virtual Status encodeTensorMap(const TensorMapDesc &desc, TensorMapBytes &map) = 0;
  virtual Status launch(Entry &entry, const LaunchDesc &launch, Stream stream) = 0;
};

class Backend {
public:
  virtual ~Backend() = default;
  /// What stands before the ':' of a device's name.
  virtual std::string_view name() const = 0;
  /// Appends its devices; none when it cannot work here.
  virtual void list(std::vector<DeviceInfo> &devices) = 0;
  /// `which` is what follows the ':', maybe empty. The error says why not.
  virtual Status open(std::string_view which, std::shared_ptr<Device> &device) = 0;
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_BACKEND_H
