//===- MoeOps.td - mixtures of experts, a warp a token ------*- tablegen -*-===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Included by WarpOps.td.
#ifndef HEDDLE_WARP_MOE_OPS_TD
#define HEDDLE_WARP_MOE_OPS_TD

def Warp_RouteOp : Warp_Op<"route", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "choose the experts of a token, each warp of the role one";
  let description = [{
    The warp of number `w` in its role takes row `row + w` of `scores`, if there is one, and
    writes that row of `ids` and `weights`. What is chosen and how: `heddle.route`.
    ```mlir
    warp.route %scores[%row] bias %b to %ids, %weights top 8 groups 8 keep 4 sigmoid normalise scale 2.5
      : memref<?x256xf32>, memref<?x8xi32>, memref<?x8xf32>, memref<256xf32>
    ```
  }];
  let arguments = (ins AnyMemRef:$scores, Index:$row, Optional<AnyMemRef>:$bias, AnyMemRef:$ids,
    AnyMemRef:$weights, I64Attr:$top, DefaultValuedAttr<I64Attr, "1">:$groups,
    DefaultValuedAttr<I64Attr, "1">:$keep, UnitAttr:$sigmoid, UnitAttr:$normalise,
    OptionalAttr<F32Attr>:$scale);
  let assemblyFormat = [{
    $scores `[` $row `]` (`bias` $bias^)? `to` $ids `,` $weights `top` $top
    (`groups` $groups^)? (`keep` $keep^)? (`sigmoid` $sigmoid^)? (`normalise` $normalise^)?
    (`scale` $scale^)? attr-dict `:` type($scores) `,` type($ids) `,` type($weights) (`,` type($bias)^)?}];
  let hasVerifier = 1;
}

def Warp_HasExpertOp : Warp_Op<"has_expert", [MemoryEffects<[MemRead]>]> {
  let summary = "whether a token has an expert of a rank";
  let description = [{
    Whether row `token` of `ids` has a number from rank * experts up to, not including,
    (rank + 1) * experts.
    ```mlir
    %there = warp.has_expert %ids[%t] of %r experts 32 : memref<?x8xi32>
    ```
  }];
  let arguments = (ins AnyMemRef:$ids, I64:$token, I64:$rank, I64Attr:$experts);
  let results = (outs I1:$result);
  let assemblyFormat = "$ids `[` $token `]` `of` $rank `experts` $experts attr-dict `:` type($ids)";
  let hasVerifier = 1;
}

def Warp_ListExpertsOp : Warp_Op<"list_experts", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "list the places of an expert's ids";
  let description = [{
    All warps of the role, which is the only one that does so, write the places of the ids that
    are rank * experts + `expert`, in ascending order, to `list`, from where those of the rank's
    experts before it end; that place is written to `offsets` at `expert`, and behind the
    rank's last expert the end.
    ```mlir
    warp.list_experts %ids of %rank expert %e to %offsets, %list experts 32 : memref<?x?x8xi32>, memref<33xi32>, memref<?x?x8xi32>
    ```
  }];
  let arguments = (ins AnyMemRef:$ids, I64:$rank, Index:$expert, AnyMemRef:$offsets, AnyMemRef:$list, I64Attr:$experts);
  let assemblyFormat = [{
    $ids `of` $rank `expert` $expert `to` $offsets `,` $list `experts` $experts attr-dict `:` type($ids) `,` type($offsets) `,` type($list)}];
  let hasVerifier = 1;
}
#endif
