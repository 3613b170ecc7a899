//===- Route.h - the experts of a token -----------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `heddle.route` computes for one token, in f32 and in the very order of the device's
// code (lib/Conversion/WarpToNVVM/Route.cpp), so that the choice is the same bit by bit.
// Thread-safe: no state.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_PACKAGE_ROUTE_H
#define HEDDLE_PACKAGE_ROUTE_H

#include <cstdint>
#include <span>

namespace heddle::pkg {

namespace route {
/// exp(x) = 2^n * p(r), n = rint(x * log2 e), r = x - n * ln 2 in two steps; p is the Taylor
/// polynomial, whose error at |r| <= ln 2 / 2 is below 2^-22 of the value.
inline constexpr float expLimit = 87, log2e = 0x1.715476p+0f;
inline constexpr float ln2High = 0x1.62e4p-1f, ln2Low = 0x1.7f7d1cp-20f;
inline constexpr float expTerms[] = {1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1, 1};
} // namespace route

struct RouteRule {
  uint32_t top = 1, groups = 1, keep = 1;
  bool sigmoid = false; ///< else softmax
  bool normalise = false;
  float scale = 1;
};

/// Chooses rule.top experts of scores.size(). `bias` is empty or as long; `ids` and `weights`
/// have room for rule.top. The rule fits: groups divides the experts, keep groups hold top.
void routeRow(const RouteRule &rule, std::span<const float> scores, std::span<const float> bias,
              std::span<int32_t> ids, std::span<float> weights);

} // namespace heddle::pkg

#endif // HEDDLE_PACKAGE_ROUTE_H
