//===- ElementGraph.h - element-wise work, one element at a time ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The element-wise part of a spec, as a list of scalar operations that give one
// element of the result. From it come both the regions of warp.store and warp.pack
// and the reference program that results are checked against. All values are f32
// (conditions i1); narrower arithmetic is f32 followed by `round`.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_KERNELS_ELEMENTGRAPH_H
#define HEDDLE_KERNELS_ELEMENTGRAPH_H

#include "dialects/Heddle/IR/HeddleDialect.h"
#include <vector>

namespace heddle::kernels {

struct ElementNode {
  enum class Kind {
    Load,     ///< element of argument `arg`, dimension i indexed by output dimension indexMap[i]
    Scalar,   ///< the scalar argument `arg`
    Constant, ///< `value`
    Product,  ///< element of the matrix product
    Round,    ///< inputs[0] rounded to `type`
    Compute,  ///< the scalar operation `op` on the inputs
    Compare,  ///< arith.cmpf with `predicate`
    Select    ///< inputs[0] ? inputs[1] : inputs[2]
  };
  Kind kind;
  mlir::Location loc;
  llvm::SmallVector<unsigned, 3> inputs = {};
  unsigned arg = 0;
  llvm::SmallVector<int64_t> indexMap = {};
  double value = 0;
  mlir::Type type = {};
  /// Compute: the name of the arith or math operation, and of the package's RefOp.
  llvm::StringRef op = {}, reference = {};
  mlir::arith::CmpFPredicate predicate = mlir::arith::CmpFPredicate::AlwaysFalse;
  /// A division whose last bit does not matter.
  bool approximate = false;
};

struct ElementGraph {
  std::vector<ElementNode> nodes; ///< inputs before users
  unsigned root = 0;

  /// The element of `result`, a tensor computed from `product`; errors at the op that
  /// is not supported.
  static mlir::FailureOr<ElementGraph> build(mlir::Value result, spec::GemmOp product);
  /// The arguments that are read at every element of the result, without scalars.
  llvm::SmallVector<unsigned> fullRankArgs() const;
};

} // namespace heddle::kernels

#endif // HEDDLE_KERNELS_ELEMENTGRAPH_H
