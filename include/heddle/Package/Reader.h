//===- Reader.h - opening packages ----------------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Opens a package (.hdl) and checks all of it before anything else sees it: first its
// checksum (Checksum.h), then every part, since a checksum can be forged. A file
// that opened has only valid offsets, indices, expressions and names, so that its
// users need no checks of their own; what depends on run-time sizes (grids, strides)
// is still for them to check. Damaged and hostile files give an Error that names the
// field; they never crash, and never make memory or time grow past a small multiple
// of the file's size.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_PACKAGE_READER_H
#define HEDDLE_PACKAGE_READER_H

#include "heddle/Package/package_generated.h"
#include "heddle/Support/Result.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace heddle::pkg {

/// The format this reader knows (Package.format_version).
inline constexpr uint32_t formatVersion = 2;

// What a package may hold. Far above what the compiler writes; they bound the work that a
// hostile file can cause.
inline constexpr size_t maxPackageBytes = size_t{1} << 30;
inline constexpr size_t maxKernels = 1024;
inline constexpr size_t maxImages = 4096;
inline constexpr size_t maxVariants = 1024; ///< of one kernel
inline constexpr size_t maxArgs = 128;
inline constexpr size_t maxRank = 8;
inline constexpr size_t maxSymbols = 128;
inline constexpr size_t maxNodes = 4096;
inline constexpr size_t maxParams = 256;
inline constexpr size_t maxTensorMaps = 128;
inline constexpr size_t maxConstraints = 256;
inline constexpr size_t maxRoles = 32;
inline constexpr size_t maxScheduleEntries = 256;
inline constexpr size_t maxNameLength = 1024;
inline constexpr size_t maxTextLength = 65536; ///< of a schedule value or a constraint's `what`

/// An opened package. Owns its bytes or borrows them (see how it was opened). Movable; immutable,
/// so that any number of threads may read it.
class PackageFile {
public:
  PackageFile(PackageFile &&) = default;
  PackageFile &operator=(PackageFile &&) = default;
  /// Borrows `bytes`, which must outlive the result; copies them only when they are not aligned
  /// to 8 bytes.
  static Expected<PackageFile> fromMemory(std::span<const uint8_t> bytes);
  /// Takes the bytes over.
  static Expected<PackageFile> fromBytes(std::vector<uint8_t> bytes);
  /// Reads a file; messages start with its path.
  static Expected<PackageFile> fromFile(const std::string &path);

  const Package &root() const { return *package; }
  const Package *operator->() const { return package; }
  /// The bytes of the file.
  std::span<const uint8_t> bytes() const { return view; }
  /// The kernel of that name; nullptr when there is none.
  const Kernel *findKernel(std::string_view name) const;
  /// "a, b, c": for messages.
  std::string kernelNames() const;
  /// A copy as plain objects, e.g. to change and write again.
  std::unique_ptr<PackageT> unpack() const;

private:
  PackageFile() = default;
  std::vector<uint8_t> owned;
  std::span<const uint8_t> view;
  const Package *package = nullptr;
};

/// Checks the meaning of a package whose offsets are valid; `fileBytes` is the size of its buffer.
/// PackageFile does this; it is apart for the writer.
Expected<void> validate(const Package &package, size_t fileBytes);

/// Whether PTX takes `name` as an identifier (PTX ISA, "Identifiers").
bool isPtxIdentifier(std::string_view name);

/// Bytes of one element.
unsigned dtypeBytes(DType type);

} // namespace heddle::pkg

#endif // HEDDLE_PACKAGE_READER_H
