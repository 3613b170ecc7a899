//===- Subprocess.cpp - running another program ----------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "heddle/Support/Subprocess.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace heddle {

using Clock = std::chrono::steady_clock;

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
      output.append(buffer, static_cast<size_t>(got));
    else if (got == 0 || errno != EINTR)
      return true;
  }
}

/// Starts the program with both outputs into `fds[1]`; 0 or an errno.
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
  int error = posix_spawn(&pid, args[0], &actions, nullptr, args.data(), environ);
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
  if (!drain(fds[0], Clock::now() + timeout, result.output)) {
    result.timedOut = true;
    kill(pid, SIGKILL);
  }
  close(fds[0]);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
    ;
  if (WIFSIGNALED(status))
    result.signal = WTERMSIG(status);
  else
    result.exitCode = WEXITSTATUS(status);
  return result;
}

} // namespace heddle
