//===- CommLaunch.h - launches of kernels that talk to other ranks ----------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The checks and notes that a launch with a communicator needs beyond those of any
// launch. Thread-safe.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_COMM_COMMLAUNCH_H
#define HEDDLE_RUNTIME_COMM_COMMLAUNCH_H

#include "Communicator.h"
#include "core/Arguments.h"
#include "core/Module.h"

namespace heddle::rt {

/// Whether a form takes a communicator, or shares memory with other ranks.
bool talks(const LoadedVariant &variant);
bool talks(const LoadedKernel &kernel);

/// That there is a communicator, of the kernel's device; that symmetric arguments lie in its heap;
/// that a size named `world` is the number of ranks. For kernels that talk.
Status checkComm(const LoadedKernel &kernel, const BoundArguments &bound, Communicator *comm);

/// What all ranks must launch alike. `variant` counts from 1.
CollectiveCall describeLaunch(const LoadedKernel &kernel, size_t variant,
                              const BoundArguments &bound, const std::array<unsigned, 3> &grid,
                              const Communicator &comm);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_COMM_COMMLAUNCH_H
