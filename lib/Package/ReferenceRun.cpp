//===- ReferenceRun.cpp - points and boxes, in parallel -------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A box is cut into tiles of its last two dimensions. In a tile, a contraction whose
// one operand varies only along rows and the other only along columns is a matrix
// product of panels; the rest of the computation then runs point by point on its sums.
//
//===----------------------------------------------------------------------===//
#include "ReferencePlan.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <system_error>
#include <thread>

using namespace heddle;
using namespace heddle::pkg;
using namespace heddle::pkg::detail;

namespace {

constexpr int64_t tileRows = 64, tileColumns = 64;
// The part of a tile that is held in registers.
constexpr int64_t unitRows = 4, unitColumns = 8;

/// Runs `work(first, last)` over [0, count) in pieces, on up to `threads` threads. Each thread
/// takes its worker function from `makeWorker`, so that it can have memory of its own.
void inParallel(int64_t count, int64_t piece, unsigned threads,
                const std::function<std::function<void(int64_t, int64_t)>()> &makeWorker) {
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  const int64_t pieces = (count + piece - 1) / piece;
  const int64_t wanted = std::min<int64_t>(threads ? threads : cores, pieces);
  std::atomic<int64_t> next{0};
  const auto run = [&] {
    const auto work = makeWorker();
    for (int64_t p = next++; p < pieces; p = next++)
      work(p * piece, std::min(count, (p + 1) * piece));
  };
  std::vector<std::thread> helpers;
  try {
    for (int64_t i = 1; i < wanted; ++i)
      helpers.emplace_back(run);
  } catch (const std::system_error &) {
    // Fewer threads then; this one does the rest.
  }
  run();
  for (std::thread &helper : helpers)
    helper.join();
}

/// One tile's panels and sums: rows x k, k x columns, rows x columns.
struct Panels {
  std::vector<double> rows = std::vector<double>(tileRows * chunkSize);
  std::vector<double> columns = std::vector<double>(tileColumns * chunkSize);
};

/// sums[r][c] += sum over k of rows[r][k] * columns[k][c], for whole units.
inline __attribute__((always_inline)) void multiplyUnits(const double *rows, const double *columns,
                                                         double *sums, int64_t n) {
  for (int64_t r = 0; r < tileRows; r += unitRows)
    for (int64_t c = 0; c < tileColumns; c += unitColumns) {
      double unit[unitRows][unitColumns] = {};
      for (int64_t k = 0; k < n; ++k)
        for (int64_t i = 0; i < unitRows; ++i)
          for (int64_t j = 0; j < unitColumns; ++j)
            unit[i][j] += rows[(r + i) * chunkSize + k] * columns[k * tileColumns + c + j];
      for (int64_t i = 0; i < unitRows; ++i)
        for (int64_t j = 0; j < unitColumns; ++j)
          sums[(r + i) * tileColumns + c + j] += unit[i][j];
    }
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) void multiplyWide(const double *rows, const double *columns,
                                                      double *sums, int64_t n) {
  multiplyUnits(rows, columns, sums, n);
}
#endif

void multiply(const double *rows, const double *columns, double *sums, int64_t n) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return multiplyWide(rows, columns, sums, n);
#endif
  multiplyUnits(rows, columns, sums, n);
}

/// A tile of the output: a point of the leading dimensions, rows and columns.
struct Tile {
  Point corner{};
  int64_t rows = 1, columns = 1;
};

/// Evaluates tiles; one a thread.
class TileWorker {
public:
  explicit TileWorker(const ReferencePlan &plan)
      : plan(plan), scratch(plan), sums(plan.contractions.size()),
        known(plan.contractions.size(), nullptr) {
    for (size_t i = 0; i < sums.size(); ++i)
      if (plan.contractions[i].rowOperand >= 0)
        sums[i].resize(tileRows * tileColumns);
  }

  /// Writes the tile's values to `out`, whose rows are `rowStride` apart.
  void run(const Tile &tile, double *out, int64_t rowStride) {
    // In order, since a contraction may build on an earlier one's sums.
    for (size_t i = 0; i < sums.size(); ++i) {
      known[i] = nullptr;
      if (plan.contractions[i].rowOperand < 0)
        continue;
      product(plan.contractions[i], tile, sums[i]);
      known[i] = sums[i].data();
    }
    for (int64_t r = 0; r < tile.rows; ++r)
      for (int64_t c = 0; c < tile.columns; ++c) {
        evaluatePoint(plan, plan.pointNodes, pointOf(tile, r, c), scratch, known.data(),
                      static_cast<size_t>(r * tileColumns + c));
        out[r * rowStride + c] = scratch.values[plan.root];
      }
  }

private:
  Point pointOf(const Tile &tile, int64_t r, int64_t c) const {
    Point point = tile.corner;
    const size_t rank = plan.shape.size();
    if (rank >= 1)
      point[rank - 1] += c;
    if (rank >= 2)
      point[rank - 2] += r;
    return point;
  }

  void product(const Contraction &contraction, const Tile &tile, std::vector<double> &result) {
    const auto rowSide = static_cast<size_t>(contraction.rowOperand);
    const Operand &rowOperand = contraction.operands[rowSide];
    const Operand &columnOperand = contraction.operands[1 - rowSide];
    std::fill(result.begin(), result.end(), 0.0);
    for (int64_t k = 0; k < contraction.extent; k += chunkSize) {
      const int64_t n = std::min(chunkSize, contraction.extent - k);
      for (int64_t r = 0; r < tile.rows; ++r) {
        const double *values = operandAt(rowOperand, pointOf(tile, r, 0), k, n);
        std::copy(values, values + n, panels.rows.data() + r * chunkSize);
      }
      for (int64_t c = 0; c < tile.columns; ++c) {
        const double *values = operandAt(columnOperand, pointOf(tile, 0, c), k, n);
        for (int64_t i = 0; i < n; ++i)
          panels.columns[static_cast<size_t>(i * tileColumns + c)] = values[i];
      }
      multiply(panels.rows.data(), panels.columns.data(), result.data(), n);
    }
  }

  const double *operandAt(const Operand &operand, const Point &point, int64_t first, int64_t n) {
    evaluatePoint(plan, operand.pointNodes, point, scratch);
    return evaluateChunk(plan, operand, point, first, n, scratch);
  }

  const ReferencePlan &plan;
  Scratch scratch;
  Panels panels;
  std::vector<std::vector<double>> sums;
  std::vector<const double *> known;
};

/// How a box falls into tiles.
struct Tiling {
  std::vector<int64_t> origin, extent;
  int64_t rows = 1, columns = 1, rowTiles = 1, columnTiles = 1, planes = 1;

  Tiling(std::span<const int64_t> from, std::span<const int64_t> size)
      : origin(from.begin(), from.end()), extent(size.begin(), size.end()) {
    const size_t rank = extent.size();
    if (rank >= 1)
      columns = extent[rank - 1];
    if (rank >= 2)
      rows = extent[rank - 2];
    for (size_t d = 0; d + 2 < rank; ++d)
      planes *= extent[d];
    rowTiles = (rows + tileRows - 1) / tileRows;
    columnTiles = (columns + tileColumns - 1) / tileColumns;
  }

  int64_t tiles() const { return planes * rowTiles * columnTiles; }

  /// The tile of that number, and where in the box's row-major values it starts.
  std::pair<Tile, int64_t> tile(int64_t number) const {
    const int64_t column = number % columnTiles * tileColumns;
    const int64_t row = number / columnTiles % rowTiles * tileRows;
    const int64_t plane = number / columnTiles / rowTiles;
    Tile tile;
    const size_t rank = extent.size();
    int64_t rest = plane;
    for (size_t d = rank >= 2 ? rank - 2 : 0; d-- > 0;) {
      tile.corner[d] = origin[d] + rest % extent[d];
      rest /= extent[d];
    }
    if (rank >= 1)
      tile.corner[rank - 1] = origin[rank - 1] + column;
    if (rank >= 2)
      tile.corner[rank - 2] = origin[rank - 2] + row;
    tile.rows = std::min(tileRows, rows - row);
    tile.columns = std::min(tileColumns, columns - column);
    return {tile, (plane * rows + row) * columns + column};
  }
};

} // namespace

double Reference::at(std::span<const int64_t> point) const {
  double result = 0;
  evaluate(point, std::span(&result, 1), 1);
  return result;
}

void Reference::evaluate(std::span<const int64_t> points, std::span<double> results,
                         unsigned threads) const {
  const size_t rank = plan->shape.size();
  constexpr int64_t piece = 16;
  inParallel(static_cast<int64_t>(results.size()), piece, threads, [&] {
    return [&, scratch = std::make_shared<Scratch>(*plan)](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        Point point{};
        std::copy_n(points.data() + static_cast<size_t>(i) * rank, rank, point.begin());
        evaluatePoint(*plan, plan->pointNodes, point, *scratch);
        results[static_cast<size_t>(i)] = scratch->values[plan->root];
      }
    };
  });
}

Expected<void> Reference::evaluateBox(std::span<const int64_t> origin,
                                      std::span<const int64_t> extent, std::span<double> results,
                                      unsigned threads) const {
  const size_t rank = plan->shape.size();
  if (origin.size() != rank || extent.size() != rank)
    return Error{ErrorCode::InvalidArgument, "expected a box of rank " + std::to_string(rank) +
                                                 ", got " + std::to_string(origin.size()) +
                                                 " and " + std::to_string(extent.size())};
  size_t points = 1;
  for (size_t d = 0; d < rank; ++d) {
    if (origin[d] < 0 || extent[d] < 0 || origin[d] > plan->shape[d] ||
        extent[d] > plan->shape[d] - origin[d])
      return Error{ErrorCode::OutOfRange,
                   "dimension " + std::to_string(d) + ": expected a box inside " +
                       std::to_string(plan->shape[d]) + ", got " + std::to_string(extent[d]) +
                       " from " + std::to_string(origin[d])};
    if (__builtin_mul_overflow(points, static_cast<size_t>(extent[d]), &points))
      return Error{ErrorCode::OutOfRange, "the number of points overflows"};
  }
  if (results.size() != points)
    return Error{ErrorCode::InvalidArgument, "expected room for " + std::to_string(points) +
                                                 " results, got " + std::to_string(results.size())};
  if (points == 0)
    return {};
  const Tiling tiling(origin, extent);
  inParallel(tiling.tiles(), 1, threads, [&] {
    return [&, worker = std::make_shared<TileWorker>(*plan)](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const auto [tile, offset] = tiling.tile(i);
        worker->run(tile, results.data() + offset, tiling.columns);
      }
    };
  });
  return {};
}
