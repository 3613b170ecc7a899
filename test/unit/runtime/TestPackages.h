//===- TestPackages.h - packages made for the runtime's tests -------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// D[M,N] f32 = alpha * A[M,K] bf16 * B[N,K]^T bf16, the row stride of A free. Two
// forms: `gemm_bulk` reads A through a tensor map and needs 16-byte rows; `gemm_any`
// takes pointers.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_UNIT_RUNTIME_TESTPACKAGES_H
#define HEDDLE_TEST_UNIT_RUNTIME_TESTPACKAGES_H

#include "FakeBackend.h"
#include "heddle/Package/Reader.h"

namespace heddle::rt::test {

struct ImageSpec {
  std::string target;
  bool cubin = true;
};

/// The package, to change before writing. Each image gets both forms.
pkg::PackageT gemmPackage(const std::vector<ImageSpec> &images);
std::vector<uint8_t> bytesOf(const pkg::PackageT &package);
pkg::PackageFile fileOf(const pkg::PackageT &package);

/// Runs `gemm_any` and `gemm_bulk` in C++; other entries do nothing.
void runTestKernel(const FakeDevice::Launch &launch);

/// D[n] f32 = A[n] + B[n] in real PTX for any GPU, entry `vector_add`.
pkg::PackageT vectorAddPackage();

} // namespace heddle::rt::test

#endif // HEDDLE_TEST_UNIT_RUNTIME_TESTPACKAGES_H
