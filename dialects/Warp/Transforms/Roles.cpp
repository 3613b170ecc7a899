//===- Roles.cpp - rules that roles and what they use must keep -----------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/Warp/Transforms/Roles.h"

using namespace mlir;
using heddle::target::Feature;
using heddle::target::MmaFamily;
using heddle::target::Target;

namespace heddle::warp {

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

bool readsTensorMemory(Operation *process, const Target &target) {
  if (isSingleThreaded(process, target))
    return false;
  bool reads = false;
  process->walk([&](WaitOp wait) { reads |= wait.getPipe().getType().getLink() == Link::Tmem; });
  return reads;
}

static bool multiplies(Operation *process, const Target &target) {
  return !isSingleThreaded(process, target) &&
         process->walk([](MmaOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

bool needsWarpgroups(Operation *process, const Target &target) {
  return readsTensorMemory(process, target) ||
         (target.mma == MmaFamily::Wgmma && multiplies(process, target));
}

/// Whether `warps` warps can divide an accumulator among them.
static bool divides(AccType acc, int64_t warps, MmaFamily family) {
  tuning::Schedule tile;
  tile.tileM = acc.getRows(), tile.tileN = acc.getCols();
  tile.mmaWarps = static_cast<int>(warps);
  return tuning::warpGrid(tile, family).m != 0;
}

/// Warps that a role's own instructions can work with.
static LogicalResult checkWork(RoleOp role, const Target &target) {
  int64_t warps = role.getNumWarps();
  if (readsTensorMemory(role, target) && warps % 4)
    return role.emitOpError("expected a multiple of 4 warps, one for each quarter of tensor "
                            "memory, got ")
           << warps;
  if (multiplies(role, target)) {
    bool groups = target.mma == MmaFamily::Wgmma;
    WalkResult walked = role.walk([&](MmaOp mma) {
      if (divides(mma.getAcc().getType(), warps, target.mma))
        return WalkResult::advance();
      role.emitOpError("expected warps that can divide ")
          << mma.getAcc().getType()
          << (groups ? " into 64 rows a warpgroup of 4 warps, got "
                     : " into parts of multiples of 16 x 8, got ")
          << warps << " warps";
      return WalkResult::interrupt();
    });
    if (walked.wasInterrupted())
      return failure();
  }
  if (needsWarpgroups(role, target) && role.getFirstWarp() % 4)
    return role.emitOpError("expected the first warp to be a multiple of 4, a whole warpgroup, "
                            "got ")
           << role.getFirstWarp();
  return success();
}

static LogicalResult checkPlaces(KernelOp kernel, ArrayRef<RoleOp> roles, int64_t numWarps,
                                 const Target &target) {
  int64_t limit = std::min<int64_t>(32, target.maxThreadsPerBlock / 32);
  if (numWarps > limit) {
    InFlightDiagnostic diag = kernel.emitOpError("expected at most ")
                              << limit << " warps a CTA on " << target.name << ", got " << numWarps
                              << ":";
    for (RoleOp role : roles)
      diag << " " << role.getSymName() << " " << role.getNumWarps();
    return diag;
  }
  for (size_t i = 0; i < roles.size(); ++i) {
    RoleOp a = roles[i];
    if (static_cast<int64_t>(a.getEndWarp()) > numWarps)
      return a.emitOpError("expected warps within the kernel's num_warps, ")
             << numWarps << ", got " << a.getFirstWarp() << " to " << a.getEndWarp();
    for (RoleOp b : roles.take_front(i))
      if (a.getFirstWarp() < b.getEndWarp() && b.getFirstWarp() < a.getEndWarp())
        return a.emitOpError("expected warps of its own, got ")
               << a.getFirstWarp() << " to " << a.getEndWarp() << ", where role \""
               << b.getSymName() << "\" has " << b.getFirstWarp() << " to " << b.getEndWarp();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

/// setmaxnreg takes registers from a pool that is filled at launch; a request that the
/// pool cannot serve waits for ever (seen on an H200 with 40/240 of 3 x 168).
static LogicalResult checkRegisters(KernelOp kernel, ArrayRef<RoleOp> roles, int64_t numWarps,
                                    const Target &target) {
  auto asks = llvm::find_if(roles, [](RoleOp r) { return r.getRegisters() != 0; });
  if (asks == roles.end())
    return success();
  RoleOp asking = *asks;
  if (!target.has(Feature::SetMaxNReg))
    return asking.emitOpError("expected 0 registers, since ")
           << target.name << " cannot move registers between warps, got " << asking.getRegisters();
  if (numWarps % 4)
    return kernel.emitOpError("expected whole warpgroups of 4 warps to move registers, got ")
           << numWarps << " warps";
  tuning::Schedule all;
  all.loadWarps = static_cast<int>(numWarps), all.mmaWarps = 0;
  if (kernel.getSchedule())
    all.ctasPerSM = static_cast<int>(kernel.getSchedule()->getCtasPerSm());
  int64_t launch = tuning::launchRegisters(all, target) / 8 * 8;
  int64_t groups = numWarps / 4, need = 0;
  std::string parts;
  for (int64_t group = 0; group < groups; ++group) {
    RoleOp first;
    for (RoleOp role : roles) {
      if (static_cast<int64_t>(role.getFirstWarp()) >= 4 * group + 4 ||
          static_cast<int64_t>(role.getEndWarp()) <= 4 * group)
        continue;
      if (!first)
        first = role;
      if (role.getRegisters() != first.getRegisters())
        return role.emitOpError("expected as many registers as role \"")
               << first.getSymName() << "\" of the same warpgroup, " << first.getRegisters()
               << ", got " << role.getRegisters();
    }
    int64_t registers = first && first.getRegisters() ? first.getRegisters() : launch;
    need += registers;
    parts += (group ? " + " : "") + std::to_string(registers);
  }
  if (need > launch * groups)
    return kernel.emitOpError("expected the warpgroups to share ")
           << launch * groups << " registers (" << launch << " at launch x " << groups
           << " warpgroups), got " << need << " (" << parts << ")";
  return success();
}

LogicalResult checkRoles(KernelOp kernel, const Target &target) {
  SmallVector<RoleOp> roles(kernel.getBody().front().getOps<RoleOp>());
  if (roles.empty())
    return kernel.emitOpError("expected at least one role, got none");
  auto attr = kernel->getAttrOfType<IntegerAttr>("num_warps");
  if (!attr)
    return kernel.emitOpError("expected attribute num_warps (run warp-assign-roles), got none");
  int64_t numWarps = attr.getInt();
  if (failed(checkPlaces(kernel, roles, numWarps, target)))
    return failure();
  for (RoleOp role : roles)
    if (failed(checkWork(role, target)))
      return failure();
  return checkRegisters(kernel, roles, numWarps, target);
}

//===----------------------------------------------------------------------===//
// Arrivals
//===----------------------------------------------------------------------===//

FailureOr<PipeEnds> getEnds(PipeOp pipe) {
  PipeUses uses = getUses(pipe);
  if (uses.producers.size() != 1 || uses.consumers.empty())
    return pipe.emitOpError("expected pipe \"")
           << pipe.getName() << "\" to have one producer and a consumer, got "
           << uses.producers.size() << " and " << uses.consumers.size();
  for (Operation *process : llvm::concat<Operation *>(uses.producers, uses.consumers))
    if (!isa<RoleOp>(process))
      return process->emitOpError("expected roles (run warp-assign-roles), got a stage");
  PipeEnds ends;
  ends.producer = cast<RoleOp>(uses.producers.front());
  for (Operation *consumer : uses.consumers)
    ends.consumers.push_back(cast<RoleOp>(consumer));
  return ends;
}

/// Every part of a slot is written, and by one bulk copy where the barrier counts bytes.
static LogicalResult checkParts(PipeOp pipe, AcquireOp acquire, bool bulk) {
  for (auto [i, part] : llvm::enumerate(acquire.getSlots())) {
    if (!isa<TileType>(part.getType()))
      continue;
    int64_t writes = 0;
    for (Operation *user : part.getUsers()) {
      if (auto copy = dyn_cast<CopyOp>(user))
        writes += copy.isLoad();
      else if (auto map = dyn_cast<MapOp>(user))
        writes += map.getTarget() == part;
      else if (auto transfer = dyn_cast<TransferOp>(user))
        writes += transfer.isLoad();
      else
        writes += isa<PackOp, SpreadStoreOp>(user);
    }
    if (writes == 0 || (bulk && writes != 1))
      return acquire.emitOpError("expected ")
             << (bulk ? "one bulk copy" : "a write") << " to part " << i << " of a slot of pipe \""
             << pipe.getName() << "\", got " << writes;
  }
  return success();
}

// Bulk copies and tcgen05.mma arrive once, through the elected thread; each thread's
// cp.async arrive by themselves; of threads that write, one a warp arrives.
FailureOr<int64_t> fullArrivals(PipeOp pipe, RoleOp producer, const Target &target) {
  std::optional<Agent> writer;
  for (AcquireOp acquire : getUses(pipe).acquires)
    for (const Access &access : getAccesses(acquire, target)) {
      if (!access.write)
        continue;
      if (writer && *writer != access.agent)
        return access.op->emitOpError("expected slots of pipe \"")
               << pipe.getName() << "\" to be filled in one way, got " << describe(*writer)
               << " and " << describe(access.agent);
      writer = access.agent;
    }
  if (!writer)
    return pipe.emitOpError("expected ") << describeProcess(producer) << " to write to pipe \""
                                         << pipe.getName() << "\", got no write";
  for (AcquireOp acquire : getUses(pipe).acquires)
    if (failed(checkParts(pipe, acquire, *writer == Agent::CopyEngine)))
      return failure();
  switch (*writer) {
  case Agent::CopyEngine:
  case Agent::TensorCore:
    return 1;
  case Agent::AsyncCopy:
    return 32 * producer.getNumWarps();
  case Agent::Threads:
    break;
  }
  return producer.getNumWarps();
}

int64_t emptyArrivals(RoleOp consumer, const Target &target) {
  return isSingleThreaded(consumer, target) ? 1 : consumer.getNumWarps();
}

} // namespace heddle::warp
