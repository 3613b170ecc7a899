//===- RankBuilder.h - values, loops and verbs of kernels between ranks ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the builders of dispatch and combine share. All values are i64 where nothing else is
// said. A channel (CTA) takes a run of tokens, so that neighbours' ids share cache lines;
// a token's row is moved in pieces.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_LIB_KERNELS_RANK_BUILDER_H
#define HEDDLE_LIB_KERNELS_RANK_BUILDER_H

#include "Interface.h"
#include "heddle/Kernels/Kind.h"

namespace heddle::kernels {

/// How the rows of tokens are moved.
struct RowSchedule {
  int64_t ctas = 16, warps = 8, chunk = 0, stages = 0; ///< chunk: bytes of a piece at most
  warp::Keep keep = warp::Keep::Normal;
};

/// One form of a kernel that moves rows.
struct RowForm {
  llvm::StringRef name, suffix;
  bool bulk = false;    ///< through shared memory, by bulk copies
  bool aligned = false; ///< 16 bytes at once, else an element
  RowSchedule schedule;
};

/// The forms for rows of `size` elements, best first. `text` overrides the kernel's `schedule`
/// attribute: "ctas=16,warps=8,chunk=14336,stages=12,keep=stream".
mlir::FailureOr<llvm::SmallVector<RowForm>> rowForms(spec::KernelOp kernel,
                                                     const BuildOptions &options,
                                                     const spec::Size &size, mlir::Type element);

/// Makes each form that the options ask for.
llvm::LogicalResult buildRowForms(mlir::OpBuilder &builder, spec::KernelOp kernel,
                                  const BuildOptions &options, const spec::Size &size,
                                  mlir::Type element, mlir::DictionaryAttr interface,
                                  llvm::function_ref<warp::KernelOp(const RowForm &)> make);

/// The one operation of `kernel`; an error says what is beside it.
template <typename Op> llvm::LogicalResult soleOp(spec::KernelOp kernel, Op &found) {
  for (mlir::Operation &op : kernel.getBody().front().without_terminator()) {
    if (found || !llvm::isa<Op>(op))
      return op.emitError("expected nothing beside one ")
             << Op::getOperationName() << " in its kernel, got " << op.getName();
    found = llvm::cast<Op>(op);
  }
  return llvm::success();
}

class RankBuilder {
public:
  /// Makes the kernel, its builder at the start of the body, and the values below.
  RankBuilder(mlir::OpBuilder &b, Interface &interface, const BuildOptions &options,
              const RowForm &form, mlir::Location loc);

  mlir::Value number(int64_t value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value min(mlir::Value x, mlir::Value y);
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y);
  mlir::Value both(mlir::Value x, mlir::Value y); ///< i1
  mlir::Value yes();                              ///< i1
  mlir::Value argument(unsigned i) { return kernel.getBody().getArgument(i); }
  mlir::Value extent(unsigned arg, unsigned dim);

  void loop(mlir::Value from, mlir::Value to, mlir::Value by,
            llvm::function_ref<void(mlir::Value)> body);
  /// 0 to `to`, carrying a value.
  mlir::Value fold(mlir::Value to, mlir::Value init,
                   llvm::function_ref<mlir::Value(mlir::Value i, mlir::Value carried)> body);
  /// The other ranks, in the order of warp.nth_peer; with `self` this one last.
  void forRanks(bool self, llvm::function_ref<void(mlir::Value rank)> body);
  /// This channel's tokens.
  void forTokens(llvm::function_ref<void(mlir::Value token)> body);
  /// The pieces of a row: where they start in it, how many elements they have.
  void forPieces(llvm::function_ref<void(mlir::Value offset, mlir::Value count)> body);
  void stage(llvm::StringRef name, int64_t warps, llvm::function_ref<void()> body);

  /// A pipe between ranks over arguments, which are symmetric.
  mlir::Value peerPipe(llvm::StringRef name, warp::Flow flow, llvm::ArrayRef<unsigned> over);
  /// Pieces of rows in shared memory.
  mlir::Value piecePipe(llvm::StringRef name);
  /// The part of number `part` of a peer pipe's memory, on `rank`.
  mlir::Value peer(mlir::Value pipe, mlir::Value rank, unsigned part = 0);
  void releaseAll(mlir::Value pipe, mlir::Value alive);
  void commitAll(mlir::Value pipe, mlir::Value alive);
  mlir::Value acquireAll(mlir::Value pipe, mlir::Value alive);
  mlir::Value waitAll(mlir::Value pipe, mlir::Value alive);
  mlir::Value take(mlir::Value pipe) { return warp::WaitOp::create(b, loc, pipe).getSlots()[0]; }
  void give(mlir::Value pipe) { warp::ReleaseOp::create(b, loc, pipe, mlir::Value(), 0); }
  /// Bulk when one side is a tile, else by all threads, `width` elements at once (0: as the form).
  void transfer(mlir::Value from, mlir::Value fromOffset, mlir::Value to, mlir::Value toOffset,
                mlir::Value count, int64_t width = 0);
  /// Whether row `token` of the argument `ids` has an expert of `rank`, which has `experts` of
  /// them.
  mlir::Value hasExpert(unsigned ids, mlir::Value token, mlir::Value rank, int64_t experts);

  /// Sizes of arguments and the form's alignment, as constraints of this form.
  void constrain(const spec::Size &rowSize, mlir::Type element, llvm::ArrayRef<unsigned> aligned);

  mlir::OpBuilder &b;
  Interface &interface;
  const RowForm &form;
  mlir::Location loc;
  warp::KernelOp kernel;
  mlir::Value zero, one, rank, world, peers, channel, channels;
  mlir::Value tokens, row;          ///< how many tokens, elements of a row
  mlir::Value firstToken, endToken; ///< of this channel
  mlir::Type element;               ///< of rows
  int64_t piece = 0;                ///< elements of a piece at most

  int64_t width() const { return form.aligned ? 16 / bytesOf(element) : 1; }
  static int64_t bytesOf(mlir::Type type) { return type.getIntOrFloatBitWidth() / 8; }
  /// Sets `tokens`, `row`, `element` and `piece` from dimensions of an argument of tokens x row.
  void setRows(unsigned arg, unsigned tokenDim, const spec::Size &rowSize);
};

// -- the reference program: nodes of `i` ----------------------------------------------------

unsigned constantNode(Interface &i, int64_t value);
unsigned indexNode(Interface &i, int64_t dim);
unsigned binaryNode(Interface &i, llvm::StringRef op, unsigned x, unsigned y);
/// Element of an argument of a rank.
unsigned gatherNode(Interface &i, unsigned arg, unsigned rank, llvm::ArrayRef<unsigned> indices);
/// 1 where row `token` of rank `from`'s ids (of `top` columns) has an expert of rank `to`.
unsigned hasExpertNode(Interface &i, unsigned ids, int64_t top, int64_t experts, unsigned from,
                       unsigned token, unsigned to);

} // namespace heddle::kernels

#endif // HEDDLE_LIB_KERNELS_RANK_BUILDER_H
