//===- Groups.cpp - bounds of groups for one run --------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Groups.h"
#include <algorithm>
#include <charconv>
#include <cstring>

namespace heddle::run {

namespace {

Error usage(const std::string &message) {
  return Error{ErrorCode::InvalidArgument, "--groups: " + message};
}

/// A small generator: the same numbers on every machine.
class Numbers {
public:
  explicit Numbers(uint64_t seed) : state(seed * 0x9e3779b97f4a7c15ull + 1) {}
  /// From 0 to `most`.
  int64_t upTo(int64_t most) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return int64_t((state >> 11) % uint64_t(most + 1));
  }

private:
  uint64_t state;
};

std::optional<std::vector<int64_t>> parseList(std::string_view text) {
  std::vector<int64_t> values;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    int64_t value = 0;
    auto [stop, error] = std::from_chars(text.data() + begin, text.data() + end, value);
    if (error != std::errc() || stop != text.data() + end)
      return std::nullopt;
    values.push_back(value);
    begin = end + 1;
  }
  return values;
}

/// Rows of each group, by the name of a pattern.
class Pattern {
public:
  Pattern(const pkg::Groups &groups, int64_t limit, uint64_t seed)
      : count(groups.count()), limit(limit), masked(groups.kind() == pkg::GroupKind::masked),
        align(groups.align()), numbers(seed), rows(count, 0) {}

  Expected<std::vector<int64_t>> make(const std::string &text) {
    if (std::optional<std::vector<int64_t>> list = parseList(text)) {
      if (list->size() != count)
        return usage("expected rows of " + std::to_string(count) + " groups, got " +
                     std::to_string(list->size()) + " numbers");
      return *list;
    }
    if (text == "random")
      random();
    else if (text == "full")
      full();
    else if (text == "skew")
      skew();
    else if (text == "one")
      rows[count / 2] = std::min<int64_t>(limit, 1);
    else if (text == "all")
      rows[count / 2] = limit;
    else if (text.starts_with("around:"))
      return around(text.substr(7));
    else if (text != "empty")
      return usage("expected numbers joined by commas, or random, full, skew, one, all, empty, "
                   "around:<rows> or raw:<numbers>, got '" +
                   text + "'");
    return fitted();
  }

private:
  int64_t each() const { return masked ? limit : limit / int64_t(count); }
  void random() {
    for (int64_t &r : rows)
      r = numbers.upTo(4) == 0 ? 0 : numbers.upTo(masked ? limit : 2 * each());
  }
  void full() { std::fill(rows.begin(), rows.end(), each()); }
  /// Most in the first, a third of that in the second, then none or a few.
  void skew() {
    const int64_t most = masked ? limit : limit * 7 / 10;
    for (size_t g = 0; g < count; ++g)
      rows[g] = g == 0 ? most : g == 1 ? most / 3 : numbers.upTo(1) ? numbers.upTo(17) : 0;
  }
  Expected<std::vector<int64_t>> around(const std::string &text) {
    const auto list = parseList(text);
    if (!list || list->size() != 1 || list->front() < 1)
      return usage("expected a number of at least 1 after around:, got '" + text + "'");
    for (int64_t &r : rows) // 0.7 to 1.3 of it
      r = (list->front() * (700 + numbers.upTo(600)) + 500) / 1000;
    return fitted();
  }
  /// Cut off where there is no more room.
  std::vector<int64_t> fitted() {
    int64_t used = 0;
    for (int64_t &r : rows) {
      r = std::clamp<int64_t>(r, 0, masked ? limit : std::max<int64_t>(limit - used, 0));
      used += (r + align - 1) / align * align;
    }
    return rows;
  }

  size_t count;
  int64_t limit;
  bool masked;
  int64_t align;
  Numbers numbers;
  std::vector<int64_t> rows;
};

/// What the kernel is given for groups of so many rows.
std::vector<int64_t> numbersOf(const pkg::Groups &groups, const std::vector<int64_t> &rows) {
  if (groups.kind() != pkg::GroupKind::offsets)
    return rows;
  std::vector<int64_t> offsets{0};
  const int64_t align = groups.align();
  for (size_t g = 0; g < rows.size(); ++g) {
    int64_t end = offsets.back() + rows[g];
    // All but the last end where the next may start.
    if (g + 1 < rows.size())
      end = (end + align - 1) / align * align;
    offsets.push_back(end);
  }
  return offsets;
}

Expected<std::vector<int64_t>> chooseNumbers(const pkg::Groups &groups, int64_t limit,
                                             const Options &options) {
  if (options.groups.starts_with("raw:")) {
    auto list = parseList(std::string_view(options.groups).substr(4));
    if (!list || list->size() != pkg::groupNumbers(groups))
      return usage("expected " + std::to_string(pkg::groupNumbers(groups)) +
                   " numbers after raw:, got '" + options.groups.substr(4) + "'");
    return *list;
  }
  auto rows = Pattern(groups, limit, options.seed).make(options.groups);
  if (!rows)
    return rows.takeError();
  return numbersOf(groups, *rows);
}

} // namespace

Expected<void> fillGroups(Problem &problem, const Options &options, bool fromFile) {
  const pkg::Groups *groups = problem.kernel->groups();
  if (!groups) {
    if (options.groupsGiven)
      return usage("the kernel has no groups");
    return {};
  }
  TensorData &tensor = problem.tensors[groups->arg()];
  const pkg::ExprContext sizes{problem.symbols, 1};
  if (!fromFile) {
    auto limit = pkg::evaluateExpr(groups->limit(), sizes);
    if (!limit)
      return limit.takeError();
    auto numbers = chooseNumbers(*groups, *limit, options);
    if (!numbers)
      return numbers.takeError();
    for (size_t i = 0; i < numbers->size(); ++i) {
      const auto value = int32_t(std::clamp<int64_t>((*numbers)[i], INT32_MIN, INT32_MAX));
      std::memcpy(tensor.first() + int64_t(i) * tensor.strides[0] * 4, &value, 4);
    }
  }
  std::vector<int32_t> held(pkg::groupNumbers(*groups));
  for (size_t i = 0; i < held.size(); ++i)
    std::memcpy(&held[i], tensor.first() + int64_t(i) * tensor.strides[0] * 4, 4);
  auto bounds = pkg::groupBounds(*groups, held, sizes);
  if (!bounds)
    return bounds.takeError();
  problem.groups = std::move(*bounds);
  return {};
}

double usedOperations(const Problem &problem) {
  if (!problem.groups)
    return 1;
  const pkg::Groups &groups = *problem.kernel->groups();
  const double all = double(problem.groups->limit) *
                     (groups.kind() == pkg::GroupKind::masked ? double(groups.count()) : 1);
  return all > 0 ? double(problem.groups->rows()) / all : 0;
}

double usedBytes(const Problem &problem, size_t arg) {
  if (!problem.groups)
    return 1;
  const pkg::Groups &groups = *problem.kernel->groups();
  for (const pkg::GroupView *view : *groups.views()) {
    if (view->arg() != arg)
      continue;
    if (view->rows_dim() >= 0)
      return usedOperations(problem);
    if (groups.contracted())
      return 1; // the results of empty groups are written, too
    const auto &ranges = problem.groups->ranges;
    return double(std::count_if(ranges.begin(), ranges.end(),
                                [](const auto &range) { return range.size > 0; })) /
           double(ranges.size());
  }
  return 1;
}

} // namespace heddle::run
