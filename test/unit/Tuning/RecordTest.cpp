//===- RecordTest.cpp - tests of plans, results and records ---------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "heddle/Tuning/Record.h"
#include "Common.h"

using namespace heddle;
using namespace heddle::tuning;

static Record hopperRecord(int64_t m, double microseconds) {
  Record r;
  r.chip = "H200", r.problem = square(4096), r.problem.m = m, r.schedule = hopperSchedule();
  r.microseconds = microseconds, r.spread = 0.01, r.date = "2026-11-30";
  return r;
}

static std::string errorOf(const std::string &text) {
  auto records = parseRecords(text, "t.jsonl");
  return records ? "no error" : records.error().message;
}

/// A good line with one part exchanged.
static std::string lineWith(const std::string &part, const std::string &other) {
  std::string line = toJson(hopperRecord(4096, 100));
  size_t at = line.find(part);
  EXPECT_NE(at, std::string::npos) << part << " in " << line;
  return at == std::string::npos ? line : line.replace(at, part.size(), other);
}

static const Record *find(const std::vector<Record> &records, const GemmProblem &p,
                          std::string_view chip = "H200") {
  return findRecord(records, "gemm", p, targetNamed("sm_90a"), chipNamed(chip));
}

TEST(Record, RoundTrips) {
  Record r = hopperRecord(100, 12.5);
  r.problem.aKMajor = false, r.problem.out = target::DType::F32, r.problem.epilogueReadBytes = 2;
  r.problem.scaleRowsA = 1, r.problem.scaleRowsB = 128;
  r.model = blackwellSchedule(), r.modelMicroseconds = 13;
  auto again = parseRecords("\n" + toJson(r) + "\n", "t.jsonl");
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_EQ(again->size(), 1u);
  const Record &back = (*again)[0];
  EXPECT_TRUE(sameProblem(r, back));
  EXPECT_EQ(back.schedule, r.schedule);
  EXPECT_EQ(back.model, r.model);
  EXPECT_EQ(back.microseconds, 12.5);
  EXPECT_EQ(back.modelMicroseconds, 13);
  EXPECT_EQ(back.date, "2026-11-30");
  EXPECT_EQ(back.where, "t.jsonl:2");
}

TEST(Record, ErrorsAreLocated) {
  std::string good = toJson(hopperRecord(4096, 100)) + "\n";
  EXPECT_EQ(errorOf(good + "{\"kind\": oops}\n"),
            "t.jsonl:2:10: error: expected a JSON object, got something that is no JSON from here "
            "on");
  EXPECT_EQ(errorOf(good + "\n[1]\n"), "t.jsonl:3:1: error: expected a JSON object, got array");
  EXPECT_EQ(errorOf("{}"), "t.jsonl:1: error: expected key 'kind', found none");
  EXPECT_EQ(errorOf(good + lineWith("\"us\":100.0", "\"us\":\"fast\"")),
            "t.jsonl:2: error: expected key 'us' to be a number of at least 0, got \"fast\"");
  EXPECT_EQ(errorOf(lineWith("\"us\":100.0", "\"us\":0")),
            "t.jsonl:1: error: expected key 'us' to be over 0, got 0");
  EXPECT_EQ(errorOf(lineWith("\"m\":4096", "\"m\":-1")),
            "t.jsonl:1: error: expected key 'm' to be an integer of at least 0, got -1");
  EXPECT_EQ(errorOf(lineWith("\"m\":4096", "\"m\":18446744073709551615")),
            "t.jsonl:1: error: expected key 'm' to be an integer of at least 0, got "
            "18446744073709551615");
  EXPECT_EQ(errorOf(lineWith("\"layout\":\"kk\"", "\"layout\":\"nt\"")),
            "t.jsonl:1: error: expected key 'layout' to be one of kk, kn, mk, mn, got 'nt'");
  EXPECT_NE(errorOf(lineWith("\"a\":\"bf16\"", "\"a\":\"f12\"")).find("got 'f12'"),
            std::string::npos);
  EXPECT_NE(errorOf(lineWith("\"chip\":\"H200\"", "\"chip\":\"H2\"")).find("got 'H2'"),
            std::string::npos);
  EXPECT_EQ(errorOf(lineWith("\"scale_rows_b\":0", "\"scale_rows_b\":64")),
            "t.jsonl:1: error: expected key 'scale_rows_b' to be 0, 1 or 128, got 64");
  EXPECT_NE(errorOf(lineWith("stages=4", "stages=four"))
                .find("t.jsonl:1: error: bad schedule under 'schedule': "),
            std::string::npos);
}

TEST(Record, PlansAndResultsRoundTrip) {
  Planned p;
  p.kernel = "g", p.chip = "H200", p.target = "sm_90a", p.package = "g.1.hdl";
  p.sizes = {{"M", 64}, {"A.stride0", 8}}, p.problem = square(64), p.schedule = hopperSchedule();
  p.predicted = 1.25, p.rank = 3;
  auto plan = parsePlan(toJson(p), "index.jsonl");
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(toJson((*plan)[0]), toJson(p));
  p.package = "../g.hdl";
  EXPECT_FALSE(parsePlan(toJson(p), "index.jsonl"));

  Measured m;
  m.package = "g.1.hdl", m.sizes = "M=64", m.device = "NVIDIA H200", m.outcome = Outcome::Hung;
  m.detail = "a \"quoted\" text\n", m.rounds = 7, m.launches = 20;
  auto results = parseResults(toJson(m), "results.jsonl");
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_EQ(toJson((*results)[0]), toJson(m));
  m.outcome = Outcome::Ok; // without a time
  EXPECT_FALSE(parseResults(toJson(m), "results.jsonl"));
}

TEST(Record, Sizes) {
  auto sizes = parseSizes("N=512,M=4096");
  ASSERT_TRUE(sizes);
  EXPECT_EQ(toString(*sizes), "M=4096,N=512");
  EXPECT_TRUE(parseSizes("")->empty());
  for (const char *bad : {"M", "M=", "=1", "M=0", "M=-3", "M=1x", "M=1,", ",M=1", "M=1,M=2"})
    EXPECT_FALSE(parseSizes(bad)) << bad;
}

TEST(Record, FindsTheNearestOfTheClass) {
  std::vector<Record> all = {hopperRecord(2049, 50), hopperRecord(4096, 100),
                             hopperRecord(3000, 70)};
  EXPECT_EQ(find(all, square(4096)), &all[1]);
  GemmProblem p = square(4096);
  p.m = 3100;
  EXPECT_EQ(find(all, p), &all[2]);
  p.m = 0; // known only at run time: as the model, 4096
  EXPECT_EQ(find(all, p), &all[1]);
  p.m = 2048; // another class
  EXPECT_EQ(find(all, p), nullptr);
  p.m = 4097;
  EXPECT_EQ(find(all, p), nullptr);
}

TEST(Record, FormAndChipMustBeTheSame) {
  std::vector<Record> all = {hopperRecord(4096, 100)};
  ASSERT_EQ(find(all, square(4096)), &all[0]);
  EXPECT_EQ(find(all, square(4096), "H100"), nullptr);
  EXPECT_EQ(findRecord(all, "grouped", square(4096), targetNamed("sm_90a"), chipNamed("H200")),
            nullptr);
  GemmProblem p = square(4096);
  p.bKMajor = false;
  EXPECT_EQ(find(all, p), nullptr);
  p = square(4096), p.out = target::DType::F32;
  EXPECT_EQ(find(all, p), nullptr);
  p = square(4096), p.scaleRowsA = 1, p.scaleRowsB = 128;
  EXPECT_EQ(find(all, p), nullptr);
  p = square(4096), p.epilogueReadBytes = 2;
  EXPECT_EQ(find(all, p), nullptr);
}

TEST(Record, IllegalSchedulesAreNotUsed) {
  std::vector<Record> all = {hopperRecord(4096, 100), hopperRecord(4000, 120)};
  all[0].schedule.stages = 40; // more shared memory than there is
  EXPECT_EQ(find(all, square(4096)), &all[1]);
  GemmProblem p = square(4096);
  p.loadAligned = GemmProblem::Aligned::No; // no bulk copies
  EXPECT_EQ(find(all, p), nullptr);
}

TEST(Record, ChipsOfDevices) {
  auto name = [](std::string_view device) {
    const target::Chip *chip = chipOfDevice(device);
    return chip ? chip->name : "none";
  };
  EXPECT_EQ(name("NVIDIA H200"), "H200");
  EXPECT_EQ(name("NVIDIA A100-SXM4-80GB"), "A100");
  EXPECT_EQ(name("NVIDIA GeForce RTX 4090"), "RTX4090");
  EXPECT_EQ(name("NVIDIA RTX PRO 6000 Blackwell Server Edition"), "RTXPRO6000");
  EXPECT_EQ(name("NVIDIA T4"), "none");
  EXPECT_EQ(name(""), "none");
}

namespace {
struct Tuned : testing::Test {
  std::vector<Planned> plan;
  std::vector<Measured> results;
  void add(int rank, double us, std::string device = "NVIDIA H200", bool emulated = false,
           Outcome outcome = Outcome::Ok) {
    Planned p;
    p.kernel = "g", p.chip = "H200", p.package = "g." + std::to_string(rank) + ".hdl";
    p.problem = square(4096), p.schedule = hopperSchedule(), p.schedule.raster = rank + 1;
    p.rank = rank;
    plan.push_back(p);
    Measured m;
    m.package = p.package, m.device = std::move(device), m.emulated = emulated;
    m.outcome = outcome, m.microseconds = us, m.date = "2026-11-30";
    results.push_back(m);
  }
};
} // namespace

TEST_F(Tuned, TheFastestIsRecorded) {
  add(0, 120), add(1, 100), add(2, 110), add(3, 10, "NVIDIA H200", false, Outcome::Wrong);
  std::map<std::string, int> leftOut;
  std::vector<Record> best = bestOf(plan, results, &leftOut);
  ASSERT_EQ(best.size(), 1u);
  EXPECT_EQ(best[0].schedule.raster, 2);
  EXPECT_EQ(best[0].microseconds, 100);
  ASSERT_TRUE(best[0].model);
  EXPECT_EQ(best[0].model->raster, 1);
  EXPECT_EQ(best[0].modelMicroseconds, 120);
  EXPECT_EQ(leftOut, (std::map<std::string, int>{{"wrong", 1}}));
}

TEST_F(Tuned, EmulatedAndForeignTimesAreNot) {
  add(0, 1, "emulator:sm_90a", true), add(1, 1, "NVIDIA H100 80GB HBM3"), add(2, 1, "NVIDIA T4");
  std::map<std::string, int> leftOut;
  EXPECT_TRUE(bestOf(plan, results, &leftOut).empty());
  EXPECT_EQ(leftOut.size(), 3u);
  EXPECT_EQ(leftOut["measured on the emulator"], 1);
  EXPECT_EQ(leftOut["planned for H200, measured on H100"], 1);
}

TEST_F(Tuned, TheLastMeasurementOfACandidateCounts) {
  add(0, 100);
  results.push_back(results[0]);
  results.back().microseconds = 130;
  std::vector<Record> best = bestOf(plan, results);
  ASSERT_EQ(best.size(), 1u);
  EXPECT_EQ(best[0].microseconds, 130);
}

TEST(Record, MergesByTime) {
  std::vector<Record> all = {hopperRecord(4096, 100)};
  std::vector<Record> slower = {hopperRecord(4096, 110), hopperRecord(512, 20)};
  EXPECT_EQ(mergeRecords(all, slower, /*replace=*/false), 1);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].microseconds, 100);
  EXPECT_EQ(mergeRecords(all, slower, /*replace=*/true), 2);
  EXPECT_EQ(all[0].microseconds, 110);
}
