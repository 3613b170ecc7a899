//===- Decoder.cpp - modifiers and operands of a statement ---------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/core/Decoder.h"
#include "runtime/emulator/ops/Lanes.h"

#include <bit>
#include <cstring>

namespace heddle::emulator {

Decode::Decode(Builder &b, const Stmt &s) : b(b), s(s), target(*b.module.target) {
  std::string_view op = s.op;
  for (;;) {
    size_t dot = op.find('.');
    mods.push_back(op.substr(0, dot));
    if (dot == std::string_view::npos)
      break;
    op.remove_prefix(dot + 1);
  }
  i.line = s.line;
  i.loc = s.loc;
  if (s.pred >= 0) {
    i.flags |= HasPred | (s.predNeg ? PredNeg : 0);
    i.pred = b.reg(uint32_t(s.pred));
  }
}

void Decode::fail(const std::string &message, ErrorKind kind) const {
  throw ParseError{s.line, message + " in '" + std::string(s.op.substr(0, 120)) + "'", kind};
}

void Decode::need(target::Feature f) {
  if (!target.has(f))
    fail("target " + std::string(target.name) + " lacks this instruction", ErrorKind::Unsupported);
}

void Decode::needCapability(unsigned major, unsigned minor) {
  if (target.major * 10 + target.minor < major * 10 + minor)
    fail("expected a target of compute capability " + std::to_string(major) + "." + std::to_string(minor) +
             " or later, got " + std::string(target.name),
         ErrorKind::Unsupported);
}

bool Decode::take(std::string_view m) {
  if (!more() || mods[pos] != m)
    return false;
  ++pos;
  return true;
}

void Decode::expect(std::string_view m) {
  if (!take(m))
    fail("expected '." + std::string(m) + "', found " + (more() ? "'." + std::string(peek()) + "'" : "no modifier"));
}

int Decode::maybe(std::initializer_list<std::string_view> choices) {
  int n = 0;
  for (std::string_view c : choices) {
    if (take(c))
      return n;
    ++n;
  }
  return -1;
}

unsigned Decode::oneOf(std::initializer_list<std::string_view> choices, const char *what) {
  int n = maybe(choices);
  if (n >= 0)
    return unsigned(n);
  std::string all;
  for (std::string_view c : choices)
    all += (all.empty() ? "." : ", .") + std::string(c);
  fail(std::string("expected ") + what + " (" + all + "), found " + (more() ? "'." + std::string(peek()) + "'" : "none"));
}

Ty Decode::type(std::initializer_list<Ty> allowed) {
  Ty t = tyFromName(peek());
  for (Ty a : allowed)
    if (a == t) {
      ++pos;
      return t;
    }
  std::string all;
  for (Ty a : allowed)
    all += (all.empty() ? "." : ", .") + std::string(tyName(a));
  fail("expected a type (" + all + "), found " + (more() ? "'." + std::string(peek()) + "'" : "none"));
}

void Decode::scope() {
  switch (maybe({"cta", "cluster", "gpu", "sys"})) {
  case 0: i.scope = Scope::Cta; break;
  case 1: i.scope = Scope::Cluster; needCapability(9, 0); break;
  case 2: i.scope = Scope::Gpu; break;
  case 3: i.scope = Scope::Sys; break;
  default: break;
  }
}

Sem Decode::semantics(bool weakAllowed) {
  i.sem = Sem::Weak;
  if (weakAllowed && take("weak"))
    return i.sem;
  if (weakAllowed && take("volatile"))
    return i.sem = Sem::Volatile;
  switch (maybe({"relaxed", "acquire", "release", "acq_rel"})) {
  case 0: i.sem = Sem::Relaxed; break;
  case 1: i.sem = Sem::Acquire; break;
  case 2: i.sem = Sem::Release; break;
  case 3: i.sem = Sem::AcqRel; break;
  default: return i.sem;
  }
  scope();
  return i.sem;
}

void Decode::finish() {
  if (more())
    fail("unknown modifier '." + std::string(peek()) + "'");
}

void Decode::operands(size_t least, size_t most) const {
  if (s.ops.size() < least || s.ops.size() > most)
    fail("expected " + std::to_string(least) + (most != least ? " to " + std::to_string(most) : "") +
         " operands, got " + std::to_string(s.ops.size()));
}

unsigned Decode::regBits(const Operand &o) const {
  return o.kind == Operand::Reg ? tyBits(b.function->regs[o.id]) : 0;
}

Opnd Decode::imm32(uint64_t v) { return b.constant(v & 0xffffffffu, 32); }
Opnd Decode::imm64(uint64_t v) { return b.constant(v, 64); }

static void execSharedAddress(Warp &w, const Instr &i) {
  uint64_t v = (uint64_t(w.cta->rank) << sharedRankShift) + uint64_t(i.imm) + (i.sub ? w.cta->launch->dynamicOffset : 0);
  if (i.mode == 64)
    forLanes(w.exec, [&](int l) { lanes64(w, i.d)[l] = v; });
  else
    forLanes(w.exec, [&](int l) { lanes32(w, i.d)[l] = uint32_t(v); });
}

Opnd Decode::symbol(const Operand &o, unsigned bits) {
  const Variable &v = b.module.ast.variables[o.id];
  switch (v.space) {
  case VarSpace::Global:
  case VarSpace::Const:
    if (bits != 64)
      fail("expected a 64-bit operand for the address of '" + v.name + "'");
    if (v.isExtern && v.bytes == 0)
      fail("variable '" + v.name + "' is not defined in this module");
    return b.reloc(o.id, o.offset);
  case VarSpace::Shared: {
    Instr h;
    h.fn = execSharedAddress;
    h.d = temp(bits == 64 ? 64 : 32);
    h.mode = bits == 64 ? 64 : 32;
    h.sub = b.isDynamicShared(o.id);
    h.imm = int64_t(h.sub ? 0 : b.offset(o.id) + target.sharedReserved) + o.offset;
    emitBefore(h);
    return h.d;
  }
  case VarSpace::Local:
  case VarSpace::Param:
  case VarSpace::EntryParam:
    return b.constant(b.offset(o.id) + uint64_t(o.offset), bits == 64 ? 64 : 32);
  }
  return {};
}

Opnd Decode::src(const Operand &o, unsigned bits) {
  switch (o.kind) {
  case Operand::Reg: {
    if (o.negated)
      fail("unexpected '!'");
    unsigned r = regBits(o);
    if (r != bits && !(bits <= 16 && r == 16) && !(bits == 8 && r <= 32))
      fail("expected a " + std::to_string(bits) + "-bit operand, got a " + std::to_string(r) + "-bit register");
    return b.reg(o.id);
  }
  case Operand::Imm:
    return b.constant(bits >= 64 ? o.bits : o.bits & ((uint64_t(1) << bits) - 1), bits >= 64 ? 64 : 32);
  case Operand::Float:
    if (bits == 32)
      return imm32(o.single ? o.bits : std::bit_cast<uint32_t>(float(std::bit_cast<double>(o.bits))));
    if (bits == 64)
      return imm64(o.single ? std::bit_cast<uint64_t>(double(std::bit_cast<float>(uint32_t(o.bits)))) : o.bits);
    fail("unexpected float constant for a " + std::to_string(bits) + "-bit operand");
  case Operand::Special: {
    auto sr = SpecialReg(o.id);
    bool wide = sr >= SpecialReg::Clock64;
    if ((wide ? 64u : 32u) != bits && !(bits == 16 && !wide))
      fail("expected a " + std::to_string(bits) + "-bit operand, got a special register of another width");
    Instr h;
    h.fn = execSpecial;
    h.sub = uint8_t(sr);
    h.d = temp(wide ? 64 : 32);
    emitBefore(h);
    return h.d;
  }
  case Operand::Var:
    if (bits != 32 && bits != 64)
      fail("expected a register or constant, got a variable");
    return symbol(o, bits);
  default:
    fail("expected a register or a constant");
  }
}

Opnd Decode::srcWide(const Operand &o, unsigned bits) {
  unsigned r = regBits(o);
  if (r > bits && r <= 64)
    return b.reg(o.id);
  return src(o, bits);
}

Opnd Decode::srcTy(const Operand &o, Ty t) {
  if (o.kind == Operand::Imm && (t == Ty::F32 || t == Ty::F64))
    fail("expected a float constant, got an integer");
  return src(o, tyBits(t));
}

Opnd Decode::dst(const Operand &o, unsigned bits) {
  if (o.kind == Operand::Sink)
    return temp(bits);
  if (o.kind != Operand::Reg)
    fail("expected a destination register");
  unsigned r = regBits(o);
  if (r != bits && !(bits <= 16 && r == 16))
    fail("expected a " + std::to_string(bits) + "-bit destination, got a " + std::to_string(r) + "-bit register");
  return b.reg(o.id);
}

Opnd Decode::dstWide(const Operand &o, unsigned bits) {
  unsigned r = regBits(o);
  if (r > bits && r <= 64)
    return b.reg(o.id);
  return dst(o, bits);
}

Opnd Decode::pred(const Operand &o, bool dest) {
  if (dest && o.kind == Operand::Sink)
    return tempPred();
  if (o.kind != Operand::Reg || b.function->regs[o.id] != Ty::Pred || o.negated)
    fail("expected a predicate register");
  return b.reg(o.id);
}

static void execNotPred(Warp &w, const Instr &i) {
  uint32_t &d = w.bases[2][i.d.offset()];
  uint32_t v = i.a.none() ? (i.imm ? ~0u : 0u) : ~w.bases[2][i.a.offset()];
  d = (d & ~w.exec) | (v & w.exec);
}

Opnd Decode::predSrc(const Operand &o) {
  if (o.kind == Operand::Imm || o.negated) {
    Instr h;
    h.fn = execNotPred;
    h.d = tempPred();
    if (o.kind == Operand::Imm) {
      h.imm = o.bits != 0;
    } else {
      Operand plain = o;
      plain.negated = false;
      h.a = pred(plain);
    }
    emitBefore(h);
    return h.d;
  }
  return pred(o);
}

uint64_t Decode::constant(const Operand &o, const char *what) {
  if (o.kind != Operand::Imm)
    fail(std::string("expected a constant for ") + what);
  return o.bits;
}

const std::vector<Operand> &Decode::vector(const Operand &o, const char *what) const {
  if (o.kind != Operand::Vector)
    fail(std::string("expected {...} for ") + what);
  return o.elems;
}

uint32_t Decode::list(const std::vector<Opnd> &operands) {
  auto at = uint32_t(b.program.lists.size());
  b.program.lists.insert(b.program.lists.end(), operands.begin(), operands.end());
  i.listed = uint16_t(operands.size());
  return at;
}

Space Decode::address(const Operand &o) {
  if (o.kind != Operand::Address)
    fail("expected an address in [...]");
  const Operand &base = o.elems[0];
  i.imm = o.offset;
  i.ty2 = Ty::B64;
  if (base.kind == Operand::Reg) {
    unsigned bits = regBits(base);
    if (bits != 32 && bits != 64)
      fail("expected a 32-bit or 64-bit address register");
    i.a = b.reg(base.id);
    i.ty2 = bits == 64 ? Ty::B64 : Ty::B32;
    return Space::Generic;
  }
  if (base.kind == Operand::Imm) {
    i.a = imm64(base.bits);
    return Space::Generic;
  }
  if (base.kind != Operand::Var)
    fail("expected a register, a variable or a constant as address");
  i.a = symbol(base, 64);
  switch (b.module.ast.variables[base.id].space) {
  case VarSpace::Global: return Space::Global;
  case VarSpace::Const: return Space::Const;
  case VarSpace::Shared: return Space::Shared;
  case VarSpace::Local:
  case VarSpace::Param: return Space::Local;
  case VarSpace::EntryParam: return Space::Param;
  }
  return Space::Generic;
}

static void execAddress(Warp &w, const Instr &i) {
  if (i.ty2 == Ty::B64)
    forLanes(w.exec, [&](int l) { lanes64(w, i.d)[l] = lanes64(w, i.a)[l] + uint64_t(i.imm); });
  else
    forLanes(w.exec, [&](int l) { lanes64(w, i.d)[l] = uint32_t(lanes32(w, i.a)[l] + uint32_t(i.imm)); });
}

Opnd Decode::address64(const Operand &o) {
  Instr saved = i;
  address(o);
  Opnd r = i.a;
  if (i.imm != 0 || i.ty2 == Ty::B32) {
    Instr h;
    h.fn = execAddress;
    h.d = temp(64);
    h.a = i.a;
    h.ty2 = i.ty2;
    h.imm = i.imm;
    emitBefore(h);
    r = h.d;
  }
  saved.flags = i.flags;
  i = saved;
  return r;
}

Opnd Decode::temp(unsigned bits) { return b.allocateTemp(bits); }
Opnd Decode::tempPred() { return b.allocateTemp(1); }

void Decode::emitBefore(Instr h) {
  h.line = s.line;
  h.loc = s.loc;
  h.name = b.name(s.op);
  b.program.code.push_back(h);
}

void Decode::emit() {
  i.name = b.name(s.op);
  b.program.code.push_back(i);
}

void Decode::keep(std::shared_ptr<void> p) { b.program.exts.push_back(std::move(p)); }

} // namespace heddle::emulator
