//===- Registers.cpp - registers that instructions use after issue -------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// wgmma reads its A fragments and writes its accumulators, tcgen05.ld writes its
// destination, at any time until the wait. PTX leaves an access in between undefined,
// and asks for a wgmma.fence between other accesses and the next wgmma.
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/core/Decoder.h"
#include "runtime/emulator/core/Machine.h"

namespace heddle::emulator {

static constexpr unsigned laneWords = 32; // a 32-bit register of a warp

static bool isRegister(Opnd o) { return !o.none() && o.base() == 0; }

void markAsyncRegisters(Program &p) {
  std::vector<uint8_t> used(p.regWords / laneWords + 1, 0);
  bool any = false;
  for (const Instr &i : p.code)
    if (i.flags & UsesLater)
      for (unsigned k = 0; k < i.listed; ++k)
        if (Opnd o = p.lists[i.list + k]; isRegister(o))
          any = used[o.offset() / laneWords] = 1;
  if (!any)
    return;
  auto uses = [&](Opnd o) { return isRegister(o) && used[o.offset() / laneWords]; };
  for (Instr &i : p.code) {
    bool touches = uses(i.d) || uses(i.d2) || uses(i.a) || uses(i.b) || uses(i.c) || uses(i.e);
    for (unsigned k = 0; k < i.listed; ++k)
      touches |= uses(p.lists[i.list + k]);
    if (touches && !(i.flags & UsesLater))
      i.flags |= TouchesAsync;
  }
}

static RegisterUse &useOf(Warp &w, Opnd o) {
  if (w.registerUse.empty())
    w.registerUse.resize(w.program->regWords / laneWords + 1);
  return w.registerUse[o.offset() / laneWords];
}

static const char *waitFor(const Warp &w) {
  return w.program && w.wgmmaIssued ? "wgmma.wait_group" : "tcgen05.wait::ld";
}

bool touchRegisters(Warp &w, const Instr &i) {
  auto touch = [&](Opnd o, bool reads, bool writes) {
    if (!isRegister(o))
      return true;
    RegisterUse &u = useOf(w, o);
    u.touched = true;
    if (!u.writes && !(u.reads && writes))
      return true;
    w.fail(i, ErrorKind::Race,
           std::string(writes ? reads ? "access to" : "write to" : "read of") +
               " a register that the instruction of line " + std::to_string(u.line) +
               (u.writes ? " still writes" : " still reads") + ", expected " + waitFor(w) +
               " before it");
    return false;
  };
  for (Opnd o : {i.d, i.d2})
    if (!touch(o, false, true))
      return false;
  for (Opnd o : {i.a, i.b, i.c, i.e})
    if (!touch(o, true, false))
      return false;
  for (unsigned k = 0; k < i.listed; ++k)
    if (!touch(w.program->lists[i.list + k], true, false))
      return false;
  return true;
}

bool claimRegisters(Warp &w, const Instr &i, unsigned written, bool fenced) {
  const Opnd *list = &w.program->lists[i.list];
  auto refuse = [&](const std::string &message) {
    w.fail(i, ErrorKind::Race, message);
    return false;
  };
  if (fenced && !w.wgmmaFenced)
    return refuse("expected a wgmma.fence before the first wgmma");
  for (unsigned k = 0; k < i.listed; ++k) {
    if (!isRegister(list[k]))
      continue;
    const RegisterUse &u = useOf(w, list[k]);
    // Accumulators may pass from one wgmma to the next.
    if (k < written ? u.reads || (u.writes && !fenced) : u.writes)
      return refuse("use of a register that the instruction of line " + std::to_string(u.line) +
                    " still uses, expected " + waitFor(w) + " before it");
    if (fenced && u.touched)
      return refuse("expected a wgmma.fence between other accesses to the registers of a wgmma and "
                    "the wgmma");
  }
  for (unsigned k = 0; k < i.listed; ++k) {
    if (!isRegister(list[k]))
      continue;
    RegisterUse &u = useOf(w, list[k]);
    ++(k < written ? u.writes : u.reads);
    u.line = i.line;
  }
  return true;
}

void releaseRegisters(Warp &w, const Instr &i, unsigned written) {
  for (unsigned k = 0; k < i.listed; ++k)
    if (Opnd o = w.program->lists[i.list + k]; isRegister(o)) {
      RegisterUse &u = useOf(w, o);
      --(k < written ? u.writes : u.reads);
    }
}

void fenceRegisters(Warp &w) {
  w.wgmmaFenced = true;
  for (RegisterUse &u : w.registerUse)
    u.touched = false;
}

} // namespace heddle::emulator
