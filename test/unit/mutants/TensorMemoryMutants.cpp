//===- TensorMemoryMutants.cpp - broken kernels with tcgen05 ---------------- ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Mutant.h"

using namespace heddle::mutants;

static const Where plain{"sm_100a"}, newer{"sm_103a"}, residual{"sm_100a", "residual"};
static const std::string mma = "tcgen05.mma", before = "tcgen05.fence::before_thread_sync",
                         after = "tcgen05.fence::after_thread_sync", load = "tcgen05.ld",
                         commit = "tcgen05.commit", noFence = "lack tcgen05 fences";

// Fences stand behind the setup, the producer's two waits, the wait for the sums, and the end.
static constexpr int behindSums = 3;

TEST(TensorMemoryMutants, Producer) { expectReported(producerMutants(plain, mma)); }
TEST(TensorMemoryMutants, Store) { expectReported(storeMutants(newer, "st.shared.v4")); }
TEST(TensorMemoryMutants, Setup) { expectReported(setupMutants(plain)); }

TEST(TensorMemoryMutants, Multiply) {
  expectReported({
      {plain, "no fence ahead of any barrier", [](Ptx &p) { p.remove(before); }, {noFence}},
      {plain, "no fence behind any wait", [](Ptx &p) { p.remove(after); }, {noFence}},
      {newer,
       "the sums are released without a fence",
       [](Ptx &p) { p.remove(before, 1); },
       {noFence}},
      {newer,
       "the sums are read without a fence",
       [](Ptx &p) { p.removeNext(after, load, 0, false); },
       {noFence}},
      {plain,
       "the sums are not waited for",
       [](Ptx &p) { p.removeWait(after, behindSums); },
       {"race on tensor memory", "nothing has written", noFence}},
      {plain,
       "the sums are looked at once",
       [](Ptx &p) { p.lookOnce(after, behindSums); },
       {"race on tensor memory", "nothing has written", noFence}},
      {plain,
       "the reader of the sums waits for the other phase",
       [](Ptx &p) { p.flipParity(after, behindSums); },
       {"race on tensor memory", "nothing has written", "deadlock", noFence}},
      {plain,
       "loaded sums are used before they are there",
       [](Ptx &p) { p.remove("tcgen05.wait::ld"); },
       {"tcgen05.wait::ld"}},
      {plain,
       "the sums are overwritten while they are read",
       [](Ptx &p) { p.remove("tcgen05.wait::ld", Ptx::last); },
       {"tcgen05.wait::ld", "race on tensor memory"}},
      {plain,
       "the slots are not released",
       [](Ptx &p) { p.remove(commit, Ptx::last); },
       {"deadlock"}},
      {plain, "the sums are not committed", [](Ptx &p) { p.remove(commit, 0); }, {"deadlock"}},
      {plain,
       "threads release what the tensor core still reads",
       [](Ptx &p) {
         p.replace(commit + ".cta_group::1.mbarrier::arrive::one.shared::cluster.b64",
                   "mbarrier.arrive.b64 _,", Ptx::last);
       },
       {"data race", "mbarrier"}},
      {plain,
       "the sums are never released",
       [](Ptx &p) { p.removeArrival(load, Ptx::last); },
       {"deadlock"}},
      {plain,
       "tensor memory is not freed",
       [](Ptx &p) { p.remove("tcgen05.dealloc"); },
       {"without deallocating"}},
      {plain,
       "tensor memory is freed while others read it",
       [](Ptx &p) { p.remove("bar.sync", Ptx::last); },
       {"race on tensor memory", "in flight", "tcgen05"}},
      {residual,
       "no fence between writes and the store",
       [](Ptx &p) { p.remove("fence.proxy.async"); },
       {"fence.proxy.async"}},
      {residual,
       "the last fence of the sums is missing",
       [](Ptx &p) { p.remove(before, 1); },
       {noFence}},
  });
}
