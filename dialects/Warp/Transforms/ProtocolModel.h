//===- ProtocolModel.h - a kernel reduced to verbs and loops --------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What warp-verify-protocol looks at: each process as a tree of loops with the verbs
// and the uses of slots in them, and a machine that runs a small instance of it.
//
// Processes are deterministic, each pipe has one producer, and whether a verb can go on
// depends on counts that only grow. So the order in which processes are stepped cannot
// change where they end up: one run that steps whatever can step finds every deadlock
// of the instance.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_WARP_TRANSFORMS_PROTOCOLMODEL_H
#define HEDDLE_DIALECTS_WARP_TRANSFORMS_PROTOCOLMODEL_H

#include "dialects/Warp/Transforms/Network.h"
#include <vector>

namespace heddle::warp {

/// A verb, a use of slots (children empty), or a loop.
struct Node {
  mlir::Operation *op;
  std::vector<Node> children;
  bool isLoop() const { return mlir::isa<ForEachOp, mlir::scf::ForOp>(op); }
};

struct ProcessModel {
  mlir::Operation *process;
  std::vector<Node> body;
};

struct KernelModel {
  KernelOp kernel;
  std::vector<ProcessModel> processes;
  llvm::SmallVector<PipeOp> pipes; ///< those with verbs to check
  bool has(PipeOp pipe) const { return llvm::is_contained(pipes, pipe); }
};

/// Reduces `kernel`; errors on verbs under anything but loops, and on tiles that no
/// verb gave. Pipes of link regs that fusing has emptied are left out.
mlir::FailureOr<KernelModel> buildModel(KernelOp kernel);

/// The trip count of a loop with constant bounds, when it is small enough to run in full.
std::optional<int64_t> smallTripCount(mlir::Operation *loop);

/// How much of a kernel is run: items a work stream, iterations a loop of unknown
/// length, most slots a pipe (fewer where the pipe has fewer).
struct Instance {
  int64_t items = 2, iterations = 4, slots = 3;
  int64_t ctas = 1; ///< of a cluster, all of whose copies fill the slots of cluster pipes
  bool ranks = false; ///< the CTAs are ranks instead, joined by peer pipes
  int64_t maxSteps = 4'000'000; ///< of all processes together
};

enum class Outcome { Ok, Failed, TooLong };

/// Runs the instance. With `report`, a failure emits an error with process, pipe and
/// position.
Outcome runModel(const KernelModel &model, const Instance &instance, bool report);

} // namespace heddle::warp

#endif // HEDDLE_DIALECTS_WARP_TRANSFORMS_PROTOCOLMODEL_H
