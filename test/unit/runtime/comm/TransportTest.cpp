//===- TransportTest.cpp - transports between the devices there are -----===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../FakeBackend.h"
#include "conformance/TransportConformance.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace heddle::rt;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

std::vector<std::shared_ptr<Device>> open(std::vector<std::string> names) {
  std::vector<std::shared_ptr<Device>> devices;
  for (const std::string &name : names) {
    std::shared_ptr<Device> device;
    if (Status status = Registry::get().open(name, device); !status)
      return {};
    devices.push_back(std::move(device));
  }
  return devices;
}

TEST(Transport, EmulatedDevicesConform) {
  for (const Transport *transport : transports())
    for (size_t count : {1, 3}) {
      auto devices = open(
          std::vector<std::string>(count, text("emulator:sm_80,group=", transport->name(), count)));
      if (devices.empty())
        GTEST_SKIP() << "no emulator";
      ConformanceReport report = checkTransport(*transport, devices);
      EXPECT_THAT(report.failed, IsEmpty()) << transport->name() << " " << count;
      EXPECT_GE(report.passed.size(), 7u) << transport->name() << " " << count;
    }
}

TEST(Transport, GpusConform) {
  std::vector<std::shared_ptr<Device>> devices = open({"cuda:0"});
  if (devices.empty())
    GTEST_SKIP() << "no GPU";
  if (auto both = open({"cuda:0", "cuda:1"}); !both.empty())
    devices = both;
  for (const Transport *transport : transports()) {
    ConformanceReport report = checkTransport(*transport, devices);
    EXPECT_THAT(report.failed, IsEmpty()) << transport->name();
    EXPECT_THAT(report.left, IsEmpty()) << transport->name();
    EXPECT_GE(report.passed.size(), 8u) << transport->name();
  }
}

/// Breaks one promise at a time: the checks must find it.
class Broken final : public Transport {
public:
  enum Defect { ApartHeaps, Dirty };
  explicit Broken(Defect defect) : defect(defect) {}
  std::string_view name() const override { return "broken"; }
  std::string_view description() const override { return "keeps nothing"; }
  Status reaches(Device &, Device &) const override { return {}; }
  Status create(const std::shared_ptr<Device> &, std::span<Device *const>, uint64_t bytes,
                bool exportable, std::shared_ptr<Heap> &heap) const override {
    if (exportable)
      return Status::error(HEDDLE_UNAVAILABLE, "not shared with other processes");
    heap = std::make_shared<BrokenHeap>(defect, bytes);
    return {};
  }
  Status open(const std::shared_ptr<Device> &, const HeapTicket &, uint64_t,
              std::shared_ptr<SharedMemory> &) const override {
    return Status::error(HEDDLE_UNAVAILABLE, "not shared with other processes");
  }

private:
  struct Words final : SharedMemory {
    explicit Words(uint64_t bytes, uint8_t value) : memory(bytes + 512, value) {}
    uint64_t address() const override {
      return (uint64_t(reinterpret_cast<uintptr_t>(memory.data())) + 255) / 256 * 256;
    }
    std::vector<uint8_t> memory;
  };
  struct BrokenHeap final : Heap {
    BrokenHeap(Defect defect, uint64_t bytes)
        : defect(defect), bytes(bytes), shared(std::make_shared<Words>(bytes, defect == Dirty)) {}
    Status view(const std::shared_ptr<Device> &, std::shared_ptr<SharedMemory> &memory) override {
      memory = defect == ApartHeaps ? std::make_shared<Words>(bytes, 0) : shared;
      return {};
    }
    Status ticket(HeapTicket &) override { return {}; }
    Defect defect;
    uint64_t bytes;
    std::shared_ptr<Words> shared;
  };
  Defect defect;
};

TEST(Transport, ChecksFindWhatIsBroken) {
  std::vector<std::shared_ptr<Device>> devices = {test::openFake(9, 0), test::openFake(9, 0)};
  ConformanceReport apart = checkTransport(Broken(Broken::ApartHeaps), devices);
  EXPECT_THAT(apart.failed, testing::Contains(HasSubstr(
                                "the others read there: heap 0, written by device 1, read by 0")));
  EXPECT_THAT(apart.failed, testing::Contains(HasSubstr("gets one address")));
  EXPECT_THAT(apart.left, ElementsAre(HasSubstr("not shared with other processes")));
  ConformanceReport dirty = checkTransport(Broken(Broken::Dirty), devices);
  EXPECT_THAT(dirty.failed,
              testing::Contains(HasSubstr("heaps are zeroed at first: expected 0, found")));
  EXPECT_THAT(checkTransport(*transports()[1], devices).failed, IsEmpty());
}

TEST(Transport, IsChosenByName) {
  std::vector<const Transport *> selected;
  ASSERT_TRUE(selectTransports("auto", selected));
  EXPECT_EQ(selected.size(), transports().size());
  ASSERT_TRUE(selectTransports("host", selected));
  ASSERT_EQ(selected.size(), 1u);
  EXPECT_EQ(selected[0]->name(), "host");
  EXPECT_THAT(selectTransports("pigeon", selected).message(),
              HasSubstr("expected a transport of nvlink, host or auto, got 'pigeon'"));
}

} // namespace
