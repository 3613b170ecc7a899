//===- GemmOps.td - matrix products -*- tablegen -*-===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_HEDDLE_GEMM_OPS_TD
#define HEDDLE_HEDDLE_GEMM_OPS_TD
include "KernelOps.td"

def Heddle_GemmOp : Heddle_Op<"gemm", [Pure]> {
  let summary = "a matrix product, or a batch of them";
  let description = [{
    `a` is M x K, or K x M with `transpose_a`; `b` is K x N, or N x K with
    `transpose_b`; the result is M x N. With rank 3 the first dimension, equal in
    all three, counts independent products. Products are summed in `accumulate`
    (f32, the default) and rounded once to the result's type.

    Operands are `bf16`, `f16` or `f32`; `f32` operands are rounded to TF32 before
    they are multiplied, which `precision tf32` acknowledges.

    ```mlir
    %0 = heddle.gemm %a, %b transpose_b accumulate f32
      : (tensor<?x512xbf16>, tensor<256x512xbf16>) -> tensor<?x256xf32>
    %1 = heddle.gemm %x, %y precision tf32 : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$a, AnyRankedTensor:$b, UnitAttr:$transpose_a, UnitAttr:$transpose_b,
    OptionalAttr<TypeAttr>:$accumulate, OptionalAttr<Heddle_Precision>:$precision);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $a `,` $b (`transpose_a` $transpose_a^)? (`transpose_b` $transpose_b^)?
    (`accumulate` $accumulate^)? (`precision` $precision^)? attr-dict `:` functional-type(operands, results)}];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether the products are batched, and where M, K and N are in the operands.
    bool isBatched() { return getA().getType().getRank() == 3; }
    unsigned getMDim() { return isBatched() + (getTransposeA() ? 1 : 0); }
    unsigned getADimK() { return isBatched() + (getTransposeA() ? 0 : 1); }
    unsigned getNDim() { return isBatched() + (getTransposeB() ? 0 : 1); }
    unsigned getBDimK() { return isBatched() + (getTransposeB() ? 1 : 0); }
  }];
}
#endif
