//===- Communicator.cpp - one rank and its view of the others ---------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Communicator.h"
#include "core/Module.h"
#include <cstring>

namespace heddle::rt {

namespace {

constexpr uint64_t megabyte = uint64_t(1) << 20;
constexpr uint64_t defaultHeap = 256 * megabyte, defaultEmulatedHeap = 32 * megabyte;
constexpr uint64_t defaultSignals = 4 * megabyte;
constexpr uint64_t maxHeap = uint64_t(1) << 40;
constexpr uint32_t defaultTimeoutMs = 30000;

/// The communicator's block as kernels read it (docs/communication.md); heaps follow.
struct BlockHeader {
  uint32_t rank, world;
  uint64_t deadlineNs, abortWord, faultRecord;
};
static_assert(sizeof(BlockHeader) == 32);

} // namespace

Status CommSettings::of(const heddle_comm_options *options, bool emulated, CommSettings &settings) {
  const heddle_comm_options given = options ? *options : heddle_comm_options{};
  settings.signalBytes = given.signal_bytes ? given.signal_bytes : defaultSignals;
  settings.heapBytes = given.heap_bytes ? given.heap_bytes
                       : emulated       ? defaultEmulatedHeap
                                        : defaultHeap;
  settings.timeoutMs = given.timeout_ms ? given.timeout_ms : defaultTimeoutMs;
  if (settings.signalBytes > maxHeap || settings.heapBytes > maxHeap)
    return Status::error(HEDDLE_OUT_OF_RANGE,
                         text("expected heap_bytes and signal_bytes of at most ", maxHeap, ", got ",
                              settings.heapBytes, " and ", settings.signalBytes));
  const uint64_t unit = HeapAllocator::alignment;
  settings.signalBytes = (settings.signalBytes + unit - 1) / unit * unit;
  settings.heapBytes = (settings.heapBytes + unit - 1) / unit * unit + settings.signalBytes;
  return {};
}

Status Communicator::create(CommParts parts, std::unique_ptr<Communicator> &comm) {
  std::unique_ptr<Communicator> made(new Communicator(std::move(parts)));
  if (Status status = made->writeBlocks(); !status)
    return status;
  comm = std::move(made);
  return {};
}

Communicator::~Communicator() {
  // Nothing can be done about failures here; a lost device reports itself elsewhere.
  if (wordsAddress)
    (void)device().unmapHost(&parts.ledger->words(rank()));
  if (blocks)
    (void)device().free(blocks);
}

/// Every kernel gets a block of its own, so that a fault record tells the kernel too. They are
/// written once, here, and not at a kernel's first launch, which may be part of a captured graph.
Status Communicator::writeBlocks() {
  RankWords &words = parts.ledger->words(rank());
  if (Status status = device().mapHost(&words, sizeof(words), wordsAddress); !status)
    return status;
  const uint64_t used = sizeof(BlockHeader) + 8 * uint64_t(world());
  blockStride = (used + 63) / 64 * 64;
  const uint64_t bytes = blockStride * RankWords::kernels;
  if (Status status = device().alloc(bytes, blocks); !status)
    return status;
  std::vector<std::byte> image(bytes);
  for (unsigned k = 0; k < RankWords::kernels; ++k) {
    std::byte *block = image.data() + k * blockStride;
    const BlockHeader header{rank(), world(), uint64_t(parts.settings.timeoutMs) * 1000000,
                             wordsAddress + offsetof(RankWords, abort),
                             wordsAddress + offsetof(RankWords, faults) + k * sizeof(FaultRecord)};
    std::memcpy(block, &header, sizeof(header));
    for (unsigned r = 0; r < world(); ++r) {
      const uint64_t base = heapBase(r);
      std::memcpy(block + sizeof(header) + 8 * r, &base, sizeof(base));
    }
  }
  Status status = device().copy(blocks, image.data(), bytes, nullptr);
  return status ? device().syncStream(nullptr) : std::move(status);
}

uint64_t Communicator::bytesUsed() const {
  std::lock_guard lock(mutex);
  return places.bytesUsed();
}

Status Communicator::alloc(uint64_t bytes, void *&pointer) {
  CollectiveCall call;
  call.kind = CollectiveCall::Alloc;
  call.bytes = bytes;
  call.add(bytes);
  if (Status status = parts.ledger->enter(rank(), call); !status)
    return status;
  if (bytes == 0) {
    pointer = nullptr;
    return {};
  }
  std::lock_guard lock(mutex);
  std::optional<uint64_t> offset = places.take(bytes);
  if (!offset) {
    const uint64_t heap = parts.settings.heapBytes - parts.settings.signalBytes;
    return Status::error(
        HEDDLE_OUT_OF_MEMORY,
        text("expected room for ", bytes, " bytes in the symmetric heap of rank ", rank(),
             ", the largest gap has ", places.largestGap(), " and ", places.bytesUsed(), " of ",
             heap, " bytes are in use: make the communicator with heap_bytes of at least ",
             places.bytesUsed() + (bytes + 255) / 256 * 256));
  }
  pointer = reinterpret_cast<void *>(heapBase(rank()) + *offset);
  return {};
}

Status Communicator::free(void *pointer) {
  if (!pointer)
    return {};
  const uint64_t offset = reinterpret_cast<uintptr_t>(pointer) - heapBase(rank());
  CollectiveCall call;
  call.kind = CollectiveCall::Free;
  call.bytes = offset;
  call.add(offset);
  {
    std::lock_guard lock(mutex);
    if (!places.give(offset))
      return Status::error(HEDDLE_INVALID_ARGUMENT,
                           "expected an address that came from heddle_comm_alloc of this "
                           "communicator and was not freed yet");
  }
  return parts.ledger->enter(rank(), call);
}

Status Communicator::barrier() {
  CollectiveCall call;
  call.kind = CollectiveCall::Barrier;
  if (Status status = enter(call); !status)
    return status;
  return parts.ledger->wait(rank(), parts.settings.timeoutMs);
}

Status Communicator::checkSymmetric(uint64_t address, uint64_t bytes) const {
  const uint64_t base = heapBase(rank()), first = base + parts.settings.signalBytes,
                 end = base + parts.settings.heapBytes;
  if (address >= first && address <= end && bytes <= end - address)
    return {};
  return Status::error(
      HEDDLE_INVALID_ARGUMENT,
      text("expected ", bytes, " bytes in the symmetric heap of rank ", rank(),
           ", which other ranks address too (allocate them with heddle_comm_alloc), got ",
           address >= base && address < end ? "an address whose bytes leave it"
                                            : "an address outside of it"));
}

Status Communicator::peer(const void *pointer, unsigned of, void *&there) const {
  if (of >= world())
    return Status::error(HEDDLE_INVALID_ARGUMENT,
                         text("expected a rank below ", world(), ", got ", of));
  const uint64_t address = reinterpret_cast<uintptr_t>(pointer);
  if (Status status = checkSymmetric(address, 1); !status)
    return status;
  there = reinterpret_cast<void *>(address - heapBase(rank()) + heapBase(of));
  return {};
}

uint64_t Communicator::blockFor(const LoadedVariant &variant, std::string_view kernel) {
  std::lock_guard lock(mutex);
  auto [known, isNew] = kernelNumbers.try_emplace(variant.desc.name, unsigned(kernels.size()));
  // More kernels than blocks share the last one; its reports name no roles.
  constexpr unsigned last = RankWords::kernels - 1;
  if (isNew && kernels.size() < last) {
    kernels.push_back({std::string(kernel), variant.desc.roles});
  } else if (isNew) {
    known->second = last;
    if (kernels.size() == last)
      kernels.push_back({"a kernel", {}});
  }
  return reinterpret_cast<uintptr_t>(blocks) + known->second * blockStride;
}

Status Communicator::signals(const LoadedVariant &variant, uint64_t bytes, uint64_t &offset) {
  CollectiveCall key;
  key.add(variant.desc.name);
  key.add(variant.desc.source);
  return parts.ledger->signals(key.hash, bytes, variant.desc.kernel, offset);
}

Status Communicator::enter(const CollectiveCall &call) {
  if (parts.ledger->aborted())
    return Status::error(HEDDLE_COMM_FAILED,
                         text("the communicator was given up: ", parts.ledger->reason()));
  return parts.ledger->enter(rank(), call);
}

std::string Communicator::describeFault(const FaultRecord &fault, unsigned kernel) const {
  std::string name = "a kernel", role = text("role ", fault.role);
  if (kernel < kernels.size()) {
    name = text("kernel ", kernels[kernel].name);
    if (fault.role < kernels[kernel].roles.size())
      role = text("role ", kernels[kernel].roles[fault.role].name);
  }
  std::string out =
      text("rank ", rank(), ": ", name, ", ", role, ", channel ", fault.channel, ": ");
  if (fault.code == FaultRecord::Aborted)
    return out + text("stopped while it waited for rank ", fault.peer);
  if (fault.code == FaultRecord::Deadline)
    out += text("rank ", fault.peer, " did not come within ", parts.settings.timeoutMs, " ms");
  else
    out += text("rank ", fault.peer, " broke the protocol");
  out += text(": expected counter ", fault.expected, ", found ", fault.found, " (launch ",
              fault.epoch, " of this kernel, wait ", fault.wait, ")");
  if (fault.peer < world()) {
    const uint64_t theirs = parts.ledger->calls(fault.peer), mine = parts.ledger->calls(rank());
    if (theirs < mine)
      out +=
          text("; rank ", fault.peer, " has made ", theirs, " collective calls, this rank ", mine);
  }
  return out;
}

Status Communicator::check() {
  RankWords &words = parts.ledger->words(rank());
  std::lock_guard lock(mutex);
  std::string stopped;
  for (unsigned k = 0; k < RankWords::kernels; ++k) {
    if (std::atomic_ref<uint32_t>(words.faults[k].code).load() == FaultRecord::None)
      continue;
    std::string what = describeFault(words.faults[k], k);
    if (words.faults[k].code == FaultRecord::Aborted) {
      stopped = what;
      continue;
    }
    parts.ledger->abort(rank(), what);
    return Status::error(HEDDLE_COMM_FAILED, std::move(what));
  }
  if (!parts.ledger->aborted())
    return {};
  return Status::error(HEDDLE_COMM_FAILED,
                       text("the communicator was given up: ", parts.ledger->reason(),
                            stopped.empty() ? "" : "; ", stopped));
}

} // namespace heddle::rt
