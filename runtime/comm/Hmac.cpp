//===- Hmac.cpp - proofs that a peer knows the shared secret ------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// SHA-256 is libcrypto's. Its plain functions are used, not the ones with providers: of the
// static library only those few kilobytes are linked, and nothing is opened at run time.
//
//===----------------------------------------------------------------------===//

#include "Hmac.h"
#include <cstring>
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <sys/random.h>

namespace heddle::rt {

namespace {

constexpr size_t blockBytes = 64;

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
Digest sha256(std::string_view first, std::string_view second) {
  SHA256_CTX context;
  Digest digest;
  SHA256_Init(&context);
  SHA256_Update(&context, first.data(), first.size());
  SHA256_Update(&context, second.data(), second.size());
  SHA256_Final(digest.data(), &context);
  return digest;
}
#pragma clang diagnostic pop

std::string_view view(const Digest &digest) {
  return {reinterpret_cast<const char *>(digest.data()), digest.size()};
}

} // namespace

Digest hmac(std::string_view key, std::string_view message) {
  char inner[blockBytes] = {}, outer[blockBytes];
  if (key.size() > blockBytes) {
    const Digest shorter = sha256(key, {});
    std::memcpy(inner, shorter.data(), shorter.size());
  } else {
    std::memcpy(inner, key.data(), key.size());
  }
  for (size_t i = 0; i < blockBytes; ++i) {
    outer[i] = char(inner[i] ^ 0x5c);
    inner[i] ^= 0x36;
  }
  const Digest digest = sha256({inner, blockBytes}, message);
  const Digest result = sha256({outer, blockBytes}, view(digest));
  OPENSSL_cleanse(inner, sizeof(inner));
  OPENSSL_cleanse(outer, sizeof(outer));
  return result;
}

bool equal(const Digest &a, const Digest &b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

bool fillRandom(void *bytes, size_t count) {
  auto *to = static_cast<char *>(bytes);
  for (size_t done = 0; done < count;) {
    const ssize_t got = ::getrandom(to + done, count - done, 0);
    if (got < 0)
      return false;
    done += size_t(got);
  }
  return true;
}

} // namespace heddle::rt
