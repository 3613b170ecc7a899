//===- Output.h - writing what was compiled --------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_LIB_TOOLS_COMPILER_OUTPUT_H
#define HEDDLE_LIB_TOOLS_COMPILER_OUTPUT_H

#include "Job.h"
#include <memory>

namespace heddle::tools {

/// Whether as many results can go where -o says; an error that says where they could.
Expected<void> checkOutput(const CompilerOptions &options, size_t results);

/// Writes the results of all jobs in the form that --emit asks for. Nothing is written when
/// anything fails.
Expected<void> writeResults(const CompilerOptions &options,
                            std::vector<std::unique_ptr<Job>> &jobs);

/// The tables of --list-targets and --list-chips.
std::string listTargets();
std::string listChips();

/// One line a compiled entry: registers, shared memory, where the code came from.
std::string summarise(const Job &job);

/// The warnings of ptxas, one a line.
std::string warningsOf(const Job &job);

} // namespace heddle::tools

#endif // HEDDLE_LIB_TOOLS_COMPILER_OUTPUT_H
