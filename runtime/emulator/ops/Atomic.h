//===- Atomic.h - read-modify-write operations shared by families -*- C++ -*-===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_EMULATOR_OPS_ATOMIC_H
#define HEDDLE_EMULATOR_OPS_ATOMIC_H

#include "runtime/emulator/core/Instr.h"

namespace heddle::emulator {

enum AtomicOp : uint8_t { AAdd, AMin, AMax, AInc, ADec, AAnd, AOr, AXor, AExch, ACas };

/// What memory that holds `old` holds after the operation; `c` is cas's new value.
uint64_t combine(uint8_t op, Ty t, uint64_t old, uint64_t b, uint64_t c);
/// Does it atomically on 2, 4 or 8 bytes of memory and returns the old value.
uint64_t updateMemory(uint8_t *p, unsigned bytes, uint8_t op, Ty t, uint64_t b, uint64_t c);

} // namespace heddle::emulator

#endif // HEDDLE_EMULATOR_OPS_ATOMIC_H
