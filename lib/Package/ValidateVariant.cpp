//===- ValidateVariant.cpp - what a compiled form must hold ---------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Geometry, parameters, tensor maps, schedule and roles of a Variant. The limits of
// tensor maps are those of cuTensorMapEncodeTiled (CUDA driver API, tensor map object
// management), without interleave.
//
//===----------------------------------------------------------------------===//
#include "Validate.h"

#include "heddle/Target/Target.h"

#include <unordered_set>

using namespace heddle;
using namespace heddle::pkg;
using namespace heddle::pkg::detail;

namespace {

// Limits of every target (CUDA programming guide, "Compute capabilities").
constexpr uint64_t maxThreads = 1024, maxBlockZ = 64, warpThreads = 32, maxRegisters = 255;
// The largest cluster hardware takes; over 8 is not portable (CUDA programming guide).
constexpr uint64_t maxClusterBlocks = 16;
// For targets this library does not know; known ones bring their own.
constexpr uint64_t maxSharedBytes = 1 << 20;
// Parameters of a kernel (PTX ISA, "Kernel Function Parameters").
constexpr uint64_t maxParamBytes = 32764;
constexpr uint64_t maxBox = 256, maxTensorMapRank = 5, tensorMapRowBytes = 16;

Fault checkTriple(std::string_view what, const flatbuffers::Vector<uint32_t> *values, uint64_t most,
                  Budget &budget) {
  if (values->size() != 3)
    return "expected 3 " + std::string(what) + " sizes, got " + numberOf(values->size());
  budget.spend(values->size() * sizeof(uint32_t));
  uint64_t product = 1;
  for (uint32_t size : *values) {
    if (Fault fault = checkRange("a size", size, 1, most))
      return at(what, fault);
    product *= size;
  }
  if (Fault fault = checkRange("a product of its sizes", product, 1, most))
    return at(what, fault);
  return {};
}

Fault checkGeometry(const Variant &variant, KernelScope &scope) {
  if (variant.grid()->size() != 3)
    return "expected 3 grid sizes, got " + numberOf(variant.grid()->size());
  for (uint32_t i = 0; i < 3; ++i)
    if (Fault fault = checkStoredExpr(variant.grid()->Get(i), scope))
      return at("grid size", i, fault);
  if (Fault fault = checkTriple("block", variant.block(), maxThreads, scope.budget))
    return fault;
  if (Fault fault = checkRange("a block of depth", variant.block()->Get(2), 1, maxBlockZ))
    return fault;
  if (Fault fault = checkTriple("cluster", variant.cluster(), maxClusterBlocks, scope.budget))
    return fault;
  const target::Target *known = target::findTarget(variant.target()->string_view());
  const uint64_t sharedBytes = known ? known->sharedPerBlock : maxSharedBytes;
  if (Fault fault = checkRange("bytes of shared memory", variant.shared_bytes(), 0, sharedBytes))
    return fault;
  if (Fault fault = checkRange("registers of a thread", variant.registers(), 0, maxRegisters))
    return fault;
  if (variant.resident_ctas())
    if (Fault fault = checkStoredExpr(variant.resident_ctas(), scope))
      return at("resident CTAs", fault);
  if (variant.signal_bytes())
    return at("bytes of signals", checkStoredExpr(variant.signal_bytes(), scope));
  return {};
}

Fault checkArgumentKind(std::string_view what, uint32_t index, ArgKind kind, KernelScope &scope) {
  const Arg *arg = scope.arg(index);
  if (!arg)
    return checkIndex("an argument", index, scope.kernel.args()->size());
  if (arg->kind() != kind)
    return "expected " + std::string(what) + " to name a " + EnumNameArgKind(kind) +
           ", got argument " + arg->name()->str();
  return {};
}

Fault checkParam(const Param &param, const Variant &variant, KernelScope &scope) {
  switch (param.kind()) {
  case ParamKind::tensor_map:
    return checkIndex("a tensor map", param.index(), count(variant.tensor_maps()));
  case ParamKind::pointer:
    return checkArgumentKind("a pointer", param.index(), ArgKind::tensor, scope);
  case ParamKind::i32:
  case ParamKind::i64:
    return at("expression", checkStoredExpr(param.expr(), scope));
  case ParamKind::f32:
    return checkArgumentKind("an f32", param.index(), ArgKind::scalar, scope);
  case ParamKind::comm:
    return {};
  case ParamKind::signals:
    if (!variant.signal_bytes())
      return std::string("expected the variant to state its bytes of signals");
    return {};
  case ParamKind::workspace:
  case ParamKind::counters: {
    bool counters = param.kind() == ParamKind::counters;
    const Expr *bytes = counters ? variant.counter_bytes() : variant.workspace_bytes();
    if (!bytes)
      return std::string("expected the variant to state its bytes of ") +
             (counters ? "counters" : "workspace");
    return at("bytes", checkStoredExpr(bytes, scope));
  }
  }
  return "unknown kind " + numberOf(static_cast<uint8_t>(param.kind()));
}

uint64_t paramBytes(ParamKind kind) {
  if (kind == ParamKind::tensor_map)
    return 128;
  return kind == ParamKind::i32 || kind == ParamKind::f32 ? 4 : 8;
}

Fault checkParams(const Variant &variant, KernelScope &scope) {
  if (Fault fault = tooMany("parameters", maxParams, variant.params()->size()))
    return fault;
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < variant.params()->size(); ++i) {
    const Param &param = *variant.params()->Get(i);
    if (Fault fault = checkParam(param, variant, scope))
      return at("parameter", i, fault);
    bytes += paramBytes(param.kind());
  }
  return checkRange("bytes of parameters", bytes, 0, maxParamBytes);
}

Fault checkBox(const TensorMap &map) {
  for (uint32_t i = 0; i < map.box()->size(); ++i)
    if (Fault fault = checkRange("a size", map.box()->Get(i), 1, maxBox))
      return at("box", i, fault);
  const uint64_t rowBytes = uint64_t{map.box()->Get(0)} * dtypeBytes(map.dtype());
  if (rowBytes % tensorMapRowBytes != 0)
    return "expected a box row of a multiple of " + numberOf(tensorMapRowBytes) + " bytes, got " +
           numberOf(rowBytes);
  if (map.swizzle() == Swizzle::none)
    return {};
  const uint64_t span = uint64_t{16} << static_cast<uint8_t>(map.swizzle());
  if (rowBytes > span)
    return "expected a box row of at most the swizzle's " + numberOf(span) + " bytes, got " +
           numberOf(rowBytes);
  return {};
}

Fault checkTensorMap(const TensorMap &map, KernelScope &scope) {
  if (Fault fault = checkArgumentKind("a tensor map", map.arg(), ArgKind::tensor, scope))
    return fault;
  if (!known(map.dtype()))
    return "unknown element type " + numberOf(static_cast<uint8_t>(map.dtype()));
  if (!known(map.swizzle()))
    return "unknown swizzle " + numberOf(static_cast<uint8_t>(map.swizzle()));
  const uint64_t rank = map.dims()->size();
  if (Fault fault = checkRange("a rank", rank, 1, maxTensorMapRank))
    return fault;
  if (map.strides()->size() != rank - 1)
    return "expected " + numberOf(rank - 1) + " strides, got " + numberOf(map.strides()->size());
  if (map.box()->size() != rank)
    return "expected " + numberOf(rank) + " box sizes, got " + numberOf(map.box()->size());
  for (uint32_t i = 0; i < rank; ++i)
    if (Fault fault = checkStoredExpr(map.dims()->Get(i), scope))
      return at("size", i, fault);
  for (uint32_t i = 0; i + 1 < rank; ++i)
    if (Fault fault = checkStoredExpr(map.strides()->Get(i), scope))
      return at("stride", i, fault);
  if (Fault fault = checkBox(map))
    return fault;
  const uint32_t promotion = map.l2_promotion();
  if (promotion != 0 && promotion != 64 && promotion != 128 && promotion != 256)
    return "expected an L2 promotion of 0, 64, 128 or 256 bytes, got " + numberOf(promotion);
  return {};
}

Fault checkTensorMaps(const Variant &variant, KernelScope &scope) {
  if (Fault fault = tooMany("tensor maps", maxTensorMaps, count(variant.tensor_maps())))
    return fault;
  for (size_t i = 0; i < count(variant.tensor_maps()); ++i)
    if (Fault fault = checkTensorMap(*variant.tensor_maps()->Get(static_cast<uint32_t>(i)), scope))
      return at("tensor map", i, fault);
  return {};
}

Fault checkRoles(const Variant &variant, KernelScope &scope) {
  if (Fault fault = tooMany("roles", maxRoles, count(variant.roles())))
    return fault;
  const auto &block = *variant.block();
  const uint64_t threads = uint64_t{block.Get(0)} * block.Get(1) * block.Get(2);
  const uint64_t warps = (threads + warpThreads - 1) / warpThreads;
  for (size_t i = 0; i < count(variant.roles()); ++i) {
    const Role &role = *variant.roles()->Get(static_cast<uint32_t>(i));
    if (Fault fault = checkName("name", role.name(), scope.budget))
      return at("role", i, fault);
    if (role.warps() == 0 || uint64_t{role.first_warp()} + role.warps() > warps)
      return at("role", i,
                "expected at least one warp and all of them in a block of " + numberOf(warps) +
                    ", got " + numberOf(role.warps()) + " from " + numberOf(role.first_warp()));
    if (Fault fault = checkRange("registers of a thread", role.registers(), 0, maxRegisters))
      return at("role", i, fault);
  }
  return {};
}

Fault checkSchedule(const Variant &variant, Budget &budget) {
  if (Fault fault = tooMany("schedule entries", maxScheduleEntries, count(variant.schedule())))
    return fault;
  std::unordered_set<std::string_view> seen;
  for (size_t i = 0; i < count(variant.schedule()); ++i) {
    const KeyValue &entry = *variant.schedule()->Get(static_cast<uint32_t>(i));
    if (Fault fault = checkName("key", entry.key(), budget))
      return at("schedule entry", i, fault);
    if (Fault fault = checkText("value", entry.value(), false, budget))
      return at("schedule entry", i, fault);
    if (!seen.insert(entry.key()->string_view()).second)
      return at("schedule entry", i, "the key " + entry.key()->str() + " is there twice");
  }
  return {};
}

Fault checkCode(const Variant &variant, const Package &package, Budget &budget) {
  if (Fault fault = checkName("target", variant.target(), budget))
    return fault;
  if (Fault fault = checkName("entry", variant.entry(), budget))
    return fault;
  if (!isPtxIdentifier(variant.entry()->string_view()))
    return "expected the entry to be a PTX identifier, got " + variant.entry()->str();
  if (Fault fault = checkIndex("an image", variant.image(), package.images()->size()))
    return fault;
  const Image &image = *package.images()->Get(variant.image());
  if (image.target()->string_view() != variant.target()->string_view())
    return "expected an image for " + variant.target()->str() + ", got one for " +
           image.target()->str();
  return {};
}

} // namespace

Fault detail::checkVariant(const Variant &variant, const Package &package, KernelScope &scope) {
  if (Fault fault = checkCode(variant, package, scope.budget))
    return fault;
  if (Fault fault = checkGeometry(variant, scope))
    return fault;
  if (Fault fault = checkTensorMaps(variant, scope))
    return fault;
  if (Fault fault = checkParams(variant, scope))
    return fault;
  if (Fault fault = checkConstraints(variant.constraints(), scope))
    return fault;
  if (Fault fault = checkSchedule(variant, scope.budget))
    return fault;
  return checkRoles(variant, scope);
}
