//===- ParserImpl.h - state of the PTX parser ----------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_EMULATOR_PTX_PARSERIMPL_H
#define HEDDLE_EMULATOR_PTX_PARSERIMPL_H

#include "runtime/emulator/ptx/Lexer.h"

#include <algorithm>
#include <bit>

namespace heddle::emulator {

class Parser {
public:
  explicit Parser(Ast &ast) : ast(ast), lex(ast.text) {}
  void parseModule();

private:
  static constexpr uint64_t maxRegs = 1u << 20;
  static constexpr uint64_t maxModuleRegs = 1u << 24;
  static constexpr uint64_t maxStatements = 1u << 22;
  struct RegRange {
    uint32_t first = 0, count = 1;
    bool isRange = false;
  };

  /// An error in what has been read, and one at what comes next.
  [[noreturn]] void fail(const std::string &message) const { throw ParseError{lex.lastLine(), message}; }
  [[noreturn]] void failFound(const std::string &message) const {
    throw ParseError{lex.line(), message + ", found " + lex.describe()};
  }
  void expect(char c);
  uint64_t expectInt(const char *what);
  std::string_view expectIdent(const char *what);

  void pragma();
  void fileDirective();
  void locDirective();
  void variable(bool isExtern, Function *f);
  void variableIn(std::string_view space, bool isExtern, Function *f);
  uint32_t declarator(Variable &v, Function *f);
  void initialiser(Variable &v, unsigned element, bool sized);
  void paramList(std::vector<uint32_t> &out, Function &f);
  void function(bool isEntry, bool isExtern);
  void regDirective(Function &f);
  void body(Function &f);
  void statement(Function &f);
  Operand operand(unsigned depth);
  Operand address(unsigned depth);
  Operand named(std::string_view name);
  int64_t findReg(std::string_view name) const; ///< -1 when none
  int64_t findVar(std::string_view name) const;

  Ast &ast;
  Lexer lex;
  uint64_t totalVariableBytes = 0, totalRegs = 0;
  std::map<std::string, uint32_t, std::less<>> globals;
  std::vector<std::map<std::string, uint32_t, std::less<>>> scopeVars;
  std::vector<std::map<std::string_view, RegRange>> scopeRegs;
  std::vector<uint32_t> scopeIds;
};

} // namespace heddle::emulator

#endif // HEDDLE_EMULATOR_PTX_PARSERIMPL_H
