//===- KernelOps.td - kernels and what they return -*- tablegen -*-===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_HEDDLE_KERNEL_OPS_TD
#define HEDDLE_HEDDLE_KERNEL_OPS_TD
include "HeddleDialect.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Heddle_Op<string m, list<Trait> t = []> : Op<Heddle_Dialect, m, t>;

def Heddle_KernelOp : Heddle_Op<"kernel", [IsolatedFromAbove, FunctionOpInterface, SingleBlock,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "a kernel: tensors and f32 scalars in, a tensor out";
  let description = [{
    Arguments are tensors of rank 1 to 3 in device memory and `f32` scalars. Their
    names are those of the SSA values; attributes say more:

    - `heddle.name = "X"`: the name for callers and messages (for results "D" unless given)
    - `heddle.dims = ["M", "K"]`: names of the dimensions; those of equal name are equal.
      Dimensions that must agree are found without it, and named M, N, K and B after
      their part in the product.
    - `heddle.layout = strided<[?, 1]>`: strides in elements, `?` for a run-time value;
      without it a tensor is contiguous, last dimension innermost

    On the kernel, `schedule = "tile=128x128x64,stages=4"` fixes choices that are
    otherwise made by the compiler.

    ```mlir
    heddle.kernel @k(%a: tensor<?x512xbf16> {heddle.layout = strided<[?, 1]>},
                     %b: tensor<256x512xbf16>, %alpha: f32)
        -> (tensor<?x256xbf16> {heddle.name = "C"}) {
      %0 = heddle.gemm %a, %b transpose_b : (tensor<?x512xbf16>, tensor<256x512xbf16>) -> tensor<?x256xf32>
      %1 = heddle.splat %alpha : tensor<?x256xf32>
      %2 = arith.mulf %0, %1 : tensor<?x256xf32>
      %3 = arith.truncf %2 : tensor<?x256xf32> to tensor<?x256xbf16>
      heddle.return %3 : tensor<?x256xbf16>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
    OptionalAttr<StrAttr>:$schedule,
    OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    /// Names for callers and messages: `heddle.name`, else "arg<i>" and "D" ("D<i>" of several).
    std::string getArgName(unsigned i);
    std::string getResultName(unsigned i);
    /// The strides of argument or result `i`, outermost first; nullopt when contiguous.
    std::optional<::llvm::SmallVector<int64_t>> getArgStrides(unsigned i);
    std::optional<::llvm::SmallVector<int64_t>> getResultStrides(unsigned i);
  }];
}

def Heddle_ReturnOp : Heddle_Op<"return", [Pure, Terminator, HasParent<"KernelOp">]> {
  let summary = "the results of a kernel";
  let description = [{ `heddle.return %d : tensor<?x256xbf16>` }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let hasVerifier = 1;
}
#endif
