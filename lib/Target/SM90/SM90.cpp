//===- SM90.cpp - the target sm_90a and its chips -------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sources of the numbers:
//   [isa]  PTX ISA 9.0, the "Target ISA Notes" and "PTX ISA Notes" of each instruction
//   [occ]  cuda_occupancy.h of the CUDA 13.0 toolkit, by compute capability
//   [guide] CUDA C++ Programming Guide 13.0, "Technical Specifications per Compute
//          Capability"
//   [llvm] the lowest PTX version LLVM 22 accepts for the target
//   [h100] NVIDIA H100 Tensor Core GPU Architecture white paper and datasheet
//   [h200] NVIDIA H200 datasheet
//   [v3]   DeepSeek-V3 technical report, section 3.5.2: sums of fp8 products keep about 14
//          bits
//   [h800] as [h100]; NVLink 400 GB/s both directions (DeepSeek-V3 technical report,
//          section 3.1: 160 of 200 GB/s reached)
//   [h20]  product brief as reported by resellers: 78 multiprocessors, 4.0 TB/s,
//          148 Tflop/s bf16, 900 GB/s NVLink, 60 MB L2
//
//===----------------------------------------------------------------------===//
#include "../Registry.h"

namespace heddle::target {

static constexpr DType mmaTypes[] = {DType::F16, DType::BF16, DType::TF32, DType::F8E4M3,
                                     DType::F8E5M2};

static constexpr Target facts = {
    .name = "sm_90a",
    .summary = "Hopper: bulk tensor copies, wgmma, setmaxnreg, clusters",
    .major = 9,
    .minor = 0,
    .exact = true,
    .ptxVersion = 90,    // the newest that LLVM 22 emits
    .minPtxVersion = 80, // [llvm]
    .features =
        featureSet(Feature::AsyncCopy, Feature::BulkTensorCopy, Feature::TryWait, Feature::Clusters,
                   Feature::Multicast, Feature::SetMaxNReg, Feature::StMatrix, Feature::ElectSync,
                   Feature::Fp8Mma, Feature::GridDepControl,
                   Feature::ProxyFence,    // [isa]
                   Feature::ShortFp8Sums), // [v3]
    .mma = MmaFamily::Wgmma,               // [isa]
    .sharedPerBlock = 227 * KiB,           // [guide]
    .sharedPerSM = 228 * KiB,              // [guide]
    .sharedReserved = 1 * KiB,             // [guide] kept by the system in each block
    .registersPerSM = 64 * 1024,           // [guide]
    .maxRegistersPerThread = 255,          // [guide]
    .registerUnit = 256,                   // [occ]
    .maxThreadsPerBlock = 1024,            // [guide]
    .maxWarpsPerSM = 64,                   // [guide]
    .maxBlocksPerSM = 32,                  // [occ]
    .namedBarriers = 16,                   // [isa] bar, barrier
    .maxCluster = 8,                       // [guide] the portable cluster size
    .tmemColumns = 0,                      // [isa] no tensor memory
    .mmaTypes = mmaTypes,                  // [isa] wgmma.mma_async
    // H100 SXM: 989.5 Tflop/s / (132 multiprocessors x 1.83 GHz) [h100]
    .mmaOpsPerClock16 = 4096,
    // The width of the fill port; an H200 reaches 43 with its tensor cores at their limit.
    .l2BytesPerClock = 64,
};

static constexpr Chip chips[] = {
    // [h200] SXM, 141 GB; 132 multiprocessors seen on the device
    {.name = "H200",
     .target = "sm_90a",
     .sms = 132,
     .boostMHz = 1830,
     .memoryGBps = 4800,
     .l2Bytes = 50 * MiB,
     .nvlinkGBps = 450,
     .tensorTflops16 = 989.5},
    // [h100] SXM, 80 GB
    {.name = "H100",
     .target = "sm_90a",
     .sms = 132,
     .boostMHz = 1830,
     .memoryGBps = 3350,
     .l2Bytes = 50 * MiB,
     .nvlinkGBps = 450,
     .tensorTflops16 = 989.5},
    // [h800] an H100 with 8 NVLinks of 25 GB/s a direction
    {.name = "H800",
     .target = "sm_90a",
     .sms = 132,
     .boostMHz = 1830,
     .memoryGBps = 3350,
     .l2Bytes = 50 * MiB,
     .nvlinkGBps = 200,
     .tensorTflops16 = 989.5},
    // [h20] few multiprocessors, tensor cores held to 148 Tflop/s
    {.name = "H20",
     .target = "sm_90a",
     .sms = 78,
     .boostMHz = 1980,
     .memoryGBps = 4000,
     .l2Bytes = 60 * MiB,
     .nvlinkGBps = 450,
     .tensorTflops16 = 148},
};

extern const TargetEntry sm90Entry;
const TargetEntry sm90Entry = {facts, chips};

} // namespace heddle::target
