//===- JsonLine.cpp - one line of a JSON lines file -----------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "JsonLine.h"
#include <cmath>

namespace heddle::tuning {

using Json = nlohmann::json;

void JsonLine::fail(const std::string &what) {
  if (problem.empty())
    problem = what;
}

void JsonLine::adopt(const JsonLine &inner) {
  if (!inner.ok())
    fail(inner.problem);
}

const Json *JsonLine::find(const char *key, bool needed) {
  if (auto at = value.find(key); at != value.end())
    return &*at;
  if (needed)
    fail(std::string("expected key '") + key + "', found none");
  return nullptr;
}

static std::string wrongType(const char *key, const char *expected, const Json &found) {
  std::string shown = found.dump(-1, ' ', true, Json::error_handler_t::replace);
  return std::string("expected key '") + key + "' to be " + expected + ", got " +
         (shown.size() > 40 ? shown.substr(0, 40) + "..." : shown);
}

std::string JsonLine::text(const char *key, bool needed) {
  const Json *found = find(key, needed);
  if (!found)
    return "";
  if (found->is_string())
    return found->get<std::string>();
  fail(wrongType(key, "a text", *found));
  return "";
}

int64_t JsonLine::integer(const char *key, int64_t least) {
  const Json *found = find(key, true);
  if (!found)
    return least;
  // Numbers over the range of int64_t are unsigned here.
  bool fits = found->is_number_integer() &&
              (!found->is_number_unsigned() || found->get<uint64_t>() <= uint64_t(INT64_MAX));
  if (fits && found->get<int64_t>() >= least)
    return found->get<int64_t>();
  fail(wrongType(key, ("an integer of at least " + std::to_string(least)).c_str(), *found));
  return least;
}

double JsonLine::number(const char *key, bool needed) {
  const Json *found = find(key, needed);
  if (!found)
    return 0;
  if (found->is_number() && std::isfinite(found->get<double>()) && found->get<double>() >= 0)
    return found->get<double>();
  fail(wrongType(key, "a number of at least 0", *found));
  return 0;
}

bool JsonLine::flag(const char *key) {
  const Json *found = find(key, true);
  if (!found)
    return false;
  if (found->is_boolean())
    return found->get<bool>();
  fail(wrongType(key, "true or false", *found));
  return false;
}

JsonLine JsonLine::object(const char *key) {
  const Json *found = find(key, true);
  if (found && found->is_object())
    return JsonLine(*found, place);
  if (found)
    fail(wrongType(key, "an object", *found));
  return JsonLine(Json::object(), place);
}

Expected<void> forEachLine(std::string_view text, const std::string &file,
                           const std::function<void(JsonLine &)> &take) {
  int number = 0;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    std::string where = file + ":" + std::to_string(++number);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos)
      continue;
    Json value;
    try {
      value = Json::parse(line);
    } catch (const Json::parse_error &error) {
      return Error{ErrorCode::InvalidArgument, where + ":" + std::to_string(error.byte) +
                                                   ": error: expected a JSON object, got "
                                                   "something that is no JSON from here on"};
    }
    if (!value.is_object())
      return Error{ErrorCode::InvalidArgument,
                   where + ":1: error: expected a JSON object, got " + value.type_name()};
    JsonLine object(std::move(value), where);
    take(object);
    if (!object.ok())
      return object.error();
  }
  return {};
}

} // namespace heddle::tuning
