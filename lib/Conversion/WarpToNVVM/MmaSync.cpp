//===- MmaSync.cpp - accumulators in warp registers, operands through ldmatrix ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mma.sync m16n8: the warps of a role form a grid over the accumulator; each loads
// its operand fragments from shared memory with ldmatrix and multiplies 32 bytes of K
// at a time. Layouts of fragments: PTX ISA, "Matrix multiply-accumulate operation
// using mma instruction".
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

/// Operand spelling and K of one instruction (32 bytes); empty when there is none.
std::pair<StringRef, int64_t> instructionType(Type type, const target::Target &target) {
  if (type.isBF16())
    return {"bf16", 16};
  if (type.isF16())
    return {"f16", 16};
  if (type.isF32())
    return {"tf32", 8};
  if (target.has(target::Feature::Fp8Mma)) {
    if (isa<Float8E4M3FNType>(type))
      return {"e4m3", 32};
    if (isa<Float8E5M2Type>(type))
      return {"e5m2", 32};
  }
  return {"", 0};
}

class MmaSyncLowering : public MmaFamilyLowering {
public:
  using MmaFamilyLowering::MmaFamilyLowering;

  struct Grid {
    int64_t m, n;          ///< warps
    int64_t rows, cols;    ///< of one warp
    int64_t blocksM() const { return rows / 16; }
    int64_t blocksN() const { return cols / 8; }
  };

  static tuning::WarpGrid warpGrid(AccType type, int64_t warps) {
    tuning::Schedule s;
    s.tileM = type.getRows(), s.tileN = type.getCols(), s.mmaWarps = warps;
    return tuning::warpGrid(s, target::MmaFamily::MmaSync);
  }

  Grid grid(AccType type) {
    tuning::WarpGrid g = warpGrid(type, k.role.warps);
    return {g.m, g.n, type.getRows() / g.m, type.getCols() / g.n};
  }

  Type accType(AccType type) override {
    return VectorType::get(type.getRows() * type.getCols() / (32 * k.role.warps), e.getF32Type());
  }

  LogicalResult check(MmaOp op) override {
    TileType a = op.getA().getType(), b = op.getB().getType();
    AccType acc = op.getAcc().getType();
    bool bytes = a.getElementBytes() == 1 && b.getElementBytes() == 1;
    if (a.getElementType() != b.getElementType() && !bytes)
      return op.emitOpError("expected operands of one type, or two 8-bit float types, for mma.sync, got ")
             << a.getElementType() << " and " << b.getElementType();
    auto [name, kStep] = instructionType(a.getElementType(), k.target);
    if (name.empty())
      return op.emitOpError("expected operands that the tensor cores of ")
             << k.target.name.data() << " take, got " << a.getElementType();
    if (kStep != 16 && (a.getMajor() == Major::MN || b.getMajor() == Major::MN))
      return op.emitOpError("expected K-major operands: ldmatrix transposes 16-bit types only, got ")
             << (a.getMajor() == Major::MN ? a : b);
    if (a.getCols() % kStep)
      return op.emitOpError("expected K to be a multiple of ") << kStep << ", got " << a.getCols();
    auto roleOp = op->getParentOfType<RoleOp>();
    int64_t warps = roleOp ? roleOp.getNumWarps() : 1;
    tuning::WarpGrid g = warpGrid(acc, warps);
    if (!g.m || acc.getRows() % (16 * g.m) || acc.getCols() % (8 * g.n))
      return op.emitOpError("expected an accumulator that ")
             << warps << " warps can share in parts of 16 x 8, got " << acc;
    return success();
  }

  Value initialAcc(AccType type) override { return zeroAcc(type); }
  Value zeroAcc(AccType type) override {
    return e.make<arith::ConstantOp>(cast<TypedAttr>(e.getZeroAttr(accType(type))));
  }

  Value warpM(const Grid &g) { return e.div(k.role.warpInRole, e.i32(g.n)); }
  Value warpN(const Grid &g) { return e.rem(k.role.warpInRole, e.i32(g.n)); }

  /// Loads 16 x 32 bytes as four matrices, or 8 x 32 bytes as two. `mn0` is the first row of the
  /// operand (i32), `block` counts 16-row (or 8-row) blocks from it. A wants its matrices ordered
  /// (mn 0-7, k 0), (mn 8-15, k 0), (mn 0-7, k 1), (mn 8-15, k 1); B the middle two swapped.
  SmallVector<Value> fragment(TileType tile, Value base, Value mn0, int64_t offset, int64_t step,
                              bool isA, bool wide) {
    Value l = k.lane;
    Value low = e.bitAnd(l, 7), bit3 = e.bitAnd(e.shr(l, 3), 1), bit4 = e.bitAnd(e.shr(l, 4), 1);
    Value mnBit = isA ? bit3 : bit4, kBit = isA ? bit4 : bit3;
    SmallVector<Type> types(wide ? 4 : 2, e.getI32Type());
    if (tile.getMajor() == Major::K) {
      // Rows are mn, chunks of 16 bytes are k. Blocks are 8-row multiples: row & 7 stays.
      Value row = e.add(mn0, wide ? e.add(low, e.shl(mnBit, 3)) : low);
      Value chunk = e.bitXor(e.add(kBit, 2 * (step % 4)), low);
      Value address = e.add(e.add(base, e.shl(row, 7)), e.shl(chunk, 4));
      address = e.add(address, offset * 128 + step / 4 * tile.getPanelBytes());
      return e.make<ptx::LdMatrixOp>(types, address, UnitAttr()).getMatrices();
    }
    // Rows are k, chunks of 8 elements are mn; transposed on the way.
    Value kRow = e.add(e.add(low, e.shl(kBit, 3)), 16 * step);
    Value mn = e.add(mn0, offset);
    if (wide)
      mn = e.add(mn, e.shl(mnBit, 3));
    Value address = k.elementAddress(tile, base, mn, kRow);
    return e.make<ptx::LdMatrixOp>(types, address, e.getUnitAttr()).getMatrices();
  }

  FailureOr<Value> mma(MmaOp op, Value a, Value b, Value acc, Value accumulate) override {
    TileType aType = op.getA().getType(), bType = op.getB().getType();
    AccType type = op.getAcc().getType();
    Grid g = grid(type);
    int64_t kStep = instructionType(aType.getElementType(), k.target).second;
    if (!startsAsAcquired(op)) {
      Value zero = initialAcc(type);
      acc = e.select(accumulate, acc, zero);
    }
    if (op.isPromoted())
      return promoted(op, a, b, acc);
    int64_t total = cast<VectorType>(accType(type)).getNumElements();
    SmallVector<Value> values;
    for (int64_t i = 0; i < total; ++i)
      values.push_back(e.make<vector::ExtractOp>(acc, i));
    Value m0 = e.mul(warpM(g), g.rows), n0 = e.mul(warpN(g), g.cols);
    for (int64_t step = 0; step < aType.getCols() / kStep; ++step) {
      SmallVector<SmallVector<Value>> as, bs;
      for (int64_t i = 0; i < g.blocksM(); ++i)
        as.push_back(fragment(aType, a, m0, 16 * i, step, true, true));
      for (int64_t j = 0; j < g.blocksN(); j += 2) {
        bool wide = j + 1 < g.blocksN();
        SmallVector<Value> both = fragment(bType, b, n0, 8 * j, step, false, wide);
        bs.push_back({both[0], both[1]});
        if (wide)
          bs.push_back({both[2], both[3]});
      }
      for (int64_t i = 0; i < g.blocksM(); ++i)
        for (int64_t j = 0; j < g.blocksN(); ++j) {
          MutableArrayRef<Value> c = MutableArrayRef(values).slice((i * g.blocksN() + j) * 4, 4);
          llvm::copy(multiply(op, c, as[i], bs[j]), c.begin());
        }
    }
    return Value(e.make<vector::FromElementsOp>(cast<VectorType>(accType(type)), values));
  }

  /// One 16 x 8 part of a K step.
  ValueRange multiply(MmaOp op, ArrayRef<Value> acc, ArrayRef<Value> a, ArrayRef<Value> b) {
    SmallVector<Type> four(4, e.getF32Type());
    auto [name, kStep] = instructionType(op.getA().getType().getElementType(), k.target);
    StringRef bName = instructionType(op.getB().getType().getElementType(), k.target).first;
    auto result = e.make<ptx::MmaSyncOp>(four, acc, a, b, e.getStringAttr(name),
                                         bName == name ? StringAttr() : e.getStringAttr(bName),
                                         e.getI32IntegerAttr(kStep));
    return result.getResult();
  }

  /// The fragments of B stay for the whole K block; 16 rows of A and of partial sums at a time.
  Value promoted(MmaOp op, Value a, Value b, Value acc) {
    TileType aType = op.getA().getType(), bType = op.getB().getType();
    AccType type = op.getAcc().getType();
    Grid g = grid(type);
    int64_t steps = aType.getCols() / instructionType(aType.getElementType(), k.target).second;
    Value m0 = e.mul(warpM(g), g.rows), n0 = e.mul(warpN(g), g.cols);
    auto [row0, col0] = fragmentBase(type);
    int64_t unit = 8;
    if (op.hasScales())
      unit = rowsWithOneScale(op.getScales(false), type.getCols(), g.cols);
    int64_t shared = op.hasScales() ? rowsWithOneScale(op.getScales(true), type.getRows(), g.rows) : 1;
    int64_t rowUnit = shared < 16 ? 8 : shared;
    TileRows rows{rowUnit == 8 ? row0 : m0, {}}, columns{unit >= 8 ? n0 : col0, {}};
    for (int64_t row = 0; row < g.rows; row += rowUnit)
      rows.offsets.push_back(row);
    if (unit >= 8)
      for (int64_t col = 0; col < g.cols; col += unit)
        columns.offsets.push_back(col);
    else
      for (int64_t i = 0; i < 2 * g.blocksN(); ++i)
        columns.offsets.push_back(i / 2 * 8 + i % 2);
    ElementScales scales(k);
    if (op.hasScales())
      scales.load(op.getScales(true), rows, op.getScales(false), columns);
    SmallVector<SmallVector<SmallVector<Value>>> bs(steps); // by step, then block
    for (int64_t step = 0; step < steps; ++step)
      for (int64_t j = 0; j < g.blocksN(); j += 2) {
        bool wide = j + 1 < g.blocksN();
        SmallVector<Value> both = fragment(bType, b, n0, 8 * j, step, false, wide);
        bs[step].push_back({both[0], both[1]});
        if (wide)
          bs[step].push_back({both[2], both[3]});
      }
    Value zero = e.make<arith::ConstantOp>(e.getF32FloatAttr(0));
    SmallVector<Value> results;
    for (int64_t i = 0; i < g.blocksM(); ++i) {
      SmallVector<SmallVector<Value>> sums(g.blocksN(), SmallVector<Value>(4, zero));
      for (int64_t step = 0; step < steps; ++step) {
        SmallVector<Value> as = fragment(aType, a, m0, 16 * i, step, true, true);
        for (int64_t j = 0; j < g.blocksN(); ++j)
          llvm::copy(multiply(op, sums[j], as, bs[step][j]), sums[j].begin());
      }
      for (int64_t j = 0; j < g.blocksN(); ++j)
        for (int64_t h = 0; h < 2; ++h)
          for (int64_t p = 0; p < 2; ++p) {
            Value old = e.make<vector::ExtractOp>(acc, (i * g.blocksN() + j) * 4 + 2 * h + p);
            size_t column = unit >= 8 ? 8 * j / unit : 2 * j + p;
            size_t row = (16 * i + 8 * h) / rowUnit;
            results.push_back(scales.add(sums[j][2 * h + p], old, row, column));
          }
    }
    return e.make<vector::FromElementsOp>(cast<VectorType>(accType(type)), results);
  }

  std::pair<Value, Value> matrixBase(AccType type) override {
    Grid g = grid(type);
    return {e.mul(warpM(g), g.rows), e.mul(warpN(g), g.cols)};
  }

  std::pair<Value, Value> fragmentBase(AccType type) override {
    auto [row, col] = matrixBase(type);
    return {e.add(row, e.shr(k.lane, 2)), e.add(col, e.shl(e.bitAnd(k.lane, 3), 1))};
  }

  int64_t columnAlignment() const override { return 2; }
  bool hasMatrixFragments() const override { return true; }

  void forEachPiece(AccType type, Value acc, int64_t first, int64_t columns,
                    function_ref<void(ArrayRef<FragmentElement>)> visit) override {
    Grid g = grid(type);
    auto own = [&](int64_t from, int64_t to) { // columns of this warp, relative to its first
      for (int64_t i = 0; i < g.blocksM(); ++i)
        for (int64_t col = from; col < to; col += 16) {
          SmallVector<FragmentElement> piece;
          for (int64_t j = col / 8; j < std::min(col + 16, to) / 8; ++j)
            for (int64_t h = 0; h < 2; ++h)
              for (int64_t p = 0; p < 2; ++p) {
                int64_t index = (i * g.blocksN() + j) * 4 + 2 * h + p;
                piece.push_back({e.make<vector::ExtractOp>(acc, index), 16 * i + 8 * h, 8 * j + p});
              }
          visit(piece);
        }
    };
    if (first == 0 && columns == type.getCols()) {
      own(0, g.cols);
      return;
    }
    for (int64_t w = 0; w < g.n; ++w) {
      int64_t from = std::max(first, w * g.cols), to = std::min(first + columns, (w + 1) * g.cols);
      if (from >= to)
        continue;
      if (g.n == 1)
        own(from, to);
      else
        e.ifThen(e.eq(warpN(g), w), [&] { own(from - w * g.cols, to - w * g.cols); });
    }
  }

  void loopPieces(AccType type, Value acc, Value first, int64_t count, int64_t alignment,
                  int64_t elements, PieceVisitor visit) override {
    Grid g = grid(type);
    FragmentGrid fragments{g.blocksM(), 16, g.cols};
    int64_t columns = fragments.columnsAtOnce(elements, alignment);
    if (count == type.getCols())
      return loopFragments(acc, fragments, e.i32(0), e.i32(g.cols), columns, columns == g.cols,
                           visit);
    // What this warp has of the columns: perhaps nothing.
    Value from = e.sub(first, e.mul(warpN(g), g.cols)), to = e.add(from, count);
    loopFragments(acc, fragments, e.make<arith::MaxSIOp>(from, e.i32(0)), e.min(to, e.i32(g.cols)),
                  columns, /*once=*/false, visit);
  }
};

} // namespace

std::unique_ptr<MmaFamilyLowering> heddle::createMmaSyncLowering(KernelLowering &k) {
  return std::make_unique<MmaSyncLowering>(k);
}
