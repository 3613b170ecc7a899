//===- CommLaunch.cpp - launches of kernels that talk to other ranks --------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommLaunch.h"
#include <algorithm>

namespace heddle::rt {

bool talks(const LoadedVariant &variant) {
  return std::any_of(
      variant.desc.params.begin(), variant.desc.params.end(),
      [](const ParamDesc &p) { return p.kind == ParamKind::Comm || p.kind == ParamKind::Signals; });
}

bool talks(const LoadedKernel &kernel) {
  const auto &args = *kernel.kernel->args();
  return std::any_of(args.begin(), args.end(),
                     [](const pkg::Arg *arg) { return arg->symmetric(); }) ||
         std::any_of(kernel.variants.begin(), kernel.variants.end(),
                     [](const LoadedVariant &variant) { return talks(variant); });
}

Status checkComm(const LoadedKernel &kernel, const BoundArguments &bound, Communicator *comm) {
  if (!comm)
    return Status::error(HEDDLE_INVALID_ARGUMENT,
                         "the kernel talks to other ranks: expected a communicator in the launch "
                         "options, got none");
  if (!comm->device().isSame(kernel.module->device()))
    return Status::error(HEDDLE_INVALID_ARGUMENT,
                         text("expected a communicator of the kernel's device ",
                              kernel.module->device().info().name, ", got one of ",
                              comm->device().info().name));
  const pkg::Kernel &manifest = *kernel.kernel;
  for (uint32_t i = 0; i < manifest.args()->size(); ++i) {
    const pkg::Arg &arg = *manifest.args()->Get(i);
    if (!arg.symmetric() || bound.extents[i] == 0)
      continue;
    std::string_view name = arg.name()->string_view();
    if (Status status = comm->checkSymmetric(bound.addresses[i], bound.extents[i]); !status)
      return std::move(status).within(text("argument ", name)).about(name);
  }
  for (uint32_t i = 0; manifest.symbols() && i < manifest.symbols()->size(); ++i)
    if (manifest.symbols()->Get(i)->string_view() == "world" &&
        bound.symbols[i] != int64_t(comm->world()))
      return Status::error(HEDDLE_SHAPE_MISMATCH,
                           text("expected the size world to be ", comm->world(),
                                " (the number of ranks), got ", bound.symbols[i]));
  return {};
}

CollectiveCall describeLaunch(const LoadedKernel &kernel, size_t variant,
                              const BoundArguments &bound, const std::array<unsigned, 3> &grid,
                              const Communicator &comm) {
  const pkg::Kernel &manifest = *kernel.kernel;
  CollectiveCall call;
  call.kind = CollectiveCall::Launch;
  call.variant = uint32_t(variant);
  call.setName(manifest.name()->string_view());
  call.add(kernel.variants[variant - 1].desc.name);
  std::span<const int64_t> symbols = bound.symbolValues(manifest);
  for (int64_t size : symbols)
    call.add(uint64_t(size));
  call.sizeCount = uint32_t(std::min(symbols.size(), std::size(call.sizes)));
  std::copy_n(symbols.begin(), call.sizeCount, call.sizes);
  for (unsigned size : grid)
    call.add(uint64_t(size));
  for (uint32_t i = 0; i < manifest.args()->size(); ++i)
    if (manifest.args()->Get(i)->symmetric())
      call.add(bound.extents[i] ? bound.addresses[i] - comm.heapBase(comm.rank()) : 0);
  return call;
}

} // namespace heddle::rt
