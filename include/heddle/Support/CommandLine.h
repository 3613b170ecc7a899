//===- CommandLine.h - checks shared by the tools' command lines -----------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the command-line library lets through: it takes the argument after `--option=` for the
// option's value, and empty values like any other. Usually both come from a variable of a script
// that was not set. Free of everything but the standard library.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_SUPPORT_COMMANDLINE_H
#define HEDDLE_SUPPORT_COMMANDLINE_H

#include <optional>
#include <string>
#include <string_view>

namespace heddle {

/// What is wrong with the first argument that is empty or ends in `=` as an option;
/// nothing when there is none. `argv[0]`, the program, is not looked at.
inline std::optional<std::string> findEmptyArgument(int argc, const char *const *argv) {
  bool options = true; // until "--"
  for (int i = 1; i < argc; ++i) {
    std::string_view arg = argv[i], before = argv[i - 1];
    if (arg.empty())
      return options && i > 1 && before.starts_with('-')
                 ? std::string(before) + ": expected a value, got an empty text"
                 : "expected no empty arguments, got one at place " + std::to_string(i);
    if (options && arg.starts_with('-') && arg.find('=') == arg.size() - 1)
      return std::string(arg.substr(0, arg.size() - 1)) +
             ": expected a value after '=', got nothing";
    options &= arg != "--";
  }
  return std::nullopt;
}

} // namespace heddle

#endif // HEDDLE_SUPPORT_COMMANDLINE_H
