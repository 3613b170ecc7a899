//===- PTXDialect.td - the ptx dialect -*- tablegen -*- ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_PTX_DIALECT_TD
#define HEDDLE_PTX_DIALECT_TD
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "PTXInterfaces.td"

def PTX_Dialect : Dialect {
  let name = "ptx";
  let cppNamespace = "::heddle::ptx";
  let summary = "the PTX instructions that the nvvm dialect lacks";
  let description = [{
    One op a PTX instruction, or one idiom that must not be taken apart (a wait loop,
    a wait with the registers it makes valid, a block of wgmma). The op owns its text.
    Addresses in shared memory are `i32` (the `.shared` window), addresses in global
    memory `!llvm.ptr<1>` or `!llvm.ptr`.
  }];
}
class PTX_Op<string m, list<Trait> t = []> :
    Op<PTX_Dialect, m, !listconcat(t, [DeclareOpInterfaceMethods<PTX_AsmOpInterface>])>;
/// An op whose text is fixed but for its operands.
class PTX_TextOp<string m, string text, list<Trait> t = []> : Op<PTX_Dialect, m,
    !listconcat(t, [DeclareOpInterfaceMethods<PTX_AsmOpInterface>])> {
  let extraClassDefinition = "std::string $cppClass::getPtxText() { return R\"ptx(" # !subst("$", "$$", text) # ")ptx\"; }";
}
#endif
