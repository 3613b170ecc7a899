//===- Transport.h - ways to reach the memory of other ranks ------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A transport makes symmetric heaps and lets the device of a rank address those of the
// others. Kernels load, store and signal through addresses whatever the transport is.
// A transport is a folder of runtime/transports and a line of Transport.cpp; what it must
// keep is checked by runtime/conformance. Thread-safe.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_COMM_TRANSPORT_H
#define HEDDLE_RUNTIME_COMM_TRANSPORT_H

#include "core/Backend.h"

namespace heddle::rt {

/// The heap of one rank of this process.
class Heap {
public:
  virtual ~Heap() = default;
  /// How a device of this process addresses the heap. The heap outlives the view.
  virtual Status view(const std::shared_ptr<Device> &viewer,
                      std::shared_ptr<SharedMemory> &memory) = 0;
  /// For other processes; only of an exportable heap. The ticket's descriptor is the caller's.
  virtual Status ticket(HeapTicket &ticket) = 0;
};

class Transport {
public:
  virtual ~Transport() = default;
  virtual std::string_view name() const = 0;
  /// One line about it, for people.
  virtual std::string_view description() const = 0;
  /// Whether kernels on `from` can use a heap of `to`, both of this process. The error says why
  /// not.
  virtual Status reaches(Device &from, Device &to) const = 0;
  /// A zeroed heap of `owner`, for `users` of this process; `exportable`: for other processes too.
  virtual Status create(const std::shared_ptr<Device> &owner, std::span<Device *const> users,
                        uint64_t bytes, bool exportable, std::shared_ptr<Heap> &heap) const = 0;
  /// A heap of another process, of which this rank got the ticket.
  virtual Status open(const std::shared_ptr<Device> &viewer, const HeapTicket &ticket,
                      uint64_t bytes, std::shared_ptr<SharedMemory> &memory) const = 0;
};

/// All of them, the fastest first.
std::span<const Transport *const> transports();

/// Those to try: all, or the one that is asked for by name ("" and "auto" ask for none).
Status selectTransports(std::string_view name, std::vector<const Transport *> &selected);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_COMM_TRANSPORT_H
