//===- Input.h - reading a spec --------------------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_LIB_TOOLS_COMPILER_INPUT_H
#define HEDDLE_LIB_TOOLS_COMPILER_INPUT_H

#include "Options.h"
#include "heddle/Pipelines/Levels.h"
#include "heddle/Support/Result.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/MemoryBuffer.h"

namespace heddle::tools {

/// A kernel of the input.
struct InputKernel {
  mlir::Operation *op;
  std::string name;
  Level level;
  std::string text; ///< as the user wrote it; empty when unknown
  /// The target it is written for; nullptr: any.
  const target::Target *target = nullptr;
};

/// Reads the file ("-": standard input) and checks that it may be a spec: not missing, empty or
/// binary.
Expected<std::unique_ptr<llvm::MemoryBuffer>> readSpec(const std::string &path);

/// The kernels of a module and of the modules inside it, in order; only that called `name` unless
/// it is empty.
Expected<std::vector<InputKernel>> findKernels(mlir::ModuleOp module, llvm::StringRef source,
                                               const std::string &name);

/// A module of its own with a copy of the kernel, and of the ops beside it that are no kernels.
mlir::OwningOpRef<mlir::ModuleOp> isolate(const InputKernel &kernel);

} // namespace heddle::tools

#endif // HEDDLE_LIB_TOOLS_COMPILER_INPUT_H
