//===- Select.h - choosing a compiled form for a launch -------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which variants of a kernel a device can run, and which of them take the sizes and
// addresses of a launch. All functions are pure and thread-safe, and expect a package
// that was opened by PackageFile.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_PACKAGE_SELECT_H
#define HEDDLE_PACKAGE_SELECT_H

#include "heddle/Package/Expr.h"
#include "heddle/Support/Result.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace heddle::pkg {

/// A GPU's compute capability.
struct Capability {
  unsigned major = 0, minor = 0;
};

/// How a variant's code gets onto a device, best first.
enum class Fit : uint8_t {
  ExactCubin,  ///< machine code for exactly this capability
  FamilyCubin, ///< machine code for an earlier one of its family
  Ptx,         ///< PTX, assembled by the driver
};
/// "cubin", "cubin of the family", "ptx".
std::string_view fitName(Fit fit);

/// A variant that a device can run.
struct Candidate {
  uint32_t variant; ///< index into Kernel.variants
  Fit fit;
};

/// A variant that was passed over, and why.
struct Rejection {
  uint32_t variant;
  std::string reason;
};

/// The variants in the order in which to try them, and the others.
struct Selection {
  std::vector<Candidate> candidates;
  std::vector<Rejection> rejected;
};

/// The variants that a device of this capability can run: exact cubins, then cubins of the family,
/// then PTX; the newest target first; in the package's order within a target. Does not depend on
/// sizes, so a loader calls it once.
Selection selectForDevice(const Package &package, const Kernel &kernel, Capability device);

/// What a launch is about: run-time sizes, and the address of each argument (0 for scalars).
struct LaunchContext {
  ExprContext sizes;
  std::span<const uint64_t> addresses;
};

/// What a constraint that does not hold says, e.g.
/// `expected row stride of A in bytes to be a multiple of 16, got 14`; nothing when it holds. An
/// expression that overflows counts as not held.
std::optional<std::string> violated(const Constraint &constraint, const LaunchContext &launch);

/// The kernel's own constraints, which hold for every variant.
Expected<void> checkKernelConstraints(const Kernel &kernel, const LaunchContext &launch);

/// Why a variant does not take this launch; nothing when it does.
std::optional<std::string> violated(const Variant &variant, const LaunchContext &launch);

/// Narrows what selectForDevice found to what takes this launch.
Selection selectForLaunch(const Kernel &kernel, const Selection &forDevice,
                          const LaunchContext &launch);

/// All of the above at once. An error when the kernel's own constraints do not hold.
Expected<Selection> selectVariants(const Package &package, const Kernel &kernel, Capability device,
                                   const LaunchContext &launch);

/// For messages when nothing fits: what the package holds for the kernel, and what the device is:
/// `kernel k: no code for compute capability 7.5; the package holds sm_80 (cubin, ptx), ...`.
std::string describeNoCode(const Package &package, const Kernel &kernel, Capability device);
/// One line a rejected variant: `variant 0 (sm_90a): expected ...`.
std::string describeRejections(const Kernel &kernel, const Selection &selection);

} // namespace heddle::pkg

#endif // HEDDLE_PACKAGE_SELECT_H
