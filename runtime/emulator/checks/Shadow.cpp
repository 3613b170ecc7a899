//===- Shadow.cpp - the last accesses to memory --------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/checks/Shadow.h"

namespace heddle::emulator::checks {

/// Reads kept of one cell; more than that many warps that read the same bytes without
/// a write in between are forgotten from the oldest on.
static constexpr size_t maxEntries = 24;

void Cell::add(const Entry &e) {
  if (e.write) {
    std::erase_if(entries, [&](Entry &o) {
      o.bytes &= uint16_t(~e.bytes);
      return o.bytes == 0;
    });
  } else {
    for (Entry &o : entries) {
      if (o.write || o.ctaId != e.ctaId || o.warp != e.warp || (o.lanes == 0) != (e.lanes == 0) ||
          o.strong != e.strong)
        continue;
      // Later reads of the same lanes stand for the earlier ones.
      bool covers = (o.lanes & ~e.lanes) == 0 && (o.bytes & ~e.bytes) == 0 && o.when <= e.when &&
                    (e.lanes || o.when == e.when);
      if (covers) {
        o = e;
        return;
      }
      if (o.when != e.when || o.line != e.line)
        continue;
      if (o.bytes == e.bytes || o.lanes == e.lanes) {
        o.bytes |= e.bytes;
        o.lanes |= e.lanes;
        return;
      }
    }
  }
  if (entries.size() >= maxEntries)
    entries.erase(entries.begin() + (entries[0].write ? 1 : 0));
  entries.push_back(e);
}

} // namespace heddle::emulator::checks
