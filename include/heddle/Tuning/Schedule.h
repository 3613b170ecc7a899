//===- Schedule.h - how a kernel is cut up and who does what --------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The schedule record of a GEMM-like kernel, its legality rules (each with a
// name) and the analytical model that chooses one. Free of LLVM. Thread-safe.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TUNING_SCHEDULE_H
#define HEDDLE_TUNING_SCHEDULE_H

#include "heddle/Target/Target.h"
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::tuning {

/// How the result leaves the accumulators.
///   Direct  each thread stores its elements to global memory
///   Bulk    through shared memory, then a tensor copy (16-byte rules)
enum class StorePath { Direct, Bulk };

/// One complete choice. Zero in a register count means "do not use setmaxnreg".
struct Schedule {
  int64_t tileM = 128, tileN = 128, tileK = 64; ///< elements
  int stages = 4;                               ///< slots of the operand ring
  int loadWarps = 4;                            ///< warps of the load role
  int mmaWarps = 8;      ///< warps of the mma role (1 issuing warp on tcgen05)
  int epilogueWarps = 0; ///< own warps of the epilogue; 0: it runs in the mma warps
  int accStages = 1;     ///< accumulator slots (2 double-buffers tensor memory)
  int loadRegisters = 0, mmaRegisters = 0; ///< setmaxnreg values
  int raster = 8;                          ///< tiles of M walked before N advances; L2 reuse
  target::CopyEngine copy = target::CopyEngine::Bulk;
  StorePath store = StorePath::Direct;
  int storeStages = 0; ///< StorePath::Bulk: staging slots, see SharedLayout
  int ctasPerSM = 1;
  /// CTAs of a cluster along M and N. Those along M share tiles of B, those along N tiles
  /// of A: each reads its part, which is multicast to the others.
  int clusterM = 1, clusterN = 1;
  /// CTAs that share the K of a tile. Each adds up its part; the last to come adds the parts in
  /// the order of K and stores the result.
  int splitK = 1;
  /// 1: tileM counts rows of B and tileN rows of A, and the result is written transposed, so
  /// that few rows of A make a narrow tile.
  int swap = 0;
  int sms = 0; ///< the most multiprocessors that a launch uses; 0: all
  /// 1: a launch may begin while the one ahead of it in its stream ends, where the target has
  /// that; it touches no global memory before that one is over.
  int pdl = 1;
  int clusterSize() const { return clusterM * clusterN; }
  int threads() const { return 32 * (loadWarps + mmaWarps + epilogueWarps); }
  bool operator==(const Schedule &) const = default;
};

/// The problem a schedule is for. 0 = known only at run time (the model then assumes
/// 4096 for m, n and k, 1 for batch). F32 operands are multiplied as TF32.
struct GemmProblem {
  int64_t m = 0, n = 0, k = 0, batch = 1;
  target::DType a = target::DType::BF16, b = target::DType::BF16, out = target::DType::BF16;
  bool aKMajor = true, bKMajor = true;
  /// Whether rows of the operands / of the result are known to satisfy, known to
  /// violate, or may satisfy (checked at launch) the 16-byte rules of bulk copies.
  enum class Aligned { Yes, No, AtLaunch } loadAligned = Aligned::Yes, storeAligned = Aligned::Yes;
  bool gathers = false; ///< rows of A by a list, which threads read
  int64_t groups = 0; ///< with bounds on the device, whose table takes shared memory; `batch` too
  int epilogueReadBytes = 0; ///< bytes read per result element by the epilogue
  /// Rows of A (of B) by 128 of K that share a scale, which the main loop multiplies by: 1 or
  /// 128; 0: none.
  int scaleRowsA = 0, scaleRowsB = 0;
  /// Whether the distance in memory between scales of neighbouring rows is known.
  bool scalesNearA = true, scalesNearB = true;
  int sms = 0; ///< multiprocessors that launches may use; 0: all
  /// m and n, a and b and what goes with them have changed places (Schedule::swap).
  bool swapped = false;
};

/// The problem as the tiles of `s` see it: rows of A along tileM, rows of B along tileN.
GemmProblem tileView(const Schedule &s, const GemmProblem &p);

/// Why a schedule cannot be used. `name` is stable and short ("shared-memory"),
/// `detail` says limit, need and have.
struct Rejection {
  std::string name, detail;
};

/// Shared memory of one CTA, offsets and sizes in bytes:
///
///   0                header: barriers, the tensor-memory address (headerBytes)
///   aOffset          `stages` slots of A, aBytes each
///   bOffset          `stages` slots of B, bBytes each
///   stagingOffset    StorePath::Bulk: `storeStages` slots of tileM rows x 128 bytes; with swap
///                    of tileM columns by as many rows of the result as fill no more
///   total
///
/// A slot is cut along its contiguous dimension into panels of 128 bytes; a panel
/// is rows x 128 bytes, its 16-byte chunks exchanged by chunk ^ (row & 7). A legal
/// schedule's panels are multiples of 1024 bytes, hence all of them 1024-aligned.
///   K-major slot     tileK * size / 128 panels of tileM (or tileN) rows
///   MN-major slot    tileM (or tileN) * size / 128 panels of tileK rows
/// Either way a slot takes tileM (or tileN) * tileK * size bytes.
struct SharedLayout {
  int64_t aOffset = 0, aBytes = 0;
  int64_t bOffset = 0, bBytes = 0;
  int64_t stagingOffset = 0, stagingBytes = 0; ///< stagingBytes: of one slot
  int64_t total = 0; ///< with the table of groups
};
inline constexpr int64_t headerBytes = 1024;
inline constexpr int64_t panelBytes = 128;

/// The one place that lays shared memory out: the model, the checks and the
/// compiler's allocator use it.
SharedLayout sharedLayout(const Schedule &s, const GemmProblem &p);

/// Shared memory in bytes that `s` takes on `t`, barriers included.
int64_t sharedBytes(const Schedule &s, const GemmProblem &p, const target::Target &t);

/// Whether the slots of A (or B) are K-major: those of K-major operands, and those
/// of operands of other than 16 bits that CopyEngine::Threads transposes, since the
/// tensor cores take only 16-bit operands MN-major.
bool slotKMajor(const Schedule &s, const GemmProblem &p, bool isA);

/// How the mma warps divide a tile: m x n parts, each of tileM/m x tileN/n elements,
/// warp i having part (i / n, i % n). wgmma counts in warpgroups (n is 1), tcgen05
/// is 1 x 1. {0, 0} when the tile cannot be divided.
struct WarpGrid {
  int m = 0, n = 0;
};
WarpGrid warpGrid(const Schedule &s, target::MmaFamily family);

/// Columns of tensor memory to allocate: a power of two, at least 32.
int64_t tensorMemoryColumns(const Schedule &s);

/// Registers a thread has at launch when as many are given as fit: a multiple of 8,
/// at most 255. Register allocation rounds warps up to a multiple of 4.
int launchRegisters(const Schedule &s, const target::Target &t);

/// An estimate of the registers that a thread of the mma role needs.
int mmaRegistersNeeded(const Schedule &s, const GemmProblem &p, const target::Target &t);

/// The names that `check` uses, in the order in which it checks; before them "chip",
/// which `choose` uses for a chip of another target.
std::span<const std::string_view> rejectionNames();

/// nullopt when legal.
std::optional<Rejection> check(const Schedule &s, const GemmProblem &p, const target::Target &t);

/// A ranked candidate.
struct Candidate {
  Schedule schedule;
  double microseconds = 0; ///< predicted
  std::string why;         ///< e.g. "2 waves, 97 % full; bound by the tensor cores"
};

/// Every legal schedule, best first; `rejected`, when given, gets the others.
std::vector<Candidate> enumerate(const GemmProblem &p, const target::Target &t,
                                 const target::Chip &c,
                                 std::vector<std::pair<Schedule, Rejection>> *rejected = nullptr);

/// The best schedule, or nullopt with `error` filled.
std::optional<Candidate> choose(const GemmProblem &p, const target::Target &t,
                                const target::Chip &c, Rejection *error = nullptr);

/// Whether two schedules need the same registers a thread, so that ptxas spills both or none: they
/// differ at most in how deep rings are and in the order of tiles.
bool sameRegisters(const Schedule &a, const Schedule &b);

/// "tile=128x256x64,stages=4,..." and back; the keys are the fields' names in snake
/// case, tile_m, tile_n and tile_k go besides tile. cluster_m, cluster_n, split_k, swap, sms and
/// pdl are written only when they are not what Schedule() has. `parse` starts from `base`, so a user may
/// name only what differs; on failure nullopt and `error` names the key, what was
/// expected and what was found.
std::string toString(const Schedule &s);
std::optional<Schedule> parse(std::string_view text, const Schedule &base, std::string *error);

} // namespace heddle::tuning

#endif // HEDDLE_TUNING_SCHEDULE_H
