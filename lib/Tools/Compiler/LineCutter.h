//===- LineCutter.h - no endless lines in messages -------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Diagnostics may hold whole ops and types, and show the line of the input they are
// about; both can be as long as the program that wrote them liked.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_LIB_TOOLS_COMPILER_LINECUTTER_H
#define HEDDLE_LIB_TOOLS_COMPILER_LINECUTTER_H

#include "llvm/Support/raw_ostream.h"

namespace heddle::tools {

/// Passes on what it gets, with each line cut after `mostColumns` bytes and "..." in place of the
/// rest. Escape sequences (colours) pass and do not count. Unbuffered; the target outlives it.
class LineCutter final : public llvm::raw_ostream {
public:
  static constexpr size_t mostColumns = 400;

  explicit LineCutter(llvm::raw_ostream &target)
      : llvm::raw_ostream(/*unbuffered=*/true), target(target) {
    enable_colors(target.colors_enabled());
  }
  bool is_displayed() const override { return target.is_displayed(); }
  bool has_colors() const override { return target.has_colors(); }

private:
  void write_impl(const char *data, size_t size) override;
  uint64_t current_pos() const override { return written; }

  llvm::raw_ostream &target;
  size_t column = 0;
  uint64_t written = 0;
  bool inEscape = false;
};

} // namespace heddle::tools

#endif // HEDDLE_LIB_TOOLS_COMPILER_LINECUTTER_H
