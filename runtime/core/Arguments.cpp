//===- Arguments.cpp - a launch's arguments against the manifest ----------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "heddle/Package/Select.h"
#include <algorithm>
#include <cstdio>

namespace heddle::rt {

namespace {

/// Everything a launch can address fits well below this.
constexpr uint64_t maxExtentBytes = uint64_t(1) << 47;

std::string hex(uint64_t value) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "0x%llx", static_cast<unsigned long long>(value));
  return buffer;
}

template <typename T> size_t sizeOf(const T *vector) { return vector ? vector->size() : 0; }

/// Binds one kernel's arguments; keeps who gave each size its value, for messages.
class Binder {
public:
  Binder(const pkg::Kernel &kernel, BoundArguments &bound) : kernel(kernel), bound(bound) {
    giver.fill(-1);
  }

  Status bind(size_t index, const heddle_arg &arg);

private:
  Status bindScalar(const pkg::Arg &want, size_t index, const heddle_arg &arg);
  Status bindTensor(const pkg::Arg &want, size_t index, const heddle_arg &arg);
  Status match(const pkg::Dim &want, int64_t got, size_t index, std::string_view quantity,
               size_t dim);
  Status checkStrides(const pkg::Arg &want, size_t index, const heddle_arg &arg,
                      const int64_t *strides);
  Status checkOutputStrides(const heddle_arg &arg, const int64_t *strides);
  Status checkMemory(const pkg::Arg &want, size_t index, const heddle_arg &arg,
                     const int64_t *strides);

  const pkg::Kernel &kernel;
  BoundArguments &bound;
  /// For each symbol: the argument that gave its value, or -1.
  std::array<int, pkg::maxSymbols> giver;
  std::array<uint8_t, pkg::maxSymbols> giverDim{};
  std::array<bool, pkg::maxSymbols> givenByStride{};
};

Status mismatch(std::string message, std::source_location where = std::source_location::current()) {
  return Status::error(HEDDLE_SHAPE_MISMATCH, std::move(message), where);
}

Status Binder::match(const pkg::Dim &want, int64_t got, size_t index, std::string_view quantity,
                     size_t dim) {
  if (want.symbol() < 0) {
    if (want.value() == got)
      return {};
    return mismatch(text("expected ", quantity, ' ', dim, " to be ", want.value(), ", got ", got));
  }
  size_t symbol = size_t(want.symbol());
  if (giver[symbol] < 0) {
    giver[symbol] = int(index);
    giverDim[symbol] = uint8_t(dim);
    givenByStride[symbol] = quantity == "stride";
    bound.symbols[symbol] = got;
    return {};
  }
  if (bound.symbols[symbol] == got)
    return {};
  return mismatch(text("expected ", quantity, ' ', dim, " to be ",
                       kernel.symbols()->Get(symbol)->string_view(), " = ", bound.symbols[symbol],
                       " as in ", givenByStride[symbol] ? "stride " : "size ",
                       unsigned(giverDim[symbol]), " of ",
                       kernel.args()->Get(giver[symbol])->name()->string_view(), ", got ", got));
}

std::string kindName(heddle_arg_kind kind) {
  return kind == HEDDLE_TENSOR   ? "a tensor"
         : kind == HEDDLE_SCALAR ? "a scalar"
                                 : text("the unknown kind ", int(kind));
}

Status Binder::bindScalar(const pkg::Arg &want, size_t index, const heddle_arg &arg) {
  if (arg.kind != HEDDLE_SCALAR)
    return mismatch(text("expected a scalar, got ", kindName(arg.kind)));
  if (int(arg.dtype) != int(want.dtype()))
    return mismatch(
        text("expected type ", dtypeName(int(want.dtype())), ", got ", dtypeName(arg.dtype)));
  bound.scalars[index] = static_cast<float>(arg.scalar);
  return {};
}

Status Binder::checkOutputStrides(const heddle_arg &arg, const int64_t *strides) {
  // Sorted from the smallest stride up, each must step over all that is below it.
  std::array<int, pkg::maxRank> order{};
  int count = 0;
  for (int i = 0; i < arg.rank; ++i)
    if (arg.shape[i] > 1)
      order[count++] = i;
  std::sort(order.begin(), order.begin() + count,
            [&](int a, int b) { return strides[a] < strides[b]; });
  uint64_t below = 1;
  for (int i = 0; i < count; ++i) {
    int dim = order[i];
    if (uint64_t(strides[dim]) < below)
      return mismatch(text("expected the elements of an output not to overlap, got stride ",
                           strides[dim], " of dimension ", dim, " below ", below));
    if (__builtin_mul_overflow(uint64_t(strides[dim]), uint64_t(arg.shape[dim]), &below))
      return Status::error(HEDDLE_OUT_OF_RANGE,
                           text("stride ", strides[dim], " of dimension ", dim, " is too large"));
  }
  return {};
}

Status Binder::checkStrides(const pkg::Arg &want, size_t index, const heddle_arg &arg,
                            const int64_t *strides) {
  if (sizeOf(want.strides()) == 0) {
    int64_t expected = 1;
    for (int i = arg.rank - 1; i >= 0; --i) {
      if (arg.shape[i] > 1 && strides[i] != expected)
        return mismatch(
            text("expected stride ", i, " to be ", expected, " (contiguous), got ", strides[i]));
      expected *= std::max<int64_t>(arg.shape[i], 1);
    }
    return {};
  }
  for (int i = 0; i < arg.rank; ++i) {
    const pkg::Dim &dim = *want.strides()->Get(i);
    // Nothing ever steps along a dimension of one element.
    if (arg.shape[i] <= 1 && dim.symbol() < 0)
      continue;
    if (Status status = match(dim, strides[i], index, "stride", size_t(i)); !status)
      return status;
  }
  return {};
}

Status Binder::checkMemory(const pkg::Arg &want, size_t index, const heddle_arg &arg,
                           const int64_t *strides) {
  uint64_t last = 0; // offset of the last element
  for (int i = 0; i < arg.rank; ++i) {
    if (strides[i] < 0)
      return Status::error(HEDDLE_OUT_OF_RANGE,
                           text("expected stride ", i, " to be at least 0, got ", strides[i]));
    uint64_t span;
    if (__builtin_mul_overflow(uint64_t(arg.shape[i] - 1), uint64_t(strides[i]), &span) ||
        __builtin_add_overflow(last, span, &last))
      return Status::error(HEDDLE_OUT_OF_RANGE,
                           text("size ", arg.shape[i], " times stride ", strides[i],
                                " of dimension ", i, " is too large"));
  }
  uint64_t element = pkg::dtypeBytes(want.dtype());
  if (last >= maxExtentBytes / element)
    return Status::error(HEDDLE_OUT_OF_RANGE,
                         text("expected a tensor that ends within ", maxExtentBytes,
                              " bytes, its last element is number ", last));
  bound.extents[index] = (last + 1) * element;
  uint64_t address = reinterpret_cast<uintptr_t>(arg.data);
  if (!address)
    return Status::error(HEDDLE_INVALID_ARGUMENT, "expected an address in device memory, got NULL");
  if (address % element)
    return Status::error(HEDDLE_MISALIGNED,
                         text("expected an address that is a multiple of ", element,
                              " (the size of ", dtypeName(int(want.dtype())), "), got ",
                              hex(address)));
  return {};
}

Status Binder::bindTensor(const pkg::Arg &want, size_t index, const heddle_arg &arg) {
  if (arg.kind != HEDDLE_TENSOR)
    return mismatch(text("expected a tensor, got ", kindName(arg.kind)));
  if (int(arg.dtype) != int(want.dtype()))
    return mismatch(
        text("expected type ", dtypeName(int(want.dtype())), ", got ", dtypeName(arg.dtype)));
  int rank = int(sizeOf(want.shape()));
  if (arg.rank != rank)
    return mismatch(text("expected rank ", rank, ", got ", arg.rank));
  if (rank && !arg.shape)
    return Status::error(HEDDLE_INVALID_ARGUMENT, "expected a shape, got NULL");

  bool empty = false;
  for (int i = 0; i < rank; ++i) {
    if (arg.shape[i] < 0)
      return mismatch(text("expected size ", i, " to be at least 0, got ", arg.shape[i]));
    empty |= arg.shape[i] == 0;
    if (Status status = match(*want.shape()->Get(i), arg.shape[i], index, "size", size_t(i));
        !status)
      return status;
  }
  bound.addresses[index] = reinterpret_cast<uintptr_t>(arg.data);
  if (empty) {
    bound.emptyOutput |= want.output();
    return {};
  }
  std::array<int64_t, pkg::maxRank> rowMajor{};
  const int64_t *strides = arg.strides;
  if (!strides) {
    int64_t stride = 1;
    for (int i = rank - 1; i >= 0; --i) {
      rowMajor[i] = stride;
      if (__builtin_mul_overflow(stride, arg.shape[i], &stride))
        return Status::error(HEDDLE_OUT_OF_RANGE, "the product of the sizes is too large");
    }
    strides = rowMajor.data();
  }
  if (Status status = checkMemory(want, index, arg, strides); !status)
    return status;
  if (Status status = checkStrides(want, index, arg, strides); !status)
    return status;
  return want.output() ? checkOutputStrides(arg, strides) : Status();
}

Status Binder::bind(size_t index, const heddle_arg &arg) {
  const pkg::Arg &want = *kernel.args()->Get(index);
  Status status = want.kind() == pkg::ArgKind::scalar ? bindScalar(want, index, arg)
                                                      : bindTensor(want, index, arg);
  if (status)
    return status;
  std::string_view name = want.name()->string_view();
  return std::move(status).within(text("argument ", name)).about(name);
}

} // namespace

std::string_view dtypeName(int dtype) {
  static constexpr std::string_view names[] = {"f32", "f16", "bf16", "f8e4m3", "f8e5m2",
                                               "i8",  "i32", "i64",  "f64"};
  return dtype >= 0 && size_t(dtype) < std::size(names) ? names[dtype] : "an unknown type";
}

Status bindArguments(const pkg::Kernel &kernel, std::span<const heddle_arg> args,
                     BoundArguments &bound) {
  if (args.size() != kernel.args()->size()) {
    std::string names;
    for (const pkg::Arg *arg : *kernel.args())
      names += text(names.empty() ? "" : ", ", arg->name()->string_view());
    return Status::error(
        HEDDLE_INVALID_ARGUMENT,
        text("expected ", kernel.args()->size(), " arguments (", names, "), got ", args.size()));
  }
  Binder binder(kernel, bound);
  for (size_t i = 0; i < args.size(); ++i)
    if (Status status = binder.bind(i, args[i]); !status)
      return status;
  if (bound.emptyOutput)
    return {};
  for (size_t i = 0; i < args.size(); ++i)
    if (args[i].kind == HEDDLE_TENSOR && bound.extents[i] == 0) {
      const pkg::Arg &arg = *kernel.args()->Get(i);
      std::string_view name = arg.name()->string_view();
      unsigned dim = 0;
      while (args[i].shape[dim] != 0)
        ++dim;
      int symbol = arg.shape()->Get(dim)->symbol();
      return mismatch(text("argument ", name, ": expected size ", dim,
                           symbol < 0
                               ? std::string()
                               : text(" (", kernel.symbols()->Get(symbol)->string_view(), ")"),
                           " to be at least 1 where the output is not empty, got 0"))
          .about(name);
    }
  return {};
}

Status checkSymbolsBindable(const pkg::Kernel &kernel) {
  std::array<bool, pkg::maxSymbols> seen{};
  for (const pkg::Arg *arg : *kernel.args())
    for (const auto *dims : {arg->shape(), arg->strides()})
      for (size_t i = 0; i < sizeOf(dims); ++i)
        if (int symbol = dims->Get(i)->symbol(); symbol >= 0)
          seen[symbol] = true;
  for (size_t i = 0; i < sizeOf(kernel.symbols()); ++i)
    if (!seen[i])
      return Status::error(HEDDLE_INVALID_PACKAGE,
                           text("kernel ", kernel.name()->string_view(), ": run-time size ",
                                kernel.symbols()->Get(i)->string_view(),
                                " appears in no argument"));
  return {};
}

Status checkConstraints(const pkg::Kernel &kernel, const Constraints *constraints,
                        const BoundArguments &bound, const pkg::ExprContext &sizes) {
  pkg::LaunchContext context{sizes, bound.addresses};
  for (size_t i = 0; i < sizeOf(constraints); ++i) {
    const pkg::Constraint &constraint = *constraints->Get(i);
    std::optional<std::string> reason = pkg::violated(constraint, context);
    if (!reason)
      continue;
    bool address = constraint.kind() == pkg::ConstraintKind::pointer_alignment;
    bool multiple = constraint.kind() == pkg::ConstraintKind::multiple_of;
    Status status = Status::error(address || multiple ? HEDDLE_MISALIGNED : HEDDLE_OUT_OF_RANGE,
                                  std::move(*reason));
    return address ? std::move(status).about(
                         kernel.args()->Get(constraint.arg())->name()->string_view())
                   : std::move(status);
  }
  return {};
}

} // namespace heddle::rt
