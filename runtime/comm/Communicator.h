//===- Communicator.h - one rank and its view of the others -----------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Owns a rank's symmetric heap, knows where the heaps of the others are in its device's
// address space, and holds what kernels read about them (the communicator's block). How
// the heaps got there is the business of who makes it (LocalComm.cpp, ProcessComm.cpp).
//
// Layout of a heap: [0, signalBytes) the counters of kernels, then what users allocate.
// Thread-safe; calls that all ranks must make in one order are for one thread at a time.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_COMM_COMMUNICATOR_H
#define HEDDLE_RUNTIME_COMM_COMMUNICATOR_H

#include "HeapAllocator.h"
#include "Ledger.h"
#include "core/Backend.h"
#include <map>
#include <mutex>

namespace heddle::rt {

struct LoadedVariant;

/// What heddle_comm_options comes to, with defaults filled in.
struct CommSettings {
  uint64_t heapBytes = 0, signalBytes = 0; ///< of one rank; the first is all of it
  uint32_t timeoutMs = 0;                  ///< of one wait in a kernel

  /// Fills in defaults and checks the numbers.
  static Status of(const heddle_comm_options *options, bool emulated, CommSettings &settings);
};

/// Everything a rank needs; made by whoever sets the ranks up.
struct CommParts {
  unsigned rank = 0;
  CommSettings settings;
  std::shared_ptr<Device> device;
  std::shared_ptr<Ledger> ledger;
  /// The heap of each rank, as this rank's device reaches it; kept alive here.
  std::vector<std::shared_ptr<SharedMemory>> heaps;
  unsigned ranksOnDevice = 1;
  std::string transport; ///< how the heaps are reached, for people
};

class Communicator {
public:
  static Status create(CommParts parts, std::unique_ptr<Communicator> &comm);
  ~Communicator();

  unsigned rank() const { return parts.rank; }
  unsigned world() const { return unsigned(parts.heaps.size()); }
  unsigned ranksOnDevice() const { return parts.ranksOnDevice; }
  Device &device() const { return *parts.device; }
  const std::string &transport() const { return parts.transport; }
  const CommSettings &settings() const { return parts.settings; }
  uint64_t heapBase(unsigned rank) const { return parts.heaps[rank]->address(); }
  uint64_t bytesUsed() const;

  /// Collective: the same sizes in the same order on all ranks.
  Status alloc(uint64_t bytes, void *&pointer);
  Status free(void *pointer);
  /// Waits for the hosts of all ranks.
  Status barrier();
  /// Where the symmetric memory at `pointer` lies on another rank.
  Status peer(const void *pointer, unsigned rank, void *&there) const;
  /// Whether [address, address + bytes) lies in what this rank allocates from.
  Status checkSymmetric(uint64_t address, uint64_t bytes) const;

  /// The block for a kernel, made on first use without touching the device.
  uint64_t blockFor(const LoadedVariant &variant, std::string_view kernel);
  /// The counters of a kernel: their offset in the heap.
  Status signals(const LoadedVariant &variant, uint64_t bytes, uint64_t &offset);
  /// Notes a launch and compares it with the other ranks'.
  Status enter(const CollectiveCall &call);

  /// Keeps something for as long as the communicator lives.
  void keep(std::shared_ptr<void> what) { kept = std::move(what); }

  /// What failed so far, on this rank or another.
  Status check();
  void abort(std::string_view reason) { parts.ledger->abort(parts.rank, reason); }

private:
  explicit Communicator(CommParts parts)
      : parts(std::move(parts)),
        places(this->parts.settings.signalBytes, this->parts.settings.heapBytes) {}
  Status writeBlocks();
  std::string describeFault(const FaultRecord &fault, unsigned kernel) const;

  /// What is known about a kernel, for reports.
  struct KernelNote {
    std::string name;
    std::vector<RoleDesc> roles;
  };

  CommParts parts;
  std::shared_ptr<void> kept; ///< gone before the parts
  mutable std::mutex mutex;   ///< over what follows
  HeapAllocator places;
  std::map<std::string, unsigned> kernelNumbers; ///< by entry name
  std::vector<KernelNote> kernels;
  void *blocks = nullptr; ///< device memory: RankWords::kernels blocks
  uint64_t blockStride = 0;
  uint64_t wordsAddress = 0; ///< of this rank's RankWords, for the device
};

} // namespace heddle::rt

struct heddle_comm_object {
  std::unique_ptr<heddle::rt::Communicator> comm;
};

#endif // HEDDLE_RUNTIME_COMM_COMMUNICATOR_H
