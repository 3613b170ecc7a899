//===- Launch.cpp - from checked arguments to the device ------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launch.h"
#include "Arguments.h"
#include "comm/CommLaunch.h"
#include <cstring>

namespace heddle::rt {

namespace {

// Grid limits of every target (CUDA programming guide, compute capabilities).
constexpr int64_t maxGrid[3] = {2147483647, 65535, 65535};
// Tensor maps (CUDA driver API, cuTensorMapEncodeTiled).
constexpr uint64_t mapAlignment = 16, maxMapDim = uint64_t(1) << 32,
                   maxMapStride = uint64_t(1) << 40;

/// What `sm_count` means for a form: a grid of more clusters than run at once would leave a few of
/// them, with as much work as the others, to a second wave.
static int64_t usableMultiprocessors(const LoadedVariant &loaded, int64_t multiprocessors) {
  unsigned clustered = loaded.entry->clusteredMultiprocessors();
  return clustered ? std::min(multiprocessors, int64_t(clustered)) : multiprocessors;
}

/// One launch of one form, on the stack.
class Plan {
public:
  Plan(LoadedKernel &kernel, size_t variant, const BoundArguments &bound,
       const pkg::ExprContext &sizes, Communicator *comm)
      : owner(kernel), kernel(*kernel.kernel), device(kernel.module->device()),
        maps(kernel.module->tensorMaps()), workspaces(kernel.module->workspaces()),
        variant(variant), loaded(kernel.variants[variant]), bound(bound), sizes(sizes), comm(comm) {
    this->sizes.smCount = usableMultiprocessors(loaded, sizes.smCount);
  }

  /// Fails when the form does not take the arguments.
  Status build();
  Status submit(const heddle_launch_options &options);

private:
  Status evaluate(const pkg::Expr *expr, std::string_view what, int64_t &value) const;
  Status buildGrid();
  Status checkResidency() const;
  Status addWorkspace(Stream stream);
  Status buildParam(const pkg::Param &param, const ParamDesc &place);
  Status buildSignals(const ParamDesc &place);
  Status buildTensorMap(const pkg::TensorMap &recipe, TensorMapBytes &map);
  Status fillMapSizes(const pkg::TensorMap &recipe, TensorMapDesc &desc) const;
  template <typename T> void put(const ParamDesc &place, T value) {
    std::memcpy(params + place.offset, &value, sizeof(value));
  }

  const LoadedKernel &owner;
  const pkg::Kernel &kernel;
  Device &device;
  TensorMapCache &maps;
  Workspaces &workspaces;
  size_t variant; ///< index of the form
  const LoadedVariant &loaded;
  const BoundArguments &bound;
  pkg::ExprContext sizes;
  Communicator *comm; ///< null for kernels that talk to nobody
  std::array<unsigned, 3> grid{};
  alignas(64) std::byte params[32768];
};

Status Plan::evaluate(const pkg::Expr *expr, std::string_view what, int64_t &value) const {
  auto result = pkg::evaluateExpr(expr, sizes);
  if (!result)
    return Status::error(HEDDLE_OUT_OF_RANGE, text(what, ": ", result.error().message));
  value = *result;
  return {};
}

Status Plan::buildGrid() {
  for (unsigned i = 0; i < 3; ++i) {
    int64_t size = 0;
    if (Status status = evaluate(loaded.variant->grid()->Get(i), "grid", size); !status)
      return status;
    if (size < 1 || size > maxGrid[i])
      return Status::error(HEDDLE_OUT_OF_RANGE, text("expected grid size ", i, " from 1 to ",
                                                     maxGrid[i], ", got ", size));
    if (size % loaded.desc.cluster[i])
      return Status::error(HEDDLE_OUT_OF_RANGE,
                           text("expected grid size ", i, " to be a multiple of the cluster's ",
                                loaded.desc.cluster[i], ", got ", size));
    grid[i] = unsigned(size);
  }
  return {};
}

Status Plan::checkResidency() const {
  if (!loaded.variant->resident_ctas())
    return {};
  int64_t need = 0;
  if (Status status = evaluate(loaded.variant->resident_ctas(), "resident CTAs", need); !status)
    return status;
  int64_t perMultiprocessor = loaded.entry->residentPerMultiprocessor();
  const int64_t ranks = comm ? comm->ranksOnDevice() : 1;
  int64_t have = perMultiprocessor * sizes.smCount / ranks;
  if (perMultiprocessor == 0 || need <= have)
    return {};
  if (ranks > 1)
    return Status::error(HEDDLE_OUT_OF_RANGE,
                         text("expected at most ", have, " CTAs that wait for each other (",
                              perMultiprocessor, " on each of ", sizes.smCount,
                              " multiprocessors, shared by ", ranks, " ranks), got ", need));
  return Status::error(HEDDLE_OUT_OF_RANGE,
                       text("expected at most ", have, " CTAs that wait for each other (",
                            perMultiprocessor, " on each of ", sizes.smCount,
                            " multiprocessors), got ", need));
}

Status Plan::fillMapSizes(const pkg::TensorMap &recipe, TensorMapDesc &desc) const {
  std::string_view name = kernel.args()->Get(recipe.arg())->name()->string_view();
  for (unsigned i = 0; i < desc.rank; ++i) {
    int64_t size = 0;
    if (Status status = evaluate(recipe.dims()->Get(i), "tensor map size", size); !status)
      return std::move(status).about(name);
    if (size < 1 || uint64_t(size) > maxMapDim)
      return Status::error(HEDDLE_OUT_OF_RANGE,
                           text("argument ", name, ": expected tensor map size ", i,
                                " from 1 to 4294967296, got ", size))
          .about(name);
    desc.dims[i] = uint64_t(size);
    desc.box[i] = recipe.box()->Get(i);
  }
  for (unsigned i = 0; i + 1 < desc.rank; ++i) {
    int64_t stride = 0;
    if (Status status = evaluate(recipe.strides()->Get(i), "tensor map stride", stride); !status)
      return std::move(status).about(name);
    if (stride < 0 || uint64_t(stride) % mapAlignment)
      return Status::error(HEDDLE_MISALIGNED,
                           text("argument ", name, ": expected the stride of tensor map dimension ",
                                i + 1, " to be a multiple of 16 bytes, got ", stride))
          .about(name);
    if (uint64_t(stride) >= maxMapStride)
      return Status::error(HEDDLE_OUT_OF_RANGE,
                           text("argument ", name, ": expected the stride of tensor map dimension ",
                                i + 1, " to be below 1099511627776 bytes, got ", stride))
          .about(name);
    desc.strides[i] = uint64_t(stride);
  }
  return {};
}

Status Plan::buildTensorMap(const pkg::TensorMap &recipe, TensorMapBytes &map) {
  TensorMapDesc desc;
  desc.address = bound.addresses[recipe.arg()];
  desc.dtype = uint8_t(recipe.dtype());
  desc.rank = recipe.dims()->size();
  desc.swizzle = uint8_t(recipe.swizzle());
  desc.l2Promotion = uint16_t(recipe.l2_promotion());
  std::string_view name = kernel.args()->Get(recipe.arg())->name()->string_view();
  if (desc.address % mapAlignment)
    return Status::error(HEDDLE_MISALIGNED,
                         text("argument ", name,
                              ": expected an address that is a multiple of 16 for "
                              "bulk copies, got one that ends in ",
                              desc.address % mapAlignment))
        .about(name);
  if (Status status = fillMapSizes(recipe, desc); !status)
    return status;
  Status status = maps.get(device, desc, map);
  return status ? Status() : std::move(status).within(text("argument ", name)).about(name);
}

Status Plan::buildParam(const pkg::Param &param, const ParamDesc &place) {
  int64_t value = 0;
  TensorMapBytes map;
  switch (place.kind) {
  case ParamKind::TensorMap:
    if (Status status = buildTensorMap(*loaded.variant->tensor_maps()->Get(param.index()), map);
        !status)
      return status;
    put(place, map.bytes);
    return {};
  case ParamKind::Pointer:
    put(place, bound.addresses[param.index()]);
    return {};
  case ParamKind::I32:
  case ParamKind::I64:
    if (Status status = evaluate(param.expr(), "parameter", value); !status)
      return status;
    if (place.kind == ParamKind::I64)
      put(place, value);
    else if (value != int32_t(value))
      return Status::error(HEDDLE_OUT_OF_RANGE,
                           text("expected parameter ", pkg::printExpr(param.expr(), kernel),
                                " to fit 32 bits, got ", value));
    else
      put(place, int32_t(value));
    return {};
  case ParamKind::F32:
    put(place, bound.scalars[param.index()]);
    return {};
  case ParamKind::Workspace:
  case ParamKind::Counters:
    return {}; // only a launch needs it: see submit
  case ParamKind::Comm:
    put(place, comm->blockFor(loaded, kernel.name()->string_view()));
    return {};
  case ParamKind::Signals:
    return buildSignals(place);
  }
  return Status::error(HEDDLE_INVALID_PACKAGE, "unknown kind of parameter");
}

Status Plan::buildSignals(const ParamDesc &place) {
  int64_t bytes = 0;
  uint64_t offset = 0;
  if (Status status = evaluate(loaded.variant->signal_bytes(), "bytes of signals", bytes); !status)
    return status;
  if (bytes < 0)
    return Status::error(HEDDLE_OUT_OF_RANGE,
                         text("expected at least 0 bytes of signals, got ", bytes));
  if (Status status = comm->signals(loaded, uint64_t(bytes), offset); !status)
    return status;
  put(place, offset);
  return {};
}

Status Plan::build() {
  if (Status status = checkConstraints(kernel, loaded.variant->constraints(), bound, sizes);
      !status)
    return status;
  if (Status status = buildGrid(); !status)
    return status;
  if (Status status = checkResidency(); !status)
    return status;
  std::memset(params, 0, loaded.desc.paramBytes);
  for (size_t i = 0; i < loaded.desc.params.size(); ++i)
    if (Status status = buildParam(*loaded.variant->params()->Get(i), loaded.desc.params[i]);
        !status)
      return status;
  return {};
}

Status Plan::addWorkspace(Stream stream) {
  const pkg::Expr *exprs[] = {loaded.variant->workspace_bytes(), loaded.variant->counter_bytes()};
  int64_t bytes[2] = {0, 0};
  for (int i : {0, 1})
    if (exprs[i]) {
      if (Status status = evaluate(exprs[i], "workspace", bytes[i]); !status)
        return status;
      if (bytes[i] < 0)
        return Status::error(HEDDLE_OUT_OF_RANGE,
                             text("expected a workspace of at least 0 bytes, got ", bytes[i]));
    }
  void *memory[2] = {nullptr, nullptr};
  if (Status status =
          workspaces.get(stream, uint64_t(bytes[0]), uint64_t(bytes[1]), memory[0], memory[1]);
      !status)
    return status;
  for (const ParamDesc &place : loaded.desc.params)
    if (place.kind == ParamKind::Workspace || place.kind == ParamKind::Counters)
      put(place, memory[place.kind == ParamKind::Counters]);
  return {};
}

Status Plan::submit(const heddle_launch_options &options) {
  if (loaded.variant->workspace_bytes() || loaded.variant->counter_bytes())
    if (Status status = addWorkspace(options.stream); !status)
      return status;
  LaunchDesc desc;
  desc.grid = grid;
  desc.overlap = loaded.desc.overlaps && !options.in_order;
  desc.params = std::span(params, loaded.desc.paramBytes);
  if (!comm || !talks(loaded))
    return device.launch(*loaded.entry, desc, options.stream);
  // Launches of several ranks on one device must run at once, which cooperative ones need not;
  // checkResidency has counted all of them.
  desc.cooperative = comm->ranksOnDevice() == 1;
  if (Status status = comm->enter(describeLaunch(owner, variant + 1, bound, grid, *comm)); !status)
    return status;
  Status status = device.launch(*loaded.entry, desc, options.stream);
  if (!status)
    comm->abort(text("could not launch ", kernel.name()->string_view(), ": ", status.message()));
  return status;
}

/// Errors of the device end the search for a form; errors about the arguments go on.
bool isAboutArguments(heddle_code code) {
  return code == HEDDLE_MISALIGNED || code == HEDDLE_OUT_OF_RANGE || code == HEDDLE_SHAPE_MISMATCH;
}

/// Symmetric arguments are checked against the heap.
Status checkPointers(const pkg::Kernel &kernel, Device &device, const BoundArguments &bound) {
  for (size_t i = 0; i < kernel.args()->size(); ++i) {
    const pkg::Arg &arg = *kernel.args()->Get(i);
    if (arg.kind() != pkg::ArgKind::tensor || bound.extents[i] == 0 || arg.symmetric())
      continue;
    uint64_t base = 0, bytes = 0;
    std::string_view name = arg.name()->string_view();
    Status status = device.allocationOf(reinterpret_cast<void *>(bound.addresses[i]), base, bytes);
    if (!status && status.code() == HEDDLE_NOT_FOUND)
      return Status::error(HEDDLE_INVALID_ARGUMENT, text("argument ", name, ": ", status.message()))
          .about(name);
    if (!status)
      return status;
    uint64_t left = base + bytes - bound.addresses[i];
    if (bound.extents[i] > left)
      return Status::error(HEDDLE_OUT_OF_RANGE,
                           text("argument ", name, ": expected ", bound.extents[i],
                                " bytes from its address, the allocation has ", left))
          .about(name);
  }
  return {};
}

Status checkMultiprocessors(const heddle_launch_options &options, Device &device, int64_t &count) {
  count = device.info().multiprocessors;
  if (options.multiprocessors < 0 || options.multiprocessors > count)
    return Status::error(HEDDLE_INVALID_ARGUMENT, text("expected multiprocessors from 0 (all) to ",
                                                       count, ", got ", options.multiprocessors));
  if (options.multiprocessors)
    count = options.multiprocessors;
  return {};
}

/// Tries the forms in order; the reasons of all are told when none fits.
Status tryVariants(LoadedKernel &kernel, const heddle_launch_options &options,
                   const BoundArguments &bound, const pkg::ExprContext &sizes, Communicator *comm,
                   bool submit, int32_t &chosen) {
  size_t begin = 0, end = kernel.variants.size();
  if (options.variant < 0 || size_t(options.variant) > end)
    return Status::error(HEDDLE_INVALID_ARGUMENT, text("expected a variant from 1 to ", end,
                                                       " or 0 for any, got ", options.variant));
  if (options.variant) {
    begin = size_t(options.variant) - 1;
    end = begin + 1;
  }
  std::string reasons;
  for (size_t i = begin; i < end; ++i) {
    Plan plan(kernel, i, bound, sizes, comm);
    Status status = plan.build();
    if (status) {
      if (submit)
        if (Status launched = plan.submit(options); !launched)
          return launched;
      chosen = int32_t(i) + 1;
      return {};
    }
    if (!isAboutArguments(status.code()) || end - begin == 1)
      return status;
    reasons += text(reasons.empty() ? "" : "; ", "variant ", i + 1, " (",
                    kernel.variants[i].desc.name, "): ", status.message());
  }
  return Status::error(HEDDLE_NO_VARIANT,
                       text("no compiled form takes these arguments: ", reasons));
}

} // namespace

Status launch(LoadedKernel &kernel, std::span<const heddle_arg> args,
              const heddle_launch_options &options, bool submit, int32_t &variant) {
  const pkg::Kernel &manifest = *kernel.kernel;
  Device &device = kernel.module->device();
  int64_t multiprocessors = 0;
  BoundArguments bound;
  Status status = checkMultiprocessors(options, device, multiprocessors);
  if (status)
    status = bindArguments(manifest, args, bound);
  if (status && bound.emptyOutput) {
    variant = 0;
    return {};
  }
  Communicator *comm = options.comm ? options.comm->comm.get() : nullptr;
  if (status && talks(kernel))
    status = checkComm(kernel, bound, comm);
  const pkg::ExprContext sizes{bound.symbolValues(manifest), multiprocessors,
                               comm ? comm->world() : 1};
  if (status)
    status = checkConstraints(manifest, manifest.constraints(), bound, sizes);
  if (status && options.check_pointers)
    status = checkPointers(manifest, device, bound);
  if (status)
    status = tryVariants(kernel, options, bound, sizes, comm, submit, variant);
  if (status)
    return {};
  return std::move(status).within(text("kernel ", manifest.name()->string_view()));
}

} // namespace heddle::rt
