//===- DispatchKind.cpp - tokens to the ranks of their experts ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In: a heddle.kernel with one heddle.dispatch of arguments, whose results are the kernel's.
// Out: a warp.kernel for each form. Every rank has a slot for each token of each rank, so that
// a row's place depends on nobody else and no counts are exchanged first:
//
//   load     rows of this channel's tokens, piece by piece, into shared memory (form bulk)
//   send     each piece from there to every rank that has an expert of the token, itself last
//   copy     in place of both: all threads, from memory to memory (other forms)
//   choices  ids and weights of all tokens to all ranks
//
// Cannot: quantise; leave out the copy of rows that stay.
//
//===----------------------------------------------------------------------===//
#include "../RankBuilder.h"

using namespace mlir;

namespace heddle::kernels {
namespace {

struct DispatchSpec {
  spec::DispatchOp op;
  unsigned x = 0, ids = 0, weights = 0, rows = 0, rowIds = 0, rowWeights = 0;
  int64_t top = 0, experts = 0;
};

class DispatchBuilder : RankBuilder {
public:
  DispatchBuilder(OpBuilder &b, Interface &interface, const BuildOptions &options,
                  const RowForm &form, const DispatchSpec &s)
      : RankBuilder(b, interface, options, form, s.op->getLoc()), s(s) {}
  warp::KernelOp build();

private:
  Value slot(Value token) { return mul(add(mul(rank, tokens), token), row); }
  Value sent(Value token, Value to, Value alive, Value count) {
    return select(both(alive, hasExpert(s.ids, token, to, s.experts)), count, zero);
  }
  void load();
  void send();
  void copy();
  void choices();

  const DispatchSpec &s;
  Value recv, meta, pieces;
};

} // namespace

static FailureOr<DispatchSpec> analyze(spec::KernelOp kernel, Interface &interface) {
  DispatchSpec s;
  if (failed(soleOp(kernel, s.op)))
    return failure();
  auto ids = cast<RankedTensorType>(s.op.getIds().getType());
  s.top = ids.getDimSize(1), s.experts = s.op.getExperts();
  SmallVector<unsigned> in, out;
  if (failed(interface.arguments(s.op, {"x", "ids", "weights"}, in)) ||
      failed(interface.results(s.op, {"rows", "the rows' ids", "the rows' weights"}, out)))
    return failure();
  s.x = in[0], s.ids = in[1], s.weights = in[2];
  s.rows = out[0], s.rowIds = out[1], s.rowWeights = out[2];
  return s;
}

/// Rows that nobody sends hold anything.
static DictionaryAttr describe(const DispatchSpec &s, Interface &i) {
  unsigned from = indexNode(i, 0), token = indexNode(i, 1), col = indexNode(i, 2);
  unsigned me = i.node("rank", {});
  unsigned comes = hasExpertNode(i, s.ids, s.top, s.experts, from, token, me);
  unsigned x = gatherNode(i, s.x, from, {token, col}), anything = i.node("anything", {});
  i.output(s.rows, i.node("select", {{"inputs", i.integers({comes, x, anything})}}));
  i.output(s.rowIds, gatherNode(i, s.ids, from, {token, col}));
  i.output(s.rowWeights, gatherNode(i, s.weights, from, {token, col}));
  return i.build({});
}

void DispatchBuilder::load() {
  stage("load", 1, [&] {
    forTokens([&](Value token) {
      forPieces([&](Value offset, Value count) {
        Value tile = warp::AcquireOp::create(b, loc, pieces).getSlots()[0];
        transfer(argument(s.x), add(mul(token, row), offset), tile, Value(), count);
        warp::CommitOp::create(b, loc, pieces, ValueRange());
      });
    });
  });
}

/// One thread: what it was allowed to write it announces after all of its writes.
void DispatchBuilder::send() {
  stage("send", 1, [&] {
    releaseAll(recv, yes());
    Value alive = acquireAll(recv, yes());
    forTokens([&](Value token) {
      forPieces([&](Value offset, Value count) {
        Value tile = take(pieces);
        forRanks(true, [&](Value r) {
          transfer(tile, Value(), peer(recv, r), add(slot(token), offset),
                   sent(token, r, alive, count));
        });
        give(pieces);
      });
    });
    commitAll(recv, alive);
    waitAll(recv, alive);
  });
}

void DispatchBuilder::copy() {
  stage("copy", form.schedule.warps, [&] {
    releaseAll(recv, yes());
    Value alive = acquireAll(recv, yes());
    forTokens([&](Value token) {
      forRanks(true, [&](Value r) {
        transfer(argument(s.x), mul(token, row), peer(recv, r), slot(token),
                 sent(token, r, alive, row));
      });
    });
    commitAll(recv, alive);
    waitAll(recv, alive);
  });
}

/// Ids and weights of a run of tokens are contiguous.
void DispatchBuilder::choices() {
  constexpr int64_t warps = 4;
  stage("choices", warps, [&] {
    releaseAll(meta, yes());
    Value alive = acquireAll(meta, yes());
    Value count = mul(sub(endToken, firstToken), number(s.top));
    Value from = mul(firstToken, number(s.top));
    Value to = mul(add(mul(rank, tokens), firstToken), number(s.top));
    int64_t unit = form.aligned && s.top % 4 == 0 ? 4 : 1;
    forRanks(true, [&](Value r) {
      Value moved = select(alive, count, zero);
      transfer(argument(s.ids), from, peer(meta, r, 0), to, moved, unit);
      transfer(argument(s.weights), from, peer(meta, r, 1), to, moved, unit);
    });
    commitAll(meta, alive);
    waitAll(meta, alive);
  });
}

warp::KernelOp DispatchBuilder::build() {
  const spec::Size &size = interface.size(s.x, 1);
  setRows(s.x, 0, size);
  recv = peerPipe("recv", warp::Flow::Push, {s.rows});
  meta = peerPipe("meta", warp::Flow::Push, {s.rowIds, s.rowWeights});
  constrain(size, element, {s.x, s.ids, s.weights, s.rows, s.rowIds, s.rowWeights});
  if (form.bulk) {
    pieces = piecePipe("pieces");
    load();
    send();
  } else {
    copy();
  }
  choices();
  return kernel;
}

static LogicalResult build(OpBuilder &builder, spec::KernelOp kernel, const BuildOptions &options) {
  FailureOr<Interface> interface = Interface::of(kernel);
  if (failed(interface))
    return failure();
  FailureOr<DispatchSpec> s = analyze(kernel, *interface);
  if (failed(s))
    return failure();
  for (unsigned arg : {s->rows, s->rowIds, s->rowWeights})
    interface->symmetric(arg);
  DictionaryAttr described = describe(*s, *interface);
  auto make = [&](const RowForm &form) {
    return DispatchBuilder(builder, *interface, options, form, *s).build();
  };
  return buildRowForms(builder, kernel, options, interface->size(s->x, 1),
                       interface->type(s->x).getElementType(), described, make);
}

const KernelKind dispatchKind = {
    "dispatch",
    [](spec::KernelOp kernel) {
      return !kernel.getBody().front().getOps<spec::DispatchOp>().empty();
    },
    build};

} // namespace heddle::kernels
