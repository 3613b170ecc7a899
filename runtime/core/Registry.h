//===- Registry.h - the backends there are --------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One process-wide list of backends, filled once by registerBuiltinBackends.
// Thread-safe; backends live until the process ends.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_REGISTRY_H
#define HEDDLE_RUNTIME_CORE_REGISTRY_H

#include "Backend.h"
#include <mutex>

namespace heddle::rt {

class Registry {
public:
  static Registry &get();

  /// A second backend of the same name is an error.
  Status add(std::unique_ptr<Backend> backend);
  std::vector<DeviceInfo> devices();
  /// Opens "<backend>:<which>" or "<backend>".
  Status open(std::string_view name, std::shared_ptr<Device> &device);

private:
  Registry() = default;
  Backend *find(std::string_view name);
  std::vector<Backend *> snapshot();

  std::mutex mutex;
  std::vector<std::unique_ptr<Backend>> backends;
};

/// Builtins.cpp: one line per backend.
void registerBuiltinBackends(Registry &registry);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_REGISTRY_H
