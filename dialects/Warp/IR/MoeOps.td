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
#endif
