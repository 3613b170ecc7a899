//===- Ptx.h - small changes to compiled PTX --------------------*- C++ -*-===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Changes name instructions, never line numbers or registers, so that they go on
// meaning the same when the compiler changes. One that finds nothing to change says so.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_MUTANTS_PTX_H
#define HEDDLE_TEST_MUTANTS_PTX_H

#include <string>
#include <string_view>
#include <vector>

namespace heddle::mutants {

class Ptx {
public:
  /// Changes touch the entry `entry` only.
  Ptx(std::string_view text, const std::string &entry);
  std::string text() const;
  /// Why a change could not be made; empty when all were.
  const std::string &problem() const { return failure; }

  static constexpr int all = -1, last = -2;
  /// The lines that hold `what`: the `which`-th from 0, the last one, or all.
  void remove(std::string_view what, int which = all);
  void replace(std::string_view what, std::string_view with, int which = all);
  /// Puts `line` ahead of the lines that hold `what`.
  void insert(std::string_view what, std::string_view line, int which = all);
  /// Moves the last line with `what` ahead of the `which`-th line with `before`.
  /// The last operand of an instruction.
  void setLast(std::string_view what, std::string_view operand, int which = all);
  /// Adds to the first address in [...] without an offset.
  void shift(std::string_view what, int bytes, int which = all);
  /// Exchanges the two coordinates of a tensor copy.
  void swapCoordinates(std::string_view what, int which = all);
  /// Lines that hold `what`.
  int count(std::string_view what) { return int(find(what, all).size()); }
  /// Removes the line with `what` closest to the anchor.
  void removeNext(std::string_view what, std::string_view anchor, int which = 0, bool after = true);
  /// Adds one to the constant at the end of the `what` closest to the anchor.
  void increase(std::string_view what, std::string_view anchor, int which, bool after);
  void moveAhead(std::string_view what, std::string_view before, int which);

  // Waits for an mbarrier: the closest loop of waits ahead of (or, with `after`, behind) the
  // `which`-th line that holds `anchor`.
  void removeWait(std::string_view anchor, int which = 0, bool after = false);
  void lookOnce(std::string_view anchor, int which = 0, bool after = false);
  void flipParity(std::string_view anchor, int which = 0, bool after = false);
  void relaxWait(std::string_view anchor, int which = 0, bool after = false);
  /// Removes the arrival that stands closest ahead of or behind the anchor, or changes its text.
  void removeArrival(std::string_view anchor, int which = 0, bool after = true);
  void relaxArrival(std::string_view anchor, int which = 0, bool after = true);

private:
  std::vector<size_t> find(std::string_view what, int which);
  /// The line closest to the anchor that holds one of `what`; npos after a failure.
  size_t closest(std::string_view anchor, int which, bool after,
                 std::vector<std::string_view> what);
  /// First and last line of the inline assembly around `line`.
  std::pair<size_t, size_t> around(size_t line) const;
  void fail(std::string message);

  std::vector<std::string> lines;
  size_t begin = 0, end = 0; ///< of the entry
  std::string failure;
};

} // namespace heddle::mutants

#endif // HEDDLE_TEST_MUTANTS_PTX_H
