//===- Layout.cpp - what a schedule takes of a multiprocessor -------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Internal.h"
#include <algorithm>
#include <bit>
#include <numeric>

namespace heddle::tuning {
using target::DType;
using target::MmaFamily;

DType multipliedAs(DType type) { return type == DType::F32 ? DType::TF32 : type; }

GemmProblem tileView(const Schedule &s, const GemmProblem &p) {
  if (p.swapped == (s.swap != 0))
    return p;
  GemmProblem view = p;
  std::swap(view.m, view.n), std::swap(view.a, view.b);
  std::swap(view.aKMajor, view.bKMajor);
  std::swap(view.scaleRowsA, view.scaleRowsB), std::swap(view.scalesNearA, view.scalesNearB);
  view.swapped = !p.swapped;
  return view;
}

SharedLayout sharedLayout(const Schedule &s, const GemmProblem &problem) {
  const GemmProblem p = tileView(s, problem);
  SharedLayout layout;
  layout.aBytes = s.tileM * s.tileK * bytesOf(p.a);
  layout.bBytes = s.tileN * s.tileK * bytesOf(p.b);
  layout.aOffset = headerBytes;
  layout.bOffset = layout.aOffset + s.stages * layout.aBytes;
  layout.stagingOffset = layout.bOffset + s.stages * layout.bBytes;
  layout.stagingBytes = s.store == StorePath::Bulk ? s.tileM * stagingColumns(s, p) * bytesOf(p.out) : 0;
  layout.total = layout.stagingOffset + s.storeStages * layout.stagingBytes;
  layout.total += roundUp((3 * p.groups + (p.groups ? 1 : 0)) * 4, 16); // the table of groups
  return layout;
}

int64_t sharedBytes(const Schedule &s, const GemmProblem &p, const target::Target &) {
  return sharedLayout(s, p).total;
}

bool slotKMajor(const Schedule &s, const GemmProblem &problem, bool isA) {
  const GemmProblem p = tileView(s, problem);
  const bool kMajor = isA ? p.aKMajor : p.bKMajor;
  const bool transposed =
      s.copy == target::CopyEngine::Threads && target::dtypeBits(isA ? p.a : p.b) != 16;
  return kMajor || transposed;
}

/// The division of a tile among warps that needs the fewest operand fragments; the
/// warps' parts are multiples of 16 x 8, of 16 x 16 where that divides.
static WarpGrid fragmentGrid(const Schedule &s) {
  WarpGrid best;
  int64_t bestCost = 0;
  for (int m = 1; m <= s.mmaWarps; ++m) {
    const int n = s.mmaWarps / m;
    if (m * n != s.mmaWarps || s.tileM % (16 * m) != 0 || s.tileN % (8 * n) != 0)
      continue;
    const int64_t rows = s.tileM / m, columns = s.tileN / n;
    const int64_t cost = rows + columns + (columns % 16 != 0 ? s.tileM + s.tileN : 0);
    if (best.m == 0 || cost < bestCost)
      best = {m, n}, bestCost = cost;
  }
  return best;
}

WarpGrid warpGrid(const Schedule &s, MmaFamily family) {
  if (s.mmaWarps < 1 || s.tileM < 1 || s.tileN < 1)
    return {};
  switch (family) {
  case MmaFamily::MmaSync:
    return fragmentGrid(s);
  case MmaFamily::Wgmma: {
    const int groups = s.mmaWarps / 4;
    if (s.mmaWarps % 4 != 0 || s.tileM % (64 * groups) != 0)
      return {};
    return {groups, 1};
  }
  case MmaFamily::Tcgen05:
    return {1, 1};
  }
  return {};
}

int64_t tensorMemoryColumns(const Schedule &s) {
  const int64_t columns = std::max<int64_t>(32, s.accStages * s.tileN);
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(columns)));
}

int launchRegisters(const Schedule &s, const target::Target &t) {
  // ptxas gives 168 registers for 288 threads as for 384, and 255 for 256 threads.
  const int64_t warps =
      std::max<int64_t>(4, roundUp(s.threads() / 32, 4)) * std::max(1, s.ctasPerSM);
  const int64_t registers = roundDown(t.registersPerSM / (32 * warps), 8);
  return static_cast<int>(std::min<int64_t>(registers, t.maxRegistersPerThread));
}

bool promotes(const GemmProblem &p, const target::Target &t) {
  return target::dtypeBits(p.a) == 8 &&
         (p.scaleRowsA != 0 || t.has(target::Feature::ShortFp8Sums));
}

/// Registers for scales that the main loop multiplies by, when a thread has `rows` rows and
/// `columns` columns, in a part `width` columns wide. Neighbours a constant distance apart share
/// an address; others take one each. Products of the scales of `productRows` rows take their
/// place where there are few.
static int64_t scaleRegisters(const Schedule &s, const GemmProblem &p, int64_t rows,
                              int64_t columns, int64_t width, int64_t productRows) {
  if (p.scaleRowsA == 0)
    return 0;
  const int64_t unit = std::gcd(std::gcd<int64_t>(p.scaleRowsB, s.tileN), width);
  const int64_t parts = unit < 8 ? columns : width / unit;
  const int64_t products = unit < 8 ? 0 : productRows * parts;
  const int64_t eachRow = p.scalesNearA ? 1 : 3, eachColumn = p.scalesNearB ? 1 : 3;
  const int64_t addresses = 2;
  const int64_t loaded =
      eachRow * rows + (unit < 8 ? eachColumn : parts > 1 ? 3 : 1) * parts + addresses;
  return std::max(loaded, products + addresses);
}

/// Addresses, descriptors, loop state and the conversion of one part of the result:
/// ptxas fits 128 accumulators and a plain epilogue into 154 registers, and 192 into
/// 232 without spilling.
constexpr int wgmmaOverhead = 32;
/// Where sums are promoted, each multiplication is waited for: ptxas fits 96 accumulators, 96
/// partial sums and the scales of 3 blocks of columns into 232 registers, 64 and 64 into 160.
constexpr int wgmmaPromotedOverhead = 26;
constexpr int fragmentOverhead = 48; // the same for mma.sync, without its fragments
/// mma.sync, addresses of MN-major fragments: ptxas spills 96 accumulators and run-time
/// strides at 168 registers.
constexpr int transposedOverhead = 16;
constexpr int issueOverhead = 40;        // tcgen05: the mma role only issues
constexpr int tensorMemoryOverhead = 96; // its epilogue: 64 columns at a time, addresses
constexpr int instructionOverhead = 26;
/// wgmma, an epilogue that reads other tensors at each element: ptxas spills 128
/// accumulators, a residual and run-time strides at 200 registers, and not at 224.
constexpr int readingOverhead = 56;
/// The same for mma.sync: 139 registers for 64 accumulators and 224 for 128.
constexpr int fragmentReadingOverhead = 24;

int mmaRegistersNeeded(const Schedule &s, const GemmProblem &problem, const target::Target &t) {
  const GemmProblem p = tileView(s, problem);
  const WarpGrid grid = warpGrid(s, t.mma);
  if (t.mma == MmaFamily::Tcgen05 || grid.m == 0)
    return issueOverhead;
  const int64_t rows = s.tileM / grid.m, columns = s.tileN / grid.n;
  // Parts of a tile on their way while they are added: ptxas spills 128 elements a thread at 232
  // registers and 64 at 168.
  const int64_t parts = s.splitK > 1 ? rows * columns / (t.mma == MmaFamily::Wgmma ? 128 : 32) : 0;
  if (t.mma == MmaFamily::Wgmma) {
    // Partial sums of 64 rows beside the accumulators.
    const int64_t partial = promotes(p, t) ? 64 * columns / 128 : 0;
    const int epilogue = p.epilogueReadBytes ? readingOverhead : 0;
    const int64_t scales =
        scaleRegisters(s, p, rows / 32, columns / 4, columns, /*productRows=*/rows / 32);
    const int overhead = partial ? wgmmaPromotedOverhead : wgmmaOverhead;
    return static_cast<int>(rows * columns / 128 + std::max(partial, parts) + overhead + epilogue +
                            scales);
  }
  // A K step of 32 bytes: 4 registers for 16 rows of A, 2 for 8 columns of B.
  // Where sums are promoted: 4 steps of B, 16 rows of A and of partial sums.
  const int64_t fragments =
      promotes(p, t) ? columns / 8 * (4 * 2 + 4) + 4 : rows / 16 * 4 + columns / 8 * 2;
  const int epilogue = p.epilogueReadBytes ? fragmentReadingOverhead : 0;
  const int transposed = slotKMajor(s, p, true) && slotKMajor(s, p, false) ? 0 : transposedOverhead;
  return static_cast<int>(rows * columns / 32 + std::max(fragments, parts) + fragmentOverhead + epilogue +
                          transposed +
                          scaleRegisters(s, p, rows / 8, columns / 4, columns, /*productRows=*/2));
}

int launchRegistersNeeded(const Schedule &s, const GemmProblem &problem,
                          const target::Target &t) {
  const GemmProblem p = tileView(s, problem);
  switch (t.mma) {
  case MmaFamily::MmaSync:
    return fragmentOverhead;
  case MmaFamily::Wgmma:
    // m64n256 is refused by ptxas below a cap of 154 registers, setmaxnreg or not.
    return static_cast<int>(s.tileN / 2 + instructionOverhead);
  case MmaFamily::Tcgen05:
    // A thread adds up one row of the tile where sums are promoted; it has the scales of at
    // most 32 columns at a time.
    return static_cast<int>(tensorMemoryOverhead + (promotes(p, t) || s.splitK > 1 ? s.tileN : 0) +
                            (p.scaleRowsB == 1 ? 32 + 3 : scaleRegisters(s, p, 1, 0, s.tileN, 1)));
  }
  return 0;
}

} // namespace heddle::tuning
