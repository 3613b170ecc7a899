//===- Tuned.cpp - the records that the compiler uses ----------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Tuned.h"
#include "heddle/Kernels/Gemm.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;

namespace heddle::tools {

Expected<std::vector<tuning::Record>> loadRecords(const CompilerOptions &options,
                                                  const std::string &installFolder) {
  if (!options.useTuning)
    return std::vector<tuning::Record>();
  if (!options.tuning.empty())
    return tuning::readRecords(options.tuning);
  if (const char *folder = std::getenv("HEDDLE_TUNING"); folder && *folder)
    return StringRef(folder) == "none"
               ? Expected<std::vector<tuning::Record>>(std::vector<tuning::Record>())
               : tuning::readRecords(folder);
  for (const std::string &folder :
       {installFolder + "/share/heddle/tuning", std::string(HEDDLE_TUNING_FOLDER)})
    if (llvm::sys::fs::is_directory(folder))
      return tuning::readRecords(folder);
  return std::vector<tuning::Record>();
}

const target::Chip &chipFor(const target::Target &target, const CompilerOptions &options) {
  return options.chip && options.chip->target == target.name ? *options.chip
                                                             : target::defaultChip(target);
}

const tuning::Record *recordFor(const InputKernel &kernel, const target::Target &target,
                                const CompilerOptions &options, ArrayRef<tuning::Record> records) {
  auto op = dyn_cast<spec::KernelOp>(kernel.op);
  if (!op || !options.schedule.empty() || op.getSchedule() || records.empty())
    return nullptr;
  // What is wrong with a spec is said once, by the passes.
  ScopedDiagnosticHandler silent(op.getContext(), [](Diagnostic &) { return success(); });
  auto spec = kernels::analyzeGemm(op);
  if (failed(spec))
    return nullptr;
  spec->sms = options.sms;
  return tuning::findRecord(records, "gemm", kernels::gemmProblem(*spec), target,
                            chipFor(target, options));
}

} // namespace heddle::tools
