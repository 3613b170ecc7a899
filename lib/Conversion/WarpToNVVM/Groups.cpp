//===- Groups.cpp - bounds of groups, from memory to a table ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// At the start of the kernel one warp reads the numbers, 32 groups at a time, checks
// them, and writes a table to shared memory: the first row and the size of each group
// and how many items (tiles of rows) come before it, a prefix sum. Roles find the group
// of an item in the table. Numbers that are no bounds leave groups empty, so that no
// address follows from them.
//
//===----------------------------------------------------------------------===//
#include "KernelLowering.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::warp;
using P = arith::CmpIPredicate;

namespace {

/// The code of the warp that fills the table.
class TableWriter {
public:
  TableWriter(KernelLowering &k, GroupsOp op) : k(k), e(k.e), op(op), groups(op.getNumGroups()) {}

  void run(Value first, Value size, Value items, Value limitValue) {
    limit = limitValue;
    Value itemsBefore = k.allocaI32(0), end = k.allocaI32(0), firstBad = k.allocaI32(0);
    if (items)
      e.ifThen(e.eq(k.lane, 0), [&] { storeShared(items, e.i32(0), e.i32(0)); });
    e.loop(e.i32(0), e.i32(groups), 32, [&](Value base) {
      Value group = e.add(base, k.lane);
      Value exists = e.lt(group, e.i32(groups));
      Bounds bounds = read(e.min(group, e.i32(groups - 1)), k.load(end));
      Value bad = e.bitAnd(bounds.bad, exists);
      Value votes =
          e.make<NVVM::VoteSyncOp>(e.getI32Type(), e.i32(-1), bad, NVVM::VoteSyncKind::ballot);
      // Empty from the first bad one on.
      Value upToHere = e.make<arith::ShRUIOp>(e.i32(-1), e.sub(e.i32(31), k.lane));
      Value fine = e.bitAnd(e.eq(e.bitAnd(votes, upToHere), 0), e.eq(k.load(firstBad), 0));
      fine = e.bitAnd(fine, exists);
      Value rows = e.select(fine, bounds.size, e.i32(0));
      e.ifThen(exists, [&] {
        storeShared(first, group, e.select(fine, bounds.first, e.i32(0)));
        storeShared(size, group, rows);
      });
      if (bounds.end)
        k.store(end, lastLane(bounds.end));
      if (items) {
        Value here = e.div(e.add(rows, *op.getBy() - 1), e.i32(*op.getBy()));
        Value sum = e.add(k.load(itemsBefore), scan(here, /*limited=*/false));
        e.ifThen(exists, [&] { storeShared(items, e.add(group, 1), sum); });
        k.store(itemsBefore, lastLane(sum));
      }
      Value number = e.add(base, e.add(e.make<math::CountTrailingZerosOp>(votes), 1));
      Value isFirst = e.bitAnd(e.eq(k.load(firstBad), 0), e.compare(P::ne, votes, e.i32(0)));
      k.store(firstBad, e.select(isFirst, number, k.load(firstBad)));
    });
    if (op.getStatus())
      report(k.load(firstBad));
  }

private:
  struct Bounds {
    Value first, size, bad;
    Value end; ///< of kind counts: where the next group may start
  };

  Value number(Value index) {
    MemoryArg &m = k.memory(op.getMemory());
    return e.make<LLVM::LoadOp>(e.getI32Type(), k.elementPointer(m, {index}));
  }
  Value above(Value x, Value y) { return e.compare(P::ugt, x, y); }
  Value either(Value x, Value y) { return e.bitOr(x, y); }

  /// What the numbers of a group say. Negative ones are above the limit when taken as unsigned.
  Bounds read(Value group, Value from) {
    int64_t align = op.getAlign();
    Bounds b;
    switch (op.getKind()) {
    case GroupKind::Offsets: {
      Value next = number(e.add(group, 1));
      b.first = number(group);
      b.size = e.sub(next, b.first);
      b.bad = either(above(next, limit), above(b.first, next));
      if (align > 1)
        b.bad = either(b.bad, e.compare(P::ne, e.rem(b.first, e.i32(align)), e.i32(0)));
      return b;
    }
    case GroupKind::Masked:
      b.first = e.i32(0), b.size = number(group);
      b.bad = above(b.size, limit);
      return b;
    case GroupKind::Counts: {
      b.size = number(group);
      Value wrong = above(b.size, limit);
      Value space = e.mul(e.div(e.add(b.size, align - 1), e.i32(align)), align);
      space = capped(e.select(wrong, e.i32(0), space));
      b.end = capped(e.add(from, scan(space, /*limited=*/true)));
      // Past the cap, `first` is too small, but still more than any limit less a size.
      b.first = e.sub(b.end, space);
      b.bad = either(wrong, above(e.add(b.first, b.size), limit));
      return b;
    }
    }
    llvm_unreachable("unknown kind of groups");
  }

  Value capped(Value v) { return e.make<arith::MinUIOp>(v, e.i32(INT32_MAX)); }

  /// The sum over this lane and those below; when `limited`, at most INT32_MAX, as are the values.
  Value scan(Value v, bool limited) {
    for (int64_t distance = 1; distance < 32; distance *= 2) {
      Value other = e.make<NVVM::ShflOp>(e.getI32Type(), e.i32(-1), v, e.i32(distance), e.i32(0),
                                         NVVM::ShflKind::up, UnitAttr());
      Value sum = e.add(v, other);
      v = e.select(e.lt(k.lane, e.i32(distance)), v, limited ? capped(sum) : sum);
    }
    return v;
  }
  Value lastLane(Value v) {
    return e.make<NVVM::ShflOp>(e.getI32Type(), e.i32(-1), v, e.i32(31), e.i32(31),
                                NVVM::ShflKind::idx, UnitAttr());
  }

  void storeShared(Value table, Value index, Value value) {
    auto type = LLVM::LLVMPointerType::get(e.getContext(), 3);
    e.make<LLVM::StoreOp>(value, e.make<LLVM::IntToPtrOp>(type, e.add(table, e.shl(index, 2))));
  }

  void report(Value firstBad) {
    Value mine = e.bitAnd(e.eq(k.lane, 0), e.eq(e.make<NVVM::BlockIdXOp>(e.getI32Type()), 0));
    e.ifThen(mine, [&] {
      MemoryArg &m = k.memory(op.getStatus());
      e.make<LLVM::StoreOp>(firstBad, k.elementPointer(m, {e.i32(0)}));
    });
  }

  KernelLowering &k;
  Emitter &e;
  GroupsOp op;
  int64_t groups;
  Value limit;
};

} // namespace

LogicalResult KernelLowering::lowerGroups(GroupsOp op) {
  if (!op.getOffset())
    return error(op, "expected a placed table: run warp-allocate first");
  int64_t bytes = 4 * op.getNumGroups();
  GroupTable table;
  table.first = e.add(sharedBase, *op.getOffset());
  table.size = e.add(table.first, bytes);
  if (op.getBy())
    table.items = e.add(table.size, bytes);
  Value limit = e.toI32(lookup(op.getLimit()));
  e.ifThen(e.eq(warp, 0),
           [&] { TableWriter(*this, op).run(table.first, table.size, table.items, limit); });
  e.make<NVVM::BarrierOp>();
  if (table.items)
    table.total = uniform(loadShared(table.items, e.i32(op.getNumGroups())));
  groupTables[op.getGroups()] = table;
  return success();
}

Value KernelLowering::loadShared(Value table, Value index) {
  auto type = LLVM::LLVMPointerType::get(e.getContext(), 3);
  return e.make<LLVM::LoadOp>(e.getI32Type(),
                              e.make<LLVM::IntToPtrOp>(type, e.add(table, e.shl(index, 2))));
}

Value KernelLowering::uniform(Value v) {
  if (role.single)
    return v; // the other lanes are elsewhere
  return e.make<NVVM::ShflOp>(e.getI32Type(), e.i32(-1), v, e.i32(0), e.i32(31),
                              NVVM::ShflKind::idx, UnitAttr());
}

Value KernelLowering::groupOf(GroupTable &table, Value slot, Value item, Value perRow) {
  auto loop = e.make<scf::WhileOp>(TypeRange(), ValueRange());
  {
    OpBuilder::InsertionGuard guard(e);
    e.createBlock(&loop.getBefore());
    Value end = e.mul(loadShared(table.items, e.add(load(slot), 1)), perRow);
    e.make<scf::ConditionOp>(e.compare(P::uge, item, end), ValueRange());
    e.createBlock(&loop.getAfter());
    store(slot, e.add(load(slot), 1));
    e.make<scf::YieldOp>();
  }
  return uniform(load(slot));
}
