//===- TransportConformance.cpp - what every transport keeps ------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TransportConformance.h"
#include <unistd.h>

namespace heddle::rt {

namespace {

constexpr uint64_t heapBytes = (uint64_t(1) << 20) + 4096 + 8; // no power of two, no whole page

class Check {
public:
  Check(const Transport &transport, std::span<const std::shared_ptr<Device>> devices)
      : transport(transport), devices(devices) {
    for (const auto &device : devices)
      users.push_back(device.get());
  }

  ConformanceReport run() {
    reach();
    if (!makeHeaps()) // nothing more can be seen
      return std::move(report);
    alignment();
    zeroed();
    sharing();
    sameView();
    export_();
    freeing();
    return std::move(report);
  }

private:
  using Memory = std::shared_ptr<SharedMemory>;

  /// Notes the outcome of a check that is called `what`.
  void note(const std::string &what, const std::string &problem) {
    (problem.empty() ? report.passed : report.failed)
        .push_back(problem.empty() ? what : what + ": " + problem);
  }
  static std::string problemOf(const Status &status) { return std::string(status.message()); }

  Status write(size_t device, uint64_t address, uint64_t value) {
    Device &d = *devices[device];
    Status status = d.copy(reinterpret_cast<void *>(address), &value, sizeof(value), nullptr);
    return status ? d.syncStream(nullptr) : std::move(status);
  }
  Status read(size_t device, uint64_t address, uint64_t &value) {
    Device &d = *devices[device];
    Status status = d.copy(&value, reinterpret_cast<const void *>(address), sizeof(value), nullptr);
    return status ? d.syncStream(nullptr) : std::move(status);
  }
  std::string expect(size_t device, uint64_t address, uint64_t expected) {
    uint64_t found = ~expected;
    if (Status status = read(device, address, found); !status)
      return problemOf(status);
    return found == expected ? "" : text("expected ", expected, ", found ", found);
  }

  void reach() {
    std::string problem;
    for (Device *from : users)
      for (Device *to : users)
        if (Status status = transport.reaches(*from, *to); !status && problem.empty())
          problem = problemOf(status);
    note("devices reach each other and themselves", problem);
  }

  bool makeHeaps() {
    Status status;
    for (size_t owner = 0; owner < devices.size() && status; ++owner) {
      status = transport.create(devices[owner], users, heapBytes, false, heaps.emplace_back());
      views.emplace_back();
      for (size_t viewer = 0; viewer < devices.size() && status; ++viewer)
        status = heaps[owner]->view(devices[viewer], views[owner].emplace_back());
    }
    note("every device views the heap of every other one", problemOf(status));
    return status.ok();
  }

  void alignment() {
    std::string problem;
    for (const auto &owner : views)
      for (const Memory &view : owner)
        if (view->address() == 0 || view->address() % 256 != 0)
          problem = text("expected a multiple of 256, got address ", view->address());
    note("heaps are 256-byte aligned", problem);
  }

  void zeroed() {
    std::string problem;
    for (size_t owner = 0; owner < views.size(); ++owner)
      for (uint64_t at : {uint64_t(0), heapBytes / 16 * 8, heapBytes - 8})
        if (problem.empty())
          problem = expect(owner, views[owner][owner]->address() + at, 0);
    note("heaps are zeroed at first", problem);
  }

  /// Every viewer writes words of its own into every heap; every other viewer must see them, there
  /// and nowhere else.
  void sharing() {
    auto place = [&](size_t writer, uint64_t part) {
      return part * (heapBytes / 16 * 8) + 8 * writer;
    };
    auto value = [](size_t owner, size_t writer, uint64_t part) {
      return 1 + owner * 1000000 + writer * 1000 + part;
    };
    std::string problem;
    for (size_t owner = 0; owner < views.size(); ++owner)
      for (size_t writer = 0; writer < views.size(); ++writer)
        for (uint64_t part : {0, 1})
          if (Status status = write(writer, views[owner][writer]->address() + place(writer, part),
                                    value(owner, writer, part));
              !status && problem.empty())
            problem = problemOf(status);
    for (size_t owner = 0; owner < views.size(); ++owner)
      for (size_t reader = 0; reader < views.size(); ++reader)
        for (size_t writer = 0; writer < views.size(); ++writer)
          for (uint64_t part : {0, 1})
            if (problem.empty())
              if (std::string wrong =
                      expect(reader, views[owner][reader]->address() + place(writer, part),
                             value(owner, writer, part));
                  !wrong.empty())
                problem = text("heap ", owner, ", written by device ", writer, ", read by ", reader,
                               ": ", wrong);
    note("what one device writes into a heap the others read there", problem);
    problem.clear();
    for (size_t owner = 0; owner < views.size() && problem.empty(); ++owner) {
      const uint64_t last = views[owner][views.size() - 1]->address() + heapBytes - 8;
      if (Status status = write(views.size() - 1, last, 77 + owner); !status)
        problem = problemOf(status);
      else
        problem = expect(owner, views[owner][owner]->address() + heapBytes - 8, 77 + owner);
    }
    note("all bytes that were asked for are there", problem);
  }

  void sameView() {
    Memory again;
    Status status = heaps[0]->view(devices[0], again);
    note("a device that views a heap twice gets one address",
         !status                                      ? problemOf(status)
         : again->address() == views[0][0]->address() ? ""
                                                      : "expected one address, got two");
  }

  void export_() {
    std::shared_ptr<Heap> heap;
    HeapTicket ticket;
    Memory own, opened;
    Device *self[] = {users[0]};
    Status status = transport.create(devices[0], self, heapBytes, true, heap);
    if (status)
      status = heap->view(devices[0], own);
    if (status)
      status = heap->ticket(ticket);
    if (status.code() == HEDDLE_UNAVAILABLE) {
      report.left.push_back("heaps can be opened from a ticket: " + problemOf(status));
      return;
    }
    // The last device opens it: the first may have no need of a mapping of its own.
    const size_t viewer = devices.size() - 1;
    if (status)
      status = transport.open(devices[viewer], ticket, heapBytes, opened);
    if (ticket.fd >= 0)
      ::close(ticket.fd);
    if (status)
      status = write(viewer, opened->address() + 4096, 4242);
    note("heaps can be opened from a ticket",
         status ? expect(0, own->address() + 4096, 4242) : problemOf(status));
    // It must live on without its maker.
    own.reset();
    heap.reset();
    if (status && ticket.fd >= 0)
      note("an opened heap outlives its maker", expect(viewer, opened->address() + 4096, 4242));
  }

  /// Memory that is not given back runs out: many heaps, one after the other.
  void freeing() {
    uint64_t before = 0, after = 0, total = 0;
    Status status = devices[0]->memoryInfo(before, total);
    for (int i = 0; i < 64 && status; ++i) {
      std::shared_ptr<Heap> heap;
      Memory view;
      status = transport.create(devices[0], users, heapBytes, false, heap);
      if (status)
        status = heap->view(devices.back(), view);
    }
    if (status)
      status = devices[0]->memoryInfo(after, total);
    note("heaps give their memory back",
         !status                           ? problemOf(status)
         : before > after + 16 * heapBytes ? text(before - after, " bytes of 64 heaps are missing")
                                           : "");
  }

  const Transport &transport;
  std::span<const std::shared_ptr<Device>> devices;
  std::vector<Device *> users;
  ConformanceReport report;
  std::vector<std::shared_ptr<Heap>> heaps;
  std::vector<std::vector<Memory>> views; ///< by owner, then viewer
};

} // namespace

ConformanceReport checkTransport(const Transport &transport,
                                 std::span<const std::shared_ptr<Device>> devices) {
  return Check(transport, devices).run();
}

} // namespace heddle::rt
