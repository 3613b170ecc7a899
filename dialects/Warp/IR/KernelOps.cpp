//===- KernelOps.cpp - kernels, stages, roles and their work ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/Warp/IR/WarpDialect.h"
#include "heddle/Support/Names.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace heddle::warp;

//===----------------------------------------------------------------------===//
// KernelOp
//===----------------------------------------------------------------------===//

void KernelOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                     FunctionType type) {
  state.addAttribute(mlir::SymbolTable::getSymbolAttrName(), builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  Region *body = state.addRegion();
  Block &block = body->emplaceBlock();
  for (Type t : type.getInputs())
    block.addArgument(t, state.location);
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &b, ArrayRef<Type> args, ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag, std::string &) {
    return b.getFunctionType(args, results);
  };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false, getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void KernelOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false,
                                           getFunctionTypeAttrName(), getArgAttrsAttrName(),
                                           getResAttrsAttrName());
}

/// Names go into the manifest, the kernel's own into PTX as well; sizes of equal name are one.
static LogicalResult verifyNames(KernelOp kernel) {
  if (!heddle::isIdentifier(kernel.getSymName()))
    return kernel.emitOpError("expected a name of letters, digits and _, got ")
           << kernel.getSymNameAttr();
  llvm::StringSet<> names;
  for (unsigned i = 0; i < kernel.getFunctionType().getNumInputs(); ++i) {
    auto function = cast<FunctionOpInterface>(kernel.getOperation());
    if (Attribute name = function.getArgAttr(i, "warp.name")) {
      auto text = dyn_cast<StringAttr>(name);
      if (!text || !heddle::isIdentifier(text.getValue()))
        return kernel.emitOpError("expected warp.name of argument ")
               << i << " to be a name of letters, digits and _, got " << name;
    }
    if (!names.insert(kernel.getArgName(i)).second)
      return kernel.emitOpError("expected arguments of different names, got ")
             << kernel.getArgName(i) << " twice";
    Attribute dims = function.getArgAttr(i, "warp.dims");
    if (dims && !isa<ArrayAttr>(dims))
      return kernel.emitOpError("expected warp.dims of argument ")
             << i << " to be an array of names, got " << dims;
    for (Attribute dim : dims ? cast<ArrayAttr>(dims).getValue() : ArrayRef<Attribute>()) {
      auto text = dyn_cast<StringAttr>(dim);
      if (!text || !heddle::isIdentifier(text.getValue()) ||
          heddle::isReservedSize(text.getValue()))
        return kernel.emitOpError("expected warp.dims of argument ")
               << i << " to hold names of letters, digits and _ that are no words of size "
               << "expressions, got " << dim;
    }
  }
  return success();
}

LogicalResult KernelOp::verify() {
  if (failed(verifyNames(*this)))
    return failure();
  if (!getFunctionType().getResults().empty())
    return emitOpError("expected no results, got ") << getFunctionType().getResults().size();
  if (getBody().empty())
    return emitOpError("expected a body");
  if (getTarget() && !target::findTarget(*getTarget()))
    return emitOpError("expected target to be one of ")
           << target::knownTargetNames() << ", got " << *getTarget();
  for (auto [i, type] : llvm::enumerate(getFunctionType().getInputs())) {
    if (auto memref = dyn_cast<MemRefType>(type)) {
      SmallVector<int64_t> strides;
      int64_t offset;
      if (failed(memref.getStridesAndOffset(strides, offset)))
        return emitOpError("expected argument ") << i << " to have strides, got " << type;
      if (auto dims = dyn_cast_or_null<ArrayAttr>(getArgAttr(i, "warp.dims")))
        if (dims.size() != static_cast<size_t>(memref.getRank()))
          return emitOpError("expected warp.dims of argument ")
                 << i << " to have " << memref.getRank() << " names, got " << dims.size();
    } else if (!type.isF32()) {
      return emitOpError("expected argument ") << i << " to be a memref or f32, got " << type;
    }
  }
  return success();
}

std::string KernelOp::getArgName(unsigned i) {
  if (auto name = dyn_cast_or_null<StringAttr>(getArgAttr(i, "warp.name")))
    return name.str();
  return "arg" + std::to_string(i);
}

std::string KernelOp::getDimName(unsigned i, unsigned dim) {
  if (auto dims = dyn_cast_or_null<ArrayAttr>(getArgAttr(i, "warp.dims")))
    if (auto name = dyn_cast<StringAttr>(dims[dim]))
      return name.str();
  return getArgName(i) + "." + std::to_string(dim);
}

//===----------------------------------------------------------------------===//
// Stages and roles
//===----------------------------------------------------------------------===//

LogicalResult StageOp::verify() {
  if (getWarps() && (*getWarps() < 1 || *getWarps() > 32))
    return emitOpError("expected 1 to 32 warps, got ") << *getWarps();
  if (getBody().front().getNumArguments())
    return emitOpError("expected a body without arguments");
  return success();
}

LogicalResult RoleOp::verify() {
  if (getFirstWarp() < 0 || static_cast<int64_t>(getEndWarp()) <= static_cast<int64_t>(getFirstWarp()) || getEndWarp() > 32)
    return emitOpError("expected warps within 0 to 32, got ")
           << getFirstWarp() << " to " << getEndWarp();
  int64_t registers = getRegisters();
  if (registers && (registers < 24 || registers > 256 || registers % 8))
    return emitOpError("expected registers to be 0 or a multiple of 8 in 24..256, got ")
           << registers;
  if (getBody().front().getNumArguments())
    return emitOpError("expected a body without arguments");
  return success();
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

LogicalResult GroupsOp::verify() {
  auto type = cast<MemRefType>(getMemory().getType());
  bool offsets = getKind() == GroupKind::Offsets;
  if (type.getRank() != 1 || !type.getElementType().isInteger(32) || type.isDynamicDim(0))
    return emitOpError("expected numbers of groups as memref<?xi32> of static size, got ") << type;
  if (getNumGroups() < 1 || getNumGroups() > mostGroups)
    return emitOpError("expected 1 to ")
           << mostGroups << " groups" << (offsets ? ", one less than offsets" : "") << ", got "
           << getNumGroups();
  if (getBy() && *getBy() < 1)
    return emitOpError("expected an item to take at least 1 row, got ") << *getBy();
  if (int64_t align = getAlign(); align < 1 || align > 65536)
    return emitOpError("expected groups aligned to 1 to 65536 rows, got ") << align;
  if (!getStatus())
    return success();
  auto status = cast<MemRefType>(getStatus().getType());
  if (status.getRank() != 1 || !status.getElementType().isInteger(32) || status.getDimSize(0) != 1)
    return emitOpError("expected status to be memref<1xi32>, got ") << status;
  return success();
}

LogicalResult WorkStreamOp::verify() {
  if (getRaster() < 1)
    return emitOpError("expected raster to be at least 1, got ") << getRaster();
  if (getSplits() < 1 || getSplits() > 64)
    return emitOpError("expected 1 to 64 parts of a tile, got ") << getSplits();
  if (getSplits() > 1 && getGroups())
    return emitOpError("expected groups or parts of tiles, got both");
  if (std::optional<ArrayRef<int64_t>> cluster = getCluster()) {
    if (cluster->size() != 2)
      return emitOpError("expected cluster to be [rows, columns], got ")
             << cluster->size() << " numbers";
    for (int64_t extent : *cluster)
      if (extent < 1 || extent > 16)
        return emitOpError("expected a cluster of 1 to 16 CTAs along rows and columns, got [")
               << (*cluster)[0] << ", " << (*cluster)[1] << "]";
  }
  return success();
}

ParseResult ForEachOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> args;
  OpAsmParser::UnresolvedOperand stream;
  Type index = parser.getBuilder().getIndexType();
  if (parser.parseArgumentList(args, OpAsmParser::Delimiter::Paren) ||
      parser.parseKeyword("in") || parser.parseOperand(stream) ||
      parser.resolveOperand(stream, StreamType::get(parser.getContext()), result.operands) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  for (auto &arg : args)
    arg.type = index;
  return parser.parseRegion(*result.addRegion(), args);
}

void ForEachOp::print(OpAsmPrinter &printer) {
  printer << "(";
  llvm::interleaveComma(getBody().getArguments(), printer,
                        [&](BlockArgument a) { printer.printOperand(a); });
  printer << ") in " << getStream();
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult ForEachOp::verify() {
  Block &block = getBody().front();
  auto stream = getStream().getDefiningOp<WorkStreamOp>();
  bool grouped = stream && stream.getGroups(), split = stream && stream.getSplits() > 1;
  if (block.getNumArguments() != (grouped ? 5u : split ? 4u : 3u) ||
      llvm::any_of(block.getArgumentTypes(), [](Type t) { return !t.isIndex(); }))
    return emitOpError(grouped ? "expected five index arguments (row, column, group, first, size), got "
                       : split ? "expected four index arguments (row, column, batch, part), got "
                               : "expected three index arguments (row, column, batch), got ")
           << block.getNumArguments();
  return success();
}
