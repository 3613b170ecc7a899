//===- Parser.cpp - PTX text to Ast --------------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Module level, function headers and bodies. Operands: ParseOperand.cpp.
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/ptx/ParserImpl.h"

namespace heddle::emulator {

void Parser::parseModule() {
  while (lex.peek().kind != Token::End) {
    if (lex.acceptPunct(';'))
      continue;
    const Token t = lex.peek();
    if (t.kind != Token::Directive)
      failFound("expected a directive");
    lex.next();
    std::string_view d = t.text;
    if (d == "version") {
      ast.versionMajor = unsigned(expectInt("a version"));
      // "9.0" lexes as one floating-point token; expectInt has handled it.
    } else if (d == "target") {
      ast.targetName = std::string(expectIdent("a target name"));
      while (lex.acceptPunct(','))
        expectIdent("a target option");
    } else if (d == "address_size") {
      if (expectInt("an address size") != 64)
        fail("expected .address_size 64");
    } else if (d == "file") {
      fileDirective();
    } else if (d == "section") {
      if (lex.peek().kind == Token::Directive || lex.peek().kind == Token::Ident)
        lex.next();
      if (!lex.isPunct('{'))
        failFound("expected '{' after .section");
      lex.skipBraces();
    } else if (d == "pragma") {
      pragma();
    } else if (d == "entry" || d == "func") {
      function(d == "entry", false);
    } else if (d == "visible" || d == "weak" || d == "extern" || d == "common") {
      bool isExtern = d == "extern";
      const Token n = lex.peek();
      if (n.kind == Token::Directive && (n.text == "entry" || n.text == "func")) {
        lex.next();
        function(n.text == "entry", isExtern);
      } else {
        variable(isExtern, nullptr);
      }
    } else if (d == "global" || d == "const" || d == "shared") {
      variableIn(d, false, nullptr);
    } else if (d == "loc") {
      locDirective();
    } else {
      fail("unknown directive '." + std::string(d) + "'");
    }
  }
  if (!ast.versionMajor)
    fail("expected .version, found none");
  if (ast.targetName.empty())
    fail("expected .target, found none");
}

void Parser::pragma() {
  do {
    if (lex.peek().kind != Token::String)
      fail("expected a string after .pragma");
    lex.next();
  } while (lex.acceptPunct(','));
  expect(';');
}

void Parser::fileDirective() {
  uint32_t index = uint32_t(expectInt("a file number"));
  if (lex.peek().kind != Token::String)
    failFound("expected a file name");
  ast.files[index] = std::string(lex.next().text);
  while (lex.acceptPunct(','))
    expectInt("a file time or size");
}

void Parser::locDirective() {
  Location l;
  l.file = uint32_t(expectInt("a file number"));
  l.line = uint32_t(expectInt("a line"));
  l.column = uint32_t(expectInt("a column"));
  // Optional: ", function_name LABEL {+ imm}, inlined_at file line column".
  while (lex.acceptPunct(',')) {
    std::string_view key = expectIdent("function_name or inlined_at");
    if (key == "function_name") {
      if (lex.peek().kind != Token::Ident && lex.peek().kind != Token::Directive)
        failFound("expected a label");
      lex.next();
      if (lex.acceptPunct('+'))
        expectInt("an offset");
    } else if (key == "inlined_at") {
      for (int i = 0; i < 3; ++i)
        expectInt("a position");
    } else {
      fail("unknown .loc attribute '" + std::string(key) + "'");
    }
  }
  const Location &last = ast.locations.back();
  if (last.file != l.file || last.line != l.line || last.column != l.column)
    ast.locations.push_back(l);
}

void Parser::variable(bool isExtern, Function *f) {
  const Token t = lex.next();
  if (t.kind != Token::Directive)
    fail("expected a state space, found '" + std::string(t.text) + "'");
  variableIn(t.text, isExtern, f);
}

void Parser::variableIn(std::string_view spaceName, bool isExtern, Function *f) {
  Variable v;
  v.isExtern = isExtern;
  if (spaceName == "global")
    v.space = VarSpace::Global;
  else if (spaceName == "const")
    v.space = VarSpace::Const;
  else if (spaceName == "shared" || spaceName == "shared::cta")
    v.space = VarSpace::Shared;
  else if (spaceName == "local" && f)
    v.space = VarSpace::Local;
  else if (spaceName == "param" && f)
    v.space = VarSpace::Param;
  else
    fail("unknown state space '." + std::string(spaceName) + "'");
  declarator(v, f);
  expect(';');
}

/// After the state space: attributes, type, name, dimensions, initialiser.
uint32_t Parser::declarator(Variable &v, Function *f) {
  uint64_t element = 0, vectorLength = 1;
  for (;;) {
    const Token t = lex.peek();
    if (t.kind != Token::Directive)
      break;
    lex.next();
    if (t.text == "align") {
      v.align = uint32_t(expectInt("an alignment"));
      if (v.align == 0 || (v.align & (v.align - 1)) || v.align > 4096)
        fail("expected the alignment to be a power of two up to 4096, got " + std::to_string(v.align));
    } else if (t.text == "v2") {
      vectorLength = 2;
    } else if (t.text == "v4") {
      vectorLength = 4;
    } else if (t.text == "ptr") {
      if (lex.peek().kind == Token::Directive && lex.peek().text != "align")
        lex.next();
      if (lex.peek().kind == Token::Directive && lex.peek().text == "align") {
        lex.next();
        expectInt("an alignment");
      }
    } else if (t.text == "attribute") {
      expect('(');
      while (!lex.acceptPunct(')')) {
        if (lex.peek().kind == Token::End)
          fail("attribute list is not closed");
        lex.next();
      }
    } else {
      Ty ty = tyFromName(t.text);
      if (ty == Ty::None || ty == Ty::Pred)
        fail("unknown type '." + std::string(t.text) + "'");
      element = tyBits(ty) / 8;
    }
  }
  if (!element)
    failFound("expected a type");
  v.line = lex.line();
  v.name = std::string(expectIdent("a variable name"));
  v.align = std::max<uint32_t>(v.align, uint32_t(element * vectorLength));
  uint64_t count = vectorLength;
  bool sized = true;
  while (lex.acceptPunct('[')) {
    if (lex.acceptPunct(']')) {
      sized = false;
      continue;
    }
    uint64_t n = expectInt("an array size");
    if (n > (uint64_t(1) << 32) || count * n > (uint64_t(1) << 32))
      fail("array '" + v.name + "' is larger than 4 GiB");
    count *= n;
    expect(']');
  }
  v.bytes = sized ? element * count : 0;
  if (lex.acceptPunct('=')) {
    if (v.space != VarSpace::Global && v.space != VarSpace::Const)
      fail("only .global and .const variables take an initialiser");
    initialiser(v, unsigned(element), sized);
  }
  if (!sized && v.init.empty() && v.space != VarSpace::Shared && !v.isExtern)
    fail("expected a size for '" + v.name + "'");
  totalVariableBytes += v.bytes;
  if (totalVariableBytes > (uint64_t(1) << 33))
    fail("variables exceed 8 GiB");
  uint32_t id = uint32_t(ast.variables.size());
  auto &names = f ? scopeVars.back() : globals;
  ast.variables.push_back(std::move(v));
  names[ast.variables.back().name] = id; // a redeclared extern refers to the later one
  return id;
}

void Parser::initialiser(Variable &v, unsigned element, bool sized) {
  auto put = [&](uint64_t bits) {
    if (sized && v.init.size() + element > v.bytes)
      fail("initialiser of '" + v.name + "' is longer than the variable");
    for (unsigned i = 0; i < element; ++i)
      v.init.push_back(uint8_t(bits >> (8 * i)));
  };
  auto value = [&] {
    bool neg = lex.acceptPunct('-');
    const Token t = lex.peek();
    if (t.kind == Token::Int) {
      lex.next();
      put(neg ? 0 - t.bits : t.bits);
    } else if (t.kind == Token::Float || t.kind == Token::Double) {
      lex.next();
      if (t.kind == Token::Float) {
        put(t.bits ^ (neg ? 0x80000000u : 0));
      } else {
        double d = std::bit_cast<double>(t.bits);
        d = neg ? -d : d;
        put(element == 4 ? std::bit_cast<uint32_t>(float(d)) : std::bit_cast<uint64_t>(d));
      }
    } else if (t.kind == Token::Ident && !neg) {
      lex.next();
      Variable::Reloc r{uint32_t(v.init.size()), element, 0, 0, false};
      std::string_view name = t.text;
      if (name == "generic") {
        expect('(');
        name = expectIdent("a variable");
        expect(')');
        r.generic = true;
      }
      auto it = globals.find(name);
      if (it == globals.end())
        fail("unknown variable '" + std::string(name) + "' in an initialiser");
      r.variable = it->second;
      if (lex.acceptPunct('+'))
        r.addend = int64_t(expectInt("an offset"));
      if (element != 8)
        fail("expected a 64-bit element for an address, got " + std::to_string(element * 8) + " bits");
      v.relocs.push_back(r);
      put(0);
    } else {
      failFound("expected an initial value");
    }
  };
  unsigned depth = 0;
  if (!lex.isPunct('{'))
    return value();
  do {
    if (lex.acceptPunct('{')) {
      ++depth;
    } else if (lex.acceptPunct('}')) {
      --depth;
    } else if (!lex.acceptPunct(',')) {
      value();
    }
  } while (depth);
  if (!sized)
    v.bytes = v.init.size();
  v.init.resize(v.bytes);
}

/// The list of a parameter declaration, its opening parenthesis taken.
void Parser::paramList(std::vector<uint32_t> &out, Function &f) {
  if (lex.acceptPunct(')'))
    return;
  do {
    const Token t = lex.next();
    if (t.kind != Token::Directive || t.text != "param")
      throw ParseError{t.line, "expected .param, found " + (t.kind == Token::End ? "end of text" : "'" + std::string(t.text) + "'")};
    Variable v;
    v.space = f.isEntry ? VarSpace::EntryParam : VarSpace::Param;
    out.push_back(declarator(v, &f));
  } while (lex.acceptPunct(','));
  expect(')');
}

void Parser::function(bool isEntry, bool isExtern) {
  Function f;
  f.isEntry = isEntry;
  f.line = lex.line();
  scopeVars.assign(1, {});
  scopeRegs.assign(1, {});
  f.scopes.push_back({});
  scopeIds.assign(1, 0);
  if (!isEntry && lex.acceptPunct('('))
    paramList(f.results, f);
  f.name = std::string(expectIdent("a function name"));
  if (lex.acceptPunct('('))
    paramList(f.params, f);
  f.isExtern = isExtern;
  for (bool more = true; more;) {
    const Token t = lex.peek();
    if (t.kind != Token::Directive)
      break;
    lex.next();
    auto dims = [&](Dim3 &d) {
      d = {uint32_t(expectInt("a size")), 1, 1};
      if (lex.acceptPunct(','))
        d.y = uint32_t(expectInt("a size"));
      if (lex.acceptPunct(','))
        d.z = uint32_t(expectInt("a size"));
    };
    if (t.text == "reqntid")
      dims(f.reqntid);
    else if (t.text == "maxntid")
      dims(f.maxntid);
    else if (t.text == "reqnctapercluster")
      dims(f.cluster);
    else if (t.text == "minnctapersm")
      f.minCtas = unsigned(expectInt("a count"));
    else if (t.text == "maxnreg")
      f.maxRegs = unsigned(expectInt("a count"));
    else if (t.text == "maxnctapersm" || t.text == "maxclusterrank")
      expectInt("a count");
    else if (t.text == "explicitcluster" || t.text == "noreturn" || t.text == "blocksareclusters")
      ;
    else if (t.text == "pragma")
      pragma();
    else
      fail("unknown function directive '." + std::string(t.text) + "'");
  }
  bool declared = lex.acceptPunct(';');
  if (!declared) {
    if (!lex.isPunct('{'))
      failFound("expected '{' or ';'");
    lex.next();
    body(f);
  }
  auto it = ast.functionByName.find(f.name);
  if (it != ast.functionByName.end()) {
    Function &old = ast.functions[it->second];
    if (declared)
      return;
    if (!old.body.empty() || !old.isExtern)
      fail("function '" + f.name + "' is defined twice");
    old = std::move(f);
    return;
  }
  if (declared)
    f.isExtern = true; // no body yet
  ast.functionByName.emplace(f.name, uint32_t(ast.functions.size()));
  ast.functions.push_back(std::move(f));
}

void Parser::regDirective(Function &f) {
  const Token t = lex.next();
  Ty ty = t.kind == Token::Directive ? tyFromName(t.text) : Ty::None;
  if (ty == Ty::None)
    fail("unknown register type '" + std::string(t.text) + "'");
  do {
    std::string_view name = expectIdent("a register name");
    RegRange r;
    r.first = uint32_t(f.regs.size());
    if (lex.acceptPunct('<')) {
      uint64_t n = expectInt("a register count");
      expect('>');
      if (n == 0 || n > maxRegs || f.regs.size() + n > maxRegs)
        fail("expected at most " + std::to_string(maxRegs) + " registers in a function, got " + std::to_string(n));
      r.count = uint32_t(n);
      r.isRange = true;
    }
    if (f.regs.size() + r.count > maxRegs)
      fail("too many registers in a function");
    totalRegs += r.count;
    if (totalRegs > maxModuleRegs)
      fail("expected at most " + std::to_string(maxModuleRegs) + " registers in a module");
    f.regs.resize(f.regs.size() + r.count, ty);
    scopeRegs.back()[name] = r;
  } while (lex.acceptPunct(','));
  expect(';');
}

void Parser::body(Function &f) {
  std::map<std::string_view, std::vector<std::string_view>> none;
  for (;;) {
    const Token t = lex.peek();
    if (t.kind == Token::End)
      fail("function '" + f.name + "' is not closed");
    if (lex.acceptPunct(';'))
      continue;
    if (lex.acceptPunct('{')) {
      if (scopeIds.size() > 200)
        fail("scopes nest deeper than 200");
      Function::Scope s;
      s.parent = int32_t(scopeIds.back());
      scopeIds.push_back(uint32_t(f.scopes.size()));
      f.scopes.push_back(std::move(s));
      scopeVars.emplace_back();
      scopeRegs.emplace_back();
      continue;
    }
    if (lex.acceptPunct('}')) {
      scopeIds.pop_back();
      scopeVars.pop_back();
      scopeRegs.pop_back();
      if (scopeIds.empty())
        return;
      continue;
    }
    if (t.kind == Token::Directive) {
      lex.next();
      if (t.text == "reg")
        regDirective(f);
      else if (t.text == "loc")
        locDirective();
      else if (t.text == "pragma")
        pragma();
      else if (t.text == "file")
        fileDirective();
      else if (t.text == "extern")
        variable(true, &f);
      else
        variableIn(t.text, false, &f);
      continue;
    }
    if (lex.atLabel()) {
      std::string_view name = lex.next().text;
      lex.next(); // ':'
      if (lex.peek().kind == Token::Directive && lex.peek().text == "branchtargets") {
        lex.next();
        BranchTable table{{}, scopeIds.back()};
        do
          table.labels.push_back(expectIdent("a label"));
        while (lex.acceptPunct(','));
        expect(';');
        f.scopes[scopeIds.back()].tables[name] = std::move(table);
        continue;
      }
      if (!f.scopes[scopeIds.back()].labels.emplace(name, uint32_t(f.body.size())).second)
        fail("label '" + std::string(name) + "' is defined twice");
      continue;
    }
    statement(f);
  }
}

void Parser::statement(Function &f) {
  Stmt s;
  s.line = lex.line();
  s.loc = uint32_t(ast.locations.size() - 1);
  s.scope = scopeIds.back();
  if (lex.acceptPunct('@')) {
    s.predNeg = lex.acceptPunct('!');
    std::string_view name = expectIdent("a predicate");
    int64_t r = findReg(name);
    if (r < 0 || f.regs[size_t(r)] != Ty::Pred)
      fail("expected a predicate register, found '" + std::string(name) + "'");
    s.pred = int32_t(r);
  }
  if (lex.peek().kind != Token::Ident)
    failFound("expected an instruction");
  s.op = lex.takeOpcode();
  if (!lex.isPunct(';')) {
    do
      s.ops.push_back(operand(0));
    while (lex.acceptPunct(','));
  }
  expect(';');
  if (f.body.size() >= maxStatements)
    fail("function '" + f.name + "' has more than " + std::to_string(maxStatements) + " instructions");
  f.body.push_back(std::move(s));
}

void parsePtx(std::string_view text, Ast &ast) {
  ast.text = std::string(text);
  Parser p(ast);
  p.parseModule();
}

} // namespace heddle::emulator
