//===- Route.cpp - the experts of a token, chosen by a warp ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lane l has experts l, l + 32, ... in registers. Values are compared as unsigned keys of
// the same order, in which 0 is below all; greatest keys and least numbers of the warp come
// from redux.sync. Everything that the choice depends on is an addition, a division, a
// rounding or an fma in f32, in the order that pkg::routeRow repeats (lib/Package/Route.cpp):
// change both or none.
//
//===----------------------------------------------------------------------===//
#include "heddle/Package/Route.h"
#include "KernelLowering.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include <limits>

using namespace mlir;
using namespace heddle;
using namespace heddle::warp;

namespace {

/// The work of one warp on one row.
class Router {
public:
  Router(Emitter &e, RouteOp op, Value lane)
      : e(e), op(op), lane(lane), experts(cast<MemRefType>(op.getScores().getType()).getDimSize(1)),
        slots((experts + 31) / 32) {}

  /// `scores` and `bias` (empty without one): the lane's, by slot. The lane of number j < top
  /// gets expert j and its weight.
  std::pair<Value, Value> run(SmallVector<Value> scores, ArrayRef<Value> bias);
  int64_t numSlots() const { return slots; }
  /// The expert of a slot; whether there is one, null when there always is.
  Value expert(int64_t slot) { return e.add(lane, 32 * slot); }
  Value exists(int64_t slot) {
    return 32 * slot + 32 <= experts ? Value() : e.lt(expert(slot), e.i32(experts));
  }
  Value orElse(int64_t slot, Value value, Value other) {
    Value there = exists(slot);
    return there ? e.select(there, value, other) : value;
  }
  Value f32(float x) { return e.make<arith::ConstantOp>(e.getF32FloatAttr(x)); }
  /// Minus infinity for what is not a number.
  Value number(Value x) {
    return e.select(e.make<arith::CmpFOp>(arith::CmpFPredicate::ORD, x, x), x,
                    f32(-std::numeric_limits<float>::infinity()));
  }

private:
  Value key(Value x);
  Value valueOf(Value key);
  Value exponential(Value x);
  SmallVector<Value> gate(ArrayRef<Value> scores);
  Value keptGroups(ArrayRef<Value> keys);
  Value groupScore(ArrayRef<Value> keys, int64_t group);
  std::pair<Value, Value> choose(SmallVector<Value> keys, ArrayRef<Value> weights);
  Value reduce(Value x, NVVM::ReduxKind kind) {
    return e.make<NVVM::ReduxOp>(e.getI32Type(), x, kind, e.i32(-1));
  }
  Value greatest(Value key) { return reduce(key, NVVM::ReduxKind::UMAX); }
  Value least(Value number) { return reduce(number, NVVM::ReduxKind::UMIN); }
  Value shuffle(Value x, Value by, NVVM::ShflKind kind) {
    return e.make<NVVM::ShflOp>(x.getType(), e.i32(-1), x, by, e.i32(31), kind, UnitAttr());
  }
  Value sumOfLanes(Value x) {
    for (int64_t distance = 16; distance; distance /= 2)
      x = e.make<arith::AddFOp>(x, shuffle(x, e.i32(distance), NVVM::ShflKind::bfly));
    return x;
  }
  Value umax(Value a, Value b) { return e.make<arith::MaxUIOp>(a, b); }
  Value umin(Value a, Value b) { return e.make<arith::MinUIOp>(a, b); }

  Emitter &e;
  RouteOp op;
  Value lane;
  int64_t experts, slots;
};

} // namespace

/// Unsigned, in the order of the numbers; -0 is 0.
Value Router::key(Value x) {
  Value bits = e.make<arith::BitcastOp>(e.getI32Type(), e.make<arith::AddFOp>(x, f32(0)));
  Value sign = e.make<arith::ShRSIOp>(bits, e.i32(31));
  return e.bitXor(bits, e.bitOr(sign, e.i32(INT32_MIN)));
}

Value Router::valueOf(Value key) {
  Value sign = e.make<arith::ShRSIOp>(key, e.i32(31)); // all ones: was not negative
  Value flip = e.bitOr(e.bitXor(sign, e.i32(-1)), e.i32(INT32_MIN));
  return e.make<arith::BitcastOp>(e.getF32Type(), e.bitXor(key, flip));
}

/// exp(x), x limited to what f32 holds.
Value Router::exponential(Value x) {
  using namespace pkg::route;
  auto fma = [&](Value a, Value b, Value c) {
    return e.make<LLVM::FMAOp>(e.getF32Type(), a, b, c);
  };
  x = e.make<arith::MaxNumFOp>(x, f32(-expLimit));
  x = e.make<arith::MinNumFOp>(x, f32(expLimit));
  Value n = e.make<LLVM::RintOp>(e.getF32Type(), e.make<arith::MulFOp>(x, f32(log2e)));
  Value r = fma(n, f32(-ln2High), x);
  r = fma(n, f32(-ln2Low), r);
  Value p = f32(expTerms[0]);
  for (float term : ArrayRef(expTerms).drop_front())
    p = fma(p, r, f32(term));
  Value bits = e.make<arith::BitcastOp>(e.getI32Type(), p);
  Value exponent = e.shl(e.make<arith::FPToSIOp>(e.getI32Type(), n), 23);
  return e.make<arith::BitcastOp>(e.getF32Type(), e.add(bits, exponent));
}

SmallVector<Value> Router::gate(ArrayRef<Value> scores) {
  SmallVector<Value> result;
  if (op.getSigmoid()) {
    for (Value s : scores) {
      Value t = exponential(e.make<arith::NegFOp>(s));
      result.push_back(e.make<arith::DivFOp>(f32(1), e.make<arith::AddFOp>(t, f32(1))));
    }
    return result;
  }
  Value most = scores[0];
  for (Value s : scores.drop_front())
    most = e.make<arith::MaxNumFOp>(most, s);
  for (int64_t distance = 16; distance; distance /= 2)
    most = e.make<arith::MaxNumFOp>(most, shuffle(most, e.i32(distance), NVVM::ShflKind::bfly));
  Value sum;
  for (auto [slot, s] : llvm::enumerate(scores)) {
    Value t = exponential(e.make<arith::SubFOp>(s, most));
    t = orElse(slot, t, f32(0));
    result.push_back(t);
    sum = sum ? e.make<arith::AddFOp>(sum, t).getResult() : t;
  }
  sum = sumOfLanes(sum);
  for (Value &t : result)
    t = e.make<arith::DivFOp>(t, sum);
  return result;
}

/// The key of the sum of a group's best two.
Value Router::groupScore(ArrayRef<Value> keys, int64_t group) {
  int64_t size = experts / op.getGroups(), first = group * size, end = first + size;
  Value best = e.i32(0), second = e.i32(0);
  for (int64_t slot = first / 32; slot <= (end - 1) / 32; ++slot) {
    Value k = keys[slot];
    if (32 * slot < first || 32 * slot + 32 > end)
      k = e.select(e.lt(e.sub(expert(slot), e.i32(first)), e.i32(size)), k, e.i32(0));
    second = umax(second, umin(best, k));
    best = umax(best, k);
  }
  Value most = greatest(best);
  // The lane that has it goes on with its second.
  Value owner = least(e.select(e.compare(arith::CmpIPredicate::eq, best, most), lane, e.i32(32)));
  Value next = greatest(e.select(e.compare(arith::CmpIPredicate::eq, lane, owner), second, best));
  return key(number(e.make<arith::AddFOp>(valueOf(most), valueOf(next))));
}

/// Bit g: group g stays.
Value Router::keptGroups(ArrayRef<Value> keys) {
  Value mine = e.i32(0); // lane g: of group g
  for (int64_t g = 0; g < static_cast<int64_t>(op.getGroups()); ++g)
    mine = e.select(e.eq(lane, g), groupScore(keys, g), mine);
  Value kept = e.i32(0);
  for (int64_t i = 0; i < static_cast<int64_t>(op.getKeep()); ++i) {
    Value most = greatest(mine);
    Value winner =
        least(e.select(e.compare(arith::CmpIPredicate::eq, mine, most), lane, e.i32(32)));
    kept = e.bitOr(kept, e.make<arith::ShLIOp>(e.i32(1), winner));
    mine = e.select(e.compare(arith::CmpIPredicate::eq, lane, winner), e.i32(0), mine);
  }
  return kept;
}

/// Takes the greatest key `top` times. The loop stays one: its code is as long as a lane's slots.
std::pair<Value, Value> Router::choose(SmallVector<Value> keys, ArrayRef<Value> weights) {
  SmallVector<Value> inits(keys);
  inits.push_back(e.i32(0));
  inits.push_back(f32(0));
  auto loop = e.make<scf::ForOp>(e.i32(0), e.i32(op.getTop()), e.i32(1), inits);
  {
    OpBuilder::InsertionGuard guard(e);
    e.setInsertionPointToStart(loop.getBody());
    auto args = loop.getRegionIterArgs();
    Value best = args[0];
    for (int64_t i = 1; i < slots; ++i)
      best = umax(best, args[i]);
    Value most = greatest(best), mine = e.i32(INT32_MAX);
    for (int64_t i = slots - 1; i >= 0; --i)
      mine = e.select(e.compare(arith::CmpIPredicate::eq, args[i], most), expert(i), mine);
    Value chosen = least(mine), weight = f32(0);
    SmallVector<Value> yields;
    for (int64_t i = 0; i < slots; ++i) {
      Value hit = e.compare(arith::CmpIPredicate::eq, expert(i), chosen);
      yields.push_back(e.select(hit, e.i32(0), args[i]));
      weight = e.select(hit, weights[i], weight);
    }
    weight = shuffle(weight, e.bitAnd(chosen, 31), NVVM::ShflKind::idx);
    Value here = e.compare(arith::CmpIPredicate::eq, lane, loop.getInductionVar());
    yields.push_back(e.select(here, chosen, args[slots]));
    yields.push_back(e.select(here, weight, args[slots + 1]));
    e.make<scf::YieldOp>(yields);
  }
  e.setInsertionPointAfter(loop);
  return {loop.getResult(slots), loop.getResult(slots + 1)};
}

std::pair<Value, Value> Router::run(SmallVector<Value> scores, ArrayRef<Value> bias) {
  SmallVector<Value> gated = gate(scores), keys, groupKeys;
  for (int64_t i = 0; i < slots; ++i) {
    Value chosenBy = scores[i], groupedBy = gated[i];
    if (!bias.empty())
      chosenBy = groupedBy = number(e.make<arith::AddFOp>(gated[i], bias[i]));
    keys.push_back(orElse(i, key(chosenBy), e.i32(0)));
    if (op.getGroups() > 1)
      groupKeys.push_back(bias.empty() ? orElse(i, key(groupedBy), e.i32(0)) : keys.back());
  }
  if (op.getGroups() > 1) {
    Value kept = keptGroups(groupKeys);
    for (int64_t i = 0; i < slots; ++i) {
      Value group = e.div(expert(i), e.i32(experts / op.getGroups()));
      Value stays = e.bitAnd(e.make<arith::ShRUIOp>(kept, e.bitAnd(group, 31)), 1);
      keys[i] = e.select(e.eq(stays, 1), keys[i], e.i32(0));
    }
  }
  auto [id, weight] = choose(keys, gated);
  if (op.getNormalise()) {
    Value sum = sumOfLanes(weight);
    sum = e.make<arith::MaxNumFOp>(sum, f32(std::numeric_limits<float>::min()));
    weight = e.make<arith::DivFOp>(weight, sum);
  }
  if (op.getScale())
    weight = e.make<arith::MulFOp>(weight, f32(op.getScale()->convertToFloat()));
  return {id, weight};
}

LogicalResult KernelLowering::lowerRoute(RouteOp op) {
  MemoryArg &scores = memory(op.getScores()), &ids = memory(op.getIds());
  MemoryArg &weights = memory(op.getWeights());
  Value row = e.add(e.toI32(lookup(op.getRow())), role.warpInRole);
  e.ifThen(e.lt(row, sizeValue(scores.sizes[0])), [&] {
    Router router(e, op, lane);
    // A slot without an expert reads the last one's score, and counts for nothing.
    auto read = [&](MemoryArg &m, int64_t slot, ArrayRef<Value> before) {
      SmallVector<Value> indices(before);
      indices.push_back(
          router.orElse(slot, router.expert(slot), e.i32(m.sizes.back().constant - 1)));
      Value x = e.make<LLVM::LoadOp>(m.type.getElementType(), elementPointer(m, indices));
      return x.getType().isF32() ? x : e.make<arith::ExtFOp>(e.getF32Type(), x).getResult();
    };
    SmallVector<Value> rowScores, bias;
    for (int64_t slot = 0; slot < router.numSlots(); ++slot) {
      rowScores.push_back(router.number(read(scores, slot, row)));
      if (op.getBias())
        bias.push_back(read(memory(op.getBias()), slot, {}));
    }
    auto [id, weight] = router.run(rowScores, bias);
    e.ifThen(e.lt(lane, e.i32(op.getTop())), [&] {
      e.make<LLVM::StoreOp>(id, elementPointer(ids, {row, lane}));
      e.make<LLVM::StoreOp>(weight, elementPointer(weights, {row, lane}));
    });
  });
  return success();
}
