//===- WarpDialect.td - the warp dialect: who does what -----*- tablegen -*-===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_WARP_DIALECT_TD
#define HEDDLE_WARP_DIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Warp_Dialect : Dialect {
  let name = "warp";
  let cppNamespace = "::heddle::warp";
  let summary = "stages joined by pipes, and the roles they become";
  let description = [{
    A kernel is a small network of **stages** (load, mma, epilogue, store) joined
    by **pipes**. A pipe is a ring of slots with flow control: the producer
    `acquire`s an empty slot and `commit`s it full, the consumer `wait`s for a full
    slot and `release`s it empty. The *link* of a pipe says how far it reaches.

    The network says nothing about warps, registers, barriers or fences. Passes add
    them: `warp-resolve-links` picks what accumulators live in, `warp-assign-roles`
    deals warps to stages, `warp-insert-fences` derives memory ordering,
    `warp-allocate` places slots and barriers, and `convert-warp-to-nvvm` emits the
    instructions of the kernel's target.
  }];
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{ void registerTypes(); }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::math::MathDialect"];
}

class Warp_Enum<string name, string doc, list<I32EnumAttrCase> cases> : I32EnumAttr<name, doc, cases> {
  let cppNamespace = "::heddle::warp";
  let genSpecializedAttr = 0;
}
class Warp_EnumAttr<EnumAttrInfo info, string m> : EnumAttr<Warp_Dialect, info, m> {
  let assemblyFormat = "`<` $value `>`";
}

def Warp_Link : Warp_Enum<"Link", "how far a pipe reaches", [
  I32EnumAttrCase<"Accumulator", 0, "accumulator">, // resolved to regs or tmem by the target
  I32EnumAttrCase<"Regs", 1, "regs">,
  I32EnumAttrCase<"Smem", 2, "smem">,
  I32EnumAttrCase<"Tmem", 3, "tmem">,
  I32EnumAttrCase<"Cluster", 4, "cluster">,
  I32EnumAttrCase<"Peer", 5, "peer">]>;
def Warp_Major : Warp_Enum<"Major", "the contiguous dimension of a tile", [
  I32EnumAttrCase<"K", 0, "k">,      // the second (last) dimension
  I32EnumAttrCase<"MN", 1, "mn">,    // the first dimension
  I32EnumAttrCase<"Linear", 2, "linear">]>; // the last dimension, rows one after the other
def Warp_Engine : Warp_Enum<"Engine", "who moves a tile", [
  I32EnumAttrCase<"Bulk", 0, "bulk">, I32EnumAttrCase<"Async", 1, "async">,
  I32EnumAttrCase<"Threads", 2, "threads">]>;
def Warp_EngineAttr : Warp_EnumAttr<Warp_Engine, "engine"> {
  let assemblyFormat = "$value"; // `engine bulk` in warp.copy
}
def Warp_ClusterAxis : Warp_Enum<"ClusterAxis", "which CTAs of a cluster share a tile", [
  I32EnumAttrCase<"Row", 0, "row">,    // those with the same row of the cluster
  I32EnumAttrCase<"Col", 1, "col">]>;  // those with the same column
def Warp_ClusterAxisAttr : Warp_EnumAttr<Warp_ClusterAxis, "cluster_axis"> {
  let assemblyFormat = "$value"; // `multicast row` in warp.copy
}
def Warp_StorePath : Warp_Enum<"StorePath", "how results leave", [
  I32EnumAttrCase<"Direct", 0, "direct">, I32EnumAttrCase<"Bulk", 1, "bulk">]>;
def Warp_FenceKind : Warp_Enum<"FenceKind", "what a fence orders", [
  I32EnumAttrCase<"ProxyAsync", 0, "proxy_async">,   // generic writes before async-proxy reads
  I32EnumAttrCase<"TmemBefore", 1, "tmem_before">,   // tcgen05.fence::before_thread_sync
  I32EnumAttrCase<"TmemAfter", 2, "tmem_after">,     // tcgen05.fence::after_thread_sync
  I32EnumAttrCase<"BulkDone", 3, "bulk_done">,       // this thread's bulk stores have been performed
  I32EnumAttrCase<"ProxyGlobal", 4, "proxy_global">]>; // generic and async proxy, in global memory
def Warp_FenceKindAttr : Warp_EnumAttr<Warp_FenceKind, "fence_kind">;

def Warp_Flow : Warp_Enum<"Flow", "which end of a peer pipe its memory is at", [
  I32EnumAttrCase<"Push", 0, "push">,    // the consumer's
  I32EnumAttrCase<"Pull", 1, "pull">,    // the producer's
  I32EnumAttrCase<"Packets", 2, "packets">]>; // none: data travel in words with their flags
def Warp_FlowAttr : Warp_EnumAttr<Warp_Flow, "flow"> { let assemblyFormat = "$value"; }
def Warp_Keep : Warp_Enum<"Keep", "what the L2 does with what is moved", [
  I32EnumAttrCase<"Normal", 0, "normal">, I32EnumAttrCase<"Stream", 1, "stream">]>; // evict first
def Warp_KeepAttr : Warp_EnumAttr<Warp_Keep, "keep"> { let assemblyFormat = "$value"; }
def Warp_GroupKind : Warp_Enum<"GroupKind", "what the numbers of a warp.groups are", [
  I32EnumAttrCase<"Offsets", 0, "offsets">, // where groups start, and the end of the last
  I32EnumAttrCase<"Counts", 1, "counts">,   // rows of each group; groups follow each other
  I32EnumAttrCase<"Masked", 2, "masked">]>; // rows of each group; each has a space of its own
def Warp_GroupKindAttr : Warp_EnumAttr<Warp_GroupKind, "group_kind"> {
  let assemblyFormat = "$value";
}

class Warp_Attr<string n, string m, list<Trait> t = []> : AttrDef<Warp_Dialect, n, t> { let mnemonic = m; }

def Warp_ScheduleAttr : Warp_Attr<"Schedule", "schedule"> {
  let summary = "how the work is cut up and which warps get it";
  let description = [{
    The schedule record; the fields are those of `heddle::tuning::Schedule`. `cluster_m`,
    `cluster_n`, `split_k` and `pdl` are 1 where they are not given, `swap` and `sms` 0.
    ```mlir
    #warp.schedule<tile_m = 128, tile_n = 256, tile_k = 64, stages = 4, load_warps = 4,
      mma_warps = 8, epilogue_warps = 0, acc_stages = 1, store_stages = 0, load_registers = 40,
      mma_registers = 232, raster = 8, copy = bulk, store = direct, ctas_per_sm = 1>
    ```
  }];
  let parameters = (ins "int64_t":$tile_m, "int64_t":$tile_n, "int64_t":$tile_k, "int64_t":$stages,
    "int64_t":$load_warps, "int64_t":$mma_warps, "int64_t":$epilogue_warps, "int64_t":$acc_stages,
    "int64_t":$store_stages, "int64_t":$load_registers, "int64_t":$mma_registers, "int64_t":$raster,
    EnumParameter<Warp_Engine>:$copy, EnumParameter<Warp_StorePath>:$store, "int64_t":$ctas_per_sm,
    DefaultValuedParameter<"int64_t", "1">:$cluster_m,
    DefaultValuedParameter<"int64_t", "1">:$cluster_n,
    DefaultValuedParameter<"int64_t", "1">:$split_k, DefaultValuedParameter<"int64_t", "0">:$swap,
    DefaultValuedParameter<"int64_t", "0">:$sms, DefaultValuedParameter<"int64_t", "1">:$pdl);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Warp_CommScheduleAttr : Warp_Attr<"CommSchedule", "comm_schedule"> {
  let summary = "how a kernel between ranks is cut up";
  let description = [{
    `ctas` channels, `warps` for work that all threads of a role do, chunks of `chunk` bytes,
    `stages` of them in shared memory, `keep` as in `warp.transfer`.
    ```mlir
    #warp.comm_schedule<ctas = 16, warps = 8, chunk = 16384, stages = 12, keep = normal>
    ```
  }];
  let parameters = (ins "int64_t":$ctas, "int64_t":$warps, "int64_t":$chunk, "int64_t":$stages,
                        EnumParameter<Warp_Keep>:$keep);
  let assemblyFormat = "`<` struct(params) `>`";
}
#endif
