//===- ReaderTest.cpp - opening packages, also bad ones -------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Sample.h"

#include "heddle/Package/Checksum.h"
#include "heddle/Package/Expr.h"
#include "heddle/Package/Reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <limits>
#include <random>

using namespace heddle;
using namespace heddle::pkg;
using namespace heddle::pkg::test;
using testing::HasSubstr;

namespace {

TEST(ReaderTest, OpensWhatWasPacked) {
  const std::vector<uint8_t> bytes = packUnchecked(samplePackage());
  Expected<PackageFile> file = PackageFile::fromMemory(bytes);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->bytes().data(), bytes.data()) << "aligned bytes are borrowed";
  ASSERT_NE(file->findKernel("matmul"), nullptr);
  EXPECT_EQ(file->findKernel("other"), nullptr);
  EXPECT_EQ(file->kernelNames(), "matmul");
  const Variant &variant = *file->findKernel("matmul")->variants()->Get(0);
  EXPECT_EQ(printExpr(variant.grid()->Get(0), *file->findKernel("matmul")),
            "min(ceil_div(M, 128) * 2, sm_count)");
  EXPECT_EQ(packUnchecked(*file->unpack()), bytes) << "unpacking and packing changes nothing";
}

TEST(ReaderTest, StaysValidWhenMoved) {
  Expected<PackageFile> file = PackageFile::fromBytes(packUnchecked(samplePackage()));
  ASSERT_TRUE(file);
  PackageFile moved = std::move(*file);
  EXPECT_NE(moved.findKernel("matmul"), nullptr);
}

TEST(ReaderTest, CopiesMisalignedBytes) {
  const std::vector<uint8_t> bytes = packUnchecked(samplePackage());
  std::vector<uint8_t> shifted(bytes.size() + 1);
  std::memcpy(shifted.data() + 1, bytes.data(), bytes.size());
  Expected<PackageFile> file =
      PackageFile::fromMemory(std::span<const uint8_t>(shifted).subspan(1));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(reinterpret_cast<uintptr_t>(file->bytes().data()) % 8, 0u);
  EXPECT_NE(file->findKernel("matmul"), nullptr);
}

TEST(ReaderTest, NamesWhatIsNotAPackage) {
  const auto message = [](std::vector<uint8_t> bytes) {
    Expected<PackageFile> file = PackageFile::fromBytes(std::move(bytes));
    EXPECT_FALSE(file);
    return file ? "" : file.error().message;
  };
  EXPECT_EQ(message({}), "expected a package of at least 8 bytes, got 0");
  EXPECT_EQ(message({0x7f, 'E', 'L', 'F', 2, 1, 1, 0}),
            "not a package: expected the file identifier HDL1, got \\x02\\x01\\x01\\x00");
  EXPECT_THAT(message({8, 0, 0, 0, 'H', 'D', 'L', '1'}), HasSubstr("found none (8 bytes)"));
  EXPECT_THAT(message(sealed({8, 0, 0, 0, 'H', 'D', 'L', '1'})),
              HasSubstr("truncated or damaged: an offset"));
}

TEST(ReaderTest, TellsTheFile) {
  Expected<PackageFile> missing = PackageFile::fromFile("/nonexistent/a.hdl");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::NotFound);
  EXPECT_EQ(missing.error().message, "/nonexistent/a.hdl: cannot open: No such file or directory");
  Expected<PackageFile> folder = PackageFile::fromFile("/tmp");
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().message, "/tmp: expected a regular file");
}

TEST(ReaderTest, RejectsOtherFormatVersions) {
  PackageT package = samplePackage();
  package.format_version = 1;
  Expected<PackageFile> file = PackageFile::fromBytes(packUnchecked(package));
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::Unsupported);
  EXPECT_EQ(file.error().message, "expected package format version 2, got 1");
}

/// A change that makes the sample wrong, and what the reader says then.
struct Damage {
  const char *expected;
  std::function<void(PackageT &, KernelT &, VariantT &)> change;
};

using P = PackageT;
using K = KernelT;
using V = VariantT;

std::unique_ptr<ExprT> exprOf(std::vector<ExprStep> steps) {
  auto expr = std::make_unique<ExprT>();
  expr->steps = std::move(steps);
  return expr;
}

template <typename T> void repeat(std::vector<std::unique_ptr<T>> &list, size_t count) {
  for (size_t i = 0; i < count; ++i)
    list.push_back(std::make_unique<T>(*list.front()));
}

const std::vector<Damage> packageDamages = {
    {"compiler version, got an empty text", [](P &p, K &, V &) { p.compiler_version = ""; }},
    {"compiler version of printable ASCII", [](P &p, K &, V &) { p.compiler_version = "a\x1b[m"; }},
    {"a number of kernels from 1 to 1024, got 0", [](P &p, K &, V &) { p.kernels.clear(); }},
    {"image 1: expected a target, got an empty", [](P &p, K &, V &) { p.images[1]->target = ""; }},
    {"image 0: expected a PTX version", [](P &p, K &, V &) { p.images[0]->ptx_version = 0; }},
    {"image 0: expected PTX, got an empty text", [](P &p, K &, V &) { p.images[0]->ptx = ""; }},
    {"found a zero byte", [](P &p, K &, V &) { p.images[0]->ptx = std::string("a\0b", 3); }},
    {"image 0: expected the cubin to be an ELF", [](P &p, K &, V &) { p.images[0]->cubin[0]++; }},
    {"image 0: expected the cubin to be an ELF", [](P &p, K &, V &) { p.images[0]->cubin = {1}; }},
    {"kernel 1: the name matmul is there twice",
     [](P &p, K &k, V &) { p.kernels.push_back(std::make_unique<KernelT>(k)); }},
    {"kernel 0: expected a name, got an empty text", [](P &, K &k, V &) { k.name = ""; }},
    {"ASCII characters without spaces", [](P &, K &k, V &) { k.name = "a b"; }},
    {"at most 1024 bytes", [](P &, K &k, V &) { k.name = std::string(1025, 'x'); }},
};

const std::vector<Damage> kernelDamages = {
    {"kernel matmul: symbol 1: the name M is there twice",
     [](P &, K &k, V &) { k.symbols[1] = "M"; }},
    {"symbol 0: expected a name", [](P &, K &k, V &) { k.symbols[0] = ""; }},
    {"at most 128 symbols", [](P &, K &k, V &) { k.symbols.resize(129, "x"); }},
    {"at most 128 arguments", [](P &, K &k, V &) { repeat(k.args, 130); }},
    {"at most 1024 variants", [](P &, K &k, V &) { repeat(k.variants, 1024); }},
    {"argument 1: the name a is there twice", [](P &, K &k, V &) { k.args[1]->name = "a"; }},
    {"argument 0: unknown kind 7",
     [](P &, K &k, V &) { k.args[0]->kind = static_cast<ArgKind>(7); }},
    {"argument 0: unknown element type 99",
     [](P &, K &k, V &) { k.args[0]->dtype = static_cast<DType>(99); }},
    {"argument 2: expected a scalar to have no shape",
     [](P &, K &k, V &) { k.args[2]->shape = {Dim(1, -1)}; }},
    {"argument 2: expected an output to be a tensor",
     [](P &, K &k, V &) { k.args[2]->output = true; }},
    {"argument 0: sizes 1: expected a symbol from -1 to below 2, got 2",
     [](P &, K &k, V &) { k.args[0]->shape[1] = Dim(0, 2); }},
    {"got -2", [](P &, K &k, V &) { k.args[0]->shape[1] = Dim(0, -2); }},
    {"argument 1: sizes 0: expected at least 1, got 0",
     [](P &, K &k, V &) { k.args[1]->shape[0] = Dim(0, -1); }},
    {"expected at most 8 sizes, got 9",
     [](P &, K &k, V &) { k.args[0]->shape.resize(9, Dim(1, -1)); }},
    {"argument 3: expected 2 strides, got 1",
     [](P &, K &k, V &) { k.args[3]->strides.pop_back(); }},
    {"argument 3: strides 0: expected at least 0, got -1",
     [](P &, K &k, V &) { k.args[3]->strides[0] = Dim(-1, -1); }},
    {"flops: expected an expression of 1 to 256 steps, got 0",
     [](P &, K &k, V &) { k.flops = exprOf({}); }},
    {"constraint 0: unknown kind 4",
     [](P &, K &k, V &) { k.constraints[0]->kind = static_cast<ConstraintKind>(4); }},
    {"constraint 0: expected a name of the quantity",
     [](P &, K &k, V &) { k.constraints[0]->what = ""; }},
    {"constraint 0: expression: it is missing",
     [](P &, K &k, V &) { k.constraints[0]->expr = {}; }},
};

const std::vector<Damage> variantDamages = {
    {"variant 0: expected a target, got an empty", [](P &, K &, V &v) { v.target = ""; }},
    {"expected an image for sm_90a, got one for sm_80", [](P &, K &, V &v) { v.image = 1; }},
    {"expected an image below 2, got 2", [](P &, K &, V &v) { v.image = 2; }},
    {"expected the entry to be a PTX identifier, got 9x", [](P &, K &, V &v) { v.entry = "9x"; }},
    {"PTX identifier, got a-b", [](P &, K &, V &v) { v.entry = "a-b"; }},
    {"PTX identifier, got _", [](P &, K &, V &v) { v.entry = "_"; }},
    {"expected 3 grid sizes, got 2", [](P &, K &, V &v) { v.grid.pop_back(); }},
    {"grid size 1: expression step 0: unknown operation",
     [](P &, K &, V &v) { v.grid[1] = exprOf({ExprStep(static_cast<ExprOp>(200), 0)}); }},
    {"grid size 0: expression step 0: expected a symbol below 2, got 2",
     [](P &, K &, V &v) { v.grid[0] = exprOf({ExprStep(ExprOp::symbol, 2)}); }},
    {"expected 3 block sizes, got 4", [](P &, K &, V &v) { v.block = {1, 1, 1, 1}; }},
    {"block: expected a size from 1 to 1024, got 0", [](P &, K &, V &v) { v.block[1] = 0; }},
    {"block: expected a product of its sizes from 1 to 1024, got 2048",
     [](P &, K &, V &v) { v.block = {1024, 2, 1}; }},
    {"a block of depth from 1 to 64, got 65", [](P &, K &, V &v) { v.block = {1, 1, 65}; }},
    {"expected 3 cluster sizes, got 0", [](P &, K &, V &v) { v.cluster.clear(); }},
    {"cluster: expected a product of its sizes from 1 to 16, got 32",
     [](P &, K &, V &v) { v.cluster = {16, 2, 1}; }},
    {"bytes of shared memory from 0 to 232448, got 4294967295",
     [](P &, K &, V &v) { v.shared_bytes = UINT32_MAX; }},
    {"registers of a thread from 0 to 255", [](P &, K &, V &v) { v.registers = 256; }},
    {"resident CTAs: expected an expression", [](P &, K &, V &v) { v.resident_ctas = exprOf({}); }},
    {"parameter 0: expected a tensor map below 2, got 2",
     [](P &, K &, V &v) { v.params[0]->index = 2; }},
    {"parameter 2: expected an argument below 4, got 4",
     [](P &, K &, V &v) { v.params[2]->index = 4; }},
    {"parameter 2: expected a pointer to name a tensor, got argument scale",
     [](P &, K &, V &v) { v.params[2]->index = 2; }},
    {"parameter 3: expected an f32 to name a scalar, got argument a",
     [](P &, K &, V &v) { v.params[3]->index = 0; }},
    {"parameter 4: expression: it is missing", [](P &, K &, V &v) { v.params[4]->expr = {}; }},
    {"parameter 0: unknown kind 9",
     [](P &, K &, V &v) { v.params[0]->kind = static_cast<ParamKind>(9); }},
    {"parameter 0: expected the variant to state its bytes of signals",
     [](P &, K &, V &v) { v.params[0]->kind = ParamKind::signals; }},
    {"parameter 0: expected the variant to state its bytes of workspace",
     [](P &, K &, V &v) { v.params[0]->kind = ParamKind::workspace; }},
    {"parameter 0: expected the variant to state its bytes of counters",
     [](P &, K &, V &v) { v.params[0]->kind = ParamKind::counters; }},
    {"bytes of signals: expected an expression",
     [](P &, K &, V &v) { v.signal_bytes = exprOf({}); }},
    {"argument 2: expected a symmetric argument to be a tensor, got a scalar",
     [](P &, K &k, V &) { k.args[2]->symmetric = true; }},
    {"at most 256 parameters", [](P &, K &, V &v) { repeat(v.params, 256); }},
    {"bytes of parameters from 0 to 32764, got 32768",
     [](P &, K &, V &v) { // the first one is a tensor map
       v.params.resize(1);
       repeat(v.params, 255);
     }},
    {"tensor map 0: expected an argument below 4",
     [](P &, K &, V &v) { v.tensor_maps[0]->arg = 9; }},
    {"expected a tensor map to name a tensor", [](P &, K &, V &v) { v.tensor_maps[0]->arg = 2; }},
    {"tensor map 1: unknown element type",
     [](P &, K &, V &v) { v.tensor_maps[1]->dtype = static_cast<DType>(9); }},
    {"tensor map 1: unknown swizzle",
     [](P &, K &, V &v) { v.tensor_maps[1]->swizzle = static_cast<Swizzle>(4); }},
    {"expected a rank from 1 to 5, got 0", [](P &, K &, V &v) { v.tensor_maps[0]->dims.clear(); }},
    {"expected a rank from 1 to 5, got 6",
     [](P &, K &, V &v) { repeat(v.tensor_maps[0]->dims, 4); }},
    {"expected 1 strides, got 0", [](P &, K &, V &v) { v.tensor_maps[0]->strides.clear(); }},
    {"expected 2 box sizes, got 3", [](P &, K &, V &v) { v.tensor_maps[0]->box.push_back(1); }},
    {"box 1: expected a size from 1 to 256, got 257",
     [](P &, K &, V &v) { v.tensor_maps[0]->box[1] = 257; }},
    {"box 0: expected a size from 1 to 256, got 0",
     [](P &, K &, V &v) { v.tensor_maps[0]->box[0] = 0; }},
    {"a box row of a multiple of 16 bytes, got 24",
     [](P &, K &, V &v) { v.tensor_maps[0]->box[0] = 12; }},
    {"a box row of at most the swizzle's 128 bytes, got 144",
     [](P &, K &, V &v) { v.tensor_maps[0]->box[0] = 72; }},
    {"size 1: expected an expression",
     [](P &, K &, V &v) { v.tensor_maps[0]->dims[1] = exprOf({}); }},
    {"stride 0: expected an expression",
     [](P &, K &, V &v) { v.tensor_maps[0]->strides[0] = exprOf({}); }},
    {"an L2 promotion of 0, 64, 128 or 256 bytes, got 32",
     [](P &, K &, V &v) { v.tensor_maps[0]->l2_promotion = 32; }},
    {"at most 128 tensor maps", [](P &, K &, V &v) { repeat(v.tensor_maps, 128); }},
    {"constraint 0: expected a value of at least 1, got 0",
     [](P &, K &, V &v) { v.constraints[0]->value = 0; }},
    {"constraint 1: expected an alignment that is a power of two, got 24",
     [](P &, K &, V &v) { v.constraints[1]->value = 24; }},
    {"constraint 1: expected an argument below 4",
     [](P &, K &, V &v) { v.constraints[1]->arg = 4; }},
    {"argument of a pointer alignment to be a tensor",
     [](P &, K &, V &v) { v.constraints[1]->arg = 2; }},
    {"at most 256 constraints", [](P &, K &, V &v) { repeat(v.constraints, 256); }},
    {"schedule entry 1: the key tile is there twice",
     [](P &, K &, V &v) { v.schedule[1]->key = "tile"; }},
    {"schedule entry 0: expected a key", [](P &, K &, V &v) { v.schedule[0]->key = ""; }},
    {"schedule entry 0: expected a value of at most 65536 bytes",
     [](P &, K &, V &v) { v.schedule[0]->value = std::string(65537, 'x'); }},
    {"at most 256 schedule entries", [](P &, K &, V &v) { repeat(v.schedule, 256); }},
    {"role 1: expected at least one warp and all of them in a block of 12, got 9 from 4",
     [](P &, K &, V &v) { v.roles[1]->warps = 9; }},
    {"got 0 from 0", [](P &, K &, V &v) { v.roles[0]->warps = 0; }},
    {"got 4 from 4294967295", [](P &, K &, V &v) { v.roles[0]->first_warp = UINT32_MAX; }},
    {"role 0: expected a name", [](P &, K &, V &v) { v.roles[0]->name = ""; }},
    {"role 0: expected registers", [](P &, K &, V &v) { v.roles[0]->registers = 256; }},
    {"at most 32 roles", [](P &, K &, V &v) { repeat(v.roles, 32); }},
};

const std::vector<Damage> referenceDamages = {
    {"reference node 2: input 0: expected a node that comes before below 2, got 2",
     [](P &, K &k, V &) { k.nodes[2]->inputs[0] = 2; }},
    {"reference node 2: expected 2 inputs of contract, got 1",
     [](P &, K &k, V &) { k.nodes[2]->inputs.pop_back(); }},
    {"reference node 0: unknown operation 36",
     [](P &, K &k, V &) { k.nodes[0]->op = static_cast<RefOp>(36); }},
    {"reference node 0: expected 3 inputs of gather, got 0",
     [](P &, K &k, V &) { k.nodes[0]->op = RefOp::gather; }},
    {"reference node 0: extent: it is missing",
     [](P &, K &k, V &) { k.nodes[0]->op = RefOp::size; }},
    {"reference node 0: expected an argument below 4, got 4",
     [](P &, K &k, V &) { k.nodes[0]->arg = 4; }},
    {"an index map of 2 entries for argument a, got 1",
     [](P &, K &k, V &) { k.nodes[0]->index_map.pop_back(); }},
    {"an index map of 0 entries for argument scale, got 1",
     [](P &, K &k, V &) { k.nodes[3]->index_map = {0}; }},
    {"index map 0: expected from -1 to 8, got -2",
     [](P &, K &k, V &) { k.nodes[0]->index_map[0] = -2; }},
    {"index map 0: expected from -1 to 8, got 9",
     [](P &, K &k, V &) { k.nodes[0]->index_map[0] = 9; }},
    {"reference node 0: expected 2 index divisors, got 1",
     [](P &, K &k, V &) { k.nodes[0]->index_div = {1}; }},
    {"index divisor 1: expected at least 1, got 0",
     [](P &, K &k, V &) { k.nodes[0]->index_div = {1, 0}; }},
    {"index divisor 0: expected a dimension that indexes once",
     [](P &, K &k, V &) { k.nodes[0]->index_map = {0, 0}, k.nodes[0]->index_div = {2, 1}; }},
    {"reference output 0: node 0: expected dimensions up to 2, got 3",
     [](P &, K &k, V &) { k.nodes[0]->index_map[0] = 3; }},
    {"extent: it is missing", [](P &, K &k, V &) { k.nodes[2]->extent = {}; }},
    {"reference node 7: unknown element type",
     [](P &, K &k, V &) { k.nodes[7]->dtype = static_cast<DType>(9); }},
    {"reference node 5: expected an index map of 1 entry, got 0",
     [](P &, K &k, V &) { k.nodes[5]->op = RefOp::index; }},
    {"reference output 0: expected a node below 8, got 8",
     [](P &, K &k, V &) { k.outputs[0]->node = 8; }},
    {"reference output 0: expected an argument below 4",
     [](P &, K &k, V &) { k.outputs[0]->arg = 4; }},
    {"reference output 0: expected an output, got argument a",
     [](P &, K &k, V &) { k.outputs[0]->arg = 0; }},
    {"reference output 1: argument 3 is there twice", [](P &, K &k, V &) { repeat(k.outputs, 1); }},
    {"node 0 uses a contraction's index outside of one",
     [](P &, K &k, V &) { k.outputs[0]->node = 0; }},
    {"at most 4096 reference nodes", [](P &, K &k, V &) { repeat(k.nodes, 4090); }},
    {"at most 128 reference outputs", [](P &, K &k, V &) { repeat(k.outputs, 128); }},
};

void expectDamages(const std::vector<Damage> &damages) {
  for (const Damage &damage : damages) {
    PackageT package = samplePackage();
    damage.change(package, *package.kernels[0], *package.kernels[0]->variants[0]);
    EXPECT_THAT(openError(package), HasSubstr(damage.expected));
  }
}

TEST(ReaderTest, SampleIsGood) { EXPECT_EQ(openError(samplePackage()), ""); }
TEST(ReaderTest, NamesDamageOfPackages) { expectDamages(packageDamages); }
TEST(ReaderTest, NamesDamageOfKernels) { expectDamages(kernelDamages); }
TEST(ReaderTest, NamesDamageOfVariants) { expectDamages(variantDamages); }
TEST(ReaderTest, NamesDamageOfReferences) { expectDamages(referenceDamages); }

TEST(ReaderTest, TakesNestedContractionsApart) {
  // sum_k (sum_k a[0, k]) a[1, k]: each k belongs to the innermost contraction.
  PackageT package = samplePackage();
  KernelT &kernel = *package.kernels[0];
  kernel.nodes.push_back(refNode(RefOp::contract, {2, 1}));
  kernel.nodes.back()->extent = SizeExpr(4).toExpr();
  kernel.outputs[0]->node = 8;
  EXPECT_EQ(openError(package), "");
}

TEST(ReaderTest, KnowsPtxIdentifiers) {
  for (const char *good : {"a", "kernel_1", "$x", "%r1", "_a", "A$b_9"})
    EXPECT_TRUE(isPtxIdentifier(good)) << good;
  for (const char *bad : {"", "1a", "a.b", "$", "%", "a b", "a\"", "a-b", "a%"})
    EXPECT_FALSE(isPtxIdentifier(bad)) << bad;
}

/// Opens bytes that may be anything, and walks what opened, so that a sanitizer sees every access.
bool openAndWalk(std::vector<uint8_t> bytes) {
  Expected<PackageFile> file = PackageFile::fromBytes(std::move(bytes));
  if (!file) {
    EXPECT_FALSE(file.error().message.empty());
    return false;
  }
  const std::unique_ptr<PackageT> copy = file->unpack();
  const int64_t sizes[] = {7, 5};
  for (const Kernel *kernel : *file->root().kernels())
    for (const Variant *variant : *kernel->variants())
      for (const Expr *grid : *variant->grid())
        if (kernel->symbols() && kernel->symbols()->size() <= 2)
          (void)evaluateExpr(grid, {sizes, 132});
  return !copy->kernels.empty();
}

// The checksum covers every bit: of offsets, text, PTX, cubins, padding, and of itself.
TEST(ChecksumTest, FindsEveryFlippedBit) {
  const std::vector<uint8_t> good = packUnchecked(samplePackage());
  ASSERT_TRUE(PackageFile::fromMemory(good));
  for (size_t i = 0; i < good.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::vector<uint8_t> bytes = good;
      bytes[i] ^= static_cast<uint8_t>(1 << bit);
      Expected<PackageFile> file = PackageFile::fromMemory(bytes);
      ASSERT_FALSE(file) << "byte " << i << " bit " << bit;
      EXPECT_EQ(file.error().code, ErrorCode::Damaged);
      if (i >= 8 && i + 16 < good.size()) {
        EXPECT_THAT(file.error().message,
                    HasSubstr("the package is damaged: expected checksum 0x"));
      }
    }
}

TEST(ChecksumTest, FindsTruncationAndWhatComesAfter) {
  const std::vector<uint8_t> good = packUnchecked(samplePackage());
  for (size_t length = 0; length < good.size(); ++length)
    EXPECT_FALSE(PackageFile::fromMemory(std::span(good).first(length))) << length;
  for (size_t more : {size_t{1}, size_t{8}, size_t{16}, size_t{4096}}) {
    std::vector<uint8_t> bytes = good;
    bytes.resize(good.size() + more);
    EXPECT_FALSE(PackageFile::fromMemory(bytes)) << more;
  }
}

TEST(ChecksumTest, DependsOnOrderAndNumber) {
  std::vector<uint8_t> bytes(64);
  const uint64_t zeros = checksum(bytes);
  EXPECT_NE(zeros, checksum(std::span(bytes).first(56)));
  bytes[0] = 1;
  const uint64_t first = checksum(bytes);
  std::swap(bytes[0], bytes[8]);
  EXPECT_NE(first, checksum(bytes));
  EXPECT_NE(first, zeros);
}

TEST(ReaderFuzzTest, SurvivesEveryFlippedBit) {
  const std::vector<uint8_t> good = packUnsealed(samplePackage());
  size_t opened = 0;
  for (size_t i = 0; i < good.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::vector<uint8_t> bytes = good;
      bytes[i] ^= static_cast<uint8_t>(1 << bit);
      opened += openAndWalk(sealed(std::move(bytes)));
    }
  EXPECT_GT(opened, 0u) << "some bits (of PTX, of text) matter to nobody";
  EXPECT_LT(opened, good.size() * 8);
}

TEST(ReaderFuzzTest, SurvivesEveryByteValueAtTheExtremes) {
  const std::vector<uint8_t> good = packUnsealed(samplePackage());
  for (size_t i = 0; i < good.size(); ++i)
    for (uint8_t value : {uint8_t{0}, uint8_t{0x7f}, uint8_t{0x80}, uint8_t{0xff}}) {
      std::vector<uint8_t> bytes = good;
      bytes[i] = value;
      openAndWalk(sealed(std::move(bytes)));
    }
}

TEST(ReaderFuzzTest, SurvivesHostileWords) {
  const std::vector<uint8_t> good = packUnsealed(samplePackage());
  const auto size = static_cast<uint32_t>(good.size());
  for (size_t i = 0; i + 4 <= good.size(); i += 2)
    for (uint32_t value : {0u, 1u, size, size - 4, 0x7fffffffu, 0x80000000u, 0xffffffffu,
                           0xfffffff0u, 0x10000000u}) {
      std::vector<uint8_t> bytes = good;
      std::memcpy(bytes.data() + i, &value, 4);
      openAndWalk(sealed(std::move(bytes)));
    }
}

TEST(ReaderFuzzTest, RejectsEveryTruncation) {
  const std::vector<uint8_t> good = packUnsealed(samplePackage());
  size_t opened = 0;
  for (size_t length = 0; length < good.size(); ++length)
    opened += openAndWalk(sealed({good.begin(), good.begin() + static_cast<ptrdiff_t>(length)}));
  // Only padding at the very end may go unnoticed.
  EXPECT_LE(opened, 8u);
}

TEST(ReaderFuzzTest, SurvivesOversizeAndNoise) {
  const std::vector<uint8_t> good = packUnsealed(samplePackage());
  for (size_t more : {size_t{1}, size_t{7}, size_t{4096}, size_t{1} << 20}) {
    std::vector<uint8_t> bytes = good;
    bytes.resize(good.size() + more, 0xff);
    EXPECT_TRUE(openAndWalk(sealed(std::move(bytes)))) << "bytes after the end belong to nobody";
  }
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::vector<uint8_t> bytes = good;
    for (int changes = 0; changes < 6; ++changes)
      bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
    openAndWalk(sealed(std::move(bytes)));
  }
}

/// Packs a kernel list whose entries all are one table.
std::vector<uint8_t> packShared(size_t count, const std::string &ptx, size_t images) {
  const PackageT sample = samplePackage();
  flatbuffers::FlatBufferBuilder builder;
  const auto kernel = CreateKernel(builder, sample.kernels[0].get());
  const std::vector<flatbuffers::Offset<Kernel>> kernels(count, kernel);
  ImageT image = *sample.images[0];
  image.ptx = ptx;
  const std::vector<flatbuffers::Offset<Image>> sharedImages(images, CreateImage(builder, &image));
  const auto version = builder.CreateString("x");
  const auto kernelVector = builder.CreateVector(kernels);
  const auto imageVector = builder.CreateVector(sharedImages);
  FinishPackageBuffer(builder,
                      CreatePackage(builder, formatVersion, version, kernelVector, imageVector));
  return sealed({builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()});
}

TEST(ReaderFuzzTest, RejectsSharedBytes) {
  // A copy of such a file would be many times as large as the file.
  Expected<PackageFile> images =
      PackageFile::fromBytes(packShared(1, std::string(100000, 'x'), 4000));
  ASSERT_FALSE(images);
  EXPECT_THAT(images.error().message, HasSubstr("image 1: expected strings and vectors to fit"));
  Expected<PackageFile> kernels = PackageFile::fromBytes(packShared(1000000, "x", 1));
  ASSERT_FALSE(kernels);
}

TEST(ReaderFuzzTest, BoundsTheTimeOfSharedSymbolVectors) {
  // Many kernels that share one long vector of symbols: quadratic for a verifier that walks them.
  flatbuffers::FlatBufferBuilder builder;
  const auto name = builder.CreateString("x");
  const auto symbols =
      builder.CreateVector(std::vector<flatbuffers::Offset<flatbuffers::String>>(200000, name));
  const auto args = builder.CreateVector(std::vector<flatbuffers::Offset<Arg>>());
  const auto variants = builder.CreateVector(std::vector<flatbuffers::Offset<Variant>>());
  const auto kernel = CreateKernel(builder, name, 0, symbols, args, variants);
  const auto kernels =
      builder.CreateVector(std::vector<flatbuffers::Offset<Kernel>>(100000, kernel));
  const auto images = builder.CreateVector(std::vector<flatbuffers::Offset<Image>>());
  FinishPackageBuffer(builder, CreatePackage(builder, formatVersion, name, kernels, images));
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(openAndWalk(
      sealed({builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()})));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

} // namespace
