//===- Memory.cpp - address resolution and its checks --------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/core/Machine.h"
#include "runtime/emulator/ops/Lanes.h"

#include <algorithm>

namespace heddle::emulator {

std::string hex(uint64_t v) {
  static const char digits[] = "0123456789abcdef";
  std::string s;
  do {
    s.insert(s.begin(), digits[v & 15]);
    v >>= 4;
  } while (v);
  return "0x" + s;
}

bool Cta::checkMbarrierOverlap(uint32_t offset, uint32_t bytes) const {
  if (offset >= mbarHigh || offset + bytes <= mbarLow)
    return false;
  for (uint32_t at = offset & ~7u; at < offset + bytes; at += 8)
    if (mbarriers.count(at))
      return true;
  return false;
}

Allocation *MachineImpl::find(uint64_t address) {
  if (address < deviceBase)
    return nullptr;
  uint64_t index = (address - deviceBase) / deviceStride;
  if (index >= root->devices.size())
    return nullptr;
  DeviceImpl &d = root->devices[index]->impl();
  uint64_t page = ((address - deviceBase) % deviceStride) >> allocShift;
  if (page >= d.pages.size() || d.pages[page] < 0)
    return nullptr;
  Allocation *a = d.allocations[size_t(d.pages[page])].get();
  return a->live ? a : nullptr;
}

const Multicast *MachineImpl::findMulticast(uint64_t address) const {
  for (const Multicast &m : root->multicasts)
    if (address - m.base < m.bytes)
      return &m;
  return nullptr;
}

std::string MachineImpl::describeAddress(uint64_t address) {
  if (findMulticast(address))
    return ", which lies in a multicast object; only multimem instructions take such an address";
  const Allocation *best = nullptr;
  uint64_t distance = ~uint64_t(0);
  for (auto &d : root->devices)
    for (auto &a : d->impl().allocations) {
      uint64_t end = a->base + a->bytes;
      uint64_t dist = address < a->base ? a->base - address : address >= end ? address - end : 0;
      if (dist < distance) {
        distance = dist;
        best = a.get();
      }
    }
  if (!best)
    return "; nothing is allocated";
  std::string s = "; the nearest allocation is [" + hex(best->base) + ", " + hex(best->base + best->bytes) + ")";
  if (!best->live)
    s += ", which was freed";
  return s;
}

DevicePtr DeviceImpl::allocate(uint64_t bytes, void *host, bool track) {
  if (bytes == 0 || bytes > deviceStride / 2)
    return 0;
  if (!host && !m->takeMemory(bytes))
    return 0;
  uint64_t pageBytes = uint64_t(1) << allocShift;
  uint64_t need = (bytes + pageBytes - 1) / pageBytes;
  uint64_t first = pages.size() + 1; // one page of nothing in between
  if ((first + need) * pageBytes > deviceStride)
    return 0;
  pages.resize(first, -1);
  pages.resize(first + need, int32_t(allocations.size()));
  auto a = std::make_unique<Allocation>();
  a->base = deviceBase + uint64_t(ordinal) * deviceStride + first * pageBytes;
  a->bytes = bytes;
  a->owned = !host;
  a->host = host ? static_cast<uint8_t *>(host)
                 : static_cast<uint8_t *>(std::aligned_alloc(512, (bytes + 511) / 512 * 512));
  if (!a->host)
    return 0;
  if (!host)
    std::memset(a->host, 0, bytes);
  if (track && !host)
    a->init.assign(bytes, 0);
  a->live = true;
  DevicePtr p = a->base;
  allocations.push_back(std::move(a));
  return p;
}

bool sharedAddress(Warp &w, const Instr &i, int lane, Space space, uint64_t address, unsigned &rank, uint32_t &offset) {
  if (space == Space::Generic) {
    if (address - sharedWindow >= windowBytes) {
      w.fail(i, ErrorKind::OutOfBounds, "expected a shared-memory address, got " + hex(address), lane);
      return false;
    }
    address -= sharedWindow;
    space = Space::SharedCluster;
  }
  address &= 0xffffffffu; // shared addresses are 32 bits wide
  rank = unsigned(address >> sharedRankShift);
  offset = uint32_t(address & ((1u << sharedRankShift) - 1));
  unsigned size = unsigned(w.cta->cluster->ctas.size());
  if (space == Space::Shared && rank != w.cta->rank) {
    w.fail(i, ErrorKind::OutOfBounds,
           "address " + hex(address) + " lies outside the shared::cta window of block rank " +
               std::to_string(w.cta->rank),
           lane);
    return false;
  }
  if (rank >= size) {
    w.fail(i, ErrorKind::OutOfBounds,
           "shared address " + hex(address) + " names block rank " + std::to_string(rank) + " of a cluster of " +
               std::to_string(size),
           lane);
    return false;
  }
  if (rank != w.cta->rank && w.cta->cluster->ctas[rank]->exited) {
    w.fail(i, ErrorKind::OutOfBounds, "shared memory of block rank " + std::to_string(rank) + ", which has exited",
           lane);
    return false;
  }
  return true;
}

static const char *accessName(uint8_t flags) {
  return flags & AccAtomic ? "atomic access" : flags & AccWrite ? "write" : "read";
}

/// Shared memory of one lane; null after an error.
static uint8_t *sharedLane(Warp &w, const Instr &i, int l, Space space, uint64_t a, uint32_t bytes, uint8_t flags,
                           Cta *&owner, uint32_t &offset) {
  unsigned rank;
  if (!sharedAddress(w, i, l, space, a, rank, offset))
    return nullptr;
  owner = w.cta->cluster->ctas[rank].get();
  uint32_t reserved = w.cta->launch->program ? uint32_t(w.cta->launch->device->target->sharedReserved) : 0;
  if (offset < reserved || offset + bytes > owner->shared.size()) {
    w.fail(i, ErrorKind::OutOfBounds,
           std::string(accessName(flags)) + " of " + std::to_string(bytes) + " bytes at shared offset " +
               std::to_string(int64_t(offset) - int64_t(reserved)) + ", the block has " +
               std::to_string(owner->shared.size() - reserved) + " bytes",
           l);
    return nullptr;
  }
  if ((flags & AccWrite) && owner->checkMbarrierOverlap(offset, bytes)) {
    w.fail(i, ErrorKind::Barrier, "write to shared offset " + std::to_string(offset - reserved) + " hits a live mbarrier", l);
    return nullptr;
  }
  if (!owner->written.empty() && !(flags & AccNoInit)) {
    uint8_t *init = owner->written.data() + offset;
    if (flags & AccRead) {
      for (uint32_t k = 0; k < bytes; ++k)
        if (!init[k]) {
          w.fail(i, ErrorKind::Uninitialised,
                 "read of shared offset " + std::to_string(offset + k - reserved) + ", which nothing has written", l);
          return nullptr;
        }
    }
    if (flags & AccWrite)
      std::memset(init, 1, bytes);
  }
  return owner->shared.data() + offset;
}

static uint8_t *globalLane(Warp &w, const Instr &i, int l, uint64_t a, uint32_t bytes, uint8_t flags) {
  Allocation *al = w.cached;
  if (!al || !al->live || a - al->base >= al->bytes) {
    al = w.m->find(a);
    if (al && a - al->base >= al->bytes)
      al = nullptr;
  }
  if (!al || al->bytes - (a - al->base) < bytes) {
    w.fail(i, ErrorKind::OutOfBounds,
           std::string("out-of-bounds ") + accessName(flags) + " of " + std::to_string(bytes) + " bytes at " + hex(a) +
               w.m->describeAddress(a),
           l);
    return nullptr;
  }
  w.cached = al;
  uint64_t off = a - al->base;
  if (!al->init.empty()) {
    if (flags & AccRead)
      for (uint32_t k = 0; k < bytes; ++k)
        if (!al->init[off + k]) {
          w.fail(i, ErrorKind::Uninitialised, "read of global memory at " + hex(a + k) + ", which nothing has written",
                 l);
          return nullptr;
        }
    if (flags & AccWrite)
      std::memset(al->init.data() + off, 1, bytes);
  }
  return al->host + off;
}

/// The common case without an observer: all lanes in the block's own shared memory, or
/// all in one allocation, nothing wrong. False: take the slow way, which explains.
static bool resolveFast(Warp &w, Space space, const uint64_t *address, uint32_t bytes, uint8_t flags, uint8_t **host) {
  const uint64_t low = bytes - 1;
  Stats &stats = w.m->report.stats;
  const uint64_t total = uint64_t(std::popcount(w.exec)) * bytes;
  if (space == Space::Shared) {
    Cta &a = *w.cta;
    const uint64_t from = (uint64_t(a.rank) << sharedRankShift) + a.launch->device->target->sharedReserved;
    const uint64_t room = a.shared.size() - a.launch->device->target->sharedReserved;
    if (room < bytes)
      return false;
    const bool tracked = !a.written.empty() && !(flags & AccNoInit);
    uint8_t *base = a.shared.data() + a.launch->device->target->sharedReserved;
    uint8_t *init = tracked ? a.written.data() + a.launch->device->target->sharedReserved : nullptr;
    uint64_t least = ~uint64_t(0), most = 0;
    for (uint32_t m = w.exec; m; m &= m - 1) {
      int l = std::countr_zero(m);
      uint64_t off = (address[l] & 0xffffffffu) - from;
      if (off > room - bytes || (off & low))
        return false;
      if (tracked && (flags & AccRead)) {
        const uint8_t *p = init + off;
        bool ok = true;
        if (bytes >= 4) {
          for (uint32_t k = 0; k < bytes; k += 4) {
            uint32_t word;
            std::memcpy(&word, p + k, 4);
            ok &= word == 0x01010101;
          }
        } else {
          ok = p[0] && p[low];
        }
        if (!ok)
          return false;
      }
      host[l] = base + off;
      least = std::min(least, off);
      most = std::max(most, off);
    }
    if (flags & AccWrite) {
      uint64_t reserved = a.launch->device->target->sharedReserved;
      if (least + reserved < a.mbarHigh && most + bytes + reserved > a.mbarLow)
        return false;
      if (tracked)
        forLanes(w.exec, [&](int l) { std::memset(init + (host[l] - base), 1, bytes); });
    }
    (flags & AccWrite ? stats.sharedWriteBytes : stats.sharedReadBytes) += total;
    return true;
  }
  if (space != Space::Global && space != Space::Generic)
    return false;
  const Allocation *al = w.cached;
  if (!al || !al->live || !al->init.empty() || al->bytes < bytes)
    return false;
  const uint64_t base = al->base, room = al->bytes - bytes;
  uint64_t bad = 0;
  forLanes(w.exec, [&](int l) {
    uint64_t off = address[l] - base;
    bad |= uint64_t(off > room) | (off & low);
    host[l] = al->host + off;
  });
  if (bad)
    return false;
  (flags & AccWrite ? stats.globalWriteBytes : stats.globalReadBytes) += total;
  return true;
}

bool resolve(Warp &w, const Instr &i, Space space, const uint64_t *address, uint32_t bytes, uint8_t flags,
             uint8_t **host, Proxy proxy) {
  if (!w.m->observer && resolveFast(w, space, address, bytes, flags, host))
    return true;
  struct Seen {
    uint32_t lanes = 0;
    uint64_t address[32], owner[32];
  };
  Observer *obs = w.m->observer;
  Seen seen[3]; // global, shared, local
  Stats &stats = w.m->report.stats;
  for (uint32_t m = w.exec; m; m &= m - 1) {
    int l = std::countr_zero(m);
    uint64_t a = address[l];
    if (a & (bytes - 1)) {
      w.fail(i, ErrorKind::Misaligned,
             std::string(accessName(flags)) + " of " + std::to_string(bytes) + " bytes at " + hex(a) +
                 ", expected a multiple of " + std::to_string(bytes),
             l);
      return false;
    }
    Space s = space;
    if (s == Space::Generic) {
      if (a < localWindow && a >= deviceBase)
        s = Space::Global;
      else if (a - sharedWindow < windowBytes)
        s = Space::SharedCluster, a -= sharedWindow;
      else if (a - localWindow < windowBytes)
        s = Space::Local, a -= localWindow;
      else if (a - paramWindow < windowBytes)
        s = Space::Param, a -= paramWindow;
      else
        s = Space::Global;
    }
    unsigned kind = 0;
    uint64_t ownerId = 0;
    switch (s) {
    case Space::Global:
    case Space::Const:
      host[l] = globalLane(w, i, l, a, bytes, flags);
      (flags & AccWrite ? stats.globalWriteBytes : stats.globalReadBytes) += bytes;
      break;
    case Space::Shared:
    case Space::SharedCluster: {
      Cta *owner = nullptr;
      uint32_t offset = 0;
      host[l] = sharedLane(w, i, l, s, a, bytes, flags, owner, offset);
      (flags & AccWrite ? stats.sharedWriteBytes : stats.sharedReadBytes) += bytes;
      kind = 1;
      a = offset;
      ownerId = owner ? owner->id : 0;
      break;
    }
    case Space::Local: {
      uint64_t size = w.local.size() / 32;
      if (a > size || size - a < bytes) {
        w.fail(i, ErrorKind::OutOfBounds,
               std::string(accessName(flags)) + " of " + std::to_string(bytes) + " bytes at local offset " +
                   std::to_string(a) + ", a thread has " + std::to_string(size),
               l);
        return false;
      }
      host[l] = w.local.data() + size * unsigned(l) + a;
      kind = 2;
      break;
    }
    case Space::Param: {
      auto &params = w.cta->launch->config.params;
      if ((flags & AccWrite) || a > params.size() || params.size() - a < bytes) {
        w.fail(i, ErrorKind::OutOfBounds,
               std::string(accessName(flags)) + " of " + std::to_string(bytes) + " bytes at parameter offset " +
                   std::to_string(a) + ", the entry has " + std::to_string(params.size()) + " read-only bytes",
               l);
        return false;
      }
      host[l] = params.data() + a;
      kind = 3;
      break;
    }
    default:
      w.fail(i, ErrorKind::OutOfBounds, "unexpected state space", l);
      return false;
    }
    if (!host[l])
      return false;
    if (obs && kind < 3) {
      seen[kind].lanes |= 1u << l;
      seen[kind].address[l] = a;
      seen[kind].owner[l] = ownerId;
    }
  }
  if (obs) {
    static constexpr Space spaces[3] = {Space::Global, Space::Shared, Space::Local};
    for (unsigned k = 0; k < 3; ++k) {
      if (!seen[k].lanes)
        continue;
      AccessEvent e;
      e.at = w.ref(i);
      e.lanes = seen[k].lanes;
      e.space = spaces[k];
      e.read = flags & AccRead;
      e.write = flags & AccWrite;
      e.atomic = flags & AccAtomic;
      e.proxy = proxy;
      e.sem = i.sem;
      e.scope = i.scope;
      e.bytes = bytes;
      e.address = seen[k].address;
      e.owner = k == 1 ? seen[k].owner : nullptr;
      e.count = 32;
      obs->access(e);
    }
    if (w.m->failed) {
      w.signal |= SigStop;
      return false;
    }
  }
  return true;
}

void failAsync(MachineImpl &m, const AsyncOp &op, ErrorKind kind, const std::string &message) {
  Error e;
  e.kind = kind;
  e.message = message;
  e.line = op.at.line;
  if (op.instr)
    e.source = op.cta->launch->module->impl().location(op.instr->loc);
  e.role = std::string(op.at.role);
  e.device = op.at.device;
  e.cta = op.at.cta;
  e.warp = int(op.at.warp);
  m.addError(std::move(e), true);
}

static void observeAsync(MachineImpl &m, const AsyncOp &op, Space space, uint64_t address, uint64_t owner,
                         uint32_t bytes, bool write, Proxy proxy) {
  AccessEvent e;
  e.at = op.at;
  e.op = op.id;
  e.space = space;
  e.read = !write;
  e.write = write;
  e.atomic = write && op.reduces;
  e.proxy = proxy;
  e.bytes = bytes;
  e.address = &address;
  e.owner = space == Space::Shared ? &owner : nullptr;
  e.count = 1;
  m.observer->access(e);
}

uint8_t *resolveGlobal(MachineImpl &m, const AsyncOp &op, uint64_t address, uint32_t bytes, bool write, Proxy proxy) {
  Allocation *a = m.find(address);
  if (!a || address - a->base >= a->bytes || a->bytes - (address - a->base) < bytes) {
    failAsync(m, op, ErrorKind::OutOfBounds,
              std::string("out-of-bounds ") + (write ? "write" : "read") + " of " + std::to_string(bytes) +
                  " bytes at " + hex(address) + " by an asynchronous copy" + m.describeAddress(address));
    return nullptr;
  }
  uint64_t off = address - a->base;
  if (!a->init.empty()) {
    if (write)
      std::memset(a->init.data() + off, 1, bytes);
    else
      for (uint32_t k = 0; k < bytes; ++k)
        if (!a->init[off + k]) {
          failAsync(m, op, ErrorKind::Uninitialised,
                    "asynchronous read of global memory at " + hex(address + k) + ", which nothing has written");
          return nullptr;
        }
  }
  m.report.stats.asyncBytes += bytes;
  if (m.observer)
    observeAsync(m, op, Space::Global, address, 0, bytes, write, proxy);
  return a->host + off;
}

uint8_t *resolveShared(MachineImpl &m, const AsyncOp &op, unsigned rank, uint32_t offset, uint32_t bytes, bool write,
                       Proxy proxy, bool checkInit) {
  Cluster &c = *op.cta->cluster;
  Cta &owner = *c.ctas[rank];
  uint32_t reserved = op.cta->launch->device->target->sharedReserved;
  std::string where = "shared offset " + std::to_string(int64_t(offset) - int64_t(reserved));
  if (offset < reserved || uint64_t(offset) + bytes > owner.shared.size()) {
    failAsync(m, op, ErrorKind::OutOfBounds,
              std::string("asynchronous ") + (write ? "write" : "read") + " of " + std::to_string(bytes) +
                  " bytes at " + where + ", the block has " + std::to_string(owner.shared.size() - reserved) + " bytes");
    return nullptr;
  }
  if (owner.exited) {
    failAsync(m, op, ErrorKind::OutOfBounds,
              "asynchronous access to shared memory of block rank " + std::to_string(rank) + ", which has exited");
    return nullptr;
  }
  if (write && owner.checkMbarrierOverlap(offset, bytes)) {
    failAsync(m, op, ErrorKind::Barrier, "asynchronous write to " + where + " hits a live mbarrier");
    return nullptr;
  }
  if (!owner.written.empty()) {
    if (write)
      owner.markWritten(offset, bytes);
    else if (checkInit)
      for (uint32_t k = 0; k < bytes; ++k)
        if (!owner.written[offset + k]) {
          failAsync(m, op, ErrorKind::Uninitialised,
                    "asynchronous read of shared offset " + std::to_string(offset + k - reserved) +
                        ", which nothing has written");
          return nullptr;
        }
  }
  if (m.observer)
    observeAsync(m, op, Space::Shared, offset, owner.id, bytes, write, proxy);
  return owner.shared.data() + offset;
}

} // namespace heddle::emulator
