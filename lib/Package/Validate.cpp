//===- Validate.cpp - what a package must hold ----------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The package, its images, and each kernel's names, sizes and arguments. Compiled forms
// are checked in ValidateVariant.cpp, the reference computation in ValidateReference.cpp.
//
//===----------------------------------------------------------------------===//
#include "Validate.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

using namespace heddle;
using namespace heddle::pkg;
using namespace heddle::pkg::detail;

bool pkg::isPtxIdentifier(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto follow = [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '$';
  };
  if (name.empty())
    return false;
  const bool special = name[0] == '_' || name[0] == '$' || name[0] == '%';
  if (!letter(name[0]) && !(special && name.size() > 1))
    return false;
  return std::all_of(name.begin() + 1, name.end(), follow);
}

unsigned pkg::dtypeBytes(DType type) {
  switch (type) {
  case DType::f8e4m3:
  case DType::f8e5m2:
  case DType::i8:
    return 1;
  case DType::f16:
  case DType::bf16:
    return 2;
  case DType::f32:
  case DType::i32:
    return 4;
  case DType::i64:
  case DType::f64:
    return 8;
  }
  return 0;
}

std::string detail::numberOf(uint64_t value) { return std::to_string(value); }

Fault detail::tooMany(std::string_view what, size_t most, size_t got) {
  if (got <= most)
    return {};
  return "expected at most " + numberOf(most) + " " + std::string(what) + ", got " + numberOf(got);
}

Fault detail::checkRange(std::string_view what, uint64_t value, uint64_t least, uint64_t most) {
  if (value >= least && value <= most)
    return {};
  return "expected " + std::string(what) + " from " + numberOf(least) + " to " + numberOf(most) +
         ", got " + numberOf(value);
}

Fault detail::checkIndex(std::string_view what, uint64_t index, uint64_t bound) {
  if (index < bound)
    return {};
  return "expected " + std::string(what) + " below " + numberOf(bound) + ", got " + numberOf(index);
}

namespace {

Fault shared() {
  return std::string("expected strings and vectors to fit the file without sharing bytes");
}

bool printable(std::string_view text, unsigned char least) {
  return std::all_of(text.begin(), text.end(), [least](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= least && byte != 0x7f;
  });
}

bool ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// Elements of structs are read in place: their 64-bit members must be aligned.
template <typename T> bool aligned(const flatbuffers::Vector<T> *vector) {
  return count(vector) == 0 || reinterpret_cast<uintptr_t>(vector->Data()) % alignof(int64_t) == 0;
}

Fault checkDims(std::string_view what, const flatbuffers::Vector<const Dim *> *dims, int64_t least,
                KernelScope &scope) {
  if (Fault fault = tooMany(what, maxRank, count(dims)))
    return fault;
  if (!aligned(dims))
    return std::string(what) + " are not aligned in the file";
  if (!scope.budget.spend(count(dims) * sizeof(Dim)))
    return shared();
  for (size_t i = 0; i < count(dims); ++i) {
    const Dim &dim = *dims->Get(static_cast<uint32_t>(i));
    if (dim.symbol() < -1 || dim.symbol() >= static_cast<int64_t>(scope.symbolCount))
      return at(what, i,
                "expected a symbol from -1 to below " + numberOf(scope.symbolCount) + ", got " +
                    std::to_string(dim.symbol()));
    if (dim.symbol() == -1 && dim.value() < least)
      return at(what, i,
                "expected at least " + std::to_string(least) + ", got " +
                    std::to_string(dim.value()));
  }
  return {};
}

Fault checkArg(const Arg &arg, KernelScope &scope) {
  if (Fault fault = checkName("name", arg.name(), scope.budget))
    return fault;
  if (!known(arg.kind()))
    return "unknown kind " + numberOf(static_cast<uint8_t>(arg.kind()));
  if (!known(arg.dtype()))
    return "unknown element type " + numberOf(static_cast<uint8_t>(arg.dtype()));
  if (arg.kind() == ArgKind::scalar) {
    if (count(arg.shape()) || count(arg.strides()))
      return std::string("expected a scalar to have no shape and no strides");
    if (arg.output() || arg.symmetric())
      return "expected " + std::string(arg.output() ? "an output" : "a symmetric argument") +
             " to be a tensor, got a scalar";
    return {};
  }
  if (Fault fault = checkDims("sizes", arg.shape(), 1, scope))
    return fault;
  if (Fault fault = checkDims("strides", arg.strides(), 0, scope))
    return fault;
  if (count(arg.strides()) != 0 && count(arg.strides()) != count(arg.shape()))
    return "expected " + numberOf(count(arg.shape())) + " strides, got " +
           numberOf(count(arg.strides()));
  return {};
}

Fault checkSymbols(KernelScope &scope) {
  const auto *symbols = scope.kernel.symbols();
  std::unordered_set<std::string_view> seen;
  for (size_t i = 0; i < count(symbols); ++i) {
    const flatbuffers::String *name = symbols->Get(static_cast<uint32_t>(i));
    if (Fault fault = checkName("name", name, scope.budget))
      return at("symbol", i, fault);
    if (!seen.insert(name->string_view()).second)
      return at("symbol", i, "the name " + name->str() + " is there twice");
  }
  return {};
}

Fault checkArgs(KernelScope &scope) {
  std::unordered_set<std::string_view> seen;
  const auto &args = *scope.kernel.args();
  for (uint32_t i = 0; i < args.size(); ++i) {
    if (Fault fault = checkArg(*args.Get(i), scope))
      return at("argument", i, fault);
    if (!seen.insert(args.Get(i)->name()->string_view()).second)
      return at("argument", i, "the name " + args.Get(i)->name()->str() + " is there twice");
  }
  return {};
}

Fault checkConstraint(const Constraint &constraint, KernelScope &scope) {
  if (Fault fault = checkText("name of the quantity", constraint.what(), true, scope.budget))
    return fault;
  if (!known(constraint.kind()))
    return "unknown kind " + numberOf(static_cast<uint8_t>(constraint.kind()));
  const bool divides = constraint.kind() == ConstraintKind::multiple_of ||
                       constraint.kind() == ConstraintKind::pointer_alignment;
  if (divides && constraint.value() < 1)
    return "expected a value of at least 1, got " + std::to_string(constraint.value());
  if (constraint.kind() != ConstraintKind::pointer_alignment)
    return at("expression", checkStoredExpr(constraint.expr(), scope));
  if ((constraint.value() & (constraint.value() - 1)) != 0)
    return "expected an alignment that is a power of two, got " +
           std::to_string(constraint.value());
  const Arg *arg = scope.arg(constraint.arg());
  if (!arg)
    return checkIndex("an argument", constraint.arg(), scope.kernel.args()->size());
  if (arg->kind() != ArgKind::tensor)
    return std::string("expected the argument of a pointer alignment to be a tensor");
  return {};
}

Fault checkKernelCounts(const Kernel &kernel) {
  if (Fault fault = tooMany("symbols", maxSymbols, count(kernel.symbols())))
    return fault;
  if (Fault fault = tooMany("arguments", maxArgs, count(kernel.args())))
    return fault;
  return tooMany("variants", maxVariants, count(kernel.variants()));
}

Fault checkKernelBody(const Kernel &kernel, const Package &package, Budget &budget) {
  if (Fault fault = checkKernelCounts(kernel))
    return fault;
  KernelScope scope{kernel, budget, count(kernel.symbols())};
  if (kernel.spec() && !budget.spend(kernel.spec()->size()))
    return shared();
  if (Fault fault = checkSymbols(scope))
    return fault;
  if (Fault fault = checkArgs(scope))
    return fault;
  for (uint32_t i = 0; i < kernel.variants()->size(); ++i)
    if (Fault fault = checkVariant(*kernel.variants()->Get(i), package, scope))
      return at("variant", i, fault);
  if (Fault fault = checkReference(scope))
    return fault;
  if (kernel.groups())
    if (Fault fault = checkGroups(*kernel.groups(), scope))
      return at("groups", fault);
  if (kernel.flops())
    if (Fault fault = checkStoredExpr(kernel.flops(), scope))
      return at("flops", fault);
  return checkConstraints(kernel.constraints(), scope);
}

Fault checkImage(const Image &image, Budget &budget) {
  if (Fault fault = checkName("target", image.target(), budget))
    return fault;
  if (image.ptx_version() < 10 || image.ptx_version() > 999)
    return "expected a PTX version from 10 to 999 (1.0 to 99.9), got " +
           numberOf(image.ptx_version());
  const std::string_view ptx = image.ptx()->string_view();
  if (!budget.spend(ptx.size()) || !budget.spend(count(image.cubin())))
    return shared();
  if (ptx.empty())
    return std::string("expected PTX, got an empty text");
  if (ptx.find('\0') != std::string_view::npos)
    return std::string("expected PTX text, found a zero byte in it");
  constexpr char elf[4] = {0x7f, 'E', 'L', 'F'};
  if (count(image.cubin()) != 0 &&
      (image.cubin()->size() < 4 || std::memcmp(image.cubin()->data(), elf, 4) != 0))
    return std::string("expected the cubin to be an ELF file");
  return {};
}

Fault checkKernels(const Package &package, Budget &budget) {
  std::unordered_set<std::string_view> seen;
  for (uint32_t i = 0; i < package.kernels()->size(); ++i) {
    const Kernel &kernel = *package.kernels()->Get(i);
    if (Fault fault = checkName("name", kernel.name(), budget))
      return at("kernel", i, fault);
    if (!seen.insert(kernel.name()->string_view()).second)
      return at("kernel", i, "the name " + kernel.name()->str() + " is there twice");
    if (Fault fault = checkKernelBody(kernel, package, budget))
      return at("kernel " + kernel.name()->str(), fault);
  }
  return {};
}

Fault checkPackage(const Package &package, size_t fileBytes) {
  Budget budget(fileBytes);
  if (Fault fault = checkText("compiler version", package.compiler_version(), true, budget))
    return fault;
  if (Fault fault = checkRange("a number of kernels", count(package.kernels()), 1, maxKernels))
    return fault;
  if (Fault fault = tooMany("images", maxImages, count(package.images())))
    return fault;
  for (uint32_t i = 0; i < package.images()->size(); ++i)
    if (Fault fault = checkImage(*package.images()->Get(i), budget))
      return at("image", i, fault);
  return checkKernels(package, budget);
}

} // namespace

Fault detail::checkName(std::string_view what, const flatbuffers::String *name, Budget &budget) {
  const std::string_view text = name->string_view();
  if (!budget.spend(text.size()))
    return shared();
  if (text.empty())
    return "expected a " + std::string(what) + ", got an empty text";
  if (text.size() > maxNameLength)
    return "expected a " + std::string(what) + " of at most " + numberOf(maxNameLength) +
           " bytes, got " + numberOf(text.size());
  if (!printable(text, 0x21) || !ascii(text))
    return "expected a " + std::string(what) + " of printable ASCII characters without spaces";
  return {};
}

Fault detail::checkText(std::string_view what, const flatbuffers::String *text, bool required,
                        Budget &budget) {
  const std::string_view view = text->string_view();
  if (!budget.spend(view.size()))
    return shared();
  if (required && view.empty())
    return "expected a " + std::string(what) + ", got an empty text";
  if (view.size() > maxTextLength)
    return "expected a " + std::string(what) + " of at most " + numberOf(maxTextLength) +
           " bytes, got " + numberOf(view.size());
  if (!printable(view, 0x20) || !ascii(view))
    return "expected a " + std::string(what) + " of printable ASCII characters";
  return {};
}

Fault detail::checkStoredExpr(const Expr *expr, KernelScope &scope) {
  if (!expr)
    return std::string("it is missing");
  if (!aligned(expr->steps()))
    return std::string("its steps are not aligned in the file");
  if (!scope.budget.spend(count(expr->steps()) * sizeof(ExprStep)))
    return shared();
  if (Expected<void> checked = checkExpr(exprSteps(expr), scope.symbolCount); !checked)
    return checked.takeError().message;
  return {};
}

Fault detail::checkConstraints(
    const flatbuffers::Vector<flatbuffers::Offset<Constraint>> *constraints, KernelScope &scope) {
  if (Fault fault = tooMany("constraints", maxConstraints, count(constraints)))
    return fault;
  for (size_t i = 0; i < count(constraints); ++i)
    if (Fault fault = checkConstraint(*constraints->Get(static_cast<uint32_t>(i)), scope))
      return at("constraint", i, fault);
  return {};
}

Expected<void> pkg::validate(const Package &package, size_t fileBytes) {
  if (package.format_version() != formatVersion)
    return Error{ErrorCode::Unsupported, "expected package format version " +
                                             numberOf(formatVersion) + ", got " +
                                             numberOf(package.format_version())};
  if (Fault fault = checkPackage(package, fileBytes))
    return Error{ErrorCode::Damaged, std::move(*fault)};
  return {};
}
