//===- Driver.h - libcuda.so.1, opened at run time ------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of driver functions. Loaded once, on first use, and kept until the
// process ends. Thread-safe.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CUDA_DRIVER_H
#define HEDDLE_RUNTIME_CUDA_DRIVER_H

#include "../core/Status.h"
#include "DriverTypes.h"

namespace heddle::rt::cu {

struct Driver {
#define HEDDLE_DRIVER_SYMBOL(member, name, ...) Result (*member)(__VA_ARGS__) = nullptr;
#define HEDDLE_DRIVER_OPTIONAL HEDDLE_DRIVER_SYMBOL
#include "DriverSymbols.h"
#undef HEDDLE_DRIVER_OPTIONAL
#undef HEDDLE_DRIVER_SYMBOL
  int version = 0; ///< 13000 for 13.0

  /// Whether the driver has all of virtual memory management.
  bool hasVirtualMemory() const {
    return memGetAllocationGranularity && memCreate && memRelease && memAddressReserve &&
           memAddressFree && memMap && memUnmap && memSetAccess && memExportToShareableHandle &&
           memImportFromShareableHandle;
  }

  /// Opens and initialises the driver. The error tells why there is none; the same
  /// error comes back at every later call.
  static Status get(const Driver *&driver);

  /// A status for a failed call; success for Success. `what` is what was tried:
  /// "allocate 12 bytes on cuda:0".
  Status status(Result result, std::string_view what,
                std::source_location where = std::source_location::current()) const;
};

/// True for errors after which the context refuses all work.
bool isSticky(Result result);

} // namespace heddle::rt::cu

#endif // HEDDLE_RUNTIME_CUDA_DRIVER_H
