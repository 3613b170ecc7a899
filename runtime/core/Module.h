//===- Module.h - loaded packages and their kernels -----------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Module owns a package, the images of it that were loaded, and its kernels. A
// LoadedKernel is immutable once made, apart from the tensor-map cache of its
// module, which locks. Images and entries are destroyed before the device.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_MODULE_H
#define HEDDLE_RUNTIME_CORE_MODULE_H

#include "Backend.h"
#include "TensorMapCache.h"
#include "Workspaces.h"
#include "heddle/Package/Reader.h"
#include "heddle/Package/Select.h"
#include <map>
#include <mutex>

namespace heddle::rt {

class Module;

/// A compiled form, loaded.
struct LoadedVariant {
  const pkg::Variant *variant = nullptr;
  EntryDesc desc;
  std::unique_ptr<Entry> entry;
  std::string description; ///< one line for people
};

struct LoadedKernel {
  Module *module = nullptr;
  const pkg::Kernel *kernel = nullptr;
  std::vector<LoadedVariant> variants; ///< in order of preference, at least one
};

class Module {
public:
  /// Opens and checks the package; loads nothing yet, but fails when the device can run no
  /// kernel of it.
  static Status load(std::shared_ptr<Device> device, pkg::PackageFile package,
                     std::unique_ptr<Module> &module);

  /// Finds a kernel and loads its code, once. An empty name is the only kernel.
  Status kernel(std::string_view name, LoadedKernel *&kernel);

  Device &device() { return *owner; }
  const pkg::PackageFile &package() const { return file; }
  TensorMapCache &tensorMaps() { return maps; }
  Workspaces &workspaces() { return scratch; }

private:
  Module(std::shared_ptr<Device> device, pkg::PackageFile package)
      : owner(std::move(device)), file(std::move(package)), scratch(*owner) {}

  pkg::Selection select(const pkg::Kernel &kernel) const;
  Status loadKernel(const pkg::Kernel &kernel, std::unique_ptr<LoadedKernel> &loaded);
  Status loadGroup(const pkg::Kernel &kernel, std::span<const pkg::Candidate> group,
                   LoadedKernel &loaded);
  Status image(uint32_t index, bool useCubin, Image *&image);

  std::shared_ptr<Device> owner;
  pkg::PackageFile file;
  TensorMapCache maps;
  Workspaces scratch;
  std::mutex mutex; ///< over the two below
  std::map<std::pair<uint32_t, bool>, std::unique_ptr<Image>> images;
  std::map<const pkg::Kernel *, std::unique_ptr<LoadedKernel>> kernels;
};

/// A package's error as a status.
Status statusOf(Error error, heddle_code unsupported = HEDDLE_INVALID_PACKAGE,
                std::source_location where = std::source_location::current());

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_MODULE_H
