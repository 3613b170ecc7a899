//===- ParseOperand.cpp - operands, types and special registers of PTX ---===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/ptx/ParserImpl.h"

namespace heddle::emulator {

void Parser::expect(char c) {
  if (!lex.acceptPunct(c))
    failFound(std::string("expected '") + c + "'");
}

uint64_t Parser::expectInt(const char *what) {
  const Token t = lex.peek();
  if (t.kind == Token::Double) { // a version: 9.0
    lex.next();
    ast.versionMinor = unsigned(t.text.back() - '0');
    return uint64_t(std::bit_cast<double>(t.bits));
  }
  if (t.kind != Token::Int)
    failFound(std::string("expected ") + what);
  lex.next();
  return t.bits;
}

std::string_view Parser::expectIdent(const char *what) {
  const Token t = lex.peek();
  if (t.kind != Token::Ident)
    failFound(std::string("expected ") + what);
  lex.next();
  return t.text;
}

int64_t Parser::findReg(std::string_view name) const {
  size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
    --digits;
  uint64_t number = ~uint64_t(0);
  if (digits < name.size() && name.size() - digits <= 7 && !(name[digits] == '0' && name.size() - digits > 1)) {
    number = 0;
    for (size_t i = digits; i < name.size(); ++i)
      number = number * 10 + uint64_t(name[i] - '0');
  }
  for (size_t s = scopeRegs.size(); s-- > 0;) {
    auto it = scopeRegs[s].find(name);
    if (it != scopeRegs[s].end() && !it->second.isRange)
      return it->second.first;
    if (number == ~uint64_t(0))
      continue;
    it = scopeRegs[s].find(name.substr(0, digits));
    if (it != scopeRegs[s].end() && it->second.isRange && number < it->second.count)
      return int64_t(it->second.first + number);
  }
  return -1;
}

int64_t Parser::findVar(std::string_view name) const {
  for (size_t s = scopeVars.size(); s-- > 0;) {
    auto it = scopeVars[s].find(name);
    if (it != scopeVars[s].end())
      return it->second;
  }
  auto it = globals.find(name);
  return it == globals.end() ? -1 : int64_t(it->second);
}

Operand Parser::named(std::string_view name) {
  Operand o;
  if (name == "_") {
    o.kind = Operand::Sink;
    return o;
  }
  int64_t r = findReg(name);
  if (r >= 0) {
    o.kind = Operand::Reg;
    o.id = uint32_t(r);
    return o;
  }
  if (name[0] == '%') {
    SpecialReg s = specialFromName(name);
    if (s == SpecialReg::Count)
      fail("unknown register '" + std::string(name) + "'");
    o.kind = Operand::Special;
    o.id = uint32_t(s);
    return o;
  }
  int64_t v = findVar(name);
  if (v >= 0) {
    o.kind = Operand::Var;
    o.id = uint32_t(v);
    return o;
  }
  if (name == "WARP_SZ") {
    o.kind = Operand::Imm;
    o.bits = 32;
    return o;
  }
  o.kind = Operand::Name; // a label or a function; resolved by the decoder
  o.name = name;
  return o;
}

Operand Parser::address(unsigned depth) {
  Operand a;
  a.kind = Operand::Address;
  const Token t = lex.peek();
  if (t.kind == Token::Ident) {
    lex.next();
    a.elems.push_back(named(t.text));
    if (a.elems[0].kind == Operand::Name)
      fail("unknown variable '" + std::string(t.text) + "'");
  } else if (t.kind == Token::Int) {
    lex.next();
    Operand imm;
    imm.bits = t.bits;
    a.elems.push_back(imm);
  } else {
    failFound("expected an address");
  }
  while (lex.isPunct('+') || lex.isPunct('-')) {
    bool neg = lex.next().punct == '-';
    if (lex.acceptPunct('-'))
      neg = !neg;
    int64_t v = int64_t(expectInt("an offset"));
    a.offset = int64_t(uint64_t(a.offset) + uint64_t(neg ? -uint64_t(v) : uint64_t(v)));
  }
  while (lex.acceptPunct(','))
    a.elems.push_back(operand(depth + 1));
  expect(']');
  return a;
}

Operand Parser::operand(unsigned depth) {
  if (depth > 8)
    fail("operands nest deeper than 8");
  Operand o;
  if (lex.acceptPunct('[')) {
    return address(depth);
  }
  if (lex.isPunct('{') || lex.isPunct('(')) {
    bool brace = lex.next().punct == '{';
    char close = brace ? '}' : ')';
    o.kind = brace ? Operand::Vector : Operand::Paren;
    if (lex.acceptPunct(close))
      return o;
    do {
      if (o.elems.size() >= 1024)
        fail("operand list is longer than 1024");
      o.elems.push_back(operand(depth + 1));
    } while (lex.acceptPunct(','));
    expect(close);
    return o;
  }
  if (lex.acceptPunct('!')) {
    o = named(expectIdent("a predicate"));
    o.negated = true;
    return o;
  }
  bool minus = lex.acceptPunct('-');
  const Token t = lex.peek();
  switch (t.kind) {
  case Token::Int:
    lex.next();
    o.kind = Operand::Imm;
    o.bits = minus ? 0 - t.bits : t.bits;
    return o;
  case Token::Float:
    lex.next();
    o.kind = Operand::Float;
    o.single = true;
    o.bits = t.bits ^ (minus ? 0x80000000u : 0);
    return o;
  case Token::Double:
    lex.next();
    o.kind = Operand::Float;
    o.bits = t.bits ^ (minus ? uint64_t(1) << 63 : 0);
    return o;
  case Token::Ident: {
    if (minus)
      failFound("expected a number after '-'");
    lex.next();
    o = named(t.text);
    if (o.kind == Operand::Var && (lex.isPunct('+') || lex.isPunct('-'))) {
      bool neg = lex.next().punct == '-';
      uint64_t v = expectInt("an offset");
      o.offset = int64_t(neg ? 0 - v : v);
    }
    if (lex.acceptPunct('|')) {
      Operand pair;
      pair.kind = Operand::Pair;
      pair.elems.push_back(std::move(o));
      pair.elems.push_back(named(expectIdent("a register")));
      return pair;
    }
    return o;
  }
  default:
    failFound("expected an operand");
  }
}

struct TyEntry {
  std::string_view name;
  Ty ty;
  unsigned bits;
};
static constexpr TyEntry types[] = {
    {"pred", Ty::Pred, 1},   {"b8", Ty::B8, 8},       {"b16", Ty::B16, 16},      {"b32", Ty::B32, 32},
    {"b64", Ty::B64, 64},    {"b128", Ty::B128, 128}, {"u8", Ty::U8, 8},         {"u16", Ty::U16, 16},
    {"u32", Ty::U32, 32},    {"u64", Ty::U64, 64},    {"s8", Ty::S8, 8},         {"s16", Ty::S16, 16},
    {"s32", Ty::S32, 32},    {"s64", Ty::S64, 64},    {"f16", Ty::F16, 16},      {"f16x2", Ty::F16x2, 32},
    {"bf16", Ty::BF16, 16},  {"bf16x2", Ty::BF16x2, 32}, {"f32", Ty::F32, 32},   {"f32x2", Ty::F32x2, 64},
    {"f64", Ty::F64, 64},
};

unsigned tyBits(Ty t) {
  for (const TyEntry &e : types)
    if (e.ty == t)
      return e.bits;
  return 0;
}
std::string_view tyName(Ty t) {
  for (const TyEntry &e : types)
    if (e.ty == t)
      return e.name;
  return "none";
}
Ty tyFromName(std::string_view name) {
  for (const TyEntry &e : types)
    if (e.name == name)
      return e.ty;
  return Ty::None;
}

SpecialReg specialFromName(std::string_view name) {
  using S = SpecialReg;
  static const std::map<std::string_view, S> names = {
      {"%tid.x", S::TidX}, {"%tid.y", S::TidY}, {"%tid.z", S::TidZ},
      {"%ntid.x", S::NtidX}, {"%ntid.y", S::NtidY}, {"%ntid.z", S::NtidZ},
      {"%ctaid.x", S::CtaidX}, {"%ctaid.y", S::CtaidY}, {"%ctaid.z", S::CtaidZ},
      {"%nctaid.x", S::NctaidX}, {"%nctaid.y", S::NctaidY}, {"%nctaid.z", S::NctaidZ},
      {"%laneid", S::LaneId}, {"%warpid", S::WarpId}, {"%nwarpid", S::NWarpId},
      {"%smid", S::SmId}, {"%nsmid", S::NSmId},
      {"%clusterid.x", S::ClusterIdX}, {"%clusterid.y", S::ClusterIdY}, {"%clusterid.z", S::ClusterIdZ},
      {"%nclusterid.x", S::NClusterIdX}, {"%nclusterid.y", S::NClusterIdY}, {"%nclusterid.z", S::NClusterIdZ},
      {"%cluster_ctaid.x", S::ClusterCtaidX}, {"%cluster_ctaid.y", S::ClusterCtaidY},
      {"%cluster_ctaid.z", S::ClusterCtaidZ}, {"%cluster_nctaid.x", S::ClusterNctaidX},
      {"%cluster_nctaid.y", S::ClusterNctaidY}, {"%cluster_nctaid.z", S::ClusterNctaidZ},
      {"%cluster_ctarank", S::ClusterCtaRank}, {"%cluster_nctarank", S::ClusterNctaRank},
      {"%is_explicit_cluster", S::IsExplicitCluster},
      {"%lanemask_eq", S::LanemaskEq}, {"%lanemask_le", S::LanemaskLe}, {"%lanemask_lt", S::LanemaskLt},
      {"%lanemask_ge", S::LanemaskGe}, {"%lanemask_gt", S::LanemaskGt},
      {"%clock", S::Clock}, {"%clock_hi", S::ClockHi}, {"%clock64", S::Clock64},
      {"%globaltimer", S::Globaltimer}, {"%globaltimer_lo", S::GlobaltimerLo}, {"%globaltimer_hi", S::GlobaltimerHi},
      {"%dynamic_smem_size", S::DynamicSmemSize}, {"%total_smem_size", S::TotalSmemSize},
      {"%aggr_smem_size", S::AggrSmemSize}, {"%gridid", S::GridId}, {"%current_graph_exec", S::CurrentGraphExec},
  };
  auto it = names.find(name);
  return it == names.end() ? S::Count : it->second;
}

} // namespace heddle::emulator
