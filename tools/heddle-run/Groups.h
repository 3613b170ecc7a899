//===- Groups.h - bounds of groups for one run ----------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fills the argument that has the bounds of groups, where no file does, and works out
// what they are.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TOOLS_RUN_GROUPS_H
#define HEDDLE_TOOLS_RUN_GROUPS_H

#include "Problem.h"

namespace heddle::run {

/// For a kernel with groups: writes their numbers as `options.groups` says unless `fromFile`, and
/// sets Problem::groups. An error is one of the command line.
Expected<void> fillGroups(Problem &problem, const Options &options, bool fromFile);

/// The part of a kernel's operations, and of an argument's bytes, that the groups of this run need;
/// 1 without groups. Of `arg`, groups that are empty and rows that are in none are not read.
double usedOperations(const Problem &problem);
double usedBytes(const Problem &problem, size_t arg);

} // namespace heddle::run

#endif // HEDDLE_TOOLS_RUN_GROUPS_H
