//===- InspectJson.cpp - a package as JSON --------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "InspectFormat.h"

#include "heddle/Package/Expr.h"
#include "heddle/Package/Inspect.h"

#include <nlohmann/json.hpp>

using namespace heddle;
using namespace heddle::pkg;
using namespace heddle::pkg::detail;

namespace {

using Json = nlohmann::ordered_json;

/// An array of a vector's elements; empty when it is absent.
template <typename Vector, typename Convert> Json arrayOf(const Vector *vector, Convert convert) {
  Json array = Json::array();
  for (uint32_t i = 0; vector && i < vector->size(); ++i)
    array.push_back(convert(vector->Get(i)));
  return array;
}

/// One kernel; keeps what its parts refer to.
class KernelJson {
public:
  explicit KernelJson(const Kernel &kernel) : kernel(kernel) {}

  Json build() const {
    Json json = {{"name", kernel.name()->str()},
                 {"symbols", arrayOf(kernel.symbols(), [](const auto *s) { return s->str(); })},
                 {"arguments", arrayOf(kernel.args(), [&](const Arg *a) { return arg(*a); })},
                 {"constraints", constraints(kernel.constraints())}};
    if (kernel.flops())
      json["operations"] = printExpr(kernel.flops(), kernel);
    if (const Groups *groups = kernel.groups())
      json["groups"] = {{"count", groups->count()},
                        {"kind", EnumNameGroupKind(groups->kind())},
                        {"argument", argName(groups->arg())},
                        {"limit", printExpr(groups->limit(), kernel)},
                        {"align", groups->align()}};
    json["reference_nodes"] = kernel.nodes() ? kernel.nodes()->size() : 0;
    json["variants"] = arrayOf(kernel.variants(), [&](const Variant *v) { return variant(*v); });
    if (kernel.spec())
      json["spec"] = kernel.spec()->str();
    return json;
  }

private:
  std::string argName(uint32_t index) const { return kernel.args()->Get(index)->name()->str(); }
  Json exprs(const Exprs *list) const {
    return arrayOf(list, [&](const Expr *e) { return printExpr(e, kernel); });
  }
  static Json numbers(const flatbuffers::Vector<uint32_t> *list) {
    return arrayOf(list, [](uint32_t n) { return n; });
  }
  /// A number, or the name of a run-time size.
  Json dim(const Dim *dim) const {
    if (dim->symbol() < 0)
      return dim->value();
    return kernel.symbols()->Get(static_cast<uint32_t>(dim->symbol()))->str();
  }
  Json dims(const flatbuffers::Vector<const Dim *> *list) const {
    return arrayOf(list, [&](const Dim *d) { return dim(d); });
  }

  Json arg(const Arg &arg) const {
    Json json = {{"name", arg.name()->str()},
                 {"kind", EnumNameArgKind(arg.kind())},
                 {"dtype", EnumNameDType(arg.dtype())}};
    if (arg.kind() == ArgKind::scalar)
      return json;
    json["shape"] = dims(arg.shape());
    if (arg.strides() && arg.strides()->size() != 0)
      json["strides"] = dims(arg.strides());
    json["output"] = arg.output();
    if (arg.symmetric())
      json["symmetric"] = true;
    return json;
  }

  Json constraints(const flatbuffers::Vector<flatbuffers::Offset<Constraint>> *list) const {
    return arrayOf(list, [&](const Constraint *c) {
      Json json = {{"kind", EnumNameConstraintKind(c->kind())},
                   {"what", c->what()->str()},
                   {"value", c->value()}};
      if (c->kind() == ConstraintKind::pointer_alignment)
        json["argument"] = argName(c->arg());
      else
        json["expression"] = printExpr(c->expr(), kernel);
      return json;
    });
  }

  Json param(const Param &param) const {
    Json json = {{"kind", EnumNameParamKind(param.kind())}};
    if (param.kind() == ParamKind::tensor_map)
      json["tensor_map"] = param.index();
    else if (param.kind() == ParamKind::i32 || param.kind() == ParamKind::i64)
      json["expression"] = printExpr(param.expr(), kernel);
    else if (param.kind() == ParamKind::pointer || param.kind() == ParamKind::f32)
      json["argument"] = argName(param.index());
    return json;
  }

  Json tensorMap(const TensorMap &map) const {
    return {{"argument", argName(map.arg())},    {"dtype", EnumNameDType(map.dtype())},
            {"dims", exprs(map.dims())},         {"strides_bytes", exprs(map.strides())},
            {"box", numbers(map.box())},         {"swizzle", swizzleText(map.swizzle())},
            {"l2_promotion", map.l2_promotion()}};
  }

  Json variant(const Variant &v) const {
    Json json = {{"target", v.target()->str()},
                 {"entry", v.entry()->str()},
                 {"image", v.image()},
                 {"grid", exprs(v.grid())},
                 {"block", numbers(v.block())},
                 {"cluster", numbers(v.cluster())},
                 {"shared_bytes", v.shared_bytes()}};
    json["registers"] = v.registers() != 0 ? Json(v.registers()) : Json(nullptr);
    if (v.resident_ctas())
      json["resident_ctas"] = printExpr(v.resident_ctas(), kernel);
    if (v.signal_bytes())
      json["signal_bytes"] = printExpr(v.signal_bytes(), kernel);
    json["schedule"] = Json::object();
    for (uint32_t i = 0; v.schedule() && i < v.schedule()->size(); ++i)
      json["schedule"][v.schedule()->Get(i)->key()->str()] = v.schedule()->Get(i)->value()->str();
    json["roles"] = arrayOf(v.roles(), [](const Role *r) {
      return Json{{"name", r->name()->str()},
                  {"first_warp", r->first_warp()},
                  {"warps", r->warps()},
                  {"registers", r->registers()}};
    });
    json["parameters"] = arrayOf(v.params(), [&](const Param *p) { return param(*p); });
    json["tensor_maps"] =
        arrayOf(v.tensor_maps(), [&](const TensorMap *m) { return tensorMap(*m); });
    json["constraints"] = constraints(v.constraints());
    return json;
  }

  const Kernel &kernel;
};

} // namespace

std::string pkg::packageJson(const PackageFile &package, const Kernel *only) {
  Json json = {{"format_version", package->format_version()},
               {"compiler_version", package->compiler_version()->str()},
               {"bytes", package.bytes().size()},
               {"kernels", Json::array()},
               {"images", Json::array()}};
  for (const Kernel *kernel : *package->kernels())
    if (!only || kernel == only)
      json["kernels"].push_back(KernelJson(*kernel).build());
  for (uint32_t i = 0; i < package->images()->size(); ++i) {
    const Image &image = *package->images()->Get(i);
    if (usesImage(only, i))
      json["images"].push_back({{"index", i},
                                {"target", image.target()->str()},
                                {"ptx_version", ptxVersionText(image.ptx_version())},
                                {"ptx_bytes", image.ptx()->size()},
                                {"cubin_bytes", image.cubin() ? image.cubin()->size() : 0}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}
