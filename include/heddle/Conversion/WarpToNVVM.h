//===- WarpToNVVM.h - warp.kernel to llvm.func with nvvm and ptx ops ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_CONVERSION_WARPTONVVM_H
#define HEDDLE_CONVERSION_WARPTONVVM_H

#include <memory>

namespace mlir {
class Pass;
}

namespace heddle {
/// Lowers every warp.kernel of a module to an llvm.func; see lib/Conversion/WarpToNVVM.
std::unique_ptr<mlir::Pass> createConvertWarpToNVVMPass();
void registerConvertWarpToNVVMPass();
} // namespace heddle

#endif // HEDDLE_CONVERSION_WARPTONVVM_H
