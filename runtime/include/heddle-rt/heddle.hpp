//===- heddle.hpp - C++ convenience over the C interface ------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Header-only, C++17, over heddle.h: handles that clean up after themselves,
// Result<T> in place of out parameters. Nothing here throws, apart from the
// standard library when host memory runs out.
//
//   auto device = heddle::Device::open("cuda:0");
//   if (!device) return report(device.status());
//   auto module = device->loadFile("gemm.hdl");
//   auto kernel = module ? module->kernel("gemm") : module.status();
//
// Ownership: Device and Module are shared handles, cheap to copy; buffers,
// streams, events and modules keep their device. A Kernel keeps its module.
// Threading: as in heddle.h; one C++ object is for one thread at a time, copies
// of a Device, Module or Kernel may be used by several.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RT_HEDDLE_HPP
#define HEDDLE_RT_HEDDLE_HPP

#include "heddle-rt/heddle.h"
#include <cassert>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace heddle {

/// Success or an error. Move-only; owns the C object.
class [[nodiscard]] Status {
public:
  Status(heddle_status status = nullptr) : handle(status) {}
  bool ok() const { return !handle; }
  explicit operator bool() const { return ok(); }
  heddle_code code() const { return heddle_status_code(handle.get()); }
  std::string message() const { return heddle_status_message(handle.get()); }
  std::string location() const { return heddle_status_location(handle.get()); }
  std::string argument() const { return heddle_status_argument(handle.get()); }
  /// "shape mismatch: argument A: expected rank 2, got 1 (Arguments.cpp:120)".
  std::string text() const {
    if (ok())
      return "ok";
    return std::string(heddle_code_name(code())) + ": " + message() + " (" + location() + ")";
  }

private:
  struct Destroy {
    void operator()(heddle_status_object *status) const { heddle_status_destroy(status); }
  };
  std::unique_ptr<heddle_status_object, Destroy> handle;
};

/// A value, or the Status that kept it from being made.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : state(std::in_place_index<0>, std::move(value)) {}
  Result(Status status) : state(std::in_place_index<1>, std::move(status)) {}
  explicit operator bool() const { return state.index() == 0; }
  T &operator*() { return value(); }
  T *operator->() { return &value(); }
  /// Only when it holds a value.
  T &value() {
    assert(state.index() == 0 && "value of a failed result");
    return *std::get_if<0>(&state);
  }
  /// The error, once; success when it holds a value.
  Status status() { return state.index() == 1 ? std::move(*std::get_if<1>(&state)) : Status(); }

private:
  std::variant<T, Status> state;
};

/// A tensor in device memory, not owned. Empty strides: contiguous.
struct Tensor {
  heddle_dtype dtype = HEDDLE_F32;
  void *data = nullptr;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
};

/// What a launch takes: a tensor or a number.
using Argument = std::variant<Tensor, double>;

class Device;

/// Device memory, freed with the object. Move-only.
class Buffer {
public:
  Buffer() = default;
  Buffer(Buffer &&other) noexcept
      : device(std::move(other.device)), pointer(std::exchange(other.pointer, nullptr)),
        bytes(std::exchange(other.bytes, 0)) {}
  Buffer &operator=(Buffer &&other) noexcept {
    std::swap(device, other.device);
    std::swap(pointer, other.pointer);
    std::swap(bytes, other.bytes);
    return *this;
  }
  ~Buffer() {
    if (pointer)
      Status ignored(heddle_free(device.get(), pointer));
  }
  void *data() const { return pointer; }
  uint64_t size() const { return bytes; } ///< bytes
  /// Copies from host memory, ordered in the stream.
  Status upload(const void *from, uint64_t count, heddle_stream stream = nullptr) {
    return heddle_copy(device.get(), pointer, from, count, stream);
  }
  /// Copies to host memory and waits for it.
  Status download(void *to, uint64_t count, heddle_stream stream = nullptr) const {
    if (Status status = heddle_copy(device.get(), to, pointer, count, stream); !status)
      return status;
    return heddle_stream_sync(device.get(), stream);
  }
  Status fill(uint8_t value, heddle_stream stream = nullptr) {
    return heddle_fill(device.get(), pointer, value, bytes, stream);
  }

private:
  friend class Device;
  std::shared_ptr<heddle_device_object> device;
  void *pointer = nullptr;
  uint64_t bytes = 0;
};

/// A stream made by the runtime, destroyed with the object. Move-only.
class Stream {
public:
  Stream(Stream &&other) noexcept
      : device(std::move(other.device)), stream(std::exchange(other.stream, nullptr)) {}
  Stream &operator=(Stream &&other) noexcept {
    std::swap(device, other.device);
    std::swap(stream, other.stream);
    return *this;
  }
  ~Stream() {
    if (stream)
      Status ignored(heddle_stream_destroy(device.get(), stream));
  }
  operator heddle_stream() const { return stream; }
  Status sync() { return heddle_stream_sync(device.get(), stream); }

private:
  friend class Device;
  Stream() = default;
  std::shared_ptr<heddle_device_object> device;
  heddle_stream stream = nullptr;
};

/// A point in a stream. Move-only.
class Event {
public:
  Status record(heddle_stream stream = nullptr) { return heddle_event_record(event.get(), stream); }
  Status sync() { return heddle_event_sync(event.get()); }
  /// Milliseconds from `start` to this; waits for both.
  Result<float> since(const Event &start) const {
    float milliseconds = 0;
    if (Status status = heddle_event_elapsed(start.event.get(), event.get(), &milliseconds);
        !status)
      return status;
    return milliseconds;
  }

private:
  friend class Device;
  struct Destroy {
    void operator()(heddle_event_object *event) const { heddle_event_destroy(event); }
  };
  std::unique_ptr<heddle_event_object, Destroy> event;
};

/// A kernel, loaded. Copyable; keeps its module.
class Kernel {
public:
  std::string name() const { return heddle_kernel_name(kernel); }
  size_t argumentCount() const { return heddle_kernel_arg_count(kernel); }
  Result<heddle_arg_info> argument(size_t index) const {
    heddle_arg_info info;
    if (Status status = heddle_kernel_arg(kernel, index, &info); !status)
      return status;
    return info;
  }
  /// Ordered in options.stream; returns without waiting.
  Status launch(const std::vector<Argument> &arguments,
                const heddle_launch_options &options = {}) const {
    std::vector<heddle_arg> args = describe(arguments);
    return heddle_launch(kernel, args.data(), args.size(), &options);
  }
  /// The checks of a launch without the launch; `variant` as in heddle_launch_check.
  Status check(const std::vector<Argument> &arguments, const heddle_launch_options &options = {},
               int32_t *variant = nullptr) const {
    std::vector<heddle_arg> args = describe(arguments);
    return heddle_launch_check(kernel, args.data(), args.size(), &options, variant);
  }
  heddle_kernel handle() const { return kernel; }

private:
  friend class Module;
  static heddle_arg describe(const Argument &argument) {
    heddle_arg arg = {};
    if (const double *scalar = std::get_if<double>(&argument)) {
      arg.kind = HEDDLE_SCALAR;
      arg.scalar = *scalar;
      return arg;
    }
    const Tensor &tensor = *std::get_if<Tensor>(&argument);
    arg.kind = HEDDLE_TENSOR;
    arg.dtype = tensor.dtype;
    arg.data = tensor.data;
    arg.rank = static_cast<int32_t>(tensor.shape.size());
    arg.shape = tensor.shape.data();
    arg.strides = tensor.strides.size() == tensor.shape.size() ? tensor.strides.data() : nullptr;
    return arg;
  }
  static std::vector<heddle_arg> describe(const std::vector<Argument> &arguments) {
    std::vector<heddle_arg> args;
    args.reserve(arguments.size());
    for (const Argument &argument : arguments)
      args.push_back(describe(argument));
    return args;
  }
  std::shared_ptr<heddle_module_object> module;
  heddle_kernel kernel = nullptr;
};

/// A loaded package. Copyable.
class Module {
public:
  std::vector<std::string> kernelNames() const {
    std::vector<std::string> names;
    for (size_t i = 0; i < heddle_module_kernel_count(module.get()); ++i)
      names.emplace_back(heddle_module_kernel_name(module.get(), i));
    return names;
  }
  /// An empty name is the only kernel of the package.
  Result<Kernel> kernel(const std::string &name = "") const {
    Kernel made;
    made.module = module;
    if (Status status =
            heddle_module_kernel(module.get(), name.empty() ? nullptr : name.c_str(), &made.kernel);
        !status)
      return status;
    return made;
  }
  heddle_module handle() const { return module.get(); }

private:
  friend class Device;
  std::shared_ptr<heddle_module_object> module;
};

/// An opened device. Copyable.
class Device {
public:
  /// "cuda:0", "emulator:<target>".
  static Result<Device> open(const std::string &name) {
    heddle_device raw = nullptr;
    if (Status status = heddle_device_open(name.c_str(), &raw); !status)
      return status;
    Device made;
    made.device.reset(raw, heddle_device_close);
    return made;
  }
  static Result<std::vector<heddle_device_info>> list() {
    size_t count = 0;
    if (Status status = heddle_device_list(nullptr, 0, &count); !status)
      return status;
    std::vector<heddle_device_info> infos(count);
    if (Status status = heddle_device_list(infos.data(), infos.size(), &count); !status)
      return status;
    infos.resize(count < infos.size() ? count : infos.size());
    return infos;
  }
  Result<heddle_device_info> info() const {
    heddle_device_info info;
    if (Status status = heddle_device_properties(device.get(), &info); !status)
      return status;
    return info;
  }
  Status sync() const { return heddle_device_sync(device.get()); }
  Status check() const { return heddle_device_check(device.get()); }

  Result<Buffer> alloc(uint64_t bytes) const {
    Buffer made;
    made.device = device;
    made.bytes = bytes;
    if (Status status = heddle_alloc(device.get(), bytes, &made.pointer); !status)
      return status;
    return made;
  }
  Result<Stream> createStream() const {
    Stream made;
    made.device = device;
    if (Status status = heddle_stream_create(device.get(), &made.stream); !status)
      return status;
    return made;
  }
  Result<Event> createEvent() const {
    heddle_event raw = nullptr;
    if (Status status = heddle_event_create(device.get(), &raw); !status)
      return status;
    Event made;
    made.event.reset(raw);
    return made;
  }
  Result<Module> load(const void *package, size_t bytes) const {
    heddle_module raw = nullptr;
    return adopt(heddle_module_load(device.get(), package, bytes, &raw), raw);
  }
  Result<Module> loadFile(const std::string &path) const {
    heddle_module raw = nullptr;
    return adopt(heddle_module_load_file(device.get(), path.c_str(), &raw), raw);
  }
  heddle_device handle() const { return device.get(); }

private:
  static Result<Module> adopt(Status status, const heddle_module &raw) {
    if (!status)
      return status;
    Module made;
    made.module.reset(raw, heddle_module_unload);
    return made;
  }
  std::shared_ptr<heddle_device_object> device;
};

/// One rank of a communicator, with what was allocated through it alive as long as the object.
/// Move-only.
class Comm {
public:
  /// All ranks in this process: rank i on devices[i].
  static Result<std::vector<Comm>> createLocal(const std::vector<Device> &devices,
                                               const heddle_comm_options &options = {}) {
    std::vector<heddle_device> handles;
    for (const Device &device : devices)
      handles.push_back(device.handle());
    std::vector<heddle_comm> raw(devices.size());
    if (Status status =
            heddle_comm_create_local(handles.data(), handles.size(), &options, raw.data());
        !status)
      return status;
    std::vector<Comm> made(devices.size());
    for (size_t i = 0; i < raw.size(); ++i)
      made[i].comm.reset(raw[i]);
    return made;
  }
  /// This process is one rank on `device`. Collective.
  static Result<Comm> create(const Device &device, const heddle_comm_options &options = {}) {
    heddle_comm raw = nullptr;
    if (Status status = heddle_comm_create(device.handle(), &options, &raw); !status)
      return status;
    Comm made;
    made.comm.reset(raw);
    return made;
  }
  Result<heddle_comm_info> info() const {
    heddle_comm_info info;
    if (Status status = heddle_comm_properties(comm.get(), &info); !status)
      return status;
    return info;
  }
  /// Symmetric memory; collective. It goes with the communicator, or by `free`, also collective.
  Result<void *> alloc(uint64_t bytes) const {
    void *pointer = nullptr;
    if (Status status = heddle_comm_alloc(comm.get(), bytes, &pointer); !status)
      return status;
    return pointer;
  }
  Status free(void *pointer) const { return heddle_comm_free(comm.get(), pointer); }
  Result<void *> peer(const void *pointer, int rank) const {
    void *there = nullptr;
    if (Status status = heddle_comm_peer(comm.get(), pointer, rank, &there); !status)
      return status;
    return there;
  }
  Status barrier() const { return heddle_comm_barrier(comm.get()); }
  Status check() const { return heddle_comm_check(comm.get()); }
  Status abort(const std::string &reason) const {
    return heddle_comm_abort(comm.get(), reason.c_str());
  }
  heddle_comm handle() const { return comm.get(); }

private:
  struct Destroy {
    void operator()(heddle_comm_object *comm) const { heddle_comm_destroy(comm); }
  };
  std::unique_ptr<heddle_comm_object, Destroy> comm;
};

} // namespace heddle

#endif // HEDDLE_RT_HEDDLE_HPP
