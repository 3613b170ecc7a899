//===- Arguments.h - a launch's arguments against the manifest ------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks what the caller passes against what the kernel's manifest asks for and
// finds the values of the run-time sizes. Pure functions; thread-safe; nothing is
// allocated unless there is an error.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_ARGUMENTS_H
#define HEDDLE_RUNTIME_CORE_ARGUMENTS_H

#include "Status.h"
#include "heddle/Package/Expr.h"
#include "heddle/Package/Reader.h"
#include <array>
#include <span>

namespace heddle::rt {

/// What the arguments of one launch come to.
struct BoundArguments {
  std::array<int64_t, pkg::maxSymbols> symbols{};
  std::array<uint64_t, pkg::maxArgs> addresses{};
  std::array<uint64_t, pkg::maxArgs> extents{}; ///< bytes from the address to the tensor's end
  std::array<float, pkg::maxArgs> scalars{};
  bool emptyOutput = false; ///< there is nothing to compute

  std::span<const int64_t> symbolValues(const pkg::Kernel &kernel) const {
    return {symbols.data(), kernel.symbols() ? kernel.symbols()->size() : 0};
  }
};

/// Checks kinds, types, ranks, static sizes and strides, agreement of run-time sizes,
/// addresses. Fills `bound` as far as it gets.
Status bindArguments(const pkg::Kernel &kernel, std::span<const heddle_arg> args,
                     BoundArguments &bound);

/// Whether every run-time size of the kernel appears in some argument, so that binding
/// gives it a value.
Status checkSymbolsBindable(const pkg::Kernel &kernel);

using Constraints = flatbuffers::Vector<flatbuffers::Offset<pkg::Constraint>>;

/// The first constraint that does not hold, as a status that says expected and got; NULL is
/// no constraints.
Status checkConstraints(const pkg::Kernel &kernel, const Constraints *constraints,
                        const BoundArguments &bound, const pkg::ExprContext &sizes);

/// "f32", "bf16", ...
std::string_view dtypeName(int dtype);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_ARGUMENTS_H
