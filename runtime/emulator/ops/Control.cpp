//===- Control.cpp - branches, calls, exits ------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/ops/Control.h"
#include "runtime/emulator/core/Decoder.h"
#include "runtime/emulator/ops/Lanes.h"

namespace heddle::emulator {

void execBranch(Warp &w, const Instr &i) {
  Group *g = w.g;
  if (w.exec == g->mask) {
    w.next = i.target;
    return;
  }
  Group taken;
  taken.pc = i.target;
  taken.mask = w.exec;
  taken.stack = g->stack;
  g->mask &= ~w.exec;
  g->pc = w.next;
  w.groups.push_back(std::move(taken));
  ++w.changes;
  w.signal |= SigRepick;
}

void execBranchTable(Warp &w, const Instr &i) {
  Group *g = w.g;
  const uint32_t *index = lanes32(w, i.a);
  const Opnd *targets = &w.program->lists[i.list];
  uint32_t left = w.exec;
  for (uint32_t m = left; m; m &= m - 1) {
    int l = std::countr_zero(m);
    if (index[l] >= i.count)
      return w.fail(i, ErrorKind::Operand, "branch index " + std::to_string(index[l]) + " is past the table of " +
                                               std::to_string(i.count), l);
  }
  uint32_t rest = g->mask & ~w.exec;
  bool first = true;
  std::vector<uint32_t> stack = g->stack;
  uint32_t fallthrough = w.next;
  while (left) {
    uint32_t to = targets[index[std::countr_zero(left)]].raw, mask = 0;
    for (uint32_t m = left; m; m &= m - 1) {
      int l = std::countr_zero(m);
      if (targets[index[l]].raw == to)
        mask |= 1u << l;
    }
    left &= ~mask;
    if (first) {
      g->pc = to;
      g->mask = mask;
      first = false;
      continue;
    }
    Group other;
    other.pc = to;
    other.mask = mask;
    other.stack = stack;
    w.groups.push_back(std::move(other));
  }
  if (rest) {
    Group other;
    other.pc = fallthrough;
    other.mask = rest;
    other.stack = stack;
    w.groups.push_back(std::move(other));
  }
  ++w.changes;
  w.signal |= SigRepick;
}

void execCall(Warp &w, const Instr &i) {
  Group *g = w.g;
  if (g->stack.size() >= 256)
    return w.fail(i, ErrorKind::Limit, "calls nest deeper than 256");
  if (w.exec != g->mask) {
    Group other;
    other.pc = w.next;
    other.mask = g->mask & ~w.exec;
    other.stack = g->stack;
    w.groups.push_back(std::move(other));
    g->mask = w.exec;
    ++w.changes;
  }
  g->stack.push_back(w.next);
  g->pc = i.target;
  w.signal |= SigRepick;
}

void execRet(Warp &w, const Instr &i) {
  Group *g = w.g;
  if (g->stack.empty())
    return execExit(w, i);
  uint32_t to = g->stack.back();
  if (w.exec != g->mask) {
    Group other;
    other.pc = to;
    other.mask = w.exec;
    other.stack = g->stack;
    other.stack.pop_back();
    g->mask &= ~w.exec;
    g->pc = w.next;
    w.groups.push_back(std::move(other));
    ++w.changes;
  } else {
    g->stack.pop_back();
    g->pc = to;
  }
  w.signal |= SigRepick;
}

void execExit(Warp &w, const Instr &) { exitLanes(w, w.exec); }

void execTrap(Warp &w, const Instr &i) { w.fail(i, ErrorKind::Trap, "the kernel stopped itself", firstLane(w.exec)); }

/// A call's parameter: i.bytes-wide runs between a thread's local offsets.
static void execParamCopy(Warp &w, const Instr &i) {
  size_t size = w.local.size() / 32;
  forLanes(w.exec, [&](int l) {
    uint8_t *base = w.local.data() + size * unsigned(l);
    std::memmove(base + i.target, base + i.list, size_t(i.imm));
  });
}

static void decodeBranch(Decode &d) {
  d.take("uni");
  d.finish();
  d.operands(1);
  if (d.op(0).kind != Operand::Name)
    d.fail("expected a label");
  d.i.fn = execBranch;
  d.b.fixups.push_back({uint32_t(d.b.program.code.size()), d.op(0).name, d.s.scope, d.s.line, -1});
  d.emit();
}

static void decodeBranchTable(Decode &d) {
  d.expect("idx");
  d.take("uni");
  d.finish();
  d.operands(2);
  Opnd index = d.src(0, 32);
  if (d.op(1).kind != Operand::Name)
    d.fail("expected the label of .branchtargets");
  const BranchTable *table = nullptr;
  const auto &scopes = d.b.function->scopes;
  for (int32_t s = int32_t(d.s.scope); s >= 0 && !table; s = scopes[size_t(s)].parent) {
    auto it = scopes[size_t(s)].tables.find(d.op(1).name);
    if (it != scopes[size_t(s)].tables.end())
      table = &it->second;
  }
  if (!table)
    d.fail("unknown branch table '" + std::string(d.op(1).name) + "'");
  if (table->labels.size() > 65535)
    d.fail("branch table is longer than 65535");
  d.i.fn = execBranchTable;
  d.i.a = index;
  d.i.list = d.list(std::vector<Opnd>(table->labels.size()));
  d.i.count = uint16_t(table->labels.size());
  for (size_t k = 0; k < table->labels.size(); ++k)
    d.b.fixups.push_back({uint32_t(d.b.program.code.size()), table->labels[k], table->scope, d.s.line,
                          int32_t(d.i.list + k)});
  d.emit();
}

static void decodeCall(Decode &d) {
  d.take("uni");
  d.finish();
  size_t at = 0;
  const std::vector<Operand> none;
  const std::vector<Operand> *results = &none, *args = &none;
  if (at < d.count() && d.op(at).kind == Operand::Paren)
    results = &d.op(at++).elems;
  if (at >= d.count() || d.op(at).kind != Operand::Name)
    d.fail("expected the name of a function (calls through registers are not known)");
  std::string_view name = d.op(at++).name;
  if (at < d.count() && d.op(at).kind == Operand::Paren)
    args = &d.op(at++).elems;
  if (at < d.count())
    d.fail("expected no more operands (calls through registers are not known)");
  auto it = d.b.module.ast.functionByName.find(name);
  if (it == d.b.module.ast.functionByName.end())
    d.fail("unknown function '" + std::string(name) + "'");
  const Function &f = d.b.module.ast.functions[it->second];
  if (f.params.size() != args->size() || f.results.size() != results->size())
    d.fail("expected " + std::to_string(f.params.size()) + " arguments and " + std::to_string(f.results.size()) +
           " results, got " + std::to_string(args->size()) + " and " + std::to_string(results->size()));
  auto copy = [&](const Operand &o, uint32_t formal, bool result) {
    const auto &vars = d.b.module.ast.variables;
    if (o.kind != Operand::Var || vars[o.id].space != VarSpace::Param)
      d.fail("expected .param variables as arguments");
    if (vars[o.id].bytes != vars[formal].bytes)
      d.fail("expected an argument of " + std::to_string(vars[formal].bytes) + " bytes, got " +
             std::to_string(vars[o.id].bytes));
    Instr h;
    h.fn = execParamCopy;
    h.flags = d.i.flags;
    h.pred = d.i.pred;
    h.imm = int64_t(vars[o.id].bytes);
    h.target = uint32_t(d.b.offset(result ? o.id : formal));
    h.list = uint32_t(d.b.offset(result ? formal : o.id));
    d.emitBefore(h);
  };
  for (size_t k = 0; k < args->size(); ++k)
    copy((*args)[k], f.params[k], false);
  d.i.fn = execCall;
  d.b.callFunction(d, &f);
  d.emit();
  for (size_t k = 0; k < results->size(); ++k)
    copy((*results)[k], f.results[k], true);
}

template <ExecFn Fn> static void decodePlain(Decode &d) {
  if (d.root() == "ret")
    d.take("uni");
  d.finish();
  d.operands(0);
  d.i.fn = Fn;
  d.emit();
}

void registerControl(OpTable &t) {
  t["bra"] = decodeBranch;
  t["brx"] = decodeBranchTable;
  t["call"] = decodeCall;
  t["ret"] = decodePlain<execRet>;
  t["exit"] = decodePlain<execExit>;
  t["trap"] = decodePlain<execTrap>;
}

} // namespace heddle::emulator
