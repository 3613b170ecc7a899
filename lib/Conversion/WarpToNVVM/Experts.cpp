//===- Experts.cpp - who has which expert ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lists of an expert's ids: the warps of a role share out the ids, each a run of whole groups
// of 32. Twice they go through their runs: first they count the ids of experts before this one and
// of this one, and exchange the counts through shared memory; then each writes what it has from
// where those before it end. So the list is in the order of the ids, whoever is fast.
//
//===----------------------------------------------------------------------===//
#include "KernelLowering.h"
#include "dialects/PTX/IR/PTXDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::warp;

namespace {

/// Groups of 32 ids that a warp has on their way at once.
constexpr int64_t atOnce = 8, laneCount = 32;

class Lister {
public:
  Lister(Emitter &e, ListExpertsOp op, Value lane, Value warp, int64_t warps)
      : e(e), op(op), lane(lane), warp(warp), warps(warps) {}

  Value count;                ///< ids, i32
  Value ids, offsets, list;   ///< pointers
  Value base, expert;         ///< the rank's first expert; the expert, less that
  Value scratch;              ///< i32: shared memory, two words a warp
  std::function<void()> meet; ///< all warps

  void run();

private:
  Value at(Value pointer, Value element) {
    Value offset = e.mul(e.toI64(element), 4);
    return e.make<LLVM::GEPOp>(pointer.getType(), e.getI8Type(), pointer,
                               ArrayRef<LLVM::GEPArg>{offset});
  }
  Value sum(Value x) {
    return e.make<NVVM::ReduxOp>(e.getI32Type(), x, NVVM::ReduxKind::ADD, e.i32(-1));
  }
  Value ones(Value x) { return e.make<LLVM::CtPopOp>(x.getType(), x); }
  Value word(int64_t first, Value number) {
    auto shared = LLVM::LLVMPointerType::get(e.getContext(), 3);
    return e.make<LLVM::IntToPtrOp>(shared, e.add(scratch, e.add(e.mul(number, 4), 4 * first)));
  }
  /// Through the warp's run: `body` gets the place of each of `atOnce` ids and the id, less
  /// `base`; -1 behind the end.
  SmallVector<Value>
  walk(ArrayRef<Value> init,
       function_ref<SmallVector<Value>(ArrayRef<Value> places, ArrayRef<Value> locals,
                                       ValueRange carried)>
           body);

  Emitter &e;
  ListExpertsOp op;
  Value lane, warp;
  int64_t warps;
};

} // namespace

SmallVector<Value>
Lister::walk(ArrayRef<Value> init,
             function_ref<SmallVector<Value>(ArrayRef<Value>, ArrayRef<Value>, ValueRange)> body) {
  Value groups = e.div(e.add(count, laneCount - 1), e.i32(laneCount));
  Value each = e.mul(e.div(e.add(groups, warps - 1), e.i32(warps)), laneCount);
  Value first = e.make<arith::MinUIOp>(e.mul(warp, each), count);
  Value end = e.make<arith::MinUIOp>(e.add(first, each), count);
  auto loop = e.make<scf::ForOp>(first, end, e.i32(atOnce * laneCount), init);
  {
    OpBuilder::InsertionGuard guard(e);
    e.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> places, locals;
    for (int64_t i = 0; i < atOnce; ++i) {
      Value place = e.add(e.add(loop.getInductionVar(), lane), i * laneCount);
      Value inside = e.lt(place, end);
      // A place behind the end reads the first id instead, for nothing.
      Value id = e.make<LLVM::LoadOp>(e.getI32Type(), at(ids, e.select(inside, place, first)), 4);
      places.push_back(place);
      locals.push_back(e.select(inside, e.sub(id, base), e.i32(-1)));
    }
    e.make<scf::YieldOp>(body(places, locals, loop.getRegionIterArgs()));
  }
  e.setInsertionPointAfter(loop);
  return SmallVector<Value>(loop.getResults());
}

void Lister::run() {
  Value zero = e.i32(0);
  auto counted =
      walk({zero, zero}, [&](ArrayRef<Value>, ArrayRef<Value> locals, ValueRange carried) {
        Value before = carried[0], own = carried[1];
        for (Value local : locals) {
          before = e.add(before, e.toI32(e.lt(local, expert)));
          own = e.add(own, e.toI32(e.compare(arith::CmpIPredicate::eq, local, expert)));
        }
        return SmallVector<Value>{before, own};
      });
  Value before = sum(counted[0]), own = sum(counted[1]);
  e.ifThen(e.eq(lane, 0), [&] {
    e.make<LLVM::StoreOp>(before, word(0, warp));
    e.make<LLVM::StoreOp>(own, word(warps, warp));
  });
  meet();
  Value mine = e.lt(lane, e.i32(warps)), there = e.select(mine, lane, zero);
  Value befores = e.select(mine, e.make<LLVM::LoadOp>(e.getI32Type(), word(0, there)), zero);
  Value owns = e.select(mine, e.make<LLVM::LoadOp>(e.getI32Type(), word(warps, there)), zero);
  meet(); // the words may be written again
  Value start = sum(befores), total = sum(owns);
  Value next = e.add(start, sum(e.select(e.lt(lane, warp), owns, zero)));
  e.ifThen(e.bitAnd(e.eq(warp, 0), e.eq(lane, 0)), [&] {
    e.make<LLVM::StoreOp>(start, at(offsets, expert));
    e.ifThen(e.eq(expert, op.getExperts() - 1), [&] {
      e.make<LLVM::StoreOp>(e.add(start, total), at(offsets, e.i32(op.getExperts())));
    });
  });
  Value below = e.sub(e.make<arith::ShLIOp>(e.i32(1), lane), e.i32(1)); // lanes before this one
  walk({next}, [&](ArrayRef<Value> places, ArrayRef<Value> locals, ValueRange carried) {
    Value to = carried[0];
    for (auto [place, local] : llvm::zip(places, locals)) {
      Value hit = e.compare(arith::CmpIPredicate::eq, local, expert);
      Value hits =
          e.make<NVVM::VoteSyncOp>(e.getI32Type(), e.i32(-1), hit, NVVM::VoteSyncKind::ballot);
      Value entry = e.add(to, ones(e.make<arith::AndIOp>(hits, below)));
      e.ifThen(hit, [&] { e.make<LLVM::StoreOp>(place, at(list, entry)); });
      to = e.add(to, ones(hits));
    }
    return SmallVector<Value>{to};
  });
}

LogicalResult KernelLowering::lowerListExperts(ListExpertsOp op) {
  MemoryArg &ids = memory(op.getIds());
  int64_t warps = role.warps;
  if (warps > laneCount)
    return error(op, Twine("expected at most 32 warps in its role, got ") + Twine(warps));
  Lister lister(e, op, lane, role.warpInRole, warps);
  Value count = e.i32(1);
  for (const Size &size : ids.sizes)
    count = e.mul(count, sizeValue(size));
  lister.count = count;
  lister.ids = ids.pointer, lister.offsets = memory(op.getOffsets()).pointer;
  lister.list = memory(op.getList()).pointer;
  lister.base =
      e.make<arith::TruncIOp>(e.getI32Type(), e.mul(lookup(op.getRank()), op.getExperts()));
  lister.expert = e.toI32(lookup(op.getExpert()));
  lister.scratch = e.add(sharedBase, kernel->getAttrOfType<IntegerAttr>("scratch").getInt());
  lister.meet = [&] {
    e.make<ptx::BarrierAndOp>(e.getI32Type(), e.i32(1), e.i32(role.number + 1), e.i32(32 * warps));
  };
  lister.run();
  return success();
}

/// Ids of a token are neighbours: the loads go out together.
LogicalResult KernelLowering::lowerHasExpert(HasExpertOp op) {
  MemoryArg &ids = memory(op.getIds());
  int64_t top = ids.type.getDimSize(1);
  Type i32 = e.getI32Type();
  Value first = e.make<arith::TruncIOp>(i32, e.mul(lookup(op.getRank()), op.getExperts()));
  Value at = e.mul(lookup(op.getToken()), 4 * top), any;
  SmallVector<Value> loaded;
  for (int64_t j = 0; j < top; ++j) {
    Value pointer = e.make<LLVM::GEPOp>(ids.pointer.getType(), e.getI8Type(), ids.pointer,
                                        ArrayRef<LLVM::GEPArg>{e.add(at, 4 * j)});
    loaded.push_back(e.make<LLVM::LoadOp>(i32, pointer, 4));
  }
  for (Value id : loaded) {
    Value here = e.lt(e.sub(id, first), e.i32(op.getExperts()));
    any = any ? e.bitOr(any, here) : here;
  }
  mapping.map(op.getResult(), any);
  return success();
}
