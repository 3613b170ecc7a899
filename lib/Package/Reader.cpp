//===- Reader.cpp - opening packages --------------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "heddle/Package/Reader.h"

#include "heddle/Package/Checksum.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <sys/stat.h>
#include <unistd.h>

using namespace heddle;
using namespace heddle::pkg;

namespace {

constexpr size_t bufferAlignment = 8;
// Root offset and identifier.
constexpr size_t headerBytes = 8;

Error damaged(std::string message) { return {ErrorCode::Damaged, std::move(message)}; }

/// The four identifier bytes as text that is safe to print.
std::string printableIdentifier(std::span<const uint8_t> bytes) {
  std::string text;
  for (uint8_t byte : bytes.subspan(4, 4)) {
    if (byte >= 0x20 && byte < 0x7f) {
      text.push_back(static_cast<char>(byte));
      continue;
    }
    char escaped[5];
    std::snprintf(escaped, sizeof escaped, "\\x%02x", byte);
    text += escaped;
  }
  return text;
}

Expected<void> checkHeader(std::span<const uint8_t> bytes) {
  if (bytes.size() < headerBytes)
    return damaged("expected a package of at least " + std::to_string(headerBytes) +
                   " bytes, got " + std::to_string(bytes.size()));
  if (bytes.size() > maxPackageBytes)
    return damaged("expected a package of at most " + std::to_string(maxPackageBytes) +
                   " bytes, got " + std::to_string(bytes.size()));
  if (!PackageBufferHasIdentifier(bytes.data()))
    return damaged(std::string("not a package: expected the file identifier ") +
                   PackageIdentifier() + ", got " + printableIdentifier(bytes));
  return {};
}

/// Checks only the tables and vectors between the root and Kernel.symbols, and that those vectors
/// together have no more entries than the file has room for: the verifier counts tables, but not
/// strings, so vectors of strings that share their bytes would cost it quadratic time.
bool symbolVectorsFit(flatbuffers::Verifier &verifier, std::span<const uint8_t> bytes) {
  const flatbuffers::uoffset_t start = verifier.VerifyOffset(0);
  if (start == 0 || !verifier.VerifyTableStart(bytes.data() + start))
    return false;
  const auto *package = reinterpret_cast<const flatbuffers::Table *>(bytes.data() + start);
  if (!package->VerifyOffset(verifier, Package::VT_KERNELS))
    return false;
  const auto *kernels =
      package->GetPointer<const flatbuffers::Vector<flatbuffers::Offset<Kernel>> *>(
          Package::VT_KERNELS);
  if (!kernels)
    return true; // required: the verifier will say so
  if (!verifier.VerifyVector(kernels))
    return false;
  size_t left = bytes.size() / sizeof(flatbuffers::uoffset_t);
  for (flatbuffers::uoffset_t i = 0; i < kernels->size(); ++i) {
    const auto *kernel = reinterpret_cast<const flatbuffers::Table *>(kernels->Get(i));
    if (!verifier.VerifyTableStart(reinterpret_cast<const uint8_t *>(kernel)) ||
        !kernel->VerifyOffset(verifier, Kernel::VT_SYMBOLS))
      return false;
    verifier.EndTable();
    const auto *symbols =
        kernel->GetPointer<const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>> *>(
            Kernel::VT_SYMBOLS);
    if (!symbols)
      continue;
    if (!verifier.VerifyVector(symbols) || symbols->size() > left)
      return false;
    left -= symbols->size();
  }
  return true;
}

Expected<void> checkStructure(std::span<const uint8_t> bytes) {
  flatbuffers::Verifier::Options options;
  options.max_depth = 16; // the schema nests 5 deep
  // A table takes at least its offset and that of its vtable.
  options.max_tables = static_cast<flatbuffers::uoffset_t>(bytes.size() / 8 + 1);
  flatbuffers::Verifier prepass(bytes.data(), bytes.size(), options);
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), options);
  if (!symbolVectorsFit(prepass, bytes) || !VerifyPackageBuffer(verifier))
    return damaged("the package is truncated or damaged: an offset, size or required field is not "
                   "valid (" +
                   std::to_string(bytes.size()) + " bytes)");
  return {};
}

/// A file descriptor, closed at the end of its scope.
class Descriptor {
public:
  explicit Descriptor(int fd) : fd(fd) {}
  ~Descriptor() {
    if (fd >= 0)
      ::close(fd);
  }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  operator int() const { return fd; }

private:
  int fd;
};

Error systemError(const std::string &path, const char *what, int number) {
  return {number == ENOENT ? ErrorCode::NotFound : ErrorCode::Io,
          path + ": " + what + ": " + std::strerror(number)};
}

Expected<std::vector<uint8_t>> readFile(const std::string &path) {
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd < 0)
    return systemError(path, "cannot open", errno);
  struct stat info{};
  if (::fstat(fd, &info) != 0)
    return systemError(path, "cannot examine", errno);
  if (!S_ISREG(info.st_mode))
    return Error{ErrorCode::Io, path + ": expected a regular file"};
  const auto size = static_cast<uint64_t>(info.st_size);
  if (size > maxPackageBytes)
    return damaged(path + ": expected a package of at most " + std::to_string(maxPackageBytes) +
                   " bytes, got " + std::to_string(size));
  std::vector<uint8_t> bytes(size);
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::read(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return systemError(path, "cannot read", errno);
    if (n == 0)
      return Error{ErrorCode::Io, path + ": the file shrank while it was read"};
    done += static_cast<size_t>(n);
  }
  return bytes;
}

} // namespace

Expected<PackageFile> PackageFile::fromMemory(std::span<const uint8_t> bytes) try {
  if (Expected<void> header = checkHeader(bytes); !header)
    return header.takeError();
  PackageFile file;
  file.view = bytes;
  if (reinterpret_cast<uintptr_t>(bytes.data()) % bufferAlignment != 0) {
    file.owned.assign(bytes.begin(), bytes.end());
    file.view = file.owned;
  }
  Expected<std::span<const uint8_t>> data = unsealed(file.view);
  if (!data)
    return data.takeError();
  if (Expected<void> structure = checkStructure(*data); !structure)
    return structure.takeError();
  file.package = GetPackage(file.view.data());
  if (Expected<void> meaning = validate(*file.package, data->size()); !meaning)
    return meaning.takeError();
  return file;
} catch (const std::bad_alloc &) {
  return Error{ErrorCode::OutOfMemory, "out of memory while opening a package of " +
                                           std::to_string(bytes.size()) + " bytes"};
}

Expected<PackageFile> PackageFile::fromBytes(std::vector<uint8_t> bytes) {
  Expected<PackageFile> file = fromMemory(bytes);
  // Moving a vector keeps its elements where they are, so the view stays valid.
  if (file && file->owned.empty())
    file->owned = std::move(bytes);
  return file;
}

Expected<PackageFile> PackageFile::fromFile(const std::string &path) try {
  Expected<std::vector<uint8_t>> bytes = readFile(path);
  if (!bytes)
    return bytes.takeError();
  Expected<PackageFile> file = fromBytes(std::move(*bytes));
  if (!file)
    return file.takeError().in(path);
  return file;
} catch (const std::bad_alloc &) {
  return Error{ErrorCode::OutOfMemory, path + ": out of memory while reading the file"};
}

const Kernel *PackageFile::findKernel(std::string_view name) const {
  for (const Kernel *kernel : *package->kernels())
    if (kernel->name()->string_view() == name)
      return kernel;
  return nullptr;
}

std::string PackageFile::kernelNames() const {
  std::string names;
  for (const Kernel *kernel : *package->kernels())
    names += (names.empty() ? "" : ", ") + kernel->name()->str();
  return names;
}

std::unique_ptr<PackageT> PackageFile::unpack() const {
  return std::unique_ptr<PackageT>(package->UnPack());
}
