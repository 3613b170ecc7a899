//===- Allocate.cpp - warp-allocate ---------------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In:  a kernel of roles.
// Out: every smem, cluster and tmem pipe has offset, barriers, producers and consumers; the
//      kernel has shared_bytes and, with tensor memory, tmem_columns and tmem_address; with
//      pipes between ranks abort_word, which a failed wait sets, with warp.list_experts scratch.
// Not: reuse of memory between pipes that are never live together.
//
// Shared memory:  0     full barriers, then empty barriers, 8 bytes each, pipe by pipe;
//                       then 4 bytes for the address of tensor memory, or for the abort word
//                 1024  the slots of each smem or cluster pipe, each pipe at a multiple of 1024
//                       then the tables of groups
//
//===----------------------------------------------------------------------===//
#include "dialects/Warp/Transforms/Cluster.h"
#include "dialects/Warp/Transforms/Passes.h"
#include "dialects/Warp/Transforms/Roles.h"
#include "llvm/Support/MathExtras.h"

namespace heddle::warp {
#define GEN_PASS_DEF_ALLOCATEPASS
#include "dialects/Warp/Transforms/Passes.h.inc"
} // namespace heddle::warp

using namespace mlir;
using namespace heddle::warp;
using heddle::target::MmaFamily;
using heddle::target::Target;

namespace {
struct AllocatePass : heddle::warp::impl::AllocatePassBase<AllocatePass> {
  using Base::Base;
  void runOnOperation() override;

private:
  LogicalResult placeBarriers();
  LogicalResult placeSlots();
  LogicalResult placeColumns();
  LogicalResult countArrivals(PipeOp pipe);
  LogicalResult checkNamedBarriers();

  KernelOp kernel;
  const Target *target;
  SmallVector<PipeOp> pipes; ///< those with barriers
};
} // namespace

static bool hasLink(PipeOp pipe, Link link) { return pipe.getPipe().getType().getLink() == link; }

LogicalResult AllocatePass::placeBarriers() {
  int64_t next = 0;
  for (PipeOp pipe : pipes) {
    pipe.setBarriers(next);
    next += 2 * 8 * pipe.getPipe().getType().getDepth();
  }
  if (llvm::any_of(pipes, [](PipeOp p) { return hasLink(p, Link::Tmem); })) {
    kernel->setAttr("tmem_address", Builder(kernel.getContext()).getI64IntegerAttr(next));
    next += 4;
  }
  if (!getPeerPipes(kernel).empty()) {
    kernel->setAttr("abort_word", Builder(kernel.getContext()).getI64IntegerAttr(next));
    next += 4;
  }
  bool lists = kernel->walk([](ListExpertsOp) { return WalkResult::interrupt(); }).wasInterrupted();
  if (lists) {
    constexpr int64_t mostWarps = 32, counts = 2; // a word each
    kernel->setAttr("scratch", Builder(kernel.getContext()).getI64IntegerAttr(next));
    next += 4 * counts * mostWarps;
  }
  if (next > barrierBytes)
    return kernel.emitOpError("expected at most ")
           << barrierBytes << " bytes of barriers, got " << next;
  return success();
}

LogicalResult AllocatePass::placeSlots() {
  int64_t next = barrierBytes;
  std::string parts = std::to_string(barrierBytes) + " barriers";
  for (PipeOp pipe : pipes) {
    if (!pipe.getPipe().getType().hasTiles())
      continue;
    PipeType type = pipe.getPipe().getType();
    int64_t slot = llvm::alignTo(type.getSlotBytes(), slotAlignment);
    pipe.setOffset(next);
    next += type.getDepth() * slot;
    parts += " + " + std::to_string(type.getDepth()) + " x " + std::to_string(slot) + " " +
             pipe.getName().str();
  }
  kernel.walk([&](GroupsOp groups) {
    int64_t bytes = llvm::alignTo(groups.getTableBytes(), 16);
    groups.setOffset(next);
    next += bytes;
    parts += " + " + std::to_string(bytes) + " groups";
  });
  kernel->setAttr("shared_bytes", Builder(kernel.getContext()).getI64IntegerAttr(next));
  if (next > target->sharedPerBlock)
    return kernel.emitOpError("expected at most ")
           << target->sharedPerBlock << " bytes of shared memory on " << target->name << ", got "
           << next << " (" << parts << ")";
  return success();
}

LogicalResult AllocatePass::placeColumns() {
  int64_t next = 0;
  std::string parts;
  for (PipeOp pipe : pipes) {
    if (!hasLink(pipe, Link::Tmem))
      continue;
    PipeType type = pipe.getPipe().getType();
    int64_t columns = cast<AccType>(type.getElements().front()).getCols();
    pipe.setOffset(next);
    next += type.getDepth() * columns;
    parts += (parts.empty() ? "" : " + ") + std::to_string(type.getDepth()) + " x " +
             std::to_string(columns) + " " + pipe.getName().str();
  }
  if (next == 0)
    return success();
  int64_t columns = llvm::PowerOf2Ceil(std::max(next, minTmemColumns));
  kernel->setAttr("tmem_columns", Builder(kernel.getContext()).getI64IntegerAttr(columns));
  if (columns > target->tmemColumns)
    return kernel.emitOpError("expected at most ")
           << target->tmemColumns << " columns of tensor memory on " << target->name << ", got "
           << columns << " (" << parts << ", rounded up to a power of two)";
  return success();
}

LogicalResult AllocatePass::countArrivals(PipeOp pipe) {
  FailureOr<PipeEnds> ends = getEnds(pipe);
  if (failed(ends))
    return failure();
  FailureOr<int64_t> full = fullArrivals(pipe, ends->producer, *target);
  if (failed(full))
    return failure();
  int64_t empty = 0;
  for (RoleOp consumer : ends->consumers)
    empty += emptyArrivals(consumer, *target);
  pipe.setProducers(*full);
  pipe.setConsumers(empty * getReach(pipe).writers());
  return success();
}

/// Barrier 0 is the CTA's; a role of several warps may use one to meet.
LogicalResult AllocatePass::checkNamedBarriers() {
  int64_t need = 1;
  for (RoleOp role : kernel.getBody().front().getOps<RoleOp>())
    need += role.getNumWarps() > 1;
  if (need > target->namedBarriers)
    return kernel.emitOpError("expected at most ")
           << target->namedBarriers << " named barriers on " << target->name << ", got " << need
           << " (one for the CTA and one for each role of several warps)";
  return success();
}

void AllocatePass::runOnOperation() {
  kernel = getOperation();
  target = getTarget(kernel);
  pipes.clear();
  if (!target) {
    kernel.emitOpError("expected a target (run warp-resolve-links), got none");
    return signalPassFailure();
  }
  for (PipeOp pipe : getPipes(kernel))
    if (pipe.getPipe().getType().hasTiles() || hasLink(pipe, Link::Tmem))
      pipes.push_back(pipe);
  for (PipeOp pipe : pipes)
    if (failed(countArrivals(pipe)))
      return signalPassFailure();
  if (failed(placeBarriers()) || failed(placeSlots()) || failed(placeColumns()) ||
      failed(checkNamedBarriers()))
    return signalPassFailure();
}
