//===- CSourceTest.cpp - packages as C code -------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The generated code is compiled with every C compiler at hand, warnings being errors,
// and run against functions that print what the runtime would have been called with.
//
//===----------------------------------------------------------------------===//
#include "Sample.h"

#include "heddle/Package/CSource.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>

using namespace heddle;
using namespace heddle::pkg;
using namespace heddle::pkg::test;
using testing::HasSubstr;

namespace {

namespace fs = std::filesystem;

PackageFile openSample(const PackageT &package) {
  Expected<PackageFile> file = PackageFile::fromBytes(packUnchecked(package));
  EXPECT_TRUE(file) << file.error().message;
  return std::move(*file);
}

class CSourceTest : public testing::Test {
protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "heddle-csource-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string path(const std::string &name) const { return (folder / name).string(); }
  void write(const std::string &name, const std::string &text) {
    std::ofstream(path(name)) << text;
  }

  /// What a command prints; a failure is one of the test.
  static std::string shell(const std::string &command) {
    std::string text;
    FILE *pipe = ::popen((command + " 2>&1").c_str(), "r");
    EXPECT_NE(pipe, nullptr);
    char buffer[4096];
    for (size_t n; pipe && (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
      text.append(buffer, n);
    const int status = pipe ? ::pclose(pipe) : -1;
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << command << "\n" << text;
    return text;
  }
  static bool available(const std::string &compiler) {
    return std::system((compiler + " --version > /dev/null 2>&1").c_str()) == 0;
  }
  static std::string compile(const std::string &compiler) {
    return compiler + " -std=c11 -Wall -Wextra -Wcast-qual -Wpedantic -Werror -I" HEDDLE_RT_INCLUDE;
  }

  fs::path folder;
};

/// A main program that stands for the runtime: it prints each call.
constexpr const char *printingRuntime = R"c(
#include "gemm.h"
#include <stdio.h>
heddle_status heddle_module_load(heddle_device device, const void *package, size_t bytes,
                                 heddle_module *module) {
  printf("load %d %zu %.4s\n", device == NULL, bytes, (const char *)package + 4);
  *module = NULL;
  return NULL;
}
heddle_status heddle_module_kernel(heddle_module module, const char *name, heddle_kernel *kernel) {
  printf("kernel %d %s\n", module == NULL, name);
  *kernel = NULL;
  return NULL;
}
static void list(const char *what, const int64_t *values, int32_t count) {
  if (values)
    printf(" %s", what);
  for (int32_t i = 0; values && i < count; ++i)
    printf(" %lld", (long long)values[i]);
}
heddle_status heddle_launch(heddle_kernel kernel, const heddle_arg *args, size_t count,
                            const heddle_launch_options *options) {
  printf("launch %d %zu stream %d\n", kernel == NULL, count, options->stream == &printf);
  for (size_t i = 0; i < count; ++i) {
    printf("%d %d data %lld scalar %g rank %d", args[i].kind, args[i].dtype,
           (long long)(intptr_t)args[i].data, args[i].scalar, args[i].rank);
    list("shape", args[i].shape, args[i].rank);
    list("strides", args[i].strides, args[i].rank);
    printf("\n");
  }
  return NULL;
}
int main(void) {
  heddle_module module;
  printf("aligned %d\n", (int)((uintptr_t)gemm_hdl % 16));
  if (gemm_load(NULL, &module))
    return 1;
  return matmul_launch(module, (heddle_stream)&printf, 300, 64, (void *)16, (void *)32, 0.5f,
                       (void *)48) != NULL;
}
)c";

TEST_F(CSourceTest, CompilesAndCallsTheRuntime) {
  const PackageFile package = openSample(samplePackage());
  Expected<void> written = writeCSource(package, path("gemm.c"));
  ASSERT_TRUE(written) << written.error().message;
  write("main.c", printingRuntime);
  bool ran = false;
  for (const std::string compiler : {HEDDLE_C_COMPILER, "gcc", "clang"}) {
    if (!available(compiler))
      continue;
    ran = true;
    shell(compile(compiler) + " -c " + path("gemm.c") + " -o " + path("gemm.o"));
    // The program casts a function to void *, which only POSIX allows: not pedantic.
    shell(compiler + " -std=c11 -I" HEDDLE_RT_INCLUDE " " + path("main.c") + " " + path("gemm.o") +
          " -o " + path("program"));
    EXPECT_EQ(shell(path("program")),
              "aligned 0\n"
              "load 1 " +
                  std::to_string(package.bytes().size()) +
                  " HDL1\n"
                  "kernel 1 matmul\n"
                  "launch 1 4 stream 1\n"
                  "0 2 data 16 scalar 0 rank 2 shape 300 64\n"
                  "0 2 data 32 scalar 0 rank 2 shape 256 64\n"
                  "1 0 data 0 scalar 0.5 rank 0\n"
                  "0 2 data 48 scalar 0 rank 2 shape 300 256 strides 256 1\n");
  }
  if (!ran)
    GTEST_SKIP() << "no C compiler runs here: tried " HEDDLE_C_COMPILER ", gcc and clang";
}

TEST_F(CSourceTest, EmbedsTheBytes) {
  const PackageFile package = openSample(samplePackage());
  Expected<CSource> text = generateCSource(package, "gemm");
  ASSERT_TRUE(text);
  std::string numbers = text->source.substr(text->source.find("gemm_hdl[] = {") + 14);
  std::vector<uint8_t> bytes;
  for (size_t i = 0; numbers[i] != '}';) {
    size_t used = 0;
    bytes.push_back(static_cast<uint8_t>(std::stoi(numbers.substr(i, 8), &used)));
    i += used + 1; // the comma
    i = numbers.find_first_not_of(" \n", i);
  }
  EXPECT_TRUE(
      std::equal(bytes.begin(), bytes.end(), package.bytes().begin(), package.bytes().end()));
}

TEST_F(CSourceTest, LeavesTheBytesToAnObjectFile) {
  const PackageFile package = openSample(samplePackage());
  Expected<CSource> with = generateCSource(package, "my-gemm");
  Expected<CSource> without = generateCSource(package, "my-gemm", /*bytesInSource=*/false);
  ASSERT_TRUE(with && without);
  EXPECT_EQ(bytesSymbol("my-gemm"), "my_gemm_hdl");
  EXPECT_EQ(with->header, without->header);
  EXPECT_THAT(without->header, HasSubstr("extern const unsigned char my_gemm_hdl[];"));
  EXPECT_EQ(with->source.find(without->source), 0u);
  EXPECT_EQ(without->source.find("my_gemm_hdl[]"), std::string::npos);
}

TEST_F(CSourceTest, MakesNamesThatCompilersTake) {
  PackageT package = samplePackage();
  KernelT &kernel = *package.kernels[0];
  kernel.name = "9.mat-mul\"\\?"; // also in a string literal
  kernel.symbols = {"int", "M*N"};
  kernel.args[0]->name = "M_N";
  kernel.args[1]->name = "module";
  kernel.args[2]->name = "class";
  kernel.args[3]->name = "_d";
  kernel.spec = "ends */ and starts /* a comment \?\?/\nand */*/ more\x01\n";
  package.kernels.push_back(std::make_unique<KernelT>(kernel));
  package.kernels[1]->name = "9_mat_mul___"; // the same identifier
  Expected<CSource> text = generateCSource(openSample(package), "my-kernels+2");
  ASSERT_TRUE(text) << text.error().message;
  for (const char *part :
       {"extern const unsigned char my_kernels_2_hdl[];",
        "heddle_status k9_mat_mul____launch(heddle_module module,",
        "heddle_status k9_mat_mul____2_launch(", "int64_t int_,", "int64_t M_N,",
        "const void *M_N_2,", "const void *module_2,", "float class_,", "void *k_d"})
    EXPECT_THAT(text->header, HasSubstr(part));
  EXPECT_THAT(text->source, HasSubstr("\"9.mat-mul\\\"\\\\\\?\""));
  write("my-kernels+2.h", text->header);
  write("my-kernels+2.c", text->source);
  write("use.cpp",
        "#include \"my-kernels+2.h\"\nint main() { return my_kernels_2_hdl[0] == 0; }\n");
  bool ran = false;
  for (const std::string compiler : {HEDDLE_C_COMPILER, "gcc", "clang"}) {
    if (!available(compiler))
      continue;
    ran = true;
    shell(compile(compiler) + " -c " + path("my-kernels+2.c") + " -o " + path("x.o"));
    shell(compiler +
          " -x c++ -std=c++20 -Wall -Wextra -Werror -fsyntax-only -I" HEDDLE_RT_INCLUDE " " +
          path("use.cpp"));
  }
  if (!ran)
    GTEST_SKIP() << "no C compiler runs here: tried " HEDDLE_C_COMPILER ", gcc and clang";
}

TEST_F(CSourceTest, HandlesScalarsAndKernelsWithoutArguments) {
  PackageT package = samplePackage();
  KernelT &kernel = *package.kernels[0];
  kernel.symbols.clear();
  kernel.args.clear();
  kernel.variants.clear();
  kernel.nodes.clear();
  kernel.outputs.clear();
  kernel.constraints.clear();
  kernel.flops.reset();
  package.kernels.push_back(std::make_unique<KernelT>(kernel));
  package.kernels[1]->name = "scalars";
  for (DType type : {DType::f64, DType::i8, DType::i32, DType::i64, DType::bf16}) {
    auto arg = std::make_unique<ArgT>();
    arg->name = std::string("x_") + EnumNameDType(type);
    arg->kind = ArgKind::scalar;
    arg->dtype = type;
    package.kernels[1]->args.push_back(std::move(arg));
  }
  package.kernels[1]->args.push_back(tensorArg("point", DType::f32, {}, true));
  Expected<CSource> text = generateCSource(openSample(package), "s");
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_THAT(text->header,
              HasSubstr("matmul_launch(heddle_module module, heddle_stream stream);"));
  EXPECT_THAT(text->source, HasSubstr("heddle_launch(kernel, NULL, 0, &options)"));
  for (const char *part : {"double x_f64", "int8_t x_i8", "int32_t x_i32", "int64_t x_i64",
                           "float x_bf16", "void *point"})
    EXPECT_THAT(text->header, HasSubstr(part));
  if (!available(HEDDLE_C_COMPILER))
    GTEST_SKIP() << "the C compiler " HEDDLE_C_COMPILER " does not run here";
  write("s.h", text->header);
  write("s.c", text->source);
  shell(compile(HEDDLE_C_COMPILER) + " -c " + path("s.c") + " -o " + path("s.o"));
}

TEST_F(CSourceTest, RejectsFileNamesThatCannotBeIncluded) {
  const PackageFile package = openSample(samplePackage());
  for (const char *stem : {"", "a\"b", "a b", "a\nb", "a\\b"}) {
    Expected<CSource> text = generateCSource(package, stem);
    ASSERT_FALSE(text) << stem;
    EXPECT_THAT(text.error().message, HasSubstr("expected a file name of letters"));
  }
  Expected<void> written = writeCSource(package, path("missing/a.c"));
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr("missing/a.h: cannot create a file"));
}

} // namespace
