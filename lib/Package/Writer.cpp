//===- Writer.cpp - writing packages --------------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "heddle/Package/Writer.h"

#include "heddle/Package/Checksum.h"
#include "heddle/Package/Reader.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace heddle;
using namespace heddle::pkg;

namespace {

Error ioError(const std::string &path, const char *what, int number) {
  return {ErrorCode::Io, path + ": " + what + ": " + std::strerror(number)};
}

/// The file that becomes the target; removed again unless it was renamed.
class TemporaryFile {
public:
  /// Creates it with the permissions that the user's mask leaves.
  explicit TemporaryFile(const std::string &target) {
    static std::atomic<unsigned> counter{0};
    do {
      path = target + "." + std::to_string(::getpid()) + "." + std::to_string(counter++) + ".tmp";
      fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (fd < 0 && errno == EEXIST);
  }
  ~TemporaryFile() {
    if (fd >= 0)
      ::close(fd);
    if (created && !renamed)
      ::unlink(path.c_str());
  }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  bool opened() {
    created = fd >= 0;
    return created;
  }

  /// 0, or errno.
  int write(std::span<const uint8_t> bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::write(fd, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return errno;
      bytes = bytes.subspan(static_cast<size_t>(n));
    }
    return 0;
  }

  /// Flushes and closes it. 0, or errno.
  int finish() {
    if (::fsync(fd) != 0)
      return errno;
    const int closed = ::close(fd);
    fd = -1;
    return closed == 0 ? 0 : errno;
  }

  int renameTo(const std::string &target) {
    renamed = ::rename(path.c_str(), target.c_str()) == 0;
    return renamed ? 0 : errno;
  }

private:
  std::string path;
  int fd;
  bool created = false, renamed = false;
};

} // namespace

Expected<std::vector<uint8_t>> pkg::packageBytes(const PackageT &package) {
  PackageT stamped(package);
  stamped.format_version = formatVersion;
  flatbuffers::FlatBufferBuilder builder(1 << 16);
  FinishPackageBuffer(builder, Package::Pack(builder, &stamped));
  std::vector<uint8_t> bytes(builder.GetBufferPointer(),
                             builder.GetBufferPointer() + builder.GetSize());
  seal(bytes);
  Expected<PackageFile> reread = PackageFile::fromMemory(bytes);
  if (!reread) {
    Error error = reread.takeError();
    error.code = ErrorCode::InvalidArgument;
    return error;
  }
  return bytes;
}

Expected<void> pkg::writeFileAtomically(const std::string &path, std::span<const uint8_t> bytes) {
  struct stat info{};
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
    return Error{ErrorCode::Io, path + ": expected a regular file or none"};
  TemporaryFile file(path);
  if (!file.opened())
    return ioError(path, "cannot create a file in its folder", errno);
  if (int failed = file.write(bytes))
    return ioError(path, "cannot write", failed);
  if (int failed = file.finish())
    return ioError(path, "cannot write", failed);
  if (int failed = file.renameTo(path))
    return ioError(path, "cannot put the new file in place", failed);
  return {};
}

Expected<void> pkg::writeFileAtomically(const std::string &path, std::string_view text) {
  return writeFileAtomically(
      path, std::span(reinterpret_cast<const uint8_t *>(text.data()), text.size()));
}

Expected<void> pkg::writePackage(const PackageT &package, const std::string &path) {
  Expected<std::vector<uint8_t>> bytes = packageBytes(package);
  if (!bytes)
    return bytes.takeError().in(path);
  return writeFileAtomically(path, *bytes);
}
