//===- Cache.cpp - results kept across runs --------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "heddle/Pipelines/Cache.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

namespace heddle {

static constexpr size_t hashBytes = 32;
/// The prefix that LLVM's pruning looks for.
static constexpr llvm::StringLiteral filePrefix = "llvmcache-";

static std::string hashOf(llvm::StringRef text) {
  auto digest = llvm::SHA256::hash(
      llvm::ArrayRef(reinterpret_cast<const uint8_t *>(text.data()), text.size()));
  return std::string(digest.begin(), digest.end());
}

Cache Cache::openAt(std::string folder) {
  Cache cache;
  if (!folder.empty() && !llvm::sys::fs::create_directories(folder))
    cache.folder = std::move(folder);
  return cache;
}

Cache Cache::openDefault() {
  if (const char *folder = std::getenv("HEDDLE_CACHE"))
    return openAt(folder);
  llvm::SmallString<128> folder;
  if (!llvm::sys::path::cache_directory(folder))
    return {};
  llvm::sys::path::append(folder, "heddle");
  return openAt(std::string(folder));
}

std::string Cache::key(std::initializer_list<std::string_view> parts) {
  llvm::SHA256 hash;
  for (std::string_view part : parts) {
    hash.update(std::to_string(part.size()) + ":");
    hash.update(llvm::StringRef(part));
  }
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

static std::string entryPath(llvm::StringRef folder, llvm::StringRef key) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, filePrefix + key);
  return std::string(path);
}

std::optional<std::string> Cache::get(std::string_view key) const {
  if (folder.empty())
    return std::nullopt;
  auto buffer = llvm::MemoryBuffer::getFile(entryPath(folder, key), /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer || (*buffer)->getBufferSize() < hashBytes)
    return std::nullopt;
  llvm::StringRef data = (*buffer)->getBuffer(), value = data.drop_front(hashBytes);
  if (hashOf(value) != data.take_front(hashBytes))
    return std::nullopt;
  return value.str();
}

void Cache::put(std::string_view key, std::string_view value) const {
  if (folder.empty())
    return;
  std::string path = entryPath(folder, key);
  llvm::SmallString<128> temporary;
  int fd;
  if (llvm::sys::fs::createUniqueFile(path + ".%%%%%%%%", fd, temporary))
    return;
  llvm::raw_fd_ostream stream(fd, /*shouldClose=*/true);
  stream << hashOf(value) << value;
  stream.close();
  bool failed = stream.has_error();
  stream.clear_error();
  if (failed || llvm::sys::fs::rename(temporary, path))
    llvm::sys::fs::remove(temporary);
}

void Cache::prune() const {
  if (folder.empty())
    return;
  llvm::CachePruningPolicy policy;
  policy.Interval = std::chrono::minutes(10);
  policy.Expiration = std::chrono::hours(24 * 30);
  policy.MaxSizeBytes = uint64_t{1} << 30;
  llvm::pruneCache(folder, policy);
}

} // namespace heddle
