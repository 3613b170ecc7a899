//===- Backend.h - from the llvm dialect to PTX ----------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_PIPELINES_BACKEND_H
#define HEDDLE_PIPELINES_BACKEND_H

#include "heddle/Support/Result.h"
#include "heddle/Target/Target.h"
#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm
namespace mlir {
class DialectRegistry;
class ModuleOp;
} // namespace mlir

namespace heddle {

/// What `translate` needs to know about the dialects. Add before making the context.
void registerTranslations(mlir::DialectRegistry &registry);

/// An LLVM module with the context that owns it. Independent of MLIR, so that the rest of
/// the way may run on another thread.
struct LLVMProgram {
  LLVMProgram();
  LLVMProgram(LLVMProgram &&);
  LLVMProgram &operator=(LLVMProgram &&);
  ~LLVMProgram();
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

/// Translates a module at Level::LLVM, marks inline assembly convergent (the dialect cannot
/// say so) and verifies. Diagnostics of the translation go to the MLIR context.
Expected<LLVMProgram> translate(mlir::ModuleOp module, const target::Target &target);

/// Runs the IR passes: cleaning up and loop-invariant motion, no unrolling and no
/// vectorisation. Unrolling would let accumulators cross a group's wait, which ptxas
/// answers by serialising wgmma.
void optimise(LLVMProgram &program, const target::Target &target);

/// The module as text.
std::string printLLVM(const LLVMProgram &program);

/// Generates PTX of the target's version. Consumes the program.
Expected<std::string> generatePtx(LLVMProgram program, const target::Target &target);

} // namespace heddle

#endif // HEDDLE_PIPELINES_BACKEND_H
