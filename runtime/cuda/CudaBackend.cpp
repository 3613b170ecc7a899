//===- CudaBackend.cpp - finds GPUs ---------------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaDevice.h"
#include <charconv>

namespace heddle::rt {

namespace {

class CudaBackend final : public Backend {
public:
  std::string_view name() const override { return "cuda"; }

  void list(std::vector<DeviceInfo> &devices) override {
    const cu::Driver *driver = nullptr;
    int count = 0;
    if (!cu::Driver::get(driver) || driver->deviceGetCount(&count) != cu::Success)
      return;
    for (int i = 0; i < count; ++i) {
      DeviceInfo info;
      if (cu::describe(*driver, i, info))
        devices.push_back(std::move(info));
    }
  }

  Status open(std::string_view which, std::shared_ptr<Device> &device) override {
    int ordinal = 0;
    auto [end, error] = std::from_chars(which.data(), which.data() + which.size(), ordinal);
    if (!which.empty() &&
        (error != std::errc() || end != which.data() + which.size() || ordinal < 0))
      return Status::error(HEDDLE_INVALID_ARGUMENT,
                           text("expected a GPU index after 'cuda:', got '", which, "'"));
    return cu::CudaDevice::open(ordinal, device);
  }
};

} // namespace

std::unique_ptr<Backend> createCudaBackend() { return std::make_unique<CudaBackend>(); }

} // namespace heddle::rt
