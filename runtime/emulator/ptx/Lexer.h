//===- Lexer.h - tokens of PTX -------------------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_EMULATOR_PTX_LEXER_H
#define HEDDLE_EMULATOR_PTX_LEXER_H

#include "runtime/emulator/ptx/Ast.h"

namespace heddle::emulator {

struct Token {
  enum Kind : uint8_t { End, Ident, Directive, Int, Float, Double, String, Punct } kind = End;
  std::string_view text; ///< Directive: without the dot
  uint64_t bits = 0;     ///< Int: value; Float: f32 bits; Double: f64 bits
  char punct = 0;
  uint32_t line = 0;
};

/// One token of look-ahead over a text that outlives it. Throws ParseError.
class Lexer {
public:
  explicit Lexer(std::string_view text) : p_(text.data()), end_(text.data() + text.size()) { advance(); }
  const Token &peek() const { return tok_; }
  Token next() {
    Token t = tok_;
    advance();
    return t;
  }
  bool isPunct(char c) const { return tok_.kind == Token::Punct && tok_.punct == c; }
  bool acceptPunct(char c) {
    if (!isPunct(c))
      return false;
    advance();
    return true;
  }
  /// With an identifier as current token: extends it by what belongs to an opcode
  /// (".mod", "::part") and returns it, unless a label's colon follows (then empty).
  std::string_view takeOpcode();
  /// True when the current identifier is followed by a single colon.
  bool atLabel() const;
  uint32_t line() const { return tok_.line; }
  uint32_t lastLine() const { return last_; } ///< of the token taken last
  /// The current token as text for a message.
  std::string describe() const;
  /// Skips a balanced {...} whose opening brace is the current token.
  void skipBraces();

private:
  void advance();
  void skipSpace();
  void number();
  [[noreturn]] void fail(const std::string &message) const { throw ParseError{line_, message}; }
  const char *p_, *end_;
  uint32_t line_ = 1, last_ = 1;
  Token tok_;
};

} // namespace heddle::emulator

#endif // HEDDLE_EMULATOR_PTX_LEXER_H
