//===- ReferenceEval.cpp - running a reference computation ----------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ReferencePlan.h"

#include "heddle/Package/Numeric.h"
#include "heddle/Package/Reader.h"

#include <bit>
#include <algorithm>
#include <cmath>
#include <limits>

using namespace heddle;
using namespace heddle::pkg;
using namespace heddle::pkg::detail;

namespace {

/// The element of a load at a point (k of no interest).
int64_t elementAt(const PlanNode &load, const Point &point, size_t rank) {
  int64_t element = 0;
  for (size_t d = 0; d < rank; ++d)
    element += (load.divisors[d] ? point[d] / load.divisors[d] : point[d]) * load.strides[d];
  return element;
}

/// Loads along k of which several share an element.
void loadBlocks(const PlanNode &load, int64_t element, int64_t first, int64_t n, size_t rank,
                double *out) {
  const int64_t divisor = load.divisors[rank];
  for (int64_t i = 0; i < n;) {
    const int64_t block = (first + i) / divisor;
    const int64_t end = std::min(n, (block + 1) * divisor - first);
    const int64_t offset = (element + block * load.strides[rank]) * dtypeBytes(load.dtype);
    const double value = loadElement(load.dtype, static_cast<const char *>(load.data) + offset);
    std::fill(out + i, out + end, value);
    i = end;
  }
}

double loadAt(const PlanNode &load, const Point &point, size_t rank) {
  const int64_t offset = elementAt(load, point, rank) * dtypeBytes(load.dtype);
  return loadElement(load.dtype, static_cast<const char *>(load.data) + offset);
}

/// An element at computed indices; `input(i)` is the value of input i.
template <typename Input> double gatherAt(const Gather &gather, Input input) {
  constexpr double outside = std::numeric_limits<double>::quiet_NaN();
  const double rank = std::floor(input(0));
  if (!(rank >= 0 && rank < static_cast<double>(gather.ranks.size())))
    return outside;
  const RankView &view = gather.ranks[static_cast<size_t>(rank)];
  int64_t element = 0;
  for (size_t d = 0; d < view.shape.size(); ++d) {
    const double index = std::floor(input(d + 1));
    if (!(index >= 0 && index < static_cast<double>(view.shape[d])))
      return outside;
    element += static_cast<int64_t>(index) * view.strides[d];
  }
  return loadElement(gather.dtype,
                     static_cast<const char *>(view.data) + element * dtypeBytes(gather.dtype));
}

/// What a route node gives at a point; a row is routed once for all its points in a row.
double routedAt(const ReferencePlan &plan, const PlanNode &node, const Point &point,
                Scratch &scratch) {
  const Routing &routing = plan.routes[node.route];
  Scratch::Routed &routed = scratch.routed[node.route];
  const int64_t row = point[routing.rowDim];
  if (routed.row != row) {
    const auto n = static_cast<size_t>(routing.experts);
    std::vector<double> wide(n);
    std::vector<float> scores(n), bias(routing.bias.data ? n : 0);
    loadElements(routing.scores.dtype, routing.scores.data, row * routing.scores.strides[0],
                 routing.scores.strides[1], routing.experts, wide.data());
    std::copy(wide.begin(), wide.end(), scores.begin());
    if (routing.bias.data) {
      loadElements(routing.bias.dtype, routing.bias.data, 0, routing.bias.strides[1],
                   routing.experts, wide.data());
      std::copy(wide.begin(), wide.end(), bias.begin());
    }
    routed.ids.resize(routing.rule.top);
    routed.weights.resize(routing.rule.top);
    routeRow(routing.rule, scores, bias, routed.ids, routed.weights);
    routed.row = row;
  }
  const auto rank = static_cast<size_t>(point[routing.rankDim]);
  return node.op == RefOp::route_id ? routed.ids[rank] : double(routed.weights[rank]);
}

/// What a node of lists of experts gives at a point.
double listedAt(const ReferencePlan &plan, const PlanNode &node, const Point &point) {
  const Listing &listing = plan.listings[node.listing];
  int64_t place = 0;
  for (size_t i = 0; i < listing.dims.size(); ++i)
    place = (i ? place * listing.sizes[i] : 0) + point[listing.dims[i]];
  const std::vector<int64_t> &from = node.op == RefOp::expert_offset ? listing.offsets : listing.list;
  const auto at = static_cast<size_t>(place);
  return at < from.size() ? double(from[at]) : std::bit_cast<double>(anythingBits);
}

/// Sums of products in eight lanes, so that it vectorises with a fixed order of additions.
double dot(const double *a, const double *b, int64_t n) {
  constexpr int64_t lanes = 8;
  double sums[lanes] = {};
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (int64_t l = 0; l < lanes; ++l)
      sums[l] += a[i + l] * b[i + l];
  for (; i < n; ++i)
    sums[0] += a[i] * b[i];
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

double contract(const ReferencePlan &plan, const Contraction &contraction, const Point &point,
                Scratch &scratch) {
  double sum = 0;
  for (int64_t k = 0; k < contraction.extent; k += chunkSize) {
    const int64_t n = std::min(chunkSize, contraction.extent - k);
    const double *a = evaluateChunk(plan, contraction.operands[0], point, k, n, scratch);
    const double *b = evaluateChunk(plan, contraction.operands[1], point, k, n, scratch);
    sum += dot(a, b, n);
  }
  return sum;
}

double propagate(double a, double b, double chosen) {
  return std::isnan(a) ? a : std::isnan(b) ? b : chosen;
}

/// A binary operation over a chunk, for the ones that matter to speed.
template <typename Op> void zip(const double *a, const double *b, double *out, int64_t n, Op op) {
  for (int64_t i = 0; i < n; ++i)
    out[i] = op(a[i], b[i]);
}

/// A node's values over a chunk; a point node's value is the same for every k.
const double *chunkOf(const ReferencePlan &plan, uint32_t node, int64_t count, Scratch &scratch) {
  double *chunk = scratch.chunk(node);
  if (!plan.nodes[node].usesK)
    std::fill(chunk, chunk + count, scratch.values[node]);
  return chunk;
}

void evaluateChunkNode(const ReferencePlan &plan, uint32_t index, const Point &point, int64_t first,
                       int64_t n, Scratch &scratch) {
  const PlanNode &node = plan.nodes[index];
  const size_t rank = plan.shape.size();
  double *out = scratch.chunk(index);
  if (node.op == RefOp::load) {
    const int64_t stride = node.strides[rank];
    if (node.divisors[rank])
      return loadBlocks(node, elementAt(node, point, rank), first, n, rank, out);
    loadElements(node.dtype, node.data, elementAt(node, point, rank) + first * stride, stride, n,
                 out);
    return;
  }
  if (node.op == RefOp::index) {
    for (int64_t i = 0; i < n; ++i)
      out[i] = static_cast<double>(first + i);
    return;
  }
  const double *in[maxRank + 1] = {};
  for (unsigned k = 0; k < node.inputCount; ++k)
    in[k] = chunkOf(plan, node.inputs[k], n, scratch);
  if (node.op == RefOp::gather) {
    const Gather &gather = plan.gathers[node.gather];
    for (int64_t i = 0; i < n; ++i)
      out[i] = gatherAt(gather, [&](size_t k) { return in[k][i]; });
    return;
  }
  if (node.op == RefOp::add)
    return zip(in[0], in[1], out, n, [](double a, double b) { return a + b; });
  if (node.op == RefOp::sub)
    return zip(in[0], in[1], out, n, [](double a, double b) { return a - b; });
  if (node.op == RefOp::mul)
    return zip(in[0], in[1], out, n, [](double a, double b) { return a * b; });
  for (int64_t i = 0; i < n; ++i)
    out[i] = applyOp(node, in[0][i], node.inputCount > 1 ? in[1][i] : 0,
                     node.inputCount > 2 ? in[2][i] : 0);
}

} // namespace

Scratch::Scratch(const ReferencePlan &plan)
    : values(plan.nodes.size(), 0.0), slots(plan.nodes.size(), 0), routed(plan.routes.size()) {
  // Every node that a contraction reads as a chunk gets a place: those that use k and their inputs.
  std::vector<bool> placed(plan.nodes.size(), false);
  for (const Contraction &contraction : plan.contractions)
    for (const Operand &operand : contraction.operands) {
      placed[operand.node] = true;
      for (uint32_t index : operand.chunkNodes) {
        placed[index] = true;
        for (unsigned k = 0; k < plan.nodes[index].inputCount; ++k)
          placed[plan.nodes[index].inputs[k]] = true;
      }
    }
  uint32_t used = 0;
  for (size_t i = 0; i < placed.size(); ++i)
    if (placed[i])
      slots[i] = used++;
  chunks.resize(used * static_cast<size_t>(chunkSize));
}

double detail::applyOp(const PlanNode &node, double a, double b, double c) {
  switch (node.op) {
  case RefOp::round:
    return roundTo(node.dtype, a);
  case RefOp::add:
    return a + b;
  case RefOp::sub:
    return a - b;
  case RefOp::mul:
    return a * b;
  case RefOp::div:
    return a / b;
  case RefOp::neg:
    return -a;
  case RefOp::max:
    return propagate(a, b, std::fmax(a, b));
  case RefOp::min:
    return propagate(a, b, std::fmin(a, b));
  case RefOp::exp:
    return std::exp(a);
  case RefOp::log:
    return std::log(a);
  case RefOp::tanh:
    return std::tanh(a);
  case RefOp::erf:
    return std::erf(a);
  case RefOp::sqrt:
    return std::sqrt(a);
  case RefOp::rsqrt:
    return 1 / std::sqrt(a);
  case RefOp::abs:
    return std::fabs(a);
  case RefOp::cmp_lt:
    return a < b;
  case RefOp::cmp_le:
    return a <= b;
  case RefOp::cmp_gt:
    return a > b;
  case RefOp::cmp_ge:
    return a >= b;
  case RefOp::cmp_eq:
    return a == b;
  case RefOp::cmp_ne:
    return a != b;
  case RefOp::select:
    return a != 0 ? b : c;
  case RefOp::fma:
    return std::fma(a, b, c);
  case RefOp::exp2:
    return std::exp2(a);
  case RefOp::sin:
    return std::sin(a);
  case RefOp::cos:
    return std::cos(a);
  case RefOp::floor:
    return std::floor(a);
  case RefOp::floor_div:
    return std::floor(a / b);
  case RefOp::mod:
    return a - std::floor(a / b) * b;
  case RefOp::constant:
    return node.value;
  case RefOp::gather:
  case RefOp::rank:
  case RefOp::size:
  case RefOp::load:
  case RefOp::index:
  case RefOp::contract:
  case RefOp::route_id:
  case RefOp::route_weight:
  case RefOp::anything:
  case RefOp::expert_offset:
  case RefOp::expert_entry:
    break; // not element-wise; handled by the callers
  }
  return std::numeric_limits<double>::quiet_NaN();
}

void detail::evaluatePoint(const ReferencePlan &plan, const std::vector<uint32_t> &order,
                           const Point &point, Scratch &scratch, const double *const *known,
                           size_t knownIndex) {
  const size_t rank = plan.shape.size();
  std::vector<double> &values = scratch.values;
  for (uint32_t index : order) {
    const PlanNode &node = plan.nodes[index];
    if (node.op == RefOp::load) {
      values[index] = loadAt(node, point, rank);
    } else if (node.op == RefOp::route_id || node.op == RefOp::route_weight) {
      values[index] = routedAt(plan, node, point, scratch);
    } else if (node.op == RefOp::expert_offset || node.op == RefOp::expert_entry) {
      values[index] = listedAt(plan, node, point);
    } else if (node.op == RefOp::index) {
      values[index] = static_cast<double>(point[node.dim]);
    } else if (node.op == RefOp::contract) {
      const double *results = known ? known[node.contraction] : nullptr;
      values[index] = results ? results[knownIndex]
                              : contract(plan, plan.contractions[node.contraction], point, scratch);
    } else if (node.op == RefOp::gather) {
      values[index] = gatherAt(plan.gathers[node.gather],
                               [&](size_t k) { return values[node.inputs[k]]; });
    } else {
      values[index] =
          applyOp(node, values[node.inputs[0]], values[node.inputs[1]], values[node.inputs[2]]);
    }
  }
}

const double *detail::evaluateChunk(const ReferencePlan &plan, const Operand &operand,
                                    const Point &point, int64_t first, int64_t count,
                                    Scratch &scratch) {
  for (uint32_t index : operand.chunkNodes)
    evaluateChunkNode(plan, index, point, first, count, scratch);
  return chunkOf(plan, operand.node, count, scratch);
}
