//===- KernelOps.cpp - kernels and what they return ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/Heddle/IR/HeddleDialect.h"
#include "heddle/Support/Names.h"
#include "dialects/Heddle/IR/Shapes.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace heddle::spec;

#define GET_OP_CLASSES
#include "dialects/Heddle/IR/HeddleOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Syntax. The names of SSA arguments become `heddle.name`.
//===----------------------------------------------------------------------===//

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  SmallVector<OpAsmParser::Argument> args;
  SmallVector<Type> resultTypes;
  SmallVector<DictionaryAttr> resultAttrs;
  bool variadic = false;
  Builder &builder = parser.getBuilder();
  if (parser.parseSymbolName(name, SymbolTable::getSymbolAttrName(), result.attributes) ||
      function_interface_impl::parseFunctionSignatureWithArguments(
          parser, /*allowVariadic=*/false, args, variadic, resultTypes, resultAttrs) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  SmallVector<Type> types;
  for (OpAsmParser::Argument &arg : args) {
    types.push_back(arg.type);
    StringRef ssa = arg.ssaName.name.drop_front();
    if (!ssa.empty() && !llvm::isDigit(ssa.front()) &&
        !(arg.attrs && arg.attrs.get("heddle.name"))) {
      NamedAttrList attrs(arg.attrs);
      std::string text = ssa.str();
      llvm::replace(text, '.', '_'), llvm::replace(text, '-', '_'), llvm::replace(text, '$', '_');
      attrs.set("heddle.name", builder.getStringAttr(text));
      arg.attrs = attrs.getDictionary(builder.getContext());
    }
  }
  result.addAttribute(getFunctionTypeAttrName(result.name),
                      TypeAttr::get(builder.getFunctionType(types, resultTypes)));
  call_interface_impl::addArgAndResultAttrs(builder, result, args, resultAttrs,
                                            getArgAttrsAttrName(result.name),
                                            getResAttrsAttrName(result.name));
  Region *body = result.addRegion();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseRegion(*body, args))
    return failure();
  if (body->empty())
    return parser.emitError(loc, "expected a body that ends in heddle.return");
  return success();
}

void KernelOp::print(OpAsmPrinter &printer) {
  auto function = cast<FunctionOpInterface>(getOperation());
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << '(';
  llvm::interleaveComma(getBody().getArguments(), printer, [&](BlockArgument arg) {
    printer.printRegionArgument(arg, {}, /*omitType=*/false);
    std::string ssa;
    llvm::raw_string_ostream stream(ssa);
    printer.printOperand(arg, stream);
    SmallVector<NamedAttribute> attrs;
    for (NamedAttribute a : function.getArgAttrs(arg.getArgNumber()))
      if (a.getName() != "heddle.name" || "%" + getArgName(arg.getArgNumber()) != ssa)
        attrs.push_back(a);
    printer.printOptionalAttrDict(attrs);
  });
  printer << ')';
  if (!getResultTypes().empty()) {
    printer << " -> (";
    llvm::interleaveComma(llvm::enumerate(getResultTypes()), printer, [&](auto it) {
      printer << it.value();
      printer.printOptionalAttrDict(function.getResultAttrs(it.index()));
    });
    printer << ')';
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {getSymNameAttrName(), getFunctionTypeAttrName(),
                                            getArgAttrsAttrName(), getResAttrsAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

void KernelOp::getAsmBlockArgumentNames(Region &, OpAsmSetValueNameFn setName) {
  for (BlockArgument arg : getBody().getArguments())
    setName(arg, getArgName(arg.getArgNumber()));
}

//===----------------------------------------------------------------------===//
// Names and strides
//===----------------------------------------------------------------------===//

std::string KernelOp::getArgName(unsigned i) {
  if (auto name = dyn_cast_or_null<StringAttr>(getArgAttr(i, "heddle.name")))
    return name.str();
  return "arg" + std::to_string(i);
}

std::string KernelOp::getResultName(unsigned i) {
  if (auto name = dyn_cast_or_null<StringAttr>(getResultAttr(i, "heddle.name")))
    return name.str();
  return getResultTypes().size() == 1 ? "D" : "D" + std::to_string(i);
}

static std::optional<SmallVector<int64_t>> stridesOf(Attribute layout) {
  if (auto strided = dyn_cast_or_null<StridedLayoutAttr>(layout))
    return SmallVector<int64_t>(strided.getStrides());
  return std::nullopt;
}

std::optional<SmallVector<int64_t>> KernelOp::getArgStrides(unsigned i) {
  return stridesOf(getArgAttr(i, "heddle.layout"));
}

std::optional<SmallVector<int64_t>> KernelOp::getResultStrides(unsigned i) {
  return stridesOf(getResultAttr(i, "heddle.layout"));
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

static bool isElement(Type type) {
  return isa<Float32Type, Float16Type, BFloat16Type, Float8E4M3FNType, Float8E5M2Type>(type) ||
         type.isInteger(32);
}

static LogicalResult verifyTensor(function_ref<InFlightDiagnostic()> error, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return error() << "a tensor of rank 1 to 3, got " << type;
  if (!isElement(tensor.getElementType()))
    return error() << "elements of f32, f16, bf16, f8E4M3FN, f8E5M2 or i32, got "
                   << tensor.getElementType();
  if (tensor.getRank() < 1 || tensor.getRank() > 3)
    return error() << "a tensor of rank 1 to 3, got " << type;
  if (tensor.getEncoding())
    return error() << "a tensor without encoding (strides go into heddle.layout), got " << type;
  for (int64_t size : tensor.getShape())
    if (!ShapedType::isDynamic(size) && (size < 1 || size > INT32_MAX))
      return error() << "sizes from 1 to " << INT32_MAX << ", got " << size;
  return success();
}

LogicalResult KernelOp::verify() {
  if (!heddle::isIdentifier(getSymName()))
    return emitOpError("expected a name of letters, digits and _, got ") << getSymNameAttr();
  llvm::StringSet<> names;
  for (auto [i, type] : llvm::enumerate(getArgumentTypes())) {
    Location loc = getArgument(i).getLoc();
    std::string name = getArgName(i);
    if (!names.insert(name).second)
      return mlir::emitError(loc) << "expected arguments and results of different names, got "
                                  << name << " twice";
    if (type.isF32())
      continue;
    if (!isa<TensorType>(type))
      return mlir::emitError(loc) << "expected argument " << name
                                  << " to be a tensor or an f32 scalar, got " << type;
    auto error = [&] {
      return mlir::emitError(loc) << "expected argument " << name << " to have ";
    };
    if (failed(verifyTensor(error, type)))
      return failure();
  }
  for (auto [i, type] : llvm::enumerate(getResultTypes())) {
    std::string name = getResultName(i);
    if (!names.insert(name).second)
      return emitOpError("expected arguments and results of different names, got ")
             << name << " twice; give the result another with {heddle.name = \"...\"}";
    auto error = [&] { return emitOpError("expected result ") << name << " to have "; };
    if (failed(verifyTensor(error, type)))
      return failure();
  }
  return success();
}

LogicalResult KernelOp::verifyRegions() {
  if (getBody().front().empty() || !isa<ReturnOp>(getBody().front().back()))
    return emitOpError("expected the body to end in heddle.return");
  return success(succeeded(KernelShapes::infer(*this)));
}

LogicalResult ReturnOp::verify() {
  auto kernel = cast<KernelOp>((*this)->getParentOp());
  ArrayRef<Type> types = kernel.getResultTypes();
  if (types.size() != getValues().size())
    return emitOpError("expected ") << types.size() << " values, got " << getValues().size();
  for (auto [i, want, value] : llvm::enumerate(types, getValues()))
    if (want != value.getType())
      return emitOpError("expected result ")
             << kernel.getResultName(i) << " to be " << want << ", got " << value.getType();
  return success();
}
