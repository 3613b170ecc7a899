//===- GatherPackage.h - an all-gather written by hand ----------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Y[world, N] = X[N] of each rank, f32, in PTX for any GPU: threads push the elements
// into every rank's Y after that rank granted credit, then raise a flag there. It keeps
// the contract of kernels that talk (docs/communication.md): epochs that replay, waits
// with a deadline and an abort word, a fault record, no hang. Role `push`, two CTAs.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_UNIT_RUNTIME_COMM_GATHERPACKAGE_H
#define HEDDLE_TEST_UNIT_RUNTIME_COMM_GATHERPACKAGE_H

#include "heddle/Package/Reader.h"

namespace heddle::rt::test {

/// What to leave out of a kernel that is right.
enum class GatherDefect {
  None,
  NoCredit,  ///< writes without asking whether the reader is ready
  NoRelease, ///< flags that order nothing
};

inline constexpr unsigned gatherChannels = 2;

pkg::PackageT gatherPackage(GatherDefect defect = GatherDefect::None,
                            const std::string &target = "sm_80");

} // namespace heddle::rt::test

#endif // HEDDLE_TEST_UNIT_RUNTIME_COMM_GATHERPACKAGE_H
