//===- Cache.h - results kept across runs ----------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_PIPELINES_CACHE_H
#define HEDDLE_PIPELINES_CACHE_H

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace heddle {

/// A folder of results named by the hash of all that they depend on. Any number of processes and
/// threads may use it at once: entries appear whole (a new file, then a rename), carry a checksum,
/// and a damaged one counts as absent. What was not used for a month, and the oldest beyond one
/// gigabyte, goes. A folder that cannot be written makes a cache that keeps nothing.
class Cache {
public:
  /// Keeps nothing.
  Cache() = default;
  /// In $HEDDLE_CACHE, else $XDG_CACHE_HOME/heddle, else ~/.cache/heddle.
  static Cache openDefault();
  static Cache openAt(std::string folder);

  /// The name of a result: a hash of the parts and of where one ends and the next begins.
  static std::string key(std::initializer_list<std::string_view> parts);

  std::optional<std::string> get(std::string_view key) const;
  void put(std::string_view key, std::string_view value) const;
  /// Removes old entries, at most every few minutes.
  void prune() const;
  /// Empty when nothing is kept.
  const std::string &path() const { return folder; }

private:
  std::string folder;
};

} // namespace heddle

#endif // HEDDLE_PIPELINES_CACHE_H
