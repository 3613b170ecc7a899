//===- GroupsTest.cpp - bounds of groups and what each group sees ---------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Sample.h"

#include "heddle/Package/Groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::pkg;
using namespace heddle::pkg::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// d[M, 2] = a[M, 3] * b[G, 3, 2], one b for each group of rows.
PackageT package(GroupKind kind, uint32_t count, uint32_t align = 1) {
  PackageT package = samplePackage();
  KernelT &kernel = *package.kernels[0];
  const int64_t numbers = count + (kind == GroupKind::offsets ? 1 : 0);
  const bool masked = kind == GroupKind::masked;
  kernel.args.clear(), kernel.nodes.clear(), kernel.variants.clear();
  kernel.args.push_back(tensorArg(
      "a", DType::f32, masked ? std::vector<int64_t>{count, -1, 3} : std::vector<int64_t>{-1, 3}));
  kernel.args.push_back(tensorArg("b", DType::f32, {count, 3, 2}));
  kernel.args.push_back(tensorArg("g", DType::i32, {numbers}));
  kernel.args.push_back(
      tensorArg("d", DType::f32,
                masked ? std::vector<int64_t>{count, -1, 2} : std::vector<int64_t>{-1, 2}, true));
  kernel.nodes.push_back(masked ? refLoad(0, {0, 1, 3}) : refLoad(0, {0, 2}));
  kernel.nodes.push_back(masked ? refLoad(1, {0, 3, 2}) : refLoad(1, {-1, 2, 1}));
  kernel.nodes.push_back(refNode(RefOp::contract, {0, 1}));
  kernel.nodes.back()->extent = SizeExpr(3).toExpr();
  kernel.outputs[0]->arg = 3, kernel.outputs[0]->node = 2;
  kernel.groups = std::make_unique<GroupsT>();
  GroupsT &groups = *kernel.groups;
  groups.arg = 2, groups.kind = kind, groups.count = count, groups.align = align;
  groups.limit = SizeExpr::symbol(0).toExpr();
  for (uint32_t arg : {0u, 1u, 3u}) {
    auto view = std::make_unique<GroupViewT>();
    view->arg = arg;
    view->group_dim = arg == 1 || masked ? 0 : -1;
    view->rows_dim = arg == 1 ? -1 : masked ? 1 : 0;
    groups.views.push_back(std::move(view));
  }
  return package;
}

PackageFile open(const PackageT &package) {
  Expected<PackageFile> file = PackageFile::fromBytes(packUnchecked(package));
  EXPECT_TRUE(file) << file.error().message;
  return std::move(*file);
}

/// "first+size" of each group, then the first bad one.
std::string bounds(GroupKind kind, std::vector<int32_t> numbers, int64_t rows, uint32_t align = 1) {
  const auto count = uint32_t(numbers.size() - (kind == GroupKind::offsets ? 1 : 0));
  PackageFile file = open(package(kind, count, align));
  const int64_t sizes[] = {rows, 0};
  Expected<GroupBounds> found =
      groupBounds(*file.root().kernels()->Get(0)->groups(), numbers, {sizes, 1});
  EXPECT_TRUE(found) << found.error().message;
  std::string text;
  for (const GroupBounds::Range &range : found->ranges)
    text += std::to_string(range.first) + "+" + std::to_string(range.size) + " ";
  return text + std::to_string(found->firstBad);
}

TEST(GroupsTest, BoundsOfEachKind) {
  EXPECT_EQ(bounds(GroupKind::offsets, {0, 5, 5, 9}, 9), "0+5 5+0 5+4 -1");
  EXPECT_EQ(bounds(GroupKind::offsets, {2, 5, 9}, 12), "2+3 5+4 -1");
  EXPECT_EQ(bounds(GroupKind::counts, {5, 0, 4}, 9), "0+5 5+0 5+4 -1");
  EXPECT_EQ(bounds(GroupKind::counts, {5, 0, 4}, 20, 8), "0+5 8+0 8+4 -1");
  EXPECT_EQ(bounds(GroupKind::masked, {5, 0, 9}, 9), "0+5 0+0 0+9 -1");
}

TEST(GroupsTest, EmptyFromTheFirstBadOneOn) {
  EXPECT_EQ(bounds(GroupKind::offsets, {0, 5, 4, 9}, 9), "0+5 0+0 0+0 1");
  EXPECT_EQ(bounds(GroupKind::offsets, {-1, 5, 9}, 9), "0+0 0+0 0");
  EXPECT_EQ(bounds(GroupKind::offsets, {0, 5, 10}, 9), "0+5 0+0 1");
  EXPECT_EQ(bounds(GroupKind::offsets, {0, 5, 9}, 9, 4), "0+5 0+0 1");
  EXPECT_EQ(bounds(GroupKind::counts, {5, INT32_MAX, INT32_MAX, 1}, 9), "0+5 0+0 0+0 0+0 1");
  EXPECT_EQ(bounds(GroupKind::counts, {5, -1, 1}, 9), "0+5 0+0 0+0 1");
  EXPECT_EQ(bounds(GroupKind::counts, {5, 2}, 9, 8), "0+5 0+0 1");
  EXPECT_EQ(bounds(GroupKind::masked, {5, 10, 1}, 9), "0+5 0+0 0+0 1");
  EXPECT_EQ(bounds(GroupKind::masked, {INT32_MIN, 1}, 9), "0+0 0+0 0");
}

TEST(GroupsTest, EachGroupSeesItsRows) {
  PackageFile file = open(package(GroupKind::offsets, 2));
  const Kernel &kernel = *file.root().kernels()->Get(0);
  float a[4][3], b[2][3][2], d[4][2] = {};
  for (int i = 0; i < 12; ++i)
    a[0][i] = float(i), b[0][0][i] = float(i * i);
  const std::vector<int32_t> g{1, 1, 3};
  const int64_t sizes[] = {4, 0}, aShape[] = {4, 3}, bShape[] = {2, 3, 2}, dShape[] = {4, 2},
                gShape[] = {3};
  const ArgBuffer args[] = {{a, DType::f32, aShape, {}},
                            {b, DType::f32, bShape, {}},
                            {g.data(), DType::i32, gShape, {}},
                            {d, DType::f32, dShape, {}}};
  Expected<GroupBounds> found = groupBounds(*kernel.groups(), g, {sizes, 1});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rows(), 2);
  GroupArgs second = groupArgs(kernel, args, *found, 1);
  EXPECT_THAT(second.origins[0], ElementsAre(1, 0));
  EXPECT_THAT(second.origins[1], ElementsAre(1, 0, 0));
  EXPECT_THAT(second.origins[3], ElementsAre(1, 0));
  Expected<Reference> reference = Reference::create(kernel, 0, second.args, {sizes, 1});
  ASSERT_TRUE(reference) << reference.error().message;
  EXPECT_THAT(reference->shape(), ElementsAre(2, 2));
  for (int64_t i : {0, 1})
    for (int64_t j : {0, 1}) {
      double sum = 0;
      for (int k = 0; k < 3; ++k)
        sum += double(a[1 + i][k]) * b[1][k][j];
      const int64_t point[] = {i, j};
      EXPECT_EQ(reference->at(point), sum) << i << " " << j;
    }
  // Sums over a part of what the kernel sums over, and over nothing.
  for (int64_t extent : {0, 2}) {
    Expected<Reference> part = Reference::create(kernel, 0, second.args, {sizes, 1}, extent);
    ASSERT_TRUE(part);
    const int64_t point[] = {1, 1};
    EXPECT_EQ(part->at(point), extent ? a[2][0] * b[1][0][1] + a[2][1] * b[1][1][1] : 0);
  }
}

TEST(GroupsTest, NumbersAreCounted) {
  PackageFile file = open(package(GroupKind::offsets, 2));
  const int64_t sizes[] = {4, 0};
  const std::vector<int32_t> two{0, 1};
  Expected<GroupBounds> found =
      groupBounds(*file.root().kernels()->Get(0)->groups(), two, {sizes, 1});
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("expected 3 numbers of groups, got 2"));
}

TEST(GroupsTest, DamagedOnesAreRefused) {
  PackageT bad = package(GroupKind::masked, 2);
  bad.kernels[0]->groups->views[0]->rows_dim = 3;
  EXPECT_THAT(openError(bad), HasSubstr("expected a dimension from -1 to 2 of argument a, got 3"));
  bad = package(GroupKind::masked, 2);
  bad.kernels[0]->groups->arg = 0;
  EXPECT_THAT(openError(bad), HasSubstr("expected argument a to have 2 elements of i32"));
  bad = package(GroupKind::masked, 2);
  bad.kernels[0]->groups->count = 3;
  EXPECT_THAT(openError(bad), HasSubstr("expected argument g to have 3 elements of i32"));
  bad = package(GroupKind::masked, 2);
  bad.kernels[0]->groups->views[1]->arg = 9;
  EXPECT_THAT(openError(bad), HasSubstr("view 1"));
  bad = package(GroupKind::masked, 2);
  bad.kernels[0]->groups->status = 3;
  EXPECT_THAT(openError(bad), HasSubstr("expected argument d to have 1 elements of i32"));
}

} // namespace
