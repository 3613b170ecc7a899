//===- Levels.cpp - the levels of a program and the passes between them ----===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "heddle/Pipelines/Levels.h"
#include "dialects/Heddle/IR/HeddleDialect.h"
#include "dialects/Warp/Transforms/Passes.h"
#include "heddle/Conversion/HeddleToWarp.h"
#include "heddle/Conversion/LowerToLLVM.h"
#include "heddle/Conversion/MathToNVVM.h"
#include "heddle/Conversion/PTXToLLVM.h"
#include "heddle/Conversion/WarpToNVVM.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace heddle {

std::string_view levelName(Level level) {
  constexpr std::string_view names[] = {"heddle", "warp", "roles", "nvvm", "llvm"};
  return names[static_cast<size_t>(level)];
}

/// Roles that passes or people have made, with everything placed.
static bool isAllocated(warp::KernelOp kernel) {
  if (kernel->hasAttr("shared_bytes"))
    return true;
  return kernel
      ->walk([](warp::PipeOp pipe) {
        return pipe.getOffset() || pipe.getBarriers() ? WalkResult::interrupt()
                                                      : WalkResult::advance();
      })
      .wasInterrupted();
}

static bool hasRoles(warp::KernelOp kernel) {
  return !kernel.getBody().front().getOps<warp::RoleOp>().empty();
}

std::optional<Level> levelOf(Operation *op) {
  if (isa<spec::KernelOp>(op))
    return Level::Heddle;
  if (auto kernel = dyn_cast<warp::KernelOp>(op))
    return hasRoles(kernel) && isAllocated(kernel) ? Level::Roles : Level::Warp;
  if (auto function = dyn_cast<LLVM::LLVMFuncOp>(op);
      function && !function.isExternal() &&
      function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
    return Level::NVVM;
  return std::nullopt;
}

static void addWarpToRoles(OpPassManager &pm, const PipelineOptions &options) {
  OpPassManager &kernel = pm.nest<warp::KernelOp>();
  kernel.addPass(warp::createResolveLinksPass({options.target}));
  kernel.addPass(warp::createSplitPromotionPass());
  kernel.addPass(warp::createVerifyProtocolPass());
  kernel.addPass(warp::createAssignRolesPass());
  kernel.addPass(warp::createLagReleasesPass());
  kernel.addPass(warp::createInsertFencesPass());
  kernel.addPass(warp::createCheckOrderingPass());
  kernel.addPass(warp::createAllocatePass());
}

static void addRolesToNVVM(OpPassManager &pm) {
  // Roles, offsets and barriers may have been edited by hand: check what is about to be emitted.
  OpPassManager &kernel = pm.nest<warp::KernelOp>();
  kernel.addPass(warp::createVerifyProtocolPass());
  kernel.addPass(warp::createCheckOrderingPass());
  kernel.addPass(warp::createVerifyRolesPass());
  pm.addPass(createConvertWarpToNVVMPass());
  // One walk folds what there is to fold: LLVM simplifies again.
  GreedyRewriteConfig once;
  once.setUseTopDownTraversal(false).setMaxIterations(1).setRegionSimplificationLevel(
      GreedySimplifyRegionLevel::Disabled);
  pm.addPass(createCanonicalizerPass(once));
  pm.addPass(createCSEPass());
}

static void addNVVMToLLVM(OpPassManager &pm, const PipelineOptions &options) {
  pm.addPass(createConvertMathToNVVMPass());
  pm.addPass(createConvertPTXToLLVMPass());
  pm.addPass(createLowerToLLVMPass());
  if (options.lineInfo) {
    LLVM::DIScopeForLLVMFuncOpPassOptions scope;
    scope.emissionKind = LLVM::DIEmissionKind::DebugDirectivesOnly;
    pm.addPass(LLVM::createDIScopeForLLVMFuncOpPass(scope));
  }
}

void addPasses(OpPassManager &pm, Level from, const PipelineOptions &options) {
  switch (from) {
  case Level::Heddle:
    pm.addPass(createConvertHeddleToWarpPass(
        {options.target, options.chip, options.schedule, /*variant=*/"", options.avoid,
         options.sms}));
    return;
  case Level::Warp:
    return addWarpToRoles(pm, options);
  case Level::Roles:
    return addRolesToNVVM(pm);
  case Level::NVVM:
    return addNVVMToLLVM(pm, options);
  case Level::LLVM:
    return;
  }
}

} // namespace heddle
