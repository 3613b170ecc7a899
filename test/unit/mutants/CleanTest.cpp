//===- CleanTest.cpp - correct kernels are clean, unordered ones are not ---- ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Mutant.h"

using namespace heddle::mutants;

static const char *const targets[] = {"sm_80", "sm_89", "sm_90a", "sm_100a", "sm_103a", "sm_120a"};
/// Every kernel in every form; only the first two come in one for any alignment.
static const std::pair<const char *, unsigned> forms[] = {
    {"plain", 0}, {"plain", 1}, {"residual", 0}, {"residual", 1}, {"known", 0}};

TEST(MutantKernels, AreCleanAsTheyAre) {
  for (const char *target : targets)
    for (auto [kernel, variant] : forms) {
      Where where{target, kernel, variant};
      auto form = loadForm(packageFor("kernels"), kernel, target, variant);
      ASSERT_TRUE(form);
      for (uint64_t seed = 0; seed < 3; ++seed)
        EXPECT_EQ(runForm(*form, sizesFor(where), seed), "")
            << kernel << " variant " << variant << " for " << target << ", seed " << seed;
    }
}

TEST(MutantKernels, AreCleanInClusters) {
  for (const char *target : {"sm_90a", "sm_100a"}) {
    auto form = loadForm(packageFor("clusters"), "known", target);
    ASSERT_TRUE(form);
    for (uint64_t seed = 0; seed < 4; ++seed)
      EXPECT_EQ(runForm(*form, {{"M", 392}}, seed), "") << target << ", seed " << seed;
  }
}

// A slot that the tensor cores have read may be given back by a relaxed arrival: nothing that a
// thread wrote needs to become visible, only the end of the reads counts.
TEST(MutantKernels, RelaxedReleasesOfAsynchronousReadsAreClean) {
  auto form = loadForm(packageFor("kernels"), "plain", "sm_90a");
  ASSERT_TRUE(form);
  Ptx ptx(form->ptx(), form->variant().entry);
  ptx.relaxArrival("wgmma.wait_group.sync.aligned 1");
  ptx.relaxArrival("wgmma.wait_group.sync.aligned 0");
  ptx.relaxWait("mbarrier.arrive.expect_tx");
  ASSERT_EQ(ptx.problem(), "");
  form->ptx() = ptx.text();
  for (uint64_t seed = 0; seed < 4; ++seed)
    EXPECT_EQ(runForm(*form, sizesFor({"sm_90a"}), seed), "") << "seed " << seed;
}

// Without the pass that derives fences every kernel that needs some is reported for lacking them.
// Where threads fill and empty all slots and mma.sync reads them, nothing leaves the generic proxy:
// sm_80, sm_89, and on sm_120a what does not store by tensor copies.
TEST(MutantKernels, AreReportedWithoutTheOrderingPass) {
  for (std::string target : {"sm_90a", "sm_100a", "sm_103a", "sm_120a"})
    for (auto [kernel, variant] : forms) {
      if (target == "sm_120a" && std::string(kernel) != "known")
        continue;
      Where where{target, kernel, variant};
      auto form =
          loadForm(packageFor("unordered-" + target + "-" + kernel), kernel, target, variant);
      ASSERT_TRUE(form);
      std::string report;
      for (uint64_t seed = 0; seed < 3; ++seed)
        report += runForm(*form, sizesFor(where), seed) + "\n";
      bool named = report.find("fence.proxy.async") != std::string::npos ||
                   report.find("lack tcgen05 fences") != std::string::npos;
      EXPECT_TRUE(named) << kernel << " variant " << variant << " for " << target << ": " << report;
    }
}

TEST(MutantKernels, ReportsNameBothSides) {
  auto form = loadForm(packageFor("kernels"), "plain", "sm_90a");
  ASSERT_TRUE(form);
  Ptx ptx(form->ptx(), form->variant().entry);
  ptx.remove("wgmma.wait_group.sync.aligned 1");
  ASSERT_EQ(ptx.problem(), "");
  form->ptx() = ptx.text();
  std::string reports;
  for (uint64_t seed = 0; seed < 4; ++seed)
    reports += runForm(*form, sizesFor({"sm_90a"}), seed) + "\n";
  const std::string now = "the write by the tensor copy of line ",
                    before = " and the earlier read by the wgmma of line ";
  size_t at = reports.find(now), end = reports.find('\n', at);
  ASSERT_NE(at, std::string::npos) << reports;
  const std::string line = reports.substr(at, end - at);
  for (const std::string &part :
       {before, std::string("(role load, warp 0, cta ("), std::string("(role mma, warp "),
        std::string("kernels.mlir:4:8) and"), std::string("kernels.mlir:4:8) are not ordered")})
    EXPECT_NE(line.find(part), std::string::npos) << part << " in " << line;
}
