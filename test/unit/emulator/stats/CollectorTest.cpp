//===- CollectorTest.cpp - what kernels did, by role ----------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/stats/Collector.h"
#include "../Harness.h"

#include <nlohmann/json.hpp>

using namespace heddle::emulator;
using namespace heddle::emulator::test;

namespace {
/// Runs one block and counts. Device 1 has 4 KiB whose address is %d63.
struct Counted {
  Collector collector;
  std::string error;
  explicit Counted(const Kernel &k) {
    Machine machine;
    machine.setObserver(&collector);
    const auto &t = *heddle::target::findTarget(k.target);
    Device &d = machine.addDevice(t), &peer = machine.addDevice(t);
    Error e;
    auto module = Module::parse(k.text(), t, &e);
    if (!module) {
      error = e.text();
      return;
    }
    DevicePtr out = d.allocate(65536), in = peer.allocate(4096);
    LaunchConfig c;
    c.grid = {k.blocks, 1, 1};
    c.block = {k.threads, 1, 1};
    c.dynamicShared = k.shared;
    c.roles = k.roles;
    c.params.resize(16);
    std::memcpy(c.params.data(), &out, 8);
    std::memcpy(c.params.data() + 8, &in, 8);
    collector.begin(*module, "k");
    Report r = d.launch(module, "k", c);
    error = r.errors.empty() ? "" : r.errors[0].text();
  }
  uint64_t at(const char *group, const char *name, int role = -1) const {
    const size_t n = Collector::find(group, name);
    EXPECT_LT(n, Collector::counters) << name;
    const Collector::Kernel &k = collector.kernels().at(0);
    return role < 0 ? k.total()[n] : k.roles.at(size_t(role)).counts[n];
  }
};
} // namespace

TEST(EmulatorStats, BytesBySpaceAndLink) {
  Kernel k;
  k.shared = 4096;
  k.body = "st.global.u32 [%d61], %r62;\nld.global.v2.u32 {%r1, %r2}, [%d63];\nshl.b32 %r3, %r62, 2;\nmov.u32 %r4, smem;\nadd.u32 %r4, %r4, %r3;\nst.shared.u32 [%r4], %r1;\n"
           "cp.async.ca.shared.global [%r4+1024], [%d61], 4;\ncp.async.wait_all;\nred.global.add.u32 [%d62], 1;";
  Counted c(k);
  ASSERT_EQ(c.error, "");
  EXPECT_EQ(c.at("bytes", "global write"), 32u * 4 * 2);
  EXPECT_EQ(c.at("bytes", "global read"), 32u * 4);
  EXPECT_EQ(c.at("bytes", "peer device read"), 32u * 8);
  EXPECT_EQ(c.at("bytes", "shared write"), 32u * 4);
  EXPECT_EQ(c.at("bytes", "copied from global"), 32u * 4);
  EXPECT_EQ(c.at("bytes", "copied to shared"), 32u * 4);
}

TEST(EmulatorStats, BankConflicts) {
  struct { const char *body; uint64_t passes, extra; } cases[] = {
      {"shl.b32 %r3, %r62, 2;\nadd.u32 %r4, %r4, %r3;\nst.shared.u32 [%r4], %r62;", 1, 0},       // a word each
      {"shl.b32 %r3, %r62, 3;\nadd.u32 %r4, %r4, %r3;\nst.shared.u32 [%r4], %r62;", 2, 1},       // every second word
      {"shl.b32 %r3, %r62, 7;\nadd.u32 %r4, %r4, %r3;\nst.shared.u32 [%r4], %r62;", 32, 31},     // one bank
      {"st.shared.u32 [%r4], %r62;", 1, 0},                                                      // one word for all
      {"shl.b32 %r3, %r62, 4;\nadd.u32 %r4, %r4, %r3;\nst.shared.v4.u32 [%r4], {%r1, %r1, %r1, %r1};", 4, 0}, // 128 bytes a pass
      {"shl.b32 %r3, %r62, 7;\nadd.u32 %r4, %r4, %r3;\nst.shared.v4.u32 [%r4], {%r1, %r1, %r1, %r1};", 32, 28},
  };
  for (const auto &x : cases) {
    Kernel k;
    k.shared = 8192;
    k.body = std::string("mov.u32 %r4, smem;\nmov.u32 %r1, 0;\n") + x.body;
    Counted c(k);
    ASSERT_EQ(c.error, "");
    EXPECT_EQ(c.at("shared memory", "accesses"), 1u);
    EXPECT_EQ(c.at("shared memory", "passes"), x.passes) << x.body;
    EXPECT_EQ(c.at("shared memory", "extra passes (bank conflicts)"), x.extra) << x.body;
  }
}

TEST(EmulatorStats, InstructionsAndWaitsByRole) {
  Kernel k;
  k.threads = 64;
  k.blocks = 2;
  k.roles = {{"load", 0, 1}, {"mma", 1, 1}};
  // The second warp waits for the first, which counts to 500.
  k.body = "setp.lt.u32 %p1, %r62, 32;\n@!%p1 bra W;\nmov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p2, %r1, 500;\n@%p2 bra L;\nfma.rn.f32 %f1, %f1, %f1, %f1;\nW: bar.sync 0;";
  Counted c(k);
  ASSERT_EQ(c.error, "");
  const auto &kernel = c.collector.kernels()[0];
  ASSERT_EQ(kernel.roles.size(), 2u);
  EXPECT_EQ(kernel.blocks, 2u);
  EXPECT_EQ(c.at("instructions", "float", 0), 2u);
  EXPECT_EQ(c.at("instructions", "float", 1), 0u);
  EXPECT_EQ(c.at("instructions", "integer", 0) - c.at("instructions", "integer", 1), 2u * 500);
  EXPECT_EQ(c.at("waits", "barrier", 1), 2u);
  EXPECT_GT(c.at("waiting time", "barrier", 1), 2u * 1000);
  EXPECT_EQ(c.at("instructions", "of threads"), 32 * [&] {
    uint64_t sum = 0;
    for (size_t i = 1; i <= Collector::instructionClasses; ++i)
      sum += kernel.total()[i];
    return sum;
  }());
  const auto json = nlohmann::json::parse(c.collector.json());
  EXPECT_EQ(json["kernels"][0]["roles"]["load"]["instructions"]["float"], 2);
  EXPECT_EQ(json["kernels"][0]["total"]["waits"]["barrier"], c.at("waits", "barrier"));
  EXPECT_NE(c.collector.text().find("kernel k: 1 launch, 2 blocks"), std::string::npos);
  k.shared = 8; // the same with an mbarrier
  k.body = "setp.eq.u32 %p3, %r62, 0;\n@%p3 mbarrier.init.b64 [smem], 1;\nbar.sync 0;\nsetp.lt.u32 %p1, %r62, 32;\n@!%p1 bra W;\nmov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p2, %r1, 500;\n@%p2 bra L;\n"
           "@%p3 mbarrier.arrive.shared.b64 %d1, [smem];\nW: mbarrier.try_wait.parity.shared.b64 %p2, [smem], 0;\n@!%p2 bra W;";
  Counted m(k);
  ASSERT_EQ(m.error, "");
  EXPECT_GT(m.at("waits", "mbarrier", 1), 0u);
  EXPECT_EQ(m.at("waits", "other"), 0u);
  std::string error;
  EXPECT_FALSE(c.collector.write("/nonexistent/stats.json", &error));
  EXPECT_NE(error.find("cannot write statistics to '/nonexistent/stats.json'"), std::string::npos);
}
