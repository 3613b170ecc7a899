//===- Collector.h - what kernels did, by role ------------------*- C++ -*-===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An observer that counts, for each kernel and each role of its warps: instructions by class, bytes
// by space and by who moves them, passes of shared memory beyond those that the bytes need (bank
// conflicts), and waits with the virtual time they took.
//
// Threading: as for Observer. Owns its counters only.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_EMULATOR_STATS_COLLECTOR_H
#define HEDDLE_EMULATOR_STATS_COLLECTOR_H

#include "runtime/emulator/Observer.h"

#include <array>
#include <map>
#include <unordered_map>

namespace heddle::emulator {

class Collector final : public Observer {
public:
  /// Every counter has a group and a name; see counterName. Instructions are a warp's.
  static constexpr size_t instructionClasses = 14, byteKinds = 14, bankCounters = 3, waitKinds = 9;
  static constexpr size_t counters = 1 + instructionClasses + byteKinds + bankCounters + 2 * waitKinds;
  using Counters = std::array<uint64_t, counters>;
  struct Role {
    std::string name; ///< "-" for warps without a role
    Counters counts{};
  };
  struct Kernel {
    std::string name;
    uint64_t launches = 0, blocks = 0;
    std::vector<Role> roles; ///< in the order they were first seen
    Counters total() const;
  };
  /// "instructions", "bytes", "shared memory", "waits" or "waiting time".
  static std::string_view counterGroup(size_t counter);
  static std::string_view counterName(size_t counter);
  /// The counter of that group and name; `counters` when there is none.
  static size_t find(std::string_view group, std::string_view name);

  /// The next launch is of `entry` of this module.
  void begin(const Module &module, std::string_view entry);
  const std::vector<Kernel> &kernels() const { return kernels_; }
  /// A table a kernel: one column a role; counters that are all 0 are left out.
  std::string text() const;
  /// {"kernels": [{"kernel", "launches", "blocks", "total": {group: {name: n}}, "roles": {role: ...}}]}
  std::string json() const;
  /// Writes json() to a path that ends in ".json", else text(); "-" is standard output. False,
  /// with *error, when the file cannot be written.
  bool write(const std::string &path, std::string *error) const;

  void access(const AccessEvent &e) override;
  void ctaStart(const WarpRef &at, unsigned warps) override;
  void blocked(const WarpRef &at, std::string_view why) override;
  void resumed(const WarpRef &at) override;
  void instruction(const WarpRef &at, uint32_t lanes) override;
  bool wantsInstructions() const override { return true; }

private:
  Counters &of(const WarpRef &at);
  void countBanks(const AccessEvent &e, Counters &c);
  uint64_t now() const;

  std::vector<Kernel> kernels_;
  size_t current_ = 0;
  std::map<const void *, std::vector<uint8_t>> classes_; ///< of a module's lines
  const std::vector<uint8_t> *lines_ = nullptr;
  struct Wait { size_t kind; uint64_t since; };
  std::map<std::pair<uint64_t, unsigned>, Wait> waits_; ///< by block and warp
};

} // namespace heddle::emulator

#endif // HEDDLE_EMULATOR_STATS_COLLECTOR_H
