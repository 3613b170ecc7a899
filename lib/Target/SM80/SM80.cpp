//===- SM80.cpp - the target sm_80 and its chips --------------------------===//
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
//   [a100] NVIDIA A100 Tensor Core GPU Architecture white paper and datasheet
//   [a10]  NVIDIA A10 datasheet
//
//===----------------------------------------------------------------------===//
#include "../Registry.h"

namespace heddle::target {

static constexpr DType mmaTypes[] = {DType::F16, DType::BF16, DType::TF32};

static constexpr Target facts = {
    .name = "sm_80",
    .summary = "Ampere: cp.async, mma.sync",
    .major = 8,
    .minor = 0,
    .exact = false,
    .ptxVersion = 90,                           // the newest that LLVM 22 emits
    .minPtxVersion = 70,                        // [llvm]
    .features = featureSet(Feature::AsyncCopy), // [isa]
    .mma = MmaFamily::MmaSync,                  // [isa]
    .sharedPerBlock = 163 * KiB,                // [guide]
    .sharedPerSM = 164 * KiB,                   // [guide]
    .sharedReserved = 1 * KiB,                  // [guide] kept by the system in each block
    .registersPerSM = 64 * 1024,                // [guide]
    .maxRegistersPerThread = 255,               // [guide]
    .registerUnit = 256,                        // [occ]
    .maxThreadsPerBlock = 1024,                 // [guide]
    .maxWarpsPerSM = 64,                        // [guide]
    .maxBlocksPerSM = 32,                       // [occ]
    .namedBarriers = 16,                        // [isa] bar, barrier
    .maxCluster = 1,                            // [isa] no clusters before 9.0
    .tmemColumns = 0,                           // [isa] no tensor memory
    .mmaTypes = mmaTypes,                       // [isa] mma
    // A100: 312 Tflop/s / (108 multiprocessors x 1.41 GHz) [a100]
    .mmaOpsPerClock16 = 2048,
    .l2BytesPerClock = 47, // [a100] 5120 bytes a clock / 108 multiprocessors
};

static constexpr Chip chips[] = {
    // [a100] SXM, 80 GB: 12 NVLinks of 25 GB/s a direction
    {.name = "A100",
     .target = "sm_80",
     .sms = 108,
     .boostMHz = 1410,
     .memoryGBps = 2039,
     .l2Bytes = 40 * MiB,
     .nvlinkGBps = 300,
     .tensorTflops16 = 312},
    // [a10] capability 8.6, which runs code for 8.0 within smaller limits
    {.name = "A10",
     .target = "sm_80",
     .sms = 72,
     .boostMHz = 1695,
     .memoryGBps = 600,
     .l2Bytes = 6 * MiB,
     .nvlinkGBps = 0,
     .tensorTflops16 = 125,
     .sharedPerBlock = 99 * KiB, // [guide], as the three below: capability 8.6
     .sharedPerSM = 100 * KiB,
     .maxWarpsPerSM = 48,
     .maxBlocksPerSM = 16},
};

extern const TargetEntry sm80Entry;
const TargetEntry sm80Entry = {facts, chips};

} // namespace heddle::target
