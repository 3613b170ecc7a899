//===- RaceDetector.h - data races by happens-before ------------*- C++ -*-===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Orders the accesses of threads and of asynchronous operations (copies, matrix
// instructions) to shared, tensor and global memory. Two accesses that overlap, of
// which one writes, are a race unless one happens before the other by program order,
// barriers, mbarriers, waits for asynchronous operations, fences, or release and
// acquire of sufficient scope. A write by a thread does not happen before an access
// of the async proxy without a fence.proxy.async between them.
//
// Where knowledge is merged (lanes of a warp that release at different times) the
// detector errs on the side of silence: it reports no race that is none.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_EMULATOR_CHECKS_RACEDETECTOR_H
#define HEDDLE_EMULATOR_CHECKS_RACEDETECTOR_H

#include "runtime/emulator/checks/Clock.h"
#include "runtime/emulator/checks/Shadow.h"

#include <map>
#include <set>

namespace heddle::emulator {

inline bool isRelease(Sem s) { return s == Sem::Release || s == Sem::AcqRel || s == Sem::SeqCst; }
inline bool isAcquire(Sem s) { return s == Sem::Acquire || s == Sem::AcqRel || s == Sem::SeqCst; }
/// Whether scope `s` of an agent at one of the places includes the other.
bool covers(Scope s, const WarpRef &a, const WarpRef &b);

class RaceDetector final : public Observer {
public:
  /// A launch stops after `maxFindings` pairs of lines; each pair is reported once.
  explicit RaceDetector(unsigned maxFindings = 8) : maxFindings(maxFindings) {}

  void access(const AccessEvent &e) override;
  void sync(const SyncEvent &e) override;
  void fence(const FenceEvent &e) override;
  void asyncIssue(const AsyncEvent &e) override;
  void asyncComplete(const AsyncEvent &e, bool readsDone) override;
  void wait(const WaitEvent &e) override;
  void registersInFlight(const AsyncEvent &e, const uint32_t *regs, unsigned count,
                         bool written) override;
  void ctaStart(const WarpRef &at, unsigned warps) override;
  void ctaEnd(const WarpRef &at) override;

private:
  /// What reads without acquire brought, for a later fence.
  struct Seen {
    Scope scope; ///< of the read
    WarpRef at;  ///< of the release
    checks::Clocks known;
  };
  /// Lanes of a warp that know the same.
  struct Lanes {
    uint32_t mask = 0;
    checks::Clocks known;
    checks::Clock tensor;    ///< of known.tensor, with a tcgen05.fence::after_thread_sync
    checks::Clocks released; ///< at the last fence
    Scope releasedScope = Scope::None;
    std::vector<Seen> seen;
  };
  struct WarpState {
    uint64_t time = 1;
    std::vector<Lanes> lanes;
    std::string role;
  };
  enum class Verdict : uint8_t { Ordered, Unordered, NoProxyFence, NoTensorFence, Scope };
  /// What the last look at the history of some bytes gave: their neighbours mostly have the same.
  struct Memo {
    checks::Entry before;
    uint64_t owner = 0;
    Verdict verdict = Verdict::Ordered;
    bool looked = false;
  };
  struct Operation {
    AsyncKind kind = AsyncKind::BulkCopy;
    WarpRef at;
    uint32_t lanes = 0;
    unsigned issuers = 0; ///< warps that issued their part of a wgmma
    std::string role;
    checks::Clocks known;
    checks::Clock tensor;
    Memo memo;
    /// Components and values that tell of its completion, by the block whose memory it is.
    struct Completion {
      uint64_t owner, key, value;
    };
    std::vector<Completion> completions;
  };
  struct Barrier {
    checks::Clocks arriving, complete;
    uint64_t first = 0, last = 0;              ///< values before the first phase, after the last
    std::map<uint64_t, checks::Clocks> phases; ///< named and cluster barriers
    bool initialised = false;
    bool visible = false; ///< to the async proxy
    checks::Entry init;
  };
  struct Flag { ///< what a release at an address carries
    Scope scope;
    WarpRef at;
    checks::Clocks known;
  };
  struct Block {
    WarpRef at;
    std::vector<WarpState> warps;
    checks::Shadow shared, tensor;
    std::map<uint64_t, Barrier> mbarriers;
    Barrier named[16];
    std::vector<uint64_t> invisible; ///< mbarriers that no fence has made visible
    bool ended = false;
  };
  /// What the agent of an access knows.
  struct View {
    const checks::Clocks &known;
    const checks::Clock &tensor;
    Memo &memo;
  };

  WarpState *warp(const WarpRef &at);
  /// The lanes, split from others so that they can learn something alone.
  template <class F> void each(WarpState &w, uint32_t lanes, F f);
  Lanes *of(WarpState &w, unsigned lane);
  uint64_t ownKey(const WarpRef &at) const {
    return checks::component(at.ctaId, checks::Part::Threads, at.warp);
  }
  void publish(const WarpRef &at, WarpState &w, uint32_t lanes, checks::Clocks &into);
  void acquire(WarpState &w, uint32_t lanes, const checks::Clocks &from);
  void merge(const WarpRef &at, WarpState &w, uint32_t lanes);
  void mbarrier(const SyncEvent &e, WarpState *w);
  void flags(const AccessEvent &e, WarpState &w);
  /// Keeps what `from` brought for a later fence.
  static void see(Lanes &g, const Seen &from);
  /// A release did not reach a read: kept to explain the race that follows.
  void refuse(const WarpRef &release, const WarpRef &read) {
    refused[{release.ctaId, read.ctaId}] = {release.line, read.line};
  }
  Verdict order(const checks::Entry &before, const checks::Entry &now, const View &view,
                Space space, uint64_t owner);
  bool completionKnown(const checks::Entry &e, const checks::Clock &clock, uint64_t owner);
  void touch(checks::Shadow &shadow, const AccessEvent &e, uint64_t address, uint64_t owner,
             const checks::Entry &entry, const View &view);
  void reportRace(const AccessEvent &e, const checks::Entry &before, const checks::Entry &now,
                  Verdict v, uint64_t address, uint64_t owner, bool mbarrier = false);
  void makeVisible(const FenceEvent &e);
  void checkVisible(const SyncEvent &e, Barrier &b, Operation &op);
  std::string describe(const checks::Entry &e, const char *what = nullptr);

  /// What a device's next launch knows from the start: all that blocks which have ended did and
  /// knew. By device.
  struct Order {
    uint64_t launch = 0;
    checks::Clocks ended, atStart;
  };
  std::map<int, Order> devices;
  std::map<uint64_t, Block> blocks; ///< by ctaId
  Block *lastBlock = nullptr;
  std::unordered_map<uint64_t, Operation> operations;
  std::map<uint64_t, Barrier> clusters;                    ///< by clusterId
  std::unordered_map<uint64_t, std::vector<Flag>> flagged; ///< by address
  checks::Shadow global;
  std::map<std::pair<uint64_t, uint64_t>, std::pair<uint32_t, uint32_t>> refused;
  std::set<std::pair<uint32_t, uint32_t>> reported;
  uint64_t launch = 0;
  bool nameDevices = false; ///< the two sides of a race are on different devices
  unsigned live = 0, maxFindings, found = 0;
};

template <class F> void RaceDetector::each(WarpState &w, uint32_t lanes, F f) {
  for (size_t n = 0, end = w.lanes.size(); n < end; ++n) {
    uint32_t both = w.lanes[n].mask & lanes;
    if (!both)
      continue;
    if (both == w.lanes[n].mask) {
      f(w.lanes[n]);
      continue;
    }
    Lanes part = w.lanes[n];
    part.mask = both;
    w.lanes[n].mask &= ~both;
    f(part);
    w.lanes.push_back(std::move(part));
  }
}

} // namespace heddle::emulator

#endif // HEDDLE_EMULATOR_CHECKS_RACEDETECTOR_H
