//===- Status.h - the status object inside the runtime --------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Status is success (no allocation) or owns an error with code, cause, the
// place in the runtime that found it and the kernel argument it is about.
// Move-only; not thread-safe; a value may move between threads.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_STATUS_H
#define HEDDLE_RUNTIME_CORE_STATUS_H

#include "heddle-rt/heddle.h"
#include <concepts>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>

/// What a heddle_status points to.
struct heddle_status_object {
  heddle_code code;
  std::string message, location, argument;
};

namespace heddle::rt {

class [[nodiscard]] Status {
public:
  Status() = default;
  bool ok() const { return !object; }
  explicit operator bool() const { return ok(); }
  heddle_code code() const { return object ? object->code : HEDDLE_OK; }
  std::string_view message() const { return object ? std::string_view(object->message) : ""; }
  std::string_view argument() const { return object ? std::string_view(object->argument) : ""; }
  std::string_view location() const { return object ? std::string_view(object->location) : ""; }
  /// Gives the error to the caller of the C interface; NULL for success.
  heddle_status release() { return object.release(); }
  /// Names the kernel argument the error is about.
  Status about(std::string_view argument) &&;
  /// Puts `context` and ": " before the message.
  Status within(std::string_view context) &&;

  static Status error(heddle_code code, std::string message,
                      std::source_location where = std::source_location::current());

private:
  std::unique_ptr<heddle_status_object> object;
};

/// Joins its arguments to one string; integers and strings.
inline void appendText(std::string &out, std::string_view text) { out += text; }
inline void appendText(std::string &out, char c) { out += c; }
template <std::integral T>
  requires(!std::same_as<T, char>)
void appendText(std::string &out, T value) {
  out += std::to_string(value);
}
template <typename... Parts> std::string text(const Parts &...parts) {
  std::string out;
  (appendText(out, parts), ...);
  return out;
}

/// Runs `body` (returning a Status) behind the C interface: an exception of the
/// standard library becomes a status.
heddle_status statusOfCurrentException(std::source_location where) noexcept;
template <typename Body>
heddle_status guarded(Body &&body,
                      std::source_location where = std::source_location::current()) noexcept {
  try {
    return body().release();
  } catch (...) {
    return statusOfCurrentException(where);
  }
}

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_STATUS_H
