//===- SM100.cpp - the target sm_100a and its chips -----------------------===//
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
//   [b200] HGX B200 datasheet (8 GPUs: 36 Pflop/s 16-bit sparse, 64 TB/s, 14.4 TB/s
//          NVLink both directions); 148 multiprocessors as devices report; L2: Blackwell
//          Tuning Guide
//   [gb200] GB200 NVL72 datasheet (72 GPUs: 360 Pflop/s 16-bit sparse, 576 TB/s)
//
//===----------------------------------------------------------------------===//
#include "../Registry.h"

namespace heddle::target {

static constexpr DType mmaTypes[] = {DType::F16, DType::BF16, DType::TF32, DType::F8E4M3,
                                     DType::F8E5M2};

static constexpr Target facts = {
    .name = "sm_100a",
    .summary = "Blackwell: bulk tensor copies, tcgen05 with tensor memory",
    .major = 10,
    .minor = 0,
    .exact = true,
    .ptxVersion = 90,    // the newest that LLVM 22 emits
    .minPtxVersion = 86, // [llvm]
    .features =
        featureSet(Feature::AsyncCopy, Feature::BulkTensorCopy, Feature::TryWait, Feature::Clusters,
                   Feature::Multicast, Feature::SetMaxNReg, Feature::TensorMemory,
                   Feature::StMatrix, Feature::ElectSync, Feature::Fp8Mma, Feature::BlockScaleMma,
                   Feature::ClusterLaunchControl, Feature::GridDepControl,
                   Feature::ProxyFence), // [isa]
    .mma = MmaFamily::Tcgen05,           // [isa]
    .sharedPerBlock = 227 * KiB,         // [guide]
    .sharedPerSM = 228 * KiB,            // [guide]
    .sharedReserved = 1 * KiB,           // [guide] kept by the system in each block
    .registersPerSM = 64 * 1024,         // [guide]
    .maxRegistersPerThread = 255,        // [guide]
    .registerUnit = 256,                 // [occ]
    .maxThreadsPerBlock = 1024,          // [guide]
    .maxWarpsPerSM = 64,                 // [guide]
    .maxBlocksPerSM = 32,                // [occ]
    .namedBarriers = 16,                 // [isa] bar, barrier
    .maxCluster = 8,                     // [guide] the portable cluster size
    .tmemColumns = 512,                  // [isa] Tensor Memory: 128 lanes x 512 columns of 32 bits
    .mmaTypes = mmaTypes,                // [isa] tcgen05.mma
    // B200: 2250 Tflop/s / (148 multiprocessors x 1.86 GHz) [b200]
    .mmaOpsPerClock16 = 8192,
    .l2BytesPerClock = 64, // estimate: as Hopper
};

static constexpr Chip chips[] = {
    // [b200] SXM; clock: that of the datasheet's tensor rate
    {.name = "B200",
     .target = "sm_100a",
     .sms = 148,
     .boostMHz = 1856,
     .memoryGBps = 8000,
     .l2Bytes = 126 * MiB,
     .nvlinkGBps = 900,
     .tensorTflops16 = 2250},
    // [gb200] one GPU of a GB200; 152 multiprocessors as devices report; clock as above
    {.name = "GB200",
     .target = "sm_100a",
     .sms = 152,
     .boostMHz = 2008,
     .memoryGBps = 8000,
     .l2Bytes = 126 * MiB,
     .nvlinkGBps = 900,
     .tensorTflops16 = 2500},
};

extern const TargetEntry sm100Entry;
const TargetEntry sm100Entry = {facts, chips};

} // namespace heddle::target
