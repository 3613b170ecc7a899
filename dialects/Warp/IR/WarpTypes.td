//===- WarpTypes.td - types of the warp dialect -------------*- tablegen -*-===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_WARP_TYPES_TD
#define HEDDLE_WARP_TYPES_TD

include "WarpDialect.td"

class Warp_Type<string n, string m, list<Trait> t = []> : TypeDef<Warp_Dialect, n, t> { let mnemonic = m; }

def Warp_TileType : Warp_Type<"Tile", "tile"> {
  let summary = "a tile in shared memory: one part of a slot";
  let description = [{
    `!warp.tile<128x64xbf16>` is 128 x 64 elements with the last dimension
    contiguous; `!warp.tile<128x64xbf16, mn>` has the first one contiguous.

    In memory a tile is cut along its contiguous dimension into panels 128 bytes
    wide. A panel has one 128-byte row per index of the other dimension, and its
    16-byte chunk `c` of row `r` lies at `r * 128 + ((c ^ (r & 7)) * 16)`. Panels
    follow each other and start at multiples of 1024 bytes. This is what tensor
    copies with a 128-byte swizzle write and what wgmma and tcgen05 descriptors of
    that swizzle read (PTX ISA, "Shared memory matrix layout").

    `!warp.tile<1x8192xbf16, linear>` has no panels: elements lie one after the other.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$cols, "::mlir::Type":$elementType,
                    EnumParameter<Warp_Major>:$major);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Extent of the contiguous / of the other dimension, in elements.
    bool isLinear() const { return getMajor() == Major::Linear; }
    int64_t getContiguous() const { return getMajor() != Major::MN ? getCols() : getRows(); }
    int64_t getStrided() const { return getMajor() != Major::MN ? getRows() : getCols(); }
    int64_t getElementBytes() const { return getElementType().getIntOrFloatBitWidth() / 8; }
    int64_t getBytes() const { return getRows() * getCols() * getElementBytes(); }
    /// Elements of the contiguous dimension in one 128-byte panel.
    int64_t getPanelElements() const { return 128 / getElementBytes(); }
    int64_t getPanelBytes() const { return getStrided() * 128; }
    int64_t getNumPanels() const { return getContiguous() / getPanelElements(); }
  }];
}

def Warp_AccType : Warp_Type<"Acc", "acc"> {
  let summary = "an accumulator: M x N values, spread over the warps of a role or in tensor memory";
  let parameters = (ins "int64_t":$rows, "int64_t":$cols, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Warp_SpreadType : Warp_Type<"Spread", "spread"> {
  let summary = "consecutive f32 values, spread over the threads of a role";
  let description = [{
    `!warp.spread<8192, 8>`: 8192 values, dealt to the role's threads 8 neighbours at a
    time: thread t has the values from 8 t on, from 8 (t + threads) on, and so on.
  }];
  let parameters = (ins "int64_t":$elements, "int64_t":$width);
  let assemblyFormat = "`<` $elements `,` $width `>`";
  let genVerifyDecl = 1;
}

def Warp_PipeType : Warp_Type<"Pipe", "pipe"> {
  let summary = "a ring of slots between one producer stage and its consumers";
  let description = [{
    `!warp.pipe<smem, 4, !warp.tile<128x64xbf16>, !warp.tile<256x64xbf16>>` has four
    slots, each holding two tiles that become full and empty together.
    `accumulator` is `regs` or `tmem`, whichever the target's tensor cores use. The slots of
    a `cluster` pipe are in the shared memory of each CTA of a cluster and are filled by
    copies of all of them: the producer's `acquire` waits until the slot is empty in every
    CTA that this one writes to, the consumer's `wait` until every writer has filled it here.
    The slots of a `peer` pipe (`warp.peer_pipe`) are symmetric memory of the ranks.
  }];
  let parameters = (ins EnumParameter<Warp_Link>:$link, "int64_t":$depth,
                    OptionalArrayRefParameter<"::mlir::Type", "what a slot holds">:$elements);
  let assemblyFormat = "`<` $link `,` $depth (`,` $elements^)? `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Whether slots are tiles in shared memory (links smem and cluster).
    bool isPeer() const { return getLink() == Link::Peer; }
    bool hasTiles() const { return getLink() == Link::Smem || getLink() == Link::Cluster; }
    /// Bytes of one slot in shared memory.
    int64_t getSlotBytes() const;
  }];
}

def Warp_GroupsType : Warp_Type<"Groups", "groups"> {
  let summary = "the bounds of groups of rows, in shared memory";
}

def Warp_StreamType : Warp_Type<"Stream", "stream"> {
  let summary = "the tiles a CTA works on, the same sequence for each of its stages";
}
#endif
