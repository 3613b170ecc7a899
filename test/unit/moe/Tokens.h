//===- Tokens.h - which token goes where, by definition ---------*- C++ -*-===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_MOE_TOKENS_H
#define HEDDLE_TEST_MOE_TOKENS_H

#include "Ranks.h"

#include <memory>

namespace heddle::moe {

enum class Pattern {
  Mixed,   ///< -1, duplicates, numbers too large, everything else
  Nowhere, ///< no token has an expert
  One,     ///< all tokens go to one expert, the last
  All,     ///< every token goes to as many ranks as it has ids
};

/// Tokens of `top` ids and `hidden` elements; each rank has `experts` experts.
struct Tokens {
  unsigned world = 2, experts = 1, top = 1;
  int64_t tokens = 0, hidden = 0;
  Pattern pattern = Pattern::Mixed;

  static int hash(unsigned launch, unsigned rank, int64_t i, unsigned salt) {
    uint64_t x = (uint64_t(i) + 1) * 0x9e3779b97f4a7c15ull + rank * 40503ull + launch * 977ull +
                 salt * 7919ull;
    x ^= x >> 29, x *= 0xbf58476d1ce4e5b9ull;
    return static_cast<int>(x >> 40 & 0xffff);
  }
  int id(unsigned launch, unsigned rank, int64_t token, unsigned j) const {
    const int all = int(world * experts), number = hash(launch, rank, token * 64 + j, 1);
    switch (pattern) {
    case Pattern::Nowhere:
      return j % 2 ? -1 : all;
    case Pattern::One:
      return all - 1;
    case Pattern::All:
      return int((j + unsigned(token)) % world * experts);
    case Pattern::Mixed:
      break;
    }
    return number % (all + 3) - 1; // -1 to all + 1
  }
  bool goes(unsigned launch, unsigned rank, int64_t token, unsigned to) const {
    for (unsigned j = 0; j < top; ++j)
      if (int e = id(launch, rank, token, j); e >= int(to * experts) && e < int((to + 1) * experts))
        return true;
    return false;
  }
  static int element(unsigned launch, unsigned rank, int64_t i) {
    return hash(launch, rank, i, 2) % 9 - 4;
  }
  static int weight(unsigned launch, unsigned rank, int64_t i) {
    return hash(launch, rank, i, 3) % 5 + 1;
  }

  /// A launch of a dispatch: x, ids, weights, rows, ids, weights.
  Job dispatch(Job job) const {
    const Tokens t = *this;
    job.world = world, job.tokens = tokens, job.hidden = hidden;
    job.input = [t](unsigned launch, unsigned rank, unsigned arg, int64_t i) {
      return arg == 0   ? element(launch, rank, i)
             : arg == 1 ? t.id(launch, rank, i / t.top, unsigned(i % t.top))
                        : weight(launch, rank, i);
    };
    job.output = [t](unsigned launch, unsigned rank, unsigned arg, int64_t i) -> Value {
      const int64_t columns = arg == 3 ? t.hidden : t.top, part = t.tokens * columns;
      const auto from = unsigned(i / part);
      const int64_t token = i % part / columns;
      if (arg == 4)
        return t.id(launch, from, token, unsigned(i % columns));
      if (arg == 5)
        return weight(launch, from, i % part);
      if (!t.goes(launch, from, token, rank))
        return std::nullopt;
      return element(launch, from, i % part);
    };
    return job;
  }
  /// A launch of a combine: rows, ids, sums. Rows that nobody asked for hold numbers too.
  Job combine(Job job) const {
    const Tokens t = *this;
    job.world = world, job.tokens = tokens, job.hidden = hidden;
    job.input = [t](unsigned launch, unsigned rank, unsigned arg, int64_t i) {
      return arg == 0 ? element(launch, rank, i)
                      : t.id(launch, rank, i / t.top, unsigned(i % t.top));
    };
    job.output = [t](unsigned launch, unsigned rank, unsigned, int64_t i) -> Value {
      int sum = 0;
      for (unsigned r = 0; r < t.world; ++r)
        if (t.goes(launch, rank, i / t.hidden, r))
          sum += element(launch, r, rank * t.tokens * t.hidden + i);
      return sum;
    };
    return job;
  }
  /// A launch of lists: ids of all ranks, offsets, list.
  Job lists(Job job) const {
    const Tokens t = *this;
    job.world = world, job.tokens = tokens;
    job.input = [t](unsigned launch, unsigned, unsigned, int64_t i) {
      const int64_t part = t.tokens * t.top;
      return t.id(launch, unsigned(i / part), i % part / t.top, unsigned(i % t.top));
    };
    // The places of an expert's ids, for all experts of the rank.
    auto placesOf = [t, input = job.input](unsigned launch, unsigned rank) {
      std::vector<std::vector<int>> places(t.experts);
      for (int64_t i = 0; i < t.world * t.tokens * t.top; ++i)
        if (int e = input(launch, rank, 0, i) - int(rank * t.experts); e >= 0 && e < int(t.experts))
          places[unsigned(e)].push_back(int(i));
      return places;
    };
    struct Known {
      int launch = -1;
      std::vector<int> offsets, list;
    };
    auto known = std::make_shared<std::vector<Known>>(world);
    job.output = [=](unsigned launch, unsigned rank, unsigned arg, int64_t i) -> Value {
      Known &k = (*known)[rank];
      if (k.launch != int(launch)) {
        k = {int(launch), {0}, {}};
        for (const std::vector<int> &places : placesOf(launch, rank)) {
          k.list.insert(k.list.end(), places.begin(), places.end());
          k.offsets.push_back(int(k.list.size()));
        }
      }
      const std::vector<int> &from = arg == 1 ? k.offsets : k.list;
      return i < int64_t(from.size()) ? Value(from[size_t(i)]) : std::nullopt;
    };
    return job;
  }
};

} // namespace heddle::moe

#endif // HEDDLE_TEST_MOE_TOKENS_H
