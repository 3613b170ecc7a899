//===- TextTest.cpp - tests of the text form of schedules -----------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Common.h"
#include <limits>

using namespace heddle;
using namespace heddle::tuning;

static std::string errorOf(std::string_view text) {
  std::string error;
  EXPECT_FALSE(parse(text, hopperSchedule(), &error)) << text;
  EXPECT_FALSE(parse(text, hopperSchedule(), nullptr)) << text;
  return error;
}

TEST(Text, Prints) {
  EXPECT_EQ(toString(hopperSchedule()),
            "tile=128x256x64,stages=4,load_warps=4,mma_warps=8,epilogue_warps=0,acc_stages=1,"
            "store_stages=0,load_registers=40,mma_registers=232,raster=8,ctas_per_sm=1,copy=bulk,"
            "store=direct");
}

TEST(Text, RoundTripsEveryField) {
  Schedule s;
  s.tileM = 64, s.tileN = 96, s.tileK = 32, s.stages = 7, s.loadWarps = 3, s.mmaWarps = 5;
  s.epilogueWarps = 2, s.accStages = 9, s.storeStages = 6, s.loadRegisters = 24;
  s.mmaRegisters = 56, s.raster = 11, s.ctasPerSM = 13, s.copy = target::CopyEngine::Threads;
  s.store = StorePath::Bulk;
  std::string error;
  EXPECT_EQ(parse(toString(s), Schedule(), &error), s) << error;
  s.copy = target::CopyEngine::Async;
  EXPECT_EQ(parse(toString(s), Schedule(), &error), s) << error;
}

TEST(Text, StartsFromTheBase) {
  std::string error;
  auto s = parse(" stages = 3 ,store=bulk, store_stages=4 ", hopperSchedule(), &error);
  ASSERT_TRUE(s) << error;
  Schedule expected = hopperSchedule();
  expected.stages = 3, expected.store = StorePath::Bulk, expected.storeStages = 4;
  EXPECT_EQ(*s, expected);
  EXPECT_EQ(parse("", hopperSchedule(), &error), hopperSchedule());
  EXPECT_EQ(parse("  ", hopperSchedule(), &error), hopperSchedule());
  EXPECT_EQ(parse("tile_m=64,tile_n=32", hopperSchedule(), &error)->tileN, 32);
}

// A record without clusters does not speak of them.
TEST(Text, ClustersAreWrittenWhereTheyAre) {
  Schedule s = hopperSchedule();
  EXPECT_EQ(toString(s).find("cluster"), std::string::npos);
  s.clusterM = 2;
  EXPECT_NE(toString(s).find(",cluster_m=2,"), std::string::npos) << toString(s);
  EXPECT_EQ(toString(s).find("cluster_n"), std::string::npos);
  std::string error;
  EXPECT_EQ(parse(toString(s), Schedule(), &error), s) << error;
}

// One error a key: it names the key, what was expected and what was found.
TEST(Text, RareKeysAreWrittenWhereTheyAreNotTheDefault) {
  Schedule s = hopperSchedule();
  EXPECT_EQ(toString(s).find("split_k"), std::string::npos);
  s.splitK = 4, s.swap = 1, s.sms = 20, s.pdl = 0;
  EXPECT_NE(toString(s).find(",split_k=4,swap=1,sms=20,pdl=0,"), std::string::npos) << toString(s);
  std::string error;
  EXPECT_EQ(parse(toString(s), Schedule(), &error), s) << error;
  EXPECT_NE(errorOf("swap=2").find("from 0 to 1, got '2'"), std::string::npos);
}

TEST(Text, ErrorsNameTheKey) {
  for (std::string key :
       {"tile_m", "tile_n", "tile_k", "stages", "load_warps", "mma_warps", "epilogue_warps",
        "acc_stages", "store_stages", "load_registers", "mma_registers", "raster", "ctas_per_sm",
        "cluster_m", "cluster_n"})
    for (std::string bad : {"x", "", "-1", "1.5", "4 4", "0x10", "65537", "99999999999999999999"}) {
      std::string error = errorOf(key + "=" + bad);
      EXPECT_NE(error.find("expected schedule key '" + key + "' to be a number from "),
                std::string::npos)
          << error;
      EXPECT_NE(error.find("got '" + bad + "'"), std::string::npos) << error;
    }
  EXPECT_EQ(errorOf("stages=0"),
            "expected schedule key 'stages' to be a number from 1 to 65536, got '0'");
  for (std::string bad :
       {"128", "128x256", "128x256x", "128x256x64x1", "x256x64", "0x1x1", "axbxc"})
    EXPECT_EQ(errorOf("tile=" + bad), "expected schedule key 'tile' to be three numbers from 1 to "
                                      "65536 as in 128x256x64, got '" +
                                          bad + "'");
  EXPECT_EQ(errorOf("copy=tma"),
            "expected schedule key 'copy' to be bulk, async or threads, got 'tma'");
  EXPECT_EQ(errorOf("store=fast"),
            "expected schedule key 'store' to be direct or bulk, got 'fast'");
}

TEST(Text, UnknownRepeatedAndMalformedKeys) {
  std::string error = errorOf("stage=3");
  EXPECT_NE(error.find("got 'stage'"), std::string::npos) << error;
  EXPECT_NE(error.find("load_registers"), std::string::npos) << error;
  EXPECT_EQ(errorOf("stages=3,stages=3"), "expected schedule key 'stages' once, got it twice");
  EXPECT_EQ(errorOf("stages"), "expected key=value in the schedule, got 'stages'");
  EXPECT_EQ(errorOf("stages=3,,raster=1"), "expected key=value in the schedule, got ''");
  EXPECT_NE(errorOf("=3").find("got ''"), std::string::npos);
  EXPECT_NE(errorOf("stages=\x01\xff").find("got '" + std::string(2, '?') + "'"),
            std::string::npos);
  EXPECT_LT(errorOf(std::string(100000, 'y') + "=1").size(), 400u);
}
