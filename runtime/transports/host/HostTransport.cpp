//===- HostTransport.cpp - heaps in host memory that every device addresses --===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For devices that cannot address each other: a rank's heap is host memory, mapped into
// every device. Slower than peer memory by the ratio of the buses, but it needs nothing
// that a GPU may lack. Atomics on it work between GPUs where the host bus carries them;
// kernels of this project only load, store and release.
//
//===----------------------------------------------------------------------===//

#include "comm/Transport.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace heddle::rt {

namespace {

constexpr uint64_t page = 4096;

/// Zeroed memory behind a file descriptor, so that other processes can map it.
class Pages {
public:
  static Status create(uint64_t bytes, std::shared_ptr<Pages> &pages) {
    int fd = ::memfd_create("heddle-heap", MFD_CLOEXEC);
    if (fd < 0 || ::ftruncate(fd, off_t(bytes)) != 0) {
      const int reason = errno;
      if (fd >= 0)
        ::close(fd);
      return failed(bytes, reason);
    }
    return map(fd, bytes, pages);
  }
  /// Takes the descriptor.
  static Status map(int fd, uint64_t bytes, std::shared_ptr<Pages> &pages) {
    void *start = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (start == MAP_FAILED) {
      const int reason = errno;
      ::close(fd);
      return failed(bytes, reason);
    }
    pages.reset(new Pages(fd, start, bytes));
    return {};
  }
  ~Pages() {
    ::munmap(start, bytes);
    ::close(fd);
  }

  const int fd;
  void *const start;
  const uint64_t bytes;

private:
  Pages(int fd, void *start, uint64_t bytes) : fd(fd), start(start), bytes(bytes) {}
  static Status failed(uint64_t bytes, int reason) {
    return Status::error(HEDDLE_OUT_OF_MEMORY, text("cannot get ", bytes, " bytes of host memory: ",
                                                    std::string_view(std::strerror(reason))));
  }
};

class HostView final : public SharedMemory {
public:
  static Status create(std::shared_ptr<Device> viewer, std::shared_ptr<Pages> pages,
                       std::shared_ptr<SharedMemory> &memory) {
    uint64_t address = 0;
    if (Status status = viewer->mapHost(pages->start, pages->bytes, address); !status)
      return status;
    memory.reset(new HostView(std::move(viewer), std::move(pages), address));
    return {};
  }
  // Nothing can be done about a failure here; a lost device reports itself elsewhere.
  ~HostView() override { (void)viewer->unmapHost(pages->start); }
  uint64_t address() const override { return start; }

private:
  HostView(std::shared_ptr<Device> viewer, std::shared_ptr<Pages> pages, uint64_t start)
      : viewer(std::move(viewer)), pages(std::move(pages)), start(start) {}
  std::shared_ptr<Device> viewer;
  std::shared_ptr<Pages> pages;
  uint64_t start;
};

class HostHeap final : public Heap {
public:
  explicit HostHeap(std::shared_ptr<Pages> pages) : pages(std::move(pages)) {}
  Status view(const std::shared_ptr<Device> &viewer,
              std::shared_ptr<SharedMemory> &memory) override {
    // A device maps the same memory once; a view keeps its device.
    for (auto &[device, weak] : views)
      if (auto known = weak.lock(); known && device->isSame(*viewer)) {
        memory = std::move(known);
        return {};
      }
    if (Status status = HostView::create(viewer, pages, memory); !status)
      return status;
    views.emplace_back(viewer.get(), memory);
    return {};
  }
  Status ticket(HeapTicket &ticket) override {
    ticket.fd = ::fcntl(pages->fd, F_DUPFD_CLOEXEC, 0);
    if (ticket.fd < 0)
      return Status::error(HEDDLE_INTERNAL, text("cannot duplicate a file descriptor: ",
                                                 std::string_view(std::strerror(errno))));
    return {};
  }

private:
  std::shared_ptr<Pages> pages;
  std::vector<std::pair<Device *, std::weak_ptr<SharedMemory>>> views;
};

class HostTransport final : public Transport {
public:
  std::string_view name() const override { return "host"; }
  std::string_view description() const override {
    return "heaps are host memory, which kernels of all ranks load and store";
  }
  /// Any GPU maps host memory; one that does not tells so when it is asked to. Emulated devices run
  /// together only in one group.
  Status reaches(Device &from, Device &to) const override {
    return from.info().emulated && !from.isSame(to) ? from.canAddress(to) : Status();
  }
  Status create(const std::shared_ptr<Device> &, std::span<Device *const>, uint64_t bytes, bool,
                std::shared_ptr<Heap> &heap) const override {
    std::shared_ptr<Pages> pages;
    if (Status status = Pages::create((bytes + page - 1) / page * page, pages); !status)
      return status;
    heap = std::make_shared<HostHeap>(std::move(pages));
    return {};
  }
  Status open(const std::shared_ptr<Device> &viewer, const HeapTicket &ticket, uint64_t bytes,
              std::shared_ptr<SharedMemory> &memory) const override {
    const int fd = ::fcntl(ticket.fd, F_DUPFD_CLOEXEC, 0);
    std::shared_ptr<Pages> pages;
    if (Status status = Pages::map(fd, (bytes + page - 1) / page * page, pages); !status)
      return status;
    return HostView::create(viewer, std::move(pages), memory);
  }
};

} // namespace

const Transport &hostTransport() {
  static const HostTransport transport;
  return transport;
}

} // namespace heddle::rt
