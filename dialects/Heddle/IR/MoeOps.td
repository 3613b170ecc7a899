//===- MoeOps.td - mixtures of experts -*- tablegen -*-===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_HEDDLE_MOE_OPS_TD
#define HEDDLE_HEDDLE_MOE_OPS_TD
include "KernelOps.td"

def Heddle_RouteOp : Heddle_Op<"route", [Pure]> {
  let summary = "the experts of each token, and their weights";
  let description = [{
    `scores` holds a row of gating scores for each token, one an expert. The `top` experts of a
    token are those with the greatest `a + bias`, where `a` is the score's `softmax` (the default) or
    `sigmoid`; of equal ones that with the lowest number comes first. `bias` takes part in the choice
    only, never in weights. Without a bias the scores themselves are compared, which gives the same
    order with fewer ties. A score that is not a number counts as minus infinity.

    `groups G keep g` limits a token to the experts of g groups: the experts fall into G groups of
    equal size, in order; a group's score is the sum of its best two, and the g groups with the
    greatest score stay. With a group for each node (or rank) that holds experts, no token goes to
    more than g of them.

    The results are the experts' numbers, best first, and their `a`, divided by the sum of the
    chosen ones with `normalise` and multiplied by `scale` when it is given.

    The choice is the same on every target and in the reference, bit by bit: all that it depends on
    is computed in f32 by additions, divisions and fused multiply-adds in a fixed order.

    ```mlir
    %ids, %weights = heddle.route %scores bias %b top 8 groups 8 keep 4 by sigmoid normalise scale 2.5
      : (tensor<?x256xf32>, tensor<256xf32>) -> (tensor<?x8xi32>, tensor<?x8xf32>)
    ```
  }];
  let arguments = (ins RankedTensorOf<[F32, BF16]>:$scores, Optional<RankedTensorOf<[F32]>>:$bias,
    I64Attr:$top, OptionalAttr<I64Attr>:$groups, OptionalAttr<I64Attr>:$keep,
    DefaultValuedAttr<Heddle_Gate, "::heddle::spec::Gate::Softmax">:$gate, UnitAttr:$normalise,
    OptionalAttr<F32Attr>:$scale);
  let results = (outs RankedTensorOf<[I32]>:$ids, RankedTensorOf<[F32]>:$weights);
  let assemblyFormat = [{
    $scores (`bias` $bias^)? `top` $top (`groups` $groups^ `keep` $keep)? (`by` $gate^)?
    (`normalise` $normalise^)? (`scale` $scale^)? attr-dict `:` functional-type(operands, results)}];
  let hasVerifier = 1;
}
#endif
