//===- AssignRoles.cpp - warp-assign-roles --------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In:  a kernel of stages with resolved links; its schedule, when it has one.
// Out: a kernel of roles in the order of their warps, `num_warps` set; no stage, no
//      commit, wait or release on regs pipes (their warp.acquire stays: it gives the
//      accumulator its first value).
// Not: several kernels' worth of roles in one warp; splitting a stage.
//
// Warps that lie between roles (padding to whole warpgroups) belong to no role; where
// roles of their warpgroup have registers, they must ask for the same number.
//
//===----------------------------------------------------------------------===//
#include "dialects/Warp/Transforms/FuseStages.h"
#include "dialects/Warp/Transforms/Passes.h"
#include "dialects/Warp/Transforms/Roles.h"
#include "llvm/ADT/STLExtras.h"

namespace heddle::warp {
#define GEN_PASS_DEF_ASSIGNROLESPASS
#include "dialects/Warp/Transforms/Passes.h.inc"
} // namespace heddle::warp

using namespace mlir;
using namespace heddle::warp;
using heddle::target::Feature;
using heddle::target::MmaFamily;
using heddle::target::Target;

namespace {
/// What a stage (after fusing) does, and the warps it gets.
struct Plan {
  StageOp stage;
  SmallVector<StringRef> names;
  std::optional<int64_t> fixedWarps;
  bool single = false, loads = false, multiplies = false, readsTmem = false;
  SmallVector<AccType> accumulators; ///< of its multiplications
  int64_t warps = 0, first = 0, registers = 0;
  bool placed = false;
};

struct AssignRolesPass : heddle::warp::impl::AssignRolesPassBase<AssignRolesPass> {
  using Base::Base;
  void runOnOperation() override;

private:
  LogicalResult keepRoles();
  LogicalResult fuse();
  void classify();
  void countWarps();
  LogicalResult assignRegisters();
  void place();
  void emitRoles();

  KernelOp kernel;
  const Target *target;
  std::optional<heddle::tuning::Schedule> schedule;
  SmallVector<Plan> plans; ///< program order, by warps after place()
  int64_t numWarps = 0;
  bool movesRegisters = false;
};
} // namespace

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Roles that somebody else has assigned stay as they are.
LogicalResult AssignRolesPass::keepRoles() {
  int64_t end = 0;
  for (RoleOp role : kernel.getBody().front().getOps<RoleOp>())
    end = std::max<int64_t>(end, role.getEndWarp());
  if (!kernel->hasAttr("num_warps"))
    kernel->setAttr("num_warps", Builder(kernel.getContext()).getI64IntegerAttr(end));
  return checkRoles(kernel, *target);
}

LogicalResult AssignRolesPass::fuse() {
  for (RoleOp role : kernel.getBody().front().getOps<RoleOp>())
    return role.emitOpError("expected either stages or roles in a kernel, got both");
  llvm::MapVector<Operation *, Plan> byStage;
  for (StageOp stage : kernel.getBody().front().getOps<StageOp>()) {
    Plan plan;
    plan.stage = stage;
    plan.names.push_back(stage.getSymNameAttr().getValue());
    if (stage.getWarps())
      plan.fixedWarps = *stage.getWarps();
    byStage.insert({stage, plan});
  }
  bool clash = false;
  auto onFuse = [&](StageOp into, StageOp from) {
    Plan other = byStage.lookup(from);
    Plan &plan = byStage[into];
    plan.names.append(other.names);
    if (plan.fixedWarps && other.fixedWarps && *plan.fixedWarps != *other.fixedWarps) {
      from.emitOpError("expected as many warps as stage ")
          << into.getSymName() << " of the same role, " << *plan.fixedWarps << ", got "
          << *other.fixedWarps;
      clash = true;
    }
    if (!plan.fixedWarps)
      plan.fixedWarps = other.fixedWarps;
    byStage.erase(from);
  };
  for (PipeOp pipe : getPipes(kernel)) {
    Link link = pipe.getPipe().getType().getLink();
    if (link == Link::Accumulator)
      return pipe.emitOpError("expected a resolved link (run warp-resolve-links), got accumulator");
    if (link == Link::Regs && failed(fuseThroughRegs(pipe, onFuse)))
      return failure();
  }
  for (auto &[stage, plan] : byStage)
    plans.push_back(plan);
  return success(!clash);
}

void AssignRolesPass::classify() {
  for (Plan &plan : plans) {
    plan.single = isSingleThreaded(plan.stage, *target);
    plan.readsTmem = readsTensorMemory(plan.stage, *target);
    plan.stage.walk([&](Operation *op) {
      if (auto copy = dyn_cast<CopyOp>(op))
        plan.loads |= copy.isLoad();
      if (auto mma = dyn_cast<MmaOp>(op)) {
        plan.multiplies = true;
        plan.accumulators.push_back(mma.getAcc().getType());
      }
    });
  }
}

void AssignRolesPass::countWarps() {
  int64_t storers =
      llvm::count_if(plans, [](const Plan &p) { return p.single && !p.loads && !p.multiplies; });
  for (Plan &plan : plans) {
    bool mma = plan.multiplies && !plan.single;
    if (plan.fixedWarps) {
      plan.warps = *plan.fixedWarps;
    } else if (plan.single) {
      plan.warps = 1;
    } else if (mma && schedule) {
      plan.warps = schedule->mmaWarps;
    } else if (mma && target->mma == MmaFamily::Wgmma) {
      int64_t rows = 0;
      for (AccType acc : plan.accumulators)
        rows = std::max(rows, acc.getRows());
      plan.warps = rows % 128 == 0 ? 8 : 4;
    } else if (plan.readsTmem && schedule && schedule->epilogueWarps > 0) {
      plan.warps = schedule->epilogueWarps;
    } else if (plan.loads && !mma && schedule && schedule->loadWarps > 0) {
      // The schedule counts the warps that store in bulk among those that load.
      plan.warps = std::max<int64_t>(1, schedule->loadWarps - storers);
    } else {
      plan.warps = 4;
    }
  }
}

LogicalResult AssignRolesPass::assignRegisters() {
  if (!schedule || (schedule->loadRegisters == 0 && schedule->mmaRegisters == 0))
    return success();
  if (schedule->loadRegisters == 0 || schedule->mmaRegisters == 0)
    return kernel.emitOpError("expected load_registers and mma_registers both 0 or both set, got ")
           << schedule->loadRegisters << " and " << schedule->mmaRegisters;
  if (!target->has(Feature::SetMaxNReg))
    return kernel.emitOpError("expected load_registers and mma_registers to be 0, since ")
           << target->name << " cannot move registers between warps, got "
           << schedule->loadRegisters << " and " << schedule->mmaRegisters;
  movesRegisters = true;
  for (Plan &plan : plans) {
    if (!plan.single && (plan.multiplies || plan.readsTmem))
      plan.registers = schedule->mmaRegisters;
    else if (plan.single || plan.loads)
      plan.registers = schedule->loadRegisters;
  }
  return success();
}

void AssignRolesPass::place() {
  auto sharesFirst = [&](const Plan &plan) {
    return plan.single || (movesRegisters && plan.registers == schedule->loadRegisters &&
                           !needsWarpgroups(plan.stage, *target));
  };
  auto onWarpgroups = [&](const Plan &plan) {
    return !sharesFirst(plan) && (movesRegisters || needsWarpgroups(plan.stage, *target));
  };
  auto put = [&](Plan &plan, int64_t first) {
    plan.first = first, plan.placed = true;
    numWarps = std::max(numWarps, first + plan.warps);
  };
  for (bool single : {true, false})
    for (Plan &plan : plans)
      if (plan.single == single && sharesFirst(plan))
        put(plan, numWarps);
  // Up to the first whole warpgroup there is room for others.
  if (llvm::any_of(plans, onWarpgroups)) {
    int64_t end = llvm::alignTo(numWarps, 4);
    for (Plan &plan : plans)
      if (!plan.placed && !onWarpgroups(plan) && numWarps + plan.warps <= end)
        put(plan, numWarps);
  }
  for (Plan &plan : plans)
    if (onWarpgroups(plan))
      put(plan, llvm::alignTo(numWarps, 4));
  for (Plan &plan : plans)
    if (!plan.placed)
      put(plan, numWarps);
  if (movesRegisters)
    numWarps = llvm::alignTo(numWarps, 4);
  llvm::stable_sort(plans, [](const Plan &a, const Plan &b) { return a.first < b.first; });
}

void AssignRolesPass::emitRoles() {
  OpBuilder builder(kernel.getContext());
  builder.setInsertionPointToEnd(&kernel.getBody().front());
  for (Plan &plan : plans) {
    auto role = RoleOp::create(builder, plan.stage.getLoc(), plan.stage.getSymName(),
                               builder.getStrArrayAttr(plan.names), plan.first,
                               plan.first + plan.warps, plan.registers);
    role.getBody().takeBody(plan.stage.getBody());
    plan.stage.erase();
  }
  kernel->setAttr("num_warps", builder.getI64IntegerAttr(numWarps));
}

void AssignRolesPass::runOnOperation() {
  kernel = getOperation();
  target = getTarget(kernel);
  schedule.reset();
  plans.clear();
  numWarps = 0;
  movesRegisters = false;
  if (!target) {
    kernel.emitOpError("expected a target (run warp-resolve-links), got none");
    return signalPassFailure();
  }
  if (kernel.getSchedule())
    schedule = fromAttr(*kernel.getSchedule());
  if (llvm::none_of(getProcesses(kernel), [](Operation *p) { return isa<StageOp>(p); })) {
    if (failed(keepRoles()))
      signalPassFailure();
    return;
  }
  if (failed(fuse()))
    return signalPassFailure();
  classify();
  countWarps();
  if (failed(assignRegisters()))
    return signalPassFailure();
  place();
  emitRoles();
  if (failed(checkRoles(kernel, *target)))
    return signalPassFailure();
}
