//===- DriverAbiTest.cpp - our driver types against cuda.h ----------------- ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Compiled to checks only where cuda.h is installed; else one skipped test.

#include "cuda/DriverTypes.h"
#include <gtest/gtest.h>

#if HEDDLE_HAVE_CUDA_H
#include <cuda.h>

using namespace heddle::rt;

static_assert(sizeof(cu::LaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(offsetof(cu::LaunchAttribute, value) == offsetof(CUlaunchAttribute, value));
static_assert(sizeof(cu::LaunchConfig) == sizeof(CUlaunchConfig));
static_assert(offsetof(cu::LaunchConfig, stream) == offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(cu::LaunchConfig, attributes) == offsetof(CUlaunchConfig, attrs));
static_assert(offsetof(cu::LaunchConfig, attributeCount) == offsetof(CUlaunchConfig, numAttrs));
static_assert(sizeof(cu::TensorMap) == sizeof(CUtensorMap) &&
              alignof(cu::TensorMap) >= alignof(CUtensorMap));
static_assert(sizeof(cu::Pointer) == sizeof(CUdeviceptr) &&
              sizeof(cu::DeviceId) == sizeof(CUdevice));

static_assert(sizeof(cu::AllocationProperties) == sizeof(CUmemAllocationProp));
static_assert(sizeof(cu::AccessDescription) == sizeof(CUmemAccessDesc));
static_assert(sizeof(cu::IpcHandle) == sizeof(CUipcMemHandle));
static_assert(sizeof(cu::Uuid) == sizeof(CUuuid));

TEST(DriverAbi, numbers) {
  EXPECT_EQ(int(cu::HostMemoryAlreadyRegistered), int(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED));
  EXPECT_EQ(int(cu::HostMemoryNotRegistered), int(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED));
  EXPECT_EQ(int(cu::HandlePosixFd), int(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  EXPECT_EQ(int(cu::AccessReadWrite), int(CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  EXPECT_EQ(int(cu::GranularityRecommended), int(CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
  EXPECT_EQ(int(cu::OutOfMemory), int(CUDA_ERROR_OUT_OF_MEMORY));
  EXPECT_EQ(int(cu::InvalidImage), int(CUDA_ERROR_INVALID_IMAGE));
  EXPECT_EQ(int(cu::NoBinaryForGpu), int(CUDA_ERROR_NO_BINARY_FOR_GPU));
  EXPECT_EQ(int(cu::UnsupportedPtxVersion), int(CUDA_ERROR_UNSUPPORTED_PTX_VERSION));
  EXPECT_EQ(int(cu::NotReady), int(CUDA_ERROR_NOT_READY));
  EXPECT_EQ(int(cu::IllegalAddress), int(CUDA_ERROR_ILLEGAL_ADDRESS));
  EXPECT_EQ(int(cu::LaunchFailed), int(CUDA_ERROR_LAUNCH_FAILED));
  EXPECT_EQ(int(cu::MisalignedAddress), int(CUDA_ERROR_MISALIGNED_ADDRESS));
  EXPECT_EQ(int(cu::IllegalInstruction), int(CUDA_ERROR_ILLEGAL_INSTRUCTION));
  EXPECT_EQ(int(cu::StreamCaptureImplicit), int(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT));
  EXPECT_EQ(int(cu::CapabilityMajor), int(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
  EXPECT_EQ(int(cu::CapabilityMinor), int(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  EXPECT_EQ(int(cu::MultiprocessorCount), int(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  EXPECT_EQ(int(cu::L2CacheSize), int(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
  EXPECT_EQ(int(cu::SharedPerBlockOptin),
            int(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  EXPECT_EQ(int(cu::MaxDynamicSharedBytes), int(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES));
  EXPECT_EQ(int(cu::NonPortableClusterSize),
            int(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED));
  EXPECT_EQ(int(cu::JitErrorLog), int(CU_JIT_ERROR_LOG_BUFFER));
  EXPECT_EQ(int(cu::JitErrorLogBytes), int(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES));
  EXPECT_EQ(int(cu::LaunchClusterDimension), int(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION));
  EXPECT_EQ(int(cu::LaunchCooperative), int(CU_LAUNCH_ATTRIBUTE_COOPERATIVE));
  EXPECT_EQ(int(cu::MapU8), int(CU_TENSOR_MAP_DATA_TYPE_UINT8));
  EXPECT_EQ(int(cu::MapI32), int(CU_TENSOR_MAP_DATA_TYPE_INT32));
  EXPECT_EQ(int(cu::MapF16), int(CU_TENSOR_MAP_DATA_TYPE_FLOAT16));
  EXPECT_EQ(int(cu::MapF32), int(CU_TENSOR_MAP_DATA_TYPE_FLOAT32));
  EXPECT_EQ(int(cu::MapBF16), int(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16));
}
#else
TEST(DriverAbi, numbers) { GTEST_SKIP() << "cuda.h is not installed"; }
#endif
