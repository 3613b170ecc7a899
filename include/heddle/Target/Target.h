//===- Target.h - facts about GPU generations and chips -------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Constant data about targets (what an instruction set offers) and chips (how
// many multiprocessors, which clocks and links). Free of LLVM: compiled into the
// compiler, the loader and the emulator. Every number states its source where it
// is defined (lib/Target/<SMxx>/). All data is immutable and has static lifetime;
// all functions are thread-safe.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TARGET_TARGET_H
#define HEDDLE_TARGET_TARGET_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace heddle::target {

/// The tensor-core instruction family a target is programmed with.
enum class MmaFamily { MmaSync, Wgmma, Tcgen05 };

/// How a tile gets from global to shared memory.
///   Bulk    one thread issues a tensor copy (tensor maps, 16-byte rules)
///   Async   threads issue 16-byte cp.async
///   Threads threads load and store elements: any alignment, any layout
enum class CopyEngine { Bulk, Async, Threads };

/// Things a target has or lacks. Code asks for these, never for a number.
enum class Feature : uint32_t {
  AsyncCopy = 1u << 0,      ///< cp.async
  BulkTensorCopy = 1u << 1, ///< cp.async.bulk.tensor
  TryWait = 1u << 2,        ///< mbarrier.try_wait (else test_wait)
  Clusters = 1u << 3,       ///< thread block clusters, mapa
  SetMaxNReg = 1u << 4,     ///< setmaxnreg per warpgroup
  TensorMemory = 1u << 5,   ///< tcgen05 tensor memory
  StMatrix = 1u << 6,       ///< stmatrix
  ElectSync = 1u << 7,      ///< elect.sync
  Fp8Mma = 1u << 8,         ///< fp8 operands in tensor cores
  BlockScaleMma = 1u << 9,  ///< mx / nv block-scaled operands
  ClusterLaunchControl = 1u << 10,
  GridDepControl = 1u << 11, ///< programmatic dependent launch
  ProxyFence = 1u << 12,     ///< fence.proxy.async exists (and is needed)
  /// Bulk copies to several CTAs of a cluster at once that are as fast as to one. Other
  /// targets with clusters take the instruction; ptxas warns that it is slow there.
  Multicast = 1u << 13,
  ShortFp8Sums = 1u << 14,   ///< sums of fp8 products keep fewer bits than an f32
};

/// Element types of tensors, in the spelling of MLIR ("bf16", "f8E4M3FN", ...).
enum class DType : uint8_t { F32, F16, BF16, TF32, F8E4M3, F8E5M2 };
std::string_view dtypeName(DType type);
unsigned dtypeBits(DType type); // storage bits; TF32 is stored as 32

struct Target {
  std::string_view name;    ///< e.g. "sm_90a": what --arch takes
  std::string_view summary; ///< one line for --list-targets
  unsigned major, minor;    ///< compute capability
  /// Images for this target run on exactly this capability when true ('a'
  /// targets); otherwise on this major with an equal or higher minor.
  bool exact;
  unsigned ptxVersion;    ///< PTX ISA emitted, 90 for 9.0
  unsigned minPtxVersion; ///< the first PTX ISA that knows the target
  uint32_t features;      ///< of Feature
  MmaFamily mma;
  unsigned sharedPerBlock; ///< dynamic shared memory a block can opt into, bytes
  unsigned sharedPerSM;    ///< bytes
  unsigned sharedReserved; ///< bytes the system keeps per block
  unsigned registersPerSM; ///< 32-bit
  unsigned maxRegistersPerThread;
  unsigned registerUnit; ///< allocation granularity, registers a warp
  unsigned maxThreadsPerBlock, maxWarpsPerSM, maxBlocksPerSM;
  unsigned namedBarriers;
  unsigned maxCluster;             ///< portable cluster size; 1: none
  unsigned tmemColumns;            ///< 0: no tensor memory
  std::span<const DType> mmaTypes; ///< operand types of its tensor cores
  /// Dense operations a clock and multiprocessor, multiply and add counted apart,
  /// 16-bit operands; 8-bit operands twice, tf32 half.
  unsigned mmaOpsPerClock16;
  /// Bytes a clock from L2 to a multiprocessor while all read; an estimate where the
  /// source says so. For models of speed only.
  unsigned l2BytesPerClock;

  bool has(Feature f) const { return features & static_cast<uint32_t>(f); }
  bool supports(DType t) const;
};

struct Chip {
  std::string_view name;   ///< e.g. "H200": what --chip takes
  std::string_view target; ///< the Target it runs
  unsigned sms;
  unsigned boostMHz; ///< sustained boost clock of the multiprocessors
  double memoryGBps; ///< peak of the device memory
  unsigned l2Bytes;
  double nvlinkGBps;     ///< one direction, all links, 0: none
  double tensorTflops16; ///< datasheet dense 16-bit rate, f32 accumulators
  /// Limits below those of the target; 0: the same. See `limitsOn`.
  unsigned sharedPerBlock = 0, sharedPerSM = 0, maxWarpsPerSM = 0, maxBlocksPerSM = 0;
};

/// All known targets, oldest first; all known chips.
std::span<const Target *const> allTargets();
std::span<const Chip> allChips();
/// nullptr when unknown. Chips are found whatever the case and with or without
/// spaces, dashes and underscores: "RTX PRO 6000" and "rtxpro6000" are the same.
const Target *findTarget(std::string_view name);
const Chip *findChip(std::string_view name);
/// `target` with its limits narrowed to what `chip` has. Code that is to run on
/// one chip plans with this, code that is to run on all with the target itself.
Target limitsOn(const Target &target, const Chip &chip);
/// The chip assumed for a target when --chip is absent.
const Chip &defaultChip(const Target &target);
/// "sm_80, sm_89, ..." and likewise for chips; for messages.
std::string knownTargetNames();
std::string knownChipNames();
/// Targets (names, joined by ", ") whose tensor cores take `type`; for messages.
std::string targetsSupporting(DType type);
/// Whether an image compiled for `target` runs on a device of this capability.
bool runsOn(const Target &target, unsigned major, unsigned minor);

} // namespace heddle::target

#endif // HEDDLE_TARGET_TARGET_H
