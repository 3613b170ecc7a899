//===- TensorMap.cpp - tensormap.replace and tensormap.cp_fenceproxy -----===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/tensor/TensorMap.h"
#include "runtime/emulator/core/Decoder.h"
#include "runtime/emulator/ops/Lanes.h"

namespace heddle::emulator {

namespace {
using tensor::MapField;

/// The 128 bytes at one lane's address, accessed as `flags` tell; null after an error.
uint8_t *mapAt(Warp &w, const Instr &i, int l, Space space, uint64_t at, uint8_t flags) {
  uint64_t address[32];
  uint8_t *host[32];
  address[l] = at;
  const uint32_t lanes = w.exec;
  w.exec = 1u << l;
  bool ok = resolve(w, i, space, address, 128, flags, host);
  w.exec = lanes;
  return ok ? host[l] : nullptr;
}

// b: the new value (64-bit temp or 32-bit), c: the ordinal; i.sub: a MapField, i.bytes: of the value.
void execReplace(Warp &w, const Instr &i) {
  uint64_t address[32];
  laneAddresses(w, i, address);
  for (uint32_t m = w.exec; m; m &= m - 1) {
    int l = std::countr_zero(m);
    uint8_t *bytes = mapAt(w, i, l, i.space, address[l], AccRead | AccWrite);
    if (!bytes)
      return;
    uint64_t value = i.bytes == 8 ? lanes64(w, i.b)[l] : lanes32(w, i.b)[l];
    unsigned ordinal = i.c.none() ? 0 : lanes32(w, i.c)[l];
    if (auto p = tensor::replaceField(bytes, MapField(i.sub), ordinal, value))
      return w.fail(i, ErrorKind::Operand, *p, l);
  }
  w.m->noteProgress();
}

/// The warp copies the map from shared to global memory, then releases it to the tensormap proxy.
void execCopyFence(Warp &w, const Instr &i) { // d: source (64-bit temp)
  uint64_t address[32];
  laneAddresses(w, i, address);
  const uint64_t *source = lanes64(w, i.d);
  const int l = firstLane(w.exec);
  for (uint32_t m = w.exec; m; m &= m - 1) {
    int k = std::countr_zero(m);
    if (address[k] != address[l] || source[k] != source[l])
      return w.fail(i, ErrorKind::Operand, "expected the same addresses in all lanes", k);
  }
  const uint8_t *from = mapAt(w, i, l, Space::Shared, source[l], AccRead);
  uint8_t *to = from ? mapAt(w, i, l, i.space, address[l], AccWrite) : nullptr;
  if (!to)
    return;
  std::memcpy(to, from, 128);
  w.m->noteProgress();
  if (!w.m->observer)
    return;
  FenceEvent e;
  e.at = w.ref(i);
  e.lanes = w.exec;
  e.kind = FenceKind::ProxyTensormap;
  e.sem = Sem::Release;
  e.scope = i.scope;
  w.m->observer->fence(e);
}

void decodeReplace(Decode &d) {
  if (!d.target.exact)
    d.fail("expected an architecture-specific target, got " + std::string(d.target.name), ErrorKind::Unsupported);
  d.expect("tile");
  const auto field = MapField(d.oneOf({"global_address", "rank", "box_dim", "global_dim", "global_stride", "element_stride", "elemtype",
                                       "interleave_layout", "swizzle_mode", "swizzle_atomicity", "fill_mode"}, "a field"));
  if (field == MapField::SwizzleAtomicity)
    d.needCapability(10, 0);
  d.i.sub = uint8_t(field);
  d.i.space = d.take("global") ? Space::Global : d.take("shared::cta") ? Space::Shared : Space::Generic;
  d.expect("b1024");
  const bool wide = field == MapField::GlobalAddress || field == MapField::GlobalStride;
  d.type({wide ? Ty::B64 : Ty::B32});
  d.finish();
  d.i.bytes = wide ? 8 : 4;
  const bool ordinal = field >= MapField::BoxDim && field <= MapField::ElementStride;
  d.operands(2 + ordinal);
  if (ordinal)
    d.i.c = d.imm32(d.constant(d.op(1), "the ordinal"));
  const Operand &value = d.op(1 + ordinal);
  if (field >= MapField::ElemType)
    d.i.b = d.imm32(d.constant(value, "the new value"));
  else
    d.i.b = d.src(value, wide ? 64 : 32);
  Space named = d.address(d.op(0));
  if (named != Space::Generic && d.i.space == Space::Generic)
    d.i.space = named;
  d.i.fn = execReplace;
  d.emit();
}

void decodeCopyFence(Decode &d) {
  d.expect("global");
  d.expect("shared::cta");
  d.expect("tensormap::generic");
  d.expect("release");
  d.scope();
  if (d.i.scope == Scope::None)
    d.fail("expected a scope (.cta, .cluster, .gpu, .sys)");
  d.expect("sync");
  d.expect("aligned");
  d.finish();
  d.operands(3);
  if (d.constant(d.op(2), "the size") != 128)
    d.fail("expected a size of 128");
  Opnd source = d.address64(d.op(1));
  d.address(d.op(0));
  d.i.space = Space::Global;
  d.i.d = source;
  d.i.flags |= Aligned;
  d.i.fn = execCopyFence;
  d.emit();
}

void decodeTensorMap(Decode &d) {
  d.need(target::Feature::BulkTensorCopy);
  if (d.oneOf({"replace", "cp_fenceproxy"}, "an operation") == 0)
    return decodeReplace(d);
  decodeCopyFence(d);
}
} // namespace

void registerTensorMap(OpTable &t) { t["tensormap"] = decodeTensorMap; }

} // namespace heddle::emulator
