//===- Socket.cpp - sockets with deadlines ------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Socket.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

namespace heddle::rt {

namespace {

Status failed(std::string_view what, int reason) {
  return Status::error(HEDDLE_COMM_FAILED,
                       text("cannot ", what, ": ", std::string_view(std::strerror(reason))));
}

/// Waits for `events`; an error at the deadline.
Status waitFor(int fd, short events, Deadline deadline) {
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                          deadline - std::chrono::steady_clock::now())
                          .count();
    pollfd entry = {fd, events, 0};
    const int ready = ::poll(&entry, 1, left > 0 ? int(std::min<long long>(left, 60000)) : 0);
    if (ready > 0)
      return {};
    if (ready < 0 && errno != EINTR)
      return failed("wait for a socket", errno);
    if (left <= 0)
      return Status::error(HEDDLE_COMM_FAILED, "no answer in time");
  }
}

/// Addresses of a name, freed by the scope.
struct Addresses {
  addrinfo *first = nullptr;
  ~Addresses() {
    if (first)
      ::freeaddrinfo(first);
  }
  Status find(const std::string &address, uint16_t port) {
    addrinfo hints = {};
    hints.ai_socktype = SOCK_STREAM;
    const int error = ::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &first);
    if (error == 0)
      return {};
    return Status::error(HEDDLE_COMM_FAILED, text("cannot find the address '", address,
                                                  "': ", std::string_view(::gai_strerror(error))));
  }
};

bool isLoopback(const sockaddr *address) {
  if (address->sa_family == AF_INET)
    return (ntohl(reinterpret_cast<const sockaddr_in *>(address)->sin_addr.s_addr) >> 24) == 127;
  return address->sa_family == AF_INET6 &&
         IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6 *>(address)->sin6_addr);
}

void sendAtOnce(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

sockaddr_un unixAddress(const std::string &name, socklen_t &length) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const size_t count = std::min(name.size(), sizeof(address.sun_path) - 1);
  std::memcpy(address.sun_path + 1, name.data(), count); // a leading zero byte: no file
  length = socklen_t(offsetof(sockaddr_un, sun_path) + 1 + count);
  return address;
}

} // namespace

Fd::~Fd() {
  if (fd >= 0)
    ::close(fd);
}

Status sendAll(const Fd &socket, const void *bytes, size_t count, Deadline deadline) {
  const auto *from = static_cast<const char *>(bytes);
  while (count) {
    const ssize_t sent = ::send(socket.get(), from, count, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      from += sent;
      count -= size_t(sent);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (Status status = waitFor(socket.get(), POLLOUT, deadline); !status)
        return status;
    } else if (errno != EINTR) {
      return failed("send to another rank", errno);
    }
  }
  return {};
}

Status receiveAll(const Fd &socket, void *bytes, size_t count, Deadline deadline) {
  auto *to = static_cast<char *>(bytes);
  while (count) {
    const ssize_t got = ::recv(socket.get(), to, count, MSG_DONTWAIT);
    if (got > 0) {
      to += got;
      count -= size_t(got);
    } else if (got == 0) {
      return Status::error(HEDDLE_COMM_FAILED, "the connection was closed");
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (Status status = waitFor(socket.get(), POLLIN, deadline); !status)
        return status;
    } else if (errno != EINTR) {
      return failed("receive from another rank", errno);
    }
  }
  return {};
}

Status listenTcp(const std::string &address, uint16_t port, bool loopbackOnly, Fd &socket) {
  Addresses found;
  if (Status status = found.find(address, port); !status)
    return status;
  if (loopbackOnly && !isLoopback(found.first->ai_addr))
    return Status::error(HEDDLE_INVALID_ARGUMENT,
                         text("expected a secret (HEDDLE_SECRET) to meet other ranks at ", address,
                              ": without one they meet on the loopback interface only"));
  Fd made(::socket(found.first->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!made)
    return failed("make a socket", errno);
  const int on = 1;
  ::setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (::bind(made.get(), found.first->ai_addr, found.first->ai_addrlen) != 0 ||
      ::listen(made.get(), SOMAXCONN) != 0)
    return failed(text("listen on port ", port, " of ", address), errno);
  socket = std::move(made);
  return {};
}

Status connectTcp(const std::string &address, uint16_t port, Deadline deadline, Fd &socket) {
  Addresses found;
  if (Status status = found.find(address, port); !status)
    return status;
  while (true) {
    Fd made(::socket(found.first->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!made)
      return failed("make a socket", errno);
    int error = 0;
    if (::connect(made.get(), found.first->ai_addr, found.first->ai_addrlen) != 0)
      error = errno;
    if (error == EINPROGRESS) {
      socklen_t length = sizeof(error);
      if (!waitFor(made.get(), POLLOUT, deadline))
        error = ETIMEDOUT;
      else
        ::getsockopt(made.get(), SOL_SOCKET, SO_ERROR, &error, &length);
    }
    if (error == 0) {
      sendAtOnce(made.get());
      socket = std::move(made);
      return {};
    }
    if (std::chrono::steady_clock::now() >= deadline)
      return failed(text("reach port ", port, " of ", address), error);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

Status acceptOne(const Fd &listener, Deadline deadline, Fd &socket) {
  while (true) {
    if (Status status = waitFor(listener.get(), POLLIN, deadline); !status)
      return status;
    Fd made(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (made) {
      sendAtOnce(made.get());
      socket = std::move(made);
      return {};
    }
    if (errno != EINTR && errno != ECONNABORTED && errno != EAGAIN)
      return failed("accept a connection", errno);
  }
}

Status listenUnix(const std::string &name, Fd &socket) {
  Fd made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  socklen_t length = 0;
  const sockaddr_un address = unixAddress(name, length);
  if (!made || ::bind(made.get(), reinterpret_cast<const sockaddr *>(&address), length) != 0 ||
      ::listen(made.get(), SOMAXCONN) != 0)
    return failed("listen on a socket of this machine", errno);
  socket = std::move(made);
  return {};
}

Status connectUnix(const std::string &name, Deadline deadline, Fd &socket) {
  socklen_t length = 0;
  const sockaddr_un address = unixAddress(name, length);
  while (true) {
    Fd made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (made && ::connect(made.get(), reinterpret_cast<const sockaddr *>(&address), length) == 0) {
      socket = std::move(made);
      return {};
    }
    if (errno != EAGAIN ||
        std::chrono::steady_clock::now() >= deadline) // EAGAIN: the queue is full
      return failed("reach another rank on this machine", errno);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

bool sameUser(const Fd &socket) {
  ucred other = {};
  socklen_t length = sizeof(other);
  return ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &other, &length) == 0 &&
         other.uid == ::getuid();
}

Status sendWithFd(const Fd &socket, std::span<const std::byte> bytes, int fd, Deadline deadline) {
  iovec part = {const_cast<std::byte *>(bytes.data()), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (fd >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &fd, sizeof(fd));
  }
  ssize_t sent;
  while ((sent = ::sendmsg(socket.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT)) < 0) {
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (Status status = waitFor(socket.get(), POLLOUT, deadline); !status)
        return status;
    } else if (errno != EINTR) {
      return failed("pass memory to another rank", errno);
    }
  }
  return sendAll(socket, bytes.data() + sent, bytes.size() - size_t(sent), deadline);
}

Status receiveWithFd(const Fd &socket, std::span<std::byte> bytes, Fd &fd, Deadline deadline) {
  iovec part = {bytes.data(), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  ssize_t got;
  while ((got = ::recvmsg(socket.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC)) < 0) {
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (Status status = waitFor(socket.get(), POLLIN, deadline); !status)
        return status;
    } else if (errno != EINTR) {
      return failed("get memory of another rank", errno);
    }
  }
  if (got == 0)
    return Status::error(HEDDLE_COMM_FAILED, "the connection was closed");
  for (cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header))
    if (header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
      int received = -1;
      std::memcpy(&received, CMSG_DATA(header), sizeof(received));
      fd = Fd(received);
    }
  return receiveAll(socket, bytes.data() + got, bytes.size() - size_t(got), deadline);
}

} // namespace heddle::rt
