//===- Result.h - errors and values-or-errors -----------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How code that is free of LLVM reports failure: a function that can fail returns
// Expected<T> (or Expected<void>), which holds either the value or an Error. No
// exceptions. Messages are lower case, without a final period, and say what was
// expected and what was found. Values own their text; like any other value they
// may be used from one thread at a time.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_SUPPORT_RESULT_H
#define HEDDLE_SUPPORT_RESULT_H

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace heddle {

/// What kind of failure an Error is; the runtime maps these to its status codes.
enum class ErrorCode : uint8_t {
  InvalidArgument, ///< the caller passed something wrong
  NotFound,        ///< a name or file that does not exist
  Io,              ///< the operating system refused a read or write
  Damaged,         ///< a file that is truncated, corrupted or hostile
  Unsupported,     ///< well-formed, but not for this version or device
  OutOfRange,      ///< a number over a limit, overflow, division by zero
  OutOfMemory,
};

/// "invalid argument", "not found", ...
constexpr std::string_view errorCodeName(ErrorCode code) {
  constexpr std::string_view names[] = {"invalid argument", "not found",   "input/output error",
                                        "damaged data",     "unsupported", "out of range",
                                        "out of memory"};
  return names[static_cast<size_t>(code)];
}

struct [[nodiscard]] Error {
  ErrorCode code = ErrorCode::InvalidArgument;
  std::string message;

  /// The same error with `where: ` in front of its message.
  Error in(std::string_view where) && {
    message.insert(0, ": ").insert(0, where);
    return std::move(*this);
  }
};

/// A value or the Error that kept it from being made. Test it before use:
///   Expected<int64_t> n = evaluate(...);
///   if (!n) return n.takeError();
///   use(*n);
template <typename T> class [[nodiscard]] Expected {
public:
  Expected(T value) : state(std::in_place_index<0>, std::move(value)) {}
  Expected(Error error) : state(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state.index() == 0; }
  T &operator*() & { return get(); }
  const T &operator*() const & { return const_cast<Expected *>(this)->get(); }
  T &&operator*() && { return std::move(get()); }
  T *operator->() { return &get(); }
  const T *operator->() const { return &const_cast<Expected *>(this)->get(); }

  /// Only when it holds an error.
  const Error &error() const {
    assert(state.index() == 1 && "no error");
    return *std::get_if<1>(&state);
  }
  Error takeError() {
    assert(state.index() == 1 && "no error");
    return std::move(*std::get_if<1>(&state));
  }

private:
  T &get() {
    assert(state.index() == 0 && "value of a failed result");
    return *std::get_if<0>(&state);
  }
  std::variant<T, Error> state;
};

/// Success, or an Error. `return {};` is success.
template <> class [[nodiscard]] Expected<void> {
public:
  Expected() = default;
  Expected(Error error) : failure(std::move(error)) {}

  explicit operator bool() const { return !failure; }
  const Error &error() const {
    assert(failure && "no error");
    return *failure;
  }
  Error takeError() {
    assert(failure && "no error");
    return std::move(*failure);
  }

private:
  std::optional<Error> failure;
};

} // namespace heddle

#endif // HEDDLE_SUPPORT_RESULT_H
