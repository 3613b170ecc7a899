//===- AtomicTest.cpp - atom and red -------------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "../Harness.h"

using namespace heddle::emulator;
using namespace heddle::emulator::test;

TEST(EmulatorAtomic, OldValuesAndResults) {
  struct Case { const char *op; uint64_t old, b, result; } cases[] = {
      {"add.u32", 5, 7, 12},          {"min.s32", 5, uint32_t(-7), uint32_t(-7)}, {"max.u32", 5, 9, 9},
      {"inc.u32", 5, 5, 0},           {"inc.u32", 4, 5, 5},                     {"dec.u32", 0, 5, 5},
      {"and.b32", 12, 10, 8},         {"or.b32", 12, 10, 14},                   {"xor.b32", 12, 10, 6},
      {"exch.b32", 1, 2, 2},          {"add.f32", bits(1), bits(2), bits(3)},
      {"add.noftz.bf16x2", 0x3f803f80, 0x3f800000, 0x40003f80},
  };
  for (const auto &c : cases) {
    std::string store = "st.global.u32 [%d61], %r1;\natom.global." + std::string(c.op) + " %r5, [%d61], %r2;\n";
    EXPECT_EQ(eval(store + "ld.global.u32 %r0, [%d61];", {c.old, c.b}), c.result) << c.op;
    EXPECT_EQ(eval(store + "mov.b32 %r0, %r5;", {c.old, c.b}), c.old) << c.op;
  }
  EXPECT_EQ(eval("st.global.u32 [%d61], %r1;\natom.acq_rel.sys.global.cas.b32 %r5, [%d61], 4, 9;\nld.global.u32 %r0, [%d61];", {4}), 9u);
  EXPECT_EQ(eval("st.global.u32 [%d61], %r1;\natom.relaxed.gpu.global.cas.b32 %r5, [%d61], 4, 9;\nld.global.u32 %r0, [%d61];", {3}), 3u);
  EXPECT_EQ(eval("st.global.u64 [%d61], %d1;\nred.release.sys.global.add.u64 [%d61], 3;\nld.global.u64 %d0, [%d61];", {1ull << 40}), (1ull << 40) + 3);
  EXPECT_EQ(eval("st.global.u64 [%d61], %d1;\natom.add.f64 %d5, [%d61], %d2;\nld.global.u64 %d0, [%d61];", {bits64(1), bits64(2)}), bits64(3));
}

TEST(EmulatorAtomic, LanesAddUp) {
  Kernel k;
  k.threads = 128;
  k.blocks = 3;
  k.shared = 4;
  k.body = "setp.eq.u32 %p1, %r62, 0;\n@%p1 st.shared.u32 [smem], 0;\nbar.sync 0;\natom.shared.add.u32 %r1, [smem], %r62;\n"
           "red.global.add.u32 [%d62], 1;\nbar.sync 0;\nld.shared.u32 %r2, [smem];\nsetp.eq.u32 %p2, %r62, 5;\n@%p2 st.global.u32 [%d61], %r2;";
  Outcome o = run(k);
  ASSERT_EQ(o.error(), "");
  EXPECT_EQ(o.out[0], 384u);
  EXPECT_EQ(o.out[5], 127u * 64);
}

TEST(EmulatorAtomic, Vectors) {
  EXPECT_EQ(eval("st.global.v2.f32 [%d61], {%f1, %f2};\nred.global.add.v2.f32 [%d61], {%f1, %f1};\nld.global.u64 %d0, [%d61];",
                 {bits(1), bits(2)}),
            uint64_t(bits(3)) << 32 | bits(2));
}

TEST(EmulatorAtomic, Refusals) {
  for (const char *bad : {"atom.global.add.s64 %d1, [%d61], 1;", "atom.global.inc.u64 %d1, [%d61], 1;", "red.acquire.gpu.global.add.u32 [%d61], 1;",
                          "red.global.exch.b32 [%d61], 1;", "atom.global.add.u32 %r1, [%d61];"}) {
    Kernel k;
    k.body = bad;
    EXPECT_EQ(run(k).kind(), ErrorKind::Parse) << bad;
  }
}
