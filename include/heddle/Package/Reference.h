//===- Reference.h - what a kernel computes, on the CPU -------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluates a kernel's reference computation (Kernel.nodes) in double precision, to
// check what a GPU or the emulator computed. All arithmetic and every sum is in double;
// rounding happens only where a `round` node says so. max and min give NaN when an
// input is NaN; comparisons with NaN are false, except cmp_ne.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_PACKAGE_REFERENCE_H
#define HEDDLE_PACKAGE_REFERENCE_H

#include "heddle/Package/Expr.h"
#include "heddle/Support/Result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace heddle::pkg {

namespace detail {
struct ReferencePlan;
}

/// The memory of one argument, on the host. A scalar has an empty shape; `data` points at its
/// value. Borrowed: it must outlive the Reference. An output's data is not read unless the kernel
/// loads it, and may then be null.
struct ArgBuffer {
  const void *data = nullptr;
  DType dtype = DType::f32;
  std::span<const int64_t> shape;   ///< elements, outermost first
  std::span<const int64_t> strides; ///< elements, same order; empty: row-major contiguous
};

/// Whether a value of a reference is that of an element that may hold anything. It is a NaN of
/// its own, which no arithmetic makes.
bool isAnything(double value);

/// One output of a kernel, bound to arguments. Immutable: any number of threads may use it while
/// the arguments stay unchanged. Movable.
class Reference {
public:
  Reference(Reference &&) noexcept;
  Reference &operator=(Reference &&) noexcept;
  ~Reference();

  /// Binds Kernel.outputs[output] of an opened package to `args` (one for each Kernel.args). Fails
  /// when a type or rank differs from the kernel's, when a size is too small for what the kernel
  /// reads, or when data is missing. `extent`, when given, is that of every contraction, in place
  /// of what the kernel says (a group's part of it: Groups.h).
  static Expected<Reference> create(const Kernel &kernel, size_t output,
                                    std::span<const ArgBuffer> args, const ExprContext &sizes,
                                    std::optional<int64_t> extent = {});
  /// The same for rank `rank` of several: `ranks` has the arguments of each, as many as sizes.world.
  static Expected<Reference> create(const Kernel &kernel, size_t output,
                                    std::span<const std::span<const ArgBuffer>> ranks, size_t rank,
                                    const ExprContext &sizes);

  /// The argument that is the output, and its sizes: the space of points.
  size_t argument() const;
  std::span<const int64_t> shape() const;

  /// The value at one point: `point` has an index below the size for each dimension.
  double at(std::span<const int64_t> point) const;

  /// The values at `results.size()` points, stored one after the other in `points`.
  /// `threads`: how many to use, 0 for one a core.
  void evaluate(std::span<const int64_t> points, std::span<double> results,
                unsigned threads = 0) const;

  /// All points of a box, row-major: for whole outputs and tiles of matrices, where contractions
  /// whose operands depend on one side each (matrix products) run blocked, some hundred times
  /// faster than point by point. `origin` and `extent` have an entry for each dimension; `results`
  /// as many as the box has points. Fails when the box leaves the output.
  Expected<void> evaluateBox(std::span<const int64_t> origin, std::span<const int64_t> extent,
                             std::span<double> results, unsigned threads = 0) const;

private:
  explicit Reference(std::unique_ptr<detail::ReferencePlan> plan);
  std::unique_ptr<detail::ReferencePlan> plan;
};

} // namespace heddle::pkg

#endif // HEDDLE_PACKAGE_REFERENCE_H
