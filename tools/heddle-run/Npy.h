//===- Npy.h - NumPy array files ------------------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes .npy files (format versions 1 to 3, little endian). Element
// types NumPy lacks travel as raw bits: bf16 as uint16, the f8 types as uint8.
// Damaged files give an error and never more memory than the file's size.
// Thread-safe.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TOOLS_RUN_NPY_H
#define HEDDLE_TOOLS_RUN_NPY_H

#include "heddle/Package/package_generated.h"
#include "heddle/Support/Result.h"
#include <span>
#include <string>
#include <vector>

namespace heddle::run {

enum class NpyType : uint8_t { F16, F32, F64, I8, U8, U16, I32, I64 };

struct NpyArray {
  NpyType type = NpyType::F32;
  std::vector<int64_t> shape; ///< outermost first
  bool columnMajor = false;
  std::vector<uint8_t> data; ///< elements without gaps

  int64_t size() const; ///< elements
  /// Element strides of the stored order.
  std::vector<int64_t> strides() const;
};

unsigned npyTypeBytes(NpyType type);
/// "<f4".
std::string_view npyTypeName(NpyType type);

Expected<NpyArray> parseNpy(std::span<const uint8_t> file);
/// Messages start with the path.
Expected<NpyArray> readNpy(const std::string &path);

/// The file's bytes for row-major data.
std::vector<uint8_t> npyBytes(const NpyArray &array);
/// Written to a new file that is then renamed: nobody sees half of it.
Expected<void> writeNpy(const std::string &path, const NpyArray &array);

/// The type that holds elements of `type`, as numbers or as raw bits.
NpyType npyTypeFor(pkg::DType type);
/// Whether an array of `from` can be an argument of type `to`: equal types, numbers to convert
/// (rounded to nearest even), or raw bits.
bool npyConvertible(NpyType from, pkg::DType to);
/// Converts one element, at `index` of the stored order, to `to` at `address`.
void npyStore(const NpyArray &from, int64_t index, pkg::DType to, void *address);

} // namespace heddle::run

#endif // HEDDLE_TOOLS_RUN_NPY_H
