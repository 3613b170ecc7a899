//===- CollectiveSpec.cpp - what a collective kernel asks for ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "heddle/Kernels/Collective.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace heddle::kernels {

static std::optional<Collective> collectiveOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Collective>>(op)
      .Case<spec::AllGatherOp>([](auto) { return Collective::AllGather; })
      .Case<spec::AllToAllOp>([](auto) { return Collective::AllToAll; })
      .Case<spec::ReduceScatterOp>([](auto) { return Collective::ReduceScatter; })
      .Case<spec::AllReduceOp>([](auto) { return Collective::AllReduce; })
      .Case<spec::RankBroadcastOp>([](auto) { return Collective::Broadcast; })
      .Case<spec::BarrierOp>([](auto) { return Collective::Barrier; })
      .Default([](Operation *) { return std::nullopt; });
}

ArrayRef<const spec::Size *> CollectiveSpec::part() const {
  switch (what) {
  case Collective::AllToAll:
    return ArrayRef(tensors[0].sizes).drop_front();
  case Collective::ReduceScatter:
    return tensors[1].sizes;
  default:
    return tensors[0].sizes;
  }
}

/// One collective with arguments as operands, its result returned.
static FailureOr<Operation *> findOp(spec::KernelOp kernel) {
  Operation *found = nullptr;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (found || !collectiveOf(&op))
      return op.emitError("expected nothing beside one collective operation in a kernel of "
                          "several ranks, got ")
             << op.getName();
    found = &op;
  }
  Operation *end = kernel.getBody().front().getTerminator();
  for (Value operand : found->getOperands())
    if (!isa<BlockArgument>(operand))
      return found->emitError("expected an argument of the kernel as operand");
  if (end->getOperands() != found->getResults())
    return end->emitError("expected the result of ") << found->getName() << " to be returned";
  if (kernel.getArguments().size() != found->getNumOperands())
    return kernel.emitError("expected ")
           << found->getNumOperands() << " arguments, those of " << found->getName() << ", got "
           << kernel.getArguments().size();
  return found;
}

static LogicalResult addTensors(CollectiveSpec &s) {
  spec::KernelOp kernel = s.kernel;
  if (s.what == Collective::Barrier)
    return success();
  if (kernel.getArgStrides(0) || kernel.getResultStrides(0))
    return kernel.emitError("expected contiguous tensors, got heddle.layout");
  bool pulls = s.sums(), pushes = s.what != Collective::ReduceScatter;
  auto type = [](Type t) { return cast<RankedTensorType>(t); };
  CollectiveTensor x{kernel.getArgName(0), type(kernel.getArgumentTypes()[0]), {}, pulls};
  CollectiveTensor d{kernel.getResultName(0), type(kernel.getResultTypes()[0]), {}, pushes};
  for (int64_t i = 0; i < x.type.getRank(); ++i)
    x.sizes.push_back(&s.shapes.of(kernel.getArgument(0), i));
  for (int64_t i = 0; i < d.type.getRank(); ++i)
    d.sizes.push_back(&s.shapes.ofResult(0, i));
  s.tensors = {x, d};
  return success();
}

FailureOr<CollectiveSpec> analyzeCollective(spec::KernelOp kernel) {
  FailureOr<Operation *> op = findOp(kernel);
  if (failed(op))
    return failure();
  FailureOr<spec::KernelShapes> shapes = spec::KernelShapes::infer(kernel);
  if (failed(shapes))
    return failure();
  CollectiveSpec s;
  s.kernel = kernel, s.op = *op, s.what = *collectiveOf(*op), s.shapes = std::move(*shapes);
  if (auto broadcast = dyn_cast<spec::RankBroadcastOp>(*op))
    s.root = broadcast.getRoot();
  if (failed(addTensors(s)))
    return failure();
  return s;
}

//===----------------------------------------------------------------------===//
// The kind
//===----------------------------------------------------------------------===//

static bool matches(spec::KernelOp kernel) {
  return llvm::any_of(kernel.getBody().front(),
                      [](Operation &op) { return collectiveOf(&op).has_value(); });
}

static LogicalResult build(OpBuilder &builder, spec::KernelOp kernel, const BuildOptions &options) {
  FailureOr<CollectiveSpec> spec = analyzeCollective(kernel);
  if (failed(spec))
    return failure();
  auto variants = scheduleCollective(*spec, options.target, options.schedule);
  if (failed(variants))
    return failure();
  SmallVector<StringRef> names;
  for (const CollectiveVariant &variant : *variants)
    names.push_back(variant.name);
  if (failed(checkForm(kernel, options, names)))
    return failure();
  DictionaryAttr interface = collectiveInterface(*spec);
  for (const CollectiveVariant &variant : *variants) {
    if (!isWanted(options, variant.name))
      continue;
    warp::KernelOp made = buildCollective(builder, *spec, options.target, variant);
    made->setAttr("heddle.interface", interface);
    made->setAttr("heddle.variant", builder.getStringAttr(variant.name));
  }
  return success();
}

const KernelKind collectiveKind = {"collective", matches, build};

} // namespace heddle::kernels
