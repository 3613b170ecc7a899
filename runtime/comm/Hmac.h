//===- Hmac.h - proofs that a peer knows the shared secret --------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_COMM_HMAC_H
#define HEDDLE_RUNTIME_COMM_HMAC_H

#include <array>
#include <cstdint>
#include <string_view>

namespace heddle::rt {

using Digest = std::array<uint8_t, 32>;

/// HMAC-SHA256 (RFC 2104).
Digest hmac(std::string_view key, std::string_view message);
/// Compares in a time that does not depend on where they differ.
bool equal(const Digest &a, const Digest &b);
/// Bytes that nobody can guess; false when the system has none.
bool fillRandom(void *bytes, size_t count);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_COMM_HMAC_H
