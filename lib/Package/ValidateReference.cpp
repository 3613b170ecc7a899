//===- ValidateReference.cpp - what a reference computation must hold -----===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernel.nodes and Kernel.outputs: every node on its own, then, for each output, that
// the nodes it needs use only dimensions there are. The dimension after the output's
// last is the contraction's k and exists only below a `contract`.
//
//===----------------------------------------------------------------------===//
#include "Validate.h"

#include <cmath>
#include <algorithm>
#include <unordered_set>
#include <vector>

using namespace heddle;
using namespace heddle::pkg;
using namespace heddle::pkg::detail;

std::optional<unsigned> detail::refOpInputs(RefOp op) {
  switch (op) {
  case RefOp::load:
  case RefOp::constant:
  case RefOp::index:
  case RefOp::rank:
  case RefOp::size:
  case RefOp::route_id:
  case RefOp::route_weight:
  case RefOp::anything:
  case RefOp::expert_offset:
  case RefOp::expert_entry:
    return 0;
  case RefOp::round:
  case RefOp::neg:
  case RefOp::exp:
  case RefOp::log:
  case RefOp::tanh:
  case RefOp::erf:
  case RefOp::sqrt:
  case RefOp::rsqrt:
  case RefOp::abs:
  case RefOp::exp2:
  case RefOp::sin:
  case RefOp::cos:
  case RefOp::floor:
    return 1;
  case RefOp::contract:
  case RefOp::add:
  case RefOp::sub:
  case RefOp::mul:
  case RefOp::div:
  case RefOp::max:
  case RefOp::min:
  case RefOp::cmp_lt:
  case RefOp::cmp_le:
  case RefOp::cmp_gt:
  case RefOp::cmp_ge:
  case RefOp::cmp_eq:
  case RefOp::cmp_ne:
  case RefOp::floor_div:
  case RefOp::mod:
    return 2;
  case RefOp::select:
  case RefOp::fma:
    return 3;
  case RefOp::gather:
    break; // as its argument has dimensions
  }
  return std::nullopt;
}

namespace {

Fault checkInputs(const RefNode &node, size_t index, KernelScope &scope) {
  std::optional<size_t> expected = refOpInputs(node.op());
  if (node.op() == RefOp::gather) {
    const Arg *arg = scope.arg(node.arg());
    if (!arg)
      return checkIndex("an argument", node.arg(), scope.kernel.args()->size());
    expected = 1 + count(arg->shape());
  }
  if (!expected)
    return "unknown operation " + numberOf(static_cast<uint8_t>(node.op()));
  if (count(node.inputs()) != *expected)
    return "expected " + numberOf(*expected) + " inputs of " + EnumNameRefOp(node.op()) + ", got " +
           numberOf(count(node.inputs()));
  scope.budget.spend(count(node.inputs()) * sizeof(uint32_t));
  for (size_t i = 0; i < count(node.inputs()); ++i)
    if (Fault fault = checkIndex("a node that comes before",
                                 node.inputs()->Get(static_cast<uint32_t>(i)), index))
      return at("input", i, fault);
  return {};
}

/// A dimension that is divided indexes one dimension of the argument, so that one divisor does.
Fault checkDivisors(const RefNode &node, KernelScope &scope) {
  const size_t n = count(node.index_div());
  if (!n)
    return {};
  scope.budget.spend(n * sizeof(uint32_t));
  if (n != count(node.index_map()))
    return "expected " + numberOf(count(node.index_map())) + " index divisors, got " + numberOf(n);
  for (uint32_t i = 0; i < n; ++i) {
    if (node.index_div()->Get(i) == 0)
      return at("index divisor", i, "expected at least 1, got 0");
    for (uint32_t j = 0; j < n && node.index_div()->Get(i) != 1; ++j)
      if (i != j && node.index_map()->Get(i) == node.index_map()->Get(j))
        return at("index divisor", i, "expected a dimension that indexes once, got one that "
                                      "indexes twice");
  }
  return {};
}

Fault checkLoad(const RefNode &node, KernelScope &scope) {
  const Arg *arg = scope.arg(node.arg());
  if (!arg)
    return checkIndex("an argument", node.arg(), scope.kernel.args()->size());
  if (count(node.index_map()) != count(arg->shape()))
    return "expected an index map of " + numberOf(count(arg->shape())) + " entries for argument " +
           arg->name()->str() + ", got " + numberOf(count(node.index_map()));
  return checkDivisors(node, scope);
}

Fault checkIndexMap(const RefNode &node, int32_t least) {
  for (size_t i = 0; i < count(node.index_map()); ++i) {
    const int32_t dim = node.index_map()->Get(static_cast<uint32_t>(i));
    if (dim < least || dim > static_cast<int32_t>(maxRank))
      return at("index map", i,
                "expected from " + std::to_string(least) + " to " + numberOf(maxRank) + ", got " +
                    std::to_string(dim));
  }
  return {};
}

/// A matrix of scores, a bias as long as its rows, a rule that fits.
Fault checkRoute(const RefNode &node, KernelScope &scope) {
  const RefRoute *route = node.route();
  if (!route)
    return "expected a rule of routing, got none";
  const auto isFloat = [](const Arg &arg) {
    return arg.dtype() == DType::f32 || arg.dtype() == DType::bf16;
  };
  const Arg *scores = scope.arg(node.arg());
  if (!scores)
    return checkIndex("an argument", node.arg(), scope.kernel.args()->size());
  if (count(scores->shape()) != 2 || scores->shape()->Get(1)->symbol() >= 0 || !isFloat(*scores))
    return "expected a matrix of f32 or bf16 with columns of a fixed number as scores, got " +
           scores->name()->str();
  const int64_t experts = scores->shape()->Get(1)->value();
  if (route->bias() >= 0) {
    const Arg *bias = scope.arg(static_cast<uint32_t>(route->bias()));
    if (!bias || count(bias->shape()) != 1 || bias->dtype() != DType::f32 ||
        bias->shape()->Get(0)->symbol() >= 0 || bias->shape()->Get(0)->value() != experts)
      return "expected a bias of f32 for each of " + std::to_string(experts) + " experts";
  }
  const int64_t groups = route->groups(), keep = route->keep(), top = route->top();
  if (experts < 1 || groups < 1 || experts % groups || keep < 1 || keep > groups || top < 1 ||
      top > 32 || keep * (experts / groups) < top || (groups > 1 && experts / groups < 2))
    return "expected top " + std::to_string(top) + ", groups " + std::to_string(groups) +
           " and keep " + std::to_string(keep) + " to fit " + std::to_string(experts) + " experts";
  if (count(node.index_map()) != 2)
    return "expected an index map of 2 entries, got " + numberOf(count(node.index_map()));
  return {};
}

/// Ids of i32 and rank 3, a number of experts that fits.
Fault checkListing(const RefNode &node, KernelScope &scope) {
  const Arg *ids = scope.arg(node.arg());
  if (!ids)
    return checkIndex("an argument", node.arg(), scope.kernel.args()->size());
  if (count(ids->shape()) != 3 || ids->dtype() != DType::i32)
    return "expected ids of i32 and rank 3, got " + ids->name()->str();
  const double experts = node.value();
  if (!(experts >= 1 && experts <= 65536) || experts != std::floor(experts))
    return "expected 1 to 65536 experts, got " + std::to_string(experts);
  const size_t wanted = node.op() == RefOp::expert_offset ? 1 : 3;
  if (count(node.index_map()) != wanted)
    return "expected an index map of " + numberOf(wanted) + " entries, got " +
           numberOf(count(node.index_map()));
  return {};
}

Fault checkNode(const RefNode &node, size_t index, KernelScope &scope) {
  if (Fault fault = checkInputs(node, index, scope))
    return fault;
  switch (node.op()) {
  case RefOp::load:
    if (Fault fault = checkLoad(node, scope))
      return fault;
    return checkIndexMap(node, -1);
  case RefOp::index:
    if (count(node.index_map()) != 1)
      return "expected an index map of 1 entry, got " + numberOf(count(node.index_map()));
    return checkIndexMap(node, 0);
  case RefOp::route_id:
  case RefOp::route_weight:
    if (Fault fault = checkRoute(node, scope))
      return fault;
    return checkIndexMap(node, 0);
  case RefOp::expert_offset:
  case RefOp::expert_entry:
    if (Fault fault = checkListing(node, scope))
      return fault;
    return checkIndexMap(node, 0);
  case RefOp::contract:
  case RefOp::size:
    return at("extent", checkStoredExpr(node.extent(), scope));
  case RefOp::round:
    if (!known(node.dtype()))
      return "unknown element type " + numberOf(static_cast<uint8_t>(node.dtype()));
    return {};
  default:
    return {};
  }
}

/// The innermost dimension that each node needed by an output uses, itself or through element-wise
/// inputs; what a contraction sums over does not count beyond it.
Fault checkOutputDims(const RefOutput &output, KernelScope &scope) {
  const auto &nodes = *scope.kernel.nodes();
  const auto rank = static_cast<int32_t>(count(scope.arg(output.arg())->shape()));
  std::vector<bool> needed(output.node() + 1, false);
  needed[output.node()] = true;
  for (size_t i = output.node() + 1; i-- > 0;) {
    const RefNode &node = *nodes.Get(static_cast<uint32_t>(i));
    for (size_t k = 0; needed[i] && k < count(node.inputs()); ++k)
      needed[node.inputs()->Get(static_cast<uint32_t>(k))] = true;
  }
  std::vector<int32_t> last(needed.size(), -1);
  for (size_t i = 0; i < needed.size(); ++i) {
    if (!needed[i])
      continue;
    const RefNode &node = *nodes.Get(static_cast<uint32_t>(i));
    for (size_t k = 0; k < count(node.index_map()); ++k)
      last[i] = std::max(last[i], node.index_map()->Get(static_cast<uint32_t>(k)));
    for (size_t k = 0; k < count(node.inputs()); ++k)
      last[i] = std::max(last[i], last[node.inputs()->Get(static_cast<uint32_t>(k))]);
    if (last[i] > rank)
      return at("node", i,
                "expected dimensions up to " + std::to_string(rank) + ", got " +
                    std::to_string(last[i]));
    if (node.op() == RefOp::contract)
      last[i] = std::min(last[i], rank - 1);
  }
  if (last[output.node()] == rank)
    return "node " + numberOf(output.node()) + " uses a contraction's index outside of one";
  return {};
}

Fault checkOutput(const RefOutput &output, KernelScope &scope) {
  const Arg *arg = scope.arg(output.arg());
  if (!arg)
    return checkIndex("an argument", output.arg(), scope.kernel.args()->size());
  if (!arg->output())
    return "expected an output, got argument " + arg->name()->str();
  if (Fault fault = checkIndex("a node", output.node(), count(scope.kernel.nodes())))
    return fault;
  return checkOutputDims(output, scope);
}

} // namespace

Fault detail::checkReference(KernelScope &scope) {
  const Kernel &kernel = scope.kernel;
  if (Fault fault = tooMany("reference nodes", maxNodes, count(kernel.nodes())))
    return fault;
  if (Fault fault = tooMany("reference outputs", maxArgs, count(kernel.outputs())))
    return fault;
  for (size_t i = 0; i < count(kernel.nodes()); ++i)
    if (Fault fault = checkNode(*kernel.nodes()->Get(static_cast<uint32_t>(i)), i, scope))
      return at("reference node", i, fault);
  std::unordered_set<uint32_t> seen;
  for (size_t i = 0; i < count(kernel.outputs()); ++i) {
    const RefOutput &output = *kernel.outputs()->Get(static_cast<uint32_t>(i));
    if (Fault fault = checkOutput(output, scope))
      return at("reference output", i, fault);
    if (!seen.insert(output.arg()).second)
      return at("reference output", i, "argument " + numberOf(output.arg()) + " is there twice");
  }
  return {};
}
