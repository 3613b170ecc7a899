//===- HeapAllocatorTest.cpp - places in a symmetric heap -------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "comm/HeapAllocator.h"
#include <gtest/gtest.h>
#include <map>
#include <random>

using heddle::rt::HeapAllocator;

TEST(HeapAllocator, TakesTheLowestGapThatFits) {
  HeapAllocator heap(1024, 1024 + 4096);
  EXPECT_EQ(heap.take(1), 1024u);
  EXPECT_EQ(heap.take(257), 1280u);
  EXPECT_EQ(heap.take(256), 1792u);
  EXPECT_EQ(heap.bytesUsed(), 1024u);
  EXPECT_TRUE(heap.give(1280));
  EXPECT_EQ(heap.take(768), 2048u);
  EXPECT_EQ(heap.take(512), 1280u);
  EXPECT_FALSE(heap.take(4096));
  EXPECT_FALSE(heap.take(UINT64_MAX));
}

TEST(HeapAllocator, GivesBackOnlyWhatWasTaken) {
  HeapAllocator heap(0, 4096);
  EXPECT_FALSE(heap.give(0));
  EXPECT_EQ(heap.take(256), 0u);
  EXPECT_FALSE(heap.give(128));
  EXPECT_TRUE(heap.give(0));
  EXPECT_FALSE(heap.give(0));
  EXPECT_EQ(heap.largestGap(), 4096u);
}

TEST(HeapAllocator, GapsJoinInAnyOrder) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    HeapAllocator heap(256, 256 + 65536);
    std::map<uint64_t, uint64_t> live;
    for (int step = 0; step < 300; ++step) {
      if (random() % 2 || live.empty()) {
        const uint64_t bytes = 1 + random() % 5000;
        std::optional<uint64_t> at = heap.take(bytes);
        if (!at)
          continue;
        ASSERT_EQ(*at % 256, 0u);
        ASSERT_LE(*at + bytes, 256u + 65536);
        auto after = live.lower_bound(*at);
        ASSERT_TRUE(after == live.end() || *at + bytes <= after->first);
        ASSERT_TRUE(after == live.begin() || std::prev(after)->second <= *at);
        live.emplace(*at, *at + bytes);
      } else {
        auto it = std::next(live.begin(), long(random() % live.size()));
        ASSERT_TRUE(heap.give(it->first));
        live.erase(it);
      }
    }
    for (auto &[start, end] : live)
      ASSERT_TRUE(heap.give(start));
    ASSERT_EQ(heap.largestGap(), 65536u);
    ASSERT_EQ(heap.bytesUsed(), 0u);
  }
}
