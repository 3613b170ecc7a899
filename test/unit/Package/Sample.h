//===- Sample.h - a package for the tests ---------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// D[M, N] = relu(scale * A[M, K] B[N, K]^T) as bf16, with M and K known at run time and
// N 256, for two targets. It uses every part of the format.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_UNIT_PACKAGE_SAMPLE_H
#define HEDDLE_TEST_UNIT_PACKAGE_SAMPLE_H

#include "heddle/Package/Reader.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::pkg::test {

PackageT samplePackage();

/// Bytes without any check, so that tests can make files the writer would refuse.
std::vector<uint8_t> packUnchecked(const PackageT &package);
/// The same without the checksum, and any bytes with one that is right.
std::vector<uint8_t> packUnsealed(const PackageT &package);
std::vector<uint8_t> sealed(std::vector<uint8_t> bytes);

/// The message that opening such a package gives; "" when it opens.
std::string openError(const PackageT &package);

/// A node of the reference computation.
std::unique_ptr<RefNodeT> refNode(RefOp op, std::vector<uint32_t> inputs = {});
std::unique_ptr<RefNodeT> refLoad(uint32_t arg, std::vector<int32_t> indexMap);

/// An argument; a size below 0 stands for symbol -1 - size.
std::unique_ptr<ArgT> tensorArg(const std::string &name, DType dtype, std::vector<int64_t> shape,
                                bool output = false);

} // namespace heddle::pkg::test

#endif // HEDDLE_TEST_UNIT_PACKAGE_SAMPLE_H
