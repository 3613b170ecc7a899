//===- PeerOps.td - work between ranks ----------------------*- tablegen -*-===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_WARP_PEER_OPS_TD
#define HEDDLE_WARP_PEER_OPS_TD

//===----------------------------------------------------------------------===//
// Who and where
//===----------------------------------------------------------------------===//

class Warp_PlaceOp<string m, string doc> : Warp_Op<m, [Pure]> {
  let summary = doc;
  let results = (outs I64:$result);
  let assemblyFormat = "attr-dict";
}
def Warp_RankOp : Warp_PlaceOp<"rank", "the rank that runs the kernel"> {
  let description = [{ `%me = warp.rank` }];
}
def Warp_WorldOp : Warp_PlaceOp<"world", "how many ranks there are"> {
  let description = [{ `%n = warp.world` }];
}
def Warp_ChannelOp : Warp_PlaceOp<"channel", "the CTA's number: CTAs of equal channel talk to each other"> {
  let description = [{ `%c = warp.channel` }];
}
def Warp_ChannelsOp : Warp_PlaceOp<"channels", "how many channels there are, the same on every rank"> {
  let description = [{ `%n = warp.channels` }];
}
def Warp_NthPeerOp : Warp_Op<"nth_peer", [Pure]> {
  let summary = "rank + 1 + n modulo the world: the other ranks in an order that spreads their links";
  let description = [{
    0 to world - 2 are the other ranks, world - 1 is the rank itself.
    ```mlir
    %r = warp.nth_peer %i
    ```
  }];
  let arguments = (ins I64:$n);
  let results = (outs I64:$result);
  let assemblyFormat = "$n attr-dict";
}

//===----------------------------------------------------------------------===//
// Pipes between ranks
//===----------------------------------------------------------------------===//

def Warp_PeerPipeOp : Warp_Op<"peer_pipe", []> {
  let summary = "declare pipes of link peer, one for each two ranks";
  let description = [{
    On each channel there is a pipe from every rank to every other one; its slot is the
    symmetric memory it is `over`, and is used once a launch. `push`: the slot is at the
    consumer, whose `peer_release` starts the round (its earlier readers are done);
    `pull`: it is at the producer, whose `peer_commit` starts it (what is in it was
    written before the kernel). Over nothing, a pipe orders and carries no data.

    `packets of N`: for a few bytes. Up to N bytes a launch and channel travel as 8-byte words at
    the consumer that hold 4 bytes and the launch's number, so that a word says itself that it
    has arrived: one trip over the link, no credit. There are two such areas in turn; what was
    sent in one launch has been read when the producer has received in the next one, and it
    sends there again in the one after that.

    ```mlir
    %p = warp.peer_pipe "recv" push over %D : memref<?x?x64xbf16> -> !warp.pipe<peer, 1, memref<?x?x64xbf16>>
    ```
  }];
  let arguments = (ins StrAttr:$name, Warp_FlowAttr:$flow, OptionalAttr<I64Attr>:$capacity,
                       Variadic<AnyMemRef>:$memory);
  let results = (outs Warp_PipeType:$pipe);
  let assemblyFormat = [{$name $flow (`of` $capacity^)? (`over` $memory^ `:` type($memory))? attr-dict `->` type($pipe)}];
  let hasVerifier = 1;
}

def Warp_PeerOp : Warp_Op<"peer", [Pure]> {
  let summary = "the memory that a peer pipe is over, of one rank";
  let description = [{
    ```mlir
    %there = warp.peer %p[%r] : !warp.pipe<peer, 1, memref<?x?x64xbf16>> -> memref<?x?x64xbf16>
    ```
  }];
  let arguments = (ins Warp_PipeType:$pipe, I64:$rank);
  let results = (outs Variadic<AnyMemRef>:$memory);
  let assemblyFormat = "$pipe `[` $rank `]` attr-dict `:` type($pipe) `->` type($memory)";
  let hasVerifier = 1;
}

class Warp_PeerVerb<string m, string doc, dag outs = (outs)> : Warp_Op<m, []> {
  let summary = doc;
  let arguments = (ins Warp_PipeType:$pipe, I64:$rank, I1:$alive);
  let results = outs;
  let assemblyFormat = "$pipe `[` $rank `]` `if` $alive attr-dict `:` type($pipe)";
  let hasVerifier = 1;
}
defvar Warp_PeerVerbDoc = [{
    `alive` false: nothing is done. A wait that fails, because its deadline passed or the
    communicator was told to stop, writes the fault record and gives false: what follows
    moves nothing and signals nobody, so that the kernel drains and ends.
    The rank itself counts as one that has always answered.
  }];
def Warp_PeerAcquireOp : Warp_PeerVerb<"peer_acquire", "producer: wait until consumer `rank` has released the slot",
                                       (outs I1:$ok)> {
  let description = Warp_PeerVerbDoc # [{ `%ok = warp.peer_acquire %p[%r] if %alive : !warp.pipe<peer, 1, ...>` }];
}
def Warp_PeerWaitOp : Warp_PeerVerb<"peer_wait", "consumer: wait until producer `rank` has filled the slot",
                                    (outs I1:$ok)> {
  let description = Warp_PeerVerbDoc # [{ `%ok = warp.peer_wait %p[%r] if %alive : !warp.pipe<peer, 1, ...>` }];
}
def Warp_PeerCommitOp : Warp_PeerVerb<"peer_commit", "producer: the slot for consumer `rank` is full"> {
  let description = Warp_PeerVerbDoc # [{ `warp.peer_commit %p[%r] if %alive : !warp.pipe<peer, 1, ...>` }];
}
def Warp_PeerReleaseOp : Warp_PeerVerb<"peer_release", "consumer: the slot from producer `rank` may be overwritten"> {
  let description = Warp_PeerVerbDoc # [{ `warp.peer_release %p[%r] if %alive : !warp.pipe<peer, 1, ...>` }];
}

//===----------------------------------------------------------------------===//
// Rows of memory
//===----------------------------------------------------------------------===//

def Warp_TransferOp : Warp_Op<"transfer", [AttrSizedOperandSegments]> {
  let summary = "copy `count` consecutive elements between global memory and a linear tile, or in global memory";
  let description = [{
    Offsets count elements from the memref's start in memory; memrefs are contiguous, of
    this rank or, through `warp.peer`, of another. Engine `bulk` moves multiples of 16 bytes
    at multiples of 16 bytes, by one thread; `threads` moves them by all threads of the
    role, `width` elements at once, of which `count` and the offsets are multiples. Nothing
    is touched when `count` is 0. What a copy of a slot moves is waited for with the pipe's
    verbs. `keep` says what the L2 should do: `normal`, or `stream` for what is used once.

    ```mlir
    warp.transfer %X[%o] to %tile count %n engine bulk : memref<?x64xbf16>, !warp.tile<1x8192xbf16, linear>
    warp.transfer %tile to %there[%o] count %n engine bulk : !warp.tile<1x8192xbf16, linear>, memref<?x64xbf16>
    warp.transfer %X[%o] to %there[%o] count %n engine threads width 8 : memref<?x64xbf16>, memref<?x64xbf16>
    ```
  }];
  let arguments = (ins AnyTypeOf<[AnyMemRef, Warp_TileType]>:$source, Optional<I64>:$source_offset,
    AnyTypeOf<[AnyMemRef, Warp_TileType]>:$target, Optional<I64>:$target_offset, I64:$count,
    Warp_EngineAttr:$engine, DefaultValuedAttr<I64Attr, "1">:$width,
    DefaultValuedAttr<Warp_KeepAttr, "Keep::Normal">:$keep);
  let assemblyFormat = [{$source (`[` $source_offset^ `]`)? `to` $target (`[` $target_offset^ `]`)? `count` $count
    `engine` $engine (`width` $width^)? (`keep` $keep^)? attr-dict `:` type($source) `,` type($target)}];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool isLoad() { return ::llvm::isa<TileType>(getTarget().getType()); }
    bool isStore() { return ::llvm::isa<TileType>(getSource().getType()); }
    ::mlir::Value getTile() { return isLoad() ? getTarget() : isStore() ? getSource() : ::mlir::Value(); }
  }];
}

//===----------------------------------------------------------------------===//
// Packets
//===----------------------------------------------------------------------===//

def Warp_PacketSendOp : Warp_Op<"packet_send", []> {
  let summary = "send `count` consecutive elements of memory to `rank`, by all threads of the role";
  let description = [{
    Elements and offset are multiples of 8 bytes. Once a launch for each other rank; to the rank
    itself nothing is sent.
    ```mlir
    warp.packet_send %p[%r] from %X[%o] count %n if %alive : !warp.pipe<peer, 1>, memref<?xbf16>
    ```
  }];
  let arguments = (ins Warp_PipeType:$pipe, I64:$rank, AnyMemRef:$source, I64:$offset, I64:$count, I1:$alive);
  let assemblyFormat = [{$pipe `[` $rank `]` `from` $source `[` $offset `]` `count` $count `if` $alive attr-dict
                         `:` type($pipe) `,` type($source)}];
  let hasVerifier = 1;
}
def Warp_PacketReceiveOp : Warp_Op<"packet_receive", []> {
  let summary = "wait for what `rank` sends, `count` elements, and store it; `ok` as with peer_wait";
  let description = [{
    ```mlir
    %ok = warp.packet_receive %p[%r] to %D[%o] count %n if %alive : !warp.pipe<peer, 1>, memref<?xbf16>
    ```
  }];
  let arguments = (ins Warp_PipeType:$pipe, I64:$rank, AnyMemRef:$target, I64:$offset, I64:$count, I1:$alive);
  let results = (outs I1:$ok);
  let assemblyFormat = [{$pipe `[` $rank `]` `to` $target `[` $offset `]` `count` $count `if` $alive attr-dict
                         `:` type($pipe) `,` type($target)}];
  let hasVerifier = 1;
}
def Warp_PacketAddOp : Warp_Op<"packet_add", [AllTypesMatch<["sum", "result"]>]> {
  let summary = "wait for what `rank` sends and add it to a spread sum; of the rank itself, from memory";
  let description = [{
    ```mlir
    %1, %ok = warp.packet_add %p[%r] self %X[%o] count %n to %0 if %alive
      : !warp.pipe<peer, 1>, memref<?xbf16>, !warp.spread<4096, 4>
    ```
  }];
  let arguments = (ins Warp_PipeType:$pipe, I64:$rank, AnyMemRef:$self, I64:$offset, I64:$count,
                       Warp_SpreadType:$sum, I1:$alive);
  let results = (outs Warp_SpreadType:$result, I1:$ok);
  let assemblyFormat = [{$pipe `[` $rank `]` `self` $self `[` $offset `]` `count` $count `to` $sum `if` $alive attr-dict
                         `:` type($pipe) `,` type($self) `,` type($sum)}];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

def Warp_SpreadZeroOp : Warp_Op<"spread_zero", [Pure]> {
  let summary = "zeros, spread over the threads of a role";
  let description = [{ `%0 = warp.spread_zero : !warp.spread<8192, 8>` }];
  let results = (outs Warp_SpreadType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}
def Warp_SpreadAddOp : Warp_Op<"spread_add", [AllTypesMatch<["sum", "result"]>]> {
  let summary = "add `count` consecutive elements of a linear tile or of memory to a spread sum";
  let description = [{
    Sums are of f32. Elements from `count` on stay as they were.
    ```mlir
    %1 = warp.spread_add %tile count %n to %0 : !warp.tile<1x8192xbf16, linear>, !warp.spread<8192, 8>
    %2 = warp.spread_add %X[%o] count %n to %1 : memref<?x64xbf16>, !warp.spread<8192, 8>
    ```
  }];
  let arguments = (ins AnyTypeOf<[AnyMemRef, Warp_TileType]>:$source, Optional<I64>:$offset, I64:$count,
                       Warp_SpreadType:$sum);
  let results = (outs Warp_SpreadType:$result);
  let assemblyFormat = [{$source (`[` $offset^ `]`)? `count` $count `to` $sum attr-dict `:` type($source) `,` type($sum)}];
  let hasVerifier = 1;
}
def Warp_SpreadStoreOp : Warp_Op<"spread_store", []> {
  let summary = "round a spread sum to the elements of `target` and store the first `count`";
  let description = [{
    ```mlir
    warp.spread_store %2 to %D[%o] count %n : !warp.spread<8192, 8>, memref<?x64xbf16>
    ```
  }];
  let arguments = (ins Warp_SpreadType:$sum, AnyTypeOf<[AnyMemRef, Warp_TileType]>:$target, Optional<I64>:$offset,
                       I64:$count);
  let assemblyFormat = [{$sum `to` $target (`[` $offset^ `]`)? `count` $count attr-dict `:` type($sum) `,` type($target)}];
  let hasVerifier = 1;
}
#endif
