//===- Expr.cpp - expressions of run-time sizes ---------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "heddle/Package/Expr.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>

using namespace heddle;
using namespace heddle::pkg;

namespace {

bool isKnown(ExprOp op) { return op <= ExprOp::MAX; }
bool isLeaf(ExprOp op) { return op <= ExprOp::sm_count || op == ExprOp::world; }

/// Quotient rounded towards minus infinity; `b` is not 0 and the quotient fits.
int64_t floorQuotient(int64_t a, int64_t b) {
  int64_t q = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}

int64_t ceilQuotient(int64_t a, int64_t b) {
  int64_t q = a / b;
  return (a % b != 0 && ((a < 0) == (b < 0))) ? q + 1 : q;
}

/// The result of a binary operation, or what went wrong.
struct BinaryResult {
  int64_t value = 0;
  const char *failure = nullptr;
};

BinaryResult apply(ExprOp op, int64_t a, int64_t b) {
  constexpr const char *overflow = "overflow";
  const bool divides = op == ExprOp::ceil_div || op == ExprOp::floor_div || op == ExprOp::mod;
  if (divides && b == 0)
    return {0, "division by zero"};
  BinaryResult result;
  switch (op) {
  case ExprOp::add:
    if (__builtin_add_overflow(a, b, &result.value))
      result.failure = overflow;
    return result;
  case ExprOp::sub:
    if (__builtin_sub_overflow(a, b, &result.value))
      result.failure = overflow;
    return result;
  case ExprOp::mul:
    if (__builtin_mul_overflow(a, b, &result.value))
      result.failure = overflow;
    return result;
  case ExprOp::ceil_div:
  case ExprOp::floor_div:
    if (a == std::numeric_limits<int64_t>::min() && b == -1)
      return {0, overflow};
    return {op == ExprOp::ceil_div ? ceilQuotient(a, b) : floorQuotient(a, b)};
  case ExprOp::mod:
    if (b == -1)
      return {0};
    return {a - floorQuotient(a, b) * b};
  case ExprOp::min:
    return {std::min(a, b)};
  case ExprOp::max:
    return {std::max(a, b)};
  case ExprOp::constant:
  case ExprOp::symbol:
  case ExprOp::sm_count:
  case ExprOp::world:
    break;
  }
  return {0, "unknown operation"};
}

Error malformed(std::string message) { return {ErrorCode::Damaged, std::move(message)}; }

/// How an operation reads in text; infix ones bind by precedence.
struct Spelling {
  const char *text;
  int precedence; ///< 0: a call
};

Spelling spellingOf(ExprOp op) {
  switch (op) {
  case ExprOp::add:
    return {" + ", 1};
  case ExprOp::sub:
    return {" - ", 1};
  case ExprOp::mul:
    return {" * ", 2};
  default:
    return {EnumNameExprOp(op), 0};
  }
}

struct Printed {
  std::string text;
  int precedence; ///< of its outermost operator; 3: needs no parentheses
};

std::string parenthesized(const Printed &operand, int atLeast) {
  return operand.precedence < atLeast ? "(" + operand.text + ")" : operand.text;
}

Printed printBinary(ExprOp op, const Printed &lhs, const Printed &rhs) {
  const Spelling spelling = spellingOf(op);
  if (spelling.precedence == 0)
    return {std::string(spelling.text) + "(" + lhs.text + ", " + rhs.text + ")", 3};
  // The operators group to the left, so an equal one on the right needs parentheses.
  return {parenthesized(lhs, spelling.precedence) + spelling.text +
              parenthesized(rhs, spelling.precedence + 1),
          spelling.precedence};
}

Printed printLeaf(const ExprStep &step, std::span<const std::string> symbolNames) {
  const int64_t value = step.value();
  if (step.op() == ExprOp::constant)
    return {std::to_string(value), value < 0 ? 0 : 3};
  if (step.op() == ExprOp::sm_count || step.op() == ExprOp::world)
    return {EnumNameExprOp(step.op()), 3};
  if (static_cast<uint64_t>(value) < symbolNames.size())
    return {symbolNames[static_cast<size_t>(value)], 3};
  return {"s" + std::to_string(value), 3};
}

} // namespace

ExprSteps pkg::exprSteps(const Expr *expr) {
  if (!expr || !expr->steps())
    return {};
  return {reinterpret_cast<const ExprStep *>(expr->steps()->Data()), expr->steps()->size()};
}

ExprSteps pkg::exprSteps(const ExprT *expr) {
  if (!expr)
    return {};
  return {expr->steps.data(), expr->steps.size()};
}

Expected<void> pkg::checkExpr(ExprSteps steps, size_t symbolCount) {
  if (steps.empty() || steps.size() > maxExprSteps)
    return malformed("expected an expression of 1 to " + std::to_string(maxExprSteps) +
                     " steps, got " + std::to_string(steps.size()));
  size_t depth = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    const ExprOp op = steps[i].op();
    const auto at = [i] { return "expression step " + std::to_string(i); };
    if (!isKnown(op))
      return malformed(at() + ": unknown operation " + std::to_string(static_cast<unsigned>(op)));
    if (op == ExprOp::symbol && static_cast<uint64_t>(steps[i].value()) >= symbolCount)
      return malformed(at() + ": expected a symbol below " + std::to_string(symbolCount) +
                       ", got " + std::to_string(steps[i].value()));
    if (!isLeaf(op) && depth < 2)
      return malformed(at() + ": " + EnumNameExprOp(op) + " needs 2 values, got " +
                       std::to_string(depth));
    depth = isLeaf(op) ? depth + 1 : depth - 1;
    if (depth > maxExprStack)
      return malformed(at() + ": expected at most " + std::to_string(maxExprStack) +
                       " values on the stack");
  }
  if (depth != 1)
    return malformed("expected the expression to end with 1 value, got " + std::to_string(depth));
  return {};
}

Expected<int64_t> pkg::evaluateExpr(ExprSteps steps, const ExprContext &context) {
  if (Expected<void> checked = checkExpr(steps, context.symbols.size()); !checked)
    return checked.takeError();
  std::array<int64_t, maxExprStack> stack{};
  size_t depth = 0;
  for (const ExprStep &step : steps) {
    if (step.op() == ExprOp::constant) {
      stack[depth++] = step.value();
    } else if (step.op() == ExprOp::symbol) {
      stack[depth++] = context.symbols[static_cast<size_t>(step.value())];
    } else if (step.op() == ExprOp::sm_count) {
      stack[depth++] = context.smCount;
    } else if (step.op() == ExprOp::world) {
      stack[depth++] = context.world;
    } else {
      const int64_t rhs = stack[--depth];
      const int64_t lhs = stack[--depth];
      const BinaryResult result = apply(step.op(), lhs, rhs);
      if (result.failure)
        return Error{ErrorCode::OutOfRange,
                     std::string(result.failure) + " in " + EnumNameExprOp(step.op()) + "(" +
                         std::to_string(lhs) + ", " + std::to_string(rhs) + ")"};
      stack[depth++] = result.value;
    }
  }
  return stack[0];
}

std::string pkg::printExpr(ExprSteps steps, std::span<const std::string> symbolNames) {
  if (!checkExpr(steps, std::numeric_limits<size_t>::max()))
    return "<malformed>";
  std::vector<Printed> stack;
  for (const ExprStep &step : steps) {
    if (isLeaf(step.op())) {
      stack.push_back(printLeaf(step, symbolNames));
      continue;
    }
    const Printed rhs = std::move(stack.back());
    stack.pop_back();
    stack.back() = printBinary(step.op(), stack.back(), rhs);
  }
  return stack.front().text;
}

std::string pkg::printExpr(const Expr *expr, const Kernel &kernel) {
  std::vector<std::string> names;
  if (const auto *symbols = kernel.symbols())
    for (const auto *name : *symbols)
      names.push_back(name->str());
  return printExpr(exprSteps(expr), names);
}

SizeExpr SizeExpr::symbol(uint32_t index) {
  SizeExpr result;
  result.program.emplace_back(ExprOp::symbol, index);
  return result;
}

SizeExpr SizeExpr::smCount() {
  SizeExpr result;
  result.program.emplace_back(ExprOp::sm_count, 0);
  return result;
}

SizeExpr SizeExpr::world() {
  SizeExpr result;
  result.program.emplace_back(ExprOp::world, 0);
  return result;
}

SizeExpr SizeExpr::dim(const Dim &dim) {
  return dim.symbol() < 0 ? SizeExpr(dim.value()) : symbol(static_cast<uint32_t>(dim.symbol()));
}

std::unique_ptr<ExprT> SizeExpr::toExpr() const {
  auto result = std::make_unique<ExprT>();
  result->steps = program;
  return result;
}

namespace {
/// The side that is left when the other one changes nothing, e.g. x in x * 1.
const SizeExpr *withoutNeutral(ExprOp op, const SizeExpr &lhs, const SizeExpr &rhs) {
  const bool commutes = op == ExprOp::add || op == ExprOp::mul;
  const bool divides = op == ExprOp::ceil_div || op == ExprOp::floor_div;
  const int64_t neutral = (op == ExprOp::mul || divides) ? 1 : 0;
  if (!commutes && !divides && op != ExprOp::sub)
    return nullptr;
  if (rhs.isConstant() && rhs.constantValue() == neutral)
    return &lhs;
  if (commutes && lhs.isConstant() && lhs.constantValue() == neutral)
    return &rhs;
  return nullptr;
}
} // namespace

SizeExpr SizeExpr::binary(ExprOp op, const SizeExpr &lhs, const SizeExpr &rhs) {
  if (lhs.isConstant() && rhs.isConstant()) {
    const BinaryResult folded = apply(op, lhs.constantValue(), rhs.constantValue());
    if (!folded.failure)
      return folded.value;
  }
  if (const SizeExpr *same = withoutNeutral(op, lhs, rhs))
    return *same;
  SizeExpr result = lhs;
  result.program.insert(result.program.end(), rhs.program.begin(), rhs.program.end());
  result.program.emplace_back(op, 0);
  return result;
}

SizeExpr pkg::operator+(const SizeExpr &lhs, const SizeExpr &rhs) {
  return SizeExpr::binary(ExprOp::add, lhs, rhs);
}
SizeExpr pkg::operator-(const SizeExpr &lhs, const SizeExpr &rhs) {
  return SizeExpr::binary(ExprOp::sub, lhs, rhs);
}
SizeExpr pkg::operator*(const SizeExpr &lhs, const SizeExpr &rhs) {
  return SizeExpr::binary(ExprOp::mul, lhs, rhs);
}
SizeExpr pkg::ceilDiv(const SizeExpr &lhs, const SizeExpr &rhs) {
  return SizeExpr::binary(ExprOp::ceil_div, lhs, rhs);
}
SizeExpr pkg::floorDiv(const SizeExpr &lhs, const SizeExpr &rhs) {
  return SizeExpr::binary(ExprOp::floor_div, lhs, rhs);
}
SizeExpr pkg::mod(const SizeExpr &lhs, const SizeExpr &rhs) {
  return SizeExpr::binary(ExprOp::mod, lhs, rhs);
}
SizeExpr pkg::min(const SizeExpr &lhs, const SizeExpr &rhs) {
  return SizeExpr::binary(ExprOp::min, lhs, rhs);
}
SizeExpr pkg::max(const SizeExpr &lhs, const SizeExpr &rhs) {
  return SizeExpr::binary(ExprOp::max, lhs, rhs);
}
