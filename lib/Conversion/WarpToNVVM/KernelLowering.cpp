//===- KernelLowering.cpp - roles, loops and everything that is not a tile ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelLowering.h"
#include "dialects/PTX/IR/PTXDialect.h"
#include "dialects/Warp/Transforms/Network.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::warp;

KernelLowering::KernelLowering(KernelOp kernel, const target::Target &target)
    : e(kernel.getLoc(), OpBuilder(kernel)), target(target), kernel(kernel) {
  switch (target.mma) {
  case target::MmaFamily::MmaSync:
    family = createMmaSyncLowering(*this);
    break;
  case target::MmaFamily::Wgmma:
    family = createWgmmaLowering(*this);
    break;
  case target::MmaFamily::Tcgen05:
    family = createTcgen05Lowering(*this);
    break;
  }
}

KernelLowering::~KernelLowering() = default;

LogicalResult KernelLowering::error(Operation *op, const Twine &message) {
  return op->emitOpError(message);
}

LogicalResult KernelLowering::run() {
  for (StringRef needed : {"num_warps", "shared_bytes"})
    if (!kernel->hasAttr(needed))
      return error(kernel, "expected attribute " + needed +
                               ": run warp-assign-roles and warp-allocate first");
  cluster = getClusterShape(kernel);
  bool bad = false;
  kernel.walk([&](MmaOp op) { bad |= failed(family->check(op)); });
  if (bad || failed(collectArguments()) || failed(createFunction()))
    return failure();
  prologue();
  if (failed(lowerRoles()))
    return failure();
  attachManifest();
  return success();
}

//===----------------------------------------------------------------------===//
// Prologue
//===----------------------------------------------------------------------===//

/// Who am I, barriers, tensor memory.
void KernelLowering::prologue() {
  tid = e.make<NVVM::ThreadIdXOp>(e.getI32Type());
  lane = e.bitAnd(tid, 31);
  // A shuffle tells ptxas that the warp index is uniform.
  warp = e.make<NVVM::ShflOp>(e.getI32Type(), e.i32(-1), e.shr(tid, 5), e.i32(0), e.i32(31),
                              NVVM::ShflKind::idx, UnitAttr());
  auto module = kernel->getParentOfType<ModuleOp>();
  auto ptrType = LLVM::LLVMPointerType::get(e.getContext(), 3);
  if (!module.lookupSymbol("heddle_shared")) {
    OpBuilder::InsertionGuard guard(e);
    e.setInsertionPointToStart(module.getBody());
    auto global = e.make<LLVM::GlobalOp>(LLVM::LLVMArrayType::get(e.getI8Type(), 0), false,
                                         LLVM::Linkage::External, "heddle_shared", Attribute(),
                                         /*alignment=*/1024, /*addrSpace=*/3);
    (void)global;
  }
  Value shared = e.make<LLVM::AddressOfOp>(ptrType, "heddle_shared");
  sharedBase = e.make<LLVM::PtrToIntOp>(e.getI32Type(), shared);

  e.ifThen(e.eq(tid, 0), [&] {
    kernel.walk([&](PipeOp op) {
      if (!op.getBarriers())
        return;
      int64_t depth = op.getPipe().getType().getDepth();
      for (int64_t i = 0; i < 2 * depth; ++i)
        e.make<ptx::MBarrierInitOp>(e.add(sharedBase, *op.getBarriers() + 8 * i),
                                    e.i32(i < depth ? *op.getProducers() : *op.getConsumers()));
    });
    if (target.has(target::Feature::Clusters))
      e.make<NVVM::FenceMbarrierInitOp>();
    for (MapParam &map : maps)
      e.make<ptx::PrefetchTensorMapOp>(map.pointer);
  });
  auto columns = kernel->getAttrOfType<IntegerAttr>("tmem_columns");
  auto slot = kernel->getAttrOfType<IntegerAttr>("tmem_address");
  family->prologue(columns ? columns.getInt() : 0, slot ? slot.getInt() : 0);
  clusterPlace();
  commPrologue();
  e.make<NVVM::BarrierOp>();
  advanceEpoch();
  family->afterBarrier(columns ? columns.getInt() : 0, slot ? slot.getInt() : 0);
  if (overlaps()) {
    // All CTAs of the grid run or have run by the time the next launch begins, so that it cannot
    // keep them from a multiprocessor.
    e.make<ptx::LaunchDependentsOp>();
    e.make<ptx::GridDependencyWaitOp>();
  }
}

bool KernelLowering::overlaps() {
  return target.has(target::Feature::GridDepControl) && kernel.getSchedule() &&
         kernel.getSchedule()->getPdl();
}

/// Barriers of other CTAs are there only after all have met.
void KernelLowering::clusterPlace() {
  if (cluster.size() == 1)
    return;
  e.make<NVVM::ClusterArriveOp>(e.getUnitAttr());
  e.make<NVVM::ClusterWaitOp>(e.getUnitAttr());
  Value rank = e.make<NVVM::ClusterId>(e.getI32Type());
  clusterRow = e.div(rank, e.i32(cluster.cols)), clusterCol = e.rem(rank, e.i32(cluster.cols));
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

LogicalResult KernelLowering::lowerRoles() {
  // Ops of the network that are not roles come first: sizes, streams, pipes.
  SmallVector<RoleOp> roles;
  for (Operation &op : kernel.getBody().front()) {
    if (auto role = dyn_cast<RoleOp>(op)) {
      roles.push_back(role);
      continue;
    }
    if (isa<StageOp>(op))
      return error(&op, "expected roles, got a stage: run warp-assign-roles first");
    if (auto pipe = dyn_cast<PipeOp>(op)) {
      PipeState s{pipe, pipe.getPipe().getType(), {}, {}, {}, {}, getReach(pipe), {}, {}, {}};
      if (s.reach.writers() > 1 && isReadByThreads(pipe, target))
        s.orders = e.getUnitAttr();
      if (s.reach.writers() > 1)
        s.writerBase = e.make<ptx::MapSharedOp>(e.getI32Type(), sharedBase, writerRank(s, lane));
      pipes[pipe.getPipe()] = s;
      continue;
    }
    if (isa<PeerPipeOp>(op))
      continue; // numbered in the prologue
    if (failed(lowerOp(op)))
      return failure();
  }
  llvm::sort(roles, [](RoleOp a, RoleOp b) { return a.getFirstWarp() < b.getFirstWarp(); });

  // Roles that share a warpgroup share a branch: setmaxnreg is per warpgroup.
  bool registers = llvm::any_of(roles, [](RoleOp r) { return r.getRegisters() != 0; });
  int64_t totalWarps = kernel->getAttrOfType<IntegerAttr>("num_warps").getInt();
  auto groupEnd = [&](int64_t w) { return registers ? (w + 3) / 4 * 4 : w; };
  LogicalResult result = success();
  std::function<void(size_t)> emit = [&](size_t first) {
    if (first == roles.size() || failed(result))
      return;
    size_t last = first;
    int64_t end = groupEnd(roles[first].getEndWarp());
    while (last + 1 < roles.size() && (int64_t)roles[last + 1].getFirstWarp() < end)
      end = std::max(end, groupEnd(roles[++last].getEndWarp()));
    auto body = [&] {
      if (int64_t wanted = roles[first].getRegisters()) {
        tuning::Schedule warps;
        warps.loadWarps = totalWarps, warps.mmaWarps = 0;
        int64_t launch = tuning::launchRegisters(warps, target);
        e.make<NVVM::SetMaxRegisterOp>(static_cast<uint32_t>(wanted),
                                       wanted >= launch ? NVVM::SetMaxRegisterAction::increase
                                                        : NVVM::SetMaxRegisterAction::decrease);
      }
      for (size_t i = first; i <= last && succeeded(result); ++i) {
        RoleOp role = roles[i];
        bool whole = first == last && role.getEndWarp() == end &&
                     (int64_t)role.getFirstWarp() == (first ? (int64_t)groupEnd(roles[first - 1].getEndWarp()) : 0);
        if (whole) {
          result = lowerRole(role);
          continue;
        }
        Value in = e.lt(e.sub(warp, e.i32(role.getFirstWarp())), e.i32(role.getNumWarps()));
        e.ifThen(in, [&] { result = lowerRole(role); });
      }
    };
    if (last + 1 == roles.size() && end >= totalWarps) {
      body();
      return;
    }
    size_t next = last + 1;
    e.ifThen(e.lt(warp, e.i32(end)), body, [&] { emit(next); });
  };
  emit(0);
  if (failed(result))
    return failure();
  auto columns = kernel->getAttrOfType<IntegerAttr>("tmem_columns");
  auto slot = kernel->getAttrOfType<IntegerAttr>("tmem_address");
  family->epilogue(columns ? columns.getInt() : 0, slot ? slot.getInt() : 0);
  e.make<LLVM::ReturnOp>(ValueRange());
  return success();
}

bool KernelLowering::isSingleThreaded(RoleOp role) const {
  return heddle::warp::isSingleThreaded(role, target);
}

LogicalResult KernelLowering::lowerRole(RoleOp op) {
  role.op = op;
  role.number = 0;
  for (RoleOp other : kernel.getBody().front().getOps<RoleOp>())
    role.number += other->isBeforeInBlock(op);
  role.warps = op.getNumWarps();
  role.single = isSingleThreaded(op);
  role.warpInRole = e.add(warp, -static_cast<int64_t>(op.getFirstWarp()));
  role.threadInRole = e.add(tid, -static_cast<int64_t>(op.getFirstWarp()) * 32);
  for (auto &[pipe, s] : pipes) {
    if (!s.op.getBarriers())
      continue;
    s.index = allocaI32(0), s.phase = allocaI32(0), s.freeIndex = allocaI32(0);
    s.stored = allocaI32(0);
    s.heldIndex = {};
  }
  usesBulkStore = false;
  LogicalResult result = success();
  auto body = [&] {
    result = lowerBlock(op.getBody().front());
    drainReleases();
    if (usesBulkStore) // the source must stay until it is read, the writes must land
      e.make<ptx::BulkWaitOp>(e.getI32IntegerAttr(0));
  };
  if (!role.single) {
    body();
    return result;
  }
  Value chosen = target.has(target::Feature::ElectSync)
                     ? Value(e.make<NVVM::ElectSyncOp>(e.getI1Type(), Value()))
                     : e.eq(lane, 0);
  if (role.warps > 1)
    chosen = e.bitAnd(chosen, e.eq(role.warpInRole, 0));
  e.ifThen(chosen, body);
  return result;
}

//===----------------------------------------------------------------------===//
// Blocks and loops
//===----------------------------------------------------------------------===//

LogicalResult KernelLowering::lowerBlock(Block &block) {
  LogicalResult result = success();
  for (Operation *op = block.empty() ? nullptr : &block.front(); op && succeeded(result);
       op = op->getNextNode()) {
    if (Operation *last = lowerChunks(op, result))
      op = last;
    else
      result = lowerOp(*op);
  }
  return result;
}

LogicalResult KernelLowering::lowerOp(Operation &op) {
  e.loc = op.getLoc();
  return TypeSwitch<Operation *, LogicalResult>(&op)
      .Case<ForEachOp>([&](auto o) { return lowerForEach(o); })
      .Case<scf::ForOp>([&](auto o) { return lowerFor(o); })
      .Case<scf::IfOp>([&](auto o) { return lowerIf(o); })
      .Case<scf::YieldOp>([&](auto) { return success(); }) // made by the loop
      .Case<AcquireOp>([&](auto o) { return lowerAcquire(o); })
      .Case<WaitOp>([&](auto o) { return lowerWait(o); })
      .Case<CommitOp>([&](auto o) { return lowerCommit(o); })
      .Case<ReleaseOp>([&](auto o) { return lowerRelease(o); })
      .Case<FenceOp>([&](auto o) { return lowerFence(o), success(); })
      .Case<CopyOp>([&](auto o) { return lowerCopy(o); })
      .Case<MapOp>([&](auto o) { return lowerMap(o); })
      .Case<StoreOp>([&](auto o) { return lowerStore(o); })
      .Case<CombineOp>([&](auto o) { return lowerCombine(o); })
      .Case<PackOp>([&](auto o) { return lowerPack(o); })
      .Case<ReadOp>([&](auto o) { return lowerRead(o); })
      .Case<RouteOp>([&](auto o) { return lowerRoute(o); })
      .Case<HasExpertOp>([&](auto o) { return lowerHasExpert(o); })
      .Case<ListExpertsOp>([&](auto o) { return lowerListExperts(o); })
      .Case<RankOp>([&](RankOp o) { return mapping.map(o.getResult(), comm.rank), success(); })
      .Case<WorldOp>([&](WorldOp o) { return mapping.map(o.getResult(), comm.world), success(); })
      .Case<ChannelOp>([&](ChannelOp o) {
        Value channel = e.make<NVVM::BlockIdXOp>(e.getI32Type());
        return mapping.map(o.getResult(), e.toI64(channel)), success();
      })
      .Case<ChannelsOp>([&](ChannelsOp o) {
        Value channels = e.make<NVVM::GridDimXOp>(e.getI32Type());
        return mapping.map(o.getResult(), e.toI64(channels)), success();
      })
      .Case<NthPeerOp>([&](NthPeerOp o) {
        // Below 2 * world.
        Value sum = e.add(e.add(comm.rank, lookup(o.getN())), 1);
        Value over = e.compare(arith::CmpIPredicate::sge, sum, comm.world);
        return mapping.map(o.getResult(), e.select(over, e.sub(sum, comm.world), sum)), success();
      })
      .Case<PeerOp>([&](auto o) { return lowerPeer(o); })
      .Case<PeerCommitOp>([&](PeerCommitOp o) {
        return lowerSignal(o.getPipe(), lookup(o.getRank()), lookup(o.getAlive()), true), success();
      })
      .Case<PeerReleaseOp>([&](PeerReleaseOp o) {
        return lowerSignal(o.getPipe(), lookup(o.getRank()), lookup(o.getAlive()), false), success();
      })
      .Case<PeerWaitOp>([&](PeerWaitOp o) {
        Value ok = lowerPeerWait(o.getPipe(), lookup(o.getRank()), lookup(o.getAlive()), true);
        return mapping.map(o.getOk(), ok), success();
      })
      .Case<PeerAcquireOp>([&](PeerAcquireOp o) {
        Value ok = lowerPeerWait(o.getPipe(), lookup(o.getRank()), lookup(o.getAlive()), false);
        return mapping.map(o.getOk(), ok), success();
      })
      .Case<PacketSendOp>([&](auto o) { return lowerPacketSend(o); })
      .Case<PacketReceiveOp>([&](auto o) { return lowerPacketReceive(o); })
      .Case<PacketAddOp>([&](auto o) { return lowerPacketAdd(o); })
      .Case<TransferOp>([&](auto o) { return lowerTransfer(o); })
      .Case<SpreadZeroOp>([&](auto o) { return lowerSpreadZero(o); })
      .Case<SpreadAddOp>([&](auto o) { return lowerSpreadAdd(o); })
      .Case<SpreadStoreOp>([&](auto o) { return lowerSpreadStore(o); })
      .Case<arith::TruncFOp>([&](auto o) { return lowerTruncF(o); })
      .Case<WorkStreamOp>([&](auto) { return success(); }) // read by its loops
      .Case<GroupsOp>([&](auto o) { return lowerGroups(o); })
      .Case<MmaOp>([&](MmaOp o) {
        FailureOr<Value> acc = family->mma(o, lookup(o.getA()), lookup(o.getB()), lookup(o.getAcc()),
                                           lookup(o.getAccumulate()));
        if (failed(acc))
          return LogicalResult(failure());
        mapping.map(o.getResult(), *acc);
        return LogicalResult(success());
      })
      .Case<ZeroOp>([&](ZeroOp o) { return mapping.map(o.getResult(), family->zeroAcc(o.getType())), success(); })
      .Case<PromoteOp>([&](PromoteOp o) {
        FailureOr<Value> acc = family->promote(o, lookup(o.getPartial()), lookup(o.getAcc()));
        if (succeeded(acc))
          mapping.map(o.getResult(), *acc);
        return LogicalResult(acc);
      })
      .Case<MmaWaitOp>([&](MmaWaitOp o) {
        mapping.map(o.getResult(), family->wait(lookup(o.getAcc()), o.getAcc().getType()));
        return success();
      })
      .Default([&](Operation *o) { return lowerPlain(*o); });
}

/// arith, math and memref.dim.
LogicalResult KernelLowering::lowerPlain(Operation &op) {
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    std::optional<int64_t> which = dim.getConstantIndex();
    if (!which)
      return error(&op, "expected a constant dimension");
    MemoryArg &m = memory(dim.getSource());
    if (*which < 0 || *which >= m.type.getRank())
      return error(&op, "expected a dimension below " + Twine(m.type.getRank()) + ", got " +
                            Twine(*which));
    mapping.map(dim.getResult(), e.toIndex(sizeValue(m.sizes[*which])));
    return success();
  }
  if (!isa<arith::ArithDialect, math::MathDialect>(op.getDialect()))
    return error(&op, "cannot be lowered here: expected warp, scf, arith, math or memref.dim");
  e.clone(op, mapping);
  return success();
}

/// To 8-bit floats, which LLVM does not know: bytes from here on.
LogicalResult KernelLowering::lowerTruncF(arith::TruncFOp op) {
  Type to = op.getType();
  if (storageType(to) == to)
    return lowerPlain(*op);
  if (!op.getIn().getType().isF32() || !isa<Float8E4M3FNType, Float8E5M2Type>(to))
    return error(op, "expected f32 rounded to f8E4M3FN or f8E5M2");
  Value zero = e.make<arith::ConstantOp>(e.getF32FloatAttr(0));
  Value two = e.make<ptx::CvtF8x2Op>(e.getI16Type(), zero, lookup(op.getIn()),
                                     e.getStringAttr(isa<Float8E5M2Type>(to) ? "e5m2" : "e4m3"));
  mapping.map(op.getResult(), e.make<arith::TruncIOp>(e.getI8Type(), two));
  return success();
}

LogicalResult KernelLowering::lowerFor(scf::ForOp op) {
  SmallVector<Value> inits;
  for (Value v : op.getInitArgs())
    inits.push_back(lookup(v));
  auto loop = e.make<scf::ForOp>(lookup(op.getLowerBound()), lookup(op.getUpperBound()),
                                 lookup(op.getStep()), inits);
  mapping.map(op.getInductionVar(), loop.getInductionVar());
  for (auto [from, to] : llvm::zip(op.getRegionIterArgs(), loop.getRegionIterArgs()))
    mapping.map(from, to);
  {
    OpBuilder::InsertionGuard guard(e);
    e.setInsertionPointToStart(loop.getBody());
    if (loop.getBody()->mightHaveTerminator())
      e.setInsertionPoint(loop.getBody()->getTerminator());
    if (failed(lowerBlock(*op.getBody())))
      return failure();
    SmallVector<Value> yields;
    for (Value v : cast<scf::YieldOp>(op.getBody()->getTerminator()).getOperands())
      yields.push_back(lookup(v));
    if (!yields.empty())
      e.make<scf::YieldOp>(yields);
  }
  e.setInsertionPointAfter(loop);
  for (auto [from, to] : llvm::zip(op.getResults(), loop.getResults()))
    mapping.map(from, to);
  return success();
}

LogicalResult KernelLowering::lowerIf(scf::IfOp op) {
  if (op.getNumResults())
    return error(op, "expected an scf.if without results");
  LogicalResult result = success();
  auto then = [&] { result = lowerBlock(*op.thenBlock()); };
  auto otherwise = [&] {
    if (succeeded(result))
      result = lowerBlock(*op.elseBlock());
  };
  if (op.elseBlock())
    e.ifThen(lookup(op.getCondition()), then, otherwise);
  else
    e.ifThen(lookup(op.getCondition()), then);
  return result;
}

std::pair<Value, Value> KernelLowering::placeInGrid(Value index, Value rows, Value cols,
                                                    int64_t raster) {
  Value band = e.mul(cols, raster);
  Value firstRow = e.mul(e.div(index, band), raster);
  Value inBand = e.rem(index, band);
  Value height = e.min(e.sub(rows, firstRow), e.i32(raster));
  return {e.add(firstRow, e.rem(inBand, height)), e.div(inBand, height)};
}

/// Items c, c + #CTAs, ... of the grid of tiles, `raster` rows at a time; of one grid after
/// the other where groups have tiles of their own. With clusters the same of the grid of
/// blocks of tiles, in each of which this CTA has its tile.
LogicalResult KernelLowering::lowerForEach(ForEachOp op) {
  auto stream = op.getStream().getDefiningOp<WorkStreamOp>();
  if (!stream)
    return error(op, "expected the stream to come from warp.work_stream");
  GroupTable *groups = nullptr;
  if (stream.getGroups())
    groups = &groupTables.find(stream.getGroups())->second;
  bool grids = groups && groups->items; // one a group
  Value rows = e.toI32(lookup(stream.getRows())), cols = e.toI32(lookup(stream.getCols()));
  auto blocks = [&](Value tiles, int64_t extent) {
    return extent == 1 ? tiles : e.div(e.add(tiles, extent - 1), e.i32(extent));
  };
  rows = blocks(rows, cluster.rows), cols = blocks(cols, cluster.cols);
  Value perBatch = grids ? Value() : e.mul(rows, cols);
  Value total = grids ? e.mul(groups->total, cols)
                      : e.mul(perBatch, e.toI32(lookup(stream.getBatch())));
  int64_t splits = stream.getSplits();
  total = e.mul(total, splits);
  Value slot = grids ? allocaI32(0) : Value();
  Value first = e.make<NVVM::BlockIdXOp>(e.getI32Type());
  Value step = e.make<NVVM::GridDimXOp>(e.getI32Type());
  if (cluster.size() > 1)
    first = e.div(first, e.i32(cluster.size())), step = e.div(step, e.i32(cluster.size()));
  auto loop = e.make<scf::ForOp>(first, total, step);
  {
    OpBuilder::InsertionGuard guard(e);
    e.setInsertionPoint(loop.getBody()->getTerminator());
    Value item = loop.getInductionVar(), batch, inBatch, part;
    if (splits > 1)
      part = e.rem(item, e.i32(splits)), item = e.div(item, e.i32(splits));
    if (grids) {
      batch = groupOf(*groups, slot, item, cols);
      Value before = uniform(loadShared(groups->items, batch));
      rows = e.sub(uniform(loadShared(groups->items, e.add(batch, 1))), before);
      inBatch = e.sub(item, e.mul(before, cols));
    } else {
      batch = e.div(item, perBatch), inBatch = e.rem(item, perBatch);
    }
    auto [row, col] = placeInGrid(inBatch, rows, cols, stream.getRaster());
    if (cluster.size() > 1) {
      row = e.add(e.mul(row, cluster.rows), clusterRow);
      col = e.add(e.mul(col, cluster.cols), clusterCol);
    }
    SmallVector<Value> values{row, col, batch};
    if (part)
      values.push_back(part);
    if (groups)
      for (Value table : {groups->first, groups->size})
        values.push_back(uniform(loadShared(table, batch)));
    Block &body = op.getBody().front();
    for (auto [argument, value] : llvm::zip(body.getArguments(), values))
      mapping.map(argument, e.toIndex(value));
    if (failed(lowerBlock(body)))
      return failure();
  }
  e.setInsertionPointAfter(loop);
  return success();
}

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

Value KernelLowering::allocaAtEntry(Type type) {
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(entry);
  return e.make<LLVM::AllocaOp>(LLVM::LLVMPointerType::get(e.getContext()), type, e.i32(1));
}
Value KernelLowering::allocaI32(int64_t initial) {
  Value slot = allocaAtEntry(e.getI32Type());
  store(slot, e.i32(initial));
  return slot;
}
Value KernelLowering::load(Value slot) { return e.make<LLVM::LoadOp>(e.getI32Type(), slot); }
void KernelLowering::store(Value slot, Value value) { e.make<LLVM::StoreOp>(value, slot); }
void KernelLowering::arrive(Value barrier) { e.make<ptx::MBarrierArriveOp>(barrier); }
void KernelLowering::syncWarp() { e.make<NVVM::SyncWarpOp>(e.i32(-1)); }

void KernelLowering::waitBarrier(Value barrier, Value parity) {
  if (target.has(target::Feature::TryWait))
    e.make<ptx::MBarrierWaitOp>(barrier, parity);
  else
    e.make<ptx::MBarrierPollOp>(barrier, parity);
}

Value KernelLowering::elementAddress(TileType type, Value base, Value row, Value col) {
  Value strided = type.getMajor() == Major::K ? row : col;
  Value contiguous = type.getMajor() == Major::K ? col : row;
  int64_t panel = type.getPanelElements(), bytes = type.getElementBytes();
  Value address = base;
  Value within = e.mul(contiguous, bytes);
  if (type.getNumPanels() > 1) {
    address = e.add(address, e.mul(e.div(contiguous, e.i32(panel)), type.getPanelBytes()));
    within = e.bitAnd(within, 127);
  }
  // 16-byte chunk c of row r lies at chunk c ^ (r & 7).
  Value swizzled = e.bitXor(within, e.shl(e.bitAnd(strided, 7), 4));
  return e.add(e.add(address, e.shl(strided, 7)), swizzled);
}

bool MmaFamilyLowering::startsAsAcquired(MmaOp op) {
  auto flag = op.getAccumulate().getDefiningOp<arith::CmpIOp>();
  auto loop = op->getParentOfType<scf::ForOp>();
  auto arg = dyn_cast<BlockArgument>(op.getAcc());
  if (!flag || !loop || !arg || arg.getOwner() != loop.getBody() ||
      flag.getPredicate() != arith::CmpIPredicate::ne || flag.getLhs() != loop.getInductionVar())
    return false;
  auto same = [&](Value a, Value b) {
    if (a == b)
      return true;
    auto x = a.getDefiningOp<arith::ConstantOp>(), y = b.getDefiningOp<arith::ConstantOp>();
    return x && y && x.getValue() == y.getValue();
  };
  return same(flag.getRhs(), loop.getLowerBound()) &&
         isa_and_nonnull<AcquireOp>(loop.getTiedLoopInit(arg)->get().getDefiningOp());
}
