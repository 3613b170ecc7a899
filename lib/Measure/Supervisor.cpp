//===- Supervisor.cpp - work in a child process under a deadline ----------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Supervisor.h"
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace heddle::measure {

std::string ChildEnd::describe() const {
  if (hung)
    return "no sign of life within the deadline";
  if (signal)
    return std::string("ended by signal ") + std::to_string(signal) + " (" + strsignal(signal) +
           ")";
  return "ended with exit code " + std::to_string(exitCode);
}

/// Waits for a child that is ending; one that the driver holds is left behind after ten seconds.
static void reap(pid_t child, ChildEnd &end) {
  int status = 0;
  for (int i = 0; i < 1000; ++i) {
    pid_t got = ::waitpid(child, &status, WNOHANG);
    if (got == child || (got < 0 && errno != EINTR))
      break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (WIFSIGNALED(status))
    end.signal = WTERMSIG(status);
  else
    end.exitCode = WEXITSTATUS(status);
}

ChildEnd superviseChild(const std::function<int(int)> &body, std::chrono::milliseconds deadline,
                        const std::function<void(std::string_view)> &onLine) {
  ChildEnd end;
  int ends[2];
  if (::pipe(ends) != 0) {
    end.exitCode = 127;
    return end;
  }
  std::fflush(nullptr);
  pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::close(ends[0]);
    int code = body(ends[1]);
    std::fflush(nullptr);
    ::_exit(code);
  }
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    end.exitCode = 127;
    return end;
  }
  using Clock = std::chrono::steady_clock;
  std::string pending;
  for (auto last = Clock::now();;) {
    auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(last + deadline - Clock::now());
    pollfd waiting{ends[0], POLLIN, 0};
    int ready =
        left.count() > 0 ? ::poll(&waiting, 1, int(std::min<int64_t>(left.count(), 60000))) : 0;
    if (ready < 0 && errno != EINTR)
      break;
    if (ready == 0 && Clock::now() >= last + deadline) {
      end.hung = true;
      ::kill(child, SIGKILL);
      break;
    }
    if (ready <= 0)
      continue;
    char bytes[4096];
    ssize_t count = ::read(ends[0], bytes, sizeof(bytes));
    if (count <= 0)
      break;
    pending.append(bytes, size_t(count));
    for (size_t at; (at = pending.find('\n')) != std::string::npos; pending.erase(0, at + 1))
      onLine(std::string_view(pending).substr(0, at));
    last = Clock::now();
  }
  ::close(ends[0]);
  reap(child, end);
  return end;
}

} // namespace heddle::measure
