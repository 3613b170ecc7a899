//===- CollectiveInterface.cpp - a collective as its caller sees it ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes `heddle.interface`: arguments, run-time sizes, the reference program over all ranks,
// constraints of the spec.
//
//===----------------------------------------------------------------------===//
#include "heddle/Kernels/Collective.h"

using namespace mlir;

namespace heddle::kernels {
namespace {

class InterfaceBuilder {
public:
  explicit InterfaceBuilder(const CollectiveSpec &spec) : s(spec), b(spec.op->getContext()) {}
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
  int64_t node(const Fields &fields) {
    nodes.push_back(b.getDictionaryAttr(fields));
    return nodes.size() - 1;
  }
  int64_t index(int64_t dim) {
    return node({field("op", "index"), field("index_map", ArrayRef<int64_t>(dim))});
  }
  int64_t constant(double value) {
    return node({field("op", "constant"), field("value", b.getF64FloatAttr(value))});
  }
  void addArg(unsigned i);
  int64_t result();
  ArrayAttr flops();
  void addConstraints();

  const CollectiveSpec &s;
  Builder b;
  SmallVector<Attribute> symbols, args, nodes, constraints;
};

std::string dtypeName(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

} // namespace

void InterfaceBuilder::addArg(unsigned i) {
  const CollectiveTensor &t = s.tensors[i];
  SmallVector<Attribute> shape;
  for (const spec::Size *size : t.sizes)
    shape.push_back(sizeAttr(*size));
  args.push_back(b.getDictionaryAttr(
      {field("name", t.name), field("kind", "tensor"), field("dtype", dtypeName(s.element())),
       field("shape", b.getArrayAttr(shape)), field("strides", b.getArrayAttr({})),
       field("output", b.getBoolAttr(i == 1)), field("symmetric", b.getBoolAttr(t.symmetric))}));
}

/// The node of an element of the result.
int64_t InterfaceBuilder::result() {
  int64_t rank = s.tensors[1].type.getRank();
  auto gather = [&](int64_t from, ArrayRef<int64_t> indices) {
    SmallVector<int64_t> inputs{from};
    inputs.append(indices.begin(), indices.end());
    return node({field("op", "gather"), field("arg", 0), field("inputs", inputs)});
  };
  SmallVector<int64_t> dims;
  for (int64_t d = 0; d < rank; ++d)
    dims.push_back(index(d));
  auto me = [&] { return node({field("op", "rank")}); };
  switch (s.what) {
  case Collective::AllGather:
    return gather(dims[0], ArrayRef(dims).drop_front());
  case Collective::AllToAll: {
    SmallVector<int64_t> indices(dims);
    indices[0] = me();
    return gather(dims[0], indices);
  }
  case Collective::Broadcast:
    return gather(constant(s.root), dims);
  case Collective::Barrier:
    break;
  case Collective::ReduceScatter:
  case Collective::AllReduce: {
    SmallVector<int64_t> indices(dims);
    if (s.what == Collective::ReduceScatter)
      indices.insert(indices.begin(), me());
    SmallVector<int64_t> product{gather(index(rank), indices), constant(1)};
    int64_t sum = node({field("op", "contract"), field("inputs", product),
                        field("extent", b.getArrayAttr({b.getStringAttr("world")}))});
    return node({field("op", "round"), field("inputs", ArrayRef<int64_t>(sum)),
                 field("dtype", dtypeName(s.element()))});
  }
  }
  llvm_unreachable("a barrier has no result");
}

/// Additions of a rank; copies have none.
ArrayAttr InterfaceBuilder::flops() {
  SmallVector<Attribute> expr{b.getStringAttr("world")};
  for (const spec::Size *size : s.part()) {
    expr.push_back(sizeAttr(*size));
    expr.push_back(b.getStringAttr("mul"));
  }
  return b.getArrayAttr(expr);
}

/// Sizes are 32-bit on the device. An empty part is no work, and launches nothing.
void InterfaceBuilder::addConstraints() {
  auto constrain = [&](StringRef kind, ArrayRef<Attribute> expr, int64_t value, std::string what) {
    constraints.push_back(
        b.getDictionaryAttr({field("kind", kind), field("expr", b.getArrayAttr(expr)),
                             field("value", value), field("what", what)}));
  };
  for (const spec::Size *size : s.shapes.all())
    if (size->isDynamic()) {
      constrain("at_least", {sizeAttr(*size)}, size->name == spec::ranksName, "size " + size->name);
      constrain("at_most", {sizeAttr(*size)}, INT32_MAX, "size " + size->name);
    }
  if (s.what == Collective::Broadcast)
    constrain("at_least", {b.getStringAttr("world")}, s.root + 1,
              "number of ranks, which the root is below");
}

DictionaryAttr InterfaceBuilder::build() {
  spec::KernelOp kernel = s.kernel;
  for (const spec::Size *size : s.shapes.all())
    if (size->isDynamic())
      symbols.push_back(b.getStringAttr(size->name));
  for (unsigned i = 0; i < s.tensors.size(); ++i)
    addArg(i);
  SmallVector<Attribute> outputs;
  if (!s.tensors.empty())
    outputs.push_back(b.getDictionaryAttr({field("arg", 1), field("node", result())}));
  addConstraints();
  std::string text;
  llvm::raw_string_ostream stream(text);
  kernel->print(stream);
  Fields fields{field("kernel", kernel.getSymName()),
                field("spec", text),
                field("symbols", b.getArrayAttr(symbols)),
                field("args", b.getArrayAttr(args)),
                field("nodes", b.getArrayAttr(nodes)),
                field("outputs", b.getArrayAttr(outputs)),
                field("constraints", b.getArrayAttr(constraints))};
  if (s.sums())
    fields.push_back(field("flops", flops()));
  return b.getDictionaryAttr(fields);
}

DictionaryAttr collectiveInterface(const CollectiveSpec &spec) {
  return InterfaceBuilder(spec).build();
}

} // namespace heddle::kernels
