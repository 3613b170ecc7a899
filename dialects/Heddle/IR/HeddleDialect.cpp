//===- HeddleDialect.cpp - registration and attributes of arguments ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/Heddle/IR/HeddleDialect.h"
#include "heddle/Support/Names.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace heddle::spec;

#include "dialects/Heddle/IR/HeddleDialect.cpp.inc"
#include "dialects/Heddle/IR/HeddleEnums.cpp.inc"

void HeddleDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Heddle/IR/HeddleOps.cpp.inc"
      >();
}

static LogicalResult verifyDims(function_ref<InFlightDiagnostic()> error, Type type, Attribute a) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto dims = dyn_cast<ArrayAttr>(a);
  if (!tensor || !dims || dims.size() != static_cast<size_t>(tensor.getRank()))
    return error() << "expected heddle.dims to give one name for each dimension of " << type
                   << ", got " << a;
  for (Attribute dim : dims) {
    auto name = dyn_cast<StringAttr>(dim);
    if (!name || !heddle::isIdentifier(name.getValue()))
      return error() << "expected heddle.dims to hold names of letters, digits and _, got " << dim;
    if (heddle::isReservedSize(name.getValue()))
      return error() << "expected heddle.dims without the reserved name " << name.getValue();
  }
  return success();
}

/// Elements; tensor copies take strides below 2^40 bytes.
constexpr int64_t mostStride = int64_t(1) << 37;

static LogicalResult verifyLayout(function_ref<InFlightDiagnostic()> error, Type type,
                                  Attribute a) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto layout = dyn_cast<StridedLayoutAttr>(a);
  if (!layout)
    return error() << "expected heddle.layout to be strided<[...]>, got " << a;
  if (!tensor || layout.getStrides().size() != static_cast<size_t>(tensor.getRank()))
    return error() << "expected heddle.layout to give one stride for each dimension of " << type
                   << ", got " << a;
  if (layout.getOffset() != 0)
    return error() << "expected heddle.layout without an offset, got " << a;
  if (layout.getStrides().empty() || layout.getStrides().back() != 1)
    return error() << "unsupported layout: expected the last dimension to be contiguous (stride 1),"
                   << " got " << a;
  for (int64_t stride : layout.getStrides())
    if (!ShapedType::isDynamic(stride) && (stride < 1 || stride > mostStride))
      return error() << "expected strides from 1 to " << mostStride << ", got " << a;
  for (int64_t i = tensor.getRank() - 1; i > 0; --i) {
    int64_t inner = layout.getStrides()[i], outer = layout.getStrides()[i - 1];
    int64_t size = tensor.getDimSize(i);
    if (ShapedType::isDynamic(inner) || ShapedType::isDynamic(outer) || ShapedType::isDynamic(size))
      continue;
    if (outer / inner < size) // outer < inner * size, which may be too big a number
      return error() << "unsupported layout: expected a stride of at least " << inner << " x "
                     << size << " in dimension " << i - 1 << " so that rows do not overlap, got "
                     << outer;
  }
  return success();
}

static LogicalResult verifyAttribute(function_ref<InFlightDiagnostic()> error, Type type,
                                     NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == "heddle.dims")
    return verifyDims(error, type, attribute.getValue());
  if (name == "heddle.layout")
    return verifyLayout(error, type, attribute.getValue());
  if (name == "heddle.name") {
    auto text = dyn_cast<StringAttr>(attribute.getValue());
    if (!text || !heddle::isIdentifier(text.getValue()))
      return error() << "expected heddle.name to be a name of letters, digits and _, got "
                     << attribute.getValue();
    return success();
  }
  return error() << "expected heddle.name, heddle.dims or heddle.layout, got " << name;
}

LogicalResult HeddleDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned arg,
                                                      NamedAttribute attribute) {
  auto kernel = dyn_cast<KernelOp>(op);
  if (!kernel)
    return op->emitError("expected ") << attribute.getName() << " on a heddle.kernel only";
  auto error = [&] { return mlir::emitError(kernel.getArgument(arg).getLoc()); };
  return verifyAttribute(error, kernel.getArgumentTypes()[arg], attribute);
}

LogicalResult HeddleDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned result,
                                                         NamedAttribute attribute) {
  auto kernel = dyn_cast<KernelOp>(op);
  if (!kernel)
    return op->emitError("expected ") << attribute.getName() << " on a heddle.kernel only";
  return verifyAttribute([&] { return kernel.emitError(); }, kernel.getResultTypes()[result],
                         attribute);
}
