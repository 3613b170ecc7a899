//===- Tools.h - the parts of heddle-tune that are free of LLVM -----------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TUNING_TOOLS_H
#define HEDDLE_TUNING_TOOLS_H

namespace heddle::measure {

/// heddle-tune measure. `name` is the command's, for messages; argv[0] is not looked at.
/// Returns 0 when all candidates have a result, right or not, or the budget is over; 2 for the
/// command line or a bad plan, 3 without a device, else as heddle-run.
int measureMain(int argc, char **argv, const char *name);

/// heddle-tune record. Returns 0, 1 when there is nothing to record, 2 for the command line or a
/// bad file.
int recordMain(int argc, char **argv, const char *name);

} // namespace heddle::measure

#endif // HEDDLE_TUNING_TOOLS_H
