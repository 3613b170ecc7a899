//===- Cluster.cpp - kernels whose CTAs share tiles -----------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/Warp/Transforms/Cluster.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using heddle::target::Feature;
using heddle::target::Target;

namespace heddle::warp {

ClusterShape getClusterShape(KernelOp kernel) {
  ClusterShape shape;
  for (WorkStreamOp stream : kernel.getBody().front().getOps<WorkStreamOp>())
    if (stream.getCluster())
      return {stream.getClusterRows(), stream.getClusterCols()};
  return shape;
}

ClusterReach getReach(PipeOp pipe) {
  ClusterReach reach;
  if (pipe.getPipe().getType().getLink() != Link::Cluster)
    return reach;
  reach.shape = getClusterShape(pipe->getParentOfType<KernelOp>());
  for (AcquireOp acquire : getUses(pipe).acquires)
    for (Operation *user : acquire->getUsers())
      if (auto copy = dyn_cast<CopyOp>(user); copy && copy.getMulticast())
        (*copy.getMulticast() == ClusterAxis::Row ? reach.alongRow : reach.alongCol) = true;
  return reach;
}

bool isReadByThreads(PipeOp pipe, const Target &target) {
  for (WaitOp wait : getUses(pipe).waits)
    for (const Access &access : getAccesses(wait, target))
      if (!usesAsyncProxy(access.agent))
        return true;
  return false;
}

int64_t getShares(CopyOp copy) {
  if (!copy.getMulticast())
    return 1;
  ClusterShape shape = getClusterShape(copy->getParentOfType<KernelOp>());
  return *copy.getMulticast() == ClusterAxis::Row ? shape.cols : shape.rows;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static LogicalResult checkShape(KernelOp kernel, const Target &target) {
  ClusterShape shape = getClusterShape(kernel);
  for (WorkStreamOp stream : kernel.getBody().front().getOps<WorkStreamOp>())
    if (stream.getClusterRows() != shape.rows || stream.getClusterCols() != shape.cols)
      return stream.emitOpError("expected one cluster shape in a kernel, [")
             << shape.rows << ", " << shape.cols << "], got [" << stream.getClusterRows() << ", "
             << stream.getClusterCols() << "]";
  if (shape.size() > 1 && !target.has(Feature::Clusters))
    return kernel.emitOpError("expected a target with clusters for a cluster of ")
           << shape.rows << " x " << shape.cols << ", got " << target.name;
  if (shape.size() > target.maxCluster)
    return kernel.emitOpError("expected at most ")
           << target.maxCluster << " CTAs a cluster on " << target.name << ", got " << shape.rows
           << " x " << shape.cols;
  return success();
}

/// The argument of a for_each that differs between CTAs of a cluster and that `value` is
/// computed from, skipping those that `allowed` takes; null when there is none.
static BlockArgument dependsOnCta(Value value, function_ref<bool(BlockArgument)> allowed) {
  SetVector<Value> work;
  work.insert(value);
  for (size_t i = 0; i < work.size(); ++i) {
    if (auto arg = dyn_cast<BlockArgument>(work[i])) {
      Operation *parent = arg.getOwner()->getParentOp();
      if (isa<ForEachOp>(parent) && arg.getArgNumber() < 2 && !allowed(arg))
        return arg;
      if (auto loop = dyn_cast<scf::ForOp>(parent))
        for (ValueRange from :
             {ValueRange(loop->getOperands()), ValueRange(loop.getYieldedValues())})
          work.insert(from.begin(), from.end());
      continue;
    }
    Operation *op = work[i].getDefiningOp();
    for (Value operand : op->getOperands())
      if (!isa<MemRefType>(operand.getType()))
        work.insert(operand);
    for (Region &region : op->getRegions()) // what a loop or branch yields
      for (Value yielded : region.empty() || region.back().empty()
                               ? ValueRange()
                               : ValueRange(region.back().back().getOperands()))
        work.insert(yielded);
  }
  return {};
}

static StringRef describe(BlockArgument arg) {
  return arg.getArgNumber() == 0 ? "tile row" : "tile column";
}

static LogicalResult checkMulticast(CopyOp copy) {
  ClusterAxis axis = *copy.getMulticast();
  int64_t shares = getShares(copy);
  auto tile = cast<TileType>(copy.getTile().getType());
  if (tile.getStrided() % (8 * shares))
    return copy.emitOpError("expected a tile that ")
           << shares << " CTAs can divide into multiples of 8 rows of a panel, got "
           << tile.getStrided() << " rows";
  for (Value offset : copy.getOffsets())
    if (BlockArgument arg = dependsOnCta(offset, [&](BlockArgument a) {
          return a.getArgNumber() == (axis == ClusterAxis::Row ? 0u : 1u);
        }))
      return copy.emitOpError("expected offsets that are equal along a ")
             << (axis == ClusterAxis::Row ? "row" : "column")
             << " of the cluster, to multicast the tile, got one that depends on the "
             << describe(arg);
  return success();
}

/// Every CTA of a cluster must come to the verbs of `pipe` equally often.
static LogicalResult checkCollective(PipeOp pipe) {
  for (Operation *verb : pipe->getUsers())
    for (auto loop = verb->getParentOfType<scf::ForOp>(); loop;
         loop = loop->getParentOfType<scf::ForOp>())
      for (Value bound : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
        if (BlockArgument arg = dependsOnCta(bound, [](BlockArgument) { return false; }))
          return loop.emitOpError("expected as many iterations in every CTA of a cluster around "
                                  "the verbs of pipe \"")
                 << pipe.getName() << "\", got a bound that depends on the " << describe(arg);
  return success();
}

static LogicalResult checkWriters(PipeOp pipe, const Target &target) {
  for (AcquireOp acquire : getUses(pipe).acquires)
    for (const Access &access : getAccesses(acquire, target))
      if (access.write && access.agent != Agent::CopyEngine)
        return access.op->emitOpError("expected slots of pipe \"")
               << pipe.getName() << "\" of link cluster to be filled by bulk copies, got "
               << heddle::warp::describe(access.agent);
  return success();
}

LogicalResult checkCluster(KernelOp kernel, const Target &target) {
  if (failed(checkShape(kernel, target)))
    return failure();
  for (PipeOp pipe : getPipes(kernel)) {
    if (pipe.getPipe().getType().getLink() != Link::Cluster)
      continue;
    if (!target.has(Feature::Multicast))
      return pipe.emitOpError("expected a target whose copies are multicast in clusters for link "
                              "cluster, got ")
             << target.name;
    if (failed(checkWriters(pipe, target)) || failed(checkCollective(pipe)))
      return failure();
  }
  WalkResult walked = kernel.walk([](CopyOp copy) {
    return copy.getMulticast() && failed(checkMulticast(copy)) ? WalkResult::interrupt()
                                                               : WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

} // namespace heddle::warp
