//===- Bulk.cpp - cp.async.bulk and cp.reduce.async.bulk -----------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/core/Decoder.h"
#include "runtime/emulator/ops/Lanes.h"
#include "runtime/emulator/tensor/TensorMap.h"

namespace heddle::emulator {

namespace {
enum class Path : uint8_t { GlobalToShared, SharedToShared, SharedToGlobal };

/// What the decoder knows (Instr::ext).
struct BulkForm {
  Path path = Path::GlobalToShared;
  bool reduce = false, multicast = false, masked = false;
  Space target = Space::SharedCluster;
  tensor::MapType type = tensor::MapType::U8;
  tensor::ReduceOp op = tensor::ReduceOp::Add;
};

struct BulkOp : AsyncOp {
  const BulkForm *form = nullptr;
  uint64_t global = 0;
  uint32_t size = 0;
  unsigned sharedRank = 0, barRank = 0, targetRank = 0;
  uint32_t sharedOffset = 0, targetOffset = 0, barOffset = 0;
  uint32_t ctaMask = 0;
  uint32_t byteMask = 0xffff;
  std::vector<std::pair<uint32_t, uint32_t>> pieces; ///< start, bytes
  std::vector<uint8_t> buffer;

  bool write(MachineImpl &m, uint8_t *to, const uint8_t *from, uint32_t bytes) {
    if (form->reduce) {
      tensor::reduceElements(form->type, form->op, to, from, bytes);
    } else if (form->masked) {
      for (uint32_t k = 0; k < bytes; ++k)
        if (byteMask >> (k % 16) & 1)
          to[k] = from[k];
    } else {
      std::memcpy(to, from, bytes);
    }
    return !m.failed;
  }

  bool step(MachineImpl &m) override {
    if (form->path == Path::SharedToGlobal && buffer.empty()) {
      const uint8_t *from = resolveShared(m, *this, sharedRank, sharedOffset, size, false);
      if (!from)
        return true;
      buffer.assign(from, from + size);
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
      if (m.schedule == Schedule::RoundRobin)
        return step(m);
      return false;
    }
    size_t n = m.schedule == Schedule::RoundRobin ? pieces.size() - 1 : m.rng.below(uint32_t(pieces.size()));
    auto [start, bytes] = pieces[n];
    pieces.erase(pieces.begin() + ptrdiff_t(n));
    switch (form->path) {
    case Path::SharedToGlobal: {
      uint8_t *to = resolveGlobal(m, *this, global + start, bytes, true);
      if (!to || !write(m, to, buffer.data() + start, bytes))
        return true;
      break;
    }
    case Path::GlobalToShared: {
      const uint8_t *from = resolveGlobal(m, *this, global + start, bytes, false);
      if (!from)
        return true;
      for (uint32_t mask = ctaMask; mask; mask &= mask - 1) {
        unsigned rank = unsigned(std::countr_zero(mask));
        uint8_t *to = resolveShared(m, *this, rank, targetOffset + start, bytes, true);
        if (!to || !write(m, to, from, bytes))
          return true;
        mbarrierComplete(m, *this, form->multicast ? rank : barRank, barOffset, bytes);
      }
      break;
    }
    case Path::SharedToShared: {
      const uint8_t *from = resolveShared(m, *this, sharedRank, sharedOffset + start, bytes, false);
      uint8_t *to = from ? resolveShared(m, *this, targetRank, targetOffset + start, bytes, true) : nullptr;
      if (!to || !write(m, to, from, bytes))
        return true;
      mbarrierComplete(m, *this, barRank, barOffset, bytes);
      break;
    }
    }
    return pieces.empty() || m.failed;
  }
};

/// Cuts `size` bytes into pieces of 16-byte units.
std::vector<std::pair<uint32_t, uint32_t>> cut(MachineImpl &m, uint32_t size) {
  std::vector<std::pair<uint32_t, uint32_t>> pieces;
  if (m.schedule == Schedule::RoundRobin)
    return {{0, size}};
  uint32_t units = size / 16, at = 0;
  while (units) {
    uint32_t n = pieces.size() == 3 ? units : 1 + m.rng.below(units);
    pieces.push_back({at * 16, n * 16});
    at += n;
    units -= n;
  }
  return pieces;
}

// a: first address (64-bit temps throughout): d target, a source, b size, c mbarrier, e mask.
void execBulk(Warp &w, const Instr &i) {
  const auto &f = *static_cast<const BulkForm *>(i.ext);
  const uint64_t *dst = lanes64(w, i.d), *src = lanes64(w, i.a);
  const uint32_t *size = lanes32(w, i.b);
  for (uint32_t m = w.exec; m; m &= m - 1) {
    int l = std::countr_zero(m);
    if (size[l] % 16 || size[l] == 0)
      return w.fail(i, ErrorKind::Operand, "expected a size that is a positive multiple of 16, got " + std::to_string(size[l]), l);
    if (dst[l] % 16 || src[l] % 16)
      return w.fail(i, ErrorKind::Misaligned, "expected addresses that are multiples of 16, got " + hex(dst[l]) + " and " + hex(src[l]), l);
    auto op = std::make_shared<BulkOp>();
    op->kind = AsyncKind::BulkCopy;
    op->reduces = f.reduce;
    op->form = &f;
    op->cta = w.cta;
    op->at = w.ref(i);
    op->instr = &i;
    op->lanes = 1u << l;
    op->size = size[l];
    op->pieces = cut(*w.m, size[l]);
    if (f.path == Path::GlobalToShared)
      op->global = src[l];
    else if (!sharedAddress(w, i, l, Space::Shared, src[l], op->sharedRank, op->sharedOffset))
      return;
    else
      op->readsShared |= 1u << op->sharedRank;
    if (f.path == Path::SharedToGlobal) {
      op->global = dst[l];
      if (f.masked)
        op->byteMask = lanes32(w, i.e)[l] & 0xffff;
      w.bulk.add(op, 1u << l);
    } else {
      if (!sharedAddress(w, i, l, f.target, dst[l], op->targetRank, op->targetOffset) ||
          !sharedAddress(w, i, l, f.target, lanes64(w, i.c)[l], op->barRank, op->barOffset))
        return;
      if (op->barRank != op->targetRank)
        return w.fail(i, ErrorKind::Operand, "expected the mbarrier in the block of the destination, rank " + std::to_string(op->targetRank) + ", got rank " + std::to_string(op->barRank), l);
      op->ctaMask = 1u << op->targetRank;
      if (f.multicast) {
        op->ctaMask = lanes32(w, i.e)[l] & 0xffff;
        if (!op->ctaMask || op->ctaMask >> w.cta->cluster->ctas.size())
          return w.fail(i, ErrorKind::Operand, "expected a mask of blocks of the cluster, got " + hex(op->ctaMask), l);
      }
      op->writesShared |= op->ctaMask;
    }
    w.m->submit(*w.cta->cluster, op);
  }
}

void execPrefetch(Warp &, const Instr &) {}
} // namespace

static constexpr tensor::MapType reduceType(Ty t) {
  using M = tensor::MapType;
  switch (t) {
  case Ty::F16: return M::F16;
  case Ty::BF16: return M::BF16;
  case Ty::F32: return M::F32;
  case Ty::F64: return M::F64;
  case Ty::S32: return M::S32;
  case Ty::S64: return M::S64;
  case Ty::U64:
  case Ty::B64: return M::U64;
  default: return M::U32;
  }
}

/// i.mode 1: cp.reduce. The modifiers after "bulk" are left.
void decodeBulk(Decode &d) {
  BulkForm f;
  f.reduce = d.i.mode;
  if (!f.reduce && d.take("prefetch")) {
    if (d.take("tensor")) {
      d.i.mode = 2;
      return decodeBulkTensor(d);
    }
    d.expect("L2");
    d.expect("global");
    bool hint = d.take("L2::cache_hint");
    d.finish();
    d.operands(2 + hint);
    d.src(1, 32);
    d.address(d.op(0));
    d.i.fn = execPrefetch;
    return d.emit();
  }
  unsigned to = d.oneOf({"shared::cluster", "shared::cta", "global"}, "a destination");
  if (to == 2) {
    d.expect("shared::cta");
    f.path = Path::SharedToGlobal;
    d.expect("bulk_group");
  } else {
    f.target = to ? Space::Shared : Space::SharedCluster;
    unsigned from = d.oneOf({"global", "shared::cta"}, "a source");
    f.path = from ? Path::SharedToShared : Path::GlobalToShared;
    if (f.reduce && !from)
      d.fail("expected .shared::cta as source");
    d.expect("mbarrier::complete_tx::bytes");
    f.multicast = !from && d.take("multicast::cluster");
  }
  bool hint = d.take("L2::cache_hint");
  if (f.path == Path::SharedToGlobal && !f.reduce && d.take("cp_mask")) {
    d.need(target::Feature::TensorMemory);
    f.masked = true;
  }
  if (f.reduce) {
    unsigned op = d.oneOf({"add", "min", "max", "inc", "dec", "and", "or", "xor"}, "an operation");
    f.op = tensor::ReduceOp(op);
    bool noftz = d.take("noftz");
    Ty t = d.type({Ty::F16, Ty::BF16, Ty::B32, Ty::U32, Ty::S32, Ty::B64, Ty::U64, Ty::S64, Ty::F32, Ty::F64});
    if (noftz && t != Ty::F16 && t != Ty::BF16)
      d.fail("expected .f16 or .bf16 with .noftz");
    f.type = reduceType(t);
    if (auto p = tensor::checkReduce(f.type, f.op))
      d.fail(*p);
    hint |= d.take("L2::cache_hint");
  }
  d.finish();
  size_t n = 3 + (f.path != Path::SharedToGlobal) + f.multicast + hint + f.masked;
  d.operands(n);
  d.i.b = d.src(2, 32);
  size_t at = 3;
  if (f.path != Path::SharedToGlobal)
    d.i.c = d.address64(d.op(at++));
  if (f.multicast)
    d.i.e = d.src(at++, 16);
  if (hint)
    d.src(at++, 64);
  if (f.masked)
    d.i.e = d.src(at++, 16);
  d.i.d = d.address64(d.op(0));
  d.i.a = d.address64(d.op(1));
  d.i.ext = d.own(f);
  d.i.fn = execBulk;
  d.emit();
}

} // namespace heddle::emulator
