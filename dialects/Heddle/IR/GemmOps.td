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

    `groups` makes it one product for each group of rows. How many rows a group has is read
    on the device, from an i32 tensor; G, the number of groups, is static. Rows of the result
    that are in no group are not written.

    - `along_m`: `a` is M x K, the result M x N, `b` G x K x N (or G x N x K). Group g has rows
      offsets[g] to offsets[g + 1] of a tensor of G + 1 offsets, or, with G numbers, as many rows
      as the number says, after the group before it, from the next multiple of `aligned` on.
    - `masked`: all have rank 3, the groups first; group g has the first counts[g] of M rows.
    - `along_k`: `a` is K x M (`transpose_a`), `b` K x N, the result G x M x N. Group g sums over
      its part of K, found as with `along_m`; the product of an empty group is zero.

    With `gather` row i of the product is that of row `rows[i]` of `a`, for the experts of a mixture to
    read tokens where they are; `rows` has M elements of i32. A row that `a` has not, as -1, is zero.

    A group that is negative, out of bounds, or not aligned as said is bad: it and those after
    it count as empty. A second result, i32 and of one element, tells: 0, or 1 + the number of
    the first bad group (nothing where the first result is empty: that launches no kernel).
    `expected` says how many rows a group typically has, for the choice of a schedule alone.

    ```mlir
    %3 = heddle.gemm %a, %b transpose_b groups %offsets along_m
      : (tensor<?x7168xbf16>, tensor<8x4096x7168xbf16>, tensor<9xi32>) -> tensor<?x4096xf32>
    %4, %bad = heddle.gemm %x, %b transpose_b groups %counts masked expected 20
      : (tensor<8x192x7168xbf16>, tensor<8x4096x7168xbf16>, tensor<8xi32>) -> (tensor<8x192x4096xf32>, tensor<1xi32>)
    %6 = heddle.gemm %tokens, %b transpose_b gather %rows groups %offsets along_m
      : (tensor<?x7168xbf16>, tensor<8x4096x7168xbf16>, tensor<?xi32>, tensor<9xi32>) -> tensor<?x4096xf32>
    %5 = heddle.gemm %y, %dy transpose_a groups %counts8 along_k aligned 128
      : (tensor<?x7168xbf16>, tensor<?x4096xbf16>, tensor<8xi32>) -> tensor<8x7168x4096xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$a, AnyRankedTensor:$b, UnitAttr:$transpose_a, UnitAttr:$transpose_b,
    Optional<AnyRankedTensor>:$scale_a, OptionalAttr<DenseI64ArrayAttr>:$scale_a_block, UnitAttr:$transposed_scale_a,
    Optional<AnyRankedTensor>:$scale_b, OptionalAttr<DenseI64ArrayAttr>:$scale_b_block, UnitAttr:$transposed_scale_b,
    Optional<AnyRankedTensor>:$rows, Optional<AnyRankedTensor>:$groups, OptionalAttr<Heddle_Grouping>:$grouping,
    OptionalAttr<I64Attr>:$aligned, OptionalAttr<I64Attr>:$expected,
    OptionalAttr<TypeAttr>:$accumulate, OptionalAttr<Heddle_Precision>:$precision);
  let results = (outs AnyRankedTensor:$result, Optional<AnyRankedTensor>:$status);
  let assemblyFormat = [{
    $a `,` $b (`transpose_a` $transpose_a^)? (`transpose_b` $transpose_b^)?
    (`scale_a` $scale_a^ `by` $scale_a_block)? (`transposed_scale_a` $transposed_scale_a^)?
    (`scale_b` $scale_b^ `by` $scale_b_block)? (`transposed_scale_b` $transposed_scale_b^)?
    (`gather` $rows^)? (`groups` $groups^ $grouping)? (`aligned` $aligned^)? (`expected` $expected^)?
    (`accumulate` $accumulate^)? (`precision` $precision^)? attr-dict `:` functional-type(operands, results)}];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Dimensions of the operands and the result before their matrix: a batch, or groups.
    unsigned getALead() { return ::llvm::cast<::mlir::RankedTensorType>(getA().getType()).getRank() - 2; }
    unsigned getBLead() { return ::llvm::cast<::mlir::RankedTensorType>(getB().getType()).getRank() - 2; }
    unsigned getDLead() { return ::llvm::cast<::mlir::RankedTensorType>(getResult().getType()).getRank() - 2; }
    /// Whether the products are batched, and where M, K and N are in the operands.
    bool isBatched() { return getALead() && !getGroups(); }
    unsigned getMDim() { return getALead() + (getTransposeA() ? 1 : 0); }
    unsigned getADimK() { return getALead() + (getTransposeA() ? 0 : 1); }
    unsigned getNDim() { return getBLead() + (getTransposeB() ? 0 : 1); }
    unsigned getBDimK() { return getBLead() + (getTransposeB() ? 1 : 0); }
    /// With groups: what they divide, how many there are, whether `groups` has their offsets.
    bool isGrouped(Grouping what) { return getGroups() && *getGrouping() == what; }
    int64_t getNumGroups() {
      auto type = ::llvm::cast<::mlir::RankedTensorType>((isGrouped(Grouping::AlongK) ? getResult() : getB()).getType());
      return type.getDimSize(0);
    }
    bool hasOffsets() {
      auto type = ::llvm::cast<::mlir::RankedTensorType>(getGroups().getType());
      return !isGrouped(Grouping::Masked) && type.getDimSize(0) == getNumGroups() + 1;
    }
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
      unsigned lead = isA ? getALead() : getBLead();
      return {isA ? getScaleA() : getScaleB(), block[0], block[1],
              lead + unsigned(transposed), lead + unsigned(!transposed)};
    }
  }];
}
#endif
