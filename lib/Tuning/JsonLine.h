//===- JsonLine.h - one line of a JSON lines file -------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_LIB_TUNING_JSONLINE_H
#define HEDDLE_LIB_TUNING_JSONLINE_H

#include "heddle/Support/Result.h"
#include <functional>
#include <nlohmann/json.hpp>

namespace heddle::tuning {

/// An object and where it stands. The getters note the first thing that is wrong and then return
/// defaults, so that a reader asks once at the end.
class JsonLine {
public:
  JsonLine(nlohmann::json value, std::string where)
      : value(std::move(value)), place(std::move(where)) {}

  std::string text(const char *key, bool needed = true);
  int64_t integer(const char *key, int64_t least);
  double number(const char *key, bool needed = true);
  bool flag(const char *key);
  bool has(const char *key) const { return value.contains(key); }
  /// The object under `key`, located here.
  JsonLine object(const char *key);
  /// Notes a problem; the first stays.
  void fail(const std::string &problem);
  /// Takes over what an inner object found.
  void adopt(const JsonLine &inner);

  const nlohmann::json &json() const { return value; }
  const std::string &where() const { return place; }
  bool ok() const { return problem.empty(); }
  Error error() const { return Error{ErrorCode::InvalidArgument, place + ": error: " + problem}; }

private:
  const nlohmann::json *find(const char *key, bool needed);
  nlohmann::json value;
  std::string place, problem;
};

/// Calls `take` for each line that is not empty; stops at the first that is no JSON object or that
/// `take` found wrong, with an error that begins with file and line.
Expected<void> forEachLine(std::string_view text, const std::string &file,
                           const std::function<void(JsonLine &)> &take);

} // namespace heddle::tuning

#endif // HEDDLE_LIB_TUNING_JSONLINE_H
