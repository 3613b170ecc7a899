//===- Handles.h - what the handles of the C interface point to -----------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to the files that implement the C interface. Each handle keeps its
// device alive.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_HANDLES_H
#define HEDDLE_RUNTIME_CORE_HANDLES_H

#include "Module.h"

struct heddle_device_object {
  std::shared_ptr<heddle::rt::Device> device;
};

struct heddle_event_object {
  std::shared_ptr<heddle::rt::Device> device; ///< before the event: destroyed after it
  std::unique_ptr<heddle::rt::Event> event;
};

struct heddle_module_object {
  std::unique_ptr<heddle::rt::Module> module;
};

/// A heddle_kernel is a LoadedKernel, owned by its module.
inline heddle::rt::LoadedKernel *kernelOf(heddle_kernel kernel) {
  return reinterpret_cast<heddle::rt::LoadedKernel *>(kernel);
}

namespace heddle::rt {

/// The status for a NULL where `what` was expected.
inline Status nullError(std::string_view what,
                        std::source_location where = std::source_location::current()) {
  return Status::error(HEDDLE_INVALID_ARGUMENT, text("expected ", what, ", got NULL"), where);
}

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_HANDLES_H
