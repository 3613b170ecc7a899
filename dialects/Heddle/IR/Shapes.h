//===- Shapes.h - which dimensions of a kernel are one size ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sizes of a kernel, found by unification: the products and element-wise
// operations of a spec say which dimensions must agree. What agrees is one *size*,
// static or known at run time, with one name.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_HEDDLE_IR_SHAPES_H
#define HEDDLE_DIALECTS_HEDDLE_IR_SHAPES_H

#include "dialects/Heddle/IR/HeddleDialect.h"
#include <string>
#include <vector>

namespace heddle::spec {

/// The name of the size that is the number of ranks, in kernels of several.
inline constexpr llvm::StringLiteral ranksName = "world";

/// One size: `value` elements, or ShapedType::kDynamic.
struct Size {
  std::string name; ///< unique in the kernel: "M", or "bias_0" when it has no part in a product
  int64_t value = mlir::ShapedType::kDynamic;
  bool isDynamic() const { return mlir::ShapedType::isDynamic(value); }
};

class KernelShapes {
public:
  /// Unifies the sizes of `kernel`. Emits errors that name both places when two
  /// dimensions that must agree do not, or when one is static and the other is not.
  static mlir::FailureOr<KernelShapes> infer(KernelOp kernel);

  /// Dimension `dim` of a tensor value, or of result `result` of the kernel.
  const Size &of(mlir::Value value, unsigned dim) const;
  const Size &ofResult(unsigned result, unsigned dim) const;
  /// All sizes of arguments and results, in order of first appearance.
  std::vector<const Size *> all() const;

private:
  friend class ShapeInference;
  std::vector<Size> sizes;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, unsigned> ofValue;
  llvm::DenseMap<std::pair<unsigned, unsigned>, unsigned> ofResults;
  std::vector<unsigned> visible;
};

} // namespace heddle::spec

#endif // HEDDLE_DIALECTS_HEDDLE_IR_SHAPES_H
