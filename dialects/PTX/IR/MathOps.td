//===- MathOps.td - fast functions of one number -*- tablegen -*- ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_PTX_MATH_OPS_TD
#define HEDDLE_PTX_MATH_OPS_TD
include "PTXDialect.td"

/// A function of f32 values without other effects. Errors are those of the PTX ISA,
/// "Floating Point Instructions".
class PTX_MathOp<string m, string text> : Op<PTX_Dialect, m, [Pure,
    DeclareOpInterfaceMethods<PTX_AsmOpInterface, ["isVolatile"]>]> {
  let results = (outs F32:$result);
  let extraClassDefinition = "std::string $cppClass::getPtxText() { return R\"ptx("
    # !subst("$", "$$", text) # ")ptx\"; }\nbool $cppClass::isVolatile() { return false; }";
}

def PTX_Ex2ApproxOp : PTX_MathOp<"ex2_approx", "ex2.approx.f32 $0, $1;"> {
  let summary = "2 to the power of x, relative error at most 2^-22";
  let description = [{ `%y = ptx.ex2_approx %x` }];
  let arguments = (ins F32:$x);
  let assemblyFormat = "$x attr-dict";
}
def PTX_CvtF8x2Op : PTX_Op<"cvt_f8x2", [Pure, DeclareOpInterfaceMethods<PTX_AsmOpInterface, ["isVolatile"]>]> {
  let summary = "two f32 rounded to 8-bit floats, to nearest, large ones to the largest finite";
  let description = [{
    `type` is "e4m3" or "e5m2"; `low` goes to the lower byte.
    ```mlir
    %1 = ptx.cvt_f8x2 %high, %low to "e4m3"
    ```
  }];
  let arguments = (ins F32:$high, F32:$low, StrAttr:$type);
  let results = (outs I16:$result);
  let assemblyFormat = "$high `,` $low `to` $type attr-dict";
  let hasVerifier = 1;
}
def PTX_RsqrtApproxOp : PTX_MathOp<"rsqrt_approx", "rsqrt.approx.f32 $0, $1;"> {
  let summary = "1 / sqrt(x), relative error at most 2^-22.9";
  let description = [{ `%y = ptx.rsqrt_approx %x` }];
  let arguments = (ins F32:$x);
  let assemblyFormat = "$x attr-dict";
}
def PTX_DivFullOp : PTX_MathOp<"div_full", "div.full.f32 $0, $1, $2;"> {
  let summary = "x / y over the full range, error at most 2 ulp";
  let description = [{ `%q = ptx.div_full %x, %y` }];
  let arguments = (ins F32:$x, F32:$y);
  let assemblyFormat = "$x `,` $y attr-dict";
}
#endif
