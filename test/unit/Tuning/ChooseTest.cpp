//===- ChooseTest.cpp - tests of the model and its choices ----------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Common.h"
#include <algorithm>
#include <set>

using namespace heddle;
using namespace heddle::tuning;
using target::CopyEngine;
using target::DType;
using Aligned = GemmProblem::Aligned;

static GemmProblem problem(int64_t m, int64_t n, int64_t k) {
  GemmProblem p;
  p.m = m, p.n = n, p.k = k;
  return p;
}

static Candidate best(const GemmProblem &p, std::string_view chip) {
  const target::Chip &c = chipNamed(chip);
  Rejection error;
  auto chosen = choose(p, targetNamed(c.target), c, &error);
  EXPECT_TRUE(chosen) << error.name << ": " << error.detail;
  return chosen.value_or(Candidate{});
}

TEST(Choose, LargeSquareOnAnH200) {
  Candidate c = best(problem(8192, 8192, 8192), "H200");
  EXPECT_EQ(c.schedule.tileM, 128);
  EXPECT_EQ(c.schedule.tileN, 256);
  EXPECT_EQ(c.schedule.tileK, 64);
  EXPECT_EQ(c.schedule.loadWarps, 4);
  EXPECT_EQ(c.schedule.mmaWarps, 8);
  EXPECT_EQ(c.schedule.loadRegisters, 40);
  EXPECT_EQ(c.schedule.mmaRegisters, 232);
  EXPECT_EQ(c.schedule.copy, CopyEngine::Bulk);
  EXPECT_GE(c.schedule.stages, 3);
  EXPECT_NE(c.why.find("16 waves, 97 %"), std::string::npos) << c.why;
  EXPECT_NE(c.why.find("tensor cores"), std::string::npos) << c.why;
}

// 128x256 fills 73 % of the slots of 3 waves, 128x192 89 %, 128x176 97 %.
TEST(Choose, FillsTheSlotsOfTheLastWave) {
  Candidate c = best(problem(4096, 2112, 7168), "H200");
  EXPECT_EQ(c.schedule.tileN, 176);
  EXPECT_NE(c.why.find("3 waves, 97 %"), std::string::npos) << c.why;
}

// Predictions against the fastest library's time on an H200.
TEST(Choose, PredictsTheH200WithinAQuarter) {
  struct Measured {
    int64_t m, n, k;
    double microseconds;
  };
  for (Measured x : {Measured{4096, 7168, 2048, 153.5},
                     {4096, 2112, 7168, 152.9},
                     {4096, 24576, 1536, 394.6},
                     {4096, 7168, 16384, 1156},
                     {4096, 4096, 7168, 289.7},
                     {8192, 8192, 8192, 1366},
                     {4096, 576, 7168, 43.6},
                     {128, 7168, 2048, 13.0},
                     {128, 2112, 7168, 16.5}}) {
    double predicted = best(problem(x.m, x.n, x.k), "H200").microseconds;
    EXPECT_NEAR(predicted / x.microseconds, 1, 0.25) << x.m << "x" << x.n << "x" << x.k;
  }
}

// Few tiles and a long K: CTAs share tiles. Not where tiles fill the device, nor for unknown K.
TEST(Choose, SplitsKWhereTilesLeaveRoom) {
  for (int64_t m : {16, 64, 128})
    EXPECT_GT(best(problem(m, 2112, 7168), "H200").schedule.splitK, 1) << m;
  EXPECT_EQ(best(problem(4096, 7168, 2048), "H200").schedule.splitK, 1);
  EXPECT_EQ(best(problem(8192, 8192, 8192), "H200").schedule.splitK, 1);
  EXPECT_EQ(best(problem(64, 2112, 0), "H200").schedule.splitK, 1);
}

TEST(Choose, KeepsToTheMultiprocessorsGiven) {
  GemmProblem p = problem(4096, 4096, 4096);
  const double all = best(p, "H200").microseconds;
  p.sms = 33;
  const Candidate few = best(p, "H200");
  EXPECT_EQ(few.schedule.sms, 33);
  EXPECT_GT(few.microseconds, 3 * all);
}

TEST(Choose, SmallProblemsGetSmallTiles) {
  for (std::string_view chip : {"A100", "L40S", "H200", "B200", "B300", "RTX5090"}) {
    Schedule small = best(problem(256, 256, 256), chip).schedule;
    Schedule large = best(problem(8192, 8192, 8192), chip).schedule;
    EXPECT_LT(small.tileM * small.tileN, large.tileM * large.tileN) << chip;
  }
}

TEST(Choose, StagesDoNotExceedTheKSteps) {
  EXPECT_EQ(best(problem(256, 256, 192), "H200").schedule.stages, 3);
  EXPECT_EQ(best(problem(256, 256, 1), "H200").schedule.stages, 2);
}

TEST(Choose, UnknownSizesAreAssumed) {
  GemmProblem p = problem(0, 2112, 7168);
  EXPECT_EQ(best(p, "H200").schedule, best(problem(4096, 2112, 7168), "H200").schedule);
  p = problem(0, 0, 0);
  p.batch = 0;
  EXPECT_EQ(best(p, "H200").schedule, best(problem(4096, 4096, 4096), "H200").schedule);
}

TEST(Choose, UnalignedOperandsGoThroughThreads) {
  GemmProblem p = problem(1, 1, 1);
  p.loadAligned = p.storeAligned = Aligned::No;
  for (std::string_view chip : {"A100", "L40S", "H200", "B200", "B300", "RTX5090"}) {
    Schedule s = best(p, chip).schedule;
    EXPECT_EQ(s.copy, CopyEngine::Threads) << chip;
    EXPECT_EQ(s.store, StorePath::Direct) << chip;
  }
}

TEST(Choose, TransposesWhereTensorCoresCannot) {
  GemmProblem p = problem(4096, 4096, 4096);
  p.a = p.b = DType::TF32, p.out = DType::F32;
  EXPECT_EQ(best(p, "H200").schedule.copy, CopyEngine::Bulk);
  p.bKMajor = false;
  EXPECT_EQ(best(p, "H200").schedule.copy, CopyEngine::Threads);
}

TEST(Choose, RolesOfEachGeneration) {
  GemmProblem p = problem(8192, 8192, 8192);
  Schedule b = best(p, "B200").schedule;
  EXPECT_EQ(b.tileM, 128);
  EXPECT_EQ(b.tileN, 256);
  EXPECT_EQ(b.epilogueWarps, 4);
  EXPECT_EQ(b.accStages, 2);
  EXPECT_EQ(best(p, "A100").schedule.copy, CopyEngine::Async);
  EXPECT_EQ(best(p, "L40S").schedule.copy, CopyEngine::Async);
  Schedule w = best(p, "RTX5090").schedule;
  EXPECT_EQ(w.copy, CopyEngine::Bulk);
  EXPECT_EQ(w.epilogueWarps, 0);
}

// The same target, another chip: the H20's tensor cores are slow, so that its time is
// bound by them whatever the memory does.
TEST(Choose, ChipsOfOneTargetDiffer) {
  GemmProblem p = problem(4096, 4096, 4096);
  EXPECT_GT(best(p, "H20").microseconds, 4 * best(p, "H200").microseconds);
  GemmProblem thin = problem(64, 7168, 2048);
  EXPECT_LT(best(thin, "H200").microseconds, best(thin, "H100").microseconds);
}

TEST(Choose, NarrowerChipsGetSchedulesThatFit) {
  const target::Chip &a10 = chipNamed("A10");
  Schedule s = best(problem(4096, 4096, 4096), "A10").schedule;
  EXPECT_LE(sharedBytes(s, problem(4096, 4096, 4096), targetNamed("sm_80")), a10.sharedPerBlock);
}

TEST(Choose, SaysWhyThereIsNone) {
  GemmProblem p = problem(512, 512, 512);
  p.a = p.b = DType::F8E5M2;
  Rejection error;
  EXPECT_FALSE(choose(p, targetNamed("sm_80"), chipNamed("A100"), &error));
  EXPECT_EQ(error.name, "type");
  EXPECT_NE(error.detail.find("f8E5M2"), std::string::npos);
  EXPECT_FALSE(choose(p, targetNamed("sm_90a"), chipNamed("B200"), &error));
  EXPECT_EQ(error.name, "chip");
  EXPECT_NE(error.detail.find("B200"), std::string::npos);
  EXPECT_FALSE(choose(p, targetNamed("sm_90a"), chipNamed("B200")));
}

TEST(Choose, DepthAndOrderDoNotChangeRegisters) {
  Schedule a, b;
  b.stages = a.stages + 1, b.storeStages = a.storeStages + 1, b.accStages = a.accStages + 1;
  b.raster = a.raster + 1;
  EXPECT_TRUE(sameRegisters(a, b));
  for (auto change :
       {+[](Schedule &s) { s.tileN *= 2; }, +[](Schedule &s) { s.mmaWarps = 4; },
        +[](Schedule &s) { s.ctasPerSM = 2; }, +[](Schedule &s) { s.mmaRegisters = 8; },
        +[](Schedule &s) { s.store = StorePath::Bulk; }}) {
    Schedule c = a;
    change(c);
    EXPECT_FALSE(sameRegisters(a, c)) << toString(c);
  }
}

TEST(Enumerate, IsSortedAndSaysWhatItRejected) {
  std::vector<std::pair<Schedule, Rejection>> out;
  auto all = enumerate(problem(8192, 8192, 8192), targetNamed("sm_90a"), chipNamed("H200"), &out);
  ASSERT_GT(all.size(), 10u);
  for (size_t i = 1; i < all.size(); ++i)
    EXPECT_LE(all[i - 1].microseconds, all[i].microseconds);
  std::set<std::string> names;
  for (const auto &[schedule, rejection] : out)
    names.insert(rejection.name);
  EXPECT_TRUE(names.count("store-path"));
  EXPECT_TRUE(names.count("accumulator-registers"));
}

// What the model depends on: more work never takes less time.
TEST(Enumerate, TimeGrowsWithTheProblem) {
  for (const target::Chip &c : target::allChips()) {
    double last = 0;
    for (int64_t size : {256, 1024, 4096, 16384}) {
      double now = best(problem(size, size, size), c.name).microseconds;
      EXPECT_GT(now, last) << c.name << " " << size;
      last = now;
    }
  }
}

// For every chip, type, layout, alignment and some sizes: each problem that the target
// can do has a schedule; each schedule is legal, fits and survives its text form; each
// rejection has a listed name.
TEST(Enumerate, EverythingIsConsistent) {
  const auto names = rejectionNames();
  const std::pair<DType, DType> types[] = {{DType::BF16, DType::BF16},
                                           {DType::F16, DType::F32},
                                           {DType::TF32, DType::F32},
                                           {DType::F32, DType::F32},
                                           {DType::F8E4M3, DType::BF16}};
  size_t problems = 0;
  for (const target::Chip &c : target::allChips()) {
    const target::Target &t = targetNamed(c.target);
    for (auto [in, result] : types)
      for (int layout = 0; layout < 4; ++layout)
        for (Aligned aligned : {Aligned::Yes, Aligned::AtLaunch, Aligned::No})
          for (int64_t size : {1, 300, 4096}) {
            GemmProblem p = problem(size, 7 * size, size);
            p.a = p.b = in, p.out = result;
            p.aKMajor = layout & 1, p.bKMajor = layout & 2;
            p.loadAligned = p.storeAligned = aligned;
            std::vector<std::pair<Schedule, Rejection>> out;
            auto all = enumerate(p, t, c, &out);
            EXPECT_EQ(all.empty(), !t.supports(in == DType::F32 ? DType::TF32 : in));
            for (const Candidate &x : all) {
              ASSERT_TRUE(legal(x.schedule, p, t)) << toString(x.schedule);
              SharedLayout l = sharedLayout(x.schedule, p);
              ASSERT_LE(l.total, t.sharedPerBlock);
              for (int64_t offset :
                   {l.aOffset, l.bOffset, l.aBytes, l.bBytes, l.stagingOffset, l.stagingBytes})
                ASSERT_EQ(offset % 1024, 0) << toString(x.schedule);
              ASSERT_GT(x.microseconds, 0);
              ASSERT_FALSE(x.why.empty());
              std::string error;
              ASSERT_EQ(parse(toString(x.schedule), Schedule(), &error), x.schedule) << error;
            }
            for (const auto &[schedule, rejection] : out) {
              ASSERT_NE(std::find(names.begin(), names.end(), rejection.name), names.end());
              ASSERT_FALSE(rejection.detail.empty());
            }
            ++problems;
          }
  }
  EXPECT_EQ(problems, target::allChips().size() * 5 * 4 * 3 * 3);
}

// A lone warpgroup waits for its product, adds it up and only then multiplies again; two take
// turns. 64x192 would fill more slots.
TEST(Choose, PromotionWantsTwoWarpgroups) {
  GemmProblem p = problem(4096, 2112, 7168);
  p.a = p.b = DType::F8E4M3;
  p.scaleRowsA = 1, p.scaleRowsB = 128;
  Candidate c = best(p, "H200");
  EXPECT_EQ(c.schedule.mmaWarps, 8) << c.why;
}
