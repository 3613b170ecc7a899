//===- WarpOps.td - operations of the warp dialect ----------*- tablegen -*-===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_WARP_OPS_TD
#define HEDDLE_WARP_OPS_TD

include "WarpTypes.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"

class Warp_Op<string m, list<Trait> t = []> : Op<Warp_Dialect, m, t>;

//===----------------------------------------------------------------------===//
// Kernels, stages, roles
//===----------------------------------------------------------------------===//

def Warp_KernelOp : Warp_Op<"kernel", [IsolatedFromAbove, FunctionOpInterface, NoTerminator,
                                       SingleBlock, SymbolTable]> {
  let summary = "a kernel as a network of stages";
  let description = [{
    Arguments are memrefs in global memory (strides in their layout) and `f32`
    scalars. Argument attributes: `warp.name` (for messages and the manifest) and
    `warp.dims`, one name per dimension: dynamic dimensions of equal name are equal
    at run time. `target` names what the kernel is compiled for.

    ```mlir
    warp.kernel @copy(%a: memref<?x64xbf16> {warp.name = "A", warp.dims = ["M", "K"]},
                      %d: memref<?x64xbf16> {warp.name = "D", warp.dims = ["M", "K"]})
        attributes {target = "sm_90a"} {
      ...
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
    OptionalAttr<StrAttr>:$target, OptionalAttr<Warp_ScheduleAttr>:$schedule,
    OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type)>];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    /// The name of argument `i`: `warp.name`, else "arg<i>".
    std::string getArgName(unsigned i);
    /// The name of dimension `dim` of argument `i`: from `warp.dims`, else "arg<i>.<dim>".
    std::string getDimName(unsigned i, unsigned dim);
  }];
}

def Warp_StageOp : Warp_Op<"stage", [HasParent<"KernelOp">, NoTerminator, SingleBlock, Symbol]> {
  let summary = "a piece of work that some warps do";
  let description = [{
    `warps`, when given, fixes how many warps the stage gets.
    ```mlir
    warp.stage @load { ... }
    warp.stage @scale warps 4 { ... }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<I64Attr>:$warps);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name (`warps` $warps^)? attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Warp_RoleOp : Warp_Op<"role", [HasParent<"KernelOp">, NoTerminator, SingleBlock, Symbol]> {
  let summary = "stages with the warps that run them";
  let description = [{
    Made by `warp-assign-roles` from one or more stages; the body is theirs, merged.
    `registers` is what setmaxnreg asks for, 0 when it is not used.
    ```mlir
    warp.role @mma stages ["mma", "epilogue"] warps 4 to 12 registers 232 { ... }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$stages, I64Attr:$first_warp, I64Attr:$end_warp,
                   DefaultValuedAttr<I64Attr, "0">:$registers);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{$sym_name `stages` $stages `warps` $first_warp `to` $end_warp (`registers` $registers^)?
                         attr-dict-with-keyword $body}];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getNumWarps() { return getEndWarp() - getFirstWarp(); }
  }];
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

def Warp_GroupsOp : Warp_Op<"groups", []> {
  let summary = "bounds of groups, read from memory when the kernel starts";
  let description = [{
    The rows of group g, from what the numbers in memory are:

    - `offsets`: rows offsets[g] to offsets[g + 1]; one number more than groups
    - `counts`: counts[g] rows, after the group before it, from the next multiple of `align` on
    - `masked`: rows 0 to counts[g] of a space that the group has for itself

    A group that starts or ends outside of 0 to `limit`, has a negative size, or starts at
    no multiple of `align` is bad: it and all after it count as empty. `status`, when given,
    gets 0, or 1 + the number of the first bad group.

    `by` gives the rows that an item of a work stream takes of a group; without it a stream's
    batch index is the group. `warp-allocate` sets `offset`, where the table is in shared
    memory: the first row of each group, its size, and, with `by`, the items before it.
    ```mlir
    %g = warp.groups %offsets offsets limit %rows by 128 : memref<9xi32>
    %h = warp.groups %counts masked limit %space by 128 status %bad : memref<8xi32>, memref<1xi32>
    ```
  }];
  let arguments = (ins AnyMemRef:$memory, Warp_GroupKindAttr:$kind, Index:$limit,
                   DefaultValuedAttr<I64Attr, "1">:$align, OptionalAttr<I64Attr>:$by,
                   Optional<AnyMemRef>:$status, OptionalAttr<I64Attr>:$offset);
  let results = (outs Warp_GroupsType:$groups);
  let assemblyFormat = [{$memory $kind `limit` $limit (`align` $align^)? (`by` $by^)? (`status` $status^)?
                         attr-dict `:` type($memory) (`,` type($status)^)?}];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Groups, and the bytes of their table.
    int64_t getNumGroups() {
      int64_t numbers = ::llvm::cast<::mlir::MemRefType>(getMemory().getType()).getDimSize(0);
      return getKind() == GroupKind::Offsets ? numbers - 1 : numbers;
    }
    int64_t getTableBytes() { return 4 * (2 * getNumGroups() + (getBy() ? getNumGroups() + 1 : 0)); }
  }];
}

def Warp_WorkStreamOp : Warp_Op<"work_stream", [Pure]> {
  let summary = "the tiles of a launch, dealt to CTAs";
  let description = [{
    A static persistent schedule: CTA c takes items c, c + #CTAs, ... of the
    `rows x cols x batch` grid of tiles. Within a batch, `raster` rows of tiles are
    walked before the column advances, so that CTAs running together share
    operands in the L2. Stages agree on the sequence by recomputing it.

    With `cluster [r, c]` the CTAs of a cluster of `r x c` take neighbouring tiles: items
    are blocks of so many tiles, and the CTA of rank `k` has row `k / c`, column `k mod c`
    of the block. Each CTA of a cluster gets as many items as the others; a tile beyond the
    last row or column is outside of every memref.

    With `groups` items have the first row and the size of their group as well. Where the
    groups have `by`, the tiles of the groups follow each other, `rows` is a number that all
    of them together do not exceed (the grid of the launch follows from it), and `batch` is 1.
    ```mlir
    %s = warp.work_stream(%rows, %cols, %batch) raster 8
    %t = warp.work_stream(%rows, %cols, %batch) raster 8 cluster [2, 1]
    ```

    With `split n` each tile is n items in a row, for n CTAs that share its K; loops have
    a fourth argument, which part the item is.
  }];
  let arguments = (ins Index:$rows, Index:$cols, Index:$batch, I64Attr:$raster,
                       OptionalAttr<DenseI64ArrayAttr>:$cluster, Optional<Warp_GroupsType>:$groups,
                       DefaultValuedAttr<I64Attr, "1">:$splits);
  let results = (outs Warp_StreamType:$stream);
  let assemblyFormat = [{`(` $rows `,` $cols `,` $batch `)` `raster` $raster (`cluster` $cluster^)?
                         (`groups` $groups^)? (`split` $splits^)? attr-dict}];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// CTAs of a cluster along rows and columns; 1 without one.
    int64_t getClusterRows() { return getCluster() ? (*getCluster())[0] : 1; }
    int64_t getClusterCols() { return getCluster() ? (*getCluster())[1] : 1; }
  }];
}

def Warp_ForEachOp : Warp_Op<"for_each", [NoTerminator, SingleBlock]> {
  let summary = "loop over the items of a work stream";
  let description = [{
    The body's arguments are the item's tile row, tile column and batch index. In a stream with
    groups the row counts from the start of the group, the batch index is the group, and the
    group's first row and size follow; in one that splits tiles, the item's part of K follows.
    ```mlir
    warp.for_each(%i, %j, %b) in %s { ... }
    warp.for_each(%i, %j, %g, %first, %size) in %t { ... }
    ```
  }];
  let arguments = (ins Warp_StreamType:$stream);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Pipes
//===----------------------------------------------------------------------===//

def Warp_PipeOp : Warp_Op<"pipe", []> {
  let summary = "declare a pipe";
  let description = [{
    `warp-allocate` adds where it lives: `offset` (bytes from the start of shared
    memory, or the first tensor-memory column), `barriers` (byte offset of its full
    barriers; the empty ones follow), `producers` and `consumers` (arrivals a phase).
    ```mlir
    %p = warp.pipe "operands" : !warp.pipe<smem, 4, !warp.tile<128x64xbf16>, !warp.tile<128x64xbf16>>
    ```
  }];
  let arguments = (ins StrAttr:$name, OptionalAttr<I64Attr>:$offset, OptionalAttr<I64Attr>:$barriers,
                   OptionalAttr<I64Attr>:$producers, OptionalAttr<I64Attr>:$consumers);
  let results = (outs Warp_PipeType:$pipe);
  let assemblyFormat = "$name attr-dict `:` type($pipe)";
  let hasVerifier = 1;
}

class Warp_TakeOp<string m, string doc> : Warp_Op<m, []> {
  let summary = doc;
  let arguments = (ins Warp_PipeType:$pipe);
  let results = (outs Variadic<AnyType>:$slots);
  let hasVerifier = 1;
  let hasCustomAssemblyFormat = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$pipe), [{
    $_state.addOperands(pipe);
    $_state.addTypes(::llvm::cast<PipeType>(pipe.getType()).getElements());
  }]>];
}
def Warp_AcquireOp : Warp_TakeOp<"acquire", "producer: wait for the next empty slot"> {
  let description = [{ `%a, %b = warp.acquire %p : !warp.pipe<...>` gives the slot's parts. }];
}
def Warp_WaitOp : Warp_TakeOp<"wait", "consumer: wait for the next full slot"> {
  let description = [{ `%a, %b = warp.wait %p : !warp.pipe<...>` gives the slot's parts. }];
}
def Warp_CommitOp : Warp_Op<"commit", []> {
  let summary = "producer: the acquired slot is full";
  let description = [{
    For accumulator pipes the values that fill the slot are named:
    `warp.commit %p, %acc : !warp.pipe<...>, !warp.acc<...>`. Asynchronous work that
    fills the slot need not be complete: its completion makes the slot full.
  }];
  let arguments = (ins Warp_PipeType:$pipe, Variadic<AnyType>:$values);
  let assemblyFormat = "$pipe (`,` $values^)? attr-dict `:` type($pipe) (`,` type($values)^)?";
  let hasVerifier = 1;
}
def Warp_ReleaseOp : Warp_Op<"release", []> {
  let summary = "consumer: a waited slot is empty";
  let description = [{
    `after` names the asynchronous work that reads the slot; it is released once
    that work is done. `lag 1` (set by `warp-lag-releases`) releases the slot that was
    waited for one loop iteration earlier, and nothing in the first iteration.
  }];
  let arguments = (ins Warp_PipeType:$pipe, Optional<AnyType>:$after, DefaultValuedAttr<I64Attr, "0">:$lag);
  let assemblyFormat = "$pipe (`lag` $lag^)? (`after` $after^)? attr-dict `:` type($pipe) (`,` type($after)^)?";
  let hasVerifier = 1;
}

def Warp_FenceOp : Warp_Op<"fence", []> {
  let summary = "memory ordering, derived by `warp-insert-fences`";
  let arguments = (ins Warp_FenceKindAttr:$kind);
  let assemblyFormat = "$kind attr-dict";
}

//===----------------------------------------------------------------------===//
// Work on tiles
//===----------------------------------------------------------------------===//

def Warp_CopyOp : Warp_Op<"copy", [AttrSizedOperandSegments]> {
  let summary = "copy a tile between global and shared memory";
  let description = [{
    Offsets are elements, one a memref dimension, outermost first; the tile covers
    the last two dimensions. With `transposed` the tile's first dimension is the
    memref's last. What lies outside the memref reads as zero and is not written.

    With `rows`, tile row i comes from the memref's row `rows[offset + i]`, offset being that of
    rows; `before` then ends the list. A row that the memref has not reads as zero.

    `before`: rows (of the memref's last dimension but one) from there on count as outside.

    `multicast row`: the slot is that of a `cluster` pipe and the tile the same in the CTAs
    that have the same row of the cluster; each of them reads an equal share of it and
    writes that to the slots of all. `multicast col` likewise for a column.
    ```mlir
    warp.copy %A[%row, %k] to %tile engine bulk : memref<?x?xbf16>, !warp.tile<128x64xbf16>
    warp.copy %tile to %D[%row, %col] engine bulk : !warp.tile<128x64xbf16>, memref<?x?xbf16>
    warp.copy %A[%row, %k] to %tile multicast row engine bulk : memref<?x?xbf16>, !warp.tile<128x64xbf16>
    ```
  }];
  let arguments = (ins AnyTypeOf<[AnyMemRef, Warp_TileType]>:$source, Variadic<Index>:$sourceOffsets,
    AnyTypeOf<[AnyMemRef, Warp_TileType]>:$target, Variadic<Index>:$targetOffsets, Optional<Index>:$end,
    Optional<AnyMemRef>:$rows, DefaultValuedAttr<Warp_EngineAttr, "Engine::Bulk">:$engine, UnitAttr:$transposed,
    OptionalAttr<Warp_ClusterAxisAttr>:$multicast);
  let assemblyFormat = [{$source (`[` $sourceOffsets^ `]`)? `to` $target (`[` $targetOffsets^ `]`)?
    (`rows` $rows^ `:` type($rows))? (`before` $end^)? (`transposed` $transposed^)? (`multicast` $multicast^)? (`engine` $engine^)? attr-dict `:` type($source) `,` type($target)}];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool isLoad() { return ::llvm::isa<TileType>(getTarget().getType()); }
    ::mlir::Value getMemory() { return isLoad() ? getSource() : getTarget(); }
    ::mlir::Value getTile() { return isLoad() ? getTarget() : getSource(); }
    ::mlir::OperandRange getOffsets() { return isLoad() ? getSourceOffsets() : getTargetOffsets(); }
  }];
}

/// The methods of ops with scales of a and b.
defvar Warp_ScaleMethods = [{
    bool hasScales() { return static_cast<bool>(getScaleA()); }
    TileScales getScales(bool isA) {
      if (isA)
        return {getScaleA(), getScaleAOffsets(), *getScaleABlock(), getTransposedScaleA()};
      return {getScaleB(), getScaleBOffsets(), *getScaleBBlock(), getTransposedScaleB()};
    }
  }];

def Warp_MmaOp : Warp_Op<"mma", [AllTypesMatch<["acc", "result"]>, AttrSizedOperandSegments]> {
  let summary = "acc (+)= a * b^T on the tensor cores";
  let description = [{
    `a` is M x K, `b` is N x K, the accumulator M x N. When `accumulate` is false
    the old accumulator is ignored. May be asynchronous: `warp.release ... after`,
    `warp.commit` and `warp.mma_wait` order what depends on it. f32 operands are
    multiplied in TF32 precision.
    ```mlir
    %1 = warp.mma %a, %b, %0 accumulate %nz : !warp.tile<128x64xbf16>, !warp.tile<256x64xbf16>, !warp.acc<128x256xf32>
    ```

    With `promote` (set by `warp-resolve-links` where tensor cores keep sums of these
    operands short) the product over the tiles' K is summed on its own and then added
    to the accumulator in f32; such a multiplication is done when it returns.

    With `scales` each product is multiplied, before it is added, by the scale of its row
    of `a` and that of its row of `b`. A scale covers a block of the operand, rows by K,
    and the blocks' K is that of the tiles; the scale of block (i, j) is element [i, j] of
    the memref, [j, i] with `transposed_scale_a` (`_b`). Offsets are those of the tile in
    its operand, in elements: row, then K, a batch index before them.
    ```mlir
    %1 = warp.mma %a, %b, %0 accumulate %nz scales %sa[%row, %k] by [1, 128], %sb[%col, %k] by [128, 128]
      : !warp.tile<128x128xf8E4M3FN>, !warp.tile<128x128xf8E4M3FN>, !warp.acc<128x128xf32>, memref<?x4xf32>, memref<2x4xf32>
    ```
  }];
  let arguments = (ins Warp_TileType:$a, Warp_TileType:$b, Warp_AccType:$acc, I1:$accumulate, UnitAttr:$promote,
    Optional<AnyMemRef>:$scale_a, Variadic<Index>:$scale_a_offsets, OptionalAttr<DenseI64ArrayAttr>:$scale_a_block,
    Optional<AnyMemRef>:$scale_b, Variadic<Index>:$scale_b_offsets, OptionalAttr<DenseI64ArrayAttr>:$scale_b_block,
    UnitAttr:$transposed_scale_a, UnitAttr:$transposed_scale_b);
  let results = (outs Warp_AccType:$result);
  let assemblyFormat = [{$a `,` $b `,` $acc `accumulate` $accumulate (`promote` $promote^)?
    (`scales` $scale_a^ `[` $scale_a_offsets `]` `by` $scale_a_block `,`
              $scale_b `[` $scale_b_offsets `]` `by` $scale_b_block)?
    attr-dict `:` type($a) `,` type($b) `,` type($acc) (`,` type($scale_a)^ `,` type($scale_b))?}];
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$a, "::mlir::Value":$b, "::mlir::Value":$acc, "::mlir::Value":$accumulate), [{
    build($_builder, $_state, acc.getType(), a, b, acc, accumulate, false, {}, {}, {}, {}, {}, {}, false, false);
  }]>];
  let extraClassDeclaration = Warp_ScaleMethods # [{
    /// Whether the product is added to the accumulator by threads, after a wait for it.
    bool isPromoted() { return getPromote() || hasScales(); }
  }];
}

def Warp_ZeroOp : Warp_Op<"zero", [Pure]> {
  let summary = "an accumulator of zeros, in registers of the warps that take tensor memory apart";
  let description = [{ `%0 = warp.zero : !warp.acc<128x128xf32>` }];
  let results = (outs Warp_AccType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Warp_PromoteOp : Warp_Op<"promote", [AllTypesMatch<["partial", "acc", "result"]>, AttrSizedOperandSegments]> {
  let summary = "acc + partial * scales, by threads";
  let description = [{
    What `warp-split-promotion` makes of a `warp.mma` that promotes where sums are in
    tensor memory: `partial`, a slot of a tmem pipe, is added to `acc`, in registers.
    Scales as in `warp.mma`; the block's K is that of the multiplication.
    ```mlir
    %1 = warp.promote %partial to %0 scales %sa[%row, %k] by [1, 128], %sb[%col, %k] by [128, 128]
      : !warp.acc<128x128xf32>, memref<?x4xf32>, memref<2x4xf32>
    ```
  }];
  let arguments = (ins Warp_AccType:$partial, Warp_AccType:$acc,
    Optional<AnyMemRef>:$scale_a, Variadic<Index>:$scale_a_offsets, OptionalAttr<DenseI64ArrayAttr>:$scale_a_block,
    Optional<AnyMemRef>:$scale_b, Variadic<Index>:$scale_b_offsets, OptionalAttr<DenseI64ArrayAttr>:$scale_b_block,
    UnitAttr:$transposed_scale_a, UnitAttr:$transposed_scale_b);
  let results = (outs Warp_AccType:$result);
  let assemblyFormat = [{$partial `to` $acc
    (`scales` $scale_a^ `[` $scale_a_offsets `]` `by` $scale_a_block `,`
              $scale_b `[` $scale_b_offsets `]` `by` $scale_b_block)?
    attr-dict `:` type($acc) (`,` type($scale_a)^ `,` type($scale_b))?}];
  let hasVerifier = 1;
  let extraClassDeclaration = Warp_ScaleMethods;
}

def Warp_MmaWaitOp : Warp_Op<"mma_wait", [AllTypesMatch<["acc", "result"]>]> {
  let summary = "the accumulator with all multiplications done (placed by warp-lag-releases)";
  let arguments = (ins Warp_AccType:$acc);
  let results = (outs Warp_AccType:$result);
  let assemblyFormat = "$acc attr-dict `:` type($acc)";
}

def Warp_YieldOp : Warp_Op<"yield", [Pure, Terminator]> {
  let summary = "the value of one element";
  let arguments = (ins AnyType:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def Warp_ReadOp : Warp_Op<"read", [MemoryEffects<[MemRead]>,
    TypesMatchWith<"result is an element of the memref", "memory", "value",
                   "::llvm::cast<::mlir::MemRefType>($_self).getElementType()">]> {
  let summary = "read one element of global memory, indices clamped to the memref";
  let description = [{
    For use inside element regions. Elements outside the memref are never touched:
    each index is clamped to the last valid one.
    ```mlir
    %b = warp.read %bias[%j] : memref<?xf32>
    ```
  }];
  let arguments = (ins AnyMemRef:$memory, Variadic<Index>:$indices);
  let results = (outs AnyType:$value);
  let assemblyFormat = "$memory `[` $indices `]` attr-dict `:` type($memory)";
  let hasVerifier = 1;
}

def Warp_MapOp : Warp_Op<"map", []> {
  let summary = "element-wise work from one shared-memory tile to another, by threads";
  let description = [{
    The region gets an element and its row and column in the tile and yields the
    element of the target.
    ```mlir
    warp.map %in to %out : !warp.tile<128x64xbf16>, !warp.tile<128x64xbf16> {
    ^bb0(%x: bf16, %i: index, %j: index):
      ...
      warp.yield %y : bf16
    }
    ```
  }];
  let arguments = (ins Warp_TileType:$source, Warp_TileType:$target);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$source `to` $target attr-dict `:` type($source) `,` type($target) $body";
  let hasVerifier = 1;
}

def Warp_StoreOp : Warp_Op<"store", [AttrSizedOperandSegments]> {
  let summary = "element-wise work on an accumulator, stored to global memory by threads";
  let description = [{
    Offsets as in `warp.copy`. The region gets an accumulator element and its row
    and column in the memref and yields the element to store. What lies outside the
    memref, or in a row from `before` on, is not stored.
    With `transposed` the accumulator's rows are the memref's last dimension.
    ```mlir
    warp.store %acc to %D[%b, %row, %col] : !warp.acc<128x256xf32>, memref<?x?x?xbf16> {
    ^bb0(%x: f32, %i: index, %j: index):
      %y = arith.truncf %x : f32 to bf16
      warp.yield %y : bf16
    }
    ```
  }];
  let arguments = (ins Warp_AccType:$acc, AnyMemRef:$memory, Variadic<Index>:$offsets, Optional<Index>:$end, UnitAttr:$transposed);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$acc `to` $memory `[` $offsets `]` (`before` $end^)? (`transposed` $transposed^)? attr-dict `:` type($acc) `,` type($memory) $body";
  let hasVerifier = 1;
}

def Warp_CombineOp : Warp_Op<"combine", [NoTerminator, SingleBlock]> {
  let summary = "add up the parts of a tile that CTAs of the GPU computed";
  let description = [{
    `acc` is part `part` of `splits` of tile `tile` of `tiles`. Each warp writes what it has of
    it to global memory that the launch brings (a slot a tile and part); the warp that comes
    last adds what the same warps of all CTAs wrote, in the order of the parts, and runs the
    body with the sum. No warp waits for another, and the sums do not depend on who is last.
    The body may store; it is work of single warps. Release and acquire at gpu scope lie
    between writing and reading; the counters are back at zero after each launch.
    ```mlir
    warp.combine %acc part %p of 4 tile %t of %n : !warp.acc<128x64xf32> {
    ^bb0(%sum: !warp.acc<128x64xf32>):
      warp.store %sum to %D[%row, %col] : !warp.acc<128x64xf32>, memref<?x?xbf16> { ... }
    }
    ```
  }];
  let arguments = (ins Warp_AccType:$acc, Index:$part, I64Attr:$splits, Index:$tile, Index:$tiles);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$acc `part` $part `of` $splits `tile` $tile `of` $tiles attr-dict `:` type($acc) $body";
  let hasVerifier = 1;
}

def Warp_PackOp : Warp_Op<"pack", []> {
  let summary = "element-wise work on columns of an accumulator, written to a shared-memory tile";
  let description = [{
    Takes columns `first .. first + tile columns` of the accumulator. The region is
    that of `warp.store`; its indices are `rowBase + row` and `colBase + column`,
    counted over the whole accumulator.
    ```mlir
    warp.pack %acc columns 64 at (%row, %col) to %tile : !warp.acc<128x256xf32>, !warp.tile<128x64xbf16> {
    ^bb0(%x: f32, %i: index, %j: index): ...
    }
    ```
  }];
  let arguments = (ins Warp_AccType:$acc, I64Attr:$first, Index:$rowBase, Index:$colBase, Warp_TileType:$tile);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$acc `columns` $first `at` `(` $rowBase `,` $colBase `)` `to` $tile attr-dict `:` type($acc) `,` type($tile) $body";
  let hasVerifier = 1;
}

include "MoeOps.td"
include "PeerOps.td"

#endif
