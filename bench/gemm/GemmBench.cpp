//===- GemmBench.cpp - GEMM kernels beside cuBLASLt, interleaved in one run ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each size is timed in rounds: some launches of ours, then as many of the peer's
// best configuration, events around each; medians over the rounds. Inputs are
// normal random numbers and rotate among sets larger together than the L2.
//
//===----------------------------------------------------------------------===//
#include "CuBlasLt.h"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <heddle-rt/heddle.h>
#include <random>
#include <string>
#include <vector>

using heddle::bench::CuBlasLt;

namespace {

void check(heddle_status status, const char *what) {
  if (!status)
    return;
  std::fprintf(stderr, "gemm-bench: %s: %s\n", what, heddle_status_message(status));
  std::exit(1);
}

void check(const std::string &error) {
  if (error.empty())
    return;
  std::fprintf(stderr, "gemm-bench: %s\n", error.c_str());
  std::exit(1);
}

uint16_t toBits(float x, bool bf16) {
  uint32_t u;
  std::memcpy(&u, &x, 4);
  if (bf16)
    return (u + 0x7fff + ((u >> 16) & 1)) >> 16;
  _Float16 h = static_cast<_Float16>(x);
  uint16_t bits;
  std::memcpy(&bits, &h, 2);
  return bits;
}

float fromBits(uint16_t bits, bool bf16) {
  if (bf16) {
    uint32_t u = uint32_t(bits) << 16;
    float x;
    std::memcpy(&x, &u, 4);
    return x;
  }
  _Float16 h;
  std::memcpy(&h, &bits, 2);
  return static_cast<float>(h);
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

struct Bench {
  heddle_device device = nullptr;
  heddle_stream stream = nullptr;
  heddle_event start = nullptr, stop = nullptr;
  CuBlasLt peer;
  void *workspace = nullptr;
  uint64_t workspaceBytes = 64u << 20;
  int rounds = 9, configurations = 8;
  double roundMs = 15;
  bool bf16 = true;

  /// Random numbers once; buffers are filled from it at different offsets.
  std::vector<uint16_t> pool;

  void fill(void *to, int64_t elements, size_t offset) {
    for (int64_t done = 0; done < elements;) {
      size_t from = (offset + done * 7) % (pool.size() / 2);
      int64_t now = std::min<int64_t>(elements - done, pool.size() / 2);
      check(heddle_copy(device, static_cast<uint16_t *>(to) + done, pool.data() + from, now * 2, stream), "copy");
      done += now;
    }
  }

  template <typename F> double time(int launches, F launch) {
    check(heddle_event_record(start, stream), "event");
    for (int i = 0; i < launches; ++i)
      launch(i);
    check(heddle_event_record(stop, stream), "event");
    check(heddle_event_sync(stop), "sync");
    float ms;
    check(heddle_event_elapsed(start, stop, &ms), "elapsed");
    return ms / launches * 1e3;
  }

  void size(heddle_kernel kernel, int64_t m, int64_t n, int64_t k, FILE *json) {
    int64_t bytes = 2 * (m * k + n * k + m * n);
    int sets = static_cast<int>(std::clamp<int64_t>((160 << 20) / bytes + 1, 2, 16));
    std::vector<void *> a(sets), b(sets), ours(sets), theirs(sets);
    for (int s = 0; s < sets; ++s) {
      check(heddle_alloc(device, 2 * m * k, &a[s]), "alloc");
      check(heddle_alloc(device, 2 * n * k, &b[s]), "alloc");
      check(heddle_alloc(device, 2 * m * n, &ours[s]), "alloc");
      check(heddle_alloc(device, 2 * m * n, &theirs[s]), "alloc");
      fill(a[s], m * k, 1 + 1009 * s), fill(b[s], n * k, 500009 + 1013 * s);
      check(heddle_fill(device, ours[s], 0xff, 2 * m * n, stream), "fill");
    }
    heddle_dtype type = bf16 ? HEDDLE_BF16 : HEDDLE_F16;
    int64_t sa[] = {m, k}, sb[] = {n, k}, sd[] = {m, n};
    auto launchOurs = [&](int i) {
      int s = i % sets;
      heddle_arg args[3] = {{HEDDLE_TENSOR, type, a[s], 2, sa, nullptr, 0},
                            {HEDDLE_TENSOR, type, b[s], 2, sb, nullptr, 0},
                            {HEDDLE_TENSOR, type, ours[s], 2, sd, nullptr, 0}};
      heddle_launch_options options{};
      options.stream = stream;
      check(heddle_launch(kernel, args, 3, &options), "launch");
    };
    check(peer.prepare(m, n, k, bf16, workspace, workspaceBytes, configurations));
    auto launchPeer = [&](int c) {
      return [&, c](int i) { check(peer.run(c, a[i % sets], b[i % sets], theirs[i % sets], stream)); };
    };
    // Right before fast.
    launchOurs(0), launchPeer(0)(0);
    check(heddle_device_sync(device), "sync");
    std::vector<uint16_t> x(m * n), y(m * n);
    check(heddle_copy(device, x.data(), ours[0], 2 * m * n, stream), "copy");
    check(heddle_copy(device, y.data(), theirs[0], 2 * m * n, stream), "copy");
    check(heddle_device_sync(device), "sync");
    double difference = 0, norm = 0;
    for (int64_t i = 0; i < m * n; ++i) {
      double p = fromBits(x[i], bf16), q = fromBits(y[i], bf16);
      difference += (p - q) * (p - q), norm += q * q;
    }
    double error = std::sqrt(difference / norm);
    bool right = error < 1e-2;

    double guess = time(3, launchOurs);
    guess = time(3, launchOurs);
    int launches = std::max(3, static_cast<int>(roundMs * 1e3 / guess));
    int best = 0;
    double bestTime = 1e30;
    for (int c = 0; c < peer.configurations(); ++c) {
      time(2, launchPeer(c));
      double t = time(launches, launchPeer(c));
      if (t < bestTime)
        best = c, bestTime = t;
    }
    std::vector<double> mine, first, other;
    for (int r = 0; r < rounds; ++r) {
      mine.push_back(time(launches, launchOurs));
      other.push_back(time(launches, launchPeer(best)));
      if (best)
        first.push_back(time(launches, launchPeer(0)));
    }
    double us = median(mine), peerUs = median(other), firstUs = best ? median(first) : peerUs;
    double spread = (*std::max_element(mine.begin(), mine.end()) - *std::min_element(mine.begin(), mine.end())) / us;
    double tera = 2.0 * m * n * k / 1e6;
    std::printf("%6ld x %6ld x %6ld  ours %9.2f us %6.1f TFLOP/s (spread %4.1f%%)  cuBLASLt best of %d %9.2f us %6.1f, "
                "first %9.2f us  ratio %.3f  error %.1e%s\n",
                long(m), long(n), long(k), us, tera / us, spread * 100, peer.configurations(), peerUs, tera / peerUs,
                firstUs, peerUs / us, error, right ? "" : "  WRONG");
    std::fflush(stdout);
    if (json)
      std::fprintf(json, "{\"m\":%ld,\"n\":%ld,\"k\":%ld,\"us\":%.3f,\"peer_us\":%.3f,\"peer_first_us\":%.3f,\"ratio\":%.4f,\"error\":%.3e}\n",
                   long(m), long(n), long(k), us, peerUs, firstUs, peerUs / us, error);
    for (auto *list : {&a, &b, &ours, &theirs})
      for (void *p : *list)
        check(heddle_free(device, p), "free");
  }
};

} // namespace

int main(int argc, char **argv) {
  CLI::App app{"Times a package's GEMM kernel beside cuBLASLt, interleaved in one run.\n"
               "Example: gemm-bench gemm.hdl --kernel gemm --size 8192x8192x8192 --size 4096x7168x2048"};
  std::string package, kernelName, deviceName = "cuda:0", library, jsonPath, dtype = "bf16";
  std::vector<std::string> sizes;
  Bench bench;
  app.add_option("package", package, "the package (.hdl): D[M,N] = A[M,K] * B[N,K]^T, sizes at run time")->required();
  app.add_option("--kernel", kernelName, "kernel name; default: the first");
  app.add_option("--size", sizes, "MxNxK, repeatable")->required();
  app.add_option("--device", deviceName, "device")->capture_default_str();
  app.add_option("--dtype", dtype, "bf16 or f16")->capture_default_str()->check(CLI::IsMember({"bf16", "f16"}));
  app.add_option("--rounds", bench.rounds, "timed rounds")->capture_default_str();
  app.add_option("--round-ms", bench.roundMs, "milliseconds a round")->capture_default_str();
  app.add_option("--configurations", bench.configurations, "cuBLASLt configurations tried")->capture_default_str();
  app.add_option("--cublaslt", library, "path of libcublasLt");
  app.add_option("--json", jsonPath, "append one line a size to this file");
  CLI11_PARSE(app, argc, argv);
  bench.bf16 = dtype == "bf16";
  check(heddle_device_open(deviceName.c_str(), &bench.device), "device");
  check(heddle_stream_create(bench.device, &bench.stream), "stream");
  check(heddle_event_create(bench.device, &bench.start), "event");
  check(heddle_event_create(bench.device, &bench.stop), "event");
  check(heddle_alloc(bench.device, bench.workspaceBytes, &bench.workspace), "workspace");
  check(bench.peer.open(library));
  heddle_module module;
  check(heddle_module_load_file(bench.device, package.c_str(), &module), "package");
  heddle_kernel kernel;
  check(heddle_module_kernel(module, kernelName.empty() ? heddle_module_kernel_name(module, 0) : kernelName.c_str(), &kernel), "kernel");
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  bench.pool.resize(4'000'037);
  for (uint16_t &x : bench.pool)
    x = toBits(normal(random), bench.bf16);
  FILE *json = jsonPath.empty() ? nullptr : std::fopen(jsonPath.c_str(), "a");
  for (const std::string &s : sizes) {
    long m, n, k;
    if (std::sscanf(s.c_str(), "%ldx%ldx%ld", &m, &n, &k) != 3 || m < 1 || n < 1 || k < 1)
      check("expected a size MxNxK, got " + s);
    bench.size(kernel, m, n, k, json);
  }
  if (json)
    std::fclose(json);
  return 0;
}
