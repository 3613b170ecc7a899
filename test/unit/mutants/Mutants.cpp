//===- Mutants.cpp - mutations that several targets share ------------------- ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Mutant.h"

namespace heddle::mutants {

void expectReported(const Mutants &mutants) {
  for (const Mutant &m : mutants) {
    SCOPED_TRACE(m.where.target + " " + m.where.kernel + " variant " +
                 std::to_string(m.where.variant) + ": " + m.name);
    auto form =
        loadForm(packageFor(m.where.package), m.where.kernel, m.where.target, m.where.variant);
    ASSERT_TRUE(form);
    if (m.change) {
      Ptx ptx(form->ptx(), form->variant().entry);
      m.change(ptx);
      ASSERT_EQ(ptx.problem(), "");
      ASSERT_NE(ptx.text(), form->ptx());
      form->ptx() = ptx.text();
    }
    if (m.manifest)
      m.manifest(form->variant());
    bool found = false;
    std::string reports; // the first line of each
    for (uint64_t seed = 0; seed < 6 && !found; ++seed) {
      std::string report = runForm(*form, sizesFor(m.where), seed);
      ASSERT_EQ(report.find("cannot load the PTX"), std::string::npos) << report;
      for (const std::string &e : m.expected)
        found |= report.find(e) != std::string::npos;
      reports += report.substr(0, report.find('\n')) + "\n";
    }
    EXPECT_TRUE(found) << "expected '" << m.expected[0] << "' in:\n" << reports;
  }
}

static const std::string expectTx = "mbarrier.arrive.expect_tx",
                         load = "cp.async.bulk.tensor.2d.shared",
                         store = "cp.async.bulk.tensor.2d.global";

/// The role that fills slots with tensor copies, and the first wait of the role that uses them.
Mutants producerMutants(const Where &w, const std::string &firstUse) {
  return {
      {w,
       "a slot is filled without a wait for its release",
       [](Ptx &p) { p.removeWait(expectTx); },
       {"data race", "more arrivals"}},
      {w,
       "a slot is filled after one look at its release",
       [](Ptx &p) { p.lookOnce(expectTx); },
       {"data race"}},
      {w,
       "the producer waits for the other phase",
       [](Ptx &p) { p.flipParity(expectTx); },
       {"deadlock"}},
      {w,
       "bytes are not announced",
       [](Ptx &p) {
         p.replace(expectTx + ".shared.b64 _, ", "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 ");
       },
       {"deadlock"}},
      {w,
       "too few bytes are announced",
       [](Ptx &p) { p.setLast(expectTx, "1024"); },
       {"data race", "deadlock", "pending bytes", "more arrivals"}},
      {w,
       "too many bytes are announced",
       [](Ptx &p) { p.setLast(expectTx, "131072"); },
       {"deadlock"}},
      {w, "one of the copies is missing", [](Ptx &p) { p.remove(load, 0); }, {"deadlock"}},
      {w,
       "the coordinates of a load are exchanged",
       [](Ptx &p) { p.swapCoordinates(load, 0); },
       {"wrong result"}},
      {w,
       "the ring of the producer is one slot too long",
       [](Ptx &p) { p.increase("setp.eq.b32", load, Ptx::last, true); },
       {"mbarrier", "deadlock", "out of bounds", "wrong result", "data race"}},
      {w,
       "the consumer does not wait for the slot",
       [=](Ptx &p) { p.removeWait(firstUse); },
       {"data race", "nothing has written"}},
      {w,
       "the consumer looks once at the slot",
       [=](Ptx &p) { p.lookOnce(firstUse); },
       {"data race", "nothing has written"}},
      {w,
       "the consumer waits for the other phase",
       [=](Ptx &p) { p.flipParity(firstUse); },
       {"data race", "nothing has written", "deadlock"}},
      {w,
       "the consumer acquires nothing by its wait",
       [=](Ptx &p) { p.relaxWait(firstUse); },
       {"data race"}},
  };
}

/// The role that writes results to slots (first by the instruction `firstWrite`), and the one that
/// stores the slots.
Mutants storeMutants(const Where &w, const std::string &firstWrite) {
  return {
      {w,
       "a slot of results is overwritten without a wait",
       [=](Ptx &p) { p.removeWait(firstWrite); },
       {"data race"}},
      {w,
       "no fence between writes and the store",
       [](Ptx &p) { p.remove("fence.proxy.async"); },
       {"fence.proxy.async"}},
      {w,
       "the fence speaks of the other space",
       [](Ptx &p) { p.replace("fence.proxy.async.shared::cta", "fence.proxy.async.global"); },
       {"fence.proxy.async"}},
      {w,
       "the last of the fences is missing",
       [](Ptx &p) { p.remove("fence.proxy.async", Ptx::last); },
       {"fence.proxy.async"}},
      {w,
       "one lane commits without the others",
       [](Ptx &p) { p.removeNext("bar.warp.sync", "fence.proxy.async"); },
       {"data race"}},
      {w,
       "the results are not committed",
       [](Ptx &p) { p.removeArrival("fence.proxy.async"); },
       {"deadlock"}},
      {w,
       "the commit releases nothing",
       [](Ptx &p) { p.relaxArrival("fence.proxy.async"); },
       {"data race"}},
      {w,
       "the store does not wait for the results",
       [](Ptx &p) { p.removeWait(store); },
       {"data race", "nothing has written"}},
      {w,
       "the store looks once at the results",
       [](Ptx &p) { p.lookOnce(store); },
       {"data race", "nothing has written"}},
      {w,
       "a stored slot is released before it is read",
       [](Ptx &p) { p.remove("cp.async.bulk.wait_group.read"); },
       {"data race"}},
      {w,
       "a stored slot is released one group early",
       [](Ptx &p) {
         p.replace("cp.async.bulk.wait_group.read 0", "cp.async.bulk.wait_group.read 1");
       },
       {"data race"}},
      {w,
       "stores form no group",
       [](Ptx &p) { p.remove("cp.async.bulk.commit_group"); },
       {"data race"}},
      {w,
       "the slot is not released after the store",
       [](Ptx &p) { p.removeArrival("cp.async.bulk.wait_group.read"); },
       {"deadlock"}},
      {w,
       "no store is waited for",
       [](Ptx &p) { p.remove("cp.async.bulk.wait_group"); },
       {"data race", "in flight"}},
      {w,
       "the coordinates of a store are exchanged",
       [](Ptx &p) { p.swapCoordinates(store, 0); },
       {"wrong result", "data race"}},
  };
}

/// mbarriers, their counts, and the barrier behind their initialisation.
Mutants setupMutants(const Where &w) {
  return {
      {w,
       "a full barrier expects one arrival too many",
       [](Ptx &p) { p.setLast("mbarrier.init", "200", 0); },
       {"deadlock"}},
      {w,
       "an mbarrier is not initialised",
       [](Ptx &p) { p.remove("mbarrier.init", 1); },
       {"no initialised mbarrier", "no mbarrier is initialised"}},
      {w,
       "nobody waits for the initialisation",
       [](Ptx &p) { p.remove("bar.sync", 0); },
       {"no initialised mbarrier", "initialisation", "which nothing has written",
        "no mbarrier is initialised"}},
  };
}

} // namespace heddle::mutants
