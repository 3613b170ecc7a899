//===- LowerToLLVM.cpp - scalar code to the llvm dialect -------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In: llvm.func with scf, cf, arith, math, vector, memref, ub and nvvm ops inside.
// Out: llvm and nvvm ops only. An index is 32 bits: sizes and offsets of one kernel
//     argument dimension stay below 2^31; addresses are computed in 64 bits by the
//     code that makes them.
// Cannot: lower functions of other dialects, or memrefs as function arguments.
//
//===----------------------------------------------------------------------===//
#include "heddle/Conversion/LowerToLLVM.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace {

void addPatterns(const LLVMTypeConverter &converter, RewritePatternSet &patterns) {
  populateSCFToControlFlowConversionPatterns(patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns);
  populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
  ub::populateUBToLLVMConversionPatterns(converter, patterns);
  vector::populateVectorBitCastLoweringPatterns(patterns);
  vector::populateVectorBroadcastLoweringPatterns(patterns);
  vector::populateVectorShapeCastLoweringPatterns(patterns);
  vector::populateVectorInterleaveLoweringPatterns(patterns);
  vector::populateVectorStepLoweringPatterns(patterns);
  vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns, /*reassociateFPReductions=*/false,
                                         /*force32BitVectorIndices=*/true);
  populateNVVMToLLVMConversionPatterns(patterns);
}

/// Annotations of scf loops come through as attributes that the translation does not read.
void annotateLoops(ModuleOp module) {
  module->walk([](LLVM::BrOp latch) {
    StringRef name = "llvm.loop_annotation";
    if (auto annotation = latch->getAttrOfType<LLVM::LoopAnnotationAttr>(name)) {
      latch.setLoopAnnotationAttr(annotation);
      latch->removeAttr(name);
    }
  });
}

struct LowerToLLVMPass : PassWrapper<LowerToLLVMPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerToLLVMPass)
  StringRef getArgument() const final { return "lower-to-llvm"; }
  StringRef getDescription() const final {
    return "Lower scf, cf, arith, math, vector, memref and ub to llvm, with a 32-bit index";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<LLVM::LLVMDialect, NVVM::NVVMDialect, cf::ControlFlowDialect,
                    arith::ArithDialect, vector::VectorDialect, ub::UBDialect>();
  }
  void runOnOperation() final {
    LowerToLLVMOptions options(&getContext());
    options.overrideIndexBitwidth(32);
    LLVMTypeConverter converter(&getContext(), options);
    RewritePatternSet patterns(&getContext());
    addPatterns(converter, patterns);
    LLVMConversionTarget target(getContext());
    target.addLegalOp<ModuleOp>();
    target.addLegalDialect<NVVM::NVVMDialect>();
    target.markUnknownOpDynamicallyLegal([](Operation *op) {
      // Ops of our own dialects are somebody else's to lower.
      return !isa<scf::SCFDialect, cf::ControlFlowDialect, arith::ArithDialect, math::MathDialect,
                  vector::VectorDialect, memref::MemRefDialect, ub::UBDialect>(op->getDialect());
    });
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      return signalPassFailure();
    annotateLoops(getOperation());
  }
};

} // namespace

std::unique_ptr<Pass> heddle::createLowerToLLVMPass() {
  return std::make_unique<LowerToLLVMPass>();
}

void heddle::registerLowerToLLVMPass() {
  registerPass([] { return createLowerToLLVMPass(); });
}
