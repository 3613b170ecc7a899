//===- Tcgen05Ops.td - tensor memory -*- tablegen -*- ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_PTX_TCGEN05_OPS_TD
#define HEDDLE_PTX_TCGEN05_OPS_TD
include "PTXDialect.td"

def PTX_Tcgen05LoadOp : PTX_Op<"tcgen05_load"> {
  let summary = "read columns of tensor memory, each lane of the warp its own row";
  let description = [{
    One result a column: 1, 2, 4, ... 128 columns from `address` (row in the upper 16
    bits, column in the lower). All threads of a warp together; warp w of the CTA reaches
    rows 32 * (w % 4) to 32 * (w % 4) + 31. The results are valid only after
    `ptx.tcgen05_wait_load`, through which they must pass (PTX ISA, "tcgen05.ld").
    ```mlir
    %raw:2 = ptx.tcgen05_load %address : f32, f32
    %x:2 = ptx.tcgen05_wait_load %raw#0, %raw#1 : f32, f32
    ```
  }];
  let arguments = (ins I32:$address);
  let results = (outs Variadic<F32>:$result);
  let assemblyFormat = "$address attr-dict `:` type($result)";
  let hasVerifier = 1;
}
def PTX_Tcgen05WaitLoadOp : PTX_Op<"tcgen05_wait_load", [AllTypesMatch<["values", "result"]>,
    DeclareOpInterfaceMethods<PTX_AsmOpInterface, ["getNumTied"]>]> {
  let summary = "wait for all of the thread's tensor-memory loads; what they loaded passes through";
  let description = [{
    Values loaded earlier that do not pass through must have been waited for before.
  }];
  let arguments = (ins Variadic<F32>:$values);
  let results = (outs Variadic<F32>:$result);
  let assemblyFormat = "$values attr-dict `:` type($values)";
  let hasVerifier = 1;
}
#endif
