//===- Ledger.h - what the ranks of a communicator agree on -----------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block of memory that all ranks of a host see: in one process ordinary memory, between
// processes shared memory. It holds
//   - the last collective calls of each rank, so that the first rank that leaves the common
//     order is told at once and no kernel has to run into its deadline,
//   - the places of kernels' counters in the symmetric heap, the same on every rank,
//   - each rank's abort word and fault records, which its device reads and writes,
//   - why the communicator was given up, and by whom.
// The layout is the same in every process: plain numbers, no pointers. All but the words and
// records is guarded by a lock that survives the death of its holder. Thread-safe.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_COMM_LEDGER_H
#define HEDDLE_RUNTIME_COMM_LEDGER_H

#include "core/Status.h"
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <pthread.h>
#include <span>

namespace heddle::rt {

/// One collective call, for comparison and for messages.
struct CollectiveCall {
  enum Kind : uint32_t { Alloc, Free, Launch, Barrier };
  uint32_t kind = Alloc;
  uint32_t variant = 0;   ///< launch: number of the form
  uint64_t bytes = 0;     ///< alloc: size; free: offset in the heap
  uint64_t hash = 0;      ///< of everything that must agree
  char name[64] = {};     ///< launch: of the kernel
  uint32_t sizeCount = 0; ///< how many of `sizes` are set
  int64_t sizes[10] = {}; ///< launch: the first run-time sizes

  void setName(std::string_view text);
  /// Adds to the hash.
  void add(uint64_t value);
  void add(std::string_view text);
  std::string text() const; ///< "a launch of all_gather (variant 1, sizes 64, 128)"
};

/// What a kernel writes when a wait fails (docs/communication.md).
struct FaultRecord {
  enum Code : uint32_t { None, Deadline, Aborted, Protocol };
  uint32_t code, peer, channel, role;
  uint64_t expected, found, epoch;
  uint32_t wait;
  uint32_t reserved[5];
};
static_assert(sizeof(FaultRecord) == 64);

/// What one rank's device shares with the host. A page, so that drivers can map it alone.
struct alignas(4096) RankWords {
  static constexpr unsigned kernels = 62;
  uint32_t abort; ///< not 0: kernels stop
  uint32_t pad[15];
  FaultRecord faults[kernels];
};
static_assert(sizeof(RankWords) == 4096 && offsetof(RankWords, faults) == 64);

class Ledger {
public:
  /// Bytes of a ledger for so many ranks.
  static size_t bytesFor(unsigned world);
  /// Sets up fresh memory, which must be zeroed and page-aligned; `signalBytes` of each heap are
  /// for counters.
  static void format(void *memory, unsigned world, uint64_t signalBytes);
  /// Uses memory that `format` set up; keeps `owner` alive.
  Ledger(void *memory, std::shared_ptr<void> owner);

  unsigned world() const;
  RankWords &words(unsigned rank) const;

  /// Notes the next call of `rank` and compares it with what the others called as that number. On a
  /// difference the communicator is aborted and the error says who called what.
  Status enter(unsigned rank, const CollectiveCall &call);
  /// Waits until every rank has made the call that `rank` made last, or one rank gave up.
  Status wait(unsigned rank, uint32_t timeoutMs) const;
  /// How many calls a rank has made.
  uint64_t calls(unsigned rank) const;

  /// The offset of the counters of `key`, of which there are `bytes`; made on first use.
  Status signals(uint64_t key, uint64_t bytes, std::string_view name, uint64_t &offset);

  /// Stops every rank's kernels. The first reason stays.
  void abort(unsigned rank, std::string_view reason);
  bool aborted() const;
  /// "rank 2: <reason>".
  std::string reason() const;

private:
  struct Data;
  class Lock;
  Data &data() const;
  void *memory;
  std::shared_ptr<void> owner;
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_COMM_LEDGER_H
