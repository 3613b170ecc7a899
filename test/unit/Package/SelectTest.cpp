//===- SelectTest.cpp - choosing a compiled form --------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Sample.h"

#include "heddle/Package/Select.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::pkg;
using namespace heddle::pkg::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// An opened package made of the sample, after a change.
class SelectTest : public testing::Test {
protected:
  void open(const PackageT &package) {
    Expected<PackageFile> opened = PackageFile::fromBytes(packUnchecked(package));
    ASSERT_TRUE(opened) << opened.error().message;
    file = std::make_unique<PackageFile>(std::move(*opened));
    kernel = file->root().kernels()->Get(0);
  }
  /// A package with one variant for each target; '+' after the name: with a cubin.
  void openTargets(const std::vector<std::string> &targets) {
    PackageT package = samplePackage();
    const VariantT variant = *package.kernels[0]->variants[1];
    const ImageT image = *package.images[1];
    package.kernels[0]->variants.clear();
    package.images.clear();
    for (std::string target : targets) {
      const bool cubin = target.back() == '+';
      if (cubin)
        target.pop_back();
      auto v = std::make_unique<VariantT>(variant);
      auto i = std::make_unique<ImageT>(image);
      v->target = i->target = target;
      v->image = static_cast<uint32_t>(package.images.size());
      if (cubin)
        i->cubin = {0x7f, 'E', 'L', 'F'};
      package.kernels[0]->variants.push_back(std::move(v));
      package.images.push_back(std::move(i));
    }
    open(package);
  }
  std::vector<std::string> candidates(unsigned major, unsigned minor) {
    std::vector<std::string> names;
    for (const Candidate &c : selectForDevice(file->root(), *kernel, {major, minor}).candidates)
      names.push_back(kernel->variants()->Get(c.variant)->target()->str() + " " +
                      std::string(fitName(c.fit)));
    return names;
  }

  std::unique_ptr<PackageFile> file;
  const Kernel *kernel = nullptr;
};

TEST_F(SelectTest, PrefersExactThenFamilyThenPtx) {
  openTargets({"sm_80+", "sm_89+", "sm_90a+", "sm_120a"});
  EXPECT_THAT(candidates(8, 9), ElementsAre("sm_89 cubin", "sm_80 cubin of the family"));
  EXPECT_THAT(candidates(8, 6), ElementsAre("sm_80 cubin of the family"));
  EXPECT_THAT(candidates(8, 0), ElementsAre("sm_80 cubin"));
  EXPECT_THAT(candidates(9, 0), ElementsAre("sm_90a cubin", "sm_89 ptx", "sm_80 ptx"));
  EXPECT_THAT(candidates(12, 0), ElementsAre("sm_120a ptx", "sm_89 ptx", "sm_80 ptx"));
  EXPECT_THAT(candidates(7, 5), ElementsAre());
}

TEST_F(SelectTest, PrefersAFamilyCubinOverExactPtx) {
  openTargets({"sm_89", "sm_80+"});
  EXPECT_THAT(candidates(8, 9), ElementsAre("sm_80 cubin of the family", "sm_89 ptx"));
}

TEST_F(SelectTest, KeepsTheOrderWithinATarget) {
  PackageT package = samplePackage();
  package.kernels[0]->variants.push_back(
      std::make_unique<VariantT>(*package.kernels[0]->variants[0]));
  open(package);
  const Selection selection = selectForDevice(file->root(), *kernel, {9, 0});
  ASSERT_EQ(selection.candidates.size(), 3u);
  EXPECT_EQ(selection.candidates[0].variant, 0u);
  EXPECT_EQ(selection.candidates[1].variant, 2u);
  EXPECT_EQ(selection.candidates[2].variant, 1u);
}

TEST_F(SelectTest, SaysWhyADeviceIsNotServed) {
  openTargets({"sm_90a+", "sm_999"});
  const Selection selection = selectForDevice(file->root(), *kernel, {8, 0});
  EXPECT_TRUE(selection.candidates.empty());
  const std::string text = describeRejections(*kernel, selection);
  EXPECT_THAT(text, HasSubstr("variant 0 (sm_90a): expected a device that runs sm_90a, got compute "
                              "capability 8.0\nvariant 1 (sm_999): expected a known target, got "
                              "sm_999 (known: sm_80, "));
  EXPECT_EQ(describeNoCode(file->root(), *kernel, {7, 5}),
            "kernel matmul: no code for compute capability 7.5; the package holds sm_90a (cubin, "
            "ptx), sm_999 (ptx)");
}

TEST_F(SelectTest, PassesOverVariantsWhoseConstraintsFail) {
  open(samplePackage());
  const uint64_t aligned[] = {0x7000, 0x8000, 0, 0x9000};
  const uint64_t odd[] = {0x7008, 0x8000, 0, 0x9000};
  const auto choose = [&](std::vector<int64_t> sizes, std::span<const uint64_t> addresses) {
    Expected<Selection> selection =
        selectVariants(file->root(), *kernel, {9, 0}, {{sizes, 132}, addresses});
    EXPECT_TRUE(selection) << selection.error().message;
    return *selection;
  };
  EXPECT_EQ(choose({300, 64}, aligned).candidates[0].variant, 0u);
  Selection selection = choose({300, 63}, aligned);
  ASSERT_EQ(selection.candidates.size(), 1u);
  EXPECT_EQ(selection.candidates[0].variant, 1u);
  EXPECT_EQ(
      describeRejections(*kernel, selection),
      "variant 0 (sm_90a): expected row stride of a in bytes to be a multiple of 16, got 126");
  EXPECT_EQ(choose({300, 64}, odd).rejected[0].reason,
            "expected address of a to be aligned to 16 bytes, got 0x7008");
  EXPECT_EQ(choose({2000000, 64}, aligned).rejected[0].reason,
            "expected M to be at most 1048576, got 2000000");
  EXPECT_THAT(choose({1, INT64_MAX}, aligned).rejected[0].reason,
              HasSubstr("to have a value, got overflow in mul"));
  EXPECT_THAT(choose({300, 64}, {}).rejected[0].reason, HasSubstr("argument 0 was not given"));
}

TEST_F(SelectTest, ReportsTheKernelsOwnConstraints) {
  open(samplePackage());
  const int64_t sizes[] = {300, 0};
  Expected<Selection> selection = selectVariants(file->root(), *kernel, {9, 0}, {{sizes, 132}, {}});
  ASSERT_FALSE(selection);
  EXPECT_EQ(selection.error().message, "kernel matmul: expected K to be at least 1, got 0");
}

} // namespace
