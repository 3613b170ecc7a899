//===- Promotion.h - partial sums into f32, scaled ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_LIB_CONVERSION_WARPTONVVM_PROMOTION_H
#define HEDDLE_LIB_CONVERSION_WARPTONVVM_PROMOTION_H

#include "KernelLowering.h"

namespace heddle {

/// Neighbouring rows of a tile that surely share a scale, from a multiple of the result on,
/// when tiles start at multiples of `tileRows` and a thread counts from multiples of `part`.
int64_t rowsWithOneScale(const warp::TileScales &scales, int64_t tileRows, int64_t part);

/// Rows of a tile: `base` (i32) + each of `offsets`.
struct TileRows {
  mlir::Value base;
  llvm::SmallVector<int64_t> offsets;
};

/// The scales of one operand for its present tile.
class OperandScale {
public:
  OperandScale(KernelLowering &k, const warp::TileScales &scales);
  /// Of a tile at other `offsets` (index) in the operand.
  OperandScale(KernelLowering &k, const warp::TileScales &scales, mlir::ValueRange offsets);
  /// The scales (f32) of rows. Those past the operand's end get any finite value. `wanted`, when
  /// given, is an i32 that is positive in threads that need them.
  llvm::SmallVector<mlir::Value> at(const TileRows &rows, mlir::Value wanted = nullptr);
  /// How many rows (i32) there are from the first of `rows` on, not positive past the end.
  mlir::Value rowsLeft(const TileRows &rows);

private:
  mlir::Value clamped(mlir::Value row, mlir::Value wanted);
  llvm::SmallVector<mlir::Value> near(const TileRows &rows);

  KernelLowering &k;
  MemoryArg *memory;
  llvm::SmallVector<mlir::Value> offsets; ///< i32: batch, row, K block
  int64_t blockRows;
  bool transposed;
};

/// Gives the rows in the tiles of a and b (i32) of a thread's elements.
using RowsAndColumns = llvm::function_ref<std::pair<TileRows, TileRows>()>;

/// The scales of a thread's elements, whose rows in the tiles of a and b (i32) are given.
class ElementScales {
public:
  explicit ElementScales(KernelLowering &k) : k(k) {}
  /// Loads the scales; without it elements are added as they are.
  void load(const warp::TileScales &a, const TileRows &rows, const warp::TileScales &b,
            const TileRows &columns) {
    rowScales = OperandScale(k, a).at(rows);
    loadColumns(b, columns);
  }
  /// The same, but an iteration of the loop around ahead: the first are loaded before the loop,
  /// and `fetchNext` asks for those of the next iteration. `place` gives rows and columns, at the
  /// insertion point. Where offsets depend on more than the iteration, this is `load`.
  void loadAhead(const warp::TileScales &a, const warp::TileScales &b, RowsAndColumns place);
  /// To be called once in the iteration, where loads do not hold up what uses the present scales.
  void fetchNext();
  /// Others than before; indices count from the first of them.
  void loadColumns(const warp::TileScales &b, const TileRows &columns) {
    columnScales = OperandScale(k, b).at(columns);
    products.clear();
  }
  /// acc + partial * (scale of row `row` and column `column`, both indices into the lists).
  mlir::Value add(mlir::Value partial, mlir::Value acc, size_t row, size_t column);

private:
  /// Loads the scales of iteration `iv` of `ahead` into its registers.
  void fetch(mlir::Value iv, const TileRows &rows, const TileRows &columns);

  KernelLowering &k;
  llvm::SmallVector<mlir::Value> rowScales, columnScales;
  /// What is loaded an iteration ahead, and the allocas it is carried in.
  struct Ahead {
    mlir::scf::ForOp loop;
    warp::TileScales a, b;
    TileRows rows, columns;
    llvm::SmallVector<mlir::Value> registers;
  };
  std::optional<Ahead> ahead;
  llvm::DenseMap<std::pair<size_t, size_t>, mlir::Value> products;
};

} // namespace heddle

#endif // HEDDLE_LIB_CONVERSION_WARPTONVVM_PROMOTION_H
