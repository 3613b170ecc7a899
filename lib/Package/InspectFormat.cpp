//===- InspectFormat.cpp - pieces of packages as text ---------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "InspectFormat.h"

#include "heddle/Package/Expr.h"

#include <cstdio>

using namespace heddle;
using namespace heddle::pkg;
using namespace heddle::pkg::detail;

namespace {

/// The texts of a vector's elements, with a separator.
template <typename Vector, typename Text>
std::string join(const Vector *vector, const char *separator, Text text) {
  std::string result;
  for (uint32_t i = 0; vector && i < vector->size(); ++i)
    result += (i ? separator : "") + text(vector->Get(i));
  return result;
}

/// The length of the UTF-8 sequence that starts here, or 0.
size_t sequenceLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const size_t length = byte(0) < 0x80                      ? 1
                        : byte(0) >= 0xc2 && byte(0) < 0xe0 ? 2
                        : byte(0) >= 0xe0 && byte(0) < 0xf0 ? 3
                        : byte(0) >= 0xf0 && byte(0) < 0xf5 ? 4
                                                            : 0;
  if (length > text.size())
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80)
      return 0;
  return length;
}

bool isControl(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1)
    return (first < 0x20 && first != '\n' && first != '\t') || first == 0x7f;
  return first == 0xc2 && static_cast<unsigned char>(sequence[1]) < 0xa0; // U+0080 to U+009F
}

} // namespace

std::string detail::padded(std::string text, size_t width) {
  // At least one space, so that columns never touch.
  text.resize(std::max(width, text.size() + 1), ' ');
  return text;
}

std::string detail::dimsText(const flatbuffers::Vector<const Dim *> *dims, const Kernel &kernel) {
  return "[" +
         join(dims, ", ",
              [&](const Dim *dim) {
                return dim->symbol() < 0
                           ? std::to_string(dim->value())
                           : kernel.symbols()->Get(static_cast<uint32_t>(dim->symbol()))->str();
              }) +
         "]";
}

std::string detail::exprsText(const Exprs *exprs, const Kernel &kernel) {
  return "[" + join(exprs, ", ", [&](const Expr *e) { return printExpr(e, kernel); }) + "]";
}

std::string detail::numbersText(const flatbuffers::Vector<uint32_t> *numbers) {
  return "[" + join(numbers, ", ", [](uint32_t n) { return std::to_string(n); }) + "]";
}

std::string detail::crossText(const Exprs *exprs, const Kernel &kernel) {
  return join(exprs, " x ", [&](const Expr *e) { return printExpr(e, kernel); });
}

std::string detail::crossText(const flatbuffers::Vector<uint32_t> *numbers) {
  return join(numbers, " x ", [](uint32_t n) { return std::to_string(n); });
}

std::string detail::constraintText(const Constraint &constraint, const Kernel &kernel) {
  const std::string value = std::to_string(constraint.value());
  if (constraint.kind() == ConstraintKind::pointer_alignment)
    return constraint.what()->str() + " aligned to " + value + " bytes";
  const std::string expression = printExpr(constraint.expr(), kernel);
  std::string quantity = constraint.what()->str();
  if (quantity != expression)
    quantity += " (" + expression + ")";
  const char *relation = constraint.kind() == ConstraintKind::multiple_of ? " a multiple of "
                         : constraint.kind() == ConstraintKind::at_least  ? " at least "
                                                                          : " at most ";
  return quantity + relation + value;
}

std::string detail::paramText(const Param &param, const Variant &variant, const Kernel &kernel) {
  const auto argName = [&](uint32_t index) { return kernel.args()->Get(index)->name()->str(); };
  switch (param.kind()) {
  case ParamKind::tensor_map:
    return "tensor map " + std::to_string(param.index()) + " of " +
           argName(variant.tensor_maps()->Get(param.index())->arg());
  case ParamKind::pointer:
    return "pointer " + argName(param.index());
  case ParamKind::f32:
    return "f32 " + argName(param.index());
  case ParamKind::i32:
  case ParamKind::i64:
    break;
  case ParamKind::comm:
    return "communicator";
  case ParamKind::signals:
    return "signals";
  case ParamKind::workspace:
    return "workspace of " + printExpr(variant.workspace_bytes(), kernel) + " bytes";
  case ParamKind::counters:
    return "counters, " + printExpr(variant.counter_bytes(), kernel) + " bytes";
  }
  return std::string(EnumNameParamKind(param.kind())) + " " + printExpr(param.expr(), kernel);
}

std::string detail::swizzleText(Swizzle swizzle) {
  return swizzle == Swizzle::none ? "none" : std::to_string(16u << static_cast<unsigned>(swizzle));
}

std::string detail::ptxVersionText(uint32_t version) {
  return std::to_string(version / 10) + "." + std::to_string(version % 10);
}

std::string detail::printableText(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const size_t length = sequenceLength(text);
    if (length != 0 && !isControl(text.substr(0, length))) {
      result += text.substr(0, length);
      text.remove_prefix(length);
      continue;
    }
    char escape[5];
    std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned char>(text[0]));
    result += escape;
    text.remove_prefix(1);
  }
  return result;
}

bool detail::usesImage(const Kernel *kernel, uint32_t image) {
  if (!kernel)
    return true;
  for (const Variant *variant : *kernel->variants())
    if (variant->image() == image)
      return true;
  return false;
}
