//===- Packager.cpp - compiled kernels to a package ------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "heddle/Pipelines/Packager.h"
#include "InterfaceReader.h"
#include "ManifestReader.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace heddle {

Packager::Packager(std::string compilerVersion) {
  result.compiler_version = std::move(compilerVersion);
}

//===----------------------------------------------------------------------===//
// Parts of a variant
//===----------------------------------------------------------------------===//

/// The value of an enumeration of the schema by its name there.
template <typename Enum, size_t N>
static Enum named(ManifestReader &read, const std::string &name, const Enum (&values)[N],
                  const char *(*nameOf)(Enum), StringRef what) {
  for (Enum value : values)
    if (name == nameOf(value))
      return value;
  read.fail("unknown " + what + " " + name);
  return values[0];
}

static std::unique_ptr<pkg::ParamT> readParam(ManifestReader &read, DictionaryAttr dict) {
  auto param = std::make_unique<pkg::ParamT>();
  param->kind = named(read, read.text(dict, "kind"), pkg::EnumValuesParamKind(),
                      pkg::EnumNameParamKind, "kind of parameter");
  switch (param->kind) {
  case pkg::ParamKind::tensor_map:
    param->index = read.number(dict, "map");
    break;
  case pkg::ParamKind::pointer:
  case pkg::ParamKind::f32:
    param->index = read.number(dict, "arg");
    break;
  case pkg::ParamKind::i32:
  case pkg::ParamKind::i64:
    param->expr = read.expr(dict.get("expr"), "parameter");
    break;
  case pkg::ParamKind::comm:
  case pkg::ParamKind::signals:
  case pkg::ParamKind::workspace:
  case pkg::ParamKind::counters:
    break;
  }
  return param;
}

static pkg::Swizzle readSwizzle(ManifestReader &read, int64_t bytes) {
  switch (bytes) {
  case 0:
    return pkg::Swizzle::none;
  case 32:
    return pkg::Swizzle::b32;
  case 64:
    return pkg::Swizzle::b64;
  case 128:
    return pkg::Swizzle::b128;
  default:
    read.fail("expected swizzle to be 0, 32, 64 or 128, got " + Twine(bytes));
    return pkg::Swizzle::none;
  }
}

static std::unique_ptr<pkg::TensorMapT> readMap(ManifestReader &read, DictionaryAttr dict) {
  auto map = std::make_unique<pkg::TensorMapT>();
  map->arg = read.number(dict, "arg");
  map->dtype = read.dtype(read.text(dict, "dtype"));
  for (Attribute dim : read.list(dict, "dims"))
    map->dims.push_back(read.expr(dim, "dims of a tensor map"));
  for (Attribute stride : read.list(dict, "strides"))
    map->strides.push_back(read.expr(stride, "strides of a tensor map"));
  map->box = read.numbers(dict, "box");
  map->swizzle = readSwizzle(read, read.integer(dict, "swizzle"));
  map->l2_promotion = read.has(dict, "l2_promotion") ? read.number(dict, "l2_promotion") : 128;
  return map;
}

std::unique_ptr<pkg::ConstraintT> readConstraint(ManifestReader &read, DictionaryAttr dict) {
  auto constraint = std::make_unique<pkg::ConstraintT>();
  constraint->kind = named(read, read.text(dict, "kind"), pkg::EnumValuesConstraintKind(),
                           pkg::EnumNameConstraintKind, "kind of constraint");
  constraint->value = read.integer(dict, "value");
  constraint->what = read.text(dict, "what");
  if (constraint->kind == pkg::ConstraintKind::pointer_alignment)
    constraint->arg = read.number(dict, "arg");
  else
    constraint->expr = read.expr(dict.get("expr"), constraint->what);
  return constraint;
}

static std::unique_ptr<pkg::RoleT> readRole(ManifestReader &read, DictionaryAttr dict) {
  auto role = std::make_unique<pkg::RoleT>();
  role->name = read.text(dict, "name");
  role->first_warp = read.number(dict, "first");
  role->warps = read.number(dict, "warps");
  role->registers = read.number(dict, "registers");
  return role;
}

/// "tile=128x256x64,stages=4" as keys and values.
static std::vector<std::unique_ptr<pkg::KeyValueT>> readSchedule(StringRef text) {
  std::vector<std::unique_ptr<pkg::KeyValueT>> entries;
  SmallVector<StringRef> parts;
  text.split(parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    auto entry = std::make_unique<pkg::KeyValueT>();
    auto [key, value] = part.split('=');
    entry->key = key.trim().str();
    entry->value = value.trim().str();
    entries.push_back(std::move(entry));
  }
  return entries;
}

//===----------------------------------------------------------------------===//
// Variants and kernels
//===----------------------------------------------------------------------===//

static std::unique_ptr<pkg::VariantT> readVariant(ManifestReader &read, DictionaryAttr manifest) {
  auto variant = std::make_unique<pkg::VariantT>();
  for (Attribute extent : read.list(manifest, "grid"))
    variant->grid.push_back(read.expr(extent, "grid"));
  variant->cluster = read.numbers(manifest, "cluster");
  variant->block = {read.number(manifest, "block"), 1, 1};
  variant->shared_bytes = read.number(manifest, "shared_bytes");
  for (DictionaryAttr param : read.dictionaries(manifest, "params"))
    variant->params.push_back(readParam(read, param));
  for (DictionaryAttr map : read.dictionaries(manifest, "maps"))
    variant->tensor_maps.push_back(readMap(read, map));
  for (DictionaryAttr constraint : read.dictionaries(manifest, "constraints"))
    variant->constraints.push_back(readConstraint(read, constraint));
  for (DictionaryAttr role : read.dictionaries(manifest, "roles"))
    variant->roles.push_back(readRole(read, role));
  if (read.has(manifest, "schedule"))
    variant->schedule = readSchedule(read.text(manifest, "schedule"));
  if (Attribute bytes = manifest.get("workspace_bytes"))
    variant->workspace_bytes = read.expr(bytes, "workspace_bytes");
  if (Attribute bytes = manifest.get("counter_bytes"))
    variant->counter_bytes = read.expr(bytes, "counter_bytes");
  if (auto overlaps = dyn_cast_or_null<BoolAttr>(manifest.get("overlaps")))
    variant->overlaps = overlaps.getValue();
  if (Attribute resident = manifest.get("resident_ctas"))
    variant->resident_ctas = read.expr(resident, "resident_ctas");
  if (Attribute bytes = manifest.get("signal_bytes"))
    variant->signal_bytes = read.expr(bytes, "signal_bytes");
  return variant;
}

/// Whether two descriptions of a kernel's arguments agree.
static bool sameInterface(const pkg::KernelT &a, const pkg::KernelT &b) {
  auto sameDims = [](const std::vector<pkg::Dim> &x, const std::vector<pkg::Dim> &y) {
    return llvm::equal(x, y, [](const pkg::Dim &p, const pkg::Dim &q) {
      return p.value() == q.value() && p.symbol() == q.symbol();
    });
  };
  return a.symbols == b.symbols && llvm::equal(a.args, b.args, [&](const auto &x, const auto &y) {
           return x->name == y->name && x->kind == y->kind && x->dtype == y->dtype && x->symmetric == y->symmetric &&
                  sameDims(x->shape, y->shape) && sameDims(x->strides, y->strides);
         });
}

static pkg::KernelT *findKernel(pkg::PackageT &package, const std::string &name) {
  for (auto &kernel : package.kernels)
    if (kernel->name == name)
      return kernel.get();
  return nullptr;
}

Expected<void> Packager::add(CompiledKernel compiled) {
  std::string targetName(compiled.target->name);
  for (const CompiledEntry &entry : compiled.entries) {
    ManifestReader read("kernel @" + compiled.name + " for " + targetName);
    DictionaryAttr manifest = entry.manifest;
    auto described = entry.interface ? readInterface(read, entry.interface)
                                     : interfaceOfManifest(read, manifest);
    if (described->name.empty())
      described->name = compiled.name;
    if (!compiled.spec.empty())
      described->spec = compiled.spec;
    auto variant = readVariant(read, manifest);
    if (read.failed())
      return read.takeError();
    variant->target = targetName;
    variant->entry = entry.entry;
    variant->image = static_cast<uint32_t>(result.images.size());
    variant->registers = entry.registers;
    pkg::KernelT *kernel = findKernel(result, described->name);
    if (!kernel) {
      result.kernels.push_back(std::move(described));
      kernel = result.kernels.back().get();
    } else if (!sameInterface(*kernel, *described)) {
      return Error{ErrorCode::InvalidArgument, "expected one interface for kernel @" +
                                                   compiled.name +
                                                   ", got different arguments for " + targetName};
    }
    kernel->variants.push_back(std::move(variant));
  }
  auto image = std::make_unique<pkg::ImageT>();
  image->target = targetName;
  image->ptx_version = compiled.target->ptxVersion;
  image->ptx = std::move(compiled.ptx);
  image->cubin.assign(compiled.cubin.begin(), compiled.cubin.end());
  result.images.push_back(std::move(image));
  return {};
}

} // namespace heddle
