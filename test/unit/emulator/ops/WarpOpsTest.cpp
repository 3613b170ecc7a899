//===- WarpOpsTest.cpp - shfl, vote, match, redux, elect -----------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "../Harness.h"

using namespace heddle::emulator;
using namespace heddle::emulator::test;

static std::vector<uint32_t> lanes(const std::string &body, const std::string &target = "sm_90a") {
  Kernel k;
  k.target = target;
  k.body = body + "\nst.global.u32 [%d61], %r0;";
  Outcome o = run(k);
  EXPECT_EQ(o.error(), "") << body;
  return o.out;
}

TEST(EmulatorWarpOps, Shuffles) {
  auto up = lanes("shfl.sync.up.b32 %r0|%p1, %r61, 2, 0, -1;\n@!%p1 mov.u32 %r0, 99;");
  EXPECT_EQ(up[0], 99u);
  EXPECT_EQ(up[1], 99u);
  EXPECT_EQ(up[2], 0u);
  EXPECT_EQ(up[31], 29u);
  auto down = lanes("shfl.sync.down.b32 %r0, %r61, 3, 31, -1;");
  EXPECT_EQ(down[0], 3u);
  EXPECT_EQ(down[30], 30u);
  auto bfly = lanes("shfl.sync.bfly.b32 %r0, %r61, 16, 31, -1;");
  EXPECT_EQ(bfly[0], 16u);
  EXPECT_EQ(bfly[31], 15u);
  auto idx = lanes("shfl.sync.idx.b32 %r0, %r61, 7, 31, -1;");
  EXPECT_EQ(idx[20], 7u);
  auto segment = lanes("shfl.sync.idx.b32 %r0, %r61, 1, 0x181f, -1;"); // segments of 8
  EXPECT_EQ(segment[20], 17u);
}

TEST(EmulatorWarpOps, Votes) {
  auto ballot = lanes("setp.lt.u32 %p1, %r61, 5;\nvote.sync.ballot.b32 %r0, %p1, -1;");
  EXPECT_EQ(ballot[31], 31u);
  auto all = lanes("setp.lt.u32 %p1, %r61, 32;\nvote.sync.all.pred %p2, %p1, -1;\nselp.u32 %r0, 1, 0, %p2;");
  EXPECT_EQ(all[9], 1u);
  auto any = lanes("setp.eq.u32 %p1, %r61, 33;\nvote.sync.any.pred %p2, %p1, -1;\nselp.u32 %r0, 1, 0, %p2;");
  EXPECT_EQ(any[9], 0u);
  auto uni = lanes("setp.eq.u32 %p1, %r61, 3;\nvote.sync.uni.pred %p2, %p1, -1;\nselp.u32 %r0, 1, 0, %p2;");
  EXPECT_EQ(uni[9], 0u);
}

TEST(EmulatorWarpOps, MatchReduxElect) {
  auto match = lanes("and.b32 %r1, %r61, 3;\nmatch.any.sync.b32 %r0, %r1, -1;");
  EXPECT_EQ(match[5], 0x22222222u);
  auto all = lanes("match.all.sync.b32 %r0|%p1, %r61, -1;");
  EXPECT_EQ(all[5], 0u);
  EXPECT_EQ(lanes("redux.sync.add.u32 %r0, %r61, -1;")[4], 496u);
  EXPECT_EQ(lanes("sub.s32 %r1, %r61, 5;\nredux.sync.min.s32 %r0, %r1, -1;")[4], uint32_t(-5));
  EXPECT_EQ(lanes("redux.sync.or.b32 %r0, %r61, -1;")[4], 31u);
  auto elect = lanes("elect.sync %r1|%p1, -1;\nselp.u32 %r0, 1, 0, %p1;");
  EXPECT_EQ(elect[0], 1u);
  EXPECT_EQ(elect[1], 0u);
}

TEST(EmulatorWarpOps, WaitsForDivergedLanes) {
  // The even lanes take a detour; the shuffle still sees all of them.
  auto out = lanes("and.b32 %r1, %r61, 1;\nsetp.eq.u32 %p1, %r1, 1;\nmov.u32 %r2, %r61;\n@%p1 bra L;\nadd.u32 %r2, %r2, 100;\nL:\n"
                   "shfl.sync.bfly.b32 %r0, %r2, 1, 31, -1;");
  EXPECT_EQ(out[0], 1u);
  EXPECT_EQ(out[1], 100u);
}

TEST(EmulatorWarpOps, PartialMasksInBranches) {
  auto out = lanes("setp.lt.u32 %p1, %r61, 16;\nmov.u32 %r0, 0;\n@!%p1 bra L;\nredux.sync.add.u32 %r0, %r61, 0xffff;\nbra M;\nL:\n"
                   "redux.sync.add.u32 %r0, 1, 0xffff0000;\nM:");
  EXPECT_EQ(out[0], 120u);
  EXPECT_EQ(out[16], 16u);
}

TEST(EmulatorWarpOps, MisuseIsReported) {
  Kernel k;
  k.body = "setp.eq.u32 %p1, %r61, 3;\n@%p1 shfl.sync.idx.b32 %r0, %r61, 0, 31, -1;";
  EXPECT_EQ(run(k).kind(), ErrorKind::Convergence);
  k.body = "shfl.sync.idx.b32 %r0, %r61, 0, 31, 0xff;";
  EXPECT_NE(run(k).error().find("outside its member mask"), std::string::npos);
  k.body = "setp.eq.u32 %p1, %r61, 3;\n@%p1 bra L;\nbra M;\nL: vote.sync.any.pred %p2, %p1, -1;\nM:"; // the others never come
  k.body += "\nvote.sync.any.pred %p2, %p1, -1;";
  Outcome o = run(k);
  EXPECT_EQ(o.kind(), ErrorKind::Deadlock) << o.error();
  k.target = "sm_80";
  k.body = "elect.sync %r1|%p1, -1;";
  EXPECT_EQ(run(k).kind(), ErrorKind::Unsupported);
}
