//===- Registration.h - the dialects and passes of the tools ---------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TOOLS_REGISTRATION_H
#define HEDDLE_TOOLS_REGISTRATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace heddle::tools {

/// Every dialect that a spec, or any later stage of it, may use. Cheap: dialects are
/// loaded when they are first needed.
void registerDialects(mlir::DialectRegistry &registry);

/// Every pass of the project, and those of MLIR that its pipelines use, by their
/// command-line names. Once a process.
void registerPasses();

} // namespace heddle::tools

#endif // HEDDLE_TOOLS_REGISTRATION_H
