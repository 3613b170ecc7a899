//===- Driver.cpp - libcuda.so.1, opened at run time ----------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include <dlfcn.h>

namespace heddle::rt::cu {

namespace {

struct Loaded {
  Driver driver;
  heddle_code code = HEDDLE_OK;
  std::string error;
  Loaded() { load(); }

private:
  void load();
  void fail(std::string message) {
    code = HEDDLE_UNAVAILABLE;
    error = std::move(message);
  }
};

void Loaded::load() {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return fail(text("cannot open the NVIDIA driver: ", dlerror()));
  const char *missing = nullptr;
  // A template over the member's type, so that the cast is checked in one place.
  auto bind = [&]<typename F>(F *&member, const char *name, bool required) {
    member = reinterpret_cast<F *>(dlsym(library, name));
    if (!member && required && !missing)
      missing = name;
  };
#define HEDDLE_DRIVER_SYMBOL(member, name, ...) bind(driver.member, name, true);
#define HEDDLE_DRIVER_OPTIONAL(member, name, ...) bind(driver.member, name, false);
#include "DriverSymbols.h"
#undef HEDDLE_DRIVER_OPTIONAL
#undef HEDDLE_DRIVER_SYMBOL
  if (missing)
    return fail(text("the NVIDIA driver is too old: libcuda.so.1 lacks ", missing));
  if (Result result = driver.init(0); result != Success) {
    Status status = driver.status(result, "initialise the NVIDIA driver");
    return fail(std::string(status.message()));
  }
  if (driver.driverGetVersion(&driver.version) != Success)
    driver.version = 0;
}

/// What a code means for the user, where the driver's own text leaves it open.
const char *hint(Result result) {
  switch (result) {
  case IllegalAddress:
    return "; a kernel or copy touched memory that is not allocated";
  case MisalignedAddress:
    return "; a kernel accessed an address that is not a multiple of the access size";
  case IllegalInstruction:
    return "; a kernel hit an instruction this GPU does not have, or a trap";
  case LaunchFailed:
    return "; a kernel failed while running";
  case LaunchTimeout:
    return "; a kernel ran longer than the display watchdog allows";
  case LaunchOutOfResources:
    return "; the block needs more registers or shared memory than the GPU has";
  case CooperativeLaunchTooLarge:
    return "; the grid does not fit on the GPU at once";
  case UnsupportedPtxVersion:
    return "; the driver is older than the PTX in the package: update the driver or use a cubin";
  case NoBinaryForGpu:
    return "; the image is for another GPU";
  case StreamCaptureUnsupported:
  case StreamCaptureImplicit:
    return "; the call is not possible while a stream is being captured";
  default:
    return "";
  }
}

} // namespace

bool isSticky(Result result) {
  switch (result) {
  case EccUncorrectable:
  case IllegalAddress:
  case LaunchTimeout:
  case Assert:
  case HardwareStackError:
  case IllegalInstruction:
  case MisalignedAddress:
  case InvalidAddressSpace:
  case InvalidPc:
  case LaunchFailed:
  case TensorMemoryLeak:
    return true;
  default:
    return false;
  }
}

Status Driver::get(const Driver *&driver) {
  static Loaded loaded;
  if (loaded.code != HEDDLE_OK)
    return Status::error(loaded.code, loaded.error);
  driver = &loaded.driver;
  return {};
}

Status Driver::status(Result result, std::string_view what, std::source_location where) const {
  if (result == Success)
    return {};
  const char *name = nullptr, *meaning = nullptr;
  if (getErrorName(result, &name) != Success || !name)
    name = "unknown driver error";
  if (getErrorString(result, &meaning) != Success || !meaning)
    meaning = "no text";
  heddle_code code = result == OutOfMemory ? HEDDLE_OUT_OF_MEMORY
                     : isSticky(result)    ? HEDDLE_DEVICE_LOST
                     : result == NoDevice  ? HEDDLE_UNAVAILABLE
                                           : HEDDLE_DEVICE_ERROR;
  return Status::error(
      code, text("cannot ", what, ": ", meaning, " (", name, ", ", result, ")", hint(result)),
      where);
}

} // namespace heddle::rt::cu
