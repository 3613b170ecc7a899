//===- Decoder.h - statements to instructions ----------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds the Program of one entry. Each instruction family registers decode
// functions by the opcode's first word; a decode function takes every modifier
// it knows, in order, and Decode::finish refuses what is left. Nothing is guessed.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_EMULATOR_CORE_DECODER_H
#define HEDDLE_EMULATOR_CORE_DECODER_H

#include "runtime/emulator/core/Instr.h"

#include <initializer_list>
#include <set>
#include <unordered_map>

namespace heddle::emulator {

class Builder;

/// One statement being decoded.
class Decode {
public:
  Decode(Builder &b, const Stmt &s);
  Builder &b;
  const Stmt &s;
  Instr i;
  const target::Target &target;

  [[noreturn]] void fail(const std::string &message, ErrorKind kind = ErrorKind::Parse) const;
  /// Refuses the instruction when the target lacks `f`.
  void need(target::Feature f);
  void needCapability(unsigned major, unsigned minor);

  // Modifiers.
  std::string_view root() const { return mods[0]; }
  bool more() const { return pos < mods.size(); }
  std::string_view peek() const { return more() ? mods[pos] : std::string_view(); }
  /// The last modifier, mostly the type.
  std::string_view last() const { return mods.size() > 1 ? mods.back() : std::string_view(); }
  bool take(std::string_view m);
  void expect(std::string_view m);
  /// Index of the one of `choices` that follows; fails with a list when none does.
  unsigned oneOf(std::initializer_list<std::string_view> choices, const char *what);
  /// Like oneOf; -1 when none follows.
  int maybe(std::initializer_list<std::string_view> choices);
  Ty type(std::initializer_list<Ty> allowed);
  Sem semantics(bool weakAllowed); ///< .relaxed ... with the scope, when present
  void scope();
  void finish(); ///< all modifiers must be taken

  // Operands.
  size_t count() const { return s.ops.size(); }
  void operands(size_t n) const { operands(n, n); }
  void operands(size_t least, size_t most) const;
  const Operand &op(size_t n) const { return s.ops[n]; }
  Opnd src(const Operand &o, unsigned bits);
  Opnd src(size_t n, unsigned bits) { return src(op(n), bits); }
  /// Also accepts a wider register (ld, st, cvt).
  Opnd srcWide(const Operand &o, unsigned bits);
  /// A source of type `t`: float constants are converted.
  Opnd srcTy(const Operand &o, Ty t);
  Opnd dst(const Operand &o, unsigned bits);
  Opnd dst(size_t n, unsigned bits) { return dst(op(n), bits); }
  Opnd dstWide(const Operand &o, unsigned bits);
  Opnd pred(const Operand &o, bool dest = false); ///< negation is not accepted
  /// A predicate source that may be written !p or as a constant.
  Opnd predSrc(const Operand &o);
  unsigned regBits(const Operand &o) const; ///< 0 when no register
  bool isReg(const Operand &o) const { return o.kind == Operand::Reg; }
  uint64_t constant(const Operand &o, const char *what); ///< an integer constant
  Opnd imm32(uint64_t v);
  Opnd imm64(uint64_t v);
  uint32_t list(const std::vector<Opnd> &operands);
  const std::vector<Operand> &vector(const Operand &o, const char *what) const;

  /// Address operand: sets i.a (64-bit or 32-bit base, i.ty2 = B64 or B32) and i.imm.
  /// Returns the space of the variable it names, or Generic.
  Space address(const Operand &o);
  /// The base of an address as a fresh 64-bit operand with its offset added.
  Opnd address64(const Operand &o);
  /// Fresh register of 32, 64 or 128 bits.
  Opnd temp(unsigned bits);
  Opnd tempPred();
  /// Emits a helper instruction ahead of this one (same line and predicate).
  void emitBefore(Instr helper);
  void emit(); ///< appends `i`
  template <class T> const T *own(T value) {
    auto p = std::make_shared<T>(std::move(value));
    keep(p);
    return p.get();
  }
  void keep(std::shared_ptr<void> p);

private:
  std::vector<std::string_view> mods;
  size_t pos = 1;
  Opnd symbol(const Operand &o, unsigned bits);
};

using DecodeFn = void (*)(Decode &);
using OpTable = std::unordered_map<std::string_view, DecodeFn>;
/// All families; built once.
const OpTable &opTable();

// One per file in ops/.
void registerInteger(OpTable &);
void registerFloat(OpTable &);
void registerLogic(OpTable &);
void registerCompare(OpTable &);
void registerConvert(OpTable &);
void registerMove(OpTable &);
void registerLoadStore(OpTable &);
void registerAtomic(OpTable &);
void registerWarpOps(OpTable &);
void registerBarrier(OpTable &);
void registerMbarrier(OpTable &);
void registerFence(OpTable &);
void registerCpAsync(OpTable &);
void registerMatrix(OpTable &);
void registerWgmma(OpTable &);
void registerTcgen05(OpTable &);
void registerControl(OpTable &);
void registerMisc(OpTable &);
void registerMultimem(OpTable &);
void registerTensorMap(OpTable &);
// Parts of the roots "cp", reached from registerCpAsync's decoder.
void decodeBulk(Decode &);
void decodeBulkTensor(Decode &);
void decodeTcgen05Mma(Decode &);
/// st.async, st.bulk and red.async, reached from the roots "st" and "red".
void decodeAsyncStore(Decode &);
/// Float forms of roots that integers share (add, sub, mul, fma, min, ...): true when the
/// type modifier is a float and the statement has been decoded.
bool decodeFloat(Decode &);

class Builder {
public:
  Builder(const ModuleImpl &module, Program &program) : module(module), program(program) {}
  /// Decodes `entry` and what it calls. Throws ParseError.
  void build(const Function &entry);

  const ModuleImpl &module;
  Program &program;
  const Function *function = nullptr; ///< being decoded

  Opnd reg(uint32_t id);               ///< of `function`
  Opnd allocate(unsigned bits);
  Opnd allocateTemp(unsigned bits);    ///< valid within the statement
  Opnd constant(uint64_t bits, unsigned width);
  Opnd reloc(uint32_t variable, int64_t addend);
  uint32_t name(std::string_view op);
  /// Offset of a variable in its space (shared, local, param), laid out on first use.
  uint64_t offset(uint32_t variable);
  bool isDynamicShared(uint32_t variable) const;

  /// A reference to a label to be filled in: Instr::target, or lists[listWord] when not -1.
  struct Fixup { uint32_t instr; std::string_view label; uint32_t scope, line; int32_t listWord; };
  std::vector<Fixup> fixups;
  struct CallFixup { uint32_t instr; const Function *callee; };
  std::vector<CallFixup> calls;
  void callFunction(Decode &d, const Function *f);

private:
  void decodeFunction(const Function &f);
  std::map<const Function *, std::vector<Opnd>> regs_;
  std::map<std::pair<uint64_t, unsigned>, Opnd> consts_;
  std::map<std::pair<uint32_t, int64_t>, Opnd> relocs_;
  std::unordered_map<std::string_view, uint32_t> names_;
  std::map<uint32_t, uint64_t> offsets_;
  std::map<const Function *, uint32_t> start_;
  std::vector<const Function *> pending_;
  std::set<const Function *> seen_;
  std::map<const Function *, std::set<const Function *>> callees_;
  std::vector<uint32_t> functionStarts_;
  std::vector<Opnd> temps_[4];
  size_t tempsUsed_[4] = {};
};

/// Sets TouchesAsync (Registers.cpp).
void markAsyncRegisters(Program &program);
/// Fills Program::rank and marks leaders (Order.cpp).
void orderProgram(Program &program, const std::vector<uint32_t> &functionStarts);

} // namespace heddle::emulator

#endif // HEDDLE_EMULATOR_CORE_DECODER_H
