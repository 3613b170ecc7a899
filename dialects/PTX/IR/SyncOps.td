//===- SyncOps.td - barriers and waits -*- tablegen -*- ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_PTX_SYNC_OPS_TD
#define HEDDLE_PTX_SYNC_OPS_TD
include "PTXDialect.td"
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"

def PTX_MBarrierWaitOp : PTX_TextOp<"mbarrier_wait",
    "{\n\t.reg .pred p;\n\tWAIT: mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1;\n\t@p bra DONE;\n\tbra WAIT;\n\tDONE:\n\t}"> {
  let summary = "wait until the phase of a given parity has completed (mbarrier.try_wait in a loop)";
  let arguments = (ins I32:$barrier, I32:$parity);
  let assemblyFormat = "$barrier `,` $parity attr-dict";
}
def PTX_MBarrierWaitClusterOp : PTX_Op<"mbarrier_wait_cluster"> {
  let summary = "like ptx.mbarrier_wait, where threads of other CTAs of the cluster arrive";
  let description = [{
    With `acquire`, what those threads did before they arrived is visible afterwards; without,
    only that they have arrived (relaxed). Cluster scope.
  }];
  let arguments = (ins I32:$barrier, I32:$parity, UnitAttr:$acquire);
  let assemblyFormat = "$barrier `,` $parity (`acquire` $acquire^)? attr-dict";
}
def PTX_MBarrierPollOp : PTX_TextOp<"mbarrier_poll",
    "{\n\t.reg .pred p;\n\tPOLL: mbarrier.test_wait.parity.shared::cta.b64 p, [$0], $1;\n\t@p bra DONE;\n\tbra POLL;\n\tDONE:\n\t}"> {
  let summary = "like ptx.mbarrier_wait, for targets without try_wait (mbarrier.test_wait in a loop)";
  let arguments = (ins I32:$barrier, I32:$parity);
  let assemblyFormat = "$barrier `,` $parity attr-dict";
}
def PTX_MBarrierArriveOp : PTX_TextOp<"mbarrier_arrive", "mbarrier.arrive.shared.b64 _, [$0];"> {
  let summary = "arrive once on a barrier of this CTA (release, cta scope)";
  let arguments = (ins I32:$barrier);
  let assemblyFormat = "$barrier attr-dict";
}
def PTX_MBarrierArriveIfOp : PTX_TextOp<"mbarrier_arrive_if",
    "{\n\t.reg .pred p;\n\tsetp.ne.b32 p, $1, 0;\n\t@p mbarrier.arrive.shared.b64 _, [$0];\n\t}"> {
  let summary = "arrive on a barrier of this CTA when `flag` is not 0, without a branch";
  let arguments = (ins I32:$barrier, I32:$flag);
  let assemblyFormat = "$barrier `if` $flag attr-dict";
}
def PTX_MBarrierArriveRemoteIfOp : PTX_Op<"mbarrier_arrive_remote_if"> {
  let summary = "arrive on a barrier of any CTA of the cluster when `flag` is not 0, without a branch";
  let description = [{
    The address is one that `ptx.map_shared` gave. With `release`, what this thread did before is
    visible to those who acquire; ptxas then fences the whole GPU (MEMBAR.ALL.GPU). Cluster scope.
  }];
  let arguments = (ins I32:$barrier, I32:$flag, UnitAttr:$release);
  let assemblyFormat = "$barrier `if` $flag (`release` $release^)? attr-dict";
}
def PTX_MapSharedOp : PTX_TextOp<"map_shared", "mapa.shared::cluster.u32 $0, $1, $2;"> {
  let summary = "the address, in the cluster's window, of the same place in the CTA of rank `rank`";
  let description = [{ `%there = ptx.map_shared %here, %rank` (mapa) }];
  let arguments = (ins I32:$address, I32:$rank);
  let results = (outs I32:$result);
  let assemblyFormat = "$address `,` $rank attr-dict";
}
def PTX_MBarrierExpectTxOp : PTX_TextOp<"mbarrier_arrive_expect_tx",
    "mbarrier.arrive.expect_tx.shared.b64 _, [$0], $1;"> {
  let summary = "arrive once and expect `bytes` more of asynchronous writes";
  let arguments = (ins I32:$barrier, I32:$bytes);
  let assemblyFormat = "$barrier `,` $bytes attr-dict";
}
def PTX_MBarrierExpectMoreOp : PTX_TextOp<"mbarrier_expect_tx",
    "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [$0], $1;"> {
  let summary = "expect `bytes` more of asynchronous writes in the current phase, without an arrival";
  let arguments = (ins I32:$barrier, I32:$bytes);
  let assemblyFormat = "$barrier `,` $bytes attr-dict";
}
def PTX_AtomicIncIfOp : PTX_TextOp<"atomic_inc_if",
    "{\n\t.reg .pred p;\n\tmov.u32 $0, 0;\n\tsetp.ne.b32 p, $3, 0;\n\t@p atom.acq_rel.gpu.global.inc.u32 $0, [$1], $2;\n\t}"> {
  let summary = "count up to `limit` and around to 0 in global memory when `flag` is not 0";
  let description = [{
    Gives what was there before, 0 without the flag. Releases what this thread knows and acquires
    what those before it released (gpu scope).
    ```mlir
    %old = ptx.atomic_inc_if %counter to %limit if %flag : !llvm.ptr<1>
    ```
  }];
  let arguments = (ins LLVM_AnyPointer:$address, I32:$limit, I32:$flag);
  let results = (outs I32:$result);
  let assemblyFormat = "$address `to` $limit `if` $flag attr-dict `:` type($address)";
}
def PTX_GridDependencyWaitOp : PTX_TextOp<"grid_dependency_wait", "griddepcontrol.wait;"> {
  let summary = "wait until the launches ahead of this one are over and what they wrote is visible";
  let description = [{ At once where the launch did not begin before they ended. }];
  let assemblyFormat = "attr-dict";
}
def PTX_LaunchDependentsOp : PTX_TextOp<"launch_dependents", "griddepcontrol.launch_dependents;"> {
  let summary = "the next launch may begin as soon as all CTAs have said so";
  let assemblyFormat = "attr-dict";
}
def PTX_MBarrierInitOp : PTX_TextOp<"mbarrier_init", "mbarrier.init.shared.b64 [$0], $1;"> {
  let summary = "make a barrier that completes a phase after `count` arrivals";
  let arguments = (ins I32:$barrier, I32:$count);
  let assemblyFormat = "$barrier `,` $count attr-dict";
}
#endif
