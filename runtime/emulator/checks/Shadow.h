//===- Shadow.h - the last accesses to memory -------------------*- C++ -*-===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_EMULATOR_CHECKS_SHADOW_H
#define HEDDLE_EMULATOR_CHECKS_SHADOW_H

#include "runtime/emulator/Observer.h"

#include <memory>
#include <unordered_map>

namespace heddle::emulator::checks {

/// An access that later ones may conflict with.
struct Entry {
  uint64_t ctaId = 0; ///< of the issuer
  uint64_t when = 0;  ///< time of the warp, or the operation
  uint32_t lanes = 0; ///< 0: `when` is an operation
  uint32_t line = 0;
  uint32_t loc = 0;
  uint16_t bytes = 0; ///< mask within the cell
  uint8_t warp = 0;
  bool write = false, atomic = false, strong = false, asyncProxy = false;
  Scope scope = Scope::None;
};

/// Accesses to 16 bytes.
struct Cell {
  std::vector<Entry> entries;
  /// Adds `e`; a write takes the place of what it covers.
  void add(const Entry &e);
};

/// The cells of a space: of a block's shared or tensor memory, or of global memory.
class Shadow {
public:
  Cell &cell(uint64_t address) {
    uint64_t page = address >> pageShift;
    if (!last || page != lastPage) {
      auto &p = pages[page];
      if (!p)
        p = std::make_unique<Page>();
      last = p.get();
      lastPage = page;
    }
    return last->cells[(address >> 4) & (cellsPerPage - 1)];
  }
  void clear() {
    pages.clear();
    last = nullptr;
  }

private:
  static constexpr unsigned pageShift = 12, cellsPerPage = 1u << (pageShift - 4);
  struct Page {
    Cell cells[cellsPerPage];
  };
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages;
  Page *last = nullptr;
  uint64_t lastPage = 0;
};

} // namespace heddle::emulator::checks

#endif // HEDDLE_EMULATOR_CHECKS_SHADOW_H
