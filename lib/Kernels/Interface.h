//===- Interface.h - a kernel as its caller sees it ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes `heddle.interface` (see gemmInterface) of a kernel whose reference program the
// caller adds node by node, and makes the warp.kernel with its arguments: results come
// after the arguments, in both.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_LIB_KERNELS_INTERFACE_H
#define HEDDLE_LIB_KERNELS_INTERFACE_H

#include "dialects/Heddle/IR/Shapes.h"
#include "dialects/Warp/IR/WarpDialect.h"
#include "heddle/Target/Target.h"

namespace heddle::kernels {

class Interface {
public:
  /// A value for a field of a node: an integer, a number, a text, integers, or any attribute.
  struct Field {
    Field(llvm::StringRef key, mlir::Attribute value) : key(key), value(value) {}
    llvm::StringRef key;
    mlir::Attribute value;
  };

  /// Infers the sizes of `kernel`; fails with an error that names both places.
  static mlir::FailureOr<Interface> of(spec::KernelOp kernel);

  /// The number of an argument; the operand must be one (an error says so).
  mlir::FailureOr<unsigned> argument(mlir::Operation *op, mlir::Value operand,
                                     llvm::StringRef what);
  /// The number of the result of the kernel that is `value`; an error at `op` when it is none.
  mlir::FailureOr<unsigned> result(mlir::Operation *op, mlir::Value value, llvm::StringRef what);
  /// The same for all operands (results) of `op`, which `what` names.
  llvm::LogicalResult arguments(mlir::Operation *op, llvm::ArrayRef<llvm::StringRef> what,
                                llvm::SmallVectorImpl<unsigned> &numbers);
  llvm::LogicalResult results(mlir::Operation *op, llvm::ArrayRef<llvm::StringRef> what,
                              llvm::SmallVectorImpl<unsigned> &numbers);
  std::string name(unsigned arg) const;
  unsigned numArguments() const { return types.size(); }
  mlir::RankedTensorType type(unsigned arg) const {
    return mlir::dyn_cast<mlir::RankedTensorType>(types[arg]);
  }
  const spec::Size &size(unsigned arg, unsigned dim) const;

  // -- the reference program ------------------------------------------------------------
  unsigned node(llvm::StringRef op, llvm::ArrayRef<Field> fields);
  mlir::Attribute integers(llvm::ArrayRef<int64_t> values) {
    return b.getDenseI64ArrayAttr(values);
  }
  mlir::Attribute integer(int64_t value) { return b.getI64IntegerAttr(value); }
  /// An integer or the name of a run-time size.
  mlir::Attribute sizeAttr(const spec::Size &size);
  /// Argument `arg`, an output, is `node`.
  void output(unsigned arg, unsigned node);
  void constrain(llvm::StringRef kind, llvm::ArrayRef<mlir::Attribute> expr, int64_t value,
                 llvm::StringRef what);
  /// What is allocated in the symmetric heap.
  void symmetric(unsigned arg) { isSymmetric[arg] = true; }
  /// `flops`: operations of a launch, a postfix expression; empty: it only moves data.
  mlir::DictionaryAttr build(llvm::ArrayRef<mlir::Attribute> flops);

  /// A warp.kernel with these arguments, its insertion point set to its body's start.
  warp::KernelOp makeKernel(mlir::OpBuilder &builder, const target::Target &target,
                            llvm::StringRef suffix = "");

  mlir::Builder b;

private:
  explicit Interface(spec::KernelOp kernel, spec::KernelShapes shapes);
  std::optional<llvm::SmallVector<int64_t>> strides(unsigned arg) const;
  mlir::DictionaryAttr argAttr(unsigned arg);
  std::string strideName(unsigned arg, unsigned dim) const {
    return name(arg) + ".stride" + std::to_string(dim);
  }

  mutable spec::KernelOp kernel;
  spec::KernelShapes shapes;
  unsigned inputs;
  llvm::SmallVector<mlir::Type> types; ///< of arguments, then results
  llvm::SmallVector<bool> isSymmetric;
  llvm::SmallVector<mlir::Attribute> nodes, outputs, constraints;
};

} // namespace heddle::kernels

#endif // HEDDLE_LIB_KERNELS_INTERFACE_H
