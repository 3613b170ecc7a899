//===- Collective.h - what all ranks do together ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All-gather, all-to-all, reduce-scatter, all-reduce, broadcast and barrier: a heddle.kernel
// that holds one such operation. The steps, in order:
//
//   analyzeCollective     the parts of the spec, with errors for what is not supported
//   scheduleCollective    the forms, best first, with errors that name limit, need and have
//   buildCollective       the warp.kernel of one form
//   collectiveInterface   the `heddle.interface` attribute of the kernel
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_KERNELS_COLLECTIVE_H
#define HEDDLE_KERNELS_COLLECTIVE_H

#include "dialects/Heddle/IR/HeddleDialect.h"
#include "dialects/Heddle/IR/Shapes.h"
#include "dialects/Warp/IR/WarpDialect.h"
#include "heddle/Kernels/Kind.h"

namespace heddle::kernels {

enum class Collective { AllGather, AllToAll, ReduceScatter, AllReduce, Broadcast, Barrier };

/// The operand or the result: contiguous.
struct CollectiveTensor {
  std::string name;
  mlir::RankedTensorType type;
  llvm::SmallVector<const spec::Size *> sizes;
  bool symmetric = false;
};

struct CollectiveSpec {
  CollectiveSpec() = default;
  CollectiveSpec(CollectiveSpec &&) = default; // not copied: tensors point into `shapes`
  CollectiveSpec &operator=(CollectiveSpec &&) = default;

  spec::KernelOp kernel;
  mlir::Operation *op = nullptr;
  Collective what = Collective::Barrier;
  int64_t root = 0;
  spec::KernelShapes shapes;
  /// The operand, then the result; none of a barrier.
  llvm::SmallVector<CollectiveTensor, 2> tensors;

  mlir::Type element() const { return tensors[0].type.getElementType(); }
  int64_t elementBytes() const { return element().getIntOrFloatBitWidth() / 8; }
  /// The sizes of one rank's part: those of the operand or result without the ranks in front.
  llvm::ArrayRef<const spec::Size *> part() const;
  bool sums() const { return what == Collective::ReduceScatter || what == Collective::AllReduce; }
};

/// How a form moves data.
enum class CollectiveForm {
  Packets,  ///< a few bytes: words of data and launch number
  Bulk,     ///< copies or sums through shared memory, bulk copies
  Threads,  ///< loads and stores of 16 bytes
  Elements, ///< loads and stores of one element: any alignment, any size
};

struct CollectiveSchedule {
  int64_t ctas = 0, warps = 8, chunk = 16384, stages = 0;
  int64_t packets = 4096; ///< bytes of a channel up to which data go as packets; 0: never
  warp::Keep keep = warp::Keep::Normal;
};

struct CollectiveVariant {
  std::string name, suffix; ///< `suffix` goes after the kernel's name
  CollectiveForm form = CollectiveForm::Bulk;
  bool twoShot = false; ///< all-reduce: reduce-scatter, then all-gather
  /// Bytes times (ranks - 2) up to which the form is taken; 0: any.
  int64_t atMost = 0;
  CollectiveSchedule schedule;
};

mlir::FailureOr<CollectiveSpec> analyzeCollective(spec::KernelOp kernel);
/// `text` overrides the kernel's `schedule` attribute:
/// "ctas=16,warps=8,chunk=16384,stages=12,keep=stream,packets=8192".
mlir::FailureOr<llvm::SmallVector<CollectiveVariant>>
scheduleCollective(const CollectiveSpec &spec, const target::Target &target, llvm::StringRef text);
warp::KernelOp buildCollective(mlir::OpBuilder &builder, const CollectiveSpec &spec,
                               const target::Target &target, const CollectiveVariant &variant);
/// As gemmInterface; arguments may be `symmetric`.
mlir::DictionaryAttr collectiveInterface(const CollectiveSpec &spec);

} // namespace heddle::kernels

#endif // HEDDLE_KERNELS_COLLECTIVE_H
