//===- KernelLowering.h - one warp.kernel on its way to instructions ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// State shared by the lowering's parts. Each part is a set of methods in a file of
// its own: PipeLowering, CopyLowering, ElementLowering, Signature. What differs
// between tensor-core generations is behind MmaFamilyLowering.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_LIB_CONVERSION_WARPTONVVM_KERNELLOWERING_H
#define HEDDLE_LIB_CONVERSION_WARPTONVVM_KERNELLOWERING_H

#include "Emitter.h"
#include "dialects/Warp/IR/WarpDialect.h"
#include "dialects/Warp/Transforms/Cluster.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

namespace heddle {

class MmaFamilyLowering;

/// Accumulator elements one thread holds: scalars with their place relative to the
/// thread's base row and column.
struct FragmentElement {
  mlir::Value value;
  int64_t row, col;
};

/// Is shown some elements of a thread, and what (i32) to add to their rows and columns.
using PieceVisitor = llvm::function_ref<void(llvm::ArrayRef<FragmentElement> piece, mlir::Value row,
                                             mlir::Value col)>;

/// How 16 x 8 fragments of a thread's registers lie: `blocks` of 16 rows, `rowStep` rows apart,
/// `cols` columns each.
struct FragmentGrid {
  int64_t blocks, rowStep, cols;
  /// Columns of which a thread has `elements`, or fewer, as `cols` and `alignment` (multiples of
  /// 8) allow.
  int64_t columnsAtOnce(int64_t elements, int64_t alignment) const {
    int64_t columns = 2 * elements;
    while (cols % columns || alignment % columns)
      columns /= 2;
    return columns;
  }
};

/// Elements [n * index, n * (index + 1)) of a vector, `index` (i32) known at run time only.
llvm::SmallVector<mlir::Value> selectElements(Emitter &e, mlir::Value vector, mlir::Value index,
                                              int64_t n);

/// What an element is in LLVM's types: 8-bit floats are bytes.
inline mlir::Type storageType(mlir::Type element) {
  if (element.isFloat() && element.getIntOrFloatBitWidth() == 8)
    return mlir::IntegerType::get(element.getContext(), 8);
  return element;
}

/// A run-time size in the kernel's parameters or a constant.
struct Size {
  int64_t constant = -1; ///< when not negative
  std::string symbol;    ///< else this run-time size
  bool isStatic() const { return symbol.empty(); }
};

/// What the lowered kernel knows of a memref argument.
struct MemoryArg {
  mlir::MemRefType type;
  unsigned index = 0;              ///< argument number
  std::string name;
  llvm::SmallVector<Size> sizes;
  /// Strides in elements. A product of sizes when `factors` is used (row-major, dynamic).
  struct Stride {
    int64_t constant = 1;
    llvm::SmallVector<std::string> factors; ///< symbols, multiplied in
  };
  llvm::SmallVector<Stride> strides;
  mlir::Value pointer;             ///< null when only tensor maps are used
};

/// Rows of the row dimension of a ragged map, and the stride whose multiple by them is 2^64.
inline constexpr int64_t raggedRows = int64_t(1) << 30, raggedStride = int64_t(1) << 34;

/// A tensor map parameter.
struct MapParam {
  unsigned arg;
  warp::TileType tile;
  int64_t shares;      ///< CTAs of a cluster among which the tile is divided
  /// For copies whose rows end before the memref's. Its row dimension has `raggedRows` rows, and two
  /// dimensions follow that move the start: one steps by a row, the other by 2^34 bytes less a
  /// row. Coordinates (raggedRows - end + row, ..., end, raggedRows) name row `row`, since
  /// addresses count modulo 2^64 and raggedRows * 2^34 is that; rows from `end` on are outside.
  bool ragged;
  mlir::Value pointer; ///< of the map itself
};

/// Counters between ranks. A channel has a header, whose first word counts its launches, then
/// for each peer pipe those of full and those of empty slots, one counter a rank.
constexpr int64_t channelHeaderBytes = 128, counterBytes = 8;
/// Packets follow: for each such pipe those of launches of even and of odd numbers, in each an
/// area a rank. Half of their bytes are data.
constexpr int64_t packetBytes(int64_t data) { return 2 * data; }

class KernelLowering {
public:
  KernelLowering(warp::KernelOp kernel, const target::Target &target);
  ~KernelLowering();
  /// Builds the llvm.func beside the kernel; the kernel is left for the caller to erase.
  mlir::LogicalResult run();

  // -- what parts and families use -------------------------------------------------
  Emitter e;
  const target::Target &target;
  warp::KernelOp kernel;
  mlir::Value tid, lane, warp, sharedBase; ///< i32, of this thread
  warp::ClusterShape cluster;
  mlir::Value clusterRow, clusterCol; ///< i32, of this CTA in its cluster; null without one
  /// What a kernel between ranks knows; `block` is null in others.
  struct Comm {
    mlir::Value block, signals;    ///< parameters: the communicator's block, offset of the counters
    mlir::Value rank, world;       ///< i64
    mlir::Value heap, area;        ///< i64: this rank's heap, this channel's counters in it
    mlir::Value stride;            ///< i64: bytes of counters of a channel
    mlir::Value epoch;             ///< i64: how often the channel ran, this launch included
    llvm::DenseMap<mlir::Value, unsigned> pipes; ///< numbers of peer pipes with counters
    llvm::DenseMap<mlir::Value, int64_t> packets; ///< of pipes of packets: bytes a rank before theirs
    int64_t perRank = 0;           ///< bytes of a channel's counters and packets for each rank
    unsigned waits = 0;            ///< numbered so far, for fault records
  } comm;
  /// The role being lowered.
  struct Role {
    warp::RoleOp op;
    unsigned number = 0; ///< in the manifest
    bool single = false;    ///< one elected thread runs it
    mlir::Value warpInRole; ///< i32
    mlir::Value threadInRole;
    unsigned warps = 0;
  } role;

  mlir::Value lookup(mlir::Value v) const { return mapping.lookup(v); }
  /// i32 shared address of a slot's part.
  mlir::Value tileAddress(mlir::Value tile) const { return mapping.lookup(tile); }
  /// Shared address of an element of a tile (see !warp.tile): row, col i32.
  mlir::Value elementAddress(warp::TileType type, mlir::Value base, mlir::Value row, mlir::Value col);
  mlir::Value allocaI32(int64_t initial); ///< promoted to a register by LLVM
  mlir::Value allocaAtEntry(mlir::Type type); ///< likewise, to be stored to first
  mlir::Value load(mlir::Value slot);
  void store(mlir::Value slot, mlir::Value value);
  void arrive(mlir::Value barrier);
  void waitBarrier(mlir::Value barrier, mlir::Value parity);
  void syncWarp();
  /// Barrier addresses of the slot last acquired, waited for, or released next.
  struct PipeState {
    warp::PipeOp op;
    warp::PipeType type;
    mlir::Value index, phase;      ///< allocas: the slot to take next
    mlir::Value freeIndex;         ///< alloca: the slot to release next
    mlir::Value heldIndex;         ///< i32: the slot taken last (this role)
    warp::ClusterReach reach;      ///< link cluster: the CTAs that fill its slots
    mlir::UnitAttr orders;         ///< set: arrivals from other CTAs release what threads did
    mlir::Value writerBase;        ///< i32: shared memory of the lane-th of them, with more than 1
    mlir::Value stored;            ///< alloca: slots whose bulk stores may still read, see releaseStored
  };
  PipeState &state(mlir::Value pipe);
  mlir::Value fullBarrier(PipeState &s, mlir::Value index);
  mlir::Value emptyBarrier(PipeState &s, mlir::Value index);
  /// The pipe a slot's part came from.
  mlir::Value pipeOf(mlir::Value tile) const { return tilePipe.lookup(tile); }

  mlir::Value sizeValue(const Size &s);                             ///< i32
  mlir::Value strideValue(const MemoryArg &m, unsigned dim);        ///< i64, elements
  MemoryArg &memory(mlir::Value v);
  /// Pointer to an element; indices i32.
  mlir::Value elementPointer(MemoryArg &m, llvm::ArrayRef<mlir::Value> indices);
  /// Clones an element region for one value; row and col i32.
  mlir::Value inlineRegion(mlir::Region &region, mlir::Value x, mlir::Value row, mlir::Value col);
  /// Adds a launch constraint (see the package schema).
  void constrain(llvm::StringRef kind, mlir::ArrayAttr expr, int64_t value, llvm::StringRef what);
  void constrainAlignment(MemoryArg &m, int64_t bytes);
  void constrainRagged(MemoryArg &m);
  mlir::ArrayAttr strideBytesExpr(const MemoryArg &m, unsigned dim);
  mlir::ArrayAttr sizeExpr(const Size &s);
  mlir::LogicalResult error(mlir::Operation *op, const llvm::Twine &message);
  /// Lowers the releases that directly follow `op` and give its tiles back: called once they
  /// have been read, before work on the accumulator that needs them no more.
  void releaseEarly(warp::MmaOp op);
  /// Whether one elected thread does all of a role's work.
  bool isSingleThreaded(warp::RoleOp role) const;

private:
  // Signature.cpp
  mlir::LogicalResult collectArguments();
  mlir::LogicalResult createFunction();
  void attachManifest();
  bool isUsedByPointer(mlir::Value arg);
  mlir::ArrayAttr gridExpr();
  /// From the schedule, or the attribute of kernels that have none.
  int64_t ctasPerSM();
  // KernelLowering.cpp
  void prologue();
  void clusterPlace();
  /// Whether launches begin while the one ahead ends.
  bool overlaps();
  mlir::LogicalResult lowerRoles();
  mlir::LogicalResult lowerRole(warp::RoleOp op);
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult lowerOp(mlir::Operation &op);
  mlir::LogicalResult lowerFor(mlir::scf::ForOp op);
  mlir::LogicalResult lowerIf(mlir::scf::IfOp op);
  mlir::LogicalResult lowerForEach(warp::ForEachOp op);
  /// The loop over tiles of a grid of `rows` x `cols` (i32), in bands of `raster` rows: row and
  /// column of number `index`.
  std::pair<mlir::Value, mlir::Value> placeInGrid(mlir::Value index, mlir::Value rows,
                                                  mlir::Value cols, int64_t raster);
  // Groups.cpp
  mlir::LogicalResult lowerGroups(warp::GroupsOp op);
  /// Tables in shared memory (i32 each).
  struct GroupTable {
    mlir::Value first, size, items; ///< addresses; `items` (before each group) with `by`
    mlir::Value total;              ///< items of all groups
  };
  mlir::Value loadShared(mlir::Value table, mlir::Value index);
  /// One value for all threads of the warp, which ptxas is to know.
  mlir::Value uniform(mlir::Value v);
  /// Steps the group in `slot` on to that of item `item`; `perRow` items for a row of tiles.
  mlir::Value groupOf(GroupTable &table, mlir::Value slot, mlir::Value item, mlir::Value perRow);
  mlir::LogicalResult lowerPlain(mlir::Operation &op);
  mlir::LogicalResult lowerTruncF(mlir::arith::TruncFOp op);
  // PipeLowering.cpp
  mlir::LogicalResult lowerAcquire(warp::AcquireOp op);
  mlir::LogicalResult lowerWait(warp::WaitOp op);
  mlir::LogicalResult lowerCommit(warp::CommitOp op);
  mlir::LogicalResult lowerRelease(warp::ReleaseOp op);
  void drainReleases();
  void waitEmpty(PipeState &s);
  void arriveEmpty(PipeState &s, mlir::Value index, mlir::Value condition);
  mlir::Value writerRank(PipeState &s, mlir::Value number);
  mlir::Value maskOf(PipeState &s, bool row, bool col);
  void lowerFence(warp::FenceOp op);
  void releaseStored(PipeState &s);
  void bindSlot(PipeState &s, mlir::Value pipe, mlir::ResultRange parts);
  void advance(PipeState &s);
  // PeerLowering.cpp
  bool usesComm();
  mlir::Value abortWord();
  void commPrologue();
  void advanceEpoch();
  mlir::Value heapOf(mlir::Value rank);
  mlir::Value counterOf(mlir::Value pipe, bool full, mlir::Value owner, mlir::Value other);
  mlir::LogicalResult lowerPeer(warp::PeerOp op);
  void lowerSignal(mlir::Value pipe, mlir::Value rank, mlir::Value alive, bool full);
  mlir::Value lowerPeerWait(mlir::Value pipe, mlir::Value rank, mlir::Value alive, bool full);
  mlir::ArrayAttr channelsExpr();
  // PacketLowering.cpp
  mlir::Value packetAddress(mlir::Value pipe, mlir::Value owner, mlir::Value other);
  mlir::LogicalResult lowerPacketSend(warp::PacketSendOp op);
  mlir::LogicalResult lowerPacketReceive(warp::PacketReceiveOp op);
  mlir::LogicalResult lowerPacketAdd(warp::PacketAddOp op);
  void forEachPacket(mlir::Value pipe, mlir::Value count, int64_t elementBytes,
                     llvm::function_ref<void(mlir::Value inside, mlir::Value element, mlir::Value bytes)> body);
  mlir::Value packetWait(mlir::Value address, mlir::Value rank, mlir::Value alive,
                         llvm::SmallVectorImpl<mlir::Value> &status);
  mlir::Value allArrived(llvm::ArrayRef<mlir::Value> status, mlir::Value alive);
  // TransferLowering.cpp
  mlir::LogicalResult lowerTransfer(warp::TransferOp op);
  mlir::LogicalResult bulkTransfer(warp::TransferOp op);
  void threadsTransfer(warp::TransferOp op);
  mlir::Value memoryBase(mlir::Value memory);
  mlir::Value rowAddress(mlir::Value row, mlir::Value offset, mlir::Value element);
  mlir::LogicalResult lowerSpreadZero(warp::SpreadZeroOp op);
  mlir::LogicalResult lowerSpreadAdd(warp::SpreadAddOp op);
  mlir::LogicalResult lowerSpreadStore(warp::SpreadStoreOp op);
  void forEachSpreadUnit(warp::SpreadType type, mlir::Value count,
                         llvm::function_ref<void(int64_t unit, mlir::Value inside, mlir::Value element)> body);
  // CopyLowering.cpp
  mlir::LogicalResult lowerCopy(warp::CopyOp op);
  mlir::LogicalResult bulkCopy(warp::CopyOp op);
  mlir::LogicalResult asyncCopy(warp::CopyOp op);
  mlir::LogicalResult threadsLoad(warp::CopyOp op);
  mlir::LogicalResult threadsStore(warp::CopyOp op);
  mlir::Value mapPointer(warp::CopyOp op);
  void forEachTileElement(warp::CopyOp op, llvm::function_ref<void(llvm::ArrayRef<mlir::Value> rows,
                                                                   llvm::ArrayRef<mlir::Value> cols)> body);
  llvm::SmallVector<mlir::Value> tileIndices(warp::CopyOp op, mlir::Value row, mlir::Value col);
  /// With a list of rows: the row of the memref for place `row` of the list, and whether it is there.
  std::pair<mlir::Value, mlir::Value> listedRow(warp::CopyOp op, mlir::Value row);
  /// Where rows end (i32): at `end` when given, else with the memref.
  mlir::Value rowsEnd(MemoryArg &m, mlir::Value end);
  mlir::Value inBounds(MemoryArg &m, llvm::ArrayRef<mlir::Value> indices, mlir::Value end);
  // ElementLowering.cpp
  mlir::LogicalResult lowerMap(warp::MapOp op);
  mlir::LogicalResult lowerStore(warp::StoreOp op);
  mlir::LogicalResult lowerPack(warp::PackOp op);
  mlir::LogicalResult lowerRead(warp::ReadOp op);
  // Route.cpp
  mlir::LogicalResult lowerRoute(warp::RouteOp op);
  mlir::LogicalResult lowerHasExpert(warp::HasExpertOp op);
  // Experts.cpp
  mlir::LogicalResult lowerListExperts(warp::ListExpertsOp op);
  void packMatrices(warp::PackOp op, llvm::ArrayRef<FragmentElement> piece, mlir::Value row,
                    mlir::Value col);
  void packElements(warp::PackOp op, llvm::ArrayRef<FragmentElement> piece, mlir::Value row,
                    mlir::Value col);
  void visitPieces(mlir::Value acc, mlir::Value first, int64_t count, int64_t alignment,
                   int64_t atOnce, PieceVisitor visit);
  int64_t vectorLength(MemoryArg &m);
  // CombineLowering.cpp
  bool usesWorkspace();
  mlir::LogicalResult lowerCombine(warp::CombineOp op);
  llvm::SmallVector<mlir::Value> accElements(warp::CombineOp op);
  void addParts(mlir::Value slots, int64_t partBytes, int64_t from, int64_t to, int64_t first,
                int64_t count, llvm::SmallVectorImpl<mlir::Value> &sums);
  // ElementLoops.cpp
  /// How many elements of a thread the code of an element region should be built for, in a
  /// loop; 0: for all, in straight-line code. `extra`: instructions an element besides the
  /// region's.
  int64_t elementsAtOnce(mlir::Region &region, warp::AccType type, int64_t extra = 0);
  /// Lowers chunks that are packed one after the other, the first acquired by `first`, as one
  /// loop. Returns the last op that is done; null when there is nothing to gain.
  mlir::Operation *lowerChunks(mlir::Operation *first, mlir::LogicalResult &result);

  mlir::LLVM::LLVMFuncOp func;
  mlir::Block *entry = nullptr;
  mlir::IRMapping mapping;
  llvm::MapVector<mlir::Value, PipeState> pipes;
  llvm::DenseMap<mlir::Value, GroupTable> groupTables;
  llvm::DenseMap<mlir::Value, mlir::Value> tilePipe;
  llvm::SmallVector<MemoryArg> memories;
  llvm::SmallVector<MapParam> maps;
  llvm::SmallVector<std::string> symbols;            ///< in order
  llvm::StringMap<mlir::Value> symbolValues;         ///< i32 or i64
  llvm::SmallVector<mlir::Attribute> params, constraints;
  llvm::StringMap<bool> constraintSeen;
  std::unique_ptr<MmaFamilyLowering> family;
  bool usesBulkStore = false;
  mlir::Value workspace, counters; ///< of the launch, where parts of tiles are combined
  mlir::Value chunkColumn; ///< i32: in a loop over chunks, the first column of this turn's
  llvm::DenseSet<mlir::Operation *> released; ///< by releaseEarly
  friend class MmaFamilyLowering;
};

/// What a tensor-core generation does its own way. One instance a kernel.
class MmaFamilyLowering {
public:
  explicit MmaFamilyLowering(KernelLowering &k) : k(k), e(k.e) {}
  virtual ~MmaFamilyLowering() = default;
  /// The type that carries an accumulator through the code.
  virtual mlir::Type accType(warp::AccType type) = 0;
  /// Checks shapes and types before anything is built.
  virtual mlir::LogicalResult check(warp::MmaOp op) = 0;
  /// The initial value of an accumulator in registers.
  virtual mlir::Value initialAcc(warp::AccType type) = 0;
  virtual mlir::FailureOr<mlir::Value> mma(warp::MmaOp op, mlir::Value a, mlir::Value b, mlir::Value acc,
                                           mlir::Value accumulate) = 0;
  virtual mlir::Value wait(mlir::Value acc, warp::AccType type) { return acc; }
  /// An accumulator of zeros in registers.
  virtual mlir::Value zeroAcc(warp::AccType type) = 0;
  /// acc + partial * scales, where sums are taken out of tensor memory.
  virtual mlir::FailureOr<mlir::Value> promote(warp::PromoteOp op, mlir::Value partial, mlir::Value acc) {
    return op.emitOpError("expected tensor memory, which the target lacks");
  }
  /// Before a release that lags: what must be waited for. `groups` mma a loop iteration.
  virtual void waitLagged(unsigned groups) {}
  /// Release or commit by asynchronous arrival on a barrier (tcgen05.commit).
  /// `ctas` (i16), when given: on the barrier at the same place in each CTA of the mask.
  virtual void commitTo(mlir::Value barrier, mlir::Value ctas = nullptr) {}
  /// Base row and column (i32) of this thread's elements.
  virtual std::pair<mlir::Value, mlir::Value> fragmentBase(warp::AccType type) = 0;
  /// Visits columns [first, first + count) of the accumulator in pieces; elements of
  /// one row with neighbouring columns come one after the other.
  virtual void forEachPiece(warp::AccType type, mlir::Value acc, int64_t first, int64_t count,
                            llvm::function_ref<void(llvm::ArrayRef<FragmentElement>)> visit) = 0;
  /// Visits the same in loops, about `elements` of a thread at a time. `first` (i32) and `count`
  /// are multiples of `alignment`.
  virtual void loopPieces(warp::AccType type, mlir::Value acc, mlir::Value first, int64_t count,
                          int64_t alignment, int64_t elements, PieceVisitor visit) = 0;
  /// Columns of a thread's elements start at multiples of this.
  virtual int64_t columnAlignment() const = 0;
  /// Whether pieces have the 8x8 layout of stmatrix (two elements a thread and row).
  virtual bool hasMatrixFragments() const { return false; }
  /// With matrix fragments: row and column (i32) of the warp's first matrix.
  virtual std::pair<mlir::Value, mlir::Value> matrixBase(warp::AccType type) { return {}; }
  /// Called by all threads before the CTA's first barrier, right after it, and after the
  /// roles end. `slotOffset`: where in shared memory the address of tensor memory is kept.
  virtual void prologue(int64_t tmemColumns, int64_t slotOffset) {}
  virtual void afterBarrier(int64_t tmemColumns, int64_t slotOffset) {}
  virtual void epilogue(int64_t tmemColumns, int64_t slotOffset) {}
  virtual mlir::Value tmemBase() { return {}; }

protected:
  /// loopPieces for fragments in registers: columns [from, to) (i32) of each block, `columns` at
  /// a time. `once`: there are no more.
  void loopFragments(mlir::Value acc, const FragmentGrid &grid, mlir::Value from, mlir::Value to,
                     int64_t columns, bool once, PieceVisitor visit);

  /// Whether the accumulator of `op` starts as acquired, so that it is zero where it starts at
  /// zero, and the flag only says "not the first iteration".
  static bool startsAsAcquired(warp::MmaOp op);
  KernelLowering &k;
  Emitter &e;
};

std::unique_ptr<MmaFamilyLowering> createMmaSyncLowering(KernelLowering &k);
std::unique_ptr<MmaFamilyLowering> createWgmmaLowering(KernelLowering &k);
std::unique_ptr<MmaFamilyLowering> createTcgen05Lowering(KernelLowering &k);

} // namespace heddle

#endif // HEDDLE_LIB_CONVERSION_WARPTONVVM_KERNELLOWERING_H
