//===- OpText.h - pieces of PTX text -----------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the texts of several op families share. For the files of this folder.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_PTX_IR_OPTEXT_H
#define HEDDLE_DIALECTS_PTX_IR_OPTEXT_H

#include <string>

namespace heddle::ptx {

/// A vector of operand references: "{$first, $first+1, ...}".
inline std::string operandList(unsigned first, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", $" : "$") + std::to_string(first + i);
  return text + "}";
}

} // namespace heddle::ptx

#endif // HEDDLE_DIALECTS_PTX_IR_OPTEXT_H
