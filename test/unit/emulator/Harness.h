//===- Harness.h - runs pieces of PTX in the emulator --------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_EMULATOR_HARNESS_H
#define HEDDLE_TEST_EMULATOR_HARNESS_H

#include "runtime/emulator/Emulator.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

namespace heddle::emulator::test {

/// One launch of a kernel whose body is given as text. Registers: %p0-15, %h0-31 (16 bit),
/// %r0-63 and %f0-31 (32 bit), %d0-63 (64 bit), %q0-3 (128 bit). On entry %d62 is the output
/// buffer, %d63 the input buffer, %r63 the thread of the grid, %r62 tid.x, %r61 %laneid, and
/// %d61 the thread's place in the output (outWords 32-bit words a thread).
struct Kernel {
  std::string target = "sm_90a";
  std::string globals;       ///< declarations ahead of the kernel
  std::string body;
  std::string attributes;    ///< e.g. ".reqntid 32"
  unsigned threads = 32, blocks = 1, cluster = 0;
  unsigned outWords = 1;
  uint32_t shared = 0;       ///< bytes of `.shared .align 1024 .b8 smem[]`
  std::vector<uint32_t> input;
  std::vector<Role> roles;
  MachineOptions options;
  Observer *observer = nullptr; ///< sees the launch; not owned
  /// Called with the buffers before the launch; may change the input.
  std::function<void(Device &, DevicePtr out, DevicePtr in, std::vector<uint32_t> &input)> prepare;

  std::string text() const {
    return ".version 9.0\n.target " + target + "\n.address_size 64\n" + globals +
           "\n.extern .shared .align 1024 .b8 smem[];\n.visible .entry k(.param .u64 out, .param .u64 in)\n" + attributes +
           "\n{\n.reg .pred %p<16>;\n.reg .b16 %h<32>;\n.reg .b32 %r<64>;\n.reg .f32 %f<32>;\n.reg .b64 %d<64>;\n"
           ".reg .b128 %q<4>;\n"
           "ld.param.u64 %d62, [out];\nld.param.u64 %d63, [in];\nmov.u32 %r62, %tid.x;\nmov.u32 %r60, %ctaid.x;\n"
           "mov.u32 %r59, %ntid.x;\nmad.lo.u32 %r63, %r60, %r59, %r62;\nmov.u32 %r61, %laneid;\n"
           "mad.wide.u32 %d61, %r63, " + std::to_string(4 * outWords) + ", %d62;\n" + body + "\nret;\n}\n";
  }
};

struct Outcome {
  Report report;
  std::vector<uint32_t> out;
  Error parse; ///< kind Parse and an empty message when parsing went well
  uint64_t out64(size_t n) const { return uint64_t(out[2 * n + 1]) << 32 | out[2 * n]; }
  float outF(size_t n) const {
    float f;
    std::memcpy(&f, &out[n], 4);
    return f;
  }
  /// The first error's kind and text; "" when there is none.
  std::string error() const {
    if (!parse.message.empty())
      return parse.text();
    return report.errors.empty() ? "" : report.errors[0].text();
  }
  ErrorKind kind() const { return parse.message.empty() ? report.errors.at(0).kind : parse.kind; }
};

inline Outcome run(const Kernel &k) {
  Outcome o;
  const target::Target *t = target::findTarget(k.target);
  if (!t) {
    o.parse.message = "unknown target";
    return o;
  }
  auto module = Module::parse(k.text(), *t, &o.parse);
  if (!module)
    return o;
  Machine machine(k.options);
  if (k.observer)
    machine.setObserver(k.observer);
  Device &d = machine.addDevice(*t);
  size_t words = size_t(k.threads) * k.blocks * k.outWords;
  DevicePtr out = d.allocate(words * 4), in = d.allocate(std::max<size_t>(4, k.input.size() * 4));
  std::vector<uint32_t> input = k.input;
  if (k.prepare)
    k.prepare(d, out, in, input);
  if (!input.empty())
    d.copyIn(in, input.data(), input.size() * 4);
  LaunchConfig c;
  c.grid = {k.blocks, 1, 1};
  c.block = {k.threads, 1, 1};
  if (k.cluster)
    c.cluster = {k.cluster, 1, 1};
  c.dynamicShared = k.shared;
  c.roles = k.roles;
  c.params.resize(16);
  std::memcpy(c.params.data(), &out, 8);
  std::memcpy(c.params.data() + 8, &in, 8);
  o.report = d.launch(module, "k", c);
  o.out.resize(words);
  d.copyOut(o.out.data(), out, words * 4);
  return o;
}

/// Evaluates a statement: inputs are in %d1.. , their low bits in %r1.. , %f1.. and %h1.. ; the
/// result is %d0, %r0, %f0, %h0 or %p0, whichever the text names. Once with all lanes (vector
/// loops) and once with one lane (masked loops); both must agree.
inline uint64_t eval(const std::string &text, const std::vector<uint64_t> &inputs, const std::string &target = "sm_90a") {
  Kernel k;
  k.target = target;
  k.threads = 33;
  k.outWords = 2;
  for (size_t n = 0; n < inputs.size(); ++n) {
    std::string i = std::to_string(n + 1);
    k.body += "ld.global.u64 %d" + i + ", [%d63+" + std::to_string(8 * n) + "];\ncvt.u32.u64 %r" + i + ", %d" + i +
              ";\nmov.b32 %f" + i + ", %r" + i + ";\ncvt.u16.u64 %h" + i + ", %d" + i + ";\n";
    k.input.push_back(uint32_t(inputs[n]));
    k.input.push_back(uint32_t(inputs[n] >> 32));
  }
  k.body += text + "\n";
  auto names = [&](const char *r) {
    size_t at = text.find(r);
    return at != std::string::npos && !(text.size() > at + 3 && text[at + 3] >= '0' && text[at + 3] <= '9');
  };
  if (names("%p0"))
    k.body += "selp.u64 %d0, 1, 0, %p0;\n";
  else if (names("%r0"))
    k.body += "cvt.u64.u32 %d0, %r0;\n";
  else if (names("%f0"))
    k.body += "mov.b32 %r0, %f0;\ncvt.u64.u32 %d0, %r0;\n";
  else if (names("%h0"))
    k.body += "cvt.u64.u16 %d0, %h0;\n";
  k.body += "st.global.u64 [%d61], %d0;";
  Outcome o = run(k);
  EXPECT_EQ(o.error(), "") << text;
  if (o.out.empty())
    return ~uint64_t(0);
  EXPECT_EQ(o.out64(0), o.out64(32)) << "full and partial warps disagree: " << text;
  return o.out64(0);
}

inline uint32_t bits(float f) {
  uint32_t u;
  std::memcpy(&u, &f, 4);
  return u;
}
inline uint64_t bits64(double f) {
  uint64_t u;
  std::memcpy(&u, &f, 8);
  return u;
}

} // namespace heddle::emulator::test

#endif // HEDDLE_TEST_EMULATOR_HARNESS_H
