//===- Control.h - control-flow instructions, seen by the core -----------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_EMULATOR_OPS_CONTROL_H
#define HEDDLE_EMULATOR_OPS_CONTROL_H

#include "runtime/emulator/core/Machine.h"

namespace heddle::emulator {

void execBranch(Warp &w, const Instr &i);
void execBranchTable(Warp &w, const Instr &i);
void execCall(Warp &w, const Instr &i);
void execRet(Warp &w, const Instr &i);
void execExit(Warp &w, const Instr &i);
void execTrap(Warp &w, const Instr &i);

} // namespace heddle::emulator

#endif // HEDDLE_EMULATOR_OPS_CONTROL_H
