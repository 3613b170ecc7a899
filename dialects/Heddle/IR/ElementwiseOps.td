//===- ElementwiseOps.td - element-wise work that arith and math lack -*- tablegen -*-===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_HEDDLE_ELEMENTWISE_OPS_TD
#define HEDDLE_HEDDLE_ELEMENTWISE_OPS_TD
include "KernelOps.td"

def Heddle_FloatTensor : RankedTensorOf<[F32, F16, BF16]>;

def Heddle_BroadcastOp : Heddle_Op<"broadcast", [Pure]> {
  let summary = "repeat a tensor along the dimensions it lacks";
  let description = [{
    `along` lists, for each dimension of the operand, the dimension of the result
    that it runs along: `[1]` for a row vector (a bias for each column), `[0]` for a
    column vector.

    ```mlir
    %1 = heddle.broadcast %bias along [1] : tensor<256xf32> to tensor<?x256xf32>
    ```
  }];
  let arguments = (ins Heddle_FloatTensor:$input, DenseI64ArrayAttr:$along);
  let results = (outs Heddle_FloatTensor:$result);
  let assemblyFormat = "$input `along` $along attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
}

def Heddle_SplatOp : Heddle_Op<"splat", [Pure,
    TypesMatchWith<"the scalar has the element type of the result", "result", "scalar",
                   "::llvm::cast<::mlir::RankedTensorType>($_self).getElementType()">]> {
  let summary = "a tensor with one value everywhere";
  let description = [{
    ```mlir
    %1 = heddle.splat %alpha : tensor<?x256xf32>
    ```
  }];
  let arguments = (ins AnyTypeOf<[F32, F16, BF16]>:$scalar);
  let results = (outs Heddle_FloatTensor:$result);
  let assemblyFormat = "$scalar attr-dict `:` type($result)";
}

class Heddle_ActivationOp<string m> : Heddle_Op<m, [Pure, SameOperandsAndResultType]> {
  let arguments = (ins Heddle_FloatTensor:$input);
  let results = (outs Heddle_FloatTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($result)";
}

def Heddle_ReluOp : Heddle_ActivationOp<"relu"> {
  let summary = "max(x, 0)";
  let description = [{ NaN stays NaN. `%1 = heddle.relu %0 : tensor<?x256xf32>` }];
}
def Heddle_SiluOp : Heddle_ActivationOp<"silu"> {
  let summary = "x / (1 + exp(-x))";
  let description = [{ `%1 = heddle.silu %0 : tensor<?x256xf32>` }];
}
def Heddle_GeluOp : Heddle_ActivationOp<"gelu"> {
  let summary = "the Gaussian error linear unit";
  let description = [{
    `erf`, the default, is `x/2 (1 + erf(x / sqrt 2))`; `tanh` is
    `x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))`.

    ```mlir
    %1 = heddle.gelu %0 : tensor<?x256xf32>
    %2 = heddle.gelu %0 form tanh : tensor<?x256xf32>
    ```
  }];
  let arguments = (ins Heddle_FloatTensor:$input,
                   DefaultValuedAttr<Heddle_GeluForm, "::heddle::spec::GeluForm::Erf">:$form);
  let assemblyFormat = "$input (`form` $form^)? attr-dict `:` type($result)";
}
#endif
