//===- ExprTest.cpp - expressions of run-time sizes -----------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "heddle/Package/Expr.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

using namespace heddle;
using namespace heddle::pkg;
using testing::HasSubstr;

namespace {

constexpr int64_t lowest = std::numeric_limits<int64_t>::min();
constexpr int64_t highest = std::numeric_limits<int64_t>::max();

std::vector<ExprStep> program(ExprOp op, int64_t a, int64_t b) {
  return {ExprStep(ExprOp::constant, a), ExprStep(ExprOp::constant, b), ExprStep(op, 0)};
}

int64_t value(ExprOp op, int64_t a, int64_t b) {
  const Expected<int64_t> result = evaluateExpr(program(op, a, b), ExprContext());
  EXPECT_TRUE(result) << EnumNameExprOp(op) << "(" << a << ", " << b << ")";
  return result ? *result : 0;
}

std::string failure(const std::vector<ExprStep> &steps, std::span<const int64_t> symbols = {}) {
  const Expected<int64_t> result = evaluateExpr(steps, {symbols, 0});
  EXPECT_FALSE(result);
  return result ? "" : result.error().message;
}

TEST(ExprTest, RoundsDivisionsTowardsTheirSide) {
  struct {
    int64_t a, b, ceiling, floored, rest;
  } const cases[] = {{7, 2, 4, 3, 1},    {-7, 2, -3, -4, 1}, {7, -2, -3, -4, -1},
                     {-7, -2, 4, 3, -1}, {6, 3, 2, 2, 0},    {0, 5, 0, 0, 0},
                     {1, 128, 1, 0, 1},  {-6, 3, -2, -2, 0}, {lowest, 1, lowest, lowest, 0}};
  for (const auto &c : cases) {
    EXPECT_EQ(value(ExprOp::ceil_div, c.a, c.b), c.ceiling) << c.a << " / " << c.b;
    EXPECT_EQ(value(ExprOp::floor_div, c.a, c.b), c.floored) << c.a << " / " << c.b;
    EXPECT_EQ(value(ExprOp::mod, c.a, c.b), c.rest) << c.a << " % " << c.b;
  }
  EXPECT_EQ(value(ExprOp::mod, lowest, -1), 0);
}

TEST(ExprTest, EvaluatesSymbolsAndMultiprocessors) {
  const SizeExpr m = SizeExpr::symbol(0), n = SizeExpr::symbol(1);
  const SizeExpr grid = min(ceilDiv(m, 128) * ceilDiv(n, 256), SizeExpr::smCount());
  const int64_t sizes[] = {300, 2112};
  EXPECT_EQ(*evaluateExpr(grid.steps(), {sizes, 132}), 27);
  EXPECT_EQ(*evaluateExpr(grid.steps(), {sizes, 20}), 20);
  EXPECT_EQ(*evaluateExpr((m - n).steps(), {sizes, 0}), -1812);
  EXPECT_EQ(*evaluateExpr(max(m, n).steps(), {sizes, 0}), 2112);
  EXPECT_EQ(*evaluateExpr((mod(n, m) + floorDiv(n, m)).steps(), {sizes, 0}), 19);
}

TEST(ExprTest, ReportsOverflowAndDivisionByZero) {
  EXPECT_EQ(failure(program(ExprOp::add, highest, 1)), "overflow in add(9223372036854775807, 1)");
  EXPECT_THAT(failure(program(ExprOp::sub, lowest, 1)), HasSubstr("overflow in sub"));
  EXPECT_THAT(failure(program(ExprOp::mul, highest, 2)), HasSubstr("overflow in mul"));
  EXPECT_THAT(failure(program(ExprOp::ceil_div, lowest, -1)), HasSubstr("overflow in ceil_div"));
  EXPECT_THAT(failure(program(ExprOp::floor_div, lowest, -1)), HasSubstr("overflow in floor_div"));
  for (ExprOp op : {ExprOp::ceil_div, ExprOp::floor_div, ExprOp::mod})
    EXPECT_THAT(failure(program(op, 3, 0)), HasSubstr("division by zero in"));
}

TEST(ExprTest, WorldIsTheNumberOfRanks) {
  const SizeExpr e = SizeExpr::world() * 128;
  EXPECT_EQ(*evaluateExpr(e.steps(), {}), 128);
  EXPECT_EQ(*evaluateExpr(e.steps(), {{}, 132, 8}), 1024);
  EXPECT_EQ(printExpr(e.steps(), {}), "world * 128");
}

TEST(ExprTest, RejectsWhatIsNotWellFormed) {
  const ExprStep one(ExprOp::constant, 1);
  const ExprStep add(ExprOp::add, 0);
  EXPECT_THAT(failure({}), HasSubstr("expression of 1 to 256 steps, got 0"));
  EXPECT_EQ(failure({one, add}), "expression step 1: add needs 2 values, got 1");
  EXPECT_EQ(failure({one, one}), "expected the expression to end with 1 value, got 2");
  EXPECT_EQ(failure({ExprStep(static_cast<ExprOp>(12), 0)}),
            "expression step 0: unknown operation 12");
  const int64_t sizes[] = {5};
  EXPECT_EQ(failure({ExprStep(ExprOp::symbol, 1)}, sizes),
            "expression step 0: expected a symbol below 1, got 1");
  EXPECT_THAT(failure({ExprStep(ExprOp::symbol, -1)}, sizes), HasSubstr("got -1"));
  EXPECT_THAT(failure(std::vector<ExprStep>(257, one)), HasSubstr("got 257"));
}

TEST(ExprTest, BoundsTheStack) {
  const ExprStep one(ExprOp::constant, 1);
  const auto deep = [&](size_t depth) {
    std::vector<ExprStep> steps(depth, one);
    steps.insert(steps.end(), depth - 1, ExprStep(ExprOp::add, 0));
    return steps;
  };
  EXPECT_EQ(*evaluateExpr(deep(maxExprStack), {}), static_cast<int64_t>(maxExprStack));
  EXPECT_THAT(failure(deep(maxExprStack + 1)), HasSubstr("at most 32 values on the stack"));
}

TEST(ExprTest, FoldsConstantsAndNeutralElements) {
  const SizeExpr m = SizeExpr::symbol(0);
  EXPECT_EQ((SizeExpr(6) * 7).constantValue(), 42);
  EXPECT_EQ(ceilDiv(100, 64).constantValue(), 2);
  EXPECT_EQ((m * 1).steps().size(), 1u);
  EXPECT_EQ((0 + m).steps().size(), 1u);
  EXPECT_EQ((m - 0).steps().size(), 1u);
  EXPECT_EQ(ceilDiv(m, 1).steps().size(), 1u);
  // Nothing is known about these.
  EXPECT_EQ((0 - m).steps().size(), 3u);
  EXPECT_EQ(mod(m, 1).steps().size(), 3u);
  EXPECT_EQ(ceilDiv(1, m).steps().size(), 3u);
  // Folding must not hide an error.
  EXPECT_FALSE(evaluateExpr((SizeExpr(highest) + 1).steps(), {}));
  EXPECT_FALSE(evaluateExpr(floorDiv(1, 0).steps(), {}));
}

TEST(ExprTest, PrintsAsPeopleWriteIt) {
  const SizeExpr m = SizeExpr::symbol(0), n = SizeExpr::symbol(1);
  const std::string names[] = {"M"};
  const auto text = [&](const SizeExpr &e) { return printExpr(e.steps(), names); };
  EXPECT_EQ(text(ceilDiv(m, 128)), "ceil_div(M, 128)");
  EXPECT_EQ(text((m + n) * 2), "(M + s1) * 2");
  EXPECT_EQ(text(m - (n - 3)), "M - (s1 - 3)");
  EXPECT_EQ(text(m - n - 3), "M - s1 - 3");
  EXPECT_EQ(text(m + n * 2), "M + s1 * 2");
  EXPECT_EQ(text(m * -2), "M * (-2)");
  EXPECT_EQ(text(min(m, SizeExpr::smCount())), "min(M, sm_count)");
  EXPECT_EQ(printExpr(std::vector<ExprStep>{ExprStep(ExprOp::add, 0)}, names), "<malformed>");
}

TEST(ExprTest, TakesDimensions) {
  EXPECT_EQ(SizeExpr::dim(Dim(64, -1)).constantValue(), 64);
  const int64_t sizes[] = {5, 9};
  EXPECT_EQ(*evaluateExpr(SizeExpr::dim(Dim(0, 1)).steps(), {sizes, 0}), 9);
}

} // namespace
