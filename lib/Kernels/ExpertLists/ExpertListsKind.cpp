//===- ExpertListsKind.cpp - which rows each expert has ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In: a heddle.kernel with one heddle.expert_lists of an argument, whose results are the kernel's.
// Out: a warp.kernel with one stage; a CTA takes an expert at a time. Each goes through all ids:
// they are few beside the rows, and no CTA waits for another.
//
//===----------------------------------------------------------------------===//
#include "../RankBuilder.h"

using namespace mlir;

namespace heddle::kernels {

static DictionaryAttr describe(Interface &i, unsigned ids, unsigned offsets, unsigned list,
                               int64_t experts) {
  auto fields = [&](ArrayRef<int64_t> dims) {
    return SmallVector<Interface::Field>{
        {"arg", i.integer(ids)},
        {"index_map", i.integers(dims)},
        {"value", i.b.getF64FloatAttr(static_cast<double>(experts))}};
  };
  i.output(offsets, i.node("expert_offset", fields({0})));
  i.output(list, i.node("expert_entry", fields({0, 1, 2})));
  SmallVector<Attribute> count{i.sizeAttr(i.size(ids, 0))};
  for (unsigned d = 1; d < 3; ++d) {
    count.push_back(i.sizeAttr(i.size(ids, d)));
    count.push_back(i.b.getStringAttr("mul"));
  }
  i.constrain("at_most", count, INT32_MAX, "number of ids");
  return i.build({});
}

static LogicalResult build(OpBuilder &builder, spec::KernelOp kernel, const BuildOptions &options) {
  if (failed(checkForm(kernel, options, {"lists"})))
    return failure();
  FailureOr<Interface> interface = Interface::of(kernel);
  if (failed(interface))
    return failure();
  spec::ExpertListsOp op;
  SmallVector<unsigned> in, out;
  if (failed(soleOp(kernel, op)) || failed(interface->arguments(op, {"ids"}, in)) ||
      failed(interface->results(op, {"offsets", "the list"}, out)))
    return failure();
  if (kernel.getSchedule())
    return kernel.emitError("expected no schedule: kernels with heddle.expert_lists have none");
  constexpr int64_t warps = 32, mostCtas = 64;
  Location loc = op.getLoc();
  int64_t experts = op.getExperts();
  OpBuilder::InsertionGuard guard(builder);
  warp::KernelOp made = interface->makeKernel(builder, options.target);
  made->setAttr("comm_schedule", warp::CommScheduleAttr::get(
                                     builder.getContext(), std::min(experts, mostCtas), warps,
                                     /*chunk=*/0, /*stages=*/0, warp::Keep::Normal));
  auto argument = [&](unsigned i) { return made.getBody().getArgument(i); };
  Value rank = warp::RankOp::create(builder, loc, builder.getI64Type());
  Value items = arith::ConstantIndexOp::create(builder, loc, experts);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value stream =
      warp::WorkStreamOp::create(builder, loc, warp::StreamType::get(kernel.getContext()), items,
                                 one, one, 1, DenseI64ArrayAttr(), Value());
  auto stage = warp::StageOp::create(builder, loc, "list", builder.getI64IntegerAttr(warps));
  builder.setInsertionPointToStart(&stage.getBody().emplaceBlock());
  auto loop = warp::ForEachOp::create(builder, loc, stream);
  Block &body = loop.getBody().emplaceBlock();
  body.addArguments({builder.getIndexType(), builder.getIndexType(), builder.getIndexType()},
                    {loc, loc, loc});
  builder.setInsertionPointToStart(&body);
  warp::ListExpertsOp::create(builder, loc, argument(in[0]), rank, body.getArgument(0),
                              argument(out[0]), argument(out[1]), experts);
  made->setAttr("heddle.interface", describe(*interface, in[0], out[0], out[1], experts));
  made->setAttr("heddle.variant", builder.getStringAttr("lists"));
  return success();
}

const KernelKind expertListsKind = {
    "expert_lists",
    [](spec::KernelOp kernel) {
      return !kernel.getBody().front().getOps<spec::ExpertListsOp>().empty();
    },
    build};

} // namespace heddle::kernels
