//===- VerifyRoles.cpp - warp-verify-roles --------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In:  a kernel after warp-allocate, edited or not.
// Out: unchanged, or an error: roles that share warps, that their instructions cannot work
//      with or that ask for more registers than there are; slots or barriers that lie
//      over each other or outside; arrival counts that no phase can reach.
// Not: what verify-protocol and check-ordering look at.
//
//===----------------------------------------------------------------------===//
#include "dialects/Warp/Transforms/Cluster.h"
#include "dialects/Warp/Transforms/Passes.h"
#include "dialects/Warp/Transforms/Roles.h"
#include "llvm/ADT/bit.h"

namespace heddle::warp {
#define GEN_PASS_DEF_VERIFYROLESPASS
#include "dialects/Warp/Transforms/Passes.h.inc"
} // namespace heddle::warp

using namespace mlir;
using namespace heddle::warp;
using heddle::target::Target;

namespace {
struct VerifyRolesPass : heddle::warp::impl::VerifyRolesPassBase<VerifyRolesPass> {
  using Base::Base;
  void runOnOperation() override;
};

/// A range of bytes or columns that something has for itself.
struct Extent {
  int64_t first, end;
  std::string what;
  Operation *op;
};
} // namespace

static LogicalResult checkDisjoint(ArrayRef<Extent> ranges, StringRef unit) {
  for (auto [i, a] : llvm::enumerate(ranges))
    for (const Extent &b : ranges.take_front(i))
      if (a.first < b.end && b.first < a.end)
        return a.op->emitOpError("expected ")
               << a.what << " apart from " << b.what << ", got " << unit << " " << a.first << " to "
               << a.end << " and " << b.first << " to " << b.end;
  return success();
}

static LogicalResult checkArrivals(PipeOp pipe, const Target &target) {
  FailureOr<PipeEnds> ends = getEnds(pipe);
  if (failed(ends))
    return failure();
  FailureOr<int64_t> full = fullArrivals(pipe, ends->producer, target);
  if (failed(full))
    return failure();
  int64_t empty = 0;
  for (RoleOp consumer : ends->consumers)
    empty += emptyArrivals(consumer, target);
  int64_t ctas = getReach(pipe).writers();
  empty *= ctas;
  if (static_cast<int64_t>(*pipe.getProducers()) != *full)
    return pipe.emitOpError("expected producers of pipe \"")
           << pipe.getName() << "\" to be " << *full << ", the arrivals of "
           << describeProcess(ends->producer) << ", got " << *pipe.getProducers();
  if (static_cast<int64_t>(*pipe.getConsumers()) != empty)
    return pipe.emitOpError("expected consumers of pipe \"")
           << pipe.getName() << "\" to be " << empty << ", the arrivals of "
           << ends->consumers.size() << (ends->consumers.size() == 1 ? " role" : " roles")
           << (ctas > 1 ? " in " + std::to_string(ctas) + " CTAs" : "") << ", got " << *pipe.getConsumers();
  return success();
}

static LogicalResult checkShared(KernelOp kernel, ArrayRef<PipeOp> pipes, const Target &target) {
  auto bytes = kernel->getAttrOfType<IntegerAttr>("shared_bytes");
  if (!bytes)
    return kernel.emitOpError("expected attribute shared_bytes (run warp-allocate), got none");
  if (bytes.getInt() > target.sharedPerBlock)
    return kernel.emitOpError("expected at most ")
           << target.sharedPerBlock << " bytes of shared memory on " << target.name << ", got "
           << bytes.getInt();
  SmallVector<Extent> ranges;
  for (PipeOp pipe : pipes) {
    PipeType type = pipe.getPipe().getType();
    std::string name = "\"" + pipe.getName().str() + "\"";
    int64_t barriers = *pipe.getBarriers(), offset = *pipe.getOffset();
    if (barriers < 0 || barriers % 8)
      return pipe.emitOpError("expected barriers at a multiple of 8 bytes, got ") << barriers;
    ranges.push_back({barriers, barriers + 16 * type.getDepth(), "the barriers of " + name, pipe});
    if (!type.hasTiles())
      continue;
    if (offset < 0 || offset % slotAlignment)
      return pipe.emitOpError("expected slots at a multiple of ")
             << slotAlignment << " bytes, the period of the swizzle, got " << offset;
    ranges.push_back(
        {offset, offset + type.getDepth() * type.getSlotBytes(), "the slots of " + name, pipe});
  }
  if (auto address = kernel->getAttrOfType<IntegerAttr>("tmem_address")) {
    if (address.getInt() < 0 || address.getInt() % 4)
      return kernel.emitOpError("expected tmem_address to be a multiple of 4 bytes, got ")
             << address.getInt();
    ranges.push_back({address.getInt(), address.getInt() + 4, "tmem_address", kernel});
  }
  for (const Extent &range : ranges)
    if (range.end > bytes.getInt())
      return range.op->emitOpError("expected ")
             << range.what << " within the kernel's shared_bytes, " << bytes.getInt() << ", got "
             << range.first << " to " << range.end;
  return checkDisjoint(ranges, "bytes");
}

static LogicalResult checkColumns(KernelOp kernel, ArrayRef<PipeOp> pipes, const Target &target) {
  SmallVector<Extent> ranges;
  for (PipeOp pipe : pipes)
    if (PipeType type = pipe.getPipe().getType(); type.getLink() == Link::Tmem) {
      int64_t columns = cast<AccType>(type.getElements().front()).getCols() * type.getDepth();
      int64_t first = *pipe.getOffset();
      ranges.push_back({first, first + columns, "\"" + pipe.getName().str() + "\"", pipe});
    }
  if (ranges.empty())
    return success();
  auto columns = kernel->getAttrOfType<IntegerAttr>("tmem_columns");
  if (!columns || !kernel->hasAttr("tmem_address"))
    return kernel.emitOpError("expected attributes tmem_columns and tmem_address (run "
                              "warp-allocate), got none");
  int64_t have = columns.getInt();
  if (have < minTmemColumns || have > target.tmemColumns ||
      !llvm::has_single_bit(static_cast<uint64_t>(have)))
    return kernel.emitOpError("expected tmem_columns to be a power of two in ")
           << minTmemColumns << ".." << target.tmemColumns << " on " << target.name << ", got "
           << have;
  for (const Extent &range : ranges)
    if (range.first < 0 || range.end > have)
      return range.op->emitOpError("expected columns within the kernel's tmem_columns, ")
             << have << ", got " << range.first << " to " << range.end;
  return checkDisjoint(ranges, "columns");
}

void VerifyRolesPass::runOnOperation() {
  KernelOp kernel = getOperation();
  const Target *target = getTarget(kernel);
  if (!target) {
    kernel.emitOpError("expected a target (run warp-resolve-links), got none");
    return signalPassFailure();
  }
  if (failed(checkRoles(kernel, *target)) || failed(checkCluster(kernel, *target)))
    return signalPassFailure();
  SmallVector<PipeOp> pipes;
  for (PipeOp pipe : getPipes(kernel)) {
    Link link = pipe.getPipe().getType().getLink();
    if (link == Link::Accumulator) {
      pipe.emitOpError("expected link smem, cluster, regs or tmem after roles are assigned, got ")
          << stringifyLink(link);
      return signalPassFailure();
    }
    if (link == Link::Regs)
      continue;
    if (!pipe.getOffset() || !pipe.getBarriers() || !pipe.getProducers() || !pipe.getConsumers()) {
      pipe.emitOpError("expected pipe \"")
          << pipe.getName()
          << "\" to have offset, barriers, producers and consumers (run warp-allocate)";
      return signalPassFailure();
    }
    pipes.push_back(pipe);
  }
  for (PipeOp pipe : pipes)
    if (failed(checkArrivals(pipe, *target)))
      return signalPassFailure();
  if (failed(checkShared(kernel, pipes, *target)) || failed(checkColumns(kernel, pipes, *target)))
    return signalPassFailure();
  markAllAnalysesPreserved();
}
