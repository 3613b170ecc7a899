//===- Signature.cpp - parameters, sizes, strides, the manifest ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelLowering.h"
#include "dialects/PTX/IR/PTXDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::warp;

//===----------------------------------------------------------------------===//
// Size expressions: postfix arrays of symbol names, integers and operators
//===----------------------------------------------------------------------===//

static int64_t channelsAtMost(KernelOp kernel) {
  auto schedule = kernel->getAttrOfType<CommScheduleAttr>("comm_schedule");
  return schedule ? schedule.getCtas() : 1;
}

static ArrayAttr constantExpr(Builder &b, int64_t v) { return b.getArrayAttr({b.getI64IntegerAttr(v)}); }

static ArrayAttr binaryExpr(Builder &b, ArrayAttr x, ArrayAttr y, StringRef op) {
  SmallVector<Attribute> steps(x.begin(), x.end());
  steps.append(y.begin(), y.end());
  steps.push_back(b.getStringAttr(op));
  return b.getArrayAttr(steps);
}

ArrayAttr KernelLowering::sizeExpr(const Size &s) {
  if (s.isStatic())
    return constantExpr(e, s.constant);
  return e.getArrayAttr({e.getStringAttr(s.symbol)});
}

ArrayAttr KernelLowering::strideBytesExpr(const MemoryArg &m, unsigned dim) {
  ArrayAttr expr = constantExpr(e, m.strides[dim].constant * m.type.getElementTypeBitWidth() / 8);
  for (const std::string &factor : m.strides[dim].factors)
    expr = binaryExpr(e, expr, e.getArrayAttr({e.getStringAttr(factor)}), "mul");
  return expr;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

bool KernelLowering::isUsedByPointer(Value arg) {
  return llvm::any_of(arg.getUsers(), [](Operation *user) {
    if (isa<memref::DimOp>(user))
      return false;
    auto copy = dyn_cast<CopyOp>(user);
    return !copy || copy.getEngine() != Engine::Bulk;
  });
}

LogicalResult KernelLowering::collectArguments() {
  auto addSymbol = [&](const std::string &name) {
    if (!llvm::is_contained(symbols, name))
      symbols.push_back(name);
  };
  for (BlockArgument arg : kernel.getBody().getArguments()) {
    auto type = dyn_cast<MemRefType>(arg.getType());
    if (!type)
      continue;
    MemoryArg m;
    m.type = type, m.index = arg.getArgNumber(), m.name = kernel.getArgName(m.index);
    for (int64_t d = 0; d < type.getRank(); ++d) {
      if (type.isDynamicDim(d)) {
        m.sizes.push_back({-1, kernel.getDimName(m.index, d)});
        addSymbol(m.sizes.back().symbol);
      } else {
        m.sizes.push_back({type.getDimSize(d), ""});
      }
    }
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(type.getStridesAndOffset(strides, offset)))
      return error(kernel, "expected strides for argument " + m.name);
    bool rowMajor = type.getLayout().isIdentity();
    for (int64_t d = 0; d < type.getRank(); ++d) {
      MemoryArg::Stride stride;
      if (!ShapedType::isDynamic(strides[d])) {
        stride.constant = strides[d];
      } else if (rowMajor) {
        for (int64_t inner = d + 1; inner < type.getRank(); ++inner) {
          if (m.sizes[inner].isStatic())
            stride.constant *= m.sizes[inner].constant;
          else
            stride.factors.push_back(m.sizes[inner].symbol);
        }
      } else {
        stride.factors.push_back(m.name + ".stride" + std::to_string(d));
        addSymbol(stride.factors.back());
      }
      m.strides.push_back(stride);
    }
    memories.push_back(m);
  }
  // One tensor map for each memref and tile shape that bulk copies use.
  LogicalResult result = success();
  kernel.walk([&](CopyOp op) {
    if (!isa<BlockArgument>(op.getMemory())) {
      result = error(op, "expected an argument of the kernel as memory");
      return;
    }
    if (op.getEngine() != Engine::Bulk || failed(result))
      return;
    unsigned arg = cast<BlockArgument>(op.getMemory()).getArgNumber();
    TileType tile = cast<TileType>(op.getTile().getType());
    int64_t shares = getShares(op);
    bool ragged = static_cast<bool>(op.getEnd());
    if (llvm::any_of(maps, [&](MapParam &p) {
          return p.arg == arg && p.tile == tile && p.shares == shares && p.ragged == ragged;
        }))
      return;
    MemoryArg &m = memory(op.getMemory());
    int64_t most = ragged ? 3 : 5;
    if (m.type.getRank() > most)
      result = error(op, "expected at most " + Twine(most) + " dimensions for a bulk copy, got " +
                             Twine(m.type.getRank()));
    if (ragged)
      constrainRagged(m);
    if (tile.getStrided() > 256)
      result = error(op, "expected at most 256 rows a bulk copy, got " + Twine(tile.getStrided()));
    constrainAlignment(m, 16);
    for (int64_t d = 0; d + 1 < m.type.getRank(); ++d) {
      int64_t bytes = m.strides[d].constant * m.type.getElementTypeBitWidth() / 8;
      if (m.strides[d].factors.empty() && bytes % 16)
        result = error(op, "expected stride " + Twine(d) + " of " + m.name +
                               " to be a multiple of 16 bytes for a bulk copy, got " + Twine(bytes));
    }
    maps.push_back({arg, tile, shares, ragged, {}});
  });
  return result;
}

MemoryArg &KernelLowering::memory(Value v) {
  unsigned index = cast<BlockArgument>(v).getArgNumber();
  return *llvm::find_if(memories, [&](MemoryArg &m) { return m.index == index; });
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

int64_t KernelLowering::ctasPerSM() {
  if (kernel.getSchedule())
    return kernel.getSchedule()->getCtasPerSm();
  auto given = kernel->getAttrOfType<IntegerAttr>("ctas_per_sm");
  return given ? given.getInt() : 1;
}

LogicalResult KernelLowering::createFunction() {
  MLIRContext *c = e.getContext();
  auto mapType = LLVM::LLVMPointerType::get(c), globalType = LLVM::LLVMPointerType::get(c, 1);
  SmallVector<Type> types;
  auto param = [&](Type type, StringRef kind, StringRef key, Attribute value) {
    types.push_back(type);
    params.push_back(e.getDictionaryAttr(
        {e.getNamedAttr("kind", e.getStringAttr(kind)), e.getNamedAttr(key, value)}));
  };
  for (auto [i, map] : llvm::enumerate(maps))
    param(mapType, "tensor_map", "map", e.getI64IntegerAttr(i));
  SmallVector<MemoryArg *> pointers;
  for (MemoryArg &m : memories)
    if (isUsedByPointer(kernel.getBody().getArgument(m.index))) {
      param(globalType, "pointer", "arg", e.getI64IntegerAttr(m.index));
      pointers.push_back(&m);
    }
  for (const std::string &s : symbols) {
    bool stride = StringRef(s).contains(".stride");
    param(stride ? e.getI64Type() : e.getI32Type(), stride ? "i64" : "i32", "expr",
          e.getArrayAttr({e.getStringAttr(s)}));
  }
  SmallVector<BlockArgument> scalars;
  for (BlockArgument arg : kernel.getBody().getArguments())
    if (arg.getType().isF32()) {
      param(e.getF32Type(), "f32", "arg", e.getI64IntegerAttr(arg.getArgNumber()));
      scalars.push_back(arg);
    }

  if (usesWorkspace())
    for (StringRef kind : {"workspace", "counters"}) {
      types.push_back(globalType);
      params.push_back(e.getDictionaryAttr(e.getNamedAttr("kind", e.getStringAttr(kind))));
    }
  if (usesComm())
    for (auto [type, kind] : {std::pair<Type, StringRef>(globalType, "comm"),
                              std::pair<Type, StringRef>(e.getI64Type(), "signals")}) {
      types.push_back(type);
      params.push_back(e.getDictionaryAttr(e.getNamedAttr("kind", e.getStringAttr(kind))));
    }

  func = e.make<LLVM::LLVMFuncOp>(kernel.getSymName(),
                                  LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(c), types));
  func->setAttr("nvvm.kernel", e.getUnitAttr());
  int64_t warps = kernel->getAttrOfType<IntegerAttr>("num_warps").getInt();
  func->setAttr("nvvm.reqntid", e.getDenseI32ArrayAttr({static_cast<int32_t>(32 * warps)}));
  // ptxas honours setmaxnreg only with a bound on resident blocks.
  int64_t ctas = ctasPerSM();
  func->setAttr("nvvm.minctasm", e.getI32IntegerAttr(ctas));
  if (cluster.size() > 1)
    func->setAttr("nvvm.cluster_dim", e.getDenseI32ArrayAttr({static_cast<int32_t>(cluster.size()), 1, 1}));
  entry = func.addEntryBlock(e);
  e.setInsertionPointToStart(entry);

  unsigned next = 0;
  for (MapParam &map : maps) {
    func.setArgAttr(next, "llvm.byval", TypeAttr::get(LLVM::LLVMArrayType::get(e.getI8Type(), 128)));
    func.setArgAttr(next, "llvm.align", e.getI64IntegerAttr(64));
    func.setArgAttr(next, "nvvm.grid_constant", e.getUnitAttr());
    map.pointer = entry->getArgument(next++);
  }
  for (MemoryArg *m : pointers)
    m->pointer = entry->getArgument(next++);
  for (const std::string &s : symbols)
    symbolValues[s] = entry->getArgument(next++);
  for (BlockArgument scalar : scalars)
    mapping.map(scalar, entry->getArgument(next++));
  if (usesWorkspace())
    workspace = entry->getArgument(next++), counters = entry->getArgument(next++);
  if (usesComm())
    comm.block = entry->getArgument(next++), comm.signals = entry->getArgument(next++);
  return success();
}

Value KernelLowering::sizeValue(const Size &s) {
  return s.isStatic() ? e.i32(s.constant) : symbolValues.lookup(s.symbol);
}

Value KernelLowering::strideValue(const MemoryArg &m, unsigned dim) {
  Value v = e.i64(m.strides[dim].constant);
  for (const std::string &factor : m.strides[dim].factors)
    v = e.mul(v, e.toI64(symbolValues.lookup(factor)));
  return v;
}

Value KernelLowering::elementPointer(MemoryArg &m, ArrayRef<Value> indices) {
  Value offset;
  for (auto [d, index] : llvm::enumerate(indices)) {
    Value term = e.mul(e.toI64(index), strideValue(m, d));
    offset = offset ? e.add(offset, term) : term;
  }
  return e.make<LLVM::GEPOp>(m.pointer.getType(), storageType(m.type.getElementType()), m.pointer,
                             ArrayRef<LLVM::GEPArg>{offset});
}

//===----------------------------------------------------------------------===//
// Constraints and manifest
//===----------------------------------------------------------------------===//

void KernelLowering::constrain(StringRef kind, ArrayAttr expr, int64_t value, StringRef what) {
  std::string key = (kind + what + Twine(value)).str();
  if (!constraintSeen.try_emplace(key, true).second)
    return;
  constraints.push_back(e.getDictionaryAttr(
      {e.getNamedAttr("kind", e.getStringAttr(kind)), e.getNamedAttr("expr", expr),
       e.getNamedAttr("value", e.getI64IntegerAttr(value)), e.getNamedAttr("what", e.getStringAttr(what))}));
}

/// Rows of `m` must start at multiples of `bytes`.
void KernelLowering::constrainAlignment(MemoryArg &m, int64_t bytes) {
  std::string what = "address of " + m.name;
  std::string key = "align" + what + std::to_string(bytes);
  if (constraintSeen.try_emplace(key, true).second)
    constraints.push_back(e.getDictionaryAttr(
        {e.getNamedAttr("kind", e.getStringAttr("pointer_alignment")),
         e.getNamedAttr("arg", e.getI64IntegerAttr(m.index)),
         e.getNamedAttr("value", e.getI64IntegerAttr(bytes)), e.getNamedAttr("what", e.getStringAttr(what))}));
  for (int64_t d = 0; d + 1 < m.type.getRank(); ++d)
    if (!m.strides[d].factors.empty())
      constrain("multiple_of", strideBytesExpr(m, d), bytes,
                "stride " + std::to_string(d) + " of " + m.name + " in bytes");
}

/// Rows of `m` are counted in a ragged map.
void KernelLowering::constrainRagged(MemoryArg &m) {
  unsigned dim = m.type.getRank() - 2;
  if (!m.sizes[dim].isStatic())
    constrain("at_most", sizeExpr(m.sizes[dim]), raggedRows, "rows of " + m.name);
  constrain("at_most", strideBytesExpr(m, dim), raggedStride - 16,
            "stride " + std::to_string(dim) + " of " + m.name + " in bytes");
}

/// A value computed from sizes outside the roles, as an expression; null when it is not one.
static ArrayAttr symbolic(Builder &b, Value v, function_ref<ArrayAttr(memref::DimOp)> dim) {
  Operation *op = v.getDefiningOp();
  if (auto constant = dyn_cast_or_null<arith::ConstantOp>(op))
    return constantExpr(b, cast<IntegerAttr>(constant.getValue()).getInt());
  if (auto d = dyn_cast_or_null<memref::DimOp>(op))
    return dim(d);
  static const std::pair<StringRef, StringRef> names[] = {
      {"arith.addi", "add"},          {"arith.subi", "sub"},         {"arith.muli", "mul"},
      {"arith.ceildivsi", "ceil_div"}, {"arith.ceildivui", "ceil_div"}, {"arith.floordivsi", "floor_div"},
      {"arith.divsi", "floor_div"},    {"arith.divui", "floor_div"},  {"arith.remui", "mod"},
      {"arith.remsi", "mod"},          {"arith.minsi", "min"},        {"arith.minui", "min"},
      {"arith.maxsi", "max"},          {"arith.maxui", "max"}};
  for (auto [mlirName, exprName] : names)
    if (op && op->getName().getStringRef() == mlirName) {
      ArrayAttr x = symbolic(b, op->getOperand(0), dim), y = symbolic(b, op->getOperand(1), dim);
      return x && y ? binaryExpr(b, x, y, exprName) : ArrayAttr();
    }
  return {};
}

/// As many channels as the schedule asks for and multiprocessors there are: all must run at once.
ArrayAttr KernelLowering::channelsExpr() {
  return binaryExpr(e, e.getArrayAttr({e.getStringAttr("sm_count")}),
                    constantExpr(e, channelsAtMost(kernel)), "min");
}

/// min(SMs * CTAs an SM, items), of no more SMs than the schedule says; with clusters, of whole
/// ones, one at least.
ArrayAttr KernelLowering::gridExpr() {
  if (usesComm())
    return channelsExpr();
  ArrayAttr items = constantExpr(e, 1);
  kernel.walk([&](WorkStreamOp op) {
    auto dim = [&](memref::DimOp d) { return sizeExpr(memory(d.getSource()).sizes[*d.getConstantIndex()]); };
    ArrayAttr r = symbolic(e, op.getRows(), dim), c = symbolic(e, op.getCols(), dim),
              b = symbolic(e, op.getBatch(), dim);
    if (r && c && cluster.size() > 1) {
      r = binaryExpr(e, r, constantExpr(e, cluster.rows), "ceil_div");
      c = binaryExpr(e, c, constantExpr(e, cluster.cols), "ceil_div");
    }
    if (r && c && b)
      items = binaryExpr(e, binaryExpr(e, r, c, "mul"), b, "mul");
    if (op.getSplits() > 1)
      items = binaryExpr(e, items, constantExpr(e, op.getSplits()), "mul");
  });
  int64_t ctas = ctasPerSM();
  ArrayAttr slots = e.getArrayAttr({e.getStringAttr("sm_count")});
  if (int64_t most = kernel.getSchedule() ? kernel.getSchedule()->getSms() : 0)
    slots = binaryExpr(e, slots, constantExpr(e, most), "min");
  if (ctas > 1)
    slots = binaryExpr(e, slots, constantExpr(e, ctas), "mul");
  if (cluster.size() == 1)
    return binaryExpr(e, slots, items, "min");
  slots = binaryExpr(e, slots, constantExpr(e, cluster.size()), "floor_div");
  slots = binaryExpr(e, slots, constantExpr(e, 1), "max");
  return binaryExpr(e, binaryExpr(e, slots, items, "min"), constantExpr(e, cluster.size()), "mul");
}

static std::string dtypeOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static bool isWritten(Value arg) {
  return llvm::any_of(arg.getUsers(), [arg](Operation *user) {
    auto copy = dyn_cast<CopyOp>(user);
    auto transfer = dyn_cast<TransferOp>(user);
    auto sum = dyn_cast<SpreadStoreOp>(user);
    auto pipe = dyn_cast<PeerPipeOp>(user);
    auto groups = dyn_cast<GroupsOp>(user);
    auto route = dyn_cast<RouteOp>(user);
    auto lists = dyn_cast<ListExpertsOp>(user);
    return isa<StoreOp>(user) || (copy && !copy.isLoad()) || (transfer && transfer.getTarget() == arg) ||
           (sum && sum.getTarget() == arg) || (pipe && pipe.getFlow() == Flow::Push) ||
           (groups && groups.getStatus() == arg) ||
           (route && (route.getIds() == arg || route.getWeights() == arg)) ||
           (lists && lists.getIds() != arg);
  });
}

void KernelLowering::attachManifest() {
  SmallVector<Attribute> args, mapAttrs, roles;
  auto named = [&](StringRef key, Attribute value) { return e.getNamedAttr(key, value); };
  auto text = [&](const Twine &s) { return e.getStringAttr(s); };
  auto integer = [&](int64_t v) { return e.getI64IntegerAttr(v); };
  auto sizeAttr = [&](const Size &s) -> Attribute {
    return s.isStatic() ? Attribute(integer(s.constant)) : Attribute(text(s.symbol));
  };
  for (BlockArgument arg : kernel.getBody().getArguments()) {
    std::string name = kernel.getArgName(arg.getArgNumber());
    if (!isa<MemRefType>(arg.getType())) {
      args.push_back(e.getDictionaryAttr({named("name", text(name)), named("kind", text("scalar")),
                                          named("dtype", text(dtypeOf(arg.getType())))}));
      continue;
    }
    MemoryArg &m = memory(arg);
    SmallVector<Attribute> shape, strides;
    for (const Size &s : m.sizes)
      shape.push_back(sizeAttr(s));
    if (!m.type.getLayout().isIdentity())
      for (const MemoryArg::Stride &s : m.strides)
        strides.push_back(s.factors.empty() ? Attribute(integer(s.constant)) : Attribute(text(s.factors[0])));
    args.push_back(e.getDictionaryAttr(
        {named("name", text(name)), named("kind", text("tensor")),
         named("dtype", text(dtypeOf(m.type.getElementType()))), named("shape", e.getArrayAttr(shape)),
         named("strides", e.getArrayAttr(strides)), named("output", e.getBoolAttr(isWritten(arg)))}));
    if (kernel.getArgAttr(arg.getArgNumber(), "warp.symmetric")) {
      NamedAttrList fields(cast<DictionaryAttr>(args.back()));
      fields.set("symmetric", e.getUnitAttr());
      args.back() = fields.getDictionary(e.getContext());
    }
  }
  for (MapParam &map : maps) {
    MemoryArg &m = *llvm::find_if(memories, [&](MemoryArg &x) { return x.index == map.arg; });
    SmallVector<Attribute> dims, strides;
    SmallVector<int64_t> box(m.type.getRank(), 1);
    for (int64_t d = m.type.getRank() - 1; d >= 0; --d) {
      dims.push_back(sizeExpr(m.sizes[d]));
      if (d + 1 < m.type.getRank())
        strides.push_back(strideBytesExpr(m, d));
    }
    box[0] = map.tile.getPanelElements(), box[1] = map.tile.getStrided() / map.shares;
    if (map.ragged) {
      ArrayAttr row = cast<ArrayAttr>(strides[0]);
      dims[1] = constantExpr(e, raggedRows);
      dims.append(2, constantExpr(e, 2 * raggedRows));
      strides.push_back(row);
      strides.push_back(binaryExpr(e, constantExpr(e, raggedStride), row, "sub"));
      box.append(2, 1);
    }
    mapAttrs.push_back(e.getDictionaryAttr(
        {named("arg", integer(map.arg)), named("dtype", text(dtypeOf(m.type.getElementType()))),
         named("dims", e.getArrayAttr(dims)), named("strides", e.getArrayAttr(strides)),
         named("box", e.getDenseI64ArrayAttr(box)), named("swizzle", integer(128))}));
  }
  kernel.walk([&](RoleOp r) {
    roles.push_back(e.getDictionaryAttr(
        {named("name", text(r.getSymName())), named("first", integer(r.getFirstWarp())),
         named("warps", integer(r.getNumWarps())), named("registers", integer(r.getRegisters()))}));
  });
  SmallVector<Attribute> symbolAttrs;
  for (const std::string &s : symbols)
    symbolAttrs.push_back(text(s));
  int64_t warps = kernel->getAttrOfType<IntegerAttr>("num_warps").getInt();
  SmallVector<NamedAttribute> manifest{
      named("target", text(target.name.data())),
      named("symbols", e.getArrayAttr(symbolAttrs)),
      named("args", e.getArrayAttr(args)),
      named("params", e.getArrayAttr(params)),
      named("maps", e.getArrayAttr(mapAttrs)),
      named("grid", e.getArrayAttr({gridExpr(), constantExpr(e, 1), constantExpr(e, 1)})),
      named("cluster", e.getDenseI64ArrayAttr({cluster.size(), 1, 1})),
      named("block", integer(32 * warps)),
      named("shared_bytes", kernel->getAttr("shared_bytes")),
      named("roles", e.getArrayAttr(roles)),
      named("constraints", e.getArrayAttr(constraints))};
  if (auto more = kernel->getAttrOfType<ArrayAttr>("heddle.constraints")) {
    constraints.append(more.begin(), more.end());
    for (NamedAttribute &field : manifest)
      if (field.getName() == "constraints")
        field = named("constraints", e.getArrayAttr(constraints));
  }
  if (usesComm()) {
    ArrayAttr bytes = binaryExpr(e, e.getArrayAttr({e.getStringAttr("world")}),
                                 constantExpr(e, comm.perRank), "mul");
    bytes = binaryExpr(e, bytes, constantExpr(e, channelHeaderBytes), "add");
    bytes = binaryExpr(e, bytes, constantExpr(e, channelsAtMost(kernel)), "mul");
    manifest.push_back(named("signal_bytes", bytes));
    manifest.push_back(named("resident_ctas", channelsExpr()));
    if (auto comms = kernel->getAttrOfType<CommScheduleAttr>("comm_schedule"))
      manifest.push_back(named("schedule", text("ctas=" + Twine(comms.getCtas()) + ",warps=" +
                                                Twine(comms.getWarps()) + ",chunk=" + Twine(comms.getChunk()) +
                                                ",stages=" + Twine(comms.getStages()) + ",keep=" +
                                                stringifyKeep(comms.getKeep()))));
  }
  kernel.walk([&](CombineOp op) {
    // The size of the launch's workspace: parts of all tiles; and a counter a tile and warp.
    auto dim = [&](memref::DimOp d) {
      return sizeExpr(memory(d.getSource()).sizes[*d.getConstantIndex()]);
    };
    ArrayAttr tiles = symbolic(e, op.getTiles(), dim);
    if (!tiles)
      return;
    AccType type = op.getAcc().getType();
    int64_t bytes = type.getRows() * type.getCols() * 4 * op.getSplits();
    int64_t warps = op->getParentOfType<RoleOp>().getNumWarps();
    manifest.push_back(
        named("workspace_bytes", binaryExpr(e, tiles, constantExpr(e, bytes), "mul")));
    manifest.push_back(
        named("counter_bytes", binaryExpr(e, tiles, constantExpr(e, 4 * warps), "mul")));
  });
  if (overlaps())
    manifest.push_back(named("overlaps", e.getBoolAttr(true)));
  if (kernel.getSchedule())
    manifest.push_back(named("schedule", text(tuning::toString(fromAttr(*kernel.getSchedule())))));
  func->setAttr("heddle.manifest", e.getDictionaryAttr(manifest));
  for (StringRef keep : {"heddle.interface", "heddle.variant"})
    if (Attribute attr = kernel->getAttr(keep))
      func->setAttr(keep, attr);
}
