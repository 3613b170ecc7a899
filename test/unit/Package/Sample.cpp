//===- Sample.cpp - a package for the tests -------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Sample.h"

#include "heddle/Package/Checksum.h"
#include "heddle/Package/Expr.h"

using namespace heddle;
using namespace heddle::pkg;

namespace {

template <typename T, typename... Rest> std::vector<T> listOf(T first, Rest... rest) {
  std::vector<T> list;
  list.push_back(std::move(first));
  (list.push_back(std::move(rest)), ...);
  return list;
}

std::unique_ptr<ParamT> param(ParamKind kind, uint32_t index, std::unique_ptr<ExprT> expr = {}) {
  auto result = std::make_unique<ParamT>();
  result->kind = kind;
  result->index = index;
  result->expr = std::move(expr);
  return result;
}

std::unique_ptr<ConstraintT> constraint(ConstraintKind kind, const std::string &what, int64_t value,
                                        std::unique_ptr<ExprT> expr, uint32_t arg = 0) {
  auto result = std::make_unique<ConstraintT>();
  result->kind = kind;
  result->what = what;
  result->value = value;
  result->expr = std::move(expr);
  result->arg = arg;
  return result;
}

std::unique_ptr<TensorMapT> tensorMap(uint32_t arg, SizeExpr rows, SizeExpr columns,
                                      std::vector<uint32_t> box) {
  auto map = std::make_unique<TensorMapT>();
  map->arg = arg;
  map->dtype = DType::bf16;
  map->dims.push_back(columns.toExpr());
  map->dims.push_back(rows.toExpr());
  map->strides.push_back((columns * 2).toExpr());
  map->box = std::move(box);
  map->swizzle = Swizzle::b128;
  map->l2_promotion = 256;
  return map;
}

std::unique_ptr<KeyValueT> entry(const std::string &key, const std::string &value) {
  auto result = std::make_unique<KeyValueT>();
  result->key = key;
  result->value = value;
  return result;
}

std::unique_ptr<RoleT> role(const std::string &name, uint32_t first, uint32_t warps,
                            uint32_t registers) {
  auto result = std::make_unique<RoleT>();
  result->name = name;
  result->first_warp = first;
  result->warps = warps;
  result->registers = registers;
  return result;
}

std::unique_ptr<VariantT> bulkVariant() {
  const SizeExpr m = SizeExpr::symbol(0), k = SizeExpr::symbol(1);
  auto variant = std::make_unique<VariantT>();
  variant->target = "sm_90a";
  variant->entry = "matmul_sm_90a";
  variant->image = 0;
  variant->grid = listOf(min(ceilDiv(m, 128) * 2, SizeExpr::smCount()).toExpr(),
                         SizeExpr(1).toExpr(), SizeExpr(1).toExpr());
  variant->cluster = {2, 1, 1};
  variant->block = {384, 1, 1};
  variant->shared_bytes = 200704;
  variant->registers = 168;
  variant->params =
      listOf(param(ParamKind::tensor_map, 0), param(ParamKind::tensor_map, 1),
             param(ParamKind::pointer, 3), param(ParamKind::f32, 2),
             param(ParamKind::i32, 0, m.toExpr()), param(ParamKind::i64, 0, k.toExpr()));
  variant->tensor_maps =
      listOf(tensorMap(0, m, k, {64, 128}), tensorMap(1, SizeExpr(256), k, {64, 128}));
  variant->constraints = listOf(
      constraint(ConstraintKind::multiple_of, "row stride of a in bytes", 16, (k * 2).toExpr()),
      constraint(ConstraintKind::pointer_alignment, "address of a", 16, nullptr, 0),
      constraint(ConstraintKind::at_most, "M", 1 << 20, m.toExpr()));
  variant->schedule = listOf(entry("tile", "128x128x64"), entry("stages", "4"));
  variant->roles = listOf(role("load", 0, 4, 40), role("mma", 4, 8, 232));
  variant->resident_ctas = SizeExpr::smCount().toExpr();
  return variant;
}

std::unique_ptr<VariantT> threadsVariant() {
  const SizeExpr m = SizeExpr::symbol(0), k = SizeExpr::symbol(1);
  auto variant = std::make_unique<VariantT>();
  variant->target = "sm_80";
  variant->entry = "matmul_sm_80";
  variant->image = 1;
  variant->grid = listOf(ceilDiv(m, 64).toExpr(), SizeExpr(4).toExpr(), SizeExpr(1).toExpr());
  variant->cluster = {1, 1, 1};
  variant->block = {128, 1, 1};
  variant->params =
      listOf(param(ParamKind::pointer, 0), param(ParamKind::pointer, 1),
             param(ParamKind::pointer, 3), param(ParamKind::f32, 2),
             param(ParamKind::i64, 0, m.toExpr()), param(ParamKind::i64, 0, k.toExpr()));
  return variant;
}

std::unique_ptr<ImageT> image(const std::string &target, const std::string &entry, bool cubin) {
  auto result = std::make_unique<ImageT>();
  result->target = target;
  result->ptx_version = 80;
  result->ptx = ".version 8.0\n.target " + target + "\n.address_size 64\n.visible .entry " + entry +
                "()\n{\n  ret;\n}\n";
  if (cubin)
    result->cubin = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0};
  return result;
}

std::vector<std::unique_ptr<RefNodeT>> sampleNodes() {
  auto nodes = listOf(test::refLoad(0, {0, 2}), test::refLoad(1, {1, 2}),
                      test::refNode(RefOp::contract, {0, 1}), test::refLoad(2, {}),
                      test::refNode(RefOp::mul, {2, 3}), test::refNode(RefOp::constant),
                      test::refNode(RefOp::max, {4, 5}), test::refNode(RefOp::round, {6}));
  nodes[2]->extent = SizeExpr::symbol(1).toExpr();
  nodes[7]->dtype = DType::bf16;
  return nodes;
}

} // namespace

std::unique_ptr<RefNodeT> test::refNode(RefOp op, std::vector<uint32_t> inputs) {
  auto node = std::make_unique<RefNodeT>();
  node->op = op;
  node->inputs = std::move(inputs);
  return node;
}

std::unique_ptr<RefNodeT> test::refLoad(uint32_t arg, std::vector<int32_t> indexMap) {
  auto node = refNode(RefOp::load);
  node->arg = arg;
  node->index_map = std::move(indexMap);
  return node;
}

std::unique_ptr<ArgT> test::tensorArg(const std::string &name, DType dtype,
                                      std::vector<int64_t> shape, bool output) {
  auto arg = std::make_unique<ArgT>();
  arg->name = name;
  arg->dtype = dtype;
  arg->output = output;
  for (int64_t size : shape)
    arg->shape.push_back(size < 0 ? Dim(0, static_cast<int32_t>(-1 - size)) : Dim(size, -1));
  return arg;
}

PackageT test::samplePackage() {
  auto kernel = std::make_unique<KernelT>();
  kernel->name = "matmul";
  kernel->spec = "heddle.kernel @matmul(%a: tensor<?x?xbf16>, ...) {\n  ...\n}\n";
  kernel->symbols = {"M", "K"};
  auto scale = std::make_unique<ArgT>();
  scale->name = "scale";
  scale->kind = ArgKind::scalar;
  kernel->args =
      listOf(tensorArg("a", DType::bf16, {-1, -2}), tensorArg("b", DType::bf16, {256, -2}),
             std::move(scale), tensorArg("d", DType::bf16, {-1, 256}, true));
  kernel->args[3]->strides = {Dim(256, -1), Dim(1, -1)};
  kernel->variants = listOf(bulkVariant(), threadsVariant());
  kernel->nodes = sampleNodes();
  auto output = std::make_unique<RefOutputT>();
  output->arg = 3;
  output->node = 7;
  kernel->outputs = listOf(std::move(output));
  kernel->flops = (SizeExpr::symbol(0) * SizeExpr::symbol(1) * 512).toExpr();
  kernel->constraints =
      listOf(constraint(ConstraintKind::at_least, "K", 1, SizeExpr::symbol(1).toExpr()));

  PackageT package;
  package.format_version = formatVersion;
  package.compiler_version = "0.1.0";
  package.kernels = listOf(std::move(kernel));
  package.images =
      listOf(image("sm_90a", "matmul_sm_90a", true), image("sm_80", "matmul_sm_80", false));
  return package;
}

std::vector<uint8_t> test::packUnsealed(const PackageT &package) {
  flatbuffers::FlatBufferBuilder builder;
  FinishPackageBuffer(builder, Package::Pack(builder, &package));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

std::vector<uint8_t> test::sealed(std::vector<uint8_t> bytes) {
  seal(bytes);
  return bytes;
}

std::vector<uint8_t> test::packUnchecked(const PackageT &package) {
  return sealed(packUnsealed(package));
}

std::string test::openError(const PackageT &package) {
  Expected<PackageFile> file = PackageFile::fromBytes(packUnchecked(package));
  return file ? "" : file.error().message;
}
