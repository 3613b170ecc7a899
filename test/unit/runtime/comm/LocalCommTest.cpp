//===- LocalCommTest.cpp - ranks of one process on emulated devices ---------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../TestPackages.h"
#include "GatherPackage.h"
#include "heddle-rt/heddle.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

using namespace heddle;
using namespace heddle::rt::test;
using testing::AllOf;
using testing::HasSubstr;

namespace {

/// Ranks with X and Y of all_gather in place.
class Gather {
public:
  explicit Gather(size_t world, const std::string &settings = ",checks=races",
                  GatherDefect defect = GatherDefect::None, uint32_t timeoutMs = 20000) {
    static int groups = 0;
    const std::string name =
        "emulator:sm_80,sms=2,group=gather" + std::to_string(groups++) + settings;
    const std::vector<uint8_t> package = bytesOf(gatherPackage(defect));
    for (size_t r = 0; r < world; ++r) {
      auto device = Device::open(name);
      if (!device) {
        ADD_FAILURE() << device.status().text();
        return;
      }
      devices.push_back(*device);
      kernels.push_back(*device->load(package.data(), package.size())->kernel());
    }
    heddle_comm_options options = {};
    options.heap_bytes = 1 << 20;
    options.timeout_ms = timeoutMs;
    auto made = Comm::createLocal(devices, options);
    if (!made) {
      ADD_FAILURE() << made.status().text();
      return;
    }
    comms = std::move(*made);
    for (size_t r = 0; r < world; ++r) {
      auto input = devices[r].alloc(4 * n);
      x.push_back(std::move(*input));
      y.push_back(*comms[r].alloc(4 * n * world));
    }
  }

  void setInputs(float start) {
    for (size_t r = 0; r < devices.size(); ++r) {
      std::vector<float> values(n);
      for (size_t i = 0; i < n; ++i)
        values[i] = start + float(r * 1000 + i);
      Status status = x[r].upload(values.data(), 4 * n);
      EXPECT_TRUE(status) << status.text();
    }
  }
  Status launch(size_t r, int64_t count = n, void *output = nullptr) {
    const int64_t world = int64_t(devices.size());
    heddle_launch_options options = {};
    options.comm = comms[r].handle();
    options.check_pointers = 1;
    return kernels[r].launch({Tensor{HEDDLE_F32, x[r].data(), {count}, {}},
                              Tensor{HEDDLE_F32, output ? output : y[r], {world, count}, {}}},
                             options);
  }
  /// Waits for all ranks; what failed on their devices.
  std::string failures() {
    std::string text;
    for (Device &device : devices)
      if (Status status = device.sync(); !status)
        text += status.text() + "\n";
    return text;
  }
  void expectOutputs(float start) {
    for (size_t r = 0; r < devices.size(); ++r) {
      std::vector<float> got(n * devices.size());
      Status status = heddle_copy(devices[r].handle(), got.data(), y[r], 4 * got.size(), nullptr);
      ASSERT_TRUE(status) << status.text();
      for (size_t from = 0; from < devices.size(); ++from)
        for (size_t i = 0; i < n; ++i)
          ASSERT_EQ(got[from * n + i], start + float(from * 1000 + i)) << r << " " << from;
    }
  }

  static constexpr size_t n = 100;
  std::vector<Device> devices;
  std::vector<Kernel> kernels;
  std::vector<Comm> comms;
  std::vector<Buffer> x;
  std::vector<void *> y;
};

TEST(LocalComm, GathersOnTwoAndFourRanks) {
  for (size_t world : {1, 2, 4})
    for (int seed : {0, 1, 2, 3}) {
      Gather gather(world, ",checks=races,seed=" + std::to_string(seed));
      // Several launches: counters go on counting.
      for (float start : {1.f, 20000.f, 3.f}) {
        gather.setInputs(start);
        for (size_t r = 0; r < world; ++r) {
          Status status = gather.launch(r);
          ASSERT_TRUE(status) << status.text();
        }
        ASSERT_EQ(gather.failures(), "") << world << " ranks, seed " << seed;
        gather.expectOutputs(start);
        for (Comm &comm : gather.comms)
          EXPECT_TRUE(comm.check());
      }
    }
}

TEST(LocalComm, QueuedLaunchesNeedNoHost) {
  Gather gather(2);
  gather.setInputs(5);
  for (int i = 0; i < 4; ++i)
    for (size_t r = 0; r < 2; ++r)
      ASSERT_TRUE(gather.launch(r));
  ASSERT_EQ(gather.failures(), "");
  gather.expectOutputs(5);
}

TEST(LocalComm, RanksInThreads) {
  Gather gather(4);
  gather.setInputs(7);
  std::vector<std::thread> threads;
  for (size_t r = 0; r < 4; ++r)
    threads.emplace_back([&, r] {
      Status status = gather.launch(r);
      if (status)
        status = gather.devices[r].sync();
      EXPECT_TRUE(status) << status.text();
    });
  for (std::thread &thread : threads)
    thread.join();
  gather.expectOutputs(7);
}

// The emulator finds what a kernel leaves out.
TEST(LocalComm, BrokenProtocolsAreReported) {
  for (GatherDefect defect : {GatherDefect::NoCredit, GatherDefect::NoRelease}) {
    std::string reports;
    for (int seed : {1, 2, 3, 4}) {
      Gather gather(2, ",checks=races,seed=" + std::to_string(seed), defect);
      for (int i = 0; i < 3; ++i)
        for (size_t r = 0; r < 2; ++r)
          (void)gather.launch(r);
      reports += gather.failures();
    }
    EXPECT_THAT(reports, HasSubstr("data race on global memory")) << int(defect);
  }
}

TEST(LocalComm, AMissingRankIsNamed) {
  Gather gather(3, ",checks=races", GatherDefect::None, 200);
  gather.setInputs(1);
  ASSERT_TRUE(gather.launch(0));
  ASSERT_TRUE(gather.launch(2));
  EXPECT_EQ(gather.failures(), ""); // the kernels end by themselves
  EXPECT_THAT(
      gather.comms[0].check().text(),
      AllOf(HasSubstr("communication failed: rank 0: kernel all_gather, role push, channel "),
            HasSubstr(": rank 1 did not come within 200 ms: expected counter 1, found 0 "
                      "(launch 1 of this kernel, wait 1); rank 1 has made 1 collective "
                      "calls, this rank 2")));
  // Everybody knows now, and nothing more is launched.
  EXPECT_THAT(gather.comms[1].check().text(), HasSubstr("the communicator was given up: rank 0: "));
  Status late = gather.launch(1);
  EXPECT_EQ(late.code(), HEDDLE_COMM_FAILED);
  EXPECT_THAT(late.message(), HasSubstr("the communicator was given up: rank 0"));
}

TEST(LocalComm, IsMadeAnewWithTheRanksThatAreLeft) {
  Gather gather(3, "", GatherDefect::None, 100);
  ASSERT_TRUE(gather.launch(0));
  ASSERT_TRUE(gather.launch(2));
  EXPECT_EQ(gather.failures(), "");
  EXPECT_FALSE(gather.comms[0].check());
  // Rank 1 is gone.
  gather.comms.clear();
  gather.devices.erase(gather.devices.begin() + 1);
  gather.kernels.erase(gather.kernels.begin() + 1);
  gather.x.erase(gather.x.begin() + 1);
  gather.y.clear();
  auto made = Comm::createLocal(gather.devices);
  ASSERT_TRUE(made) << made.status().text();
  gather.comms = std::move(*made);
  for (Comm &comm : gather.comms)
    gather.y.push_back(*comm.alloc(4 * Gather::n * 2));
  gather.setInputs(9);
  for (size_t r = 0; r < 2; ++r)
    ASSERT_TRUE(gather.launch(r));
  ASSERT_EQ(gather.failures(), "");
  gather.expectOutputs(9);
}

TEST(LocalComm, AbortEndsKernels) {
  Gather gather(2);
  ASSERT_TRUE(gather.launch(0));
  ASSERT_TRUE(gather.comms[1].abort("rank 1 lost its mind"));
  EXPECT_EQ(gather.failures(), "");
  EXPECT_THAT(gather.comms[0].check().text(),
              AllOf(HasSubstr("the communicator was given up: rank 1: rank 1 lost its mind"),
                    HasSubstr("stopped while it waited for rank 1")));
}

TEST(LocalComm, CallsThatDifferAreRefused) {
  Gather gather(2);
  ASSERT_TRUE(gather.launch(0));
  Status status = gather.launch(1, 50);
  EXPECT_EQ(status.code(), HEDDLE_COMM_MISMATCH);
  EXPECT_THAT(
      status.message(),
      HasSubstr("collective call 2 of rank 1 is a launch of all_gather (variant 1, sizes 2, "
                "50), that of rank 0 was a launch of all_gather (variant 1, sizes 2, 100)"));
  EXPECT_EQ(gather.failures(), "");
  EXPECT_EQ(gather.comms[0].check().code(), HEDDLE_COMM_FAILED);
}

TEST(LocalComm, AllocationsThatDifferAreRefused) {
  Gather gather(2);
  ASSERT_TRUE(gather.comms[0].alloc(512));
  EXPECT_THAT(gather.comms[1].alloc(1024).status().message(),
              HasSubstr("is an allocation of 1024 bytes, that of rank 0 was an allocation of 512"));
}

TEST(LocalComm, HeapsAreSymmetric) {
  Gather gather(2);
  heddle_comm_info infos[2] = {*gather.comms[0].info(), *gather.comms[1].info()};
  auto offset = [&](int r, void *p) {
    return static_cast<char *>(p) - static_cast<char *>(infos[r].heap);
  };
  EXPECT_EQ(offset(0, gather.y[0]), offset(1, gather.y[1]));
  EXPECT_EQ(*gather.comms[0].peer(gather.y[0], 1), gather.y[1]);
  EXPECT_THAT(gather.comms[0].peer(gather.y[0], 2).status().message(),
              HasSubstr("expected a rank below 2, got 2"));
  EXPECT_EQ(infos[1].rank, 1);
  EXPECT_EQ(infos[1].world, 2);
  EXPECT_GE(infos[0].heap_bytes, uint64_t(1) << 20);
  // Freed memory is dealt out again, at one place everywhere.
  void *again[2];
  for (int r : {0, 1})
    ASSERT_TRUE(gather.comms[size_t(r)].free(gather.y[size_t(r)]));
  for (int r : {0, 1})
    again[r] = *gather.comms[size_t(r)].alloc(64);
  EXPECT_EQ(again[0], gather.y[0]);
  EXPECT_EQ(again[1], gather.y[1]);
  EXPECT_THAT(gather.comms[0].free(static_cast<char *>(again[0]) + 256).message(),
              HasSubstr("that came from heddle_comm_alloc"));
}

TEST(LocalComm, AFullHeapTellsWhatItNeeds) {
  Gather gather(1);
  EXPECT_THAT(gather.comms[0].alloc(2 << 20).status().message(),
              AllOf(HasSubstr("expected room for 2097152 bytes in the symmetric heap of rank 0"),
                    HasSubstr("make the communicator with heap_bytes of at least 2097664")));
}

TEST(LocalComm, ArgumentsMustBeSymmetric) {
  Gather gather(2);
  auto outside = gather.devices[0].alloc(4096);
  ASSERT_TRUE(outside) << outside.status().text();
  Status status = gather.launch(0, Gather::n, outside->data());
  EXPECT_EQ(status.code(), HEDDLE_INVALID_ARGUMENT);
  EXPECT_EQ(status.argument(), "Y");
  EXPECT_THAT(status.message(),
              HasSubstr("argument Y: expected 800 bytes in the symmetric heap of rank 0"));
  heddle_comm_info info = *gather.comms[0].info();
  status = gather.launch(0, Gather::n, static_cast<char *>(info.heap) + info.heap_bytes - 512);
  EXPECT_THAT(status.message(), HasSubstr("an address whose bytes leave it"));
}

TEST(LocalComm, ALaunchNeedsItsCommunicator) {
  Gather gather(2);
  const std::vector<Argument> args = {Tensor{HEDDLE_F32, gather.x[0].data(), {100}, {}},
                                      Tensor{HEDDLE_F32, gather.y[0], {2, 100}, {}}};
  EXPECT_THAT(gather.kernels[0].launch(args).message(),
              HasSubstr("the kernel talks to other ranks: expected a communicator"));
  heddle_launch_options options = {};
  options.comm = gather.comms[1].handle();
  EXPECT_THAT(gather.kernels[0].launch(args, options).message(),
              HasSubstr("expected a communicator of the kernel's device"));
  options.comm = gather.comms[0].handle();
  EXPECT_THAT(gather.kernels[0]
                  .launch({args[0], Tensor{HEDDLE_F32, gather.y[0], {3, 100}, {}}}, options)
                  .message(),
              HasSubstr("expected the size world to be 2 (the number of ranks), got 3"));
}

TEST(LocalComm, DevicesMustReachEachOther) {
  std::vector<Device> apart = {*Device::open("emulator:sm_80"), *Device::open("emulator:sm_80")};
  Status status = Comm::createLocal(apart).status();
  EXPECT_EQ(status.code(), HEDDLE_UNAVAILABLE);
  EXPECT_THAT(status.message(),
              HasSubstr("the ranks cannot exchange data: nvlink: ranks 0 and 1: expected emulated "
                        "devices of one group"));
  Device one = *Device::open("emulator:sm_80,group=one");
  EXPECT_THAT(Comm::createLocal({one, one}).status().message(),
              HasSubstr("expected an emulated device for each rank"));
  EXPECT_THAT(Comm::createLocal({}).status().message(),
              HasSubstr("expected 1 to 1024 ranks, got 0"));
}

} // namespace
