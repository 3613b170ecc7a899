//===- HeddleDialect.td - the heddle dialect: what is computed -*- tablegen -*-===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_HEDDLE_DIALECT_TD
#define HEDDLE_HEDDLE_DIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"

def Heddle_Dialect : Dialect {
  let name = "heddle";
  let cppNamespace = "::heddle::spec";
  let summary = "kernels as their users describe them";
  let description = [{
    A spec says *what* a kernel computes: typed tensors in, a matrix product,
    element-wise work on it, a tensor out. Nothing in it names a GPU generation,
    a warp or a barrier. A `?` dimension is known only at run time.

    ```mlir
    heddle.kernel @linear(%x: tensor<?x7168xbf16>, %w: tensor<2112x7168xbf16>,
                          %bias: tensor<2112xf32>) -> tensor<?x2112xbf16> {
      %0 = heddle.gemm %x, %w transpose_b : (tensor<?x7168xbf16>, tensor<2112x7168xbf16>) -> tensor<?x2112xf32>
      %1 = heddle.broadcast %bias along [1] : tensor<2112xf32> to tensor<?x2112xf32>
      %2 = arith.addf %0, %1 : tensor<?x2112xf32>
      %3 = heddle.silu %2 : tensor<?x2112xf32>
      %4 = arith.truncf %3 : tensor<?x2112xf32> to tensor<?x2112xbf16>
      heddle.return %4 : tensor<?x2112xbf16>
    }
    ```

    Element-wise work is written with the `arith` and `math` operations on tensors;
    the operations here cover what those lack. Arithmetic on `bf16` and `f16` is
    done in `f32` and rounded after each operation.
  }];
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

class Heddle_Enum<string name, string doc, list<I32EnumAttrCase> cases> : I32EnumAttr<name, doc, cases> {
  let cppNamespace = "::heddle::spec";
}

def Heddle_Precision : Heddle_Enum<"Precision", "how f32 operands are multiplied", [
  I32EnumAttrCase<"TF32", 0, "tf32">]>;
def Heddle_Grouping : Heddle_Enum<"Grouping", "what groups divide", [
  I32EnumAttrCase<"AlongM", 0, "along_m">, I32EnumAttrCase<"AlongK", 1, "along_k">,
  I32EnumAttrCase<"Masked", 2, "masked">]>;
def Heddle_Gate : Heddle_Enum<"Gate", "what becomes of gating scores", [
  I32EnumAttrCase<"Softmax", 0, "softmax">, I32EnumAttrCase<"Sigmoid", 1, "sigmoid">]>;
def Heddle_GeluForm : Heddle_Enum<"GeluForm", "the formula of GELU", [
  I32EnumAttrCase<"Erf", 0, "erf">, I32EnumAttrCase<"Tanh", 1, "tanh">]>;
#endif
