//===- BrokenTest.cpp - broken collectives are reported -------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One change each to what orders two ranks; the emulator names what is wrong with it.
//
//===----------------------------------------------------------------------===//
#include "../mutants/Ptx.h"
#include "Group.h"

#include <gtest/gtest.h>

using namespace heddle::collectives;
using heddle::mutants::Ptx;

namespace {

/// Runs a changed kernel a few times, until something is reported; `expected` is part of it.
void expectReported(const std::string &kernel, const std::string &target,
                    const std::function<void(Ptx &)> &change, const std::string &expected,
                    const std::string &form = "") {
  std::string reports;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Job job{.kernel = kernel,
            .target = target,
            .world = 3,
            .size = form == "__packets" ? 384 : 776,
            .form = form,
            .launches = 2,
            .seed = seed};
    job.change = [&](const std::string &text, const std::string &entry) {
      Ptx ptx(text, entry);
      change(ptx);
      EXPECT_EQ(ptx.problem(), "") << kernel;
      return ptx.problem().empty() ? ptx.text() : "";
    };
    reports += run(job).error + "\n";
    if (reports.find(expected) != std::string::npos)
      return;
  }
  ADD_FAILURE() << kernel << " on " << target << ": expected '" << expected << "' in " << reports;
}

const std::string race = "data race";

} // namespace

TEST(BrokenCollectives, SignalsThatOrderNothing) {
  for (const char *target : {"sm_80", "sm_90a", "sm_100a"})
    for (const char *kernel : {"gather", "swap", "spread"})
      expectReported(
          kernel, target, [](Ptx &p) { p.replace("st.release.sys", "st.relaxed.sys"); }, race);
}

TEST(BrokenCollectives, WaitsThatOrderNothing) {
  for (const char *target : {"sm_80", "sm_90a"})
    expectReported(
        "reduce", target, [](Ptx &p) { p.replace("ld.acquire.sys", "ld.relaxed.sys"); }, race,
        "__two_shot");
}

TEST(BrokenCollectives, ScopesThatAreTooSmall) {
  for (const char *kernel : {"gather", "swap"}) {
    expectReported(
        kernel, "sm_90a", [](Ptx &p) { p.replace("st.release.sys", "st.release.gpu"); },
        "too small a scope");
    expectReported(
        kernel, "sm_80", [](Ptx &p) { p.replace("st.release.sys", "st.release.gpu"); },
        "too small a scope");
  }
}

/// The flag is sent before the copies are complete.
TEST(BrokenCollectives, CopiesThatAreNotWaitedFor) {
  for (const char *kernel : {"gather", "swap", "spread"}) {
    expectReported(
        kernel, "sm_90a", [](Ptx &p) { p.remove("cp.async.bulk.wait_group 0;", 0); }, race);
    expectReported(
        kernel, "sm_90a",
        [](Ptx &p) {
          p.replace("cp.async.bulk.wait_group 0;", "cp.async.bulk.wait_group.read 0;", 0);
        },
        race);
  }
}

/// Threads that have not met: the flag of one says nothing about what others wrote.
TEST(BrokenCollectives, ThreadsThatHaveNotMet) {
  expectReported(
      "gather", "sm_80",
      [](Ptx &p) { p.replace("barrier.cta.red.and.pred p,", "setp.eq.u32 p, 0, 0; //"); }, race);
}

/// No credit: the next launch's data overwrites what this one still reads.
TEST(BrokenCollectives, CreditThatNobodyWaitsFor) {
  expectReported(
      "gather", "sm_90a", [](Ptx &p) { p.replace("ld.acquire.sys", "ld.relaxed.sys"); }, race);
}

/// Packets whose number is not looked at.
TEST(BrokenCollectives, PacketsThatAreNotWaitedFor) {
  for (const char *kernel : {"gather", "reduce"})
    expectReported(
        kernel, "sm_90a",
        [](Ptx &p) { p.replace("setp.eq.and.u32 p, t,", "setp.eq.u32 p, s, s; //"); },
        "wrong element", "__packets");
}

/// The launch count is not carried on: the second launch takes the first one's flags for its own.
TEST(BrokenCollectives, LaunchesThatAreNotCounted) {
  for (const char *target : {"sm_80", "sm_90a"})
    expectReported("gather", target, [](Ptx &p) { p.remove("st.global.b64", 0); }, race);
}
