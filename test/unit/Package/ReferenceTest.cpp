//===- ReferenceTest.cpp - reference evaluation ---------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Sample.h"

#include "heddle/Package/Numeric.h"
#include "heddle/Package/Reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>

using namespace heddle;
using namespace heddle::pkg;
using namespace heddle::pkg::test;
using testing::HasSubstr;

namespace {

/// A host tensor with memory of its own.
struct Tensor {
  DType dtype;
  std::vector<int64_t> shape, strides;
  std::vector<unsigned char> bytes;

  Tensor(DType dtype, std::vector<int64_t> shape, std::vector<int64_t> strides = {})
      : dtype(dtype), shape(std::move(shape)), strides(std::move(strides)) {
    if (this->strides.empty()) {
      this->strides.assign(this->shape.size(), 1);
      for (size_t i = this->shape.size(); i-- > 1;)
        this->strides[i - 1] = this->strides[i] * this->shape[i];
    }
    int64_t last = 0;
    for (size_t i = 0; i < this->shape.size(); ++i)
      last += (this->shape[i] - 1) * this->strides[i];
    bytes.resize(static_cast<size_t>(last + 1) * dtypeBytes(dtype));
  }
  unsigned char *at(std::vector<int64_t> index) {
    int64_t element = 0;
    for (size_t i = 0; i < index.size(); ++i)
      element += index[i] * strides[i];
    return bytes.data() + element * dtypeBytes(dtype);
  }
  void set(std::vector<int64_t> index, double v) { storeElement(dtype, at(std::move(index)), v); }
  double get(std::vector<int64_t> index) { return loadElement(dtype, at(std::move(index))); }
  void fillRandom(unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    for (size_t i = 0; i < bytes.size(); i += dtypeBytes(dtype))
      storeElement(dtype, bytes.data() + i, normal(random));
  }
  ArgBuffer buffer() const { return {bytes.data(), dtype, shape, strides}; }
};

/// A package with one kernel made of these arguments and nodes, whose last argument is the output
/// and whose last node its value.
PackageT kernelPackage(std::vector<std::unique_ptr<ArgT>> args,
                       std::vector<std::unique_ptr<RefNodeT>> nodes) {
  PackageT package = samplePackage();
  KernelT &kernel = *package.kernels[0];
  kernel.args = std::move(args);
  kernel.args.back()->output = true;
  kernel.nodes = std::move(nodes);
  kernel.variants.clear();
  kernel.outputs[0]->arg = static_cast<uint32_t>(kernel.args.size() - 1);
  kernel.outputs[0]->node = static_cast<uint32_t>(kernel.nodes.size() - 1);
  return package;
}

PackageFile openKernel(std::vector<std::unique_ptr<ArgT>> args,
                       std::vector<std::unique_ptr<RefNodeT>> nodes) {
  Expected<PackageFile> file =
      PackageFile::fromBytes(packUnchecked(kernelPackage(std::move(args), std::move(nodes))));
  EXPECT_TRUE(file) << file.error().message;
  return std::move(*file);
}

template <typename T, typename... Rest> std::vector<T> listOf(T first, Rest... rest) {
  std::vector<T> list;
  list.push_back(std::move(first));
  (list.push_back(std::move(rest)), ...);
  return list;
}

std::unique_ptr<RefNodeT> constantNode(double value) {
  auto node = refNode(RefOp::constant);
  node->value = value;
  return node;
}

std::unique_ptr<RefNodeT> contractNode(uint32_t a, uint32_t b, SizeExpr extent) {
  auto node = refNode(RefOp::contract, {a, b});
  node->extent = extent.toExpr();
  return node;
}

Reference bound(const PackageFile &file, std::vector<ArgBuffer> args,
                std::span<const int64_t> sizes = {}) {
  Expected<Reference> reference =
      Reference::create(*file.root().kernels()->Get(0), 0, args, {sizes, 132});
  EXPECT_TRUE(reference) << reference.error().message;
  return std::move(*reference);
}

std::string bindError(const PackageFile &file, std::vector<ArgBuffer> args,
                      std::span<const int64_t> sizes = {}) {
  Expected<Reference> reference =
      Reference::create(*file.root().kernels()->Get(0), 0, args, {sizes, 132});
  EXPECT_FALSE(reference);
  return reference ? "" : reference.error().message;
}

/// The sample's arguments: a[M, K], b[256, K], scale, d[M, 256].
struct SampleArgs {
  Tensor a, b, scale{DType::f32, {}}, d;
  std::vector<int64_t> sizes;
  SampleArgs(int64_t m, int64_t k, int64_t pad = 0)
      : a(DType::bf16, {m, k}, {k + pad, 1}), b(DType::bf16, {256, k}), d(DType::bf16, {m, 256}),
        sizes{m, k} {
    a.fillRandom(1);
    b.fillRandom(2);
    scale.set({}, 0.5);
  }
  std::vector<ArgBuffer> buffers() const {
    return {a.buffer(), b.buffer(), scale.buffer(), d.buffer()};
  }
  double expected(int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t k = 0; k < sizes[1]; ++k)
      sum += a.get({i, k}) * b.get({j, k});
    return roundTo(DType::bf16, std::max(0.0, sum * 0.5));
  }
};

TEST(ReferenceTest, ComputesTheSample) {
  Expected<PackageFile> file = PackageFile::fromBytes(packUnchecked(samplePackage()));
  ASSERT_TRUE(file);
  for (int64_t k : {1, 7, 8, 255, 256, 257, 600}) {
    SampleArgs args(5, k, 3);
    Reference reference = bound(*file, args.buffers(), args.sizes);
    EXPECT_EQ(reference.argument(), 3u);
    EXPECT_THAT(reference.shape(), testing::ElementsAre(5, 256));
    for (int64_t i : {0, 3, 4})
      for (int64_t j : {0, 17, 255}) {
        const int64_t point[] = {i, j};
        EXPECT_EQ(reference.at(point), args.expected(i, j)) << i << " " << j << " K " << k;
      }
  }
}

TEST(ReferenceTest, BoxesAgreeWithPoints) {
  Expected<PackageFile> file = PackageFile::fromBytes(packUnchecked(samplePackage()));
  ASSERT_TRUE(file);
  SampleArgs args(131, 300);
  Reference reference = bound(*file, args.buffers(), args.sizes);
  std::vector<int64_t> points;
  for (int64_t i = 0; i < 131; ++i)
    for (int64_t j = 0; j < 256; ++j)
      points.insert(points.end(), {i, j});
  std::vector<double> each(131 * 256), box(131 * 256), part(70 * 65);
  reference.evaluate(points, each, 3);
  const int64_t origin[] = {0, 0}, extent[] = {131, 256};
  ASSERT_TRUE(reference.evaluateBox(origin, extent, box, 3));
  const int64_t partOrigin[] = {61, 190}, partExtent[] = {70, 65};
  ASSERT_TRUE(reference.evaluateBox(partOrigin, partExtent, part, 1));
  for (size_t i = 0; i < each.size(); ++i)
    // Sums in another order differ in the last bits of double; bf16 rarely shows it.
    ASSERT_NEAR(each[i], box[i], 0.01 * std::abs(each[i])) << i;
  for (size_t i = 0; i < 70; ++i)
    for (size_t j = 0; j < 65; ++j)
      ASSERT_EQ(part[i * 65 + j], box[(61 + i) * 256 + 190 + j]) << i << " " << j;
}

TEST(ReferenceTest, SumsExactlyOnIntegers) {
  // Batched, B as [K, N] and A transposed: every stride is at work, and small integers leave no
  // rounding, so that all ways must agree to the last bit.
  const int64_t batch = 3, m = 70, n = 67, k = 259;
  PackageFile file = openKernel(
      listOf(tensorArg("a", DType::f16, {batch, k, m}), tensorArg("b", DType::i8, {k, n}),
             tensorArg("d", DType::f32, {batch, m, n})),
      listOf(refLoad(0, {0, 3, 1}), refLoad(1, {3, 2}), contractNode(0, 1, SizeExpr(k))));
  Tensor a(DType::f16, {batch, k, m}), b(DType::i8, {k, n}), d(DType::f32, {batch, m, n});
  std::mt19937 random(3);
  for (size_t i = 0; i < a.bytes.size(); i += 2)
    storeElement(DType::f16, a.bytes.data() + i, static_cast<double>(random() % 17) - 8);
  for (size_t i = 0; i < b.bytes.size(); ++i)
    storeElement(DType::i8, b.bytes.data() + i, static_cast<double>(random() % 17) - 8);
  Reference reference = bound(file, {a.buffer(), b.buffer(), d.buffer()});
  std::vector<double> box(static_cast<size_t>(batch * m * n));
  const int64_t origin[] = {0, 0, 0}, extent[] = {batch, m, n};
  ASSERT_TRUE(reference.evaluateBox(origin, extent, box));
  for (int64_t p = 0; p < batch; ++p)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t x = 0; x < k; ++x)
          sum += a.get({p, x, i}) * b.get({x, j});
        ASSERT_EQ(box[static_cast<size_t>((p * m + i) * n + j)], sum) << p << " " << i << " " << j;
        if (i % 23 == 0 && j % 13 == 0) {
          const int64_t point[] = {p, i, j};
          ASSERT_EQ(reference.at(point), sum);
        }
      }
}

TEST(ReferenceTest, ScalesInsideTheContraction) {
  // sum_k (a[i, k] * s[i]) * (b[j, k] + k): operands that are computations, with values that do not
  // use k among them.
  PackageFile file =
      openKernel(listOf(tensorArg("a", DType::f32, {3, 5}), tensorArg("b", DType::f32, {4, 5}),
                        tensorArg("s", DType::f32, {3}), tensorArg("d", DType::f32, {3, 4})),
                 [] {
                   auto nodes =
                       listOf(refLoad(0, {0, 2}), refLoad(2, {0}), refNode(RefOp::mul, {0, 1}),
                              refLoad(1, {1, 2}), refNode(RefOp::index),
                              refNode(RefOp::add, {3, 4}), contractNode(2, 5, SizeExpr(5)));
                   nodes[4]->index_map = {2};
                   return nodes;
                 }());
  Tensor a(DType::f32, {3, 5}), b(DType::f32, {4, 5}), s(DType::f32, {3}), d(DType::f32, {3, 4});
  a.fillRandom(4);
  b.fillRandom(5);
  s.fillRandom(6);
  Reference reference = bound(file, {a.buffer(), b.buffer(), s.buffer(), d.buffer()});
  std::vector<double> box(12);
  const int64_t origin[] = {0, 0}, extent[] = {3, 4};
  ASSERT_TRUE(reference.evaluateBox(origin, extent, box));
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 4; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < 5; ++k)
        sum += a.get({i, k}) * s.get({i}) * (b.get({j, k}) + static_cast<double>(k));
      const int64_t point[] = {i, j};
      EXPECT_NEAR(reference.at(point), sum, 1e-12);
      EXPECT_NEAR(box[static_cast<size_t>(i * 4 + j)], sum, 1e-12);
    }
}

TEST(ReferenceTest, DividesIndicesOfBlockScales) {
  // sum_k (a[i, k] * s[i, k / 4]) * (b[j, k] * t[k / 4, j / 3]), K over more than one chunk and no
  // multiple of the blocks.
  constexpr int64_t m = 5, n = 7, extent = 301, blocks = 76;
  PackageFile file = openKernel(
      listOf(tensorArg("a", DType::f32, {m, extent}), tensorArg("b", DType::f32, {n, extent}),
             tensorArg("s", DType::f32, {m, blocks}), tensorArg("t", DType::f32, {blocks, 3}),
             tensorArg("d", DType::f32, {m, n})),
      [] {
        auto nodes = listOf(refLoad(0, {0, 2}), refLoad(2, {0, 2}), refNode(RefOp::mul, {0, 1}),
                            refLoad(1, {1, 2}), refLoad(3, {2, 1}), refNode(RefOp::mul, {3, 4}),
                            contractNode(2, 5, SizeExpr(extent)));
        nodes[1]->index_div = {1, 4};
        nodes[4]->index_div = {4, 3};
        return nodes;
      }());
  Tensor a(DType::f32, {m, extent}), b(DType::f32, {n, extent}), s(DType::f32, {m, blocks}),
      t(DType::f32, {blocks, 3}), d(DType::f32, {m, n});
  for (unsigned seed = 1; Tensor *tensor : {&a, &b, &s, &t})
    tensor->fillRandom(seed++);
  Reference reference =
      bound(file, {a.buffer(), b.buffer(), s.buffer(), t.buffer(), d.buffer()});
  std::vector<double> box(m * n);
  const int64_t origin[] = {0, 0}, size[] = {m, n};
  ASSERT_TRUE(reference.evaluateBox(origin, size, box));
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < extent; ++k)
        sum += a.get({i, k}) * s.get({i, k / 4}) * b.get({j, k}) * t.get({k / 4, j / 3});
      const int64_t point[] = {i, j};
      EXPECT_NEAR(reference.at(point), sum, 1e-10);
      EXPECT_NEAR(box[static_cast<size_t>(i * n + j)], sum, 1e-10);
    }
  // A scale tensor with a block too few.
  Tensor few(DType::f32, {m, blocks - 1});
  EXPECT_THAT(bindError(file, {a.buffer(), b.buffer(), few.buffer(), t.buffer(), d.buffer()}),
              HasSubstr("argument s: expected size 1 to be at least 76, got 75"));
}

TEST(ReferenceTest, HandlesOperandsThatDoNotSeparate) {
  // sum_k a[i, k] * c[i, j, k], and a nested contraction: sum_k (sum_k a[i, k] a[i, k]) * a[i, k].
  PackageFile file =
      openKernel(listOf(tensorArg("a", DType::f32, {3, 5}), tensorArg("c", DType::f32, {3, 4, 5}),
                        tensorArg("d", DType::f32, {3, 4})),
                 listOf(refLoad(0, {0, 2}), refLoad(1, {0, 1, 2}), contractNode(0, 1, SizeExpr(5)),
                        contractNode(0, 0, SizeExpr(5)), contractNode(3, 0, SizeExpr(5)),
                        refNode(RefOp::add, {2, 4})));
  Tensor a(DType::f32, {3, 5}), c(DType::f32, {3, 4, 5}), d(DType::f32, {3, 4});
  a.fillRandom(7);
  c.fillRandom(8);
  Reference reference = bound(file, {a.buffer(), c.buffer(), d.buffer()});
  std::vector<double> box(12);
  const int64_t origin[] = {0, 0}, extent[] = {3, 4};
  ASSERT_TRUE(reference.evaluateBox(origin, extent, box));
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 4; ++j) {
      double sum = 0, squares = 0, plain = 0;
      for (int64_t k = 0; k < 5; ++k) {
        sum += a.get({i, k}) * c.get({i, j, k});
        squares += a.get({i, k}) * a.get({i, k});
        plain += a.get({i, k});
      }
      const int64_t point[] = {i, j};
      EXPECT_NEAR(reference.at(point), sum + squares * plain, 1e-12);
      EXPECT_NEAR(box[static_cast<size_t>(i * 4 + j)], sum + squares * plain, 1e-12);
    }
}

/// The value of one operation on constants.
double valueOf(RefOp op, std::vector<double> inputs, DType dtype = DType::f32) {
  std::vector<std::unique_ptr<RefNodeT>> nodes;
  std::vector<uint32_t> indices;
  for (double input : inputs) {
    indices.push_back(static_cast<uint32_t>(nodes.size()));
    nodes.push_back(constantNode(input));
  }
  nodes.push_back(refNode(op, indices));
  nodes.back()->dtype = dtype;
  PackageFile file = openKernel(listOf(tensorArg("d", DType::f64, {})), std::move(nodes));
  Tensor d(DType::f64, {});
  return bound(file, {d.buffer()}).at({});
}

TEST(ReferenceTest, EvaluatesEveryElementWiseOperation) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(valueOf(RefOp::add, {2, 3}), 5);
  EXPECT_EQ(valueOf(RefOp::sub, {2, 3}), -1);
  EXPECT_EQ(valueOf(RefOp::mul, {2, 3}), 6);
  EXPECT_EQ(valueOf(RefOp::div, {3, 2}), 1.5);
  EXPECT_EQ(valueOf(RefOp::neg, {3}), -3);
  EXPECT_EQ(valueOf(RefOp::max, {2, 3}), 3);
  EXPECT_EQ(valueOf(RefOp::min, {2, 3}), 2);
  EXPECT_TRUE(std::isnan(valueOf(RefOp::max, {nan, 3})));
  EXPECT_TRUE(std::isnan(valueOf(RefOp::min, {3, nan})));
  EXPECT_EQ(valueOf(RefOp::exp, {1}), std::exp(1.0));
  EXPECT_EQ(valueOf(RefOp::log, {3}), std::log(3.0));
  EXPECT_EQ(valueOf(RefOp::tanh, {0.5}), std::tanh(0.5));
  EXPECT_EQ(valueOf(RefOp::erf, {0.5}), std::erf(0.5));
  EXPECT_EQ(valueOf(RefOp::sqrt, {2}), std::sqrt(2.0));
  EXPECT_EQ(valueOf(RefOp::rsqrt, {4}), 0.5);
  EXPECT_EQ(valueOf(RefOp::abs, {-2}), 2);
  EXPECT_EQ(valueOf(RefOp::exp2, {3}), 8);
  EXPECT_EQ(valueOf(RefOp::sin, {1}), std::sin(1.0));
  EXPECT_EQ(valueOf(RefOp::cos, {1}), std::cos(1.0));
  EXPECT_EQ(valueOf(RefOp::floor, {-1.5}), -2);
  EXPECT_EQ(valueOf(RefOp::fma, {2, 3, 4}), 10);
  EXPECT_EQ(valueOf(RefOp::select, {1, 5, 6}), 5);
  EXPECT_EQ(valueOf(RefOp::select, {0, 5, 6}), 6);
  EXPECT_EQ(valueOf(RefOp::round, {3.14159}, DType::bf16), 3.140625);
  EXPECT_EQ(valueOf(RefOp::round, {1e9}, DType::f8e4m3), 448);
}

TEST(ReferenceTest, Compares) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const struct {
    RefOp op;
    double less, equal, greater, unordered;
  } cases[] = {{RefOp::cmp_lt, 1, 0, 0, 0}, {RefOp::cmp_le, 1, 1, 0, 0},
               {RefOp::cmp_gt, 0, 0, 1, 0}, {RefOp::cmp_ge, 0, 1, 1, 0},
               {RefOp::cmp_eq, 0, 1, 0, 0}, {RefOp::cmp_ne, 1, 0, 1, 1}};
  for (const auto &c : cases) {
    EXPECT_EQ(valueOf(c.op, {1, 2}), c.less) << EnumNameRefOp(c.op);
    EXPECT_EQ(valueOf(c.op, {2, 2}), c.equal) << EnumNameRefOp(c.op);
    EXPECT_EQ(valueOf(c.op, {3, 2}), c.greater) << EnumNameRefOp(c.op);
    EXPECT_EQ(valueOf(c.op, {nan, 2}), c.unordered) << EnumNameRefOp(c.op);
  }
}

TEST(ReferenceTest, BroadcastsAndCounts) {
  // bias[0, j] + 10 i, over one and the same row.
  PackageFile file = openKernel(
      listOf(tensorArg("bias", DType::f16, {1, 4}), tensorArg("d", DType::f32, {3, 4})), [] {
        auto nodes = listOf(refLoad(0, {-1, 1}), refNode(RefOp::index), constantNode(10),
                            refNode(RefOp::fma, {1, 2, 0}));
        nodes[1]->index_map = {0};
        return nodes;
      }());
  Tensor bias(DType::f16, {1, 4}), d(DType::f32, {3, 4});
  for (int64_t j = 0; j < 4; ++j)
    bias.set({0, j}, static_cast<double>(j) / 4);
  Reference reference = bound(file, {bias.buffer(), d.buffer()});
  const int64_t point[] = {2, 3};
  EXPECT_EQ(reference.at(point), 20.75);
}

TEST(ReferenceTest, GivesZeroForAnEmptySum) {
  Expected<PackageFile> file = PackageFile::fromBytes(packUnchecked(samplePackage()));
  ASSERT_TRUE(file);
  Tensor a(DType::bf16, {2, 1}), b(DType::bf16, {256, 1}), s(DType::f32, {}),
      d(DType::bf16, {2, 256});
  const int64_t aShape[] = {2, 0}, bShape[] = {256, 0}, sizes[] = {2, 0};
  Reference reference = bound(*file,
                              {{a.bytes.data(), DType::bf16, aShape, {}},
                               {b.bytes.data(), DType::bf16, bShape, {}},
                               s.buffer(),
                               d.buffer()},
                              sizes);
  const int64_t point[] = {1, 1};
  EXPECT_EQ(reference.at(point), 0.0);
}

std::unique_ptr<RefNodeT> indexNode(int32_t dim) {
  auto node = refNode(RefOp::index);
  node->index_map = {dim};
  return node;
}

std::unique_ptr<RefNodeT> sizeNode(SizeExpr value) {
  auto node = refNode(RefOp::size);
  node->extent = value.toExpr();
  return node;
}

std::unique_ptr<RefNodeT> gatherNode(uint32_t arg, std::vector<uint32_t> inputs) {
  auto node = refNode(RefOp::gather, std::move(inputs));
  node->arg = arg;
  return node;
}

/// Three ranks with an input [4, 3] each whose element is 100 rank + 10 row + column, and an output.
struct Ranks {
  std::vector<Tensor> in, out;
  Ranks(std::vector<int64_t> outShape) {
    for (int64_t r = 0; r < 3; ++r) {
      in.emplace_back(DType::f32, std::vector<int64_t>{4, 3});
      out.emplace_back(DType::f32, outShape);
      for (int64_t i = 0; i < 4; ++i)
        for (int64_t j = 0; j < 3; ++j)
          in.back().set({i, j}, double(100 * r + 10 * i + j));
    }
  }
  Reference bind(const PackageFile &file, size_t rank) const {
    std::vector<std::array<ArgBuffer, 2>> buffers;
    std::vector<std::span<const ArgBuffer>> ranks;
    for (size_t r = 0; r < in.size(); ++r)
      buffers.push_back({in[r].buffer(), out[r].buffer()});
    ranks.assign(buffers.begin(), buffers.end());
    Expected<Reference> made =
        Reference::create(*file.root().kernels()->Get(0), 0, ranks, rank, {{}, 1, 3});
    EXPECT_TRUE(made) << made.error().message;
    return std::move(*made);
  }
};

TEST(ReferenceTest, GathersFromOtherRanks) {
  // out[r * 4 + i, j] = in of rank r[i, j]
  PackageFile file = openKernel(
      listOf(tensorArg("x", DType::f32, {4, 3}), tensorArg("y", DType::f32, {12, 3}, true)),
      listOf(indexNode(0), indexNode(1), sizeNode(4), refNode(RefOp::floor_div, {0, 2}),
             refNode(RefOp::mod, {0, 2}), gatherNode(0, {3, 4, 1})));
  Ranks ranks({12, 3});
  Reference reference = ranks.bind(file, 1);
  std::vector<double> box(36);
  const int64_t origin[] = {0, 0}, extent[] = {12, 3};
  ASSERT_TRUE(reference.evaluateBox(origin, extent, box));
  for (int64_t i = 0; i < 12; ++i)
    for (int64_t j = 0; j < 3; ++j)
      EXPECT_EQ(box[size_t(i * 3 + j)], double(100 * (i / 4) + 10 * (i % 4) + j)) << i << " " << j;
}

TEST(ReferenceTest, SumsOverRanks) {
  // out[i, j] = sum over ranks k of in of rank k[rank + i, j]
  PackageFile file = openKernel(
      listOf(tensorArg("x", DType::f32, {4, 3}), tensorArg("y", DType::f32, {2, 3}, true)),
      listOf(indexNode(0), indexNode(1), indexNode(2), refNode(RefOp::rank),
             refNode(RefOp::add, {3, 0}), gatherNode(0, {2, 4, 1}), constantNode(1),
             contractNode(5, 6, SizeExpr::world())));
  Ranks ranks({2, 3});
  for (size_t rank = 0; rank < 3; ++rank) {
    Reference reference = ranks.bind(file, rank);
    for (int64_t i = 0; i < 2; ++i)
      for (int64_t j = 0; j < 3; ++j) {
        const int64_t point[] = {i, j};
        EXPECT_EQ(reference.at(point), double(300 + 3 * (10 * (int64_t(rank) + i) + j)));
      }
  }
}

TEST(ReferenceTest, WhatIsGatheredFromOutsideIsNaN) {
  PackageFile file = openKernel(
      listOf(tensorArg("x", DType::f32, {4, 3}), tensorArg("y", DType::f32, {6, 5}, true)),
      listOf(indexNode(0), indexNode(1), constantNode(1), refNode(RefOp::sub, {0, 2}),
             gatherNode(0, {1, 3, 2})));
  Ranks ranks({6, 5});
  Reference reference = ranks.bind(file, 0);
  for (int64_t i = 0; i < 6; ++i)
    for (int64_t j = 0; j < 5; ++j) {
      const int64_t point[] = {i, j};
      const bool inside = i >= 1 && i <= 4 && j < 3;
      EXPECT_EQ(std::isnan(reference.at(point)), !inside) << i << " " << j;
      if (inside)
        EXPECT_EQ(reference.at(point), double(100 * j + 10 * (i - 1) + 1));
    }
}

TEST(ReferenceTest, KnowsElementsThatMayHoldAnything) {
  PackageFile file = openKernel(
      listOf(tensorArg("x", DType::f32, {4, 3}), tensorArg("y", DType::f32, {4, 3}, true)),
      listOf(indexNode(1), constantNode(1), refNode(RefOp::cmp_lt, {0, 1}), refLoad(0, {0, 1}),
             refNode(RefOp::anything), refNode(RefOp::select, {2, 3, 4})));
  Ranks ranks({4, 3});
  Reference reference = ranks.bind(file, 2);
  std::vector<double> box(12);
  const int64_t origin[] = {0, 0}, extent[] = {4, 3};
  ASSERT_TRUE(reference.evaluateBox(origin, extent, box));
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t j = 0; j < 3; ++j) {
      const double value = box[size_t(i * 3 + j)];
      EXPECT_EQ(isAnything(value), j >= 1) << i << " " << j;
      if (j < 1)
        EXPECT_EQ(value, double(200 + 10 * i));
    }
  EXPECT_FALSE(isAnything(std::numeric_limits<double>::quiet_NaN()));
}

std::unique_ptr<RefNodeT> routeNode(uint32_t top, uint32_t groups, uint32_t keep, int32_t bias = -1) {
  auto node = refNode(RefOp::route_id);
  node->index_map = {0, 1};
  node->route = std::make_unique<RefRouteT>();
  node->route->top = top, node->route->groups = groups, node->route->keep = keep;
  node->route->bias = bias, node->route->scale = 1;
  return node;
}

TEST(ReferenceTest, RoutesRows) {
  PackageFile file = openKernel(
      listOf(tensorArg("x", DType::f32, {4, 3}), tensorArg("y", DType::f32, {4, 2}, true)),
      listOf(routeNode(2, 1, 1)));
  Ranks ranks({4, 2});
  Reference reference = ranks.bind(file, 0);
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t j = 0; j < 2; ++j) {
      const int64_t point[] = {i, j};
      EXPECT_EQ(reference.at(point), double(2 - j)); // columns grow
    }
}

TEST(ReferenceTest, RefusesRulesOfRoutingThatDoNotFit) {
  auto open = [](std::unique_ptr<RefNodeT> node) {
    auto kernel = listOf(std::move(node));
    Expected<PackageFile> file = PackageFile::fromBytes(packUnchecked(kernelPackage(
        listOf(tensorArg("x", DType::f32, {4, 6}), tensorArg("y", DType::f32, {4, 2}, true)),
        std::move(kernel))));
    return file ? std::string() : file.error().message;
  };
  EXPECT_EQ(open(routeNode(2, 3, 1)), "");
  EXPECT_THAT(open(routeNode(7, 1, 1)), HasSubstr("to fit 6 experts"));
  EXPECT_THAT(open(routeNode(2, 4, 1)), HasSubstr("to fit 6 experts"));
  EXPECT_THAT(open(routeNode(2, 6, 3)), HasSubstr("to fit 6 experts"));
  EXPECT_THAT(open(routeNode(2, 3, 4)), HasSubstr("to fit 6 experts"));
  EXPECT_THAT(open(routeNode(2, 1, 1, 5)), HasSubstr("expected a bias of f32 for each of 6 experts"));
}

TEST(ReferenceTest, ExpectsTheArgumentsOfEachRank) {
  PackageFile file = openKernel(
      listOf(tensorArg("x", DType::f32, {4, 3}), tensorArg("y", DType::f32, {4, 3}, true)),
      listOf(refLoad(0, {0, 1})));
  Tensor x(DType::f32, {4, 3}), y(DType::f32, {4, 3});
  const ArgBuffer buffers[] = {x.buffer(), y.buffer()};
  const std::span<const ArgBuffer> ranks[] = {buffers, buffers};
  const Kernel &kernel = *file.root().kernels()->Get(0);
  Expected<Reference> few = Reference::create(kernel, 0, ranks, 1, {{}, 1, 3});
  ASSERT_FALSE(few);
  EXPECT_THAT(few.error().message, HasSubstr("the arguments of 3 ranks"));
  EXPECT_FALSE(Reference::create(kernel, 0, ranks, 2, {{}, 1, 2}));
  EXPECT_TRUE(Reference::create(kernel, 0, ranks, 1, {{}, 1, 2}));
}

TEST(ReferenceTest, ChecksArguments) {
  Expected<PackageFile> file = PackageFile::fromBytes(packUnchecked(samplePackage()));
  ASSERT_TRUE(file);
  SampleArgs args(5, 8);
  const auto error = [&](auto change) {
    std::vector<ArgBuffer> buffers = args.buffers();
    change(buffers);
    return bindError(*file, buffers, args.sizes);
  };
  EXPECT_EQ(error([](auto &b) { b.pop_back(); }), "expected 4 arguments, got 3");
  EXPECT_EQ(error([](auto &b) { b[0].dtype = DType::f16; }),
            "argument a: expected elements of type bf16, got f16");
  EXPECT_EQ(error([](auto &b) { b[0].shape = b[0].shape.subspan(1); }),
            "argument a: expected rank 2, got 1");
  EXPECT_EQ(error([](auto &b) { b[0].strides = b[0].strides.subspan(1); }),
            "argument a: expected 2 strides, got 1");
  EXPECT_EQ(error([](auto &b) { b[1].data = nullptr; }),
            "argument b: expected data, got a null pointer");
  const int64_t narrow[] = {5, 7}, negative[] = {5, -1}, huge[] = {INT64_MAX, INT64_MAX};
  EXPECT_EQ(error([&](auto &b) { b[0].shape = narrow; }),
            "argument a: expected size 1 to be at least 8, got 7");
  EXPECT_EQ(error([&](auto &b) { b[0].shape = negative; }),
            "argument a: expected sizes of at least 0, got -1");
  EXPECT_EQ(error([&](auto &b) { b[0].shape = huge, b[0].strides = {}; }),
            "argument a: its sizes and strides overflow");
  EXPECT_THAT(bindError(*file, args.buffers(), std::span(args.sizes).first(1)),
              HasSubstr("extent of a contraction: expression step 0: expected a symbol below 1"));
}

TEST(ReferenceTest, ChecksBoxes) {
  Expected<PackageFile> file = PackageFile::fromBytes(packUnchecked(samplePackage()));
  ASSERT_TRUE(file);
  SampleArgs args(5, 8);
  Reference reference = bound(*file, args.buffers(), args.sizes);
  std::vector<double> results(10);
  const auto error = [&](std::vector<int64_t> origin, std::vector<int64_t> extent) {
    Expected<void> done = reference.evaluateBox(origin, extent, results);
    return done ? std::string() : done.error().message;
  };
  EXPECT_EQ(error({0}, {1, 1}), "expected a box of rank 2, got 1 and 2");
  EXPECT_EQ(error({4, 0}, {2, 5}), "dimension 0: expected a box inside 5, got 2 from 4");
  EXPECT_EQ(error({-1, 0}, {2, 5}), "dimension 0: expected a box inside 5, got 2 from -1");
  EXPECT_EQ(error({0, 0}, {2, 4}), "expected room for 8 results, got 10");
  EXPECT_EQ(error({3, 251}, {2, 5}), "");
}

} // namespace
