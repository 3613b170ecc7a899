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

def Heddle_DispatchOp : Heddle_Op<"dispatch", []> {
  let summary = "the rows of tokens to the ranks of their experts";
  let description = [{
    Each rank has `experts` experts: rank r those from r * experts on. Row t of `x` goes to every
    rank that has an expert of row t of `ids`, once, however many of its experts the token has
    there. An id that is no expert's number, -1 for one, counts as none; all ranks have tensors of
    the same shapes, so that a rank with fewer tokens fills its ids up with -1.

    In the results the number of the sending rank comes first: part s, row t of `rows` is token t
    of rank s, if it came here, and anything otherwise; ids and weights are those of all tokens of
    all ranks, and tell which rows came. The results lie in symmetric memory. Backwards it is
    `heddle.combine`.

    ```mlir
    %rows, %row_ids, %row_weights = heddle.dispatch %x by %ids, %weights experts 32
      : (tensor<?x7168xbf16>, tensor<?x8xi32>, tensor<?x8xf32>)
      -> (tensor<?x?x7168xbf16>, tensor<?x?x8xi32>, tensor<?x?x8xf32>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, RankedTensorOf<[I32]>:$ids, RankedTensorOf<[F32]>:$weights,
    I64Attr:$experts);
  let results = (outs AnyRankedTensor:$rows, RankedTensorOf<[I32]>:$row_ids, RankedTensorOf<[F32]>:$row_weights);
  let assemblyFormat = [{
    $x `by` $ids `,` $weights `experts` $experts attr-dict `:` functional-type(operands, results)}];
  let hasVerifier = 1;
}

def Heddle_CombineOp : Heddle_Op<"combine", []> {
  let summary = "the sums of the rows that ranks made of each token";
  let description = [{
    `rows` lies in symmetric memory and is laid out as the result of `heddle.dispatch`: part s, row
    t of a rank's is what its experts made of token t of rank s. Row t of the result is the sum of
    those rows over the ranks that have an expert of row t of `ids`, which the ranks' own tokens
    were dispatched by; 0 where there is none. Summed in f32 in the order of the ranks, rounded
    once.

    ```mlir
    %y = heddle.combine %rows by %ids experts 32 : (tensor<?x?x7168xbf16>, tensor<?x8xi32>) -> tensor<?x7168xbf16>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$rows, RankedTensorOf<[I32]>:$ids, I64Attr:$experts);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$rows `by` $ids `experts` $experts attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Heddle_ExpertListsOp : Heddle_Op<"expert_lists", []> {
  let summary = "which rows each expert of this rank has";
  let description = [{
    `ids` are those of the rows of all ranks, as `heddle.dispatch` gives them. The rank's expert e
    has the entries from offsets[e] to offsets[e + 1] of `list`, which is one row of numbers
    whatever its shape. An entry is the place of an id in `ids`, which is one row of numbers as
    well: divided by the ids of a token it is the number of the row, and the weight stands at the
    same place in the rows' weights. Entries of an expert are in ascending order; a token that
    names an expert twice has two. From the last offset on the list holds anything.

    ```mlir
    %offsets, %list = heddle.expert_lists %row_ids experts 32 : tensor<?x?x8xi32> -> (tensor<33xi32>, tensor<?x?x8xi32>)
    ```
  }];
  let arguments = (ins RankedTensorOf<[I32]>:$ids, I64Attr:$experts);
  let results = (outs RankedTensorOf<[I32]>:$offsets, RankedTensorOf<[I32]>:$list);
  let assemblyFormat = "$ids `experts` $experts attr-dict `:` type($ids) `->` `(` type($offsets) `,` type($list) `)`";
  let hasVerifier = 1;
}
#endif
