//===- RouteTest.cpp - the experts of a token -----------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "heddle/Package/Route.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

using namespace heddle::pkg;
using testing::ElementsAre;
using testing::FloatNear;
using testing::Pointwise;

namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinite = std::numeric_limits<float>::infinity();

struct Choice {
  std::vector<int32_t> ids;
  std::vector<float> weights;
};

Choice route(const RouteRule &rule, const std::vector<float> &scores,
             const std::vector<float> &bias = {}) {
  Choice c{std::vector<int32_t>(rule.top), std::vector<float>(rule.top)};
  routeRow(rule, scores, bias, c.ids, c.weights);
  return c;
}

/// The definition, by sorting, in double.
Choice sorted(const RouteRule &rule, const std::vector<float> &scores,
              const std::vector<float> &bias) {
  const size_t n = scores.size(), size = n / rule.groups;
  std::vector<double> gated(n), by(n);
  double sum = 0;
  for (float s : scores)
    sum += std::exp(double(s));
  for (size_t i = 0; i < n; ++i) {
    gated[i] =
        rule.sigmoid ? 1 / (1 + std::exp(-double(scores[i]))) : std::exp(double(scores[i])) / sum;
    by[i] = gated[i] + (bias.empty() ? 0.0 : double(bias[i]));
  }
  std::vector<size_t> groups(rule.groups);
  std::iota(groups.begin(), groups.end(), size_t(0));
  auto score = [&](size_t g) {
    std::vector<double> part(by.begin() + long(g * size), by.begin() + long((g + 1) * size));
    std::sort(part.rbegin(), part.rend());
    return part[0] + part[1];
  };
  if (rule.groups > 1)
    std::stable_sort(groups.begin(), groups.end(),
                     [&](size_t a, size_t b) { return score(a) > score(b); });
  std::vector<int32_t> experts;
  for (size_t i = 0; i < rule.keep; ++i)
    for (size_t e = 0; e < size; ++e)
      experts.push_back(int32_t(groups[i] * size + e));
  std::sort(experts.begin(), experts.end());
  std::stable_sort(experts.begin(), experts.end(),
                   [&](int32_t a, int32_t b) { return by[size_t(a)] > by[size_t(b)]; });
  Choice c;
  double chosen = 0;
  for (size_t i = 0; i < rule.top; ++i)
    chosen += gated[size_t(experts[i])];
  for (size_t i = 0; i < rule.top; ++i) {
    c.ids.push_back(experts[i]);
    c.weights.push_back(
        float(gated[size_t(experts[i])] / (rule.normalise ? chosen : 1) * double(rule.scale)));
  }
  return c;
}

TEST(RouteTest, IsTheDefinition) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal(0, 2);
  for (int turn = 0; turn < 200; ++turn) {
    RouteRule rule;
    const uint32_t size = 2 + random() % 20;
    rule.groups = 1 + random() % 8;
    rule.keep = 1 + random() % rule.groups;
    rule.top = 1 + random() % std::min(32u, rule.keep * size);
    rule.sigmoid = random() % 2;
    rule.normalise = random() % 2;
    rule.scale = random() % 2 ? 1 : 2.5f;
    std::vector<float> scores(rule.groups * size), bias(random() % 2 ? scores.size() : 0);
    std::generate(scores.begin(), scores.end(), [&] { return normal(random); });
    std::generate(bias.begin(), bias.end(), [&] { return 0.1f * normal(random); });
    const Choice got = route(rule, scores, bias), expected = sorted(rule, scores, bias);
    ASSERT_EQ(got.ids, expected.ids) << "turn " << turn;
    ASSERT_THAT(got.weights, Pointwise(FloatNear(2e-6f), expected.weights)) << "turn " << turn;
  }
}

TEST(RouteTest, LowestNumberWinsTies) {
  RouteRule rule{.top = 4};
  EXPECT_THAT(route(rule, {1, 2, 1, 2, 2, 1}).ids, ElementsAre(1, 3, 4, 0));
  rule = {.top = 3, .groups = 3, .keep = 2};
  EXPECT_THAT(route(rule, {0, 0, 0, 0, 0, 0}).ids, ElementsAre(0, 1, 2));
  rule = {.top = 2};
  EXPECT_THAT(route(rule, {-0.0f, 0.0f, -1}).ids, ElementsAre(0, 1));
}

TEST(RouteTest, ScoresThatAreNoNumbersComeLast) {
  const RouteRule rule{.top = 3};
  EXPECT_THAT(route(rule, {nan, -5, nan, 3}).ids, ElementsAre(3, 1, 0));
  EXPECT_THAT(route(rule, {nan, nan, nan}).ids, ElementsAre(0, 1, 2));
  const Choice c = route(rule, {-infinite, infinite, 0, -infinite});
  EXPECT_THAT(c.ids, ElementsAre(1, 2, 0));
  for (float w : c.weights)
    EXPECT_TRUE(std::isfinite(w)) << w;
}

TEST(RouteTest, BiasChoosesButDoesNotWeigh) {
  const RouteRule rule{.top = 1, .sigmoid = true};
  const Choice c = route(rule, {4, 0, 2}, {0, 1, 0});
  EXPECT_THAT(c.ids, ElementsAre(1));
  EXPECT_FLOAT_EQ(c.weights[0], 0.5f);
}

TEST(RouteTest, AGroupCountsItsBestTwo) {
  // The best expert is alone in its group.
  const RouteRule rule{.top = 2, .groups = 2, .keep = 1, .sigmoid = true};
  EXPECT_THAT(route(rule, {5, -5, -5, 1, 1, 1}).ids, ElementsAre(3, 4));
}

TEST(RouteTest, NormalisedWeightsSumToTheScale) {
  RouteRule rule{.top = 8, .sigmoid = true, .normalise = true, .scale = 2.5f};
  std::vector<float> scores(64);
  std::iota(scores.begin(), scores.end(), -90.0f);
  const Choice c = route(rule, scores);
  EXPECT_NEAR(std::accumulate(c.weights.begin(), c.weights.end(), 0.0), 2.5, 1e-5);
}

} // namespace
