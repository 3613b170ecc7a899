//===- Descriptor.cpp - shared-memory matrix descriptors ------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Descriptor.h"

#include <algorithm>

namespace heddle::emulator::tensor {

namespace {

constexpr uint32_t field14(uint64_t bits, unsigned at) {
  return static_cast<uint32_t>(bits >> at & 0x3fff) << 4; // matrix-descriptor-encode
}

MatrixDescriptor commonFields(uint64_t bits) {
  MatrixDescriptor d;
  d.start = field14(bits, 0);
  d.leading = field14(bits, 16);
  d.stride = field14(bits, 32);
  d.baseOffset = static_cast<uint8_t>(bits >> 49 & 7);
  return d;
}

uint64_t encodeCommon(const MatrixDescriptor &d) {
  return uint64_t(d.start >> 4 & 0x3fff) | uint64_t(d.leading >> 4 & 0x3fff) << 16 |
         uint64_t(d.stride >> 4 & 0x3fff) << 32 | uint64_t(d.baseOffset & 7) << 49;
}

} // namespace

Problem decodeWgmmaDescriptor(uint64_t bits, MatrixDescriptor &out) {
  constexpr Swizzle layouts[] = {Swizzle::None, Swizzle::B128, Swizzle::B64, Swizzle::B32};
  out = commonFields(bits);
  out.swizzle = layouts[bits >> 62];
  if (out.swizzle == Swizzle::None && out.baseOffset)
    return "expected matrix base offset 0 without swizzle, got " + std::to_string(out.baseOffset);
  return std::nullopt;
}

Problem decodeTcgen05Descriptor(uint64_t bits, MatrixDescriptor &out) {
  out = commonFields(bits);
  const unsigned version = bits >> 46 & 7;
  if (version != 1)
    return "expected 0b001 in bits 46-48 of the matrix descriptor, got " + std::to_string(version);
  if (bits >> 53 & 0xff)
    return "expected 0 in bits 53-60 of the matrix descriptor, got " +
           std::to_string(bits >> 53 & 0xff);
  if (bits >> 52 & 1)
    return "expected the relative leading-dimension mode, got the absolute mode (K of 48 bytes), "
           "which is not emulated";
  switch (bits >> 61) {
  case 0:
    out.swizzle = Swizzle::None;
    break;
  case 1:
    out.swizzle = Swizzle::B128Base32;
    break;
  case 2:
    out.swizzle = Swizzle::B128;
    break;
  case 4:
    out.swizzle = Swizzle::B64;
    break;
  case 6:
    out.swizzle = Swizzle::B32;
    break;
  default:
    return "expected a swizzle mode of 0, 1, 2, 4 or 6 in the matrix descriptor, got " +
           std::to_string(bits >> 61);
  }
  return std::nullopt;
}

uint64_t encodeWgmmaDescriptor(const MatrixDescriptor &d) {
  const uint64_t layout = d.swizzle == Swizzle::B128  ? 1
                          : d.swizzle == Swizzle::B64 ? 2
                          : d.swizzle == Swizzle::B32 ? 3
                                                      : 0;
  return encodeCommon(d) | layout << 62;
}

uint64_t encodeTcgen05Descriptor(const MatrixDescriptor &d) {
  const uint64_t layout = d.swizzle == Swizzle::B128         ? 2
                          : d.swizzle == Swizzle::B128Base32 ? 1
                          : d.swizzle == Swizzle::B64        ? 4
                          : d.swizzle == Swizzle::B32        ? 6
                                                             : 0;
  return encodeCommon(d) | uint64_t(1) << 46 | layout << 61;
}

uint32_t swizzleAddress(Swizzle s, uint8_t baseOffset, uint32_t address) {
  // The 128-byte row of the address, counted from where the pattern starts.
  const uint32_t row = (address >> 7) - baseOffset;
  switch (s) {
  case Swizzle::None:
    return address;
  case Swizzle::B32: // one bit: two chunks of 16 bytes
    return address ^ (row & 1) << 4;
  case Swizzle::B64:
    return address ^ (row & 3) << 4;
  case Swizzle::B128:
    return address ^ (row & 7) << 4;
  case Swizzle::B128Base32: // four chunks of 32 bytes
    return address ^ (row & 3) << 5;
  }
  return address;
}

uint32_t kMajorAddress(const MatrixDescriptor &d, uint32_t mn, uint32_t kByte) {
  if (d.swizzle == Swizzle::None) // core matrices of 8 rows x 16 bytes
    return d.start + mn / 8 * d.stride + mn % 8 * 16 + kByte / 16 * d.leading + kByte % 16;
  const uint32_t linear = d.start + mn / 8 * d.stride + mn % 8 * swizzleSpan(d.swizzle) + kByte;
  return swizzleAddress(d.swizzle, d.baseOffset, linear);
}

uint32_t mnMajorAddress(const MatrixDescriptor &d, uint32_t mnByte, uint32_t k) {
  if (d.swizzle == Swizzle::None) // core matrices of 16 bytes x 8 columns
    return d.start + mnByte / 16 * d.stride + mnByte % 16 + k / 8 * d.leading + k % 8 * 16;
  const uint32_t span = swizzleSpan(d.swizzle);
  const uint32_t group = d.swizzle == Swizzle::B128Base32 ? 4 : 8; // columns of an atom
  const uint32_t linear =
      d.start + mnByte / span * d.leading + mnByte % span + k / group * d.stride + k % group * span;
  return swizzleAddress(d.swizzle, d.baseOffset, linear);
}

Problem operandRuns(const MatrixDescriptor &d, bool mnMajor, unsigned mn, unsigned k,
                    unsigned elementBits, uint32_t sharedBytes, std::vector<ByteRun> &out,
                    unsigned unitBytes) {
  const size_t first = out.size();
  const unsigned rows = mnMajor ? k : mn;
  const unsigned rowBytes = (mnMajor ? mn : k) * elementBits / 8;
  for (unsigned row = 0; row < rows; ++row)
    for (unsigned byte = 0; byte < rowBytes; byte += 16) {
      const uint32_t address = mnMajor ? mnMajorAddress(d, byte, row) : kMajorAddress(d, row, byte);
      const uint32_t bytes = std::min(unitBytes, rowBytes - byte);
      if (address > sharedBytes || sharedBytes - address < bytes)
        return "expected a matrix within " + std::to_string(sharedBytes) +
               " bytes of shared memory, got bytes at " + std::to_string(address) + " (start " +
               std::to_string(d.start) + ", leading " + std::to_string(d.leading) + ", stride " +
               std::to_string(d.stride) + ")";
      out.push_back({address, bytes, 0});
    }
  std::sort(out.begin() + static_cast<ptrdiff_t>(first), out.end(),
            [](const ByteRun &x, const ByteRun &y) { return x.address < y.address; });
  size_t last = first;
  for (size_t i = first + 1; i < out.size(); ++i) {
    ByteRun &previous = out[last];
    if (out[i].address <= previous.address + previous.bytes)
      previous.bytes = std::max(previous.address + previous.bytes, out[i].address + out[i].bytes) -
                       previous.address;
    else
      out[++last] = out[i];
  }
  if (out.size() > first)
    out.resize(last + 1);
  return std::nullopt;
}

} // namespace heddle::emulator::tensor
