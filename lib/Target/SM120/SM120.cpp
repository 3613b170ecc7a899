//===- SM120.cpp - the target sm_120a and its chips -----------------------===//
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
//   [bw]   NVIDIA RTX Blackwell GPU Architecture white paper, appendix A
//   [pro]  NVIDIA RTX PRO Blackwell GPU Architecture white paper
//
//===----------------------------------------------------------------------===//
#include "../Registry.h"

namespace heddle::target {

static constexpr DType mmaTypes[] = {DType::F16, DType::BF16, DType::TF32, DType::F8E4M3,
                                     DType::F8E5M2};

static constexpr Target facts = {
    .name = "sm_120a",
    .summary = "Blackwell workstation: bulk tensor copies, mma.sync with fp8",
    .major = 12,
    .minor = 0,
    .exact = true,
    .ptxVersion = 90,    // the newest that LLVM 22 emits
    .minPtxVersion = 87, // [llvm]
    .features =
        featureSet(Feature::AsyncCopy, Feature::BulkTensorCopy, Feature::TryWait, Feature::Clusters,
                   Feature::SetMaxNReg, Feature::StMatrix, Feature::ElectSync, Feature::Fp8Mma,
                   Feature::BlockScaleMma, Feature::ClusterLaunchControl, Feature::GridDepControl,
                   Feature::ProxyFence), // [isa]
    .mma = MmaFamily::MmaSync,           // [isa]
    .sharedPerBlock = 99 * KiB,          // [guide]
    .sharedPerSM = 100 * KiB,            // [guide]
    .sharedReserved = 1 * KiB,           // [guide] kept by the system in each block
    .registersPerSM = 64 * 1024,         // [guide]
    .maxRegistersPerThread = 255,        // [guide]
    .registerUnit = 256,                 // [occ]
    .maxThreadsPerBlock = 1024,          // [guide]
    .maxWarpsPerSM = 48,                 // [guide]
    .maxBlocksPerSM = 24,                // [occ]
    .namedBarriers = 16,                 // [isa] bar, barrier
    .maxCluster = 8,                     // [guide] the portable cluster size
    .tmemColumns = 0,                    // [isa] no tensor memory
    .mmaTypes = mmaTypes,                // [isa] mma
    // RTX PRO 6000: 503.8 Tflop/s / (188 multiprocessors x 2.617 GHz) [pro]; GeForce parts have
    // half of it with f32 accumulators [bw], which their tensorTflops16 says
    .mmaOpsPerClock16 = 1024,
    .l2BytesPerClock = 16, // estimate: as Ada
};

static constexpr Chip chips[] = {
    // [bw] GeForce RTX 5090, f32 accumulators
    {.name = "RTX5090",
     .target = "sm_120a",
     .sms = 170,
     .boostMHz = 2407,
     .memoryGBps = 1792,
     .l2Bytes = 96 * MiB,
     .nvlinkGBps = 0,
     .tensorTflops16 = 209.5},
    // [pro] RTX PRO 6000 Blackwell, workstation edition
    {.name = "RTXPRO6000",
     .target = "sm_120a",
     .sms = 188,
     .boostMHz = 2617,
     .memoryGBps = 1792,
     .l2Bytes = 128 * MiB,
     .nvlinkGBps = 0,
     .tensorTflops16 = 503.8},
};

extern const TargetEntry sm120Entry;
const TargetEntry sm120Entry = {facts, chips};

} // namespace heddle::target
