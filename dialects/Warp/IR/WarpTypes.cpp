//===- WarpTypes.cpp - tiles, accumulators, pipes ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/Warp/IR/WarpDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle::warp;

#define GET_TYPEDEF_CLASSES
#include "dialects/Warp/IR/WarpTypes.cpp.inc"

void WarpDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Warp/IR/WarpTypes.cpp.inc"
      >();
}

/// Parses `<` rows `x` cols `x` type.
static ParseResult parseShape(AsmParser &parser, int64_t &rows, int64_t &cols, Type &type) {
  SmallVector<int64_t, 2> dims;
  SMLoc loc;
  if (parser.parseLess() || parser.getCurrentLocation(&loc) ||
      parser.parseDimensionList(dims, /*allowDynamic=*/false))
    return failure();
  if (dims.size() != 2)
    return parser.emitError(loc, "expected 2 dimensions, got ") << dims.size();
  rows = dims[0], cols = dims[1];
  return parser.parseType(type);
}

static void printShape(AsmPrinter &printer, int64_t rows, int64_t cols, Type type) {
  printer << "<" << rows << "x" << cols << "x" << type;
}

Type TileType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  int64_t rows, cols;
  Type type;
  Major major = Major::K;
  if (parseShape(parser, rows, cols, type))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    StringRef word;
    SMLoc at = parser.getCurrentLocation();
    if (parser.parseKeyword(&word))
      return {};
    std::optional<Major> parsed = symbolizeMajor(word);
    if (!parsed)
      return parser.emitError(at, "expected k, mn or linear, got ") << word, Type();
    major = *parsed;
  }
  if (parser.parseGreater())
    return {};
  return TileType::getChecked([&] { return parser.emitError(loc); }, parser.getContext(), rows,
                              cols, type, major);
}

void TileType::print(AsmPrinter &printer) const {
  printShape(printer, getRows(), getCols(), getElementType());
  if (getMajor() == Major::MN)
    printer << ", mn";
  if (isLinear())
    printer << ", linear";
  printer << ">";
}

LogicalResult TileType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rows,
                               int64_t cols, Type type, Major major) {
  if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() % 8)
    return emitError() << "expected an element of whole bytes, got " << type;
  int64_t bytes = type.getIntOrFloatBitWidth() / 8;
  if (major == Major::Linear) {
    if (rows <= 0 || cols <= 0 || rows * cols * bytes % 128)
      return emitError() << "expected a linear tile of a multiple of 128 bytes, got " << rows << "x"
                         << cols << " of " << bytes;
    return success();
  }
  int64_t contiguous = major == Major::K ? cols : rows, strided = major == Major::K ? rows : cols;
  if (contiguous <= 0 || contiguous * bytes % 128)
    return emitError() << "expected the contiguous dimension of a tile to be a multiple of "
                       << 128 / bytes << " elements (128 bytes), got " << contiguous;
  if (strided <= 0 || strided % 8)
    return emitError() << "expected the other dimension of a tile to be a multiple of 8, got "
                       << strided;
  return success();
}

Type AccType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  int64_t rows, cols;
  Type type;
  if (parseShape(parser, rows, cols, type) || parser.parseGreater())
    return {};
  return AccType::getChecked([&] { return parser.emitError(loc); }, parser.getContext(), rows,
                             cols, type);
}

void AccType::print(AsmPrinter &printer) const {
  printShape(printer, getRows(), getCols(), getElementType());
  printer << ">";
}

LogicalResult AccType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rows,
                              int64_t cols, Type type) {
  if (!type.isF32())
    return emitError() << "expected an accumulator of f32, got " << type;
  if (rows <= 0 || rows % 16)
    return emitError() << "expected accumulator rows to be a multiple of 16, got " << rows;
  if (cols <= 0 || cols % 8)
    return emitError() << "expected accumulator columns to be a multiple of 8, got " << cols;
  return success();
}

LogicalResult SpreadType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t elements,
                                 int64_t width) {
  if (width < 1 || width > 16 || (width & (width - 1)))
    return emitError() << "expected a width of 1, 2, 4, 8 or 16 elements, got " << width;
  if (elements < 1 || elements % width)
    return emitError() << "expected a multiple of " << width << " elements, got " << elements;
  return success();
}

LogicalResult PipeType::verify(function_ref<InFlightDiagnostic()> emitError, Link link,
                               int64_t depth, ArrayRef<Type> elements) {
  if (depth < 1 || depth > 64)
    return emitError() << "expected 1 to 64 slots, got " << depth;
  if (link == Link::Regs && depth != 1)
    return emitError() << "expected a regs pipe to have 1 slot, got " << depth;
  if (link == Link::Peer) {
    if (depth != 1)
      return emitError() << "expected a peer pipe to have 1 slot, got " << depth;
    for (Type t : elements)
      if (!isa<MemRefType>(t))
        return emitError() << "expected slots of a peer pipe to be memrefs, got " << t;
    return success();
  }
  if (elements.empty())
    return emitError() << "expected a slot to hold something";
  bool wantTiles = link == Link::Smem || link == Link::Cluster;
  for (Type t : elements) {
    if (wantTiles && !isa<TileType>(t))
      return emitError() << "expected slots of a " << stringifyLink(link)
                         << " pipe to hold tiles, got " << t;
    if (!wantTiles && !isa<AccType>(t))
      return emitError() << "expected slots of a " << stringifyLink(link)
                         << " pipe to hold accumulators, got " << t;
  }
  if (!wantTiles && elements.size() != 1)
    return emitError() << "expected one accumulator a slot, got " << elements.size();
  return success();
}

int64_t PipeType::getSlotBytes() const {
  int64_t bytes = 0;
  for (Type t : getElements())
    if (auto tile = dyn_cast<TileType>(t))
      bytes += tile.getBytes();
  return bytes;
}
