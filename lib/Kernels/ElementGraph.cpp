//===- ElementGraph.cpp - element-wise work, one element at a time ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "heddle/Kernels/ElementGraph.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <map>
#include <numeric>

using namespace mlir;

namespace heddle::kernels {

/// More operations than this are a mistake, or an attack on the compiler's stack.
constexpr size_t mostOperations = 1000;

namespace {

struct Known {
  StringRef op, reference;
  bool exact; ///< the result needs no rounding when the inputs are narrow
};
constexpr Known knownOps[] = {
    {"arith.addf", "add", false},   {"arith.subf", "sub", false},
    {"arith.mulf", "mul", false},   {"arith.divf", "div", false},
    {"arith.negf", "neg", true},    {"arith.maximumf", "max", true},
    {"arith.maxnumf", "max", true}, {"arith.minimumf", "min", true},
    {"arith.minnumf", "min", true}, {"math.exp", "exp", false},
    {"math.exp2", "exp2", false},   {"math.log", "log", false},
    {"math.tanh", "tanh", false},   {"math.erf", "erf", false},
    {"math.sqrt", "sqrt", false},   {"math.rsqrt", "rsqrt", false},
    {"math.absf", "abs", true},     {"math.floor", "floor", true},
    {"math.fma", "fma", false},
};

const Known *findOp(StringRef name) {
  const Known *it = llvm::find_if(knownOps, [&](const Known &k) { return k.op == name; });
  return it == std::end(knownOps) ? nullptr : it;
}

/// Walks from the result back to the arguments. A value is evaluated at a point: its
/// dimension i is indexed by output dimension map[i].
class Builder {
public:
  Builder(ElementGraph &graph, spec::GemmOp product) : graph(graph), product(product) {}
  using Map = SmallVector<int64_t>;
  FailureOr<unsigned> value(Value v, const Map &map);

private:
  using Kind = ElementNode::Kind;
  FailureOr<unsigned> make(Value v, const Map &map);
  FailureOr<unsigned> argument(BlockArgument arg, const Map &map);
  FailureOr<unsigned> constant(arith::ConstantOp op);
  FailureOr<unsigned> compare(arith::CmpFOp op, const Map &map);
  FailureOr<unsigned> activation(Operation *op, unsigned x);
  FailureOr<unsigned> gemm(spec::GemmOp op, const Map &map);
  /// `op`'s operand `i` at the point; scalars have no dimensions.
  FailureOr<unsigned> operand(Operation *op, unsigned i, const Map &map) {
    Value v = op->getOperand(i);
    return value(v, isa<RankedTensorType>(v.getType()) ? map : Map());
  }

  unsigned add(ElementNode node) {
    graph.nodes.push_back(std::move(node));
    return graph.nodes.size() - 1;
  }
  unsigned number(Location loc, double x) {
    ElementNode node{Kind::Constant, loc};
    node.value = x;
    return add(node);
  }
  unsigned compute(Location loc, StringRef name, ArrayRef<unsigned> inputs) {
    ElementNode node{Kind::Compute, loc};
    node.op = name, node.reference = findOp(name)->reference;
    node.inputs.assign(inputs.begin(), inputs.end());
    return add(node);
  }
  /// Rounds to the element type of `type` unless it is f32.
  unsigned round(Location loc, unsigned x, Type type) {
    Type element = getElementTypeOrSelf(type);
    if (element.isF32())
      return x;
    ElementNode node{Kind::Round, loc};
    node.inputs = {x}, node.type = element;
    return add(node);
  }

  ElementGraph &graph;
  spec::GemmOp product;
  std::map<std::pair<const void *, std::vector<int64_t>>, unsigned> done;
};

} // namespace

FailureOr<unsigned> Builder::value(Value v, const Map &map) {
  auto key = std::pair(v.getAsOpaquePointer(), std::vector<int64_t>(map.begin(), map.end()));
  if (auto it = done.find(key); it != done.end())
    return it->second;
  FailureOr<unsigned> id = make(v, map);
  if (succeeded(id))
    done[key] = *id;
  return id;
}

FailureOr<unsigned> Builder::argument(BlockArgument arg, const Map &map) {
  Type element = getElementTypeOrSelf(arg.getType());
  if (!isa<Float32Type, Float16Type, BFloat16Type>(element))
    return mlir::emitError(arg.getLoc())
           << "unsupported type in an epilogue: expected f32, f16 or bf16, got " << element;
  bool scalar = !isa<RankedTensorType>(arg.getType());
  ElementNode node{scalar ? Kind::Scalar : Kind::Load, arg.getLoc()};
  node.arg = arg.getArgNumber();
  node.indexMap = map;
  node.type = element;
  return add(node);
}

FailureOr<unsigned> Builder::constant(arith::ConstantOp op) {
  Attribute value = op.getValue();
  if (auto dense = dyn_cast<DenseFPElementsAttr>(value)) {
    if (!dense.isSplat())
      return op.emitError("expected a constant with one value everywhere; pass other tensors as "
                          "arguments of the kernel");
    return number(op.getLoc(), dense.getSplatValue<APFloat>().convertToDouble());
  }
  if (auto number_ = dyn_cast<FloatAttr>(value))
    return number(op.getLoc(), number_.getValueAsDouble());
  return op.emitError("expected a constant of floating-point type, got ") << op.getType();
}

FailureOr<unsigned> Builder::compare(arith::CmpFOp op, const Map &map) {
  using P = arith::CmpFPredicate;
  ElementNode node{Kind::Compare, op.getLoc()};
  static const std::pair<P, StringRef> names[] = {{P::OLT, "cmp_lt"}, {P::OLE, "cmp_le"},
                                                  {P::OGT, "cmp_gt"}, {P::OGE, "cmp_ge"},
                                                  {P::OEQ, "cmp_eq"}, {P::UNE, "cmp_ne"}};
  const auto *it = llvm::find_if(names, [&](auto &n) { return n.first == op.getPredicate(); });
  if (it == std::end(names))
    return op.emitError("expected a comparison olt, ole, ogt, oge, oeq or une, got ")
           << arith::stringifyCmpFPredicate(op.getPredicate());
  for (unsigned i : {0, 1}) {
    FailureOr<unsigned> x = operand(op, i, map);
    if (failed(x))
      return failure();
    node.inputs.push_back(*x);
  }
  node.predicate = op.getPredicate(), node.reference = it->second;
  return add(node);
}

FailureOr<unsigned> Builder::activation(Operation *op, unsigned x) {
  Location loc = op->getLoc();
  if (isa<spec::ReluOp>(op))
    return compute(loc, "arith.maximumf", {x, number(loc, 0)});
  if (isa<spec::SiluOp>(op)) {
    unsigned one = number(loc, 1);
    unsigned e = compute(loc, "math.exp", {compute(loc, "arith.negf", {x})});
    unsigned result = compute(loc, "arith.divf", {x, compute(loc, "arith.addf", {e, one})});
    graph.nodes[result].approximate = true;
    return result;
  }
  unsigned inner;
  if (cast<spec::GeluOp>(op).getForm() == spec::GeluForm::Erf) {
    inner = compute(loc, "math.erf",
                    {compute(loc, "arith.mulf", {x, number(loc, 1 / std::sqrt(2.0))})});
  } else {
    unsigned square = compute(loc, "arith.mulf", {x, x});
    unsigned cubic = compute(loc, "math.fma", {square, number(loc, 0.044715), number(loc, 1)});
    unsigned scaled = compute(loc, "arith.mulf", {x, number(loc, std::sqrt(2 / M_PI))});
    inner = compute(loc, "math.tanh", {compute(loc, "arith.mulf", {scaled, cubic})});
  }
  unsigned half = compute(loc, "arith.mulf", {x, number(loc, 0.5)});
  return compute(loc, "math.fma", {half, inner, half});
}

FailureOr<unsigned> Builder::gemm(spec::GemmOp op, const Map &map) {
  Map identity(cast<RankedTensorType>(op.getResult().getType()).getRank());
  std::iota(identity.begin(), identity.end(), 0);
  if (op != product || map != identity)
    return op.emitError("expected the product to be used element by element in the result");
  ElementNode node{Kind::Product, op.getLoc()};
  return round(op.getLoc(), add(node), op.getResult().getType());
}

FailureOr<unsigned> Builder::make(Value v, const Map &map) {
  if (auto arg = dyn_cast<BlockArgument>(v))
    return argument(arg, map);
  Operation *op = v.getDefiningOp();
  if (graph.nodes.size() > mostOperations)
    return op->emitError("expected at most ") << mostOperations << " element-wise operations";
  Type element = getElementTypeOrSelf(v.getType());
  // Rounding to 8 bits may only come last.
  bool last = isa<arith::TruncFOp>(op) && llvm::all_of(v.getUsers(), [](Operation *user) {
                return isa<spec::ReturnOp>(user);
              });
  bool narrow = last && isa<Float8E4M3FNType, Float8E5M2Type>(element);
  if (!isa<Float32Type, Float16Type, BFloat16Type>(element) && !element.isInteger(1) && !narrow)
    return op->emitError("unsupported type in an epilogue: expected f32, f16 or bf16, got ")
           << element;
  if (auto gemmOp = dyn_cast<spec::GemmOp>(op))
    return gemm(gemmOp, map);
  if (auto constantOp = dyn_cast<arith::ConstantOp>(op))
    return constant(constantOp);
  if (isa<spec::SplatOp>(op))
    return value(op->getOperand(0), {});
  if (auto broadcast = dyn_cast<spec::BroadcastOp>(op)) {
    Map inner;
    for (int64_t dim : broadcast.getAlong())
      inner.push_back(map[dim]);
    return value(broadcast.getInput(), inner);
  }
  if (auto cmp = dyn_cast<arith::CmpFOp>(op))
    return compare(cmp, map);
  const Known *known = findOp(op->getName().getStringRef());
  if (!known && !isa<arith::ExtFOp, arith::TruncFOp, arith::SelectOp, spec::ReluOp, spec::SiluOp,
                     spec::GeluOp>(op)) {
    auto names = llvm::map_range(knownOps, [](const Known &k) { return k.op.str(); });
    return op->emitError("unsupported operation ")
           << op->getName() << " in an epilogue; expected " << llvm::join(names, ", ")
           << ", arith.cmpf, arith.select, arith.extf, arith.truncf or one of heddle";
  }
  SmallVector<unsigned> inputs;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    FailureOr<unsigned> x = operand(op, i, map);
    if (failed(x))
      return failure();
    inputs.push_back(*x);
  }
  Type type = op->getResult(0).getType();
  if (isa<arith::ExtFOp>(op))
    return inputs[0];
  if (isa<arith::TruncFOp>(op))
    return round(op->getLoc(), inputs[0], type);
  if (isa<arith::SelectOp>(op)) {
    ElementNode node{Kind::Select, op->getLoc()};
    node.inputs.assign(inputs.begin(), inputs.end());
    return add(node);
  }
  if (known) {
    unsigned result = compute(op->getLoc(), known->op, inputs);
    return known->exact ? result : round(op->getLoc(), result, type);
  }
  FailureOr<unsigned> result = activation(op, inputs[0]);
  return isa<spec::ReluOp>(op) ? result : FailureOr<unsigned>(round(op->getLoc(), *result, type));
}

FailureOr<ElementGraph> ElementGraph::build(Value result, spec::GemmOp product) {
  ElementGraph graph;
  SmallVector<int64_t> identity(cast<RankedTensorType>(result.getType()).getRank());
  std::iota(identity.begin(), identity.end(), 0);
  FailureOr<unsigned> root = Builder(graph, product).value(result, identity);
  if (failed(root))
    return failure();
  graph.root = *root;
  if (llvm::none_of(graph.nodes,
                    [](const ElementNode &n) { return n.kind == ElementNode::Kind::Product; }))
    return product.emitError("expected the result of the kernel to be computed from the product");
  return graph;
}

SmallVector<unsigned> ElementGraph::fullRankArgs() const {
  SmallVector<unsigned> args;
  for (const ElementNode &node : nodes)
    if (node.kind == ElementNode::Kind::Load && node.indexMap.size() >= 2)
      args.push_back(node.arg);
  return args;
}

} // namespace heddle::kernels
