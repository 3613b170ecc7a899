//===- Explain.h - why a schedule was chosen -------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_LIB_TOOLS_COMPILER_EXPLAIN_H
#define HEDDLE_LIB_TOOLS_COMPILER_EXPLAIN_H

#include "Job.h"

namespace heddle::tools {

/// What --explain prints about a kernel for a target: the schedule of each variant and why, the
/// best of the others, and the rejected ones counted by reason with an example each. Of a kernel
/// that is past the choice of a schedule: what its record holds, and what is checked from there on.
/// `record` is the tuned one in use, or nullptr. Errors are also emitted at the spec.
Expected<std::string> explain(const InputKernel &kernel, const target::Target &target,
                              const CompilerOptions &options, const tuning::Record *record);

/// The schedules of the model that were compiled and given up, and what came instead; empty when
/// there are none.
std::string explainRetries(const Job &job);

} // namespace heddle::tools

#endif // HEDDLE_LIB_TOOLS_COMPILER_EXPLAIN_H
