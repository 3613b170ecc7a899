//===- Fp8Mutants.cpp - broken kernels of 8-bit floats, and in clusters ----===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Mutant.h"

using namespace heddle::mutants;

static const Where hopper{"sm_90a", "blocks", 0, "fp8"}, blackwell{"sm_100a", "blocks", 0, "fp8"},
    cluster{"sm_90a", "known", 0, "clusters"}, pairs{"sm_100a", "known", 0, "clusters"};
static const std::string expectTx = "mbarrier.arrive.expect_tx";

TEST(Fp8Mutants, AreCleanAsTheyAre) {
  for (const char *target : {"sm_89", "sm_90a", "sm_100a", "sm_103a", "sm_120a"}) {
    auto form = loadForm(packageFor("fp8"), "blocks", target);
    ASSERT_TRUE(form);
    for (uint64_t seed = 0; seed < 3; ++seed)
      EXPECT_EQ(runForm(*form, sizesFor(hopper), seed), "") << target << ", seed " << seed;
  }
}

TEST(Fp8Mutants, AreReportedWithoutTheOrderingPass) {
  for (const char *target : {"sm_90a", "sm_100a", "sm_103a"}) {
    auto form =
        loadForm(packageFor(std::string("unordered-") + target + "-blocks"), "blocks", target);
    ASSERT_TRUE(form);
    std::string report;
    for (uint64_t seed = 0; seed < 3; ++seed)
      report += runForm(*form, sizesFor(hopper), seed) + "\n";
    bool named = report.find("fence.proxy.async") != std::string::npos ||
                 report.find("lack tcgen05 fences") != std::string::npos;
    EXPECT_TRUE(named) << target << ": " << report;
  }
}

TEST(Fp8Mutants, AreReported) {
  expectReported({
      {hopper,
       "partial sums are read before they are there",
       [](Ptx &p) { p.remove("wgmma.wait_group"); },
       {"still writes", "wgmma.fence"}},
      {hopper,
       "no fence before the registers are used again",
       [](Ptx &p) { p.remove("wgmma.fence"); },
       {"wgmma.fence"}},
      {hopper,
       "a slot is filled after one look at its release",
       [](Ptx &p) { p.lookOnce(expectTx); },
       {"data race"}},
      {hopper,
       "the producer waits for the other phase",
       [](Ptx &p) { p.flipParity(expectTx); },
       {"deadlock"}},
      {blackwell,
       "no fence ahead of any barrier",
       [](Ptx &p) { p.remove("tcgen05.fence::before_thread_sync"); },
       {"lack tcgen05 fences"}},
      {blackwell,
       "loaded sums are used before they are there",
       [](Ptx &p) { p.remove("tcgen05.wait::ld"); },
       {"tcgen05.wait::ld"}},
      {blackwell,
       "a slot is filled after one look at its release",
       [](Ptx &p) { p.lookOnce(expectTx); },
       {"data race"}},
  });
}

TEST(ClusterMutants, AreReported) {
  expectReported({
      {cluster,
       "a peer's slot is filled without a wait",
       [](Ptx &p) { p.removeWait(expectTx); },
       {"data race", "more arrivals"}},
      {cluster,
       "a peer's slot is filled after one look",
       [](Ptx &p) { p.lookOnce(expectTx); },
       {"data race"}},
      {cluster,
       "all release the slot of the first block",
       [](Ptx &p) { p.setLast("mapa", "0"); },
       {"more arrivals", "deadlock", "data race"}},
      {cluster,
       "nobody waits for the peer's barriers",
       [](Ptx &p) { p.remove("barrier.cluster"); },
       {"no initialised mbarrier", "no mbarrier is initialised", "initialisation"}},
      {pairs,
       "a peer's slot is filled without a wait",
       [](Ptx &p) { p.removeWait(expectTx); },
       {"data race", "more arrivals"}},
      {pairs,
       "nobody waits for the peer's barriers",
       [](Ptx &p) { p.remove("barrier.cluster"); },
       {"no initialised mbarrier", "no mbarrier is initialised", "initialisation"}},
  });
}
