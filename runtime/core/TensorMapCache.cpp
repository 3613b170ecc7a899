//===- TensorMapCache.cpp - encoded tensor maps, kept ---------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorMapCache.h"
#include <algorithm>
#include <bit>

namespace heddle::rt {

static uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
  return hash ^ (hash >> 29);
}

static uint64_t hashOf(const TensorMapDesc &desc) {
  uint64_t hash = mix(desc.rank, desc.address);
  for (unsigned i = 0; i < TensorMapDesc::maxRank; ++i)
    hash = mix(mix(mix(hash, desc.dims[i]), desc.strides[i]), desc.box[i]);
  return mix(hash, desc.dtype | uint64_t(desc.swizzle) << 8 | uint64_t(desc.l2Promotion) << 16);
}

TensorMapCache::TensorMapCache(size_t capacity)
    : slots(std::max<size_t>(capacity, 1)), buckets(std::bit_ceil(slots.size() * 2), none) {}

uint32_t TensorMapCache::find(const TensorMapDesc &desc, uint32_t bucket) const {
  uint32_t index = buckets[bucket];
  while (index != none && !(slots[index].desc == desc))
    index = slots[index].nextInBucket;
  return index;
}

void TensorMapCache::unlink(uint32_t index) {
  Slot &slot = slots[index];
  (slot.newer == none ? newest : slots[slot.newer].older) = slot.older;
  (slot.older == none ? oldest : slots[slot.older].newer) = slot.newer;
}

void TensorMapCache::pushNewest(uint32_t index) {
  slots[index].newer = none;
  slots[index].older = newest;
  (newest == none ? oldest : slots[newest].newer) = index;
  newest = index;
}

void TensorMapCache::removeFromBucket(uint32_t index) {
  uint32_t *link = &buckets[slots[index].bucket];
  while (*link != index)
    link = &slots[*link].nextInBucket;
  *link = slots[index].nextInBucket;
}

uint32_t TensorMapCache::takeSlot() {
  if (used < slots.size())
    return used++;
  uint32_t victim = oldest;
  unlink(victim);
  removeFromBucket(victim);
  ++count.evictions;
  return victim;
}

Status TensorMapCache::get(Device &device, const TensorMapDesc &desc, TensorMapBytes &map) {
  uint32_t bucket = hashOf(desc) & (buckets.size() - 1);
  std::lock_guard lock(mutex);
  if (uint32_t index = find(desc, bucket); index != none) {
    ++count.hits;
    unlink(index);
    pushNewest(index);
    map = slots[index].map;
    return {};
  }
  ++count.misses;
  if (Status status = device.encodeTensorMap(desc, map); !status)
    return status;
  uint32_t index = takeSlot();
  slots[index].desc = desc;
  slots[index].map = map;
  slots[index].bucket = bucket;
  slots[index].nextInBucket = buckets[bucket];
  buckets[bucket] = index;
  pushNewest(index);
  return {};
}

TensorMapCache::Counters TensorMapCache::counters() const {
  std::lock_guard lock(mutex);
  return count;
}

} // namespace heddle::rt
