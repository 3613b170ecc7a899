//===- NvlinkTransport.cpp - heaps in device memory that peers address --===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Peer memory: a rank's heap lies on its device, and the others load and store it directly,
// over NVLink where there is one, else over PCIe. Emulated devices of one group do the same.
//
//===----------------------------------------------------------------------===//

#include "comm/Transport.h"

namespace heddle::rt {

namespace {

class PeerHeap final : public Heap, public std::enable_shared_from_this<PeerHeap> {
public:
  PeerHeap(std::shared_ptr<Device> owner, std::unique_ptr<SharedMemory> memory)
      : owner(std::move(owner)), memory(std::move(memory)) {}
  Status view(const std::shared_ptr<Device> &, std::shared_ptr<SharedMemory> &out) override {
    // Every user of the process addresses it alike. The device stays open for it.
    out = std::shared_ptr<SharedMemory>(shared_from_this(), memory.get());
    return {};
  }
  Status ticket(HeapTicket &ticket) override { return memory->exportTo(ticket); }

private:
  std::shared_ptr<Device> owner; ///< before the memory: closed after it
  std::unique_ptr<SharedMemory> memory;
};

class NvlinkTransport final : public Transport {
public:
  std::string_view name() const override { return "nvlink"; }
  std::string_view description() const override {
    return "kernels load and store the device memory of other ranks";
  }
  Status reaches(Device &from, Device &to) const override {
    return from.isSame(to) ? Status() : from.canAddress(to);
  }
  Status create(const std::shared_ptr<Device> &owner, std::span<Device *const> users,
                uint64_t bytes, bool exportable, std::shared_ptr<Heap> &heap) const override {
    std::unique_ptr<SharedMemory> memory;
    if (Status status = owner->allocShared(bytes, users, exportable, memory); !status)
      return status;
    heap = std::make_shared<PeerHeap>(owner, std::move(memory));
    return {};
  }
  Status open(const std::shared_ptr<Device> &viewer, const HeapTicket &ticket, uint64_t bytes,
              std::shared_ptr<SharedMemory> &memory) const override {
    std::unique_ptr<SharedMemory> opened;
    if (Status status = viewer->openShared(ticket, bytes, opened); !status)
      return status;
    memory = std::move(opened);
    return {};
  }
};

} // namespace

const Transport &nvlinkTransport() {
  static const NvlinkTransport transport;
  return transport;
}

} // namespace heddle::rt
