//===- Workspaces.cpp - scratch memory of kernels ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Workspaces.h"
#include <algorithm>

namespace heddle::rt {

Status Device::allocZeroed(uint64_t bytes, void *&pointer) {
  void *made = nullptr;
  if (Status status = alloc(bytes, made); !status)
    return status;
  Status status = fill(made, 0, bytes, nullptr);
  if (status)
    status = sync();
  if (!status) {
    (void)free(made);
    return status;
  }
  pointer = made;
  return {};
}

Status Device::captureOf(Stream, uint64_t &capture) {
  capture = 0;
  return {};
}

Workspaces::~Workspaces() {
  for (auto &[key, pair] : blocks)
    for (Block *block : {&pair.first, &pair.second})
      if (block->pointer)
        retired.push_back(block->pointer);
  for (void *pointer : retired)
    (void)device.free(pointer); // waits for kernels that use it
}

Status Workspaces::grow(Block &block, uint64_t bytes) {
  if (bytes <= block.bytes)
    return {};
  bytes = std::max(bytes, 2 * block.bytes);
  void *made = nullptr;
  if (Status status = device.allocZeroed(bytes, made); !status)
    return std::move(status).within("workspace");
  if (block.pointer)
    retired.push_back(block.pointer);
  block = {made, bytes};
  return {};
}

Status Workspaces::get(Stream stream, uint64_t bytes, uint64_t counterBytes, void *&workspace,
                       void *&counters) {
  uint64_t capture = 0;
  if (Status status = device.captureOf(stream, capture); !status)
    return status;
  std::lock_guard lock(mutex);
  auto &[first, second] = blocks[{stream, capture}];
  if (Status status = grow(first, bytes); !status)
    return status;
  if (Status status = grow(second, counterBytes); !status)
    return status;
  workspace = bytes ? first.pointer : nullptr;
  counters = counterBytes ? second.pointer : nullptr;
  return {};
}

} // namespace heddle::rt
