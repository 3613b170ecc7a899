//===- DriverTypes.h - the part of the driver's ABI in use ----------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Types and numbers of libcuda.so.1, declared here so that the runtime builds on
// machines without CUDA. Names carry the namespace instead of the driver's
// prefix. The values are those of the CUDA driver API 13.0, which keeps them
// across versions; test/unit/runtime/DriverAbiTest.cpp compares them with cuda.h
// where that header is installed.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CUDA_DRIVERTYPES_H
#define HEDDLE_RUNTIME_CUDA_DRIVERTYPES_H

#include <cstddef>
#include <cstdint>

namespace heddle::rt::cu {

using Result = int;
using DeviceId = int;
using Pointer = unsigned long long; ///< a device address
struct ContextTag;
struct ModuleTag;
struct FunctionTag;
struct StreamTag;
struct EventTag;
using Context = ContextTag *;
using Module = ModuleTag *;
using Function = FunctionTag *;
using Stream = StreamTag *;
using Event = EventTag *;

enum : Result {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NoDevice = 100,
  InvalidImage = 200,
  NoBinaryForGpu = 209,
  EccUncorrectable = 214,
  InvalidPtx = 218,
  UnsupportedPtxVersion = 222,
  NotFound = 500,
  NotReady = 600,
  IllegalAddress = 700,
  LaunchOutOfResources = 701,
  LaunchTimeout = 702,
  Assert = 710,
  HostMemoryAlreadyRegistered = 712,
  HostMemoryNotRegistered = 713,
  HardwareStackError = 714,
  IllegalInstruction = 715,
  MisalignedAddress = 716,
  InvalidAddressSpace = 717,
  InvalidPc = 718,
  LaunchFailed = 719,
  CooperativeLaunchTooLarge = 720,
  TensorMemoryLeak = 721,
  StreamCaptureUnsupported = 900,
  StreamCaptureImplicit = 906,
};

enum DeviceAttribute : int {
  MultiprocessorCount = 16,
  L2CacheSize = 38,
  CapabilityMajor = 75,
  CapabilityMinor = 76,
  SharedPerBlockOptin = 97,
};

enum FunctionAttribute : int {
  MaxThreadsPerBlock = 0,
  StaticSharedBytes = 1,
  MaxDynamicSharedBytes = 8,
  NonPortableClusterSize = 14,
};

enum JitOption : int {
  JitErrorLog = 5,
  JitErrorLogBytes = 6,
};

enum : unsigned { StreamNonBlocking = 1 };
enum CaptureMode : int { CaptureRelaxed = 2 };
enum : int { CaptureActive = 1 };

enum LaunchAttributeId : int {
  LaunchCooperative = 2,
  LaunchClusterDimension = 4,
  LaunchProgrammaticSerialization = 6,
};
struct LaunchAttribute {
  LaunchAttributeId id;
  char pad[4];
  union {
    char bytes[64];
    int cooperative;
    int programmaticSerialization;
    struct {
      unsigned x, y, z;
    } cluster;
  } value;
};
static_assert(sizeof(LaunchAttribute) == 72);

struct LaunchConfig {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  Stream stream;
  LaunchAttribute *attributes;
  unsigned attributeCount;
};
static_assert(sizeof(LaunchConfig) == 56);

// Virtual memory management (cuda.h: CUmemAllocationProp and friends).
using AllocationHandle = unsigned long long;
enum : int { AllocationPinned = 1, HandlePosixFd = 1, LocationDevice = 1, AccessReadWrite = 3 };
enum : int { GranularityRecommended = 1 };
struct MemoryLocation {
  int type, id;
};
struct AllocationProperties {
  int type, handleTypes;
  MemoryLocation location;
  void *windowsData;
  unsigned char compression, rdmaCapable;
  unsigned short usage;
  unsigned char reserved[4];
};
static_assert(sizeof(AllocationProperties) == 32);
struct AccessDescription {
  MemoryLocation location;
  int flags;
};
static_assert(sizeof(AccessDescription) == 12);
enum : unsigned { HostRegisterPortable = 1, HostRegisterMapped = 2 };
// Memory of other processes (cuda.h: CUipcMemHandle).
struct IpcHandle {
  char reserved[64];
};
enum : unsigned { IpcLazyEnablePeerAccess = 1 };
struct Uuid {
  char bytes[16];
};

enum TensorMapType : int {
  MapU8 = 0,
  MapU16 = 1,
  MapU32 = 2,
  MapI32 = 3,
  MapU64 = 4,
  MapI64 = 5,
  MapF16 = 6,
  MapF32 = 7,
  MapF64 = 8,
  MapBF16 = 9,
};
struct alignas(128) TensorMap { // the driver asks for 64; its own type has 128 since 13.0
  uint64_t opaque[16];
};
static_assert(sizeof(TensorMap) == 128);

} // namespace heddle::rt::cu

#endif // HEDDLE_RUNTIME_CUDA_DRIVERTYPES_H
