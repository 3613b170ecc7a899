//===- EmulatorTest.cpp - the runtime on the emulator ---------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestPackages.h"
#include "heddle-rt/heddle.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <optional>
#include <thread>

using namespace heddle::rt::test;
using heddle::Tensor;
using testing::HasSubstr;

namespace {

class Emulator : public testing::Test {
protected:
  void SetUp() override {
    auto opened = heddle::Device::open("emulator:sm_80,sms=2,seed=3");
    ASSERT_TRUE(opened) << opened.status().text();
    device = std::move(*opened);
  }

  heddle::Result<heddle::Kernel> load(const heddle::pkg::PackageT &package) {
    auto bytes = bytesOf(package);
    auto module = device->load(bytes.data(), bytes.size());
    if (!module)
      return module.status();
    return module->kernel();
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
};

} // namespace

// The PTX of a package runs and its result comes back.
TEST_F(Emulator, vectorAdd) {
  auto kernel = load(vectorAddPackage());
  ASSERT_TRUE(kernel) << kernel.status().text();
  EXPECT_THAT(heddle_kernel_variant_description(kernel->handle(), 1),
              HasSubstr("sm_80 emulated ptx"));
  const int64_t count = 300;
  std::vector<float> a(count), d(count, -1);
  std::iota(a.begin(), a.end(), 0.0f);
  heddle::Buffer bufferA = upload(a), bufferB = upload(a), bufferD = upload(d);
  heddle_launch_options options = {};
  options.check_pointers = 1;
  heddle::Status status = kernel->launch(
      {vector(bufferA, count), vector(bufferB, count), vector(bufferD, count)}, options);
  ASSERT_TRUE(status) << status.text();
  ASSERT_TRUE(bufferD.download(d.data(), count * 4));
  for (int64_t i = 0; i < count; ++i)
    ASSERT_EQ(d[size_t(i)], 2 * a[size_t(i)]) << i;
}

// What a kernel does wrong surfaces at the next sync and stays.
TEST_F(Emulator, kernelErrorsStay) {
  auto kernel = load(vectorAddPackage());
  ASSERT_TRUE(kernel) << kernel.status().text();
  heddle::Buffer a = upload(std::vector<float>(100)), d = upload(std::vector<float>(100));
  const int64_t tooMany = int64_t(1) << 20; // past the end of the allocations
  ASSERT_TRUE(kernel->launch({vector(a, tooMany), vector(a, tooMany), vector(d, tooMany)}));
  heddle::Status status = device->sync();
  EXPECT_EQ(status.code(), HEDDLE_DEVICE_LOST);
  EXPECT_THAT(status.message(), HasSubstr("a kernel failed on emulator:sm_80: 'vector_add'"));
  EXPECT_EQ(device->check().code(), HEDDLE_DEVICE_LOST);
  EXPECT_EQ(kernel->launch({vector(a, 100), vector(a, 100), vector(d, 100)}).code(),
            HEDDLE_DEVICE_LOST);
}

// An emulated device runs its own target's images only.
TEST_F(Emulator, onlyItsOwnTarget) {
  auto other = heddle::Device::open("emulator:sm_90a");
  ASSERT_TRUE(other);
  auto bytes = bytesOf(vectorAddPackage());
  auto module = other->load(bytes.data(), bytes.size());
  EXPECT_EQ(module.status().code(), HEDDLE_NO_IMAGE);
}

TEST_F(Emulator, badPtx) {
  auto package = vectorAddPackage();
  package.images[0]->ptx = ".version 7.0\n.target sm_80\n.address_size 64\nthis is not ptx\n";
  auto kernel = load(package);
  heddle::Status status = kernel.status();
  EXPECT_EQ(status.code(), HEDDLE_DEVICE_ERROR);
  EXPECT_THAT(status.message(), HasSubstr("line 4"));
}

// A manifest whose parameters differ from the PTX is refused at load.
TEST_F(Emulator, parametersMustAgree) {
  auto package = vectorAddPackage();
  package.kernels[0]->variants[0]->params.pop_back();
  auto kernel = load(package);
  heddle::Status status = kernel.status();
  EXPECT_EQ(status.code(), HEDDLE_INVALID_PACKAGE);
  EXPECT_THAT(status.message(), HasSubstr("the PTX has 4 parameters, the manifest 3"));
}

TEST_F(Emulator, memory) {
  heddle::Buffer buffer = upload({1, 2, 3, 4});
  ASSERT_TRUE(buffer.fill(0));
  std::vector<float> got(4, 9);
  ASSERT_TRUE(buffer.download(got.data(), 16));
  EXPECT_THAT(got, testing::Each(0.0f));
  heddle::Status status = heddle_copy(device->handle(), got.data(),
                                      static_cast<char *>(buffer.data()) + 4, 16, nullptr);
  EXPECT_EQ(status.code(), HEDDLE_INVALID_ARGUMENT);
  auto tooMuch = device->alloc(uint64_t(1) << 38);
  EXPECT_EQ(tooMuch.status().code(), HEDDLE_OUT_OF_MEMORY);
}

TEST_F(Emulator, names) {
  EXPECT_THAT(heddle::Device::open("emulator:sm_42").status().message(), HasSubstr("sm_80, sm_89"));
  EXPECT_THAT(heddle::Device::open("emulator").status().message(),
              HasSubstr("expected emulator:<target>"));
  EXPECT_THAT(heddle::Device::open("emulator:sm_80,sms=0").status().message(),
              HasSubstr("got 'sms=0'"));
  EXPECT_THAT(heddle::Device::open("emulator:sm_80,speed=9").status().message(),
              HasSubstr("got 'speed=9'"));
}

namespace {

/// Two ranks: one puts A into the mailbox of the other and raises a flag there, the other waits for
/// the flag and doubles what came.
class EmulatorGroup : public testing::Test {
protected:
  static constexpr int64_t count = 100;

  void open(const std::string &options) {
    for (auto &rank : ranks) {
      auto opened = heddle::Device::open("emulator:sm_80,sms=1," + options);
      ASSERT_TRUE(opened) << opened.status().text();
      rank = std::move(*opened);
    }
    a = buffer(0, 3);
    mailbox = buffer(1, 0);
    flag = buffer(1, 0);
    result = buffer(1, 0);
  }

  std::optional<heddle::Buffer> buffer(int rank, float value) {
    auto made = ranks[rank]->alloc(count * 4);
    EXPECT_TRUE(made);
    std::vector<float> values(count, value);
    EXPECT_TRUE(made->upload(values.data(), count * 4));
    return std::move(*made);
  }

  /// The kernel with arguments a, b, d; thread in %r3, its element of each in %rd5 to %rd7.
  heddle::Result<heddle::Kernel> load(int rank, const std::string &body) {
    auto package = vectorAddPackage();
    std::string &ptx = package.images[0]->ptx;
    size_t from = ptx.find("ld.global.f32 %f1"), to = ptx.find("ret;", from);
    ptx.replace(from, to - from, body);
    ptx.replace(ptx.find(".pred %p;"), 9, ".pred %p, %q;");
    auto bytes = bytesOf(package);
    auto module = ranks[rank]->load(bytes.data(), bytes.size());
    if (!module)
      return module.status();
    return module->kernel();
  }

  heddle::Status launch(int rank, const std::string &body) {
    auto kernel = load(rank, body);
    EXPECT_TRUE(kernel) << kernel.status().text();
    auto vector = [](const heddle::Buffer &b) { return Tensor{HEDDLE_F32, b.data(), {count}, {}}; };
    return rank == 0 ? kernel->launch({vector(*a), vector(*flag), vector(*mailbox)})
                     : kernel->launch({vector(*mailbox), vector(*flag), vector(*result)});
  }
  heddle::Status send(const std::string &scope = "sys") {
    return launch(0, "ld.global.f32 %f1, [%rd5];\nst.global.f32 [%rd7], %f1;\nbar.sync 0;\n"
                     "setp.ne.u32 %q, %r3, 0;\n@%q ret;\nst.release." +
                         scope + ".global.u32 [%rd2], 1;\n");
  }
  heddle::Status receive() {
    return launch(
        1, "WAIT: ld.acquire.sys.global.u32 %r2, [%rd2];\nsetp.eq.u32 %q, %r2, 0;\n@%q bra WAIT;\n"
           "ld.global.f32 %f1, [%rd5];\nadd.f32 %f2, %f1, %f1;\nst.global.f32 [%rd7], %f2;\n");
  }
  void expectReceived() {
    std::vector<float> got(count);
    ASSERT_TRUE(result->download(got.data(), count * 4));
    EXPECT_THAT(got, testing::Each(6.0f));
  }

  std::optional<heddle::Device> ranks[2];
  std::optional<heddle::Buffer> a, mailbox, flag, result;
};

} // namespace

TEST_F(EmulatorGroup, KernelsWaitForEachOther) {
  open("group=wait,checks=races");
  ASSERT_TRUE(receive());
  ASSERT_TRUE(send());
  heddle::Status status = ranks[0]->sync();
  ASSERT_TRUE(status) << status.text();
  expectReceived();
}

TEST_F(EmulatorGroup, EachRankHasItsThread) {
  open("group=threads,seed=5");
  heddle::Status sent, received;
  std::thread first([&] {
    received = receive();
    if (received)
      received = ranks[1]->sync();
  });
  std::thread second([&] {
    sent = send();
    if (sent)
      sent = ranks[0]->sync();
  });
  first.join();
  second.join();
  ASSERT_TRUE(sent) << sent.text();
  ASSERT_TRUE(received) << received.text();
  expectReceived();
}

TEST_F(EmulatorGroup, TooSmallAScopeIsReported) {
  open("group=scope,checks=races");
  ASSERT_TRUE(receive());
  ASSERT_TRUE(send("gpu"));
  EXPECT_THAT(ranks[1]->sync().message(), HasSubstr("too small a scope"));
  EXPECT_EQ(ranks[0]->check().code(), HEDDLE_DEVICE_LOST);
}

TEST_F(EmulatorGroup, ADeadlockIsReported) {
  open("group=stuck");
  ASSERT_TRUE(receive());
  ranks[0].reset(); // nobody is left who could send
  a.reset();
  EXPECT_THAT(ranks[1]->sync().message(), HasSubstr("deadlock"));
}

TEST_F(EmulatorGroup, AllOpenItAlike) {
  open("group=alike");
  EXPECT_THAT(heddle::Device::open("emulator:sm_80,group=alike,seed=9").status().message(),
              HasSubstr("that group 'alike' was opened with"));
}
