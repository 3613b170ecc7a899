//===- CudaDevice.cpp - contexts, memory, streams and events --------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaDevice.h"

namespace heddle::rt::cu {

namespace {

Pointer address(const void *pointer) { return reinterpret_cast<Pointer>(pointer); }
cu::Stream streamOf(rt::Stream stream) { return static_cast<cu::Stream>(stream); }

class CudaEvent final : public rt::Event {
public:
  CudaEvent(const Driver &driver, Context context, cu::Event event)
      : driver(driver), context(context), event(event) {}
  ~CudaEvent() override {
    Scope scope(driver, context);
    if (scope.result == Success)
      driver.eventDestroy(event);
  }
  const Driver &driver;
  Context context;
  cu::Event event;
};

cu::Event eventOf(rt::Event &event) { return static_cast<CudaEvent &>(event).event; }

} // namespace

Scope::Scope(const Driver &driver, Context context) : driver(driver) {
  Context current = nullptr;
  result = driver.ctxGetCurrent(&current);
  if (result != Success || current == context)
    return;
  result = driver.ctxPushCurrent(context);
  pushed = result == Success;
}

Scope::~Scope() {
  Context popped = nullptr;
  if (pushed)
    driver.ctxPopCurrent(&popped);
}

Status describe(const Driver &driver, int ordinal, DeviceInfo &info) {
  DeviceId id = 0;
  info.name = text("cuda:", ordinal);
  if (Result result = driver.deviceGet(&id, ordinal); result != Success)
    return driver.status(result, text("find ", info.name));
  char name[256] = "";
  size_t total = 0;
  int major = 0, minor = 0, count = 0, shared = 0, l2 = 0;
  Result result = driver.deviceGetName(name, sizeof(name), id);
  auto attribute = [&](int &value, DeviceAttribute which) {
    if (result == Success)
      result = driver.deviceGetAttribute(&value, which, id);
  };
  attribute(major, CapabilityMajor);
  attribute(minor, CapabilityMinor);
  attribute(count, MultiprocessorCount);
  attribute(shared, SharedPerBlockOptin);
  attribute(l2, L2CacheSize);
  if (result == Success)
    result = driver.deviceTotalMem(&total, id);
  if (result != Success)
    return driver.status(result, text("query ", info.name));
  info.description = name;
  info.major = major;
  info.minor = minor;
  info.multiprocessors = count;
  info.memoryBytes = total;
  info.sharedBytesPerBlock = shared;
  info.l2Bytes = l2;
  info.driverVersion = driver.version;
  return {};
}

Status CudaDevice::open(int ordinal, std::shared_ptr<rt::Device> &device) {
  const Driver *driver = nullptr;
  if (Status status = Driver::get(driver); !status)
    return std::move(status).within(text("cannot open cuda:", ordinal));
  int count = 0;
  if (Result result = driver->deviceGetCount(&count); result != Success)
    return driver->status(result, "count GPUs");
  if (ordinal >= count)
    return Status::error(HEDDLE_NOT_FOUND, text("expected a GPU index below ", count,
                                                " (the number of GPUs), got cuda:", ordinal));
  DeviceInfo info;
  if (Status status = describe(*driver, ordinal, info); !status)
    return status;
  std::shared_ptr<CudaDevice> made(new CudaDevice(*driver, std::move(info)));
  if (Result result = driver->deviceGet(&made->id, ordinal); result != Success)
    return driver->status(result, text("find cuda:", ordinal));
  if (Result result = driver->primaryCtxRetain(&made->context, made->id); result != Success) {
    made->context = nullptr;
    return driver->status(result, text("create a context on cuda:", ordinal));
  }
  Scope scope(*driver, made->context);
  Result result = scope.result;
  if (result == Success)
    result = driver->streamCreate(&made->probe, StreamNonBlocking);
  if (result != Success)
    return driver->status(result, text("use the context of cuda:", ordinal));
  device = std::move(made);
  return {};
}

CudaDevice::~CudaDevice() {
  if (!context)
    return;
  if (Scope scope(driver, context); scope.result == Success && probe)
    driver.streamDestroy(probe);
  driver.primaryCtxRelease(id);
}

// Every call below: make the context current, do one thing, name it if it fails.
Status CudaDevice::alloc(uint64_t bytes, void *&pointer) {
  Scope scope(driver, context);
  Pointer made = 0;
  Result result = scope.result == Success ? driver.memAlloc(&made, bytes) : scope.result;
  if (result == Success)
    pointer = reinterpret_cast<void *>(made);
  return driver.status(result, text("allocate ", bytes, " bytes on ", deviceInfo.name));
}

Status CudaDevice::free(void *pointer) {
  Scope scope(driver, context);
  Result result = scope.result == Success ? driver.memFree(address(pointer)) : scope.result;
  return driver.status(result, text("free memory of ", deviceInfo.name));
}

/// In a stream of its own, which nobody captures. Allocations under the default mode of capture
/// would spoil a capture of this thread; they do not harm it, so it is relaxed meanwhile.
Status CudaDevice::allocZeroed(uint64_t bytes, void *&pointer) {
  Scope scope(driver, context);
  Result result = scope.result;
  CaptureMode mode = CaptureRelaxed;
  bool relaxed = result == Success && driver.threadExchangeCaptureMode &&
                 driver.threadExchangeCaptureMode(&mode) == Success;
  Pointer made = 0;
  cu::Stream own = nullptr;
  if (result == Success)
    result = driver.memAlloc(&made, bytes);
  if (result == Success)
    result = driver.streamCreate(&own, StreamNonBlocking);
  if (result == Success)
    result = driver.memsetD8Async(made, 0, bytes, own);
  if (result == Success)
    result = driver.streamSynchronize(own);
  if (own)
    driver.streamDestroy(own);
  if (result != Success && made)
    driver.memFree(made);
  if (relaxed)
    driver.threadExchangeCaptureMode(&mode);
  if (result == Success)
    pointer = reinterpret_cast<void *>(made);
  return driver.status(result, text("allocate ", bytes, " bytes of zeros on ", deviceInfo.name));
}

Status CudaDevice::captureOf(rt::Stream stream, uint64_t &capture) {
  capture = 0;
  if (!driver.streamGetCaptureInfo)
    return {};
  Scope scope(driver, context);
  int state = 0;
  unsigned long long id = 0;
  Result result = scope.result;
  if (result == Success)
    result = driver.streamGetCaptureInfo(streamOf(stream), &state, &id, nullptr, nullptr, nullptr);
  // The default stream cannot be captured; it says so while others are.
  if (result == StreamCaptureImplicit)
    return {};
  if (result == Success && state == CaptureActive)
    capture = id;
  return driver.status(result, text("ask a stream of ", deviceInfo.name, " whether it is captured"));
}

Status CudaDevice::memoryInfo(uint64_t &freeBytes, uint64_t &totalBytes) {
  Scope scope(driver, context);
  size_t free = 0, total = 0;
  Result result = scope.result == Success ? driver.memGetInfo(&free, &total) : scope.result;
  freeBytes = free;
  totalBytes = total;
  return driver.status(result, text("query the memory of ", deviceInfo.name));
}

Status CudaDevice::copy(void *to, const void *from, uint64_t bytes, rt::Stream stream) {
  Scope scope(driver, context);
  Result result = scope.result;
  if (result == Success)
    result = driver.memcpyAsync(address(to), address(from), bytes, streamOf(stream));
  return driver.status(result, text("copy ", bytes, " bytes on ", deviceInfo.name));
}

Status CudaDevice::fill(void *pointer, uint8_t value, uint64_t bytes, rt::Stream stream) {
  Scope scope(driver, context);
  Result result = scope.result;
  if (result == Success)
    result = driver.memsetD8Async(address(pointer), value, bytes, streamOf(stream));
  return driver.status(result, text("fill ", bytes, " bytes on ", deviceInfo.name));
}

Status CudaDevice::allocationOf(const void *pointer, uint64_t &base, uint64_t &bytes) {
  Scope scope(driver, context);
  Pointer start = 0;
  size_t size = 0;
  Result result = scope.result;
  if (result == Success)
    result = driver.memGetAddressRange(&start, &size, address(pointer));
  base = start;
  bytes = size;
  if (result == NotFound || result == InvalidValue)
    return Status::error(HEDDLE_NOT_FOUND, text("not an address of memory on ", deviceInfo.name));
  return driver.status(result, text("look up an address on ", deviceInfo.name));
}

Status CudaDevice::createStream(rt::Stream &stream) {
  Scope scope(driver, context);
  cu::Stream made = nullptr;
  Result result =
      scope.result == Success ? driver.streamCreate(&made, StreamNonBlocking) : scope.result;
  if (result == Success)
    stream = made;
  return driver.status(result, text("create a stream on ", deviceInfo.name));
}

Status CudaDevice::destroyStream(rt::Stream stream) {
  Scope scope(driver, context);
  Result result = scope.result == Success ? driver.streamDestroy(streamOf(stream)) : scope.result;
  return driver.status(result, text("destroy a stream of ", deviceInfo.name));
}

Status CudaDevice::syncStream(rt::Stream stream) {
  Scope scope(driver, context);
  Result result =
      scope.result == Success ? driver.streamSynchronize(streamOf(stream)) : scope.result;
  return driver.status(result, text("finish the work of a stream on ", deviceInfo.name));
}

Status CudaDevice::sync() {
  Scope scope(driver, context);
  Result result = scope.result == Success ? driver.ctxSynchronize() : scope.result;
  return driver.status(result, text("finish the work on ", deviceInfo.name));
}

Status CudaDevice::check() {
  Scope scope(driver, context);
  Result result = scope.result == Success ? driver.streamQuery(probe) : scope.result;
  return driver.status(result == NotReady ? Result(Success) : result,
                       text("go on using ", deviceInfo.name));
}

Status CudaDevice::createEvent(std::unique_ptr<rt::Event> &event) {
  Scope scope(driver, context);
  cu::Event made = nullptr;
  Result result = scope.result == Success ? driver.eventCreate(&made, 0) : scope.result;
  if (result == Success)
    event = std::make_unique<CudaEvent>(driver, context, made);
  return driver.status(result, text("create an event on ", deviceInfo.name));
}

Status CudaDevice::recordEvent(rt::Event &event, rt::Stream stream) {
  Scope scope(driver, context);
  Result result = scope.result;
  if (result == Success)
    result = driver.eventRecord(eventOf(event), streamOf(stream));
  return driver.status(result, text("record an event on ", deviceInfo.name));
}

Status CudaDevice::syncEvent(rt::Event &event) {
  Scope scope(driver, context);
  Result result = scope.result == Success ? driver.eventSynchronize(eventOf(event)) : scope.result;
  return driver.status(result, text("wait for an event on ", deviceInfo.name));
}

Status CudaDevice::elapsed(rt::Event &start, rt::Event &stop, float &milliseconds) {
  Scope scope(driver, context);
  Result result = scope.result;
  for (rt::Event *event : {&start, &stop})
    if (result == Success)
      result = driver.eventSynchronize(eventOf(*event));
  float value = 0;
  if (result == Success)
    result = driver.eventElapsedTime(&value, eventOf(start), eventOf(stop));
  if (result == Success)
    milliseconds = value;
  return driver.status(result, text("time work on ", deviceInfo.name));
}

} // namespace heddle::rt::cu
