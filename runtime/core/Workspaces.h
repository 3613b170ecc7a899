//===- Workspaces.h - scratch memory of kernels ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels whose CTAs pass data to each other need device memory that lives from one launch
// to the next and that no two launches at once may share. Launches in one stream come one after
// the other, so each stream has its own; a graph under capture has its own as well, since it
// may run beside later launches of that stream. What is there grows and is kept until the module
// is unloaded: captured graphs hold its address.
//
// Threading: `get` locks. Owned by the module; frees its memory when it is destroyed.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_WORKSPACES_H
#define HEDDLE_RUNTIME_CORE_WORKSPACES_H

#include "Backend.h"
#include <map>
#include <mutex>
#include <utility>

namespace heddle::rt {

class Workspaces {
public:
  explicit Workspaces(Device &device) : device(device) {}
  ~Workspaces();
  Workspaces(const Workspaces &) = delete;
  Workspaces &operator=(const Workspaces &) = delete;

  /// Memory for a launch in `stream`: `bytes` that may hold anything, `counterBytes` that are zero
  /// as long as kernels leave them so. Sizes of 0 give null.
  Status get(Stream stream, uint64_t bytes, uint64_t counterBytes, void *&workspace,
             void *&counters);

private:
  struct Block {
    void *pointer = nullptr;
    uint64_t bytes = 0;
  };
  Status grow(Block &block, uint64_t bytes);

  Device &device;
  std::mutex mutex; ///< over the two below
  std::map<std::pair<Stream, uint64_t>, std::pair<Block, Block>> blocks; ///< by stream and capture
  std::vector<void *> retired; ///< outgrown; captured graphs may use them
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_WORKSPACES_H
