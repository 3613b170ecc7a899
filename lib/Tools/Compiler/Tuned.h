//===- Tuned.h - the records that the compiler uses ------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_LIB_TOOLS_COMPILER_TUNED_H
#define HEDDLE_LIB_TOOLS_COMPILER_TUNED_H

#include "Input.h"
#include "heddle/Tuning/Record.h"

namespace heddle::tools {

/// The records of --tuning, else of $HEDDLE_TUNING ("none": no records), else of
/// share/heddle/tuning in `installFolder`, else of the source tree. Empty with --no-tuning, and
/// where there is no such folder and none was named.
Expected<std::vector<tuning::Record>> loadRecords(const CompilerOptions &options,
                                                  const std::string &installFolder);

/// The chip that a target's kernels are planned for.
const target::Chip &chipFor(const target::Target &target, const CompilerOptions &options);

/// The record to use for a kernel; nullptr when there is none that fits, or a schedule is given.
const tuning::Record *recordFor(const InputKernel &kernel, const target::Target &target,
                                const CompilerOptions &options,
                                llvm::ArrayRef<tuning::Record> records);

} // namespace heddle::tools

#endif // HEDDLE_LIB_TOOLS_COMPILER_TUNED_H
