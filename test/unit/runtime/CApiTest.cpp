//===- CApiTest.cpp - the C interface as a user sees it ------------------ ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestPackages.h"
#include "heddle-rt/heddle.hpp"
#include "heddle/Package/Checksum.h"
#include "heddle/Package/Numeric.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace heddle::rt::test;
using heddle::Argument;
using heddle::Tensor;
using testing::HasSubstr;

namespace {

class CApi : public testing::Test {
protected:
  void SetUp() override { registerFake(); }
  std::vector<uint8_t> package = bytesOf(gemmPackage({{"sm_90a"}}));
};

std::vector<uint16_t> bf16(std::initializer_list<double> values) {
  std::vector<uint16_t> bits;
  for (double value : values)
    bits.push_back(heddle::pkg::toBF16(value));
  return bits;
}

} // namespace

// From the package to numbers: A is 2x3, B 2x3, D = 2 A B^T.
TEST_F(CApi, runsAKernel) {
  auto device = heddle::Device::open("fake:9.0");
  ASSERT_TRUE(device) << device.status().text();
  auto module = device->load(package.data(), package.size());
  ASSERT_TRUE(module) << module.status().text();
  EXPECT_THAT(module->kernelNames(), testing::ElementsAre("gemm"));
  auto kernel = module->kernel();
  ASSERT_TRUE(kernel) << kernel.status().text();

  auto a = bf16({1, 2, 3, 4, 5, 6}), b = bf16({1, 0, 1, 0, 1, 0});
  auto bufferA = device->alloc(12), bufferB = device->alloc(12), bufferD = device->alloc(16);
  ASSERT_TRUE(bufferA && bufferB && bufferD);
  ASSERT_TRUE(bufferA->upload(a.data(), 12) && bufferB->upload(b.data(), 12));
  auto stream = device->createStream();
  ASSERT_TRUE(stream);
  heddle_launch_options options = {};
  options.stream = *stream;
  options.check_pointers = 1;
  heddle::Status status = kernel->launch({Tensor{HEDDLE_BF16, bufferA->data(), {2, 3}, {}},
                                          Tensor{HEDDLE_BF16, bufferB->data(), {2, 3}, {}},
                                          Tensor{HEDDLE_F32, bufferD->data(), {2, 2}, {}}, 2.0},
                                         options);
  ASSERT_TRUE(status) << status.text();
  EXPECT_EQ(lastFake().launches.back().stream, static_cast<heddle_stream>(*stream));
  std::vector<float> d(4);
  ASSERT_TRUE(bufferD->download(d.data(), 16, *stream));
  EXPECT_THAT(d, testing::ElementsAre(8, 4, 20, 10));
}

// Modules, streams, events and buffers may outlive the handle of their device.
TEST_F(CApi, anyOrderOfDestruction) {
  heddle_device device = nullptr;
  heddle_module module = nullptr;
  heddle_event event = nullptr;
  ASSERT_EQ(heddle_device_open("fake:9.0", &device), nullptr);
  ASSERT_EQ(heddle_module_load(device, package.data(), package.size(), &module), nullptr);
  ASSERT_EQ(heddle_event_create(device, &event), nullptr);
  heddle_device_close(device);
  heddle_kernel kernel = nullptr;
  EXPECT_EQ(heddle_module_kernel(module, "gemm", &kernel), nullptr);
  EXPECT_STREQ(heddle_kernel_name(kernel), "gemm");
  EXPECT_EQ(heddle_event_record(event, nullptr), nullptr);
  heddle_module_unload(module);
  heddle_event_destroy(event);
}

TEST_F(CApi, describesArguments) {
  auto device = heddle::Device::open("fake:9.0");
  auto module = device->load(package.data(), package.size());
  auto kernel = module->kernel("gemm");
  ASSERT_EQ(kernel->argumentCount(), 4u);
  auto a = kernel->argument(0), d = kernel->argument(2), alpha = kernel->argument(3),
       none = kernel->argument(4);
  EXPECT_STREQ(a->name, "A");
  EXPECT_EQ(a->rank, 2);
  EXPECT_EQ(a->shape[1], -1);
  EXPECT_STREQ(a->symbols[1], "K");
  EXPECT_EQ(d->output, 1);
  EXPECT_EQ(alpha->kind, HEDDLE_SCALAR);
  EXPECT_EQ(none.status().code(), HEDDLE_INVALID_ARGUMENT);
  EXPECT_EQ(heddle_kernel_variant_count(kernel->handle()), 2u);
  EXPECT_THAT(heddle_kernel_variant_description(kernel->handle(), 1), HasSubstr("gemm_bulk"));
  EXPECT_EQ(heddle_kernel_variant_description(kernel->handle(), 0), nullptr);
  EXPECT_EQ(heddle_kernel_variant_description(kernel->handle(), 3), nullptr);
}

TEST_F(CApi, listsDevices) {
  auto devices = heddle::Device::list();
  ASSERT_TRUE(devices);
  bool found = false;
  for (const heddle_device_info &info : *devices)
    found |= std::string(info.name) == "fake:9.0";
  EXPECT_TRUE(found);
}

// Errors carry a code, a cause and the place that found them.
TEST_F(CApi, errors) {
  auto unknown = heddle::Device::open("tpu:0");
  heddle::Status status = unknown.status();
  EXPECT_EQ(status.code(), HEDDLE_NOT_FOUND);
  EXPECT_THAT(status.message(), HasSubstr("got 'tpu:0'"));
  EXPECT_THAT(status.location(), HasSubstr("Registry.cpp:"));
  EXPECT_STREQ(heddle_code_name(HEDDLE_NO_IMAGE), "no image");
  EXPECT_STREQ(heddle_code_name(static_cast<heddle_code>(99)), "unknown code");
  EXPECT_EQ(heddle_status_code(nullptr), HEDDLE_OK);
  heddle_status_destroy(nullptr);
}

TEST_F(CApi, nullsAreErrors) {
  heddle_device device = nullptr;
  heddle_module module = nullptr;
  heddle_kernel kernel = nullptr;
  void *pointer = nullptr;
  heddle_device_info info;
  auto refused = [](heddle_status raw) {
    heddle::Status status(raw);
    return status.code() == HEDDLE_INVALID_ARGUMENT &&
           status.message().find("NULL") != std::string::npos;
  };
  EXPECT_TRUE(refused(heddle_device_open(nullptr, &device)));
  EXPECT_TRUE(refused(heddle_device_open("fake:9.0", nullptr)));
  EXPECT_TRUE(refused(heddle_device_properties(nullptr, &info)));
  EXPECT_TRUE(refused(heddle_device_list(nullptr, 3, nullptr)));
  EXPECT_TRUE(refused(heddle_alloc(nullptr, 1, &pointer)));
  EXPECT_TRUE(refused(heddle_module_load(nullptr, &info, 1, &module)));
  EXPECT_TRUE(refused(heddle_module_load_file(nullptr, "x", &module)));
  EXPECT_TRUE(refused(heddle_module_kernel(nullptr, "x", &kernel)));
  EXPECT_TRUE(refused(heddle_launch(nullptr, nullptr, 0, nullptr)));
  EXPECT_TRUE(refused(heddle_event_record(nullptr, nullptr)));
  EXPECT_TRUE(refused(heddle_event_elapsed(nullptr, nullptr, nullptr)));
  EXPECT_EQ(heddle_kernel_arg_count(nullptr), 0u);
  EXPECT_EQ(heddle_module_kernel_count(nullptr), 0u);
  heddle_module_unload(nullptr);
  heddle_device_close(nullptr);
}

TEST_F(CApi, outOfMemory) {
  auto device = heddle::Device::open("fake:9.0");
  lastFake().capacity = 1000;
  auto buffer = device->alloc(2000);
  heddle::Status status = buffer.status();
  EXPECT_EQ(status.code(), HEDDLE_OUT_OF_MEMORY);
  EXPECT_THAT(status.message(),
              HasSubstr("out of memory on fake:9.0: need 2000 bytes, 1000 of 1000 are free"));
  auto none = device->alloc(0);
  ASSERT_TRUE(none);
  EXPECT_EQ(none->data(), nullptr);
}

// What fails on the device surfaces at the next sync or check.
TEST_F(CApi, asynchronousErrors) {
  auto device = heddle::Device::open("fake:9.0");
  EXPECT_TRUE(device->check());
  lastFake().asyncError = "illegal address";
  EXPECT_EQ(device->check().code(), HEDDLE_DEVICE_LOST);
  EXPECT_EQ(device->sync().code(), HEDDLE_DEVICE_LOST);
}

TEST_F(CApi, damagedPackages) {
  auto device = heddle::Device::open("fake:9.0");
  auto missing = device->loadFile("/nonexistent.hdl");
  EXPECT_EQ(missing.status().code(), HEDDLE_NOT_FOUND);
  auto empty = device->load("", 0);
  EXPECT_EQ(empty.status().code(), HEDDLE_INVALID_PACKAGE);
  for (size_t length = 0; length < package.size(); length += 37) {
    auto cut = device->load(package.data(), length);
    EXPECT_EQ(cut.status().code(), HEDDLE_INVALID_PACKAGE) << length;
  }
}

TEST_F(CApi, emptyPath) {
  auto device = heddle::Device::open("fake:9.0");
  heddle_module module = nullptr;
  heddle::Status status(heddle_module_load_file(device->handle(), "", &module));
  EXPECT_EQ(status.code(), HEDDLE_INVALID_ARGUMENT);
  EXPECT_THAT(std::string(status.message()),
              testing::HasSubstr("expected a path, got an empty text"));
}

// Every byte flipped: an error that says so.
TEST_F(CApi, flippedBytes) {
  auto device = heddle::Device::open("fake:9.0");
  for (size_t i = 0; i < package.size(); ++i) {
    std::vector<uint8_t> bytes = package;
    bytes[i] ^= 0x41;
    EXPECT_EQ(device->load(bytes.data(), bytes.size()).status().code(), HEDDLE_INVALID_PACKAGE)
        << i;
  }
}

// With a checksum that is right again, as a hostile package has one: every kernel of what still
// loads is looked up, for errors, never a crash.
TEST_F(CApi, flippedBytesUnderARightChecksum) {
  auto device = heddle::Device::open("fake:9.0");
  auto data = heddle::pkg::unsealed(package);
  ASSERT_TRUE(data);
  int loaded = 0;
  for (size_t i = 0; i < data->size(); ++i) {
    std::vector<uint8_t> bytes(data->begin(), data->end());
    bytes[i] ^= 0x41;
    heddle::pkg::seal(bytes);
    auto module = device->load(bytes.data(), bytes.size());
    if (!module)
      continue;
    for (const std::string &name : module->kernelNames())
      loaded += bool(module->kernel(name));
  }
  EXPECT_GT(loaded, 0);
}
