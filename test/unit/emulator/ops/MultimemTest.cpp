//===- MultimemTest.cpp - multimem over devices --------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "../Harness.h"

using namespace heddle::emulator;
using namespace heddle::emulator::test;

namespace {
/// Three devices with 64 bytes each, bound to one multicast object at %d63; device 1 runs `body`.
struct Group {
  Machine machine;
  std::vector<Device *> devices;
  std::vector<DevicePtr> memory;
  DevicePtr object = 0, out = 0;
  std::vector<uint32_t> words;

  explicit Group(const std::vector<std::vector<uint32_t>> &contents) {
    const auto &t = *heddle::target::findTarget("sm_90a");
    for (const auto &c : contents) {
      devices.push_back(&machine.addDevice(t));
      memory.push_back(devices.back()->allocate(64));
      devices.back()->copyIn(memory.back(), c.data(), c.size() * 4);
    }
    object = machine.multicast(memory, 64);
    out = devices[0]->allocate(64);
  }
  std::string run(const std::string &body) {
    Kernel k;
    k.body = body;
    Error e;
    auto module = Module::parse(k.text(), *heddle::target::findTarget("sm_90a"), &e);
    if (!module)
      return e.text();
    LaunchConfig c;
    c.params.resize(16);
    std::memcpy(c.params.data(), &out, 8);
    std::memcpy(c.params.data() + 8, &object, 8);
    Report r = devices[1]->launch(module, "k", c);
    words.assign(16, 0);
    devices[0]->copyOut(words.data(), out, 64);
    return r.errors.empty() ? "" : r.errors[0].text();
  }
  uint32_t at(unsigned device, unsigned word) {
    uint32_t v = 0;
    devices[device]->copyOut(&v, memory[device] + 4 * word, 4);
    return v;
  }
};
} // namespace

TEST(EmulatorMultimem, LoadsTheReduction) {
  Group g({{1, bits(1.5f), 0x3c003c00, 0x80}, {20, bits(2), 0x40003c00, 0x40}, {300, bits(-1), 0x3c00bc00, 0xff}});
  ASSERT_NE(g.object, 0u);
  ASSERT_EQ(g.run("multimem.ld_reduce.relaxed.sys.global.add.u32 %r1, [%d63];\nmultimem.ld_reduce.global.add.f32 %f1, [%d63+4];\nmov.b32 %r2, %f1;\n"
                  "multimem.ld_reduce.acquire.gpu.global.add.f16x2 %r3, [%d63+8];\nmultimem.ld_reduce.weak.global.max.u32 %r4, [%d63+12];\n"
                  "multimem.ld_reduce.and.b32 %r5, [%d63+12];\nmultimem.ld_reduce.min.s32 %r6, [%d63];\nst.global.v4.u32 [%d62], {%r1, %r2, %r3, %r4};\nst.global.v2.u32 [%d62+16], {%r5, %r6};"),
            "");
  EXPECT_EQ(std::vector<uint32_t>(g.words.begin(), g.words.begin() + 6), (std::vector<uint32_t>{321, bits(2.5f), 0x44003c00, 0xff, 0, 1}));
}

TEST(EmulatorMultimem, AccumulatesWide) {
  // bf16: 256 + 1 + 1 is 256 when every sum is rounded to bf16, 258 when only the last one is.
  Group g({{0x43804380}, {0x3f803f80}, {0x3f803f80}});
  ASSERT_EQ(g.run("multimem.ld_reduce.relaxed.sys.global.add.bf16x2 %r1, [%d63];\nmultimem.ld_reduce.relaxed.sys.global.add.acc::f32.bf16x2 %r2, [%d63];\nst.global.v2.u32 [%d62], {%r1, %r2};"), "");
  EXPECT_EQ(g.words[0], 0x43804380u);
  EXPECT_EQ(g.words[1], 0x43814381u);
}

TEST(EmulatorMultimem, StoresAndReducesEverywhere) {
  Group g({{1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}});
  ASSERT_EQ(g.run("mov.u32 %r1, 0x3f800000;\nmov.b32 %f1, %r1;\nmultimem.st.release.sys.global.v2.f32 [%d63], {%f1, %f1};\nmultimem.red.release.sys.global.add.u32 [%d63+8], 10;\n"
                  "multimem.red.max.u32 [%d63+12], 2;"), "");
  for (unsigned d = 0; d < 3; ++d) {
    EXPECT_EQ(g.at(d, 0), 0x3f800000u);
    EXPECT_EQ(g.at(d, 1), 0x3f800000u);
    EXPECT_EQ(g.at(d, 2), 11u + d);
    EXPECT_EQ(g.at(d, 3), d == 2 ? 3u : 2u);
  }
}

TEST(EmulatorMultimem, Misuse) {
  Group g({{1}, {2}});
  EXPECT_NE(g.run("ld.global.u32 %r1, [%d63];").find("lies in a multicast object"), std::string::npos);
  Group h({{1}, {2}});
  EXPECT_NE(h.run("multimem.red.global.add.u32 [%d62], 1;").find("expected an address of a multicast object"), std::string::npos);
  Group i({{1}, {2}});
  EXPECT_NE(i.run("multimem.red.global.add.u32 [%d63+64], 1;").find("expected an address of a multicast object"), std::string::npos);
  i.devices[0]->free(i.memory[0]);
  EXPECT_NE(i.run("multimem.red.global.add.u32 [%d63], 1;").find("which was freed"), std::string::npos);
  EXPECT_EQ(i.machine.multicast({i.memory[1]}, 65), 0u);
  EXPECT_EQ(i.machine.multicast({}, 16), 0u);
  for (const char *bad : {"multimem.ld_reduce.min.v4.f32 {%f1, %f2, %f3, %f4}, [%d63];", "multimem.ld_reduce.relaxed.add.u32 %r1, [%d63];",
                          "multimem.st.v2.b32 [%d63], {%r1, %r2};", "multimem.red.add.s64 [%d63], %d1;"})
    EXPECT_NE(g.run(bad), "") << bad;
}
