//===- Shapes.cpp - which dimensions of a kernel are one size ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/Heddle/IR/Shapes.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace heddle::spec {

/// Union-find over the dimensions of all tensors of a kernel.
class ShapeInference {
public:
  explicit ShapeInference(KernelOp kernel) : kernel(kernel) {}
  FailureOr<KernelShapes> run();

private:
  struct Dim {
    unsigned parent;
    int64_t size;
    std::string place, name;
    Location loc;
  };

  void addTensor(RankedTensorType type, Location loc, const std::string &what, Attribute names,
                 SmallVectorImpl<unsigned> &ids);
  void addValue(Value value);
  unsigned find(unsigned id) {
    while (dims[id].parent != id)
      id = dims[id].parent = dims[dims[id].parent].parent;
    return id;
  }
  LogicalResult unify(unsigned x, unsigned y, Location where);
  LogicalResult unify(Value x, unsigned dx, Value y, unsigned dy, Location where) {
    return unify(values[x][dx], values[y][dy], where);
  }
  LogicalResult unifyGemm(GemmOp gemm);
  LogicalResult unifyScales(GemmOp gemm);
  LogicalResult unifyRoute(RouteOp route);
  LogicalResult unifyDispatch(DispatchOp dispatch);
  LogicalResult unifyParts(Value whole, Value part, Location loc);
  LogicalResult unifyOp(Operation &op);
  LogicalResult unifyNames();
  void nameAfterGemm();
  KernelShapes collect();

  KernelOp kernel;
  std::vector<Dim> dims;
  llvm::DenseMap<Value, SmallVector<unsigned>> values;
  std::vector<SmallVector<unsigned>> results;
  std::optional<unsigned> ranks; ///< a dimension that is the number of ranks
};

static std::string sizeText(int64_t size) {
  return ShapedType::isDynamic(size) ? "?" : std::to_string(size);
}

void ShapeInference::addTensor(RankedTensorType type, Location loc, const std::string &what,
                               Attribute names, SmallVectorImpl<unsigned> &ids) {
  auto given = dyn_cast_or_null<ArrayAttr>(names);
  for (int64_t i = 0; i < type.getRank(); ++i) {
    unsigned id = dims.size();
    std::string name = given ? cast<StringAttr>(given[i]).str() : "";
    dims.push_back(
        {id, type.getDimSize(i), "dimension " + std::to_string(i) + " of " + what, name, loc});
    ids.push_back(id);
  }
}

void ShapeInference::addValue(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return;
  std::string what;
  Attribute names;
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    what = kernel.getArgName(arg.getArgNumber());
    names = kernel.getArgAttr(arg.getArgNumber(), "heddle.dims");
  } else {
    what = "the result of " + value.getDefiningOp()->getName().getStringRef().str();
  }
  addTensor(type, value.getLoc(), what, names, values[value]);
}

LogicalResult ShapeInference::unify(unsigned x, unsigned y, Location where) {
  unsigned rx = find(x), ry = find(y);
  if (rx == ry)
    return success();
  if (dims[rx].size != dims[ry].size) {
    InFlightDiagnostic error = mlir::emitError(where)
                               << "expected " << dims[x].place << " and " << dims[y].place
                               << " to agree, got " << sizeText(dims[x].size) << " and "
                               << sizeText(dims[y].size);
    if (ShapedType::isDynamic(dims[x].size) != ShapedType::isDynamic(dims[y].size))
      error << "; write both static or both as ?";
    error.attachNote(dims[x].loc) << dims[x].place << " is " << sizeText(dims[x].size);
    error.attachNote(dims[y].loc) << dims[y].place << " is " << sizeText(dims[y].size);
    return error;
  }
  if (!dims[rx].name.empty() && !dims[ry].name.empty() && dims[rx].name != dims[ry].name) {
    InFlightDiagnostic error = mlir::emitError(where) << "expected " << dims[x].place << " and "
                                                      << dims[y].place << " to have one name, got "
                                                      << dims[rx].name << " and " << dims[ry].name;
    error.attachNote(dims[rx].loc) << dims[rx].name << " is " << dims[rx].place;
    error.attachNote(dims[ry].loc) << dims[ry].name << " is " << dims[ry].place;
    return error;
  }
  auto [root, child] = std::minmax(rx, ry);
  if (dims[root].name.empty())
    dims[root].name = dims[child].name;
  dims[child].parent = root;
  return success();
}

LogicalResult ShapeInference::unifyGemm(GemmOp gemm) {
  Value a = gemm.getA(), b = gemm.getB(), d = gemm.getResult();
  unsigned lead = gemm.getDLead();
  Location loc = gemm.getLoc();
  // A batch, or groups: what has it before its matrix.
  for (auto [x, y, has] : {std::tuple(a, b, gemm.getALead() && gemm.getBLead()),
                           {a, d, gemm.getALead() && lead},
                           {b, d, gemm.getBLead() && lead}})
    if (has && failed(unify(x, 0, y, 0, loc)))
      return failure();
  if (failed(unify(a, gemm.getADimK(), b, gemm.getBDimK(), loc)) ||
      (gemm.getRows() ? failed(unify(gemm.getRows(), 0, d, lead, loc))
                      : failed(unify(a, gemm.getMDim(), d, lead, loc))) ||
      failed(unify(b, gemm.getNDim(), d, lead + 1, loc)))
    return failure();
  return gemm.hasScales() ? unifyScales(gemm) : success();
}

/// How many scales static sizes have is for the op to check.
LogicalResult ShapeInference::unifyScales(GemmOp gemm) {
  Location loc = gemm.getLoc();
  for (bool isA : {true, false}) {
    GemmOp::Scale scale = gemm.getScale(isA);
    Value operand = isA ? gemm.getA() : gemm.getB();
    if ((isA ? gemm.getALead() : gemm.getBLead()) && failed(unify(operand, 0, scale.tensor, 0, loc)))
      return failure();
    if (scale.blockRows == 1 && failed(unify(operand, isA ? gemm.getMDim() : gemm.getNDim(),
                                             scale.tensor, scale.rowDim, loc)))
      return failure();
  }
  return unify(gemm.getScaleA(), gemm.getScale(true).kDim, gemm.getScaleB(),
               gemm.getScale(false).kDim, loc);
}

/// Tokens, experts, and the chosen ones.
LogicalResult ShapeInference::unifyRoute(RouteOp route) {
  Value scores = route.getScores(), ids = route.getIds(), weights = route.getWeights();
  Location loc = route.getLoc();
  if (route.getBias() && failed(unify(scores, 1, route.getBias(), 0, loc)))
    return failure();
  return success(succeeded(unify(scores, 0, ids, 0, loc)) &&
                 succeeded(unify(scores, 0, weights, 0, loc)) &&
                 succeeded(unify(ids, 1, weights, 1, loc)));
}

/// `whole` has the number of ranks in front of the dimensions of `part` (null: no part).
LogicalResult ShapeInference::unifyParts(Value whole, Value part, Location loc) {
  unsigned first = values[whole].front();
  Dim &size = dims[find(first)];
  if (!size.name.empty() && size.name != ranksName)
    return mlir::emitError(loc) << "expected dimension 0 of the parts to be named " << ranksName
                                << ", the number of ranks, got " << size.name;
  size.name = ranksName;
  if (!ranks)
    ranks = first;
  if (failed(unify(*ranks, first, loc)))
    return failure();
  for (unsigned d = 0; part && d < values[part].size(); ++d)
    if (failed(unify(whole, d + 1, part, d, loc)))
      return failure();
  return success();
}

/// Tokens, their ids and weights, each with the parts that they become.
LogicalResult ShapeInference::unifyDispatch(DispatchOp dispatch) {
  Value x = dispatch.getX(), ids = dispatch.getIds(), weights = dispatch.getWeights();
  Location loc = dispatch.getLoc();
  if (failed(unify(x, 0, ids, 0, loc)) || failed(unify(x, 0, weights, 0, loc)))
    return failure();
  return success(succeeded(unifyParts(dispatch.getRows(), x, loc)) &&
                 succeeded(unifyParts(dispatch.getRowIds(), ids, loc)) &&
                 succeeded(unifyParts(dispatch.getRowWeights(), weights, loc)));
}

LogicalResult ShapeInference::unifyOp(Operation &op) {
  for (Value result : op.getResults())
    addValue(result);
  if (auto dispatch = dyn_cast<DispatchOp>(op))
    return unifyDispatch(dispatch);
  if (auto lists = dyn_cast<ExpertListsOp>(op)) {
    Value ids = lists.getIds(), list = lists.getList();
    return success(succeeded(unifyParts(ids, Value(), op.getLoc())) &&
                   succeeded(unifyParts(list, Value(), op.getLoc())) &&
                   succeeded(unify(ids, 1, list, 1, op.getLoc())) &&
                   succeeded(unify(ids, 2, list, 2, op.getLoc())));
  }
  if (auto combine = dyn_cast<CombineOp>(op))
    return success(succeeded(unifyParts(combine.getRows(), combine.getResult(), op.getLoc())) &&
                   succeeded(unify(combine.getResult(), 0, combine.getIds(), 0, op.getLoc())));
  if (auto gather = dyn_cast<AllGatherOp>(op))
    return unifyParts(gather.getResult(), gather.getInput(), op.getLoc());
  if (auto scatter = dyn_cast<ReduceScatterOp>(op))
    return unifyParts(scatter.getInput(), scatter.getResult(), op.getLoc());
  if (isa<AllToAllOp>(op) && failed(unifyParts(op.getOperand(0), Value(), op.getLoc())))
    return failure();
  if (auto gemm = dyn_cast<GemmOp>(op))
    return unifyGemm(gemm);
  if (auto route = dyn_cast<RouteOp>(op))
    return unifyRoute(route);
  if (isa<SplatOp>(op))
    return success();
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    for (auto [i, dim] : llvm::enumerate(broadcast.getAlong()))
      if (failed(unify(broadcast.getInput(), i, broadcast.getResult(), dim, op.getLoc())))
        return failure();
    return success();
  }
  if (isa<ReturnOp>(op)) {
    for (auto [i, value] : llvm::enumerate(op.getOperands()))
      for (auto [x, y] : llvm::zip(values[value], results[i]))
        if (failed(unify(x, y, op.getLoc())))
          return failure();
    return success();
  }
  // Everything else is element-wise: all tensors have one shape.
  Value first;
  SmallVector<Value> tensors(op.getOperands());
  llvm::append_range(tensors, op.getResults());
  for (Value value : tensors) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      continue;
    if (!first) {
      first = value;
      continue;
    }
    if (cast<RankedTensorType>(first.getType()).getRank() != type.getRank())
      return op.emitError("expected an element-wise operation on tensors of one shape, got ")
             << first.getType() << " and " << type;
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (failed(unify(first, d, value, d, op.getLoc())))
        return failure();
  }
  return success();
}

/// Dimensions of one name are one size.
LogicalResult ShapeInference::unifyNames() {
  llvm::StringMap<unsigned> seen;
  for (unsigned i = 0, e = dims.size(); i < e; ++i) {
    if (dims[i].name.empty())
      continue;
    auto [it, fresh] = seen.try_emplace(dims[i].name, i);
    if (!fresh && failed(unify(it->second, i, dims[i].loc)))
      return failure();
  }
  return success();
}

/// Sizes without a name get M, N, K and B from the first product they are part of.
void ShapeInference::nameAfterGemm() {
  llvm::StringSet<> taken;
  for (Dim &dim : dims)
    if (!dim.name.empty())
      taken.insert(dim.name);
  auto name = [&](unsigned id, const std::string &base) {
    Dim &root = dims[find(id)];
    if (!root.name.empty())
      return;
    std::string text = base;
    for (unsigned i = 1; !taken.insert(text).second; ++i)
      text = base + std::to_string(i);
    root.name = text;
  };
  kernel.walk([&](GemmOp gemm) {
    name(values[gemm.getResult()][gemm.getDLead()], "M");
    name(values[gemm.getA()][gemm.getMDim()], "T"); // where rows are gathered
    name(values[gemm.getB()][gemm.getNDim()], "N");
    name(values[gemm.getA()][gemm.getADimK()], "K");
    if (gemm.isBatched())
      name(values[gemm.getA()][0], "B");
    if (gemm.getGroups())
      name(values[gemm.isGrouped(Grouping::AlongK) ? gemm.getResult() : gemm.getB()][0], "G");
    if (!gemm.hasScales())
      return;
    for (bool isA : {true, false})
      name(values[gemm.getScale(isA).tensor][gemm.getScale(isA).rowDim],
           isA ? "M_blocks" : "N_blocks");
    name(values[gemm.getScaleA()][gemm.getScale(true).kDim], "K_blocks");
  });
  kernel.walk([&](RouteOp route) {
    name(values[route.getScores()][0], "T");
    name(values[route.getScores()][1], "E");
    name(values[route.getIds()][1], "top");
  });
  auto nameTokens = [&](Value rows, Value ids) {
    name(values[rows][0], "T");
    name(values[rows][1], "H");
    name(values[ids][1], "top");
  };
  kernel.walk([&](ExpertListsOp lists) {
    name(values[lists.getIds()][1], "T");
    name(values[lists.getIds()][2], "top");
  });
  kernel.walk([&](DispatchOp dispatch) { nameTokens(dispatch.getX(), dispatch.getIds()); });
  kernel.walk([&](CombineOp combine) { nameTokens(combine.getResult(), combine.getIds()); });
  for (BlockArgument arg : kernel.getArguments())
    for (auto [i, id] : llvm::enumerate(values[arg]))
      name(id, kernel.getArgName(arg.getArgNumber()) + "_" + std::to_string(i));
  for (auto [r, ids] : llvm::enumerate(results))
    for (auto [i, id] : llvm::enumerate(ids))
      name(id, kernel.getResultName(r) + "_" + std::to_string(i));
}

KernelShapes ShapeInference::collect() {
  KernelShapes shapes;
  llvm::DenseMap<unsigned, unsigned> sizeOf;
  auto size = [&](unsigned id) {
    unsigned root = find(id);
    auto [it, fresh] = sizeOf.try_emplace(root, shapes.sizes.size());
    if (fresh)
      shapes.sizes.push_back({dims[root].name, dims[root].size});
    return it->second;
  };
  for (BlockArgument arg : kernel.getArguments())
    for (auto [i, id] : llvm::enumerate(values[arg]))
      shapes.ofValue[{arg, i}] = size(id);
  for (auto [r, ids] : llvm::enumerate(results))
    for (auto [i, id] : llvm::enumerate(ids))
      shapes.ofResults[{r, i}] = size(id);
  for (unsigned i = 0, e = shapes.sizes.size(); i < e; ++i)
    shapes.visible.push_back(i);
  for (auto &[value, ids] : values)
    for (auto [i, id] : llvm::enumerate(ids))
      shapes.ofValue[{value, i}] = size(id);
  return shapes;
}

FailureOr<KernelShapes> ShapeInference::run() {
  for (BlockArgument arg : kernel.getArguments())
    addValue(arg);
  for (auto [i, type] : llvm::enumerate(kernel.getResultTypes()))
    addTensor(cast<RankedTensorType>(type), kernel.getLoc(), kernel.getResultName(i),
              kernel.getResultAttr(i, "heddle.dims"), results.emplace_back());
  if (failed(unifyNames()))
    return failure();
  for (Operation &op : kernel.getBody().front())
    if (failed(unifyOp(op)))
      return failure();
  nameAfterGemm();
  return collect();
}

FailureOr<KernelShapes> KernelShapes::infer(KernelOp kernel) {
  return ShapeInference(kernel).run();
}

const Size &KernelShapes::of(Value value, unsigned dim) const {
  return sizes[ofValue.at({value, dim})];
}

const Size &KernelShapes::ofResult(unsigned result, unsigned dim) const {
  return sizes[ofResults.at({result, dim})];
}

std::vector<const Size *> KernelShapes::all() const {
  std::vector<const Size *> list;
  for (unsigned i : visible)
    list.push_back(&sizes[i]);
  return list;
}

} // namespace heddle::spec
