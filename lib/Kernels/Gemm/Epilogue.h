//===- Epilogue.h - one element of the result as scalar operations ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_LIB_KERNELS_GEMM_EPILOGUE_H
#define HEDDLE_LIB_KERNELS_GEMM_EPILOGUE_H

#include "heddle/Kernels/ElementGraph.h"

namespace heddle::kernels {

/// Emits `graph` at the insertion point. `product` is an element of the product,
/// `point` its position in the result, `arguments` the arguments of the warp.kernel.
/// Gives a value of type `type`.
mlir::Value emitElement(mlir::OpBuilder &builder, const ElementGraph &graph, mlir::Value product,
                        mlir::ValueRange point, mlir::ValueRange arguments, mlir::Type type);

} // namespace heddle::kernels

#endif // HEDDLE_LIB_KERNELS_GEMM_EPILOGUE_H
