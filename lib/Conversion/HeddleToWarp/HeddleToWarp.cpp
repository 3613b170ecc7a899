//===- HeddleToWarp.cpp - heddle.kernel to warp.kernel ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In: a module with heddle.kernel ops of the kinds in lib/Kernels/Kinds.cpp.
// Out: the same module with each replaced by a warp.kernel of its name, and by others, such
//      as `<name>__unaligned`, when the first may refuse the alignment or the sizes it is
//      given at launch. `heddle.interface` on each says what callers and checkers need,
//      `heddle.variant` which form it is ("bulk" or "unaligned" of a GEMM).
// Cannot: kernels of other kinds; an error at the kernel says what is supported.
//
//===----------------------------------------------------------------------===//
#include "heddle/Conversion/HeddleToWarp.h"
#include "heddle/Kernels/Kind.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace {

struct ConvertHeddleToWarpPass : PassWrapper<ConvertHeddleToWarpPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ConvertHeddleToWarpPass)

  ConvertHeddleToWarpPass() = default;
  ConvertHeddleToWarpPass(const ConvertHeddleToWarpPass &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "convert-heddle-to-warp"; }
  StringRef getDescription() const final {
    return "Build the network of stages of each kernel for a target";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<heddle::warp::WarpDialect, arith::ArithDialect, math::MathDialect,
                    memref::MemRefDialect, scf::SCFDialect>();
  }

  void runOnOperation() final {
    if (failed(findTarget()) || failed(parseAvoided()))
      return signalPassFailure();
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<heddle::spec::KernelOp>()))
      if (failed(convert(kernel)))
        return signalPassFailure();
  }

  LogicalResult findTarget();
  LogicalResult parseAvoided();
  LogicalResult convert(heddle::spec::KernelOp kernel);

  Option<std::string> target{*this, "target", llvm::cl::desc("what to compile for, e.g. sm_90a")};
  Option<std::string> chip{*this, "chip", llvm::cl::desc("the chip to plan for, e.g. H200")};
  Option<std::string> schedule{*this, "schedule",
                               llvm::cl::desc("the schedule, e.g. \"tile=128x256x64,stages=4\"")};
  Option<std::string> variant{*this, "variant",
                              llvm::cl::desc("build this variant only, e.g. bulk or unaligned")};
  Option<std::string> avoid{*this, "avoid",
                            llvm::cl::desc("schedules that are not to be chosen, joined by ;")};
  Option<int> sms{*this, "sms",
                  llvm::cl::desc("the most multiprocessors that launches may use; 0: all")};
  SmallVector<heddle::tuning::Schedule> avoided;
  const heddle::target::Target *theTarget = nullptr;
  const heddle::target::Chip *theChip = nullptr;
};

} // namespace

LogicalResult ConvertHeddleToWarpPass::findTarget() {
  Location loc = getOperation().getLoc();
  theTarget = heddle::target::findTarget(target);
  if (!theTarget)
    return emitError(loc) << "expected target to be one of " << heddle::target::knownTargetNames()
                          << ", got '" << target << "'";
  theChip =
      chip.empty() ? &heddle::target::defaultChip(*theTarget) : heddle::target::findChip(chip);
  if (!theChip)
    return emitError(loc) << "expected chip to be one of " << heddle::target::knownChipNames()
                          << ", got '" << chip << "'";
  if (theChip->target != theTarget->name)
    return emitError(loc) << "expected a chip that runs " << theTarget->name << ", got "
                          << theChip->name << ", which runs " << theChip->target;
  if (sms < 0)
    return emitError(loc) << "expected sms to be at least 0, got " << sms;
  return success();
}

LogicalResult ConvertHeddleToWarpPass::parseAvoided() {
  SmallVector<StringRef> texts;
  StringRef(avoid).split(texts, ';', -1, /*KeepEmpty=*/false);
  for (StringRef text : texts) {
    std::string problem;
    auto schedule = heddle::tuning::parse(text, {}, &problem);
    if (!schedule)
      return emitError(getOperation().getLoc()) << "bad schedule to avoid: " << problem;
    avoided.push_back(*schedule);
  }
  return success();
}

LogicalResult ConvertHeddleToWarpPass::convert(heddle::spec::KernelOp kernel) {
  using namespace heddle::kernels;
  OpBuilder builder(kernel);
  if (failed(kindOf(kernel).build(builder, kernel,
                                  {*theTarget, *theChip, schedule, variant, avoided, sms})))
    return failure();
  kernel.erase();
  return success();
}

std::unique_ptr<Pass> heddle::createConvertHeddleToWarpPass(ConvertHeddleToWarpOptions options) {
  auto pass = std::make_unique<ConvertHeddleToWarpPass>();
  pass->target = options.target;
  pass->chip = options.chip;
  pass->schedule = options.schedule;
  pass->variant = options.variant;
  pass->avoid = options.avoid;
  pass->sms = options.sms;
  return pass;
}

void heddle::registerConvertHeddleToWarpPass() {
  registerPass([] { return createConvertHeddleToWarpPass(); });
}
