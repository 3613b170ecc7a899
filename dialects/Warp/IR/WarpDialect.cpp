//===- WarpDialect.cpp - registration and attributes ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/Warp/IR/WarpDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle::warp;

#include "dialects/Warp/IR/WarpDialect.cpp.inc"
#include "dialects/Warp/IR/WarpEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Warp/IR/WarpAttrs.cpp.inc"

void WarpDialect::initialize() {
  registerTypes();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Warp/IR/WarpAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Warp/IR/WarpOps.cpp.inc"
      >();
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t tileM,
                                   int64_t tileN, int64_t tileK, int64_t stages, int64_t loadWarps,
                                   int64_t mmaWarps, int64_t epilogueWarps, int64_t accStages,
                                   int64_t storeStages, int64_t loadRegisters,
                                   int64_t mmaRegisters, int64_t raster, Engine, StorePath,
                                   int64_t ctasPerSM, int64_t clusterM, int64_t clusterN,
                                   int64_t splitK, int64_t swap, int64_t sms, int64_t pdl) {
  auto atLeast = [&](StringRef name, int64_t value, int64_t least) -> LogicalResult {
    if (value < least)
      return emitError() << "expected " << name << " to be at least " << least << ", got " << value;
    return success();
  };
  return success(
      succeeded(atLeast("tile_m", tileM, 1)) && succeeded(atLeast("tile_n", tileN, 1)) &&
      succeeded(atLeast("tile_k", tileK, 1)) && succeeded(atLeast("stages", stages, 1)) &&
      succeeded(atLeast("load_warps", loadWarps, 0)) &&
      succeeded(atLeast("mma_warps", mmaWarps, 1)) &&
      succeeded(atLeast("epilogue_warps", epilogueWarps, 0)) &&
      succeeded(atLeast("acc_stages", accStages, 1)) &&
      succeeded(atLeast("store_stages", storeStages, 0)) &&
      succeeded(atLeast("load_registers", loadRegisters, 0)) &&
      succeeded(atLeast("mma_registers", mmaRegisters, 0)) &&
      succeeded(atLeast("raster", raster, 1)) && succeeded(atLeast("ctas_per_sm", ctasPerSM, 1)) &&
      succeeded(atLeast("cluster_m", clusterM, 1)) && succeeded(atLeast("cluster_n", clusterN, 1)) &&
      succeeded(atLeast("split_k", splitK, 1)) && succeeded(atLeast("swap", swap, 0)) &&
      succeeded(atLeast("sms", sms, 0)) && succeeded(atLeast("pdl", pdl, 0)));
}

ScheduleAttr heddle::warp::toAttr(MLIRContext *context, const tuning::Schedule &s) {
  return ScheduleAttr::get(context, s.tileM, s.tileN, s.tileK, s.stages, s.loadWarps, s.mmaWarps,
                           s.epilogueWarps, s.accStages, s.storeStages, s.loadRegisters,
                           s.mmaRegisters, s.raster, static_cast<Engine>(s.copy),
                           static_cast<StorePath>(s.store), s.ctasPerSM, s.clusterM, s.clusterN,
                           s.splitK, s.swap, s.sms, s.pdl);
}

heddle::tuning::Schedule heddle::warp::fromAttr(ScheduleAttr a) {
  tuning::Schedule s;
  s.tileM = a.getTileM(), s.tileN = a.getTileN(), s.tileK = a.getTileK();
  s.stages = a.getStages(), s.loadWarps = a.getLoadWarps(), s.mmaWarps = a.getMmaWarps();
  s.epilogueWarps = a.getEpilogueWarps(), s.accStages = a.getAccStages();
  s.storeStages = a.getStoreStages(), s.loadRegisters = a.getLoadRegisters();
  s.mmaRegisters = a.getMmaRegisters(), s.raster = a.getRaster();
  s.copy = static_cast<target::CopyEngine>(a.getCopy());
  s.store = static_cast<tuning::StorePath>(a.getStore());
  s.ctasPerSM = a.getCtasPerSm();
  s.clusterM = a.getClusterM(), s.clusterN = a.getClusterN();
  s.splitK = static_cast<int>(a.getSplitK()), s.swap = static_cast<int>(a.getSwap());
  s.sms = static_cast<int>(a.getSms()), s.pdl = static_cast<int>(a.getPdl());
  return s;
}

const heddle::target::Target *heddle::warp::getTarget(Operation *op) {
  auto kernel = isa<KernelOp>(op) ? cast<KernelOp>(op) : op->getParentOfType<KernelOp>();
  if (!kernel || !kernel.getTarget())
    return nullptr;
  return target::findTarget(*kernel.getTarget());
}
