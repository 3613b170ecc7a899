//===- Sim.h - state of a running machine --------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_EMULATOR_CORE_SIM_H
#define HEDDLE_EMULATOR_CORE_SIM_H

#include "runtime/emulator/core/Instr.h"
#include "runtime/emulator/tensor/Tcgen05.h"

#include <atomic>
#include <bit>
#include <deque>
#include <functional>
#include <list>
#include <unordered_map>

namespace heddle::emulator {

struct Cta;
struct Cluster;
struct Launch;
class MachineImpl;
class DeviceImpl;

// Windows of the generic address space. Device memory lies at deviceBase.
inline constexpr uint64_t deviceBase = 0x100000000000, deviceStride = uint64_t(1) << 40;
inline constexpr uint64_t sharedWindow = 0x7e0000000000, localWindow = 0x7d0000000000, paramWindow = 0x7c0000000000;
inline constexpr uint64_t multicastWindow = 0x7b0000000000;
inline constexpr uint64_t windowBytes = uint64_t(1) << 32;
inline constexpr unsigned allocShift = 21;
inline constexpr unsigned sharedRankShift = 24; ///< block's rank in a shared address

/// A small deterministic generator (xorshift64*).
struct Rng {
  uint64_t s = 0x9e3779b97f4a7c15;
  void seed(uint64_t v) { s = (v + 1) * 0x9e3779b97f4a7c15 ^ 0xd1b54a32d192ed03; next(); }
  uint64_t next() {
    s ^= s >> 12;
    s ^= s << 25;
    s ^= s >> 27;
    return s * 0x2545f4914f6cdd1d;
  }
  uint32_t below(uint32_t n) { return n < 2 ? 0 : uint32_t((next() >> 33) % n); }
};

struct Allocation {
  uint64_t base = 0, bytes = 0;
  uint8_t *host = nullptr;
  std::vector<uint8_t> init; ///< one byte each when tracked
  bool owned = false, live = false;
};

/// The same `bytes` bytes of several allocations, for multimem instructions.
struct Multicast {
  uint64_t base = 0, bytes = 0;
  std::vector<uint64_t> members; ///< where each begins
};

/// What a blocked group waits for.
enum class WaitOn : uint8_t {
  None, Converge, Barrier, ClusterBarrier, Mbarrier, CpAsync, BulkGroup, WgmmaGroup, TcgenWait, TensorMemory,
  RegisterPool, GridDependency, Sleep, WarpgroupAllWarps,
};

/// Lanes of a warp that execute together.
struct Group {
  uint32_t pc = 0, mask = 0;
  std::vector<uint32_t> stack; ///< return addresses
  WaitOn wait = WaitOn::None;
  uint64_t epoch = 0;          ///< the cluster's or, for Converge, the warp's when it blocked
  uint64_t wakeAt = 0;         ///< Sleep, or the end of a try_wait's suspension
  bool canTimeout = false, timedOut = false;
  bool arrived = false;        ///< at the barrier it waits for
  uint64_t token = 0;          ///< generation of that barrier
  uint32_t waitOwner = 0, waitAddress = 0; ///< rank in the cluster and offset of an mbarrier; barrier number
  uint64_t waitPhase = 0;
};

/// Something a copy engine or tensor core still has to do.
struct AsyncOp {
  uint64_t id = 0;
  AsyncKind kind = AsyncKind::BulkCopy;
  Cta *cta = nullptr; ///< issuer
  WarpRef at;
  const Instr *instr = nullptr;
  uint32_t lanes = 0;
  uint32_t readsShared = 0, writesShared = 0; ///< ranks (bits) whose shared memory it touches
  bool done = false, readsDone = false;
  bool reduces = false; ///< combines with what its destination holds, element by element
  std::shared_ptr<AsyncOp> after; ///< must be done first
  virtual ~AsyncOp() = default;
  /// Does one piece; true when finished. Errors go to the machine.
  virtual bool step(MachineImpl &m) = 0;
  /// False while it must not move (e.g. not all warps have issued it).
  virtual bool ready() const { return !after || after->done; }
};
using AsyncRef = std::shared_ptr<AsyncOp>;

/// Groups of asynchronous operations of the threads of a warp.
struct AsyncGroups {
  struct Item { AsyncRef op; uint32_t lanes; };
  struct Group { uint32_t lanes; std::vector<AsyncRef> ops; };
  std::vector<Item> open;
  std::list<Group> closed;
  void add(AsyncRef op, uint32_t lanes) { open.push_back({std::move(op), lanes}); }
  void commit(uint32_t lanes);
  /// Whether all but the latest `keep` groups of every lane are done; gathers the ids.
  bool waited(uint32_t lanes, unsigned keep, bool reads, std::vector<uint64_t> *ops);
  void prune();
};

struct WgmmaOp;

/// A register that an asynchronous instruction reads or writes after its issue.
struct RegisterUse {
  uint16_t reads = 0, writes = 0; ///< instructions in flight
  bool touched = false;          ///< accessed by others since the last wgmma.fence
  uint32_t line = 0;             ///< of the latest such instruction
};

struct Warp {
  // What instructions use most.
  uint32_t *bases[4] = {};
  uint32_t exec = 0;      ///< lanes of the running instruction
  uint32_t next = 0;      ///< where the group goes on
  uint8_t signal = 0;     ///< see WarpSignal
  Group *g = nullptr;
  Cta *cta = nullptr;
  MachineImpl *m = nullptr;
  const Program *program = nullptr;
  Allocation *cached = nullptr; ///< allocation of the last global access

  std::list<Group> groups;
  uint32_t live = 0;      ///< lanes that have not exited
  unsigned index = 0;
  uint64_t changes = 0;   ///< of groups and live lanes
  uint64_t blockedEpoch = 0;
  bool allBlocked = false;
  uint64_t slice = 0;     ///< instructions the chosen group ran while others could
  std::vector<uint32_t> regs, preds;
  std::vector<uint8_t> local; ///< 32 lanes of localBytes
  uint32_t polled[4] = {}; ///< signatures of the last distinct strong reads
  unsigned polledNext = 0;
  uint64_t gaveUp = 0;     ///< try_waits (by line) that have returned false without need
  unsigned registers = 0; ///< setmaxnreg
  std::string_view role;
  uint64_t clockStart = 0;
  uint32_t clusterArrived = 0;    ///< lanes between barrier.cluster.arrive and .wait
  uint64_t clusterToken = 0;

  AsyncGroups cpAsync, bulk;
  struct WgmmaGroup { std::vector<std::shared_ptr<WgmmaOp>> ops; };
  std::vector<std::shared_ptr<WgmmaOp>> wgmmaOpen;
  std::list<WgmmaGroup> wgmmaGroups;
  std::vector<RegisterUse> registerUse; ///< by register; empty until one is used so
  bool wgmmaFenced = false;
  uint64_t wgmmaIssued = 0; ///< wgmma instructions of this warp so far
  std::vector<AsyncRef> tcgenLd, tcgenSt;
  AsyncRef tcgenLast;       ///< the tcgen05 operation issued last by a thread of the warp
  std::vector<AsyncRef> tcgenUncommitted;

  WarpRef ref(const Instr &i) const;
  /// Stops the launch with an error at `i`. `lane` -1: the whole warp.
  void fail(const Instr &i, ErrorKind kind, const std::string &message, int lane = -1);
  /// The group stays at this instruction until something changes.
  void block(WaitOn on);
  /// True when all live lanes of `need` are here; else blocks until they are.
  bool converged(uint32_t need);
};

enum WarpSignal : uint8_t {
  SigNone = 0,
  SigRepick = 1,  ///< groups changed
  SigBlocked = 2, ///< the group stays at its instruction
  SigYield = 4,   ///< let others run
  SigStop = 8,    ///< the machine failed
};

struct NamedBarrier {
  uint64_t generation = 0;
  uint32_t expected = 0, arrived = 0; ///< threads
};

struct Mbarrier {
  uint32_t expected = 0, pending = 0, next = 0; ///< arrivals; `next`: expected of the next phase
  int64_t tx = 0;
  uint64_t phase = 0;
};

struct Cta {
  uint64_t id = 0; ///< in the machine
  Dim3 ctaid{0, 0, 0};
  unsigned rank = 0; ///< in the cluster
  Cluster *cluster = nullptr;
  Launch *launch = nullptr;
  MachineImpl *m = nullptr;
  unsigned sm = 0;
  std::vector<uint8_t> shared;  ///< from address 0, the reserved bytes first
  std::vector<uint8_t> written; ///< one byte each when reads of unwritten memory are errors
  std::vector<Warp> warps;
  unsigned liveWarps = 0;
  NamedBarrier barriers[16];
  uint32_t reduction[16][2] = {}; ///< barrier.red, by parity of the generation
  bool reducing[16] = {};
  std::unordered_map<uint32_t, Mbarrier> mbarriers; ///< by offset
  uint32_t mbarLow = ~0u, mbarHigh = 0;
  int64_t registerPool = 0;     ///< free registers
  bool exited = false, allowedDependents = false;
  std::unique_ptr<tensor::TensorMemory> tmem;
  std::vector<uint8_t> tmemUsed, tmemWritten; ///< by 32-column unit; by cell
  bool tmemRelinquished = false;
  /// Operations of each warpgroup's wgmma, in issue order (index: sequence).
  struct Warpgroup { std::list<std::shared_ptr<WgmmaOp>> ops; AsyncRef last; };
  std::vector<Warpgroup> warpgroups;
  unsigned threads = 0;

  bool checkMbarrierOverlap(uint32_t offset, uint32_t bytes) const;
  void markWritten(uint32_t offset, uint32_t bytes) {
    if (!written.empty())
      std::fill_n(written.begin() + offset, bytes, uint8_t(1));
  }
};

struct Cluster {
  uint64_t id = 0;
  Launch *launch = nullptr;
  std::vector<std::unique_ptr<Cta>> ctas;
  std::deque<AsyncRef> async; ///< in issue order for the round-robin schedule, else in any
  uint64_t epoch = 1; ///< counts changes that can wake a warp
  unsigned liveCtas = 0, liveWarps = 0;
  unsigned nextWarp = 0;
  uint64_t barrierGeneration = 0;
  /// Threads that arrived in this generation, that exited, and that did both.
  uint32_t barrierArrived = 0, barrierExited = 0, barrierBoth = 0, threads = 0;
  void bump() { ++epoch; }
  /// Completes the cluster barrier when all threads that are left have arrived.
  void tryCompleteBarrier() {
    if (barrierArrived == 0 || barrierArrived + barrierExited - barrierBoth < threads)
      return;
    barrierArrived = barrierBoth = 0;
    ++barrierGeneration;
    bump();
  }
};

struct Launch {
  LaunchId id = 0;
  DeviceImpl *device = nullptr;
  std::shared_ptr<const Module> module;
  const Program *program = nullptr;
  std::vector<uint32_t> consts; ///< the program's, relocated for the device
  LaunchConfig config;
  Dim3 cluster, clusters;       ///< shape of a cluster, clusters in the grid
  unsigned threads = 0, warps = 0; ///< a block
  uint32_t sharedBytes = 0;     ///< with the reserved bytes
  uint32_t dynamicOffset = 0;
  unsigned registers = 0, residentLimit = 0;
  uint64_t nextCluster = 0, totalClusters = 0, doneClusters = 0;
  std::atomic<uint64_t> instructions = 0; ///< atomic, as shards count together
  std::list<std::unique_ptr<Cluster>> resident;
  std::atomic<uint64_t> launchDependents = 0; ///< blocks that allowed dependents (or ended)
  uint64_t totalCtas = 0;
  bool started = false, complete = false;
  Launch *previous = nullptr;   ///< the launch ahead on the device while it runs
};

class DeviceImpl {
public:
  Device *self = nullptr;
  MachineImpl *m = nullptr;
  const target::Target *target = nullptr;
  int ordinal = 0;
  unsigned smCount = 1;
  std::vector<int32_t> pages; ///< allocation index by address >> allocShift, -1: none
  std::vector<std::unique_ptr<Allocation>> allocations;
  struct Loaded { std::shared_ptr<const Module> module; std::vector<uint64_t> addresses; };
  std::vector<Loaded> loaded;
  std::list<std::unique_ptr<Launch>> queue;

  DevicePtr allocate(uint64_t bytes, void *host, bool track);
  const std::vector<uint64_t> *load(const std::shared_ptr<const Module> &module);
};

} // namespace heddle::emulator

#endif // HEDDLE_EMULATOR_CORE_SIM_H
