//===- TensorMap.cpp - 128-byte tensor maps and box addresses -------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rules: CUDA driver API, cuTensorMapEncodeTiled; PTX ISA 9.0, "Tensors", "Swizzling
// Modes", "Im2col mode". Not emulated, and refused by name: interleaved layouts, the types that are
// padded on the way to shared memory (16U4_ALIGN16B, 16U6_ALIGN16B), and a swizzled box whose inner
// dimension is narrower than the swizzle span.
//
//===----------------------------------------------------------------------===//
#include "TensorMap.h"

#include <algorithm>
#include <cstring>

namespace heddle::emulator::tensor {

namespace {

constexpr uint32_t largestBox = 256 * 1024; ///< bytes: no shared memory is larger
constexpr char magic[8] = {'H', 'D', 'L', '-', 'T', 'M', 'A', '1'};

std::string number(uint64_t value) { return std::to_string(value); }
std::string dimension(unsigned i) { return " of dimension " + std::to_string(i); }

bool isFloat(MapType t) {
  switch (t) {
  case MapType::F16:
  case MapType::F32:
  case MapType::F64:
  case MapType::BF16:
  case MapType::F32Ftz:
  case MapType::TF32:
  case MapType::TF32Ftz:
    return true;
  default:
    return false;
  }
}

unsigned spanOf(MapSwizzle s) {
  switch (s) {
  case MapSwizzle::None:
    return 0;
  case MapSwizzle::B32:
    return 32;
  case MapSwizzle::B64:
    return 64;
  default:
    return 128;
  }
}

/// Bytes that stay together when swizzled.
unsigned atomOf(MapSwizzle s) {
  switch (s) {
  case MapSwizzle::B128Atom32:
    return 32;
  case MapSwizzle::B128Atom64:
    return 64;
  case MapSwizzle::B128Atom32Flip8:
    return 8;
  default:
    return 16;
  }
}

uint32_t swizzled(MapSwizzle s, uint32_t address) {
  const uint32_t line = address >> 7;
  switch (s) {
  case MapSwizzle::None:
    return address;
  case MapSwizzle::B32:
    return address ^ (line & 1) << 4;
  case MapSwizzle::B64:
    return address ^ (line & 3) << 4;
  case MapSwizzle::B128:
    return address ^ (line & 7) << 4;
  case MapSwizzle::B128Atom32:
    return address ^ (line & 3) << 5;
  case MapSwizzle::B128Atom32Flip8:
    return address ^ (line & 3) << 5 ^ (line & 1) << 3;
  case MapSwizzle::B128Atom64:
    return address ^ (line & 1) << 6;
  }
  return address;
}

/// Elements a box holds along a dimension: every elementStride-th.
uint32_t extent(const TensorMap &map, unsigned i) {
  const uint32_t step = i == 0 ? 1 : map.elementStrides[i];
  return (map.box[i] + step - 1) / step;
}

uint64_t boxBytes64(const TensorMap &map) {
  uint64_t bits = mapTypeBits(map.type);
  if (map.im2col)
    return bits * map.box[0] * map.box[1] / 8;
  for (unsigned i = 0; i < map.rank; ++i)
    bits *= extent(map, i);
  return bits / 8;
}

uint32_t checksum(const uint8_t *bytes, size_t count) { // FNV-1a
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < count; ++i)
    hash = (hash ^ bytes[i]) * 16777619u;
  return hash;
}

constexpr size_t checksumAt = 124;

} // namespace

unsigned mapTypeBits(MapType type) {
  constexpr unsigned char bits[] = {8, 16, 32, 32, 64, 64, 16, 32, 64, 16, 32, 32, 32, 4, 4, 6};
  return bits[static_cast<unsigned>(type)];
}

Problem checkTensorMap(const TensorMap &map) {
  if (map.type > MapType::U6x16Align16)
    return "expected a data type 0 to 15, got " + number(static_cast<unsigned>(map.type));
  if (map.type >= MapType::U4x16Align16)
    return "expected a data type that is not padded in shared memory, got "
           "16U4_ALIGN16B or 16U6_ALIGN16B, which is not emulated";
  if (map.rank < 1 || map.rank > 5)
    return "expected a rank of 1 to 5, got " + number(map.rank);
  if (map.interleave != MapInterleave::None)
    return "expected no interleave, got an interleaved layout, which is not emulated";
  if (map.swizzle > MapSwizzle::B128Atom64)
    return "expected a swizzle 0 to 6, got " + number(static_cast<unsigned>(map.swizzle));
  if (map.l2 > MapL2::B256)
    return "expected an L2 promotion 0 to 3, got " + number(static_cast<unsigned>(map.l2));
  if (map.fill > MapFill::NaN)
    return "expected an out-of-bounds fill 0 or 1, got " + number(static_cast<unsigned>(map.fill));
  if (map.fill == MapFill::NaN && !isFloat(map.type))
    return "expected a floating-point type with NaN fill, got an integer type";
  if (map.address % 16)
    return "expected a global address aligned to 16 bytes, got " + number(map.address);
  for (unsigned i = 0; i < map.rank; ++i) {
    if (map.dims[i] == 0 || map.dims[i] > uint64_t(1) << 32)
      return "expected a size from 1 to 2^32" + dimension(i) + ", got " + number(map.dims[i]);
    if (i && map.strides[i] % 16)
      return "expected a stride that is a multiple of 16 bytes" + dimension(i) + ", got " +
             number(map.strides[i]);
    if (i && map.strides[i] >= uint64_t(1) << 40)
      return "expected a stride below 2^40 bytes" + dimension(i) + ", got " +
             number(map.strides[i]);
    const uint32_t most = map.im2col ? (i == 1 ? 1024 : i ? ~0u : 256) : 256;
    if ((map.box[i] == 0 && !(map.im2col && i > 1)) || map.box[i] > most)
      return "expected a box size from 1 to " + number(most) + dimension(i) + ", got " +
             number(map.box[i]);
    if (map.elementStrides[i] == 0 || map.elementStrides[i] > 8)
      return "expected an element stride from 1 to 8" + dimension(i) + ", got " +
             number(map.elementStrides[i]);
  }
  if (map.type == MapType::U4x16Align8 && map.dims[0] % 2)
    return "expected an even size of dimension 0 for 16U4_ALIGN8B, got " + number(map.dims[0]);
  if (map.im2col && map.rank < 3)
    return "expected a rank of 3 to 5 for im2col, got " + number(map.rank);
  for (unsigned i = 1; map.im2col && i + 1 < map.rank; ++i) {
    const int32_t limit = map.rank == 3 ? 1 << 15 : map.rank == 4 ? 1 << 7 : 1 << 4;
    for (int32_t corner : {map.lower[i - 1], map.upper[i - 1]})
      if (corner < -limit || corner >= limit)
        return "expected a corner from " + std::to_string(-limit) + " to " +
               std::to_string(limit - 1) + dimension(i) + ", got " + std::to_string(corner);
  }
  const unsigned innerBits = map.box[0] * mapTypeBits(map.type);
  if (innerBits % 128)
    return "expected an inner box dimension that is a multiple of 16 bytes, got " +
           number(innerBits / 8) + " bytes";
  const unsigned span = spanOf(map.swizzle);
  if (span && innerBits / 8 > span)
    return "expected an inner box dimension of at most the swizzle span of " + number(span) +
           " bytes, got " + number(innerBits / 8) + " bytes";
  if (boxBytes64(map) > largestBox)
    return "expected a box of at most " + number(largestBox) + " bytes, got " +
           number(boxBytes64(map));
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

namespace {

/// Reads or writes the fields one after the other.
template <typename Byte> struct Cursor {
  Byte *at;
  template <typename T> void field(T &value) {
    if constexpr (std::is_const_v<Byte>)
      std::memcpy(&value, at, sizeof(T));
    else
      std::memcpy(at, &value, sizeof(T));
    at += sizeof(T);
  }
};

template <typename Byte> void walkFields(Byte *bytes, TensorMap &map) {
  Cursor<Byte> c{bytes + sizeof(magic)};
  c.field(map.address);
  for (unsigned i = 1; i < 5; ++i)
    c.field(map.strides[i]);
  for (unsigned i = 0; i < 5; ++i) {
    auto size = static_cast<uint32_t>(map.dims[i] - 1); // 2^32 fits
    auto box = static_cast<uint16_t>(map.box[i]);
    auto step = static_cast<uint8_t>(map.elementStrides[i]);
    c.field(size);
    c.field(box);
    c.field(step);
    map.dims[i] = uint64_t(size) + 1;
    map.box[i] = box;
    map.elementStrides[i] = step;
  }
  auto rank = static_cast<uint8_t>(map.rank);
  c.field(rank);
  map.rank = rank;
  c.field(map.type);
  c.field(map.interleave);
  c.field(map.swizzle);
  c.field(map.l2);
  c.field(map.fill);
  auto im2col = static_cast<uint8_t>(map.im2col);
  c.field(im2col);
  map.im2col = im2col != 0;
  for (int32_t &corner : map.lower)
    c.field(corner);
  for (int32_t &corner : map.upper)
    c.field(corner);
}

void seal(uint8_t *bytes) {
  const uint32_t sum = checksum(bytes, checksumAt);
  std::memcpy(bytes + checksumAt, &sum, sizeof(sum));
}

Problem checkSealed(const uint8_t *bytes) {
  uint32_t sum;
  std::memcpy(&sum, bytes + checksumAt, sizeof(sum));
  if (std::memcmp(bytes, magic, sizeof(magic)) != 0)
    return "expected a tensor map encoded for an emulated device, got other bytes";
  if (sum != checksum(bytes, checksumAt))
    return "expected an intact tensor map, got one that was changed after encoding";
  return std::nullopt;
}

} // namespace

Problem encodeTensorMap(const TensorMap &map, TensorMapBytes &out) {
  if (Problem p = checkTensorMap(map))
    return p;
  out.fill(0);
  std::memcpy(out.data(), magic, sizeof(magic));
  TensorMap copy = map;
  walkFields(out.data(), copy);
  seal(out.data());
  return std::nullopt;
}

Problem replaceField(uint8_t *bytes, MapField field, unsigned ordinal, uint64_t value) {
  if (Problem p = checkSealed(bytes))
    return p;
  TensorMap map;
  walkFields(static_cast<const uint8_t *>(bytes), map);
  const unsigned last = field == MapField::GlobalStride ? 4 : 5;
  if (ordinal >= last)
    return "expected an ordinal below " + number(last) + ", got " + number(ordinal);
  switch (field) {
  case MapField::GlobalAddress:
    map.address = value;
    break;
  case MapField::Rank: // one less than the rank
    map.rank = static_cast<unsigned>(std::min<uint64_t>(value, 254)) + 1;
    break;
  case MapField::BoxDim:
    map.box[ordinal] = static_cast<uint32_t>(std::min<uint64_t>(value, 0xffff));
    break;
  case MapField::GlobalDim:
    if (value == 0)
      return "expected a size from 1" + dimension(ordinal) + ", got 0";
    map.dims[ordinal] = value;
    break;
  case MapField::GlobalStride:
    map.strides[ordinal + 1] = value;
    break;
  case MapField::ElementStride:
    map.elementStrides[ordinal] = static_cast<uint32_t>(std::min<uint64_t>(value, 255));
    break;
  case MapField::ElemType: {
    using M = MapType;
    constexpr M types[] = {M::U8,      M::U16,         M::U32,          M::S32,
                           M::U64,     M::S64,         M::F16,          M::F32,
                           M::F32Ftz,  M::F64,         M::BF16,         M::TF32,
                           M::TF32Ftz, M::U4x16Align8, M::U4x16Align16, M::U6x16Align16};
    if (value >= std::size(types))
      return "expected an element type 0 to 15, got " + number(value);
    map.type = types[value];
    break;
  }
  case MapField::Interleave:
    if (value > 2)
      return "expected an interleave 0 to 2, got " + number(value);
    map.interleave = static_cast<MapInterleave>(value);
    break;
  case MapField::Swizzle:
    if (value > 3)
      return "expected a swizzle mode 0 to 3, got " + number(value);
    map.swizzle = static_cast<MapSwizzle>(value);
    break;
  case MapField::SwizzleAtomicity: {
    constexpr MapSwizzle atoms[] = {MapSwizzle::B128, MapSwizzle::B128Atom32,
                                    MapSwizzle::B128Atom32Flip8, MapSwizzle::B128Atom64};
    if (value > 3)
      return "expected a swizzle atomicity 0 to 3, got " + number(value);
    if (map.swizzle >= MapSwizzle::B128)
      map.swizzle = atoms[value];
    else if (value)
      return "expected a swizzle of 128 bytes with another atomicity than 16 bytes";
    break;
  }
  case MapField::Fill:
    if (value > 1)
      return "expected a fill mode 0 or 1, got " + number(value);
    map.fill = static_cast<MapFill>(value);
    break;
  }
  walkFields(bytes, map);
  seal(bytes);
  return std::nullopt;
}

Problem decodeTensorMap(const uint8_t *bytes, TensorMap &out) {
  if (Problem p = checkSealed(bytes))
    return p;
  out = TensorMap{};
  walkFields(bytes, out);
  for (unsigned i = std::min(out.rank, 5u); i < 5; ++i) {
    out.dims[i] = 0;
    out.box[i] = 0;
  }
  return checkTensorMap(out);
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

uint32_t boxBytes(const TensorMap &map) { return static_cast<uint32_t>(boxBytes64(map)); }

namespace {

/// Adds the bytes [begin, end) of a row, split where the swizzle breaks them.
void addRuns(const TensorMap &map, uint32_t sharedAddress, uint32_t rowOffset, uint64_t rowGlobal,
             uint32_t begin, uint32_t end, bool fill, std::vector<BoxRun> &out) {
  const uint32_t atom = map.swizzle == MapSwizzle::None ? end : atomOf(map.swizzle);
  while (begin < end) {
    const uint32_t stop = std::min(end, begin / atom * atom + atom);
    const uint32_t linear = sharedAddress + rowOffset + begin;
    BoxRun run{fill ? 0 : rowGlobal + begin, swizzled(map.swizzle, linear) - sharedAddress,
               stop - begin, fill};
    BoxRun *last = out.empty() ? nullptr : &out.back();
    if (last && last->fill == fill && last->shared + last->bytes == run.shared &&
        (fill || last->global + last->bytes == run.global))
      last->bytes += run.bytes;
    else
      out.push_back(run);
    begin = stop;
  }
}

} // namespace

namespace {

/// Along dimension 0: the bytes of a row and those of them that lie inside the tensor.
struct Row {
  uint32_t bytes, begin, end;
  int64_t x0;
  unsigned bits;

  Row(const TensorMap &map, int32_t first) : x0(first), bits(mapTypeBits(map.type)) {
    const auto clip = [&](int64_t x) {
      return static_cast<uint32_t>(std::clamp<int64_t>(x, 0, map.box[0]) * bits / 8);
    };
    bytes = map.box[0] * bits / 8;
    begin = clip(-x0);
    end = std::max(begin, clip(static_cast<int64_t>(map.dims[0]) - x0));
  }
  uint64_t address(const TensorMap &map) const {
    return map.address + static_cast<uint64_t>(x0 * static_cast<int64_t>(bits) / 8);
  }
  /// The row at `offset` of the box whose element 0 lies at `global`; fill when not inside.
  void add(const TensorMap &map, uint32_t sharedAddress, uint32_t offset, uint64_t global,
           bool inside, std::vector<BoxRun> &out) const {
    const uint32_t from = inside ? begin : 0, to = inside ? end : 0;
    addRuns(map, sharedAddress, offset, global, 0, from, true, out);
    addRuns(map, sharedAddress, offset, global, from, to, false, out);
    addRuns(map, sharedAddress, offset, global, to, bytes, true, out);
  }
};

Problem checkBox(const TensorMap &map, int32_t first, uint32_t sharedAddress) {
  const unsigned bits = mapTypeBits(map.type);
  const uint32_t rowBytes = map.box[0] * bits / 8;
  const unsigned span = spanOf(map.swizzle);
  if (sharedAddress % 128)
    return "expected a shared address aligned to 128 bytes, got " + number(sharedAddress);
  if (span && rowBytes != span)
    return "expected an inner box dimension equal to the swizzle span of " + number(span) +
           " bytes, got " + number(rowBytes) + " bytes, which is not emulated";
  if (bits < 8 && first % 2)
    return "expected an even coordinate of dimension 0 for 4-bit elements, got " +
           std::to_string(first);
  return std::nullopt;
}

} // namespace

Problem gatherRuns(const TensorMap &map, const int32_t *coords, uint32_t sharedAddress,
                   std::vector<BoxRun> &out) {
  if (map.im2col)
    return "expected a tile map, got an im2col map";
  if (map.rank != 2 || map.box[1] != 1)
    return "expected a map of rank 2 with a box of one row, got rank " + number(map.rank) +
           " and " + number(map.box[1]) + " rows";
  if (Problem p = checkBox(map, coords[0], sharedAddress))
    return p;
  const Row row(map, coords[0]);
  for (unsigned i = 0; i < 4; ++i) {
    const int64_t y = coords[1 + i];
    row.add(map, sharedAddress, i * row.bytes,
            row.address(map) + static_cast<uint64_t>(y) * map.strides[1],
            y >= 0 && y < static_cast<int64_t>(map.dims[1]), out);
  }
  return std::nullopt;
}

Problem im2colRuns(const TensorMap &map, const int32_t *coords, const uint16_t *offsets,
                   uint32_t sharedAddress, std::vector<BoxRun> &out) {
  if (!map.im2col)
    return "expected an im2col map, got a tile map";
  if (Problem p = checkBox(map, coords[0], sharedAddress))
    return p;
  const Row row(map, coords[0]);
  const unsigned spatial = map.rank - 2, outer = map.rank - 1;
  std::array<int64_t, 5> at{};
  for (unsigned i = 1; i < map.rank; ++i)
    at[i] = coords[i];
  for (uint32_t pixel = 0; pixel < map.box[1]; ++pixel) {
    bool inside = at[outer] >= 0 && at[outer] < static_cast<int64_t>(map.dims[outer]);
    uint64_t global = row.address(map) + static_cast<uint64_t>(at[outer]) * map.strides[outer];
    for (unsigned i = 1; i <= spatial; ++i) {
      const int64_t x = at[i] + offsets[i - 1];
      inside &= x >= 0 && x < static_cast<int64_t>(map.dims[i]);
      global += static_cast<uint64_t>(x) * map.strides[i];
    }
    row.add(map, sharedAddress, pixel * row.bytes, global, inside, out);
    unsigned i = 1;
    for (; i <= spatial; ++i) { // the next base pixel
      at[i] += map.elementStrides[i];
      if (at[i] < static_cast<int64_t>(map.dims[i]) + map.upper[i - 1])
        break;
      at[i] = map.lower[i - 1];
    }
    if (i > spatial)
      ++at[outer];
  }
  return std::nullopt;
}

Problem boxRuns(const TensorMap &map, const int32_t *coords, uint32_t sharedAddress,
                std::vector<BoxRun> &out) {
  if (map.im2col)
    return "expected a tile map, got an im2col map";
  if (Problem p = checkBox(map, coords[0], sharedAddress))
    return p;
  const Row row(map, coords[0]);
  const uint32_t rowBytes = row.bytes;
  std::array<uint32_t, 5> index{};
  for (uint32_t rowOffset = 0;; rowOffset += rowBytes) {
    bool inside = true;
    // The address of the row's element 0 of the box; only used for bytes inside.
    uint64_t global = row.address(map);
    for (unsigned i = 1; i < map.rank; ++i) {
      const int64_t x = int64_t(coords[i]) + int64_t(index[i]) * map.elementStrides[i];
      inside &= x >= 0 && x < static_cast<int64_t>(map.dims[i]);
      global += static_cast<uint64_t>(x) * map.strides[i];
    }
    row.add(map, sharedAddress, rowOffset, global, inside, out);
    unsigned i = 1;
    while (i < map.rank && ++index[i] == extent(map, i))
      index[i++] = 0;
    if (i >= map.rank)
      return std::nullopt;
  }
}

void fillBytes(const TensorMap &map, uint8_t *out, uint32_t bytes) {
  std::memset(out, 0, bytes);
  if (map.fill == MapFill::Zero)
    return;
  const unsigned size = mapTypeBits(map.type) / 8;
  uint8_t pattern[8];
  std::memset(pattern, 0xff, sizeof(pattern));
  pattern[size - 1] = 0x7f; // 0x7fff, 0x7fffffff, ...: the canonical NaN
  for (uint32_t i = 0; i < bytes; ++i)
    out[i] = pattern[i % size];
}

} // namespace heddle::emulator::tensor
