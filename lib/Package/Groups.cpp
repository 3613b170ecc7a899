//===- Groups.cpp - kernels that compute one product a group --------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "heddle/Package/Groups.h"

#include "Validate.h"
#include "heddle/Package/Numeric.h"
#include "heddle/Package/Reader.h"

#include <algorithm>
#include <string>

using namespace heddle;
using namespace heddle::pkg;

int64_t GroupBounds::rows() const {
  int64_t sum = 0;
  for (const Range &range : ranges)
    sum += range.size;
  return sum;
}

size_t pkg::groupNumbers(const Groups &groups) {
  return groups.count() + (groups.kind() == GroupKind::offsets ? 1 : 0);
}

Expected<GroupBounds> pkg::groupBounds(const Groups &groups, std::span<const int32_t> numbers,
                                       const ExprContext &sizes) {
  if (numbers.size() != groupNumbers(groups))
    return Error{ErrorCode::InvalidArgument, "expected " + std::to_string(groupNumbers(groups)) +
                                                 " numbers of groups, got " +
                                                 std::to_string(numbers.size())};
  GroupBounds bounds;
  Expected<int64_t> limit = evaluateExpr(groups.limit(), sizes);
  if (!limit)
    return limit.takeError().in("rows of groups");
  bounds.limit = *limit;
  const auto align = static_cast<int64_t>(groups.align());
  int64_t end = 0; // of kind counts: where the next group may start
  for (size_t g = 0; g < groups.count(); ++g) {
    GroupBounds::Range range{0, numbers[g]};
    if (groups.kind() == GroupKind::offsets)
      range = {numbers[g], int64_t(numbers[g + 1]) - numbers[g]};
    if (groups.kind() == GroupKind::counts) {
      range.first = end;
      end += (std::max<int64_t>(range.size, 0) + align - 1) / align * align;
    }
    if (range.first < 0 || range.size < 0 || range.first + range.size > *limit ||
        range.first % align != 0) {
      bounds.firstBad = static_cast<int64_t>(g);
      break;
    }
    bounds.ranges.push_back(range);
  }
  bounds.ranges.resize(groups.count());
  return bounds;
}

GroupArgs pkg::groupArgs(const Kernel &kernel, std::span<const ArgBuffer> args,
                         const GroupBounds &bounds, size_t group) {
  const GroupBounds::Range range = bounds.ranges[group];
  GroupArgs result;
  result.args.assign(args.begin(), args.end());
  for (const ArgBuffer &arg : args) {
    result.origins.emplace_back(arg.shape.size(), 0);
    result.shapes.emplace_back(arg.shape.begin(), arg.shape.end());
    result.strides.emplace_back(arg.strides.begin(), arg.strides.end());
    if (arg.strides.empty()) {
      std::vector<int64_t> &strides = result.strides.back();
      strides.assign(arg.shape.size(), 1);
      for (size_t i = arg.shape.size(); i-- > 1;)
        strides[i - 1] = strides[i] * std::max<int64_t>(arg.shape[i], 1);
    }
  }
  for (const GroupView *view : *kernel.groups()->views()) {
    std::vector<int64_t> &origin = result.origins[view->arg()], &shape = result.shapes[view->arg()];
    if (view->group_dim() >= 0)
      origin[size_t(view->group_dim())] = int64_t(group), shape[size_t(view->group_dim())] = 1;
    if (view->rows_dim() >= 0) {
      const int64_t block = view->rows_div();
      origin[size_t(view->rows_dim())] = range.first / block;
      shape[size_t(view->rows_dim())] = (range.size + block - 1) / block;
    }
  }
  for (size_t i = 0; i < args.size(); ++i) {
    int64_t offset = 0;
    for (size_t d = 0; d < result.origins[i].size(); ++d)
      offset += result.origins[i][d] * result.strides[i][d];
    ArgBuffer &arg = result.args[i];
    if (arg.data)
      arg.data = static_cast<const uint8_t *>(arg.data) + offset * dtypeBytes(arg.dtype);
    arg.shape = result.shapes[i], arg.strides = result.strides[i];
  }
  return result;
}

namespace {

using namespace heddle::pkg::detail;

Fault checkView(const GroupView &view, KernelScope &scope) {
  const Arg *arg = scope.arg(view.arg());
  if (!arg)
    return checkIndex("an argument", view.arg(), scope.kernel.args()->size());
  const auto rank = static_cast<int64_t>(count(arg->shape()));
  for (int64_t dim : {view.group_dim(), view.rows_dim()})
    if (dim < -1 || dim >= rank)
      return "expected a dimension from -1 to " + std::to_string(rank - 1) + " of argument " +
             arg->name()->str() + ", got " + std::to_string(dim);
  if (view.group_dim() >= 0 && view.group_dim() == view.rows_dim())
    return "expected different dimensions for groups and rows, got " +
           std::to_string(view.rows_dim()) + " for both";
  return checkRange("rows of a block", view.rows_div(), 1, 1 << 20);
}

/// An argument of i32 with so many elements.
Fault checkNumbers(int64_t index, size_t numbers, KernelScope &scope) {
  const Arg *arg = index < 0 ? nullptr : scope.arg(size_t(index));
  if (!arg)
    return checkIndex("an argument", uint64_t(index), scope.kernel.args()->size());
  if (arg->dtype() == DType::i32 && count(arg->shape()) == 1 &&
      arg->shape()->Get(0)->symbol() < 0 && arg->shape()->Get(0)->value() == int64_t(numbers))
    return {};
  return "expected argument " + arg->name()->str() + " to have " + numberOf(numbers) +
         " elements of i32";
}

} // namespace

Fault detail::checkGroups(const Groups &groups, KernelScope &scope) {
  if (!known(groups.kind()))
    return "unknown kind " + numberOf(static_cast<uint8_t>(groups.kind()));
  if (Fault fault = checkRange("a number of groups", groups.count(), 1, 1 << 20))
    return fault;
  if (Fault fault = checkRange("an alignment", groups.align(), 1, 1 << 20))
    return fault;
  if (Fault fault = checkStoredExpr(groups.limit(), scope))
    return at("rows", fault);
  if (Fault fault = checkNumbers(groups.arg(), groupNumbers(groups), scope))
    return fault;
  if (groups.status() >= 0)
    if (Fault fault = checkNumbers(groups.status(), 1, scope))
      return fault;
  if (Fault fault = tooMany("views", maxArgs, count(groups.views())))
    return fault;
  for (uint32_t i = 0; i < count(groups.views()); ++i)
    if (Fault fault = checkView(*groups.views()->Get(i), scope))
      return at("view", i, fault);
  return {};
}
