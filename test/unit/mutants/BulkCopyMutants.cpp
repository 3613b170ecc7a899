//===- BulkCopyMutants.cpp - broken kernels with tensor copies and mma.sync - ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Mutant.h"

using namespace heddle::mutants;

static const Where plain{"sm_120a"}, residual{"sm_120a", "residual"}, known{"sm_120a", "known"};

TEST(BulkCopyMutants, Producer) { expectReported(producerMutants(plain, "ldmatrix")); }
TEST(BulkCopyMutants, Store) { expectReported(storeMutants(known, "stmatrix")); }
TEST(BulkCopyMutants, Setup) { expectReported(setupMutants(plain)); }

TEST(BulkCopyMutants, Multiply) {
  expectReported({
      {plain,
       "the slot is not released",
       [](Ptx &p) { p.removeArrival("mma.sync", Ptx::last); },
       {"deadlock"}},
      {plain,
       "the release releases nothing",
       [](Ptx &p) { p.relaxArrival("mma.sync", Ptx::last); },
       {"data race"}},
      {plain,
       "the producer acquires nothing by its wait",
       [](Ptx &p) { p.relaxWait("mbarrier.arrive.expect_tx"); },
       {"data race"}},
      {plain,
       "one lane releases for lanes that still read",
       [](Ptx &p) { p.removeNext("bar.warp.sync", "mma.sync", Ptx::last); },
       {"data race"}},
      {plain,
       "fragments come from the next row",
       [](Ptx &p) { p.shift("ldmatrix", 16, 0); },
       {"wrong result", "data race"}},
      {plain,
       "the mbarriers are not shown to the copies",
       [](Ptx &p) { p.remove("fence.mbarrier_init"); },
       {"fence.mbarrier_init"}},
      {residual,
       "the slot is not released",
       [](Ptx &p) { p.removeArrival("mma.sync", Ptx::last); },
       {"deadlock"}},
  });
}
