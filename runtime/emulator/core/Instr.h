//===- Instr.h - decoded instructions ------------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The form the machine executes: one function pointer, dense operand offsets. A
// register is an array of 32 lanes in the warp's register file: 32-bit and
// narrower ones take 32 words, 64-bit ones 64 words, 128-bit ones two 64-bit
// arrays, predicates one word of lane bits in a file of their own. A constant is
// a broadcast array in the program's constant pool, so that both read alike.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_EMULATOR_CORE_INSTR_H
#define HEDDLE_EMULATOR_CORE_INSTR_H

#include "runtime/emulator/Observer.h"
#include "runtime/emulator/ptx/Ast.h"

namespace heddle::emulator {

struct Warp;
struct Instr;
using ExecFn = void (*)(Warp &, const Instr &);

/// Where an operand lives: base 0 registers, 1 constants, 2 predicates, 3 none.
struct Opnd {
  uint32_t raw = 0xffffffffu;
  static Opnd make(unsigned base, uint32_t offset) { return Opnd{(base << 30) | offset}; }
  unsigned base() const { return raw >> 30; }
  uint32_t offset() const { return raw & 0x3fffffffu; }
  bool none() const { return base() == 3; }
};

enum InstrFlag : uint8_t {
  HasPred = 1,
  PredNeg = 2,
  Leader = 4,  ///< may be reached from elsewhere than the instruction before
  Aligned = 8, ///< all live lanes of the warp must execute it together
  Uniform = 16, ///< with Aligned: a predicate must not split the lanes
  TouchesAsync = 32, ///< has operands that an instruction with UsesLater names as well
  UsesLater = 64,    ///< reads or writes the registers of its list after its issue
};

struct Instr {
  ExecFn fn = nullptr;
  Opnd d, d2, a, b, c, e, pred;
  uint8_t flags = 0;
  Ty ty = Ty::None, ty2 = Ty::None;
  uint8_t bytes = 0;   ///< of one access or element
  uint8_t vec = 1;     ///< elements
  Space space = Space::Generic;
  Sem sem = Sem::Weak;
  Scope scope = Scope::None;
  uint8_t mode = 0, sub = 0, round = 0;
  uint16_t listed = 0; ///< operands in the list
  uint16_t count = 0;  ///< the same, or what the family makes of it
  uint32_t list = 0;   ///< first operand in Program::lists
  uint32_t target = 0; ///< branches
  uint32_t line = 0, loc = 0;
  uint32_t name = 0;   ///< index in Program::names
  int64_t imm = 0;
  const void *ext = nullptr; ///< what a family needs beyond this; owned by the program
};

/// One entry and the functions it calls, ready to run.
struct Program {
  std::string entry;
  std::vector<Instr> code;
  std::vector<uint32_t> rank; ///< scheduling order of instructions (see Order.cpp)
  std::vector<Opnd> lists;
  std::vector<uint32_t> consts;
  struct Reloc { uint32_t word; uint32_t variable; int64_t addend; };
  std::vector<Reloc> relocs; ///< 64-bit constants that are addresses of variables
  std::vector<std::string> names;
  std::vector<std::shared_ptr<void>> exts;
  /// Has instructions by which blocks of different clusters can exchange data (Builder.cpp).
  bool communicates = false;
  uint32_t regWords = 0, preds = 1;
  uint32_t localBytes = 0;   ///< a thread
  uint32_t staticShared = 0; ///< bytes, and the offset dynamic shared memory starts at before alignment
  uint32_t dynamicAlign = 16;
  std::vector<std::string> regNames; ///< by register index, for reports
};

struct ModuleImpl {
  Ast ast;
  const target::Target *target = nullptr;
  std::vector<EntryInfo> entries;
  std::vector<std::unique_ptr<Program>> programs; ///< parallel to entries
  std::string location(uint32_t loc) const; ///< "file:line:column"
};

} // namespace heddle::emulator

#endif // HEDDLE_EMULATOR_CORE_INSTR_H
