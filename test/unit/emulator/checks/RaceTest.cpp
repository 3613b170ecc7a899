//===- RaceTest.cpp - correct kernels are clean, broken ones are named ---===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each mutation changes one line of a correct kernel; some seed of four must report
// it: as a race, as another error, as a deadlock, or through wrong values.
//
//===----------------------------------------------------------------------===//
#include "../Harness.h"
#include "runtime/emulator/checks/RaceDetector.h"

#include <numeric>

using namespace heddle::emulator;
using namespace heddle::emulator::test;

static Outcome runChecked(Kernel k) {
  RaceDetector races;
  k.options.limits.maxInstructions = 200000;
  k.observer = &races;
  return run(k);
}

/// A ring of two slots: warp 0 copies four chunks of 128 bytes, warp 1 adds them up and
/// stores the sums with a bulk copy.
static Kernel ring() {
  Kernel k;
  k.threads = 64;
  k.shared = 1024;
  k.roles = {{"load", 0, 1}, {"sum", 1, 1}};
  k.input.resize(128);
  std::iota(k.input.begin(), k.input.end(), 0u);
  k.body = R"(
mov.u32 %r1, smem;
setp.ne.u32 %p1, %r61, 0;
setp.ne.u32 %p2, %r62, 0;
@%p2 bra READY;
mbarrier.init.shared.b64 [%r1], 1;
mbarrier.init.shared.b64 [%r1+8], 1;
mbarrier.init.shared.b64 [%r1+16], 1;
mbarrier.init.shared.b64 [%r1+24], 1;
fence.mbarrier_init.release.cluster;
READY:
bar.sync 0;
mov.u32 %r2, 0;
mov.u32 %r7, 0;
shl.b32 %r9, %r61, 2;
add.u32 %r9, %r9, %r1;
setp.ge.u32 %p3, %r62, 32;
@%p3 bra SUM;
@%p1 bra END;
LOAD:
and.b32 %r3, %r2, 1;
shr.u32 %r4, %r2, 1;
not.b32 %r4, %r4;
and.b32 %r4, %r4, 1;
shl.b32 %r5, %r3, 3;
add.u32 %r5, %r5, %r1;
EMPTY:
mbarrier.try_wait.parity.shared.b64 %p4, [%r5+16], %r4;
@!%p4 bra EMPTY;
mbarrier.arrive.expect_tx.shared.b64 _, [%r5], 128;
shl.b32 %r6, %r3, 7;
add.u32 %r6, %r6, %r1;
mul.wide.u32 %d1, %r2, 128;
add.u64 %d1, %d1, %d63;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r6+128], [%d1], 128, [%r5];
add.u32 %r2, %r2, 1;
setp.lt.u32 %p5, %r2, 4;
@%p5 bra LOAD;
bra END;
SUM:
and.b32 %r3, %r2, 1;
shr.u32 %r4, %r2, 1;
and.b32 %r4, %r4, 1;
shl.b32 %r5, %r3, 3;
add.u32 %r5, %r5, %r1;
shl.b32 %r6, %r3, 7;
add.u32 %r6, %r6, %r9;
FULL:
mbarrier.try_wait.parity.shared.b64 %p4, [%r5], %r4;
@!%p4 bra FULL;
ld.shared.u32 %r8, [%r6+128];
add.u32 %r7, %r7, %r8;
bar.warp.sync 0xffffffff;
@!%p1 mbarrier.arrive.shared.b64 _, [%r5+16];
add.u32 %r2, %r2, 1;
setp.lt.u32 %p5, %r2, 4;
@%p5 bra SUM;
st.shared.u32 [%r9+512], %r7;
fence.proxy.async.shared::cta;
bar.warp.sync 0x0ffffffff;
@%p1 bra END;
cp.async.bulk.global.shared::cta.bulk_group [%d62], [%r1+512], 128;
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
END:
)";
  return k;
}
static bool ringRight(const Outcome &o) {
  for (uint32_t n = 0; n < 32; ++n)
    if (o.out[n] != 4 * n + 32 + 64 + 96)
      return false;
  return true;
}

/// sm_80: two stages of cp.async that all threads of the block share.
static Kernel stages() {
  Kernel k;
  k.target = "sm_80";
  k.threads = 64;
  k.shared = 1024;
  k.input.resize(256);
  std::iota(k.input.begin(), k.input.end(), 0u);
  k.body = R"(
mov.u32 %r1, smem;
shl.b32 %r2, %r62, 2;
add.u32 %r3, %r1, %r2;
xor.b32 %r4, %r62, 32;
shl.b32 %r4, %r4, 2;
add.u32 %r4, %r4, %r1;
cvt.u64.u32 %d1, %r2;
add.u64 %d1, %d1, %d63;
mov.u32 %r5, 0;
mov.u32 %r6, 0;
cp.async.ca.shared.global [%r3], [%d1], 4;
cp.async.commit_group;
NEXT:
add.u32 %r5, %r5, 1;
setp.ge.u32 %p1, %r5, 4;
@%p1 bra COMMIT;
add.u64 %d1, %d1, 256;
xor.b32 %r3, %r3, 256;
cp.async.ca.shared.global [%r3], [%d1], 4;
COMMIT:
cp.async.commit_group;
cp.async.wait_group 1;
bar.sync 0;
ld.shared.u32 %r7, [%r4];
add.u32 %r6, %r6, %r7;
xor.b32 %r4, %r4, 256;
bar.sync 1;
setp.lt.u32 %p1, %r5, 4;
@%p1 bra NEXT;
cp.async.wait_group 0;
st.global.u32 [%d61], %r6;
)";
  k.shared = 1024;
  // The stages lie 256 bytes apart; the base is a multiple of 512.
  return k;
}
static bool stagesRight(const Outcome &o) {
  for (uint32_t n = 0; n < 64; ++n)
    if (o.out[n] != 4 * (n ^ 32) + 64 * 6)
      return false;
  return true;
}

/// Block 0 hands data to block 1 through a flag in the input buffer.
static Kernel flag() {
  Kernel k;
  k.blocks = 2;
  k.input.assign(64, 0);
  k.body = R"(
setp.ne.u32 %p1, %r61, 0;
mul.wide.u32 %d1, %r61, 4;
add.u64 %d1, %d1, %d63;
setp.ne.u32 %p2, %r60, 0;
@%p2 bra TAKE;
st.global.u32 [%d1+128], %r61;
st.global.u32 [%d61], 7;
bar.sync 0;
@%p1 bra END;
st.release.gpu.global.u32 [%d63], 1;
bra END;
TAKE:
@%p1 bra SYNC;
POLL:
ld.acquire.gpu.global.u32 %r1, [%d63];
setp.eq.u32 %p3, %r1, 0;
@%p3 bra POLL;
SYNC:
bar.sync 0;
ld.global.u32 %r2, [%d1+128];
st.global.u32 [%d61], %r2;
END:
)";
  return k;
}
static bool flagRight(const Outcome &o) {
  for (uint32_t n = 0; n < 32; ++n)
    if (o.out[n] != 7 || o.out[32 + n] != n)
      return false;
  return true;
}

/// A warpgroup writes operands, multiplies, then overwrites the operands.
static Kernel multiply() {
  Kernel k;
  k.threads = 128;
  k.shared = 16384;
  k.outWords = 4;
  k.roles = {{"mma", 0, 4}};
  k.body = R"(
mov.u32 %r1, smem;
shl.b32 %r2, %r62, 4;
add.u32 %r3, %r1, %r2;
mov.b32 %r4, 0x3f803f80;
mov.u32 %r5, 0;
FILL:
st.shared.v4.b32 [%r3], {%r4, %r4, %r4, %r4};
add.u32 %r3, %r3, 2048;
add.u32 %r5, %r5, 1;
setp.lt.u32 %p1, %r5, 4;
@%p1 bra FILL;
fence.proxy.async.shared::cta;
bar.sync 0;
bfe.u32 %r6, %r1, 4, 14;
cvt.u64.u32 %d1, %r6;
or.b64 %d1, %d1, 0x0000001000080000;
wgmma.fence.sync.aligned;
setp.ne.u32 %p2, %r1, %r1;
wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, %d1, %d1, %p2, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
st.global.v4.f32 [%d61], {%f1, %f2, %f3, %f4};
bar.sync 1;
add.u32 %r3, %r1, %r2;
mov.b32 %r4, 0;
st.shared.v4.b32 [%r3], {%r4, %r4, %r4, %r4};
)";
  return k;
}
static bool multiplyRight(const Outcome &o) {
  for (unsigned n = 0; n < 512; ++n)
    if (o.outF(n) != 16.0f)
      return false;
  return true;
}

/// Tensor memory: a matrix instruction, its commit, and the warps that read the result.
static Kernel tensorMemory() {
  Kernel k;
  k.target = "sm_100a";
  k.threads = 128;
  k.shared = 1024;
  k.body = R"(
mov.u32 %r1, smem;
setp.ne.u32 %p1, %r62, 0;
setp.ge.u32 %p2, %r62, 32;
@%p2 bra READY;
@%p1 bra ALLOC;
mbarrier.init.shared.b64 [%r1+8], 1;
ALLOC:
bar.warp.sync 0xffffffff;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 32;
READY:
bar.sync 0;
ld.shared.u32 %r2, [%r1];
shr.u32 %r3, %r62, 5;
shl.b32 %r3, %r3, 21;
add.u32 %r4, %r2, %r3;
tcgen05.st.sync.aligned.32x32b.x1.b32 [%r4], {%r62};
tcgen05.wait::st.sync.aligned;
tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r5}, [%r4];
tcgen05.wait::ld.sync.aligned;
st.global.u32 [%d61], %r5;
tcgen05.fence::before_thread_sync;
bar.sync 1;
@%p2 bra END;
tcgen05.fence::after_thread_sync;
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 32;
END:
)";
  return k;
}
static bool tensorMemoryRight(const Outcome &o) {
  for (uint32_t n = 0; n < 128; ++n)
    if (o.out[n] != n)
      return false;
  return true;
}

struct Mutation {
  const char *name, *line, *with; ///< the first `line` is replaced
  const char *expected;           ///< in the report of some seed; "": reported in any way
};

static std::string mutate(std::string text, const Mutation &m) {
  size_t at = text.find(m.line);
  EXPECT_NE(at, std::string::npos) << m.name;
  if (at != std::string::npos)
    text.replace(at, std::strlen(m.line), m.with);
  return text;
}

using Right = bool (*)(const Outcome &);

static void expectClean(Kernel k, Right right, unsigned seeds) {
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    k.options.seed = seed;
    Outcome o = runChecked(k);
    ASSERT_EQ(o.error(), "") << "seed " << seed;
    EXPECT_TRUE(right(o)) << "seed " << seed;
  }
}

static void expectReported(const Kernel &correct, Right right,
                           const std::vector<Mutation> &mutations) {
  for (const Mutation &m : mutations) {
    Kernel k = correct;
    k.body = mutate(k.body, m);
    bool found = false;
    std::string all;
    for (uint64_t seed = 0; seed < 4 && !found; ++seed) {
      k.options.seed = seed;
      Outcome o = runChecked(k);
      ASSERT_EQ(o.parse.message, "") << m.name;
      std::string text = o.report.text();
      all += text + "\n";
      bool reported = !o.report.ok || !right(o);
      found = m.expected[0] ? text.find(m.expected) != std::string::npos : reported;
    }
    EXPECT_TRUE(found) << m.name << ", expected '" << m.expected << "' in:\n" << all;
  }
}

TEST(EmulatorRaces, CorrectKernelsAreClean) {
  expectClean(ring(), ringRight, 24);
  expectClean(stages(), stagesRight, 24);
  expectClean(flag(), flagRight, 24);
  expectClean(multiply(), multiplyRight, 12);
  expectClean(tensorMemory(), tensorMemoryRight, 12);
}

TEST(EmulatorRaces, BrokenRings) {
  expectReported(
      ring(), ringRight,
      {{"no proxy fence", "fence.proxy.async.shared::cta;\n", "", "fence.proxy.async"},
       {"consumer does not wait", "@!%p4 bra FULL;\n", "", ""},
       {"consumer waits for the other parity",
        "and.b32 %r4, %r4, 1;\nshl.b32 %r5, %r3, 3;\nadd.u32 %r5, %r5, %r1;\nshl.b32 %r6",
        "not.b32 %r4, %r4;\nand.b32 %r4, %r4, 1;\nshl.b32 %r5, %r3, 3;\nadd.u32 %r5, %r5, "
        "%r1;\nshl.b32 %r6",
        ""},
       {"slot refilled before its release", "@!%p4 bra EMPTY;\n", "", "data race"},
       {"producer waits for the other parity", "not.b32 %r4, %r4;\n", "", "role load"},
       {"no release", "@!%p1 mbarrier.arrive.shared.b64 _, [%r5+16];\n", "", "mbarrier"},
       {"released too early",
        "ld.shared.u32 %r8, [%r6+128];\nadd.u32 %r7, %r7, %r8;\nbar.warp.sync 0xffffffff;\n@!%p1 "
        "mbarrier.arrive.shared.b64 _, [%r5+16];\n",
        "@!%p1 mbarrier.arrive.shared.b64 _, [%r5+16];\nld.shared.u32 %r8, [%r6+128];\nadd.u32 "
        "%r7, %r7, %r8;\nbar.warp.sync 0xffffffff;\n",
        "data race"},
       {"released for the other lanes", "bar.warp.sync 0xffffffff;\n", "", "data race"},
       {"stored for the other lanes", "bar.warp.sync 0x0ffffffff;\n", "", "data race"},
       {"relaxed release", "mbarrier.arrive.shared.b64 _, [%r5+16]",
        "mbarrier.arrive.relaxed.cta.shared.b64 _, [%r5+16]", "data race"},
       {"relaxed wait", "mbarrier.try_wait.parity.shared.b64 %p4, [%r5], %r4",
        "mbarrier.try_wait.parity.relaxed.cta.shared.b64 %p4, [%r5], %r4", "data race"},
       {"too few bytes expected", "_, [%r5], 128", "_, [%r5], 64", ""},
       {"too many bytes expected", "_, [%r5], 128", "_, [%r5], 144", "mbarrier"},
       {"barriers not yet initialised", "READY:\nbar.sync 0;\n", "READY:\n", ""},
       {"barriers not shown to the async proxy", "fence.mbarrier_init.release.cluster;\n", "",
        "fence.mbarrier_init"},
       {"store not waited for", "cp.async.bulk.wait_group 0;\n", "", "in flight"},
       {"staging overwritten", "cp.async.bulk.wait_group 0;\n",
        "st.shared.u32 [%r9+512], 0;\ncp.async.bulk.wait_group 0;\n", "data race"},
       {"slot not the barrier's", "shl.b32 %r6, %r3, 7;\nadd.u32 %r6, %r6, %r1;\n",
        "mov.u32 %r6, %r1;\n", ""}});
}

TEST(EmulatorRaces, BrokenStages) {
  expectReported(
      stages(), stagesRight,
      {{"no wait", "cp.async.wait_group 1;\n", "", ""},
       {"waits for one group too few", "cp.async.wait_group 1;\n", "cp.async.wait_group 2;\n", ""},
       {"no barrier after the wait", "bar.sync 0;\n", "", "data race"},
       {"no barrier before the refill", "bar.sync 1;\n", "", "data race"}});
}

TEST(EmulatorRaces, BrokenFlags) {
  expectReported(
      flag(), flagRight,
      {{"relaxed store", "st.release.gpu", "st.relaxed.gpu", "data race"},
       {"relaxed load", "ld.acquire.gpu", "ld.relaxed.gpu", "data race"},
       {"scope of the store", "st.release.gpu", "st.release.cta", "too small a scope"},
       {"scope of the load", "ld.acquire.gpu", "ld.acquire.cta", "too small a scope"},
       {"weak store", "st.release.gpu.global.u32 [%d63], 1", "st.global.u32 [%d63], 1",
        "data race"},
       {"no barrier before the release", "bar.sync 0;\n", "", "data race"},
       {"no barrier after the acquire", "SYNC:\nbar.sync 0;\n", "SYNC:\n", "data race"}});
}

TEST(EmulatorRaces, FencesMakeRelaxedFlagsRight) {
  Kernel k = flag();
  k.body = mutate(k.body, {"", "st.release.gpu", "fence.acq_rel.gpu;\nst.relaxed.gpu", ""});
  k.body = mutate(k.body, {"", "@%p3 bra POLL;\n", "@%p3 bra POLL;\nfence.acq_rel.gpu;\n", ""});
  k.body = mutate(k.body, {"", "ld.acquire.gpu", "ld.relaxed.gpu", ""});
  expectClean(k, flagRight, 12);
}

TEST(EmulatorRaces, BrokenMultiplications) {
  expectReported(
      multiply(), multiplyRight,
      {{"no proxy fence", "fence.proxy.async.shared::cta;\n", "", "fence.proxy.async"},
       {"no barrier", "bar.sync 0;\n", "", "data race"},
       {"no wait", "wgmma.wait_group.sync.aligned 0;\n", "", "still writes"},
       {"no register fence", "wgmma.fence.sync.aligned;\n", "", "wgmma.fence"},
       {"no barrier before the operands are overwritten", "bar.sync 1;\n", "", "data race"},
       {"operands overwritten in flight", "wgmma.wait_group.sync.aligned 0;\n",
        "st.shared.b32 [%r1], 0;\nwgmma.wait_group.sync.aligned 0;\n", "data race"}});
}

TEST(EmulatorRaces, BrokenTensorMemory) {
  expectReported(tensorMemory(), tensorMemoryRight,
                 {{"store not waited for", "tcgen05.wait::st.sync.aligned;\n", "", ""},
                  {"load not waited for", "tcgen05.wait::ld.sync.aligned;\n", "",
                   "tcgen05.wait::ld before it"},
                  {"freed while others load", "bar.sync 1;\n", "", "race on tensor memory"},
                  {"no fence ahead of the barrier", "tcgen05.fence::before_thread_sync;\n", "",
                   "lack tcgen05 fences"},
                  {"no fence behind the barrier", "tcgen05.fence::after_thread_sync;\n", "",
                   "lack tcgen05 fences"},
                  {"address not yet there", "READY:\nbar.sync 0;\n", "READY:\n", ""}});
}

TEST(EmulatorRaces, AReportNamesBothSides) {
  Kernel k = ring();
  k.body = mutate(k.body, {"", "@!%p4 bra EMPTY;\n", "", ""});
  Outcome o;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    k.options.seed = seed;
    o = runChecked(k);
    for (const Error &e : o.report.errors) {
      if (e.kind != ErrorKind::Race ||
          e.message.find("write by the bulk copy of line") == std::string::npos ||
          e.message.find("earlier read of line") == std::string::npos)
        continue;
      EXPECT_NE(e.line, 0u);
      EXPECT_EQ(e.role, "load");
      EXPECT_NE(e.message.find("role sum, warp 1, lane "), std::string::npos) << e.message;
      EXPECT_NE(e.message.find("cta (0,0,0)"), std::string::npos) << e.message;
      return;
    }
  }
  ADD_FAILURE() << "no seed reported the copy against the read: " << o.report.text();
}
