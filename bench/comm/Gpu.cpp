//===- Gpu.cpp - the driver functions that the benchmark uses -------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Gpu.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

namespace heddle::bench {

Gpu gpu;

std::string Gpu::open() {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (!library)
    return "libcuda.so.1 cannot be opened: comm-bench needs GPUs";
  std::string missing;
  auto find = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
    if (!function)
      missing = name;
  };
  find(init, "cuInit");
  find(deviceCount, "cuDeviceGetCount");
  find(deviceGet, "cuDeviceGet");
  find(deviceAttribute, "cuDeviceGetAttribute");
  find(deviceName, "cuDeviceGetName");
  find(retain, "cuDevicePrimaryCtxRetain");
  find(setCurrent, "cuCtxSetCurrent");
  find(enablePeer, "cuCtxEnablePeerAccess");
  find(canAccess, "cuDeviceCanAccessPeer");
  find(synchronize, "cuCtxSynchronize");
  find(alloc, "cuMemAlloc_v2");
  find(hostAlloc, "cuMemHostAlloc");
  find(free, "cuMemFree_v2");
  find(copy, "cuMemcpy");
  find(copyPeer, "cuMemcpyPeerAsync");
  find(set, "cuMemsetD8_v2");
  find(streamCreate, "cuStreamCreate");
  find(streamSynchronize, "cuStreamSynchronize");
  find(streamQuery, "cuStreamQuery");
  find(eventCreate, "cuEventCreate");
  find(eventRecord, "cuEventRecord");
  find(eventElapsed, "cuEventElapsedTime");
  find(moduleLoad, "cuModuleLoadData");
  find(moduleFunction, "cuModuleGetFunction");
  find(functionSet, "cuFuncSetAttribute");
  find(launch, "cuLaunchKernel");
  find(captureBegin, "cuStreamBeginCapture_v2");
  find(captureEnd, "cuStreamEndCapture");
  find(graphInstantiate, "cuGraphInstantiateWithFlags");
  find(graphLaunch, "cuGraphLaunch");
  find(graphDestroy, "cuGraphDestroy");
  find(graphExecDestroy, "cuGraphExecDestroy");
  find(errorName, "cuGetErrorName");
  if (!missing.empty())
    return "libcuda.so.1 lacks " + missing;
  return init(0) == 0 ? "" : "cuInit failed: no GPU or no driver";
}

void check(int result, const char *what) {
  if (result == 0)
    return;
  const char *name = "?";
  gpu.errorName(result, &name);
  std::fprintf(stderr, "comm-bench: %s: %s\n", what, name);
  std::exit(1);
}

} // namespace heddle::bench
