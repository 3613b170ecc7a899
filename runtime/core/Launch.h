//===- Launch.h - from checked arguments to the device --------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plans a launch on the stack (geometry, parameters, tensor maps) for the first
// form of the kernel that takes the arguments, then hands it to the device.
// Thread-safe. When the first form fits and its tensor maps are known, no host
// memory is allocated.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_LAUNCH_H
#define HEDDLE_RUNTIME_CORE_LAUNCH_H

#include "Module.h"

namespace heddle::rt {

/// `variant` gets the number, from 1, of the form that was (or, without `submit`, would be)
/// launched; 0 when an output is empty.
Status launch(LoadedKernel &kernel, std::span<const heddle_arg> args,
              const heddle_launch_options &options, bool submit, int32_t &variant);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_LAUNCH_H
