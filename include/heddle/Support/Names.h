//===- Names.h - names of kernels, arguments and sizes ---------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What may stand in messages, manifests, PTX and generated C. Free of everything but
// the standard library.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_SUPPORT_NAMES_H
#define HEDDLE_SUPPORT_NAMES_H

#include <algorithm>
#include <string_view>

namespace heddle {

/// Letters, digits and _, no digit first; in ASCII.
inline bool isIdentifier(std::string_view name) {
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && letter(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

/// Words of size expressions, where names of dimensions stand as well.
inline bool isReservedSize(std::string_view name) {
  constexpr std::string_view words[] = {"constant", "symbol",    "sm_count", "add", "sub", "mul",
                                        "ceil_div", "floor_div", "mod",      "min", "max"};
  return std::find(std::begin(words), std::end(words), name) != std::end(words);
}

} // namespace heddle

#endif // HEDDLE_SUPPORT_NAMES_H
