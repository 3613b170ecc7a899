//===- Check.cpp - the legality rules of schedules ------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function a rule or group of rules, each returning the rejection's name and a
// sentence with the limit and what was found. Later rules may rely on earlier ones.
//
//===----------------------------------------------------------------------===//
#include "Internal.h"
#include <algorithm>
#include <fmt/format.h>

namespace heddle::tuning {
using target::CopyEngine;
using target::DType;
using target::Feature;
using target::MmaFamily;
using target::Target;

using Result = std::optional<Rejection>;

static constexpr std::string_view names[] = {"chip",          "type",
                                             "tile-multiple", "k-swizzle",
                                             "warps",         "stages",
                                             "raster",        "copy-engine",
                                             "operand-major", "store-path",
                                             "cluster",       "split-k",       "swap",       "threads",
                                             "tensor-memory", "accumulator-registers",
                                             "register-pool", "register-cap",
                                             "shared-memory"};

std::span<const std::string_view> rejectionNames() { return names; }

template <typename... Args>
static Rejection reject(std::string_view name, fmt::format_string<Args...> text, Args &&...args) {
  return {std::string(name), fmt::format(text, std::forward<Args>(args)...)};
}

static Result checkTypes(const GemmProblem &p, const Target &t) {
  for (DType type : {p.a, p.b})
    if (!t.supports(multipliedAs(type)))
      return reject("type",
                    "expected an operand type that the tensor cores of {} take, got {}; "
                    "targets that take it: {}",
                    t.name, dtypeName(type), target::targetsSupporting(multipliedAs(type)));
  const bool bothBytes = target::dtypeBits(p.a) == 8 && target::dtypeBits(p.b) == 8;
  if (multipliedAs(p.a) != multipliedAs(p.b) && !bothBytes)
    return reject("type", "expected operands of one type or both of 8 bits, got {} and {}",
                  dtypeName(p.a), dtypeName(p.b));
  if (p.out == DType::TF32)
    return reject("type", "expected a result of type f32, f16, bf16, f8E4M3FN or f8E5M2, got {}",
                  dtypeName(p.out));
  // Targets that multiply 8-bit types convert to them.
  if (target::dtypeBits(p.out) == 8 && !t.supports(p.out))
    return reject("type", "expected a result of a type that {} has, got {}; targets that have it: {}",
                  t.name, dtypeName(p.out), target::targetsSupporting(p.out));
  return {};
}

static Result checkTile(const Schedule &s, const Target &t) {
  // 256 is the most rows that a tensor copy moves and the widest instruction.
  for (auto [what, size] : {std::pair{"M", s.tileM}, {"N", s.tileN}, {"K", s.tileK}})
    if (size < 1 || size > 256)
      return reject("tile-multiple", "expected tile {} from 1 to 256, got {}", what, size);
  auto multiple = [&](const char *what, int64_t size, int64_t unit) -> Result {
    if (size % unit == 0)
      return {};
    return reject("tile-multiple", "expected tile {} to be a multiple of {}, got {}", what, unit,
                  size);
  };
  switch (t.mma) {
  case MmaFamily::MmaSync:
    if (Result r = multiple("M", s.tileM, 16))
      return r;
    return multiple("N", s.tileN, 8);
  case MmaFamily::Wgmma:
    if (Result r = multiple("M", s.tileM, 64))
      return r;
    return multiple("N", s.tileN, 8);
  case MmaFamily::Tcgen05:
    if (s.tileM != 128)
      return reject("tile-multiple",
                    "expected tile M to be 128, the lanes of tensor memory, got {}", s.tileM);
    return multiple("N", s.tileN, 16);
  }
  return {};
}

static Result checkSwizzle(const Schedule &s, const GemmProblem &p) {
  const int64_t bytes = s.tileK * bytesOf(p.a);
  if (bytes != panelBytes)
    return reject("k-swizzle",
                  "expected tile K to be {} bytes, the width of a swizzled panel, got {} bytes ({} "
                  "elements of {})",
                  panelBytes, bytes, s.tileK, dtypeName(p.a));
  for (bool isA : {true, false}) {
    const int64_t size = isA ? s.tileM : s.tileN;
    const int64_t width = size * bytesOf(isA ? p.a : p.b);
    if (!slotKMajor(s, p, isA) && width % panelBytes != 0)
      return reject("k-swizzle",
                    "expected tile {} of an operand stored with {} contiguous to be a multiple of "
                    "{} bytes, got {} bytes",
                    isA ? "M" : "N", isA ? "M" : "N", panelBytes, width);
    if (slotKMajor(s, p, isA) && size % 8 != 0) // a panel of 8 rows is 1024 bytes
      return reject("k-swizzle", "expected tile {} to be a multiple of 8 rows of a panel, got {}",
                    isA ? "M" : "N", size);
  }
  return {};
}

static Result checkWarps(const Schedule &s, const Target &t) {
  if (s.loadWarps < 1 || s.loadWarps > 32)
    return reject("warps", "expected 1 to 32 load warps, got {}", s.loadWarps);
  if (s.mmaWarps < 1 || s.mmaWarps > 32)
    return reject("warps", "expected 1 to 32 mma warps, got {}", s.mmaWarps);
  if (t.mma == MmaFamily::Tcgen05) {
    if (s.epilogueWarps != 4)
      return reject("warps",
                    "expected 4 epilogue warps, one for each quarter of tensor memory, got {}",
                    s.epilogueWarps);
    if ((s.loadWarps + s.mmaWarps) % 4 != 0)
      return reject("warps",
                    "expected load and mma warps together to be a multiple of 4, since the "
                    "epilogue starts at a whole warpgroup, got {}",
                    s.loadWarps + s.mmaWarps);
    return {};
  }
  if (s.epilogueWarps != 0)
    return reject("warps",
                  "expected no epilogue warps where accumulators are registers of the mma warps, "
                  "got {}",
                  s.epilogueWarps);
  if (t.mma == MmaFamily::Wgmma)
    for (auto [role, warps] : {std::pair{"load", s.loadWarps}, {"mma", s.mmaWarps}})
      if (warps % 4 != 0)
        return reject("warps", "expected {} warps to be a multiple of 4, whole warpgroups, got {}",
                      role, warps);
  if (warpGrid(s, t.mma).m != 0)
    return {};
  if (t.mma == MmaFamily::Wgmma)
    return reject("tile-multiple",
                  "expected tile M to be a multiple of 64 for each of {} warpgroups, got {}",
                  s.mmaWarps / 4, s.tileM);
  return reject("tile-multiple",
                "expected a tile that {} warps can divide into parts of multiples of 16 x 8, got "
                "{} x {}",
                s.mmaWarps, s.tileM, s.tileN);
}

static Result checkStages(const Schedule &s, const Target &t) {
  if (s.stages < 2 || s.stages > 32)
    return reject("stages", "expected 2 to 32 stages, got {}", s.stages);
  if (s.accStages < 1 || s.accStages > 2)
    return reject("stages", "expected 1 or 2 accumulator stages, got {}", s.accStages);
  if (s.accStages != 1 && !t.has(Feature::TensorMemory))
    return reject("stages", "expected 1 accumulator stage without tensor memory, got {}",
                  s.accStages);
  if (s.raster < 1)
    return reject("raster", "expected at least 1 tile of M in a band, got {}", s.raster);
  return {};
}

static Result checkCopy(const Schedule &s, const GemmProblem &p, const Target &t) {
  if (s.copy == CopyEngine::Bulk && !t.has(Feature::BulkTensorCopy))
    return reject("copy-engine", "expected a copy engine that {} has, got bulk tensor copies",
                  t.name);
  if (s.copy == CopyEngine::Async && !t.has(Feature::AsyncCopy))
    return reject("copy-engine", "expected a copy engine that {} has, got asynchronous copies",
                  t.name);
  if (s.copy != CopyEngine::Threads && p.loadAligned == GemmProblem::Aligned::No)
    return reject("copy-engine",
                  "expected operands whose rows start at multiples of 16 bytes for {} copies, got "
                  "others; copy=threads takes them",
                  s.copy == CopyEngine::Bulk ? "bulk" : "asynchronous");
  if (p.gathers && s.copy == CopyEngine::Bulk && s.loadWarps < 4)
    return reject("copy-engine",
                  "expected at least 4 load warps where some gather rows of A and others issue bulk "
                  "copies, got {}",
                  s.loadWarps);
  for (bool isA : {true, false})
    if (!slotKMajor(s, p, isA) && target::dtypeBits(isA ? p.a : p.b) != 16)
      return reject("operand-major",
                    "expected {} with K contiguous, since tensor cores take {} no other way, got "
                    "{} contiguous; copy=threads transposes",
                    isA ? "A" : "B", dtypeName(isA ? p.a : p.b), isA ? "M" : "N");
  return {};
}

static Result checkStore(const Schedule &s, const GemmProblem &p, const Target &t) {
  if (s.store == StorePath::Direct) {
    if (s.storeStages != 0)
      return reject("store-path", "expected 0 store stages for store=direct, got {}",
                    s.storeStages);
    return {};
  }
  if (!t.has(Feature::BulkTensorCopy))
    return reject("store-path", "expected a store path that {} has, got bulk tensor copies",
                  t.name);
  if (p.storeAligned == GemmProblem::Aligned::No)
    return reject("store-path",
                  "expected a result whose rows start at multiples of 16 bytes for bulk copies, "
                  "got another; store=direct takes it");
  if (s.storeStages < 1 || s.storeStages > 8)
    return reject("store-path", "expected 1 to 8 store stages for store=bulk, got {}",
                  s.storeStages);
  if (s.swap) {
    // A slot's rows of the result are cut into panels.
    if (const int64_t unit = panelBytes / bytesOf(p.out); s.tileM % unit != 0)
      return reject("store-path",
                    "expected tile M to be a multiple of {} with swap, the columns of {} in {} "
                    "bytes, got {}",
                    unit, dtypeName(p.out), panelBytes, s.tileM);
    return {};
  }
  if (s.tileN % stagingColumns(s, p) != 0)
    return reject("store-path",
                  "expected tile N to be a multiple of {}, the columns of {} in {} bytes, got {}",
                  stagingColumns(s, p), dtypeName(p.out), panelBytes, s.tileN);
  return {};
}

static Result checkCluster(const Schedule &s, const GemmProblem &p, const Target &t) {
  const int most = t.has(Feature::Multicast) ? static_cast<int>(t.maxCluster) : 1;
  for (auto [what, size] : {std::pair{"M", s.clusterM}, {"N", s.clusterN}})
    if (size < 1 || size > most)
      return reject("cluster", "expected {} of a cluster along {} on {}{}, got {}",
                    most == 1 ? "1 CTA" : fmt::format("1 to {} CTAs", most), what, t.name,
                    most == 1 ? ", whose copies are not multicast" : "", size);
  if (s.clusterSize() == 1)
    return {};
  if (s.clusterSize() > most)
    return reject("cluster", "expected at most {} CTAs a cluster on {}, got {} x {}", most, t.name,
                  s.clusterM, s.clusterN);
  if (p.gathers && s.clusterN > 1)
    return reject("cluster",
                  "expected 1 CTA of a cluster along N where rows of A are gathered, which are not "
                  "multicast, got {}",
                  s.clusterN);
  if (s.copy != CopyEngine::Bulk)
    return reject("cluster",
                  "expected copy=bulk for a cluster of {} x {}, since only bulk copies "
                  "are multicast, got another",
                  s.clusterM, s.clusterN);
  for (bool isA : {true, false}) {
    const int64_t rows = slotKMajor(s, p, isA) ? (isA ? s.tileM : s.tileN) : s.tileK;
    const int shares = isA ? s.clusterN : s.clusterM;
    if (rows % (8 * shares) != 0) // a panel of 8 rows is 1024 bytes
      return reject("cluster",
                    "expected {} rows of a panel of {} to divide into multiples of 8 for each of "
                    "{} CTAs, got {} each",
                    rows, isA ? "A" : "B", shares, double(rows) / shares);
  }
  return {};
}

constexpr int mostSplits = 16;

static Result checkSplit(const Schedule &s, const GemmProblem &p, const Target &t) {
  if (s.swap && (p.groups || p.gathers))
    return reject("swap", "expected rows of A, which come in groups or by a list, to be rows of "
                          "tiles, got swap=1");
  if (s.splitK > 1 && p.groups)
    return reject("split-k", "expected one CTA a tile where operands come in groups, got split_k={}",
                  s.splitK);
  if (s.splitK == 1)
    return {};
  if (s.splitK < 1 || s.splitK > mostSplits)
    return reject("split-k", "expected 1 to {} CTAs that share the K of a tile, got {}", mostSplits,
                  s.splitK);
  if (s.store != StorePath::Direct)
    return reject("split-k",
                  "expected store=direct, since warps store their part of a tile one by one where "
                  "CTAs share its K, got store=bulk with split_k={}",
                  s.splitK);
  if (const int64_t steps = ceilDiv(p.k, s.tileK); p.k > 0 && steps < s.splitK)
    return reject("split-k", "expected at least one step of K for each of {} CTAs, got {} of {}",
                  s.splitK, steps, s.tileK);
  // A thread of tensor memory's readers has the sums of a row in registers.
  if (t.has(Feature::TensorMemory) && s.tileN > 128)
    return reject("split-k", "expected tile N of at most 128 where CTAs share the K of a tile, got {}",
                  s.tileN);
  return {};
}

static Result checkThreads(const Schedule &s, const Target &t) {
  if (s.threads() > static_cast<int>(t.maxThreadsPerBlock))
    return reject("threads", "expected at most {} threads a CTA, got {}", t.maxThreadsPerBlock,
                  s.threads());
  if (s.ctasPerSM < 1 || s.ctasPerSM > static_cast<int>(t.maxBlocksPerSM))
    return reject("threads", "expected 1 to {} CTAs a multiprocessor, got {}", t.maxBlocksPerSM,
                  s.ctasPerSM);
  const int64_t warps = roundUp(s.threads() / 32, 4) * s.ctasPerSM;
  if (warps > t.maxWarpsPerSM)
    return reject("threads", "expected at most {} warps a multiprocessor, got {}", t.maxWarpsPerSM,
                  warps);
  return {};
}

static Result checkTensorMemory(const Schedule &s, const Target &t) {
  if (!t.has(Feature::TensorMemory))
    return {};
  const int64_t columns = tensorMemoryColumns(s) * s.ctasPerSM;
  if (columns > t.tmemColumns)
    return reject("tensor-memory",
                  "expected at most {} columns of tensor memory, got {} ({} accumulators of {}, "
                  "{} CTAs)",
                  t.tmemColumns, columns, s.accStages, s.tileN, s.ctasPerSM);
  return {};
}

/// What the instruction can ask for at all (PTX ISA, "setmaxnreg").
static Result checkRequests(const Schedule &s) {
  if (s.loadRegisters == 0 && s.mmaRegisters == 0)
    return {};
  for (auto [role, registers] : {std::pair{"load", s.loadRegisters}, {"mma", s.mmaRegisters}})
    if (registers != 0 && (registers < 24 || registers > 256 || registers % 8 != 0))
      return reject("register-pool",
                    "expected {} registers to be a multiple of 8 from 24 to 256, got {}", role,
                    registers);
  if (s.loadRegisters == 0 || s.mmaRegisters == 0)
    return reject(
        "register-pool",
        "expected load and mma registers, each a multiple of 8 from 24 to 256, or neither, "
        "got {} and {}",
        s.loadRegisters, s.mmaRegisters);
  return {};
}

/// setmaxnreg moves registers between warpgroups of a CTA; a request that the pool
/// cannot serve waits for ever.
static Result checkPool(const Schedule &s, const Target &t) {
  if (s.loadRegisters == 0 && s.mmaRegisters == 0)
    return {};
  if (!t.has(Feature::SetMaxNReg))
    return reject("register-pool",
                  "expected 0 load and mma registers, since {} cannot move "
                  "registers between warps, got {} and {}",
                  t.name, s.loadRegisters, s.mmaRegisters);
  for (auto [role, warps] :
       {std::pair{"load", s.loadWarps}, {"mma", s.mmaWarps}, {"epilogue", s.epilogueWarps}})
    if (warps % 4 != 0)
      return reject("register-pool",
                    "expected {} warps to be whole warpgroups of 4 to move registers, got {}", role,
                    warps);
  const int64_t launch = roundDown(launchRegisters(s, t), 8);
  const int load = s.loadWarps / 4, mma = s.mmaWarps / 4, epilogue = s.epilogueWarps / 4;
  const int64_t have = launch * (load + mma + epilogue);
  const int64_t need =
      int64_t(s.loadRegisters) * load + int64_t(s.mmaRegisters) * mma + launch * epilogue;
  if (need > have)
    return reject("register-pool",
                  "expected the roles to share {} registers ({} at launch x {} warpgroups), got {} "
                  "({} x {} load + {} x {} mma{})",
                  have, launch, load + mma + epilogue, need, s.loadRegisters, load, s.mmaRegisters,
                  mma, epilogue ? fmt::format(" + {} x {} epilogue", launch, epilogue) : "");
  return {};
}

static Result checkRegisters(const Schedule &s, const GemmProblem &p, const Target &t) {
  const int need = mmaRegistersNeeded(s, p, t);
  const int most = s.mmaRegisters ? std::min<int>(s.mmaRegisters, t.maxRegistersPerThread)
                                  : static_cast<int>(t.maxRegistersPerThread);
  if (t.has(Feature::SetMaxNReg))
    if (Result r = checkRequests(s))
      return r;
  if (need > most)
    return reject("accumulator-registers",
                  "expected at most {} registers a thread of the mma role, got about {} for a part "
                  "of {} x {}",
                  most, need, s.tileM, s.tileN);
  if (Result r = checkPool(s, t))
    return r;
  const int launch = launchRegisters(s, t);
  const int fixed = launchRegistersNeeded(s, p, t);
  const int atLaunch = s.mmaRegisters ? fixed : std::max(fixed, need);
  if (atLaunch > launch)
    return reject("register-cap",
                  "expected at most {} registers a thread at launch ({} a multiprocessor, {} CTAs "
                  "of {} threads), got about {}",
                  launch, t.registersPerSM, s.ctasPerSM, s.threads(), atLaunch);
  return {};
}

static Result checkShared(const Schedule &s, const GemmProblem &p, const Target &t) {
  const SharedLayout l = sharedLayout(s, p);
  const std::string parts =
      fmt::format("{} header + {} stages x ({} A + {} B) + {} x {} staging", headerBytes, s.stages,
                  l.aBytes, l.bBytes, l.stagingBytes ? s.storeStages : 0, l.stagingBytes);
  if (l.total > t.sharedPerBlock)
    return reject("shared-memory", "expected at most {} bytes of shared memory a CTA, got {} ({})",
                  t.sharedPerBlock, l.total, parts);
  const int64_t all = (l.total + t.sharedReserved) * s.ctasPerSM;
  if (all > t.sharedPerSM)
    return reject("shared-memory",
                  "expected at most {} bytes of shared memory a multiprocessor, got {} ({} CTAs x "
                  "({} reserved + {}))",
                  t.sharedPerSM, all, s.ctasPerSM, t.sharedReserved, parts);
  return {};
}

std::optional<Rejection> check(const Schedule &s, const GemmProblem &problem, const Target &t) {
  const GemmProblem p = tileView(s, problem);
  if (Result r = checkTypes(p, t))
    return r;
  if (Result r = checkTile(s, t))
    return r;
  if (Result r = checkSwizzle(s, p))
    return r;
  if (Result r = checkWarps(s, t))
    return r;
  if (Result r = checkStages(s, t))
    return r;
  if (Result r = checkCopy(s, p, t))
    return r;
  if (Result r = checkStore(s, p, t))
    return r;
  if (Result r = checkCluster(s, p, t))
    return r;
  if (Result r = checkSplit(s, p, t))
    return r;
  if (Result r = checkThreads(s, t))
    return r;
  if (Result r = checkTensorMemory(s, t))
    return r;
  if (Result r = checkRegisters(s, p, t))
    return r;
  return checkShared(s, p, t);
}

} // namespace heddle::tuning
