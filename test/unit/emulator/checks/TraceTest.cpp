//===- TraceTest.cpp - traces and counts of a run ------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "../Harness.h"
#include "runtime/emulator/trace/TraceWriter.h"

#include <fstream>
#include <nlohmann/json.hpp>

using namespace heddle::emulator;
using namespace heddle::emulator::test;

TEST(EmulatorTrace, WaitsCopiesAndBankConflicts) {
  Kernel k;
  k.threads = 64;
  k.shared = 16384;
  k.roles = {{"load \"quoted\"", 0, 1}, {"use", 1, 1}};
  k.body =
      "mov.u32 %r1, smem;\nsetp.ne.u32 %p1, %r62, 0;\n@%p1 bra I;\nmbarrier.init.shared.b64 [%r1], "
      "1;\n"
      "mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 128;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1+128], [%d63], 128, "
      "[%r1];\nI: bar.sync 0;\n"
      "X: mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0;\n@!%p2 bra X;\n"
      "shl.b32 %r2, %r62, 7;\nadd.u32 %r2, %r2, %r1;\nst.shared.u32 [%r2+1024], %r62;\n" // 32
                                                                                         // lanes,
                                                                                         // one bank
      "shl.b32 %r2, %r62, 2;\nadd.u32 %r2, %r2, %r1;\nst.shared.u32 [%r2+10240], %r62;"; // 32 banks
  k.input.assign(32, 1);
  std::string error;
  const auto *t = heddle::target::findTarget(k.target);
  Error parse;
  auto module = Module::parse(k.text(), *t, &parse);
  ASSERT_TRUE(module) << parse.text();
  MachineOptions options;
  options.schedule = Schedule::LateAsync;
  Machine machine(options);
  TraceWriter trace;
  machine.setObserver(&trace);
  Device &d = machine.addDevice(*t);
  DevicePtr buffers[2] = {d.allocate(256), d.allocate(128)};
  d.copyIn(buffers[1], k.input.data(), 128);
  LaunchConfig c;
  c.grid = {1, 1, 1};
  c.block = {64, 1, 1};
  c.dynamicShared = k.shared;
  c.roles = k.roles;
  c.params.resize(16);
  std::memcpy(c.params.data(), buffers, 16);
  Report r = d.launch(module, "k", c);
  ASSERT_TRUE(r.ok) << r.text();
  EXPECT_EQ(trace.counts().sharedAccesses, 4u);
  EXPECT_EQ(trace.counts().sharedConflicts, 2u * 31);
  EXPECT_EQ(trace.counts().sharedWriteBytes, 512u);
  EXPECT_EQ(trace.counts().asyncReadBytes, 128u);
  EXPECT_EQ(trace.counts().asyncWriteBytes, 128u);
  EXPECT_EQ(trace.counts().copies, 1u);

  auto json = nlohmann::json::parse(trace.json(), nullptr, false);
  ASSERT_FALSE(json.is_discarded());
  unsigned waits = 0, issued = 0, completed = 0, roles = 0, named = 0;
  for (const auto &e : json["traceEvents"]) {
    waits += e["ph"] == "X" && e["cat"] == "wait" && e["name"] == "mbarrier 0" &&
             e["dur"].get<int>() > 0;
    issued += e["ph"] == "b" && e["name"] == "bulk copy";
    completed += e["ph"] == "e" && e["name"] == "bulk copy";
    roles += e["ph"] == "X" && e["cat"] == "role";
    named += e["ph"] == "M" && e["args"]["name"] == "load \"quoted\" 0";
  }
  EXPECT_GE(waits, 1u);
  EXPECT_EQ(issued, 1u);
  EXPECT_EQ(completed, 1u);
  EXPECT_EQ(roles, 2u);
  EXPECT_EQ(named, 1u);
  EXPECT_EQ(json["otherData"]["sharedBankConflicts"], 62);

  // A second launch is added to the file of the first.
  const std::string path = testing::TempDir() + "/emulator-trace.json";
  ASSERT_TRUE(trace.write(path, &error)) << error;
  ASSERT_TRUE(d.launch(module, "k", c).ok);
  ASSERT_TRUE(trace.write(path, &error)) << error;
  std::ifstream file(path);
  std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_EQ(text, trace.json());
  EXPECT_FALSE(trace.write("/nonexistent/folder/trace.json", &error));
  EXPECT_NE(error.find("/nonexistent/folder/trace.json"), std::string::npos);
}
