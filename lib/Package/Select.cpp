//===- Select.cpp - choosing a compiled form for a launch -----------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "heddle/Package/Select.h"

#include "heddle/Target/Target.h"

#include <algorithm>
#include <cstdio>
#include <tuple>

using namespace heddle;
using namespace heddle::pkg;

namespace {

std::string capabilityText(Capability c) {
  return std::to_string(c.major) + "." + std::to_string(c.minor);
}

bool hasCubin(const Image &image) { return image.cubin() && image.cubin()->size() != 0; }

/// How code for `target` gets onto the device; nothing when it does not.
std::optional<Fit> fitOf(const target::Target &target, const Image &image, Capability device) {
  const bool same = target.major == device.major && target.minor == device.minor;
  if (target::runsOn(target, device.major, device.minor)) {
    if (!hasCubin(image))
      return Fit::Ptx;
    return same ? Fit::ExactCubin : Fit::FamilyCubin;
  }
  // The driver assembles PTX of a target without the 'a' suffix for any later GPU.
  const bool later = std::tie(device.major, device.minor) >= std::tie(target.major, target.minor);
  return !target.exact && later ? std::optional(Fit::Ptx) : std::nullopt;
}

std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::optional<std::string> misaligned(const Constraint &constraint, const LaunchContext &launch) {
  const auto quantity = [&] { return "expected " + constraint.what()->str(); };
  if (constraint.arg() >= launch.addresses.size())
    return quantity() + ", but argument " + std::to_string(constraint.arg()) + " was not given";
  const uint64_t address = launch.addresses[constraint.arg()];
  const auto alignment = static_cast<uint64_t>(constraint.value());
  if (address % alignment == 0)
    return std::nullopt;
  return quantity() + " to be aligned to " + std::to_string(alignment) + " bytes, got " +
         hex(address);
}

/// "sm_80 (cubin, ptx), ...": the kernel's targets, each once.
std::string describeImages(const Package &package, const Kernel &kernel) {
  std::string text;
  std::vector<uint32_t> seen;
  for (const Variant *variant : *kernel.variants()) {
    if (std::find(seen.begin(), seen.end(), variant->image()) != seen.end())
      continue;
    seen.push_back(variant->image());
    const Image &image = *package.images()->Get(variant->image());
    text += (text.empty() ? "" : ", ") + image.target()->str() +
            (hasCubin(image) ? " (cubin, ptx)" : " (ptx)");
  }
  return text.empty() ? "nothing" : text;
}

} // namespace

std::string_view pkg::fitName(Fit fit) {
  constexpr std::string_view names[] = {"cubin", "cubin of the family", "ptx"};
  return names[static_cast<size_t>(fit)];
}

Selection pkg::selectForDevice(const Package &package, const Kernel &kernel, Capability device) {
  Selection selection;
  for (uint32_t i = 0; i < kernel.variants()->size(); ++i) {
    const Variant &variant = *kernel.variants()->Get(i);
    const target::Target *target = target::findTarget(variant.target()->string_view());
    if (!target) {
      selection.rejected.push_back({i, "expected a known target, got " + variant.target()->str() +
                                           " (known: " + target::knownTargetNames() + ")"});
      continue;
    }
    if (std::optional<Fit> fit = fitOf(*target, *package.images()->Get(variant.image()), device))
      selection.candidates.push_back({i, *fit});
    else
      selection.rejected.push_back({i, "expected a device that runs " + variant.target()->str() +
                                           ", got compute capability " + capabilityText(device)});
  }
  const auto key = [&](const Candidate &candidate) {
    const Variant &variant = *kernel.variants()->Get(candidate.variant);
    const target::Target &target = *target::findTarget(variant.target()->string_view());
    return std::tuple(candidate.fit, -static_cast<int>(target.major),
                      -static_cast<int>(target.minor), !target.exact, candidate.variant);
  };
  std::sort(selection.candidates.begin(), selection.candidates.end(),
            [&](const Candidate &a, const Candidate &b) { return key(a) < key(b); });
  return selection;
}

std::optional<std::string> pkg::violated(const Constraint &constraint,
                                         const LaunchContext &launch) {
  if (constraint.kind() == ConstraintKind::pointer_alignment)
    return misaligned(constraint, launch);
  // Text is made only when there is something to say: launches come through here.
  const auto quantity = [&] { return "expected " + constraint.what()->str(); };
  const Expected<int64_t> found = evaluateExpr(constraint.expr(), launch.sizes);
  if (!found)
    return quantity() + " to have a value, got " + found.error().message;
  const int64_t limit = constraint.value();
  const auto unless = [&](bool holds, const char *relation) -> std::optional<std::string> {
    if (holds)
      return std::nullopt;
    return quantity() + relation + std::to_string(limit) + ", got " + std::to_string(*found);
  };
  switch (constraint.kind()) {
  case ConstraintKind::multiple_of:
    return unless(*found % limit == 0, " to be a multiple of ");
  case ConstraintKind::at_least:
    return unless(*found >= limit, " to be at least ");
  case ConstraintKind::at_most:
    return unless(*found <= limit, " to be at most ");
  case ConstraintKind::pointer_alignment:
    break;
  }
  return std::nullopt;
}

Expected<void> pkg::checkKernelConstraints(const Kernel &kernel, const LaunchContext &launch) {
  if (!kernel.constraints())
    return {};
  for (const Constraint *constraint : *kernel.constraints())
    if (std::optional<std::string> reason = violated(*constraint, launch))
      return Error{ErrorCode::InvalidArgument, "kernel " + kernel.name()->str() + ": " + *reason};
  return {};
}

std::optional<std::string> pkg::violated(const Variant &variant, const LaunchContext &launch) {
  if (!variant.constraints())
    return std::nullopt;
  for (const Constraint *constraint : *variant.constraints())
    if (std::optional<std::string> reason = violated(*constraint, launch))
      return reason;
  return std::nullopt;
}

Selection pkg::selectForLaunch(const Kernel &kernel, const Selection &forDevice,
                               const LaunchContext &launch) {
  Selection selection;
  selection.rejected = forDevice.rejected;
  for (const Candidate &candidate : forDevice.candidates) {
    const Variant &variant = *kernel.variants()->Get(candidate.variant);
    if (std::optional<std::string> reason = violated(variant, launch))
      selection.rejected.push_back({candidate.variant, std::move(*reason)});
    else
      selection.candidates.push_back(candidate);
  }
  return selection;
}

Expected<Selection> pkg::selectVariants(const Package &package, const Kernel &kernel,
                                        Capability device, const LaunchContext &launch) {
  if (Expected<void> held = checkKernelConstraints(kernel, launch); !held)
    return held.takeError();
  return selectForLaunch(kernel, selectForDevice(package, kernel, device), launch);
}

std::string pkg::describeNoCode(const Package &package, const Kernel &kernel, Capability device) {
  return "kernel " + kernel.name()->str() + ": no code for compute capability " +
         capabilityText(device) + "; the package holds " + describeImages(package, kernel);
}

std::string pkg::describeRejections(const Kernel &kernel, const Selection &selection) {
  std::string text;
  for (const Rejection &rejection : selection.rejected) {
    const Variant &variant = *kernel.variants()->Get(rejection.variant);
    text += (text.empty() ? "" : "\n") + std::string("variant ") +
            std::to_string(rejection.variant) + " (" + variant.target()->str() +
            "): " + rejection.reason;
  }
  return text;
}
