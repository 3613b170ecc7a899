//===- KernelApi.cpp - modules, kernels and launches in C -----------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"
#include "Launch.h"

using namespace heddle;
using namespace heddle::rt;

static Status loadModule(heddle_device device, Expected<pkg::PackageFile> package,
                         heddle_module *module) {
  if (!package)
    return statusOf(package.takeError());
  auto made = std::make_unique<heddle_module_object>();
  if (Status status = Module::load(device->device, *std::move(package), made->module); !status)
    return status;
  *module = made.release();
  return {};
}

extern "C" {

heddle_status heddle_module_load(heddle_device device, const void *package, size_t bytes,
                                 heddle_module *module) {
  return guarded([&]() -> Status {
    if (!device || !package || !module)
      return nullError("a device, a package and a place for the module");
    auto *begin = static_cast<const uint8_t *>(package);
    return loadModule(device, pkg::PackageFile::fromBytes({begin, begin + bytes}), module);
  });
}

heddle_status heddle_module_load_file(heddle_device device, const char *path,
                                      heddle_module *module) {
  return guarded([&]() -> Status {
    if (!device || !path || !module)
      return nullError("a device, a path and a place for the module");
    if (!*path)
      return Status::error(HEDDLE_INVALID_ARGUMENT, "expected a path, got an empty text");
    return loadModule(device, pkg::PackageFile::fromFile(path), module);
  });
}

void heddle_module_unload(heddle_module module) { delete module; }

size_t heddle_module_kernel_count(heddle_module module) {
  return module ? module->module->package()->kernels()->size() : 0;
}

const char *heddle_module_kernel_name(heddle_module module, size_t index) {
  if (index >= heddle_module_kernel_count(module))
    return nullptr;
  return module->module->package()->kernels()->Get(index)->name()->c_str();
}

heddle_status heddle_module_kernel(heddle_module module, const char *name, heddle_kernel *kernel) {
  return guarded([&]() -> Status {
    if (!module || !kernel)
      return nullError(module ? "a place for the kernel" : "a module");
    LoadedKernel *found = nullptr;
    if (Status status = module->module->kernel(name ? name : "", found); !status)
      return status;
    *kernel = reinterpret_cast<heddle_kernel>(found);
    return {};
  });
}

const char *heddle_kernel_name(heddle_kernel kernel) {
  return kernel ? kernelOf(kernel)->kernel->name()->c_str() : nullptr;
}

size_t heddle_kernel_arg_count(heddle_kernel kernel) {
  return kernel ? kernelOf(kernel)->kernel->args()->size() : 0;
}

heddle_status heddle_kernel_arg(heddle_kernel kernel, size_t index, heddle_arg_info *info) {
  return guarded([&]() -> Status {
    static_assert(HEDDLE_MAX_RANK == pkg::maxRank);
    if (!kernel || !info)
      return nullError(kernel ? "a place for the argument" : "a kernel");
    const pkg::Kernel &manifest = *kernelOf(kernel)->kernel;
    if (index >= manifest.args()->size())
      return Status::error(HEDDLE_INVALID_ARGUMENT, text("expected an argument below ",
                                                         manifest.args()->size(), ", got ", index));
    const pkg::Arg &arg = *manifest.args()->Get(index);
    *info = {};
    info->name = arg.name()->c_str();
    info->kind = arg.kind() == pkg::ArgKind::tensor ? HEDDLE_TENSOR : HEDDLE_SCALAR;
    info->dtype = static_cast<heddle_dtype>(arg.dtype());
    info->output = arg.output();
    info->rank = arg.shape() ? int32_t(arg.shape()->size()) : 0;
    for (int32_t i = 0; i < info->rank; ++i) {
      const pkg::Dim &dim = *arg.shape()->Get(i);
      info->shape[i] = dim.symbol() < 0 ? dim.value() : -1;
      info->symbols[i] =
          dim.symbol() < 0 ? nullptr : manifest.symbols()->Get(dim.symbol())->c_str();
    }
    return {};
  });
}

size_t heddle_kernel_variant_count(heddle_kernel kernel) {
  return kernel ? kernelOf(kernel)->variants.size() : 0;
}

const char *heddle_kernel_variant_description(heddle_kernel kernel, size_t variant) {
  if (variant < 1 || variant > heddle_kernel_variant_count(kernel))
    return nullptr;
  return kernelOf(kernel)->variants[variant - 1].description.c_str();
}

static heddle_status launchOrCheck(heddle_kernel kernel, const heddle_arg *args, size_t count,
                                   const heddle_launch_options *options, bool submit,
                                   int32_t *variant) {
  return guarded([&]() -> Status {
    if (!kernel || (!args && count))
      return nullError(kernel ? "arguments" : "a kernel");
    int32_t chosen = 0;
    Status status = launch(*kernelOf(kernel), {args, count},
                           options ? *options : heddle_launch_options{}, submit, chosen);
    if (status && variant)
      *variant = chosen;
    return status;
  });
}

heddle_status heddle_launch(heddle_kernel kernel, const heddle_arg *args, size_t count,
                            const heddle_launch_options *options) {
  return launchOrCheck(kernel, args, count, options, true, nullptr);
}

heddle_status heddle_launch_check(heddle_kernel kernel, const heddle_arg *args, size_t count,
                                  const heddle_launch_options *options, int32_t *variant) {
  return launchOrCheck(kernel, args, count, options, false, variant);
}
}
