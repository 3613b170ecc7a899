//===- ResolveLinks.cpp - warp-resolve-links ------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In:  a kernel with a target (its attribute, or the option), pipes of link
//      `accumulator`, copies by any engine.
// Out: no link `accumulator`; only engines that the target has; every warp.mma is one
//      that the target's tensor cores take, and promotes where they keep sums short; clusters
//      that the target launches, and tiles that their CTAs can share.
// Not: doing without clusters where the target has none: that is an error.
//
//===----------------------------------------------------------------------===//
#include "dialects/Warp/Transforms/Cluster.h"
#include "dialects/Warp/Transforms/Network.h"
#include "dialects/Warp/Transforms/Passes.h"

namespace heddle::warp {
#define GEN_PASS_DEF_RESOLVELINKSPASS
#include "dialects/Warp/Transforms/Passes.h.inc"
} // namespace heddle::warp

using namespace mlir;
using namespace heddle::warp;
using heddle::target::DType;
using heddle::target::Feature;
using heddle::target::MmaFamily;
using heddle::target::Target;

namespace {
struct ResolveLinksPass : heddle::warp::impl::ResolveLinksPassBase<ResolveLinksPass> {
  using Base::Base;
  void runOnOperation() override;
};
} // namespace

/// The kernel's target, from its attribute or else from `fallback`, which is then set.
static FailureOr<const Target *> findTarget(KernelOp kernel, StringRef fallback) {
  if (!kernel.getTarget()) {
    if (fallback.empty())
      return kernel.emitOpError("expected a target, as attribute or as option of "
                                "warp-resolve-links, got none");
    if (!heddle::target::findTarget(fallback))
      return kernel.emitOpError("expected target to be one of ")
             << heddle::target::knownTargetNames() << ", got " << fallback;
    kernel.setTarget(fallback);
  }
  return getTarget(kernel);
}

static LogicalResult resolvePipe(PipeOp pipe, const Target &target) {
  PipeType type = pipe.getPipe().getType();
  if (type.getLink() == Link::Tmem && !target.has(Feature::TensorMemory))
    return pipe.emitOpError("expected a target with tensor memory for link tmem, got ")
           << target.name;
  if (type.getLink() == Link::Regs && target.mma == MmaFamily::Tcgen05)
    return pipe.emitOpError("expected link tmem, since the tensor cores of ")
           << target.name << " accumulate in tensor memory, got regs";
  if (type.getLink() != Link::Accumulator)
    return success();
  bool tmem = target.mma == MmaFamily::Tcgen05;
  pipe.getPipe().setType(PipeType::get(pipe.getContext(), tmem ? Link::Tmem : Link::Regs,
                                       tmem ? type.getDepth() : 1, type.getElements()));
  return success();
}

/// The next engine that the target has and that can move the same tile.
static void resolveEngine(CopyOp copy, const Target &target) {
  Engine engine = copy.getEngine();
  if (engine == Engine::Bulk && !target.has(Feature::BulkTensorCopy))
    engine = copy.isLoad() ? Engine::Async : Engine::Threads;
  if (engine == Engine::Async && !target.has(Feature::AsyncCopy))
    engine = Engine::Threads;
  if (engine != copy.getEngine())
    copy.setEngine(engine);
}

/// The tensor-core type of an element type; f32 is multiplied as TF32.
static std::optional<DType> operandType(Type type) {
  if (type.isF32())
    return DType::TF32;
  if (type.isF16())
    return DType::F16;
  if (type.isBF16())
    return DType::BF16;
  if (isa<Float8E4M3FNType>(type))
    return DType::F8E4M3;
  if (isa<Float8E5M2Type>(type))
    return DType::F8E5M2;
  return std::nullopt;
}

static LogicalResult checkOperand(MmaOp mma, TileType tile, StringRef name, const Target &target) {
  Type element = tile.getElementType();
  std::optional<DType> type = operandType(element);
  if (!type)
    return mma.emitOpError("expected operand ")
           << name << " to be f32, f16, bf16, f8E4M3FN or f8E5M2, got " << element;
  if (!target.supports(*type))
    return mma.emitOpError("expected an operand type that the tensor cores of ")
           << target.name << " take, got " << element << " for " << name
           << "; targets that take it: " << heddle::target::targetsSupporting(*type);
  if (tile.getMajor() == Major::MN && element.getIntOrFloatBitWidth() != 16)
    return mma.emitOpError("expected operand ")
           << name << " of " << element << " to be k-major, got " << tile
           << "; a copy by threads can transpose";
  return success();
}

static LogicalResult checkMma(MmaOp mma, const Target &target) {
  if (failed(checkOperand(mma, mma.getA().getType(), "a", target)) ||
      failed(checkOperand(mma, mma.getB().getType(), "b", target)))
    return failure();
  AccType acc = mma.getAcc().getType();
  int64_t rows = acc.getRows(), cols = acc.getCols();
  if (target.mma == MmaFamily::Wgmma && rows % 64)
    return mma.emitOpError("expected accumulator rows to be a multiple of 64 on ")
           << target.name << ", got " << rows;
  if (target.mma == MmaFamily::Tcgen05 && rows != 128)
    return mma.emitOpError("expected 128 accumulator rows, the lanes of tensor memory, on ")
           << target.name << ", got " << rows;
  if (target.mma == MmaFamily::Tcgen05 && cols % 16)
    return mma.emitOpError("expected accumulator columns to be a multiple of 16 on ")
           << target.name << ", got " << cols;
  if (target.mma != MmaFamily::MmaSync && cols > 256)
    return mma.emitOpError("expected at most 256 accumulator columns on ")
           << target.name << ", got " << cols;
  return success();
}

/// Sums of 8-bit products are taken out of the tensor cores after each slot.
static void resolveSums(MmaOp mma, const Target &target) {
  bool bytes = mma.getA().getType().getElementBytes() == 1;
  if (bytes && target.has(Feature::ShortFp8Sums))
    mma.setPromote(true);
}

void ResolveLinksPass::runOnOperation() {
  KernelOp kernel = getOperation();
  FailureOr<const Target *> found = findTarget(kernel, target);
  if (failed(found))
    return signalPassFailure();
  for (PipeOp pipe : getPipes(kernel))
    if (failed(resolvePipe(pipe, **found)))
      return signalPassFailure();
  kernel.walk([&](CopyOp copy) { resolveEngine(copy, **found); });
  WalkResult checked = kernel.walk([&](MmaOp mma) {
    return failed(checkMma(mma, **found)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (checked.wasInterrupted() || failed(checkCluster(kernel, **found)))
    return signalPassFailure();
  kernel.walk([&](MmaOp mma) { resolveSums(mma, **found); });
}
