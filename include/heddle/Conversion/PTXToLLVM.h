//===- PTXToLLVM.h - ptx ops to inline assembly ----------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_CONVERSION_PTXTOLLVM_H
#define HEDDLE_CONVERSION_PTXTOLLVM_H

#include <memory>

namespace mlir {
class Pass;
} // namespace mlir

namespace heddle {

/// Turns every op that owns its PTX text (`ptx::AsmOpInterface`) into `llvm.inline_asm`.
std::unique_ptr<mlir::Pass> createConvertPTXToLLVMPass();
/// Makes it available as `--convert-ptx-to-llvm`.
void registerConvertPTXToLLVMPass();

} // namespace heddle

#endif // HEDDLE_CONVERSION_PTXTOLLVM_H
