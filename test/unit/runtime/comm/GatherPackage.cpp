//===- GatherPackage.cpp - an all-gather written by hand --------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GatherPackage.h"
#include "heddle/Package/Expr.h"

namespace heddle::rt::test {

namespace {

using pkg::SizeExpr;

/// A loop of thread 0 over all ranks: `body` with the rank in %r10 and its heap in %d10.
std::string forEachRank(const std::string &label, const std::string &body) {
  return "  mov.u32 %r10, 0;\n" + label +
         "_LOOP:\n  mul.wide.u32 %d11, %r10, 8;\n"
         "  add.u64 %d11, %d11, %comm;\n  ld.global.u64 %d10, [%d11+32];\n" +
         body + "  add.u32 %r10, %r10, 1;\n  setp.lt.u32 %p, %r10, %world;\n  @%p bra " + label +
         "_LOOP;\n";
}

/// Waits until the counter at [%d12] is at least %epoch; on failure notes it and goes to `leave`.
std::string waitFor(const std::string &label, int number, const std::string &leave) {
  return label +
         "_POLL:\n  ld.acquire.sys.global.u64 %d13, [%d12];\n"
         "  setp.ge.u64 %p, %d13, %epoch;\n  @%p bra " +
         label +
         "_DONE;\n"
         "  ld.relaxed.sys.global.u32 %r11, [%abort];\n  mov.u32 %r12, 2;\n"
         "  setp.ne.u32 %p, %r11, 0;\n  @%p bra " +
         label +
         "_FAIL;\n"
         "  mov.u64 %d14, %globaltimer;\n  sub.u64 %d14, %d14, %start;\n  mov.u32 %r12, 1;\n"
         "  setp.gt.u64 %p, %d14, %deadline;\n  @%p bra " +
         label + "_FAIL;\n  bra " + label + "_POLL;\n" + label +
         "_FAIL:\n  st.shared.u32 [failed], 1;\n"
         "  atom.relaxed.sys.global.cas.b32 %r11, [%fault], 0, %r12;\n"
         "  setp.ne.u32 %p, %r11, 0;\n  @%p bra " +
         leave +
         ";\n"
         "  st.global.u32 [%fault+4], %r10;\n  st.global.u32 [%fault+8], %cta;\n"
         "  st.global.u32 [%fault+12], 0;\n  st.global.u64 [%fault+16], %epoch;\n"
         "  st.global.u64 [%fault+24], %d13;\n  st.global.u64 [%fault+32], %epoch;\n"
         "  st.global.u32 [%fault+40], " +
         std::to_string(number) + ";\n  bra " + leave + ";\n" + label + "_DONE:\n";
}

std::string gatherPtx(GatherDefect defect, const std::string &target) {
  const std::string signal = defect == GatherDefect::NoRelease ? "  st.relaxed.sys.global.u64"
                                                               : "  st.release.sys.global.u64";
  std::string text = ".version 7.8\n.target " + target + R"(
.address_size 64
.visible .entry all_gather(.param .u64 px, .param .u64 py, .param .u64 pcomm, .param .u64 psignals, .param .u32 pn)
{
  .reg .pred %p, %others;
  .reg .b32 %r<20>, %me, %world, %n, %cta, %tid;
  .reg .b64 %d<20>, %x, %y, %comm, %signals, %deadline, %abort, %fault, %mine, %area, %epoch, %start;
  .reg .f32 %f;
  .shared .align 4 .u32 failed;
  ld.param.u64 %x, [px];
  ld.param.u64 %y, [py];
  ld.param.u64 %comm, [pcomm];
  ld.param.u64 %signals, [psignals];
  ld.param.u32 %n, [pn];
  mov.u32 %tid, %tid.x;
  mov.u32 %cta, %ctaid.x;
  setp.ne.u32 %others, %tid, 0;
  ld.global.u32 %me, [%comm];
  ld.global.u32 %world, [%comm+4];
  ld.global.u64 %deadline, [%comm+8];
  ld.global.u64 %abort, [%comm+16];
  ld.global.u64 %fault, [%comm+24];
  mul.wide.u32 %d1, %me, 8;
  add.u64 %d1, %d1, %comm;
  ld.global.u64 %mine, [%d1+32];
  // counters of this CTA: the epoch, then a flag and a credit for each rank
  mad.lo.u32 %r1, %world, 16, 8;
  mul.wide.u32 %area, %r1, %cta;
  add.u64 %area, %area, %signals;
  add.u64 %d2, %mine, %area;
  ld.global.u64 %epoch, [%d2];
  add.u64 %epoch, %epoch, 1;
  mov.u64 %start, %globaltimer;
  mul.wide.u32 %d3, %world, 8;
  mul.wide.u32 %d4, %me, 8;
  @%others bra GRANTED;
  st.shared.u32 [failed], 0;
)";
  if (defect != GatherDefect::NoCredit) {
    text += forEachRank("GRANT", "  add.u64 %d12, %d10, %area;\n  add.u64 %d12, %d12, %d3;\n"
                                 "  add.u64 %d12, %d12, %d4;\n" +
                                     signal + " [%d12+8], %epoch;\n");
    text += forEachRank("CREDIT", "  mul.wide.u32 %d12, %r10, 8;\n  add.u64 %d12, %d12, %d2;\n"
                                  "  add.u64 %d12, %d12, %d3;\n  add.u64 %d12, %d12, 8;\n" +
                                      waitFor("CREDIT", 1, "GRANTED"));
  }
  text += "GRANTED:\n  bar.sync 0;\n  ld.shared.u32 %r2, [failed];\n  setp.ne.u32 %p, %r2, 0;\n"
          "  @%p bra LEAVE;\n"
          // my rows in every rank's Y
          "  sub.u64 %d5, %y, %mine;\n  mul.wide.u32 %d6, %me, %n;\n  shl.b64 %d6, %d6, 2;\n"
          "  add.u64 %d5, %d5, %d6;\n";
  text += forEachRank("PUSH", R"(  mad.lo.u32 %r3, %cta, 32, %tid;
ELEMENT:
  setp.ge.u32 %p, %r3, %n;
  @%p bra PUSHED;
  mul.wide.u32 %d7, %r3, 4;
  add.u64 %d8, %d7, %x;
  ld.global.f32 %f, [%d8];
  add.u64 %d7, %d7, %d5;
  add.u64 %d7, %d7, %d10;
  st.global.f32 [%d7], %f;
  add.u32 %r3, %r3, 64;
  bra ELEMENT;
PUSHED:
)");
  text += "  bar.sync 0;\n  @%others bra GATHERED;\n";
  text += forEachRank("SIGNAL", "  add.u64 %d12, %d10, %area;\n  add.u64 %d12, %d12, %d4;\n" +
                                    signal + " [%d12+8], %epoch;\n");
  text += forEachRank("FULL", "  mul.wide.u32 %d12, %r10, 8;\n  add.u64 %d12, %d12, %d2;\n"
                              "  add.u64 %d12, %d12, 8;\n" +
                                  waitFor("FULL", 2, "GATHERED"));
  text += R"(GATHERED:
  bar.sync 0;
  ld.shared.u32 %r2, [failed];
  setp.ne.u32 %p, %r2, 0;
  @%p bra LEAVE;
)";
  // Reads what came, as a consumer would: races show here.
  text += forEachRank("READ", R"(  mul.wide.u32 %d6, %r10, %n;
  shl.b64 %d6, %d6, 2;
  add.u64 %d6, %d6, %y;
  mad.lo.u32 %r3, %cta, 32, %tid;
ARRIVED:
  setp.ge.u32 %p, %r3, %n;
  @%p bra SEEN;
  mul.wide.u32 %d7, %r3, 4;
  add.u64 %d8, %d7, %d6;
  ld.global.f32 %f, [%d8];
  add.u32 %r3, %r3, 64;
  bra ARRIVED;
SEEN:
)");
  text += R"(  @!%others st.global.u64 [%d2], %epoch;
LEAVE:
  ret;
}
)";
  return text;
}

std::unique_ptr<pkg::ParamT> param(pkg::ParamKind kind, uint32_t index = 0) {
  auto made = std::make_unique<pkg::ParamT>();
  made->kind = kind;
  made->index = index;
  return made;
}

std::unique_ptr<pkg::RefNodeT> node(pkg::RefOp op, std::vector<uint32_t> inputs = {},
                                    std::vector<int32_t> map = {}) {
  auto made = std::make_unique<pkg::RefNodeT>();
  made->op = op;
  made->inputs = std::move(inputs);
  made->index_map = std::move(map);
  return made;
}

} // namespace

pkg::PackageT gatherPackage(GatherDefect defect, const std::string &target) {
  pkg::PackageT package;
  package.format_version = pkg::formatVersion;
  package.compiler_version = "test";
  auto image = std::make_unique<pkg::ImageT>();
  image->target = target;
  image->ptx_version = 78;
  image->ptx = gatherPtx(defect, target);
  package.images.push_back(std::move(image));

  const SizeExpr n = SizeExpr::symbol(1), world = SizeExpr::world();
  auto kernel = std::make_unique<pkg::KernelT>();
  kernel->name = "all_gather";
  kernel->symbols = {"world", "N"};
  auto x = std::make_unique<pkg::ArgT>();
  x->name = "X";
  x->shape = {pkg::Dim(0, 1)};
  auto y = std::make_unique<pkg::ArgT>();
  y->name = "Y";
  y->shape = {pkg::Dim(0, 0), pkg::Dim(0, 1)};
  y->output = true;
  y->symmetric = true;
  kernel->args.push_back(std::move(x));
  kernel->args.push_back(std::move(y));
  kernel->nodes.push_back(node(pkg::RefOp::index, {}, {0}));
  kernel->nodes.push_back(node(pkg::RefOp::index, {}, {1}));
  kernel->nodes.push_back(node(pkg::RefOp::gather, {0, 1}));
  auto output = std::make_unique<pkg::RefOutputT>();
  output->arg = 1;
  output->node = 2;
  kernel->outputs.push_back(std::move(output));

  auto form = std::make_unique<pkg::VariantT>();
  form->target = target;
  form->entry = "all_gather";
  form->block = {32, 1, 1};
  form->cluster = {1, 1, 1};
  for (const SizeExpr &size : {SizeExpr(gatherChannels), SizeExpr(1), SizeExpr(1)})
    form->grid.push_back(size.toExpr());
  form->params.push_back(param(pkg::ParamKind::pointer, 0));
  form->params.push_back(param(pkg::ParamKind::pointer, 1));
  form->params.push_back(param(pkg::ParamKind::comm));
  form->params.push_back(param(pkg::ParamKind::signals));
  form->params.push_back(param(pkg::ParamKind::i32));
  form->params.back()->expr = n.toExpr();
  form->resident_ctas = SizeExpr(gatherChannels).toExpr();
  form->signal_bytes = ((world * 16 + 8) * int64_t(gatherChannels)).toExpr();
  auto role = std::make_unique<pkg::RoleT>();
  role->name = "push";
  role->warps = 1;
  form->roles.push_back(std::move(role));
  kernel->variants.push_back(std::move(form));
  package.kernels.push_back(std::move(kernel));
  return package;
}

} // namespace heddle::rt::test
