//===- Observer.h - what a running machine tells its checkers ---*- C++ -*-===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Race detection, traces and statistics hang here. Without an observer the
// machine tests one pointer per instruction that has an event. Events come in
// execution order from the thread that runs the machine; references in them live
// only during the call. An observer reports a finding with Observer::report.
//
// Agents: a thread is (device, cta, warp, lane); an asynchronous operation has an
// id of its own (`op`), announced by asyncIssue, ended by asyncComplete. Memory
// moved by it is reported with that id and the lanes mask 0.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_EMULATOR_OBSERVER_H
#define HEDDLE_EMULATOR_OBSERVER_H

#include "runtime/emulator/Emulator.h"

namespace heddle::emulator {

enum class Space : uint8_t { Generic, Global, Shared, SharedCluster, Local, Param, Const, Tensor };
enum class Proxy : uint8_t { Generic, Async, Tensor };
enum class Sem : uint8_t { Weak, Relaxed, Acquire, Release, AcqRel, SeqCst, Volatile };
enum class Scope : uint8_t { None, Cta, Cluster, Gpu, Sys };

/// Where a warp is. `ctaId` numbers the block within the machine, never reused.
struct WarpRef {
  int device = 0;
  uint64_t launch = 0, ctaId = 0, clusterId = 0;
  Dim3 cta;
  unsigned warp = 0; ///< in the block
  std::string_view role;
  uint32_t line = 0; ///< PTX line of the instruction
  uint32_t loc = 0;  ///< of its `.loc`, see Observer::report
};

struct AccessEvent {
  WarpRef at;          ///< of the issuing warp, also for asynchronous accesses
  uint32_t lanes = 0;  ///< lanes that access; 0: the operation `op` does
  uint64_t op = 0;     ///< asynchronous operation, 0: the threads themselves
  Space space = Space::Global; ///< Global, Shared, Local or Tensor, resolved
  bool read = false, write = false, atomic = false;
  Proxy proxy = Proxy::Generic;
  Sem sem = Sem::Weak;
  Scope scope = Scope::None;
  uint32_t bytes = 0; ///< for each address
  /// 32 entries indexed by lane when `lanes` is not 0, else `count` entries.
  /// Global: the address. Shared: the offset in the block `owner[i]` (a ctaId).
  const uint64_t *address = nullptr;
  const uint64_t *owner = nullptr; ///< ctaIds for Shared, else null
  unsigned count = 0;
};

enum class SyncKind : uint8_t {
  BarArrive,      ///< bar.arrive / first half of bar.sync; `barrier` number
  BarRelease,     ///< the barrier completed; lanes may go on
  BarWait,        ///< warp leaves bar.sync
  ClusterArrive, ClusterWait,
  WarpSync,       ///< bar.warp.sync or another .sync instruction over `lanes`
  MbarInit, MbarInval, MbarArrive, MbarExpectTx, MbarCompleteTx,
  MbarPhase,      ///< a phase of the mbarrier completed
  MbarWait,       ///< test_wait/try_wait saw the phase complete
  MbarNoWait,     ///< ... saw it incomplete
  GridDepWait, GridDepLaunch,
};

struct SyncEvent {
  WarpRef at;
  uint32_t lanes = 0; ///< 0: asynchronous operation `op`
  uint64_t op = 0;
  SyncKind kind = SyncKind::BarArrive;
  unsigned barrier = 0;    ///< named barrier
  uint64_t owner = 0;      ///< ctaId whose barrier it is
  uint64_t address = 0;    ///< mbarrier offset in the owner's shared memory
  uint64_t count = 0;      ///< arrivals or bytes
  uint64_t phase = 0;      ///< phase number, from 0
  Sem sem = Sem::AcqRel;
  Scope scope = Scope::Cta;
};

enum class FenceKind : uint8_t {
  Thread,            ///< fence / membar
  ProxyAsync,        ///< fence.proxy.async, all spaces
  ProxyAsyncGlobal, ProxyAsyncShared,
  ProxyAlias, ProxyTensormap, MbarrierInit,
  TcgenBefore, TcgenAfter, WgmmaFence,
};

struct FenceEvent {
  WarpRef at;
  uint32_t lanes = 0;
  FenceKind kind = FenceKind::Thread;
  Sem sem = Sem::AcqRel;
  Scope scope = Scope::Cta;
};

enum class AsyncKind : uint8_t {
  CpAsync, BulkCopy, TensorCopy, Wgmma, TcgenMma, TcgenCp, TcgenCommit, TcgenLd, TcgenSt,
  MbarrierArrive, ///< cp.async.mbarrier.arrive
  LaunchCancel,
  StoreAsync, ///< st.async, red.async
};

/// "tensor copy", for reports.
std::string_view asyncKindName(AsyncKind kind);

struct AsyncEvent {
  WarpRef at;
  uint32_t lanes = 0;
  uint64_t op = 0;
  AsyncKind kind = AsyncKind::BulkCopy;
  uint64_t bytes = 0;
};

enum class WaitKind : uint8_t { CpAsyncGroup, BulkGroup, BulkGroupRead, WgmmaGroup, TcgenLd, TcgenSt };
/// A thread waited for asynchronous operations of its own.
struct WaitEvent {
  WarpRef at;
  uint32_t lanes = 0;
  WaitKind kind = WaitKind::CpAsyncGroup;
  const uint64_t *ops = nullptr; ///< the operations now known complete
  unsigned count = 0;
};

class Observer {
public:
  virtual ~Observer() = default;
  virtual void access(const AccessEvent &) {}
  virtual void sync(const SyncEvent &) {}
  virtual void fence(const FenceEvent &) {}
  virtual void asyncIssue(const AsyncEvent &) {}
  /// `readsDone`: sources may be reused, writes are not yet visible.
  virtual void asyncComplete(const AsyncEvent &, bool /*readsDone*/) {}
  virtual void wait(const WaitEvent &) {}
  /// Registers of a warp an asynchronous operation reads (A fragments) or writes (accumulators) between
  /// issue and completion; operands are byte offsets in the warp's register file.
  virtual void registersInFlight(const AsyncEvent &, const uint32_t * /*regs*/, unsigned /*count*/,
                                 bool /*written*/) {}
  virtual void ctaStart(const WarpRef &, unsigned /*warps*/) {}
  virtual void ctaEnd(const WarpRef &) {}
  virtual void warpEnd(const WarpRef &) {}
  /// Before every instruction of a warp (only if wantsInstructions()).
  virtual void instruction(const WarpRef &, uint32_t /*lanes*/) {}
  virtual bool wantsInstructions() const { return false; }
  /// A warp stops waiting-able work / goes on; `why` names what it waits for.
  virtual void blocked(const WarpRef &, std::string_view /*why*/) {}
  virtual void resumed(const WarpRef &) {}

  /// Set by the machine: adds an error to the running launch; it ends when `stop`.
  Machine *machine = nullptr;
  void report(Error error, bool stop);
  /// "file:line:column" of an instruction of a launch that still runs; empty when unknown.
  std::string sourceOf(const WarpRef &at) const;
  /// Bytes at the start of shared memory that the system keeps: offsets in reports are
  /// those of the kernel's own memory.
  uint32_t sharedReserved(int device) const;
  /// Virtual time in ns; a warp instruction takes one.
  uint64_t now() const;
};

} // namespace heddle::emulator

#endif // HEDDLE_EMULATOR_OBSERVER_H
