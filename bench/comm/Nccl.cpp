//===- Nccl.cpp - the peer, opened at run time ----------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Multicast over NVLink (NVLS) stays off: on servers that are shared it is not to be had.
//
//===----------------------------------------------------------------------===//
#include "Gpu.h"

#include <cstdlib>
#include <dlfcn.h>

namespace heddle::bench {

static struct {
  int (*version)(int *);
  int (*initAll)(Handle *, int, const int *);
  int (*groupStart)();
  int (*groupEnd)();
  int (*allGather)(const void *, void *, size_t, int, Handle, Handle);
  int (*reduceScatter)(const void *, void *, size_t, int, int, Handle, Handle);
  int (*allReduce)(const void *, void *, size_t, int, int, Handle, Handle);
  int (*send)(const void *, size_t, int, int, Handle, Handle);
  int (*receive)(void *, size_t, int, int, Handle, Handle);
} nccl;

std::string Nccl::open(const std::string &path, const int *devices, int n) {
  setenv("NCCL_NVLS_ENABLE", "0", 1);
  void *library = nullptr;
  for (const char *name : {path.c_str(), "libnccl.so.2", "libnccl.so"})
    if (!library && *name)
      library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return "libnccl.so.2 cannot be opened: give its path with --nccl";
  std::string missing;
  auto find = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
    if (!function)
      missing = name;
  };
  find(nccl.version, "ncclGetVersion");
  find(nccl.initAll, "ncclCommInitAll");
  find(nccl.groupStart, "ncclGroupStart");
  find(nccl.groupEnd, "ncclGroupEnd");
  find(nccl.allGather, "ncclAllGather");
  find(nccl.reduceScatter, "ncclReduceScatter");
  find(nccl.allReduce, "ncclAllReduce");
  find(nccl.send, "ncclSend");
  find(nccl.receive, "ncclRecv");
  if (!missing.empty())
    return "libnccl lacks " + missing;
  int number = 0;
  if (nccl.version(&number) || nccl.initAll(comms, n, devices))
    return "ncclCommInitAll failed";
  version = std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) + "." +
            std::to_string(number % 100);
  count = n;
  return "";
}

std::string Nccl::run(Op op, const uint64_t *from, const uint64_t *to, size_t part,
                      const Handle *contexts, const Handle *streams) {
  constexpr int bf16 = 9, sum = 0;
  int failed = nccl.groupStart();
  for (int r = 0; r < count && !failed; ++r) {
    check(gpu.setCurrent(contexts[r]), "set the context");
    auto in = reinterpret_cast<const char *>(from[r]);
    auto out = reinterpret_cast<char *>(to[r]);
    switch (op) {
    case Op::AllGather:
      failed = nccl.allGather(in, out, part, bf16, comms[r], streams[r]);
      break;
    case Op::ReduceScatter:
      failed = nccl.reduceScatter(in, out, part, bf16, sum, comms[r], streams[r]);
      break;
    case Op::AllReduce:
      failed = nccl.allReduce(in, out, part, bf16, sum, comms[r], streams[r]);
      break;
    case Op::AllToAll:
      for (int other = 0; other < count && !failed; ++other)
        failed = nccl.send(in + 2 * part * other, part, bf16, other, comms[r], streams[r]) ||
                 nccl.receive(out + 2 * part * other, part, bf16, other, comms[r], streams[r]);
      break;
    }
  }
  return nccl.groupEnd() || failed ? "a call of NCCL failed" : "";
}

} // namespace heddle::bench
