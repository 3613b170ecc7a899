//===- Kinds.cpp - the table of kernel kinds ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "heddle/Kernels/Kind.h"

using namespace mlir;

namespace heddle::kernels {

/// One line a kind; the first that matches has the kernel. The last one matches all.
static const KernelKind *const kinds[] = {
    &routeKind,
    &dispatchKind,
    &combineKind,
    &expertListsKind,
    &collectiveKind,
    &gemmKind,
};

const KernelKind &kindOf(spec::KernelOp kernel) {
  for (const KernelKind *kind : kinds)
    if (kind->matches(kernel))
      return *kind;
  return *std::end(kinds)[-1];
}

LogicalResult checkForm(spec::KernelOp kernel, const BuildOptions &options,
                        ArrayRef<StringRef> names) {
  if (options.form.empty() || llvm::is_contained(names, options.form))
    return success();
  std::string list;
  for (auto [i, name] : llvm::enumerate(names))
    list += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + name.str();
  return emitError(kernel.getLoc())
         << "expected variant to be " << list << ", got '" << options.form << "'";
}

} // namespace heddle::kernels
