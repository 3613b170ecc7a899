//===- CuBlasLt.h - the peer, opened at run time ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_BENCH_GEMM_CUBLASLT_H
#define HEDDLE_BENCH_GEMM_CUBLASLT_H

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::bench {

/// What is multiplied. The result is bf16 for the 8-bit kinds.
enum class Numbers {
  BF16,
  F16,
  Fp8,      ///< e4m3, one scale a tensor
  Fp8Blocks ///< e4m3, scales of 1 x 128 for A and 128 x 128 for B
};

/// One product D[M,N] = A[M,K] * B[N,K]^T, row-major, prepared with the first `count`
/// configurations of cuBLASLt's heuristic. Not thread-safe. Needs a current CUDA context.
class CuBlasLt {
public:
  /// 8-bit kinds: f32 scales on the device, borrowed; one, or as many as there are blocks in
  /// whatever order the peer wants, rows rounded up to multiples of 4.
  const void *scaleA = nullptr, *scaleB = nullptr;
  bool fastAccumulate = false; ///< 8-bit kinds: without promotion of partial sums

  /// Empty on success, else what went wrong. `path` may be empty: the usual names are tried.
  std::string open(const std::string &path);
  std::string prepare(int64_t m, int64_t n, int64_t k, Numbers numbers, void *workspace, uint64_t workspaceBytes,
                      int count);
  int configurations() const { return static_cast<int>(algorithms.size()); }
  std::string run(int configuration, const void *a, const void *b, void *d, void *stream);
  ~CuBlasLt();

private:
  void release();
  void *library = nullptr, *handle = nullptr, *operation = nullptr;
  void *layoutA = nullptr, *layoutB = nullptr, *layoutD = nullptr;
  void *workspace = nullptr;
  uint64_t workspaceBytes = 0;
  struct Algorithm {
    alignas(8) unsigned char bytes[64];
  };
  std::vector<Algorithm> algorithms;
};

} // namespace heddle::bench

#endif // HEDDLE_BENCH_GEMM_CUBLASLT_H
