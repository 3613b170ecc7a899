//===- Validate.h - pieces of the package's validation --------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to lib/Package. Each check returns nothing when all is well, else what is
// wrong; callers put in front where (`at`).
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_LIB_PACKAGE_VALIDATE_H
#define HEDDLE_LIB_PACKAGE_VALIDATE_H

#include "heddle/Package/Expr.h"
#include "heddle/Package/Reader.h"

#include <optional>
#include <string>
#include <string_view>

namespace heddle::pkg::detail {

/// What is wrong; nothing when all is well.
using Fault = std::optional<std::string>;

/// "param 3: <what>".
inline Fault at(std::string_view part, size_t index, Fault fault) {
  if (fault)
    fault->insert(0, std::string(part) + " " + std::to_string(index) + ": ");
  return fault;
}
inline Fault at(std::string_view part, Fault fault) {
  if (fault)
    fault->insert(0, std::string(part) + ": ");
  return fault;
}

/// Counts the bytes of strings and vectors as often as something refers to them. The writer never
/// shares them, so more bytes than the file has means that a copy would grow past its size.
class Budget {
public:
  explicit Budget(size_t fileBytes) : left(fileBytes) {}
  bool spend(size_t bytes) {
    if (bytes > left)
      return false;
    left -= bytes;
    return true;
  }

private:
  size_t left;
};

/// What the checks of one kernel share.
struct KernelScope {
  const Kernel &kernel;
  Budget &budget;
  size_t symbolCount;
  const Arg *arg(size_t index) const {
    return index < kernel.args()->size() ? kernel.args()->Get(static_cast<uint32_t>(index))
                                         : nullptr;
  }
};

template <typename T> size_t count(const flatbuffers::Vector<T> *vector) {
  return vector ? vector->size() : 0;
}

template <typename E> bool known(E value) { return value <= E::MAX; }
std::string numberOf(uint64_t value);

Fault tooMany(std::string_view what, size_t most, size_t got);
/// A number between two bounds, inclusive.
Fault checkRange(std::string_view what, uint64_t value, uint64_t least, uint64_t most);
/// An index below `bound`.
Fault checkIndex(std::string_view what, uint64_t index, uint64_t bound);
/// 1..maxNameLength printable ASCII characters without spaces.
Fault checkName(std::string_view what, const flatbuffers::String *name, Budget &budget);
/// At most maxTextLength printable ASCII characters; may be empty unless `required`.
Fault checkText(std::string_view what, const flatbuffers::String *text, bool required,
                Budget &budget);
Fault checkStoredExpr(const Expr *expr, KernelScope &scope);
Fault checkConstraints(const flatbuffers::Vector<flatbuffers::Offset<Constraint>> *constraints,
                       KernelScope &scope);

/// ValidateVariant.cpp
Fault checkVariant(const Variant &variant, const Package &package, KernelScope &scope);
/// Groups.cpp
Fault checkGroups(const Groups &groups, KernelScope &scope);
/// ValidateReference.cpp
Fault checkReference(KernelScope &scope);

/// How many inputs a reference operation takes; nothing when it is unknown, or gather.
std::optional<unsigned> refOpInputs(RefOp op);

} // namespace heddle::pkg::detail

#endif // HEDDLE_LIB_PACKAGE_VALIDATE_H
