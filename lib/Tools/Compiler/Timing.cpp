//===- Timing.cpp - how long each step takes -------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Timing.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace heddle::tools {

std::string Timing::report() const {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  std::lock_guard lock(mutex);
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto line = [&](const std::string &name, Clock::duration time) {
    stream << llvm::format("  %-12s %8.1f ms\n", name.c_str(), Milliseconds(time).count());
  };
  stream << "timing, summed over kernels and targets\n";
  for (const auto &[name, time] : sums)
    line(name, time);
  line("wall", Clock::now() - start);
  for (const std::string &note : notes)
    stream << "  " << note << "\n";
  return text;
}

} // namespace heddle::tools
