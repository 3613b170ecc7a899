//===- Passes.td - passes on the warp dialect --------------*- tablegen -*-===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_WARP_PASSES_TD
#define HEDDLE_WARP_PASSES_TD

include "mlir/Pass/PassBase.td"

class Warp_Pass<string flag> : Pass<flag, "::heddle::warp::KernelOp">;

def ResolveLinksPass : Warp_Pass<"warp-resolve-links"> {
  let summary = "choose what accumulators live in and what moves tiles, by the kernel's target";
  let description = [{
    Pipes of link `accumulator` become `regs` of depth 1, or `tmem` of their own depth
    where the tensor cores accumulate in tensor memory. Copies by an engine that the
    target lacks get the next one it has: bulk loads become `async`, bulk stores
    `threads`. Multiplications of 8-bit operands get `promote` where the tensor cores
    keep their sums short.
  }];
  let options = [Option<"target", "target", "std::string", /*default=*/"\"\"",
    "target for kernels that name none">];
}

def SplitPromotionPass : Warp_Pass<"warp-split-promotion"> {
  let summary = "take sums that are promoted out of tensor memory slot by slot";
  let description = [{
    Where accumulators are in tensor memory, a multiplication that promotes commits each
    partial sum by itself, and the accumulator's consumer adds them up in registers with
    `warp.promote`. Other targets are left as they are: the warps that multiply do it.
  }];
}

def AssignRolesPass : Warp_Pass<"warp-assign-roles"> {
  let summary = "turn stages into roles: which warps do what, with how many registers";
  let description = [{
    Stages joined by a `regs` pipe become one role. Roles whose work one elected thread
    issues get one warp each, first in the CTA; the others follow, on whole warpgroups
    where their instructions or setmaxnreg ask for it. Sets `num_warps` on the kernel.
  }];
}

def LagReleasesPass : Warp_Pass<"warp-lag-releases"> {
  let summary = "place waits for multiplications that complete in the background of a role";
  let description = [{
    For targets whose multiplications run asynchronously into registers: releases in the
    loop that carries an accumulator lag one iteration, and `warp.mma_wait` stands
    between the last multiplication and everything that reads its result. Other targets
    are left as they are.
  }];
}

def InsertFencesPass : Warp_Pass<"warp-insert-fences"> {
  let summary = "derive warp.fence from what writes and what reads each pipe";
}

def CheckOrderingPass : Warp_Pass<"warp-check-ordering"> {
  let summary = "reject kernels whose memory ordering cannot be shown";
  let description = [{
    Expects the fences of `warp-insert-fences` and the waits of `warp-lag-releases`, or
    others that do as well.
  }];
}

def AllocatePass : Warp_Pass<"warp-allocate"> {
  let summary = "place slots and barriers, count arrivals";
  let description = [{
    Shared memory starts with 1024 bytes of barriers; the slots of each `smem` pipe
    follow at multiples of 1024. Pipes get `offset`, `barriers`, `producers` and
    `consumers`, the kernel `shared_bytes` and, with tensor memory, `tmem_columns` and
    `tmem_address` (the byte offset of the word that holds its address); with
    `warp.list_experts` `scratch`, where its counts start.
  }];
}

def VerifyProtocolPass : Warp_Pass<"warp-verify-protocol"> {
  let summary = "reject networks of stages or roles that can hang or overwrite unread data";
}

def VerifyRolesPass : Warp_Pass<"warp-verify-roles"> {
  let summary = "reject allocated kernels whose roles, memory or arrival counts cannot work";
}

#endif
