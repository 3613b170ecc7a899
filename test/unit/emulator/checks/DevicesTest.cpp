//===- DevicesTest.cpp - races between devices ---------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two devices of one machine that share memory: rank 0 writes data and a flag into the
// memory of rank 1, which polls the flag and reads the data.
//
//===----------------------------------------------------------------------===//
#include "../Harness.h"
#include "runtime/emulator/checks/RaceDetector.h"

using namespace heddle::emulator;
using namespace heddle::emulator::test;

namespace {

struct Exchange {
  std::string put;    ///< data into [%d63+128], by all lanes: lane in %r61, address %d1
  std::string signal; ///< the flag at [%d63], by lane 0 (others have %p1)
  std::string poll;   ///< the flag into %r1
  std::string after;  ///< between the poll and the read
};

const Exchange correct = {"st.global.u32 [%d1+128], %r61;\nbar.warp.sync 0xffffffff;\n",
                          "st.release.sys.global.u32 [%d63], 1;\n",
                          "ld.acquire.sys.global.u32 %r1, [%d63];\n",
                          "bar.warp.sync 0xffffffff;\n"};

std::string kernel(const std::string &body) {
  Kernel k;
  k.body =
      "setp.ne.u32 %p1, %r61, 0;\nmul.wide.u32 %d1, %r61, 4;\nadd.u64 %d1, %d1, %d63;\n" + body;
  return k.text();
}

/// Runs both ranks together; "" when the data arrived, else what was reported.
std::string exchange(const Exchange &x, uint64_t seed) {
  const auto *t = heddle::target::findTarget("sm_90a");
  const std::string texts[2] = {
      kernel(x.put + "@%p1 bra END;\n" + x.signal + "END:"),
      kernel("@%p1 bra SYNC;\nPOLL:\n" + x.poll +
             "setp.eq.u32 %p3, %r1, 0;\n@%p3 bra POLL;\nSYNC:\n" + x.after +
             "ld.global.u32 %r2, [%d1+128];\nst.global.u32 [%d61], %r2;\n")};
  MachineOptions options;
  options.seed = seed;
  options.limits.maxInstructions = 200000;
  Machine machine(options);
  RaceDetector races;
  machine.setObserver(&races);
  Device *devices[2] = {&machine.addDevice(*t, 1), &machine.addDevice(*t, 1)};
  DevicePtr out = devices[1]->allocate(128), buffer = devices[1]->allocate(512);
  for (int rank = 0; rank < 2; ++rank) {
    Error error;
    auto module = Module::parse(texts[rank], *t, &error);
    if (!module)
      return error.text();
    LaunchConfig c;
    c.grid = {1, 1, 1};
    c.block = {32, 1, 1};
    c.dynamicShared = 1024;
    c.roles = {{rank ? "receive" : "send", 0, 1}};
    c.params.resize(16);
    std::memcpy(c.params.data(), &out, 8);
    std::memcpy(c.params.data() + 8, &buffer, 8);
    if (!devices[rank]->enqueue(module, "k", c, &error))
      return error.text();
  }
  machine.run();
  Report report = machine.takeReport();
  if (!report.ok)
    return report.text();
  uint32_t got[32];
  devices[1]->copyOut(got, out, sizeof got);
  for (uint32_t n = 0; n < 32; ++n)
    if (got[n] != n)
      return "wrong data";
  return "";
}

void expectClean(const Exchange &x) {
  for (uint64_t seed = 0; seed < 16; ++seed)
    EXPECT_EQ(exchange(x, seed), "") << "seed " << seed;
}

void expectNamed(const Exchange &x, const std::string &expected) {
  std::string reports;
  for (uint64_t seed = 0; seed < 4; ++seed)
    reports += exchange(x, seed) + "\n";
  EXPECT_NE(reports.find(expected), std::string::npos)
      << "expected '" << expected << "' in " << reports;
}

Exchange with(std::string Exchange::*part, const std::string &text) {
  Exchange x = correct;
  x.*part = text;
  return x;
}

} // namespace

TEST(EmulatorDevices, AFlagOfSystemScopeIsEnough) {
  expectClean(correct);
  expectClean(
      with(&Exchange::signal, "fence.acq_rel.sys;\nst.relaxed.sys.global.u32 [%d63], 1;\n"));
  expectClean(with(&Exchange::signal, "red.release.sys.global.add.u32 [%d63], 1;\n"));
  Exchange x = with(&Exchange::poll, "ld.relaxed.sys.global.u32 %r1, [%d63];\n");
  x.after = "fence.acq_rel.sys;\nbar.warp.sync 0xffffffff;\n";
  expectClean(x);
}

TEST(EmulatorDevices, TooSmallAScopeIsNamed) {
  const std::string scope = "too small a scope";
  expectNamed(with(&Exchange::signal, "st.release.gpu.global.u32 [%d63], 1;\n"), scope);
  expectNamed(with(&Exchange::signal, "st.release.cta.global.u32 [%d63], 1;\n"), scope);
  expectNamed(with(&Exchange::signal, "red.release.gpu.global.add.u32 [%d63], 1;\n"), scope);
  expectNamed(with(&Exchange::signal, "fence.acq_rel.gpu;\nst.relaxed.sys.global.u32 [%d63], 1;\n"),
              scope);
  expectNamed(with(&Exchange::poll, "ld.acquire.gpu.global.u32 %r1, [%d63];\n"), scope);
  Exchange x = with(&Exchange::poll, "ld.relaxed.sys.global.u32 %r1, [%d63];\n");
  x.after = "fence.acq_rel.gpu;\nbar.warp.sync 0xffffffff;\n";
  expectNamed(x, scope);
}

TEST(EmulatorDevices, AFlagThatOrdersNothingIsNamed) {
  const std::string race = "data race on global memory";
  expectNamed(with(&Exchange::signal, "st.relaxed.sys.global.u32 [%d63], 1;\n"), race);
  expectNamed(with(&Exchange::signal, "st.volatile.global.u32 [%d63], 1;\n"), race);
  expectNamed(with(&Exchange::signal, "st.global.u32 [%d63], 1;\n"), race);
  expectNamed(with(&Exchange::poll, "ld.relaxed.sys.global.u32 %r1, [%d63];\n"), race);
  expectNamed(with(&Exchange::put, "st.global.u32 [%d1+128], %r61;\n"), race);
  expectNamed(with(&Exchange::after, "\n"), race);
  // Signalled first, written then.
  Exchange x = correct;
  x.put = "bar.warp.sync 0xffffffff;\n";
  x.signal = correct.signal + "END:\nst.global.u32 [%d1+128], %r61;\nbra LEAVE;\nLEAVE:\n";
  x.signal.erase(x.signal.find("END:\n"), 5);
  expectNamed(x, race);
}

// A copy engine writes into the memory of the other rank.
TEST(EmulatorDevices, ABulkCopyMustBeWaitedForInFull) {
  const std::string put =
      "mov.u32 %r5, smem;\nshl.b32 %r6, %r61, 2;\nadd.u32 %r6, %r6, %r5;\nst.shared.u32 [%r6], "
      "%r61;\n"
      "fence.proxy.async.shared::cta;\nbar.warp.sync 0xffffffff;\n@%p1 bra END;\n"
      "cp.async.bulk.global.shared::cta.bulk_group [%d1+128], [%r5], "
      "128;\ncp.async.bulk.commit_group;\n";
  expectClean(with(&Exchange::put, put + "cp.async.bulk.wait_group 0;\n"));
  Exchange x = with(&Exchange::put, put + "cp.async.bulk.wait_group.read 0;\n");
  x.signal += "cp.async.bulk.wait_group 0;\n";
  expectNamed(x, "nothing waited for the operation to complete");
}

TEST(EmulatorDevices, AReportNamesBothRanks) {
  std::string report =
      exchange(with(&Exchange::poll, "ld.relaxed.sys.global.u32 %r1, [%d63];\n"), 1);
  for (const char *part : {"role receive, warp 0", "role send, warp 0", "device 0", "device 1"})
    EXPECT_NE(report.find(part), std::string::npos) << part << " in " << report;
}
