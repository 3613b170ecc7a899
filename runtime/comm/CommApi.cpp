//===- CommApi.cpp - communicators in C --------------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Comm.h"
#include "Environment.h"
#include "Transport.h"
#include "core/Handles.h"
#include <cstdio>

using namespace heddle::rt;

namespace {

/// Runs `body` with the communicator behind a handle.
template <typename Body>
heddle_status withComm(heddle_comm handle, Body &&body,
                       std::source_location where = std::source_location::current()) {
  return guarded(
      [&]() -> Status {
        if (!handle)
          return nullError("a communicator", where);
        return body(*handle->comm);
      },
      where);
}

} // namespace

extern "C" {

heddle_status heddle_comm_create_local(const heddle_device *devices, size_t count,
                                       const heddle_comm_options *options, heddle_comm *comms) {
  return guarded([&]() -> Status {
    if (count && (!devices || !comms))
      return nullError(devices ? "places for the communicators" : "devices");
    std::vector<std::shared_ptr<Device>> owners;
    for (size_t i = 0; i < count && i <= maxRanks; ++i) {
      if (!devices[i])
        return nullError(text("a device for rank ", i));
      owners.push_back(devices[i]->device);
    }
    std::vector<std::unique_ptr<Communicator>> made;
    if (Status status = createLocalComm(owners, options, made); !status)
      return status;
    std::vector<std::unique_ptr<heddle_comm_object>> handles;
    for (auto &comm : made)
      handles.emplace_back(new heddle_comm_object{std::move(comm)});
    for (size_t i = 0; i < handles.size(); ++i)
      comms[i] = handles[i].release();
    return {};
  });
}

heddle_status heddle_comm_create(heddle_device device, const heddle_comm_options *options,
                                 heddle_comm *comm) {
  return guarded([&]() -> Status {
    if (!device || !comm)
      return nullError(device ? "a place for the communicator" : "a device");
    std::unique_ptr<Communicator> made;
    if (Status status = createProcessComm(device->device, options, made); !status)
      return status;
    *comm = new heddle_comm_object{std::move(made)};
    return {};
  });
}

const char *heddle_transport_name(size_t index) {
  return index < transports().size() ? transports()[index]->name().data() : nullptr;
}

const char *heddle_transport_description(size_t index) {
  return index < transports().size() ? transports()[index]->description().data() : nullptr;
}

heddle_status heddle_transport_reaches(const char *transport, heddle_device from,
                                       heddle_device to) {
  return guarded([&]() -> Status {
    if (!transport || !from || !to)
      return nullError(transport ? "two devices" : "the name of a transport");
    std::vector<const Transport *> selected;
    if (Status status = selectTransports(transport, selected); !status)
      return status;
    Status last;
    for (const Transport *candidate : selected)
      if (last = candidate->reaches(*from->device, *to->device); last)
        break;
    return last;
  });
}

void heddle_comm_destroy(heddle_comm comm) { delete comm; }

heddle_status heddle_comm_properties(heddle_comm comm, heddle_comm_info *info) {
  return withComm(comm, [&](Communicator &c) -> Status {
    if (!info)
      return nullError("a place for the properties");
    *info = {};
    info->rank = int32_t(c.rank());
    info->world = int32_t(c.world());
    info->heap = reinterpret_cast<void *>(c.heapBase(c.rank()) + c.settings().signalBytes);
    info->heap_bytes = c.settings().heapBytes - c.settings().signalBytes;
    info->heap_used = c.bytesUsed();
    info->timeout_ms = c.settings().timeoutMs;
    std::snprintf(info->transport, sizeof(info->transport), "%s", c.transport().c_str());
    return {};
  });
}

heddle_status heddle_comm_alloc(heddle_comm comm, uint64_t bytes, void **pointer) {
  return withComm(comm, [&](Communicator &c) {
    return pointer ? c.alloc(bytes, *pointer) : nullError("a place for the pointer");
  });
}

heddle_status heddle_comm_free(heddle_comm comm, void *pointer) {
  return withComm(comm, [&](Communicator &c) { return c.free(pointer); });
}

heddle_status heddle_comm_peer(heddle_comm comm, const void *pointer, int32_t rank, void **there) {
  return withComm(comm, [&](Communicator &c) -> Status {
    if (!there)
      return nullError("a place for the pointer");
    if (rank < 0)
      return Status::error(HEDDLE_INVALID_ARGUMENT,
                           text("expected a rank of at least 0, got ", rank));
    return c.peer(pointer, unsigned(rank), *there);
  });
}

heddle_status heddle_comm_barrier(heddle_comm comm) {
  return withComm(comm, [](Communicator &c) { return c.barrier(); });
}

heddle_status heddle_comm_find_rank(const heddle_comm_options *options, int32_t *rank,
                                    int32_t *world) {
  return guarded([&]() -> Status {
    if (!rank || !world)
      return nullError("places for the rank and the number of ranks");
    Membership membership;
    if (Status status = findMembership(options ? *options : heddle_comm_options{}, membership);
        !status)
      return status;
    *rank = int32_t(membership.rank);
    *world = int32_t(membership.world);
    return {};
  });
}

heddle_status heddle_comm_check(heddle_comm comm) {
  return withComm(comm, [](Communicator &c) { return c.check(); });
}

heddle_status heddle_comm_abort(heddle_comm comm, const char *reason) {
  return withComm(comm, [&](Communicator &c) -> Status {
    c.abort(reason && *reason ? reason : "the program asked for it");
    return {};
  });
}
}
