//===- Explain.h - why a schedule was chosen -------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_LIB_TOOLS_COMPILER_EXPLAIN_H
#define HEDDLE_LIB_TOOLS_COMPILER_EXPLAIN_H

#include "Input.h"

namespace heddle::tools {

/// What --explain prints about a kernel for a target: the schedule of each variant and why, the
/// best of the others, and the rejected ones counted by reason with an example each. Errors are
/// also emitted at the spec.
Expected<std::string> explain(const InputKernel &kernel, const target::Target &target,
                              const CompilerOptions &options);

} // namespace heddle::tools

#endif // HEDDLE_LIB_TOOLS_COMPILER_EXPLAIN_H
