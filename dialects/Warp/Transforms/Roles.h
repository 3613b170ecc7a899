//===- Roles.h - rules that roles and what they use must keep -------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_WARP_TRANSFORMS_ROLES_H
#define HEDDLE_DIALECTS_WARP_TRANSFORMS_ROLES_H

#include "dialects/Warp/Transforms/Network.h"

namespace heddle::warp {

/// Bytes kept for barriers at the start of shared memory: one swizzle period, so that
/// the slots behind it are aligned for 128-byte swizzles.
constexpr int64_t barrierBytes = 1024;
constexpr int64_t slotAlignment = 1024;
/// tcgen05.alloc takes powers of two from 32 columns (PTX ISA, "tcgen05.alloc").
constexpr int64_t minTmemColumns = 32;

/// Whether `process` has work that starts at whole warpgroups: wgmma, or reads of tensor
/// memory, whose lanes go by the warp's index in its warpgroup.
bool needsWarpgroups(mlir::Operation *process, const target::Target &target);
/// Whether `process` reads accumulators from tensor memory.
bool readsTensorMemory(mlir::Operation *process, const target::Target &target);

/// Errors unless the kernel's roles fit into a CTA, each with warps of its own that its
/// instructions can work with, and its registers into the pool.
mlir::LogicalResult checkRoles(KernelOp kernel, const target::Target &target);

/// Arrivals that complete a phase of the full barriers of `pipe`; errors when its slots are
/// filled in several ways or not at all. `producer` is the role that fills them.
mlir::FailureOr<int64_t> fullArrivals(PipeOp pipe, RoleOp producer, const target::Target &target);
/// Arrivals of one consuming role on the empty barriers.
int64_t emptyArrivals(RoleOp consumer, const target::Target &target);

/// The producing role, one, and the consuming roles, at least one; errors otherwise.
struct PipeEnds {
  RoleOp producer;
  llvm::SmallVector<RoleOp> consumers;
};
mlir::FailureOr<PipeEnds> getEnds(PipeOp pipe);

} // namespace heddle::warp

#endif // HEDDLE_DIALECTS_WARP_TRANSFORMS_ROLES_H
