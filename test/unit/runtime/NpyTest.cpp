//===- NpyTest.cpp - NumPy files ---------------------------------------- ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Npy.h"
#include "heddle/Package/Numeric.h"
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::run;
using testing::HasSubstr;

namespace {

/// A file of format `version` with this header text and data.
std::vector<uint8_t> fileOf(std::string header, size_t dataBytes, unsigned version = 1) {
  std::vector<uint8_t> file{0x93,
                            'N',
                            'U',
                            'M',
                            'P',
                            'Y',
                            uint8_t(version),
                            0,
                            uint8_t(header.size()),
                            uint8_t(header.size() >> 8)};
  if (version > 1)
    file.insert(file.end(), {0, 0});
  file.insert(file.end(), header.begin(), header.end());
  for (size_t i = 0; i < dataBytes; ++i)
    file.push_back(uint8_t(i));
  return file;
}

std::string errorOf(const std::vector<uint8_t> &file) {
  auto array = parseNpy(file);
  return array ? "no error" : array.error().message;
}

} // namespace

TEST(Npy, roundTrip) {
  for (NpyType type : {NpyType::F16, NpyType::F32, NpyType::F64, NpyType::I8, NpyType::U8,
                       NpyType::U16, NpyType::I32, NpyType::I64}) {
    NpyArray array;
    array.type = type;
    array.shape = {2, 3, 1};
    for (unsigned i = 0; i < 6 * npyTypeBytes(type); ++i)
      array.data.push_back(uint8_t(i * 7));
    auto again = parseNpy(npyBytes(array));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->type, type);
    EXPECT_EQ(again->shape, array.shape);
    EXPECT_EQ(again->data, array.data);
    EXPECT_FALSE(again->columnMajor);
  }
}

// The data of a written file starts at a multiple of 64, as NumPy's own files do.
TEST(Npy, alignedHeader) {
  NpyArray array;
  array.type = NpyType::F32;
  for (int64_t size = 1; size < 100000; size *= 10) {
    array.shape = {size};
    array.data.assign(size_t(size) * 4, 0);
    EXPECT_EQ((npyBytes(array).size() - array.data.size()) % 64, 0u);
  }
}

TEST(Npy, headersOfNumPy) {
  EXPECT_TRUE(
      parseNpy(fileOf("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }  \n", 24)));
  EXPECT_TRUE(parseNpy(fileOf("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n", 12)));
  EXPECT_TRUE(parseNpy(fileOf("{'descr': '<f4', 'fortran_order': False, 'shape': (), }\n", 4)));
  EXPECT_TRUE(parseNpy(fileOf("{'shape': (2, 2), 'fortran_order': True, 'descr': '|u1'}", 4, 2)));
  EXPECT_TRUE(
      parseNpy(fileOf("{'descr': '<i8', 'fortran_order': False, 'shape': (0, 5), }", 0, 3)));
}

TEST(Npy, columnMajorStrides) {
  auto array = parseNpy(fileOf("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }", 6));
  ASSERT_TRUE(array);
  EXPECT_EQ(array->strides(), (std::vector<int64_t>{1, 2}));
}

TEST(Npy, damagedFiles) {
  EXPECT_THAT(errorOf({}), HasSubstr("expected a .npy file"));
  EXPECT_THAT(errorOf({'h', 'e', 'l', 'l', 'o', ' ', 'w', 'o', 'r', 'l', 'd'}),
              HasSubstr("expected a .npy file"));
  EXPECT_THAT(errorOf(fileOf("{", 0, 9)), HasSubstr("expected .npy format 1, 2 or 3, got 9"));
  auto cut = fileOf("{'descr': '<f4'", 0);
  cut[8] = 200;
  EXPECT_THAT(errorOf(cut), HasSubstr("the file ends in its header"));
  EXPECT_THAT(errorOf(fileOf("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", 4)),
              HasSubstr("got >f4"));
  EXPECT_THAT(errorOf(fileOf("{'descr': '<f4', 'fortran_order': 3, 'shape': (1,), }", 4)),
              HasSubstr("True or False"));
  EXPECT_THAT(errorOf(fileOf("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", 4)),
              HasSubstr("at least 0"));
  EXPECT_THAT(errorOf(fileOf("{'descr': '<f4', 'fortran_order': False, }", 4)),
              HasSubstr("expected the keys"));
  EXPECT_THAT(errorOf(fileOf("{'descr': '<f4', 'evil': 1}", 4)), HasSubstr("unknown key 'evil'"));
  EXPECT_THAT(errorOf(fileOf("{'descr': '<f4', 'fortran_order': False, 'shape': (9,), }", 4)),
              HasSubstr("expected 36 bytes of data, got 4"));
  EXPECT_THAT(
      errorOf(fileOf(
          "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 8), }", 4)),
      HasSubstr("too large"));
}

// Whatever byte changes, the answer is an array or an error.
TEST(Npy, flippedBytes) {
  auto file = fileOf("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }  \n", 24);
  int accepted = 0;
  for (size_t i = 0; i < file.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      auto flipped = file;
      flipped[i] ^= uint8_t(1 << bit);
      if (auto array = parseNpy(flipped)) {
        ++accepted;
        EXPECT_EQ(array->data.size(), size_t(array->size()) * npyTypeBytes(array->type));
      }
    }
  EXPECT_GE(accepted, 24 * 8); // changed data is still data
}

TEST(Npy, conversions) {
  EXPECT_TRUE(npyConvertible(NpyType::U16, pkg::DType::bf16));
  EXPECT_TRUE(npyConvertible(NpyType::U8, pkg::DType::f8e5m2));
  EXPECT_TRUE(npyConvertible(NpyType::F64, pkg::DType::bf16));
  EXPECT_FALSE(npyConvertible(NpyType::U16, pkg::DType::f16));
  EXPECT_FALSE(npyConvertible(NpyType::U8, pkg::DType::f32));
  NpyArray array;
  array.type = NpyType::F32;
  array.shape = {1};
  float value = 1.00390625f; // halfway between two bf16 numbers: to even
  array.data.resize(4);
  std::memcpy(array.data.data(), &value, 4);
  uint16_t bits = 0;
  npyStore(array, 0, pkg::DType::bf16, &bits);
  EXPECT_EQ(pkg::fromBF16(bits), 1.0);
}
