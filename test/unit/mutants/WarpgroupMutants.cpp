//===- WarpgroupMutants.cpp - broken kernels with wgmma --------------------- ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Mutant.h"

using namespace heddle::mutants;

static const Where plain{"sm_90a"}, residual{"sm_90a", "residual"}, unaligned{"sm_90a", "plain", 1};
static const std::string wgmma = "wgmma.mma_async", fence = "fence.proxy.async";

TEST(WarpgroupMutants, Producer) { expectReported(producerMutants(plain, wgmma)); }
TEST(WarpgroupMutants, Store) { expectReported(storeMutants(plain, "stmatrix")); }
TEST(WarpgroupMutants, Setup) { expectReported(setupMutants(plain)); }

TEST(WarpgroupMutants, Multiply) {
  expectReported({
      {plain,
       "no fence before the registers are used",
       [](Ptx &p) { p.remove("wgmma.fence"); },
       {"wgmma.fence"}},
      {plain,
       "the group is not committed",
       [](Ptx &p) { p.remove("wgmma.commit_group"); },
       {"data race", "still writes", "in flight"}},
      {plain,
       "the slot is released while it is read",
       [](Ptx &p) { p.remove("wgmma.wait_group.sync.aligned 1"); },
       {"data race"}},
      {plain,
       "the wait keeps one group too many",
       [](Ptx &p) {
         p.replace("wgmma.wait_group.sync.aligned 1", "wgmma.wait_group.sync.aligned 2");
       },
       {"data race"}},
      {plain,
       "the sum is read before it is there",
       [](Ptx &p) { p.remove("wgmma.wait_group.sync.aligned 0"); },
       {"still writes"}},
      {plain,
       "the last wait keeps one group",
       [](Ptx &p) {
         p.replace("wgmma.wait_group.sync.aligned 0", "wgmma.wait_group.sync.aligned 1");
       },
       {"still writes"}},
      {plain,
       "the slot is not released",
       [](Ptx &p) { p.removeArrival("wgmma.wait_group.sync.aligned 1"); },
       {"deadlock"}},
      {plain,
       "the last slot of a tile is not released",
       [](Ptx &p) { p.removeArrival("wgmma.wait_group.sync.aligned 0"); },
       {"deadlock"}},
      {plain,
       "one warp's release frees the slot",
       [](Ptx &p) { p.setLast("mbarrier.init", "1", 4); },
       {"data race", "more arrivals", "deadlock"}},
      {plain,
       "more registers than the pool holds",
       [](Ptx &p) {
         p.replace("setmaxnreg.inc.sync.aligned.u32 \t232", "setmaxnreg.inc.sync.aligned.u32 240");
       },
       {"register", "deadlock"}},
      {plain,
       "the mbarriers are not shown to the copies",
       [](Ptx &p) { p.remove("fence.mbarrier_init"); },
       {"fence.mbarrier_init"}},
      {plain,
       "the tensor map of an operand has no swizzle",
       {},
       {"wrong result"},
       [](heddle::pkg::VariantT &v) { v.tensor_maps[0]->swizzle = heddle::pkg::Swizzle::none; }},
      {plain,
       "the tensor map of the result has no swizzle",
       {},
       {"wrong result"},
       [](heddle::pkg::VariantT &v) { v.tensor_maps[2]->swizzle = heddle::pkg::Swizzle::none; }},
      {plain,
       "a row of results goes to the next place",
       [](Ptx &p) { p.shift("stmatrix", 16, 0); },
       {"wrong result", "data race"}},
      {plain,
       "slots of results are overwritten after one look",
       [](Ptx &p) {
         for (int n = p.count(fence) - 1; n >= 0; --n)
           p.lookOnce(fence, n);
       },
       {"data race"}},
      {residual,
       "no fence between writes and the store",
       [](Ptx &p) { p.remove(fence); },
       {"fence.proxy.async"}},
      {residual,
       "the fence comes ahead of the last write",
       [](Ptx &p) { p.moveAhead(fence, "st.shared", 0); },
       {"fence.proxy.async"}},
      {residual,
       "the release is that of a copy",
       [](Ptx &p) { p.removeArrival("wgmma.wait_group.sync.aligned 1"); },
       {"deadlock"}},
      {residual,
       "a slot is filled after one look at its release",
       [](Ptx &p) { p.lookOnce("mbarrier.arrive.expect_tx"); },
       {"data race"}},
  });
}

// Threads write the operands, the tensor cores read them by the async proxy.
TEST(WarpgroupMutants, AnyAlignment) {
  expectReported({
      {unaligned,
       "threads fill a slot without a fence",
       [](Ptx &p) { p.remove(fence); },
       {"fence.proxy.async"}},
      {unaligned,
       "the fence speaks of the other space",
       [](Ptx &p) { p.replace("fence.proxy.async.shared::cta", "fence.proxy.async.global"); },
       {"fence.proxy.async"}},
      {unaligned,
       "threads fill a slot without a wait",
       [](Ptx &p) { p.removeWait("st.shared"); },
       {"data race"}},
      {unaligned,
       "threads fill a slot after one look",
       [](Ptx &p) { p.lookOnce("st.shared"); },
       {"data race"}},
      {unaligned,
       "the slot is not committed",
       [](Ptx &p) { p.removeArrival(fence, Ptx::last); },
       {"deadlock"}},
      {unaligned,
       "the commit releases nothing",
       [](Ptx &p) { p.relaxArrival(fence, Ptx::last); },
       {"data race", "fence.proxy.async"}},
      {unaligned,
       "the consumer does not wait",
       [](Ptx &p) { p.removeWait(wgmma); },
       {"data race", "nothing has written"}},
      {unaligned,
       "the slot is released while it is read",
       [](Ptx &p) { p.remove("wgmma.wait_group.sync.aligned 1"); },
       {"data race"}},
  });
}
