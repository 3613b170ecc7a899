//===- WorkspacesTest.cpp - scratch memory of kernels ---------------------- ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "core/Workspaces.h"
#include "FakeBackend.h"
#include <cstring>
#include <gtest/gtest.h>

using namespace heddle::rt;
using namespace heddle::rt::test;

static int streams[2];

// Launches in one stream share memory, those in another have their own.
TEST(Workspaces, oneAStream) {
  auto device = openFake(9, 0);
  {
    Workspaces workspaces(*device);
    void *first[2], *again[2], *other[2];
    ASSERT_TRUE(workspaces.get(&streams[0], 4096, 64, first[0], first[1]).ok());
    ASSERT_TRUE(workspaces.get(&streams[0], 1024, 64, again[0], again[1]).ok());
    ASSERT_TRUE(workspaces.get(&streams[1], 4096, 64, other[0], other[1]).ok());
    EXPECT_EQ(first[0], again[0]);
    EXPECT_EQ(first[1], again[1]);
    EXPECT_NE(first[0], other[0]);
    EXPECT_NE(first[1], other[1]);
    for (int i = 0; i < 64; ++i)
      EXPECT_EQ(static_cast<uint8_t *>(first[1])[i], 0);
    EXPECT_EQ(device->memory.size(), 4u);
  }
  EXPECT_TRUE(device->memory.empty());
}

// What was outgrown stays: a captured graph may use it.
TEST(Workspaces, growsAndKeeps) {
  auto device = openFake(9, 0);
  Workspaces workspaces(*device);
  void *small, *large, *counters;
  ASSERT_TRUE(workspaces.get(nullptr, 1000, 0, small, counters).ok());
  EXPECT_EQ(counters, nullptr);
  ASSERT_TRUE(workspaces.get(nullptr, 1001, 0, large, counters).ok());
  EXPECT_NE(small, large);
  void *same;
  ASSERT_TRUE(workspaces.get(nullptr, 2000, 0, same, counters).ok()); // doubled
  EXPECT_EQ(large, same);
  EXPECT_EQ(device->memory.size(), 2u);
}

TEST(Workspaces, saysWhatItCannotHave) {
  auto device = openFake(9, 0);
  device->capacity = 100;
  Workspaces workspaces(*device);
  void *workspace = nullptr, *counters = nullptr;
  Status status = workspaces.get(nullptr, 1000, 4, workspace, counters);
  EXPECT_EQ(status.code(), HEDDLE_OUT_OF_MEMORY);
  EXPECT_EQ(workspace, nullptr);
}
