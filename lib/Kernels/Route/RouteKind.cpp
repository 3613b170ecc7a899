//===- RouteKind.cpp - the experts of each token ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In: a heddle.kernel with one heddle.route of arguments, whose results are the kernel's.
// Out: a warp.kernel with one stage, in which each warp takes a row at a time.
// Cannot: work on scores before, or on ids and weights after, the choice.
//
//===----------------------------------------------------------------------===//
#include "../Interface.h"
#include "heddle/Kernels/Kind.h"

using namespace mlir;

namespace heddle::kernels {
namespace {

struct RouteSpec {
  spec::RouteOp op;
  unsigned scores = 0, ids = 0, weights = 0;
  int64_t bias = -1; ///< -1: none
};

} // namespace

static FailureOr<RouteSpec> analyze(spec::KernelOp kernel, Interface &interface) {
  RouteSpec s;
  Operation *end = kernel.getBody().front().getTerminator();
  for (Operation &op : kernel.getBody().front()) {
    auto route = dyn_cast<spec::RouteOp>(op);
    if (!route && &op != end)
      return op.emitError("expected nothing but heddle.route in its kernel, got ") << op.getName();
    if (route && s.op)
      return route.emitError("expected one heddle.route in a kernel, got another");
    if (route)
      s.op = route;
  }
  if (kernel.getResultTypes().size() != 2)
    return kernel.emitError("expected a kernel with the results ids and weights, got ")
           << kernel.getResultTypes().size() << " results";
  if (kernel.getSchedule())
    return kernel.emitError("expected no schedule: kernels with heddle.route have none");
  FailureOr<unsigned> scores = interface.argument(s.op, s.op.getScores(), "scores");
  FailureOr<unsigned> ids = interface.result(s.op, s.op.getIds(), "ids");
  FailureOr<unsigned> weights = interface.result(s.op, s.op.getWeights(), "weights");
  if (failed(scores) || failed(ids) || failed(weights))
    return failure();
  s.scores = *scores, s.ids = *ids, s.weights = *weights;
  if (!s.op.getBias())
    return s;
  FailureOr<unsigned> bias = interface.argument(s.op, s.op.getBias(), "bias");
  if (failed(bias))
    return failure();
  s.bias = *bias;
  return s;
}

static DictionaryAttr describe(const RouteSpec &s, Interface &i) {
  spec::RouteOp op = s.op;
  Builder &b = i.b;
  auto field = [&](StringRef key, Attribute value) { return b.getNamedAttr(key, value); };
  SmallVector<NamedAttribute> rule{field("bias", i.integer(s.bias)),
                                   field("top", i.integer(op.getTop())),
                                   field("groups", i.integer(op.getGroups().value_or(1))),
                                   field("keep", i.integer(op.getKeep().value_or(1)))};
  if (op.getGate() == spec::Gate::Sigmoid)
    rule.push_back(field("sigmoid", b.getUnitAttr()));
  if (op.getNormalise())
    rule.push_back(field("normalise", b.getUnitAttr()));
  if (op.getScale())
    rule.push_back(field("scale", b.getF64FloatAttr(op.getScale()->convertToFloat())));
  for (auto [arg, name] : {std::pair(s.ids, "route_id"), std::pair(s.weights, "route_weight")})
    i.output(arg, i.node(name, {{"arg", i.integer(s.scores)},
                                {"index_map", i.integers({0, 1})},
                                {"route", b.getDictionaryAttr(rule)}}));
  return i.build(
      {i.sizeAttr(i.size(s.scores, 0)), i.sizeAttr(i.size(s.scores, 1)), b.getStringAttr("mul")});
}

constexpr int64_t warps = 4;

static LogicalResult build(OpBuilder &builder, spec::KernelOp kernel, const BuildOptions &options) {
  if (failed(checkForm(kernel, options, {"rows"})))
    return failure();
  FailureOr<Interface> interface = Interface::of(kernel);
  if (failed(interface))
    return failure();
  FailureOr<RouteSpec> s = analyze(kernel, *interface);
  if (failed(s))
    return failure();
  spec::RouteOp op = s->op;
  Location loc = op.getLoc();
  OpBuilder::InsertionGuard guard(builder);
  warp::KernelOp made = interface->makeKernel(builder, options.target);
  auto argument = [&](unsigned i) { return made.getBody().getArgument(i); };
  auto index = [&](int64_t v) { return arith::ConstantIndexOp::create(builder, loc, v); };
  Value tokens = memref::DimOp::create(builder, loc, argument(s->scores), index(0));
  Value rows = index(warps), one = index(1);
  Value tiles = arith::CeilDivUIOp::create(builder, loc, tokens, rows);
  Value stream =
      warp::WorkStreamOp::create(builder, loc, warp::StreamType::get(kernel.getContext()), tiles,
                                 one, one, 1, DenseI64ArrayAttr(), Value());
  auto stage = warp::StageOp::create(builder, loc, "route", builder.getI64IntegerAttr(warps));
  builder.setInsertionPointToStart(&stage.getBody().emplaceBlock());
  auto loop = warp::ForEachOp::create(builder, loc, stream);
  Block &body = loop.getBody().emplaceBlock();
  body.addArguments({builder.getIndexType(), builder.getIndexType(), builder.getIndexType()},
                    {loc, loc, loc});
  builder.setInsertionPointToStart(&body);
  Value first = arith::MulIOp::create(builder, loc, body.getArgument(0), rows);
  auto route = warp::RouteOp::create(builder, loc, argument(s->scores), first,
                                     s->bias < 0 ? Value() : argument(s->bias), argument(s->ids),
                                     argument(s->weights), op.getTop(), op.getGroups().value_or(1),
                                     op.getKeep().value_or(1), op.getGate() == spec::Gate::Sigmoid,
                                     op.getNormalise(), op.getScaleAttr());
  (void)route;
  // Registers grow with the scores of a lane; what they leave room for hides latency.
  int64_t scores = (interface->type(s->scores).getDimSize(1) + 31) / 32;
  made->setAttr("ctas_per_sm", builder.getI64IntegerAttr(scores <= 16 ? 4 : 1));
  made->setAttr("heddle.interface", describe(*s, *interface));
  made->setAttr("heddle.variant", builder.getStringAttr("rows"));
  return success();
}

const KernelKind routeKind = {
    "route",
    [](spec::KernelOp kernel) { return !kernel.getBody().front().getOps<spec::RouteOp>().empty(); },
    build};

} // namespace heddle::kernels
