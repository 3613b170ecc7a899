//===- GemmInterface.cpp - a GEMM as its caller sees it ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes `heddle.interface`: arguments, run-time sizes, the reference program in
// double precision, operations of a launch, constraints of the spec.
//
//===----------------------------------------------------------------------===//
#include "heddle/Kernels/Gemm.h"

using namespace mlir;

namespace heddle::kernels {
namespace {

class InterfaceBuilder {
public:
  explicit InterfaceBuilder(const GemmSpec &spec)
      : s(spec), gemm(spec.gemm), b(spec::GemmOp(spec.gemm)->getContext()) {}
  DictionaryAttr build();

private:
  using Fields = SmallVector<NamedAttribute>;
  NamedAttribute field(StringRef key, Attribute value) { return b.getNamedAttr(key, value); }
  NamedAttribute field(StringRef key, StringRef value) {
    return field(key, b.getStringAttr(value));
  }
  NamedAttribute field(StringRef key, int64_t value) {
    return field(key, b.getI64IntegerAttr(value));
  }
  NamedAttribute field(StringRef key, ArrayRef<int64_t> values) {
    return field(key, b.getDenseI64ArrayAttr(values));
  }
  Attribute sizeAttr(const spec::Size &size) {
    return size.isDynamic() ? Attribute(b.getStringAttr(size.name))
                            : b.getI64IntegerAttr(size.value);
  }
  std::string strideName(const TensorArg &t, unsigned dim) {
    return t.name + ".stride" + std::to_string(dim);
  }

  void addSymbols();
  void addArgs();
  void addArg(unsigned i);
  void addNodes();
  void addProduct();
  void addNode(const ElementNode &node);
  ArrayAttr flops();
  void addConstraints();
  void constrain(StringRef kind, ArrayRef<Attribute> expr, int64_t value, std::string what);
  void addScaleConstraints();
  unsigned load(unsigned arg, ArrayRef<int64_t> indexMap, ArrayRef<int64_t> divisors = {});
  /// An element of A, whose rows are those of a list.
  unsigned gathered(ArrayRef<int64_t> indexMap);
  /// What a group has of an argument that `indexMap` indexes.
  void addView(unsigned arg, ArrayRef<int64_t> indexMap, ArrayRef<int64_t> divisors);
  DictionaryAttr groups();
  bool isGrouped(spec::Grouping what) { return gemm.isGrouped(what); }
  /// An operand's element, multiplied by its scale where it has one.
  unsigned scaled(unsigned operand, int64_t rowDim, bool isA);
  unsigned push(const Fields &fields) {
    nodes.push_back(b.getDictionaryAttr(fields));
    return nodes.size() - 1;
  }

  const GemmSpec &s;
  spec::GemmOp gemm;
  Builder b;
  SmallVector<Attribute> symbols, args, nodes, constraints, views;
  llvm::DenseSet<unsigned> viewed; ///< arguments in `views`
  SmallVector<int64_t> nodeOf;     ///< reference node of each element node
};

std::string dtypeName(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

} // namespace

void InterfaceBuilder::addSymbols() {
  for (const spec::Size *size : s.shapes.all())
    if (size->isDynamic())
      symbols.push_back(b.getStringAttr(size->name));
  for (const TensorArg &t : s.tensors)
    for (unsigned d = 0; t.strides && d < t.strides->size(); ++d)
      if (ShapedType::isDynamic((*t.strides)[d]))
        symbols.push_back(b.getStringAttr(strideName(t, d)));
}

void InterfaceBuilder::addArg(unsigned i) {
  const TensorArg &t = s.tensors[i];
  if (!t.type) {
    args.push_back(b.getDictionaryAttr(
        {field("name", t.name), field("kind", "scalar"), field("dtype", "f32")}));
    return;
  }
  SmallVector<Attribute> shape, strides;
  for (const spec::Size *size : t.sizes)
    shape.push_back(sizeAttr(*size));
  for (unsigned d = 0; t.strides && d < t.strides->size(); ++d) {
    int64_t stride = (*t.strides)[d];
    strides.push_back(ShapedType::isDynamic(stride) ? Attribute(b.getStringAttr(strideName(t, d)))
                                                    : b.getI64IntegerAttr(stride));
  }
  args.push_back(b.getDictionaryAttr(
      {field("name", t.name), field("kind", "tensor"),
       field("dtype", dtypeName(t.type.getElementType())), field("shape", b.getArrayAttr(shape)),
       field("strides", b.getArrayAttr(strides)), field("output", b.getBoolAttr(i >= s.d))}));
}

//===----------------------------------------------------------------------===//
// The reference program
//===----------------------------------------------------------------------===//

unsigned InterfaceBuilder::load(unsigned arg, ArrayRef<int64_t> indexMap,
                                ArrayRef<int64_t> divisors) {
  if (s.groups)
    addView(arg, indexMap, divisors);
  Fields fields{field("op", "load"), field("arg", arg), field("index_map", indexMap)};
  if (!divisors.empty())
    fields.push_back(field("index_div", divisors));
  return push(fields);
}

/// Groups are the first dimension of a result of rank 3, and what an index of -1 stands for; their
/// rows are those of the result, or those that products are summed over.
void InterfaceBuilder::addView(unsigned arg, ArrayRef<int64_t> indexMap,
                               ArrayRef<int64_t> divisors) {
  if (!s.tensors[arg].type || !viewed.insert(arg).second)
    return;
  int64_t rank = s.lead + 2, rows = isGrouped(spec::Grouping::AlongK) ? rank : rank - 2;
  int64_t groupDim = -1, rowsDim = -1, block = 1;
  for (auto [dim, index] : llvm::enumerate(indexMap)) {
    if (index == -1 || (s.lead && index == 0))
      groupDim = dim;
    if (index == rows)
      rowsDim = dim, block = divisors.empty() ? 1 : divisors[dim];
  }
  if (groupDim >= 0 || rowsDim >= 0)
    views.push_back(b.getDictionaryAttr({field("arg", arg), field("group_dim", groupDim),
                                         field("rows_dim", rowsDim), field("rows_div", block)}));
}

/// Dimension `rank` of the iteration space is k.
void InterfaceBuilder::addProduct() {
  int64_t rank = s.lead + 2;
  SmallVector<int64_t> a(gemm.getALead() + 2, 0), bMap(gemm.getBLead() + 2, s.lead ? 0 : -1);
  a[gemm.getMDim()] = rank - 2, a[gemm.getADimK()] = rank;
  bMap[gemm.getNDim()] = rank - 1, bMap[gemm.getBDimK()] = rank;
  SmallVector<int64_t> inputs{s.rows ? gathered(a) : load(s.a, a), load(s.b, bMap)};
  if (s.scaleA)
    inputs = {scaled(inputs[0], rank - 2, true), scaled(inputs[1], rank - 1, false)};
  nodeOf.push_back(push({field("op", "contract"), field("inputs", inputs),
                         field("extent", b.getArrayAttr({sizeAttr(s.k())}))}));
}

unsigned InterfaceBuilder::gathered(ArrayRef<int64_t> indexMap) {
  auto op = [&](StringRef name, ArrayRef<int64_t> inputs) {
    return push({field("op", name), field("inputs", inputs)});
  };
  int64_t row = load(*s.rows, {indexMap[0]});
  int64_t k = push({field("op", "index"), field("index_map", ArrayRef<int64_t>(indexMap[1]))});
  int64_t rank = push({field("op", "rank")});
  int64_t zero = push({field("op", "constant"), field("value", b.getF64FloatAttr(0))});
  int64_t size = push(
      {field("op", "size"), field("extent", b.getArrayAttr({sizeAttr(*s.tensors[s.a].sizes[0])}))});
  int64_t element = push({field("op", "gather"), field("arg", s.a),
                          field("inputs", ArrayRef<int64_t>({rank, row, k}))});
  int64_t there = op("mul", {op("cmp_ge", {row, zero}), op("cmp_lt", {row, size})});
  return op("select", {there, element, zero});
}

unsigned InterfaceBuilder::scaled(unsigned operand, int64_t rowDim, bool isA) {
  spec::GemmOp::Scale scale = gemm.getScale(isA);
  int64_t rank = s.lead + 2, own = (isA ? gemm.getALead() : gemm.getBLead()) + 2;
  SmallVector<int64_t> map(own, s.lead ? 0 : -1), divisors(own, 1);
  map[scale.rowDim] = rowDim, divisors[scale.rowDim] = scale.blockRows;
  map[scale.kDim] = rank, divisors[scale.kDim] = scale.blockK;
  unsigned factor = load(isA ? *s.scaleA : *s.scaleB, map, divisors);
  return push({field("op", "mul"), field("inputs", {operand, factor})});
}

void InterfaceBuilder::addNode(const ElementNode &node) {
  using Kind = ElementNode::Kind;
  SmallVector<int64_t> inputs;
  for (unsigned id : node.inputs)
    inputs.push_back(nodeOf[id]);
  auto add = [&](const Fields &fields) { nodeOf.push_back(push(fields)); };
  switch (node.kind) {
  case Kind::Load:
  case Kind::Scalar:
    nodeOf.push_back(load(node.arg, node.indexMap));
    return;
  case Kind::Constant:
    return add({field("op", "constant"), field("value", b.getF64FloatAttr(node.value))});
  case Kind::Product:
    return addProduct();
  case Kind::Round:
    return add(
        {field("op", "round"), field("inputs", inputs), field("dtype", dtypeName(node.type))});
  case Kind::Compute:
  case Kind::Compare:
    return add({field("op", node.reference), field("inputs", inputs)});
  case Kind::Select:
    return add({field("op", "select"), field("inputs", inputs)});
  }
}

void InterfaceBuilder::addNodes() {
  for (const ElementNode &node : s.epilogue.nodes)
    addNode(node);
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

ArrayAttr InterfaceBuilder::flops() {
  SmallVector<Attribute> expr{b.getI64IntegerAttr(2)};
  // Groups divide K, which therefore counts once.
  bool once = s.groups && isGrouped(spec::Grouping::AlongK);
  SmallVector<const spec::Size *> factors(ArrayRef(s.tensors[s.d].sizes).drop_front(once));
  factors.push_back(&s.k());
  for (const spec::Size *size : factors) {
    expr.push_back(sizeAttr(*size));
    expr.push_back(b.getStringAttr("mul"));
  }
  return b.getArrayAttr(expr);
}

void InterfaceBuilder::constrain(StringRef kind, ArrayRef<Attribute> expr, int64_t value,
                                 std::string what) {
  constraints.push_back(
      b.getDictionaryAttr({field("kind", kind), field("expr", b.getArrayAttr(expr)),
                           field("value", value), field("what", what)}));
}

/// Sizes and indices are 32-bit on the device; rows may not overlap. An empty result is no work,
/// and launches nothing; a sum over nothing is not supported.
void InterfaceBuilder::addConstraints() {
  for (const spec::Size *size : s.shapes.all())
    if (size->isDynamic()) {
      bool ofResult = llvm::is_contained(s.tensors[s.d].sizes, size);
      constrain("at_least", {sizeAttr(*size)}, ofResult ? 0 : 1, "size " + size->name);
      constrain("at_most", {sizeAttr(*size)}, INT32_MAX, "size " + size->name);
    }
  for (const TensorArg &t : s.tensors)
    for (unsigned d = 0; t.strides && d + 1 < t.strides->size(); ++d)
      if (ShapedType::isDynamic((*t.strides)[d])) {
        SmallVector<Attribute> spare{b.getStringAttr(strideName(t, d)), sizeAttr(*t.sizes[d + 1]),
                                     b.getStringAttr("sub")};
        constrain("at_least", spare, 0,
                  "stride " + std::to_string(d) + " of " + t.name + " less dimension " +
                      std::to_string(d + 1));
      }
}

/// Run-time sizes of scale tensors follow from those of the operands.
void InterfaceBuilder::addScaleConstraints() {
  auto blocks = [&](const spec::Size &count, const spec::Size &size, int64_t block) {
    if (!count.isDynamic() || block == 1)
      return;
    SmallVector<Attribute> spare{sizeAttr(count), b.getI64IntegerAttr(block),
                                 b.getStringAttr("mul"), sizeAttr(size), b.getStringAttr("sub")};
    std::string what = count.name + " x " + std::to_string(block) + " less " + size.name;
    constrain("at_least", spare, 0, what);
    constrain("at_most", spare, block - 1, what);
  };
  for (bool isA : {true, false}) {
    spec::GemmOp::Scale scale = gemm.getScale(isA);
    const TensorArg &t = s.tensors[isA ? *s.scaleA : *s.scaleB];
    blocks(*t.sizes[scale.rowDim], isA ? s.m() : s.n(), scale.blockRows);
    if (isA)
      blocks(*t.sizes[scale.kDim], s.k(), scale.blockK);
  }
  if (s.k().isDynamic())
    constrain("multiple_of", {sizeAttr(s.k())}, gemm.getScale(true).blockK,
              "size " + s.k().name + ", which scales divide into blocks");
}

DictionaryAttr InterfaceBuilder::groups() {
  bool alongK = isGrouped(spec::Grouping::AlongK), masked = isGrouped(spec::Grouping::Masked);
  SmallVector<int64_t> result;
  for (unsigned dim = 0; dim < s.lead + 2; ++dim)
    result.push_back(dim);
  addView(s.d, result, {});
  Fields fields{field("arg", *s.groups),
                field("kind", masked              ? "masked"
                              : gemm.hasOffsets() ? "offsets"
                                                  : "counts"),
                field("count", gemm.getNumGroups()),
                field("limit", b.getArrayAttr({sizeAttr(alongK ? s.k() : s.m())})),
                field("align", static_cast<int64_t>(gemm.getAligned().value_or(1))),
                field("contracted", b.getBoolAttr(alongK)),
                field("views", b.getArrayAttr(views))};
  if (s.status)
    fields.push_back(field("status", *s.status));
  return b.getDictionaryAttr(fields);
}

DictionaryAttr InterfaceBuilder::build() {
  spec::KernelOp kernel = s.kernel;
  addSymbols();
  for (unsigned i = 0; i < s.tensors.size(); ++i)
    addArg(i);
  addNodes();
  addConstraints();
  if (s.scaleA)
    addScaleConstraints();
  std::string text;
  llvm::raw_string_ostream stream(text);
  kernel->print(stream);
  Attribute output =
      b.getDictionaryAttr({field("arg", s.d), field("node", nodeOf[s.epilogue.root])});
  SmallVector<Attribute> outputs{output};
  if (s.status) // of groups that are good
    outputs.push_back(b.getDictionaryAttr(
        {field("arg", *s.status),
         field("node", push({field("op", "constant"), field("value", b.getF64FloatAttr(0))}))}));
  Fields all{field("kernel", kernel.getSymName()),
             field("spec", text),
             field("symbols", b.getArrayAttr(symbols)),
             field("args", b.getArrayAttr(args)),
             field("nodes", b.getArrayAttr(nodes)),
             field("outputs", b.getArrayAttr(outputs)),
             field("flops", flops()),
             field("constraints", b.getArrayAttr(constraints))};
  if (s.groups)
    all.push_back(field("groups", groups()));
  return b.getDictionaryAttr(all);
}

DictionaryAttr gemmInterface(const GemmSpec &spec) { return InterfaceBuilder(spec).build(); }

} // namespace heddle::kernels
