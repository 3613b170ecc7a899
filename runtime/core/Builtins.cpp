//===- Builtins.cpp - the backends built into the runtime -----------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registry.h"

namespace heddle::rt {

std::unique_ptr<Backend> createCudaBackend();
#if HEDDLE_RT_EMULATOR
std::unique_ptr<Backend> createEmulatorBackend();
#endif

void registerBuiltinBackends(Registry &registry) {
  // The names differ, so adding cannot fail.
  (void)registry.add(createCudaBackend());
#if HEDDLE_RT_EMULATOR
  (void)registry.add(createEmulatorBackend());
#endif
}

} // namespace heddle::rt
