//===- Text.cpp - schedules as text ---------------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Internal.h"
#include <charconv>
#include <fmt/format.h>

namespace heddle::tuning {
using target::CopyEngine;

namespace {

/// A key whose value is a number.
struct NumberKey {
  std::string_view name;
  int64_t least, most;
  int64_t (*get)(const Schedule &);
  void (*set)(Schedule &, int64_t);
};

struct EngineName {
  std::string_view name;
  CopyEngine value;
};

struct StoreName {
  std::string_view name;
  StorePath value;
};

} // namespace

/// Large enough for every legal value, small enough for sums and products of them.
constexpr int64_t most = 65536;

template <auto Member>
static constexpr NumberKey number(std::string_view name, int64_t least, int64_t atMost = most) {
  return {name, least, atMost, [](const Schedule &s) { return static_cast<int64_t>(s.*Member); },
          [](Schedule &s, int64_t value) {
            s.*Member = static_cast<std::remove_reference_t<decltype(s.*Member)>>(value);
          }};
}

static constexpr NumberKey numbers[] = {
    number<&Schedule::tileM>("tile_m", 1),
    number<&Schedule::tileN>("tile_n", 1),
    number<&Schedule::tileK>("tile_k", 1),
    number<&Schedule::stages>("stages", 1),
    number<&Schedule::loadWarps>("load_warps", 0),
    number<&Schedule::mmaWarps>("mma_warps", 1),
    number<&Schedule::epilogueWarps>("epilogue_warps", 0),
    number<&Schedule::accStages>("acc_stages", 1),
    number<&Schedule::storeStages>("store_stages", 0),
    number<&Schedule::loadRegisters>("load_registers", 0),
    number<&Schedule::mmaRegisters>("mma_registers", 0),
    number<&Schedule::raster>("raster", 1),
    number<&Schedule::ctasPerSM>("ctas_per_sm", 1),
    number<&Schedule::clusterM>("cluster_m", 1),
    number<&Schedule::clusterN>("cluster_n", 1),
    number<&Schedule::splitK>("split_k", 1),
    number<&Schedule::swap>("swap", 0, 1),
    number<&Schedule::sms>("sms", 0),
    number<&Schedule::pdl>("pdl", 0, 1),
};
constexpr size_t tileKeys = 3; // of `numbers`; printed together as tile=
constexpr size_t rareKeys = 6; // the last of `numbers`; printed when not the default

static constexpr EngineName engines[] = {
    {"bulk", CopyEngine::Bulk}, {"async", CopyEngine::Async}, {"threads", CopyEngine::Threads}};
static constexpr StoreName stores[] = {{"direct", StorePath::Direct}, {"bulk", StorePath::Bulk}};

template <typename Names, typename Value>
static std::string_view nameOf(const Names &names, Value value) {
  for (const auto &entry : names)
    if (entry.value == value)
      return entry.name;
  return "?";
}

std::string toString(const Schedule &s) {
  std::string out = fmt::format("tile={}x{}x{}", s.tileM, s.tileN, s.tileK);
  const auto keys = std::span(numbers).subspan(tileKeys);
  for (const NumberKey &key : keys.first(keys.size() - rareKeys))
    out += fmt::format(",{}={}", key.name, key.get(s));
  for (const NumberKey &key : keys.last(rareKeys))
    if (key.get(s) != key.get(Schedule()))
      out += fmt::format(",{}={}", key.name, key.get(s));
  out += fmt::format(",copy={},store={}", nameOf(engines, s.copy), nameOf(stores, s.store));
  return out;
}

static std::string_view trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\n\r");
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(" \t\n\r") - first + 1);
}

static std::optional<int64_t> parseNumber(std::string_view text, int64_t least,
                                          int64_t atMost = most) {
  int64_t value = 0;
  auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size() || value < least || value > atMost)
    return std::nullopt;
  return value;
}

/// Found text as it may be shown: short, printable.
static std::string shown(std::string_view text) {
  std::string out;
  for (char c : text.substr(0, 40))
    out += c >= ' ' && c <= '~' ? c : '?';
  return "'" + out + (text.size() > 40 ? "...'" : "'");
}

static std::string knownKeys() {
  std::string list = "tile";
  for (const NumberKey &key : numbers)
    list += fmt::format(", {}", key.name);
  return list + ", copy, store";
}

/// Sets what `key` names; empty when done, else what was expected.
static std::string assign(Schedule &s, std::string_view key, std::string_view value) {
  if (key == "tile") {
    std::string_view rest = value;
    int64_t sizes[3];
    for (int i = 0; i < 3; ++i) {
      const size_t cross = i < 2 ? rest.find('x') : rest.size();
      const auto size =
          cross == std::string_view::npos ? std::nullopt : parseNumber(rest.substr(0, cross), 1);
      if (!size)
        return fmt::format("three numbers from 1 to {} as in 128x256x64", most);
      sizes[i] = *size;
      rest.remove_prefix(std::min(rest.size(), cross + 1));
    }
    s.tileM = sizes[0], s.tileN = sizes[1], s.tileK = sizes[2];
    return {};
  }
  for (const NumberKey &number : numbers)
    if (number.name == key) {
      const auto parsed = parseNumber(value, number.least, number.most);
      if (!parsed)
        return fmt::format("a number from {} to {}", number.least, number.most);
      number.set(s, *parsed);
      return {};
    }
  if (key == "copy") {
    for (const EngineName &engine : engines)
      if (engine.name == value)
        return s.copy = engine.value, std::string();
    return "bulk, async or threads";
  }
  for (const StoreName &store : stores)
    if (store.name == value)
      return s.store = store.value, std::string();
  return "direct or bulk";
}

static bool isKey(std::string_view key) {
  for (const NumberKey &number : numbers)
    if (number.name == key)
      return true;
  return key == "tile" || key == "copy" || key == "store";
}

std::optional<Schedule> parse(std::string_view text, const Schedule &base, std::string *error) {
  auto fail = [&](std::string message) -> std::optional<Schedule> {
    if (error)
      *error = std::move(message);
    return std::nullopt;
  };
  Schedule s = base;
  std::vector<std::string_view> seen;
  std::string_view rest = trim(text);
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string_view item = trim(rest.substr(0, comma));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos)
      return fail(fmt::format("expected key=value in the schedule, got {}", shown(item)));
    const std::string_view key = trim(item.substr(0, equals)),
                           value = trim(item.substr(equals + 1));
    if (!isKey(key))
      return fail(
          fmt::format("expected one of the schedule's keys {}, got {}", knownKeys(), shown(key)));
    for (std::string_view other : seen)
      if (other == key)
        return fail(fmt::format("expected schedule key '{}' once, got it twice", key));
    seen.push_back(key);
    if (std::string expected = assign(s, key, value); !expected.empty())
      return fail(
          fmt::format("expected schedule key '{}' to be {}, got {}", key, expected, shown(value)));
  }
  return s;
}

} // namespace heddle::tuning
