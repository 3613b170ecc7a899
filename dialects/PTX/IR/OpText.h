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

#include "llvm/ADT/StringSwitch.h"
#include <string>

namespace heddle::ptx {

/// A vector of operand references: "{$first, $first+1, ...}".
inline std::string operandList(unsigned first, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", $" : "$") + std::to_string(first + i);
  return text + "}";
}

/// K of one multiplication of operands of `type`, 32 bytes of it; 0 for other types.
inline unsigned instructionK(llvm::StringRef type) {
  return llvm::StringSwitch<unsigned>(type)
      .Cases({"bf16", "f16"}, 16)
      .Case("tf32", 8)
      .Cases({"e4m3", "e5m2"}, 32)
      .Default(0);
}

} // namespace heddle::ptx

#endif // HEDDLE_DIALECTS_PTX_IR_OPTEXT_H
