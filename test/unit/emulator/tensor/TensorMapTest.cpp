//===- TensorMapTest.cpp - tensor maps and box addresses ------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TensorMap.h"
#include "Numeric.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

using namespace heddle::emulator::tensor;

namespace {

TensorMap matrixMap() {
  TensorMap m;
  m.type = MapType::BF16;
  m.rank = 2;
  m.address = 0x7000;
  m.dims = {100, 50};
  m.strides = {0, 256};
  m.box = {64, 8};
  m.swizzle = MapSwizzle::B128;
  return m;
}

unsigned spanOf(MapSwizzle s) {
  return s == MapSwizzle::B32 ? 32 : s == MapSwizzle::B64 ? 64 : 128;
}

/// Where the tables of "Swizzling Modes" put a byte: `chunk` is the 16-byte cell of a
/// 128-byte line, `line` counts from a 1024-byte boundary.
unsigned swizzledByte(MapSwizzle s, unsigned linear) {
  const unsigned line = linear / 128, chunk = linear / 16 % 8, byte = linear % 16;
  unsigned to = chunk, inner = byte;
  switch (s) {
  case MapSwizzle::None:
    break;
  case MapSwizzle::B32:
    to = line % 2 ? (chunk ^ 1) : chunk;
    break;
  case MapSwizzle::B64:
    to = chunk ^ (line % 4);
    break;
  case MapSwizzle::B128:
    to = chunk ^ (line % 8);
    break;
  case MapSwizzle::B128Atom32:
    to = (chunk / 2 ^ (line % 4)) * 2 + chunk % 2;
    break;
  case MapSwizzle::B128Atom32Flip8:
    to = (chunk / 2 ^ (line % 4)) * 2 + chunk % 2;
    inner = line % 2 ? (byte + 8) % 16 : byte;
    break;
  case MapSwizzle::B128Atom64:
    to = (chunk / 4 ^ (line % 2)) * 4 + chunk % 4;
    break;
  }
  return line * 128 + to * 16 + inner;
}

TEST(TensorMap, SurvivesEncoding) {
  TensorMap m = matrixMap();
  m.rank = 5;
  m.dims = {uint64_t(1) << 32, 7, 6, 5, 4};
  m.strides = {0, 4096, 8192, (uint64_t(1) << 40) - 16, 32};
  m.box = {64, 2, 2, 2, 2};
  m.elementStrides = {1, 2, 1, 8, 1};
  m.l2 = MapL2::B256;
  m.fill = MapFill::NaN;
  TensorMapBytes bytes;
  ASSERT_FALSE(encodeTensorMap(m, bytes)) << *encodeTensorMap(m, bytes);
  TensorMap back;
  ASSERT_FALSE(decodeTensorMap(bytes.data(), back));
  EXPECT_EQ(back.type, m.type);
  EXPECT_EQ(back.rank, 5u);
  EXPECT_EQ(back.address, m.address);
  EXPECT_EQ(back.dims, m.dims);
  for (unsigned i = 1; i < 5; ++i)
    EXPECT_EQ(back.strides[i], m.strides[i]);
  EXPECT_EQ(back.box, m.box);
  EXPECT_EQ(back.elementStrides, m.elementStrides);
  EXPECT_EQ(back.swizzle, m.swizzle);
  EXPECT_EQ(back.l2, m.l2);
  EXPECT_EQ(back.fill, m.fill);
}

TEST(TensorMap, ForeignOrDamagedBytesAreRefused) {
  TensorMapBytes bytes{};
  TensorMap back;
  EXPECT_EQ(*decodeTensorMap(bytes.data(), back),
            "expected a tensor map encoded for an emulated device, got other bytes");
  ASSERT_FALSE(encodeTensorMap(matrixMap(), bytes));
  for (unsigned i = 8; i < 128; ++i) {
    TensorMapBytes bad = bytes;
    bad[i] ^= 0x10;
    EXPECT_TRUE(decodeTensorMap(bad.data(), back)) << "byte " << i;
  }
}

TEST(TensorMap, NamesTheBrokenRule) {
  const auto message = [](auto change) {
    TensorMap m = matrixMap();
    change(m);
    const Problem p = checkTensorMap(m);
    return p ? *p : std::string();
  };
  EXPECT_EQ(message([](TensorMap &) {}), "");
  EXPECT_EQ(message([](TensorMap &m) { m.rank = 6; }), "expected a rank of 1 to 5, got 6");
  EXPECT_EQ(message([](TensorMap &m) { m.address = 0x7008; }),
            "expected a global address aligned to 16 bytes, got 28680");
  EXPECT_EQ(message([](TensorMap &m) { m.strides[1] = 200; }),
            "expected a stride that is a multiple of 16 bytes of dimension 1, got 200");
  EXPECT_EQ(message([](TensorMap &m) { m.strides[1] = uint64_t(1) << 40; }),
            "expected a stride below 2^40 bytes of dimension 1, got 1099511627776");
  EXPECT_EQ(message([](TensorMap &m) { m.dims[0] = 0; }),
            "expected a size from 1 to 2^32 of dimension 0, got 0");
  EXPECT_EQ(message([](TensorMap &m) { m.box[1] = 257; }),
            "expected a box size from 1 to 256 of dimension 1, got 257");
  EXPECT_EQ(message([](TensorMap &m) { m.elementStrides[1] = 9; }),
            "expected an element stride from 1 to 8 of dimension 1, got 9");
  EXPECT_EQ(message([](TensorMap &m) { m.box[0] = 4; }),
            "expected an inner box dimension that is a multiple of 16 bytes, got 8 bytes");
  EXPECT_EQ(message([](TensorMap &m) { m.box[0] = 72; }),
            "expected an inner box dimension of at most the swizzle span of 128 bytes, got 144 "
            "bytes");
  EXPECT_EQ(message([](TensorMap &m) { m.type = MapType::U16, m.fill = MapFill::NaN; }),
            "expected a floating-point type with NaN fill, got an integer type");
  EXPECT_NE(message([](TensorMap &m) { m.interleave = MapInterleave::B16; }), "");
  EXPECT_NE(message([](TensorMap &m) { m.type = MapType::U6x16Align16; }), "");
  EXPECT_NE(message([](TensorMap &m) {
              m.rank = 5, m.dims.fill(256), m.strides.fill(16), m.box.fill(256);
              m.swizzle = MapSwizzle::None;
            }),
            "");
}

/// Loads a box run by run, and byte by byte from the definition, and compares.
void checkBox(const TensorMap &map, const std::array<int32_t, 5> &coords, uint32_t sharedAddress) {
  const unsigned size = mapTypeBits(map.type) / 8;
  std::vector<uint8_t> global(1 << 20);
  std::mt19937 rng(51);
  for (uint8_t &b : global)
    b = static_cast<uint8_t>(rng());
  std::vector<BoxRun> runs;
  ASSERT_FALSE(boxRuns(map, coords.data(), sharedAddress, runs));
  std::vector<int> got(boxBytes(map), -1);
  for (const BoxRun &r : runs) {
    std::vector<uint8_t> bytes(r.bytes);
    if (r.fill)
      fillBytes(map, bytes.data(), r.bytes);
    else
      std::memcpy(bytes.data(), &global.at(r.global - map.address), r.bytes);
    for (uint32_t i = 0; i < r.bytes; ++i) {
      ASSERT_EQ(got.at(r.shared + i), -1) << "byte written twice";
      got[r.shared + i] = bytes[i];
    }
  }
  // Definition: element (i0..i4) of the box, counted along the box, comes from tensor
  // element coords + i * elementStride, or is filled when that is outside.
  std::array<uint32_t, 5> extent{1, 1, 1, 1, 1};
  for (unsigned d = 0; d < map.rank; ++d)
    extent[d] = d ? (map.box[d] + map.elementStrides[d] - 1) / map.elementStrides[d] : map.box[d];
  uint32_t linear = 0;
  for (uint32_t i4 = 0; i4 < extent[4]; ++i4)
    for (uint32_t i3 = 0; i3 < extent[3]; ++i3)
      for (uint32_t i2 = 0; i2 < extent[2]; ++i2)
        for (uint32_t i1 = 0; i1 < extent[1]; ++i1)
          for (uint32_t i0 = 0; i0 < extent[0]; ++i0) {
            const uint32_t index[5] = {i0, i1, i2, i3, i4};
            bool inside = true;
            int64_t at = 0;
            for (unsigned d = 0; d < map.rank; ++d) {
              const int64_t x = coords[d] + int64_t(index[d]) * (d ? map.elementStrides[d] : 1);
              inside &= x >= 0 && x < int64_t(map.dims[d]);
              at += x * (d ? int64_t(map.strides[d]) : int64_t(size));
            }
            for (unsigned b = 0; b < size; ++b, ++linear) {
              int want = 0;
              if (inside)
                want = global[at + b];
              else if (map.fill == MapFill::NaN)
                want = b + 1 == size ? 0x7f : 0xff;
              const uint32_t to = swizzledByte(map.swizzle, sharedAddress + linear) - sharedAddress;
              ASSERT_EQ(got.at(to), want) << "byte " << linear;
            }
          }
}

TEST(Box, EverySwizzleAtEveryPhaseOfThePattern) {
  for (MapSwizzle s : {MapSwizzle::None, MapSwizzle::B32, MapSwizzle::B64, MapSwizzle::B128,
                       MapSwizzle::B128Atom32, MapSwizzle::B128Atom32Flip8, MapSwizzle::B128Atom64})
    for (uint32_t shared : {0u, 1024u, 1024u + 128, 4096u + 896}) {
      TensorMap m = matrixMap();
      m.swizzle = s;
      m.box = {s == MapSwizzle::None ? 40 : spanOf(s) / 2, 24};
      SCOPED_TRACE("swizzle " + std::to_string(int(s)) + " at " + std::to_string(shared));
      checkBox(m, {8, 3, 0, 0, 0}, shared);
    }
}

TEST(Box, OutOfBoundsOnEverySideIsFilled) {
  for (MapFill fill : {MapFill::Zero, MapFill::NaN})
    for (int32_t x : {-70, -5, 0, 60, 99, 100, 1000})
      for (int32_t y : {-9, -3, 0, 46, 50}) {
        TensorMap m = matrixMap();
        m.fill = fill;
        SCOPED_TRACE(std::to_string(x) + "," + std::to_string(y));
        checkBox(m, {x, y, 0, 0, 0}, 1024);
      }
}

TEST(Box, OneToFiveDimensionsAndElementStrides) {
  TensorMap m;
  m.type = MapType::F32;
  m.address = 0x100;
  m.dims = {20, 7, 6, 5, 4};
  m.strides = {0, 96, 96 * 7, 96 * 7 * 6, 96 * 7 * 6 * 5};
  m.box = {8, 3, 2, 3, 2};
  for (m.rank = 1; m.rank <= 5; ++m.rank) {
    checkBox(m, {4, 1, 0, 2, 1}, 0);
    checkBox(m, {16, 5, 5, 4, 3}, 128);
    checkBox(m, {-4, -1, -1, -1, -1}, 256);
  }
  m.rank = 4;
  m.elementStrides = {1, 2, 1, 3, 1};
  checkBox(m, {0, 1, 2, 0, 0}, 0);
}

TEST(Box, PackedFourBitElements) {
  TensorMap m = matrixMap();
  m.type = MapType::U4x16Align8;
  m.dims = {200, 4};
  m.box = {256, 2};
  std::vector<BoxRun> runs;
  const int32_t coords[2] = {0, 1};
  ASSERT_FALSE(boxRuns(m, coords, 0, runs));
  EXPECT_EQ(boxBytes(m), 256u);
  uint32_t inside = 0, filled = 0;
  for (const BoxRun &r : runs)
    (r.fill ? filled : inside) += r.bytes;
  EXPECT_EQ(inside, 200u);
  EXPECT_EQ(filled, 56u);
  const int32_t odd[2] = {1, 0};
  EXPECT_TRUE(boxRuns(m, odd, 0, runs));
}

TEST(Box, RunsMergeWithoutSwizzle) {
  TensorMap m = matrixMap();
  m.swizzle = MapSwizzle::None;
  std::vector<BoxRun> runs;
  const int32_t coords[2] = {0, 0};
  ASSERT_FALSE(boxRuns(m, coords, 0, runs));
  ASSERT_EQ(runs.size(), 8u); // one a row
  EXPECT_EQ(runs[1].global, m.address + 256);
  EXPECT_EQ(runs[1].shared, 128u);
  EXPECT_EQ(runs[1].bytes, 128u);
}

TEST(Box, RefusesMisalignedAndUnmodelledBoxes) {
  std::vector<BoxRun> runs;
  const int32_t coords[2] = {0, 0};
  EXPECT_EQ(*boxRuns(matrixMap(), coords, 64, runs),
            "expected a shared address aligned to 128 bytes, got 64");
  TensorMap m = matrixMap();
  m.box[0] = 32;
  EXPECT_FALSE(checkTensorMap(m));
  EXPECT_TRUE(boxRuns(m, coords, 0, runs));
}

/// What lies in shared memory after a load of `runs`, -1 where nothing was written.
static std::vector<int> loaded(const TensorMap &map, const std::vector<uint8_t> &global,
                               const std::vector<BoxRun> &runs, size_t bytes) {
  std::vector<int> got(bytes, -1);
  for (const BoxRun &r : runs)
    for (uint32_t i = 0; i < r.bytes; ++i) {
      EXPECT_EQ(got.at(r.shared + i), -1) << "byte written twice";
      got[r.shared + i] = r.fill ? 0 : global.at(r.global - map.address + i);
    }
  return got;
}

TEST(Box, FourRowsAnywhere) {
  TensorMap m = matrixMap();
  m.box = {64, 1};
  std::vector<uint8_t> global(1 << 20);
  std::mt19937 rng(52);
  for (uint8_t &b : global)
    b = static_cast<uint8_t>(rng());
  const unsigned size = mapTypeBits(m.type) / 8;
  const int32_t coords[] = {16, 7, -1, 40, 3};
  std::vector<BoxRun> runs;
  ASSERT_FALSE(gatherRuns(m, coords, 1024, runs));
  const std::vector<int> got = loaded(m, global, runs, 4 * 64 * size);
  for (uint32_t row = 0; row < 4; ++row)
    for (uint32_t b = 0; b < 64 * size; ++b) {
      const int64_t x = coords[0] + b / size, y = coords[1 + row];
      const bool inside = x < int64_t(m.dims[0]) && y >= 0 && y < int64_t(m.dims[1]);
      const uint32_t to = swizzledByte(m.swizzle, 1024 + row * 64 * size + b) - 1024;
      ASSERT_EQ(got.at(to),
                inside ? global[size_t(y) * m.strides[1] + size_t(x) * size + b % size] : 0);
    }
  m.box[1] = 2;
  runs.clear();
  Problem p = gatherRuns(m, coords, 1024, runs);
  ASSERT_TRUE(p);
  EXPECT_EQ(*p, "expected a map of rank 2 with a box of one row, got rank 2 and 2 rows");
}

/// A 3 x 3 convolution with padding 1 and stride 2 over NHWC: the pixels a filter tap reads.
TEST(Box, Im2colWalksTheBoxOfBasePixels) {
  TensorMap m;
  m.type = MapType::U8;
  m.im2col = true;
  m.rank = 4;
  m.address = 0x1000;
  m.dims = {32, 7, 5, 3}; // C W H N
  m.strides = {0, 32, 32 * 7, 32 * 7 * 5};
  m.box = {16, 20};
  m.elementStrides = {1, 2, 2, 1};
  m.lower = {-1, -1};
  m.upper = {-1, -1};
  std::vector<uint8_t> global(32 * 7 * 5 * 3);
  std::mt19937 rng(53);
  for (uint8_t &b : global)
    b = static_cast<uint8_t>(rng());
  TensorMapBytes bytes;
  Problem p = encodeTensorMap(m, bytes);
  ASSERT_FALSE(p) << *p;
  TensorMap decoded;
  ASSERT_FALSE(decodeTensorMap(bytes.data(), decoded));
  EXPECT_TRUE(decoded.im2col);
  EXPECT_EQ(decoded.lower[1], -1);
  for (uint16_t s = 0; s < 3; ++s)
    for (uint16_t r = 0; r < 3; ++r) {
      const int32_t coords[] = {16, 1, 1, 0};
      const uint16_t offsets[] = {s, r};
      std::vector<BoxRun> runs;
      ASSERT_FALSE(im2colRuns(decoded, coords, offsets, 0, runs));
      const std::vector<int> got = loaded(m, global, runs, 16 * 20);
      // Base pixels: w and h from -1 to below size - 1 in steps of 2, then the next image.
      int32_t w = 1, h = 1, n = 0;
      for (uint32_t pixel = 0; pixel < 20; ++pixel) {
        const int32_t x = w + s, y = h + r;
        const bool inside = x >= 0 && x < 7 && y >= 0 && y < 5 && n < 3;
        for (uint32_t c = 0; c < 16; ++c)
          ASSERT_EQ(got.at(pixel * 16 + c),
                    inside ? global[size_t(((n * 5 + y) * 7 + x) * 32) + 16 + c] : 0)
              << "tap " << s << "," << r << " pixel " << pixel;
        if ((w += 2) >= 7 - 1) {
          w = -1;
          if ((h += 2) >= 5 - 1)
            h = -1, ++n;
        }
      }
    }
  std::vector<BoxRun> runs;
  const int32_t coords[] = {0, 0, 0, 0};
  EXPECT_TRUE(boxRuns(m, coords, 0, runs)); // a tile copy with an im2col map
  m.lower[0] = -200;
  p = checkTensorMap(m);
  ASSERT_TRUE(p);
  EXPECT_EQ(*p, "expected a corner from -128 to 127 of dimension 1, got -200");
}

TEST(TensorMap, FieldsAreReplacedInPlace) {
  TensorMapBytes bytes;
  ASSERT_FALSE(encodeTensorMap(matrixMap(), bytes));
  using F = MapField;
  EXPECT_FALSE(replaceField(bytes.data(), F::GlobalAddress, 0, 0x123450));
  EXPECT_FALSE(replaceField(bytes.data(), F::Rank, 0, 2));
  EXPECT_FALSE(replaceField(bytes.data(), F::GlobalDim, 2, 9));
  EXPECT_FALSE(replaceField(bytes.data(), F::GlobalStride, 1, 4096));
  EXPECT_FALSE(replaceField(bytes.data(), F::BoxDim, 2, 3));
  EXPECT_FALSE(replaceField(bytes.data(), F::ElementStride, 2, 2));
  EXPECT_FALSE(replaceField(bytes.data(), F::ElemType, 0, 9));
  EXPECT_FALSE(replaceField(bytes.data(), F::BoxDim, 0, 16));
  EXPECT_FALSE(replaceField(bytes.data(), F::Swizzle, 0, 3));
  EXPECT_FALSE(replaceField(bytes.data(), F::SwizzleAtomicity, 0, 1));
  EXPECT_FALSE(replaceField(bytes.data(), F::Fill, 0, 1));
  TensorMap m;
  Problem p = decodeTensorMap(bytes.data(), m);
  ASSERT_FALSE(p) << *p;
  EXPECT_EQ(m.address, 0x123450u);
  EXPECT_EQ(m.rank, 3u);
  EXPECT_EQ(m.dims[2], 9u);
  EXPECT_EQ(m.strides[2], 4096u);
  EXPECT_EQ(m.box[2], 3u);
  EXPECT_EQ(m.elementStrides[2], 2u);
  EXPECT_EQ(m.type, MapType::F64);
  EXPECT_EQ(m.swizzle, MapSwizzle::B128Atom32);
  EXPECT_EQ(m.fill, MapFill::NaN);
  EXPECT_TRUE(replaceField(bytes.data(), F::GlobalStride, 4, 16));
  EXPECT_TRUE(replaceField(bytes.data(), F::Swizzle, 0, 4));
  EXPECT_FALSE(replaceField(bytes.data(), F::GlobalAddress, 0, 3)); // told by the copy that uses it
  EXPECT_TRUE(decodeTensorMap(bytes.data(), m));
  bytes[40] ^= 1;
  EXPECT_TRUE(replaceField(bytes.data(), F::Fill, 0, 0));
}

TEST(Reduce, EveryOperation) {
  const auto run32 = [](MapType t, ReduceOp op, uint32_t target, uint32_t source) {
    EXPECT_FALSE(checkReduce(t, op));
    reduceElements(t, op, reinterpret_cast<uint8_t *>(&target),
                   reinterpret_cast<const uint8_t *>(&source), 4);
    return target;
  };
  EXPECT_EQ(run32(MapType::U32, ReduceOp::Add, 0xffffffff, 2), 1u);
  EXPECT_EQ(run32(MapType::S32, ReduceOp::Min, uint32_t(-5), 3), uint32_t(-5));
  EXPECT_EQ(run32(MapType::U32, ReduceOp::Min, uint32_t(-5), 3), 3u);
  EXPECT_EQ(run32(MapType::S32, ReduceOp::Max, uint32_t(-5), 3), 3u);
  EXPECT_EQ(run32(MapType::U32, ReduceOp::Inc, 5, 5), 0u);
  EXPECT_EQ(run32(MapType::U32, ReduceOp::Inc, 4, 5), 5u);
  EXPECT_EQ(run32(MapType::U32, ReduceOp::Dec, 0, 5), 5u);
  EXPECT_EQ(run32(MapType::U32, ReduceOp::Dec, 7, 5), 5u);
  EXPECT_EQ(run32(MapType::U32, ReduceOp::And, 12, 10), 8u);
  EXPECT_EQ(run32(MapType::U32, ReduceOp::Or, 12, 10), 14u);
  EXPECT_EQ(run32(MapType::U32, ReduceOp::Xor, 12, 10), 6u);
  EXPECT_EQ(run32(MapType::F32, ReduceOp::Add, asBits(1.5f), asBits(2.0f)), asBits(3.5f));
  EXPECT_EQ(run32(MapType::BF16, ReduceOp::Add, 0x3f804000, 0x3f803f80), 0x40004040u);
  EXPECT_EQ(run32(MapType::F16, ReduceOp::Max, 0x3c004000, 0x4000bc00), 0x40004000u);
  EXPECT_TRUE(checkReduce(MapType::F32, ReduceOp::Max));
  EXPECT_TRUE(checkReduce(MapType::F16, ReduceOp::Xor));
  EXPECT_TRUE(checkReduce(MapType::S32, ReduceOp::Inc));
}

} // namespace
