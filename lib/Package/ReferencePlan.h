//===- ReferencePlan.h - a reference computation, ready to run ------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to lib/Package. Nodes fall in two sets: those that use a contraction's k are
// run over chunks of k, inside their contractions; all others have one value a point.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_LIB_PACKAGE_REFERENCEPLAN_H
#define HEDDLE_LIB_PACKAGE_REFERENCEPLAN_H

#include "heddle/Package/Reader.h"
#include "heddle/Package/Reference.h"
#include "heddle/Package/Route.h"

#include <array>
#include <cstdint>
#include <vector>

namespace heddle::pkg::detail {

/// Dimensions of the iteration space: the output's, then k.
inline constexpr size_t maxDims = maxRank + 1;
/// Values of k that a contraction handles at a time.
inline constexpr int64_t chunkSize = 256;

using Point = std::array<int64_t, maxDims>;

struct PlanNode {
  RefOp op = RefOp::constant;
  std::array<uint32_t, maxRank + 1> inputs{};
  unsigned inputCount = 0;
  bool usesK = false;
  uint32_t dims = 0; ///< bit d: its value depends on dimension d, k excluded
  DType dtype{};     ///< load: of the elements; round: to what
  const void *data = nullptr;
  std::array<int64_t, maxDims> strides{}; ///< load: elements a step in each dimension
  std::array<int64_t, maxDims> divisors{}; ///< load: what indices are divided by; 0: nothing
  size_t dim = 0;                         ///< index
  double value = 0;                       ///< constant
  size_t contraction = 0;                 ///< contract: index into contractions
  size_t gather = 0;                      ///< gather: index into gathers
  size_t route = 0;                       ///< route_id, route_weight: index into routes
  size_t listing = 0;                     ///< expert_offset, expert_entry: index into listings
};

/// What it takes to have one operand of a contraction over a chunk of k.
struct Operand {
  uint32_t node = 0;
  std::vector<uint32_t> pointNodes; ///< in order: values at the point that it builds on
  std::vector<uint32_t>
      chunkNodes; ///< in order: nodes that use k; the last is `node`, unless empty
};

struct Contraction {
  uint32_t node = 0;
  int64_t extent = 0;
  std::array<Operand, 2> operands;
  /// Which operand varies along the rows of a tile while the other does not, and the other way
  /// round along columns; -1 when they do not separate.
  int rowOperand = -1;
};

/// An argument on one rank, to be read at computed indices.
struct RankView {
  const void *data = nullptr;
  std::vector<int64_t> shape, strides; ///< elements
};
struct Gather {
  DType dtype{};
  std::vector<RankView> ranks;
};

/// A quiet NaN that select passes on as it is.
inline constexpr uint64_t anythingBits = 0x7ff8'5ca1'ab1e'0001;

/// The experts of the rows of a matrix of scores.
struct Routing {
  RouteRule rule;
  PlanNode scores, bias; ///< loads: of row 0, by dimension 1 as column; bias.data null without one
  int64_t experts = 0;
  size_t rowDim = 0, rankDim = 0; ///< dimensions of the output
};

/// The places of ids, expert by expert.
struct Listing {
  std::vector<int64_t> offsets, list;
  std::vector<size_t> dims;   ///< of the output, that index it
  std::vector<int64_t> sizes; ///< of the ids
};

struct ReferencePlan {
  std::vector<PlanNode> nodes; ///< indices are those of Kernel.nodes; unneeded ones are skipped
  std::vector<uint32_t> pointNodes;
  std::vector<Contraction> contractions;
  std::vector<Gather> gathers;
  std::vector<Routing> routes;
  std::vector<Listing> listings;
  uint32_t root = 0;
  size_t argument = 0;
  std::vector<int64_t> shape;
};

/// A worker's memory.
struct Scratch {
  explicit Scratch(const ReferencePlan &plan);
  std::vector<double> values; ///< of point nodes
  std::vector<double> chunks; ///< chunkSize values a node that uses k
  std::vector<uint32_t> slots;
  /// The row routed last, for each of plan.routes.
  struct Routed {
    int64_t row = -1;
    std::vector<int32_t> ids;
    std::vector<float> weights;
  };
  std::vector<Routed> routed;
  double *chunk(uint32_t node) { return chunks.data() + slots[node] * chunkSize; }
};

/// Fills scratch.values for `order`. A contraction's value is taken from `known` (an entry for each
/// contraction, indexed like plan.contractions) where that is given and not null.
void evaluatePoint(const ReferencePlan &plan, const std::vector<uint32_t> &order,
                   const Point &point, Scratch &scratch, const double *const *known = nullptr,
                   size_t knownIndex = 0);

/// An operand's values for k in [first, first + count), count <= chunkSize. Its point nodes must
/// have been evaluated.
const double *evaluateChunk(const ReferencePlan &plan, const Operand &operand, const Point &point,
                            int64_t first, int64_t count, Scratch &scratch);

/// One element-wise operation.
double applyOp(const PlanNode &node, double a, double b, double c);

} // namespace heddle::pkg::detail

#endif // HEDDLE_LIB_PACKAGE_REFERENCEPLAN_H
