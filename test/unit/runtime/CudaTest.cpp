//===- CudaTest.cpp - the runtime on a real GPU ------------------------- ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Skipped, with the cause, where there is no GPU.

#include "TestPackages.h"
#include "heddle-rt/heddle.hpp"
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <optional>

using namespace heddle::rt::test;
using heddle::Tensor;
using testing::HasSubstr;

namespace {

class Cuda : public testing::Test {
protected:
  void SetUp() override {
    auto opened = heddle::Device::open("cuda:0");
    if (!opened)
      GTEST_SKIP() << opened.status().text();
    device = std::move(*opened);
    auto bytes = bytesOf(vectorAddPackage());
    auto module = device->load(bytes.data(), bytes.size());
    ASSERT_TRUE(module) << module.status().text();
    auto found = module->kernel();
    ASSERT_TRUE(found) << found.status().text();
    kernel = std::move(*found);
  }

  heddle::Buffer upload(const std::vector<float> &values) {
    auto buffer = device->alloc(values.size() * 4);
    EXPECT_TRUE(buffer);
    EXPECT_TRUE(buffer->upload(values.data(), values.size() * 4));
    return std::move(*buffer);
  }

  static Tensor vector(const heddle::Buffer &buffer, int64_t count) {
    return Tensor{HEDDLE_F32, buffer.data(), {count}, {}};
  }

  std::optional<heddle::Device> device;
  std::optional<heddle::Kernel> kernel;
};

} // namespace

// PTX through the driver; a size that does not fill the last block.
TEST_F(Cuda, vectorAdd) {
  const int64_t count = 1000;
  std::vector<float> a(count), b(count), d(count, -1);
  std::iota(a.begin(), a.end(), 0.0f);
  std::iota(b.begin(), b.end(), 0.5f);
  heddle::Buffer bufferA = upload(a), bufferB = upload(b), bufferD = upload(d);
  auto stream = device->createStream();
  ASSERT_TRUE(stream);
  heddle_launch_options options = {};
  options.stream = *stream;
  options.check_pointers = 1;
  heddle::Status status = kernel->launch(
      {vector(bufferA, count), vector(bufferB, count), vector(bufferD, count)}, options);
  ASSERT_TRUE(status) << status.text();
  ASSERT_TRUE(bufferD.download(d.data(), count * 4, *stream));
  for (int64_t i = 0; i < count; ++i)
    ASSERT_EQ(d[size_t(i)], a[size_t(i)] + b[size_t(i)]) << i;
}

// A launch is recorded by a stream capture and replays with the graph.
TEST_F(Cuda, graphCapture) {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW);
  ASSERT_NE(driver, nullptr);
  auto begin = reinterpret_cast<int (*)(void *, int)>(dlsym(driver, "cuStreamBeginCapture_v2"));
  auto end = reinterpret_cast<int (*)(void *, void **)>(dlsym(driver, "cuStreamEndCapture"));
  auto instantiate = reinterpret_cast<int (*)(void **, void *, unsigned long long)>(
      dlsym(driver, "cuGraphInstantiateWithFlags"));
  auto replay = reinterpret_cast<int (*)(void *, void *)>(dlsym(driver, "cuGraphLaunch"));
  ASSERT_TRUE(begin && end && instantiate && replay);
  // The runtime leaves no context current; the calls of a graph's owner need one.
  auto retain = reinterpret_cast<int (*)(void **, int)>(dlsym(driver, "cuDevicePrimaryCtxRetain"));
  auto release = reinterpret_cast<int (*)(int)>(dlsym(driver, "cuDevicePrimaryCtxRelease_v2"));
  auto setCurrent = reinterpret_cast<int (*)(void *)>(dlsym(driver, "cuCtxSetCurrent"));
  ASSERT_TRUE(retain && release && setCurrent);
  void *context = nullptr;
  ASSERT_EQ(retain(&context, 0), 0);
  ASSERT_EQ(setCurrent(context), 0);

  heddle::Buffer a = upload({1, 2, 3}), b = upload({10, 20, 30}), d = upload({0, 0, 0});
  auto stream = device->createStream();
  ASSERT_TRUE(stream);
  ASSERT_TRUE(device->sync());
  heddle_launch_options options = {};
  options.stream = *stream;
  options.check_pointers = 1;
  ASSERT_EQ(begin(*stream, /*global*/ 0), 0);
  heddle::Status status = kernel->launch({vector(a, 3), vector(b, 3), vector(d, 3)}, options);
  void *graph = nullptr, *executable = nullptr;
  ASSERT_EQ(end(*stream, &graph), 0);
  ASSERT_TRUE(status) << status.text();
  std::vector<float> got(3);
  ASSERT_TRUE(d.download(got.data(), 12, *stream));
  EXPECT_THAT(got, testing::ElementsAre(0, 0, 0));
  ASSERT_EQ(instantiate(&executable, graph, 0), 0);
  ASSERT_EQ(replay(executable, *stream), 0);
  ASSERT_TRUE(d.download(got.data(), 12, *stream));
  EXPECT_THAT(got, testing::ElementsAre(11, 22, 33));
  EXPECT_EQ(setCurrent(nullptr), 0);
  EXPECT_EQ(release(0), 0);
}

TEST_F(Cuda, hostPointerIsRefused) {
  heddle::Buffer a = upload({1, 2, 3}), d = upload({0, 0, 0});
  std::vector<float> host(3);
  heddle_launch_options options = {};
  options.check_pointers = 1;
  heddle::Status status = kernel->launch(
      {vector(a, 3), Tensor{HEDDLE_F32, host.data(), {3}, {}}, vector(d, 3)}, options);
  EXPECT_EQ(status.code(), HEDDLE_INVALID_ARGUMENT);
  EXPECT_THAT(status.message(), HasSubstr("argument B"));
}

TEST_F(Cuda, outOfMemoryTellsNumbers) {
  auto buffer = device->alloc(uint64_t(1) << 46);
  heddle::Status status = buffer.status();
  EXPECT_EQ(status.code(), HEDDLE_OUT_OF_MEMORY);
  EXPECT_THAT(status.message(), HasSubstr("need 70368744177664 bytes"));
  EXPECT_THAT(status.message(), HasSubstr("are free"));
}

// PTX that does not assemble is an error with the assembler's words.
TEST_F(Cuda, brokenPtx) {
  auto package = vectorAddPackage();
  package.images[0]->ptx = ".version 7.0\n.target sm_80\n.address_size 64\nthis is not ptx\n";
  auto bytes = bytesOf(package);
  auto module = device->load(bytes.data(), bytes.size());
  ASSERT_TRUE(module);
  auto broken = module->kernel();
  heddle::Status status = broken.status();
  EXPECT_EQ(status.code(), HEDDLE_DEVICE_ERROR);
  EXPECT_THAT(status.message(), HasSubstr("cannot load the PTX for sm_80 on cuda:0"));
}

TEST_F(Cuda, missingEntry) {
  auto package = vectorAddPackage();
  package.kernels[0]->variants[0]->entry = "absent";
  auto bytes = bytesOf(package);
  auto module = device->load(bytes.data(), bytes.size());
  ASSERT_TRUE(module);
  auto absent = module->kernel();
  EXPECT_THAT(absent.status().message(), HasSubstr("cannot find entry 'absent'"));
}

TEST_F(Cuda, noSuchGpu) {
  auto opened = heddle::Device::open("cuda:1000");
  EXPECT_EQ(opened.status().code(), HEDDLE_NOT_FOUND);
}
