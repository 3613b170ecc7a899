//===- Gpu.h - the driver functions that the benchmark uses -----*- C++ -*-===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_BENCH_COMM_GPU_H
#define HEDDLE_BENCH_COMM_GPU_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace heddle::bench {

using Handle = void *;

/// libcuda.so.1, opened at run time. Functions return 0 for success.
struct Gpu {
  int (*init)(unsigned);
  int (*deviceCount)(int *);
  int (*deviceGet)(int *, int);
  int (*deviceAttribute)(int *, int, int);
  int (*deviceName)(char *, int, int);
  int (*retain)(Handle *, int);
  int (*setCurrent)(Handle);
  int (*enablePeer)(Handle, unsigned);
  int (*canAccess)(int *, int, int);
  int (*synchronize)();
  int (*alloc)(uint64_t *, size_t);
  int (*hostAlloc)(void **, size_t, unsigned);
  int (*free)(uint64_t);
  int (*copy)(uint64_t, uint64_t, size_t);
  int (*copyPeer)(uint64_t, Handle, uint64_t, Handle, size_t, Handle);
  int (*set)(uint64_t, unsigned char, size_t);
  int (*streamCreate)(Handle *, unsigned);
  int (*streamSynchronize)(Handle);
  int (*streamQuery)(Handle);
  int (*eventCreate)(Handle *, unsigned);
  int (*eventRecord)(Handle, Handle);
  int (*eventElapsed)(float *, Handle, Handle);
  int (*moduleLoad)(Handle *, const void *);
  int (*moduleFunction)(Handle *, Handle, const char *);
  int (*functionSet)(Handle, int, int);
  int (*launch)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                Handle, void **, void **);
  int (*captureBegin)(Handle, int);
  int (*captureEnd)(Handle, Handle *);
  int (*graphInstantiate)(Handle *, Handle, unsigned long long);
  int (*graphLaunch)(Handle, Handle);
  int (*graphDestroy)(Handle);
  int (*graphExecDestroy)(Handle);
  int (*errorName)(int, const char **);

  /// "" or why it cannot be used.
  std::string open();
};
extern Gpu gpu;

/// Ends the program with a message when a call failed.
void check(int result, const char *what);

/// NCCL of two or more devices of this process, opened at run time.
struct Nccl {
  std::string version; ///< empty: not there
  std::string open(const std::string &path, const int *devices, int count);
  enum class Op { AllGather, AllToAll, ReduceScatter, AllReduce };
  /// Issues the operation of all ranks; `part` in elements of bf16 a rank.
  std::string run(Op op, const uint64_t *from, const uint64_t *to, size_t part,
                  const Handle *contexts, const Handle *streams);
  int count = 0;
  Handle comms[16] = {};
};

} // namespace heddle::bench

#endif // HEDDLE_BENCH_COMM_GPU_H
