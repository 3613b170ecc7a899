//===- GemmSpec.cpp - the parts of a GEMM spec ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a heddle.kernel must be to become a GEMM: one product of two arguments, one
// result computed element by element from it. Everything else is an error here.
//
//===----------------------------------------------------------------------===//
#include "heddle/Kernels/Gemm.h"

using namespace mlir;

namespace heddle::kernels {
using Aligned = tuning::GemmProblem::Aligned;
using target::DType;

const spec::Size &GemmSpec::k() const { return *tensors[a].sizes[spec::GemmOp(gemm).getADimK()]; }

static TensorArg makeTensor(unsigned index, std::string name, Type type,
                            std::optional<SmallVector<int64_t>> strides) {
  TensorArg t;
  t.index = index, t.name = std::move(name), t.strides = std::move(strides);
  t.type = dyn_cast<RankedTensorType>(type);
  return t;
}

static void collectTensors(GemmSpec &s) {
  spec::KernelOp kernel = s.kernel;
  for (auto [i, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    s.tensors.push_back(makeTensor(i, kernel.getArgName(i), type, kernel.getArgStrides(i)));
    for (int64_t d = 0; s.tensors[i].type && d < s.tensors[i].type.getRank(); ++d)
      s.tensors[i].sizes.push_back(&s.shapes.of(kernel.getArgument(i), d));
  }
  s.d = s.tensors.size();
  for (auto [i, type] : llvm::enumerate(kernel.getResultTypes())) {
    unsigned index = s.tensors.size();
    s.tensors.push_back(
        makeTensor(index, kernel.getResultName(i), type, kernel.getResultStrides(i)));
    for (int64_t d = 0; d < s.tensors[index].type.getRank(); ++d)
      s.tensors[index].sizes.push_back(&s.shapes.ofResult(i, d));
  }
}

static FailureOr<unsigned> operandIndex(spec::GemmOp gemm, Value operand, StringRef name) {
  if (auto arg = dyn_cast<BlockArgument>(operand))
    return arg.getArgNumber();
  return gemm.emitError("expected operand ")
         << name << " to be an argument of the kernel, got the result of "
         << operand.getDefiningOp()->getName()
         << "; work on an operand before the product is not supported";
}

FailureOr<GemmSpec> analyzeGemm(spec::KernelOp kernel) {
  SmallVector<spec::GemmOp> gemms(kernel.getBody().front().getOps<spec::GemmOp>());
  if (gemms.empty())
    return kernel.emitError("expected a heddle.gemm in the kernel, got none; kernels without a "
                            "product are not supported");
  if (gemms.size() > 1) {
    InFlightDiagnostic error = gemms[1].emitError("expected one heddle.gemm in a kernel, got ")
                               << gemms.size();
    error.attachNote(gemms[0].getLoc()) << "the first is here";
    return error;
  }
  Operation *end = kernel.getBody().front().getTerminator();
  bool status = gemms[0].getStatus() && end->getNumOperands() == 2;
  if (status && end->getOperand(1) != gemms[0].getStatus())
    return kernel.emitError("expected the second result to be the state of the groups of the "
                            "heddle.gemm");
  if (kernel.getResultTypes().size() != 1 + size_t(status))
    return kernel.emitError("expected a kernel with one result, got ")
           << kernel.getResultTypes().size();
  FailureOr<spec::KernelShapes> shapes = spec::KernelShapes::infer(kernel);
  if (failed(shapes))
    return failure();
  GemmSpec s;
  s.kernel = kernel, s.gemm = gemms[0];
  s.batched = s.gemm.isBatched(), s.lead = s.gemm.getDLead();
  s.shapes = std::move(*shapes);
  collectTensors(s);
  FailureOr<unsigned> a = operandIndex(s.gemm, s.gemm.getA(), "a");
  FailureOr<unsigned> b = operandIndex(s.gemm, s.gemm.getB(), "b");
  if (failed(a) || failed(b))
    return failure();
  s.a = *a, s.b = *b;
  if (s.gemm.hasScales()) {
    FailureOr<unsigned> scaleA = operandIndex(s.gemm, s.gemm.getScaleA(), "scale_a");
    FailureOr<unsigned> scaleB = operandIndex(s.gemm, s.gemm.getScaleB(), "scale_b");
    if (failed(scaleA) || failed(scaleB))
      return failure();
    s.scaleA = *scaleA, s.scaleB = *scaleB;
  }
  if (s.gemm.getGroups()) {
    FailureOr<unsigned> groups = operandIndex(s.gemm, s.gemm.getGroups(), "groups");
    if (failed(groups))
      return failure();
    s.groups = *groups;
    if (status)
      s.status = s.d + 1;
  }
  if (s.gemm.getRows()) {
    FailureOr<unsigned> rows = operandIndex(s.gemm, s.gemm.getRows(), "rows");
    if (failed(rows))
      return failure();
    s.rows = *rows;
  }
  auto result = cast<RankedTensorType>(kernel.getResultTypes()[0]);
  if (!isa<Float32Type, Float16Type, BFloat16Type, Float8E4M3FNType, Float8E5M2Type>(
          result.getElementType()))
    return kernel.emitError("expected result ")
           << s.tensors[s.d].name << " of f32, f16, bf16, f8E4M3FN or f8E5M2, got "
           << result.getElementType();
  FailureOr<ElementGraph> epilogue = ElementGraph::build(end->getOperand(0), s.gemm);
  if (failed(epilogue))
    return failure();
  s.epilogue = std::move(*epilogue);
  return s;
}

//===----------------------------------------------------------------------===//
// The problem as the tuner sees it
//===----------------------------------------------------------------------===//

Aligned rowAlignment(const TensorArg &t) {
  int64_t bytes = t.type.getElementTypeBitWidth() / 8;
  bool unknown = false;
  int64_t contiguous = 1;
  for (int64_t d = t.type.getRank() - 2; d >= 0; --d) {
    int64_t inner = t.type.getDimSize(d + 1);
    contiguous = ShapedType::isDynamic(contiguous) || ShapedType::isDynamic(inner)
                     ? ShapedType::kDynamic
                     : contiguous * inner;
    int64_t stride = t.strides ? (*t.strides)[d] : contiguous;
    // A contiguous outer stride is a multiple of the inner ones, whatever its own size.
    if (!t.strides && d + 2 < t.type.getRank())
      continue;
    if (ShapedType::isDynamic(stride))
      unknown = true;
    else if (stride * bytes % 16)
      return Aligned::No;
  }
  return unknown ? Aligned::AtLaunch : Aligned::Yes;
}

static DType dtypeOf(Type type) {
  if (type.isF32())
    return DType::F32;
  if (type.isF16())
    return DType::F16;
  if (isa<Float8E4M3FNType>(type))
    return DType::F8E4M3;
  if (isa<Float8E5M2Type>(type))
    return DType::F8E5M2;
  return DType::BF16;
}

static int64_t sizeOrZero(const spec::Size &size) { return size.isDynamic() ? 0 : size.value; }

static Aligned weaker(Aligned x, Aligned y) {
  if (x == Aligned::No || y == Aligned::No)
    return Aligned::No;
  return x == Aligned::Yes ? y : x;
}

/// As many products as there are groups, of the size that one is expected to have.
static void describeGroups(const GemmSpec &s, tuning::GemmProblem &p) {
  spec::GemmOp gemm = s.gemm;
  p.groups = gemm.getNumGroups();
  int64_t expected = gemm.getExpected() ? static_cast<int64_t>(*gemm.getExpected()) : 0;
  int64_t &size = gemm.isGrouped(spec::Grouping::AlongK) ? p.k : p.m;
  p.batch = p.groups;
  if (expected)
    size = expected;
  else if (!gemm.isGrouped(spec::Grouping::Masked))
    size = std::max<int64_t>(1, (size ? size : 4096 * p.groups) / p.groups);
}

tuning::GemmProblem gemmProblem(const GemmSpec &s) {
  tuning::GemmProblem p;
  const TensorArg &a = s.tensors[s.a], &b = s.tensors[s.b], &d = s.tensors[s.d];
  p.m = sizeOrZero(s.m()), p.n = sizeOrZero(s.n()), p.k = sizeOrZero(s.k());
  p.batch = s.batched ? sizeOrZero(*d.sizes[0]) : 1;
  p.gathers = s.rows.has_value();
  if (s.groups)
    describeGroups(s, p);
  p.a = dtypeOf(a.type.getElementType()), p.b = dtypeOf(b.type.getElementType());
  p.out = dtypeOf(d.type.getElementType());
  p.aKMajor = !spec::GemmOp(s.gemm).getTransposeA();
  p.bKMajor = spec::GemmOp(s.gemm).getTransposeB();
  p.sms = s.sms;
  p.loadAligned = weaker(rowAlignment(a), rowAlignment(b));
  p.storeAligned = rowAlignment(d);
  if (s.scaleA) {
    spec::GemmOp gemm = s.gemm;
    p.scaleRowsA = static_cast<int>(gemm.getScale(true).blockRows);
    p.scaleRowsB = static_cast<int>(gemm.getScale(false).blockRows);
    p.scalesNearA = p.k > 0 || gemm.getTransposedScaleA();
    p.scalesNearB = p.k > 0 || gemm.getTransposedScaleB();
  }
  for (unsigned arg : s.epilogue.fullRankArgs())
    p.epilogueReadBytes += s.tensors[arg].type.getElementTypeBitWidth() / 8;
  return p;
}

} // namespace heddle::kernels
