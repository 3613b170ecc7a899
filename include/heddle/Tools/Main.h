//===- Main.h - the tools' main functions ----------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TOOLS_MAIN_H
#define HEDDLE_TOOLS_MAIN_H

namespace heddle::tools {

/// heddle-opt: runs single passes on a module, for tests and exploration.
int optMain(int argc, char **argv);

/// heddle-lsp-server: the language server for .mlir files.
int lspServerMain(int argc, char **argv);

/// heddlec: from a spec to a package. Returns 0 on success, 1 when the input or a tool
/// is at fault, 2 when the command line is.
int compilerMain(int argc, char **argv);

/// heddle-tune: plan, measure and record; see docs/tuning.md. Exit codes are those of the
/// subcommands.
int tuneMain(int argc, char **argv);

} // namespace heddle::tools

#endif // HEDDLE_TOOLS_MAIN_H
