//===- CombineKind.cpp - what the experts' ranks made of a token, summed ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In: a heddle.kernel with one heddle.combine of arguments, whose result is the kernel's.
// Out: a warp.kernel for each form. A rank reads the rows of its tokens where they are:
//
//   load  for each of this channel's tokens, in the order of the ranks, a piece of the row of
//         every rank that has an expert of it, into shared memory (form bulk)
//   sum   adds them up in f32, rounds once, stores; reads the ranks' memory itself in the
//         other forms
//
// Cannot: weigh rows, which the experts' ranks have done.
//
//===----------------------------------------------------------------------===//
#include "../RankBuilder.h"

using namespace mlir;

namespace heddle::kernels {
namespace {

struct CombineSpec {
  spec::CombineOp op;
  unsigned rows = 0, ids = 0, out = 0;
  int64_t top = 0, experts = 0;
};

class CombineBuilder : RankBuilder {
public:
  CombineBuilder(OpBuilder &b, Interface &interface, const BuildOptions &options,
                 const RowForm &form, const CombineSpec &s)
      : RankBuilder(b, interface, options, form, s.op->getLoc()), s(s) {}
  warp::KernelOp build();

private:
  Value slot(Value token, Value offset) {
    return add(mul(add(mul(rank, tokens), token), row), offset);
  }
  Value read(Value token, Value from, Value count) {
    return select(hasExpert(s.ids, token, from, s.experts), count, zero);
  }
  void load();
  void sum();

  const CombineSpec &s;
  Value ready, pieces;
};

} // namespace

static FailureOr<CombineSpec> analyze(spec::KernelOp kernel, Interface &interface) {
  CombineSpec s;
  if (failed(soleOp(kernel, s.op)))
    return failure();
  auto ids = cast<RankedTensorType>(s.op.getIds().getType());
  s.top = ids.getDimSize(1), s.experts = s.op.getExperts();
  SmallVector<unsigned> in, out;
  if (failed(interface.arguments(s.op, {"rows", "ids"}, in)) ||
      failed(interface.results(s.op, {"the sums"}, out)))
    return failure();
  s.rows = in[0], s.ids = in[1], s.out = out[0];
  return s;
}

static DictionaryAttr describe(const CombineSpec &s, Interface &i) {
  unsigned token = indexNode(i, 0), col = indexNode(i, 1), from = indexNode(i, 2);
  unsigned me = i.node("rank", {});
  unsigned went = hasExpertNode(i, s.ids, s.top, s.experts, me, token, from);
  unsigned y = gatherNode(i, s.rows, from, {me, token, col});
  unsigned part = i.node("select", {{"inputs", i.integers({went, y, constantNode(i, 0)})}});
  unsigned sum = i.node("contract", {{"inputs", i.integers({part, constantNode(i, 1)})},
                                     {"extent", i.b.getArrayAttr({i.b.getStringAttr("world")})}});
  std::string dtype;
  llvm::raw_string_ostream(dtype) << i.type(s.out).getElementType();
  i.output(s.out,
           i.node("round", {{"inputs", i.integers({sum})}, {"dtype", i.b.getStringAttr(dtype)}}));
  return i.build({});
}

/// After a failed wait the rank reads its own memory instead, so that the network goes on.
void CombineBuilder::load() {
  stage("load", 1, [&] {
    commitAll(ready, yes());
    Value alive = waitAll(ready, yes());
    forTokens([&](Value token) {
      forPieces([&](Value offset, Value count) {
        loop(zero, world, one, [&](Value r) {
          Value tile = warp::AcquireOp::create(b, loc, pieces).getSlots()[0];
          transfer(peer(ready, select(alive, r, rank)), slot(token, offset), tile, Value(),
                   read(token, r, count));
          warp::CommitOp::create(b, loc, pieces, ValueRange());
        });
      });
    });
  });
}

void CombineBuilder::sum() {
  auto spread = warp::SpreadType::get(b.getContext(), piece, width());
  stage("sum", form.schedule.warps, [&] {
    Value alive = yes();
    if (!form.bulk) {
      commitAll(ready, alive);
      alive = waitAll(ready, alive);
    }
    forTokens([&](Value token) {
      forPieces([&](Value offset, Value count) {
        Value none = warp::SpreadZeroOp::create(b, loc, spread);
        Value sum = fold(world, none, [&](Value r, Value old) -> Value {
          Value some = read(token, r, count);
          if (!form.bulk)
            return warp::SpreadAddOp::create(b, loc, spread, peer(ready, select(alive, r, rank)),
                                             slot(token, offset), some, old);
          Value tile = take(pieces);
          Value next = warp::SpreadAddOp::create(b, loc, spread, tile, Value(), some, old);
          give(pieces);
          return next;
        });
        warp::SpreadStoreOp::create(b, loc, sum, argument(s.out), add(mul(token, row), offset),
                                    count);
      });
    });
    releaseAll(ready, alive);
    acquireAll(ready, alive);
  });
}

warp::KernelOp CombineBuilder::build() {
  const spec::Size &size = interface.size(s.out, 1);
  setRows(s.out, 0, size);
  ready = peerPipe("ready", warp::Flow::Pull, {s.rows});
  constrain(size, element, {s.rows, s.out});
  if (form.bulk) {
    pieces = piecePipe("pieces");
    load();
  }
  sum();
  return kernel;
}

static LogicalResult build(OpBuilder &builder, spec::KernelOp kernel, const BuildOptions &options) {
  FailureOr<Interface> interface = Interface::of(kernel);
  if (failed(interface))
    return failure();
  FailureOr<CombineSpec> s = analyze(kernel, *interface);
  if (failed(s))
    return failure();
  interface->symmetric(s->rows);
  DictionaryAttr described = describe(*s, *interface);
  auto make = [&](const RowForm &form) {
    return CombineBuilder(builder, *interface, options, form, *s).build();
  };
  return buildRowForms(builder, kernel, options, interface->size(s->out, 1),
                       interface->type(s->out).getElementType(), described, make);
}

const KernelKind combineKind = {
    "combine",
    [](spec::KernelOp kernel) {
      return !kernel.getBody().front().getOps<spec::CombineOp>().empty();
    },
    build};

} // namespace heddle::kernels
