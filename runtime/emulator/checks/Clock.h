//===- Clock.h - what an agent knows to have happened -----------*- C++ -*-===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sparse vector clock. A component belongs to a warp of a block (its threads share
// one time, counted in releases), to one kind of asynchronous operations of a warp
// (the highest operation id known to be complete) or to an mbarrier (phases known to
// be complete). Blocks meet seldom, so that clocks stay short.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_EMULATOR_CHECKS_CLOCK_H
#define HEDDLE_EMULATOR_CHECKS_CLOCK_H

#include <cstdint>
#include <vector>

namespace heddle::emulator::checks {

enum class Part : uint8_t {
  Threads,
  CpAsync,
  Bulk,
  BulkRead,
  Wgmma,
  Tcgen,
  TcgenLd,
  TcgenSt,
  Mbarrier
};

/// `index`: warp of the block, or offset / 8 of the mbarrier.
constexpr uint64_t component(uint64_t ctaId, Part part, uint64_t index) {
  return ctaId << 24 | uint64_t(part) << 20 | index;
}

/// What is known of a component: all of it up to `base`, the lanes `mask` up to `time`.
struct Known {
  uint64_t key = 0, base = 0, time = 0;
  uint32_t mask = 0;
};

class Clock {
public:
  const Known *find(uint64_t key) const;
  /// Whether `lanes` of the component are known up to `time`.
  bool knows(uint64_t key, uint64_t time, uint32_t lanes = 0) const;
  void raise(uint64_t key, uint64_t base);
  void raiseLanes(uint64_t key, uint64_t time, uint32_t lanes);
  void join(const Clock &other);
  /// Keeps what `other` knows as well.
  void meet(const Clock &other);
  void clear() { known.clear(); }
  bool empty() const { return known.empty(); }
  /// Drops the components of a block.
  void forget(uint64_t ctaId);

private:
  Known &at(uint64_t key);
  std::vector<Known> known; ///< by key
};

/// A clock, which generic writes it knows with a fence.proxy.async after them ([0]
/// shared memory, [1] global memory), which tensor-memory operations it knows with a
/// tcgen05.fence::before_thread_sync or a commit after them, and which asynchronous operations it
/// knows to be over, though maybe not to have their writes visible: relaxed arrivals and waits pass
/// that on.
struct Clocks {
  Clock all, proxy[2], tensor, over;
  void join(const Clocks &other) {
    all.join(other.all);
    proxy[0].join(other.proxy[0]);
    proxy[1].join(other.proxy[1]);
    tensor.join(other.tensor);
    over.join(other.over);
  }
  void meet(const Clocks &other) {
    all.meet(other.all);
    proxy[0].meet(other.proxy[0]);
    proxy[1].meet(other.proxy[1]);
    tensor.meet(other.tensor);
    over.meet(other.over);
  }
  void clear() {
    all.clear();
    proxy[0].clear();
    proxy[1].clear();
    tensor.clear();
    over.clear();
  }
};

} // namespace heddle::emulator::checks

#endif // HEDDLE_EMULATOR_CHECKS_CLOCK_H
