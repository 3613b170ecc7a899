//===- Groups.h - kernels that compute one product a group ----------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What Kernel.groups says, worked out on the CPU: where each group's rows are, by the
// rules of the device code, and the arguments as one group sees them. With those, the
// kernel's reference computation (Reference.h) is that of one group.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_PACKAGE_GROUPS_H
#define HEDDLE_PACKAGE_GROUPS_H

#include "heddle/Package/Expr.h"
#include "heddle/Package/Reference.h"

#include <cstdint>
#include <span>
#include <vector>

namespace heddle::pkg {

struct GroupBounds {
  struct Range {
    int64_t first = 0, size = 0; ///< rows (or elements of K); from the first bad group on 0, 0
  };
  std::vector<Range> ranges;
  int64_t firstBad = -1; ///< the first group whose numbers are no bounds; -1: none
  int64_t limit = 0;     ///< rows there are; of each group, when masked

  int64_t rows() const; ///< of all groups
};

/// The numbers that give `groups.count()` groups: one more of kind offsets.
size_t groupNumbers(const Groups &groups);

/// Works out bounds from `numbers`, groupNumbers() of them.
Expected<GroupBounds> groupBounds(const Groups &groups, std::span<const int32_t> numbers,
                                  const ExprContext &sizes);

/// The arguments of a kernel as one group sees them. Owns what the buffers' spans refer to, but
/// not the data. Not copied.
struct GroupArgs {
  GroupArgs() = default;
  GroupArgs(GroupArgs &&) = default;
  GroupArgs &operator=(GroupArgs &&) = default;
  std::vector<ArgBuffer> args;
  std::vector<std::vector<int64_t>> origins, shapes, strides;
};

/// `origins` of the result say where in each argument its view starts.
GroupArgs groupArgs(const Kernel &kernel, std::span<const ArgBuffer> args,
                    const GroupBounds &bounds, size_t group);

} // namespace heddle::pkg

#endif // HEDDLE_PACKAGE_GROUPS_H
