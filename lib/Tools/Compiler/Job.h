//===- Job.h - one kernel for one target -----------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_LIB_TOOLS_COMPILER_JOB_H
#define HEDDLE_LIB_TOOLS_COMPILER_JOB_H

#include "Input.h"
#include "Timing.h"
#include "heddle/Pipelines/Backend.h"
#include "heddle/Pipelines/Packager.h"
#include "heddle/Pipelines/Ptxas.h"

namespace heddle::tools {

/// What all jobs share. Read-only while they run, but for `timing`.
struct Session {
  const CompilerOptions &options;
  Timing &timing;
  Cache cache;
  std::optional<Ptxas> ptxas; ///< absent: PTX only
};

/// Compiles one kernel for one target, in two parts: `lower` uses MLIR and must run on the thread
/// that owns the context; `finish` may run on any.
class Job {
public:
  Job(const Session &session, const InputKernel &kernel, const target::Target &target)
      : session(session), kernel(kernel), target(target) {}

  /// Runs the passes up to what --emit asks for. For text forms the result is `text`.
  Expected<void> lower();
  /// Generates PTX and machine code as far as --emit asks for.
  Expected<void> finish();

  const InputKernel &getKernel() const { return kernel; }
  const target::Target &getTarget() const { return target; }
  /// "@gemm for sm_90a".
  std::string describe() const;
  /// "gemm.sm_90a".
  std::string fileStem() const;

  std::string text; ///< of a text form
  CompiledKernel compiled;
  std::vector<PtxasReport> reports;
  bool fromCache = false;

private:
  Expected<void> runStage(mlir::ModuleOp module, Level from);
  Expected<void> collectEntries(mlir::ModuleOp module);
  Expected<void> saveTemp(llvm::StringRef suffix, llvm::StringRef content);
  std::string print(mlir::ModuleOp module);

  const Session &session;
  InputKernel kernel;
  const target::Target &target;
  LLVMProgram program;
  /// Attributes of entries: they live as long as the MLIR context.
  std::vector<std::pair<mlir::DictionaryAttr, mlir::DictionaryAttr>> attributes;
};

} // namespace heddle::tools

#endif // HEDDLE_LIB_TOOLS_COMPILER_JOB_H
