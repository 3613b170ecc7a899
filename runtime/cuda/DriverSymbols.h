//===- DriverSymbols.h - the driver functions in use ----------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one list of symbols taken from libcuda.so.1, for inclusion more than once
// with HEDDLE_DRIVER_SYMBOL(member, "exported name", parameter types...) and
// HEDDLE_DRIVER_OPTIONAL (absent from older drivers) defined. Exported names
// carry their ABI version, which the driver keeps for good, so that they are
// looked up by name. All return cu::Result.
//
//===----------------------------------------------------------------------===//

HEDDLE_DRIVER_SYMBOL(init, "cuInit", unsigned flags)
HEDDLE_DRIVER_SYMBOL(driverGetVersion, "cuDriverGetVersion", int *version)
HEDDLE_DRIVER_SYMBOL(getErrorName, "cuGetErrorName", Result error, const char **name)
HEDDLE_DRIVER_SYMBOL(getErrorString, "cuGetErrorString", Result error, const char **text)

HEDDLE_DRIVER_SYMBOL(deviceGetCount, "cuDeviceGetCount", int *count)
HEDDLE_DRIVER_SYMBOL(deviceGet, "cuDeviceGet", DeviceId *device, int ordinal)
HEDDLE_DRIVER_SYMBOL(deviceGetName, "cuDeviceGetName", char *name, int capacity, DeviceId device)
HEDDLE_DRIVER_SYMBOL(deviceGetAttribute, "cuDeviceGetAttribute", int *value, DeviceAttribute attribute, DeviceId device)
HEDDLE_DRIVER_SYMBOL(deviceTotalMem, "cuDeviceTotalMem_v2", size_t *bytes, DeviceId device)
HEDDLE_DRIVER_SYMBOL(primaryCtxRetain, "cuDevicePrimaryCtxRetain", Context *context, DeviceId device)
HEDDLE_DRIVER_SYMBOL(primaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", DeviceId device)

HEDDLE_DRIVER_SYMBOL(ctxGetCurrent, "cuCtxGetCurrent", Context *context)
HEDDLE_DRIVER_SYMBOL(ctxPushCurrent, "cuCtxPushCurrent_v2", Context context)
HEDDLE_DRIVER_SYMBOL(ctxPopCurrent, "cuCtxPopCurrent_v2", Context *context)
HEDDLE_DRIVER_SYMBOL(ctxSynchronize, "cuCtxSynchronize", void)

HEDDLE_DRIVER_SYMBOL(memAlloc, "cuMemAlloc_v2", Pointer *pointer, size_t bytes)
HEDDLE_DRIVER_SYMBOL(memFree, "cuMemFree_v2", Pointer pointer)
HEDDLE_DRIVER_SYMBOL(memGetInfo, "cuMemGetInfo_v2", size_t *free, size_t *total)
HEDDLE_DRIVER_SYMBOL(memcpyAsync, "cuMemcpyAsync", Pointer to, Pointer from, size_t bytes, Stream stream)
HEDDLE_DRIVER_SYMBOL(memsetD8Async, "cuMemsetD8Async", Pointer to, unsigned char value, size_t bytes, Stream stream)
HEDDLE_DRIVER_SYMBOL(memGetAddressRange, "cuMemGetAddressRange_v2", Pointer *base, size_t *bytes, Pointer pointer)

HEDDLE_DRIVER_SYMBOL(memHostRegister, "cuMemHostRegister_v2", void *host, size_t bytes, unsigned flags)
HEDDLE_DRIVER_SYMBOL(memHostUnregister, "cuMemHostUnregister", void *host)
HEDDLE_DRIVER_SYMBOL(memHostGetDevicePointer, "cuMemHostGetDevicePointer_v2", Pointer *pointer, void *host, unsigned flags)
HEDDLE_DRIVER_OPTIONAL(deviceCanAccessPeer, "cuDeviceCanAccessPeer", int *can, DeviceId device, DeviceId peer)
HEDDLE_DRIVER_OPTIONAL(memGetAllocationGranularity, "cuMemGetAllocationGranularity", size_t *bytes, const AllocationProperties *properties, int option)
HEDDLE_DRIVER_OPTIONAL(memCreate, "cuMemCreate", AllocationHandle *handle, size_t bytes, const AllocationProperties *properties, unsigned long long flags)
HEDDLE_DRIVER_OPTIONAL(memRelease, "cuMemRelease", AllocationHandle handle)
HEDDLE_DRIVER_OPTIONAL(memAddressReserve, "cuMemAddressReserve", Pointer *pointer, size_t bytes, size_t alignment, Pointer wanted, unsigned long long flags)
HEDDLE_DRIVER_OPTIONAL(memAddressFree, "cuMemAddressFree", Pointer pointer, size_t bytes)
HEDDLE_DRIVER_OPTIONAL(memMap, "cuMemMap", Pointer pointer, size_t bytes, size_t offset, AllocationHandle handle, unsigned long long flags)
HEDDLE_DRIVER_OPTIONAL(memUnmap, "cuMemUnmap", Pointer pointer, size_t bytes)
HEDDLE_DRIVER_OPTIONAL(memSetAccess, "cuMemSetAccess", Pointer pointer, size_t bytes, const AccessDescription *access, size_t count)

HEDDLE_DRIVER_OPTIONAL(memExportToShareableHandle, "cuMemExportToShareableHandle", void *to, AllocationHandle handle, int type, unsigned long long flags)
HEDDLE_DRIVER_OPTIONAL(memImportFromShareableHandle, "cuMemImportFromShareableHandle", AllocationHandle *handle, void *from, int type)
HEDDLE_DRIVER_OPTIONAL(ipcGetMemHandle, "cuIpcGetMemHandle", IpcHandle *handle, Pointer pointer)
HEDDLE_DRIVER_OPTIONAL(ipcOpenMemHandle, "cuIpcOpenMemHandle_v2", Pointer *pointer, IpcHandle handle, unsigned flags)
HEDDLE_DRIVER_OPTIONAL(ipcCloseMemHandle, "cuIpcCloseMemHandle", Pointer pointer)
HEDDLE_DRIVER_OPTIONAL(deviceGetUuid, "cuDeviceGetUuid", Uuid *uuid, DeviceId device)

HEDDLE_DRIVER_SYMBOL(streamCreate, "cuStreamCreate", Stream *stream, unsigned flags)
HEDDLE_DRIVER_SYMBOL(streamDestroy, "cuStreamDestroy_v2", Stream stream)
HEDDLE_DRIVER_SYMBOL(streamSynchronize, "cuStreamSynchronize", Stream stream)
HEDDLE_DRIVER_SYMBOL(streamQuery, "cuStreamQuery", Stream stream)
HEDDLE_DRIVER_SYMBOL(eventCreate, "cuEventCreate", Event *event, unsigned flags)
HEDDLE_DRIVER_SYMBOL(eventDestroy, "cuEventDestroy_v2", Event event)
HEDDLE_DRIVER_SYMBOL(eventRecord, "cuEventRecord", Event event, Stream stream)
HEDDLE_DRIVER_SYMBOL(eventSynchronize, "cuEventSynchronize", Event event)
HEDDLE_DRIVER_SYMBOL(eventElapsedTime, "cuEventElapsedTime", float *milliseconds, Event start, Event stop)

HEDDLE_DRIVER_SYMBOL(moduleLoadDataEx, "cuModuleLoadDataEx", Module *module, const void *image, unsigned optionCount, JitOption *options, void **values)
HEDDLE_DRIVER_SYMBOL(moduleUnload, "cuModuleUnload", Module module)
HEDDLE_DRIVER_SYMBOL(moduleGetFunction, "cuModuleGetFunction", Function *function, Module module, const char *name)
HEDDLE_DRIVER_SYMBOL(funcGetAttribute, "cuFuncGetAttribute", int *value, FunctionAttribute attribute, Function function)
HEDDLE_DRIVER_SYMBOL(funcSetAttribute, "cuFuncSetAttribute", Function function, FunctionAttribute attribute, int value)
HEDDLE_DRIVER_SYMBOL(occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor", int *blocks, Function function, int blockSize, size_t dynamicShared)
HEDDLE_DRIVER_SYMBOL(launchKernel, "cuLaunchKernel", Function function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes, Stream stream, void **params, void **extra)
HEDDLE_DRIVER_OPTIONAL(maxActiveClusters, "cuOccupancyMaxActiveClusters", int *clusters, Function function, const LaunchConfig *config)
HEDDLE_DRIVER_OPTIONAL(funcLoad, "cuFuncLoad", Function function)
HEDDLE_DRIVER_OPTIONAL(threadExchangeCaptureMode, "cuThreadExchangeStreamCaptureMode", CaptureMode *mode)
HEDDLE_DRIVER_OPTIONAL(streamGetCaptureInfo, "cuStreamGetCaptureInfo_v2", Stream stream, int *state, unsigned long long *id, void *graph, const void **dependencies, size_t *count)
HEDDLE_DRIVER_OPTIONAL(launchKernelEx, "cuLaunchKernelEx", const LaunchConfig *config, Function function, void **params, void **extra)
HEDDLE_DRIVER_OPTIONAL(tensorMapEncodeTiled, "cuTensorMapEncodeTiled", TensorMap *map, TensorMapType type, uint32_t rank, void *address, const uint64_t *dims, const uint64_t *strides, const uint32_t *box, const uint32_t *elementStrides, int interleave, int swizzle, int promotion, int fill)
