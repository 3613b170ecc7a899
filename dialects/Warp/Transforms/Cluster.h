//===- Cluster.h - kernels whose CTAs share tiles -------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_WARP_TRANSFORMS_CLUSTER_H
#define HEDDLE_DIALECTS_WARP_TRANSFORMS_CLUSTER_H

#include "dialects/Warp/Transforms/Network.h"

namespace heddle::warp {

/// CTAs of a cluster, as its work streams say. The CTA of rank k has row k / cols and
/// column k mod cols.
struct ClusterShape {
  int64_t rows = 1, cols = 1;
  int64_t size() const { return rows * cols; }
};
/// The shape that the kernel's work streams name; 1 x 1 without one.
ClusterShape getClusterShape(KernelOp kernel);

/// How far the slots of a pipe reach: the CTAs that fill them, which are also those that
/// this CTA's copies fill.
struct ClusterReach {
  ClusterShape shape;
  bool alongRow = false, alongCol = false; ///< whether a copy is multicast so
  /// CTAs that write to a slot, this one among them; 1 for pipes of other links.
  int64_t writers() const {
    return 1 + (alongRow ? shape.cols - 1 : 0) + (alongCol ? shape.rows - 1 : 0);
  }
};
ClusterReach getReach(PipeOp pipe);

/// Whether threads read the slots of `pipe`, so that their releases must order those reads
/// before the copies that overwrite the slots. What the tensor core reads is over when a
/// release follows its completion.
bool isReadByThreads(PipeOp pipe, const target::Target &target);

/// CTAs among which the reading of a tile is divided.
int64_t getShares(CopyOp copy);

/// Errors on clusters that `target` cannot launch, tiles that are not the same in the CTAs
/// they are multicast to or cannot be divided among them, pipes of link cluster filled in
/// another way than by bulk copies, and verbs on them that not every CTA of a cluster
/// comes to equally often.
mlir::LogicalResult checkCluster(KernelOp kernel, const target::Target &target);

} // namespace heddle::warp

#endif // HEDDLE_DIALECTS_WARP_TRANSFORMS_CLUSTER_H
