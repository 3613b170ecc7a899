//===- ManifestReader.cpp - reading dictionary attributes ------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ManifestReader.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace heddle {

void ManifestReader::fail(const Twine &message) {
  if (!error)
    error = Error{ErrorCode::InvalidArgument, where + ": " + message.str()};
}

std::string ManifestReader::text(DictionaryAttr dict, StringRef key) {
  if (auto attr = dyn_cast_or_null<StringAttr>(dict.get(key)))
    return attr.str();
  fail("expected a string " + key);
  return "";
}

int64_t ManifestReader::asInteger(Attribute attr, StringRef what) {
  if (auto integer = dyn_cast_or_null<IntegerAttr>(attr))
    if (std::optional<int64_t> value = integer.getValue().trySExtValue())
      return *value;
  fail("expected " + what + " to be an integer of 64 bits");
  return 0;
}

uint32_t ManifestReader::asNumber(int64_t value, StringRef what) {
  if (value < 0 || value > UINT32_MAX)
    fail("expected " + what + " from 0 to 4294967295, got " + Twine(value));
  return static_cast<uint32_t>(value);
}

uint32_t ManifestReader::number(DictionaryAttr dict, StringRef key) {
  return asNumber(integer(dict, key), key);
}

std::vector<uint32_t> ManifestReader::numbers(DictionaryAttr dict, StringRef key) {
  std::vector<uint32_t> result;
  for (int64_t value : integers(dict, key))
    result.push_back(asNumber(value, key));
  return result;
}

int64_t ManifestReader::integer(DictionaryAttr dict, StringRef key) {
  return asInteger(dict.get(key), key);
}

std::vector<Attribute> ManifestReader::list(DictionaryAttr dict, StringRef key) {
  Attribute attr = dict.get(key);
  if (!attr)
    return {};
  if (auto array = dyn_cast<ArrayAttr>(attr))
    return std::vector<Attribute>(array.begin(), array.end());
  if (auto dense = dyn_cast<DenseI64ArrayAttr>(attr)) {
    std::vector<Attribute> values;
    for (int64_t value : dense.asArrayRef())
      values.push_back(IntegerAttr::get(IntegerType::get(dict.getContext(), 64), value));
    return values;
  }
  fail("expected " + key + " to be an array");
  return {};
}

std::vector<DictionaryAttr> ManifestReader::dictionaries(DictionaryAttr dict, StringRef key) {
  std::vector<DictionaryAttr> result;
  for (Attribute attr : list(dict, key)) {
    if (auto entry = dyn_cast<DictionaryAttr>(attr))
      result.push_back(entry);
    else
      fail("expected the elements of " + key + " to be dictionaries");
  }
  return result;
}

std::vector<int64_t> ManifestReader::integers(DictionaryAttr dict, StringRef key) {
  std::vector<int64_t> result;
  for (Attribute attr : list(dict, key))
    result.push_back(asInteger(attr, key));
  return result;
}

pkg::DType ManifestReader::dtype(StringRef name) {
  static constexpr std::pair<StringRef, pkg::DType> names[] = {
      {"f32", pkg::DType::f32},   {"tf32", pkg::DType::f32},        {"f16", pkg::DType::f16},
      {"bf16", pkg::DType::bf16}, {"f8E4M3FN", pkg::DType::f8e4m3}, {"f8E5M2", pkg::DType::f8e5m2},
      {"i8", pkg::DType::i8},     {"i32", pkg::DType::i32},         {"i64", pkg::DType::i64},
      {"f64", pkg::DType::f64}};
  for (auto [spelling, type] : names)
    if (name == spelling)
      return type;
  fail("expected an element type, got " + name);
  return pkg::DType::f32;
}

int64_t ManifestReader::symbolIndex(StringRef name, StringRef what) {
  auto found = llvm::find(symbols, name);
  if (found == symbols.end()) {
    fail("expected " + what + " to use the sizes " + llvm::join(symbols, ", ") + ", got " + name);
    return 0;
  }
  return found - symbols.begin();
}

std::unique_ptr<pkg::ExprT> ManifestReader::expr(Attribute attr, StringRef what) {
  auto result = std::make_unique<pkg::ExprT>();
  auto add = [&](Attribute step) {
    if (auto value = dyn_cast_or_null<IntegerAttr>(step)) {
      result->steps.emplace_back(pkg::ExprOp::constant, value.getValue().getSExtValue());
      return;
    }
    auto word = dyn_cast_or_null<StringAttr>(step);
    if (!word)
      return fail("expected " + what + " to hold integers and strings");
    // Operators by the names of the schema; a size of that name would be shadowed, so that
    // sizes are looked up first.
    if (llvm::is_contained(symbols, word.getValue())) {
      result->steps.emplace_back(pkg::ExprOp::symbol, symbolIndex(word, what));
      return;
    }
    for (pkg::ExprOp op : pkg::EnumValuesExprOp())
      if (op > pkg::ExprOp::symbol && word.getValue() == pkg::EnumNameExprOp(op)) {
        result->steps.emplace_back(op, 0);
        return;
      }
    symbolIndex(word, what); // says what is wrong
  };
  if (auto array = dyn_cast_or_null<ArrayAttr>(attr))
    llvm::for_each(array, add);
  else
    add(attr);
  if (auto checked = pkg::checkExpr(result->steps, symbols.size()); !checked)
    fail(what + ": " + checked.error().message);
  return result;
}

pkg::Dim ManifestReader::dim(Attribute attr, StringRef what) {
  if (auto name = dyn_cast_or_null<StringAttr>(attr))
    return pkg::Dim(0, static_cast<int32_t>(symbolIndex(name, what)));
  return pkg::Dim(asInteger(attr, what), -1);
}

} // namespace heddle
