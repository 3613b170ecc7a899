//===- LaunchTest.cpp - checks and packing of launches ------------------- ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "core/Launch.h"
#include "TestPackages.h"
#include <cstdlib>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <new>

using namespace heddle;
using namespace heddle::rt;
using namespace heddle::rt::test;
using testing::HasSubstr;

/// Counts what this thread takes from the heap.
static thread_local int heapUses = 0;
void *operator new(size_t bytes) {
  ++heapUses;
  if (void *memory = std::malloc(bytes))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }

namespace {

/// A loaded gemm and arguments that fit, for each test to spoil.
class LaunchTest : public testing::Test {
protected:
  void SetUp() override { load(gemmPackage({{"sm_90a"}})); }

  void load(pkg::PackageT package) {
    device = openFake(9, 0);
    device->execute = [](const FakeDevice::Launch &) {};
    ASSERT_TRUE(Module::load(device, fileOf(package), module).ok());
    ASSERT_TRUE(module->kernel("", kernel).ok());
  }

  void shapes(int64_t m, int64_t n, int64_t k, int64_t stride) {
    aShape = {m, k};
    aStrides = {stride, 1};
    bShape = {n, k};
    dShape = {m, n};
  }

  std::vector<heddle_arg> args() {
    auto tensor = [](heddle_dtype type, uint64_t address, const std::array<int64_t, 2> &shape) {
      heddle_arg arg = {};
      arg.dtype = type;
      arg.data = reinterpret_cast<void *>(address);
      arg.rank = 2;
      arg.shape = shape.data();
      return arg;
    };
    heddle_arg a = tensor(HEDDLE_BF16, 0x10000, aShape), b = tensor(HEDDLE_BF16, 0x20000, bShape),
               d = tensor(HEDDLE_F32, 0x30000, dShape), alpha = {};
    a.strides = aStrides.data();
    alpha.kind = HEDDLE_SCALAR;
    alpha.scalar = 0.5;
    return {a, b, d, alpha};
  }

  Status tryLaunch(const std::vector<heddle_arg> &list, heddle_launch_options options = {}) {
    return launch(*kernel, list, options, true, variant);
  }

  template <typename T> T param(size_t index) {
    const FakeDevice::Launch &last = device->launches.back();
    T value;
    std::memcpy(&value, last.params.data() + last.entry.params[index].offset, sizeof(T));
    return value;
  }

  std::shared_ptr<FakeDevice> device;
  std::unique_ptr<Module> module;
  LoadedKernel *kernel = nullptr;
  std::array<int64_t, 2> aShape{100, 64}, aStrides{64, 1}, bShape{70, 64}, dShape{100, 70};
  int32_t variant = -1;
};

#define EXPECT_REFUSED(status, expectedCode, what)                                                 \
  do {                                                                                             \
    Status refused = (status);                                                                     \
    EXPECT_EQ(refused.code(), expectedCode);                                                       \
    EXPECT_THAT(std::string(refused.message()), HasSubstr(what));                                  \
    EXPECT_TRUE(device->launches.empty());                                                         \
  } while (0)

} // namespace

// Grid, parameters and their alignment follow the manifest.
TEST_F(LaunchTest, packsParameters) {
  ASSERT_TRUE(tryLaunch(args()).ok());
  EXPECT_EQ(variant, 1);
  ASSERT_EQ(device->launches.size(), 1u);
  const FakeDevice::Launch &last = device->launches.back();
  EXPECT_EQ(last.entry.name, "gemm_bulk");
  EXPECT_EQ(last.grid, (std::array<unsigned, 3>{2, 2, 1}));
  std::vector<uint32_t> offsets;
  for (const ParamDesc &param : last.entry.params)
    offsets.push_back(param.offset);
  EXPECT_EQ(offsets, (std::vector<uint32_t>{0, 64, 192, 200, 208, 216, 224, 232}));
  EXPECT_EQ(param<int32_t>(0), 100);
  EXPECT_EQ(param<uint64_t>(1), 0x10000u); // the fake's map starts with the address
  EXPECT_EQ(param<uint64_t>(2), 0x20000u);
  EXPECT_EQ(param<int64_t>(4), 70);
  EXPECT_EQ(param<int64_t>(6), 64);
  EXPECT_EQ(param<float>(7), 0.5f);
}

// The second launch with the same tensors takes its map from the cache.
TEST_F(LaunchTest, keepsTensorMaps) {
  ASSERT_TRUE(tryLaunch(args()).ok());
  ASSERT_TRUE(tryLaunch(args()).ok());
  EXPECT_EQ(device->encodes, 1);
}

// Rows that bulk copies cannot take go to the form that can.
TEST_F(LaunchTest, fallsBackToTheNextForm) {
  shapes(100, 70, 63, 63);
  ASSERT_TRUE(tryLaunch(args()).ok());
  EXPECT_EQ(variant, 2);
  EXPECT_EQ(device->launches.back().entry.name, "gemm_any");
  EXPECT_EQ(device->encodes, 0);
}

// An address that only the other form takes does the same.
TEST_F(LaunchTest, fallsBackForAddresses) {
  auto list = args();
  list[0].data = reinterpret_cast<void *>(0x10008);
  ASSERT_TRUE(tryLaunch(list).ok());
  EXPECT_EQ(variant, 2);
}

// A form asked for by number is never replaced.
TEST_F(LaunchTest, namedFormIsBinding) {
  shapes(100, 70, 63, 63);
  heddle_launch_options options = {};
  options.variant = 1;
  EXPECT_REFUSED(tryLaunch(args(), options), HEDDLE_MISALIGNED,
                 "expected row stride of A in bytes to be a multiple of 16, got 126");
  options.variant = 3;
  EXPECT_REFUSED(tryLaunch(args(), options), HEDDLE_INVALID_ARGUMENT,
                 "expected a variant from 1 to 2");
}

// When nothing fits, every form says why.
TEST_F(LaunchTest, tellsAllReasons) {
  pkg::PackageT package = gemmPackage({{"sm_90a"}});
  auto constraint = std::make_unique<pkg::ConstraintT>();
  constraint->kind = pkg::ConstraintKind::at_least;
  constraint->value = 1000;
  constraint->what = "N";
  constraint->expr = pkg::SizeExpr::symbol(1).toExpr();
  package.kernels[0]->variants[1]->constraints.push_back(std::move(constraint));
  load(std::move(package));
  shapes(100, 70, 63, 63);
  Status status = tryLaunch(args());
  EXPECT_EQ(status.code(), HEDDLE_NO_VARIANT);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("variant 1 (gemm_bulk): expected row stride of A"));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("variant 2 (gemm_any): expected N to be at least 1000, got 70"));
}

TEST_F(LaunchTest, wrongCount) {
  auto list = args();
  list.pop_back();
  EXPECT_REFUSED(tryLaunch(list), HEDDLE_INVALID_ARGUMENT,
                 "expected 4 arguments (A, B, D, alpha), got 3");
}

TEST_F(LaunchTest, wrongType) {
  auto list = args();
  list[1].dtype = HEDDLE_F16;
  Status status = tryLaunch(list);
  EXPECT_EQ(status.argument(), "B");
  EXPECT_REFUSED(std::move(status), HEDDLE_SHAPE_MISMATCH,
                 "argument B: expected type bf16, got f16");
}

TEST_F(LaunchTest, typeOutOfRange) {
  auto list = args();
  list[1].dtype = static_cast<heddle_dtype>(77);
  EXPECT_REFUSED(tryLaunch(list), HEDDLE_SHAPE_MISMATCH, "got an unknown type");
}

TEST_F(LaunchTest, scalarForTensor) {
  auto list = args();
  list[0].kind = HEDDLE_SCALAR;
  EXPECT_REFUSED(tryLaunch(list), HEDDLE_SHAPE_MISMATCH, "expected a tensor, got a scalar");
  list = args();
  list[3].kind = HEDDLE_TENSOR;
  EXPECT_REFUSED(tryLaunch(list), HEDDLE_SHAPE_MISMATCH, "expected a scalar, got a tensor");
}

TEST_F(LaunchTest, unknownKind) {
  std::vector<heddle_arg> list = args();
  const int kind = 9;
  std::memcpy(&list[0].kind, &kind, sizeof kind);
  EXPECT_REFUSED(tryLaunch(list), HEDDLE_SHAPE_MISMATCH,
                 "expected a tensor, got the unknown kind 9");
}

TEST_F(LaunchTest, wrongRank) {
  auto list = args();
  list[0].rank = 3;
  EXPECT_REFUSED(tryLaunch(list), HEDDLE_SHAPE_MISMATCH, "expected rank 2, got 3");
  list[0].rank = -1;
  EXPECT_REFUSED(tryLaunch(list), HEDDLE_SHAPE_MISMATCH, "expected rank 2, got -1");
}

TEST_F(LaunchTest, noShape) {
  auto list = args();
  list[0].shape = nullptr;
  EXPECT_REFUSED(tryLaunch(list), HEDDLE_INVALID_ARGUMENT, "expected a shape, got NULL");
}

// Sizes that share a name must agree; the message says where the other came from.
TEST_F(LaunchTest, sizesDisagree) {
  bShape[1] = 65;
  EXPECT_REFUSED(tryLaunch(args()), HEDDLE_SHAPE_MISMATCH,
                 "argument B: expected size 1 to be K = 64 as in size 1 of A, got 65");
}

TEST_F(LaunchTest, negativeSize) {
  aShape[0] = -1;
  EXPECT_REFUSED(tryLaunch(args()), HEDDLE_SHAPE_MISMATCH,
                 "expected size 0 to be at least 0, got -1");
}

TEST_F(LaunchTest, sizesOverflow) {
  shapes(int64_t(1) << 60, 70, 64, int64_t(1) << 60);
  EXPECT_REFUSED(tryLaunch(args()), HEDDLE_OUT_OF_RANGE, "is too large");
  shapes(1 << 20, 70, 64, int64_t(1) << 40);
  EXPECT_REFUSED(tryLaunch(args()), HEDDLE_OUT_OF_RANGE, "expected a tensor that ends within");
}

// The innermost stride of A is fixed to 1 by the manifest; B has to be contiguous.
TEST_F(LaunchTest, strides) {
  aStrides = {128, 2};
  EXPECT_REFUSED(tryLaunch(args()), HEDDLE_SHAPE_MISMATCH,
                 "argument A: expected stride 1 to be 1, got 2");
  aStrides = {64, 1};
  auto list = args();
  std::array<int64_t, 2> strides{72, 1};
  list[1].strides = strides.data();
  EXPECT_REFUSED(tryLaunch(list), HEDDLE_SHAPE_MISMATCH,
                 "expected stride 0 to be 64 (contiguous), got 72");
  strides = {-64, 1};
  EXPECT_REFUSED(tryLaunch(list), HEDDLE_OUT_OF_RANGE,
                 "argument B: expected stride 0 to be at least 0, got -64");
}

// A dimension of one element may carry any stride.
TEST_F(LaunchTest, strideOfOneElement) {
  shapes(100, 1, 64, 64);
  auto list = args();
  std::array<int64_t, 2> strides{12345, 1};
  list[1].strides = strides.data();
  EXPECT_TRUE(tryLaunch(list).ok());
}

TEST_F(LaunchTest, overlappingOutput) {
  pkg::PackageT package = gemmPackage({{"sm_90a"}});
  package.kernels[0]->symbols.push_back("ldd");
  package.kernels[0]->args[2]->strides = {pkg::Dim(0, 4), pkg::Dim(1, -1)};
  load(std::move(package));
  auto list = args();
  std::array<int64_t, 2> strides{69, 1};
  list[2].strides = strides.data();
  EXPECT_REFUSED(tryLaunch(list), HEDDLE_SHAPE_MISMATCH,
                 "expected the elements of an output not to overlap");
  strides = {70, 1};
  EXPECT_TRUE(tryLaunch(list).ok());
}

TEST_F(LaunchTest, nullAndMisaligned) {
  auto list = args();
  list[2].data = nullptr;
  EXPECT_REFUSED(tryLaunch(list), HEDDLE_INVALID_ARGUMENT,
                 "argument D: expected an address in device memory, got NULL");
  list[2].data = reinterpret_cast<void *>(0x30002);
  EXPECT_REFUSED(tryLaunch(list), HEDDLE_MISALIGNED,
                 "expected an address that is a multiple of 4 (the size of f32)");
}

TEST_F(LaunchTest, limitOfTheKernel) {
  shapes((1 << 20) + 1, 70, 64, 64);
  EXPECT_REFUSED(tryLaunch(args()), HEDDLE_OUT_OF_RANGE,
                 "expected M to be at most 1048576, got 1048577");
}

// Nothing to compute launches nothing; an empty contraction is an error.
TEST_F(LaunchTest, emptyTensors) {
  shapes(0, 70, 64, 64);
  ASSERT_TRUE(tryLaunch(args()).ok());
  EXPECT_EQ(variant, 0);
  EXPECT_TRUE(device->launches.empty());
  shapes(100, 70, 0, 64);
  EXPECT_REFUSED(tryLaunch(args()), HEDDLE_SHAPE_MISMATCH,
                 "argument A: expected size 1 (K) to be at least 1 where the output is not empty");
}

TEST_F(LaunchTest, gridOverTheLimit) {
  pkg::PackageT package = gemmPackage({{"sm_90a"}});
  for (auto &variant : package.kernels[0]->variants)
    variant->grid[2] = pkg::SizeExpr::symbol(1).toExpr();
  load(std::move(package));
  shapes(100, 65536, 64, 64);
  Status status = tryLaunch(args());
  EXPECT_EQ(status.code(), HEDDLE_NO_VARIANT);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("expected grid size 2 from 1 to 65535, got 65536"));
}

TEST_F(LaunchTest, parameterOver32Bits) {
  pkg::PackageT package = gemmPackage({{"sm_90a"}});
  package.kernels[0]->variants.erase(package.kernels[0]->variants.begin());
  package.kernels[0]->variants[0]->params[0]->expr =
      (pkg::SizeExpr::symbol(0) * (int64_t(1) << 30)).toExpr();
  load(std::move(package));
  EXPECT_REFUSED(tryLaunch(args()), HEDDLE_OUT_OF_RANGE, "to fit 32 bits, got 107374182400");
}

// CTAs that wait for each other must all fit on the device.
TEST_F(LaunchTest, residency) {
  pkg::PackageT package = gemmPackage({{"sm_90a"}});
  package.kernels[0]->variants.erase(package.kernels[0]->variants.begin());
  package.kernels[0]->variants[0]->resident_ctas = pkg::SizeExpr::symbol(1).toExpr();
  load(std::move(package));
  EXPECT_REFUSED(tryLaunch(args()), HEDDLE_OUT_OF_RANGE,
                 "expected at most 4 CTAs that wait for each other");
  shapes(100, 4, 64, 64);
  ASSERT_TRUE(tryLaunch(args()).ok());
  EXPECT_TRUE(device->launches.back().entry.mustBeResident);
}

TEST_F(LaunchTest, multiprocessors) {
  heddle_launch_options options = {};
  options.multiprocessors = 5;
  EXPECT_REFUSED(tryLaunch(args(), options), HEDDLE_INVALID_ARGUMENT,
                 "expected multiprocessors from 0 (all) to 4, got 5");
}

// With check_pointers, memory that is not the device's or too small is found.
TEST_F(LaunchTest, checksPointers) {
  heddle_launch_options options = {};
  options.check_pointers = 1;
  EXPECT_REFUSED(tryLaunch(args(), options), HEDDLE_INVALID_ARGUMENT,
                 "argument A: not device memory");
  auto list = args();
  ASSERT_TRUE(device->alloc(100 * 64 * 2, list[0].data).ok());
  ASSERT_TRUE(device->alloc(70 * 64 * 2, list[1].data).ok());
  ASSERT_TRUE(device->alloc(100 * 70 * 4 - 4, list[2].data).ok());
  EXPECT_REFUSED(tryLaunch(list, options), HEDDLE_OUT_OF_RANGE,
                 "argument D: expected 28000 bytes from its address, the allocation has 27996");
  ASSERT_TRUE(device->alloc(100 * 70 * 4, list[2].data).ok());
  EXPECT_TRUE(tryLaunch(list, options).ok());
}

// A check chooses like a launch and launches nothing.
TEST_F(LaunchTest, checkOnly) {
  ASSERT_TRUE(launch(*kernel, args(), {}, false, variant).ok());
  EXPECT_EQ(variant, 1);
  EXPECT_TRUE(device->launches.empty());
}

// Once its tensor maps are known, a launch whose first form fits takes nothing from the heap.
TEST_F(LaunchTest, allocatesNothing) {
  auto list = args();
  ASSERT_TRUE(launch(*kernel, list, {}, false, variant).ok());
  int before = heapUses;
  Status status = launch(*kernel, list, {}, false, variant);
  int after = heapUses;
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(after - before, 0);
  auto counted = std::make_unique<int>(1); // the counter counts
  EXPECT_GT(heapUses, after);
}
