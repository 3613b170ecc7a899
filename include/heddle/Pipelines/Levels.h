//===- Levels.h - the levels of a program and the passes between them ------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program is at one of five levels; `levelOf` tells which by the ops present, and
// `addPasses` gives the passes from one level to the next. Every level prints, parses
// and can be edited and fed back.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_PIPELINES_LEVELS_H
#define HEDDLE_PIPELINES_LEVELS_H

#include <optional>
#include <string>
#include <string_view>

namespace mlir {
class Operation;
class OpPassManager;
} // namespace mlir

namespace heddle {

/// What a kernel is written in.
///   Heddle  heddle.kernel: what is computed
///   Warp    warp.kernel with stages and pipes: a network, no warps yet
///   Roles   warp.kernel with roles, offsets and barriers: who does what
///   NVVM    llvm.func with nvvm, ptx, scf, arith and vector ops: how
///   LLVM    llvm.func with llvm and nvvm ops only: ready for translation
enum class Level { Heddle, Warp, Roles, NVVM, LLVM };
std::string_view levelName(Level level);

/// The level of one kernel op; nullopt when `op` is not a kernel.
std::optional<Level> levelOf(mlir::Operation *op);

struct PipelineOptions {
  std::string target;   ///< as --arch
  std::string chip;     ///< as --chip; empty: the target's default
  std::string schedule; ///< as --schedule; empty: chosen
  std::string avoid;    ///< schedules that are not to be chosen, joined by semicolons
  int sms = 0;          ///< as --sms; 0: all
  bool lineInfo = false;
};

/// Adds the passes that take a builtin.module from one level to the next one.
void addPasses(mlir::OpPassManager &pm, Level from, const PipelineOptions &options);

} // namespace heddle

#endif // HEDDLE_PIPELINES_LEVELS_H
