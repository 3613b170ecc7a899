//===- PTXDialect.h - the ptx dialect ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_PTX_IR_PTXDIALECT_H
#define HEDDLE_DIALECTS_PTX_IR_PTXDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <string>

#include "dialects/PTX/IR/PTXDialect.h.inc"
#include "dialects/PTX/IR/PTXInterfaces.h.inc"
#define GET_OP_CLASSES
#include "dialects/PTX/IR/PTXOps.h.inc"

#endif // HEDDLE_DIALECTS_PTX_IR_PTXDIALECT_H
