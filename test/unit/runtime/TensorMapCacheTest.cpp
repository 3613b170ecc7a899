//===- TensorMapCacheTest.cpp - the tensor-map cache --------------------- ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "core/TensorMapCache.h"
#include "FakeBackend.h"
#include <cstring>
#include <gtest/gtest.h>

using namespace heddle::rt;
using namespace heddle::rt::test;

static TensorMapDesc descOf(uint64_t address) {
  TensorMapDesc desc;
  desc.address = address;
  desc.rank = 2;
  desc.dims = {64, 64};
  desc.strides = {128};
  desc.box = {64, 64};
  return desc;
}

static uint64_t addressIn(const TensorMapBytes &map) {
  uint64_t address;
  std::memcpy(&address, map.bytes.data(), sizeof(address));
  return address;
}

// A second request for the same values is answered without the device.
TEST(TensorMapCache, encodesOnce) {
  auto device = openFake(9, 0);
  TensorMapCache cache(4);
  TensorMapBytes map;
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(cache.get(*device, descOf(256), map).ok());
  EXPECT_EQ(device->encodes, 1);
  EXPECT_EQ(addressIn(map), 256u);
  EXPECT_EQ(cache.counters().hits, 2u);
}

// Any differing value makes another map.
TEST(TensorMapCache, everyFieldCounts) {
  auto device = openFake(9, 0);
  TensorMapCache cache(16);
  TensorMapBytes map;
  std::vector<TensorMapDesc> descs(8, descOf(256));
  descs[1].address = 512;
  descs[2].dims[1] = 65;
  descs[3].strides[0] = 144;
  descs[4].box[0] = 32;
  descs[5].swizzle = 3;
  descs[6].l2Promotion = 128;
  descs[7].dtype = 2;
  for (const TensorMapDesc &desc : descs)
    ASSERT_TRUE(cache.get(*device, desc, map).ok());
  EXPECT_EQ(device->encodes, 8);
}

// When full, the map used longest ago goes.
TEST(TensorMapCache, evictsTheOldest) {
  auto device = openFake(9, 0);
  TensorMapCache cache(2);
  TensorMapBytes map;
  auto get = [&](uint64_t address) {
    ASSERT_TRUE(cache.get(*device, descOf(address), map).ok());
    ASSERT_EQ(addressIn(map), address);
  };
  get(16);
  get(32);
  get(16); // 32 is the oldest now
  get(48); // takes its place
  EXPECT_EQ(device->encodes, 3);
  get(16);
  EXPECT_EQ(device->encodes, 3);
  get(32);
  EXPECT_EQ(device->encodes, 4);
  EXPECT_EQ(cache.counters().evictions, 2u);
}

// Long use with many collisions keeps the answers right and the size bounded.
TEST(TensorMapCache, staysRightUnderPressure) {
  auto device = openFake(9, 0);
  TensorMapCache cache(7);
  TensorMapBytes map;
  uint64_t state = 1;
  for (int i = 0; i < 20000; ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    uint64_t address = (state >> 40) % 23 * 16;
    ASSERT_TRUE(cache.get(*device, descOf(address), map).ok());
    ASSERT_EQ(addressIn(map), address);
  }
  auto counters = cache.counters();
  EXPECT_EQ(counters.hits + counters.misses, 20000u);
  EXPECT_EQ(counters.misses, counters.evictions + 7);
}
