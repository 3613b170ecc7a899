//===- CollectiveBuilder.cpp - the networks of collectives ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In: an analyzed spec and a form. Out: a warp.kernel of stages, joined by the pipe "chunks" in
// shared memory and by pipes between ranks: "recv", a push pipe over the result, and "ready",
// a pull pipe over the operand.
//
//   copies (all-gather, all-to-all, broadcast)
//     bulk      load: chunks of the operand to shared memory; send: from there to all ranks
//     else      copy: all threads, memory to memory
//     packets   exchange: sends all, receives all
//   sums (reduce-scatter, all-reduce)
//     bulk      load: a chunk of every rank in turn; sum: adds them up, stores
//     else      sum: all threads, from every rank's memory
//   all-reduce in two shots: each rank sums its share and stores it to all ranks.
//
// Every kernel starts with the verbs that tell the others "I am here" and ends when it has been
// told that all is done. Cannot: place warps, barriers or fences; later passes do.
//
//===----------------------------------------------------------------------===//
#include "heddle/Kernels/Collective.h"

using namespace mlir;

namespace heddle::kernels {
namespace {

class NetworkBuilder {
public:
  NetworkBuilder(OpBuilder &builder, const CollectiveSpec &spec, const target::Target &target,
                 const CollectiveVariant &variant)
      : b(builder), s(spec), target(target), variant(variant), schedule(variant.schedule),
        loc(spec.op->getLoc()) {}
  warp::KernelOp build();

private:
  // The kernel.
  void makeKernel();
  void makeSizes();
  void makePipes();
  void constrain();

  // Values, all i64.
  Value number(int64_t value) { return arith::ConstantIntOp::create(b, loc, value, 64); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulIOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, loc, x, y); }
  Value min(Value x, Value y) { return arith::MinSIOp::create(b, loc, x, y); }
  Value roundUp(Value x, int64_t grain);
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }
  Value yes() { return arith::ConstantIntOp::create(b, loc, 1, 1); }
  Value nthPeer(Value i) { return warp::NthPeerOp::create(b, loc, b.getI64Type(), i); }
  Value argument(unsigned i) { return kernel.getBody().getArgument(i); }
  int64_t chunkElements() const { return schedule.chunk / s.elementBytes(); }
  bool isPackets() const { return variant.form == CollectiveForm::Packets; }
  int64_t width() const {
    return variant.form == CollectiveForm::Elements ? 1 : 16 / s.elementBytes();
  }
  bool isBulk() const { return variant.form == CollectiveForm::Bulk; }

  // Loops.
  void loop(Value from, Value to, Value step, function_ref<void(Value)> body);
  /// Carries a flag through a loop.
  Value loop(Value to, Value init, function_ref<Value(Value i, Value flag)> body);
  /// The other ranks, in the order of warp.nth_peer; with `self` this one last.
  void forRanks(bool self, function_ref<void(Value rank)> body);
  /// This channel's chunks of `total` elements: offset and count.
  void forChunks(Value total, function_ref<void(Value offset, Value count)> body);
  void stage(StringRef name, int64_t warps, function_ref<void()> body);

  // Verbs to all other ranks.
  void releaseAll(Value pipe, Value alive);
  void commitAll(Value pipe, Value alive);
  Value acquireAll(Value pipe, Value alive);
  Value waitAll(Value pipe, Value alive);
  Value peer(Value pipe, Value rank) {
    return warp::PeerOp::create(
               b, loc, TypeRange(cast<warp::PipeType>(pipe.getType()).getElements()), pipe, rank)
        .getMemory()[0];
  }
  void transfer(Value from, Value fromOffset, Value to, Value toOffset, Value count);

  // Stages.
  void loadCopies();
  void sendCopies();
  void copyByThreads();
  void loadSums();
  void sumStage();
  void barrierStage();
  void exchangeStage();
  /// Calls `body` for each part that a rank sends: which rank gets it (all: null), where it
  /// starts in the operand.
  void forParts(function_ref<void(Value rank, Value start)> body);
  Value takeTile() { return warp::WaitOp::create(b, loc, chunks).getSlots()[0]; }
  void giveTile() { warp::ReleaseOp::create(b, loc, chunks, Value(), 0); }

  OpBuilder &b;
  const CollectiveSpec &s;
  const target::Target &target;
  const CollectiveVariant &variant;
  const CollectiveSchedule &schedule;
  Location loc;
  warp::KernelOp kernel;
  Value zero, one, rank, world, peers, channel, channels;
  Value part;  ///< elements of a rank's part
  Value start; ///< sums: where this rank's share starts in the operand
  Value share; ///< elements that this rank moves or sums, chunk by chunk
  Value step;  ///< elements of a chunk
  Value chunks, recv, ready, packets;
};

} // namespace

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

void NetworkBuilder::makeKernel() {
  MLIRContext *c = b.getContext();
  SmallVector<Type> types;
  for (const CollectiveTensor &t : s.tensors)
    types.push_back(MemRefType::get(t.type.getShape(), t.type.getElementType()));
  spec::KernelOp spec = s.kernel;
  kernel = warp::KernelOp::create(b, spec.getLoc(), (spec.getSymName() + variant.suffix).str(),
                                  b.getFunctionType(types, {}));
  kernel.setTarget(target.name);
  kernel->setAttr("comm_schedule",
                  warp::CommScheduleAttr::get(c, schedule.ctas, schedule.warps, schedule.chunk,
                                              schedule.stages, schedule.keep));
  for (auto [i, t] : llvm::enumerate(s.tensors)) {
    kernel.setArgAttr(i, "warp.name", b.getStringAttr(t.name));
    SmallVector<StringRef> dims;
    for (const spec::Size *size : t.sizes)
      dims.push_back(size->name);
    kernel.setArgAttr(i, "warp.dims", b.getStrArrayAttr(dims));
    if (t.symmetric)
      kernel.setArgAttr(i, "warp.symmetric", b.getUnitAttr());
  }
  b.setInsertionPointToStart(&kernel.getBody().front());
}

Value NetworkBuilder::roundUp(Value x, int64_t grain) {
  Value up = add(x, number(grain - 1));
  return arith::AndIOp::create(b, loc, up, number(-grain));
}

void NetworkBuilder::makeSizes() {
  zero = number(0), one = number(1);
  rank = warp::RankOp::create(b, loc, b.getI64Type()),
  world = warp::WorldOp::create(b, loc, b.getI64Type());
  peers = sub(world, one);
  channel = warp::ChannelOp::create(b, loc, b.getI64Type()),
  channels = warp::ChannelsOp::create(b, loc, b.getI64Type());
  if (s.what == Collective::Barrier)
    return;
  // The operand's dimensions but the ranks in front.
  bool parted = s.what == Collective::AllToAll || s.what == Collective::ReduceScatter;
  part = one;
  for (unsigned d = parted; d < s.tensors[0].sizes.size(); ++d) {
    const spec::Size &size = *s.tensors[0].sizes[d];
    Value extent;
    if (size.isDynamic()) {
      Value dim =
          memref::DimOp::create(b, loc, argument(0), arith::ConstantIndexOp::create(b, loc, d));
      extent = arith::IndexCastOp::create(b, loc, b.getI64Type(), dim);
    } else {
      extent = number(size.value);
    }
    part = mul(part, extent);
  }
  // Chunks start at multiples of 128 bytes where they can.
  int64_t grain = variant.form == CollectiveForm::Elements ? 32 : 128 / s.elementBytes();
  start = zero, share = part;
  if (s.what == Collective::ReduceScatter)
    start = mul(rank, part);
  if (variant.twoShot) {
    Value each = roundUp(arith::CeilDivUIOp::create(b, loc, part, world), grain);
    start = min(mul(rank, each), part);
    share = min(each, sub(part, start));
  }
  if (s.what == Collective::Broadcast) {
    Value mine = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, rank, number(s.root));
    share = select(mine, part, zero);
  }
  // A share that does not fill a chunk a channel is cut into smaller ones; it has few elements
  // then, so that 32 bits are enough to divide.
  Value whole = number(chunkElements());
  Type i32 = b.getI32Type();
  Value few = arith::TruncIOp::create(b, loc, i32, min(share, mul(whole, channels)));
  Value each =
      arith::CeilDivUIOp::create(b, loc, few, arith::TruncIOp::create(b, loc, i32, channels));
  each = arith::ExtUIOp::create(b, loc, b.getI64Type(), each);
  step = min(arith::MaxSIOp::create(b, loc, roundUp(each, grain), number(grain)), whole);
}

void NetworkBuilder::makePipes() {
  MLIRContext *c = b.getContext();
  auto peerPipe = [&](StringRef name, warp::Flow flow, ValueRange over) {
    SmallVector<Type> types(over.getTypes());
    auto type = warp::PipeType::get(c, warp::Link::Peer, 1, types);
    return warp::PeerPipeOp::create(b, loc, type, name, flow, IntegerAttr(), over).getPipe();
  };
  if (s.what == Collective::Barrier) {
    ready = peerPipe("ready", warp::Flow::Pull, {});
    return;
  }
  if (isPackets()) {
    auto type = warp::PipeType::get(c, warp::Link::Peer, 1, ArrayRef<Type>());
    packets = warp::PeerPipeOp::create(b, loc, type, "packets", warp::Flow::Packets,
                                       b.getI64IntegerAttr(schedule.chunk), ValueRange())
                  .getPipe();
    return;
  }
  if (s.sums())
    ready = peerPipe("ready", warp::Flow::Pull, {argument(0)});
  if (!s.sums() || variant.twoShot)
    recv = peerPipe("recv", warp::Flow::Push, {argument(1)});
  if (!isBulk())
    return;
  auto tile = warp::TileType::get(c, 1, chunkElements(), s.element(), warp::Major::Linear);
  auto type = warp::PipeType::get(c, warp::Link::Smem, schedule.stages, {tile});
  chunks = warp::PipeOp::create(b, loc, type, "chunks", IntegerAttr(), IntegerAttr(), IntegerAttr(),
                                IntegerAttr())
               .getPipe();
}

/// What this form, and not every form, needs.
void NetworkBuilder::constrain() {
  if (s.what == Collective::Barrier)
    return;
  SmallVector<Attribute> constraints, bytes{b.getI64IntegerAttr(s.elementBytes())};
  auto text = [&](StringRef t) { return Attribute(b.getStringAttr(t)); };
  auto field = [&](StringRef key, Attribute value) { return b.getNamedAttr(key, value); };
  for (const spec::Size *size : s.part()) {
    bytes.push_back(size->isDynamic() ? text(size->name) : b.getI64IntegerAttr(size->value));
    bytes.push_back(text("mul"));
  }
  auto limit = [&](StringRef kind, ArrayRef<Attribute> expr, int64_t value, StringRef what) {
    constraints.push_back(b.getDictionaryAttr(
        {field("kind", text(kind)), field("expr", b.getArrayAttr(expr)),
         field("value", b.getI64IntegerAttr(value)), field("what", text(what))}));
  };
  if (variant.form != CollectiveForm::Elements) {
    limit("multiple_of", bytes, 16, "bytes of a rank's part");
    for (auto [i, t] : llvm::enumerate(s.tensors))
      constraints.push_back(b.getDictionaryAttr(
          {field("kind", text("pointer_alignment")), field("arg", b.getI64IntegerAttr(i)),
           field("value", b.getI64IntegerAttr(16)), field("what", text("address of " + t.name))}));
  }
  if (isPackets()) {
    // As much as all channels carry.
    SmallVector<Attribute> more(bytes);
    more.append({text("sm_count"), b.getI64IntegerAttr(schedule.ctas), text("min"),
                 b.getI64IntegerAttr(schedule.chunk), text("mul"), text("sub")});
    limit("at_most", more, 0, "bytes of a rank's part beyond what packets carry");
  }
  if (variant.atMost) {
    SmallVector<Attribute> more(bytes);
    more.append({text("world"), b.getI64IntegerAttr(2), text("sub"), text("mul")});
    limit("at_most", more, variant.atMost, "bytes times ranks beyond two, for one shot");
  }
  kernel->setAttr("heddle.constraints", b.getArrayAttr(constraints));
}

//===----------------------------------------------------------------------===//
// Loops and verbs
//===----------------------------------------------------------------------===//

void NetworkBuilder::loop(Value from, Value to, Value by, function_ref<void(Value)> body) {
  auto made = scf::ForOp::create(b, loc, from, to, by);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(made.getBody());
  body(made.getInductionVar());
}

Value NetworkBuilder::loop(Value to, Value init, function_ref<Value(Value, Value)> body) {
  auto made = scf::ForOp::create(b, loc, zero, to, one, init);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(made.getBody());
  Value next = body(made.getInductionVar(), made.getRegionIterArgs()[0]);
  scf::YieldOp::create(b, loc, next);
  return made.getResult(0);
}

void NetworkBuilder::forRanks(bool self, function_ref<void(Value)> body) {
  loop(zero, self ? world : peers, one, [&](Value i) { body(nthPeer(i)); });
}

void NetworkBuilder::forChunks(Value total, function_ref<void(Value, Value)> body) {
  loop(mul(channel, step), total, mul(channels, step),
       [&](Value offset) { body(offset, min(step, sub(total, offset))); });
}

void NetworkBuilder::stage(StringRef name, int64_t warps, function_ref<void()> body) {
  OpBuilder::InsertionGuard guard(b);
  auto op = warp::StageOp::create(b, loc, name, b.getI64IntegerAttr(warps));
  b.setInsertionPointToStart(&op.getBody().emplaceBlock());
  body();
}

void NetworkBuilder::releaseAll(Value pipe, Value alive) {
  forRanks(false, [&](Value r) { warp::PeerReleaseOp::create(b, loc, pipe, r, alive); });
}
void NetworkBuilder::commitAll(Value pipe, Value alive) {
  forRanks(false, [&](Value r) { warp::PeerCommitOp::create(b, loc, pipe, r, alive); });
}
Value NetworkBuilder::acquireAll(Value pipe, Value alive) {
  return loop(peers, alive, [&](Value i, Value flag) -> Value {
    return warp::PeerAcquireOp::create(b, loc, b.getI1Type(), pipe, nthPeer(i), flag);
  });
}
Value NetworkBuilder::waitAll(Value pipe, Value alive) {
  return loop(peers, alive, [&](Value i, Value flag) -> Value {
    return warp::PeerWaitOp::create(b, loc, b.getI1Type(), pipe, nthPeer(i), flag);
  });
}

void NetworkBuilder::transfer(Value from, Value fromOffset, Value to, Value toOffset, Value count) {
  bool bulk = !fromOffset || !toOffset; // a tile has none
  warp::TransferOp::create(b, loc, from, fromOffset, to, toOffset, count,
                           bulk ? warp::Engine::Bulk : warp::Engine::Threads, bulk ? 1 : width(),
                           bulk ? schedule.keep : warp::Keep::Normal);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void NetworkBuilder::forParts(function_ref<void(Value, Value)> body) {
  if (s.what != Collective::AllToAll)
    return body(Value(), zero);
  forRanks(true, [&](Value r) { body(r, mul(r, part)); });
}

void NetworkBuilder::loadCopies() {
  stage("load", 1, [&] {
    forChunks(share, [&](Value offset, Value count) {
      forParts([&](Value, Value first) {
        Value tile = warp::AcquireOp::create(b, loc, chunks).getSlots()[0];
        transfer(argument(0), add(first, offset), tile, Value(), count);
        warp::CommitOp::create(b, loc, chunks, ValueRange());
      });
    });
  });
}

/// One thread: what it was allowed to write it announces after all of its writes.
void NetworkBuilder::sendCopies() {
  stage("send", 1, [&] {
    releaseAll(recv, yes());
    Value alive = acquireAll(recv, yes());
    Value place = s.what == Collective::Broadcast ? zero : mul(rank, part);
    forChunks(share, [&](Value offset, Value count) {
      forParts([&](Value to, Value) {
        Value tile = takeTile(), sent = select(alive, count, zero);
        auto send = [&](Value r) {
          transfer(tile, Value(), peer(recv, r), add(place, offset), sent);
        };
        if (to)
          send(to);
        else
          forRanks(true, send);
        giveTile();
      });
    });
    commitAll(recv, alive);
    waitAll(recv, alive);
  });
}

void NetworkBuilder::copyByThreads() {
  stage("copy", schedule.warps, [&] {
    releaseAll(recv, yes());
    Value alive = acquireAll(recv, yes());
    Value place = s.what == Collective::Broadcast ? zero : mul(rank, part);
    bool parts = s.what == Collective::AllToAll;
    forChunks(share, [&](Value offset, Value count) {
      Value sent = select(alive, count, zero);
      forRanks(true, [&](Value r) {
        Value from = parts ? add(mul(r, part), offset) : offset;
        transfer(argument(0), from, peer(recv, r), add(place, offset), sent);
      });
    });
    commitAll(recv, alive);
    waitAll(recv, alive);
  });
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// After a failed wait the rank reads its own memory instead, so that the network goes on.
void NetworkBuilder::loadSums() {
  stage("load", 1, [&] {
    commitAll(ready, yes());
    Value alive = waitAll(ready, yes());
    forChunks(share, [&](Value offset, Value count) {
      loop(zero, world, one, [&](Value r) {
        Value tile = warp::AcquireOp::create(b, loc, chunks).getSlots()[0];
        Value from = select(alive, r, rank);
        transfer(peer(ready, from), add(start, offset), tile, Value(), count);
        warp::CommitOp::create(b, loc, chunks, ValueRange());
      });
    });
  });
}

void NetworkBuilder::sumStage() {
  auto spread = warp::SpreadType::get(b.getContext(), chunkElements(), width());
  stage("sum", schedule.warps, [&] {
    Value alive = yes();
    if (recv)
      releaseAll(recv, alive);
    if (!isBulk()) {
      commitAll(ready, alive);
      alive = waitAll(ready, alive);
    }
    if (recv)
      alive = acquireAll(recv, alive);
    Value source = rank;
    forChunks(share, [&](Value offset, Value count) {
      Value none = warp::SpreadZeroOp::create(b, loc, spread);
      Value sum = loop(world, none, [&](Value r, Value old) -> Value {
        if (!isBulk()) {
          Value memory = peer(ready, select(alive, r, source));
          return warp::SpreadAddOp::create(b, loc, spread, memory, add(start, offset), count, old);
        }
        Value tile = takeTile();
        Value next = warp::SpreadAddOp::create(b, loc, spread, tile, Value(), count, old);
        giveTile();
        return next;
      });
      if (!recv) {
        Value at = s.what == Collective::AllReduce ? add(start, offset) : offset;
        warp::SpreadStoreOp::create(b, loc, sum, argument(1), at, count);
        return;
      }
      Value sent = select(alive, count, zero);
      forRanks(true, [&](Value r) {
        warp::SpreadStoreOp::create(b, loc, sum, peer(recv, r), add(start, offset), sent);
      });
    });
    if (recv)
      commitAll(recv, alive);
    releaseAll(ready, alive);
    if (recv)
      alive = waitAll(recv, alive);
    acquireAll(ready, alive);
  });
}

/// Everything is sent before anything is waited for.
void NetworkBuilder::exchangeStage() {
  auto spread = warp::SpreadType::get(b.getContext(), chunkElements(), 8 / s.elementBytes());
  bool parted = s.what == Collective::AllToAll || s.what == Collective::ReduceScatter;
  stage("exchange", schedule.warps, [&] {
    Value offset = mul(channel, step);
    Value left = arith::MaxSIOp::create(b, loc, sub(part, offset), zero), count = min(step, left);
    auto inOperand = [&](Value r) { return parted ? add(mul(r, part), offset) : offset; };
    forRanks(false, [&](Value r) {
      warp::PacketSendOp::create(b, loc, packets, r, argument(0), inOperand(r), count, yes());
    });
    if (!s.sums()) {
      transfer(argument(0), inOperand(rank), argument(1), add(mul(rank, part), offset), count);
      loop(peers, yes(), [&](Value i, Value alive) -> Value {
        Value r = nthPeer(i);
        return warp::PacketReceiveOp::create(b, loc, b.getI1Type(), packets, r, argument(1),
                                             add(mul(r, part), offset), count, alive);
      });
      return;
    }
    // The same order of ranks everywhere: the same bits.
    Value none = warp::SpreadZeroOp::create(b, loc, spread);
    auto sums = scf::ForOp::create(b, loc, zero, world, one, ValueRange{none, yes()});
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(sums.getBody());
      auto next = warp::PacketAddOp::create(
          b, loc, TypeRange{spread, b.getI1Type()}, packets, sums.getInductionVar(), argument(0),
          inOperand(rank), count, sums.getRegionIterArgs()[0], sums.getRegionIterArgs()[1]);
      scf::YieldOp::create(b, loc, next.getResults());
    }
    warp::SpreadStoreOp::create(b, loc, sums.getResult(0), argument(1), offset, count);
  });
}

void NetworkBuilder::barrierStage() {
  stage("meet", 1, [&] {
    commitAll(ready, yes());
    Value alive = waitAll(ready, yes());
    releaseAll(ready, alive);
    acquireAll(ready, alive);
  });
}

warp::KernelOp NetworkBuilder::build() {
  OpBuilder::InsertionGuard guard(b);
  makeKernel();
  makeSizes();
  makePipes();
  constrain();
  if (s.what == Collective::Barrier) {
    barrierStage();
  } else if (isPackets()) {
    exchangeStage();
  } else if (s.sums()) {
    if (isBulk())
      loadSums();
    sumStage();
  } else if (isBulk()) {
    loadCopies();
    sendCopies();
  } else {
    copyByThreads();
  }
  return kernel;
}

warp::KernelOp buildCollective(OpBuilder &builder, const CollectiveSpec &spec,
                               const target::Target &target, const CollectiveVariant &variant) {
  return NetworkBuilder(builder, spec, target, variant).build();
}

} // namespace heddle::kernels
