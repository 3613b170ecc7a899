//===- GemmBuilder.cpp - the network of stages of a GEMM ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In: an analyzed spec and a schedule. Out: a warp.kernel with the stages load, mma,
// epilogue and, when results leave through shared memory, store, joined by the pipes
// "operands", "accumulator" and "out". Where threads gather rows of A beside bulk copies
// of B, a stage and a pipe of their own do so. The network is the same for every target; what
// differs between targets is in the schedule.
//
// Cannot: place warps, barriers or fences; later passes do.
//
//===----------------------------------------------------------------------===//
#include "Epilogue.h"
#include "heddle/Kernels/Gemm.h"
#include <map>
#include <numeric>

using namespace mlir;

namespace heddle::kernels {
namespace {

class NetworkBuilder {
public:
  NetworkBuilder(OpBuilder &builder, const GemmSpec &spec, const target::Target &target,
                 const GemmVariant &variant)
      : b(builder), s(spec), gemm(spec.gemm), target(target), variant(variant),
        schedule(variant.schedule), loc(gemm.getLoc()) {}
  warp::KernelOp build();

private:
  struct Operand {
    unsigned arg;
    warp::TileType tile;
    bool transposed;
  };
  struct Item {
    Value row, col, batch; ///< first row and column of the item's tile, batch index or group
    Value first, size;     ///< of its group; null without groups
    Value tile, part, firstStep, steps; ///< with split_k: of the tile, and its part of K in steps
    Value rowEnd;          ///< where the group's rows end; null when that is not before the tensor's
  };
  bool splits() const { return schedule.splitK > 1; }
  /// Whether rows of tiles are those of B and columns those of A: the result's are exchanged.
  bool swapped() const { return schedule.swap != 0; }

  void makeKernel();
  void makeSizes();
  void countTiles(Value rows, Value cols, Value batch);
  void makePipes();
  void loadStage(StringRef name, Value pipe, bool loadsA, bool loadsB, IntegerAttr warps);
  void mmaStage();
  void epilogueStage();
  void storeStage();
  void storeDirect(const Item &item, Value acc);
  void packChunks(const Item &item, Value acc);
  void combine(const Item &item, Value acc);

  MemRefType memrefOf(const TensorArg &tensor);
  Operand operandOf(unsigned arg, bool kMajor, int64_t rows);
  /// A constant, made once at the head of the kernel.
  Value index(int64_t value);
  /// The size of dimension `dim` of tensor `arg`, a constant when static.
  Value sizeOf(unsigned arg, unsigned dim);
  Value tilesOf(Value size, int64_t tile) {
    return arith::CeilDivUIOp::create(b, loc, size, index(tile));
  }
  Value argument(unsigned i) { return kernel.getBody().getArgument(i); }
  /// Offsets in tensor `arg`, the item's batch index or group in front where it has them.
  SmallVector<Value> at(unsigned arg, const Item &item, Value row, Value col) {
    bool lead = s.tensors[arg].type.getRank() == 3;
    return lead ? SmallVector<Value>{item.batch, row, col} : SmallVector<Value>{row, col};
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  bool isGrouped(spec::Grouping what) { return gemm.isGrouped(what); }
  Value makeGroups(Value &rows);
  /// Steps along K that the item takes. One at least, so that there is a sum: copies fill what is
  /// past the end with zeros.
  Value stepsOf(const Item &item);
  /// Where step `step` of the item begins in K.
  Value placeInK(const Item &item, Value step);
  /// Offsets in the result of a row and a column of tiles.
  SmallVector<Value> inResult(const Item &item, Value row, Value col) {
    return swapped() ? at(s.d, item, col, row) : at(s.d, item, row, col);
  }
  void addPart(Item &item, Block &block);
  void stage(StringRef name, bool usesTile, function_ref<void(const Item &)> body,
             IntegerAttr warps = IntegerAttr());
  /// Fills an element region of warp.store, or of warp.pack, whose indices are the tiles'.
  void elementRegion(Region &region, const Item &item, bool ofTiles);
  /// Gives `mma` the scales of the operands' K block `step`.
  void addScales(warp::MmaOp mma, const Item &item, Value step);

  OpBuilder &b;
  const GemmSpec &s;
  spec::GemmOp gemm;
  const target::Target &target;
  const GemmVariant &variant;
  const tuning::Schedule &schedule;
  Location loc;
  warp::KernelOp kernel;
  Operand a, bt; ///< with their arguments
  Value stream, kSteps, zero, one;
  Value tileRows, tileCols, tiles; ///< with split_k, whole clusters
  Value operands, accumulator, out;
  Value gathered; ///< the pipe of A alone
  warp::TileType outTile;
  std::map<int64_t, Value> constants;
  Operation *lastConstant = nullptr;
};

} // namespace

//===----------------------------------------------------------------------===//
// The kernel and its arguments
//===----------------------------------------------------------------------===//

MemRefType NetworkBuilder::memrefOf(const TensorArg &t) {
  MemRefLayoutAttrInterface layout;
  if (t.strides)
    layout = StridedLayoutAttr::get(b.getContext(), 0, *t.strides);
  return MemRefType::get(t.type.getShape(), t.type.getElementType(), layout);
}

void NetworkBuilder::makeKernel() {
  SmallVector<Type> types;
  for (const TensorArg &t : s.tensors)
    types.push_back(t.type ? Type(memrefOf(t)) : b.getF32Type());
  spec::KernelOp spec = s.kernel;
  kernel = warp::KernelOp::create(b, spec.getLoc(), (spec.getSymName() + variant.suffix).str(),
                                  b.getFunctionType(types, {}));
  kernel.setTarget(target.name);
  kernel.setScheduleAttr(warp::toAttr(b.getContext(), schedule));
  for (const TensorArg &t : s.tensors) {
    kernel.setArgAttr(t.index, "warp.name", b.getStringAttr(t.name));
    SmallVector<StringRef> dims;
    for (const spec::Size *size : t.sizes)
      dims.push_back(size->name);
    if (t.type)
      kernel.setArgAttr(t.index, "warp.dims", b.getStrArrayAttr(dims));
  }
  b.setInsertionPointToStart(&kernel.getBody().front());
}

Value NetworkBuilder::index(int64_t value) {
  Value &constant = constants[value];
  if (!constant) {
    OpBuilder::InsertionGuard guard(b);
    Block &head = kernel.getBody().front();
    if (lastConstant)
      b.setInsertionPointAfter(lastConstant);
    else
      b.setInsertionPointToStart(&head);
    constant = arith::ConstantIndexOp::create(b, loc, value);
    lastConstant = constant.getDefiningOp();
  }
  return constant;
}

Value NetworkBuilder::sizeOf(unsigned arg, unsigned dim) {
  const spec::Size &size = *s.tensors[arg].sizes[dim];
  if (!size.isDynamic())
    return index(size.value);
  return memref::DimOp::create(b, loc, argument(arg), index(dim));
}

void NetworkBuilder::makeSizes() {
  zero = index(0), one = index(1);
  Value rows = tilesOf(sizeOf(s.d, s.lead + swapped()), schedule.tileM);
  Value cols = tilesOf(sizeOf(s.d, s.lead + !swapped()), schedule.tileN);
  bool eachGroup = s.groups && isGrouped(spec::Grouping::AlongK);
  Value batch = s.batched || eachGroup ? sizeOf(s.d, 0) : one;
  Value groups;
  if (s.groups)
    groups = makeGroups(rows);
  kSteps = tilesOf(sizeOf(s.a, gemm.getADimK()), schedule.tileK);
  DenseI64ArrayAttr cluster;
  if (schedule.clusterSize() > 1)
    cluster = b.getDenseI64ArrayAttr({schedule.clusterM, schedule.clusterN});
  stream = warp::WorkStreamOp::create(b, loc, warp::StreamType::get(b.getContext()), rows, cols,
                                      batch, schedule.raster, cluster, groups, schedule.splitK);
  if (splits())
    countTiles(rows, cols, batch);
}

/// How many tiles combine their parts, and that K is long enough for them.
void NetworkBuilder::countTiles(Value rows, Value cols, Value batch) {
  // Clusters take whole blocks of tiles, some of them beyond the last.
  auto blocks = [&](Value tiles, int64_t extent) -> Value {
    return extent == 1 ? tiles
                       : arith::MulIOp::create(b, loc, tilesOf(tiles, extent), index(extent));
  };
  tileRows = blocks(rows, schedule.clusterM), tileCols = blocks(cols, schedule.clusterN);
  tiles = arith::MulIOp::create(b, loc, arith::MulIOp::create(b, loc, tileRows, tileCols), batch);
  const spec::Size &k = s.k();
  if (!k.isDynamic())
    return;
  auto field = [&](StringRef key, Attribute value) { return b.getNamedAttr(key, value); };
  Attribute expr = b.getArrayAttr({b.getStringAttr(k.name), b.getI64IntegerAttr(schedule.tileK),
                                   b.getStringAttr("ceil_div")});
  std::string what = "steps of " + std::to_string(schedule.tileK) + " of " + k.name +
                     ", which CTAs share";
  Attribute enough = b.getDictionaryAttr(
      {field("kind", b.getStringAttr("at_least")), field("expr", expr),
       field("value", b.getI64IntegerAttr(schedule.splitK)), field("what", b.getStringAttr(what))});
  kernel->setAttr("heddle.constraints", b.getArrayAttr(enough));
}

/// The groups' bounds. Where they divide rows, `rows` becomes what all tiles of all groups
/// do not exceed: of a group all but the last tile are full.
Value NetworkBuilder::makeGroups(Value &rows) {
  using warp::GroupKind;
  bool alongK = isGrouped(spec::Grouping::AlongK), masked = isGrouped(spec::Grouping::Masked);
  Value limit = alongK ? sizeOf(s.a, gemm.getADimK()) : sizeOf(s.d, s.lead);
  GroupKind kind = masked              ? GroupKind::Masked
                   : gemm.hasOffsets() ? GroupKind::Offsets
                                       : GroupKind::Counts;
  IntegerAttr by;
  if (!alongK) {
    Value count = index(gemm.getNumGroups()), clusterRows = index(schedule.clusterM);
    by = b.getI64IntegerAttr(schedule.tileM * schedule.clusterM);
    rows = tilesOf(limit, by.getInt());
    rows = masked ? Value(arith::MulIOp::create(b, loc, rows, count)) : add(rows, count);
    rows = arith::MulIOp::create(b, loc, rows, clusterRows);
  }
  return warp::GroupsOp::create(b, loc, warp::GroupsType::get(b.getContext()), argument(*s.groups),
                                kind, limit, static_cast<int64_t>(gemm.getAligned().value_or(1)),
                                by, s.status ? argument(*s.status) : Value(), IntegerAttr());
}

Value NetworkBuilder::stepsOf(const Item &item) {
  if (splits())
    return item.steps;
  if (!s.groups || !isGrouped(spec::Grouping::AlongK))
    return kSteps;
  return arith::MaxUIOp::create(b, loc, tilesOf(item.size, schedule.tileK), one);
}

Value NetworkBuilder::placeInK(const Item &item, Value step) {
  if (splits())
    step = add(item.firstStep, step);
  Value k = arith::MulIOp::create(b, loc, step, index(schedule.tileK));
  return s.groups && isGrouped(spec::Grouping::AlongK) ? add(item.first, k) : k;
}

/// An operand whose K is not contiguous in memory keeps that order in shared memory,
/// but for 32-bit elements, which tensor cores take only with K contiguous.
NetworkBuilder::Operand NetworkBuilder::operandOf(unsigned arg, bool kMajor, int64_t rows) {
  Type element = s.tensors[arg].type.getElementType();
  bool mnTile = !kMajor && element.getIntOrFloatBitWidth() == 16;
  auto tile = warp::TileType::get(b.getContext(), rows, schedule.tileK, element,
                                  mnTile ? warp::Major::MN : warp::Major::K);
  return {arg, tile, !kMajor};
}

void NetworkBuilder::makePipes() {
  MLIRContext *c = b.getContext();
  auto pipe = [&](StringRef name, warp::Link link, int64_t depth, ArrayRef<Type> parts) {
    auto type = warp::PipeType::get(c, link, depth, parts);
    return warp::PipeOp::create(b, loc, type, name, IntegerAttr(), IntegerAttr(), IntegerAttr(),
                                IntegerAttr())
        .getPipe();
  };
  a = operandOf(s.a, !gemm.getTransposeA(), swapped() ? schedule.tileN : schedule.tileM);
  bt = operandOf(s.b, gemm.getTransposeB(), swapped() ? schedule.tileM : schedule.tileN);
  if (swapped())
    std::swap(a, bt);
  warp::Link link = schedule.clusterSize() > 1 ? warp::Link::Cluster : warp::Link::Smem;
  if (s.rows && schedule.copy == target::CopyEngine::Bulk) {
    gathered = pipe("gathered", warp::Link::Smem, schedule.stages, {a.tile});
    operands = pipe("operands", link, schedule.stages, {bt.tile});
  } else {
    operands = pipe("operands", link, schedule.stages, {a.tile, bt.tile});
  }
  auto acc = warp::AccType::get(c, schedule.tileM, schedule.tileN, b.getF32Type());
  accumulator = pipe("accumulator", warp::Link::Accumulator, schedule.accStages, {acc});
  if (schedule.store != tuning::StorePath::Bulk)
    return;
  Type element = s.tensors[s.d].type.getElementType();
  int64_t columns = 128 / (element.getIntOrFloatBitWidth() / 8); // one swizzled panel
  outTile = warp::TileType::get(c, schedule.tileM,
                                swapped() ? std::gcd(schedule.tileN, columns) : columns, element,
                                swapped() ? warp::Major::MN : warp::Major::K);
  out = pipe("out", warp::Link::Smem, schedule.storeStages, {outTile});
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

/// The item's part of K: steps [K * part / parts, K * (part + 1) / parts), never none.
void NetworkBuilder::addPart(Item &item, Block &block) {
  auto mul = [&](Value x, Value y) -> Value { return arith::MulIOp::create(b, loc, x, y); };
  Value parts = index(schedule.splitK);
  item.part = block.getArgument(3);
  item.firstStep = arith::DivUIOp::create(b, loc, mul(item.part, kSteps), parts);
  Value end = arith::DivUIOp::create(b, loc, mul(add(item.part, one), kSteps), parts);
  item.steps = arith::SubIOp::create(b, loc, end, item.firstStep);
  Value row = add(mul(item.batch, tileRows), block.getArgument(0));
  item.tile = add(mul(row, tileCols), block.getArgument(1));
}

void NetworkBuilder::stage(StringRef name, bool usesTile, function_ref<void(const Item &)> body,
                           IntegerAttr warps) {
  OpBuilder::InsertionGuard guard(b);
  auto op = warp::StageOp::create(b, loc, name, warps);
  b.setInsertionPointToStart(&op.getBody().emplaceBlock());
  auto loop = warp::ForEachOp::create(b, loc, stream);
  Type index_ = b.getIndexType();
  Block &block = loop.getBody().emplaceBlock();
  for (int i = 0; i < (s.groups ? 5 : splits() ? 4 : 3); ++i)
    block.addArgument(index_, loc);
  b.setInsertionPointToStart(&block);
  Item item;
  item.batch = block.getArgument(2);
  if (splits())
    addPart(item, block);
  if (s.groups)
    item.first = block.getArgument(3), item.size = block.getArgument(4);
  if (usesTile) {
    item.row = arith::MulIOp::create(b, loc, block.getArgument(0), index(schedule.tileM));
    item.col = arith::MulIOp::create(b, loc, block.getArgument(1), index(schedule.tileN));
    if (s.groups && isGrouped(spec::Grouping::AlongM))
      item.row = add(item.first, item.row), item.rowEnd = add(item.first, item.size);
    if (s.groups && isGrouped(spec::Grouping::Masked))
      item.rowEnd = item.size;
  }
  body(item);
}

void NetworkBuilder::loadStage(StringRef name, Value pipe, bool loadsA, bool loadsB,
                               IntegerAttr warps) {
  auto load = [&](const Item &item) {
    // Rows of A past a masked group's would be read for nothing; past other groups' are those of
    // the next, and do no harm either. Past the end of K there must be zeros.
    bool masked = s.groups && isGrouped(spec::Grouping::Masked);
    Value kEnd;
    if (s.groups && isGrouped(spec::Grouping::AlongK))
      kEnd = add(item.first, item.size);
    auto loop = scf::ForOp::create(b, loc, zero, stepsOf(item), one);
    b.setInsertionPointToStart(loop.getBody());
    auto slot = warp::AcquireOp::create(b, loc, pipe);
    Value k = placeInK(item, loop.getInductionVar());
    auto copy = [&](const Operand &from, Value row, Value end, Value tile, warp::ClusterAxis axis,
                    int sharers, Value rows = Value()) {
      warp::ClusterAxisAttr multicast;
      if (sharers > 1)
        multicast = warp::ClusterAxisAttr::get(b.getContext(), axis);
      SmallVector<Value> offsets =
          from.transposed ? at(from.arg, item, k, row) : at(from.arg, item, row, k);
      warp::CopyOp::create(b, loc, argument(from.arg), offsets, tile, ValueRange(), end, rows,
                           rows && gathered ? warp::Engine::Async
                                            : static_cast<warp::Engine>(schedule.copy),
                           from.transposed, multicast);
    };
    if (loadsA)
      copy(a, item.row, masked || s.rows ? item.rowEnd : kEnd, slot.getSlots().front(),
           warp::ClusterAxis::Row, schedule.clusterN, s.rows ? argument(*s.rows) : Value());
    if (loadsB)
      copy(bt, item.col, kEnd, slot.getSlots().back(), warp::ClusterAxis::Col, schedule.clusterM);
    warp::CommitOp::create(b, loc, pipe, ValueRange());
  };
  stage(name, /*usesTile=*/true, load, warps);
}

void NetworkBuilder::mmaStage() {
  stage("mma", /*usesTile=*/s.scaleA.has_value(), [&](const Item &item) {
    Value init = warp::AcquireOp::create(b, loc, accumulator).getSlots()[0];
    auto loop = scf::ForOp::create(b, loc, zero, stepsOf(item), one, init);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value aTile;
      if (gathered)
        aTile = warp::WaitOp::create(b, loc, gathered).getSlots()[0];
      auto slot = warp::WaitOp::create(b, loc, operands);
      if (!gathered)
        aTile = slot.getSlots()[0];
      Value later =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, loop.getInductionVar(), zero);
      Value carried = loop.getRegionIterArgs()[0];
      auto mma = warp::MmaOp::create(b, loc, aTile, slot.getSlots().back(), carried, later);
      if (s.scaleA)
        addScales(mma, item, loop.getInductionVar());
      Value acc = mma.getResult();
      if (gathered)
        warp::ReleaseOp::create(b, loc, gathered, acc, 0);
      warp::ReleaseOp::create(b, loc, operands, acc, 0);
      scf::YieldOp::create(b, loc, acc);
    }
    warp::CommitOp::create(b, loc, accumulator, loop.getResults());
  });
}

void NetworkBuilder::addScales(warp::MmaOp mma, const Item &item, Value step) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(mma);
  Value k = placeInK(item, step);
  unsigned a = *s.scaleA, bt = *s.scaleB;
  if (swapped())
    std::swap(a, bt);
  mma.getScaleAMutable().assign(argument(a));
  mma.getScaleBMutable().assign(argument(bt));
  mma.getScaleAOffsetsMutable().assign(at(a, item, item.row, k));
  mma.getScaleBOffsetsMutable().assign(at(bt, item, item.col, k));
  if (swapped()) {
    mma.setScaleABlock(gemm.getScaleBBlock());
    mma.setScaleBBlock(gemm.getScaleABlock());
    mma.setTransposedScaleA(gemm.getTransposedScaleB());
    mma.setTransposedScaleB(gemm.getTransposedScaleA());
    return;
  }
  mma.setScaleABlock(gemm.getScaleABlock());
  mma.setScaleBBlock(gemm.getScaleBBlock());
  mma.setTransposedScaleA(gemm.getTransposedScaleA());
  mma.setTransposedScaleB(gemm.getTransposedScaleB());
}

void NetworkBuilder::elementRegion(Region &region, const Item &item, bool ofTiles) {
  OpBuilder::InsertionGuard guard(b);
  Type index_ = b.getIndexType();
  Block &block = region.emplaceBlock();
  block.addArguments({b.getF32Type(), index_, index_}, {loc, loc, loc});
  b.setInsertionPointToStart(&block);
  Value row = block.getArgument(1), col = block.getArgument(2);
  SmallVector<Value> point = ofTiles ? inResult(item, row, col) : at(s.d, item, row, col);
  Value element =
      emitElement(b, s.epilogue, block.getArgument(0), point, kernel.getBody().getArguments(),
                  s.tensors[s.d].type.getElementType());
  warp::YieldOp::create(b, loc, element);
}

void NetworkBuilder::storeDirect(const Item &item, Value acc) {
  auto store = warp::StoreOp::create(b, loc, acc, argument(s.d),
                                     inResult(item, item.row, item.col), item.rowEnd, swapped());
  elementRegion(store.getBody(), item, /*ofTiles=*/false);
}

void NetworkBuilder::packChunks(const Item &item, Value acc) {
  for (int64_t col = 0; col < schedule.tileN; col += outTile.getCols()) {
    Value tile = warp::AcquireOp::create(b, loc, out).getSlots()[0];
    auto pack = warp::PackOp::create(b, loc, acc, col, item.row, item.col, tile);
    elementRegion(pack.getBody(), item, /*ofTiles=*/true);
    warp::CommitOp::create(b, loc, out, ValueRange());
  }
}

void NetworkBuilder::combine(const Item &item, Value acc) {
  auto combine =
      warp::CombineOp::create(b, loc, acc, item.part, schedule.splitK, item.tile, tiles);
  OpBuilder::InsertionGuard guard(b);
  Block &block = combine.getBody().emplaceBlock();
  Value sum = block.addArgument(acc.getType(), loc);
  b.setInsertionPointToStart(&block);
  storeDirect(item, sum);
}

void NetworkBuilder::epilogueStage() {
  stage("epilogue", /*usesTile=*/true, [&](const Item &item) {
    Value acc = warp::WaitOp::create(b, loc, accumulator).getSlots()[0];
    if (splits())
      combine(item, acc);
    else
      out ? packChunks(item, acc) : storeDirect(item, acc);
    warp::ReleaseOp::create(b, loc, accumulator, Value(), 0);
  });
}

void NetworkBuilder::storeStage() {
  stage("store", /*usesTile=*/true, [&](const Item &item) {
    for (int64_t first = 0; first < schedule.tileN; first += outTile.getCols()) {
      Value tile = warp::WaitOp::create(b, loc, out).getSlots()[0];
      Value col = first ? arith::AddIOp::create(b, loc, item.col, index(first)) : item.col;
      warp::CopyOp::create(b, loc, tile, ValueRange(), argument(s.d),
                           inResult(item, item.row, col), item.rowEnd, /*rows=*/Value(),
                           warp::Engine::Bulk, /*transposed=*/swapped(), warp::ClusterAxisAttr());
      warp::ReleaseOp::create(b, loc, out, Value(), 0);
    }
  });
}

warp::KernelOp NetworkBuilder::build() {
  OpBuilder::InsertionGuard guard(b);
  makeKernel();
  makeSizes();
  makePipes();
  if (gathered) {
    // The warps that issue bulk copies are among those that load.
    int64_t others = 1 + (out ? 1 : 0);
    loadStage("load", operands, /*loadsA=*/false, /*loadsB=*/true, IntegerAttr());
    loadStage("gather", gathered, /*loadsA=*/true, /*loadsB=*/false,
              b.getI64IntegerAttr(schedule.loadWarps - others));
  } else {
    loadStage("load", operands, /*loadsA=*/true, /*loadsB=*/true, IntegerAttr());
  }
  mmaStage();
  epilogueStage();
  if (out)
    storeStage();
  return kernel;
}

warp::KernelOp buildGemm(OpBuilder &builder, const GemmSpec &spec, const target::Target &target,
                         const GemmVariant &variant) {
  return NetworkBuilder(builder, spec, target, variant).build();
}

} // namespace heddle::kernels
