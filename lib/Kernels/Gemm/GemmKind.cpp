//===- GemmKind.cpp - GEMM in the table of kernel kinds ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "heddle/Kernels/Gemm.h"
#include "heddle/Kernels/Kind.h"

using namespace mlir;

namespace heddle::kernels {

static LogicalResult build(OpBuilder &builder, spec::KernelOp kernel, const BuildOptions &options) {
  if (failed(checkForm(kernel, options, {"bulk", "unaligned"})))
    return failure();
  FailureOr<GemmSpec> spec = analyzeGemm(kernel);
  if (failed(spec))
    return failure();
  spec->sms = options.sms;
  FailureOr<SmallVector<GemmVariant>> variants =
      scheduleGemm(*spec, options.target, options.chip, options.schedule, options.avoid);
  if (failed(variants))
    return failure();
  DictionaryAttr interface = gemmInterface(*spec);
  for (const GemmVariant &variant : *variants) {
    if (!isWanted(options, variant.name))
      continue;
    warp::KernelOp made = buildGemm(builder, *spec, options.target, variant);
    made->setAttr("heddle.interface", interface);
    made->setAttr("heddle.variant", builder.getStringAttr(variant.name));
  }
  return success();
}

/// Takes what no other kind does.
const KernelKind gemmKind = {"gemm", [](spec::KernelOp) { return true; }, build};

} // namespace heddle::kernels
