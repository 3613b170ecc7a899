//===- Warp.cpp - shuffles, votes, matches, reductions, fragments ---------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Golden.h"

namespace heddle::golden {

void addWarpCases(std::vector<Case> &cases) {
  const auto add = [&](const std::string &name, const std::string &body, unsigned outWords = 1, const char *target = "sm_80", unsigned shared = 0) {
    Case c;
    c.name = name;
    c.target = target;
    c.threads = 64;
    c.outWords = outWords;
    c.shared = shared;
    c.record = {Word::Bits, Word::Small, Word::Bits, Word::Bits};
    c.body = "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d60];\n" + body;
    cases.push_back(std::move(c));
  };
  const std::string store2 = "selp.u32 %r11, 1, 0, %p1;\nst.global.v2.u32 [%d61], {%r10, %r11};";
  for (const char *mode : {"up", "down", "bfly", "idx"})
    for (const char *clamp : {"0x1f", "0x181f", "0x1c03"})
      add(std::string("shfl/") + mode + "." + clamp,
          std::string("and.b32 %r2, %r2, 31;\nshfl.sync.") + mode + ".b32 %r10|%p1, %r1, %r2, " +
              (std::string(mode) == "up" ? (std::string(clamp) == "0x1c03" ? "0x1c00" : std::string(clamp) == "0x181f" ? "0x1800" : "0") : clamp) + ", -1;\n" + store2, 2);
  for (const char *kind : {"all", "any", "uni"})
    add(std::string("vote/") + kind, std::string("setp.lt.u32 %p2, %r62, 32;\nsetp.ne.u32 %p3, %r2, 70;\nand.pred %p2, %p2, %p3;\nvote.sync.") + kind + ".pred %p1, %p2, -1;\nmov.u32 %r10, 0;\n" + store2, 2);
  add("vote/ballot", "setp.gt.u32 %p2, %r2, 20;\nvote.sync.ballot.b32 %r10, %p2, -1;\nst.global.u32 [%d61], %r10;");
  add("match/any.b32", "and.b32 %r2, %r2, 7;\nmatch.any.sync.b32 %r10, %r2, -1;\nst.global.u32 [%d61], %r10;");
  add("match/all.b64", "mov.u64 %d1, 5;\nmatch.all.sync.b64 %r10|%p1, %d1, -1;\n" + store2, 2);
  add("match/partial", "setp.lt.u32 %p2, %r61, 20;\nmov.u32 %r10, 0;\n@%p2 match.any.sync.b32 %r10, %r2, 0xfffff;\nst.global.u32 [%d61], %r10;");
  for (const char *op : {"add.u32", "add.s32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32"})
    add(std::string("redux/") + op, std::string("redux.sync.") + op + " %r10, %r1, -1;\nst.global.u32 [%d61], %r10;");
  add("elect/sync", "elect.sync %r10|%p1, 0xfffffff0;\n" + store2, 2, "sm_90a");
  cases.back().body = "mov.u32 %r10, 99;\nsetp.lt.u32 %p2, %r61, 4;\n@%p2 bra S;\nelect.sync %r10|%p1, 0xfffffff0;\nselp.u32 %r11, 1, 0, %p1;\nbra E;\nS: mov.u32 %r11, 7;\nE: st.global.v2.u32 [%d61], {%r10, %r11};";
  for (const char *op : {"popc.u32", "and.pred", "or.pred"})
    add(std::string("barrier/red.") + op,
        std::string("setp.gt.u32 %p2, %r2, 30;\nmov.u32 %r10, 0;\nbarrier.cta.red.") + op + (op[0] == 'p' ? " %r10" : " %p1") + ", 0, %p2;\n" + store2, 2);
  // Matrix moves: every thread fills 64 bytes, then 8x8 matrices are read by rows and columns.
  const std::string fill = "mov.u32 %r20, smem;\nshl.b32 %r21, %r62, 4;\nadd.u32 %r22, %r20, %r21;\nst.shared.v4.u32 [%r22], {%r1, %r2, %r3, %r4};\nbar.sync 0;\n"
                           "and.b32 %r23, %r2, 63;\nshl.b32 %r23, %r23, 4;\nadd.u32 %r24, %r20, %r23;\nmov.u32 %r11, 0;\nmov.u32 %r12, 0;\nmov.u32 %r13, 0;\n";
  const std::string store4 = "st.global.v4.u32 [%d61], {%r10, %r11, %r12, %r13};";
  for (const char *trans : {"", ".trans"}) {
    add(std::string("ldmatrix/x1") + trans, fill + "ldmatrix.sync.aligned.m8n8.x1" + trans + ".shared.b16 {%r10}, [%r24];\n" + store4, 4, "sm_80", 1024);
    add(std::string("ldmatrix/x2") + trans, fill + "ldmatrix.sync.aligned.m8n8.x2" + trans + ".shared.b16 {%r10, %r11}, [%r24];\n" + store4, 4, "sm_80", 1024);
    add(std::string("ldmatrix/x4") + trans, fill + "ldmatrix.sync.aligned.m8n8.x4" + trans + ".shared.b16 {%r10, %r11, %r12, %r13}, [%r24];\n" + store4, 4, "sm_80", 1024);
    // Rows permuted by warp; all 64 rows are written, so that the whole can be read back.
    const std::string rows = "mov.u32 %r20, smem;\nmul.lo.u32 %r21, %r61, 5;\nand.b32 %r21, %r21, 31;\nand.b32 %r25, %r62, 32;\nadd.u32 %r21, %r21, %r25;\nshl.b32 %r21, %r21, 4;\nadd.u32 %r22, %r20, %r21;\n";
    const std::string back = "bar.sync 0;\nshl.b32 %r21, %r62, 4;\nadd.u32 %r22, %r20, %r21;\nld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r22];\n" + store4;
    add(std::string("stmatrix/x4") + trans, rows + "stmatrix.sync.aligned.m8n8.x4" + trans + ".shared.b16 [%r22], {%r1, %r2, %r3, %r4};\n" + back, 4, "sm_90a", 1024);
    add(std::string("stmatrix/x2") + trans, fill + rows + "stmatrix.sync.aligned.m8n8.x2" + trans + ".shared.b16 [%r22], {%r1, %r2};\n" + back, 4, "sm_90a", 1024);
  }
  add("movmatrix/trans", "movmatrix.sync.aligned.m8n8.trans.b16 %r10, %r1;\nst.global.u32 [%d61], %r10;");
}

} // namespace heddle::golden
