//===- Emulator.h - executes PTX on the CPU ---------------------*- C++ -*-===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A deterministic PTX machine: devices of one process that share an address
// space, kernels parsed from text, launches whose interleaving of warps and of
// asynchronous engines is chosen by a seed. Stricter than hardware: everything
// that PTX leaves undefined and the emulator can see is an error with the PTX
// line, the source location (`.loc`), thread, block and role.
//
// Ownership: a Machine owns its devices; a Device owns its memory; a Module is
// shared and immutable. Threading: one thread at a time may use a Machine and
// its devices; Module::parse and a parsed Module are thread-safe. No function
// throws; std::bad_alloc ends the process unless Limits::maxMemory is reached
// first.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_EMULATOR_EMULATOR_H
#define HEDDLE_EMULATOR_EMULATOR_H

#include "heddle/Target/Target.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::emulator {

class Observer;
class MachineImpl;
class DeviceImpl;
struct ModuleImpl;

/// An address in the space that all devices of a machine share.
using DevicePtr = uint64_t;

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t volume() const { return uint64_t(x) * y * z; }
};

enum class ErrorKind : uint8_t {
  Parse,         ///< the text is not PTX the emulator knows
  Unsupported,   ///< the target lacks the instruction
  Launch,        ///< grid, block, shared memory or parameters do not fit
  OutOfBounds,   ///< access outside any live allocation
  Misaligned,    ///< address not a multiple of the access size
  Uninitialised, ///< read of bytes nobody wrote
  Barrier,       ///< misuse of a barrier, an mbarrier or an asynchronous group
  Convergence,   ///< an aligned instruction that not all lanes execute
  Operand,       ///< a value the instruction does not allow (descriptor, count)
  Deadlock,      ///< nothing can run and nothing is in flight
  Limit,         ///< a limit of Limits was reached
  Trap,          ///< `trap` was executed
  Race,          ///< reported by an observer
};
std::string_view errorKindName(ErrorKind kind);

/// One finding. `message` is complete for a reader; the fields repeat it for programs.
struct Error {
  ErrorKind kind = ErrorKind::Parse;
  std::string message; ///< lower case, no final period
  uint32_t line = 0;   ///< PTX line, 0: none
  std::string source;  ///< "file:line:column" from `.loc`, may be empty
  std::string role;    ///< name of the warp's role, may be empty
  int device = -1;
  Dim3 cta{0, 0, 0};
  int warp = -1, lane = -1;
  /// "line 12: ... [role load, warp 3, cta (0,0,0), at gemm.mlir:4:7]"
  std::string text() const;
};

struct Stats {
  uint64_t warpInstructions = 0, threadInstructions = 0;
  uint64_t globalReadBytes = 0, globalWriteBytes = 0; ///< by threads
  uint64_t sharedReadBytes = 0, sharedWriteBytes = 0; ///< by threads
  uint64_t asyncBytes = 0;                            ///< by copy engines
  uint64_t tensorOps = 0; ///< mma.sync, wgmma and tcgen05.mma instructions
  uint64_t barrierWaits = 0;
  void add(const Stats &other);
};

struct Report {
  bool ok = false;
  std::vector<Error> errors; ///< the first is the one that stopped the launch
  Stats stats;
  std::string text() const; ///< all errors, one a line
};

/// How warps and asynchronous operations interleave. Every choice is legal.
enum class Schedule : uint8_t {
  BySeed,     ///< RoundRobin for seed 0, else one of the three drawn from the seed
  RoundRobin, ///< warps in turn, asynchronous operations soon
  Random,     ///< random warps, quanta, pieces and order
  LateAsync,  ///< asynchronous work moves only when no warp can
};

struct Limits {
  uint64_t maxInstructions = 0;        ///< warp instructions a launch; 0: none
  uint64_t maxMemory = uint64_t(8) << 30; ///< bytes of emulated memory of all kinds
  double maxSeconds = 0;               ///< wall time of one run; 0: none
  unsigned maxErrors = 16;             ///< errors kept in a report
};

struct MachineOptions {
  uint64_t seed = 0;
  Schedule schedule = Schedule::BySeed;
  bool checkUninitialisedShared = true;
  bool checkUninitialisedGlobal = false; ///< memory from allocate() counts as unwritten
  Limits limits;
  /// Host threads that run the blocks of a launch; 0: one a core. They are used for kernels whose
  /// clusters have no means to exchange data, when nothing observes the machine. The results of a
  /// seed do not depend on the number.
  unsigned threads = 0;
  /// True when someone outside the machine (a host thread, another process) may
  /// write memory that kernels wait for: an idle machine is then not a deadlock,
  /// and run() returns RunState::Idle.
  bool externalAgents = false;
};

struct ParamInfo {
  uint32_t offset, bytes, align; ///< in the parameter buffer
};

struct EntryInfo {
  std::string name;
  std::vector<ParamInfo> params;
  uint32_t paramBytes = 0;
  uint32_t staticShared = 0;           ///< bytes
  Dim3 reqntid{0, 0, 0}, maxntid{0, 0, 0}, cluster{0, 0, 0}; ///< x 0: not stated
  unsigned minCtasPerSM = 0, maxRegisters = 0;
};

/// Parsed and decoded PTX for one target.
class Module {
public:
  /// nullptr and *error (never null) when `text` is not accepted: syntax, an
  /// instruction that is unknown, or one that `target` lacks.
  static std::shared_ptr<const Module> parse(std::string_view text, const target::Target &target,
                                             Error *error);
  ~Module();
  const std::vector<EntryInfo> &entries() const;
  const EntryInfo *entry(std::string_view name) const; ///< nullptr when absent
  const target::Target &target() const;
  const ModuleImpl &impl() const { return *impl_; }

private:
  Module();
  std::unique_ptr<ModuleImpl> impl_;
};

/// A named range of warps of every block, for reports: {"load", 0, 4}.
struct Role {
  std::string name;
  unsigned firstWarp = 0, warps = 0;
};

struct LaunchConfig {
  Dim3 grid, block;
  Dim3 cluster{0, 0, 0};         ///< x 0: what the entry states, else no cluster
  uint32_t dynamicShared = 0;    ///< bytes
  std::vector<uint8_t> params;   ///< EntryInfo::paramBytes bytes
  std::vector<Role> roles;
  unsigned registersPerThread = 0; ///< what ptxas allotted; 0: the most that fits
  /// May start before the launch ahead of it on this device ends (griddepcontrol).
  bool programmaticDependent = false;
};

using LaunchId = uint64_t;

/// A GPU. Obtained from Machine::addDevice.
class Device {
public:
  ~Device();
  const target::Target &target() const;
  int ordinal() const;
  /// Zero-filled memory, 512-byte aligned; 0 when Limits::maxMemory is reached.
  DevicePtr allocate(uint64_t bytes);
  /// Makes `bytes` at `host` device memory; not owned, must outlive its use.
  DevicePtr mapHost(void *host, uint64_t bytes);
  /// False when `ptr` is not the start of a live allocation.
  bool free(DevicePtr ptr);
  /// Bounds-checked copies and fill; false when the range is not one live allocation.
  bool copyIn(DevicePtr to, const void *from, uint64_t bytes);
  bool copyOut(void *to, DevicePtr from, uint64_t bytes) const;
  bool fill(DevicePtr to, uint8_t value, uint64_t bytes);
  /// The host's view of [ptr, ptr+bytes), nullptr when not one live allocation.
  void *hostView(DevicePtr ptr, uint64_t bytes) const;
  /// Address of a `.global` or `.const` variable of `module`; 0 when absent.
  DevicePtr symbol(const std::shared_ptr<const Module> &module, std::string_view name);
  /// Queues a launch behind earlier ones of this device. 0 and *error (may not be
  /// null) when the configuration does not fit entry or target.
  LaunchId enqueue(const std::shared_ptr<const Module> &module, std::string_view entry,
                   LaunchConfig config, Error *error);
  /// enqueue, then Machine::run until all queued work ends.
  Report launch(const std::shared_ptr<const Module> &module, std::string_view entry,
                LaunchConfig config);
  DeviceImpl &impl() { return *impl_; }

private:
  friend class Machine;
  Device();
  std::unique_ptr<DeviceImpl> impl_;
};

enum class RunState : uint8_t {
  Done,    ///< nothing is queued
  Budget,  ///< the instruction budget of this call is used up
  Idle,    ///< all wait, and only an external agent can change that
  Failed,  ///< an error; queued work is dropped
};

/// Devices that share an address space and run together.
class Machine {
public:
  explicit Machine(MachineOptions options = {});
  ~Machine();
  /// `smCount` 0: the default chip of the target. The device lives as long as the machine.
  Device &addDevice(const target::Target &target, unsigned smCount = 0);
  /// A multicast object over `members`, the starts of ranges of `bytes` bytes, each within one live
  /// allocation, mostly of one device each: the address that multimem instructions of any device
  /// take. 0 when there is no member or a range does not fit. Lives as long as the machine;
  /// using it after a member was freed is an out-of-bounds error.
  DevicePtr multicast(const std::vector<DevicePtr> &members, uint64_t bytes);
  /// Receives every event from now on; not owned; nullptr: none (and no cost).
  void setObserver(Observer *observer);
  /// Runs queued launches; `budget` in warp instructions, 0: until done.
  RunState run(uint64_t budget = 0);
  /// Errors and statistics since the last takeReport.
  Report takeReport();
  MachineOptions &options(); ///< seed and schedule take effect at the next launch
  MachineImpl &impl() { return *impl_; }

private:
  std::unique_ptr<MachineImpl> impl_;
};

} // namespace heddle::emulator

#endif // HEDDLE_EMULATOR_EMULATOR_H
