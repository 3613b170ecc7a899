//===- ProcessComm.cpp - each rank a process ----------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps, each agreed on by all ranks before the next: meet; compare versions and
// settings; hand the ledger, a memory file of rank 0, to everybody; make the heaps with the
// first transport that works on every rank and hand them out; watch for ranks that end.
// Memory travels as file descriptors over Unix sockets, so all ranks are on one machine.
//
//===----------------------------------------------------------------------===//

#include "Comm.h"
#include "ControlGroup.h"
#include "Hmac.h"
#include "Transport.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sys/mman.h>
#include <unistd.h>

namespace heddle::rt {

namespace {

/// What must be the same everywhere, by name.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// A number that this machine has since it started, the same for its containers.
std::string machineName() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

Facts factsOf(const CommSettings &settings, std::string_view transport) {
  return {{"version of the runtime", HEDDLE_VERSION},
          {"bytes of a ledger", text(Ledger::bytesFor(1))},
          {"machine", machineName()},
          {"signal_bytes", text(settings.signalBytes)},
          {"heap_bytes", text(settings.heapBytes - settings.signalBytes)},
          {"timeout_ms", text(settings.timeoutMs)},
          {"transport", transport.empty() ? "auto" : std::string(transport)}};
}

/// Every rank finds the same first difference.
Status compareFacts(ControlGroup &group, const Facts &mine) {
  std::string packed;
  for (const auto &[name, value] : mine)
    packed += text(name, '\t', value, '\n');
  std::vector<std::string> all;
  if (Status status = group.exchange(packed, all); !status)
    return status;
  for (unsigned r = 1; r < group.world(); ++r) {
    if (all[r] == all[0])
      continue;
    std::string_view a = all[0], b = all[r];
    while (!a.empty() && !b.empty()) {
      const size_t endA = a.find('\n'), endB = b.find('\n');
      const std::string_view lineA = a.substr(0, endA), lineB = b.substr(0, endB);
      const size_t tab = lineA.find('\t');
      if (lineA != lineB && endA != a.npos && endB != b.npos && tab != lineA.npos)
        return Status::error(HEDDLE_COMM_MISMATCH,
                             text("rank ", r, " differs in ", lineA.substr(0, tab), ": expected ",
                                  lineA.substr(tab + 1), " as on rank 0, got ",
                                  lineB.substr(std::min(tab + 1, lineB.size()))));
      a.remove_prefix(std::min(endA, a.size() - 1) + 1);
      b.remove_prefix(std::min(endB, b.size() - 1) + 1);
    }
    return Status::error(HEDDLE_COMM_MISMATCH, text("rank ", r, " differs from rank 0"));
  }
  return {};
}

/// Where the other ranks of this machine get memory from this one.
class Post {
public:
  Status open(ControlGroup &group) {
    std::array<uint8_t, 16> random;
    Status status = fillRandom(random.data(), random.size())
                        ? Status()
                        : Status::error(HEDDLE_INTERNAL, "the system gives no random bytes");
    std::string name = "heddle-";
    for (uint8_t byte : random)
      name += "0123456789abcdef"[byte & 15];
    if (status)
      status = listenUnix(name, listener);
    if (Status agreed = group.agree(status); !agreed)
      return agreed;
    return group.exchange(name, names);
  }

  /// Sends a ticket to a rank.
  Status send(unsigned from, unsigned to, const HeapTicket &ticket, uint32_t patienceMs) const {
    Fd socket;
    const Deadline deadline = after(patienceMs);
    if (Status status = connectUnix(names[to], deadline, socket); !status)
      return status;
    const Letter letter{round, from, ticket.kind, ticket.fd >= 0, ticket.data};
    return sendWithFd(socket, std::as_bytes(std::span(&letter, 1)), ticket.fd, deadline);
  }

  /// Takes the next ticket of another rank; its descriptor is the caller's.
  Status receive(unsigned world, unsigned &from, HeapTicket &ticket, Fd &fd,
                 uint32_t patienceMs) const {
    const Deadline deadline = after(patienceMs);
    Letter letter{};
    do {
      Fd socket;
      if (Status status = acceptOne(listener, deadline, socket); !status)
        return status;
      letter = {};
      fd = Fd();
      if (!sameUser(socket))
        continue;
      if (Status status =
              receiveWithFd(socket, std::as_writable_bytes(std::span(&letter, 1)), fd, deadline);
          !status)
        return status;
    } while (letter.round != round);
    if (letter.from >= world || bool(fd) != bool(letter.hasFd))
      return Status::error(HEDDLE_COMM_FAILED,
                           "expected memory of another rank, got something else");
    from = letter.from;
    ticket = {letter.kind, fd.get(), letter.data};
    return {};
  }

  /// Letters of earlier rounds are thrown away. Collective.
  void nextRound() { ++round; }

private:
  struct Letter {
    uint32_t round, from, kind, hasFd;
    std::array<std::byte, HeapTicket::bytesMax> data;
  };
  uint32_t round = 1;
  Fd listener;
  std::vector<std::string> names;
};

Status mapLedger(const Fd &fd, size_t bytes, void *&memory) {
  memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (memory != MAP_FAILED)
    return {};
  return Status::error(HEDDLE_OUT_OF_MEMORY, text("cannot share ", bytes, " bytes: ",
                                                  std::string_view(std::strerror(errno))));
}

/// Rank 0 makes the ledger and sends it to the others.
Status shareLedger(ControlGroup &group, const Post &post, uint64_t signalBytes,
                   std::shared_ptr<Ledger> &ledger) {
  const unsigned world = group.world();
  const size_t bytes = Ledger::bytesFor(world);
  Fd fd;
  void *memory = nullptr;
  auto make = [&]() -> Status {
    if (group.rank() != 0) {
      HeapTicket ticket;
      unsigned from = 0;
      if (Status status = post.receive(world, from, ticket, fd, group.patienceMs()); !status)
        return status;
      return fd ? mapLedger(fd, bytes, memory)
                : Status::error(HEDDLE_COMM_FAILED, "expected memory of rank 0, got none");
    }
    fd = Fd(::memfd_create("heddle-ledger", MFD_CLOEXEC));
    if (!fd || ::ftruncate(fd.get(), off_t(bytes)) != 0)
      return Status::error(HEDDLE_OUT_OF_MEMORY, text("cannot share ", bytes, " bytes: ",
                                                      std::string_view(std::strerror(errno))));
    if (Status status = mapLedger(fd, bytes, memory); !status)
      return status;
    Ledger::format(memory, world, signalBytes);
    for (unsigned r = 1; r < world; ++r)
      if (Status status = post.send(0, r, {0, fd.get(), {}}, group.patienceMs()); !status)
        return std::move(status).within(text("hand the ledger to rank ", r));
    return {};
  };
  Status made = make();
  if (made)
    ledger = std::make_shared<Ledger>(
        memory, std::shared_ptr<void>(memory, [bytes](void *start) { ::munmap(start, bytes); }));
  return group.agree(made);
}

/// Makes this rank's heap, hands it out, and opens those of the others.
Status shareHeaps(const Transport &transport, ControlGroup &group, Post &post,
                  const std::shared_ptr<Device> &device, uint64_t bytes,
                  std::vector<std::shared_ptr<SharedMemory>> &heaps) {
  const unsigned world = group.world(), rank = group.rank();
  std::shared_ptr<Heap> own;
  HeapTicket ticket;
  Device *users[] = {device.get()};
  heaps.assign(world, nullptr);
  post.nextRound();
  Status made = transport.create(device, users, bytes, true, own);
  if (made)
    made = own->view(device, heaps[rank]);
  if (made)
    made = own->ticket(ticket);
  Fd ticketFd(ticket.fd);
  if (Status status = group.agree(made); !status)
    return status;
  // All send before they open, so that nobody waits for one who failed to open.
  for (unsigned step = 1; step < world && made; ++step)
    made = post.send(rank, (rank + step) % world, ticket, group.patienceMs());
  struct Received {
    unsigned from = 0;
    HeapTicket ticket;
    Fd fd;
  };
  std::vector<Received> received;
  for (unsigned i = 1; i < world && made; ++i) {
    Received next;
    made = post.receive(world, next.from, next.ticket, next.fd, group.patienceMs());
    received.push_back(std::move(next));
  }
  for (const Received &other : received)
    if (made) {
      made = transport.open(device, other.ticket, bytes, heaps[other.from]);
      if (!made)
        made = std::move(made).within(text("memory of rank ", other.from));
    }
  return group.agree(made);
}

/// The first transport that works on all ranks; the reasons of those that do not.
Status chooseTransport(std::span<const Transport *const> candidates, ControlGroup &group,
                       Post &post, const std::shared_ptr<Device> &device, CommParts &parts) {
  std::string reasons;
  for (const Transport *transport : candidates) {
    Status status =
        shareHeaps(*transport, group, post, device, parts.settings.heapBytes, parts.heaps);
    if (status) {
      parts.transport = text(transport->name(), ", each rank a process",
                             reasons.empty() ? "" : " (not ", reasons, reasons.empty() ? "" : ")");
      return {};
    }
    reasons += text(reasons.empty() ? "" : "; ", transport->name(), ": ", status.message());
    parts.heaps.clear();
  }
  return Status::error(HEDDLE_UNAVAILABLE, text("the ranks cannot exchange data: ", reasons));
}

} // namespace

Status createProcessComm(const std::shared_ptr<Device> &device, const heddle_comm_options *options,
                         std::unique_ptr<Communicator> &comm) {
  const heddle_comm_options given = options ? *options : heddle_comm_options{};
  Membership membership;
  CommParts parts;
  std::vector<const Transport *> candidates;
  if (Status status = findMembership(given, membership); !status)
    return status;
  if (membership.world == 1) {
    std::vector<std::unique_ptr<Communicator>> alone;
    Status status = createLocalComm({&device, 1}, options, alone);
    if (status)
      comm = std::move(alone[0]);
    return status;
  }
  if (device->info().emulated)
    return Status::error(HEDDLE_UNAVAILABLE,
                         "emulated devices of different processes cannot share memory: run their "
                         "ranks in one process (heddle_comm_create_local)");
  if (Status status = CommSettings::of(options, device->info().emulated, parts.settings); !status)
    return status;
  const std::string_view asked = given.transport ? given.transport : "";
  if (Status status = selectTransports(asked, candidates); !status)
    return status;
  std::unique_ptr<ControlGroup> group;
  if (Status status = ControlGroup::meet(membership, group); !status)
    return std::move(status).within(text("rank ", membership.rank, " (", membership.source, ")"));
  if (Status status = compareFacts(*group, factsOf(parts.settings, asked)); !status)
    return status;
  Post post;
  if (Status status = post.open(*group); !status)
    return status;
  if (Status status = shareLedger(*group, post, parts.settings.signalBytes, parts.ledger); !status)
    return status;
  if (Status status = chooseTransport(candidates, *group, post, device, parts); !status)
    return status;
  // How many ranks share this device.
  std::vector<std::string> devices;
  if (Status status = group->exchange(device->identity(), devices); !status)
    return status;
  parts.rank = membership.rank;
  parts.device = device;
  parts.ranksOnDevice = unsigned(std::count(devices.begin(), devices.end(), device->identity()));
  std::shared_ptr<Ledger> ledger = parts.ledger;
  std::unique_ptr<Communicator> made;
  Status status = Communicator::create(std::move(parts), made);
  if (Status agreed = group->agree(status); !agreed)
    return agreed;
  status = group->watch(
      [ledger, rank = membership.rank](unsigned, std::string what) { ledger->abort(rank, what); });
  if (!status)
    return status;
  made->keep(std::shared_ptr<ControlGroup>(std::move(group)));
  comm = std::move(made);
  return {};
}

} // namespace heddle::rt
