//===- Memory.cpp - asynchronous copies, tensor maps, mbarriers, atomics ---===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Golden.h"

namespace heddle::golden {

namespace {
const std::string init = "mov.u32 %r20, smem;\nsetp.ne.u32 %p1, %r62, 0;\n";
/// One thread initialises the mbarrier at smem for one arrival and expects `bytes`.
std::string barrier(unsigned bytes) {
  return init + "@%p1 bra B;\nmbarrier.init.shared.b64 [smem], 1;\nfence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;\nB: bar.sync 0;\n@%p1 bra W;\n"
                "mbarrier.arrive.expect_tx.shared.b64 %d10, [smem], " + std::to_string(bytes) + ";\n";
}
const std::string wait = "W: mbarrier.try_wait.parity.shared.b64 %p2, [smem], 0;\n@!%p2 bra W;\n";
/// Every thread stores four words of shared memory from `base` on.
std::string dump(unsigned base) {
  return "shl.b32 %r21, %r62, 4;\nadd.u32 %r22, %r20, %r21;\nld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r22+" + std::to_string(base) +
         "];\nst.global.v4.u32 [%d61], {%r10, %r11, %r12, %r13};";
}
/// ... and fills them from the input.
std::string fill(unsigned base) {
  return "shl.b32 %r21, %r62, 4;\nadd.u32 %r22, %r20, %r21;\nld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%d60];\nst.shared.v4.u32 [%r22+" + std::to_string(base) +
         "], {%r10, %r11, %r12, %r13};\n";
}

Case make(const std::string &name, const char *target, const std::string &body, unsigned shared, unsigned outWords = 4, unsigned threads = 64) {
  Case c;
  c.name = name;
  c.target = target;
  c.body = body;
  c.shared = shared;
  c.threads = threads;
  c.outWords = outWords;
  c.record.assign(4, Word::Bits);
  return c;
}

void addCopies(std::vector<Case> &cases) {
  for (unsigned bytes : {4u, 8u, 16u}) {
    const std::string b = std::to_string(bytes);
    // Twice: whole, and the first bytes with zeros behind.
    cases.push_back(make("cp.async/" + b, "sm_80",
                         init + fill(0) + "bar.sync 0;\ncp.async.ca.shared.global [%r22], [%d60+" + std::to_string(16 - bytes) + "], " + b +
                             ";\ncp.async.commit_group;\ncp.async.wait_group 0;\nbar.sync 0;\n" + dump(0), 1024));
    cases.push_back(make("cp.async/zfill" + b, "sm_80",
                         init + fill(0) + "bar.sync 0;\nand.b32 %r5, %r62, 3;\nmul.lo.u32 %r5, %r5, " + std::to_string(bytes / 4) + ";\ncp.async." + (bytes == 16 ? "cg" : "ca") +
                             ".shared.global [%r22], [%d60], " + b + ", %r5;\ncp.async.wait_all;\nbar.sync 0;\n" + dump(0), 1024));
  }
  cases.push_back(make("cp.async/mbarrier", "sm_80",
                       init + "@%p1 bra B;\nmbarrier.init.shared.b64 [smem+1024], 64;\nB: bar.sync 0;\nshl.b32 %r21, %r62, 4;\nadd.u32 %r22, %r20, %r21;\n"
                              "cp.async.cg.shared.global [%r22], [%d60], 16;\ncp.async.mbarrier.arrive.noinc.shared.b64 [smem+1024];\n"
                              "W: mbarrier.test_wait.parity.shared.b64 %p2, [smem+1024], 0;\n@!%p2 bra W;\n"
                              "xor.b32 %r22, %r22, 48;\nsub.u32 %r22, %r22, 0;\nld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r22];\nst.global.v4.u32 [%d61], {%r10, %r11, %r12, %r13};", 1032));
  // Bulk copies: global to shared, back, and with reductions.
  cases.push_back(make("bulk/load", "sm_90a",
                       barrier(768) + "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r20+128], [%d63+256], 768, [%r20];\n" + wait +
                           "setp.ge.u32 %p3, %r62, 48;\n@%p3 bra E;\n" + dump(128) + "\nE:", 1024));
  cases.push_back(make("bulk/store", "sm_90a",
                       init + fill(0) + "fence.proxy.async.shared::cta;\nbar.sync 0;\n@%p1 bra E;\nadd.u64 %d1, %d62, 16;\ncp.async.bulk.global.shared::cta.bulk_group [%d1], [%r20+32], 512;\n"
                                        "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nE:", 1024));
  for (const char *op : {"add.u32", "min.s32", "max.u64", "inc.u32", "dec.u32", "and.b32", "xor.b64", "add.f32", "add.f64", "min.f16", "max.bf16", "add.noftz.f16", "add.noftz.bf16"}) {
    Case c = make(std::string("bulk/reduce.") + op, "sm_90a",
                  init + "ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%d60+1024];\nst.global.v4.u32 [%d61], {%r10, %r11, %r12, %r13};\nfence.proxy.async;\n" + fill(0) +
                      "fence.proxy.async.shared::cta;\nbar.sync 0;\n@%p1 bra E;\ncp.reduce.async.bulk.global.shared::cta.bulk_group." + op +
                      " [%d62], [%r20], 1024;\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nE:", 1024);
    const std::string type = op;
    c.records = 128;
    const Word data = type.find("bf16") != std::string::npos ? Word::BF16x2Near
                      : type.find("f16") != std::string::npos ? Word::F16x2Near
                      : type.find("f32") != std::string::npos ? Word::F32Near : Word::Bits;
    c.record.assign(4, data);
    if (type.find("f64") != std::string::npos)
      c.record = {Word::F64Low, Word::F64High, Word::F64Low, Word::F64High};
    cases.push_back(std::move(c));
  }
  // Tensor maps over 40 x 24 words with rows of 48 words.
  const char *names[] = {"none", "32", "64", "128"};
  for (uint8_t swizzle = 0; swizzle < 4; ++swizzle)
    for (int at : {0, 1}) {
      const unsigned inner = swizzle == 0 ? 20 : swizzle == 1 ? 8 : swizzle == 2 ? 16 : 32, bytes = inner * 16 * 4;
      Case c = make(std::string("tensor/load.swizzle.") + names[swizzle] + (at ? ".outside" : ""), "sm_90a",
                    barrier(bytes) + "mov.u32 %r1, " + (at ? "12" : "4") + ";\nmov.u32 %r2, " + (at ? "-3" : "5") +
                        ";\ncp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r20+1024], [%d59, {%r1, %r2}], [%r20];\n" + wait +
                        "mul.lo.u32 %r5, %r62, 16;\nsetp.ge.u32 %p3, %r5, " + std::to_string(bytes) + ";\n@%p3 bra E;\n" + dump(1024) + "\nE:", 4096, 4, 128);
      c.records = 24 * 48 / 4;
      c.map = {true, 0, {40, 24, 0}, {192, 0}, {inner, 16, 0}, 2, swizzle};
      cases.push_back(std::move(c));
    }
  Case load3 = make("tensor/load.3d", "sm_90a",
                    barrier(8 * 3 * 4 * 4) + "mov.u32 %r1, 4;\nmov.u32 %r2, 6;\nmov.u32 %r3, -1;\ncp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
                                             "[%r20+1024], [%d59, {%r1, %r2, %r3}], [%r20];\n" + wait + "setp.ge.u32 %p3, %r62, 24;\n@%p3 bra E;\n" + dump(1024) + "\nE:", 4096);
  load3.records = 24 * 48 / 4;
  load3.map = {true, 0, {16, 8, 9}, {64, 512}, {8, 3, 4}, 3, 0};
  cases.push_back(std::move(load3));
  for (const char *op : {"", "add", "max"}) {
    const std::string root = op[0] ? "cp.reduce.async.bulk.tensor.2d.global.shared::cta." + std::string(op) + ".tile" : "cp.async.bulk.tensor.2d.global.shared::cta.tile";
    Case c = make(std::string("tensor/store") + (op[0] ? "." : "") + op, "sm_90a",
                  init + fill(1024) + "fence.proxy.async.shared::cta;\nbar.sync 0;\n@%p1 bra E;\nmov.u32 %r1, 28;\nmov.u32 %r2, 20;\n" + root +
                      ".bulk_group [%d59, {%r1, %r2}], [%r20+1024];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nfence.proxy.async;\nE: bar.sync 0;\n"
                      "shl.b32 %r21, %r62, 4;\ncvt.u64.u32 %d1, %r21;\nadd.u64 %d1, %d1, %d63;\nld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%d1+3840];\nst.global.v4.u32 [%d61], {%r10, %r11, %r12, %r13};", 4096);
    c.records = 24 * 48 / 4 + 16; // what is read back ends past the matrix
    c.map = {true, 0, {40, 24, 0}, {192, 0}, {16, 8, 0}, 2, 2};
    cases.push_back(std::move(c));
  }
}

void addClusters(std::vector<Case> &cases) {
  const auto add = [&](const std::string &name, const std::string &body) {
    Case c = make(name, "sm_90a", body, 4096);
    c.blocks = 4;
    c.cluster = 2;
    cases.push_back(std::move(c));
  };
  const std::string meet = "barrier.cluster.arrive;\nbarrier.cluster.wait;\n";
  add("cluster/mapa", init + fill(0) + meet + "mov.u32 %r1, %cluster_ctarank;\nxor.b32 %r1, %r1, 1;\nmapa.shared::cluster.u32 %r2, %r22, %r1;\nld.shared::cluster.u32 %r10, [%r2];\n"
                                              "mov.u32 %r11, %cluster_ctarank;\nmov.u32 %r12, %clusterid.x;\nmov.u32 %r13, %cluster_nctarank;\nst.global.v4.u32 [%d61], {%r10, %r11, %r12, %r13};\n" + meet);
  add("cluster/atomics", init + fill(0) + meet + "mov.u32 %r1, %cluster_ctarank;\nxor.b32 %r1, %r1, 1;\nmapa.shared::cluster.u32 %r2, %r20, %r1;\n"
                         "red.relaxed.cluster.shared::cluster.add.u32 [%r2], %r62;\nred.relaxed.cluster.shared::cluster.max.u32 [%r2+4], %r63;\nred.relaxed.cluster.shared::cluster.xor.b32 [%r2+8], %r63;\n" + meet + dump(0));
  // Each block gets the other's bytes; remote arrivals and bytes complete the phase.
  add("cluster/copy", init + fill(1024) + "@%p1 bra B;\nmbarrier.init.shared.b64 [smem], 1;\nfence.mbarrier_init.release.cluster;\nB: fence.proxy.async.shared::cta;\n" + meet + "@%p1 bra W;\nmbarrier.arrive.expect_tx.shared.b64 %d10, [smem], 1024;\n"
                      "mov.u32 %r1, %cluster_ctarank;\nxor.b32 %r1, %r1, 1;\nmapa.shared::cluster.u32 %r2, %r20, %r1;\n"
                      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r2+2048], [%r20+1024], 1024, [%r2];\n" + wait + dump(2048) + "\n" + meet);
  add("cluster/multicast", barrier(1024) + "W: " + meet + "@%p1 bra V;\nmov.u32 %r1, %cluster_ctarank;\nsetp.ne.u32 %p4, %r1, 0;\n@%p4 bra V;\nmov.u16 %h1, 3;\n"
                           "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r20+1024], [%d63], 1024, [%r20], %h1;\n"
                           "V: mbarrier.try_wait.parity.shared.b64 %p2, [smem], 0;\n@!%p2 bra V;\n" + dump(1024) + "\n" + meet);
  add("cluster/st.async", init + "@%p1 bra B;\nmbarrier.init.shared.b64 [smem], 1;\nfence.mbarrier_init.release.cluster;\nmbarrier.arrive.expect_tx.shared.b64 %d10, [smem], 1024;\nB: " + meet +
                          "ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%d60];\nmov.u32 %r1, %cluster_ctarank;\nxor.b32 %r1, %r1, 1;\nmapa.shared::cluster.u32 %r2, %r20, %r1;\nshl.b32 %r21, %r62, 4;\nadd.u32 %r3, %r2, %r21;\n"
                          "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r3+1024], {%r10, %r11, %r12, %r13}, [%r2];\n" + wait + dump(1024) + "\n" + meet);
  for (const char *op : {"add.u32", "add.u64", "min.s32", "max.u32", "inc.u32", "dec.u32", "and.b32", "or.b32", "xor.b32"})
    add(std::string("cluster/red.async.") + op,
        init + "@%p1 bra B;\nmbarrier.init.shared.b64 [smem], 1;\nfence.mbarrier_init.release.cluster;\nmbarrier.arrive.expect_tx.shared.b64 %d10, [smem], " +
            (std::string(op).find("64") != std::string::npos ? "512" : "256") + ";\nB: " + fill(1024) + meet +
            "ld.global.u64 %d1, [%d60];\ncvt.u32.u64 %r10, %d1;\nmov.u32 %r1, %cluster_ctarank;\nxor.b32 %r1, %r1, 1;\nmapa.shared::cluster.u32 %r2, %r20, %r1;\nshl.b32 %r21, %r62, 4;\nadd.u32 %r3, %r2, %r21;\n"
            "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes." + op + " [%r3+1024], " + (std::string(op).find("64") != std::string::npos ? "%d1" : "%r10") + ", [%r2];\n" + wait + dump(1024) + "\n" + meet);
}

void addBarriers(std::vector<Case> &cases) {
  // What waits, counts and drops see; every result goes to the output.
  cases.push_back(make("mbarrier/phases", "sm_80",
                       init + "@%p1 bra E;\nmbarrier.init.shared.b64 [smem], 3;\nmbarrier.arrive.shared.b64 %d1, [smem];\nmbarrier.pending_count.b64 %r10, %d1;\n"
                              "mbarrier.test_wait.shared.b64 %p2, [smem], %d1;\nselp.u32 %r11, 1, 0, %p2;\nmbarrier.arrive.noComplete.shared.b64 %d2, [smem], 1;\nmbarrier.pending_count.b64 %r12, %d2;\n"
                              "mbarrier.arrive_drop.shared.b64 %d3, [smem];\nmbarrier.pending_count.b64 %r13, %d3;\nst.global.v4.u32 [%d62], {%r10, %r11, %r12, %r13};\n"
                              "mbarrier.test_wait.shared.b64 %p2, [smem], %d1;\nselp.u32 %r10, 1, 0, %p2;\nmbarrier.test_wait.parity.shared.b64 %p2, [smem], 0;\nselp.u32 %r11, 1, 0, %p2;\n"
                              "mbarrier.test_wait.parity.shared.b64 %p2, [smem], 1;\nselp.u32 %r12, 1, 0, %p2;\nmbarrier.arrive.shared.b64 %d4, [smem];\nmbarrier.pending_count.b64 %r13, %d4;\n"
                              "st.global.v4.u32 [%d62+16], {%r10, %r11, %r12, %r13};\nmbarrier.arrive.shared.b64 %d5, [smem];\nmbarrier.pending_count.b64 %r10, %d5;\n"
                              "mbarrier.test_wait.shared.b64 %p2, [smem], %d5;\nselp.u32 %r11, 1, 0, %p2;\nmbarrier.inval.shared.b64 [smem];\nst.global.v2.u32 [%d62+32], {%r10, %r11};\nE:", 64));
  cases.push_back(make("mbarrier/transactions", "sm_90a",
                       init + "@%p1 bra E;\nmbarrier.init.shared.b64 [smem], 2;\nmbarrier.arrive.shared.b64 %d1, [smem], 2;\nmbarrier.test_wait.parity.shared.b64 %p2, [smem], 0;\nselp.u32 %r10, 1, 0, %p2;\n"
                              "mbarrier.expect_tx.relaxed.cta.shared.b64 [smem], 64;\nmbarrier.arrive.shared.b64 %d1, [smem], 2;\nmbarrier.test_wait.parity.shared.b64 %p2, [smem], 1;\nselp.u32 %r11, 1, 0, %p2;\n"
                              "mbarrier.complete_tx.relaxed.cta.shared.b64 [smem], 48;\nmbarrier.test_wait.parity.shared.b64 %p2, [smem], 1;\nselp.u32 %r12, 1, 0, %p2;\n"
                              "mbarrier.complete_tx.relaxed.cta.shared.b64 [smem], 16;\nmbarrier.test_wait.parity.shared.b64 %p2, [smem], 1;\nselp.u32 %r13, 1, 0, %p2;\nst.global.v4.u32 [%d62], {%r10, %r11, %r12, %r13};\nE:", 64));
}

void addAtomics(std::vector<Case> &cases) {
  struct Op { const char *text; Word data = Word::Bits; const char *target = "sm_80"; };
  // One cell a thread, operated on twice: the old values and what is left.
  for (const Op &op : {Op{"add.u32"}, {"add.s32"}, {"min.s32"}, {"max.u32"}, {"inc.u32"}, {"dec.u32"}, {"and.b32"}, {"or.b32"}, {"xor.b32"}, {"exch.b32"},
                       {"add.f32", Word::F32}, {"add.noftz.f16x2", Word::F16x2}, {"add.noftz.bf16x2", Word::BF16x2, "sm_90a"}})
    for (const char *space : {"global", "shared"}) {
      const bool global = space[0] == 'g';
      const std::string t = op.text;
      Case c = make(std::string("atom/") + space + "." + op.text, op.target,
                    init + fill(0) + "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d60];\nst.global.u32 [%d61+8], %r1;\nmov.b32 %f2, %r2;\nmov.b32 %f3, %r3;\natom." + space + "." + t + " " +
                        (t == "add.f32" ? "%f10" : "%r10") + ", [" + (global ? "%d61+8" : "%r22") + "], " + (t == "add.f32" ? "%f2" : "%r2") + ";\natom." + space + "." + t + " " +
                        (t == "add.f32" ? "%f11" : "%r11") + ", [" + (global ? "%d61+8" : "%r22") + "], " + (t == "add.f32" ? "%f3" : "%r3") + ";\n" +
                        (t == "add.f32" ? "mov.b32 %r10, %f10;\nmov.b32 %r11, %f11;\n" : "") + (global ? "ld.global.u32 %r12, [%d61+8];\n" : "ld.shared.u32 %r12, [%r22];\n") +
                        "mov.u32 %r13, 0;\nst.global.v4.u32 [%d61], {%r10, %r11, %r12, %r13};", 1024);
      c.record.assign(4, op.data);
      cases.push_back(std::move(c));
    }
  for (const char *op : {"add.u64", "min.s64", "max.u64", "and.b64", "exch.b64"})
    cases.push_back(make(std::string("atom/global.") + op, "sm_80",
                         std::string("ld.global.v2.u64 {%d1, %d2}, [%d60];\nst.global.u64 [%d61], %d1;\natom.global.") + op + " %d3, [%d61], %d2;\nst.global.u64 [%d61+8], %d3;", 0));
  cases.push_back(make("atom/cas.b32", "sm_80",
                       "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d60];\nst.global.u32 [%d61], %r1;\nand.b32 %r5, %r62, 1;\nadd.u32 %r5, %r5, %r1;\natom.global.cas.b32 %r10, [%d61], %r5, %r2;\nst.global.u32 [%d61+4], %r10;", 0));
  cases.push_back(make("atom/cas.b16", "sm_80",
                       "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d60];\nst.global.u32 [%d61], %r1;\ncvt.u16.u32 %h1, %r1;\ncvt.u16.u32 %h2, %r2;\natom.global.cas.b16 %h3, [%d61], %h1, %h2;\ncvt.u32.u16 %r10, %h3;\nst.global.u32 [%d61+4], %r10;", 0));
  cases.push_back(make("atom/cas.b128", "sm_90a",
                       ".reg .b128 %q<4>;\nld.global.v2.u64 {%d1, %d2}, [%d60];\nst.global.v2.u64 [%d61], {%d1, %d2};\nmov.b128 %q1, {%d1, %d2};\nmov.b128 %q2, {%d2, %d1};\natom.global.cas.b128 %q3, [%d61], %q1, %q2;", 0));
  // All threads on one cell: only the sum is defined.
  cases.push_back(make("red/contended", "sm_80",
                       "red.global.add.u32 [%d62], %r62;\nred.global.max.u32 [%d62+4], %r62;\nred.global.xor.b32 [%d62+8], %r62;\nred.global.inc.u32 [%d62+12], 1000;", 0));
  Case vector = make("red/v4.f32", "sm_90a", "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%d60];\nst.global.v4.f32 [%d61], {%f2, %f3, %f4, %f1};\nred.global.add.v4.f32 [%d61], {%f1, %f2, %f3, %f4};", 0);
  vector.record.assign(4, Word::F32Near);
  cases.push_back(std::move(vector));
  Case most = make("red/max.v4.bf16x2", "sm_90a", "ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%d60];\nst.global.v4.b32 [%d61], {%r2, %r3, %r4, %r1};\nred.global.max.noftz.v4.bf16x2 [%d61], {%r1, %r2, %r3, %r4};", 0);
  most.record.assign(4, Word::BF16x2);
  cases.push_back(std::move(most));
}
} // namespace

void addMemory(std::vector<Case> &cases) {
  addCopies(cases);
  addClusters(cases);
  addBarriers(cases);
  addAtomics(cases);
}

} // namespace heddle::golden
