//===- PeerOps.td - flags and rows of other ranks -*- tablegen -*- ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_PTX_PEER_OPS_TD
#define HEDDLE_PTX_PEER_OPS_TD
include "PTXDialect.td"
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"

def PTX_StoreReleaseSysOp : PTX_TextOp<"store_release_sys", "st.release.sys.global.u64 [$0], $1;"> {
  let summary = "store a counter so that whoever acquires it sees what came before";
  let arguments = (ins LLVM_AnyPointer:$address, I64:$value);
  let assemblyFormat = "$address `,` $value attr-dict `:` type($address)";
}
def PTX_PeerWaitOp : PTX_Op<"peer_wait"> {
  let summary = "wait until a counter is at least `expected`, or fail";
  let description = [{
    Polls, then loads with ld.acquire.sys. In every 64th turn it looks at the abort word and at the time
    that has passed; where they are found is in the communicator's block, `comm` (its layout:
    docs/communication.md). `status` is 0 when the counter got there, 1 when the deadline
    passed, 2 when the abort word is set; `found` is the counter as last read. With `alive` 0
    nothing is done, and the status is 0.
    ```mlir
    %status, %found = ptx.peer_wait %counter, %expected, %comm if %alive : !llvm.ptr<1>
    ```
  }];
  let arguments = (ins LLVM_AnyPointer:$counter, I64:$expected, LLVM_AnyPointer:$comm, I32:$alive);
  let results = (outs I32:$status, I64:$found);
  let assemblyFormat = "$counter `,` $expected `,` $comm `if` $alive attr-dict `:` type($counter) `,` type($comm)";
}
def PTX_RecordFaultOp : PTX_Op<"record_fault"> {
  let summary = "write the fault record of the communicator, when `status` is not 0 and nobody has yet";
  let arguments = (ins I32:$status, LLVM_AnyPointer:$comm, I32:$peer, I32:$channel, I32:$role, I64:$expected,
                       I64:$found, I64:$epoch, I32:$wait);
  let assemblyFormat = [{$status `,` $comm `peer` $peer `channel` $channel `role` $role `expected` $expected
                         `found` $found `epoch` $epoch `wait` $wait attr-dict `:` type($comm)}];
}
def PTX_PacketStoreOp : PTX_TextOp<"packet_store",
    "{\n\t.reg .b64 a, b;\n\tmov.b64 a, {$1, $3};\n\tmov.b64 b, {$2, $3};\n\tst.relaxed.sys.global.v2.b64 [$0], {a, b};\n\t}"> {
  let summary = "store two words, each of 4 bytes of data and a launch's number";
  let description = [{ Each word is one access; their order is not given (PTX ISA, "Vector data-types"). }];
  let arguments = (ins LLVM_AnyPointer:$address, I32:$first, I32:$second, I32:$launch);
  let assemblyFormat = "$address `,` $first `,` $second `at` $launch attr-dict `:` type($address)";
}
def PTX_PacketWaitOp : PTX_Op<"packet_wait"> {
  let summary = "wait until both words are of a launch, or fail; like ptx.peer_wait";
  let arguments = (ins LLVM_AnyPointer:$address, I32:$launch, LLVM_AnyPointer:$comm, I32:$alive);
  let results = (outs I32:$first, I32:$second, I32:$status);
  let assemblyFormat = "$address `at` $launch `,` $comm `if` $alive attr-dict `:` type($address) `,` type($comm)";
}
def PTX_BarrierAndOp : PTX_TextOp<"barrier_and",
    "{\n\t.reg .pred p, q;\n\tsetp.ne.u32 q, $1, 0;\n\tbarrier.cta.red.and.pred p, $2, $3, q;\n\tselp.b32 $0, 1, 0, p;\n\t}"> {
  let summary = "meet `threads` threads at a named barrier; 1 when `flag` is not 0 in all of them";
  let arguments = (ins I32:$flag, I32:$barrier, I32:$threads);
  let results = (outs I32:$result);
  let assemblyFormat = "$flag `,` $barrier `,` $threads attr-dict";
}
def PTX_BulkLoadOp : PTX_Op<"bulk_load"> {
  let summary = "copy `bytes` from global to shared memory, completing on an mbarrier; nothing when 0";
  let description = [{ With `stream` the L2 evicts what is read first. }];
  let arguments = (ins I32:$target, LLVM_AnyPointer:$source, I32:$bytes, I32:$barrier, UnitAttr:$stream);
  let assemblyFormat = "$target `,` $source `,` $bytes `,` $barrier (`stream` $stream^)? attr-dict `:` type($source)";
}
def PTX_BulkStoreOp : PTX_Op<"bulk_store"> {
  let summary = "copy `bytes` from shared to global memory, in the thread's bulk group; nothing when 0";
  let description = [{ With `stream` the L2 evicts what is written first. }];
  let arguments = (ins LLVM_AnyPointer:$target, I32:$source, I32:$bytes, UnitAttr:$stream);
  let assemblyFormat = "$target `,` $source `,` $bytes (`stream` $stream^)? attr-dict `:` type($target)";
}
#endif
