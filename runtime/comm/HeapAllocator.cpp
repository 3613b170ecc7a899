//===- HeapAllocator.cpp - places in a symmetric heap -----------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HeapAllocator.h"
#include <algorithm>

namespace heddle::rt {

std::optional<uint64_t> HeapAllocator::take(uint64_t bytes) {
  if (bytes > UINT64_MAX - alignment)
    return std::nullopt;
  const uint64_t size = (bytes + alignment - 1) / alignment * alignment;
  for (auto gap = free_.begin(); gap != free_.end(); ++gap) {
    const auto [start, end] = *gap;
    if (end - start < size)
      continue;
    free_.erase(gap);
    if (start + size < end)
      free_.emplace(start + size, end);
    taken.emplace(start, start + size);
    used += size;
    return start;
  }
  return std::nullopt;
}

bool HeapAllocator::give(uint64_t start) {
  auto place = taken.find(start);
  if (place == taken.end())
    return false;
  uint64_t end = place->second;
  used -= end - start;
  taken.erase(place);
  // Joins the gaps on both sides.
  auto after = free_.lower_bound(start);
  if (after != free_.end() && after->first == end) {
    end = after->second;
    after = free_.erase(after);
  }
  if (after != free_.begin()) {
    auto before = std::prev(after);
    if (before->second == start) {
      before->second = end;
      return true;
    }
  }
  free_.emplace(start, end);
  return true;
}

uint64_t HeapAllocator::largestGap() const {
  uint64_t largest = 0;
  for (const auto &[start, end] : free_)
    largest = std::max(largest, end - start);
  return largest;
}

} // namespace heddle::rt
