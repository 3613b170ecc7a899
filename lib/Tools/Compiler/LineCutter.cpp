//===- LineCutter.cpp - no endless lines in messages -----------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "LineCutter.h"
#include "llvm/ADT/StringExtras.h"

namespace heddle::tools {

void LineCutter::write_impl(const char *data, size_t size) {
  std::string kept;
  for (char c : llvm::StringRef(data, size)) {
    if (c == '\x1b' || inEscape) {
      inEscape = c == '\x1b' || !llvm::isAlpha(c);
      kept += c;
    } else if (c == '\n') {
      column = 0;
      kept += c;
    } else if (column < mostColumns) {
      ++column;
      kept += c;
    } else if (column == mostColumns) {
      ++column;
      kept += "...";
    }
  }
  written += size;
  target << kept;
}

} // namespace heddle::tools
