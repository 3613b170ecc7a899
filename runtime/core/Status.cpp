//===- Status.cpp - status objects ----------------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Status.h"
#include <exception>
#include <new>

namespace heddle::rt {

static std::string placeOf(std::source_location where) {
  std::string_view file = where.file_name();
  if (size_t slash = file.find_last_of("/\\"); slash != std::string_view::npos)
    file.remove_prefix(slash + 1);
  return text(file, ':', where.line());
}

Status Status::error(heddle_code code, std::string message, std::source_location where) {
  Status status;
  status.object.reset(new heddle_status_object{code, std::move(message), placeOf(where), {}});
  return status;
}

Status Status::about(std::string_view argument) && {
  if (object && object->argument.empty())
    object->argument = argument;
  return std::move(*this);
}

Status Status::within(std::string_view context) && {
  if (object)
    object->message = text(context, ": ", object->message);
  return std::move(*this);
}

/// Returned when not even the error can be allocated; never freed.
static heddle_status_object hostMemoryError{HEDDLE_OUT_OF_MEMORY, "out of host memory", "", ""};

heddle_status statusOfCurrentException(std::source_location where) noexcept {
  try {
    try {
      throw;
    } catch (const std::bad_alloc &) {
      return &hostMemoryError;
    } catch (const std::exception &e) {
      return Status::error(HEDDLE_INTERNAL, text("unexpected exception: ", e.what()), where)
          .release();
    } catch (...) {
      return Status::error(HEDDLE_INTERNAL, "unexpected exception of unknown type", where)
          .release();
    }
  } catch (...) {
    return &hostMemoryError;
  }
}

} // namespace heddle::rt

using heddle::rt::hostMemoryError;

extern "C" {

heddle_code heddle_status_code(heddle_status status) { return status ? status->code : HEDDLE_OK; }
const char *heddle_status_message(heddle_status status) {
  return status ? status->message.c_str() : "";
}
const char *heddle_status_location(heddle_status status) {
  return status ? status->location.c_str() : "";
}
const char *heddle_status_argument(heddle_status status) {
  return status ? status->argument.c_str() : "";
}

void heddle_status_destroy(heddle_status status) {
  if (status != &hostMemoryError)
    delete status;
}

const char *heddle_code_name(heddle_code code) {
  static constexpr const char *names[] = {"ok",           "invalid argument", "shape mismatch",
                                          "misaligned",   "out of range",     "no variant",
                                          "no image",     "invalid package",  "not found",
                                          "unavailable",  "out of memory",    "io error",
                                          "device error", "device lost",      "internal error",
                                          "communication failed", "ranks differ"};
  size_t index = static_cast<size_t>(code);
  return index < sizeof(names) / sizeof(*names) ? names[index] : "unknown code";
}

const char *heddle_version(void) { return HEDDLE_VERSION; }
}
