//===- Packager.h - compiled kernels to a package --------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns the attributes `heddle.manifest` (how to launch a compiled form) and
// `heddle.interface` (what the kernel is to its caller) into the tables of a package.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_PIPELINES_PACKAGER_H
#define HEDDLE_PIPELINES_PACKAGER_H

#include "heddle/Package/package_generated.h"
#include "heddle/Support/Result.h"
#include "heddle/Target/Target.h"
#include "mlir/IR/BuiltinAttributes.h"
#include <string>
#include <vector>

namespace heddle {

/// One entry of an image. The attributes live as long as their MLIR context.
struct CompiledEntry {
  std::string entry;
  mlir::DictionaryAttr manifest;  ///< never null
  mlir::DictionaryAttr interface; ///< null: made from the manifest
  unsigned registers = 0;         ///< as ptxas says; 0: unknown
};

/// Everything compiled from one kernel for one target.
struct CompiledKernel {
  std::string name; ///< of the kernel in the spec
  std::string spec; ///< its text there; may be empty
  const target::Target *target = nullptr;
  std::string ptx, cubin; ///< the cubin may be empty
  std::vector<CompiledEntry> entries;
};

/// A package under construction.
class Packager {
public:
  explicit Packager(std::string compilerVersion);
  /// Adds the variants of a kernel; kernels of one name become one kernel with more variants,
  /// in the order of the calls.
  Expected<void> add(CompiledKernel kernel);
  const pkg::PackageT &package() const { return result; }

private:
  pkg::PackageT result;
};

} // namespace heddle

#endif // HEDDLE_PIPELINES_PACKAGER_H
