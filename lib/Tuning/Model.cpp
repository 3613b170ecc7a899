//===- Model.cpp - predicted time of a schedule ---------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Goes in: a legal schedule, the problem, the chip. Comes out: microseconds and what
// bounds them. The time is that of the multiprocessor with the most tiles: main loops
// at the rate of the slowest of tensor cores, shared memory, L2 and copy latency, plus
// the part of each epilogue that nothing hides; or that of the device memory, if more.
// It ranks schedules of one problem on one chip; it does not know other kernels on the
// device, what a cluster waits for its slowest CTA, or bank conflicts.
//
//===----------------------------------------------------------------------===//
#include "Internal.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace heddle::tuning {
using target::Chip;
using target::CopyEngine;
using target::MmaFamily;
using target::Target;

constexpr double sharedRate = 128; // bytes a clock: 32 banks of 4
// Part of the datasheet's tensor rate that the power budget sustains: bf16 products of
// random data on an H200 reach 805 to 832 of 989 Tflop/s however long they run.
constexpr double sustained = 0.87;
constexpr double memoryEfficiency = 0.92;
constexpr double copyLatency = 1000; // clocks from asking to having, under load
constexpr double launchMicroseconds = 2;
constexpr double l2Usable = 0.6; // of the L2, for reuse across waves

GemmProblem assumeSizes(const GemmProblem &p) {
  GemmProblem out = p;
  for (int64_t *size : {&out.m, &out.n, &out.k})
    if (*size <= 0)
      *size = 4096;
  out.batch = std::max<int64_t>(1, out.batch);
  return out;
}

namespace {

/// The tiles of a problem and how they fall on the multiprocessors.
struct Tiles {
  int64_t m, n, all, kSteps;
  int64_t sms;      ///< multiprocessors that work
  int64_t resident; ///< CTAs that share a multiprocessor
  int64_t rounds;   ///< tiles, or parts of them, of the busiest CTA
  double filled;    ///< part of the slots of all rounds that have a tile
  double useful;    ///< part of the tiles' area that is inside the result
};

/// Clocks, of one K step or one epilogue, and what takes them.
struct Cost {
  double clocks;
  const char *bound;
};

} // namespace

/// Tiles of rows that groups have whose sizes lie evenly between 0.7 and 1.3 of what is expected.
static int64_t groupTiles(int64_t rows, int64_t tile, int64_t groups) {
  constexpr int samples = 25;
  int64_t tiles = 0;
  for (int i = 0; i < samples; ++i)
    tiles += ceilDiv(int64_t(double(rows) * (0.7 + 0.6 * i / (samples - 1))), tile);
  return std::max(groups, ceilDiv(tiles * groups, samples));
}

static Tiles cut(const Schedule &s, const GemmProblem &p, const Chip &c) {
  Tiles t;
  // A cluster takes a whole block of tiles; some of the last ones are empty.
  t.m = ceilDiv(p.m, s.tileM * s.clusterM) * s.clusterM;
  t.n = ceilDiv(p.n, s.tileN * s.clusterN) * s.clusterN;
  t.all = t.m * t.n * p.batch * s.splitK;
  // Groups of rows, not of K, whose operands have K first.
  if (p.groups && p.aKMajor)
    t.all = groupTiles(p.m, s.tileM * s.clusterM, p.batch) * s.clusterM * t.n;
  t.kSteps = ceilDiv(ceilDiv(p.k, s.tileK), s.splitK);
  t.sms = c.sms;
  for (const int cap : {s.sms, p.sms})
    if (cap > 0)
      t.sms = std::min<int64_t>(t.sms, cap);
  t.resident = std::min<int64_t>(s.ctasPerSM, ceilDiv(t.all, t.sms));
  // One cluster at least, as at launch.
  const int64_t slots =
      std::max<int64_t>(1, t.sms * t.resident / s.clusterSize()) * s.clusterSize();
  t.rounds = ceilDiv(t.all, slots);
  t.filled = double(t.all) / double(t.rounds * slots);
  t.useful = double(p.m) * double(p.n) * double(p.batch * s.splitK) /
             (double(t.all) * double(s.tileM * s.tileN));
  return t;
}

/// Dense operations a clock and multiprocessor for the operands' type. The datasheet
/// rate decides: some chips are held below what their multiprocessors could do.
static double opsPerClock(const GemmProblem &p, const Chip &c) {
  const double sixteenBit = c.tensorTflops16 * 1e12 / (double(c.sms) * c.boostMHz * 1e6);
  return sixteenBit * 16 / target::dtypeBits(p.a);
}

/// Bytes that the tensor cores (or the warps, for mma.sync) read from shared memory
/// for a K step.
static double operandReads(const Schedule &s, const Target &t) {
  switch (t.mma) {
  case MmaFamily::MmaSync: {
    const WarpGrid grid = warpGrid(s, t.mma);
    return double(s.tileM * grid.n + s.tileN * grid.m) * panelBytes;
  }
  case MmaFamily::Wgmma: // each instruction reads its 64 rows of A and all of B
    return double(s.tileM / 64 * (64 + s.tileN)) * panelBytes;
  case MmaFamily::Tcgen05:
    return double(s.tileM + s.tileN) * panelBytes;
  }
  return 0;
}

/// Clocks that the load warps need for a K step on their own.
static double loadClocks(const Schedule &s, const GemmProblem &p) {
  const double bytes = double(s.tileM + s.tileN) * panelBytes;
  const double threads = 32.0 * s.loadWarps;
  switch (s.copy) {
  case CopyEngine::Bulk:
    return 0;
  case CopyEngine::Async: // about 8 instructions for 16 bytes
    return bytes / 16 / threads * 8;
  case CopyEngine::Threads: // 8 loads in flight a thread, 600 clocks each
    return bytes / double(bytesOf(p.a)) / threads * (600.0 / 8);
  }
  return 0;
}

/// What mma.sync loses to its warps' loads of fragments, which its tensor core waits
/// for unless another warp of the same quarter of the multiprocessor has work.
static double fragmentStalls(const Schedule &s, const Target &t, int64_t resident) {
  if (t.mma != MmaFamily::MmaSync)
    return 1;
  const WarpGrid grid = warpGrid(s, t.mma);
  const double rows = double(s.tileM) / grid.m, columns = double(s.tileN) / grid.n;
  const double warpsAQuarter = std::max(1.0, double(s.mmaWarps * resident) / 4);
  return 1 + 4 * (rows + columns) / (rows * columns) / warpsAQuarter;
}

/// Clocks of a K step in which a lone warpgroup adds up partial sums and nothing is multiplied:
/// an addition an element and clock and quarter of the multiprocessor, and the wait before it.
static double exposedPromotion(const Schedule &s, const GemmProblem &p, const Target &t,
                               int64_t resident) {
  constexpr double waitClocks = 120; // estimate
  if (t.mma != MmaFamily::Wgmma || !promotes(p, t) || s.mmaWarps / 4 * resident > 1)
    return 0;
  return double(s.tileM * s.tileN) / 128 + waitClocks;
}

/// Limits that overlap: the larger, somewhat more where they are near each other (with
/// two equal ones 9 % for sharpness 8, 4 % for 16).
static double together(double x, double y, double sharpness = 8) {
  return std::pow(std::pow(x, sharpness) + std::pow(y, sharpness), 1 / sharpness);
}

/// One K step of the CTAs that share a multiprocessor.
static Cost stepCost(const Schedule &s, const GemmProblem &p, const Target &t, const Chip &c,
                     int64_t resident) {
  const double slot = double(s.tileM + s.tileN) * panelBytes;
  // CTAs along N share tiles of A, those along M tiles of B.
  const double fromL2 =
      (double(s.tileM) / s.clusterN + double(s.tileN) / s.clusterM) * panelBytes;
  const double work = 2.0 * double(s.tileM) * double(s.tileN) * double(s.tileK);
  const double shared = double(resident);
  const std::array<Cost, 5> costs = {{
      {shared * work / opsPerClock(p, c) * fragmentStalls(s, t, resident) +
           exposedPromotion(s, p, t, resident),
       "the tensor cores"},
      {shared * (slot + operandReads(s, t)) / sharedRate, "shared memory"},
      {shared * fromL2 / t.l2BytesPerClock, "L2"},
      {copyLatency / s.stages, "copy latency"},
      {loadClocks(s, p), "the load warps"},
  }};
  const Cost worst = *std::max_element(
      costs.begin(), costs.end(), [](const Cost &x, const Cost &y) { return x.clocks < y.clocks; });
  double clocks = 0;
  for (const Cost &cost : costs)
    clocks = together(clocks, cost.clocks, 16);
  // With few slots every irregularity of the copies reaches the tensor cores.
  return {clocks * (1 + 0.02 * std::max(0, 4 - s.stages)), worst.bound};
}

/// Clocks from the last product of a tile to its result having left the CTA's way.
static double epilogueClocks(const Schedule &s, const GemmProblem &p, const Target &t) {
  const double elements = double(s.tileM) * double(s.tileN);
  const double bytes = elements * double(bytesOf(p.out));
  double clocks = elements * p.epilogueReadBytes / 16;
  if (s.store == StorePath::Direct) {
    // 4 lanes store a segment of 2 elements each: 8 bytes a clock seen with bf16 on an
    // H200. From tensor memory a thread has a row and stores 16 bytes at once.
    // With swap 8 lanes store one of an element each, from tensor memory 32.
    const double segments = t.mma == MmaFamily::Tcgen05 ? 16 / double(bytesOf(p.out)) : 4;
    const double rate = (s.swap ? segments / 2 : segments) * double(bytesOf(p.out));
    return clocks + bytes / rate;
  }
  const int64_t parts = s.tileN / stagingColumns(s, p);
  // With a slot a part nothing waits for global memory, else for a slot to be read.
  const double rate = s.storeStages >= parts ? 64 : s.storeStages >= 2 ? 28 : 16;
  return clocks + bytes / rate + 300;
}

/// Clocks that a CTA takes to write its part of a tile and to learn whether it is the last, and
/// the last one to read and add all parts: round trips to the L2, and its width.
struct CombineCost {
  double part, sum;
};
static CombineCost combineClocks(const Schedule &s) {
  constexpr double l2Latency = 700, l2Rate = 32; // bytes a clock and multiprocessor; estimates
  if (s.splitK == 1)
    return {0, 0};
  const double bytes = double(s.tileM * s.tileN) * 4;
  const double trips = double(ceilDiv(s.splitK * s.tileM * s.tileN / (32 * s.mmaWarps), 64));
  return {bytes / l2Rate + 2 * l2Latency,
          double(s.splitK) * bytes / (2 * l2Rate) + l2Latency * std::max(1.0, trips / 2)};
}

/// Rows of A and of B that the tiles in flight need.
static int64_t waveRows(const Schedule &s, const Tiles &tiles, int64_t raster, int64_t wave,
                        int64_t &rowsOfA) {
  const int64_t bandM = std::min<int64_t>(raster, tiles.m);
  const int64_t bandN = std::min<int64_t>(ceilDiv(wave, bandM), tiles.n);
  const int64_t bands = std::min<int64_t>(ceilDiv(wave, bandM * bandN), ceilDiv(tiles.m, bandM));
  rowsOfA = std::min(bandM * bands, tiles.m) * s.tileM;
  return rowsOfA + bandN * s.tileN;
}

int bestRaster(const Schedule &s, const GemmProblem &problem, const Chip &c) {
  const GemmProblem p = tileView(s, assumeSizes(problem));
  const Tiles tiles = cut(s, p, c);
  const int64_t wave = std::min<int64_t>(tiles.m * tiles.n, tiles.sms * tiles.resident);
  int best = 1;
  int64_t rowsOfA, least = waveRows(s, tiles, 1, wave, rowsOfA);
  for (int raster : {2, 4, 8, 16})
    if (int64_t rows = waveRows(s, tiles, raster, wave, rowsOfA); rows < least)
      best = raster, least = rows;
  return best;
}

/// Bytes moved between device memory and L2.
static double memoryBytes(const Schedule &s, const GemmProblem &p, const Tiles &tiles,
                          const Chip &c) {
  const double rowBytes = double(p.k) * double(bytesOf(p.a));
  const double once = double(p.m + p.n) * rowBytes;
  const int64_t perMatrix = tiles.m * tiles.n;
  const int64_t wave = std::min<int64_t>(perMatrix, tiles.sms * tiles.resident);
  int64_t rowsOfA = 0;
  const int64_t rows = waveRows(s, tiles, s.raster, wave, rowsOfA);
  const double keep = l2Usable * c.l2Bytes;
  // All of B stays while A passes once; or a band of A stays while B passes once a
  // band; or every wave fetches what it needs.
  double reads = double(ceilDiv(perMatrix, wave)) * double(rows) * rowBytes;
  if (double(p.n + rowsOfA) * rowBytes <= keep)
    reads = once;
  else if (double(rows) * rowBytes <= keep)
    reads = std::min(reads,
                     (double(p.m) + double(p.n) * double(ceilDiv(tiles.m, s.raster))) * rowBytes);
  reads = std::max(reads, once);
  const double result = double(p.m) * double(p.n) * double(bytesOf(p.out) + p.epilogueReadBytes);
  return double(p.batch) * (reads + result);
}

Candidate estimate(const Schedule &s, const GemmProblem &problem, const Target &t, const Chip &c) {
  const GemmProblem p = tileView(s, assumeSizes(problem));
  const Tiles tiles = cut(s, p, c);
  const Cost step = stepCost(s, p, t, c, tiles.resident);
  const double mainLoop = double(tiles.kSteps) * step.clocks;
  // The last of the CTAs that share a tile finishes it.
  const CombineCost combine = combineClocks(s);
  const double perTile = (epilogueClocks(s, p, t) + combine.sum) * double(tiles.resident);
  const double share = double(ceilDiv(tiles.rounds, s.splitK)) / double(tiles.rounds);
  const double epilogue = perTile * share + combine.part * double(tiles.resident);

  // What a tile's epilogue adds: nothing while another accumulator takes the next
  // tile's products, part of it while another CTA does.
  double exposed = epilogue, last = 0;
  if (s.accStages > 1)
    exposed = std::max(0.0, epilogue - mainLoop), last = epilogue - exposed;
  else if (tiles.resident > 1)
    exposed = std::max(0.3 * epilogue, epilogue - mainLoop), last = epilogue - exposed;

  const double clocks = double(tiles.rounds) * (mainLoop + exposed) + last + 2 * copyLatency;
  const double tensorWork = 2.0 * double(tiles.all * s.tileM * s.tileN) *
                            double(tiles.kSteps * s.tileK) * target::dtypeBits(p.a) / 16;
  const double powered = tensorWork / (sustained * c.tensorTflops16 * 1e6);
  const double busy = together(clocks / c.boostMHz, powered);
  const double memory = memoryBytes(s, p, tiles, c) / (c.memoryGBps * memoryEfficiency * 1e3);
  const char *bound = step.bound;
  if (memory > busy)
    bound = "device memory";
  else if (powered > clocks / c.boostMHz)
    bound = "the tensor cores";
  else if (exposed > mainLoop)
    bound = "the epilogue";

  Candidate out;
  out.schedule = s;
  out.microseconds = launchMicroseconds + together(busy, memory);
  out.why = fmt::format("{} wave{}, {:.0f} % of the slots filled, {:.0f} % of the tiles useful; "
                        "bound by {}",
                        tiles.rounds, tiles.rounds == 1 ? "" : "s", 100 * tiles.filled,
                        100 * tiles.useful, bound);
  return out;
}

} // namespace heddle::tuning
