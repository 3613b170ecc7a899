//===- InterfaceReader.h - the kernel as its caller sees it ----------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_LIB_PIPELINES_INTERFACEREADER_H
#define HEDDLE_LIB_PIPELINES_INTERFACEREADER_H

#include "ManifestReader.h"

namespace heddle {

/// The attribute `heddle.interface` as a kernel without variants. Sets the reader's symbols.
/// Errors stay in the reader.
std::unique_ptr<pkg::KernelT> readInterface(ManifestReader &read, mlir::DictionaryAttr interface);

/// The same from a manifest alone, for kernels written in the warp dialect: arguments, but no
/// reference computation.
std::unique_ptr<pkg::KernelT> interfaceOfManifest(ManifestReader &read,
                                                  mlir::DictionaryAttr manifest);

/// One constraint, as both attributes write it.
std::unique_ptr<pkg::ConstraintT> readConstraint(ManifestReader &read, mlir::DictionaryAttr dict);

} // namespace heddle

#endif // HEDDLE_LIB_PIPELINES_INTERFACEREADER_H
