//===- HeddleToWarp.h - heddle.kernel to warp.kernel ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_CONVERSION_HEDDLETOWARP_H
#define HEDDLE_CONVERSION_HEDDLETOWARP_H

#include <memory>
#include <string>

namespace mlir {
class Pass;
} // namespace mlir

namespace heddle {

struct ConvertHeddleToWarpOptions {
  std::string target = {};   ///< as --arch; required
  std::string chip = {};     ///< as --chip; empty: the target's default
  std::string schedule = {}; ///< tuning::parse; empty: the kernel's attribute, else chosen
  std::string variant = {};  ///< "bulk" or "unaligned": that one only; empty: what is needed
  std::string avoid = {};    ///< schedules not to choose, nor others that need the same registers;
                             ///< joined by semicolons
  int sms = 0;               ///< the most multiprocessors that launches may use; 0: all
};

/// Replaces each heddle.kernel of a module by one or two warp.kernels for a target.
std::unique_ptr<mlir::Pass> createConvertHeddleToWarpPass(ConvertHeddleToWarpOptions options = {});
/// Makes it available as `--convert-heddle-to-warp`.
void registerConvertHeddleToWarpPass();

} // namespace heddle

#endif // HEDDLE_CONVERSION_HEDDLETOWARP_H
