//===- Candidates.cpp - the schedules worth considering -------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One generator a family of tensor-core instructions lists shapes and roles; what a
// shape fixes (stages, registers, raster) is filled in here. `check` decides what is
// legal, the model ranks the rest.
//
//===----------------------------------------------------------------------===//
#include "Internal.h"
#include <algorithm>
#include <fmt/format.h>

namespace heddle::tuning {
using target::Chip;
using target::CopyEngine;
using target::Feature;
using target::MmaFamily;
using target::Target;

constexpr int64_t mostStages = 8;

/// As many stages as fit, no more than there are K steps; 2 at least, for `check` to
/// reject when they do not fit.
static int stagesThatFit(Schedule s, const GemmProblem &p, const Target &t) {
  s.stages = 0;
  const SharedLayout layout = sharedLayout(s, p);
  const int64_t room = std::min<int64_t>(
      t.sharedPerBlock, t.sharedPerSM / s.ctasPerSM - static_cast<int64_t>(t.sharedReserved));
  int64_t stages = (room - layout.total) / (layout.aBytes + layout.bBytes);
  if (p.k > 0)
    stages = std::min(stages, ceilDiv(ceilDiv(p.k, s.tileK), s.splitK));
  return static_cast<int>(std::clamp<int64_t>(stages, 2, mostStages));
}

/// Moves registers from the load to the mma warps where these need more than all get
/// at launch, or, with wgmma, where two warpgroups leave the least room.
static void shareRegisters(Schedule &s, const GemmProblem &p, const Target &t) {
  const int64_t launch = roundDown(launchRegisters(s, t), 8);
  const int load = s.loadWarps / 4, mma = s.mmaWarps / 4;
  const bool wanted =
      mmaRegistersNeeded(s, p, t) > launch || (t.mma == MmaFamily::Wgmma && mma > 1);
  if (!wanted || !t.has(Feature::SetMaxNReg) || s.loadWarps % 4 || s.mmaWarps % 4 ||
      s.ctasPerSM > 1)
    return;
  // Copies issued by every thread need addresses and values in flight.
  s.loadRegisters = s.copy == CopyEngine::Bulk && !p.gathers ? 40 : 56;
  const int64_t rest = launch * (load + mma) - int64_t(s.loadRegisters) * load;
  s.mmaRegisters = static_cast<int>(std::min<int64_t>(240, roundDown(rest / mma, 8)));
}

namespace {

/// Collects the candidates of one problem.
class Generator {
public:
  Generator(const GemmProblem &p, const Target &t, const Chip &c) : p(p), t(t), c(c) {}

  std::vector<Schedule> all() {
    list();
    // Few rows of A make a narrow tile when they are its columns.
    if (assumeSizes(p).m <= mostNarrow && !p.groups && !p.gathers) {
      swap = 1;
      list();
    }
    return std::move(out);
  }

private:
  /// The most rows of A that are worth being columns of tiles.
  static constexpr int64_t mostNarrow = 64;

  struct Loader {
    CopyEngine copy;
    int warps;
  };

  void list() {
    switch (t.mma) {
    case MmaFamily::MmaSync:
      mmaSync();
      break;
    case MmaFamily::Wgmma:
      wgmma();
      break;
    case MmaFamily::Tcgen05:
      tcgen05();
      break;
    }
  }

  /// Widths of tiles in steps of 64, or of `unit`; with swap those that few rows of A fill.
  std::vector<int64_t> widths(int64_t unit) const {
    std::vector<int64_t> all;
    if (!swap) {
      for (int64_t width = unit; width <= 256; width += unit)
        all.push_back(width);
      return all;
    }
    const int64_t least = t.mma == MmaFamily::Tcgen05 ? 16 : 8;
    const int64_t needed = std::min<int64_t>(roundUp(p.m, least), 256);
    all.push_back(needed);
    if (const int64_t half = roundUp(needed / 2, least); half < needed)
      all.push_back(half);
    return all;
  }

  void mmaSync() {
    const CopyEngine fast = t.has(Feature::BulkTensorCopy) ? CopyEngine::Bulk : CopyEngine::Async;
    // A single load warp will do for bulk copies; whole warpgroups can give registers.
    // More than four warps that load element by element would leave 128 registers a thread,
    // too few for them and the mma warps alike: ptxas spills.
    for (Loader load : {Loader{fast, fast == CopyEngine::Bulk ? 1 : 4}, Loader{fast, 4},
                        Loader{CopyEngine::Threads, 4}})
      for (int64_t tileM : {64, 128})
        for (int64_t tileN : widths(64))
          for (int mmaWarps : {4, 8})
            for (int ctas : {1, 2})
              add(tileM, tileN, load, mmaWarps, 0, 1, ctas);
  }

  void wgmma() {
    struct Rows {
      int64_t tileM;
      int mmaWarps;
    };
    for (Loader load : {Loader{CopyEngine::Bulk, 4}, Loader{CopyEngine::Threads, 4}})
      for (Rows rows : {Rows{64, 4}, Rows{128, 8}, Rows{256, 8}})
        for (int64_t tileN : widths(16))
          add(rows.tileM, tileN, load, rows.mmaWarps, 0, 1, 1);
  }

  void tcgen05() {
    // One thread issues copies and one issues products; 2 warps each bring the
    // epilogue to a whole warpgroup.
    struct Roles {
      Loader load;
      int mmaWarps;
    };
    const Roles bulk = p.gathers ? Roles{{CopyEngine::Bulk, 4}, 4} : Roles{{CopyEngine::Bulk, 2}, 2};
    for (Roles roles : {bulk, Roles{{CopyEngine::Threads, 4}, 4}})
      for (int64_t tileN : widths(32))
        add(128, tileN, roles.load, roles.mmaWarps, 4, 2, 1);
  }

  /// Adds one shape with each way to store.
  void add(int64_t tileM, int64_t tileN, Loader load, int mmaWarps, int epilogueWarps,
           int accStages, int ctas) {
    Schedule s;
    s.tileM = tileM, s.tileN = tileN, s.tileK = panelBytes / bytesOf(p.a);
    s.copy = load.copy, s.loadWarps = load.warps, s.mmaWarps = mmaWarps;
    s.epilogueWarps = epilogueWarps, s.accStages = accStages, s.ctasPerSM = ctas;
    s.store = StorePath::Direct, s.storeStages = 0;
    s.swap = swap, s.sms = p.sms;
    finish(s);
    for (int parts : splits(s)) {
      s.splitK = parts;
      finish(s);
    }
    s.splitK = 1;
    if (!t.has(Feature::BulkTensorCopy))
      return;
    s.store = StorePath::Bulk;
    const int parts = static_cast<int>(ceilDiv(tileN, stagingColumns(s, p)));
    for (int slots : {2, parts}) {
      s.storeStages = slots;
      if (slots == 2 || slots == std::clamp(slots, 3, 8))
        finish(s);
    }
  }

  /// Into how many parts K is worth being split: where tiles leave multiprocessors without work.
  std::vector<int> splits(const Schedule &s) const {
    const GemmProblem view = tileView(s, assumeSizes(p));
    const int64_t tiles = ceilDiv(view.m, s.tileM) * ceilDiv(view.n, s.tileN) * view.batch;
    int64_t slots = c.sms;
    if (p.sms > 0)
      slots = std::min<int64_t>(slots, p.sms);
    slots *= s.ctasPerSM;
    std::vector<int> parts;
    // The run-time K of a later launch may be too short.
    const int64_t most = std::min<int64_t>(16, p.k / s.tileK / 2);
    if (p.k <= 0 || p.groups || tiles >= slots || s.copy == CopyEngine::Threads)
      return parts;
    for (int64_t n : {slots / tiles, 2 * slots / tiles, int64_t(2), int64_t(3), int64_t(4)})
      if (n >= 2 && n <= most && tiles * n <= 3 * slots &&
          std::find(parts.begin(), parts.end(), n) == parts.end())
        parts.push_back(static_cast<int>(n));
    return parts;
  }

  void finish(Schedule s) {
    s.stages = stagesThatFit(s, p, t);
    shareRegisters(s, p, t);
    s.raster = bestRaster(s, p, c);
    if (std::find(out.begin(), out.end(), s) == out.end())
      out.push_back(s);
  }

  const GemmProblem &p;
  const Target &t;
  const Chip &c;
  int swap = 0; ///< of the schedules being listed
  std::vector<Schedule> out;
};

} // namespace

std::vector<Candidate> enumerate(const GemmProblem &p, const Target &t, const Chip &c,
                                 std::vector<std::pair<Schedule, Rejection>> *rejected) {
  const Target limits = target::limitsOn(t, c);
  std::vector<Candidate> legal;
  for (const Schedule &s : Generator(p, limits, c).all()) {
    if (std::optional<Rejection> why = check(s, p, limits)) {
      if (rejected)
        rejected->emplace_back(s, std::move(*why));
      continue;
    }
    // Kept sorted; of equals the first listed stays first.
    Candidate candidate = estimate(s, p, limits, c);
    auto place = std::upper_bound(
        legal.begin(), legal.end(), candidate,
        [](const Candidate &x, const Candidate &y) { return x.microseconds < y.microseconds; });
    legal.insert(place, std::move(candidate));
  }
  return legal;
}

bool sameRegisters(const Schedule &a, const Schedule &b) {
  Schedule other = b;
  other.stages = a.stages, other.storeStages = a.storeStages, other.accStages = a.accStages;
  if (a.splitK > 1 && other.splitK > 1)
    other.splitK = a.splitK;
  other.raster = a.raster, other.sms = a.sms, other.pdl = a.pdl;
  return a == other;
}

/// The rejection that came closest to being legal: of the rule checked last.
static Rejection closest(const std::vector<std::pair<Schedule, Rejection>> &rejected) {
  const auto order = rejectionNames();
  auto rank = [&](const std::pair<Schedule, Rejection> &r) {
    return std::find(order.begin(), order.end(), r.second.name) - order.begin();
  };
  return std::max_element(rejected.begin(), rejected.end(),
                          [&](const auto &x, const auto &y) { return rank(x) < rank(y); })
      ->second;
}

std::optional<Candidate> choose(const GemmProblem &p, const Target &t, const Chip &c,
                                Rejection *error) {
  if (c.target != t.name) {
    if (error)
      *error = {"chip", fmt::format("expected a chip of {}, got {}, which runs {}", t.name, c.name,
                                    c.target)};
    return std::nullopt;
  }
  std::vector<std::pair<Schedule, Rejection>> rejected;
  std::vector<Candidate> legal = enumerate(p, t, c, &rejected);
  if (!legal.empty())
    return legal.front();
  if (error)
    *error = closest(rejected);
  return std::nullopt;
}

} // namespace heddle::tuning
