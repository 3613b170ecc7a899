//===- ProcessCommTest.cpp - ranks that meet as processes do ------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../FakeBackend.h"
#include "heddle-rt/heddle.hpp"
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace heddle;
using testing::AllOf;
using testing::HasSubstr;

namespace {

heddle_comm_options optionsOf(int rank, int world, uint16_t port) {
  heddle_comm_options options = {};
  options.rank = rank;
  options.world = world;
  options.port = port;
  options.address = "127.0.0.1";
  options.heap_bytes = 1 << 16;
  options.signal_bytes = 4096;
  options.rendezvous_ms = 10000;
  options.timeout_ms = 5000;
  return options;
}

uint16_t nextPort() {
  static unsigned count = 0;
  return uint16_t(33000 + (unsigned(::getpid()) * 16 + count++) % 12000);
}

Device fake() {
  rt::test::registerFake();
  auto device = Device::open("fake:9.0");
  if (!device)
    std::abort();
  return *device;
}

/// Runs `body(rank)` on threads; ranks of one process may meet as those of several do.
template <typename Body> void onRanks(int world, Body body) {
  std::vector<std::thread> threads;
  for (int r = 0; r < world; ++r)
    threads.emplace_back([&, r] { body(r); });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(ProcessComm, SharesHeapsBetweenRanks) {
  const uint16_t port = nextPort();
  fake(); // registered before the threads start
  onRanks(3, [&](int rank) {
    Device device = fake();
    auto comm = Comm::create(device, optionsOf(rank, 3, port));
    ASSERT_TRUE(comm) << comm.status().text();
    auto info = comm->info();
    EXPECT_EQ(info->rank, rank);
    EXPECT_EQ(info->world, 3);
    EXPECT_THAT(info->transport,
                AllOf(HasSubstr("host, each rank a process"),
                      HasSubstr("not nvlink: rank 0: fake:9.0 cannot share memory")));
    auto mine = comm->alloc(256);
    ASSERT_TRUE(mine) << mine.status().text();
    // Everybody writes its number to everybody.
    for (int to = 0; to < 3; ++to)
      static_cast<int *>(*comm->peer(*mine, to))[rank] = 10 * to + rank + 1;
    ASSERT_TRUE(comm->barrier());
    for (int from = 0; from < 3; ++from)
      EXPECT_EQ(static_cast<int *>(*mine)[from], 10 * rank + from + 1);
    ASSERT_TRUE(comm->barrier());
    EXPECT_TRUE(comm->check());
    EXPECT_TRUE(comm->free(*mine));
    ASSERT_TRUE(comm->barrier());
  });
}

TEST(ProcessComm, NamesTheRankThatDiffers) {
  const uint16_t port = nextPort();
  fake();
  onRanks(3, [&](int rank) {
    heddle_comm_options options = optionsOf(rank, 3, port);
    if (rank == 2)
      options.timeout_ms = 7000;
    Status status = Comm::create(fake(), options).status();
    EXPECT_EQ(status.code(), HEDDLE_COMM_MISMATCH);
    EXPECT_THAT(status.message(),
                HasSubstr("rank 2 differs in timeout_ms: expected 5000 as on rank 0, got 7000"));
  });
}

TEST(ProcessComm, CallsAreCompared) {
  const uint16_t port = nextPort();
  fake();
  onRanks(2, [&](int rank) {
    auto comm = Comm::create(fake(), optionsOf(rank, 2, port));
    ASSERT_TRUE(comm) << comm.status().text();
    ASSERT_TRUE(comm->barrier());
    auto memory = comm->alloc(rank ? 512 : 1024);
    Status status = comm->barrier();
    EXPECT_EQ(status.code(), HEDDLE_COMM_FAILED);
    EXPECT_THAT(comm->check().message(), AllOf(HasSubstr("an allocation of 512 bytes"),
                                               HasSubstr("an allocation of 1024 bytes")));
  });
}

TEST(ProcessComm, ASlowRankIsNamed) {
  const uint16_t port = nextPort();
  fake();
  onRanks(2, [&](int rank) {
    heddle_comm_options options = optionsOf(rank, 2, port);
    options.timeout_ms = 300;
    auto comm = Comm::create(fake(), options);
    ASSERT_TRUE(comm) << comm.status().text();
    if (rank == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(900));
      return;
    }
    EXPECT_THAT(
        comm->barrier().message(),
        HasSubstr(
            "rank 1 did not come within 300 ms: it has made 0 collective calls, this rank 1"));
  });
}

/// A rank whose process is killed; the others go on without it.
TEST(ProcessComm, ADeadRankIsNoticedAndLeftOut) {
  const uint16_t port = nextPort(), later = nextPort();
  std::vector<pid_t> children;
  for (int rank : {1, 2}) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      int failures = 0;
      {
        auto comm = Comm::create(fake(), optionsOf(rank, 3, port));
        failures += !comm || !comm->barrier();
        if (rank == 2)
          ::raise(SIGKILL);
        failures += comm->barrier().code() != HEDDLE_COMM_FAILED;
      }
      auto anew = Comm::create(fake(), optionsOf(1, 2, later));
      failures += !anew || !anew->barrier();
      ::_exit(failures);
    }
    children.push_back(child);
  }
  {
    auto comm = Comm::create(fake(), optionsOf(0, 3, port));
    ASSERT_TRUE(comm) << comm.status().text();
    ASSERT_TRUE(comm->barrier());
    Status status = comm->barrier();
    EXPECT_EQ(status.code(), HEDDLE_COMM_FAILED);
    EXPECT_THAT(status.message(), HasSubstr("rank 2 is gone: its process ended without leaving"));
    EXPECT_THAT(comm->check().message(), HasSubstr("rank 2 is gone"));
  }
  auto anew = Comm::create(fake(), optionsOf(0, 2, later));
  ASSERT_TRUE(anew) << anew.status().text();
  EXPECT_TRUE(anew->barrier());
  int state = 0;
  ::waitpid(children[0], &state, 0);
  EXPECT_TRUE(WIFEXITED(state) && WEXITSTATUS(state) == 0) << state;
  ::waitpid(children[1], &state, 0);
  EXPECT_TRUE(WIFSIGNALED(state));
}

TEST(ProcessComm, EmulatedDevicesStayInOneProcess) {
  auto device = Device::open("emulator:sm_80");
  if (!device)
    GTEST_SKIP() << "no emulator";
  EXPECT_THAT(Comm::create(*device, optionsOf(0, 2, nextPort())).status().message(),
              HasSubstr("emulated devices of different processes cannot share memory"));
  auto alone = Comm::create(*device, optionsOf(0, 1, nextPort()));
  ASSERT_TRUE(alone) << alone.status().text();
  EXPECT_TRUE(alone->barrier());
}

} // namespace
