//===- Ptx.cpp - small changes to compiled PTX ---------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Ptx.h"

#include <algorithm>
#include <sstream>

namespace heddle::mutants {

static constexpr std::string_view beginAsm = "// begin inline asm", endAsm = "// end inline asm";
static constexpr size_t none = std::string::npos;

Ptx::Ptx(std::string_view text, const std::string &entry) {
  std::istringstream stream{std::string(text)};
  bool inside = false;
  for (std::string line; std::getline(stream, line);) {
    if (line.find(".entry ") != none) {
      inside = line.find(".entry " + entry + "(") != none;
      if (inside)
        begin = lines.size();
    }
    lines.push_back(line);
    if (inside)
      end = lines.size();
  }
  if (end == 0)
    fail("expected an entry '" + entry + "'");
}

std::string Ptx::text() const {
  std::string out;
  for (const std::string &line : lines)
    out += line + "\n";
  return out;
}

void Ptx::fail(std::string message) {
  if (failure.empty())
    failure = std::move(message);
}

std::vector<size_t> Ptx::find(std::string_view what, int which) {
  std::vector<size_t> found;
  for (size_t n = begin; n < end; ++n)
    if (lines[n].find(what) != none)
      found.push_back(n);
  if (which == last && !found.empty())
    return {found.back()};
  if (which >= 0 && size_t(which) < found.size())
    return {found[size_t(which)]};
  if (which != all || found.empty()) {
    fail("expected line " + std::to_string(which) + " with '" + std::string(what) + "', found " +
         std::to_string(found.size()) + " such lines");
    return {};
  }
  return found;
}

void Ptx::remove(std::string_view what, int which) {
  for (size_t n : find(what, which))
    lines[n].clear();
}

void Ptx::replace(std::string_view what, std::string_view with, int which) {
  for (size_t n : find(what, which))
    lines[n].replace(lines[n].find(what), what.size(), with);
}

void Ptx::insert(std::string_view what, std::string_view line, int which) {
  for (size_t n : find(what, which))
    lines[n] = std::string(line) + "\n" + lines[n];
}

void Ptx::moveAhead(std::string_view what, std::string_view before, int which) {
  auto from = find(what, last), to = find(before, which);
  if (from.empty() || to.empty())
    return;
  lines[to[0]] = lines[from[0]] + "\n" + lines[to[0]];
  lines[from[0]].clear();
}

void Ptx::setLast(std::string_view what, std::string_view operand, int which) {
  for (size_t n : find(what, which)) {
    size_t comma = lines[n].rfind(',');
    lines[n].replace(comma, std::string::npos, ", " + std::string(operand) + ";");
  }
}

void Ptx::shift(std::string_view what, int bytes, int which) {
  for (size_t n : find(what, which)) {
    size_t end = lines[n].find(']', lines[n].find('['));
    lines[n].insert(end, "+" + std::to_string(bytes));
  }
}

void Ptx::swapCoordinates(std::string_view what, int which) {
  for (size_t n : find(what, which)) {
    size_t open = lines[n].find('{'), comma = lines[n].find(',', open), close = lines[n].find('}');
    std::string x = lines[n].substr(open + 1, comma - open - 1),
                y = lines[n].substr(comma + 1, close - comma - 1);
    lines[n].replace(open + 1, close - open - 1, y + ", " + x);
  }
}

void Ptx::removeNext(std::string_view what, std::string_view anchor, int which, bool after) {
  size_t n = closest(anchor, which, after, {what});
  if (n != none)
    lines[n].clear();
}

void Ptx::increase(std::string_view what, std::string_view anchor, int which, bool after) {
  size_t n = closest(anchor, which, after, {what});
  if (n == none)
    return;
  size_t comma = lines[n].rfind(',');
  lines[n].replace(comma, std::string::npos,
                   ", " + std::to_string(std::stoi(lines[n].substr(comma + 1)) + 1) + ";");
}

size_t Ptx::closest(std::string_view anchor, int which, bool after,
                    std::vector<std::string_view> what) {
  auto at = find(anchor, which);
  if (at.empty())
    return none;
  auto holds = [&](size_t n) {
    return std::any_of(what.begin(), what.end(),
                       [&](std::string_view w) { return lines[n].find(w) != none; });
  };
  if (after) {
    for (size_t n = at[0] + 1; n < end; ++n)
      if (holds(n))
        return n;
  } else {
    for (size_t n = at[0]; n-- > begin;)
      if (holds(n))
        return n;
  }
  fail("found no '" + std::string(what[0]) + "' close to '" + std::string(anchor) + "'");
  return none;
}

std::pair<size_t, size_t> Ptx::around(size_t line) const {
  size_t first = line, stop = line;
  while (first > begin && lines[first].find(beginAsm) == none)
    --first;
  while (stop + 1 < end && lines[stop].find(endAsm) == none)
    ++stop;
  return {first, stop};
}

static const std::vector<std::string_view> waits = {"mbarrier.try_wait", "mbarrier.test_wait"};
static const std::vector<std::string_view> arrivals = {"mbarrier.arrive.shared"};

void Ptx::removeWait(std::string_view anchor, int which, bool after) {
  size_t wait = closest(anchor, which, after, waits);
  if (wait == none)
    return;
  auto [first, stop] = around(wait);
  for (size_t n = first; n <= stop; ++n)
    lines[n].clear();
}

void Ptx::lookOnce(std::string_view anchor, int which, bool after) {
  size_t wait = closest(anchor, which, after, waits);
  if (wait == none)
    return;
  auto [first, stop] = around(wait);
  for (size_t n = wait; n <= stop; ++n)
    if (lines[n].find("bra WAIT") != none || lines[n].find("bra POLL") != none)
      return lines[n].clear();
  fail("found no loop around the wait close to '" + std::string(anchor) + "'");
}

void Ptx::flipParity(std::string_view anchor, int which, bool after) {
  size_t wait = closest(anchor, which, after, waits);
  if (wait == none)
    return;
  std::string &line = lines[wait];
  size_t comma = line.rfind(',');
  std::string parity = line.substr(comma + 1, line.rfind(';') - comma - 1);
  line.replace(comma, std::string::npos, ", mutated;");
  auto first = around(wait).first;
  while (lines[first].find('{') == none)
    ++first;
  lines[first] += "\n.reg .b32 mutated;\nxor.b32 mutated, " + parity + ", 1;";
}

void Ptx::relaxWait(std::string_view anchor, int which, bool after) {
  size_t wait = closest(anchor, which, after, waits);
  if (wait == none)
    return;
  lines[wait].replace(lines[wait].find(".parity."), 8, ".parity.relaxed.cta.");
}

void Ptx::removeArrival(std::string_view anchor, int which, bool after) {
  size_t line = closest(anchor, which, after, arrivals);
  if (line != none)
    lines[line].clear();
}

void Ptx::relaxArrival(std::string_view anchor, int which, bool after) {
  size_t line = closest(anchor, which, after, arrivals);
  if (line != none)
    lines[line].replace(lines[line].find("arrive."), 7, "arrive.relaxed.cta.");
}

} // namespace heddle::mutants
