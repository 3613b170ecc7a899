//===- TensorMapCache.h - encoded tensor maps, kept -----------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A bounded cache from the values of a tensor map to its 128 bytes. When full,
// the entry used longest ago makes room. All memory is taken at construction, so
// that a launch allocates nothing. A map holds an address, not memory: an entry
// whose buffer was freed is merely never asked for again. Thread-safe.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_TENSORMAPCACHE_H
#define HEDDLE_RUNTIME_CORE_TENSORMAPCACHE_H

#include "Backend.h"
#include <mutex>

namespace heddle::rt {

class TensorMapCache {
public:
  /// `capacity` of at least 1.
  explicit TensorMapCache(size_t capacity = 256);

  /// Finds the map or lets the device encode it. An error is not kept.
  Status get(Device &device, const TensorMapDesc &desc, TensorMapBytes &map);

  struct Counters {
    uint64_t hits = 0, misses = 0, evictions = 0;
  };
  Counters counters() const;

private:
  static constexpr uint32_t none = ~0u;
  struct Slot {
    TensorMapDesc desc;
    TensorMapBytes map;
    uint32_t bucket = 0, nextInBucket = none; ///< chain of equal hashes
    uint32_t newer = none, older = none;      ///< order of use
  };

  uint32_t find(const TensorMapDesc &desc, uint32_t bucket) const;
  void unlink(uint32_t index);
  void pushNewest(uint32_t index);
  void removeFromBucket(uint32_t index);
  uint32_t takeSlot();

  mutable std::mutex mutex;
  std::vector<Slot> slots;
  std::vector<uint32_t> buckets;
  uint32_t used = 0, newest = none, oldest = none;
  Counters count;
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_TENSORMAPCACHE_H
