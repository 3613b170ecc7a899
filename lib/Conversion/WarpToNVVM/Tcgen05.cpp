//===- Tcgen05.cpp - accumulators in tensor memory, operands in shared memory ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// tcgen05.mma of one CTA: m128, N up to 256, issued by one thread, operands by
// descriptors of the 128-byte swizzle. An accumulator is 128 lanes of tensor memory by N
// columns of 32 bits; as a value it is its address (i32: lane << 16 | column), or, when it was
// summed up by the warps that read tensor memory, a vector of each thread's row. Warps that
// read it reach the 32 lanes of their quarter (PTX ISA, "TensorCore 5th generation
// family instructions"). Pairs of CTAs and m64 are not used.
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

constexpr int64_t lanes = 128;    ///< of tensor memory: rows of an accumulator
constexpr int64_t widePiece = 32; ///< columns one warp reads at once
constexpr int64_t pieceUnit = 16; ///< columns are read in multiples of this

/// What the instruction and its descriptor call an operand type.
struct OperandType {
  NVVM::Tcgen05MMAKind kind;
  unsigned code; ///< in the instruction descriptor
};

std::optional<OperandType> operandType(Type type) {
  using Kind = NVVM::Tcgen05MMAKind;
  if (type.isF16())
    return OperandType{Kind::F16, 0};
  if (type.isBF16())
    return OperandType{Kind::F16, 1};
  if (type.isF32())
    return OperandType{Kind::TF32, 2};
  if (isa<Float8E4M3FNType>(type))
    return OperandType{Kind::F8F6F4, 0};
  if (isa<Float8E5M2Type>(type))
    return OperandType{Kind::F8F6F4, 1};
  return std::nullopt;
}

/// K of one instruction: 32 bytes.
int64_t stepElements(TileType tile) { return 32 / tile.getElementBytes(); }

class Tcgen05Lowering : public MmaFamilyLowering {
public:
  using MmaFamilyLowering::MmaFamilyLowering;

  Type accType(AccType) override { return e.getI32Type(); }
  Value initialAcc(AccType) override { return e.i32(0); } // pipes give addresses; see check()
  LogicalResult check(MmaOp op) override;
  FailureOr<Value> mma(MmaOp op, Value a, Value b, Value acc, Value accumulate) override;
  Value zeroAcc(AccType type) override;
  FailureOr<Value> promote(PromoteOp op, Value partial, Value acc) override;
  void commitTo(Value barrier, Value ctas) override {
    e.make<NVVM::Tcgen05CommitOp>(shared(barrier), ctas);
  }

  int64_t columnAlignment() const override { return pieceUnit; }
  std::pair<Value, Value> fragmentBase(AccType type) override;
  void forEachPiece(AccType type, Value acc, int64_t first, int64_t count,
                    function_ref<void(ArrayRef<FragmentElement>)> visit) override;
  void loopPieces(AccType type, Value acc, Value first, int64_t count, int64_t alignment,
                  int64_t elements, PieceVisitor visit) override;

  void prologue(int64_t tmemColumns, int64_t slotOffset) override;
  void afterBarrier(int64_t tmemColumns, int64_t slotOffset) override;
  void epilogue(int64_t tmemColumns, int64_t slotOffset) override;
  Value tmemBase() override { return base; }

private:
  LogicalResult checkOperand(MmaOp op, TileType tile);
  LogicalResult checkReaders(MmaOp op);
  Value descriptor(TileType tile, Value address);
  int64_t stepOffset(TileType tile, int64_t step);
  Value shared(Value address) { return pointer(address, 3); }
  Value tensor(Value address) { return pointer(address, 6); }
  Value pointer(Value address, unsigned space) {
    return e.make<LLVM::IntToPtrOp>(LLVM::LLVMPointerType::get(e.getContext(), space), address);
  }
  /// Quarter of tensor memory this warp reaches; roles that read start at a multiple of 4.
  Value quarter() { return e.bitAnd(k.role.warpInRole, 3); }
  /// Groups of four warps that share the columns.
  int64_t groups() { return k.role.warps / 4; }

  Value base; ///< i32, of the CTA's tensor memory
};

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

LogicalResult Tcgen05Lowering::checkOperand(MmaOp op, TileType tile) {
  if (!operandType(tile.getElementType()))
    return op.emitOpError(
               "expected bf16, f16, f32 (tf32) or 8-bit float operands for tcgen05, got ")
           << tile.getElementType();
  if (tile.getMajor() == Major::MN && tile.getElementBytes() != 2)
    return op.emitOpError("expected K-major operands: of 16-bit types only are tiles of the "
                          "other order multiplied, got ")
           << tile;
  if (tile.getCols() % stepElements(tile))
    return op.emitOpError("expected K to be a multiple of ")
           << stepElements(tile) << ", got " << tile;
  return success();
}

/// Warps w of a role that reads tensor memory reach lanes 32 * (w % 4) on, wherever the role
/// starts.
LogicalResult Tcgen05Lowering::checkReaders(MmaOp op) {
  WalkResult result = k.kernel.walk([&](RoleOp role) {
    bool reads = false;
    role.walk([&](WaitOp wait) { reads |= wait.getPipe().getType().getLink() == Link::Tmem; });
    if (!reads)
      return WalkResult::advance();
    if (role.getFirstWarp() % 4 || role.getNumWarps() % 4) {
      role.emitOpError("expected whole warpgroups to read tensor memory, got warps ")
          << role.getFirstWarp() << " to " << role.getEndWarp();
      return WalkResult::interrupt();
    }
    int64_t unit = role.getNumWarps() / 4 * pieceUnit;
    return role.walk([&](Operation *reader) {
      int64_t first = 0, columns = 0;
      if (auto store = dyn_cast<StoreOp>(reader))
        columns = store.getAcc().getType().getCols();
      else if (auto pack = dyn_cast<PackOp>(reader))
        first = pack.getFirst(), columns = pack.getTile().getType().getCols();
      if (first % pieceUnit || columns % unit) {
        reader->emitOpError("expected columns in multiples of ")
            << unit << " for " << role.getNumWarps() << " warps that read tensor memory, got "
            << first << " to " << first + columns;
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
  });
  return failure(result.wasInterrupted());
}

LogicalResult Tcgen05Lowering::check(MmaOp op) {
  TileType a = op.getA().getType(), b = op.getB().getType();
  AccType acc = op.getAcc().getType();
  if (failed(checkOperand(op, a)) || failed(checkOperand(op, b)))
    return failure();
  // Of 8-bit types any two multiply; of the others only equal ones.
  NVVM::Tcgen05MMAKind kind = operandType(a.getElementType())->kind;
  if (a.getElementType() != b.getElementType() &&
      (kind != NVVM::Tcgen05MMAKind::F8F6F4 || kind != operandType(b.getElementType())->kind))
    return op.emitOpError(
               "expected operands of one type, or two 8-bit float types, for tcgen05, got ")
           << a.getElementType() << " and " << b.getElementType();
  if (acc.getRows() != lanes)
    return op.emitOpError("expected ")
           << lanes << " accumulator rows for tcgen05, got " << acc.getRows();
  if (acc.getCols() % 16 || acc.getCols() > 256)
    return op.emitOpError(
               "expected accumulator columns to be a multiple of 16 up to 256 for tcgen05, got ")
           << acc.getCols();
  auto role = op->getParentOfType<RoleOp>();
  if (!role || !k.isSingleThreaded(role))
    return op.emitOpError(
        "expected a role whose work one thread can issue, got one with work for threads");
  if (op.isPromoted())
    return op.emitOpError("expected sums that stay in tensor memory: run warp-split-promotion first");
  bool regs = false;
  k.kernel.walk([&](PipeOp pipe) { regs |= pipe.getPipe().getType().getLink() == Link::Regs; });
  if (regs)
    return op.emitOpError("expected accumulators in tensor memory, got a pipe of link regs");
  if (!k.kernel->hasAttr("tmem_columns"))
    return op.emitOpError("expected a kernel with attribute tmem_columns: run warp-allocate first");
  return checkReaders(op);
}

//===----------------------------------------------------------------------===//
// Multiplication
//===----------------------------------------------------------------------===//

/// Descriptor of a tile in the 128-byte swizzle (2 in bits 61-63; bits 46-48 are 0b001).
/// Groups of 8 rows follow each other at 1024 bytes; panels of an MN-major tile at their
/// size, which a K-major one ignores (PTX ISA, "tcgen05 shared memory descriptor").
Value Tcgen05Lowering::descriptor(TileType tile, Value address) {
  uint64_t leading = tile.getMajor() == Major::K ? 1 : tile.getPanelBytes() >> 4;
  uint64_t rest =
      (uint64_t(2) << 61) | (uint64_t(1) << 46) | (uint64_t(1024 >> 4) << 32) | (leading << 16);
  Value start = e.bitAnd(e.shr(address, 4), 0x3fff);
  return e.bitOr(e.make<arith::ExtUIOp>(e.getI64Type(), start), e.i64(rest));
}

/// Where the operand of an instruction begins, in 16-byte units from the tile's start.
int64_t Tcgen05Lowering::stepOffset(TileType tile, int64_t step) {
  int64_t kIndex = step * stepElements(tile);
  if (tile.getMajor() == Major::MN)
    return kIndex * 128 / 16;
  int64_t panel = kIndex / tile.getPanelElements(), within = kIndex % tile.getPanelElements();
  return (panel * tile.getPanelBytes() + within * tile.getElementBytes()) / 16;
}

FailureOr<Value> Tcgen05Lowering::mma(MmaOp op, Value a, Value b, Value acc, Value accumulate) {
  TileType aType = op.getA().getType(), bType = op.getB().getType();
  AccType type = op.getAcc().getType();
  OperandType aOperand = *operandType(aType.getElementType());
  OperandType bOperand = *operandType(bType.getElementType());
  // PTX ISA, "Instruction descriptor": f32 accumulators in bits 4-5, types of a and b from 7
  // and 10, transposition at 15 and 16, N / 8 from 17, M / 16 from 24.
  int64_t code = 1 << 4 | aOperand.code << 7 | bOperand.code << 10 |
                 int64_t(aType.getMajor() == Major::MN) << 15 |
                 int64_t(bType.getMajor() == Major::MN) << 16 | type.getCols() / 8 << 17 |
                 type.getRows() / 16 << 24;
  Value instruction = e.i32(code), target = tensor(acc);
  Value aDesc = descriptor(aType, a), bDesc = descriptor(bType, b);
  Value more = e.i1(true);
  for (int64_t step = 0, steps = aType.getCols() / stepElements(aType); step < steps; ++step)
    e.make<NVVM::Tcgen05MMAOp>(aOperand.kind, NVVM::CTAGroupKind::CTA_1,
                               NVVM::Tcgen05MMACollectorOp::DISCARD, /*aShift=*/false, target,
                               e.add(aDesc, stepOffset(aType, step)),
                               e.add(bDesc, stepOffset(bType, step)), instruction,
                               step == 0 ? accumulate : more, /*scaleInputD=*/Value(),
                               /*disableOutputLane=*/Value());
  return acc;
}

//===----------------------------------------------------------------------===//
// Reading accumulators
//===----------------------------------------------------------------------===//

/// A thread has one row; with several groups of warps, group g takes columns 16 * g to
/// 16 * g + 15 of each 16 * groups.
std::pair<Value, Value> Tcgen05Lowering::fragmentBase(AccType) {
  Value row = e.add(e.shl(quarter(), 5), k.lane);
  Value col = groups() == 1 ? e.i32(0) : e.mul(e.shr(k.role.warpInRole, 2), pieceUnit);
  return {row, col};
}

/// The next piece is on its way while one is visited.
void Tcgen05Lowering::forEachPiece(AccType, Value acc, int64_t first, int64_t count,
                                   function_ref<void(ArrayRef<FragmentElement>)> visit) {
  if (isa<VectorType>(acc.getType())) {
    for (int64_t at = first; at < first + count; at += pieceUnit) {
      SmallVector<FragmentElement> elements;
      for (int64_t c = at; c < at + pieceUnit; ++c)
        elements.push_back({e.make<vector::ExtractOp>(acc, c), 0, c});
      visit(elements);
    }
    return;
  }
  Value address = e.add(e.add(acc, e.shl(quarter(), 21)), first);
  if (groups() > 1)
    address = e.add(address, e.mul(e.shr(k.role.warpInRole, 2), pieceUnit));
  SmallVector<std::pair<int64_t, int64_t>> pieces; // first column, columns
  for (int64_t at = 0; at < count;) {
    int64_t width = groups() == 1 && count - at >= widePiece ? widePiece : pieceUnit;
    pieces.push_back({at, width});
    at += width * groups();
  }
  auto load = [&](std::pair<int64_t, int64_t> piece) {
    SmallVector<Type> types(piece.second, e.getF32Type());
    return SmallVector<Value>(
        e.make<ptx::Tcgen05LoadOp>(types, e.add(address, piece.first)).getResult());
  };
  SmallVector<Value> next = load(pieces.front());
  for (size_t i = 0; i < pieces.size(); ++i) {
    SmallVector<Type> types(next.size(), e.getF32Type());
    auto ready = e.make<ptx::Tcgen05WaitLoadOp>(types, next);
    if (i + 1 < pieces.size())
      next = load(pieces[i + 1]);
    SmallVector<FragmentElement> elements;
    for (auto [c, value] : llvm::enumerate(ready.getResult()))
      elements.push_back({value, 0, first + pieces[i].first + static_cast<int64_t>(c)});
    visit(elements);
  }
}

void Tcgen05Lowering::loopPieces(AccType, Value acc, Value first, int64_t count, int64_t,
                                 int64_t elements, PieceVisitor visit) {
  if (isa<VectorType>(acc.getType())) {
    e.loop(first, e.add(first, count), pieceUnit, [&](Value column) {
      SmallVector<Value> values =
          selectElements(e, acc, e.div(column, e.i32(pieceUnit)), pieceUnit);
      SmallVector<FragmentElement> piece;
      for (auto [c, value] : llvm::enumerate(values))
        piece.push_back({value, 0, static_cast<int64_t>(c)});
      visit(piece, e.i32(0), column);
    });
    return;
  }
  Value address = e.add(acc, e.shl(quarter(), 21));
  if (groups() > 1)
    address = e.add(address, e.mul(e.shr(k.role.warpInRole, 2), pieceUnit));
  bool wide = groups() == 1 && elements >= widePiece && count % widePiece == 0;
  int64_t width = wide ? widePiece : pieceUnit;
  auto body = [&](Value column) {
    SmallVector<Type> types(width, e.getF32Type());
    auto load = e.make<ptx::Tcgen05LoadOp>(types, e.add(address, column));
    auto ready = e.make<ptx::Tcgen05WaitLoadOp>(types, load.getResult());
    SmallVector<FragmentElement> piece;
    for (auto [c, value] : llvm::enumerate(ready.getResult()))
      piece.push_back({value, 0, static_cast<int64_t>(c)});
    visit(piece, e.i32(0), column);
  };
  if (count == width * groups())
    body(first);
  else
    e.loop(first, e.add(first, count), width * groups(), body);
}

//===----------------------------------------------------------------------===//
// Promotion
//===----------------------------------------------------------------------===//

Value Tcgen05Lowering::zeroAcc(AccType type) {
  auto row = VectorType::get(type.getCols(), e.getF32Type());
  return e.make<arith::ConstantOp>(cast<TypedAttr>(e.getZeroAttr(row)));
}

FailureOr<Value> Tcgen05Lowering::promote(PromoteOp op, Value partial, Value acc) {
  if (groups() != 1)
    return op.emitOpError("expected 4 warps, one a row of the accumulator each, got ") << k.role.warps;
  AccType type = op.getAcc().getType();
  int64_t unit = pieceUnit;
  ElementScales scales(k);
  auto columns = [&](int64_t first, int64_t count) {
    TileRows rows{e.i32(0), {}};
    for (int64_t col = first; col < first + count; col += unit)
      rows.offsets.push_back(col);
    return rows;
  };
  if (op.hasScales()) {
    unit = rowsWithOneScale(op.getScales(false), type.getCols(), type.getCols());
    TileRows row{fragmentBase(type).first, {0}};
    scales.load(op.getScales(true), row, op.getScales(false),
                columns(0, unit < pieceUnit ? 0 : type.getCols()));
  }
  SmallVector<Value> sums;
  forEachPiece(type, partial, 0, type.getCols(), [&](ArrayRef<FragmentElement> piece) {
    int64_t first = 0;
    // Scales of many columns only while these are at hand.
    if (unit < pieceUnit)
      scales.loadColumns(op.getScales(false), columns(first = piece[0].col, piece.size()));
    for (const FragmentElement &element : piece) {
      Value old = e.make<vector::ExtractOp>(acc, element.col);
      sums.push_back(scales.add(element.value, old, 0, (element.col - first) / unit));
    }
  });
  return Value(e.make<vector::FromElementsOp>(cast<VectorType>(acc.getType()), sums));
}

//===----------------------------------------------------------------------===//
// Tensor memory of the CTA
//===----------------------------------------------------------------------===//

/// Warp 0 allocates. Giving up the permit lets the next CTA of the multiprocessor allocate.
void Tcgen05Lowering::prologue(int64_t tmemColumns, int64_t slotOffset) {
  if (!tmemColumns)
    return;
  e.ifThen(e.eq(k.warp, 0), [&] {
    k.syncWarp();
    e.make<NVVM::Tcgen05AllocOp>(shared(e.add(k.sharedBase, slotOffset)), e.i32(tmemColumns));
    e.make<NVVM::Tcgen05RelinquishAllocPermitOp>();
  });
  e.make<NVVM::Tcgen05FenceOp>(NVVM::Tcgen05FenceKind::BEFORE_THREAD_SYNC);
}

void Tcgen05Lowering::afterBarrier(int64_t tmemColumns, int64_t slotOffset) {
  if (!tmemColumns)
    return;
  e.make<NVVM::Tcgen05FenceOp>(NVVM::Tcgen05FenceKind::AFTER_THREAD_SYNC);
  base = e.make<LLVM::LoadOp>(e.getI32Type(), shared(e.add(k.sharedBase, slotOffset)),
                              /*alignment=*/4, /*isVolatile=*/true);
}

/// Warp 0 frees, once nobody uses it any more.
void Tcgen05Lowering::epilogue(int64_t tmemColumns, int64_t slotOffset) {
  if (!tmemColumns)
    return;
  k.syncWarp();
  e.make<NVVM::Tcgen05FenceOp>(NVVM::Tcgen05FenceKind::BEFORE_THREAD_SYNC);
  e.make<NVVM::BarrierOp>();
  e.ifThen(e.eq(k.warp, 0), [&] {
    e.make<NVVM::Tcgen05FenceOp>(NVVM::Tcgen05FenceKind::AFTER_THREAD_SYNC);
    e.make<NVVM::Tcgen05DeallocOp>(tensor(base), e.i32(tmemColumns));
  });
}

} // namespace

std::unique_ptr<MmaFamilyLowering> heddle::createTcgen05Lowering(KernelLowering &k) {
  return std::make_unique<Tcgen05Lowering>(k);
}
