//===- Registry.cpp - the known targets and chips -------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Registry.h"
#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace heddle::target {

#define HEDDLE_TARGET(entry) extern const TargetEntry entry;
#include "Targets.def"
#undef HEDDLE_TARGET

#define HEDDLE_TARGET(entry) &entry,
static constexpr std::array entries = {
#include "Targets.def"
};
#undef HEDDLE_TARGET

static std::array<const Target *, entries.size()> collectTargets() {
  std::array<const Target *, entries.size()> all{};
  for (size_t i = 0; i < entries.size(); ++i)
    all[i] = &entries[i]->target;
  return all;
}

static std::vector<Chip> collectChips() {
  std::vector<Chip> all;
  for (const TargetEntry *entry : entries)
    all.insert(all.end(), entry->chips.begin(), entry->chips.end());
  return all;
}

std::span<const Target *const> allTargets() {
  static const auto all = collectTargets();
  return all;
}

std::span<const Chip> allChips() {
  static const std::vector<Chip> all = collectChips();
  return all;
}

const Target *findTarget(std::string_view name) {
  for (const Target *target : allTargets())
    if (target->name == name)
      return target;
  return nullptr;
}

/// Lower case, without the separators that people put into chip names.
static std::string normalized(std::string_view name) {
  std::string out;
  for (char c : name)
    if (c != ' ' && c != '-' && c != '_')
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

const Chip *findChip(std::string_view name) {
  const std::string wanted = normalized(name);
  for (const Chip &chip : allChips())
    if (normalized(chip.name) == wanted)
      return &chip;
  return nullptr;
}

const Chip &defaultChip(const Target &target) {
  for (const Chip &chip : allChips())
    if (chip.target == target.name)
      return chip;
  return allChips().front(); // not reached for a registered target: each lists a chip
}

Target limitsOn(const Target &target, const Chip &chip) {
  auto narrow = [](unsigned &limit, unsigned chipLimit) {
    if (chipLimit != 0)
      limit = std::min(limit, chipLimit);
  };
  Target out = target;
  narrow(out.sharedPerBlock, chip.sharedPerBlock);
  narrow(out.sharedPerSM, chip.sharedPerSM);
  narrow(out.maxWarpsPerSM, chip.maxWarpsPerSM);
  narrow(out.maxBlocksPerSM, chip.maxBlocksPerSM);
  return out;
}

static void append(std::string &list, std::string_view name) {
  if (!list.empty())
    list += ", ";
  list += name;
}

std::string knownTargetNames() {
  std::string list;
  for (const Target *target : allTargets())
    append(list, target->name);
  return list;
}

std::string knownChipNames() {
  std::string list;
  for (const Chip &chip : allChips())
    append(list, chip.name);
  return list;
}

std::string targetsSupporting(DType type) {
  std::string list;
  for (const Target *target : allTargets())
    if (target->supports(type))
      append(list, target->name);
  return list;
}

bool runsOn(const Target &target, unsigned major, unsigned minor) {
  if (major != target.major)
    return false;
  return target.exact ? minor == target.minor : minor >= target.minor;
}

bool Target::supports(DType type) const {
  return std::find(mmaTypes.begin(), mmaTypes.end(), type) != mmaTypes.end();
}

std::string_view dtypeName(DType type) {
  switch (type) {
  case DType::F32:
    return "f32";
  case DType::F16:
    return "f16";
  case DType::BF16:
    return "bf16";
  case DType::TF32:
    return "tf32";
  case DType::F8E4M3:
    return "f8E4M3FN";
  case DType::F8E5M2:
    return "f8E5M2";
  }
  return "unknown";
}

unsigned dtypeBits(DType type) {
  switch (type) {
  case DType::F32:
  case DType::TF32:
    return 32;
  case DType::F16:
  case DType::BF16:
    return 16;
  case DType::F8E4M3:
  case DType::F8E5M2:
    return 8;
  }
  return 0;
}

} // namespace heddle::target
