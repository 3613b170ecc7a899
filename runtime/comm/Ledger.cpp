//===- Ledger.cpp - what the ranks of a communicator agree on ---------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ledger.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <thread>

namespace heddle::rt {

namespace {

/// Calls of a rank that are kept. A rank that is further behind than this is compared no more; its
/// peers' kernels have long failed by then.
constexpr size_t history = 64;
constexpr size_t maxAreas = 256;
constexpr uint64_t areaAlignment = 128;

void copyText(char *to, size_t capacity, std::string_view from) {
  const size_t length = std::min(from.size(), capacity - 1);
  std::memcpy(to, from.data(), length);
  to[length] = '\0';
}

struct RankLog {
  uint64_t calls;
  CollectiveCall last[history]; ///< call n at n % history
};

} // namespace

struct Ledger::Data {
  pthread_mutex_t mutex;
  uint32_t world;
  std::atomic<uint32_t> aborted;
  uint32_t abortedBy;
  char reason[1024];
  uint64_t signalBytes, signalsUsed;
  uint32_t areaCount;
  struct {
    uint64_t key, bytes, offset;
  } areas[maxAreas];
  // RankLog logs[world] follow, then, on a page of their own, RankWords[world].

  RankLog *logs() { return reinterpret_cast<RankLog *>(this + 1); }
  static size_t wordsOffset(unsigned world) {
    const size_t page = alignof(RankWords);
    return (sizeof(Data) + world * sizeof(RankLog) + page - 1) / page * page;
  }
};

/// Holds the ledger's lock. A holder that died leaves numbers that are each whole, so the lock is
/// simply taken over.
class Ledger::Lock {
public:
  explicit Lock(Data &data) : data(data) {
    if (pthread_mutex_lock(&data.mutex) == EOWNERDEAD)
      pthread_mutex_consistent(&data.mutex);
  }
  ~Lock() { pthread_mutex_unlock(&data.mutex); }
  Lock(const Lock &) = delete;
  Lock &operator=(const Lock &) = delete;

private:
  Data &data;
};

void CollectiveCall::setName(std::string_view text) {
  copyText(name, sizeof(name), text);
  add(text);
}

void CollectiveCall::add(uint64_t value) {
  uint64_t x = hash + 0x9e3779b97f4a7c15ull + value * 0xff51afd7ed558ccdull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  hash = x ^ (x >> 31);
}

void CollectiveCall::add(std::string_view text) {
  add(uint64_t(text.size()));
  for (char c : text)
    add(uint64_t(static_cast<unsigned char>(c)));
}

std::string CollectiveCall::text() const {
  if (kind == Alloc)
    return rt::text("an allocation of ", bytes, " bytes");
  if (kind == Free)
    return rt::text("a free of the memory at ", bytes, " in the heap");
  if (kind == Barrier)
    return "a barrier";
  std::string out = rt::text("a launch of ", std::string_view(name), " (variant ", variant);
  for (uint32_t i = 0; i < sizeCount; ++i)
    out += rt::text(i ? ", " : ", sizes ", sizes[i]);
  return out + ")";
}

size_t Ledger::bytesFor(unsigned world) {
  return Data::wordsOffset(world) + world * sizeof(RankWords);
}

void Ledger::format(void *memory, unsigned world, uint64_t signalBytes) {
  static_assert(std::atomic<uint32_t>::is_always_lock_free);
  auto *data = new (memory) Data{};
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&data->mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
  data->world = world;
  data->signalBytes = signalBytes;
}

Ledger::Ledger(void *memory, std::shared_ptr<void> owner)
    : memory(memory), owner(std::move(owner)) {}

Ledger::Data &Ledger::data() const { return *static_cast<Data *>(memory); }

unsigned Ledger::world() const { return data().world; }

RankWords &Ledger::words(unsigned rank) const {
  auto *base = static_cast<std::byte *>(memory) + Data::wordsOffset(world());
  return reinterpret_cast<RankWords *>(base)[rank];
}

Status Ledger::enter(unsigned rank, const CollectiveCall &call) {
  std::string difference;
  {
    Data &d = data();
    Lock lock(d);
    RankLog &mine = d.logs()[rank];
    const uint64_t number = mine.calls++;
    mine.last[number % history] = call;
    for (unsigned r = 0; r < d.world && difference.empty(); ++r) {
      const RankLog &other = d.logs()[r];
      if (r == rank || other.calls <= number || other.calls > number + history)
        continue;
      const CollectiveCall &theirs = other.last[number % history];
      if (theirs.hash != call.hash || theirs.kind != call.kind)
        difference = text("collective call ", number + 1, " of rank ", rank, " is ", call.text(),
                          ", that of rank ", r, " was ", theirs.text(),
                          ": expected the same calls in the same order on every rank");
    }
  }
  if (difference.empty())
    return {};
  abort(rank, difference);
  return Status::error(HEDDLE_COMM_MISMATCH, std::move(difference));
}

Status Ledger::wait(unsigned rank, uint32_t timeoutMs) const {
  const uint64_t mine = calls(rank);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeoutMs);
  for (unsigned r = 0; r < world();) {
    // Who came may have gone since: the next call tells.
    if (calls(r) >= mine) {
      ++r;
      continue;
    }
    if (aborted())
      return Status::error(HEDDLE_COMM_FAILED, text("the communicator was given up: ", reason()));
    if (std::chrono::steady_clock::now() > deadline)
      return Status::error(HEDDLE_COMM_FAILED,
                           text("rank ", r, " did not come within ", timeoutMs, " ms: it has made ",
                                calls(r), " collective calls, this rank ", mine));
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return {};
}

uint64_t Ledger::calls(unsigned rank) const {
  Lock lock(data());
  return data().logs()[rank].calls;
}

Status Ledger::signals(uint64_t key, uint64_t bytes, std::string_view name, uint64_t &offset) {
  Data &d = data();
  Lock lock(d);
  for (uint32_t i = 0; i < d.areaCount; ++i)
    if (d.areas[i].key == key && d.areas[i].bytes == bytes) {
      offset = d.areas[i].offset;
      return {};
    }
  const uint64_t left = d.signalBytes - d.signalsUsed;
  if (bytes > left || d.areaCount == maxAreas)
    return Status::error(HEDDLE_OUT_OF_MEMORY,
                         text("the counters of ", name, " need ", bytes, " bytes, ", left, " of ",
                              d.signalBytes,
                              " are left: make the communicator with more signal_bytes"));
  offset = d.signalsUsed;
  d.signalsUsed += std::min(left, (bytes + areaAlignment - 1) / areaAlignment * areaAlignment);
  d.areas[d.areaCount++] = {key, bytes, offset};
  return {};
}

void Ledger::abort(unsigned rank, std::string_view reason) {
  Data &d = data();
  Lock lock(d);
  if (!d.aborted.load()) {
    d.abortedBy = rank;
    copyText(d.reason, sizeof(d.reason), reason);
    d.aborted.store(1);
  }
  for (unsigned r = 0; r < d.world; ++r)
    std::atomic_ref<uint32_t>(words(r).abort).store(1);
}

bool Ledger::aborted() const { return data().aborted.load() != 0; }

std::string Ledger::reason() const {
  Lock lock(data());
  return text("rank ", data().abortedBy, ": ", std::string_view(data().reason));
}

} // namespace heddle::rt
