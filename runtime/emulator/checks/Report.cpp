//===- Report.cpp - races in words  -===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/checks/RaceDetector.h"

#include <algorithm>
#include <bit>
#include <cstdio>

namespace heddle::emulator {

using checks::Clock;
using checks::Clocks;
using checks::component;
using checks::Entry;
using checks::Part;

std::string RaceDetector::describe(const Entry &e, const char *what) {
  std::string out = what ? what : e.atomic ? "atomic access" : e.write ? "write" : "read";
  auto block = blocks.find(e.ctaId);
  std::string role;
  if (block != blocks.end() && e.warp < block->second.warps.size())
    role = block->second.warps[e.warp].role;
  if (!e.lanes) {
    auto op = operations.find(e.when);
    out += " by the " +
           std::string(op == operations.end() ? "operation" : asyncKindName(op->second.kind));
    if (role.empty() && op != operations.end())
      role = op->second.role;
  }
  out += " of line " + std::to_string(e.line) + " (";
  if (!role.empty())
    out += "role " + role + ", ";
  out += "warp " + std::to_string(e.warp);
  if (e.lanes)
    out += ", lane " + std::to_string(std::countr_zero(e.lanes));
  if (block != blocks.end()) {
    const WarpRef &b = block->second.at;
    out += ", cta (" + std::to_string(b.cta.x) + "," + std::to_string(b.cta.y) + "," +
           std::to_string(b.cta.z) + ")";
    if (nameDevices)
      out += ", device " + std::to_string(b.device);
    WarpRef at = b;
    at.loc = e.loc;
    if (std::string source = sourceOf(at); !source.empty())
      out += ", at " + source;
  }
  return out + ")";
}

void RaceDetector::reportRace(const AccessEvent &e, const Entry &before, const Entry &now,
                              Verdict v, uint64_t address, uint64_t owner, bool mbarrier) {
  if (found >= maxFindings || !reported.insert({before.line, now.line}).second)
    return;
  ++found;
  auto first = blocks.find(before.ctaId), second = blocks.find(now.ctaId);
  nameDevices = first != blocks.end() && second != blocks.end() &&
                first->second.at.device != second->second.at.device;
  std::string where;
  char hex[32];
  if (e.space == Space::Global) {
    std::snprintf(hex, sizeof hex, "0x%llx", static_cast<unsigned long long>(address));
    where = std::string("global memory at ") + hex;
  } else if (e.space == Space::Shared) {
    where = (mbarrier ? "the mbarrier at shared offset " : "shared offset ") +
            std::to_string(int64_t(address) - int64_t(sharedReserved(e.at.device)));
    if (owner != now.ctaId)
      where += " of another block";
  } else {
    where = "tensor memory lane " + std::to_string(address / 2048) + ", column " +
            std::to_string(address % 2048 / 4);
  }
  Error error;
  error.kind = ErrorKind::Race;
  error.message = "data race on " + where + ": the " +
                  (mbarrier ? describe(now, "use") : describe(now)) + " and the earlier " +
                  (mbarrier ? describe(before, "initialisation") : describe(before));
  switch (v) {
  case Verdict::NoProxyFence:
    error.message += mbarrier ? " lack a fence.mbarrier_init or fence.proxy.async between them"
                              : " lack a fence.proxy.async between them: the thread that writes "
                                "needs one before it releases";
    break;
  case Verdict::NoTensorFence:
    error.message += " lack tcgen05 fences between them: tcgen05.fence::before_thread_sync ahead "
                     "of the release, "
                     "tcgen05.fence::after_thread_sync behind the wait";
    break;
  case Verdict::Scope:
    error.message += " are of too small a scope for each other";
    break;
  default:
    error.message += !before.lanes && before.write && now.lanes
                         ? " are not ordered: nothing waited for the operation to complete"
                     : !before.lanes && now.write
                         ? " are not ordered: the operation may still be using this memory"
                         : " are not ordered by any barrier, release or wait";
    if (auto it = refused.find({before.ctaId, now.ctaId}); it != refused.end())
      error.message += ": the release of line " + std::to_string(it->second.first) +
                       " and the read of line " + std::to_string(it->second.second) +
                       " are of too small a scope for each other";
  }
  error.line = now.line;
  error.source = sourceOf(e.at);
  error.role = std::string(e.at.role);
  error.device = e.at.device;
  error.cta = e.at.cta;
  error.warp = int(now.warp);
  error.lane = now.lanes ? std::countr_zero(now.lanes) : -1;
  report(std::move(error), found >= maxFindings);
}

} // namespace heddle::emulator
