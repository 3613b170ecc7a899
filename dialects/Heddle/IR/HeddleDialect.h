//===- HeddleDialect.h - the heddle dialect ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_HEDDLE_IR_HEDDLEDIALECT_H
#define HEDDLE_DIALECTS_HEDDLE_IR_HEDDLEDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <optional>

#include "dialects/Heddle/IR/HeddleDialect.h.inc"
#include "dialects/Heddle/IR/HeddleEnums.h.inc"
#define GET_OP_CLASSES
#include "dialects/Heddle/IR/HeddleOps.h.inc"

#endif // HEDDLE_DIALECTS_HEDDLE_IR_HEDDLEDIALECT_H
