//===- CombineLowering.cpp - parts of a tile, added up by who comes last ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile's parts lie in the launch's workspace as the warps hold them: 512 bytes for four
// elements of each lane, one after the other. Warp w of a CTA reads what the warps w of the
// other CTAs wrote, so that a counter a tile and warp tells who comes last and no barrier is
// needed. The lane that counts passes on what it acquired through the barrier of its warp.
//
//===----------------------------------------------------------------------===//
#include "KernelLowering.h"
#include "dialects/PTX/IR/PTXDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::warp;

namespace {
constexpr int64_t atOnce = 4; ///< elements a lane writes or reads with one instruction
/// Registers for elements on their way, beside the sums.
constexpr int64_t mostInFlight = 64;
/// Elements of a part that are added before others are loaded.
constexpr int64_t mostElements = 32;
} // namespace

bool KernelLowering::usesWorkspace() {
  return kernel.walk([](CombineOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// This thread's elements, as an accumulator in registers numbers them.
SmallVector<Value> KernelLowering::accElements(CombineOp op) {
  AccType type = op.getAcc().getType();
  Value acc = lookup(op.getAcc());
  SmallVector<Value> elements;
  if (auto vector = dyn_cast<VectorType>(acc.getType())) {
    for (int64_t i = 0; i < vector.getNumElements(); ++i)
      elements.push_back(e.make<vector::ExtractOp>(acc, i));
    return elements;
  }
  // Tensor memory: a row each.
  elements.resize(type.getCols());
  family->forEachPiece(type, acc, 0, type.getCols(), [&](ArrayRef<FragmentElement> piece) {
    for (const FragmentElement &element : piece)
      elements[element.col] = element.value;
  });
  return elements;
}

/// Adds elements [first, first + count) of parts [from, to) to those of `sums`, whose last they are;
/// loads them all before. Slots of parts lie `partBytes` apart.
void KernelLowering::addParts(Value slots, int64_t partBytes, int64_t from, int64_t to,
                              int64_t first, int64_t count, SmallVectorImpl<Value> &sums) {
  auto four = VectorType::get(atOnce, e.getF32Type());
  SmallVector<Value> loaded;
  for (int64_t part = from; part < to; ++part)
    for (int64_t i = first; i < first + count; i += atOnce) {
      Value place = e.make<LLVM::GEPOp>(slots.getType(), e.getI8Type(), slots,
                                        ArrayRef<LLVM::GEPArg>{e.i64(part * partBytes + i * 32 * 4)});
      Value value = e.make<LLVM::LoadOp>(four, place, /*alignment=*/16);
      for (int64_t j = 0; j < atOnce; ++j)
        loaded.push_back(e.make<vector::ExtractOp>(value, j));
    }
  for (auto [i, value] : llvm::enumerate(loaded)) {
    if (sums.size() < static_cast<size_t>(first + count)) {
      sums.push_back(value); // of part 0
      continue;
    }
    Value &sum = sums[first + static_cast<int64_t>(i) % count];
    sum = e.make<arith::AddFOp>(sum, value);
  }
}

LogicalResult KernelLowering::lowerCombine(CombineOp op) {
  AccType type = op.getAcc().getType();
  int64_t splits = op.getSplits(), elements = type.getRows() * type.getCols();
  if (elements % (int64_t(32) * role.warps * atOnce))
    return error(op, "expected " + Twine(atOnce) + " elements at a time for each of " +
                         Twine(32 * role.warps) + " threads, got " + Twine(elements));
  int64_t each = elements / (32 * role.warps), warpBytes = 32 * each * 4;
  auto pointer = cast<LLVM::LLVMPointerType>(workspace.getType());
  auto four = VectorType::get(atOnce, e.getF32Type());
  auto at = [&](Value base, Value bytes) -> Value {
    return e.make<LLVM::GEPOp>(pointer, e.getI8Type(), base, ArrayRef<LLVM::GEPArg>{bytes});
  };
  Value tile = e.toI32(lookup(op.getTile())), part = e.toI32(lookup(op.getPart()));
  // [tile][part][warp][group of four elements][lane]
  Value first = e.mul(e.toI64(tile), e.i64(splits * elements * 4));
  Value mine = e.add(e.mul(role.warpInRole, warpBytes), e.shl(lane, 4));
  Value slots = at(at(workspace, first), e.toI64(mine));
  SmallVector<Value> values = accElements(op);
  Value slot = at(slots, e.mul(e.toI64(part), e.i64(elements * 4)));
  for (int64_t i = 0; i < each; i += atOnce) {
    Value value = e.make<vector::FromElementsOp>(four, ArrayRef(values).slice(i, atOnce));
    e.make<LLVM::StoreOp>(value, at(slot, e.i64(i * 32 * 4)), /*alignment=*/16);
  }
  syncWarp();
  Value number = e.add(e.mul(tile, role.warps), role.warpInRole);
  Value counter = at(counters, e.mul(e.toI64(number), e.i64(4)));
  Value before = e.make<ptx::AtomicIncIfOp>(e.getI32Type(), counter, e.i32(splits - 1),
                                            e.toI32(e.eq(lane, 0)));
  before = e.make<NVVM::ShflOp>(e.getI32Type(), e.i32(-1), before, e.i32(0), e.i32(31),
                                NVVM::ShflKind::idx, UnitAttr());
  syncWarp();
  LogicalResult result = success();
  e.ifThen(e.eq(before, splits - 1), [&] {
    SmallVector<Value> sums;
    for (int64_t first = 0; first < each; first += mostElements) {
      int64_t count = std::min(mostElements, each - first);
      int64_t together = std::clamp<int64_t>(mostInFlight / count, 1, splits);
      for (int64_t from = 0; from < splits; from += together)
        addParts(slots, elements * 4, from, std::min(from + together, splits), first, count, sums);
    }
    Block &body = op.getBody().front();
    mapping.map(body.getArgument(0),
                e.make<vector::FromElementsOp>(VectorType::get(each, e.getF32Type()), sums));
    result = lowerBlock(body);
  });
  return result;
}
