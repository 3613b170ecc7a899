//===- TargetTest.cpp - tests of the target and chip facts ----------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "heddle/Target/Target.h"
#include <cmath>
#include <gtest/gtest.h>
#include <set>

using namespace heddle::target;

static const Target &get(std::string_view name) {
  const Target *target = findTarget(name);
  EXPECT_NE(target, nullptr) << name;
  return *target;
}

TEST(Target, ListsTheSixTargetsOldestFirst) {
  EXPECT_EQ(knownTargetNames(), "sm_80, sm_89, sm_90a, sm_100a, sm_103a, sm_120a");
  EXPECT_EQ(allTargets().size(), 6u);
  unsigned last = 0;
  for (const Target *target : allTargets()) {
    EXPECT_GT(target->major * 10 + target->minor, last);
    last = target->major * 10 + target->minor;
  }
}

TEST(Target, FindsByExactNameOnly) {
  EXPECT_EQ(findTarget("sm_90a"), &get("sm_90a"));
  for (std::string_view name : {"", "sm_90", "SM_90A", "90a", "sm_90a ", "sm_101a", "compute_90a"})
    EXPECT_EQ(findTarget(name), nullptr) << name;
}

TEST(Target, NameCapabilityAndExactnessAgree) {
  for (const Target *target : allTargets()) {
    std::string name = "sm_" + std::to_string(target->major) + std::to_string(target->minor);
    EXPECT_EQ(target->name, name + (target->exact ? "a" : ""));
    EXPECT_FALSE(target->summary.empty());
    EXPECT_GE(target->ptxVersion, target->minPtxVersion) << name;
    EXPECT_EQ(target->ptxVersion, 90u);
  }
}

// A feature that another one builds on is never missing.
TEST(Target, FeaturesAreConsistent) {
  for (const Target *target : allTargets()) {
    SCOPED_TRACE(std::string(target->name));
    EXPECT_TRUE(target->has(Feature::AsyncCopy));
    if (target->has(Feature::BulkTensorCopy)) {
      EXPECT_TRUE(target->has(Feature::TryWait));
      EXPECT_TRUE(target->has(Feature::ProxyFence));
    }
    EXPECT_EQ(target->has(Feature::TensorMemory), target->tmemColumns != 0);
    EXPECT_EQ(target->has(Feature::TensorMemory), target->mma == MmaFamily::Tcgen05);
    EXPECT_EQ(target->has(Feature::Clusters), target->maxCluster > 1);
    EXPECT_EQ(target->has(Feature::Fp8Mma), target->supports(DType::F8E4M3));
    EXPECT_EQ(target->has(Feature::Fp8Mma), target->supports(DType::F8E5M2));
    if (target->mma == MmaFamily::Wgmma) {
      EXPECT_TRUE(target->has(Feature::SetMaxNReg));
    }
    EXPECT_TRUE(target->supports(DType::BF16));
    EXPECT_TRUE(target->supports(DType::TF32));
    EXPECT_FALSE(target->supports(DType::F32));
    EXPECT_EQ(target->sharedPerBlock + target->sharedReserved, target->sharedPerSM);
    EXPECT_EQ(target->registersPerSM, 65536u);
    EXPECT_EQ(target->namedBarriers, 16u);
  }
}

TEST(Target, AmpereAndAda) {
  const Target &a = get("sm_80"), &b = get("sm_89");
  for (const Target *t : {&a, &b}) {
    EXPECT_EQ(t->mma, MmaFamily::MmaSync);
    for (Feature f :
         {Feature::BulkTensorCopy, Feature::TryWait, Feature::Clusters, Feature::SetMaxNReg,
          Feature::TensorMemory, Feature::StMatrix, Feature::ElectSync, Feature::BlockScaleMma,
          Feature::ClusterLaunchControl, Feature::GridDepControl, Feature::ProxyFence})
      EXPECT_FALSE(t->has(f)) << static_cast<uint32_t>(f);
  }
  EXPECT_FALSE(a.has(Feature::Fp8Mma));
  EXPECT_TRUE(b.has(Feature::Fp8Mma));
  EXPECT_EQ(a.sharedPerBlock, 163u * 1024);
  EXPECT_EQ(b.sharedPerBlock, 99u * 1024);
}

TEST(Target, HopperAndBlackwell) {
  const Target &hopper = get("sm_90a");
  EXPECT_EQ(hopper.mma, MmaFamily::Wgmma);
  EXPECT_EQ(hopper.sharedPerBlock, 232448u);
  EXPECT_FALSE(hopper.has(Feature::ClusterLaunchControl));
  EXPECT_FALSE(hopper.has(Feature::BlockScaleMma));
  for (std::string_view name : {"sm_100a", "sm_103a"}) {
    EXPECT_EQ(get(name).tmemColumns, 512u);
    EXPECT_TRUE(get(name).has(Feature::ClusterLaunchControl));
    EXPECT_TRUE(get(name).has(Feature::BlockScaleMma));
  }
  const Target &workstation = get("sm_120a");
  EXPECT_EQ(workstation.mma, MmaFamily::MmaSync);
  EXPECT_TRUE(workstation.has(Feature::BulkTensorCopy));
  EXPECT_TRUE(workstation.has(Feature::SetMaxNReg));
  EXPECT_FALSE(workstation.has(Feature::TensorMemory));
  EXPECT_EQ(workstation.sharedPerBlock, 99u * 1024);
  EXPECT_EQ(workstation.sharedPerSM, 100u * 1024);
}

TEST(Target, TargetsSupportingAType) {
  EXPECT_EQ(targetsSupporting(DType::F8E4M3), "sm_89, sm_90a, sm_100a, sm_103a, sm_120a");
  EXPECT_EQ(targetsSupporting(DType::BF16), knownTargetNames());
  EXPECT_EQ(targetsSupporting(DType::F32), "");
}

TEST(Target, RunsOn) {
  EXPECT_TRUE(runsOn(get("sm_80"), 8, 0));
  EXPECT_TRUE(runsOn(get("sm_80"), 8, 6));
  EXPECT_TRUE(runsOn(get("sm_80"), 8, 9));
  EXPECT_FALSE(runsOn(get("sm_89"), 8, 6));
  EXPECT_FALSE(runsOn(get("sm_80"), 9, 0));
  EXPECT_FALSE(runsOn(get("sm_80"), 7, 5));
  EXPECT_TRUE(runsOn(get("sm_90a"), 9, 0));
  EXPECT_FALSE(runsOn(get("sm_100a"), 10, 3));
  EXPECT_FALSE(runsOn(get("sm_103a"), 10, 0));
  EXPECT_FALSE(runsOn(get("sm_120a"), 12, 1));
}

TEST(Chip, EveryChipNamesATargetAndEveryTargetHasAChip) {
  std::set<std::string_view> names, targets;
  for (const Chip &chip : allChips()) {
    SCOPED_TRACE(std::string(chip.name));
    EXPECT_NE(findTarget(chip.target), nullptr);
    EXPECT_TRUE(names.insert(chip.name).second) << "twice";
    EXPECT_EQ(findChip(chip.name), &chip);
    targets.insert(chip.target);
    EXPECT_GT(chip.sms, 0u);
    EXPECT_GT(chip.memoryGBps, 0);
    EXPECT_GT(chip.l2Bytes, 0u);
  }
  for (const Target *target : allTargets()) {
    EXPECT_TRUE(targets.count(target->name));
    EXPECT_EQ(defaultChip(*target).target, target->name);
  }
}

// The datasheet rate never exceeds what multiprocessors x clock x rate give, and
// reaches it but where a product is held back.
TEST(Chip, TensorRateFollowsFromTheClock) {
  const std::set<std::string_view> heldBack = {"H20", "RTX4090", "RTX5090"};
  for (const Chip &chip : allChips()) {
    const Target &target = get(chip.target);
    double tensor = chip.sms * (chip.boostMHz * 1e6) * target.mmaOpsPerClock16 / 1e12;
    if (chip.name == "A10")
      tensor /= 2; // capability 8.6 has half the rate of 8.0 in a multiprocessor
    if (heldBack.count(chip.name))
      EXPECT_LT(chip.tensorTflops16, 0.6 * tensor) << chip.name;
    else
      EXPECT_NEAR(chip.tensorTflops16 / tensor, 1.0, 0.02) << chip.name;
  }
}

TEST(Chip, FindsWithoutCaseAndSeparators) {
  EXPECT_EQ(findChip("RTX PRO 6000"), findChip("rtxpro6000"));
  ASSERT_NE(findChip("RTX PRO 6000"), nullptr);
  EXPECT_EQ(findChip("rtx-5090")->name, "RTX5090");
  EXPECT_EQ(findChip("h200")->sms, 132u);
  for (std::string_view name : {"", "H", "H2000", "sm_90a", "H200\n"})
    EXPECT_EQ(findChip(name), nullptr) << name;
}

TEST(Chip, OneTargetManyChips) {
  for (std::string_view name : {"H100", "H200", "H800", "H20"})
    EXPECT_EQ(findChip(name)->target, "sm_90a");
  EXPECT_EQ(findChip("H20")->sms, 78u);
  EXPECT_EQ(findChip("H800")->nvlinkGBps, 200);
  EXPECT_EQ(defaultChip(get("sm_90a")).name, "H200");
  for (const Chip &chip : allChips())
    EXPECT_NE(knownChipNames().find(chip.name), std::string::npos);
}

TEST(Chip, LimitsNarrowTheTarget) {
  const Target &target = get("sm_80");
  Target narrowed = limitsOn(target, *findChip("A10"));
  EXPECT_EQ(narrowed.sharedPerBlock, 99u * 1024);
  EXPECT_EQ(narrowed.sharedPerSM, 100u * 1024);
  EXPECT_EQ(narrowed.maxWarpsPerSM, 48u);
  EXPECT_EQ(narrowed.maxBlocksPerSM, 16u);
  EXPECT_EQ(narrowed.name, target.name);
  EXPECT_EQ(limitsOn(target, *findChip("A100")).sharedPerBlock, target.sharedPerBlock);
}

TEST(DTypes, NamesAndWidths) {
  EXPECT_EQ(dtypeName(DType::BF16), "bf16");
  EXPECT_EQ(dtypeName(DType::F8E4M3), "f8E4M3FN");
  EXPECT_EQ(dtypeName(DType::F8E5M2), "f8E5M2");
  EXPECT_EQ(dtypeBits(DType::TF32), 32u);
  EXPECT_EQ(dtypeBits(DType::F16), 16u);
  EXPECT_EQ(dtypeBits(DType::F8E5M2), 8u);
}
