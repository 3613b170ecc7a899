//===- Collector.cpp - what kernels did, by role --------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/stats/Collector.h"
#include "runtime/emulator/core/Machine.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace heddle::emulator {

namespace {
enum Class : uint8_t { CInteger, CFloat, CConvert, CMove, CCompare, CControl, CLoadStore, CAtomic, CWarp, CBarrier, CCopy, CMatrixMove, CTensor, COther };
enum Bytes { GlobalRead, GlobalWrite, PeerRead, PeerWrite, SharedRead, SharedWrite, ClusterRead, ClusterWrite,
             CopyGlobalRead, CopyGlobalWrite, CopyPeer, CopySharedRead, CopySharedWrite, TensorMemoryBytes };
constexpr size_t threadInstructions = 0, firstClass = 1, firstBytes = firstClass + Collector::instructionClasses,
                 firstBank = firstBytes + Collector::byteKinds, firstWait = firstBank + Collector::bankCounters,
                 firstTime = firstWait + Collector::waitKinds;

constexpr std::string_view names[] = {
    "of threads", "integer", "float", "convert", "move", "compare", "control", "load and store", "atomic", "warp", "barrier and fence", "asynchronous copy",
    "matrix move", "tensor core", "other",
    "global read", "global write", "peer device read", "peer device write", "shared read", "shared write", "other block's shared read", "other block's shared write",
    "copied from global", "copied to global", "copied from or to a peer device", "copied from shared", "copied to shared", "tensor memory",
    "accesses", "passes", "extra passes (bank conflicts)"};
constexpr std::string_view waits[] = {"barrier", "cluster barrier", "mbarrier", "cp.async group", "bulk group", "wgmma group", "tcgen05 wait", "sleep", "other"};
static_assert(std::size(names) == firstWait && std::size(waits) == Collector::waitKinds);

Class classOf(std::string_view op) {
  auto starts = [&](std::initializer_list<std::string_view> roots) {
    for (std::string_view r : roots)
      if (op.substr(0, r.size()) == r && (op.size() == r.size() || op[r.size()] == '.'))
        return true;
    return false;
  };
  if (starts({"mma", "wgmma.mma_async", "tcgen05.mma"}))
    return CTensor;
  if (starts({"ldmatrix", "stmatrix", "movmatrix", "tcgen05.ld", "tcgen05.st", "tcgen05.cp", "tcgen05.shift"}))
    return CMatrixMove;
  if (starts({"cp", "st.async", "st.bulk", "red.async"}))
    return CCopy;
  if (starts({"atom", "red", "multimem"}))
    return CAtomic;
  if (starts({"ld", "ldu", "st", "prefetch", "prefetchu", "discard", "applypriority"}))
    return CLoadStore;
  if (starts({"bar", "barrier", "mbarrier", "fence", "membar", "wgmma", "tcgen05", "griddepcontrol", "setmaxnreg", "nanosleep", "clusterlaunchcontrol"}))
    return CBarrier;
  if (starts({"shfl", "vote", "match", "redux", "elect", "activemask"}))
    return CWarp;
  if (starts({"bra", "brx", "call", "ret", "exit", "trap"}))
    return CControl;
  if (starts({"setp", "set", "slct", "selp", "testp"}))
    return CCompare;
  if (starts({"mov", "prmt", "mapa", "cvta", "isspacep", "getctarank", "createpolicy"}))
    return CMove;
  if (starts({"cvt"}))
    return CConvert;
  std::string_view type = op.substr(op.rfind('.') + 1);
  if (starts({"add", "sub", "mul", "mad", "fma", "div", "rem", "abs", "neg", "min", "max", "rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh", "copysign"}))
    return !type.empty() && (type[0] == 'f' || type[0] == 'b') ? CFloat : CInteger;
  if (starts({"and", "or", "xor", "not", "cnot", "lop3", "shl", "shr", "shf", "bfe", "bfi", "bfind", "brev", "popc", "clz", "mad24", "mul24", "sad", "addc", "subc",
              "madc", "dp2a", "dp4a", "bmsk", "szext", "fns"}))
    return CInteger;
  return COther;
}

bool isPeer(uint64_t address, int device) { return address >= deviceBase && int((address - deviceBase) / deviceStride) != device; }

std::string quoted(std::string_view s) {
  std::string out = "\"";
  for (char c : s) {
    if (c == '"' || c == '\\')
      out += '\\';
    if (uint8_t(c) < 0x20) {
      char text[8];
      std::snprintf(text, sizeof text, "\\u%04x", unsigned(uint8_t(c)));
      out += text;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string countersJson(const Collector::Counters &c) {
  std::string s = "{";
  std::string_view group;
  for (size_t i = 0; i < Collector::counters; ++i) {
    if (Collector::counterGroup(i) != group) {
      s += std::string(group.empty() ? "" : "}, ") + quoted(group = Collector::counterGroup(i)) + ": {";
    } else {
      s += ", ";
    }
    s += quoted(Collector::counterName(i)) + ": " + std::to_string(c[i]);
  }
  return s + "}}";
}
} // namespace

std::string_view Collector::counterGroup(size_t n) {
  return n < firstBytes ? "instructions" : n < firstBank ? "bytes" : n < firstWait ? "shared memory" : n < firstTime ? "waits" : "waiting time";
}
std::string_view Collector::counterName(size_t n) { return n < firstWait ? names[n] : waits[(n - firstWait) % waitKinds]; }
size_t Collector::find(std::string_view group, std::string_view name) {
  size_t n = 0;
  while (n < counters && (counterGroup(n) != group || counterName(n) != name))
    ++n;
  return n;
}

Collector::Counters Collector::Kernel::total() const {
  Counters sum{};
  for (const Role &r : roles)
    for (size_t i = 0; i < counters; ++i)
      sum[i] += r.counts[i];
  return sum;
}

void Collector::begin(const Module &module, std::string_view entry) {
  auto [it, fresh] = classes_.try_emplace(&module);
  if (fresh)
    for (const emulator::Function &f : module.impl().ast.functions)
      for (const Stmt &s : f.body) {
        if (s.line >= it->second.size())
          it->second.resize(s.line + 1, COther);
        it->second[s.line] = classOf(s.op);
      }
  lines_ = &it->second;
  current_ = 0;
  while (current_ < kernels_.size() && kernels_[current_].name != entry)
    ++current_;
  if (current_ == kernels_.size()) {
    kernels_.emplace_back();
    kernels_.back().name = entry;
  }
  ++kernels_[current_].launches;
}

Collector::Counters &Collector::of(const WarpRef &at) {
  if (kernels_.empty())
    kernels_.emplace_back();
  const std::string_view role = at.role.empty() ? "-" : at.role;
  auto &roles = kernels_[current_].roles;
  for (Role &r : roles)
    if (r.name == role)
      return r.counts;
  roles.push_back({std::string(role), {}});
  return roles.back().counts;
}

uint64_t Collector::now() const { return machine ? machine->impl().time : 0; }

void Collector::instruction(const WarpRef &at, uint32_t lanes) {
  Counters &c = of(at);
  c[threadInstructions] += unsigned(std::popcount(lanes));
  ++c[firstClass + (lines_ && at.line < lines_->size() ? (*lines_)[at.line] : uint8_t(COther))];
}

/// Passes of 32 banks of 4 bytes: 128 bytes a pass when nothing conflicts.
void Collector::countBanks(const AccessEvent &e, Counters &c) {
  const unsigned perPass = e.bytes <= 4 ? 32 : e.bytes == 8 ? 16 : 8, words = std::max(1u, e.bytes / 4);
  ++c[firstBank];
  for (unsigned first = 0; first < 32; first += perPass) {
    uint64_t seen[32][32];
    unsigned count[32] = {}, most = 0;
    for (unsigned l = first; l < first + perPass; ++l) {
      if (!(e.lanes >> l & 1))
        continue;
      for (unsigned w = 0; w < words; ++w) {
        const uint64_t word = e.address[l] / 4 + w;
        const unsigned bank = word % 32;
        unsigned k = 0;
        while (k < count[bank] && seen[bank][k] != word)
          ++k;
        if (k == count[bank])
          seen[bank][count[bank]++] = word;
        most = std::max(most, count[bank]);
      }
    }
    c[firstBank + 1] += most;
    c[firstBank + 2] += most ? most - 1 : 0;
  }
}

void Collector::access(const AccessEvent &e) {
  Counters &c = of(e.at);
  const bool copied = e.lanes == 0;
  auto add = [&](Bytes kind, uint64_t bytes) { c[firstBytes + kind] += bytes; };
  if (e.space == Space::Tensor) {
    add(TensorMemoryBytes, uint64_t(e.bytes) * (copied ? e.count : unsigned(std::popcount(e.lanes))));
    return;
  }
  if (e.space != Space::Global && e.space != Space::Shared)
    return;
  bool own = true;
  for (unsigned n = 0; n < (copied ? e.count : 32u); ++n) {
    if (!copied && !(e.lanes >> n & 1))
      continue;
    if (e.space == Space::Global) {
      const bool peer = isPeer(e.address[n], e.at.device);
      if (copied && peer)
        add(CopyPeer, e.bytes);
      if (e.read)
        add(copied ? CopyGlobalRead : peer ? PeerRead : GlobalRead, e.bytes);
      if (e.write)
        add(copied ? CopyGlobalWrite : peer ? PeerWrite : GlobalWrite, e.bytes);
    } else {
      const bool other = e.owner && e.owner[n] != e.at.ctaId;
      own &= !other;
      if (e.read)
        add(copied ? CopySharedRead : other ? ClusterRead : SharedRead, e.bytes);
      if (e.write)
        add(copied ? CopySharedWrite : other ? ClusterWrite : SharedWrite, e.bytes);
    }
  }
  if (e.space == Space::Shared && !copied && own && e.bytes <= 16)
    countBanks(e, c);
}

void Collector::ctaStart(const WarpRef &at, unsigned) {
  of(at);
  ++kernels_[current_].blocks;
}

void Collector::blocked(const WarpRef &at, std::string_view why) {
  size_t kind = 0;
  why = why.substr(0, why.find_last_not_of("0123456789 ") + 1); // without the barrier's number
  while (kind + 1 < waitKinds && waits[kind] != why)
    ++kind;
  ++of(at)[firstWait + kind];
  waits_[{at.ctaId, at.warp}] = {kind, now()};
}

void Collector::resumed(const WarpRef &at) {
  auto it = waits_.find({at.ctaId, at.warp});
  if (it == waits_.end())
    return;
  of(at)[firstTime + it->second.kind] += now() - it->second.since;
  waits_.erase(it);
}

std::string Collector::text() const {
  std::string out;
  auto cell = [&](const std::string &s) { out += std::string(s.size() < 14 ? 14 - s.size() : 1, ' ') + s; };
  for (const Kernel &k : kernels_) {
    out += "kernel " + k.name + ": " + std::to_string(k.launches) + (k.launches == 1 ? " launch, " : " launches, ") + std::to_string(k.blocks) + " blocks\n";
    out += std::string(34, ' ');
    cell("all");
    for (const Role &r : k.roles)
      cell(r.name);
    out += '\n';
    const Counters total = k.total();
    std::string_view group;
    for (size_t i = 0; i < counters; ++i) {
      if (!total[i])
        continue;
      if (counterGroup(i) != group)
        out += std::string(group = counterGroup(i)) + "\n";
      std::string name = "  " + std::string(counterName(i));
      name.resize(std::max<size_t>(34, name.size()), ' ');
      out += name;
      cell(std::to_string(total[i]));
      for (const Role &r : k.roles)
        cell(std::to_string(r.counts[i]));
      out += '\n';
    }
  }
  return out;
}

std::string Collector::json() const {
  std::string out = "{\"kernels\": [";
  for (const Kernel &k : kernels_) {
    out += std::string(&k == kernels_.data() ? "" : ", ") + "{\"kernel\": " + quoted(k.name) + ", \"launches\": " + std::to_string(k.launches) +
           ", \"blocks\": " + std::to_string(k.blocks) + ", \"total\": " + countersJson(k.total()) + ", \"roles\": {";
    for (const Role &r : k.roles)
      out += std::string(&r == k.roles.data() ? "" : ", ") + quoted(r.name) + ": " + countersJson(r.counts);
    out += "}}";
  }
  return out + "]}\n";
}

bool Collector::write(const std::string &path, std::string *error) const {
  const bool asJson = path.size() > 5 && path.compare(path.size() - 5, 5, ".json") == 0;
  const std::string content = asJson ? json() : text();
  FILE *file = path == "-" ? stdout : std::fopen(path.c_str(), "w");
  bool ok = file && std::fwrite(content.data(), 1, content.size(), file) == content.size();
  if (file)
    ok &= (file == stdout ? std::fflush(file) : std::fclose(file)) == 0;
  if (!ok)
    *error = "cannot write statistics to '" + path + "': " + std::strerror(errno);
  return ok;
}

} // namespace heddle::emulator
