//===- ControlGroupTest.cpp - ranks that meet over TCP ------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "comm/ControlGroup.h"
#include "comm/Hmac.h"
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace heddle::rt;
using testing::AllOf;
using testing::HasSubstr;

namespace {

/// Another port for each test and each process of a parallel run.
uint16_t nextPort() {
  static unsigned count = 0;
  return uint16_t(20000 + (unsigned(::getpid()) * 16 + count++) % 12000);
}

Membership member(unsigned rank, unsigned world, uint16_t port, uint32_t patienceMs = 20000) {
  Membership self;
  self.rank = rank;
  self.world = world;
  self.address = "127.0.0.1";
  self.port = port;
  self.patienceMs = patienceMs;
  return self;
}

/// Runs `body(i)` in a thread for each i and gives what it returned.
template <typename Body> std::vector<std::string> inThreads(unsigned count, Body body) {
  std::vector<std::string> results(count);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < count; ++i)
    threads.emplace_back([&, i] { results[i] = body(i); });
  for (std::thread &thread : threads)
    thread.join();
  return results;
}

std::string meet(const Membership &self) {
  std::unique_ptr<ControlGroup> group;
  Status status = ControlGroup::meet(self, group);
  std::vector<std::string> all;
  if (status)
    status = group->exchange("x", all);
  return status ? "met" : std::string(status.message());
}

TEST(ControlGroup, ExchangesInOrderOfRanks) {
  for (unsigned world : {1u, 2u, 5u}) {
    const uint16_t port = nextPort();
    std::vector<std::string> got = inThreads(world, [&](unsigned r) -> std::string {
      std::unique_ptr<ControlGroup> group;
      if (Status status = ControlGroup::meet(member(r, world, port), group); !status)
        return std::string(status.message());
      std::string out;
      for (std::string_view round : {"a", ""}) {
        std::vector<std::string> all;
        if (Status status = group->exchange(round.empty() ? "" : text(round, r), all); !status)
          return std::string(status.message());
        for (const std::string &part : all)
          out += part + ";";
      }
      return out;
    });
    std::string expected;
    for (unsigned r = 0; r < world; ++r)
      expected += text("a", r, ";");
    expected += std::string(world, ';');
    for (const std::string &text : got)
      EXPECT_EQ(text, expected);
  }
}

TEST(ControlGroup, AgreesOnTheFirstFailure) {
  const uint16_t port = nextPort();
  for (const std::string &text : inThreads(3, [&](unsigned r) -> std::string {
         std::unique_ptr<ControlGroup> group;
         if (Status status = ControlGroup::meet(member(r, 3, port), group); !status)
           return std::string(status.message());
         if (Status status = group->agree({}); !status)
           return std::string(status.message());
         Status mine = r == 1 ? Status::error(HEDDLE_OUT_OF_MEMORY, "no room") : Status();
         Status agreed = group->agree(mine);
         EXPECT_EQ(agreed.code(), HEDDLE_OUT_OF_MEMORY);
         return std::string(agreed.message());
       }))
    EXPECT_EQ(text, "rank 1: no room");
}

TEST(ControlGroup, NamesRanksThatDoNotCome) {
  const uint16_t port = nextPort();
  for (const std::string &text :
       inThreads(2, [&](unsigned r) { return meet(member(r, 4, port, 400)); }))
    EXPECT_THAT(text, HasSubstr("ranks 2, 3 of 4 did not come within 400 ms"));
  EXPECT_THAT(meet(member(1, 2, nextPort(), 200)),
              HasSubstr("rank 0 did not answer within 200 ms"));
}

TEST(ControlGroup, AsksForTheSecret) {
  const uint16_t port = nextPort();
  std::vector<std::string> got = inThreads(3, [&](unsigned r) {
    Membership self = member(r, 3, port, 600);
    self.secret = r == 2 ? "wrong" : "right";
    return meet(self);
  });
  EXPECT_THAT(got[0],
              HasSubstr("rank 2 of 3 did not come within 600 ms (1 refused: the secret differs)"));
  EXPECT_EQ(got[1], got[0]);
  EXPECT_THAT(got[2], HasSubstr("the secret differs"));
  Membership open = member(0, 2, nextPort());
  open.address = "0.0.0.0";
  EXPECT_THAT(meet(open),
              HasSubstr("expected a secret (HEDDLE_SECRET) to meet other ranks at 0.0.0.0"));
  open.rank = 1;
  EXPECT_THAT(meet(open), HasSubstr("expected a secret (HEDDLE_SECRET)"));
}

TEST(ControlGroup, FindsRanksThatCountDifferently) {
  uint16_t port = nextPort();
  std::vector<std::string> got =
      inThreads(2, [&](unsigned r) { return meet(member(r, 2 + r, port, 2000)); });
  for (const std::string &text : got)
    EXPECT_THAT(text, HasSubstr("rank 1 expects 3 ranks, rank 0 expects 2"));
  port = nextPort();
  got = inThreads(3, [&](unsigned r) { return meet(member(r ? 1 : 0, 3, port, 2000)); });
  for (const std::string &text : got)
    EXPECT_THAT(text, HasSubstr("two processes call themselves rank 1"));
}

TEST(ControlGroup, StrangersDoNotDisturb) {
  const uint16_t port = nextPort();
  std::vector<std::string> got = inThreads(3, [&](unsigned r) -> std::string {
    if (r < 2) {
      if (r == 1)
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
      return meet(member(r, 2, port));
    }
    Fd socket;
    char noise[200] = "GET / HTTP/1.0\r\n\r\n";
    if (Status status = connectTcp("127.0.0.1", port, after(5000), socket); !status)
      return std::string(status.message());
    (void)sendAll(socket, noise, sizeof(noise), after(1000));
    return "met";
  });
  EXPECT_THAT(got, testing::ElementsAre("met", "met", "met"));
}

std::string hex(const Digest &digest) {
  std::string out;
  for (uint8_t byte : digest) {
    out += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
  }
  return out;
}

// The examples of RFC 4231, sections 4.3 and 4.7.
TEST(Hmac, MatchesTheStandard) {
  EXPECT_EQ(hex(hmac("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(
      hex(hmac(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  EXPECT_TRUE(equal(hmac("a", "b"), hmac("a", "b")));
  EXPECT_FALSE(equal(hmac("a", "b"), hmac("a", "c")));
}

/// Sets variables for a scope; all of a launcher's are cleared first.
class Variables {
public:
  explicit Variables(std::vector<std::pair<const char *, const char *>> values) {
    for (const char *name : {"RANK", "WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                             "PMI_RANK", "PMI_SIZE", "SLURM_PROCID", "SLURM_NTASKS", "MASTER_ADDR",
                             "MASTER_PORT", "HEDDLE_PORT", "HEDDLE_SECRET"})
      ::unsetenv(name);
    for (const auto &[name, value] : values)
      ::setenv(name, value, 1);
    set = std::move(values);
  }
  ~Variables() {
    for (const auto &[name, value] : set)
      ::unsetenv(name);
  }

private:
  std::vector<std::pair<const char *, const char *>> set;
};

TEST(Environment, ReadsLaunchers) {
  Membership self;
  {
    Variables torchrun({{"RANK", "3"},
                        {"WORLD_SIZE", "8"},
                        {"MASTER_ADDR", "10.0.0.7"},
                        {"MASTER_PORT", "1000"},
                        {"HEDDLE_SECRET", "s"},
                        {"PMI_RANK", "1"},
                        {"PMI_SIZE", "2"}});
    ASSERT_TRUE(findMembership({}, self));
    EXPECT_EQ(self.rank, 3u);
    EXPECT_EQ(self.world, 8u);
    EXPECT_EQ(self.address, "10.0.0.7");
    EXPECT_EQ(self.port, 1001);
    EXPECT_EQ(self.secret, "s");
    heddle_comm_options options = {};
    options.rank = 1;
    options.world = 2;
    options.port = 77;
    ASSERT_TRUE(findMembership(options, self));
    EXPECT_EQ(self.rank, 1u);
    EXPECT_EQ(self.port, 77);
    EXPECT_EQ(self.source, "the options");
  }
  const std::pair<const char *, const char *> others[] = {
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
      {"PMI_RANK", "PMI_SIZE"},
      {"SLURM_PROCID", "SLURM_NTASKS"}};
  for (const auto &[rank, world] : others) {
    Variables launcher({{rank, "1"}, {world, "4"}});
    ASSERT_TRUE(findMembership({}, self)) << rank;
    EXPECT_EQ(self.rank, 1u);
    EXPECT_EQ(self.world, 4u);
    EXPECT_EQ(self.address, "127.0.0.1");
  }
  Variables wrong({{"RANK", "8"}, {"WORLD_SIZE", "8"}});
  EXPECT_THAT(findMembership({}, self).message(),
              HasSubstr("expected RANK to be a number from 0 to 7, got '8'"));
  Variables nothing({});
  EXPECT_THAT(findMembership({}, self).message(),
              HasSubstr("by a launcher in RANK and WORLD_SIZE"));
}

} // namespace
