//===- Clock.cpp - sparse vector clocks ----------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/checks/Clock.h"

#include <algorithm>

namespace heddle::emulator::checks {

static bool before(const Known &k, uint64_t key) { return k.key < key; }

const Known *Clock::find(uint64_t key) const {
  auto it = std::lower_bound(known.begin(), known.end(), key, before);
  return it != known.end() && it->key == key ? &*it : nullptr;
}

bool Clock::knows(uint64_t key, uint64_t time, uint32_t lanes) const {
  const Known *k = find(key);
  return k && (k->base >= time || (lanes && (k->mask & lanes) == lanes && k->time >= time));
}

Known &Clock::at(uint64_t key) {
  auto it = std::lower_bound(known.begin(), known.end(), key, before);
  if (it == known.end() || it->key != key) {
    it = known.insert(it, Known{});
    it->key = key;
  }
  return *it;
}

static void settle(Known &k) {
  if (k.mask == ~0u)
    k.base = std::max(k.base, k.time);
  if (k.time <= k.base)
    k.mask = 0, k.time = 0;
}

void Clock::raise(uint64_t key, uint64_t base) {
  Known &k = at(key);
  k.base = std::max(k.base, base);
  settle(k);
}

void Clock::raiseLanes(uint64_t key, uint64_t time, uint32_t lanes) {
  Known &k = at(key);
  if (time <= k.base)
    return;
  // Lanes known up to different times count as known up to the later one: a finding
  // may be missed, none is made up.
  k.mask |= lanes;
  k.time = std::max(k.time, time);
  settle(k);
}

void Clock::join(const Clock &other) {
  if (this == &other || other.known.empty())
    return;
  if (known.empty()) {
    known = other.known;
    return;
  }
  // The usual case adds no component.
  size_t n = 0;
  bool inside = true;
  for (const Known &o : other.known) {
    while (n < known.size() && known[n].key < o.key)
      ++n;
    if (n == known.size() || known[n].key != o.key) {
      inside = false;
      break;
    }
  }
  auto merge = [](Known &k, const Known &o) {
    k.base = std::max(k.base, o.base);
    k.mask |= o.mask;
    k.time = std::max(k.time, o.time);
    settle(k);
  };
  if (inside) {
    n = 0;
    for (const Known &o : other.known) {
      while (known[n].key < o.key)
        ++n;
      merge(known[n], o);
    }
    return;
  }
  std::vector<Known> out;
  out.reserve(known.size() + other.known.size());
  auto a = known.begin();
  auto b = other.known.begin();
  while (a != known.end() || b != other.known.end()) {
    if (b == other.known.end() || (a != known.end() && a->key < b->key)) {
      out.push_back(*a++);
    } else if (a == known.end() || b->key < a->key) {
      out.push_back(*b++);
    } else {
      out.push_back(*a++);
      merge(out.back(), *b++);
    }
  }
  known = std::move(out);
}

void Clock::meet(const Clock &other) {
  std::vector<Known> out;
  for (const Known &k : known) {
    const Known *o = other.find(k.key);
    if (!o)
      continue;
    Known both;
    both.key = k.key;
    both.base = std::min(k.base, o->base);
    both.time = std::min(std::max(k.base, k.time), std::max(o->base, o->time));
    both.mask = (both.time <= k.base ? ~0u : k.mask) & (both.time <= o->base ? ~0u : o->mask);
    settle(both);
    out.push_back(both);
  }
  known = std::move(out);
}

void Clock::forget(uint64_t ctaId) {
  std::erase_if(known, [&](const Known &k) { return k.key >> 24 == ctaId; });
}

} // namespace heddle::emulator::checks
