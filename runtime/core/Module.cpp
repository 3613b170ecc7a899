//===- Module.cpp - loaded packages and their kernels ---------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Module.h"
#include "Arguments.h"
#include <algorithm>

namespace heddle::rt {

namespace {

/// Parameters of a kernel (PTX ISA, "Kernel Function Parameters").
constexpr uint32_t maxParamBytes = 32764;

struct Layout {
  ParamKind kind;
  uint32_t size, alignment;
};

Layout layoutOf(pkg::ParamKind kind) {
  switch (kind) {
  case pkg::ParamKind::tensor_map:
    return {ParamKind::TensorMap, 128, 64};
  case pkg::ParamKind::pointer:
    return {ParamKind::Pointer, 8, 8};
  case pkg::ParamKind::i32:
    return {ParamKind::I32, 4, 4};
  case pkg::ParamKind::i64:
    return {ParamKind::I64, 8, 8};
  case pkg::ParamKind::comm:
    return {ParamKind::Comm, 8, 8};
  case pkg::ParamKind::signals:
    return {ParamKind::Signals, 8, 8};
  case pkg::ParamKind::workspace:
    return {ParamKind::Workspace, 8, 8};
  case pkg::ParamKind::counters:
    return {ParamKind::Counters, 8, 8};
  case pkg::ParamKind::f32:
    break;
  }
  return {ParamKind::F32, 4, 4};
}

EntryDesc describeEntry(const pkg::Kernel &kernel, const pkg::Variant &variant) {
  EntryDesc desc;
  desc.name = variant.entry()->str();
  desc.kernel = kernel.name()->str();
  if (kernel.spec())
    desc.source = kernel.spec()->string_view();
  for (unsigned i = 0; i < 3; ++i) {
    desc.block[i] = variant.block()->Get(i);
    desc.cluster[i] = variant.cluster()->Get(i);
  }
  desc.sharedBytes = variant.shared_bytes();
  desc.overlaps = variant.overlaps();
  desc.mustBeResident = variant.resident_ctas() != nullptr;
  for (const pkg::Param *param : *variant.params()) {
    Layout layout = layoutOf(param->kind());
    uint32_t offset =
        (desc.paramBytes + layout.alignment - 1) / layout.alignment * layout.alignment;
    desc.params.push_back({layout.kind, offset, layout.size});
    desc.paramBytes = offset + layout.size;
  }
  if (variant.roles())
    for (const pkg::Role *role : *variant.roles())
      desc.roles.push_back(
          {role->name()->str(), role->first_warp(), role->warps(), role->registers()});
  return desc;
}

std::string describeVariant(const pkg::Variant &variant, pkg::Fit fit, bool emulated) {
  std::string line =
      text(variant.target()->string_view(), ' ', emulated ? "emulated ptx" : pkg::fitName(fit),
           ", entry ", variant.entry()->string_view());
  if (variant.schedule())
    for (const pkg::KeyValue *entry : *variant.schedule())
      line += text(", ", entry->key()->string_view(), '=', entry->value()->string_view());
  return line;
}

/// Where in the list the candidates of the first one's target and form end.
size_t groupEnd(const pkg::Kernel &kernel, const std::vector<pkg::Candidate> &all, size_t begin) {
  auto targetOf = [&](size_t i) {
    return kernel.variants()->Get(all[i].variant)->target()->string_view();
  };
  size_t end = begin;
  while (end < all.size() && all[end].fit == all[begin].fit && targetOf(end) == targetOf(begin))
    ++end;
  return end;
}

} // namespace

Status statusOf(Error error, heddle_code unsupported, std::source_location where) {
  static constexpr heddle_code codes[] = {
      HEDDLE_INVALID_ARGUMENT, HEDDLE_NOT_FOUND,    HEDDLE_IO_ERROR,     HEDDLE_INVALID_PACKAGE,
      HEDDLE_INTERNAL,         HEDDLE_OUT_OF_RANGE, HEDDLE_OUT_OF_MEMORY};
  heddle_code code = error.code == ErrorCode::Unsupported ? unsupported : codes[size_t(error.code)];
  return Status::error(code, std::move(error.message), where);
}

pkg::Selection Module::select(const pkg::Kernel &kernel) const {
  const DeviceInfo &info = owner->info();
  pkg::Selection selection = pkg::selectForDevice(file.root(), kernel, {info.major, info.minor});
  // A device that knows its target by name runs images of no other.
  if (!info.target.empty())
    std::erase_if(selection.candidates, [&](const pkg::Candidate &candidate) {
      return kernel.variants()->Get(candidate.variant)->target()->string_view() != info.target;
    });
  return selection;
}

Status Module::load(std::shared_ptr<Device> device, pkg::PackageFile package,
                    std::unique_ptr<Module> &module) {
  std::unique_ptr<Module> made(new Module(std::move(device), std::move(package)));
  std::string missing;
  for (const pkg::Kernel *kernel : *made->file->kernels()) {
    if (Status status = checkSymbolsBindable(*kernel); !status)
      return status;
    if (!made->select(*kernel).candidates.empty()) {
      module = std::move(made);
      return {};
    }
    const DeviceInfo &info = made->owner->info();
    missing += text(missing.empty() ? "" : "; ",
                    pkg::describeNoCode(made->file.root(), *kernel, {info.major, info.minor}));
  }
  const DeviceInfo &info = made->owner->info();
  return Status::error(HEDDLE_NO_IMAGE,
                       text("no code for ", info.name, " (", info.description, "): ", missing));
}

Status Module::kernel(std::string_view name, LoadedKernel *&kernel) {
  const pkg::Kernel *found = nullptr;
  if (!name.empty())
    found = file.findKernel(name);
  else if (file->kernels()->size() == 1)
    found = file->kernels()->Get(0);
  if (!found)
    return Status::error(HEDDLE_NOT_FOUND, text("expected one of the kernels ", file.kernelNames(),
                                                ", got ", name.empty() ? "no name" : name));
  std::lock_guard lock(mutex);
  std::unique_ptr<LoadedKernel> &loaded = kernels[found];
  if (!loaded)
    if (Status status = loadKernel(*found, loaded); !status)
      return status;
  kernel = loaded.get();
  return {};
}

Status Module::loadKernel(const pkg::Kernel &kernel, std::unique_ptr<LoadedKernel> &loaded) {
  if (Status status = checkSymbolsBindable(kernel); !status)
    return status;
  pkg::Selection selection = select(kernel);
  const DeviceInfo &info = owner->info();
  if (selection.candidates.empty())
    return Status::error(HEDDLE_NO_IMAGE,
                         text("no code for ", info.name, " (", info.description, "): ",
                              pkg::describeNoCode(file.root(), kernel, {info.major, info.minor})));
  // The best form whose code the device accepts; what it refused is told when all fail.
  Status failure;
  for (size_t begin = 0; begin < selection.candidates.size();) {
    size_t end = groupEnd(kernel, selection.candidates, begin);
    auto made = std::make_unique<LoadedKernel>();
    made->module = this;
    made->kernel = &kernel;
    Status status =
        loadGroup(kernel, std::span(selection.candidates).subspan(begin, end - begin), *made);
    if (status) {
      loaded = std::move(made);
      return {};
    }
    if (status.code() == HEDDLE_DEVICE_LOST || status.code() == HEDDLE_OUT_OF_MEMORY)
      return status;
    failure = failure ? std::move(status) : std::move(failure).within(status.message());
    begin = end;
  }
  return std::move(failure).within(text("kernel ", kernel.name()->string_view()));
}

Status Module::loadGroup(const pkg::Kernel &kernel, std::span<const pkg::Candidate> group,
                         LoadedKernel &loaded) {
  bool emulated = owner->info().emulated;
  // A cubin that the driver refuses (too new, say) leaves the PTX of the same image.
  bool useCubin = !emulated && group.front().fit != pkg::Fit::Ptx;
  Status refused;
  for (const pkg::Candidate &candidate : group) {
    const pkg::Variant &variant = *kernel.variants()->Get(candidate.variant);
    Image *code = nullptr;
    Status status = image(variant.image(), useCubin, code);
    if (!status && useCubin && status.code() == HEDDLE_DEVICE_ERROR) {
      refused = std::move(status);
      status = image(variant.image(), false, code);
      if (!status)
        return std::move(status).within(refused.message());
    }
    if (!status)
      return status;
    LoadedVariant made;
    made.variant = &variant;
    made.desc = describeEntry(kernel, variant);
    made.description = describeVariant(variant, candidate.fit, emulated);
    if (!refused)
      made.description += text(" (", refused.message(), "; assembled from ptx)");
    if (made.desc.paramBytes > maxParamBytes)
      return Status::error(HEDDLE_INVALID_PACKAGE,
                           text("entry ", made.desc.name, ": expected at most ", maxParamBytes,
                                " bytes of parameters, got ", made.desc.paramBytes));
    if (Status found = owner->findEntry(*code, made.desc, made.entry); !found)
      return found;
    loaded.variants.push_back(std::move(made));
  }
  return {};
}

Status Module::image(uint32_t index, bool useCubin, Image *&image) {
  std::unique_ptr<Image> &slot = images[{index, useCubin}];
  if (!slot) {
    const pkg::Image &stored = *file->images()->Get(index);
    ImageDesc desc;
    desc.target = stored.target()->string_view();
    desc.ptxVersion = stored.ptx_version();
    desc.ptx = stored.ptx()->string_view();
    if (stored.cubin())
      desc.cubin = {stored.cubin()->data(), stored.cubin()->size()};
    desc.useCubin = useCubin && !desc.cubin.empty();
    if (Status status = owner->loadImage(desc, slot); !status)
      return status;
  }
  image = slot.get();
  return {};
}

} // namespace heddle::rt
