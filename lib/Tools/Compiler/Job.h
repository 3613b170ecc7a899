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
#include "heddle/Tuning/Record.h"

namespace heddle::tools {

/// What all jobs share. Read-only while they run, but for `timing`.
struct Session {
  const CompilerOptions &options;
  Timing &timing;
  Cache cache;
  std::optional<Ptxas> ptxas; ///< absent: PTX only
};

/// A module on its way through the back end: all entries of a job together, or one of them.
struct Unit {
  std::string name; ///< for messages and files: "gemm", "gemm__unaligned"
  LLVMProgram program;
  CompiledKernel compiled;
  std::string text; ///< of LLVM IR or PTX, when that is what --emit asks for
  std::vector<PtxasReport> reports;
  std::vector<Assembly::Loss> losses; ///< why ptxas' result must not be used
  bool fromCache = false;
};

/// A schedule of the model that ptxas could not keep in registers, and the first line of why.
struct GivenUp {
  tuning::Schedule schedule;
  std::string entry, cause;
};

/// Compiles one kernel for one target, in two parts: `lower` uses MLIR and must run on the thread
/// that owns the context; `finish` may run on any, for each unit.
class Job {
public:
  Job(const Session &session, const InputKernel &kernel, const target::Target &target)
      : session(session), kernel(kernel), target(target) {}
  /// With the schedule of a record, which is given up like one of the model when ptxas cannot keep
  /// it in registers. It outlives the job; may be nullptr.
  Job(const Session &session, const InputKernel &kernel, const target::Target &target,
      const tuning::Record *record)
      : session(session), kernel(kernel), target(target), record(record) {}

  /// Runs the passes up to what --emit asks for. For forms of MLIR the result is `text`, for the
  /// others there are units to finish.
  Expected<void> lower();
  /// Generates PTX and machine code of a unit as far as --emit asks for. What ptxas lost is noted
  /// in the unit.
  Expected<void> finish(Unit &unit);
  /// After all units are finished: whether one of them has lost something.
  bool hasLosses() const;
  /// Then: gives up the schedules at fault and runs `lower` again with the model's next ones, so
  /// that there are new units to finish. An Error with the losses when the schedule was given, or
  /// after `mostRetries` times.
  Expected<void> retry();
  static constexpr size_t mostRetries = 4;
  /// What was given up on the way to the units there are.
  const std::vector<GivenUp> &getGivenUp() const { return givenUp; }

  const InputKernel &getKernel() const { return kernel; }
  const target::Target &getTarget() const { return target; }
  const tuning::Record *getRecord() const { return record; }
  /// "@gemm for sm_90a".
  std::string describe() const;
  /// "gemm.sm_90a".
  std::string fileStem() const { return fileStem(kernel.name); }

  std::string text;
  std::vector<std::unique_ptr<Unit>> units;

private:
  Expected<void> runStage(mlir::ModuleOp module, Level from);
  Expected<void> makeUnits(mlir::ModuleOp module);
  Expected<void> addUnit(mlir::ModuleOp module, std::string name);
  Expected<void> assembleUnit(Unit &unit);
  std::optional<tuning::Schedule> chosenByModel(const Unit &unit, const std::string &entry) const;
  Error describeLosses() const;
  Expected<void> saveTemp(const std::string &name, llvm::StringRef suffix, llvm::StringRef content);
  std::string print(mlir::ModuleOp module);
  std::string fileStem(const std::string &name) const {
    return name + "." + std::string(target.name);
  }

  const Session &session;
  InputKernel kernel;
  const target::Target &target;
  const tuning::Record *record = nullptr;
  std::vector<GivenUp> givenUp;
  size_t retries = 0;
};

} // namespace heddle::tools

#endif // HEDDLE_LIB_TOOLS_COMPILER_JOB_H
