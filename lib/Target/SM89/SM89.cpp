//===- SM89.cpp - the target sm_89 and its chips --------------------------===//
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
//   [l40s] NVIDIA L40S datasheet
//   [ada]  NVIDIA Ada GPU Architecture white paper, appendix A
//
//===----------------------------------------------------------------------===//
#include "../Registry.h"

namespace heddle::target {

static constexpr DType mmaTypes[] = {DType::F16, DType::BF16, DType::TF32, DType::F8E4M3,
                                     DType::F8E5M2};

static constexpr Target facts = {
    .name = "sm_89",
    .summary = "Ada: cp.async, mma.sync with fp8",
    .major = 8,
    .minor = 9,
    .exact = false,
    .ptxVersion = 90,    // the newest that LLVM 22 emits
    .minPtxVersion = 78, // [llvm]
    .features = featureSet(Feature::AsyncCopy, Feature::Fp8Mma, // [isa]
                           Feature::ShortFp8Sums),              // [mmasim]
    .mma = MmaFamily::MmaSync,               // [isa]
    .sharedPerBlock = 99 * KiB,              // [guide]
    .sharedPerSM = 100 * KiB,                // [guide]
    .sharedReserved = 1 * KiB,               // [guide] kept by the system in each block
    .registersPerSM = 64 * 1024,             // [guide]
    .maxRegistersPerThread = 255,            // [guide]
    .registerUnit = 256,                     // [occ]
    .maxThreadsPerBlock = 1024,              // [guide]
    .maxWarpsPerSM = 48,                     // [guide]
    .maxBlocksPerSM = 24,                    // [occ]
    .namedBarriers = 16,                     // [isa] bar, barrier
    .maxCluster = 1,                         // [isa] no clusters before 9.0
    .tmemColumns = 0,                        // [isa] no tensor memory
    .mmaTypes = mmaTypes,                    // [isa] mma
    // L40S: 362 Tflop/s / (142 multiprocessors x 2.52 GHz) [l40s]; GeForce parts have half of
    // it with f32 accumulators [ada], which their tensorTflops16 says
    .mmaOpsPerClock16 = 1024,
    .l2BytesPerClock = 16, // estimate: about 5 TB/s in public microbenchmarks of an RTX 4090
};

static constexpr Chip chips[] = {
    // [l40s]
    {.name = "L40S",
     .target = "sm_89",
     .sms = 142,
     .boostMHz = 2520,
     .memoryGBps = 864,
     .l2Bytes = 96 * MiB,
     .nvlinkGBps = 0,
     .tensorTflops16 = 362.05},
    // [ada] GeForce RTX 4090, f32 accumulators
    {.name = "RTX4090",
     .target = "sm_89",
     .sms = 128,
     .boostMHz = 2520,
     .memoryGBps = 1008,
     .l2Bytes = 72 * MiB,
     .nvlinkGBps = 0,
     .tensorTflops16 = 165.2},
};

extern const TargetEntry sm89Entry;
const TargetEntry sm89Entry = {facts, chips};

} // namespace heddle::target
