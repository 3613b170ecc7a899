//===- Emitter.h - short names for the ops that lowerings build ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_LIB_CONVERSION_WARPTONVVM_EMITTER_H
#define HEDDLE_LIB_CONVERSION_WARPTONVVM_EMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include <functional>

namespace heddle {

/// An OpBuilder with a location and 32-bit integer arithmetic that folds constants.
class Emitter : public mlir::OpBuilder {
public:
  Emitter(mlir::Location loc, mlir::OpBuilder builder) : OpBuilder(builder), loc(loc) {}
  mlir::Location loc;

  template <typename Op, typename... Args> Op make(Args &&...args) {
    return Op::create(*this, loc, std::forward<Args>(args)...);
  }

  mlir::Value i32(int64_t value);
  mlir::Value i64(int64_t value);
  mlir::Value i1(bool value);
  mlir::Value index(int64_t value);

  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value add(mlir::Value a, int64_t b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, int64_t b);
  mlir::Value div(mlir::Value a, mlir::Value b); ///< unsigned
  mlir::Value rem(mlir::Value a, mlir::Value b); ///< unsigned
  mlir::Value shl(mlir::Value a, int64_t bits);
  mlir::Value shr(mlir::Value a, int64_t bits); ///< logical
  mlir::Value bitAnd(mlir::Value a, int64_t mask);
  mlir::Value bitAnd(mlir::Value a, mlir::Value b);
  mlir::Value bitOr(mlir::Value a, mlir::Value b);
  mlir::Value bitXor(mlir::Value a, mlir::Value b);
  mlir::Value min(mlir::Value a, mlir::Value b); ///< signed
  mlir::Value compare(mlir::arith::CmpIPredicate p, mlir::Value a, mlir::Value b);
  mlir::Value eq(mlir::Value a, int64_t b);
  mlir::Value lt(mlir::Value a, mlir::Value b); ///< unsigned
  mlir::Value select(mlir::Value c, mlir::Value a, mlir::Value b);
  /// index or i1 or i32 to i32; sign-extended to i64.
  mlir::Value toI32(mlir::Value v);
  mlir::Value toI64(mlir::Value v);
  mlir::Value toIndex(mlir::Value v);

  /// scf.if without results; the bodies run with this emitter inside.
  void ifThen(mlir::Value condition, llvm::function_ref<void()> then,
              llvm::function_ref<void()> otherwise = nullptr);
  /// A loop that stays one: i32 from `from` while below `to` (signed). No loop around a
  /// single turn that is known to be one.
  void loop(mlir::Value from, mlir::Value to, int64_t step,
            llvm::function_ref<void(mlir::Value)> body);
};

} // namespace heddle

#endif // HEDDLE_LIB_CONVERSION_WARPTONVVM_EMITTER_H
