//===- LocalComm.cpp - all ranks in one process -----------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Comm.h"
#include <cstdlib>
#include <cstring>

namespace heddle::rt {

namespace {

/// Every device must reach the memory of every other one.
Status checkAccess(std::span<const std::shared_ptr<Device>> devices) {
  for (size_t a = 0; a < devices.size(); ++a)
    for (size_t b = 0; b < devices.size(); ++b) {
      if (a == b)
        continue;
      const bool same = devices[a]->isSame(*devices[b]);
      if (same && devices[a]->info().emulated)
        return Status::error(HEDDLE_INVALID_ARGUMENT,
                             text("ranks ", a, " and ", b,
                                  ": expected an emulated device for each rank, got one for both"));
      if (same)
        continue;
      if (Status status = devices[a]->canAddress(*devices[b]); !status)
        return std::move(status).within(
            text("ranks ", a, " and ", b, " cannot exchange data through device memory"));
    }
  return {};
}

Status makeLedger(unsigned world, uint64_t signalBytes, std::shared_ptr<Ledger> &ledger) {
  const size_t bytes = Ledger::bytesFor(world);
  void *memory = std::aligned_alloc(alignof(RankWords), bytes);
  if (!memory)
    return Status::error(HEDDLE_OUT_OF_MEMORY, text("need ", bytes, " bytes of host memory"));
  std::shared_ptr<void> owner(memory, std::free);
  std::memset(memory, 0, bytes);
  Ledger::format(memory, world, signalBytes);
  ledger = std::make_shared<Ledger>(memory, std::move(owner));
  return {};
}

} // namespace

Status createLocalComm(std::span<const std::shared_ptr<Device>> devices,
                       const heddle_comm_options *options,
                       std::vector<std::unique_ptr<Communicator>> &comms) {
  if (devices.empty() || devices.size() > maxRanks)
    return Status::error(HEDDLE_INVALID_ARGUMENT,
                         text("expected 1 to ", maxRanks, " ranks, got ", devices.size()));
  CommParts parts;
  if (Status status = CommSettings::of(options, devices[0]->info().emulated, parts.settings);
      !status)
    return status;
  if (Status status = checkAccess(devices); !status)
    return status;
  const unsigned world = unsigned(devices.size());
  if (Status status = makeLedger(world, parts.settings.signalBytes, parts.ledger); !status)
    return status;

  std::vector<Device *> users;
  for (const auto &device : devices)
    users.push_back(device.get());
  for (unsigned rank = 0; rank < world; ++rank) {
    std::unique_ptr<SharedMemory> heap;
    if (Status status = devices[rank]->allocShared(parts.settings.heapBytes, users, false, heap);
        !status)
      return std::move(status).within(text("symmetric heap of rank ", rank));
    parts.heaps.push_back(std::move(heap));
  }
  parts.transport = devices[0]->info().emulated ? "emulated peer memory, one process"
                                                : "nvlink: peer memory, one process";
  std::vector<std::unique_ptr<Communicator>> made(world);
  for (unsigned rank = 0; rank < world; ++rank) {
    CommParts own = parts;
    own.rank = rank;
    own.device = devices[rank];
    own.ranksOnDevice = 0;
    for (const auto &other : devices)
      own.ranksOnDevice += own.device->isSame(*other);
    if (Status status = Communicator::create(std::move(own), made[rank]); !status)
      return std::move(status).within(text("rank ", rank));
  }
  comms = std::move(made);
  return {};
}

} // namespace heddle::rt
