//===- InspectText.cpp - a package as text --------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "InspectFormat.h"

#include "heddle/Package/Expr.h"
#include "heddle/Package/Inspect.h"

#include <algorithm>
#include <cstdio>

using namespace heddle;
using namespace heddle::pkg;
using namespace heddle::pkg::detail;

namespace {

constexpr size_t labelWidth = 12;

/// Lines with an indent, most of them a label and a text.
class Page {
public:
  void line(size_t indent, const std::string &content) {
    text.append(indent, ' ').append(content);
    text.resize(text.find_last_not_of(' ') + 1); // an empty last column leaves padding
    text.push_back('\n');
  }
  void item(size_t indent, const std::string &label, const std::string &content) {
    line(indent, padded(label, labelWidth) + content);
  }
  std::string take() { return std::move(text); }

private:
  std::string text;
};

std::string sizeText(size_t bytes) {
  char text[64];
  if (bytes < 10240)
    std::snprintf(text, sizeof text, "%zu bytes", bytes);
  else
    std::snprintf(text, sizeof text, "%.1f KiB", static_cast<double>(bytes) / 1024);
  return text;
}

void addArgs(Page &page, const Kernel &kernel) {
  size_t width = 0;
  for (const Arg *arg : *kernel.args())
    width = std::max<size_t>(width, arg->name()->size());
  page.line(2, "arguments");
  for (const Arg *arg : *kernel.args()) {
    const char *role = arg->kind() == ArgKind::scalar ? "scalar"
                       : arg->output()                ? "output"
                                                      : "input";
    std::string content =
        padded(arg->name()->str(), width + 2) + padded(role, 8) + EnumNameDType(arg->dtype());
    if (arg->kind() == ArgKind::tensor)
      content += " " + dimsText(arg->shape(), kernel);
    if (arg->strides() && arg->strides()->size() != 0)
      content += ", strides " + dimsText(arg->strides(), kernel);
    if (arg->symmetric())
      content += ", symmetric";
    page.line(4, content);
  }
}

template <typename Constraints>
void addConstraints(Page &page, size_t indent, const Constraints *constraints,
                    const Kernel &kernel) {
  if (!constraints || constraints->size() == 0)
    return;
  page.line(indent, "requires");
  for (const Constraint *constraint : *constraints)
    page.line(indent + 2, constraintText(*constraint, kernel));
}

void addParams(Page &page, const Variant &variant, const Kernel &kernel) {
  page.line(4, "parameters");
  for (uint32_t i = 0; i < variant.params()->size(); ++i)
    page.line(6,
              padded(std::to_string(i), 4) + paramText(*variant.params()->Get(i), variant, kernel));
}

void addTensorMaps(Page &page, const Variant &variant, const Kernel &kernel) {
  if (!variant.tensor_maps() || variant.tensor_maps()->size() == 0)
    return;
  page.line(4, "tensor maps (innermost dimension first)");
  for (uint32_t i = 0; i < variant.tensor_maps()->size(); ++i) {
    const TensorMap &map = *variant.tensor_maps()->Get(i);
    page.line(6, padded(std::to_string(i), 4) + kernel.args()->Get(map.arg())->name()->str() + " " +
                     EnumNameDType(map.dtype()) + " " + exprsText(map.dims(), kernel) +
                     ", strides " + exprsText(map.strides(), kernel) + " bytes, box " +
                     numbersText(map.box()) + ", swizzle " + swizzleText(map.swizzle()) +
                     ", L2 promotion " + std::to_string(map.l2_promotion()));
  }
}

void addRoles(Page &page, const Variant &variant) {
  if (!variant.roles() || variant.roles()->size() == 0)
    return;
  page.line(4, "roles");
  for (const Role *role : *variant.roles()) {
    const uint32_t last = role->first_warp() + role->warps() - 1;
    const std::string warps = role->warps() == 1 ? "warp " + std::to_string(last)
                                                 : "warps " + std::to_string(role->first_warp()) +
                                                       "-" + std::to_string(last);
    std::string content = padded(role->name()->str(), 14) + padded(warps, 12);
    if (role->registers() != 0)
      content += std::to_string(role->registers()) + " registers a thread";
    page.line(6, content);
  }
}

void addSchedule(Page &page, const Variant &variant) {
  if (!variant.schedule() || variant.schedule()->size() == 0)
    return;
  std::string content;
  for (const KeyValue *entry : *variant.schedule())
    content += (content.empty() ? "" : " ") + entry->key()->str() + "=" + entry->value()->str();
  page.item(4, "schedule", content);
}

void addVariant(Page &page, const Variant &variant, const Kernel &kernel) {
  page.line(2, "variant " + variant.target()->str());
  page.item(4, "entry",
            variant.entry()->str() + " (image " + std::to_string(variant.image()) + ")");
  page.item(4, "grid", crossText(variant.grid(), kernel));
  const auto &block = *variant.block();
  const uint64_t threads = uint64_t{block.Get(0)} * block.Get(1) * block.Get(2);
  page.item(4, "block",
            crossText(variant.block()) + " (" + std::to_string((threads + 31) / 32) + " warps)");
  page.item(4, "cluster", crossText(variant.cluster()));
  page.item(4, "shared", std::to_string(variant.shared_bytes()) + " bytes dynamic");
  page.item(4, "registers",
            variant.registers() != 0 ? std::to_string(variant.registers()) + " a thread at launch"
                                     : "unknown: not assembled");
  if (variant.resident_ctas())
    page.item(4, "resident", printExpr(variant.resident_ctas(), kernel) + " CTAs at once");
  if (variant.signal_bytes())
    page.item(4, "signals", printExpr(variant.signal_bytes(), kernel) + " bytes a rank");
  addSchedule(page, variant);
  addRoles(page, variant);
  addParams(page, variant, kernel);
  addTensorMaps(page, variant, kernel);
  addConstraints(page, 4, variant.constraints(), kernel);
}

void addKernel(Page &page, const Kernel &kernel) {
  std::string symbols;
  if (kernel.symbols())
    for (const auto *symbol : *kernel.symbols())
      symbols += (symbols.empty() ? "" : ", ") + symbol->str();
  page.line(0, "");
  page.line(0, "kernel " + kernel.name()->str() +
                   (symbols.empty() ? "" : " (run-time sizes " + symbols + ")"));
  addArgs(page, kernel);
  addConstraints(page, 2, kernel.constraints(), kernel);
  if (kernel.flops())
    page.item(2, "operations", printExpr(kernel.flops(), kernel));
  if (const Groups *groups = kernel.groups())
    page.item(2, "groups", std::to_string(groups->count()) + ", " +
                               EnumNameGroupKind(groups->kind()) + " in " +
                               kernel.args()->Get(groups->arg())->name()->str());
  if (kernel.nodes() && kernel.nodes()->size() != 0)
    page.item(2, "reference", std::to_string(kernel.nodes()->size()) + " nodes");
  if (kernel.variants()->size() == 0)
    page.line(2, "no variants");
  for (const Variant *variant : *kernel.variants())
    addVariant(page, *variant, kernel);
}

void addImages(Page &page, const PackageFile &package, const Kernel *only) {
  page.line(0, "");
  page.line(0, "images");
  for (uint32_t i = 0; i < package->images()->size(); ++i) {
    if (!usesImage(only, i))
      continue;
    const Image &image = *package->images()->Get(i);
    const size_t cubin = image.cubin() ? image.cubin()->size() : 0;
    page.line(2, padded(std::to_string(i), 4) + padded(image.target()->str(), 10) + "PTX " +
                     ptxVersionText(image.ptx_version()) + ", " + sizeText(image.ptx()->size()) +
                     "; " + (cubin ? "cubin, " + sizeText(cubin) : "no cubin"));
  }
}

} // namespace

std::string pkg::describePackage(const PackageFile &package, const Kernel *only) {
  Page page;
  page.line(0, "package format " + std::to_string(package->format_version()) + ", compiler " +
                   package->compiler_version()->str() + ", " + sizeText(package.bytes().size()));
  for (const Kernel *kernel : *package->kernels())
    if (!only || kernel == only)
      addKernel(page, *kernel);
  addImages(page, package, only);
  return page.take();
}

std::string pkg::packageSpecs(const PackageFile &package, const Kernel *only) {
  std::string text;
  for (const Kernel *kernel : *package->kernels()) {
    if (only && kernel != only)
      continue;
    if (!kernel->spec() || kernel->spec()->size() == 0) {
      text += "// kernel " + kernel->name()->str() + " has no spec in the package\n";
      continue;
    }
    text += printableText(kernel->spec()->string_view());
    if (text.back() != '\n')
      text += '\n';
  }
  return text;
}
