//===- ElementLoops.cpp - element work in loops instead of straight-line code ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread holds up to 256 accumulator elements. Straight-line code for all of them is
// the fastest where it is short: a conversion each. For longer element regions, and in
// the form that takes any alignment, a loop holds the code once for a few elements:
// 256 copies of a GELU take ptxas seconds and do not fit the instruction cache.
//
// Registers have no run-time index: the loop's body begins with a switch that moves the
// elements of its turn into registers of their own.
//
//===----------------------------------------------------------------------===//
#include "KernelLowering.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::warp;

/// Instructions that straight-line code of one thread may take, roughly.
constexpr int64_t mostStraight = 640;
/// Those of a loop's body; more hides latency better.
constexpr int64_t mostInLoop = 384, mostInSlowLoop = 128;
/// Elements of a turn that reads a matrix: so many loads are on their way together, and a turn
/// waits for them as long as several hundred instructions take.
constexpr int64_t leastWithReads = 8;

/// Instructions of an element, roughly.
static int64_t elementCost(Region &region) {
  int64_t cost = 0;
  for (Operation &op : region.front().without_terminator())
    cost += TypeSwitch<Operation *, int64_t>(&op)
                .Case<ReadOp>([](auto) { return 6; })
                .Case<math::ExpOp>([](auto) { return 9; })
                .Case<math::TanhOp, math::ErfOp>([](auto) { return 20; })
                .Case<math::LogOp>([](auto) { return 28; })
                .Case<arith::DivFOp, math::SqrtOp>([](auto) { return 8; })
                .Case<arith::ConstantOp>([](auto) { return 0; })
                .Default([](auto) { return 1; });
  return cost;
}

int64_t KernelLowering::elementsAtOnce(Region &region, AccType type, int64_t extra) {
  auto variant = kernel->getAttrOfType<StringAttr>("heddle.variant");
  bool slow = variant && variant.getValue() == "unaligned";
  int64_t cost = elementCost(region) + extra;
  int64_t elements = type.getRows() * type.getCols() / (32 * role.warps);
  if (!slow && elements * cost <= mostStraight)
    return 0;
  bool reads = false;
  region.walk([&](ReadOp read) { reads |= read.getIndices().size() > 1; });
  int64_t most = (slow ? mostInSlowLoop : mostInLoop) / std::max<int64_t>(cost, 1);
  int64_t unit = reads && !slow ? leastWithReads : 8;
  while (unit < 32 && unit * 2 <= most)
    unit *= 2;
  return unit;
}

//===----------------------------------------------------------------------===//
// Runs of chunks
//===----------------------------------------------------------------------===//

namespace {
/// Ops that fill one slot with one chunk of an accumulator.
struct Chunk {
  SmallVector<Operation *> ops; ///< acquire, pack, fences, commit
  PackOp pack;
};
} // namespace

static std::optional<Chunk> chunkAt(Operation *op) {
  auto acquire = dyn_cast_or_null<AcquireOp>(op);
  if (!acquire || acquire.getSlots().size() != 1)
    return std::nullopt;
  Chunk chunk;
  chunk.ops.push_back(acquire);
  for (op = op->getNextNode(); op; op = op->getNextNode()) {
    chunk.ops.push_back(op);
    if (auto commit = dyn_cast<CommitOp>(op)) {
      if (commit.getPipe() != acquire.getPipe() || !chunk.pack ||
          !acquire.getSlots()[0].hasOneUse())
        return std::nullopt;
      return chunk;
    }
    auto pack = dyn_cast<PackOp>(op);
    if (pack && !chunk.pack && pack.getTile() == acquire.getSlots()[0])
      chunk.pack = pack;
    else if (!isa<FenceOp>(op))
      return std::nullopt;
  }
  return std::nullopt;
}

/// Whether `b` does what `a` does, `step` columns on.
static bool follows(const Chunk &a, const Chunk &b, int64_t step) {
  PackOp p = a.pack, q = b.pack;
  if (a.ops.size() != b.ops.size() || q.getFirst() != p.getFirst() + step ||
      p.getAcc() != q.getAcc() || p.getRowBase() != q.getRowBase() ||
      p.getColBase() != q.getColBase() || p.getTile().getType() != q.getTile().getType() ||
      !OperationEquivalence::isRegionEquivalentTo(&p.getBody(), &q.getBody(),
                                                  OperationEquivalence::IgnoreLocations))
    return false;
  for (auto [x, y] : llvm::zip(a.ops, b.ops)) {
    if (x->getName() != y->getName())
      return false;
    if (!isa<PackOp>(x) &&
        (x->getOperands() != y->getOperands() || x->getAttrDictionary() != y->getAttrDictionary()))
      return false;
  }
  return true;
}

Operation *KernelLowering::lowerChunks(Operation *first, LogicalResult &result) {
  std::optional<Chunk> chunk = chunkAt(first);
  if (!chunk)
    return nullptr;
  PackOp pack = chunk->pack;
  int64_t count = 1, from = pack.getFirst(), step = pack.getTile().getType().getCols();
  if (from % 8 || step % 8 || !elementsAtOnce(pack.getBody(), pack.getAcc().getType()))
    return nullptr;
  Operation *last = chunk->ops.back();
  for (Chunk previous = *chunk;; ++count) {
    std::optional<Chunk> next = chunkAt(last->getNextNode());
    if (!next || !follows(previous, *next, step))
      break;
    last = next->ops.back();
    previous = *next;
  }
  if (count == 1)
    return nullptr;
  e.loop(e.i32(from), e.i32(from + count * step), step, [&](Value column) {
    chunkColumn = column;
    for (Operation *op : chunk->ops)
      if (succeeded(result))
        result = lowerOp(*op);
    chunkColumn = {};
  });
  return last;
}

//===----------------------------------------------------------------------===//
// Accumulators in registers
//===----------------------------------------------------------------------===//

SmallVector<Value> heddle::selectElements(Emitter &e, Value acc, Value index, int64_t n) {
  int64_t cases = cast<VectorType>(acc.getType()).getNumElements() / n;
  auto elements = [&](int64_t which) {
    SmallVector<Value> values;
    for (int64_t i = 0; i < n; ++i)
      values.push_back(e.make<vector::ExtractOp>(acc, which * n + i));
    return values;
  };
  if (cases == 1)
    return elements(0);
  SmallVector<int64_t> labels = llvm::to_vector(llvm::seq<int64_t>(0, cases - 1));
  SmallVector<Type> types(n, e.getF32Type());
  auto op = e.make<scf::IndexSwitchOp>(types, e.toIndex(index), labels, labels.size());
  for (auto [which, region] : llvm::enumerate(op->getRegions())) {
    // The default comes first among the regions.
    OpBuilder::InsertionGuard guard(e);
    e.setInsertionPointToStart(&region.emplaceBlock());
    e.make<scf::YieldOp>(elements(which ? int64_t(which) - 1 : cases - 1));
  }
  return op.getResults();
}

void MmaFamilyLowering::loopFragments(Value acc, const FragmentGrid &grid, Value from, Value to,
                                      int64_t columns, bool once, PieceVisitor visit) {
  // 8 columns are 4 elements of a thread: 4j + 2h + p is row 8h, column 8j + p.
  auto body = [&](Value block, Value col) {
    Value index = e.div(e.add(e.mul(block, grid.cols), col), e.i32(columns));
    SmallVector<Value> values = selectElements(e, acc, index, columns / 2);
    SmallVector<FragmentElement> piece;
    for (int64_t i = 0; i < columns / 2; ++i)
      piece.push_back({values[i], i / 2 % 2 * 8, i / 4 * 8 + i % 2});
    visit(piece, e.mul(block, grid.rowStep), col);
  };
  e.loop(e.i32(0), e.i32(grid.blocks), 1, [&](Value block) {
    if (once)
      body(block, from);
    else
      e.loop(from, to, columns, [&](Value col) { body(block, col); });
  });
}
