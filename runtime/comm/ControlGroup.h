//===- ControlGroup.h - processes that know each other ------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ranks of a communicator meet at rank 0 over TCP, prove that they share a secret (HMAC of
// nonces from both sides; without a secret only the loopback interface is used), and then
// exchange small messages through it. Every step ends by a deadline, with a status on all ranks
// that says which rank is missing, gone or different. Afterwards a thread watches for ranks whose
// process ends. For one thread at a time.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_COMM_CONTROLGROUP_H
#define HEDDLE_RUNTIME_COMM_CONTROLGROUP_H

#include "Environment.h"
#include "Socket.h"
#include <functional>
#include <thread>
#include <vector>

namespace heddle::rt {

class ControlGroup {
public:
  static Status meet(const Membership &membership, std::unique_ptr<ControlGroup> &group);
  /// Says good-bye, so that nobody takes this rank for dead.
  ~ControlGroup();

  unsigned rank() const { return self.rank; }
  unsigned world() const { return self.world; }
  uint32_t patienceMs() const { return self.patienceMs; }

  /// Collective: everybody's bytes, by rank. When one rank fails, all get its status.
  Status exchange(std::string_view mine, std::vector<std::string> &all);
  /// Collective: success when all succeeded, else the first failure by rank, named.
  Status agree(const Status &mine);

  /// Calls `gone(rank, what)` from a thread of its own when the connection of a rank breaks. Rank 0
  /// watches all, the others rank 0. No exchange may follow.
  Status watch(std::function<void(unsigned, std::string)> gone);

private:
  explicit ControlGroup(Membership self) : self(std::move(self)), peers(this->self.world) {}
  Status gatherRanks();
  Status joinRanks();
  Status admit(Fd socket, Deadline deadline);
  Status missing() const;
  void tellAll(const Status &status);
  void look();

  const Membership self;
  std::vector<Fd> peers;  ///< rank 0: by rank; others: only [0]
  unsigned strangers = 0; ///< connections that did not know the secret
  std::function<void(unsigned, std::string)> gone;
  Fd stop; ///< readable: the thread ends
  std::thread watcher;
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_COMM_CONTROLGROUP_H
