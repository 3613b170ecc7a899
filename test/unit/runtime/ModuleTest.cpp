//===- ModuleTest.cpp - choice and loading of images --------------------- ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "core/Module.h"
#include "TestPackages.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::rt;
using namespace heddle::rt::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

struct Loaded {
  std::shared_ptr<FakeDevice> device;
  std::unique_ptr<Module> module;
  LoadedKernel *kernel = nullptr;
  Status status;
};

Loaded load(unsigned major, unsigned minor, const pkg::PackageT &package,
            const std::function<void(FakeDevice &)> &prepare = {}) {
  Loaded result;
  result.device = openFake(major, minor);
  if (prepare)
    prepare(*result.device);
  result.status = Module::load(result.device, fileOf(package), result.module);
  if (result.status)
    result.status = result.module->kernel("", result.kernel);
  return result;
}

const std::vector<ImageSpec> everything{{"sm_80"}, {"sm_89"}, {"sm_90a"}, {"sm_100a"}, {"sm_120a"}};

} // namespace

// The exact cubin is taken, once, for both forms.
TEST(Module, exactCubin) {
  Loaded result = load(9, 0, gemmPackage(everything));
  ASSERT_TRUE(result.status.ok()) << result.status.message();
  EXPECT_THAT(result.device->loaded, ElementsAre("sm_90a cubin"));
  EXPECT_EQ(result.kernel->variants.size(), 2u);
  EXPECT_THAT(result.kernel->variants[0].description, HasSubstr("sm_90a cubin, entry gemm_bulk"));
}

// A GPU of the family runs the cubin of an earlier member.
TEST(Module, familyCubin) {
  Loaded result = load(8, 6, gemmPackage(everything));
  ASSERT_TRUE(result.status.ok()) << result.status.message();
  EXPECT_THAT(result.device->loaded, ElementsAre("sm_80 cubin"));
}

// A newer GPU assembles the newest PTX that is not bound to one GPU.
TEST(Module, ptxForNewerGpus) {
  Loaded result = load(12, 1, gemmPackage(everything));
  ASSERT_TRUE(result.status.ok()) << result.status.message();
  EXPECT_THAT(result.device->loaded, ElementsAre("sm_89 ptx"));
}

TEST(Module, ptxOnlyPackage) {
  Loaded result = load(9, 0, gemmPackage({{"sm_90a", false}}));
  ASSERT_TRUE(result.status.ok()) << result.status.message();
  EXPECT_THAT(result.device->loaded, ElementsAre("sm_90a ptx"));
}

// A cubin that the driver refuses leaves the PTX beside it.
TEST(Module, refusedCubinFallsBackToPtx) {
  Loaded result =
      load(9, 0, gemmPackage({{"sm_90a"}}), [](FakeDevice &d) { d.refuseCubins = true; });
  ASSERT_TRUE(result.status.ok()) << result.status.message();
  EXPECT_THAT(result.device->loaded, ElementsAre("sm_90a ptx"));
  EXPECT_THAT(result.kernel->variants[0].description,
              HasSubstr("cubin refused; assembled from ptx"));
}

TEST(Module, everythingRefused) {
  Loaded result = load(9, 0, gemmPackage({{"sm_90a"}}),
                       [](FakeDevice &d) { d.refuseCubins = d.refusePtx = true; });
  EXPECT_EQ(result.status.code(), HEDDLE_DEVICE_ERROR);
  EXPECT_THAT(std::string(result.status.message()), HasSubstr("cubin refused: ptx refused"));
}

// A package for another GPU says what it holds and what the device is.
TEST(Module, packageForAnotherGpu) {
  Loaded result = load(7, 5, gemmPackage({{"sm_80"}, {"sm_90a"}}));
  EXPECT_EQ(result.status.code(), HEDDLE_NO_IMAGE);
  std::string message(result.status.message());
  EXPECT_THAT(message, HasSubstr("fake:7.5"));
  EXPECT_THAT(message, HasSubstr("compute capability 7.5"));
  EXPECT_THAT(message, HasSubstr("sm_80 (cubin, ptx), sm_90a (cubin, ptx)"));
}

TEST(Module, unknownKernel) {
  Loaded result = load(9, 0, gemmPackage({{"sm_90a"}}));
  LoadedKernel *kernel = nullptr;
  Status status = result.module->kernel("conv", kernel);
  EXPECT_EQ(status.code(), HEDDLE_NOT_FOUND);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("expected one of the kernels gemm, got conv"));
}

// A second look-up loads nothing again.
TEST(Module, loadsOnce) {
  Loaded result = load(9, 0, gemmPackage({{"sm_90a"}}));
  LoadedKernel *again = nullptr;
  ASSERT_TRUE(result.module->kernel("gemm", again).ok());
  EXPECT_EQ(again, result.kernel);
  EXPECT_EQ(result.device->loaded.size(), 1u);
}

// A run-time size that no argument gives is a defect of the package.
TEST(Module, unboundSize) {
  pkg::PackageT package = gemmPackage({{"sm_90a"}});
  package.kernels[0]->symbols.push_back("Q");
  Loaded result = load(9, 0, package);
  EXPECT_EQ(result.status.code(), HEDDLE_INVALID_PACKAGE);
  EXPECT_THAT(std::string(result.status.message()),
              HasSubstr("run-time size Q appears in no argument"));
}
