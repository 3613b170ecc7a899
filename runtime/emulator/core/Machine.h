//===- Machine.h - the machine: memory, scheduling, errors ---------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_EMULATOR_CORE_MACHINE_H
#define HEDDLE_EMULATOR_CORE_MACHINE_H

#include "runtime/emulator/core/Sim.h"

#include <chrono>

namespace heddle::emulator {

class MachineImpl {
public:
  MachineOptions options;
  Machine *self = nullptr;
  Observer *observer = nullptr;
  std::vector<std::unique_ptr<Device>> devices;
  MachineImpl *root = this; ///< owns devices and multicast objects; another one than this in a shard
  Rng rng;
  Report report;
  bool failed = false;
  Schedule schedule = Schedule::RoundRobin;
  uint64_t time = 1'000'000'000; ///< virtual ns; warp instructions advance it
  uint64_t instructions = 0;     ///< warp instructions since construction
  uint64_t progress = 0;         ///< changes others can see (stores, arrivals, completions)
  uint64_t polls = 0;            ///< reads of state that others change, since the last progress
  uint64_t timeReads = 0;
  uint64_t memoryUsed = 0;
  uint64_t nextCta = 1, nextCluster = 1, nextOp = 1, nextLaunch = 1;

  std::vector<Multicast> multicasts;
  const Multicast *findMulticast(uint64_t address) const; ///< null when it lies in none
  Allocation *find(uint64_t address); ///< live allocation that holds it, or null
  void addError(Error error, bool stop);
  bool takeMemory(uint64_t bytes); ///< counts against the limit
  void noteProgress() {
    ++progress;
    polls = 0;
  }
  void poll() { ++polls; }

  RunState run(uint64_t budget);
  void submit(Cluster &cluster, AsyncRef op);
  void finish(Cluster &cluster, AsyncOp &op);
  std::string describeAddress(uint64_t address);
  /// Bytes a launch's blocks take, each cluster.
  static uint64_t clusterBytes(const Launch &l);

private:
  uint64_t runWarp(Warp &w, uint64_t quantum);
  Group *pick(Warp &w);
  bool admit(); ///< starts launches and makes clusters resident
  void startCluster(Launch &l);
  /// Cluster `n` of the launch, not resident yet. Uses nextCluster and nextCta for its names.
  std::unique_ptr<Cluster> makeCluster(Launch &l, uint64_t n);
  // Shards (Shard.cpp): clusters that cannot tell whether others run.
  Launch *independentLaunch(); ///< the only queued launch, when its clusters may run apart; else null
  void runShards(Launch &l);
  void runAlone(Cluster &c); ///< in a shard: to the end of the cluster or an error
  Cluster *only_ = nullptr;  ///< the cluster of a shard
  /// f(cluster) for all that are resident.
  template <class F> void eachCluster(F f) {
    if (only_)
      return f(*only_);
    for (auto &d : devices)
      for (auto &l : d->impl().queue)
        for (auto &c : l->resident)
          f(*c);
  }
  bool slice(Cluster &c, uint64_t &used);
  bool stepAsync(Cluster &c);
  void retire(Launch &l, std::list<std::unique_ptr<Cluster>>::iterator &it);
  bool wakeIdle(); ///< false: nothing can ever happen
  bool suspended(uint64_t &wake); ///< waits that time ends; marks the try_waits among them
  void reportDeadlock(const char *headline);
  bool overLimits();
  void dropAll(); ///< after an error: forgets all launches
  void followRealTime();
  std::chrono::steady_clock::time_point started_;
  std::chrono::steady_clock::time_point born_ = std::chrono::steady_clock::now();
  uint64_t idleProgress_ = 0, idleRounds_ = 0, idleTimeReads_ = 0, idleJump_ = 1000;
};

// Memory (Memory.cpp). Resolves the addresses of w.exec's lanes; false after w.fail.
enum AccessFlag : uint8_t { AccRead = 1, AccWrite = 2, AccAtomic = 4, AccNoInit = 8 };
bool resolve(Warp &w, const Instr &i, Space space, const uint64_t *address, uint32_t bytes, uint8_t flags,
             uint8_t **host, Proxy proxy = Proxy::Generic);
/// Like resolve, for an asynchronous operation: one run of bytes. Null after an error.
uint8_t *resolveGlobal(MachineImpl &m, const AsyncOp &op, uint64_t address, uint32_t bytes, bool write,
                       Proxy proxy = Proxy::Async);
/// `address` is an offset in the memory of block `rank` of the operation's cluster.
uint8_t *resolveShared(MachineImpl &m, const AsyncOp &op, unsigned rank, uint32_t offset, uint32_t bytes, bool write,
                       Proxy proxy = Proxy::Async, bool checkInit = true);
void failAsync(MachineImpl &m, const AsyncOp &op, ErrorKind kind, const std::string &message);
/// Splits a shared address (shared::cta, shared::cluster or generic) of one lane into
/// rank and offset; false after w.fail.
bool sharedAddress(Warp &w, const Instr &i, int lane, Space space, uint64_t address, unsigned &rank, uint32_t &offset);

// Registers of asynchronous instructions (Registers.cpp). The first `written` operands of
// the list of `i` are written, the others read; `fenced`: only after a wgmma.fence. False
// after w.fail.
bool touchRegisters(Warp &w, const Instr &i);
bool claimRegisters(Warp &w, const Instr &i, unsigned written, bool fenced);
void releaseRegisters(Warp &w, const Instr &i, unsigned written);
void fenceRegisters(Warp &w);

// mbarriers (ops/Mbarrier.cpp).
Mbarrier *findMbarrier(Warp &w, const Instr &i, int lane, unsigned rank, uint32_t offset);
void mbarrierArrive(MachineImpl &m, Cta &cta, uint32_t offset, Mbarrier &b, uint32_t count, int64_t tx);
/// Bytes arrive; an error when no mbarrier is there.
void mbarrierComplete(MachineImpl &m, const AsyncOp &op, unsigned rank, uint32_t offset, uint32_t bytes);
void mbarrierAsyncArrive(MachineImpl &m, const AsyncOp &op, unsigned rank, uint32_t offset, uint32_t count);

// Control (ops/Control.cpp).
void exitLanes(Warp &w, uint32_t lanes);

} // namespace heddle::emulator

#endif // HEDDLE_EMULATOR_CORE_MACHINE_H
