//===- WarpToNVVM.cpp - warp.kernel to llvm.func with nvvm and ptx ops ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In: warp.kernel with roles, fences and placed pipes (warp-assign-roles,
// warp-insert-fences, warp-allocate). Out: one llvm.func a kernel whose body holds
// scf, arith, vector, llvm, nvvm and ptx ops, with `heddle.manifest`. It does not
// choose anything: schedules, roles and places are given.
//
//===----------------------------------------------------------------------===//
#include "heddle/Conversion/WarpToNVVM.h"
#include "KernelLowering.h"
#include "dialects/PTX/IR/PTXDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace heddle;

namespace {

struct ConvertWarpToNVVMPass : PassWrapper<ConvertWarpToNVVMPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ConvertWarpToNVVMPass)
  StringRef getArgument() const final { return "convert-warp-to-nvvm"; }
  StringRef getDescription() const final {
    return "Lower kernels with roles and placed pipes to nvvm and ptx ops of their target";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<LLVM::LLVMDialect, NVVM::NVVMDialect, ptx::PTXDialect, vector::VectorDialect,
                    arith::ArithDialect, scf::SCFDialect>();
  }
  void runOnOperation() final {
    SmallVector<warp::KernelOp> kernels(getOperation().getOps<warp::KernelOp>());
    for (warp::KernelOp kernel : kernels) {
      const target::Target *target = warp::getTarget(kernel);
      if (!target) {
        kernel.emitOpError("expected attribute target, one of ") << target::knownTargetNames();
        return signalPassFailure();
      }
      if (failed(KernelLowering(kernel, *target).run()))
        return signalPassFailure();
      kernel.erase();
    }
  }
};

} // namespace

std::unique_ptr<Pass> heddle::createConvertWarpToNVVMPass() {
  return std::make_unique<ConvertWarpToNVVMPass>();
}

void heddle::registerConvertWarpToNVVMPass() { PassRegistration<ConvertWarpToNVVMPass>(); }
