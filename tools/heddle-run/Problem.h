//===- Problem.h - sizes, strides and host memory of one run --------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Resolves every size and stride of a kernel from the command line and the input
// files, and holds the host copy of each tensor. Memory around and between the
// elements is part of the copy: it holds a pattern that is a NaN in every
// floating type, so that a kernel that reads it spoils its result, and one that
// writes it is found out.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TOOLS_RUN_PROBLEM_H
#define HEDDLE_TOOLS_RUN_PROBLEM_H

#include "Npy.h"
#include "Options.h"
#include "heddle/Package/Groups.h"
#include "heddle/Package/Reader.h"
#include <functional>
#include <optional>

namespace heddle::run {

/// Bytes before and after each tensor, and the byte they (and unwritten outputs) hold.
inline constexpr uint64_t guardBytes = 4096;
inline constexpr uint8_t guardByte = 0xff;

struct TensorData {
  const pkg::Arg *arg = nullptr;
  std::vector<int64_t> shape, strides; ///< elements
  bool output = false;
  bool readBack = false; ///< an output that the kernel also reads
  uint64_t begin = 0;    ///< bytes from the start of `host` to the first element
  std::vector<uint8_t> host;
  int64_t elements() const;
  unsigned elementBytes() const { return pkg::dtypeBytes(arg->dtype()); }
  uint8_t *first() { return host.data() + begin; }
  const uint8_t *first() const { return host.data() + begin; }
};

struct Problem {
  const pkg::Kernel *kernel = nullptr;
  std::vector<int64_t> symbols;
  std::vector<TensorData> tensors; ///< one an argument; `arg` is null for scalars
  std::vector<double> scalars;     ///< one an argument
  std::optional<pkg::GroupBounds> groups; ///< of a kernel that has groups, once filled
};

/// Resolves sizes and allocates host memory, all of it holding guardByte.
Expected<Problem> makeProblem(const pkg::Kernel &kernel, const Options &options,
                              const std::map<std::string, NpyArray> &files);
/// Fills inputs from files and from random numbers. The same seed gives the same values
/// whatever the number of threads; each rank has values of its own.
void fillInputs(Problem &problem, const Options &options,
                const std::map<std::string, NpyArray> &files, unsigned rank = 0);

/// Whether a kernel takes part in a communicator.
bool talks(const pkg::Kernel &kernel);

/// Runs body(begin, end) over [0, count) on several threads (0: one a core).
void parallel(int64_t count, unsigned threads, const std::function<void(int64_t, int64_t)> &body);

/// Converts one element from one type to another; a copy when they are equal.
void storeAs(pkg::DType from, const void *source, pkg::DType to, void *target);

/// Element offset of the row-major number `index` of a tensor.
int64_t offsetOf(const std::vector<int64_t> &shape, const std::vector<int64_t> &strides,
                 int64_t index);

} // namespace heddle::run

#endif // HEDDLE_TOOLS_RUN_PROBLEM_H
