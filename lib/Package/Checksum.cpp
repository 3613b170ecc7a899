//===- Checksum.cpp - whether a package is as it was written ---------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "heddle/Package/Checksum.h"

#include <bit>
#include <cstdio>
#include <cstring>
#include <string_view>

using namespace heddle;
using namespace heddle::pkg;

namespace {

constexpr std::string_view mark = "HDLCHKS1";
constexpr size_t wordBytes = 8, sealBytes = 16;

uint64_t wordAt(const uint8_t *from, size_t bytes) {
  uint64_t word = 0;
  for (size_t i = 0; i < bytes; ++i)
    word |= uint64_t{from[i]} << (8 * i);
  return word;
}

/// One to one in each argument: odd factors, a rotation, a sum.
uint64_t mix(uint64_t state, uint64_t word) {
  return std::rotl(state ^ (word * 0x9e3779b97f4a7c15u), 29) * 0xd1342543de82ef95u +
         0x2545f4914f6cdd1du;
}

std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%016llx", static_cast<unsigned long long>(value));
  return text;
}

} // namespace

uint64_t pkg::checksum(std::span<const uint8_t> bytes) {
  uint64_t state = bytes.size();
  size_t at = 0;
  for (; at + wordBytes <= bytes.size(); at += wordBytes)
    state = mix(state, wordAt(bytes.data() + at, wordBytes));
  state = mix(state, wordAt(bytes.data() + at, bytes.size() - at));
  state ^= state >> 31; // the upper bits are the better ones
  return mix(state, 0);
}

void pkg::seal(std::vector<uint8_t> &bytes) {
  bytes.resize((bytes.size() + wordBytes - 1) / wordBytes * wordBytes);
  const uint64_t sum = checksum(bytes);
  bytes.insert(bytes.end(), mark.begin(), mark.end());
  for (size_t i = 0; i < wordBytes; ++i)
    bytes.push_back(static_cast<uint8_t>(sum >> (8 * i)));
}

Expected<std::span<const uint8_t>> pkg::unsealed(std::span<const uint8_t> bytes) {
  const auto missing = Error{ErrorCode::Damaged,
                             "the package is truncated or damaged: expected a checksum at its end, "
                             "found none (" +
                                 std::to_string(bytes.size()) + " bytes)"};
  if (bytes.size() < sealBytes)
    return missing;
  const auto data = bytes.first(bytes.size() - sealBytes);
  if (std::memcmp(bytes.data() + data.size(), mark.data(), mark.size()) != 0)
    return missing;
  const uint64_t expected = wordAt(bytes.data() + data.size() + mark.size(), wordBytes);
  if (const uint64_t got = checksum(data); got != expected)
    return Error{ErrorCode::Damaged, "the package is damaged: expected checksum " + hex(expected) +
                                         ", got " + hex(got) + " (" + std::to_string(bytes.size()) +
                                         " bytes)"};
  return data;
}
