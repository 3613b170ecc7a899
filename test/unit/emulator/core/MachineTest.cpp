//===- MachineTest.cpp - launches, memory, devices, limits, events -------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "../Harness.h"
#include "runtime/emulator/Observer.h"

using namespace heddle::emulator;
using namespace heddle::emulator::test;

TEST(EmulatorMachine, MemoryErrors) {
  struct Case { const char *body; ErrorKind kind; const char *message; } cases[] = {
      {"ld.global.u32 %r1, [%d62+4096];", ErrorKind::OutOfBounds, "nearest allocation"},
      {"mov.u64 %d1, 0;\nst.global.u32 [%d1], 1;", ErrorKind::OutOfBounds, "out-of-bounds write of 4 bytes at 0x0"},
      {"ld.global.u32 %r1, [%d62+2];", ErrorKind::Misaligned, "multiple of 4"},
      {"ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%d62+8];", ErrorKind::Misaligned, "multiple of 16"},
      {"ld.shared.u32 %r1, [smem];", ErrorKind::Uninitialised, "shared offset 0"},
      {"ld.shared.u32 %r1, [smem+64];", ErrorKind::OutOfBounds, "the block has 64 bytes"},
      {"mov.u32 %r1, 0;\nst.shared.u32 [%r1], 1;", ErrorKind::OutOfBounds, "shared offset -1024"},
      {"mov.u64 %d1, 0;\nld.local.u32 %r1, [%d1+64];", ErrorKind::OutOfBounds, "local offset"},
      {"mov.u64 %d1, 16;\nld.param.u32 %r1, [%d1];", ErrorKind::OutOfBounds, "parameter offset 16"},
  };
  for (const auto &c : cases) {
    Kernel k;
    k.shared = 64;
    k.body = c.body;
    Outcome o = run(k);
    EXPECT_EQ(o.kind(), c.kind) << c.body;
    EXPECT_NE(o.error().find(c.message), std::string::npos) << o.error();
  }
}

TEST(EmulatorMachine, ErrorsSayWhereAndWho) {
  Kernel k;
  k.threads = 64;
  k.blocks = 3;
  k.globals = ".file 3 \"spec.mlir\"";
  k.roles = {{"load", 0, 1}, {"store", 1, 1}};
  k.body = ".loc 3 17 9\nsetp.ne.u32 %p1, %r63, 101;\n@!%p1 st.global.u32 [%d62+4099], 1;";
  Outcome o = run(k);
  ASSERT_EQ(o.report.errors.size(), 1u);
  const Error &e = o.report.errors[0];
  EXPECT_EQ(e.role, "store");
  EXPECT_EQ(e.warp, 1);
  EXPECT_EQ(e.lane, 5);
  EXPECT_EQ(e.cta.x, 1u);
  EXPECT_EQ(e.source, "spec.mlir:17:9");
  std::string text = k.text();
  uint32_t line = 1;
  for (size_t n = 0; n < text.find("@!%p1"); ++n)
    line += text[n] == '\n';
  EXPECT_EQ(e.line, line);
  EXPECT_FALSE(o.report.ok);
}

TEST(EmulatorMachine, LaunchChecks) {
  const auto &t = *heddle::target::findTarget("sm_90a");
  Error e;
  Kernel k;
  k.attributes = ".reqntid 32";
  auto m = Module::parse(k.text(), t, &e);
  ASSERT_TRUE(m) << e.text();
  Machine machine;
  Device &d = machine.addDevice(t);
  auto attempt = [&](Dim3 grid, Dim3 block, uint32_t shared, size_t params, Dim3 cluster, const char *entry = "k") {
    LaunchConfig c;
    c.grid = grid;
    c.block = block;
    c.dynamicShared = shared;
    c.params.resize(params);
    c.cluster = cluster;
    return d.launch(m, entry, c).text();
  };
  EXPECT_NE(attempt({1, 1, 1}, {32, 1, 1}, 0, 16, {0, 0, 0}, "x").find("no such entry"), std::string::npos);
  EXPECT_NE(attempt({0, 1, 1}, {32, 1, 1}, 0, 16, {0, 0, 0}).find("expected a grid"), std::string::npos);
  EXPECT_NE(attempt({1, 1, 1}, {64, 1, 1}, 0, 16, {0, 0, 0}).find(".reqntid"), std::string::npos);
  EXPECT_NE(attempt({1, 1, 1}, {32, 1, 1}, 0, 12, {0, 0, 0}).find("expected 16 bytes of parameters, got 12"), std::string::npos);
  EXPECT_NE(attempt({1, 1, 1}, {32, 1, 1}, 1 << 20, 16, {0, 0, 0}).find("bytes of shared memory"), std::string::npos);
  EXPECT_NE(attempt({3, 1, 1}, {32, 1, 1}, 0, 16, {2, 1, 1}).find("multiple of the cluster"), std::string::npos);
  EXPECT_NE(attempt({32, 1, 1}, {32, 1, 1}, 0, 16, {32, 1, 1}).find("at most 16 blocks"), std::string::npos);
}

TEST(EmulatorMachine, Limits) {
  Kernel k;
  k.body = "mov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1;\nbra L;";
  k.options.limits.maxInstructions = 10000;
  Outcome o = run(k);
  EXPECT_EQ(o.kind(), ErrorKind::Limit);
  EXPECT_LT(o.report.stats.warpInstructions, 20000u);
  k.options.limits.maxInstructions = 0;
  k.options.limits.maxSeconds = 0.05;
  EXPECT_EQ(run(k).kind(), ErrorKind::Limit);
  Machine machine([] {
    MachineOptions m;
    m.limits.maxMemory = 1 << 20;
    return m;
  }());
  Device &d = machine.addDevice(*heddle::target::findTarget("sm_90a"));
  EXPECT_NE(d.allocate(1 << 19), 0u);
  EXPECT_EQ(d.allocate(1 << 20), 0u);
  k.options.limits = {};
  k.options.limits.maxMemory = 1000000;
  k.threads = 1024;
  k.blocks = 1000;
  k.body = "red.global.add.u32 [%d63], 1;"; // all resident blocks together
  EXPECT_EQ(run(k).kind(), ErrorKind::Limit);
  k.options.limits.maxMemory = 10000; // less than one block
  k.body = "";
  EXPECT_EQ(run(k).kind(), ErrorKind::Limit);
}

TEST(EmulatorMachine, HostThreadsDoNotChangeResults) {
  Kernel k; // the clock shows the schedule of a block
  k.threads = 96;
  k.blocks = 12;
  k.cluster = 2;
  k.shared = 64;
  k.body = "shl.b32 %r2, %r60, 3;\nmov.u32 %r1, 0;\nL: bar.sync 0;\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, %r2;\n@%p1 bra L;\n"
           "mov.u32 %r3, %clock;\nst.global.u32 [%d61], %r3;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;";
  for (uint64_t seed : {0, 1, 2, 3}) {
    k.options.seed = seed;
    k.options.threads = 1;
    Outcome one = run(k);
    ASSERT_EQ(one.error(), "");
    for (unsigned threads : {2, 5, 64}) {
      k.options.threads = threads;
      Outcome many = run(k);
      ASSERT_EQ(many.error(), "");
      EXPECT_EQ(many.out, one.out) << seed;
      EXPECT_EQ(many.report.stats.warpInstructions, one.report.stats.warpInstructions);
    }
  }
  // Several blocks fail: the report is the first one's.
  k.body = "setp.lt.u32 %p1, %r60, 5;\n@%p1 bra E;\nst.global.u32 [%d61+1], %r60;\nE:";
  for (unsigned threads : {1, 3, 8}) {
    k.options.threads = threads;
    Outcome o = run(k);
    ASSERT_FALSE(o.report.ok);
    EXPECT_EQ(o.report.errors[0].cta.x, 5u);
    EXPECT_EQ(o.report.errors.size(), 1u);
  }
}

TEST(EmulatorMachine, BlocksThatCommunicateRunTogether) {
  Kernel k; // block b waits for block b + 1
  k.threads = 1;
  k.blocks = 6;
  k.options.threads = 4;
  const std::string head = "mul.wide.u32 %d1, %r60, 4;\nadd.u64 %d1, %d1, %d62;\nsetp.eq.u32 %p1, %r60, 5;\n@%p1 bra S;\n";
  k.body = head + "W: ld.acquire.gpu.global.u32 %r1, [%d1+4];\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 bra W;\nS: add.u32 %r1, %r1, 1;\nst.release.gpu.global.u32 [%d1], 1;";
  for (uint64_t seed : {0, 1, 2, 3}) {
    k.options.seed = seed;
    Outcome o = run(k);
    ASSERT_EQ(o.error(), "");
    EXPECT_EQ(o.out, std::vector<uint32_t>(6, 1));
  }
  // With ordinary accesses the wait is a race, and may last for ever.
  k.body = head + "W: ld.global.u32 %r1, [%d1+4];\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 bra W;\nS: st.global.u32 [%d1], 1;";
  k.options.threads = 1;
  Outcome o = run(k);
  ASSERT_FALSE(o.report.ok);
  EXPECT_EQ(o.kind(), ErrorKind::Deadlock);
  EXPECT_NE(o.error().find("takes strong accesses"), std::string::npos);
}

TEST(EmulatorMachine, SeedsReplay) {
  Kernel k; // the order of atomics shows the schedule
  k.threads = 128;
  k.blocks = 4;
  k.body = "L: atom.global.add.u32 %r1, [%d62+2044], 1;\nst.global.u32 [%d61], %r1;\nadd.u32 %r2, %r2, 1;";
  k.outWords = 1;
  auto order = [&](uint64_t seed) {
    k.options.seed = seed;
    k.options.schedule = seed ? Schedule::Random : Schedule::RoundRobin;
    return run(k).out;
  };
  EXPECT_EQ(order(0), order(0));
  EXPECT_EQ(order(7), order(7));
  EXPECT_NE(order(7), order(8));
}

TEST(EmulatorMachine, HostMemoryAndSymbols) {
  const auto &t = *heddle::target::findTarget("sm_90a");
  Error e;
  Kernel k;
  k.globals = ".global .align 4 .u32 counter = 40;";
  k.body = "red.global.add.u32 [counter], 1;\nst.global.u32 [%d61], 9;";
  auto m = Module::parse(k.text(), t, &e);
  ASSERT_TRUE(m) << e.text();
  Machine machine;
  Device &d = machine.addDevice(t);
  std::vector<uint32_t> host(32);
  DevicePtr p = d.mapHost(host.data(), 128);
  LaunchConfig c;
  c.block = {32, 1, 1};
  c.params.resize(16);
  std::memcpy(c.params.data(), &p, 8);
  EXPECT_TRUE(d.launch(m, "k", c).ok);
  EXPECT_EQ(host[31], 9u);
  DevicePtr counter = d.symbol(m, "counter");
  uint32_t v = 0;
  ASSERT_TRUE(d.copyOut(&v, counter, 4));
  EXPECT_EQ(v, 72u);
  EXPECT_EQ(d.symbol(m, "nothing"), 0u);
  EXPECT_FALSE(d.copyOut(&v, p + 126, 4));
  EXPECT_TRUE(d.free(p));
  EXPECT_FALSE(d.free(p));
  EXPECT_NE(d.launch(m, "k", c).text().find("which was freed"), std::string::npos);
}

static std::shared_ptr<const Module> module(Kernel k) {
  Error e;
  auto m = Module::parse(k.text(), *heddle::target::findTarget(k.target), &e);
  EXPECT_TRUE(m) << e.text();
  return m;
}
static LaunchConfig config(DevicePtr out, DevicePtr in, unsigned threads = 1) {
  LaunchConfig c;
  c.block = {threads, 1, 1};
  c.params.resize(16);
  std::memcpy(c.params.data(), &out, 8);
  std::memcpy(c.params.data() + 8, &in, 8);
  return c;
}

TEST(EmulatorMachine, DevicesSeeEachOthersMemory) {
  Kernel k; // each sends a flag into the other's memory and waits for its own
  k.body = "st.release.sys.global.u32 [%d63], 5;\nL: ld.acquire.sys.global.u32 %r1, [%d62];\nsetp.ne.u32 %p1, %r1, 5;\n@%p1 bra L;";
  auto m = module(k);
  for (uint64_t seed = 0; seed < 4; ++seed) {
    Machine machine([&] {
      MachineOptions o;
      o.seed = seed;
      return o;
    }());
    Device &a = machine.addDevice(m->target()), &b = machine.addDevice(m->target());
    DevicePtr pa = a.allocate(4), pb = b.allocate(4);
    Error e;
    ASSERT_TRUE(a.enqueue(m, "k", config(pa, pb), &e));
    ASSERT_TRUE(b.enqueue(m, "k", config(pb, pa), &e));
    EXPECT_EQ(machine.run(), RunState::Done);
    Report r = machine.takeReport();
    EXPECT_TRUE(r.ok) << r.text();
  }
}

TEST(EmulatorMachine, ExternalAgentsAreWaitedFor) {
  Kernel k;
  k.body = "L: ld.acquire.sys.global.u32 %r1, [%d62];\nsetp.ne.u32 %p1, %r1, 5;\n@%p1 bra L;";
  auto m = module(k);
  Machine machine([] {
    MachineOptions o;
    o.externalAgents = true;
    return o;
  }());
  Device &d = machine.addDevice(m->target());
  DevicePtr p = d.allocate(4);
  Error e;
  ASSERT_TRUE(d.enqueue(m, "k", config(p, p), &e));
  EXPECT_EQ(machine.run(1000), RunState::Budget);
  EXPECT_EQ(machine.run(), RunState::Idle);
  uint32_t five = 5;
  d.copyIn(p, &five, 4);
  EXPECT_EQ(machine.run(), RunState::Done);
  EXPECT_TRUE(machine.takeReport().ok);
  machine.options().externalAgents = false;
  uint32_t zero = 0;
  d.copyIn(p, &zero, 4);
  EXPECT_EQ(d.launch(m, "k", config(p, p)).errors.at(0).kind, ErrorKind::Deadlock);
}

TEST(EmulatorMachine, LaunchesOfADeviceAreOrdered) {
  Kernel k;
  k.body = "ld.global.u32 %r1, [%d62];\nmad.lo.u32 %r1, %r1, 3, 1;\nst.global.u32 [%d62], %r1;";
  auto m = module(k);
  Machine machine;
  Device &d = machine.addDevice(m->target());
  DevicePtr p = d.allocate(4);
  Error e;
  for (int n = 0; n < 4; ++n)
    ASSERT_TRUE(d.enqueue(m, "k", config(p, p), &e));
  EXPECT_EQ(machine.run(), RunState::Done);
  uint32_t v = 0;
  d.copyOut(&v, p, 4);
  EXPECT_EQ(v, 40u);
}

TEST(EmulatorMachine, DependentLaunchStartsEarlyAndWaits) {
  Kernel first; // waits for a flag that only the dependent launch sets
  first.body = "griddepcontrol.launch_dependents;\nL: ld.volatile.global.u32 %r1, [%d62];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\nst.global.u32 [%d62+4], 7;";
  Kernel second;
  second.body = "st.volatile.global.u32 [%d62], 1;\ngriddepcontrol.wait;\nld.global.u32 %r1, [%d62+4];\nst.global.u32 [%d62+8], %r1;";
  auto a = module(first), b = module(second);
  Machine machine;
  Device &d = machine.addDevice(a->target());
  DevicePtr p = d.allocate(16);
  Error e;
  ASSERT_TRUE(d.enqueue(a, "k", config(p, p), &e));
  LaunchConfig c = config(p, p);
  c.programmaticDependent = true;
  ASSERT_TRUE(d.enqueue(b, "k", c, &e));
  EXPECT_EQ(machine.run(), RunState::Done) << machine.takeReport().text();
  uint32_t v = 0;
  d.copyOut(&v, p + 8, 4);
  EXPECT_EQ(v, 7u);
}

TEST(EmulatorMachine, ObserverSeesEvents) {
  struct Counter : Observer {
    unsigned writes = 0, fences = 0, arrives = 0, issues = 0, completes = 0, starts = 0, asyncWrites = 0;
    void access(const AccessEvent &e) override {
      if (e.write && e.lanes)
        ++writes;
      if (e.write && e.op)
        ++asyncWrites;
    }
    void fence(const FenceEvent &) override { ++fences; }
    void sync(const SyncEvent &e) override { arrives += e.kind == SyncKind::MbarArrive; }
    void asyncIssue(const AsyncEvent &) override { ++issues; }
    void asyncComplete(const AsyncEvent &, bool reads) override { completes += !reads; }
    void ctaStart(const WarpRef &, unsigned) override { ++starts; }
  } counter;
  Kernel k;
  k.threads = 1;
  k.body = ".shared .align 16 .b8 s[64];\nmov.u32 %r1, s;\nmbarrier.init.b64 [s], 1;\nfence.proxy.async;\nmbarrier.arrive.expect_tx.shared.b64 _, [s], 16;\n"
           "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1+16], [%d63], 16, [%r1];\n"
           "X: mbarrier.try_wait.parity.b64 %p2, [s], 0;\n@!%p2 bra X;\nst.global.u32 [%d61], 1;";
  auto m = module(k);
  Machine machine;
  machine.setObserver(&counter);
  Device &d = machine.addDevice(m->target());
  DevicePtr p = d.allocate(64), q = d.allocate(64);
  Report r = d.launch(m, "k", config(p, q));
  EXPECT_TRUE(r.ok) << r.text();
  EXPECT_EQ(counter.writes, 1u);
  EXPECT_EQ(counter.fences, 1u);
  EXPECT_EQ(counter.arrives, 1u);
  EXPECT_EQ(counter.issues, 1u);
  EXPECT_EQ(counter.completes, 1u);
  EXPECT_EQ(counter.starts, 1u);
  EXPECT_EQ(counter.asyncWrites, 1u);
}
