//===- ParserTest.cpp - PTX text: what is accepted, errors with their line ---===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "../Harness.h"

using namespace heddle::emulator;
using namespace heddle::emulator::test;

static const heddle::target::Target &hopper() { return *heddle::target::findTarget("sm_90a"); }
static const std::string head = ".version 9.0\n.target sm_90a\n.address_size 64\n";

static Error parseError(const std::string &text) {
  Error e;
  EXPECT_EQ(Module::parse(text, hopper(), &e), nullptr) << text;
  return e;
}

TEST(EmulatorParser, EntriesAndTheirParameters) {
  Error e;
  auto m = Module::parse(head + ".visible .entry a(\n.param .align 64 .b8 map[128],\n.param .u32 n,\n.param .u64 .ptr .global .align 16 p)\n.reqntid 128, 2, 1\n"
                         ".minnctapersm 2\n.maxnreg 64\n.reqnctapercluster 2, 1, 1\n{\n.shared .align 16 .b8 s[100];\n.reg .b32 %r<2>;\nmov.u32 %r1, s;\nret;\n}\n"
                         ".entry b()\n{\nret;\n}\n", hopper(), &e);
  ASSERT_TRUE(m) << e.text();
  ASSERT_EQ(m->entries().size(), 2u);
  const EntryInfo *a = m->entry("a");
  ASSERT_TRUE(a);
  ASSERT_EQ(a->params.size(), 3u);
  EXPECT_EQ(a->params[1].offset, 128u);
  EXPECT_EQ(a->params[2].offset, 136u);
  EXPECT_EQ(a->paramBytes, 144u);
  EXPECT_EQ(a->reqntid.y, 2u);
  EXPECT_EQ(a->cluster.x, 2u);
  EXPECT_EQ(a->minCtasPerSM, 2u);
  EXPECT_EQ(a->maxRegisters, 64u);
  EXPECT_EQ(a->staticShared, 100u);
  EXPECT_EQ(m->entry("c"), nullptr);
}

TEST(EmulatorParser, ErrorsNameTheLine) {
  struct Case { std::string text, message; uint32_t line; } cases[] = {
      {head + ".entry k()\n{\nfrobnicate.u32 %r1;\n}\n", "unknown register '%r1'", 6},
      {head + ".entry k()\n{\n.reg .b32 %r<2>;\n\nfrobnicate.u32 %r1;\n}\n", "unknown instruction", 8},
      {head + ".entry k()\n{\n.reg .b32 %r<2>;\nadd.u32 %r1, %r1 %r1;\n}\n", "expected ';'", 7},
      {head + ".entry k()\n{\nbra L;\n}\n", "unknown label 'L'", 6},
      {head + ".entry k()\n{\nL:\nL:\nret;\n}\n", "defined twice", 7},
      {head + ".entry k()\n{\nret;\n", "not closed", 6},
      {head + ".entry k(\n", "expected .param, found end of text", 5},
      {head + ".bogus\n", "unknown directive '.bogus'", 4},
      {head + ".entry k()\n{\n.reg .b32 %r<4000000000>;\n}\n", "expected at most", 6},
      {head + ".global .b8 x[99999999999];\n", "larger than 4 GiB", 4},
      {head + "/* open\n", "comment is not closed", 4},
      {".version 9.3\n.target sm_90a\n", "expected PTX ISA 9.0 or older, got 9.3", 1},
      {".version 9.0\n.target sm_100a\n.address_size 64\n", "does not run on sm_90a", 1},
      {"", "expected .version", 1},
  };
  for (const auto &c : cases) {
    Error e = parseError(c.text);
    EXPECT_NE(e.message.find(c.message), std::string::npos) << e.text();
    EXPECT_EQ(e.line, c.line) << e.text();
  }
}

TEST(EmulatorParser, OlderTargetsRunOnLaterOnes) {
  Error e;
  EXPECT_TRUE(Module::parse(".version 7.0\n.target sm_80\n.address_size 64\n.entry k()\n{\nret;\n}\n", hopper(), &e)) << e.text();
}

TEST(EmulatorParser, WhatCompilersEmitAround) {
  Error e;
  auto m = Module::parse(head + ".file 1 \"a.cu\", 123, 456\n.file 2 \"b.cu\"\n\t// .globl k\n.func helper\n()\n;\n.visible .entry k(.param .u64 k_param_0)\n{\n"
                         ".pragma \"nounroll\";\n.reg .pred %p<2>;\n.reg .b64 \t%rd<3>, %x;\n.loc 1 3 4\n.loc\t2 7 0, function_name $L__info0, inlined_at 1 3 4\n"
                         "// begin inline asm\n{ .reg .b32 t; mov.u32 t, %clock; }\n// end inline asm\nld.param.u64 %rd1, [k_param_0];\n$L__BB0_1:\n/* c */ ret;\n}\n"
                         ".section .debug_abbrev\n{\n.b8 1 // x\n.b32 $L__info0\n}\n", hopper(), &e);
  EXPECT_TRUE(m) << e.text();
}

TEST(EmulatorParser, EveryPrefixIsAnErrorOrAModule) {
  Kernel k;
  k.globals = ".global .align 4 .b8 t[4] = {1, 2, 3, 4};\n.func (.param .b32 r) f(.param .b32 x)\n{\nret;\n}\n";
  k.body = "{\n.param .b32 a;\nst.param.b32 [a], %r61;\n.param .b32 b;\ncall.uni (b), f, (a);\n}\nT: .branchtargets L;\nbrx.idx %r1, T;\n"
           "@!%p1 mov.b64 {%r1, _}, %d1;\nsetp.eq.u32 %p1|%p2, %r1, -0x10;\nL: fma.rn.f32 %f1, %f2, 0f3F800000, 1.5e-3;";
  std::string text = k.text();
  unsigned modules = 0;
  for (size_t n = 0; n <= text.size(); ++n) {
    Error e;
    if (Module::parse(text.substr(0, n), hopper(), &e))
      ++modules;
    else
      EXPECT_FALSE(e.message.empty());
  }
  EXPECT_GE(modules, 1u);
  for (size_t n = 0; n < text.size(); n += 3) { // damage at every third place
    std::string bad = text;
    bad[n] = "{};:[]%.@!,-0x\"/"[n % 16];
    Error e;
    if (!Module::parse(bad, hopper(), &e)) {
      EXPECT_FALSE(e.message.empty());
    }
  }
}

TEST(EmulatorParser, DeepNestingAndLongInput) {
  parseError(head + ".entry k()\n" + std::string(5000, '{'));
  parseError(head + ".entry k()\n{\nmov.b32 " + std::string(5000, '{') + "\n");
  std::string many = head + ".entry k()\n{\n.reg .b32 %r<2>;\n.reg .pred %p;\n";
  for (int n = 0; n < 20000; ++n)
    many += "L" + std::to_string(n) + ": add.u32 %r1, %r1, " + std::to_string(n) + ";\n@%p bra L" + std::to_string(n / 2) + ";\n";
  Error e;
  EXPECT_TRUE(Module::parse(many + "ret;\n}\n", hopper(), &e)) << e.text();
}
