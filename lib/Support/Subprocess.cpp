//===- Subprocess.cpp - running another program ----------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "heddle/Support/Subprocess.h"
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

extern char **environ;

namespace heddle {

using Clock = std::chrono::steady_clock;

/// A program that prints without end must not take the memory; the rest is read and dropped.
static constexpr size_t mostOutput = size_t{16} << 20;

/// The groups of the programs that run now, for a signal handler; 0 is a free place.
static std::atomic<pid_t> runningGroups[64];

/// Keeps a group listed while it runs. More than there are places run unlisted.
namespace {
class ListedGroup {
public:
  explicit ListedGroup(pid_t group) {
    for (std::atomic<pid_t> &candidate : runningGroups) {
      pid_t free = 0;
      if (candidate.compare_exchange_strong(free, group)) {
        place = &candidate;
        return;
      }
    }
  }
  ~ListedGroup() {
    if (place)
      place->store(0);
  }
  ListedGroup(const ListedGroup &) = delete;
  ListedGroup &operator=(const ListedGroup &) = delete;

private:
  std::atomic<pid_t> *place = nullptr;
};
} // namespace

void killRunningProcesses() {
  for (std::atomic<pid_t> &group : runningGroups)
    if (pid_t id = group.load())
      kill(-id, SIGKILL);
}

/// Appends what the pipe delivers until its other end closes. False when `deadline` came first.
static bool drain(int fd, Clock::time_point deadline, std::string &output) {
  char buffer[8192];
  for (;;) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0)
      return false;
    pollfd watched = {fd, POLLIN, 0};
    int ready = poll(&watched, 1, static_cast<int>(std::min<int64_t>(left.count(), 1 << 30)));
    if (ready < 0 && errno != EINTR)
      return true;
    if (ready <= 0)
      continue;
    ssize_t got = read(fd, buffer, sizeof buffer);
    if (got > 0)
      output.append(buffer, std::min(static_cast<size_t>(got), mostOutput - output.size()));
    else if (got == 0 || errno != EINTR)
      return true;
  }
}

/// Waits for the end of the program, which may come after that of its output. False when
/// `deadline` came first.
static bool waitUntil(pid_t pid, Clock::time_point deadline, int &status) {
  for (auto pause = std::chrono::microseconds(50);;
       pause = std::min(2 * pause, std::chrono::microseconds(10000))) {
    pid_t ended = waitpid(pid, &status, WNOHANG);
    if (ended == pid || (ended < 0 && errno != EINTR))
      return true;
    if (Clock::now() >= deadline)
      return false;
    std::this_thread::sleep_for(pause);
  }
}

/// Starts the program with both outputs into `fds[1]`, as the leader of a process group, so that
/// whatever it starts can be stopped with it; 0 or an errno.
static int start(const std::vector<std::string> &argv, const int fds[2], pid_t &pid) {
  std::vector<char *> args;
  for (const std::string &arg : argv)
    args.push_back(const_cast<char *>(arg.c_str()));
  args.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fds[1], STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  int error = posix_spawn(&pid, args[0], &actions, &attributes, args.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

Expected<ProcessResult> runProcess(const std::vector<std::string> &argv,
                                   std::chrono::milliseconds timeout) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0)
    return Error{ErrorCode::Io, std::string("cannot make a pipe: ") + std::strerror(errno)};
  pid_t pid = 0;
  int error = start(argv, fds, pid);
  close(fds[1]);
  if (error != 0) {
    close(fds[0]);
    return Error{error == ENOENT ? ErrorCode::NotFound : ErrorCode::Io,
                 "cannot run " + argv[0] + ": " + std::strerror(error)};
  }
  ProcessResult result;
  const Clock::time_point deadline = Clock::now() + timeout;
  int status = 0;
  {
    ListedGroup listed(pid);
    if (!drain(fds[0], deadline, result.output) || !waitUntil(pid, deadline, status)) {
      result.timedOut = true;
      kill(-pid, SIGKILL); // before the wait, so that the id is still the group's
      while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    }
  }
  close(fds[0]);
  if (WIFSIGNALED(status))
    result.signal = WTERMSIG(status);
  else
    result.exitCode = WEXITSTATUS(status);
  return result;
}

} // namespace heddle
