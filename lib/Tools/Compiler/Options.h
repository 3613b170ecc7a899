//===- Options.h - the command line of heddlec -----------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Free of MLIR: the command-line library needs exceptions, the compiler has none.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_LIB_TOOLS_COMPILER_OPTIONS_H
#define HEDDLE_LIB_TOOLS_COMPILER_OPTIONS_H

#include "heddle/Target/Target.h"
#include <optional>
#include <string>
#include <vector>

namespace heddle::tools {

/// What to write, in the order of the way there.
enum class Emit { Heddle, Warp, Roles, NVVM, LLVM, Ptx, Cubin, Package, C };
std::string_view emitName(Emit emit);
/// Whether the result is text, which goes to standard output unless -o says otherwise.
inline bool isText(Emit emit) { return emit <= Emit::Ptx; }

struct CompilerOptions {
  std::string input;
  std::vector<const target::Target *> targets; ///< in the order given, each once
  const target::Chip *chip = nullptr;
  std::string output; ///< empty: beside the current folder, named by the input
  Emit emit = Emit::Package;
  std::string schedule, kernel;
  std::string ptxas;     ///< empty: look for it; "none": do without
  std::string saveTemps; ///< a folder; empty: do not
  std::string tuning;    ///< the folder of records; empty: the default one
  int sms = 0; ///< the most multiprocessors that launches may use; 0: all
  unsigned ptxasSeconds = 120;
  unsigned jobs = 0; ///< 0: as many as processors
  bool listTargets = false, listChips = false, explain = false, timing = false;
  bool lineInfo = false, verbose = false, useCache = true, useTuning = true;
};

/// Fills `options`; or prints help or what is wrong and returns the exit status.
std::optional<int> parseCommandLine(int argc, char **argv, CompilerOptions &options);

} // namespace heddle::tools

#endif // HEDDLE_LIB_TOOLS_COMPILER_OPTIONS_H
