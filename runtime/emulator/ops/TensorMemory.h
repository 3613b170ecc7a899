//===- TensorMemory.h - tensor memory of a block, seen by instructions ---===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_EMULATOR_OPS_TENSORMEMORY_H
#define HEDDLE_EMULATOR_OPS_TENSORMEMORY_H

#include "runtime/emulator/core/Machine.h"

namespace heddle::emulator {

/// Checks that cells are allocated and, for reads, written; tells the observer.
/// `first` is the even block of a pair, or the issuer. An empty string when all is well.
std::string touchTmem(MachineImpl &m, const AsyncOp &op, Cta *const *ctas, const std::vector<tensor::TmemRun> &runs,
                      bool write);
/// The blocks a tcgen05 instruction of `group` works on: itself, or the even and the odd
/// block of its pair. False when there is no peer.
bool tcgenBlocks(Warp &w, const Instr &i, unsigned group, Cta **ctas);

} // namespace heddle::emulator

#endif // HEDDLE_EMULATOR_OPS_TENSORMEMORY_H
