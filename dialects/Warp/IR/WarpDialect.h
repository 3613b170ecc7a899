//===- WarpDialect.h - the warp dialect ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_WARP_IR_WARPDIALECT_H
#define HEDDLE_DIALECTS_WARP_IR_WARPDIALECT_H

#include "heddle/Tuning/Schedule.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace heddle::warp {
/// Scales of one operand, as warp.mma and warp.promote have them.
struct TileScales {
  mlir::Value memory;
  mlir::OperandRange offsets; ///< of the tile in its operand: batch, row, K
  llvm::ArrayRef<int64_t> block;
  bool transposed;
};
} // namespace heddle::warp

#include "dialects/Warp/IR/WarpDialect.h.inc"
#include "dialects/Warp/IR/WarpEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Warp/IR/WarpAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Warp/IR/WarpTypes.h.inc"
#define GET_OP_CLASSES
#include "dialects/Warp/IR/WarpOps.h.inc"

namespace heddle::warp {

/// Groups of a kernel at most: their table is in shared memory, beside the operands.
inline constexpr int64_t mostGroups = 1024;

/// The schedule attribute of a schedule record, and back.
ScheduleAttr toAttr(mlir::MLIRContext *context, const tuning::Schedule &schedule);
tuning::Schedule fromAttr(ScheduleAttr attr);

/// The target of the kernel around `op`; nullptr when none is set or it is unknown.
const target::Target *getTarget(mlir::Operation *op);

} // namespace heddle::warp

#endif // HEDDLE_DIALECTS_WARP_IR_WARPDIALECT_H
