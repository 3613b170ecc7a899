//===- Checksum.h - whether a package is as it was written -----------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A package ends with a checksum over all that comes before it: manifest, PTX and
// cubins. It finds what a disk, a copy or an editor did to the file, not what somebody
// did on purpose: hostile files bring a checksum that is right, and are met by the
// checks of Reader.h. Thread-safe.
//
//   FlatBuffers data | zeros up to a multiple of 8 | "HDLCHKS1" | checksum, little endian
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_PACKAGE_CHECKSUM_H
#define HEDDLE_PACKAGE_CHECKSUM_H

#include "heddle/Support/Result.h"

#include <cstdint>
#include <span>
#include <vector>

namespace heddle::pkg {

/// 64 bits over all bytes and their number. A change within eight bytes that start at a multiple
/// of 8 always changes it, others do but for one in 2^64.
uint64_t checksum(std::span<const uint8_t> bytes);

/// Ends a package with the padding, the mark and the checksum.
void seal(std::vector<uint8_t> &bytes);

/// The data before the checksum; ErrorCode::Damaged when there is none or it is another one.
Expected<std::span<const uint8_t>> unsealed(std::span<const uint8_t> bytes);

} // namespace heddle::pkg

#endif // HEDDLE_PACKAGE_CHECKSUM_H
