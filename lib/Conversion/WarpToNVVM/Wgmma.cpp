//===- Wgmma.cpp - accumulators in warpgroup registers, operands in shared memory ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// wgmma.mma_async: m64, N up to 256, operands by descriptors of the 128-byte swizzle,
// accumulators spread over the 128 threads of a warpgroup (PTX ISA, "Asynchronous
// warpgroup level matrix instructions"). A role of n warpgroups splits the rows.
//
//===----------------------------------------------------------------------===//
#include "Promotion.h"
#include "dialects/PTX/IR/PTXDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::warp;

namespace {

/// Operand spelling and K of one instruction; empty when wgmma lacks the type.
std::pair<StringRef, int64_t> instructionType(Type type) {
  if (type.isBF16())
    return {"bf16", 16};
  if (type.isF16())
    return {"f16", 16};
  if (type.isF32())
    return {"tf32", 8};
  if (isa<Float8E4M3FNType>(type))
    return {"e4m3", 32};
  if (isa<Float8E5M2Type>(type))
    return {"e5m2", 32};
  return {"", 0};
}

class WgmmaLowering : public MmaFamilyLowering {
public:
  using MmaFamilyLowering::MmaFamilyLowering;

  int64_t warpgroups() { return k.role.warps / 4; }
  /// 64-row blocks of one warpgroup.
  int64_t blocks(AccType type) { return type.getRows() / 64 / warpgroups(); }
  int64_t perBlock(AccType type) { return type.getCols() / 2; }

  Type accType(AccType type) override {
    return VectorType::get(blocks(type) * perBlock(type), e.getF32Type());
  }

  LogicalResult check(MmaOp op) override {
    TileType a = op.getA().getType(), b = op.getB().getType();
    AccType acc = op.getAcc().getType();
    bool bytes = a.getElementBytes() == 1 && b.getElementBytes() == 1;
    if (a.getElementType() != b.getElementType() && !bytes)
      return op.emitOpError("expected operands of one type, or two 8-bit float types, for wgmma, got ")
             << a.getElementType() << " and " << b.getElementType();
    auto [name, kStep] = instructionType(a.getElementType());
    if (name.empty())
      return op.emitOpError("expected bf16, f16, f32 (tf32) or 8-bit float operands for wgmma, got ")
             << a.getElementType();
    if (kStep != 16 && (a.getMajor() == Major::MN || b.getMajor() == Major::MN))
      return op.emitOpError("expected K-major operands: wgmma transposes 16-bit types only, got ")
             << (a.getMajor() == Major::MN ? a : b);
    if (a.getMajor() == Major::K && a.getNumPanels() != 1)
      return op.emitOpError("expected K of one 128-byte panel, got ") << a;
    auto roleOp = op->getParentOfType<RoleOp>();
    if (!roleOp || roleOp.getNumWarps() % 4 || roleOp.getFirstWarp() % 4)
      return op.emitOpError("expected a role of whole warpgroups for wgmma, got ")
             << (roleOp ? int64_t(roleOp.getNumWarps()) : 0) << " warps";
    int64_t groups = roleOp.getNumWarps() / 4;
    if (acc.getRows() % (64 * groups))
      return op.emitOpError("expected accumulator rows to be a multiple of 64 for each of ")
             << groups << " warpgroups, got " << acc.getRows();
    if (acc.getCols() > 256)
      return op.emitOpError("expected at most 256 accumulator columns for wgmma, got ") << acc.getCols();
    return success();
  }

  /// Multiplications that promote add to it; others are told when to overwrite.
  Value initialAcc(AccType type) override {
    bool promotes = k.kernel->walk([](MmaOp op) {
                                return op.isPromoted() ? WalkResult::interrupt()
                                                       : WalkResult::advance();
                              })
                        .wasInterrupted();
    if (promotes)
      return zeroAcc(type);
    return e.make<LLVM::UndefOp>(accType(type));
  }
  Value zeroAcc(AccType type) override {
    return e.make<arith::ConstantOp>(cast<TypedAttr>(e.getZeroAttr(accType(type))));
  }

  /// Warpgroup of this thread within the role, known to be uniform.
  Value warpgroup() { return e.shr(k.role.warpInRole, 2); }

  /// The descriptor of rows [row, ...) of a tile: 128-byte swizzle; the offset between 8-row
  /// groups is 1024 bytes; between panels (MN-major) it is the panel's size.
  Value descriptor(TileType tile, Value address, Value row) {
    Value at;
    uint64_t leading = 1;
    if (tile.getMajor() == Major::K) {
      at = e.add(address, e.shl(row, 7));
    } else {
      at = e.add(address, e.mul(e.div(row, e.i32(tile.getPanelElements())), tile.getPanelBytes()));
      leading = tile.getPanelBytes() >> 4;
    }
    Value start = e.bitAnd(e.shr(at, 4), 0x3fff);
    uint64_t rest = (uint64_t(1) << 62) | (uint64_t(1024 >> 4) << 32) | (leading << 16);
    return e.bitOr(e.make<arith::ExtUIOp>(e.getI64Type(), start), e.i64(rest));
  }

  /// The K block of 64 rows from `row` on, added to `acc` where `flag` (i32) is not 0.
  ValueRange multiply(MmaOp op, Value a, Value bDesc, Value row, ArrayRef<Value> acc, Value flag) {
    TileType aType = op.getA().getType(), bType = op.getB().getType();
    auto [name, kStep] = instructionType(aType.getElementType());
    StringRef bName = instructionType(bType.getElementType()).first;
    auto step = [&, kStep = kStep](TileType tile) {
      return tile.getMajor() == Major::K ? kStep * tile.getElementBytes() / 16 : kStep * 128 / 16;
    };
    auto attr = [&](int64_t v) { return e.getI32IntegerAttr(v); };
    SmallVector<Type> types(acc.size(), e.getF32Type());
    auto block = e.make<ptx::WgmmaBlockOp>(
        types, acc, descriptor(aType, a, row), bDesc, flag, e.getStringAttr(name),
        bName == name ? StringAttr() : e.getStringAttr(bName), attr(op.getAcc().getType().getCols()),
        attr(kStep), attr(aType.getCols() / kStep), attr(step(aType)), attr(step(bType)),
        aType.getMajor() == Major::MN ? e.getUnitAttr() : UnitAttr(),
        bType.getMajor() == Major::MN ? e.getUnitAttr() : UnitAttr());
    return block.getResult();
  }

  Value blockRow(AccType type, int64_t block) {
    return e.add(e.mul(warpgroup(), blocks(type) * 64), block * 64);
  }

  FailureOr<Value> mma(MmaOp op, Value a, Value b, Value acc, Value accumulate) override {
    if (op.isPromoted())
      return promoted(op, a, b, acc, accumulate);
    AccType type = op.getAcc().getType();
    int64_t count = perBlock(type), total = blocks(type) * count;
    Value flag = e.toI32(accumulate);
    Value bDesc = descriptor(op.getB().getType(), b, e.i32(0));
    SmallVector<Value> all = elements(acc, total), results;
    for (int64_t block = 0; block < blocks(type); ++block)
      llvm::append_range(results, multiply(op, a, bDesc, blockRow(type, block),
                                           ArrayRef(all).slice(block * count, count), flag));
    return Value(e.make<vector::FromElementsOp>(cast<VectorType>(accType(type)), results));
  }

  /// One set of partial sums serves the 64-row blocks one after the other; while a block is
  /// added up, the tensor core has another warpgroup's.
  Value promoted(MmaOp op, Value a, Value b, Value acc, Value accumulate) {
    AccType type = op.getAcc().getType();
    int64_t count = perBlock(type);
    if (!startsAsAcquired(op))
      acc = e.select(accumulate, acc, zeroAcc(type));
    SmallVector<Value> all = elements(acc, blocks(type) * count), partial, results;
    for (int64_t i = 0; i < count; ++i)
      partial.push_back(e.make<LLVM::UndefOp>(e.getF32Type()));
    // Always 0, which ptxas does not know: a product that might add to its registers keeps those
    // of the block before, where another set would spill.
    Value overwrite = blocks(type) > 1 ? e.shr(k.warp, 16) : e.i32(0);
    // Columns that share a scale, else this thread's two of each eight.
    int64_t unit = 8;
    if (op.hasScales())
      unit = rowsWithOneScale(op.getScales(false), type.getCols(), type.getCols());
    bool rowwise = op.hasScales() && rowsWithOneScale(op.getScales(true), type.getRows(), 64) < 64;
    auto place = [&] {
      auto [row0, col0] = fragmentBase(type);
      TileRows rows{rowwise ? row0 : blockRow(type, 0), {}}, columns{unit >= 8 ? e.i32(0) : col0, {}};
      for (int64_t block = 0; block < blocks(type); ++block)
        for (int64_t h = 0; h < (rowwise ? 2 : 1); ++h)
          rows.offsets.push_back(block * 64 + 8 * h);
      if (unit >= 8)
        for (int64_t col = 0; col < type.getCols(); col += unit)
          columns.offsets.push_back(col);
      else
        for (int64_t i = 0; i < type.getCols() / 4; ++i)
          columns.offsets.push_back(i / 2 * 8 + i % 2);
      return std::pair(rows, columns);
    };
    ElementScales scales(k);
    if (op.hasScales() && unit >= 8) {
      scales.loadAhead(op.getScales(true), op.getScales(false), place);
    } else if (op.hasScales()) {
      auto [rows, columns] = place();
      scales.load(op.getScales(true), rows, op.getScales(false), columns);
    }
    Value bDesc = descriptor(op.getB().getType(), b, e.i32(0));
    SmallVector<Type> types(count, e.getF32Type());
    for (int64_t block = 0; block < blocks(type); ++block) {
      ValueRange sums =
          multiply(op, a, bDesc, blockRow(type, block), partial, block ? overwrite : e.i32(0));
      if (block == 0)
        scales.fetchNext();
      auto ready = e.make<ptx::WgmmaWaitOp>(types, sums, e.getI32IntegerAttr(0));
      llvm::copy(ready.getResult(), partial.begin());
      if (block + 1 == blocks(type))
        k.releaseEarly(op);
      // Element 4j + 2h + p is row 8h, column 8j + p.
      for (int64_t i = 0; i < count; ++i) {
        int64_t j = i / 4, h = i / 2 % 2, p = i % 2;
        size_t column = unit >= 8 ? 8 * j / unit : 2 * j + p;
        size_t row = rowwise ? 2 * block + h : block;
        results.push_back(scales.add(ready.getResult()[i], all[block * count + i], row, column));
      }
    }
    return e.make<vector::FromElementsOp>(cast<VectorType>(accType(type)), results);
  }

  SmallVector<Value> elements(Value acc, int64_t total) {
    SmallVector<Value> out;
    for (int64_t i = 0; i < total; ++i)
      out.push_back(e.make<vector::ExtractOp>(acc, i));
    return out;
  }

  Value wait(Value acc, AccType type) override {
    int64_t total = blocks(type) * perBlock(type);
    SmallVector<Value> all = elements(acc, total);
    SmallVector<Type> types(total, e.getF32Type());
    auto op = e.make<ptx::WgmmaWaitOp>(types, all, e.getI32IntegerAttr(0));
    return e.make<vector::FromElementsOp>(cast<VectorType>(accType(type)), op.getResult());
  }

  /// Groups of this iteration: one a 64-row block and mma.
  void waitLagged(unsigned groups) override {
    int64_t perMma = 1;
    k.role.op.walk([&](MmaOp op) {
      if (!op.isPromoted())
        perMma = blocks(op.getAcc().getType());
    });
    e.make<ptx::WgmmaWaitOp>(TypeRange(), ValueRange(), e.getI32IntegerAttr(groups * perMma));
  }

  std::pair<Value, Value> matrixBase(AccType type) override {
    Value row = e.add(e.mul(warpgroup(), blocks(type) * 64), e.shl(e.bitAnd(k.role.warpInRole, 3), 4));
    return {row, e.i32(0)};
  }

  std::pair<Value, Value> fragmentBase(AccType type) override {
    Value row = matrixBase(type).first;
    return {e.add(row, e.shr(k.lane, 2)), e.shl(e.bitAnd(k.lane, 3), 1)};
  }

  int64_t columnAlignment() const override { return 2; }
  bool hasMatrixFragments() const override { return true; }

  /// 16 columns at a time: element 4j + 2h + p is row 8h, column 8j + p.
  void forEachPiece(AccType type, Value acc, int64_t first, int64_t columns,
                    function_ref<void(ArrayRef<FragmentElement>)> visit) override {
    for (int64_t block = 0; block < blocks(type); ++block)
      for (int64_t col = first; col < first + columns; col += 16) {
        SmallVector<FragmentElement> piece;
        for (int64_t j = col / 8; j < (std::min(col + 16, first + columns)) / 8; ++j)
          for (int64_t h = 0; h < 2; ++h)
            for (int64_t p = 0; p < 2; ++p) {
              int64_t index = block * perBlock(type) + 4 * j + 2 * h + p;
              piece.push_back({e.make<vector::ExtractOp>(acc, index), block * 64 + 8 * h, 8 * j + p});
            }
        visit(piece);
      }
  }

  void loopPieces(AccType type, Value acc, Value first, int64_t count, int64_t alignment,
                  int64_t elements, PieceVisitor visit) override {
    FragmentGrid grid{blocks(type), 64, type.getCols()};
    int64_t columns = grid.columnsAtOnce(elements, alignment);
    loopFragments(acc, grid, first, e.add(first, count), columns, columns == count, visit);
  }
};

} // namespace

std::unique_ptr<MmaFamilyLowering> heddle::createWgmmaLowering(KernelLowering &k) {
  return std::make_unique<WgmmaLowering>(k);
}
