//===- WriterTest.cpp - writing packages ----------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Sample.h"

#include "heddle/Package/Writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace heddle;
using namespace heddle::pkg;
using namespace heddle::pkg::test;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

namespace fs = std::filesystem;

class WriterTest : public testing::Test {
protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "heddle-writer-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string path(const char *name) const { return (folder / name).string(); }
  size_t entries() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }
  static std::string contents(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  fs::path folder;
};

TEST_F(WriterTest, WritesWhatOpensAgain) {
  ASSERT_TRUE(writePackage(samplePackage(), path("a.hdl")));
  Expected<PackageFile> file = PackageFile::fromFile(path("a.hdl"));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(packUnchecked(*file->unpack()), packUnchecked(samplePackage()));
  EXPECT_EQ(entries(), 1u);
}

TEST_F(WriterTest, SetsTheFormatVersionAndIsDeterministic) {
  PackageT package = samplePackage();
  package.format_version = 0;
  Expected<std::vector<uint8_t>> first = packageBytes(package), second = packageBytes(package);
  ASSERT_TRUE(first);
  EXPECT_EQ(*first, *second);
  EXPECT_EQ(package.format_version, 0u) << "the argument is left alone";
}

TEST_F(WriterTest, RefusesWhatWouldNotOpen) {
  PackageT package = samplePackage();
  package.kernels[0]->variants[0]->block[0] = 0;
  Expected<void> written = writePackage(package, path("a.hdl"));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::InvalidArgument);
  EXPECT_THAT(written.error().message, StartsWith(path("a.hdl") + ": kernel matmul: variant 0: "));
  EXPECT_EQ(entries(), 0u);
}

TEST_F(WriterTest, ReplacesAFile) {
  ASSERT_TRUE(writeFileAtomically(path("x"), std::string_view("old and long")));
  ASSERT_TRUE(writeFileAtomically(path("x"), std::string_view("new")));
  EXPECT_EQ(contents(path("x")), "new");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(WriterTest, UsesTheUsersPermissions) {
  const mode_t before = ::umask(0027);
  ASSERT_TRUE(writeFileAtomically(path("x"), std::string_view("x")));
  ::umask(before);
  struct stat info{};
  ASSERT_EQ(::stat(path("x").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST_F(WriterTest, TellsThePathAndTheCause) {
  Expected<void> written = writeFileAtomically(path("missing/a.hdl"), std::string_view("x"));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::Io);
  EXPECT_EQ(written.error().message,
            path("missing/a.hdl") +
                ": cannot create a file in its folder: No such file or directory");
  fs::create_directory(path("folder"));
  written = writeFileAtomically(path("folder"), std::string_view("x"));
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, EndsWith("folder: expected a regular file or none"));
}

TEST_F(WriterTest, LeavesNothingHalfWritten) {
  ASSERT_TRUE(writeFileAtomically(path("x"), std::string_view("old")));
  // A file size limit stands for a full disk: the write fails in its middle.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{1000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  Expected<void> written = writeFileAtomically(path("x"), std::string_view(std::string(5000, 'n')));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, path("x") + ": cannot write: File too large");
  EXPECT_EQ(contents(path("x")), "old");
  EXPECT_EQ(entries(), 1u);
}

} // namespace
