//===- Registration.cpp - the dialects and passes of the tools -------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "heddle/Tools/Registration.h"
#include "dialects/Heddle/IR/HeddleDialect.h"
#include "dialects/PTX/IR/PTXDialect.h"
#include "dialects/Warp/Transforms/Passes.h"
#include "heddle/Conversion/HeddleToWarp.h"
#include "heddle/Conversion/LowerToLLVM.h"
#include "heddle/Conversion/MathToNVVM.h"
#include "heddle/Conversion/PTXToLLVM.h"
#include "heddle/Conversion/WarpToNVVM.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void heddle::tools::registerDialects(DialectRegistry &registry) {
  registry.insert<spec::HeddleDialect, warp::WarpDialect, ptx::PTXDialect, arith::ArithDialect,
                  math::MathDialect, memref::MemRefDialect, scf::SCFDialect, cf::ControlFlowDialect,
                  vector::VectorDialect, tensor::TensorDialect, func::FuncDialect, ub::UBDialect,
                  LLVM::LLVMDialect, NVVM::NVVMDialect, DLTIDialect>();
}

void heddle::tools::registerPasses() {
  registerConvertHeddleToWarpPass();
  warp::registerWarpPasses();
  registerConvertWarpToNVVMPass();
  registerConvertMathToNVVMPass();
  registerConvertPTXToLLVMPass();
  registerLowerToLLVMPass();
  registerTransformsPasses();
  registerSCFToControlFlowPass();
  registerConvertVectorToLLVMPass();
  registerArithToLLVMConversionPass();
  registerConvertMathToLLVMPass();
  registerConvertIndexToLLVMPass();
  registerConvertControlFlowToLLVMPass();
  registerFinalizeMemRefToLLVMConversionPass();
  registerConvertNVVMToLLVMPass();
  registerReconcileUnrealizedCastsPass();
  memref::registerExpandStridedMetadataPass();
}
