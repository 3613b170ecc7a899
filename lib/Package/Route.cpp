//===- Route.cpp - the experts of a token ---------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Repeats the device's arithmetic step by step: 32 lanes, each with every 32nd expert; sums
// over lanes by exchange with the lane 16, 8, 4, 2, 1 away. Nothing may be contracted.
//
//===----------------------------------------------------------------------===//
#include "heddle/Package/Route.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#pragma STDC FP_CONTRACT OFF

using namespace heddle;
using namespace heddle::pkg;

namespace {

constexpr size_t lanes = 32;
constexpr float infinity = std::numeric_limits<float>::infinity();

float number(float x) { return std::isnan(x) ? -infinity : x; }

float exponential(float x) {
  using namespace route;
  x = std::fmin(std::fmax(x, -expLimit), expLimit);
  const float n = std::rint(x * log2e);
  float r = std::fma(n, -ln2High, x);
  r = std::fma(n, -ln2Low, r);
  float p = expTerms[0];
  for (size_t i = 1; i < std::size(expTerms); ++i)
    p = std::fma(p, r, expTerms[i]);
  const auto exponent = static_cast<uint32_t>(static_cast<int32_t>(n)) << 23;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(p) + exponent);
}

float sumOfLanes(std::array<float, lanes> values) {
  for (size_t distance = lanes / 2; distance; distance /= 2) {
    const std::array<float, lanes> before = values;
    for (size_t lane = 0; lane < lanes; ++lane)
      values[lane] = before[lane] + before[lane ^ distance];
  }
  return values[0];
}

std::vector<float> gate(const RouteRule &rule, std::span<const float> scores) {
  std::vector<float> result(scores.size());
  if (rule.sigmoid) {
    for (size_t i = 0; i < scores.size(); ++i) {
      const float t = exponential(-scores[i]);
      result[i] = 1 / (t + 1);
    }
    return result;
  }
  float most = scores[0];
  for (float s : scores)
    most = std::fmax(most, s);
  std::array<float, lanes> sums{};
  for (size_t i = 0; i < scores.size(); ++i) {
    result[i] = exponential(scores[i] - most);
    sums[i % lanes] += result[i];
  }
  const float sum = sumOfLanes(sums);
  for (float &t : result)
    t /= sum;
  return result;
}

/// The best of those that `left` holds; of equal ones the first.
size_t best(const std::vector<float> &values, const std::vector<bool> &left) {
  size_t found = values.size();
  for (size_t i = 0; i < values.size(); ++i)
    if (left[i] && (found == values.size() || values[i] > values[found]))
      found = i;
  return found;
}

/// Leaves the experts of the groups that stay.
void keepGroups(const RouteRule &rule, const std::vector<float> &values, std::vector<bool> &left) {
  const size_t size = values.size() / rule.groups;
  std::vector<float> scores;
  for (size_t g = 0; g < rule.groups; ++g) {
    std::vector<float> group(values.begin() + static_cast<ptrdiff_t>(g * size),
                             values.begin() + static_cast<ptrdiff_t>((g + 1) * size));
    std::partial_sort(group.begin(), group.begin() + 2, group.end(), std::greater<>());
    scores.push_back(number(group[0] + group[1]));
  }
  std::vector<bool> groups(rule.groups, true);
  left.assign(values.size(), false);
  for (uint32_t i = 0; i < rule.keep; ++i) {
    const size_t group = best(scores, groups);
    groups[group] = false;
    for (size_t e = group * size; e < (group + 1) * size; ++e)
      left[e] = true;
  }
}

} // namespace

void pkg::routeRow(const RouteRule &rule, std::span<const float> scores,
                   std::span<const float> bias, std::span<int32_t> ids, std::span<float> weights) {
  std::vector<float> values(scores.size());
  std::transform(scores.begin(), scores.end(), values.begin(), number);
  const std::vector<float> gated = gate(rule, values);
  std::vector<float> grouped = gated;
  if (!bias.empty()) {
    for (size_t i = 0; i < scores.size(); ++i)
      values[i] = grouped[i] = number(gated[i] + bias[i]);
  }
  std::vector<bool> left(scores.size(), true);
  if (rule.groups > 1)
    keepGroups(rule, grouped, left);
  std::array<float, lanes> chosen{};
  for (uint32_t i = 0; i < rule.top; ++i) {
    const size_t expert = best(values, left);
    left[expert] = false;
    ids[i] = static_cast<int32_t>(expert);
    weights[i] = chosen[i] = gated[expert];
  }
  const float sum = std::fmax(sumOfLanes(chosen), std::numeric_limits<float>::min());
  for (uint32_t i = 0; i < rule.top; ++i) {
    if (rule.normalise)
      weights[i] /= sum;
    weights[i] *= rule.scale;
  }
}
