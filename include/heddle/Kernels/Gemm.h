//===- Gemm.h - the GEMM kernel kind ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// D = epilogue(A * B): what a heddle.kernel with one product asks for, which
// schedules it gets on a target, the network of stages that computes it, and what its
// callers need to know. The steps, in order:
//
//   analyzeGemm    the parts of the spec, with errors for what is not supported
//   scheduleGemm   one schedule a variant, with errors that name limit, need and have
//   buildGemm      the warp.kernel of one variant, generation-neutral
//   gemmInterface  the `heddle.interface` attribute of the kernel
//
// All functions emit their errors at the op of the spec that is at fault. Not
// thread-safe for one MLIRContext, as usual.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_KERNELS_GEMM_H
#define HEDDLE_KERNELS_GEMM_H

#include "dialects/Heddle/IR/HeddleDialect.h"
#include "dialects/Heddle/IR/Shapes.h"
#include "dialects/Warp/IR/WarpDialect.h"
#include "heddle/Kernels/ElementGraph.h"
#include "heddle/Tuning/Schedule.h"

namespace heddle::kernels {

/// A tensor argument or result of the kernel.
struct TensorArg {
  unsigned index = 0; ///< in the order of the caller; results come after the arguments
  std::string name;
  mlir::RankedTensorType type;
  std::optional<llvm::SmallVector<int64_t>> strides; ///< nullopt: contiguous
  llvm::SmallVector<const spec::Size *> sizes;
};

struct GemmSpec {
  GemmSpec() = default;
  GemmSpec(GemmSpec &&) = default; // not copied: `tensors` points into `shapes`
  GemmSpec &operator=(GemmSpec &&) = default;

  spec::KernelOp kernel;
  spec::GemmOp gemm;
  spec::KernelShapes shapes;
  std::vector<TensorArg> tensors; ///< all, by index; scalars have no type
  unsigned a = 0, b = 0, d = 0;   ///< indices of operands and result
  std::optional<unsigned> scaleA, scaleB; ///< indices of the operands' scales, both or none
  ElementGraph epilogue;                  ///< the result's elements
  std::optional<unsigned> groups, status; ///< indices of the groups' bounds and of their state
  std::optional<unsigned> rows;           ///< index of the list of rows of A
  unsigned lead = 0;                      ///< dimensions of the result before the matrix
  bool batched = false;                   ///< that dimension is a batch
  int sms = 0; ///< the most multiprocessors that launches may use; 0: all

  const spec::Size &m() const { return *tensors[d].sizes[lead]; }
  const spec::Size &n() const { return *tensors[d].sizes[lead + 1]; }
  const spec::Size &k() const;
};

mlir::FailureOr<GemmSpec> analyzeGemm(spec::KernelOp kernel);

/// How a tensor's rows meet the rules of 16-byte copies: all strides but the last are
/// multiples of 16 bytes.
tuning::GemmProblem::Aligned rowAlignment(const TensorArg &tensor);

/// The problem as the tuner sees it.
tuning::GemmProblem gemmProblem(const GemmSpec &spec);

/// One compiled form of a kernel.
///   bulk       its copies need rows and addresses at multiples of 16 bytes where the
///              schedule uses bulk or asynchronous copies
///   unaligned  takes what the bulk form may refuse at launch
struct GemmVariant {
  std::string name, suffix; ///< `suffix` goes after the kernel's name: "" or "__unaligned"
  tuning::Schedule schedule;
};

/// `text` overrides what the model chooses (tuning::parse); when empty, the kernel's
/// `schedule` attribute does. The model chooses none that needs the registers of one in `avoid`
/// (tuning::sameRegisters).
mlir::FailureOr<llvm::SmallVector<GemmVariant>>
scheduleGemm(const GemmSpec &spec, const target::Target &target, const target::Chip &chip,
             llvm::StringRef text, llvm::ArrayRef<tuning::Schedule> avoid = {});

/// Builds at the insertion point of `builder`.
warp::KernelOp buildGemm(mlir::OpBuilder &builder, const GemmSpec &spec,
                         const target::Target &target, const GemmVariant &variant);

/// The kernel as its caller sees it, beside what `heddle.manifest` holds:
///   kernel       its name, the same for all variants
///   spec         its text
///   symbols      run-time sizes: dimensions, then strides ("A.stride0")
///   args         [{name, kind = "tensor"|"scalar", dtype, shape, strides, output}], results last.
///                Sizes are integers or symbol names; empty strides: contiguous
///   nodes        the reference program, [{op, inputs, arg, index_map, index_div, value, dtype, extent}]
///                as in the package's RefNode, unused keys absent
///   outputs      [{arg, node}]
///   flops        operations of a launch, a postfix expression: array of integers, symbols and
///                operators of the package's ExprOp
///   constraints  [{kind, expr, value, what}]
mlir::DictionaryAttr gemmInterface(const GemmSpec &spec);

} // namespace heddle::kernels

#endif // HEDDLE_KERNELS_GEMM_H
