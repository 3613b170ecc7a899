//===- AsyncCopyMutants.cpp - broken kernels with cp.async ------------------ ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Mutant.h"

using namespace heddle::mutants;

static const Where plain{"sm_80"}, newer{"sm_89"}, residual{"sm_80", "residual"},
    unaligned{"sm_80", "plain", 1};
static const std::string copy = "cp.async.cg", arrive = "cp.async.mbarrier.arrive.noinc",
                         use = "ldmatrix", mma = "mma.sync";

TEST(AsyncCopyMutants, Producer) {
  expectReported({
      {plain, "a slot is filled without a wait", [](Ptx &p) { p.removeWait(copy); }, {"data race"}},
      {newer, "a slot is filled after one look", [](Ptx &p) { p.lookOnce(copy); }, {"data race"}},
      {plain,
       "the producer waits for the other phase",
       [](Ptx &p) { p.flipParity(copy); },
       {"deadlock"}},
      {newer, "copies are not committed", [](Ptx &p) { p.remove(arrive); }, {"deadlock"}},
      {plain,
       "arrivals raise the count they lower",
       [](Ptx &p) { p.replace(arrive, "cp.async.mbarrier.arrive"); },
       {"deadlock"}},
      {plain,
       "the commit does not wait for the copies",
       [](Ptx &p) { p.replace(arrive + ".shared.b64", "mbarrier.arrive.shared.b64 _,"); },
       {"data race", "nothing has written"}},
      {plain,
       "a copy goes to its neighbour's place",
       [](Ptx &p) { p.shift(copy, 16, 0); },
       {"data race", "wrong result", "nothing has written"}},
      {newer,
       "a copy is missing",
       [](Ptx &p) { p.remove(copy, 0); },
       {"nothing has written", "wrong result"}},
  });
}

TEST(AsyncCopyMutants, Consumer) {
  expectReported({
      {plain,
       "the slot is not waited for",
       [](Ptx &p) { p.removeWait(use); },
       {"data race", "nothing has written"}},
      {newer,
       "the slot is looked at once",
       [](Ptx &p) { p.lookOnce(use); },
       {"data race", "nothing has written"}},
      {plain,
       "the consumer waits for the other phase",
       [](Ptx &p) { p.flipParity(use); },
       {"data race", "nothing has written", "deadlock"}},
      {plain,
       "the slot is not released",
       [](Ptx &p) { p.removeArrival(mma, Ptx::last); },
       {"deadlock"}},
      {newer,
       "one lane releases for lanes that still read",
       [](Ptx &p) { p.removeNext("bar.warp.sync", mma, Ptx::last); },
       {"data race"}},
      {residual,
       "the slot is not released",
       [](Ptx &p) { p.removeArrival(mma, Ptx::last); },
       {"deadlock"}},
      {residual,
       "one lane releases for lanes that still read",
       [](Ptx &p) { p.removeNext("bar.warp.sync", mma, Ptx::last); },
       {"data race"}},
  });
}

TEST(AsyncCopyMutants, Setup) { expectReported(setupMutants(plain)); }

TEST(AsyncCopyMutants, AnyAlignment) {
  expectReported({
      {unaligned,
       "threads fill a slot without a wait",
       [](Ptx &p) { p.removeWait("st.shared"); },
       {"data race"}},
      {unaligned,
       "the consumer does not wait",
       [](Ptx &p) { p.removeWait(use); },
       {"data race", "nothing has written"}},
      {unaligned,
       "one lane releases for lanes that still read",
       [](Ptx &p) { p.removeNext("bar.warp.sync", mma, Ptx::last); },
       {"data race"}},
  });
}
