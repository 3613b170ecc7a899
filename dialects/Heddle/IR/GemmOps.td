//===- GemmOps.td - matrix products -*- tablegen -*-===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_HEDDLE_GEMM_OPS_TD
#define HEDDLE_HEDDLE_GEMM_OPS_TD
include "KernelOps.td"

def Heddle_GemmOp : Heddle_Op<"gemm", [Pure, AttrSizedOperandSegments]> {
  let summary = "a matrix product, or a batch of them";
  let description = [{
    `a` is M x K, or K x M with `transpose_a`; `b` is K x N, or N x K with
    `transpose_b`; the result is M x N. With rank 3 the first dimension, equal in
    all three, counts independent products. Products are summed in `accumulate`
    (f32, the default) and rounded once to the result's type.

    Operands are `bf16`, `f16` or `f32`, or any two of `f8E4M3FN` and `f8E5M2`; `f32` operands
    are rounded to TF32 before they are multiplied, which `precision tf32` acknowledges.
    Where tensor cores keep sums of 8-bit products short, partial sums over 128 of K are
    added up in f32.

    ```mlir
    %0 = heddle.gemm %a, %b transpose_b accumulate f32
      : (tensor<?x512xbf16>, tensor<256x512xbf16>) -> tensor<?x256xf32>
    %1 = heddle.gemm %x, %y precision tf32 : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
    ```

    8-bit operands may have scales in f32, one for each block of rows by K: `[1, 128]`, fine
    along K, or `[128, 128]`. A row of `a` is an index of M, one of `b` an index of N, whatever
    order the operands have in memory. An operand of R rows has a scale tensor of
    R / rows (rounded up) x K / 128, or K / 128 x R / rows with `transposed_scale_a` (`_b`);
    a batch comes first. K is a multiple of 128. (One scale a tensor, row or column needs
    none of this: multiply the product by `heddle.splat` or `heddle.broadcast` of it.)

    ```mlir
    %2 = heddle.gemm %a, %b transpose_b scale_a %sa by [1, 128] scale_b %sb by [128, 128]
      : (tensor<?x512xf8E4M3FN>, tensor<256x512xf8E4M3FN>, tensor<?x4xf32>, tensor<2x4xf32>) -> tensor<?x256xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$a, AnyRankedTensor:$b, UnitAttr:$transpose_a, UnitAttr:$transpose_b,
    Optional<AnyRankedTensor>:$scale_a, OptionalAttr<DenseI64ArrayAttr>:$scale_a_block, UnitAttr:$transposed_scale_a,
    Optional<AnyRankedTensor>:$scale_b, OptionalAttr<DenseI64ArrayAttr>:$scale_b_block, UnitAttr:$transposed_scale_b,
    OptionalAttr<TypeAttr>:$accumulate, OptionalAttr<Heddle_Precision>:$precision);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $a `,` $b (`transpose_a` $transpose_a^)? (`transpose_b` $transpose_b^)?
    (`scale_a` $scale_a^ `by` $scale_a_block)? (`transposed_scale_a` $transposed_scale_a^)?
    (`scale_b` $scale_b^ `by` $scale_b_block)? (`transposed_scale_b` $transposed_scale_b^)?
    (`accumulate` $accumulate^)? (`precision` $precision^)? attr-dict `:` functional-type(operands, results)}];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether the products are batched, and where M, K and N are in the operands.
    bool isBatched() { return getA().getType().getRank() == 3; }
    unsigned getMDim() { return isBatched() + (getTransposeA() ? 1 : 0); }
    unsigned getADimK() { return isBatched() + (getTransposeA() ? 0 : 1); }
    unsigned getNDim() { return isBatched() + (getTransposeB() ? 0 : 1); }
    unsigned getBDimK() { return isBatched() + (getTransposeB() ? 1 : 0); }
    bool hasScales() { return static_cast<bool>(getScaleA()); }
    /// The scales of A or B: their tensor, rows of a block, where rows and K are in the tensor.
    struct Scale {
      ::mlir::Value tensor;
      int64_t blockRows, blockK;
      unsigned rowDim, kDim;
    };
    Scale getScale(bool isA) {
      bool transposed = isA ? getTransposedScaleA() : getTransposedScaleB();
      ::llvm::ArrayRef<int64_t> block = isA ? *getScaleABlock() : *getScaleBBlock();
      return {isA ? getScaleA() : getScaleB(), block[0], block[1],
              isBatched() + unsigned(transposed), isBatched() + unsigned(!transposed)};
    }
  }];
}
#endif
