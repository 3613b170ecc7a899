//===- Interface.cpp - a kernel as its caller sees it ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Interface.h"

using namespace mlir;

namespace heddle::kernels {

Interface::Interface(spec::KernelOp kernel, spec::KernelShapes shapes)
    : b(kernel.getContext()), kernel(kernel), shapes(std::move(shapes)),
      inputs(kernel.getArgumentTypes().size()), types(kernel.getArgumentTypes()) {
  llvm::append_range(types, kernel.getResultTypes());
  isSymmetric.assign(types.size(), false);
}

FailureOr<Interface> Interface::of(spec::KernelOp kernel) {
  FailureOr<spec::KernelShapes> shapes = spec::KernelShapes::infer(kernel);
  if (failed(shapes))
    return failure();
  return Interface(kernel, std::move(*shapes));
}

FailureOr<unsigned> Interface::argument(Operation *op, Value operand, StringRef what) {
  if (auto arg = dyn_cast<BlockArgument>(operand))
    return arg.getArgNumber();
  return op->emitError("expected ")
         << what << " to be an argument of the kernel, got the result of "
         << operand.getDefiningOp()->getName();
}

FailureOr<unsigned> Interface::result(Operation *op, Value value, StringRef what) {
  Operation *end = kernel.getBody().front().getTerminator();
  for (OpOperand &use : end->getOpOperands())
    if (use.get() == value)
      return inputs + use.getOperandNumber();
  return op->emitError("expected ") << what << " to be a result of the kernel";
}

LogicalResult Interface::arguments(Operation *op, ArrayRef<StringRef> what,
                                   SmallVectorImpl<unsigned> &numbers) {
  for (auto [operand, name] : llvm::zip_equal(op->getOperands(), what)) {
    FailureOr<unsigned> number = argument(op, operand, name);
    if (failed(number))
      return failure();
    if (strides(*number))
      return op->emitError("expected ") << name << " to be contiguous, got heddle.layout";
    numbers.push_back(*number);
  }
  if (inputs != what.size())
    return kernel.emitError("expected ")
           << what.size() << " arguments, those of " << op->getName() << ", got " << inputs;
  return success();
}

LogicalResult Interface::results(Operation *op, ArrayRef<StringRef> what,
                                 SmallVectorImpl<unsigned> &numbers) {
  for (auto [value, name] : llvm::zip_equal(op->getResults(), what)) {
    FailureOr<unsigned> number = result(op, value, name);
    if (failed(number))
      return failure();
    if (strides(*number))
      return op->emitError("expected ") << name << " to be contiguous, got heddle.layout";
    numbers.push_back(*number);
  }
  if (types.size() - inputs != what.size())
    return kernel.emitError("expected ") << what.size() << " results, those of " << op->getName()
                                         << ", got " << types.size() - inputs;
  return success();
}

const spec::Size &Interface::size(unsigned arg, unsigned dim) const {
  return arg < inputs ? shapes.of(kernel.getArgument(arg), dim)
                      : shapes.ofResult(arg - inputs, dim);
}

std::string Interface::name(unsigned arg) const {
  return arg < inputs ? kernel.getArgName(arg) : kernel.getResultName(arg - inputs);
}

std::optional<SmallVector<int64_t>> Interface::strides(unsigned arg) const {
  return arg < inputs ? kernel.getArgStrides(arg) : kernel.getResultStrides(arg - inputs);
}

Attribute Interface::sizeAttr(const spec::Size &size) {
  return size.isDynamic() ? Attribute(b.getStringAttr(size.name)) : integer(size.value);
}

unsigned Interface::node(StringRef op, ArrayRef<Field> fields) {
  SmallVector<NamedAttribute> all{b.getNamedAttr("op", b.getStringAttr(op))};
  for (const Field &field : fields)
    all.push_back(b.getNamedAttr(field.key, field.value));
  nodes.push_back(b.getDictionaryAttr(all));
  return nodes.size() - 1;
}

void Interface::output(unsigned arg, unsigned node) {
  outputs.push_back(b.getDictionaryAttr(
      {b.getNamedAttr("arg", integer(arg)), b.getNamedAttr("node", integer(node))}));
}

void Interface::constrain(StringRef kind, ArrayRef<Attribute> expr, int64_t value, StringRef what) {
  constraints.push_back(b.getDictionaryAttr(
      {b.getNamedAttr("kind", b.getStringAttr(kind)), b.getNamedAttr("expr", b.getArrayAttr(expr)),
       b.getNamedAttr("value", integer(value)), b.getNamedAttr("what", b.getStringAttr(what))}));
}

DictionaryAttr Interface::argAttr(unsigned arg) {
  auto field = [&](StringRef key, Attribute value) { return b.getNamedAttr(key, value); };
  RankedTensorType tensor = type(arg);
  if (!tensor)
    return b.getDictionaryAttr({field("name", b.getStringAttr(name(arg))),
                                field("kind", b.getStringAttr("scalar")),
                                field("dtype", b.getStringAttr("f32"))});
  std::string dtype;
  llvm::raw_string_ostream(dtype) << tensor.getElementType();
  SmallVector<Attribute> shape, steps;
  for (int64_t d = 0; d < tensor.getRank(); ++d)
    shape.push_back(sizeAttr(size(arg, d)));
  if (auto given = strides(arg))
    for (auto [d, stride] : llvm::enumerate(*given))
      steps.push_back(ShapedType::isDynamic(stride) ? Attribute(b.getStringAttr(strideName(arg, d)))
                                                    : integer(stride));
  SmallVector<NamedAttribute> fields{
      field("name", b.getStringAttr(name(arg))), field("kind", b.getStringAttr("tensor")),
      field("dtype", b.getStringAttr(dtype)),    field("shape", b.getArrayAttr(shape)),
      field("strides", b.getArrayAttr(steps)),   field("output", b.getBoolAttr(arg >= inputs))};
  if (isSymmetric[arg])
    fields.push_back(field("symmetric", b.getUnitAttr()));
  return b.getDictionaryAttr(fields);
}

/// Sizes and indices are 32-bit on the device; rows may not overlap.
DictionaryAttr Interface::build(ArrayRef<Attribute> flops) {
  SmallVector<Attribute> symbols, args;
  for (const spec::Size *size : shapes.all())
    if (size->isDynamic()) {
      symbols.push_back(b.getStringAttr(size->name));
      constrain("at_least", {sizeAttr(*size)}, size->name == spec::ranksName, "size " + size->name);
      constrain("at_most", {sizeAttr(*size)}, INT32_MAX, "size " + size->name);
    }
  for (unsigned arg = 0; arg < types.size(); ++arg) {
    args.push_back(argAttr(arg));
    std::optional<SmallVector<int64_t>> given = strides(arg);
    for (unsigned d = 0; given && d < given->size(); ++d) {
      if (!ShapedType::isDynamic((*given)[d]))
        continue;
      symbols.push_back(b.getStringAttr(strideName(arg, d)));
      if (d + 1 < given->size())
        constrain("at_least", {symbols.back(), sizeAttr(size(arg, d + 1)), b.getStringAttr("sub")},
                  0,
                  "stride " + std::to_string(d) + " of " + name(arg) + " less dimension " +
                      std::to_string(d + 1));
    }
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  kernel->print(stream);
  auto field = [&](StringRef key, Attribute value) { return b.getNamedAttr(key, value); };
  SmallVector<NamedAttribute> fields{field("kernel", b.getStringAttr(kernel.getSymName())),
                                     field("spec", b.getStringAttr(text)),
                                     field("symbols", b.getArrayAttr(symbols)),
                                     field("args", b.getArrayAttr(args)),
                                     field("nodes", b.getArrayAttr(nodes)),
                                     field("outputs", b.getArrayAttr(outputs)),
                                     field("constraints", b.getArrayAttr(constraints))};
  if (!flops.empty())
    fields.push_back(field("flops", b.getArrayAttr(flops)));
  return b.getDictionaryAttr(fields);
}

warp::KernelOp Interface::makeKernel(OpBuilder &builder, const target::Target &target,
                                     StringRef suffix) {
  SmallVector<Type> memrefs;
  for (unsigned arg = 0; arg < types.size(); ++arg) {
    RankedTensorType tensor = type(arg);
    if (!tensor) {
      memrefs.push_back(b.getF32Type());
      continue;
    }
    MemRefLayoutAttrInterface layout;
    if (auto given = strides(arg))
      layout = StridedLayoutAttr::get(b.getContext(), 0, *given);
    memrefs.push_back(MemRefType::get(tensor.getShape(), tensor.getElementType(), layout));
  }
  auto made = warp::KernelOp::create(builder, kernel.getLoc(), (kernel.getSymName() + suffix).str(),
                                     b.getFunctionType(memrefs, {}));
  made.setTarget(target.name);
  for (unsigned arg = 0; arg < types.size(); ++arg) {
    made.setArgAttr(arg, "warp.name", b.getStringAttr(name(arg)));
    SmallVector<StringRef> dims;
    for (int64_t d = 0; type(arg) && d < type(arg).getRank(); ++d)
      dims.push_back(size(arg, d).name);
    if (type(arg))
      made.setArgAttr(arg, "warp.dims", b.getStrArrayAttr(dims));
    if (isSymmetric[arg])
      made.setArgAttr(arg, "warp.symmetric", b.getUnitAttr());
  }
  builder.setInsertionPointToStart(&made.getBody().front());
  return made;
}

} // namespace heddle::kernels
