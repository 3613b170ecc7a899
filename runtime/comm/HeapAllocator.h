//===- HeapAllocator.h - places in a symmetric heap -------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Deals out ranges of [begin, end), the lowest that fits first. It looks at nothing
// but the calls it gets, so that ranks that make the same calls get the same places
// without talking. Not thread-safe.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_COMM_HEAPALLOCATOR_H
#define HEDDLE_RUNTIME_COMM_HEAPALLOCATOR_H

#include <cstdint>
#include <map>
#include <optional>

namespace heddle::rt {

class HeapAllocator {
public:
  /// Of every place, in bytes.
  static constexpr uint64_t alignment = 256;

  HeapAllocator(uint64_t begin, uint64_t end) : free_{{begin, end}} {}

  /// The start of `bytes` (at least 1) bytes; nothing when no gap is that large.
  std::optional<uint64_t> take(uint64_t bytes);
  /// False when `start` is not one that was taken.
  bool give(uint64_t start);

  uint64_t largestGap() const;
  uint64_t bytesUsed() const { return used; }

private:
  std::map<uint64_t, uint64_t> free_; ///< start to end; gaps never touch
  std::map<uint64_t, uint64_t> taken; ///< start to end
  uint64_t used = 0;
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_COMM_HEAPALLOCATOR_H
