//===- Socket.h - sockets with deadlines --------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// TCP between the ranks, and Unix sockets that carry file descriptors. Every call ends by a
// deadline. A failure is a status of code HEDDLE_COMM_FAILED. For one thread at a time.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_COMM_SOCKET_H
#define HEDDLE_RUNTIME_COMM_SOCKET_H

#include "core/Status.h"
#include <chrono>
#include <span>
#include <utility>

namespace heddle::rt {

using Deadline = std::chrono::steady_clock::time_point;
inline Deadline after(uint32_t milliseconds) {
  return std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
}

/// A file descriptor that is closed.
class Fd {
public:
  explicit Fd(int fd = -1) : fd(fd) {}
  Fd(Fd &&other) noexcept : fd(std::exchange(other.fd, -1)) {}
  Fd &operator=(Fd &&other) noexcept {
    std::swap(fd, other.fd);
    return *this;
  }
  ~Fd();
  int get() const { return fd; }
  int release() { return std::exchange(fd, -1); }
  explicit operator bool() const { return fd >= 0; }

private:
  int fd;
};

Status sendAll(const Fd &socket, const void *bytes, size_t count, Deadline deadline);
/// The other side closing is an error too.
Status receiveAll(const Fd &socket, void *bytes, size_t count, Deadline deadline);

/// Listens on a numeric or named address. `loopbackOnly`: any other address is an error.
Status listenTcp(const std::string &address, uint16_t port, bool loopbackOnly, Fd &socket);
/// Tries until somebody listens.
Status connectTcp(const std::string &address, uint16_t port, Deadline deadline, Fd &socket);
/// Waits for a connection; HEDDLE_COMM_FAILED when none comes.
Status acceptOne(const Fd &listener, Deadline deadline, Fd &socket);

/// A socket of this machine only, under a name of its own (abstract; gone with the socket).
Status listenUnix(const std::string &name, Fd &socket);
Status connectUnix(const std::string &name, Deadline deadline, Fd &socket);
/// Whether the other side runs as the same user.
bool sameUser(const Fd &socket);
/// Sends `bytes` with at most one file descriptor (-1: none).
Status sendWithFd(const Fd &socket, std::span<const std::byte> bytes, int fd, Deadline deadline);
Status receiveWithFd(const Fd &socket, std::span<std::byte> bytes, Fd &fd, Deadline deadline);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_COMM_SOCKET_H
