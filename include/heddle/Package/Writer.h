//===- Writer.h - writing packages ----------------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns a package under construction (the generated PackageT and its parts) into
// bytes, and writes files so that nobody ever sees half of one. Thread-safe.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_PACKAGE_WRITER_H
#define HEDDLE_PACKAGE_WRITER_H

#include "heddle/Package/package_generated.h"
#include "heddle/Support/Result.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::pkg {

/// The bytes of a .hdl file. Checks the package as a reader would, so that nothing is written that
/// would not open; sets format_version and ends with a checksum. Equal packages give equal bytes.
Expected<std::vector<uint8_t>> packageBytes(const PackageT &package);

/// Writes a file atomically: into a new file in the same folder, flushed, then renamed. On failure
/// the target is as it was, and no other file is left. The message tells the path and the cause.
Expected<void> writeFileAtomically(const std::string &path, std::span<const uint8_t> bytes);
Expected<void> writeFileAtomically(const std::string &path, std::string_view text);

/// packageBytes, then writeFileAtomically.
Expected<void> writePackage(const PackageT &package, const std::string &path);

} // namespace heddle::pkg

#endif // HEDDLE_PACKAGE_WRITER_H
