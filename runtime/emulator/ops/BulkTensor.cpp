//===- BulkTensor.cpp - tensor copies by tensor maps ---------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/core/Decoder.h"
#include "runtime/emulator/ops/Lanes.h"
#include "runtime/emulator/tensor/TensorMap.h"

#include <array>

namespace heddle::emulator {

namespace {
/// How coordinates name elements: a box, four rows, or the pixels of a convolution.
enum class Walk : uint8_t { Tile, Rows4, Im2col };

struct TensorForm {
  bool store = false, reduce = false, multicast = false, prefetch = false;
  Walk walk = Walk::Tile;
  unsigned rank = 2, ctaGroup = 0, coords = 2, offsets = 0;
  Space target = Space::SharedCluster;
  tensor::ReduceOp op = tensor::ReduceOp::Add;
};

struct TensorOp : AsyncOp {
  const TensorForm *form = nullptr;
  tensor::TensorMap map;
  unsigned sharedRank = 0, barRank = 0;
  uint32_t sharedOffset = 0, barOffset = 0, ctaMask = 0;
  std::vector<tensor::BoxRun> runs;
  std::vector<std::pair<uint32_t, uint32_t>> pieces; ///< first run, runs
  std::vector<uint8_t> buffer;                      ///< a store's source

  void cut(MachineImpl &m) {
    uint32_t units = uint32_t(runs.size()), at = 0;
    if (m.schedule == Schedule::RoundRobin || units < 2) {
      pieces.push_back({0, units});
      return;
    }
    while (units) {
      uint32_t n = pieces.size() == 3 ? units : 1 + m.rng.below(units);
      pieces.push_back({at, n});
      at += n;
      units -= n;
    }
  }

  bool load(MachineImpl &m, uint32_t first, uint32_t count) {
    std::vector<uint8_t> fill;
    for (uint32_t mask = ctaMask; mask; mask &= mask - 1) {
      unsigned rank = unsigned(std::countr_zero(mask));
      uint32_t bytes = 0;
      for (uint32_t k = first; k < first + count; ++k) {
        const tensor::BoxRun &r = runs[k];
        uint8_t *to = resolveShared(m, *this, rank, sharedOffset + r.shared, r.bytes, true);
        if (!to)
          return false;
        bytes += r.bytes;
        if (r.fill) {
          fill.resize(r.bytes);
          tensor::fillBytes(map, to, r.bytes);
          continue;
        }
        const uint8_t *from = resolveGlobal(m, *this, r.global, r.bytes, false, Proxy::Tensor);
        if (!from)
          return false;
        std::memcpy(to, from, r.bytes);
      }
      mbarrierComplete(m, *this, form->multicast ? barRankFor(rank) : barRank, barOffset, bytes);
      if (m.failed)
        return false;
    }
    return true;
  }
  /// With .cta_group::2 the barrier may lie in the peer of each destination.
  unsigned barRankFor(unsigned rank) const {
    return form->ctaGroup == 2 ? (rank & ~1u) | (barRank & 1) : rank;
  }

  bool step(MachineImpl &m) override {
    if (form->store && !readsDone) {
      buffer.resize(runs.empty() ? 0 : runs.back().shared + runs.back().bytes);
      uint32_t top = 0;
      for (const auto &r : runs)
        top = std::max(top, r.shared + r.bytes);
      buffer.resize(top);
      for (const auto &r : runs) {
        if (r.fill)
          continue;
        const uint8_t *from = resolveShared(m, *this, sharedRank, sharedOffset + r.shared, r.bytes, false);
        if (!from)
          return true;
        std::memcpy(buffer.data() + r.shared, from, r.bytes);
      }
      readsDone = true;
      cta->cluster->bump();
      if (m.observer) {
        AsyncEvent e;
        e.at = at;
        e.lanes = lanes;
        e.op = id;
        e.kind = kind;
        m.observer->asyncComplete(e, true);
      }
      if (m.schedule != Schedule::RoundRobin)
        return false;
    }
    size_t n = m.schedule == Schedule::RoundRobin ? pieces.size() - 1 : m.rng.below(uint32_t(pieces.size()));
    auto [first, count] = pieces[n];
    pieces.erase(pieces.begin() + ptrdiff_t(n));
    if (!form->store) {
      if (!load(m, first, count))
        return true;
    } else {
      for (uint32_t k = first; k < first + count; ++k) {
        const tensor::BoxRun &r = runs[k];
        if (r.fill)
          continue;
        uint8_t *to = resolveGlobal(m, *this, r.global, r.bytes, true, Proxy::Tensor);
        if (!to)
          return true;
        if (form->reduce)
          tensor::reduceElements(map.type, form->op, to, buffer.data() + r.shared, r.bytes);
        else
          std::memcpy(to, buffer.data() + r.shared, r.bytes);
      }
    }
    return pieces.empty() || m.failed;
  }
};

/// The 128 bytes of a tensor map at a generic address.
const uint8_t *mapBytes(Warp &w, const Instr &i, int l, uint64_t address) {
  if (address % 64) {
    w.fail(i, ErrorKind::Misaligned, "expected a tensor map at a multiple of 64, got " + hex(address), l);
    return nullptr;
  }
  if (address - paramWindow < windowBytes) {
    auto &params = w.cta->launch->config.params;
    uint64_t at = address - paramWindow;
    if (at + 128 <= params.size())
      return params.data() + at;
  } else if (Allocation *a = w.m->find(address); a && address - a->base < a->bytes && a->bytes - (address - a->base) >= 128) {
    return a->host + (address - a->base);
  }
  w.fail(i, ErrorKind::OutOfBounds, "the tensor map at " + hex(address) + " is not readable memory", l);
  return nullptr;
}

// a: map, list: coordinates, d: shared address, c: mbarrier, e: mask.
void execTensor(Warp &w, const Instr &i) {
  const auto &f = *static_cast<const TensorForm *>(i.ext);
  const Opnd *coords = &w.program->lists[i.list];
  for (uint32_t m = w.exec; m; m &= m - 1) {
    int l = std::countr_zero(m);
    const uint8_t *bytes = mapBytes(w, i, l, lanes64(w, i.a)[l]);
    if (!bytes)
      return;
    auto op = std::make_shared<TensorOp>();
    if (auto p = tensor::decodeTensorMap(bytes, op->map))
      return w.fail(i, ErrorKind::Operand, "bad tensor map: " + *p, l);
    if (op->map.rank != f.rank)
      return w.fail(i, ErrorKind::Operand, "expected a tensor map of rank " + std::to_string(f.rank) + ", got " + std::to_string(op->map.rank), l);
    if (f.prefetch)
      continue;
    op->kind = AsyncKind::TensorCopy;
    op->reduces = f.reduce;
    op->form = &f;
    op->cta = w.cta;
    op->at = w.ref(i);
    op->instr = &i;
    op->lanes = 1u << l;
    if (!sharedAddress(w, i, l, f.store ? Space::Shared : f.target, lanes64(w, i.d)[l], op->sharedRank, op->sharedOffset))
      return;
    if (op->sharedOffset % 128)
      return w.fail(i, ErrorKind::Misaligned, "expected shared memory at a multiple of 128, got " + hex(op->sharedOffset), l);
    if (f.reduce)
      if (auto p = tensor::checkReduce(op->map.type, f.op))
        return w.fail(i, ErrorKind::Operand, *p, l);
    int32_t at[5];
    uint16_t offsets[3] = {};
    for (unsigned k = 0; k < f.coords; ++k)
      at[k] = int32_t(lanes32(w, coords[k])[l]);
    for (unsigned k = 0; k < f.offsets; ++k)
      offsets[k] = uint16_t(lanes32(w, coords[f.coords + k])[l]);
    auto p = f.walk == Walk::Tile    ? tensor::boxRuns(op->map, at, op->sharedOffset, op->runs)
             : f.walk == Walk::Rows4 ? tensor::gatherRuns(op->map, at, op->sharedOffset, op->runs)
                                     : tensor::im2colRuns(op->map, at, offsets, op->sharedOffset, op->runs);
    if (p)
      return w.fail(i, ErrorKind::Operand, *p, l);
    if (f.store) {
      op->readsShared = 1u << op->sharedRank;
      w.bulk.add(op, 1u << l);
    } else {
      if (!sharedAddress(w, i, l, f.ctaGroup == 2 ? Space::SharedCluster : f.target, lanes64(w, i.c)[l], op->barRank, op->barOffset))
        return;
      bool same = f.ctaGroup == 2 ? (op->barRank | 1) == (op->sharedRank | 1) : op->barRank == op->sharedRank;
      if (!same)
        return w.fail(i, ErrorKind::Operand, "expected the mbarrier in the block of the destination, rank " + std::to_string(op->sharedRank) + ", got rank " + std::to_string(op->barRank), l);
      op->ctaMask = 1u << op->sharedRank;
      if (f.multicast) {
        op->ctaMask = lanes32(w, i.e)[l] & 0xffff;
        if (!op->ctaMask || op->ctaMask >> w.cta->cluster->ctas.size())
          return w.fail(i, ErrorKind::Operand, "expected a mask of blocks of the cluster, got " + hex(op->ctaMask), l);
      }
      op->writesShared = op->ctaMask;
    }
    op->cut(*w.m);
    w.m->submit(*w.cta->cluster, op);
  }
}
} // namespace

/// .tile, .tile::gather4, .tile::scatter4, .im2col, .im2col_no_offs; tile when none stands there.
static void takeWalk(Decode &d, TensorForm &f) {
  f.coords = f.rank;
  if (d.peek().substr(0, 9) == "im2col::w")
    d.fail("im2col::w and im2col::w::128 are not emulated");
  const bool gathers = !f.store && d.take("tile::gather4");
  if (gathers || (f.store && !f.reduce && d.take("tile::scatter4"))) {
    d.needCapability(10, 0);
    if (f.rank != 2)
      d.fail("expected .2d with four rows");
    if (gathers && !f.prefetch && f.target == Space::SharedCluster)
      d.need(target::Feature::TensorMemory);
    f.walk = Walk::Rows4;
    f.coords = 5;
  } else if (d.take(f.store ? "im2col_no_offs" : "im2col")) {
    if (f.rank < 3)
      d.fail("expected .3d, .4d or .5d with im2col");
    f.walk = Walk::Im2col;
    f.offsets = f.store ? 0 : f.rank - 2;
  } else {
    d.take("tile");
  }
}

/// i.mode: 1 cp.reduce, 2 prefetch. The modifiers after "tensor" are left.
void decodeBulkTensor(Decode &d) {
  TensorForm f;
  f.reduce = d.i.mode == 1;
  f.prefetch = d.i.mode == 2;
  d.i.mode = 0;
  f.rank = d.oneOf({"1d", "2d", "3d", "4d", "5d"}, "a dimension") + 1;
  bool hint = false;
  if (f.prefetch) {
    d.expect("L2");
    d.expect("global");
    takeWalk(d, f);
    hint = d.take("L2::cache_hint");
  } else {
    unsigned to = d.oneOf({"shared::cluster", "shared::cta", "global"}, "a destination");
    f.store = to == 2;
    f.target = to == 1 ? Space::Shared : Space::SharedCluster;
    d.expect(f.store ? "shared::cta" : "global");
    if (f.reduce) {
      if (!f.store)
        d.fail("expected .global as destination");
      f.op = tensor::ReduceOp(d.oneOf({"add", "min", "max", "inc", "dec", "and", "or", "xor"}, "an operation"));
    }
    takeWalk(d, f);
    if (f.store) {
      d.expect("bulk_group");
    } else {
      d.expect("mbarrier::complete_tx::bytes");
      f.multicast = d.take("multicast::cluster");
      int group = d.maybe({"cta_group::1", "cta_group::2"});
      if (group >= 0)
        d.need(target::Feature::TensorMemory);
      f.ctaGroup = unsigned(group + 1);
    }
    hint = d.take("L2::cache_hint");
  }
  d.finish();
  size_t mapAt = f.store || f.prefetch ? 0 : 1;
  size_t n = f.prefetch ? 1 : f.store ? 2 : 3;
  const bool offsets = f.offsets != 0;
  d.operands(n + offsets + f.multicast + hint);
  const Operand &map = d.op(mapAt);
  if (map.kind != Operand::Address || map.elems.size() != 2 || map.elems[1].kind != Operand::Vector)
    d.fail("expected [map, {coordinates}]");
  if (map.elems[1].elems.size() != f.coords)
    d.fail("expected " + std::to_string(f.coords) + " coordinates, got " + std::to_string(map.elems[1].elems.size()));
  std::vector<Opnd> coords;
  for (const Operand &o : map.elems[1].elems)
    coords.push_back(d.src(o, 32));
  size_t at = n;
  if (offsets) {
    const auto &list = d.vector(d.op(at++), "the im2col offsets");
    if (list.size() != f.offsets)
      d.fail("expected " + std::to_string(f.offsets) + " im2col offsets, got " + std::to_string(list.size()));
    for (const Operand &o : list)
      coords.push_back(d.src(o, 16));
  }
  if (f.multicast)
    d.i.e = d.src(at++, 16);
  if (hint)
    d.src(at++, 64);
  if (!f.prefetch)
    d.i.d = d.address64(d.op(f.store ? 1 : 0));
  if (!f.store && !f.prefetch)
    d.i.c = d.address64(d.op(2));
  d.i.a = d.address64(map);
  d.i.list = d.list(coords);
  d.i.ext = d.own(f);
  d.i.fn = execTensor;
  d.emit();
}

} // namespace heddle::emulator
