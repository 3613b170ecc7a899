//===- Fence.cpp - fences and memory barriers ----------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/core/Decoder.h"
#include "runtime/emulator/ops/Lanes.h"

namespace heddle::emulator {

void execFence(Warp &w, const Instr &i) { // i.sub: a FenceKind
  if (!w.m->observer)
    return;
  FenceEvent e;
  e.at = w.ref(i);
  e.lanes = w.exec;
  e.kind = FenceKind(i.sub);
  e.sem = i.sem;
  e.scope = i.scope;
  w.m->observer->fence(e);
}

/// fence.proxy.tensormap::generic.acquire.<scope> [addr], 128 checks its address.
static void execTensormapAcquire(Warp &w, const Instr &i) {
  uint64_t address[32];
  laneAddresses(w, i, address);
  for (uint32_t m = w.exec; m; m &= m - 1) {
    int l = std::countr_zero(m);
    if (address[l] % 128)
      return w.fail(i, ErrorKind::Misaligned, "expected a tensor map at a multiple of 128, got " + hex(address[l]), l);
  }
  execFence(w, i);
}

static void decodeProxy(Decode &d) {
  d.i.fn = execFence;
  if (d.take("alias")) {
    d.finish();
    d.operands(0);
    d.i.sub = uint8_t(FenceKind::ProxyAlias);
    return d.emit();
  }
  if (d.take("async") || d.take("async::generic")) {
    d.need(target::Feature::ProxyFence);
    bool oneWay = d.s.op.find("async::generic") != std::string_view::npos;
    if (oneWay) {
      // fence.proxy.async::generic.{acquire,release}.sync_restrict::shared::{cluster,cta}.cluster
      d.i.sem = d.oneOf({"acquire", "release"}, "an ordering") ? Sem::Release : Sem::Acquire;
      d.oneOf({"sync_restrict::shared::cluster", "sync_restrict::shared::cta"}, "a restriction");
      d.expect("cluster");
      d.i.scope = Scope::Cluster;
      d.i.sub = uint8_t(FenceKind::ProxyAsyncShared);
    } else {
      int s = d.maybe({"global", "shared::cta", "shared::cluster"});
      d.i.sub = uint8_t(s < 0 ? FenceKind::ProxyAsync : s == 0 ? FenceKind::ProxyAsyncGlobal : FenceKind::ProxyAsyncShared);
    }
    d.finish();
    d.operands(0);
    return d.emit();
  }
  d.expect("tensormap::generic");
  d.need(target::Feature::BulkTensorCopy);
  d.i.sub = uint8_t(FenceKind::ProxyTensormap);
  bool release = d.oneOf({"acquire", "release"}, "an ordering");
  d.i.sem = release ? Sem::Release : Sem::Acquire;
  d.scope();
  if (d.i.scope == Scope::None)
    d.fail("expected a scope");
  d.finish();
  if (release) {
    d.operands(0);
    return d.emit();
  }
  d.operands(2);
  if (d.constant(d.op(1), "the size") != 128)
    d.fail("expected a size of 128");
  d.address(d.op(0));
  d.i.fn = execTensormapAcquire;
  d.emit();
}

static void decodeFence(Decode &d) {
  d.i.fn = execFence;
  if (d.root() == "membar") {
    if (d.take("proxy"))
      return decodeProxy(d);
    static constexpr Scope scopes[] = {Scope::Cta, Scope::Gpu, Scope::Sys};
    d.i.scope = scopes[d.oneOf({"cta", "gl", "sys"}, "a scope")];
    d.i.sem = Sem::SeqCst;
    d.finish();
    d.operands(0);
    return d.emit();
  }
  if (d.take("proxy"))
    return decodeProxy(d);
  if (d.take("mbarrier_init")) {
    d.need(target::Feature::Clusters);
    d.expect("release");
    d.expect("cluster");
    d.i.sub = uint8_t(FenceKind::MbarrierInit);
    d.i.sem = Sem::Release;
    d.i.scope = Scope::Cluster;
    d.finish();
    d.operands(0);
    return d.emit();
  }
  static constexpr Sem sems[] = {Sem::SeqCst, Sem::AcqRel, Sem::Acquire, Sem::Release};
  int s = d.maybe({"sc", "acq_rel", "acquire", "release"});
  if (s >= 2)
    d.needCapability(9, 0);
  d.i.sem = sems[s < 0 ? 1 : s];
  if (d.peek().substr(0, 13) == "sync_restrict") {
    d.oneOf({"sync_restrict::shared::cluster", "sync_restrict::shared::cta"}, "a restriction");
    d.expect("cluster");
    d.i.scope = Scope::Cluster;
  } else {
    d.scope();
    if (d.i.scope == Scope::None)
      d.fail("expected a scope (.cta, .cluster, .gpu, .sys)");
  }
  d.finish();
  d.operands(0);
  d.emit();
}

void registerFence(OpTable &t) { t["fence"] = t["membar"] = decodeFence; }

} // namespace heddle::emulator
