//===- Network.h - stages, roles and pipes of a kernel --------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Questions that several passes and the lowering ask of a kernel. A *process* is a
// warp.stage or a warp.role. Everything is computed from the IR at each call.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_WARP_TRANSFORMS_NETWORK_H
#define HEDDLE_DIALECTS_WARP_TRANSFORMS_NETWORK_H

#include "dialects/Warp/IR/WarpDialect.h"

namespace heddle::warp {

//===----------------------------------------------------------------------===//
// Processes
//===----------------------------------------------------------------------===//

llvm::SmallVector<mlir::Operation *> getProcesses(KernelOp kernel);
/// The process around `op` (or `op` itself); nullptr outside of one.
mlir::Operation *getProcess(mlir::Operation *op);
/// `stage "load"` or `role "load"`.
std::string describeProcess(mlir::Operation *process);
llvm::StringRef getProcessName(mlir::Operation *process);

//===----------------------------------------------------------------------===//
// Pipes
//===----------------------------------------------------------------------===//

llvm::SmallVector<PipeOp> getPipes(KernelOp kernel);
/// Pipes between ranks, which are not among those.
llvm::SmallVector<PeerPipeOp> getPeerPipes(KernelOp kernel);
/// Whether `op` is a verb of such a pipe.
bool isPeerVerb(mlir::Operation *op);
/// The peer pipe whose memory, of some rank, `memory` is; nullptr when it is no result of
/// warp.peer.
PeerPipeOp getPeerPipe(mlir::Value memory);
/// The pipe a verb works on; nullptr when it is no result of a warp.pipe.
PipeOp getPipe(mlir::Operation *verb);
/// The verb (warp.acquire or warp.wait) that gave a tile; nullptr when it came
/// another way.
mlir::Operation *getTaker(mlir::Value tile);
/// The verb that gave the accumulator which `acc` is, maybe after multiplications and
/// around loops; nullptr when it came another way.
mlir::Operation *getAccTaker(mlir::Value acc);

/// The verbs on one pipe, in program order.
struct PipeUses {
  llvm::SmallVector<AcquireOp> acquires;
  llvm::SmallVector<CommitOp> commits;
  llvm::SmallVector<WaitOp> waits;
  llvm::SmallVector<ReleaseOp> releases;
  /// Processes with an acquire or commit, and those with a wait or release.
  llvm::SmallVector<mlir::Operation *> producers, consumers;
};
PipeUses getUses(PipeOp pipe);

//===----------------------------------------------------------------------===//
// Agents
//===----------------------------------------------------------------------===//

/// Who touches memory on behalf of an op.
///   Threads     loads and stores of the role's own threads
///   AsyncCopy   cp.async: of the generic proxy, complete at the barrier only
///   CopyEngine  bulk copies, of tensors or of rows, async proxy
///   TensorCore  wgmma and tcgen05.mma, async proxy
enum class Agent { Threads, AsyncCopy, CopyEngine, TensorCore };
llvm::StringRef describe(Agent agent);
inline bool usesAsyncProxy(Agent a) { return a == Agent::CopyEngine || a == Agent::TensorCore; }

/// One op reading or writing a slot.
struct Access {
  mlir::Operation *op;
  Agent agent;
  bool write;
};
/// The accesses to the slot that `taker` (warp.acquire or warp.wait) gave; those to
/// accumulators are followed through loops and multiplications.
llvm::SmallVector<Access> getAccesses(mlir::Operation *taker, const target::Target &target);

/// Whether one elected thread issues all of the process's work: bulk copies and, with
/// tensor memory, multiplications.
bool isSingleThreaded(mlir::Operation *process, const target::Target &target);
/// Who moves a transfer.
Agent agentOf(TransferOp transfer);
/// Whether `op` is work on tiles, accumulators or sums (copy, mma, promote, map, store, pack,
/// transfer, spread).
bool isTileWork(mlir::Operation *op);

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Whether two values are equal whenever both exist: the same value, or the same pure
/// computation on equal values. `same` says which others are taken as equal (the
/// induction variables of loops that run in step).
bool areEquivalent(mlir::Value a, mlir::Value b,
                   llvm::function_ref<bool(mlir::Value, mlir::Value)> same = nullptr);
/// Whether two loops (warp.for_each or scf.for) make the same iterations.
bool runInStep(mlir::Operation *a, mlir::Operation *b,
               llvm::function_ref<bool(mlir::Value, mlir::Value)> same = nullptr);

} // namespace heddle::warp

#endif // HEDDLE_DIALECTS_WARP_TRANSFORMS_NETWORK_H
