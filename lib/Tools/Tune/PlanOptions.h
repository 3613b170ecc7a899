//===- PlanOptions.h - the command line of heddle-tune plan ----------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Free of MLIR, as the compiler's options.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_LIB_TOOLS_TUNE_PLANOPTIONS_H
#define HEDDLE_LIB_TOOLS_TUNE_PLANOPTIONS_H

#include "../Compiler/Options.h"
#include "heddle/Tuning/Record.h"

namespace heddle::tools {

struct PlanOptions {
  CompilerOptions compiler;         ///< input, the one target, chip, ptxas, jobs, cache
  std::vector<tuning::Sizes> sizes; ///< empty: all sizes are in the spec
  size_t candidates = 16;
  bool explain = false, quiet = false;
};

/// Fills `options`; or prints help or what is wrong and returns the exit status.
std::optional<int> parsePlanOptions(int argc, char **argv, PlanOptions &options);

/// Prints the help of heddle-tune, which names its subcommands.
void printTuneHelp();

} // namespace heddle::tools

#endif // HEDDLE_LIB_TOOLS_TUNE_PLANOPTIONS_H
