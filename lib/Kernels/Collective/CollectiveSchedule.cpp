//===- CollectiveSchedule.cpp - the forms of a collective ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In: a spec and a target, maybe a schedule as text. Out: the forms, best first. Each rank
// takes the first whose constraints hold, so that they must not depend on the rank.
//
//===----------------------------------------------------------------------===//
#include "dialects/Warp/Transforms/Roles.h"
#include "heddle/Kernels/Collective.h"

using namespace mlir;

namespace heddle::kernels {

/// Where one shot stops paying: it moves (ranks - 1) (ranks - 2) / ranks parts more than two
/// shots and saves a round of flags, about 3 us, in which a link moves 1 MB (H200, NVLink 4).
static constexpr int64_t oneShotBytes = 1 << 20;

static LogicalResult parseField(CollectiveSchedule &s, StringRef key, StringRef value,
                                function_ref<InFlightDiagnostic()> error) {
  if (key == "keep") {
    std::optional<warp::Keep> keep = warp::symbolizeKeep(value);
    if (!keep)
      return error() << "expected keep to be normal or stream, got " << value;
    s.keep = *keep;
    return success();
  }
  std::pair<StringRef, int64_t *> fields[] = {
      {"ctas", &s.ctas}, {"warps", &s.warps}, {"chunk", &s.chunk}, {"stages", &s.stages}};
  for (auto [name, field] : fields)
    if (key == name) {
      if (value.getAsInteger(10, *field) || *field < 1)
        return error() << "expected " << key << " to be a number from 1, got " << value;
      return success();
    }
  if (key == "packets") {
    if (value.getAsInteger(10, s.packets) || s.packets < 0 || s.packets > 65536 || s.packets % 128)
      return error() << "expected packets to be 0 to 65536 bytes in multiples of 128, got "
                     << value;
    return success();
  }
  return error()
         << "expected a field of ctas, warps, chunk, stages, keep, packets in the schedule, got "
         << key;
}

static LogicalResult check(const CollectiveSchedule &s, const CollectiveSpec &spec,
                           const target::Target &target, function_ref<InFlightDiagnostic()> error) {
  auto range = [&](StringRef name, int64_t value, int64_t least, int64_t most) -> LogicalResult {
    if (value < least || value > most)
      return error() << "expected " << name << " from " << least << " to " << most << ", got "
                     << value;
    return success();
  };
  if (failed(range("ctas", s.ctas, 1, 1024)) || failed(range("warps", s.warps, 1, 30)) ||
      failed(range("chunk", s.chunk, 128, 65536)) || failed(range("stages", s.stages, 2, 32)))
    return failure();
  if (s.chunk % 128)
    return error() << "expected chunk to be a multiple of 128 bytes, got " << s.chunk;
  // 64 values a thread at most leave registers for what is on its way.
  if (spec.sums() && s.chunk / spec.elementBytes() > s.warps * 32 * 64)
    return error() << "expected a chunk of at most 64 elements a thread to sum, "
                   << s.warps * 32 * 64 * spec.elementBytes() << " bytes with " << s.warps
                   << " warps, got " << s.chunk;
  int64_t slot = llvm::alignTo(s.chunk, warp::slotAlignment);
  int64_t bytes = warp::barrierBytes + s.stages * slot;
  if (bytes > target.sharedPerBlock)
    return error() << "expected stages x chunk to fit into the " << target.sharedPerBlock
                   << " bytes of shared memory of " << target.name << ", got " << bytes;
  return success();
}

/// What is known to be a good choice: 16 KB fill a link with three of them in flight on each of
/// 8 multiprocessors; one writes 45 GB/s at most, and copies write the rank's own part as well.
/// Measured on two H200 (docs/performance.md): copies gain up to 48 channels, sums none from 24.
static CollectiveSchedule defaults(const CollectiveSpec &spec, const target::Target &target) {
  CollectiveSchedule s;
  s.ctas = spec.what == Collective::Barrier ? 1 : spec.sums() ? 24 : 48;
  s.packets = spec.sums() ? 8192 : 4096;
  s.stages = std::clamp<int64_t>((target.sharedPerBlock - 8192) / s.chunk, 2, 12);
  return s;
}

FailureOr<SmallVector<CollectiveVariant>>
scheduleCollective(const CollectiveSpec &spec, const target::Target &target, StringRef text) {
  spec::KernelOp kernel = spec.kernel;
  auto error = [&] { return kernel.emitError(); };
  if (text.empty() && kernel.getSchedule())
    text = *kernel.getSchedule();
  CollectiveSchedule schedule = defaults(spec, target);
  SmallVector<StringRef> fields;
  text.split(fields, ',', -1, /*KeepEmpty=*/false);
  for (StringRef field : fields) {
    auto [key, value] = field.trim().split('=');
    if (failed(parseField(schedule, key.trim(), value.trim(), error)))
      return failure();
  }
  if (failed(check(schedule, spec, target, error)))
    return failure();

  SmallVector<CollectiveVariant> variants;
  auto add = [&](StringRef name, StringRef suffix, CollectiveForm form, bool twoShot,
                 int64_t atMost) {
    CollectiveVariant v;
    v.name = name, v.suffix = suffix, v.form = form, v.twoShot = twoShot, v.atMost = atMost;
    v.schedule = schedule;
    variants.push_back(v);
  };
  if (spec.what == Collective::Barrier) {
    add("barrier", "", CollectiveForm::Threads, false, 0);
    return variants;
  }
  bool bulk = target.has(target::Feature::BulkTensorCopy);
  CollectiveForm fast = bulk ? CollectiveForm::Bulk : CollectiveForm::Threads;
  StringRef name = bulk ? "bulk" : "threads";
  int64_t bytes = spec.elementBytes();
  for (const spec::Size *size : spec.part())
    bytes = size->isDynamic() ? 0 : bytes * size->value;
  bool fits = bytes % 16 == 0; // or is known at launch only
  bool reduces = spec.what == Collective::AllReduce;
  // Each rank must hear from each other one in every launch, which a broadcast does not give.
  if (fits && schedule.packets && spec.what != Collective::Broadcast) {
    add("packets", "__packets", CollectiveForm::Packets, false, 0);
    variants.back().schedule.warps = std::min<int64_t>(2 * schedule.warps, 30);
    variants.back().schedule.chunk = schedule.packets;
  }
  if (fits && reduces)
    add(("one_shot_" + name).str(), "", fast, false, oneShotBytes);
  if (fits)
    add(name, reduces ? "__two_shot" : "", fast, reduces, 0);
  add("unaligned", fits ? "__unaligned" : "", CollectiveForm::Elements, false, 0);
  // One element a thread at once: 16 of them are enough on their way.
  int64_t most = schedule.warps * 32 * 16 * spec.elementBytes();
  variants.back().schedule.chunk = std::min(schedule.chunk, most);
  return variants;
}

} // namespace heddle::kernels
