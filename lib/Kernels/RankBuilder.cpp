//===- RankBuilder.cpp - values, loops and verbs of kernels between ranks ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RankBuilder.h"

using namespace mlir;

namespace heddle::kernels {

//===----------------------------------------------------------------------===//
// Values and loops
//===----------------------------------------------------------------------===//

RankBuilder::RankBuilder(OpBuilder &b, Interface &interface, const BuildOptions &options,
                         const RowForm &form, Location loc)
    : b(b), interface(interface), form(form), loc(loc),
      kernel(interface.makeKernel(b, options.target, form.suffix)) {
  const RowSchedule &s = form.schedule;
  kernel->setAttr("comm_schedule", warp::CommScheduleAttr::get(b.getContext(), s.ctas, s.warps,
                                                               s.chunk, s.stages, s.keep));
  Type i64 = b.getI64Type();
  zero = number(0), one = number(1);
  rank = warp::RankOp::create(b, loc, i64), world = warp::WorldOp::create(b, loc, i64);
  peers = sub(world, one);
  channel = warp::ChannelOp::create(b, loc, i64), channels = warp::ChannelsOp::create(b, loc, i64);
}

void RankBuilder::setRows(unsigned arg, unsigned tokenDim, const spec::Size &rowSize) {
  element = interface.type(arg).getElementType();
  tokens = extent(arg, tokenDim), row = extent(arg, tokenDim + 1);
  piece = form.schedule.chunk / bytesOf(element);
  Type i32 = b.getI32Type(); // sizes are 32-bit: enough to divide
  Value each = arith::CeilDivUIOp::create(b, loc, arith::TruncIOp::create(b, loc, i32, tokens),
                                          arith::TruncIOp::create(b, loc, i32, channels));
  each = arith::ExtUIOp::create(b, loc, b.getI64Type(), each);
  firstToken = min(mul(channel, each), tokens);
  endToken = min(add(firstToken, each), tokens);
}

Value RankBuilder::number(int64_t value) { return arith::ConstantIntOp::create(b, loc, value, 64); }
Value RankBuilder::add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
Value RankBuilder::sub(Value x, Value y) { return arith::SubIOp::create(b, loc, x, y); }
Value RankBuilder::mul(Value x, Value y) { return arith::MulIOp::create(b, loc, x, y); }
Value RankBuilder::min(Value x, Value y) { return arith::MinSIOp::create(b, loc, x, y); }
Value RankBuilder::select(Value condition, Value x, Value y) {
  return arith::SelectOp::create(b, loc, condition, x, y);
}
Value RankBuilder::both(Value x, Value y) { return arith::AndIOp::create(b, loc, x, y); }
Value RankBuilder::yes() { return arith::ConstantIntOp::create(b, loc, 1, 1); }

Value RankBuilder::extent(unsigned arg, unsigned dim) {
  const spec::Size &size = interface.size(arg, dim);
  if (!size.isDynamic())
    return number(size.value);
  Value index = arith::ConstantIndexOp::create(b, loc, dim);
  return arith::IndexCastOp::create(b, loc, b.getI64Type(),
                                    memref::DimOp::create(b, loc, argument(arg), index));
}

void RankBuilder::loop(Value from, Value to, Value by, function_ref<void(Value)> body) {
  auto made = scf::ForOp::create(b, loc, from, to, by);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(made.getBody());
  body(made.getInductionVar());
}

Value RankBuilder::fold(Value to, Value init, function_ref<Value(Value, Value)> body) {
  auto made = scf::ForOp::create(b, loc, zero, to, one, init);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(made.getBody());
  Value next = body(made.getInductionVar(), made.getRegionIterArgs()[0]);
  scf::YieldOp::create(b, loc, next);
  return made.getResult(0);
}

void RankBuilder::forRanks(bool self, function_ref<void(Value)> body) {
  loop(zero, self ? world : peers, one,
       [&](Value i) { body(warp::NthPeerOp::create(b, loc, b.getI64Type(), i)); });
}

void RankBuilder::forTokens(function_ref<void(Value)> body) {
  loop(firstToken, endToken, one, body);
}

void RankBuilder::forPieces(function_ref<void(Value, Value)> body) {
  loop(zero, row, number(piece),
       [&](Value offset) { body(offset, min(number(piece), sub(row, offset))); });
}

void RankBuilder::stage(StringRef name, int64_t warps, function_ref<void()> body) {
  OpBuilder::InsertionGuard guard(b);
  auto op = warp::StageOp::create(b, loc, name, b.getI64IntegerAttr(warps));
  b.setInsertionPointToStart(&op.getBody().emplaceBlock());
  body();
}

//===----------------------------------------------------------------------===//
// Pipes
//===----------------------------------------------------------------------===//

Value RankBuilder::peerPipe(StringRef name, warp::Flow flow, ArrayRef<unsigned> over) {
  SmallVector<Value> memory;
  for (unsigned arg : over)
    memory.push_back(argument(arg));
  SmallVector<Type> types(ValueRange(memory).getTypes());
  auto type = warp::PipeType::get(b.getContext(), warp::Link::Peer, 1, types);
  return warp::PeerPipeOp::create(b, loc, type, name, flow, IntegerAttr(), memory).getPipe();
}

Value RankBuilder::piecePipe(StringRef name) {
  auto tile = warp::TileType::get(b.getContext(), 1, piece, element, warp::Major::Linear);
  auto type = warp::PipeType::get(b.getContext(), warp::Link::Smem, form.schedule.stages, {tile});
  return warp::PipeOp::create(b, loc, type, name, IntegerAttr(), IntegerAttr(), IntegerAttr(),
                              IntegerAttr())
      .getPipe();
}

Value RankBuilder::peer(Value pipe, Value of, unsigned part) {
  TypeRange types(cast<warp::PipeType>(pipe.getType()).getElements());
  return warp::PeerOp::create(b, loc, types, pipe, of).getMemory()[part];
}

void RankBuilder::releaseAll(Value pipe, Value alive) {
  forRanks(false, [&](Value r) { warp::PeerReleaseOp::create(b, loc, pipe, r, alive); });
}
void RankBuilder::commitAll(Value pipe, Value alive) {
  forRanks(false, [&](Value r) { warp::PeerCommitOp::create(b, loc, pipe, r, alive); });
}
Value RankBuilder::acquireAll(Value pipe, Value alive) {
  return fold(peers, alive, [&](Value i, Value flag) -> Value {
    Value r = warp::NthPeerOp::create(b, loc, b.getI64Type(), i);
    return warp::PeerAcquireOp::create(b, loc, b.getI1Type(), pipe, r, flag);
  });
}
Value RankBuilder::waitAll(Value pipe, Value alive) {
  return fold(peers, alive, [&](Value i, Value flag) -> Value {
    Value r = warp::NthPeerOp::create(b, loc, b.getI64Type(), i);
    return warp::PeerWaitOp::create(b, loc, b.getI1Type(), pipe, r, flag);
  });
}

void RankBuilder::transfer(Value from, Value fromOffset, Value to, Value toOffset, Value count,
                           int64_t unit) {
  bool bulk = !fromOffset || !toOffset; // a tile has none
  warp::TransferOp::create(b, loc, from, fromOffset, to, toOffset, count,
                           bulk ? warp::Engine::Bulk : warp::Engine::Threads,
                           bulk   ? 1
                           : unit ? unit
                                  : width(),
                           bulk ? form.schedule.keep : warp::Keep::Normal);
}

Value RankBuilder::hasExpert(unsigned ids, Value token, Value of, int64_t experts) {
  return warp::HasExpertOp::create(b, loc, b.getI1Type(), argument(ids), token, of, experts);
}

void RankBuilder::constrain(const spec::Size &rowSize, Type type, ArrayRef<unsigned> aligned) {
  if (!form.aligned)
    return;
  SmallVector<Attribute> constraints;
  auto text = [&](StringRef t) { return Attribute(b.getStringAttr(t)); };
  auto field = [&](StringRef key, Attribute value) { return b.getNamedAttr(key, value); };
  constraints.push_back(b.getDictionaryAttr(
      {field("kind", text("multiple_of")),
       field("expr", b.getArrayAttr({interface.integer(bytesOf(type)), interface.sizeAttr(rowSize),
                                     text("mul")})),
       field("value", interface.integer(16)), field("what", text("bytes of a row"))}));
  for (unsigned arg : aligned)
    constraints.push_back(b.getDictionaryAttr(
        {field("kind", text("pointer_alignment")), field("arg", interface.integer(arg)),
         field("value", interface.integer(16)),
         field("what", text("address of " + interface.name(arg)))}));
  kernel->setAttr("heddle.constraints", b.getArrayAttr(constraints));
}

//===----------------------------------------------------------------------===//
// The reference program
//===----------------------------------------------------------------------===//

unsigned constantNode(Interface &i, int64_t value) {
  return i.node("constant", {{"value", i.b.getF64FloatAttr(static_cast<double>(value))}});
}
unsigned indexNode(Interface &i, int64_t dim) {
  return i.node("index", {{"index_map", i.integers({dim})}});
}
unsigned binaryNode(Interface &i, StringRef op, unsigned x, unsigned y) {
  return i.node(op, {{"inputs", i.integers({x, y})}});
}
unsigned gatherNode(Interface &i, unsigned arg, unsigned rank, ArrayRef<unsigned> indices) {
  SmallVector<int64_t> inputs{rank};
  inputs.append(indices.begin(), indices.end());
  return i.node("gather", {{"arg", i.integer(arg)}, {"inputs", i.integers(inputs)}});
}

unsigned hasExpertNode(Interface &i, unsigned ids, int64_t top, int64_t experts, unsigned from,
                       unsigned token, unsigned to) {
  unsigned each = constantNode(i, experts), any = constantNode(i, 0);
  for (int64_t j = 0; j < top; ++j) {
    unsigned id = gatherNode(i, ids, from, {token, constantNode(i, j)});
    unsigned owner = binaryNode(i, "floor_div", id, each);
    any = binaryNode(i, "max", any, binaryNode(i, "cmp_eq", owner, to));
  }
  return any;
}

} // namespace heddle::kernels
