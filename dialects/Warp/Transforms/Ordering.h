//===- Ordering.h - which fences a kernel needs ---------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_WARP_TRANSFORMS_ORDERING_H
#define HEDDLE_DIALECTS_WARP_TRANSFORMS_ORDERING_H

#include "dialects/Warp/Transforms/Network.h"

namespace heddle::warp {

/// A fence that has to stand between a verb and the accesses to its slot.
struct FenceNeed {
  mlir::Operation *pipe; ///< warp.pipe or warp.peer_pipe
  FenceKind kind;
  mlir::Operation *verb; ///< or the loop around it, when all accesses are outside of that
  bool beforeVerb;                    ///< else after it
  llvm::SmallVector<Access> accesses; ///< of the verb's slot, in the verb's process
  /// For messages: what is ordered with what.
  std::string writer, reader;
};

/// Every fence that the agents and links of `kernel` ask for.
llvm::SmallVector<FenceNeed> getFenceNeeds(KernelOp kernel, const target::Target &target);

/// Those of pipes between ranks (PeerOrdering.cpp).
void addPeerFenceNeeds(KernelOp kernel, const target::Target &target,
                       llvm::SmallVectorImpl<FenceNeed> &needs);
/// Errors when a peer slot is given away before a copy engine is known to have read it, or is
/// touched in another process than the one that took it.
mlir::LogicalResult checkPeerPipes(KernelOp kernel, const target::Target &target);

/// Whether such a fence stands there: at the level of the verb, with no access between.
bool isMet(const FenceNeed &need);

/// Whether `acc` may still be written in the background: the result of a
/// multiplication, maybe through loops, that no warp.mma_wait has passed and that does not
/// promote.
bool isInFlight(mlir::Value acc);

} // namespace heddle::warp

#endif // HEDDLE_DIALECTS_WARP_TRANSFORMS_ORDERING_H
