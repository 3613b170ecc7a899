//===- SupervisorTest.cpp - tests of children under a deadline ------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Supervisor.h"
#include <csignal>
#include <gtest/gtest.h>
#include <unistd.h>
#include <vector>

using namespace heddle::measure;
using namespace std::chrono_literals;

namespace {
struct Supervisor : testing::Test {
  std::vector<std::string> lines;
  ChildEnd run(const std::function<int(int)> &body, std::chrono::milliseconds deadline = 20s) {
    return superviseChild(body, deadline, [&](std::string_view line) { lines.emplace_back(line); });
  }
  static void say(int fd, std::string_view text) {
    if (::write(fd, text.data(), text.size()) != ssize_t(text.size()))
      ::_exit(99);
  }
};
} // namespace

TEST_F(Supervisor, PassesLinesAndTheExitCode) {
  ChildEnd end = run([](int fd) {
    say(fd, "one\ntw");
    say(fd, "o\n\nunfinished");
    return 7;
  });
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "two", ""}));
  EXPECT_FALSE(end.hung);
  EXPECT_EQ(end.signal, 0);
  EXPECT_EQ(end.exitCode, 7);
  EXPECT_EQ(end.describe(), "ended with exit code 7");
}

TEST_F(Supervisor, KillsASilentChildAtTheDeadline) {
  auto start = std::chrono::steady_clock::now();
  ChildEnd end = run(
      [](int fd) {
        say(fd, "begin\n");
        for (;;)
          ::pause();
        return 0;
      },
      300ms);
  auto spent = std::chrono::steady_clock::now() - start;
  EXPECT_TRUE(end.hung);
  EXPECT_EQ(end.signal, SIGKILL);
  EXPECT_EQ(lines, std::vector<std::string>{"begin"});
  EXPECT_GE(spent, 300ms);
  EXPECT_LT(spent, 10s);
}

TEST_F(Supervisor, EachLineStartsTheDeadlineAgain) {
  ChildEnd end = run(
      [](int fd) {
        for (int i = 0; i < 8; ++i) {
          ::usleep(200000);
          say(fd, "alive\n");
        }
        return 0;
      },
      1000ms);
  EXPECT_FALSE(end.hung);
  EXPECT_EQ(lines.size(), 8u);
}

TEST_F(Supervisor, NamesTheSignalOfACrash) {
  ChildEnd end = run([](int) {
    std::signal(SIGSEGV, SIG_DFL);
    std::raise(SIGSEGV);
    return 0;
  });
  EXPECT_FALSE(end.hung);
  EXPECT_EQ(end.signal, SIGSEGV);
  EXPECT_NE(end.describe().find("ended by signal 11"), std::string::npos) << end.describe();
}
