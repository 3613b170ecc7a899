//===- Registry.h - what one target contributes ---------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Internal to lib/Target. A target's folder defines one TargetEntry of static
// lifetime; Targets.def lists it.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_LIB_TARGET_REGISTRY_H
#define HEDDLE_LIB_TARGET_REGISTRY_H

#include "heddle/Target/Target.h"

namespace heddle::target {

struct TargetEntry {
  const Target &target;
  std::span<const Chip> chips; ///< the first is the target's default
};

/// The bit set of some features.
template <typename... Features> constexpr uint32_t featureSet(Features... features) {
  return (static_cast<uint32_t>(features) | ... | 0u);
}

constexpr unsigned KiB = 1024, MiB = 1024 * 1024;

} // namespace heddle::target

#endif // HEDDLE_LIB_TARGET_REGISTRY_H
