//===- WgmmaOps.td - warpgroup matrix multiply -*- tablegen -*- ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_PTX_WGMMA_OPS_TD
#define HEDDLE_PTX_WGMMA_OPS_TD
include "PTXDialect.td"

def PTX_WgmmaBlockOp : PTX_Op<"wgmma_block", [DeclareOpInterfaceMethods<PTX_AsmOpInterface, ["getNumTied"]>]> {
  let summary = "one K block of m64nNkK warpgroup multiplications, fenced and committed as one group";
  let description = [{
    `steps` instructions, the descriptors advanced by `a_step` and `b_step` (16-byte
    units) between them. `accumulate` 0 makes the first one overwrite. `b_type` is given where
    it differs from a's `type`. One text,
    since ptxas serialises wgmma when anything comes between (C7514 and others).
  }];
  let arguments = (ins Variadic<F32>:$acc, I64:$a, I64:$b, I32:$accumulate, StrAttr:$type, OptionalAttr<StrAttr>:$b_type, I32Attr:$n, I32Attr:$k,
    I32Attr:$steps, I32Attr:$a_step, I32Attr:$b_step, UnitAttr:$a_mn_major, UnitAttr:$b_mn_major);
  let results = (outs Variadic<F32>:$result);
  let hasVerifier = 1;
}
def PTX_WgmmaWaitOp : PTX_Op<"wgmma_wait", [DeclareOpInterfaceMethods<PTX_AsmOpInterface, ["getNumTied"]>]> {
  let summary = "wait for all but the last `pending` groups; accumulators that become valid pass through";
  let arguments = (ins Variadic<F32>:$acc, ConfinedAttr<I32Attr, [IntNonNegative]>:$pending);
  let results = (outs Variadic<F32>:$result);
}
#endif
