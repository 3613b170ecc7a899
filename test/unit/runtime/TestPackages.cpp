//===- TestPackages.cpp - packages made for the runtime's tests -----------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestPackages.h"
#include "heddle/Package/Expr.h"
#include "heddle/Package/Numeric.h"
#include "heddle/Package/Writer.h"
#include <cstdlib>
#include <cstring>

namespace heddle::rt::test {

namespace {

using pkg::SizeExpr;

pkg::Dim symbol(int index) { return pkg::Dim(0, index); }
pkg::Dim fixed(int64_t value) { return pkg::Dim(value, -1); }

std::unique_ptr<pkg::ArgT> tensor(std::string name, pkg::DType type, std::vector<pkg::Dim> shape,
                                  bool output = false) {
  auto arg = std::make_unique<pkg::ArgT>();
  arg->name = std::move(name);
  arg->kind = pkg::ArgKind::tensor;
  arg->dtype = type;
  arg->shape = std::move(shape);
  arg->output = output;
  return arg;
}

std::unique_ptr<pkg::ParamT> param(pkg::ParamKind kind, uint32_t index,
                                   const SizeExpr *expr = nullptr) {
  auto made = std::make_unique<pkg::ParamT>();
  made->kind = kind;
  made->index = index;
  if (expr)
    made->expr = expr->toExpr();
  return made;
}

std::unique_ptr<pkg::RefNodeT> node(pkg::RefOp op, std::vector<uint32_t> inputs, uint32_t arg = 0,
                                    std::vector<int32_t> map = {}) {
  auto made = std::make_unique<pkg::RefNodeT>();
  made->op = op;
  made->inputs = std::move(inputs);
  made->arg = arg;
  made->index_map = std::move(map);
  return made;
}

std::unique_ptr<pkg::ConstraintT> constraint(pkg::ConstraintKind kind, int64_t value,
                                             std::string what, const SizeExpr *expr,
                                             uint32_t arg = 0) {
  auto made = std::make_unique<pkg::ConstraintT>();
  made->kind = kind;
  made->value = value;
  made->what = std::move(what);
  made->arg = arg;
  if (expr)
    made->expr = expr->toExpr();
  return made;
}

const SizeExpr m = SizeExpr::symbol(0), n = SizeExpr::symbol(1), k = SizeExpr::symbol(2),
               lda = SizeExpr::symbol(3);

std::unique_ptr<pkg::VariantT> variant(const std::string &target, uint32_t image,
                                       std::string entry) {
  auto made = std::make_unique<pkg::VariantT>();
  made->target = target;
  made->image = image;
  made->entry = std::move(entry);
  made->block = {128, 1, 1};
  made->cluster = {1, 1, 1};
  made->shared_bytes = 1024;
  for (const SizeExpr &size : {ceilDiv(m, 64), ceilDiv(n, 64), SizeExpr(1)})
    made->grid.push_back(size.toExpr());
  return made;
}

std::unique_ptr<pkg::VariantT> bulkVariant(const std::string &target, uint32_t image) {
  auto made = variant(target, image, "gemm_bulk");
  auto map = std::make_unique<pkg::TensorMapT>();
  map->arg = 0;
  map->dtype = pkg::DType::bf16;
  map->dims.push_back(k.toExpr());
  map->dims.push_back(m.toExpr());
  map->strides.push_back((lda * 2).toExpr());
  map->box = {64, 64};
  map->swizzle = pkg::Swizzle::b128;
  map->l2_promotion = 128;
  made->tensor_maps.push_back(std::move(map));
  made->params.push_back(param(pkg::ParamKind::i32, 0, &m)); // before the map: needs padding
  made->params.push_back(param(pkg::ParamKind::tensor_map, 0));
  made->params.push_back(param(pkg::ParamKind::pointer, 1));
  made->params.push_back(param(pkg::ParamKind::pointer, 2));
  made->params.push_back(param(pkg::ParamKind::i64, 0, &n));
  made->params.push_back(param(pkg::ParamKind::i64, 0, &k));
  made->params.push_back(param(pkg::ParamKind::i64, 0, &lda));
  made->params.push_back(param(pkg::ParamKind::f32, 3));
  SizeExpr bytes = lda * 2;
  made->constraints.push_back(
      constraint(pkg::ConstraintKind::multiple_of, 16, "row stride of A in bytes", &bytes));
  made->constraints.push_back(
      constraint(pkg::ConstraintKind::pointer_alignment, 16, "address of A", nullptr, 0));
  return made;
}

std::unique_ptr<pkg::VariantT> anyVariant(const std::string &target, uint32_t image) {
  auto made = variant(target, image, "gemm_any");
  made->params.push_back(param(pkg::ParamKind::i32, 0, &m));
  for (uint32_t arg : {0u, 1u, 2u})
    made->params.push_back(param(pkg::ParamKind::pointer, arg));
  for (const SizeExpr *size : {&n, &k, &lda})
    made->params.push_back(param(pkg::ParamKind::i64, 0, size));
  made->params.push_back(param(pkg::ParamKind::f32, 3));
  return made;
}

template <typename T> T read(const FakeDevice::Launch &launch, size_t index) {
  T value;
  std::memcpy(&value, launch.params.data() + launch.entry.params[index].offset, sizeof(T));
  return value;
}

} // namespace

pkg::PackageT gemmPackage(const std::vector<ImageSpec> &images) {
  pkg::PackageT package;
  package.format_version = pkg::formatVersion;
  package.compiler_version = "test";
  auto kernel = std::make_unique<pkg::KernelT>();
  kernel->name = "gemm";
  kernel->spec = "heddle.kernel @gemm";
  kernel->symbols = {"M", "N", "K", "lda"};
  kernel->args.push_back(tensor("A", pkg::DType::bf16, {symbol(0), symbol(2)}));
  kernel->args.back()->strides = {symbol(3), fixed(1)};
  kernel->args.push_back(tensor("B", pkg::DType::bf16, {symbol(1), symbol(2)}));
  kernel->args.push_back(tensor("D", pkg::DType::f32, {symbol(0), symbol(1)}, true));
  auto alpha = std::make_unique<pkg::ArgT>();
  alpha->name = "alpha";
  alpha->kind = pkg::ArgKind::scalar;
  kernel->args.push_back(std::move(alpha));

  kernel->nodes.push_back(node(pkg::RefOp::load, {}, 0, {0, 2}));
  kernel->nodes.push_back(node(pkg::RefOp::load, {}, 1, {1, 2}));
  kernel->nodes.push_back(node(pkg::RefOp::contract, {0, 1}));
  kernel->nodes.back()->extent = k.toExpr();
  kernel->nodes.push_back(node(pkg::RefOp::load, {}, 3));
  kernel->nodes.push_back(node(pkg::RefOp::mul, {2, 3}));
  auto output = std::make_unique<pkg::RefOutputT>();
  output->arg = 2;
  output->node = 4;
  kernel->outputs.push_back(std::move(output));
  kernel->flops = (m * n * k * 2).toExpr();
  kernel->constraints.push_back(constraint(pkg::ConstraintKind::at_most, 1 << 20, "M", &m));

  for (uint32_t i = 0; i < images.size(); ++i) {
    auto image = std::make_unique<pkg::ImageT>();
    image->target = images[i].target;
    image->ptx_version = 80;
    image->ptx = ".version 8.0";
    if (images[i].cubin)
      image->cubin = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0};
    package.images.push_back(std::move(image));
    kernel->variants.push_back(bulkVariant(images[i].target, i));
    kernel->variants.push_back(anyVariant(images[i].target, i));
  }
  package.kernels.push_back(std::move(kernel));
  return package;
}

std::vector<uint8_t> bytesOf(const pkg::PackageT &package) {
  auto bytes = pkg::packageBytes(package);
  if (!bytes) {
    std::fprintf(stderr, "%s\n", bytes.error().message.c_str());
    std::abort();
  }
  return *std::move(bytes);
}

pkg::PackageFile fileOf(const pkg::PackageT &package) {
  auto file = pkg::PackageFile::fromBytes(bytesOf(package));
  if (!file) {
    std::fprintf(stderr, "%s\n", file.error().message.c_str());
    std::abort();
  }
  return *std::move(file);
}

void runTestKernel(const FakeDevice::Launch &launch) {
  if (launch.entry.name != "gemm_any" && launch.entry.name != "gemm_bulk")
    return;
  int64_t rows = read<int32_t>(launch, 0), columns = read<int64_t>(launch, 4),
          depth = read<int64_t>(launch, 5), stride = read<int64_t>(launch, 6);
  // The fake's tensor map starts with the address, as a pointer parameter does.
  auto *a = read<const uint16_t *>(launch, 1), *b = read<const uint16_t *>(launch, 2);
  auto *d = read<float *>(launch, 3);
  float alpha = read<float>(launch, 7);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      float sum = 0;
      for (int64_t i = 0; i < depth; ++i)
        sum += float(pkg::fromBF16(a[row * stride + i]) * pkg::fromBF16(b[column * depth + i]));
      d[row * columns + column] = alpha * sum;
    }
}

pkg::PackageT vectorAddPackage() {
  pkg::PackageT package;
  package.format_version = pkg::formatVersion;
  package.compiler_version = "test";
  auto kernel = std::make_unique<pkg::KernelT>();
  kernel->name = "vector_add";
  kernel->symbols = {"N"};
  kernel->args.push_back(tensor("A", pkg::DType::f32, {symbol(0)}));
  kernel->args.push_back(tensor("B", pkg::DType::f32, {symbol(0)}));
  kernel->args.push_back(tensor("D", pkg::DType::f32, {symbol(0)}, true));
  kernel->nodes.push_back(node(pkg::RefOp::load, {}, 0, {0}));
  kernel->nodes.push_back(node(pkg::RefOp::load, {}, 1, {0}));
  kernel->nodes.push_back(node(pkg::RefOp::add, {0, 1}));
  auto output = std::make_unique<pkg::RefOutputT>();
  output->arg = 2;
  output->node = 2;
  kernel->outputs.push_back(std::move(output));

  auto image = std::make_unique<pkg::ImageT>();
  image->target = "sm_80";
  image->ptx_version = 70;
  image->ptx = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry vector_add(.param .u64 a, .param .u64 b, .param .u64 d, .param .u32 n)
{
  .reg .pred %p;
  .reg .b32 %r<5>;
  .reg .b64 %rd<8>;
  .reg .f32 %f<4>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.param.u64 %rd3, [d];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r2, 128, %r3;
  setp.ge.u32 %p, %r4, %r1;
  @%p ret;
  cvta.to.global.u64 %rd1, %rd1;
  cvta.to.global.u64 %rd2, %rd2;
  cvta.to.global.u64 %rd3, %rd3;
  mul.wide.u32 %rd4, %r4, 4;
  add.u64 %rd5, %rd1, %rd4;
  add.u64 %rd6, %rd2, %rd4;
  add.u64 %rd7, %rd3, %rd4;
  ld.global.f32 %f1, [%rd5];
  ld.global.f32 %f2, [%rd6];
  add.f32 %f3, %f1, %f2;
  st.global.f32 [%rd7], %f3;
  ret;
}
)";
  package.images.push_back(std::move(image));

  SizeExpr count = SizeExpr::symbol(0);
  auto form = std::make_unique<pkg::VariantT>();
  form->target = "sm_80";
  form->entry = "vector_add";
  form->block = {128, 1, 1};
  form->cluster = {1, 1, 1};
  for (const SizeExpr &size : {ceilDiv(count, 128), SizeExpr(1), SizeExpr(1)})
    form->grid.push_back(size.toExpr());
  for (uint32_t arg : {0u, 1u, 2u})
    form->params.push_back(param(pkg::ParamKind::pointer, arg));
  form->params.push_back(param(pkg::ParamKind::i32, 0, &count));
  kernel->variants.push_back(std::move(form));
  package.kernels.push_back(std::move(kernel));
  return package;
}

} // namespace heddle::rt::test
