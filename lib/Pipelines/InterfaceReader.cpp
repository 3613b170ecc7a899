//===- InterfaceReader.cpp - the kernel as its caller sees it --------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "InterfaceReader.h"

using namespace mlir;

namespace heddle {

/// True, or a unit attribute.
static bool readFlag(DictionaryAttr dict, StringRef key) {
  if (auto flag = dyn_cast_or_null<BoolAttr>(dict.get(key)))
    return flag.getValue();
  return isa_and_nonnull<UnitAttr>(dict.get(key));
}

static std::unique_ptr<pkg::ArgT> readArg(ManifestReader &read, DictionaryAttr dict) {
  auto arg = std::make_unique<pkg::ArgT>();
  arg->name = read.text(dict, "name");
  std::string kind = read.text(dict, "kind");
  if (kind != "tensor" && kind != "scalar")
    read.fail("expected kind of argument " + arg->name + " to be tensor or scalar, got " + kind);
  arg->kind = kind == "scalar" ? pkg::ArgKind::scalar : pkg::ArgKind::tensor;
  arg->dtype = read.dtype(read.text(dict, "dtype"));
  for (Attribute extent : read.list(dict, "shape"))
    arg->shape.push_back(read.dim(extent, "shape of " + arg->name));
  for (Attribute stride : read.list(dict, "strides"))
    arg->strides.push_back(read.dim(stride, "strides of " + arg->name));
  arg->output = readFlag(dict, "output");
  arg->symmetric = readFlag(dict, "symmetric");
  return arg;
}

static pkg::RefOp readRefOp(ManifestReader &read, StringRef name) {
  for (pkg::RefOp op : pkg::EnumValuesRefOp())
    if (name == pkg::EnumNameRefOp(op))
      return op;
  read.fail("unknown reference operation " + name);
  return pkg::RefOp::load;
}

static std::unique_ptr<pkg::RefRouteT> readRoute(ManifestReader &read, DictionaryAttr dict) {
  auto route = std::make_unique<pkg::RefRouteT>();
  int64_t bias = read.integer(dict, "bias");
  if (bias != static_cast<int32_t>(bias))
    read.fail("expected bias to be the number of an argument or -1, got " + Twine(bias));
  route->bias = static_cast<int32_t>(bias);
  route->top = read.number(dict, "top");
  route->groups = read.number(dict, "groups");
  route->keep = read.number(dict, "keep");
  route->sigmoid = read.has(dict, "sigmoid");
  route->normalise = read.has(dict, "normalise");
  route->scale = 1;
  if (auto scale = dyn_cast_or_null<FloatAttr>(dict.get("scale")))
    route->scale = static_cast<float>(scale.getValueAsDouble());
  return route;
}

static std::unique_ptr<pkg::RefNodeT> readNode(ManifestReader &read, DictionaryAttr dict) {
  auto node = std::make_unique<pkg::RefNodeT>();
  node->op = readRefOp(read, read.text(dict, "op"));
  node->inputs = read.numbers(dict, "inputs");
  if (read.has(dict, "arg"))
    node->arg = read.number(dict, "arg");
  for (int64_t dim : read.integers(dict, "index_map")) {
    if (dim != static_cast<int32_t>(dim))
      read.fail("expected index_map to hold 32-bit integers, got " + Twine(dim));
    node->index_map.push_back(static_cast<int32_t>(dim));
  }
  node->index_div = read.numbers(dict, "index_div");
  if (auto value = dyn_cast_or_null<FloatAttr>(dict.get("value")))
    node->value = value.getValueAsDouble();
  else if (read.has(dict, "value"))
    node->value = static_cast<double>(read.integer(dict, "value"));
  if (read.has(dict, "dtype"))
    node->dtype = read.dtype(read.text(dict, "dtype"));
  if (auto route = dyn_cast_or_null<DictionaryAttr>(dict.get("route")))
    node->route = readRoute(read, route);
  if (Attribute extent = dict.get("extent"))
    node->extent = read.expr(extent, "extent of a contraction");
  return node;
}

static pkg::GroupKind readGroupKind(ManifestReader &read, StringRef name) {
  for (pkg::GroupKind kind : pkg::EnumValuesGroupKind())
    if (name == pkg::EnumNameGroupKind(kind))
      return kind;
  read.fail("unknown kind of groups " + name);
  return pkg::GroupKind::offsets;
}

static std::unique_ptr<pkg::GroupsT> readGroups(ManifestReader &read, DictionaryAttr dict) {
  auto groups = std::make_unique<pkg::GroupsT>();
  groups->arg = read.number(dict, "arg");
  groups->kind = readGroupKind(read, read.text(dict, "kind"));
  groups->count = read.number(dict, "count");
  groups->limit = read.expr(dict.get("limit"), "limit of groups");
  groups->align = read.number(dict, "align");
  groups->contracted = readFlag(dict, "contracted");
  if (read.has(dict, "status"))
    groups->status = static_cast<int32_t>(read.number(dict, "status"));
  for (DictionaryAttr entry : read.dictionaries(dict, "views")) {
    auto view = std::make_unique<pkg::GroupViewT>();
    view->arg = read.number(entry, "arg");
    view->group_dim = static_cast<int32_t>(read.integer(entry, "group_dim"));
    view->rows_dim = static_cast<int32_t>(read.integer(entry, "rows_dim"));
    view->rows_div = read.number(entry, "rows_div");
    groups->views.push_back(std::move(view));
  }
  return groups;
}

static void readSymbols(ManifestReader &read, DictionaryAttr dict, pkg::KernelT &kernel) {
  for (Attribute symbol : read.list(dict, "symbols")) {
    if (auto name = dyn_cast<StringAttr>(symbol))
      kernel.symbols.push_back(name.str());
    else
      read.fail("expected symbols to be strings");
  }
  read.symbols = kernel.symbols;
}

std::unique_ptr<pkg::KernelT> readInterface(ManifestReader &read, DictionaryAttr interface) {
  auto kernel = std::make_unique<pkg::KernelT>();
  kernel->name = read.text(interface, "kernel");
  if (read.has(interface, "spec"))
    kernel->spec = read.text(interface, "spec");
  readSymbols(read, interface, *kernel);
  for (DictionaryAttr arg : read.dictionaries(interface, "args"))
    kernel->args.push_back(readArg(read, arg));
  for (DictionaryAttr node : read.dictionaries(interface, "nodes"))
    kernel->nodes.push_back(readNode(read, node));
  for (DictionaryAttr dict : read.dictionaries(interface, "outputs")) {
    auto output = std::make_unique<pkg::RefOutputT>();
    output->arg = read.number(dict, "arg");
    output->node = read.number(dict, "node");
    kernel->outputs.push_back(std::move(output));
  }
  if (Attribute flops = interface.get("flops"))
    kernel->flops = read.expr(flops, "flops");
  if (auto groups = dyn_cast_or_null<DictionaryAttr>(interface.get("groups")))
    kernel->groups = readGroups(read, groups);
  for (DictionaryAttr constraint : read.dictionaries(interface, "constraints"))
    kernel->constraints.push_back(readConstraint(read, constraint));
  return kernel;
}

std::unique_ptr<pkg::KernelT> interfaceOfManifest(ManifestReader &read, DictionaryAttr manifest) {
  auto kernel = std::make_unique<pkg::KernelT>();
  readSymbols(read, manifest, *kernel);
  for (DictionaryAttr arg : read.dictionaries(manifest, "args"))
    kernel->args.push_back(readArg(read, arg));
  return kernel;
}

} // namespace heddle
