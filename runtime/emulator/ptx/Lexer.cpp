//===- Lexer.cpp - tokens of PTX -----------------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/ptx/Lexer.h"

#include <bit>
#include <cstdlib>

namespace heddle::emulator {

static bool identStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}
static bool digit(char c) { return c >= '0' && c <= '9'; }
static bool identChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || digit(c);
}
static int hexDigit(char c) {
  if (digit(c))
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return -1;
}

void Lexer::skipSpace() {
  while (p_ < end_) {
    if (*p_ == '\n') {
      ++line_;
      ++p_;
    } else if (*p_ == ' ' || *p_ == '\t' || *p_ == '\r' || *p_ == '\f' || *p_ == '\v') {
      ++p_;
    } else if (*p_ == '/' && p_ + 1 < end_ && p_[1] == '/') {
      while (p_ < end_ && *p_ != '\n')
        ++p_;
    } else if (*p_ == '/' && p_ + 1 < end_ && p_[1] == '*') {
      uint32_t start = line_;
      p_ += 2;
      while (p_ + 1 < end_ && !(p_[0] == '*' && p_[1] == '/')) {
        if (*p_ == '\n')
          ++line_;
        ++p_;
      }
      if (p_ + 1 >= end_)
        throw ParseError{start, "comment is not closed"};
      p_ += 2;
    } else {
      return;
    }
  }
}

void Lexer::number() {
  const char *start = p_;
  auto hex = [&](unsigned digits, Token::Kind kind) {
    uint64_t v = 0;
    p_ += 2;
    for (unsigned i = 0; i < digits; ++i, ++p_) {
      int d = p_ < end_ ? hexDigit(*p_) : -1;
      if (d < 0)
        fail("expected " + std::to_string(digits) + " hexadecimal digits in a float constant");
      v = v * 16 + unsigned(d);
    }
    tok_.kind = kind;
    tok_.bits = v;
  };
  char second = p_ + 1 < end_ ? p_[1] : 0;
  if (*p_ == '0' && (second == 'f' || second == 'F'))
    return hex(8, Token::Float);
  if (*p_ == '0' && (second == 'd' || second == 'D'))
    return hex(16, Token::Double);
  unsigned base = 10;
  if (*p_ == '0' && (second == 'x' || second == 'X')) {
    base = 16;
    p_ += 2;
  } else if (*p_ == '0' && (second == 'b' || second == 'B')) {
    base = 2;
    p_ += 2;
  }
  uint64_t v = 0;
  const char *digits = p_;
  bool isFloat = false;
  if (base == 10) {
    const char *q = p_;
    while (q < end_ && digit(*q))
      ++q;
    if (q < end_ && (*q == '.' || *q == 'e' || *q == 'E'))
      isFloat = q + 1 < end_ && (digit(q[1]) || q[1] == '-' || q[1] == '+' || *q == '.');
  }
  if (isFloat) {
    const char *q = p_;
    while (q < end_ && (digit(*q) || *q == '.' || *q == 'e' || *q == 'E' ||
                        ((*q == '-' || *q == '+') && (q[-1] == 'e' || q[-1] == 'E'))))
      ++q;
    std::string s(p_, q);
    char *stop = nullptr;
    double d = std::strtod(s.c_str(), &stop);
    if (stop != s.c_str() + s.size())
      fail("malformed number '" + s + "'");
    p_ = q;
    tok_.kind = Token::Double;
    tok_.bits = std::bit_cast<uint64_t>(d);
    return;
  }
  if (base == 10 && *p_ == '0')
    base = 8;
  while (p_ < end_) {
    int d = hexDigit(*p_);
    if (d < 0 || unsigned(d) >= base)
      break;
    if (v > (~uint64_t(0) - unsigned(d)) / base)
      fail("integer constant does not fit 64 bits");
    v = v * base + unsigned(d);
    ++p_;
  }
  if (p_ == digits)
    fail("malformed number");
  if (p_ < end_ && *p_ == 'U')
    ++p_;
  if (p_ < end_ && identChar(*p_))
    fail("malformed number '" + std::string(start, p_ + 1) + "'");
  tok_.kind = Token::Int;
  tok_.bits = v;
}

void Lexer::advance() {
  if (tok_.kind != Token::End)
    last_ = tok_.line;
  skipSpace();
  tok_ = Token{};
  tok_.line = line_;
  if (p_ >= end_)
    return;
  const char *start = p_;
  if (identStart(*p_)) {
    ++p_;
    while (p_ < end_ && identChar(*p_))
      ++p_;
    // %tid.x
    if (*start == '%' && p_ + 1 < end_ && *p_ == '.' && p_[1] >= 'x' && p_[1] <= 'z' &&
        (p_ + 2 == end_ || !identChar(p_[2])))
      p_ += 2;
    tok_.kind = Token::Ident;
  } else if (*p_ == '.' && p_ + 1 < end_ && identStart(p_[1])) {
    ++start;
    p_ += 2;
    while (p_ < end_ && (identChar(*p_) || (*p_ == ':' && p_ + 2 < end_ && p_[1] == ':' && identStart(p_[2]))))
      p_ += *p_ == ':' ? 2 : 1;
    tok_.kind = Token::Directive;
  } else if (digit(*p_) || (*p_ == '.' && p_ + 1 < end_ && digit(p_[1]))) {
    number();
  } else if (*p_ == '"') {
    ++p_;
    ++start;
    while (p_ < end_ && *p_ != '"' && *p_ != '\n')
      p_ += (*p_ == '\\' && p_ + 1 < end_ && p_[1] != '\n') ? 2 : 1;
    if (p_ >= end_ || *p_ != '"')
      fail("string is not closed");
    tok_.kind = Token::String;
    tok_.text = std::string_view(start, size_t(p_ - start));
    ++p_;
    return;
  } else {
    tok_.kind = Token::Punct;
    tok_.punct = *p_++;
  }
  tok_.text = std::string_view(start, size_t(p_ - start));
}

bool Lexer::atLabel() const {
  if (tok_.kind != Token::Ident)
    return false;
  const char *q = p_;
  while (q < end_ && (*q == ' ' || *q == '\t'))
    ++q;
  return q < end_ && *q == ':' && !(q + 1 < end_ && q[1] == ':');
}

std::string_view Lexer::takeOpcode() {
  const char *start = tok_.text.data();
  while (p_ < end_ && (identChar(*p_) || *p_ == '.' || *p_ == ':')) {
    if (*p_ == ':' && !(p_ + 1 < end_ && p_[1] == ':') && p_[-1] != ':')
      break;
    ++p_;
  }
  std::string_view op(start, size_t(p_ - start));
  advance();
  return op;
}

std::string Lexer::describe() const {
  if (tok_.kind == Token::End)
    return "end of text";
  std::string s(tok_.text.substr(0, 40));
  return "'" + (tok_.kind == Token::Directive ? "." + s : s) + "'";
}

void Lexer::skipBraces() {
  uint32_t start = line();
  unsigned depth = 0;
  do {
    if (tok_.kind == Token::End)
      throw ParseError{start, "'{' is not closed"};
    if (isPunct('{'))
      ++depth;
    if (isPunct('}'))
      --depth;
    advance();
  } while (depth);
}

} // namespace heddle::emulator
