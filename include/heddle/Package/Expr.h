//===- Expr.h - expressions of run-time sizes -----------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A package states grids, strides and extents as postfix programs over the sizes
// known only at launch. Here: checking, evaluating and printing them, and making
// them. All functions are pure and thread-safe.
//
// Arithmetic is signed 64 bit and exact. ceil_div and floor_div round towards plus
// and minus infinity; mod has the sign of the divisor, so that
// a == floor_div(a, b) * b + mod(a, b).
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_PACKAGE_EXPR_H
#define HEDDLE_PACKAGE_EXPR_H

#include "heddle/Package/package_generated.h"
#include "heddle/Support/Result.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::pkg {

/// The longest expression, and the most values it may hold at once.
inline constexpr size_t maxExprSteps = 256;
inline constexpr size_t maxExprStack = 32;

using ExprSteps = std::span<const ExprStep>;

/// The steps of a stored or an unpacked expression; empty when absent. The span lives as long as
/// the expression does.
ExprSteps exprSteps(const Expr *expr);
ExprSteps exprSteps(const ExprT *expr);

/// Checks that an expression is well-formed: 1..maxExprSteps known operations, symbols below
/// `symbolCount`, a stack that never underflows or exceeds maxExprStack and ends at one value.
Expected<void> checkExpr(ExprSteps steps, size_t symbolCount);

/// What an expression is evaluated with. Borrowed: the symbols must outlive the use.
struct ExprContext {
  std::span<const int64_t> symbols; ///< values of Kernel.symbols, in order
  int64_t smCount = 0;              ///< multiprocessors the launch may use
  int64_t world = 1;                ///< ranks of the communicator
};

/// Evaluates; an error on overflow, division by zero, or an expression that is not well-formed.
Expected<int64_t> evaluateExpr(ExprSteps steps, const ExprContext &context);
inline Expected<int64_t> evaluateExpr(const Expr *expr, const ExprContext &context) {
  return evaluateExpr(exprSteps(expr), context);
}

/// Human text such as `ceil_div(M, 128) * 2`. `symbolNames` may be shorter than the symbols used;
/// the others print as s3. A malformed expression prints as `<malformed>`.
std::string printExpr(ExprSteps steps, std::span<const std::string> symbolNames);
std::string printExpr(const Expr *expr, const Kernel &kernel);

/// An expression under construction: a value with arithmetic, folded while both sides are
/// constants (unless that overflows or divides by zero; evaluation then reports it).
///   auto m = SizeExpr::symbol(0);
///   variant.grid.push_back((ceilDiv(m, 128) * 2).toExpr());
class SizeExpr {
public:
  SizeExpr(int64_t constant) : program{ExprStep(ExprOp::constant, constant)} {}
  static SizeExpr symbol(uint32_t index);
  static SizeExpr smCount();
  static SizeExpr world();
  /// A dimension: its symbol, or its value.
  static SizeExpr dim(const Dim &dim);

  bool isConstant() const { return program.size() == 1 && program[0].op() == ExprOp::constant; }
  /// Only when isConstant().
  int64_t constantValue() const { return program[0].value(); }

  const std::vector<ExprStep> &steps() const { return program; }
  /// As the object that goes into a package under construction.
  std::unique_ptr<ExprT> toExpr() const;

  static SizeExpr binary(ExprOp op, const SizeExpr &lhs, const SizeExpr &rhs);

private:
  SizeExpr() = default;
  std::vector<ExprStep> program;
};

SizeExpr operator+(const SizeExpr &lhs, const SizeExpr &rhs);
SizeExpr operator-(const SizeExpr &lhs, const SizeExpr &rhs);
SizeExpr operator*(const SizeExpr &lhs, const SizeExpr &rhs);
SizeExpr ceilDiv(const SizeExpr &lhs, const SizeExpr &rhs);
SizeExpr floorDiv(const SizeExpr &lhs, const SizeExpr &rhs);
SizeExpr mod(const SizeExpr &lhs, const SizeExpr &rhs);
SizeExpr min(const SizeExpr &lhs, const SizeExpr &rhs);
SizeExpr max(const SizeExpr &lhs, const SizeExpr &rhs);

} // namespace heddle::pkg

#endif // HEDDLE_PACKAGE_EXPR_H
