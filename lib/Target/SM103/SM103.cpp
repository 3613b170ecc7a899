//===- SM103.cpp - the target sm_103a and its chips -----------------------===//
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
//   [b300] HGX B300 datasheet (8 GPUs: 36 Pflop/s 16-bit sparse, 64 TB/s, 14.4 TB/s
//          NVLink both directions); 148 multiprocessors as devices report
//   [gb300] GB300 NVL72 datasheet (72 GPUs: 360 Pflop/s 16-bit sparse, 576 TB/s)
//
//===----------------------------------------------------------------------===//
#include "../Registry.h"

namespace heddle::target {

static constexpr DType mmaTypes[] = {DType::F16, DType::BF16, DType::TF32, DType::F8E4M3,
                                     DType::F8E5M2};

static constexpr Target facts = {
    .name = "sm_103a",
    .summary = "Blackwell Ultra: bulk tensor copies, tcgen05 with tensor memory",
    .major = 10,
    .minor = 3,
    .exact = true,
    .ptxVersion = 90,    // the newest that LLVM 22 emits
    .minPtxVersion = 88, // [llvm]
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
    // B300: 2250 Tflop/s / (148 multiprocessors x 1.86 GHz) [b300]
    .mmaOpsPerClock16 = 8192,
    .l2BytesPerClock = 64, // estimate: as Hopper
};

static constexpr Chip chips[] = {
    // [b300] SXM; clock: that of the datasheet's tensor rate; L2 taken from the B200
    {.name = "B300",
     .target = "sm_103a",
     .sms = 148,
     .boostMHz = 1856,
     .memoryGBps = 8000,
     .l2Bytes = 126 * MiB,
     .nvlinkGBps = 900,
     .tensorTflops16 = 2250},
    // [gb300] one GPU of a GB300; 152 multiprocessors as devices report; L2 as above
    {.name = "GB300",
     .target = "sm_103a",
     .sms = 152,
     .boostMHz = 2008,
     .memoryGBps = 8000,
     .l2Bytes = 126 * MiB,
     .nvlinkGBps = 900,
     .tensorTflops16 = 2500},
};

extern const TargetEntry sm103Entry;
const TargetEntry sm103Entry = {facts, chips};

} // namespace heddle::target
