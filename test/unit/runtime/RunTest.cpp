//===- RunTest.cpp - heddle-run against the fake device ------------------- ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Check.h"
#include "Session.h"
#include "TestPackages.h"
#include "heddle/Package/Numeric.h"
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

using namespace heddle;
using namespace heddle::run;
using namespace heddle::rt::test;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

class Run : public testing::Test {
protected:
  void SetUp() override {
    registerFake();
    options.device = "fake:9.0";
    options.quiet = true;
    options.threads = 2;
    options.sizes = {{"M", 37}, {"N", 20}, {"K", 50}};
  }

  /// Makes the problem and runs it; `execute` replaces the fake's kernel.
  void run(std::function<void(const FakeDevice::Launch &)> execute = {}) {
    auto made = makeProblem(*package->kernels()->Get(0), options, files);
    ASSERT_TRUE(made) << made.error().message;
    problem = std::move(*made);
    fillInputs(problem, options, files);
    Failure failure = session.open(options);
    ASSERT_FALSE(failure) << failure.message;
    lastFake().execute = std::move(execute);
    for (auto step :
         {session.load(package, options), session.upload(problem), session.run(problem, options),
          session.download(2, result), session.download(0, inputA)})
      ASSERT_FALSE(step) << step.message;
  }

  CheckResult check() {
    auto checked = checkOutput(problem, 0, result, options, 4);
    EXPECT_TRUE(checked) << checked.error().message;
    return std::move(*checked);
  }

  float *output(const FakeDevice::Launch &launch) {
    float *d;
    std::memcpy(&d, launch.params.data() + launch.entry.params[3].offset, sizeof(d));
    return d;
  }

  std::string problemError() {
    auto made = makeProblem(*package->kernels()->Get(0), options, files);
    return made ? "no error" : made.error().message;
  }

  pkg::PackageFile package = fileOf(gemmPackage({{"sm_90a"}}));
  Options options;
  std::map<std::string, NpyArray> files;
  Problem problem;
  Session session;
  std::vector<uint8_t> result, inputA;
};

} // namespace

TEST_F(Run, rightResultPasses) {
  options.scalars = {{"alpha", 0.25}};
  run();
  CheckResult checked = check();
  EXPECT_TRUE(checked.ok) << testing::PrintToString(checked.problems);
  EXPECT_EQ(checked.points, 37 * 20);
  EXPECT_LT(checked.relativeError, 1e-6);
  EXPECT_THAT(changedOutside(problem.tensors[2], result), IsEmpty());
  EXPECT_THAT(changedOutside(problem.tensors[0], inputA), IsEmpty());
}

// Gaps between rows hold NaNs; a kernel that stays inside its rows still passes.
TEST_F(Run, stridedInput) {
  options.strides = {{"A", {64, 1}}};
  run();
  EXPECT_EQ(problem.symbols[3], 64);
  EXPECT_TRUE(check().ok);
}

TEST_F(Run, sampleFindsTheCorner) {
  options.check = CheckMode::Sampled;
  options.sizes = {{"M", 300}, {"N", 200}, {"K", 10}};
  run([&](const FakeDevice::Launch &launch) {
    runTestKernel(launch);
    output(launch)[300 * 200 - 1] += 100;
  });
  CheckResult checked = check();
  EXPECT_TRUE(checked.sampled);
  EXPECT_FALSE(checked.ok);
  EXPECT_THAT(checked.problems, testing::Contains(HasSubstr("(299, 199)")));
}

TEST_F(Run, oneWrongElementFails) {
  run([&](const FakeDevice::Launch &launch) {
    runTestKernel(launch);
    output(launch)[5 * 20 + 3] += 1;
  });
  CheckResult checked = check();
  EXPECT_FALSE(checked.ok);
  EXPECT_THAT(checked.problems, testing::Contains(HasSubstr("at (5, 3)")));
}

// A relative error below the bound over everything does not hide one bad element.
TEST_F(Run, smallOverallErrorDoesNotHideAnElement) {
  options.sizes = {{"M", 1000}, {"N", 1000}, {"K", 1}};
  run([&](const FakeDevice::Launch &launch) {
    runTestKernel(launch);
    output(launch)[500] += 0.05f;
  });
  CheckResult checked = check();
  EXPECT_LT(checked.relativeError, checked.tolerance);
  EXPECT_FALSE(checked.ok);
}

TEST_F(Run, nanNeverPasses) {
  run([&](const FakeDevice::Launch &launch) {
    runTestKernel(launch);
    output(launch)[7] = std::numeric_limits<float>::quiet_NaN();
  });
  options.tolerance = 1e9;
  CheckResult checked = check();
  EXPECT_FALSE(checked.ok);
  EXPECT_THAT(checked.problems,
              testing::Contains(HasSubstr("1 values are not a number, first at (0, 7)")));
}

TEST_F(Run, unwrittenElementsAreFound) {
  run([](const FakeDevice::Launch &) {});
  CheckResult checked = check();
  EXPECT_FALSE(checked.ok);
  EXPECT_THAT(checked.problems,
              testing::Contains(HasSubstr("740 elements were never written, first (0, 0)")));
}

TEST_F(Run, strayWritesAreFound) {
  run([&](const FakeDevice::Launch &launch) {
    runTestKernel(launch);
    output(launch)[-1] = 0;
    output(launch)[37 * 20] = 0;
  });
  EXPECT_TRUE(check().ok);
  EXPECT_THAT(changedOutside(problem.tensors[2], result),
              HasSubstr("8 bytes changed outside the elements of D, first at byte -4"));
}

TEST_F(Run, writtenInputsAreFound) {
  run([&](const FakeDevice::Launch &launch) {
    runTestKernel(launch);
    uint16_t *a;
    std::memcpy(&a, launch.params.data() + launch.entry.params[1].offset, sizeof(a));
    a[2] = uint16_t(~a[2]);
  });
  EXPECT_THAT(changedOutside(problem.tensors[0], inputA),
              HasSubstr("2 bytes changed in the input A, first at byte 4"));
}

// Reading past the end of a row meets a NaN.
TEST_F(Run, readsOutsideSpoilTheResult) {
  options.strides = {{"A", {64, 1}}};
  run([&](const FakeDevice::Launch &launch) {
    runTestKernel(launch);
    const uint16_t *a;
    std::memcpy(&a, launch.params.data() + launch.entry.params[1].offset, sizeof(a));
    output(launch)[0] += float(pkg::fromBF16(a[50]));
  });
  EXPECT_FALSE(check().ok);
}

// An address past an aligned one goes to the form that takes it.
TEST_F(Run, offsetChoosesTheOtherForm) {
  options.sizes["K"] = 64;
  run();
  EXPECT_EQ(session.variant(), 1);
  options.offsets = {{"A", 1}};
  run();
  EXPECT_EQ(session.variant(), 2);
  EXPECT_TRUE(check().ok);
}

TEST_F(Run, inputFilesGiveSizes) {
  NpyArray a;
  a.type = NpyType::F32;
  a.shape = {3, 4};
  for (int i = 0; i < 12; ++i) {
    float value = float(i);
    auto *bytes = reinterpret_cast<const uint8_t *>(&value);
    a.data.insert(a.data.end(), bytes, bytes + 4);
  }
  files.emplace("A", a);
  options.sizes = {{"N", 2}};
  run();
  EXPECT_EQ(problem.symbols, (std::vector<int64_t>{3, 2, 4, 4}));
  EXPECT_EQ(pkg::loadElement(pkg::DType::bf16, problem.tensors[0].first() + 2 * 7), 7.0);
  EXPECT_TRUE(check().ok);
}

TEST_F(Run, timing) {
  options.timeRuns = 5;
  run();
  Timing timing;
  Failure failure = session.time(problem, options, timing);
  ASSERT_FALSE(failure) << failure.message;
  EXPECT_DOUBLE_EQ(timing.medianUs, 2000); // the fake's clock
  EXPECT_DOUBLE_EQ(timing.backToBackUs, 2000);
  EXPECT_GT(timing.copies, 1);
}

// The same seed gives the same numbers whatever the number of threads.
TEST_F(Run, randomIsReproducible) {
  options.sizes = {{"M", 200}, {"N", 20}, {"K", 100}};
  for (Random random : {Random::Normal, Random::Uniform, Random::Integers}) {
    options.random = random;
    auto one = makeProblem(*package->kernels()->Get(0), options, {}),
         two = makeProblem(*package->kernels()->Get(0), options, {});
    Options more = options;
    more.threads = 7;
    fillInputs(*one, options, {});
    fillInputs(*two, more, {});
    EXPECT_EQ(one->tensors[0].host, two->tensors[0].host);
    more.seed = 2;
    fillInputs(*two, more, {});
    EXPECT_NE(one->tensors[0].host, two->tensors[0].host);
  }
}

TEST_F(Run, normalNumbersAreNormal) {
  options.sizes = {{"M", 500}, {"N", 1}, {"K", 500}};
  auto made = makeProblem(*package->kernels()->Get(0), options, {});
  fillInputs(*made, options, {});
  double sum = 0, squares = 0;
  for (int i = 0; i < 250000; ++i) {
    double value = pkg::loadElement(pkg::DType::bf16, made->tensors[0].first() + 2 * i);
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / 250000, 0, 0.01);
  EXPECT_NEAR(squares / 250000, 1, 0.02);
}

TEST_F(Run, badCommandLines) {
  options.sizes = {{"M", 1}};
  EXPECT_THAT(problemError(), HasSubstr("expected --size K=<number>"));
  options.sizes = {{"Q", 1}};
  EXPECT_THAT(problemError(), HasSubstr("expected one of the sizes M, N, K, lda, got Q"));
  options.sizes = {{"M", 2}, {"N", -1}, {"K", 2}};
  EXPECT_THAT(problemError(), HasSubstr("expected sizes of at least 0, got -1"));
  options.sizes = {{"M", 2}, {"N", 2}, {"K", 2}};
  options.strides = {{"X", {1}}};
  EXPECT_THAT(problemError(), HasSubstr("--strides: expected one of the tensors A, B, D, got X"));
  options.strides = {{"A", {1}}};
  EXPECT_THAT(problemError(), HasSubstr("expected 2 strides, got 1"));
  options.strides.clear();
  options.scalars = {{"beta", 1}};
  EXPECT_THAT(problemError(), HasSubstr("--scalar: expected one of the scalars alpha, got beta"));
  options.scalars.clear();
  options.offsets = {{"A", -1}};
  EXPECT_THAT(problemError(), HasSubstr("--offset A: expected 0 to"));
  options.offsets.clear();
  NpyArray wrong;
  wrong.shape = {2, 3};
  wrong.data.resize(24);
  files.emplace("A", wrong);
  EXPECT_THAT(problemError(), HasSubstr("input A: expected K to be 2, got 3"));
}
