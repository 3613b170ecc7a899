//===- InspectTest.cpp - heddle-inspect -----------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Sample.h"

#include "heddle/Package/Inspect.h"
#include "heddle/Package/Writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace heddle;
using namespace heddle::pkg;
using namespace heddle::pkg::test;
using testing::HasSubstr;
using testing::Not;

namespace {

namespace fs = std::filesystem;

class InspectTest : public testing::Test {
protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "heddle-inspect-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
    write(samplePackage());
  }
  void TearDown() override { fs::remove_all(folder); }

  void write(const PackageT &package) {
    Expected<void> written = writePackage(package, file());
    ASSERT_TRUE(written) << written.error().message;
  }
  std::string file() const { return (folder / "matmul.hdl").string(); }
  std::string path(const char *name) const { return (folder / name).string(); }

  /// Runs the command; `out` and `err` hold what it printed.
  int run(std::vector<std::string> args) {
    std::vector<const char *> argv = {"heddle-inspect"};
    for (const std::string &arg : args)
      argv.push_back(arg.c_str());
    std::ostringstream outStream, errStream;
    const int status =
        inspectMain(static_cast<int>(argv.size()), argv.data(), outStream, errStream);
    out = outStream.str();
    err = errStream.str();
    return status;
  }
  static std::string contents(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  fs::path folder;
  std::string out, err;
};

TEST_F(InspectTest, ShowsEverything) {
  ASSERT_EQ(run({file()}), 0) << err;
  for (const char *part :
       {"package format 2, compiler 0.1.0",
        "kernel matmul (run-time sizes M, K)",
        "a      input   bf16 [M, K]",
        "scale  scalar  f32",
        "d      output  bf16 [M, 256], strides [256, 1]",
        "K at least 1",
        "operations  M * K * 512",
        "reference   8 nodes",
        "variant sm_90a",
        "entry       matmul_sm_90a (image 0)",
        "grid        min(ceil_div(M, 128) * 2, sm_count) x 1 x 1",
        "block       384 x 1 x 1 (12 warps)",
        "cluster     2 x 1 x 1",
        "shared      200704 bytes dynamic",
        "registers   168 a thread at launch",
        "resident    sm_count CTAs at once",
        "schedule    tile=128x128x64 stages=4",
        "load          warps 0-3   40 registers a thread",
        "mma           warps 4-11  232 registers a thread",
        "0   tensor map 0 of a",
        "2   pointer d",
        "3   f32 scale",
        "4   i32 M",
        "5   i64 K",
        "0   a bf16 [K, M], strides [K * 2] bytes, box [64, 128], swizzle 128, L2 promotion 256",
        "row stride of a in bytes (K * 2) a multiple of 16",
        "address of a aligned to 16 bytes",
        "M at most 1048576",
        "variant sm_80",
        "registers   unknown: not assembled",
        "0   sm_90a    PTX 8.0, ",
        "; cubin, 8 bytes",
        "; no cubin"})
    EXPECT_THAT(out, HasSubstr(part));
  EXPECT_THAT(out, Not(HasSubstr(" \n")));
}

TEST_F(InspectTest, LeavesNoPaddingBehindAnUnknownNumberOfRegisters) {
  PackageT package = samplePackage();
  package.kernels[0]->variants[0]->roles[0]->registers = 0;
  write(package);
  ASSERT_EQ(run({file()}), 0) << err;
  EXPECT_THAT(out, HasSubstr("load          warps 0-3\n"));
}

TEST_F(InspectTest, PrintsJson) {
  ASSERT_EQ(run({file(), "--json"}), 0) << err;
  const nlohmann::json json = nlohmann::json::parse(out);
  EXPECT_EQ(json["compiler_version"], "0.1.0");
  const auto &kernel = json["kernels"][0];
  EXPECT_EQ(kernel["symbols"], (nlohmann::json{"M", "K"}));
  EXPECT_EQ(kernel["arguments"][1]["shape"], (nlohmann::json{256, "K"}));
  EXPECT_EQ(kernel["arguments"][2]["kind"], "scalar");
  EXPECT_EQ(kernel["operations"], "M * K * 512");
  const auto &variant = kernel["variants"][0];
  EXPECT_EQ(variant["grid"][0], "min(ceil_div(M, 128) * 2, sm_count)");
  EXPECT_EQ(variant["block"], (nlohmann::json{384, 1, 1}));
  EXPECT_EQ(variant["roles"][1]["registers"], 232);
  EXPECT_EQ(variant["schedule"]["tile"], "128x128x64");
  EXPECT_EQ(variant["tensor_maps"][0]["strides_bytes"][0], "K * 2");
  EXPECT_EQ(variant["parameters"][3]["argument"], "scale");
  EXPECT_EQ(variant["constraints"][1]["kind"], "pointer_alignment");
  EXPECT_EQ(kernel["variants"][1]["registers"], nullptr);
  EXPECT_EQ(json["images"][0]["cubin_bytes"], 8);
  EXPECT_EQ(json["images"][1]["ptx_version"], "8.0");
}

TEST_F(InspectTest, PrintsSpecsWithoutControlCharacters) {
  PackageT package = samplePackage();
  package.kernels[0]->spec = "a\x1b[31m\tb\xc3\xa4\xff\xc2\x9b";
  write(package);
  ASSERT_EQ(run({file(), "--spec"}), 0) << err;
  EXPECT_EQ(out, "a\\x1b[31m\tb\xc3\xa4\\xff\\xc2\\x9b\n");
  package.kernels[0]->spec = "";
  write(package);
  ASSERT_EQ(run({file(), "--spec"}), 0) << err;
  EXPECT_EQ(out, "// kernel matmul has no spec in the package\n");
  // JSON stays valid whatever the spec holds.
  package.kernels[0]->spec = "\xff\xfe";
  write(package);
  ASSERT_EQ(run({file(), "--json"}), 0) << err;
  EXPECT_TRUE(nlohmann::json::accept(out));
}

TEST_F(InspectTest, ExtractsImages) {
  const std::string target = path("new/folder");
  ASSERT_EQ(run({file(), "--extract-ptx", "--extract-cubin", "-o", target}), 0) << err;
  EXPECT_EQ(out, target + "/matmul.sm_90a.ptx\n" + target + "/matmul.sm_80.ptx\n" + target +
                     "/matmul.sm_90a.cubin\n");
  EXPECT_EQ(contents(target + "/matmul.sm_80.ptx"), samplePackage().images[1]->ptx);
  EXPECT_EQ(contents(target + "/matmul.sm_90a.cubin").substr(0, 4), "\x7f"
                                                                    "ELF");
}

TEST_F(InspectTest, KeepsImagesOfOneTargetApart) {
  PackageT package = samplePackage();
  package.images.push_back(std::make_unique<ImageT>(*package.images[1]));
  package.images[2]->ptx += "// another\n";
  write(package);
  ASSERT_EQ(run({file(), "--extract-ptx", "-o", path("out")}), 0) << err;
  EXPECT_EQ(contents(path("out/matmul.sm_80.2.ptx")), package.images[2]->ptx);
  EXPECT_EQ(contents(path("out/matmul.sm_80.ptx")), package.images[1]->ptx);
}

TEST_F(InspectTest, StaysInsideTheFolder) {
  PackageT package = samplePackage();
  package.images[1]->target = package.kernels[0]->variants[1]->target = "/../../x";
  write(package);
  ASSERT_EQ(run({file(), "--extract-ptx", "-o", path("out")}), 0) << err;
  EXPECT_TRUE(fs::exists(path("out/matmul._.._.._x.ptx"))) << out;
}

TEST_F(InspectTest, ShowsOneKernel) {
  PackageT package = samplePackage();
  package.kernels.push_back(std::make_unique<KernelT>(*package.kernels[0]));
  package.kernels[1]->name = "other";
  package.kernels[1]->variants.erase(package.kernels[1]->variants.begin());
  write(package);
  ASSERT_EQ(run({file(), "--kernel", "other"}), 0) << err;
  EXPECT_THAT(out, HasSubstr("kernel other"));
  EXPECT_THAT(out, Not(HasSubstr("matmul (run-time")));
  EXPECT_THAT(out, Not(HasSubstr("0   sm_90a")));
  EXPECT_EQ(run({file(), "--kernel", "nobody"}), 1);
  EXPECT_EQ(err, "heddle-inspect: error: " + file() +
                     ": expected the name of a kernel (matmul, other), got nobody\n");
}

TEST_F(InspectTest, ReportsErrors) {
  EXPECT_EQ(run({path("missing.hdl")}), 1);
  EXPECT_THAT(err, HasSubstr("missing.hdl: cannot open: No such file or directory"));
  std::ofstream(path("text.hdl")) << "hello, this is no package";
  EXPECT_EQ(run({path("text.hdl")}), 1);
  EXPECT_THAT(err,
              HasSubstr("text.hdl: not a package: expected the file identifier HDL1, got o, t"));
  std::ofstream(path("blocked")) << "";
  EXPECT_EQ(run({file(), "--extract-ptx", "-o", path("blocked/x")}), 1);
  EXPECT_THAT(err, HasSubstr("blocked/x: cannot make the folder: Not a directory"));
  PackageT package = samplePackage();
  package.images[0]->cubin.clear();
  write(package);
  EXPECT_EQ(run({file(), "--extract-cubin", "-o", path("out")}), 1);
  EXPECT_THAT(err, HasSubstr("expected a cubin in the package, found only PTX"));
}

TEST_F(InspectTest, ChecksTheCommandLine) {
  EXPECT_EQ(run({}), 2);
  EXPECT_EQ(err, "heddle-inspect: error: FILE is required\n");
  EXPECT_EQ(run({file(), "--json", "--spec"}), 2);
  EXPECT_EQ(run({file(), "--nonsense"}), 2);
  EXPECT_EQ(err, "heddle-inspect: error: The following argument was not expected: --nonsense\n");
  EXPECT_EQ(run({"--kernel=", file()}), 2);
  EXPECT_EQ(err, "heddle-inspect: error: --kernel: expected a value after '=', got nothing\n");
  EXPECT_EQ(run({file(), "--extract-ptx", "-o", ""}), 2);
  EXPECT_EQ(err, "heddle-inspect: error: -o: expected a value, got an empty text\n");
  EXPECT_EQ(run({file(), "-o", path("out")}), 2);
  EXPECT_THAT(err, HasSubstr("expected --extract-ptx or --extract-cubin"));
  EXPECT_EQ(run({"--help"}), 0);
  EXPECT_THAT(out, HasSubstr("heddle-inspect gemm.hdl --spec"));
  EXPECT_EQ(run({"--version"}), 0);
  EXPECT_THAT(out, HasSubstr("heddle-inspect "));
}

TEST_F(InspectTest, ReportsThatOutputFails) {
  std::ostringstream errStream;
  std::ofstream full("/dev/full");
  const std::string name = file();
  const char *argv[] = {"heddle-inspect", name.c_str()};
  EXPECT_EQ(inspectMain(2, argv, full, errStream), 1);
  EXPECT_EQ(errStream.str(), "heddle-inspect: error: cannot write the output\n");
}

} // namespace
