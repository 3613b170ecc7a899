//===- ControlGroup.cpp - processes that know each other ----------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ControlGroup.h"
#include "Hmac.h"
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace heddle::rt {

namespace {

/// The last two digits are the version of what follows.
constexpr char magic[8] = {'h', 'e', 'd', 'd', 'l', 'e', '0', '1'};
constexpr size_t nameBytes = 6;
/// A stranger that says nothing holds the others up no longer than this.
constexpr uint32_t handshakeMs = 2000;
constexpr uint32_t maxFrame = 1 << 26;

struct ServerHello {
  char name[8];
  Digest nonce;
};
struct ClientHello {
  char name[8];
  Digest nonce;
  uint32_t rank, world;
  Digest proof;
};
enum class Answer : uint32_t { Welcome, WrongSecret, Mismatch };
struct ServerAnswer {
  Answer answer;
  Digest proof;
};

enum class FrameKind : uint32_t { Data = 1, Error, Bye };
struct FrameHead {
  FrameKind kind;
  uint32_t bytes;
};

template <typename T> std::string_view bytesOf(const T &value) {
  return {reinterpret_cast<const char *>(&value), sizeof(value)};
}

Digest proofOf(std::string_view side, const Membership &self, const Digest &server,
               const Digest &client, uint32_t rank, uint32_t world) {
  return hmac(self.secret,
              text(side, bytesOf(server), bytesOf(client), bytesOf(rank), bytesOf(world)));
}

Status makeNonce(Digest &nonce) {
  return fillRandom(nonce.data(), nonce.size())
             ? Status()
             : Status::error(HEDDLE_INTERNAL, "the system gives no random bytes");
}

Status sendFrame(const Fd &socket, FrameKind kind, std::string_view bytes, Deadline deadline) {
  const FrameHead head{kind, uint32_t(bytes.size())};
  if (Status status = sendAll(socket, &head, sizeof(head), deadline); !status)
    return status;
  return sendAll(socket, bytes.data(), bytes.size(), deadline);
}

Status receiveFrame(const Fd &socket, FrameKind &kind, std::string &bytes, Deadline deadline) {
  FrameHead head;
  if (Status status = receiveAll(socket, &head, sizeof(head), deadline); !status)
    return status;
  if (head.bytes > maxFrame)
    return Status::error(HEDDLE_COMM_FAILED, text("expected a message of at most ", maxFrame,
                                                  " bytes, got ", head.bytes));
  kind = head.kind;
  bytes.resize(head.bytes);
  return receiveAll(socket, bytes.data(), bytes.size(), deadline);
}

/// A status as bytes: its code and its message.
std::string pack(const Status &status) {
  const auto code = uint32_t(status.code());
  return text(bytesOf(code), status.message());
}
Status unpack(std::string_view bytes) {
  uint32_t code = HEDDLE_COMM_FAILED;
  if (bytes.size() < sizeof(code))
    return Status::error(HEDDLE_COMM_FAILED, "expected a status, got something else");
  std::memcpy(&code, bytes.data(), sizeof(code));
  if (code == HEDDLE_OK)
    return {};
  return Status::error(heddle_code(code), std::string(bytes.substr(sizeof(code))));
}

void append(std::string &out, std::string_view part) {
  const auto count = uint32_t(part.size());
  out += bytesOf(count);
  out += part;
}

Status split(std::string_view bytes, std::vector<std::string> &parts) {
  for (std::string &part : parts) {
    uint32_t count = 0;
    if (bytes.size() < sizeof(count))
      return Status::error(HEDDLE_COMM_FAILED, "a message of rank 0 is too short");
    std::memcpy(&count, bytes.data(), sizeof(count));
    bytes.remove_prefix(sizeof(count));
    if (bytes.size() < count)
      return Status::error(HEDDLE_COMM_FAILED, "a message of rank 0 is too short");
    part = bytes.substr(0, count);
    bytes.remove_prefix(count);
  }
  return {};
}

} // namespace

Status ControlGroup::meet(const Membership &membership, std::unique_ptr<ControlGroup> &group) {
  std::unique_ptr<ControlGroup> made(new ControlGroup(membership));
  Status status;
  if (membership.world > 1)
    status = membership.rank == 0 ? made->gatherRanks() : made->joinRanks();
  if (status)
    group = std::move(made);
  return status;
}

ControlGroup::~ControlGroup() {
  if (watcher.joinable()) {
    const uint64_t one = 1;
    (void)!::write(stop.get(), &one, sizeof(one));
    watcher.join();
  }
  for (const Fd &peer : peers)
    if (peer)
      (void)sendFrame(peer, FrameKind::Bye, {}, after(100));
}

Status ControlGroup::missing() const {
  std::string ranks;
  unsigned count = 0;
  for (unsigned r = 1; r < world(); ++r)
    if (!peers[r]) {
      ranks += text(count ? ", " : "", r);
      ++count;
    }
  std::string out = text(count == 1 ? "rank " : "ranks ", ranks, " of ", world(),
                         " did not come within ", self.patienceMs, " ms");
  if (strangers)
    out += text(" (", strangers, " refused: the secret differs)");
  return Status::error(HEDDLE_COMM_FAILED, std::move(out));
}

void ControlGroup::tellAll(const Status &status) {
  for (const Fd &peer : peers)
    if (peer)
      (void)sendFrame(peer, FrameKind::Error, pack(status), after(handshakeMs));
}

Status ControlGroup::gatherRanks() {
  Fd listener;
  if (Status status = listenTcp(self.address, self.port, self.secret.empty(), listener); !status)
    return status;
  const Deadline deadline = after(self.patienceMs);
  for (unsigned have = 1; have < world();) {
    Fd socket;
    Status status = acceptOne(listener, deadline, socket);
    if (!status)
      status = missing();
    else
      status = admit(std::move(socket), std::min(deadline, after(handshakeMs)));
    if (!status) {
      tellAll(status);
      return status;
    }
    have = 1;
    for (const Fd &peer : peers)
      have += bool(peer);
  }
  return {};
}

/// Errors are those of ranks; strangers are sent away.
Status ControlGroup::admit(Fd socket, Deadline deadline) {
  ServerHello hello;
  std::memcpy(hello.name, magic, sizeof(magic));
  if (Status status = makeNonce(hello.nonce); !status)
    return status;
  ClientHello client;
  if (!sendAll(socket, &hello, sizeof(hello), deadline) ||
      !receiveAll(socket, &client, sizeof(client), deadline))
    return {};
  ServerAnswer answer{};
  if (std::memcmp(client.name, magic, nameBytes) != 0)
    return {};
  if (!equal(client.proof,
             proofOf("client", self, hello.nonce, client.nonce, client.rank, client.world))) {
    ++strangers;
    answer.answer = Answer::WrongSecret;
    (void)sendAll(socket, &answer, sizeof(answer), deadline);
    return {};
  }
  Status problem;
  if (std::memcmp(client.name, magic, sizeof(magic)) != 0)
    problem =
        Status::error(HEDDLE_COMM_MISMATCH,
                      text("rank ", client.rank, " has another version of the runtime: expected ",
                           std::string_view(magic, sizeof(magic)), ", got ",
                           std::string_view(client.name, sizeof(magic))));
  else if (client.world != world())
    problem =
        Status::error(HEDDLE_COMM_MISMATCH, text("rank ", client.rank, " expects ", client.world,
                                                 " ranks, rank 0 expects ", world()));
  else if (client.rank == 0 || client.rank >= world())
    problem = Status::error(HEDDLE_COMM_MISMATCH,
                            text("expected a rank from 1 to ", world() - 1,
                                 ", got a process that calls itself rank ", client.rank));
  else if (peers[client.rank])
    problem = Status::error(HEDDLE_COMM_MISMATCH,
                            text("two processes call themselves rank ", client.rank));
  answer.answer = problem ? Answer::Welcome : Answer::Mismatch;
  answer.proof = proofOf("server", self, hello.nonce, client.nonce, client.rank, client.world);
  Status sent = sendAll(socket, &answer, sizeof(answer), deadline);
  if (problem && sent)
    peers[client.rank] = std::move(socket);
  else if (!problem)
    (void)sendFrame(socket, FrameKind::Error, pack(problem), deadline);
  return problem;
}

Status ControlGroup::joinRanks() {
  const Deadline deadline = after(self.patienceMs);
  const std::string place = text("rank 0 at ", self.address, ":", self.port);
  if (self.secret.empty()) {
    Fd unused; // the address must be one that rank 0 may listen on
    if (Status status = listenTcp(self.address, 0, true, unused);
        status.code() == HEDDLE_INVALID_ARGUMENT)
      return status;
  }
  // Whoever closes before it has welcomed us is on its way out, or not yet ready: once more.
  Status last;
  ServerHello hello;
  Fd socket;
  do {
    if (Status status = connectTcp(self.address, self.port, deadline, socket); !status)
      return Status::error(HEDDLE_COMM_FAILED, text("rank 0 did not answer within ",
                                                    self.patienceMs, " ms: ", status.message()));
    last = receiveAll(socket, &hello, sizeof(hello), deadline);
  } while (!last && std::chrono::steady_clock::now() < deadline);
  if (!last)
    return std::move(last).within(place);
  if (std::memcmp(hello.name, magic, nameBytes) != 0)
    return Status::error(HEDDLE_COMM_MISMATCH,
                         text("expected ", place, ", got another program that listens there"));
  ClientHello client;
  std::memcpy(client.name, magic, sizeof(magic));
  client.rank = rank();
  client.world = world();
  if (Status status = makeNonce(client.nonce); !status)
    return status;
  client.proof = proofOf("client", self, hello.nonce, client.nonce, client.rank, client.world);
  ServerAnswer answer;
  Status status = sendAll(socket, &client, sizeof(client), deadline);
  if (status)
    status = receiveAll(socket, &answer, sizeof(answer), deadline);
  if (!status)
    return std::move(status).within(place);
  if (answer.answer == Answer::WrongSecret ||
      !equal(answer.proof, proofOf("server", self, hello.nonce, client.nonce, rank(), world())))
    return Status::error(HEDDLE_COMM_MISMATCH,
                         text(place, ": the secret differs (HEDDLE_SECRET, or the options)"));
  if (answer.answer == Answer::Mismatch) {
    FrameKind kind;
    std::string bytes;
    status = receiveFrame(socket, kind, bytes, deadline);
    return status ? unpack(bytes) : std::move(status).within(place);
  }
  peers[0] = std::move(socket);
  return {};
}

Status ControlGroup::exchange(std::string_view mine, std::vector<std::string> &all) {
  all.assign(world(), {});
  all[rank()] = mine;
  if (world() == 1)
    return {};
  // Rank 0 gives up first, and tells the others whom it missed.
  const Deadline deadline = after(self.patienceMs + (rank() ? handshakeMs : 0));
  FrameKind kind;
  std::string bytes;
  if (rank() != 0) {
    Status status = sendFrame(peers[0], FrameKind::Data, mine, deadline);
    // Rank 0 may have failed and said why.
    if (Status got = receiveFrame(peers[0], kind, bytes, deadline); !got)
      return std::move(got).within("rank 0 is gone");
    if (kind == FrameKind::Error)
      return unpack(bytes);
    return status ? split(bytes, all) : std::move(status);
  }
  Status status;
  for (unsigned r = 1; r < world() && status; ++r) {
    status = receiveFrame(peers[r], kind, all[r], deadline);
    if (status && kind != FrameKind::Data)
      status = Status::error(HEDDLE_COMM_FAILED, "it left");
    if (!status)
      status = Status::error(HEDDLE_COMM_FAILED, text("rank ", r, " is gone: ", status.message()));
  }
  if (!status) {
    tellAll(status);
    return status;
  }
  for (const std::string &part : all)
    append(bytes, part);
  for (unsigned r = 1; r < world(); ++r)
    if (Status sent = sendFrame(peers[r], FrameKind::Data, bytes, deadline); !sent && status)
      status = Status::error(HEDDLE_COMM_FAILED, text("rank ", r, " is gone: ", sent.message()));
  return status;
}

Status ControlGroup::agree(const Status &mine) {
  std::vector<std::string> all;
  if (Status status = exchange(pack(mine), all); !status)
    return status;
  for (unsigned r = 0; r < world(); ++r)
    if (Status status = unpack(all[r]); !status)
      return std::move(status).within(text("rank ", r));
  return {};
}

Status ControlGroup::watch(std::function<void(unsigned, std::string)> callback) {
  if (world() == 1)
    return {};
  gone = std::move(callback);
  stop = Fd(::eventfd(0, EFD_CLOEXEC));
  if (!stop)
    return Status::error(HEDDLE_INTERNAL, "cannot make an event to watch other ranks by");
  watcher = std::thread([this] { look(); });
  return {};
}

void ControlGroup::look() {
  std::vector<pollfd> entries;
  std::vector<unsigned> ranks;
  for (unsigned r = 0; r < world(); ++r)
    if (peers[r]) {
      entries.push_back({peers[r].get(), POLLIN, 0});
      ranks.push_back(r);
    }
  entries.push_back({stop.get(), POLLIN, 0});
  while (::poll(entries.data(), entries.size(), -1) >= 0 || errno == EINTR) {
    if (entries.back().revents)
      return;
    for (size_t i = 0; i + 1 < entries.size(); ++i) {
      if (!entries[i].revents)
        continue;
      FrameKind kind = FrameKind::Error;
      std::string bytes;
      const bool left = receiveFrame(peers[ranks[i]], kind, bytes, after(handshakeMs)).ok() &&
                        kind == FrameKind::Bye;
      entries[i].fd = -1; // looked at no more
      entries[i].revents = 0;
      if (!left)
        gone(ranks[i], text("rank ", ranks[i], " is gone: its process ended without leaving"));
    }
  }
}

} // namespace heddle::rt
