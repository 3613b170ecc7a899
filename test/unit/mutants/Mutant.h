//===- Mutant.h - one broken variant of a kernel ----------------*- C++ -*-===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_MUTANTS_MUTANT_H
#define HEDDLE_TEST_MUTANTS_MUTANT_H

#include "Ptx.h"
#include "Runner.h"

#include <gtest/gtest.h>

namespace heddle::mutants {

struct Where {
  std::string target, kernel = "plain";
  unsigned variant = 0;
  std::string package = "kernels";
};

struct Mutant {
  Where where;
  std::string name;                  ///< what is wrong, in words
  std::function<void(Ptx &)> change; ///< of the PTX, may be empty
  std::vector<std::string> expected; ///< the report holds one of them under some seed
  std::function<void(pkg::VariantT &)> manifest = {}; ///< change of the manifest, may be empty
};

using Mutants = std::vector<Mutant>;

/// The sizes all kernels run with: several tiles, tails, more steps than slots.
inline std::map<std::string, int64_t> sizesFor(const Where &where) {
  if (where.kernel == "known")
    return {{"M", 392}};
  if (where.kernel == "blocks")
    return {{"M", 136}};
  if (where.variant)
    return {{"M", 131}, {"N", 141}, {"K", 397}};
  return {{"M", 136}, {"N", 264}, {"K", 448}};
}

inline std::string packageFor(const std::string &name) {
  return std::string(HEDDLE_MUTANT_KERNELS) + "/" + name + ".hdl";
}

/// Runs the mutants one after the other; each must be reported under one of a few seeds.
void expectReported(const Mutants &mutants);

// Mutations that several targets share.
Mutants producerMutants(const Where &where, const std::string &firstUse);
Mutants storeMutants(const Where &where, const std::string &firstWrite);
Mutants setupMutants(const Where &where);

} // namespace heddle::mutants

#endif // HEDDLE_TEST_MUTANTS_MUTANT_H
