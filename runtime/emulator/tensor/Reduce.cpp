//===- Reduce.cpp - reductions of bulk copies -----------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Numeric.h"
#include "TensorMap.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace heddle::emulator::tensor {

namespace {

bool is(MapType t, std::initializer_list<MapType> set) {
  return std::find(set.begin(), set.end(), t) != set.end();
}

template <typename T, typename F>
void each(uint8_t *target, const uint8_t *source, uint32_t bytes, F f) {
  for (uint32_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
    T t, s;
    std::memcpy(&t, target + at, sizeof(T));
    std::memcpy(&s, source + at, sizeof(T));
    t = f(t, s);
    std::memcpy(target + at, &t, sizeof(T));
  }
}

template <typename U, typename S>
void integers(ReduceOp op, bool isSigned, uint8_t *target, const uint8_t *source, uint32_t bytes) {
  each<U>(target, source, bytes, [&](U t, U s) -> U {
    const bool less = isSigned ? static_cast<S>(t) < static_cast<S>(s) : t < s;
    switch (op) {
    case ReduceOp::Add:
      return static_cast<U>(t + s);
    case ReduceOp::Min:
      return less ? t : s;
    case ReduceOp::Max:
      return less ? s : t;
    case ReduceOp::Inc:
      return t >= s ? 0 : static_cast<U>(t + 1);
    case ReduceOp::Dec:
      return t == 0 || t > s ? s : static_cast<U>(t - 1);
    case ReduceOp::And:
      return t & s;
    case ReduceOp::Or:
      return t | s;
    case ReduceOp::Xor:
      return t ^ s;
    }
    return t;
  });
}

} // namespace

Problem checkReduce(MapType type, ReduceOp op) {
  using M = MapType;
  bool fits = false;
  switch (op) {
  case ReduceOp::Add:
    fits = is(type, {M::U32, M::S32, M::U64, M::F16, M::BF16, M::F32, M::F32Ftz, M::F64});
    break;
  case ReduceOp::Min:
  case ReduceOp::Max:
    fits = is(type, {M::U32, M::S32, M::U64, M::S64, M::F16, M::BF16});
    break;
  case ReduceOp::Inc:
  case ReduceOp::Dec:
    fits = type == M::U32;
    break;
  case ReduceOp::And:
  case ReduceOp::Or:
  case ReduceOp::Xor:
    fits = is(type, {M::U32, M::S32, M::U64, M::S64});
    break;
  }
  if (!fits)
    return "expected a reduction that the element type supports, got operation " +
           std::to_string(static_cast<unsigned>(op)) + " on type " +
           std::to_string(static_cast<unsigned>(type));
  return std::nullopt;
}

void reduceElements(MapType type, ReduceOp op, uint8_t *target, const uint8_t *source,
                    uint32_t bytes) {
  switch (type) {
  case MapType::F16:
  case MapType::BF16: {
    const Elem e = type == MapType::F16 ? Elem::F16 : Elem::BF16;
    each<uint16_t>(target, source, bytes, [&](uint16_t t, uint16_t s) {
      return op == ReduceOp::Add   ? add16(e, t, s)
             : op == ReduceOp::Min ? min16(e, t, s)
                                   : max16(e, t, s);
    });
    return;
  }
  case MapType::F32:
  case MapType::F32Ftz: {
    const Mode mode{Round::NearestEven, type == MapType::F32Ftz, false};
    each<float>(target, source, bytes, [&](float t, float s) { return addF32(t, s, mode); });
    return;
  }
  case MapType::F64:
    each<double>(target, source, bytes, [](double t, double s) {
      return s != s ? s : t != t ? t : t + s; // an H200 hands a NaN on as it is
    });
    return;
  case MapType::U64:
  case MapType::S64:
    integers<uint64_t, int64_t>(op, type == MapType::S64, target, source, bytes);
    return;
  default:
    integers<uint32_t, int32_t>(op, type == MapType::S32, target, source, bytes);
    return;
  }
}

} // namespace heddle::emulator::tensor
