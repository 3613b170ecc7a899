//===- Kind.h - the table of kernel kinds ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel kind turns a heddle.kernel into warp.kernels. Which kind a spec is of shows in
// its operations; a kind is one entry in the table of lib/Kernels/Kinds.cpp, and nothing
// else knows of it. Errors are emitted at the op of the spec that is at fault.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_KERNELS_KIND_H
#define HEDDLE_KERNELS_KIND_H

#include "dialects/Heddle/IR/HeddleDialect.h"
#include "dialects/Warp/IR/WarpDialect.h"
#include "heddle/Target/Target.h"
#include "heddle/Tuning/Schedule.h"

namespace heddle::kernels {

/// What a kernel is built for. References outlive the call only.
struct BuildOptions {
  const target::Target &target;
  const target::Chip &chip;
  llvm::StringRef schedule; ///< text that overrides the kernel's `schedule` attribute; may be empty
  llvm::StringRef form;     ///< build the form of this name only; empty: all
  llvm::ArrayRef<tuning::Schedule> avoid; ///< schedules that are not to be chosen (GEMM)
  int sms = 0; ///< the most multiprocessors that launches may use; 0: all (GEMM)
};

struct KernelKind {
  llvm::StringRef name; ///< "gemm": for messages and tuning records
  /// Whether a kernel is of this kind; looks at its operations only, never fails.
  bool (*matches)(spec::KernelOp kernel);
  /// Builds the forms of `kernel` at the insertion point of `builder`, best first, each with
  /// `heddle.interface` (see gemmInterface) and `heddle.variant`, the form's name, set.
  /// `kernel` stays; the caller erases it.
  llvm::LogicalResult (*build)(mlir::OpBuilder &builder, spec::KernelOp kernel,
                               const BuildOptions &options);
};

/// The kind of `kernel`. The last of the table takes what no other knows, and says what is
/// supported.
const KernelKind &kindOf(spec::KernelOp kernel);

/// Whether the options ask for the form `name`.
inline bool isWanted(const BuildOptions &options, llvm::StringRef name) {
  return options.form.empty() || options.form == name;
}
/// An error at `kernel` when the options ask for a form that is none of `names`.
llvm::LogicalResult checkForm(spec::KernelOp kernel, const BuildOptions &options,
                              llvm::ArrayRef<llvm::StringRef> names);

// The kinds. Each is defined in its folder of lib/Kernels.
extern const KernelKind collectiveKind, combineKind, dispatchKind, expertListsKind, gemmKind, routeKind;

} // namespace heddle::kernels

#endif // HEDDLE_KERNELS_KIND_H
