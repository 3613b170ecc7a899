//===- Reference.cpp - binding a reference computation to arguments -------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "heddle/Package/Reference.h"

#include "ReferencePlan.h"
#include "heddle/Package/Numeric.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>

using namespace heddle;
using namespace heddle::pkg;
using namespace heddle::pkg::detail;

namespace {

template <typename T> size_t count(const flatbuffers::Vector<T> *vector) {
  return vector ? vector->size() : 0;
}

Error invalid(std::string message) { return {ErrorCode::InvalidArgument, std::move(message)}; }

/// Whether the farthest element's byte offset is a 64-bit number.
bool addressable(const ArgBuffer &buffer, const std::vector<int64_t> &strides) {
  int64_t reach = dtypeBytes(buffer.dtype);
  for (size_t i = 0; i < buffer.shape.size(); ++i) {
    int64_t step = 0;
    const int64_t last = std::max<int64_t>(buffer.shape[i] - 1, 0);
    if (__builtin_mul_overflow(strides[i], last, &step) ||
        __builtin_mul_overflow(step, dtypeBytes(buffer.dtype), &step) || step == INT64_MIN ||
        __builtin_add_overflow(reach, step < 0 ? -step : step, &reach))
      return false;
  }
  return true;
}

/// Strides in elements; nothing when they overflow.
std::optional<std::vector<int64_t>> stridesOf(const ArgBuffer &buffer) {
  std::vector<int64_t> strides(buffer.strides.begin(), buffer.strides.end());
  if (strides.empty()) {
    strides.assign(buffer.shape.size(), 1);
    for (size_t i = buffer.shape.size(); i-- > 1;)
      if (__builtin_mul_overflow(strides[i], std::max<int64_t>(buffer.shape[i], 1),
                                 &strides[i - 1]))
        return std::nullopt;
  }
  return addressable(buffer, strides) ? std::optional(strides) : std::nullopt;
}

/// Builds a plan step by step; each step may fail.
class Planner {
public:
  Planner(const Kernel &kernel, std::span<const std::span<const ArgBuffer>> ranks, size_t rank,
          const ExprContext &sizes)
      : kernel(kernel), ranks(ranks), me(rank), args(ranks[rank]), sizes(sizes), strides(ranks.size()),
        argStrides(strides[rank]), plan(std::make_unique<ReferencePlan>()) {}

  Expected<std::unique_ptr<ReferencePlan>> build(size_t output);
  std::optional<int64_t> extentOfAll; ///< contractions, in place of the kernel's

private:
  Expected<void> checkArgs(std::span<const ArgBuffer> of, std::vector<std::vector<int64_t>> &found);
  void markNeeded();
  Expected<void> addNode(uint32_t index);
  Expected<void> addLoad(const RefNode &node, PlanNode &planned);
  Expected<void> addGather(const RefNode &node, PlanNode &planned);
  Expected<void> checkData(const ArgBuffer &buffer, uint32_t arg) const;
  Expected<void> addRoute(const RefNode &node, PlanNode &planned);
  Expected<void> addListing(const RefNode &node, PlanNode &planned);
  Expected<void> addContraction(const RefNode &node, uint32_t index);
  Expected<void> collect(Operand &operand, int64_t extent);
  Expected<void> checkLoadBounds(uint32_t node, int64_t extentOfK);

  size_t rank() const { return plan->shape.size(); }

  const Kernel &kernel;
  std::span<const std::span<const ArgBuffer>> ranks;
  size_t me;                       ///< the rank whose output it is
  std::span<const ArgBuffer> args; ///< its own
  const ExprContext &sizes;
  std::vector<std::vector<std::vector<int64_t>>> strides; ///< of each rank's arguments
  std::vector<std::vector<int64_t>> &argStrides;          ///< of the own ones
  std::vector<bool> needed;
  std::unique_ptr<ReferencePlan> plan;
};

Expected<void> Planner::checkArgs(std::span<const ArgBuffer> of,
                                  std::vector<std::vector<int64_t>> &found) {
  if (of.size() != kernel.args()->size())
    return invalid("expected " + std::to_string(kernel.args()->size()) + " arguments, got " +
                   std::to_string(of.size()));
  for (uint32_t i = 0; i < of.size(); ++i) {
    const Arg &arg = *kernel.args()->Get(i);
    const ArgBuffer &buffer = of[i];
    const std::string where = "argument " + arg.name()->str() + ": ";
    if (buffer.dtype != arg.dtype())
      return invalid(where + "expected elements of type " + EnumNameDType(arg.dtype()) + ", got " +
                     EnumNameDType(buffer.dtype));
    if (buffer.shape.size() != count(arg.shape()))
      return invalid(where + "expected rank " + std::to_string(count(arg.shape())) + ", got " +
                     std::to_string(buffer.shape.size()));
    if (!buffer.strides.empty() && buffer.strides.size() != buffer.shape.size())
      return invalid(where + "expected " + std::to_string(buffer.shape.size()) + " strides, got " +
                     std::to_string(buffer.strides.size()));
    for (int64_t size : buffer.shape)
      if (size < 0)
        return invalid(where + "expected sizes of at least 0, got " + std::to_string(size));
    std::optional<std::vector<int64_t>> steps = stridesOf(buffer);
    if (!steps)
      return invalid(where + "its sizes and strides overflow");
    found.push_back(std::move(*steps));
  }
  return {};
}

void Planner::markNeeded() {
  needed.assign(kernel.nodes()->size(), false);
  needed[plan->root] = true;
  for (size_t i = plan->root + 1; i-- > 0;) {
    const RefNode &node = *kernel.nodes()->Get(static_cast<uint32_t>(i));
    for (size_t k = 0; needed[i] && k < count(node.inputs()); ++k)
      needed[node.inputs()->Get(static_cast<uint32_t>(k))] = true;
  }
}

Expected<void> Planner::checkData(const ArgBuffer &buffer, uint32_t arg) const {
  if (!buffer.data && std::find(buffer.shape.begin(), buffer.shape.end(), 0) == buffer.shape.end())
    return invalid("argument " + kernel.args()->Get(arg)->name()->str() +
                   ": expected data, got a null pointer");
  return {};
}

Expected<void> Planner::addGather(const RefNode &node, PlanNode &planned) {
  Gather gather;
  gather.dtype = args[node.arg()].dtype;
  for (size_t r = 0; r < ranks.size(); ++r) {
    const ArgBuffer &buffer = ranks[r][node.arg()];
    if (Expected<void> there = checkData(buffer, node.arg()); !there)
      return there;
    gather.ranks.push_back(
        {buffer.data, {buffer.shape.begin(), buffer.shape.end()}, strides[r][node.arg()]});
  }
  planned.gather = plan->gathers.size();
  plan->gathers.push_back(std::move(gather));
  return {};
}

Expected<void> Planner::addLoad(const RefNode &node, PlanNode &planned) {
  const ArgBuffer &buffer = args[node.arg()];
  planned.dtype = buffer.dtype;
  planned.data = buffer.data;
  if (Expected<void> there = checkData(buffer, node.arg()); !there)
    return there;
  for (uint32_t i = 0; i < count(node.index_map()); ++i) {
    const int32_t dim = node.index_map()->Get(i);
    if (dim >= 0)
      planned.strides[static_cast<size_t>(dim)] += argStrides[node.arg()][i];
    if (dim >= 0 && count(node.index_div()) && node.index_div()->Get(i) > 1)
      planned.divisors[static_cast<size_t>(dim)] = node.index_div()->Get(i);
  }
  return {};
}

Expected<void> Planner::addRoute(const RefNode &node, PlanNode &planned) {
  const RefRoute &route = *node.route();
  Routing routing;
  routing.rule = {route.top(),       route.groups(), route.keep(), route.sigmoid(),
                  route.normalise(), route.scale()};
  routing.rowDim = static_cast<size_t>(node.index_map()->Get(0));
  routing.rankDim = static_cast<size_t>(node.index_map()->Get(1));
  routing.experts = args[node.arg()].shape[1];
  if (routing.rowDim >= rank() || routing.rankDim >= rank())
    return invalid("a route node inside a contraction");
  const auto bind = [&](uint32_t arg, PlanNode &load) -> Expected<void> {
    const ArgBuffer &buffer = args[arg];
    if (!buffer.data && plan->shape[routing.rowDim])
      return invalid("argument " + kernel.args()->Get(arg)->name()->str() +
                     ": expected data, got a null pointer");
    load.dtype = buffer.dtype;
    load.data = buffer.data;
    load.strides[1] = argStrides[arg].back();
    if (buffer.shape.size() == 2)
      load.strides[0] = argStrides[arg][0];
    if (buffer.shape.back() != routing.experts ||
        (buffer.shape.size() == 2 && buffer.shape[0] < plan->shape[routing.rowDim]))
      return invalid("argument " + kernel.args()->Get(arg)->name()->str() +
                     ": expected a score for each row and expert");
    return {};
  };
  if (plan->shape[routing.rankDim] > route.top())
    return invalid("expected at most " + std::to_string(route.top()) + " experts a row, got " +
                   std::to_string(plan->shape[routing.rankDim]));
  if (Expected<void> bound = bind(node.arg(), routing.scores); !bound)
    return bound;
  if (route.bias() >= 0)
    if (Expected<void> bound = bind(static_cast<uint32_t>(route.bias()), routing.bias); !bound)
      return bound;
  planned.route = plan->routes.size();
  plan->routes.push_back(routing);
  return {};
}

Expected<void> Planner::addListing(const RefNode &node, PlanNode &planned) {
  const ArgBuffer &ids = args[node.arg()];
  if (Expected<void> there = checkData(ids, node.arg()); !there)
    return there;
  Listing listing;
  for (uint32_t i = 0; i < count(node.index_map()); ++i) {
    listing.dims.push_back(static_cast<size_t>(node.index_map()->Get(i)));
    if (listing.dims.back() >= rank())
      return invalid("a list of experts inside a contraction");
  }
  listing.sizes.assign(ids.shape.begin(), ids.shape.end());
  const auto experts = static_cast<int64_t>(node.value()), first = static_cast<int64_t>(me) * experts;
  std::vector<std::vector<int64_t>> lists(static_cast<size_t>(experts));
  std::vector<double> row(static_cast<size_t>(listing.sizes[2]));
  const std::vector<int64_t> &steps = argStrides[node.arg()];
  int64_t place = 0;
  for (int64_t i = 0; i < listing.sizes[0]; ++i)
    for (int64_t j = 0; j < listing.sizes[1]; ++j) {
      loadElements(ids.dtype, ids.data, i * steps[0] + j * steps[1], steps[2], listing.sizes[2], row.data());
      for (double id : row) {
        const int64_t expert = static_cast<int64_t>(id) - first;
        if (expert >= 0 && expert < experts)
          lists[static_cast<size_t>(expert)].push_back(place);
        ++place;
      }
    }
  listing.offsets.push_back(0);
  for (const std::vector<int64_t> &list : lists) {
    listing.list.insert(listing.list.end(), list.begin(), list.end());
    listing.offsets.push_back(static_cast<int64_t>(listing.list.size()));
  }
  planned.listing = plan->listings.size();
  plan->listings.push_back(std::move(listing));
  return {};
}

Expected<void> Planner::addNode(uint32_t index) {
  const RefNode &node = *kernel.nodes()->Get(index);
  PlanNode &planned = plan->nodes[index];
  planned.op = node.op();
  planned.value = node.value();
  planned.dtype = node.dtype();
  planned.inputCount = static_cast<unsigned>(count(node.inputs()));
  uint32_t dims = 0;
  for (unsigned k = 0; k < planned.inputCount; ++k) {
    planned.inputs[k] = node.inputs()->Get(k);
    const PlanNode &input = plan->nodes[planned.inputs[k]];
    dims |= input.dims;
    planned.usesK |= input.usesK;
  }
  const bool routes = node.op() == RefOp::route_id || node.op() == RefOp::route_weight;
  const bool lists = node.op() == RefOp::expert_offset || node.op() == RefOp::expert_entry;
  const bool indexes = node.op() == RefOp::load || node.op() == RefOp::index || routes || lists;
  for (uint32_t i = 0; indexes && i < count(node.index_map()); ++i) {
    const int32_t dim = node.index_map()->Get(i);
    planned.usesK |= dim == static_cast<int32_t>(rank());
    if (dim >= 0 && dim < static_cast<int32_t>(rank()))
      dims |= 1u << dim;
  }
  planned.dims = dims;
  if (node.op() == RefOp::load)
    if (Expected<void> added = addLoad(node, planned); !added)
      return added;
  if (node.op() == RefOp::gather)
    if (Expected<void> added = addGather(node, planned); !added)
      return added;
  // What is the same at every point is a constant from here on.
  if (node.op() == RefOp::rank) {
    planned.op = RefOp::constant;
    planned.value = static_cast<double>(me);
  }
  if (node.op() == RefOp::size) {
    Expected<int64_t> value = evaluateExpr(node.extent(), sizes);
    if (!value)
      return value.takeError().in("a size");
    planned.op = RefOp::constant;
    planned.value = static_cast<double>(*value);
  }
  if (node.op() == RefOp::anything) {
    planned.op = RefOp::constant;
    planned.value = std::bit_cast<double>(detail::anythingBits);
  }
  if (routes)
    if (Expected<void> added = addRoute(node, planned); !added)
      return added;
  if (lists)
    if (Expected<void> added = addListing(node, planned); !added)
      return added;
  if (node.op() == RefOp::index)
    planned.dim = static_cast<size_t>(node.index_map()->Get(0));
  if (node.op() == RefOp::contract) {
    planned.usesK = false; // its k is its own
    if (Expected<void> added = addContraction(node, index); !added)
      return added;
  }
  if (planned.usesK)
    return {};
  plan->pointNodes.push_back(index);
  return node.op() == RefOp::load ? checkLoadBounds(index, 0) : Expected<void>();
}

Expected<void> Planner::addContraction(const RefNode &node, uint32_t index) {
  Expected<int64_t> extent =
      extentOfAll ? Expected<int64_t>(*extentOfAll) : evaluateExpr(node.extent(), sizes);
  if (!extent)
    return extent.takeError().in("extent of a contraction");
  if (*extent < 0)
    return invalid("expected a contraction over at least 0 elements, got " +
                   std::to_string(*extent));
  Contraction contraction;
  contraction.node = index;
  contraction.extent = *extent;
  for (unsigned k = 0; k < 2; ++k) {
    contraction.operands[k].node = plan->nodes[index].inputs[k];
    if (Expected<void> collected = collect(contraction.operands[k], *extent); !collected)
      return collected;
  }
  const uint32_t row = rank() >= 2 ? 1u << (rank() - 2) : 0;
  const uint32_t column = rank() >= 1 ? 1u << (rank() - 1) : 0;
  for (int k = 0; k < 2; ++k) {
    const uint32_t rows = plan->nodes[contraction.operands[static_cast<size_t>(k)].node].dims;
    const uint32_t columns =
        plan->nodes[contraction.operands[static_cast<size_t>(1 - k)].node].dims;
    if (!(rows & column) && !(columns & row))
      contraction.rowOperand = k;
  }
  plan->nodes[index].contraction = plan->contractions.size();
  plan->contractions.push_back(std::move(contraction));
  return {};
}

Expected<void> Planner::collect(Operand &operand, int64_t extent) {
  std::vector<bool> reached(operand.node + 1, false);
  reached[operand.node] = true;
  for (size_t i = operand.node + 1; i-- > 0;) {
    const PlanNode &node = plan->nodes[i];
    for (unsigned k = 0; reached[i] && k < node.inputCount; ++k)
      reached[node.inputs[k]] = true;
  }
  // Below a nested contraction everything that uses k uses that one's.
  std::vector<bool> own(operand.node + 1, false);
  own[operand.node] = plan->nodes[operand.node].usesK;
  for (size_t i = operand.node + 1; i-- > 0;) {
    const PlanNode &node = plan->nodes[i];
    for (unsigned k = 0; own[i] && k < node.inputCount; ++k)
      own[node.inputs[k]] = own[node.inputs[k]] || plan->nodes[node.inputs[k]].usesK;
  }
  for (uint32_t i = 0; i <= operand.node; ++i) {
    if (own[i])
      operand.chunkNodes.push_back(i);
    else if (reached[i] && !plan->nodes[i].usesK)
      operand.pointNodes.push_back(i);
    if (own[i] && plan->nodes[i].op == RefOp::load)
      if (Expected<void> inside = checkLoadBounds(i, extent); !inside)
        return inside;
  }
  return {};
}

Expected<void> Planner::checkLoadBounds(uint32_t node, int64_t extentOfK) {
  const RefNode &load = *kernel.nodes()->Get(node);
  const ArgBuffer &buffer = args[load.arg()];
  const bool nothing = std::find(plan->shape.begin(), plan->shape.end(), 0) != plan->shape.end();
  for (uint32_t i = 0; !nothing && i < count(load.index_map()); ++i) {
    const int32_t dim = load.index_map()->Get(i);
    const int64_t indices = dim < 0 ? 1
                            : dim == static_cast<int32_t>(rank())
                                ? extentOfK
                                : plan->shape[static_cast<size_t>(dim)];
    const int64_t divisor = count(load.index_div()) ? load.index_div()->Get(i) : 1;
    const int64_t reach = indices / divisor + (indices % divisor != 0);
    if (reach > buffer.shape[i])
      return invalid("argument " + kernel.args()->Get(load.arg())->name()->str() +
                     ": expected size " + std::to_string(i) + " to be at least " +
                     std::to_string(reach) + ", got " + std::to_string(buffer.shape[i]));
  }
  return {};
}

Expected<std::unique_ptr<ReferencePlan>> Planner::build(size_t output) {
  if (output >= count(kernel.outputs()))
    return invalid("kernel " + kernel.name()->str() + ": expected a reference output below " +
                   std::to_string(count(kernel.outputs())) + ", got " + std::to_string(output));
  const RefOutput &which = *kernel.outputs()->Get(static_cast<uint32_t>(output));
  for (size_t r = 0; r < ranks.size(); ++r)
    if (Expected<void> checked = checkArgs(ranks[r], strides[r]); !checked)
      return checked.takeError();
  plan->root = which.node();
  plan->argument = which.arg();
  plan->shape.assign(args[which.arg()].shape.begin(), args[which.arg()].shape.end());
  plan->nodes.resize(plan->root + 1);
  markNeeded();
  for (uint32_t i = 0; i <= plan->root; ++i)
    if (needed[i])
      if (Expected<void> added = addNode(i); !added)
        return added.takeError();
  return std::move(plan);
}

} // namespace

bool pkg::isAnything(double value) { return std::bit_cast<uint64_t>(value) == detail::anythingBits; }

Reference::Reference(std::unique_ptr<ReferencePlan> plan) : plan(std::move(plan)) {}
Reference::Reference(Reference &&) noexcept = default;
Reference &Reference::operator=(Reference &&) noexcept = default;
Reference::~Reference() = default;

Expected<Reference> Reference::create(const Kernel &kernel, size_t output,
                                      std::span<const ArgBuffer> args, const ExprContext &sizes,
                                      std::optional<int64_t> extent) {
  if (!extent)
    return create(kernel, output, std::span(&args, 1), 0, sizes);
  Planner planner(kernel, std::span(&args, 1), 0, sizes);
  planner.extentOfAll = extent;
  Expected<std::unique_ptr<ReferencePlan>> plan = planner.build(output);
  if (!plan)
    return plan.takeError();
  return Reference(std::move(*plan));
}

Expected<Reference> Reference::create(const Kernel &kernel, size_t output,
                                      std::span<const std::span<const ArgBuffer>> ranks,
                                      size_t rank, const ExprContext &sizes) {
  if (static_cast<int64_t>(ranks.size()) != sizes.world || rank >= ranks.size())
    return invalid("expected the arguments of " + std::to_string(sizes.world) +
                   " ranks and a rank of them, got those of " + std::to_string(ranks.size()) +
                   " and rank " + std::to_string(rank));
  Expected<std::unique_ptr<ReferencePlan>> plan =
      Planner(kernel, ranks, rank, sizes).build(output);
  if (!plan)
    return plan.takeError();
  return Reference(std::move(*plan));
}

size_t Reference::argument() const { return plan->argument; }
std::span<const int64_t> Reference::shape() const { return plan->shape; }
