//===- Runner.h - runs changed kernels on the emulator ----------*- C++ -*-===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_MUTANTS_RUNNER_H
#define HEDDLE_TEST_MUTANTS_RUNNER_H

#include "Options.h"
#include "heddle/Package/package_generated.h"

#include <functional>
#include <memory>

namespace heddle::mutants {

/// A compiled form of a kernel with its PTX, free to be changed.
struct Form {
  pkg::PackageT package; ///< one kernel, one variant, one image
  pkg::VariantT &variant() { return *package.kernels[0]->variants[0]; }
  std::string &ptx() { return package.images[0]->ptx; }
};

/// The `variant`-th form (from 0) of `kernel` for `target` in the package at `path`; null and a
/// test failure when there is none.
std::unique_ptr<Form> loadForm(const std::string &path, const std::string &kernel,
                               const std::string &target, unsigned variant = 0);

/// Runs once with all checks on as few multiprocessors as the kernel can do with. "" when the
/// results are right, else what the emulator reports, or "wrong result" with what differs.
std::string runForm(const Form &form, const std::map<std::string, int64_t> &sizes, uint64_t seed);

} // namespace heddle::mutants

#endif // HEDDLE_TEST_MUTANTS_RUNNER_H
