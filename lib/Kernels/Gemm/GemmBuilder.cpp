//===- GemmBuilder.cpp - the network of stages of a GEMM ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In: an analyzed spec and a schedule. Out: a warp.kernel with the stages load, mma,
// epilogue and, when results leave through shared memory, store, joined by the pipes
// "operands", "accumulator" and "out". The network is the same for every target; what
// differs between targets is in the schedule.
//
// Cannot: place warps, barriers or fences; later passes do.
//
//===----------------------------------------------------------------------===//
#include "Epilogue.h"
#include "heddle/Kernels/Gemm.h"
#include <map>

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
    Value memory;
    warp::TileType tile;
    bool transposed;
  };
  struct Item {
    Value row, col, batch; ///< first row and column of the item's tile, batch index
  };

  void makeKernel();
  void makeSizes();
  void makePipes();
  void loadStage();
  void mmaStage();
  void epilogueStage();
  void storeStage();
  void storeDirect(const Item &item, Value acc);
  void packChunks(const Item &item, Value acc);

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
  /// Offsets in a matrix with the item's batch index in front where there is one.
  SmallVector<Value> at(const Item &item, Value row, Value col) {
    return s.batched ? SmallVector<Value>{item.batch, row, col} : SmallVector<Value>{row, col};
  }
  void stage(StringRef name, bool usesTile, function_ref<void(const Item &)> body);
  /// Fills an element region of warp.store or warp.pack.
  void elementRegion(Region &region, const Item &item);
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
  Operand a, bt;
  Value stream, kSteps, zero, one;
  Value operands, accumulator, out;
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
  Value rows = tilesOf(sizeOf(s.d, s.batched), schedule.tileM);
  Value cols = tilesOf(sizeOf(s.d, s.batched + 1), schedule.tileN);
  Value batch = s.batched ? sizeOf(s.d, 0) : one;
  kSteps = tilesOf(sizeOf(s.a, gemm.getADimK()), schedule.tileK);
  DenseI64ArrayAttr cluster;
  if (schedule.clusterSize() > 1)
    cluster = b.getDenseI64ArrayAttr({schedule.clusterM, schedule.clusterN});
  stream = warp::WorkStreamOp::create(b, loc, warp::StreamType::get(b.getContext()), rows, cols,
                                      batch, schedule.raster, cluster);
}

/// An operand whose K is not contiguous in memory keeps that order in shared memory,
/// but for 32-bit elements, which tensor cores take only with K contiguous.
NetworkBuilder::Operand NetworkBuilder::operandOf(unsigned arg, bool kMajor, int64_t rows) {
  Type element = s.tensors[arg].type.getElementType();
  bool mnTile = !kMajor && element.getIntOrFloatBitWidth() == 16;
  auto tile = warp::TileType::get(b.getContext(), rows, schedule.tileK, element,
                                  mnTile ? warp::Major::MN : warp::Major::K);
  return {argument(arg), tile, !kMajor};
}

void NetworkBuilder::makePipes() {
  MLIRContext *c = b.getContext();
  auto pipe = [&](StringRef name, warp::Link link, int64_t depth, ArrayRef<Type> parts) {
    auto type = warp::PipeType::get(c, link, depth, parts);
    return warp::PipeOp::create(b, loc, type, name, IntegerAttr(), IntegerAttr(), IntegerAttr(),
                                IntegerAttr())
        .getPipe();
  };
  a = operandOf(s.a, !gemm.getTransposeA(), schedule.tileM);
  bt = operandOf(s.b, gemm.getTransposeB(), schedule.tileN);
  warp::Link link = schedule.clusterSize() > 1 ? warp::Link::Cluster : warp::Link::Smem;
  operands = pipe("operands", link, schedule.stages, {a.tile, bt.tile});
  auto acc = warp::AccType::get(c, schedule.tileM, schedule.tileN, b.getF32Type());
  accumulator = pipe("accumulator", warp::Link::Accumulator, schedule.accStages, {acc});
  if (schedule.store != tuning::StorePath::Bulk)
    return;
  Type element = s.tensors[s.d].type.getElementType();
  int64_t columns = 128 / (element.getIntOrFloatBitWidth() / 8); // one swizzled panel
  outTile = warp::TileType::get(c, schedule.tileM, columns, element, warp::Major::K);
  out = pipe("out", warp::Link::Smem, schedule.storeStages, {outTile});
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

void NetworkBuilder::stage(StringRef name, bool usesTile, function_ref<void(const Item &)> body) {
  OpBuilder::InsertionGuard guard(b);
  auto op = warp::StageOp::create(b, loc, name, IntegerAttr());
  b.setInsertionPointToStart(&op.getBody().emplaceBlock());
  auto loop = warp::ForEachOp::create(b, loc, stream);
  Type index_ = b.getIndexType();
  Block &block = loop.getBody().emplaceBlock();
  block.addArguments({index_, index_, index_}, {loc, loc, loc});
  b.setInsertionPointToStart(&block);
  Item item;
  item.batch = block.getArgument(2);
  if (usesTile) {
    item.row = arith::MulIOp::create(b, loc, block.getArgument(0), index(schedule.tileM));
    item.col = arith::MulIOp::create(b, loc, block.getArgument(1), index(schedule.tileN));
  }
  body(item);
}

void NetworkBuilder::loadStage() {
  stage("load", /*usesTile=*/true, [&](const Item &item) {
    auto loop = scf::ForOp::create(b, loc, zero, kSteps, one);
    b.setInsertionPointToStart(loop.getBody());
    auto slot = warp::AcquireOp::create(b, loc, operands);
    Value k = arith::MulIOp::create(b, loc, loop.getInductionVar(), index(schedule.tileK));
    auto copy = [&](const Operand &from, Value row, Value tile, warp::ClusterAxis axis,
                    int sharers) {
      warp::ClusterAxisAttr multicast;
      if (sharers > 1)
        multicast = warp::ClusterAxisAttr::get(b.getContext(), axis);
      SmallVector<Value> offsets = from.transposed ? at(item, k, row) : at(item, row, k);
      warp::CopyOp::create(b, loc, from.memory, offsets, tile, ValueRange(),
                           static_cast<warp::Engine>(schedule.copy), from.transposed, multicast);
    };
    copy(a, item.row, slot.getSlots()[0], warp::ClusterAxis::Row, schedule.clusterN);
    copy(bt, item.col, slot.getSlots()[1], warp::ClusterAxis::Col, schedule.clusterM);
    warp::CommitOp::create(b, loc, operands, ValueRange());
  });
}

void NetworkBuilder::mmaStage() {
  stage("mma", /*usesTile=*/s.scaleA.has_value(), [&](const Item &item) {
    Value init = warp::AcquireOp::create(b, loc, accumulator).getSlots()[0];
    auto loop = scf::ForOp::create(b, loc, zero, kSteps, one, init);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      auto slot = warp::WaitOp::create(b, loc, operands);
      Value later =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, loop.getInductionVar(), zero);
      Value carried = loop.getRegionIterArgs()[0];
      auto mma =
          warp::MmaOp::create(b, loc, slot.getSlots()[0], slot.getSlots()[1], carried, later);
      if (s.scaleA)
        addScales(mma, item, loop.getInductionVar());
      Value acc = mma.getResult();
      warp::ReleaseOp::create(b, loc, operands, acc, 0);
      scf::YieldOp::create(b, loc, acc);
    }
    warp::CommitOp::create(b, loc, accumulator, loop.getResults());
  });
}

void NetworkBuilder::addScales(warp::MmaOp mma, const Item &item, Value step) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(mma);
  Value k = arith::MulIOp::create(b, loc, step, index(schedule.tileK));
  mma.getScaleAMutable().assign(argument(*s.scaleA));
  mma.getScaleBMutable().assign(argument(*s.scaleB));
  mma.getScaleAOffsetsMutable().assign(at(item, item.row, k));
  mma.getScaleBOffsetsMutable().assign(at(item, item.col, k));
  mma.setScaleABlock(gemm.getScaleABlock());
  mma.setScaleBBlock(gemm.getScaleBBlock());
  mma.setTransposedScaleA(gemm.getTransposedScaleA());
  mma.setTransposedScaleB(gemm.getTransposedScaleB());
}

void NetworkBuilder::elementRegion(Region &region, const Item &item) {
  OpBuilder::InsertionGuard guard(b);
  Type index_ = b.getIndexType();
  Block &block = region.emplaceBlock();
  block.addArguments({b.getF32Type(), index_, index_}, {loc, loc, loc});
  b.setInsertionPointToStart(&block);
  SmallVector<Value> point = at(item, block.getArgument(1), block.getArgument(2));
  Value element =
      emitElement(b, s.epilogue, block.getArgument(0), point, kernel.getBody().getArguments(),
                  s.tensors[s.d].type.getElementType());
  warp::YieldOp::create(b, loc, element);
}

void NetworkBuilder::storeDirect(const Item &item, Value acc) {
  auto store = warp::StoreOp::create(b, loc, acc, argument(s.d), at(item, item.row, item.col));
  elementRegion(store.getBody(), item);
}

void NetworkBuilder::packChunks(const Item &item, Value acc) {
  for (int64_t col = 0; col < schedule.tileN; col += outTile.getCols()) {
    Value tile = warp::AcquireOp::create(b, loc, out).getSlots()[0];
    auto pack = warp::PackOp::create(b, loc, acc, col, item.row, item.col, tile);
    elementRegion(pack.getBody(), item);
    warp::CommitOp::create(b, loc, out, ValueRange());
  }
}

void NetworkBuilder::epilogueStage() {
  stage("epilogue", /*usesTile=*/true, [&](const Item &item) {
    Value acc = warp::WaitOp::create(b, loc, accumulator).getSlots()[0];
    out ? packChunks(item, acc) : storeDirect(item, acc);
    warp::ReleaseOp::create(b, loc, accumulator, Value(), 0);
  });
}

void NetworkBuilder::storeStage() {
  stage("store", /*usesTile=*/true, [&](const Item &item) {
    for (int64_t first = 0; first < schedule.tileN; first += outTile.getCols()) {
      Value tile = warp::WaitOp::create(b, loc, out).getSlots()[0];
      Value col = first ? arith::AddIOp::create(b, loc, item.col, index(first)) : item.col;
      warp::CopyOp::create(b, loc, tile, ValueRange(), argument(s.d), at(item, item.row, col),
                           warp::Engine::Bulk, /*transposed=*/false, warp::ClusterAxisAttr());
      warp::ReleaseOp::create(b, loc, out, Value(), 0);
    }
  });
}

warp::KernelOp NetworkBuilder::build() {
  OpBuilder::InsertionGuard guard(b);
  makeKernel();
  makeSizes();
  makePipes();
  loadStage();
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
