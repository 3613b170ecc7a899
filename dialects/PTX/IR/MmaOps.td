//===- MmaOps.td - warp matrix multiply -*- tablegen -*- ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_PTX_MMA_OPS_TD
#define HEDDLE_PTX_MMA_OPS_TD
include "PTXDialect.td"

def PTX_LdMatrixOp : PTX_Op<"ldmatrix"> {
  let summary = "load 1, 2 or 4 8x8 matrices of 16-bit elements from shared memory";
  let description = [{
    Lane `8 i + r` names the address of row `r` of matrix `i`.
    ```mlir
    %m:4 = ptx.ldmatrix %address : i32, i32, i32, i32
    ```
  }];
  let arguments = (ins I32:$address, UnitAttr:$transposed);
  let results = (outs Variadic<I32>:$matrices);
  let assemblyFormat = "$address (`transposed` $transposed^)? attr-dict `:` type($matrices)";
  let hasVerifier = 1;
}
def PTX_MmaSyncOp : PTX_Op<"mma_sync", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<PTX_AsmOpInterface, ["getNumTied", "isVolatile"]>]> {
  let summary = "m16n8 matrix multiply of one warp, f32 accumulators (mma.sync, row.col)";
  let description = [{
    `k` elements of `type` ("bf16", "f16", "tf32", "e4m3", "e5m2"), b's of `b_type` where that is
    given; a register holds 32 bits of them.
  }];
  let arguments = (ins Variadic<F32>:$acc, Variadic<I32>:$a, Variadic<I32>:$b, StrAttr:$type, OptionalAttr<StrAttr>:$b_type, I32Attr:$k);
  let results = (outs Variadic<F32>:$result);
  let assemblyFormat = "$type (`by` $b_type^)? `k` $k `(` $acc `)` `,` `(` $a `)` `,` `(` $b `)` attr-dict `:` `(` type($acc) `)` `,` `(` type($a) `)` `,` `(` type($b) `)` `->` type($result)";
  let hasVerifier = 1;
}
#endif
