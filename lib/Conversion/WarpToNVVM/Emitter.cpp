//===- Emitter.cpp - short names for the ops that lowerings build ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace heddle;

static std::optional<int64_t> constantOf(Value v) {
  APInt value;
  if (matchPattern(v, m_ConstantInt(&value)))
    return value.getSExtValue();
  return std::nullopt;
}

Value Emitter::i32(int64_t v) { return make<arith::ConstantOp>(getI32IntegerAttr(v)); }
Value Emitter::i64(int64_t v) { return make<arith::ConstantOp>(getI64IntegerAttr(v)); }
Value Emitter::i1(bool v) { return make<arith::ConstantOp>(getBoolAttr(v)); }
Value Emitter::index(int64_t v) { return make<arith::ConstantIndexOp>(v); }

static Value constantLike(Emitter &e, Value like, int64_t v) {
  if (like.getType().isIndex())
    return e.index(v);
  return e.make<arith::ConstantOp>(e.getIntegerAttr(like.getType(), v));
}

Value Emitter::add(Value a, Value b) {
  if (auto c = constantOf(b))
    return add(a, *c);
  if (auto c = constantOf(a))
    return add(b, *c);
  return make<arith::AddIOp>(a, b);
}
Value Emitter::add(Value a, int64_t b) {
  if (b == 0)
    return a;
  if (auto c = constantOf(a))
    return constantLike(*this, a, *c + b);
  return make<arith::AddIOp>(a, constantLike(*this, a, b));
}
Value Emitter::sub(Value a, Value b) { return make<arith::SubIOp>(a, b); }
Value Emitter::mul(Value a, Value b) {
  if (auto c = constantOf(b))
    return mul(a, *c);
  if (auto c = constantOf(a))
    return mul(b, *c);
  return make<arith::MulIOp>(a, b);
}
Value Emitter::mul(Value a, int64_t b) {
  if (b == 1)
    return a;
  if (auto c = constantOf(a))
    return constantLike(*this, a, *c * b);
  if (b > 0 && (b & (b - 1)) == 0)
    return shl(a, __builtin_ctzll(b));
  return make<arith::MulIOp>(a, constantLike(*this, a, b));
}
Value Emitter::div(Value a, Value b) {
  if (auto c = constantOf(b); c && *c > 0 && (*c & (*c - 1)) == 0)
    return shr(a, __builtin_ctzll(*c));
  return make<arith::DivUIOp>(a, b);
}
Value Emitter::rem(Value a, Value b) {
  if (auto c = constantOf(b); c && *c > 0 && (*c & (*c - 1)) == 0)
    return bitAnd(a, *c - 1);
  return make<arith::RemUIOp>(a, b);
}
Value Emitter::shl(Value a, int64_t bits) {
  return bits ? make<arith::ShLIOp>(a, constantLike(*this, a, bits)).getResult() : a;
}
Value Emitter::shr(Value a, int64_t bits) {
  return bits ? make<arith::ShRUIOp>(a, constantLike(*this, a, bits)).getResult() : a;
}
Value Emitter::bitAnd(Value a, int64_t mask) {
  return make<arith::AndIOp>(a, constantLike(*this, a, mask));
}
Value Emitter::bitAnd(Value a, Value b) { return make<arith::AndIOp>(a, b); }
Value Emitter::bitOr(Value a, Value b) { return make<arith::OrIOp>(a, b); }
Value Emitter::bitXor(Value a, Value b) { return make<arith::XOrIOp>(a, b); }
Value Emitter::min(Value a, Value b) { return make<arith::MinSIOp>(a, b); }
Value Emitter::compare(arith::CmpIPredicate p, Value a, Value b) {
  return make<arith::CmpIOp>(p, a, b);
}
Value Emitter::eq(Value a, int64_t b) {
  return compare(arith::CmpIPredicate::eq, a, constantLike(*this, a, b));
}
Value Emitter::lt(Value a, Value b) { return compare(arith::CmpIPredicate::ult, a, b); }
Value Emitter::select(Value c, Value a, Value b) { return make<arith::SelectOp>(c, a, b); }

Value Emitter::toI32(Value v) {
  if (v.getType().isInteger(32))
    return v;
  if (auto c = constantOf(v); c && !v.getType().isInteger(1))
    return i32(*c);
  if (v.getType().isIndex())
    return make<arith::IndexCastOp>(getI32Type(), v);
  if (v.getType().isInteger(1))
    return make<arith::ExtUIOp>(getI32Type(), v);
  return make<arith::TruncIOp>(getI32Type(), v);
}
Value Emitter::toI64(Value v) {
  if (v.getType().isInteger(64))
    return v;
  if (auto c = constantOf(v))
    return i64(*c);
  return make<arith::ExtSIOp>(getI64Type(), toI32(v));
}
Value Emitter::toIndex(Value v) {
  if (v.getType().isIndex())
    return v;
  if (auto c = constantOf(v))
    return index(*c);
  return make<arith::IndexCastOp>(getIndexType(), v);
}

void Emitter::ifThen(Value condition, llvm::function_ref<void()> then,
                     llvm::function_ref<void()> otherwise) {
  auto op = make<scf::IfOp>(TypeRange(), condition, static_cast<bool>(otherwise));
  {
    InsertionGuard guard(*this);
    setInsertionPointToStart(op.thenBlock());
    then();
  }
  if (otherwise) {
    InsertionGuard guard(*this);
    setInsertionPointToStart(op.elseBlock());
    otherwise();
  }
  setInsertionPointAfter(op);
}

void Emitter::loop(Value from, Value to, int64_t step, llvm::function_ref<void(Value)> body) {
  std::optional<int64_t> first = constantOf(from), end = constantOf(to);
  if (first && end && *first < *end && *first + step >= *end)
    return body(from);
  auto op = make<scf::ForOp>(from, to, i32(step));
  // ptxas unrolls loops of few turns, which would undo what the loop is for.
  auto unroll = LLVM::LoopUnrollAttr::get(getContext(), getBoolAttr(/*disable=*/true), {}, {}, {},
                                          {}, {}, {});
  auto loop = LLVM::LoopAnnotationAttr::get(getContext(), {}, {}, {}, unroll, {}, {}, {}, {}, {},
                                            {}, {}, {}, {}, {}, {});
  op->setAttr("llvm.loop_annotation", loop);
  {
    InsertionGuard guard(*this);
    setInsertionPoint(op.getBody()->getTerminator());
    body(op.getInductionVar());
  }
  setInsertionPointAfter(op);
}
