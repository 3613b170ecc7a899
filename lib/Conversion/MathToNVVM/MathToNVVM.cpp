//===- MathToNVVM.cpp - math functions to what NVIDIA GPUs have ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In: math.exp, exp2, log, tanh, erf, rsqrt and arith.divf with fast-math flag afn or
//     arcp, on f32 scalars, anywhere.
// Out: arith, math.fma, math.absf, math.copysign, ptx.ex2_approx, ptx.rsqrt_approx and
//     ptx.div_full. Relative errors, over all f32 with results that are normal: exp, log,
//     tanh, erf at most 2e-7 plus that of ex2.approx (2^-22); NaN, infinities and
//     subnormal arguments as in C.
// Cannot: other types. What it leaves alone (absf, sqrt, fma, floor) LLVM selects well.
//
// The polynomials come from fit_polynomials.py in this folder.
//
//===----------------------------------------------------------------------===//
#include "heddle/Conversion/MathToNVVM.h"
#include "dialects/PTX/IR/PTXDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/Pass.h"
#include <limits>

using namespace mlir;

namespace {

constexpr float log2e = 0x1.715476p+0f, log2eRest = 0x1.4ae0cp-26f;
constexpr float ln2 = 0x1.62e43p-1f, ln2Rest = -0x1.05c61p-29f;
constexpr float infinity = std::numeric_limits<float>::infinity();

/// tanh(x) = x + x^3 p(x^2) for |x| < 0.625.
constexpr float tanhTerms[] = {-0x1.75e1ccp-8f, 0x1.52269cp-6f, -0x1.b83c5ap-5f, 0x1.110726p-3f,
                               -0x1.555532p-2f};
/// erf(x) = x p(x^2) for |x| < 1.
constexpr float erfTerms[] = {0x1.496a32p-14f, -0x1.a3f7p-11f,  0x1.5405b2p-8f, -0x1.b7f90ep-6f,
                              0x1.ce2cf8p-4f,  -0x1.81273ep-2f, 0x1.20dd74p+0f};
/// log2(1 - erf(x)) = p(x) for 1 <= x <= 4; beyond, erf rounds to 1.
constexpr float erfcTerms[] = {-0x1.ece68ep-16f, 0x1.420bc2p-11f, -0x1.864414p-8f, 0x1.277bcp-5f,
                               -0x1.3f5f8p-3f,   -0x1.d3f55ap-1f, -0x1.a12158p+0f, 0x1.d578a2p-13f};
/// log(1 + f) = f - f^2 / 2 + f^3 p(f) for sqrt(1/2) <= 1 + f < sqrt(2).
constexpr float logTerms[] = {-0x1.38b576p-4f, 0x1.055b66p-3f, -0x1.0d8542p-3f, 0x1.22da1ep-3f,
                              -0x1.547244p-3f, 0x1.99a008p-3f, -0x1.000226p-2f, 0x1.555554p-2f};

/// Emits f32 arithmetic at one place.
class Expander {
public:
  Expander(Operation *op) : b(op), loc(op->getLoc()) {}

  Value exp(Value x);
  Value exp2(Value x) { return ptx(x); }
  Value log(Value x);
  Value tanh(Value x);
  Value erf(Value x);
  Value rsqrt(Value x) { return heddle::ptx::RsqrtApproxOp::create(b, loc, b.getF32Type(), x); }
  Value divide(Value x, Value y) {
    return heddle::ptx::DivFullOp::create(b, loc, b.getF32Type(), x, y);
  }

private:
  Value constant(float x) { return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(x)); }
  Value integer(int32_t x) { return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(x)); }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  Value fma(Value x, Value y, Value z) { return math::FmaOp::create(b, loc, x, y, z); }
  Value abs(Value x) { return math::AbsFOp::create(b, loc, x); }
  Value ptx(Value x) { return heddle::ptx::Ex2ApproxOp::create(b, loc, b.getF32Type(), x); }
  Value compare(arith::CmpFPredicate p, Value x, float y) {
    return arith::CmpFOp::create(b, loc, p, x, constant(y));
  }
  Value select(Value c, Value x, Value y) { return arith::SelectOp::create(b, loc, c, x, y); }
  Value polynomial(ArrayRef<float> terms, Value x) {
    Value r = constant(terms.front());
    for (float term : terms.drop_front())
      r = fma(r, x, constant(term));
    return r;
  }

  OpBuilder b;
  Location loc;
};

} // namespace

/// 2^(x log2 e), where the rounding error e of the exponent is put back as a factor
/// 1 + e ln 2. The lower bound keeps -infinity out of the correction.
Value Expander::exp(Value x) {
  Value c = arith::MaximumFOp::create(b, loc, x, constant(-110));
  Value t = mul(c, constant(log2e));
  Value minusT = arith::NegFOp::create(b, loc, t);
  Value e = fma(c, constant(log2eRest), fma(c, constant(log2e), minusT));
  Value y = ptx(t);
  Value result = fma(y, mul(e, constant(ln2)), y);
  return select(compare(arith::CmpFPredicate::OGT, x, 88.72284f), constant(infinity), result);
}

/// x = 2^k (1 + f) by taking the bits apart; subnormal x is scaled up first.
Value Expander::log(Value x) {
  using P = arith::CmpFPredicate;
  Value tiny = compare(P::OLT, x, 0x1p-126f);
  Value scaled = select(tiny, mul(x, constant(0x1p23f)), x);
  Value bits = arith::BitcastOp::create(b, loc, b.getI32Type(), scaled);
  Value above = arith::SubIOp::create(b, loc, bits, integer(0x3f3504f3)); // sqrt(1/2)
  Value k = arith::ShRSIOp::create(b, loc, above, integer(23));
  Value shifted = arith::ShLIOp::create(b, loc, k, integer(23));
  Value mantissa = arith::SubIOp::create(b, loc, bits, shifted);
  Value f = sub(arith::BitcastOp::create(b, loc, b.getF32Type(), mantissa), constant(1));
  Value kf = add(arith::SIToFPOp::create(b, loc, b.getF32Type(), k),
                 select(tiny, constant(-23), constant(0)));
  Value square = mul(f, f);
  Value rest = fma(constant(-0.5f), square, mul(mul(f, square), polynomial(logTerms, f)));
  Value result = fma(kf, constant(ln2), add(f, fma(kf, constant(ln2Rest), rest)));
  result = select(compare(P::OEQ, x, infinity), x, result);
  result = select(compare(P::OEQ, x, 0), constant(-infinity), result);
  Value bad = compare(P::ULT, x, 0); // less, or NaN
  return select(bad, constant(std::numeric_limits<float>::quiet_NaN()), result);
}

/// A polynomial near 0, 1 - 2 / (exp(2|x|) + 1) elsewhere.
Value Expander::tanh(Value x) {
  Value a = abs(x), square = mul(x, x);
  Value small = fma(x, mul(square, polynomial(tanhTerms, square)), x);
  Value e = ptx(mul(a, constant(2 * log2e)));
  Value big = sub(constant(1), divide(constant(2), add(e, constant(1))));
  Value signedBig = math::CopySignOp::create(b, loc, big, x);
  return select(compare(arith::CmpFPredicate::OLT, a, 0.625f), small, signedBig);
}

/// A polynomial near 0, 1 - 2^p(|x|) elsewhere.
Value Expander::erf(Value x) {
  Value a = abs(x), square = mul(x, x);
  Value small = mul(x, polynomial(erfTerms, square));
  Value bounded = arith::MinimumFOp::create(b, loc, a, constant(4));
  Value big = sub(constant(1), ptx(polynomial(erfcTerms, bounded)));
  Value signedBig = math::CopySignOp::create(b, loc, big, x);
  return select(compare(arith::CmpFPredicate::OLT, a, 1), small, signedBig);
}

/// What `op` becomes; null when it stays.
static Value expand(Operation *op) {
  if (op->getNumResults() != 1 || !op->getResult(0).getType().isF32())
    return {};
  Expander e(op);
  if (auto division = dyn_cast<arith::DivFOp>(op)) {
    auto loose = arith::FastMathFlags::afn | arith::FastMathFlags::arcp;
    if ((division.getFastmath() & loose) == arith::FastMathFlags::none)
      return {};
    return e.divide(division.getLhs(), division.getRhs());
  }
  return TypeSwitch<Operation *, Value>(op)
      .Case<math::ExpOp>([&](auto o) { return e.exp(o.getOperand()); })
      .Case<math::Exp2Op>([&](auto o) { return e.exp2(o.getOperand()); })
      .Case<math::LogOp>([&](auto o) { return e.log(o.getOperand()); })
      .Case<math::TanhOp>([&](auto o) { return e.tanh(o.getOperand()); })
      .Case<math::ErfOp>([&](auto o) { return e.erf(o.getOperand()); })
      .Case<math::RsqrtOp>([&](auto o) { return e.rsqrt(o.getOperand()); })
      .Default(Value());
}

namespace {

struct ConvertMathToNVVMPass : PassWrapper<ConvertMathToNVVMPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ConvertMathToNVVMPass)
  StringRef getArgument() const final { return "convert-math-to-nvvm"; }
  StringRef getDescription() const final {
    return "Expand math functions of f32 scalars for NVIDIA GPUs";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<heddle::ptx::PTXDialect, arith::ArithDialect, math::MathDialect>();
  }
  void runOnOperation() final {
    getOperation()->walk([](Operation *op) {
      if (Value value = expand(op)) {
        op->getResult(0).replaceAllUsesWith(value);
        op->erase();
      }
    });
  }
};

} // namespace

std::unique_ptr<Pass> heddle::createConvertMathToNVVMPass() {
  return std::make_unique<ConvertMathToNVVMPass>();
}

void heddle::registerConvertMathToNVVMPass() {
  registerPass([] { return createConvertMathToNVVMPass(); });
}
