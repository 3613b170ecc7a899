//===- LocalComm.cpp - all ranks in one process -----------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Comm.h"
#include "Transport.h"
#include <cstdlib>
#include <cstring>

namespace heddle::rt {

namespace {

/// Every device must reach the memory of every other one.
Status checkAccess(const Transport &transport, std::span<const std::shared_ptr<Device>> devices) {
  for (size_t a = 0; a < devices.size(); ++a)
    for (size_t b = 0; b < devices.size(); ++b)
      if (Status status = a == b ? Status() : transport.reaches(*devices[a], *devices[b]); !status)
        return std::move(status).within(text("ranks ", a, " and ", b));
  return {};
}

Status checkDevices(std::span<const std::shared_ptr<Device>> devices) {
  for (size_t a = 0; a < devices.size(); ++a)
    for (size_t b = 0; b < a; ++b)
      if (devices[a]->info().emulated && devices[a]->isSame(*devices[b]))
        return Status::error(HEDDLE_INVALID_ARGUMENT,
                             text("ranks ", b, " and ", a,
                                  ": expected an emulated device for each rank, got one for both"));
  return {};
}

/// heaps[v][r] is the heap of rank r as rank v addresses it.
using Heaps = std::vector<std::vector<std::shared_ptr<SharedMemory>>>;

Status makeHeaps(const Transport &transport, std::span<const std::shared_ptr<Device>> devices,
                 uint64_t bytes, Heaps &heaps) {
  if (Status status = checkAccess(transport, devices); !status)
    return status;
  std::vector<Device *> users;
  for (const auto &device : devices)
    users.push_back(device.get());
  heaps.assign(devices.size(), {});
  for (size_t r = 0; r < devices.size(); ++r) {
    std::shared_ptr<Heap> heap;
    if (Status status = transport.create(devices[r], users, bytes, false, heap); !status)
      return std::move(status).within(text("symmetric heap of rank ", r));
    for (size_t v = 0; v < devices.size(); ++v)
      if (Status status = heap->view(devices[v], heaps[v].emplace_back()); !status)
        return std::move(status).within(text("symmetric heap of rank ", r, " on rank ", v));
  }
  return {};
}

/// With the first transport that works for all; the reasons of those that do not.
Status chooseHeaps(std::span<const Transport *const> candidates,
                   std::span<const std::shared_ptr<Device>> devices, uint64_t bytes, Heaps &heaps,
                   std::string &transport) {
  std::string reasons;
  for (const Transport *candidate : candidates) {
    Status status = makeHeaps(*candidate, devices, bytes, heaps);
    if (status) {
      transport = text(candidate->name(), ", all ranks in one process",
                       reasons.empty() ? "" : " (not ", reasons, reasons.empty() ? "" : ")");
      return {};
    }
    if (candidates.size() == 1 || status.code() == HEDDLE_OUT_OF_MEMORY)
      return status;
    reasons += text(reasons.empty() ? "" : "; ", candidate->name(), ": ", status.message());
  }
  return Status::error(HEDDLE_UNAVAILABLE, text("the ranks cannot exchange data: ", reasons));
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
  std::vector<const Transport *> candidates;
  if (Status status =
          selectTransports(options && options->transport ? options->transport : "", candidates);
      !status)
    return status;
  if (Status status = checkDevices(devices); !status)
    return status;
  const unsigned world = unsigned(devices.size());
  if (Status status = makeLedger(world, parts.settings.signalBytes, parts.ledger); !status)
    return status;
  Heaps heaps;
  if (Status status =
          chooseHeaps(candidates, devices, parts.settings.heapBytes, heaps, parts.transport);
      !status)
    return status;
  std::vector<std::unique_ptr<Communicator>> made(world);
  for (unsigned rank = 0; rank < world; ++rank) {
    CommParts own = parts;
    own.rank = rank;
    own.device = devices[rank];
    own.heaps = heaps[rank];
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
