//===- Builder.cpp - programs from functions -----------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decodes an entry and every function it calls into one Program: registers get
// places in the warp's register file on first use, variables places in shared and
// local memory, labels become instruction indexes.
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/core/Decoder.h"
#include "runtime/emulator/ops/Control.h"

#include <algorithm>

namespace heddle::emulator {

const OpTable &opTable() {
  static const OpTable table = [] {
    OpTable t;
    registerInteger(t);
    registerFloat(t);
    registerLogic(t);
    registerCompare(t);
    registerConvert(t);
    registerMove(t);
    registerLoadStore(t);
    registerAtomic(t);
    registerWarpOps(t);
    registerBarrier(t);
    registerMbarrier(t);
    registerFence(t);
    registerCpAsync(t);
    registerMatrix(t);
    registerWgmma(t);
    registerTcgen05(t);
    registerControl(t);
    registerMisc(t);
    registerMultimem(t);
    registerTensorMap(t);
    return t;
  }();
  return table;
}

Opnd Builder::allocate(unsigned bits) {
  if (bits == 1) {
    if (program.preds >= (1u << 22))
      throw ParseError{function->line, "function '" + function->name + "' uses too many predicates"};
    return Opnd::make(2, program.preds++);
  }
  uint32_t words = bits <= 32 ? 32 : bits == 64 ? 64 : 128;
  uint32_t at = program.regWords;
  if (at + words >= (1u << 26))
    throw ParseError{function->line, "function '" + function->name + "' uses too many registers"};
  program.regWords += words;
  return Opnd::make(0, at);
}

Opnd Builder::allocateTemp(unsigned bits) {
  unsigned kind = bits == 1 ? 0 : bits <= 32 ? 1 : bits == 64 ? 2 : 3;
  auto &pool = temps_[kind];
  if (tempsUsed_[kind] == pool.size())
    pool.push_back(allocate(bits));
  return pool[tempsUsed_[kind]++];
}

Opnd Builder::reg(uint32_t id) {
  Opnd &o = regs_[function][id];
  if (o.none())
    o = allocate(tyBits(function->regs[id]));
  return o;
}

Opnd Builder::constant(uint64_t bits, unsigned width) {
  auto [it, fresh] = consts_.try_emplace({bits, width});
  if (fresh) {
    auto at = uint32_t(program.consts.size());
    if (at >= (1u << 25))
      throw ParseError{function->line, "function '" + function->name + "' uses too many constants"};
    it->second = Opnd::make(1, at);
    for (int l = 0; l < 32; ++l) {
      program.consts.push_back(uint32_t(bits));
      if (width == 64)
        program.consts.push_back(uint32_t(bits >> 32));
    }
  }
  return it->second;
}

Opnd Builder::reloc(uint32_t variable, int64_t addend) {
  auto [it, fresh] = relocs_.try_emplace({variable, addend});
  if (fresh) {
    auto at = uint32_t(program.consts.size());
    it->second = Opnd::make(1, at);
    program.consts.resize(at + 64);
    program.relocs.push_back({at, variable, addend});
  }
  return it->second;
}

uint32_t Builder::name(std::string_view op) {
  auto [it, fresh] = names_.try_emplace(op, uint32_t(program.names.size()));
  if (fresh)
    program.names.emplace_back(op);
  return it->second;
}

bool Builder::isDynamicShared(uint32_t variable) const {
  const Variable &v = module.ast.variables[variable];
  return v.space == VarSpace::Shared && v.bytes == 0;
}

uint64_t Builder::offset(uint32_t variable) {
  auto [it, fresh] = offsets_.try_emplace(variable, 0);
  if (!fresh)
    return it->second;
  const Variable &v = module.ast.variables[variable];
  uint64_t at = 0;
  auto align = [&](uint64_t n) { return (n + v.align - 1) / v.align * v.align; };
  if (v.space == VarSpace::Shared) {
    at = align(program.staticShared);
    if (at + v.bytes > (1u << 24))
      throw ParseError{v.line, "shared variables exceed 16 MiB"};
    program.staticShared = uint32_t(at + v.bytes);
  } else { // local memory, parameters of calls
    at = align(program.localBytes);
    if (at + v.bytes > (1u << 24))
      throw ParseError{v.line, "local variables exceed 16 MiB a thread"};
    program.localBytes = uint32_t(at + v.bytes);
  }
  return it->second = at;
}

void Builder::decodeFunction(const Function &f) {
  function = &f;
  for (auto &pool : temps_)
    pool.clear();
  regs_[&f].assign(f.regs.size(), Opnd{});
  start_[&f] = uint32_t(program.code.size());
  functionStarts_.push_back(start_[&f]);
  std::vector<uint32_t> at(f.body.size() + 1);
  const OpTable &table = opTable();
  size_t firstFixup = fixups.size();
  for (size_t n = 0; n < f.body.size(); ++n) {
    const Stmt &s = f.body[n];
    at[n] = uint32_t(program.code.size());
    for (auto &used : tempsUsed_)
      used = 0;
    Decode d(*this, s);
    auto it = table.find(d.root());
    if (it == table.end())
      d.fail("unknown instruction");
    it->second(d);
  }
  at[f.body.size()] = uint32_t(program.code.size());
  Instr end; // falling off the end
  end.fn = f.isEntry ? execExit : execRet;
  end.line = f.body.empty() ? f.line : f.body.back().line;
  end.name = name(f.isEntry ? "exit" : "ret");
  program.code.push_back(end);
  for (size_t n = firstFixup; n < fixups.size(); ++n) {
    const Fixup &x = fixups[n];
    int64_t found = -1;
    for (int32_t scope = int32_t(x.scope); scope >= 0 && found < 0; scope = f.scopes[size_t(scope)].parent) {
      auto l = f.scopes[size_t(scope)].labels.find(x.label);
      if (l != f.scopes[size_t(scope)].labels.end())
        found = l->second;
    }
    if (found < 0)
      throw ParseError{x.line, "unknown label '" + std::string(x.label) + "'"};
    if (x.listWord < 0)
      program.code[x.instr].target = at[size_t(found)];
    else
      program.lists[size_t(x.listWord)].raw = at[size_t(found)];
  }
}

void Builder::callFunction(Decode &d, const Function *f) {
  if (f->isExtern)
    d.fail("function '" + f->name + "' has no definition in this module");
  if (f->isEntry)
    d.fail("entry '" + f->name + "' cannot be called");
  calls.push_back({uint32_t(program.code.size()), f});
  callees_[function].insert(f);
  if (seen_.insert(f).second)
    pending_.push_back(f);
}

/// Atomics, strong accesses, fences wider than the cluster, reductions in memory, and taking other
/// blocks' work. Without any of them nothing orders accesses of two clusters, so that data passed
/// between them would be a race.
static bool communicates(const Instr &i, std::string_view op) {
  auto starts = [&](std::string_view root) { return op.substr(0, root.size()) == root; };
  const bool global = i.space == Space::Global || i.space == Space::Generic;
  if (starts("atom.") || starts("red."))
    return global;
  if (starts("ld.") || starts("st."))
    return global && i.sem != Sem::Weak;
  if (starts("fence.") || starts("membar."))
    return i.scope == Scope::Gpu || i.scope == Scope::Sys;
  return starts("multimem.") || starts("cp.reduce.") || starts("clusterlaunchcontrol.") || starts("tensormap.") ||
         starts("griddepcontrol.") || starts("nanosleep");
}

void Builder::build(const Function &entry) {
  program.entry = entry.name;
  uint32_t params = 0;
  for (uint32_t id : entry.params) {
    const Variable &v = module.ast.variables[id];
    params = (params + v.align - 1) / v.align * v.align;
    offsets_[id] = params;
    params += uint32_t(v.bytes);
  }
  // Memory that only dynamic shared variables name still needs their alignment.
  for (const Variable &v : module.ast.variables)
    if (v.space == VarSpace::Shared && v.bytes == 0)
      program.dynamicAlign = std::max(program.dynamicAlign, v.align);
  pending_.push_back(&entry);
  for (size_t n = 0; n < pending_.size(); ++n)
    decodeFunction(*pending_[n]);
  for (const CallFixup &c : calls)
    program.code[c.instr].target = start_[c.callee];
  for (const Instr &i : program.code)
    program.communicates |= communicates(i, program.names[i.name]);
  // A call back into a function that is running would overwrite its registers.
  std::map<const Function *, int> state;
  std::vector<std::pair<const Function *, bool>> work{{&entry, false}};
  while (!work.empty()) {
    auto [f, leave] = work.back();
    work.pop_back();
    if (leave) {
      state[f] = 2;
      continue;
    }
    if (state[f] == 2)
      continue;
    if (state[f] == 1)
      throw ParseError{f->line, "function '" + f->name + "' is recursive"};
    state[f] = 1;
    work.push_back({f, true});
    for (const Function *c : callees_[f]) {
      if (state[c] == 1)
        throw ParseError{c->line, "function '" + c->name + "' is recursive"};
      work.push_back({c, false});
    }
  }
  markAsyncRegisters(program);
  orderProgram(program, functionStarts_);
}

} // namespace heddle::emulator
