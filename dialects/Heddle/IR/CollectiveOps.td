//===- CollectiveOps.td - work that all ranks do together -*- tablegen -*-===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_HEDDLE_COLLECTIVE_OPS_TD
#define HEDDLE_HEDDLE_COLLECTIVE_OPS_TD
include "KernelOps.td"

/// An operation that all ranks of a communicator do together, with equal shapes. How many
/// ranks there are is known at run time only: it is the size `world`, always a `?`.
class Heddle_CollectiveOp<string m> : Heddle_Op<m, []> {
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
}

def Heddle_AllGatherOp : Heddle_CollectiveOp<"all_gather"> {
  let summary = "every rank's tensor, on every rank";
  let description = [{
    The result has a dimension more, in front: part `r` is the tensor of rank `r`. The result
    lies in symmetric memory.
    ```mlir
    %0 = heddle.all_gather %x : tensor<?x512xbf16> to tensor<?x?x512xbf16>
    ```
  }];
}
def Heddle_AllToAllOp : Heddle_CollectiveOp<"all_to_all"> {
  let summary = "part `r` of every rank's tensor, on rank `r`";
  let description = [{
    Part `s` of the result of rank `r` is part `r` of the tensor of rank `s`. The result lies
    in symmetric memory.
    ```mlir
    %0 = heddle.all_to_all %x : tensor<?x?x512xbf16> to tensor<?x?x512xbf16>
    ```
  }];
}
def Heddle_ReduceScatterOp : Heddle_CollectiveOp<"reduce_scatter"> {
  let summary = "the sum of part `r` of all ranks' tensors, on rank `r`";
  let description = [{
    Summed in f32 in the order of the ranks, rounded once. The operand lies in symmetric memory.
    ```mlir
    %0 = heddle.reduce_scatter %x : tensor<?x?x512xbf16> to tensor<?x512xbf16>
    ```
  }];
}
def Heddle_AllReduceOp : Heddle_CollectiveOp<"all_reduce"> {
  let summary = "the sum of all ranks' tensors, on every rank";
  let description = [{
    Summed in f32 in the order of the ranks, rounded once: all ranks get the same bits. Operand
    and result lie in symmetric memory, apart from each other.
    ```mlir
    %0 = heddle.all_reduce %x : tensor<?x512xbf16> to tensor<?x512xbf16>
    ```
  }];
}
def Heddle_RankBroadcastOp : Heddle_Op<"rank_broadcast", []> {
  let summary = "one rank's tensor, on every rank";
  let description = [{
    The operands of other ranks than `root` are not looked at. The result lies in symmetric
    memory.
    ```mlir
    %0 = heddle.rank_broadcast %x root 0 : tensor<?x512xbf16> to tensor<?x512xbf16>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$root);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `root` $root attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
}
def Heddle_BarrierOp : Heddle_Op<"barrier", []> {
  let summary = "no rank goes on before all have come here";
  let description = [{ What a rank's stream did before it is visible to all ranks after it. `heddle.barrier` }];
  let assemblyFormat = "attr-dict";
}
#endif
