//===- PTXInterfaces.td - an op that owns its PTX text -*- tablegen -*- ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_PTX_INTERFACES_TD
#define HEDDLE_PTX_INTERFACES_TD
include "mlir/IR/OpBase.td"

def PTX_AsmOpInterface : OpInterface<"AsmOpInterface"> {
  let cppNamespace = "::heddle::ptx";
  let description = [{
    An op that is one PTX instruction, or one indivisible idiom, and owns its text.
    In the text `$0`, `$1`, ... are the results, then the operands, in order.
    `convert-ptx-to-llvm` turns it into inline assembly; nothing else makes text.
  }];
  let methods = [
    InterfaceMethod<"The instruction's text.", "std::string", "getPtxText", (ins)>,
    InterfaceMethod<"How many leading operands are tied to the leading results.", "unsigned", "getNumTied", (ins),
      [{}], [{ return 0; }]>,
    InterfaceMethod<"Whether it reads or writes memory or must stay where it is.", "bool", "isVolatile", (ins),
      [{}], [{ return true; }]>];
}
#endif
