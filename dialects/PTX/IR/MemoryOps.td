//===- MemoryOps.td - copies and hints -*- tablegen -*- ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_PTX_MEMORY_OPS_TD
#define HEDDLE_PTX_MEMORY_OPS_TD
include "PTXDialect.td"
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"

def PTX_PrefetchTensorMapOp : PTX_TextOp<"prefetch_tensormap", "prefetch.tensormap [$0];"> {
  let summary = "fetch a tensor map ahead of its first use";
  let arguments = (ins LLVM_AnyPointer:$map);
  let assemblyFormat = "$map attr-dict `:` type($map)";
}
def PTX_BulkTensorLoadOp : PTX_Op<"bulk_tensor_load"> {
  let summary = "tensor copy, global to this CTA's shared memory, completing on an mbarrier";
  let description = [{ Coordinates innermost first, 1 to 5 of them (cp.async.bulk.tensor). }];
  let arguments = (ins I32:$target, LLVM_AnyPointer:$map, I32:$barrier, Variadic<I32>:$coordinates);
  let assemblyFormat = "$target `,` $map `[` $coordinates `]` `,` $barrier attr-dict `:` type($map)";
  let hasVerifier = 1;
}
def PTX_BulkTensorLoadMulticastOp : PTX_Op<"bulk_tensor_load_multicast"> {
  let summary = "tensor copy, global to the shared memory of CTAs of the cluster";
  let description = [{
    Bit `r` of `ctas` names the CTA of rank `r`: what arrives is written at the offset of
    `target` in its shared memory and counted by the mbarrier at the offset of `barrier` there
    (cp.async.bulk.tensor with .multicast::cluster). Coordinates innermost first.
    ```mlir
    ptx.bulk_tensor_load_multicast %to, %map[%x, %y], %barrier to %ctas : !llvm.ptr
    ```
  }];
  let arguments = (ins I32:$target, LLVM_AnyPointer:$map, I32:$barrier, I16:$ctas, Variadic<I32>:$coordinates);
  let assemblyFormat = "$target `,` $map `[` $coordinates `]` `,` $barrier `to` $ctas attr-dict `:` type($map)";
  let hasVerifier = 1;
}
def PTX_BulkTensorStoreOp : PTX_Op<"bulk_tensor_store"> {
  let summary = "tensor copy, shared to global memory, in the thread's bulk group";
  let arguments = (ins I32:$source, LLVM_AnyPointer:$map, Variadic<I32>:$coordinates);
  let assemblyFormat = "$source `,` $map `[` $coordinates `]` attr-dict `:` type($map)";
  let hasVerifier = 1;
}
def PTX_BulkCommitOp : PTX_TextOp<"bulk_commit_group", "cp.async.bulk.commit_group;"> {
  let summary = "close the thread's bulk group";
  let assemblyFormat = "attr-dict";
}
def PTX_BulkWaitReadOp : PTX_Op<"bulk_wait_group_read"> {
  let summary = "wait until all but the last `pending` bulk groups have read their sources";
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative]>:$pending);
  let assemblyFormat = "$pending attr-dict";
}
def PTX_BulkWaitOp : PTX_Op<"bulk_wait_group"> {
  let summary = "wait until all but the last `pending` bulk groups are complete";
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative]>:$pending);
  let assemblyFormat = "$pending attr-dict";
}
def PTX_LoadBelowOp : PTX_Op<"load_below", [DeclareOpInterfaceMethods<PTX_AsmOpInterface, ["isVolatile"]>]> {
  let summary = "load an f32 that the kernel does not write, or 0 when `index` is not below `limit`";
  let description = [{
    From `address` + `offset` bytes of global memory, by a predicated ld.global.nc: several
    elements a constant distance apart share the registers of address and limit.
    ```mlir
    %x = ptx.load_below %address + 64, 8 of %limit : !llvm.ptr<1>
    ```
  }];
  let arguments = (ins LLVM_AnyPointer:$address, I64Attr:$offset, I64Attr:$index, I32:$limit);
  let results = (outs F32:$result);
  let assemblyFormat = "$address `+` $offset `,` $index `of` $limit attr-dict `:` type($address)";
}
def PTX_StMatrixOp : PTX_Op<"stmatrix"> {
  let summary = "store 1, 2 or 4 8x8 matrices of 16-bit elements to shared memory";
  let arguments = (ins I32:$address, Variadic<I32>:$values, UnitAttr:$transposed);
  let assemblyFormat = "$address `,` $values (`transposed` $transposed^)? attr-dict";
  let hasVerifier = 1;
}
#endif
