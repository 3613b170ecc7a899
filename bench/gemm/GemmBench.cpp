//===- GemmBench.cpp - GEMM kernels beside cuBLASLt, interleaved in one run ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each size is timed in rounds: some launches of ours, then as many of the peer's
// best configuration, events around each; medians over the rounds. Inputs are
// normal random numbers and rotate among sets larger together than the L2. Scales of
// 8-bit operands are of one value: the peer keeps those of blocks in an order of its own.
// Kernels with block scales meet two peers: with one scale a tensor, and with blocks.
//
//===----------------------------------------------------------------------===//
#include "CuBlasLt.h"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <heddle-rt/heddle.h>
#include <heddle/Package/Numeric.h>
#include <random>
#include <sstream>
#include <string>
#include <vector>

using heddle::bench::CuBlasLt;
using heddle::bench::Numbers;

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

constexpr float scaleOfA = 0.5f, scaleOfB = 0.25f;

uint16_t toBits(float x, Numbers numbers) {
  if (numbers == Numbers::Fp8 || numbers == Numbers::Fp8Blocks)
    return heddle::pkg::toF8E4M3(x);
  bool bf16 = numbers == Numbers::BF16;
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
  bool inOrder = false;
  std::vector<double> ratios; ///< of the sizes so far
  double roundMs = 15;
  Numbers numbers = Numbers::BF16;
  bool transposedScaleA = false;
  void *scaleA = nullptr, *scaleB = nullptr; ///< for the peer: one value, often enough
  bool bytes() const { return numbers == Numbers::Fp8 || numbers == Numbers::Fp8Blocks; }
  int64_t elementBytes() const { return bytes() ? 1 : 2; }

  /// Random numbers once; buffers are filled from it at different offsets.
  std::vector<uint8_t> pool;

  void fill(void *to, int64_t elements, size_t offset) {
    int64_t size = elementBytes(), numbersInPool = pool.size() / size;
    for (int64_t done = 0; done < elements;) {
      size_t from = (offset + done * 7) % (numbersInPool / 2);
      int64_t now = std::min<int64_t>(elements - done, numbersInPool / 2);
      check(heddle_copy(device, static_cast<uint8_t *>(to) + done * size, pool.data() + from * size, now * size, stream),
            "copy");
      done += now;
    }
  }

  void fillPool() {
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    for (int i = 0; i < 4'000'037; ++i) {
      uint16_t bits = toBits(normal(random), numbers);
      pool.insert(pool.end(), {static_cast<uint8_t>(bits)});
      if (!bytes())
        pool.push_back(bits >> 8);
    }
  }

  void *constant(int64_t count, float value) {
    std::vector<float> values(count, value);
    void *to;
    check(heddle_alloc(device, 4 * count, &to), "alloc");
    check(heddle_copy(device, to, values.data(), 4 * count, stream), "copy");
    check(heddle_device_sync(device), "sync");
    return to;
  }

  /// Prepares the peer; empty on success.
  std::string preparePeer(Numbers as, int64_t m, int64_t n, int64_t k) {
    peer.scaleA = scaleA, peer.scaleB = scaleB;
    return peer.prepare(m, n, k, as, workspace, workspaceBytes, configurations);
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
    int64_t in = elementBytes(), total = in * (m * k + n * k) + 2 * m * n;
    int sets = static_cast<int>(std::clamp<int64_t>((160 << 20) / total + 1, 2, 16));
    std::vector<void *> a(sets), b(sets), ours(sets), theirs(sets);
    for (int s = 0; s < sets; ++s) {
      check(heddle_alloc(device, in * m * k, &a[s]), "alloc");
      check(heddle_alloc(device, in * n * k, &b[s]), "alloc");
      check(heddle_alloc(device, 2 * m * n, &ours[s]), "alloc");
      check(heddle_alloc(device, 2 * m * n, &theirs[s]), "alloc");
      fill(a[s], m * k, 1 + 1009 * s), fill(b[s], n * k, 500009 + 1013 * s);
      check(heddle_fill(device, ours[s], 0xff, 2 * m * n, stream), "fill");
    }
    bool bf16 = numbers != Numbers::F16;
    heddle_dtype type = bf16 ? HEDDLE_BF16 : HEDDLE_F16, operand = bytes() ? HEDDLE_F8E4M3 : type;
    int64_t sa[] = {m, k}, sb[] = {n, k}, sd[] = {m, n};
    int64_t kBlocks = (k + 127) / 128, nBlocks = (n + 127) / 128;
    int64_t blocksA[] = {m, kBlocks}, blocksB[] = {nBlocks, kBlocks};
    if (transposedScaleA)
      std::swap(blocksA[0], blocksA[1]);
    // Rows rounded up as the peer wants them.
    int64_t paddedK = (kBlocks + 3) / 4 * 4;
    scaleA = bytes() ? constant((m + 3) / 4 * 4 * paddedK, scaleOfA) : nullptr;
    scaleB = bytes() ? constant((nBlocks + 3) / 4 * 4 * paddedK, scaleOfB) : nullptr;
    auto launchOurs = [&](int i) {
      int s = i % sets;
      std::vector<heddle_arg> args = {{HEDDLE_TENSOR, operand, a[s], 2, sa, nullptr, 0},
                                      {HEDDLE_TENSOR, operand, b[s], 2, sb, nullptr, 0}};
      if (numbers == Numbers::Fp8Blocks) {
        args.push_back({HEDDLE_TENSOR, HEDDLE_F32, scaleA, 2, blocksA, nullptr, 0});
        args.push_back({HEDDLE_TENSOR, HEDDLE_F32, scaleB, 2, blocksB, nullptr, 0});
      } else if (numbers == Numbers::Fp8) {
        args.push_back({HEDDLE_SCALAR, HEDDLE_F32, nullptr, 0, nullptr, nullptr, scaleOfA});
        args.push_back({HEDDLE_SCALAR, HEDDLE_F32, nullptr, 0, nullptr, nullptr, scaleOfB});
      }
      args.push_back({HEDDLE_TENSOR, type, ours[s], 2, sd, nullptr, 0});
      heddle_launch_options options{};
      options.stream = stream;
      options.in_order = inOrder;
      check(heddle_launch(kernel, args.data(), args.size(), &options), "launch");
    };
    check(preparePeer(numbers == Numbers::Fp8Blocks ? Numbers::Fp8 : numbers, m, n, k));
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
    // The peer's block scales in the same run, where it has them.
    double blocksUs = 0;
    std::string blocks = numbers == Numbers::Fp8Blocks ? preparePeer(Numbers::Fp8Blocks, m, n, k) : "";
    if (numbers == Numbers::Fp8Blocks && blocks.empty()) {
      blocksUs = 1e30;
      for (int c = 0; c < peer.configurations(); ++c) {
        time(2, launchPeer(c));
        std::vector<double> times;
        for (int r = 0; r < rounds; ++r)
          times.push_back(time(launches, launchPeer(c)));
        blocksUs = std::min(blocksUs, median(times));
      }
    }
    double us = median(mine), peerUs = median(other), firstUs = best ? median(first) : peerUs;
    double spread = (*std::max_element(mine.begin(), mine.end()) - *std::min_element(mine.begin(), mine.end())) / us;
    double tera = 2.0 * m * n * k / 1e6;
    ratios.push_back(peerUs / us);
    std::printf("%6ld x %6ld x %6ld  ours %9.2f us %6.1f TFLOP/s (spread %4.1f%%)  cuBLASLt best of %d %9.2f us %6.1f, "
                "first %9.2f us  ratio %.3f  error %.1e%s\n",
                long(m), long(n), long(k), us, tera / us, spread * 100, peer.configurations(), peerUs, tera / peerUs,
                firstUs, peerUs / us, error, right ? "" : "  WRONG");
    if (blocksUs)
      std::printf("%28s cuBLASLt with block scales %9.2f us %6.1f  ratio %.3f\n", "", blocksUs, tera / blocksUs,
                  blocksUs / us);
    else if (!blocks.empty())
      std::printf("%28s cuBLASLt with block scales: %s\n", "", blocks.c_str());
    std::fflush(stdout);
    if (json)
      std::fprintf(json, "{\"m\":%ld,\"n\":%ld,\"k\":%ld,\"us\":%.3f,\"peer_us\":%.3f,\"peer_first_us\":%.3f,\"ratio\":%.4f,\"peer_blocks_us\":%.3f,\"error\":%.3e}\n",
                   long(m), long(n), long(k), us, peerUs, firstUs, peerUs / us, blocksUs, error);
    for (void *p : {scaleA, scaleB})
      if (p)
        check(heddle_free(device, p), "free");
    for (auto *list : {&a, &b, &ours, &theirs})
      for (void *p : *list)
        check(heddle_free(device, p), "free");
  }
};

/// Sizes of a file, one a line; what follows a # is a remark.
std::vector<std::string> readSizes(const std::string &path) {
  std::ifstream file(path);
  if (!file)
    check("cannot read " + path);
  std::vector<std::string> sizes;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    for (std::string word; words >> word;)
      sizes.push_back(word);
  }
  return sizes;
}

/// What the kernels KERNEL_MxNxK of a package are for.
std::vector<std::string> sizesOfKernels(heddle_module module, const std::string &kernel) {
  std::vector<std::string> sizes;
  for (size_t i = 0; i < heddle_module_kernel_count(module); ++i) {
    std::string name = heddle_module_kernel_name(module, i);
    size_t end = name.rfind('_');
    long m, n, k;
    if (end != std::string::npos && (kernel.empty() || name.substr(0, end) == kernel) &&
        std::sscanf(name.c_str() + end + 1, "%ldx%ldx%ld", &m, &n, &k) == 3)
      sizes.push_back(name.substr(end + 1));
  }
  return sizes;
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app{"Times a package's GEMM kernel beside cuBLASLt, interleaved in one run.\n"
               "Example: gemm-bench gemm.hdl --kernel gemm --size 8192x8192x8192 --size 4096x7168x2048"};
  std::string package, kernelName, deviceName = "cuda:0", library, jsonPath, sizesPath;
  std::string dtype = "bf16";
  std::vector<std::string> sizes;
  Bench bench;
  app.add_option("package", package, "the package (.hdl): D[M,N] = A[M,K] * B[N,K]^T. With --dtype fp8 the kernel's arguments are A, B, "
                 "scale_a, scale_b (f32 scalars), with fp8-blocks A, B, scale_a[M, K/128], scale_b[N/128, K/128]")->required();
  app.add_option("--kernel", kernelName, "kernel name, or what stands before _MxNxK in it; default: the first kernel");
  app.add_option("--size", sizes, "MxNxK, repeatable; default: those in the names of the package's kernels");
  app.add_option("--sizes", sizesPath, "a file of sizes, one a line");
  app.add_flag("--in-order", bench.inOrder, "ours begin only when the launch before is over");
  app.add_option("--device", deviceName, "device")->capture_default_str();
  app.add_option("--dtype", dtype, "what is multiplied")->capture_default_str()->check(CLI::IsMember({"bf16", "f16", "fp8", "fp8-blocks"}));
  app.add_flag("--fast-accumulate", bench.peer.fastAccumulate, "fp8: the peer may keep short sums for all of K");
  app.add_flag("--transposed-scale-a", bench.transposedScaleA, "fp8-blocks: scale_a is [K/128, M]");
  app.add_option("--rounds", bench.rounds, "timed rounds")->capture_default_str();
  app.add_option("--round-ms", bench.roundMs, "milliseconds a round")->capture_default_str();
  app.add_option("--configurations", bench.configurations, "cuBLASLt configurations tried")->capture_default_str();
  app.add_option("--cublaslt", library, "path of libcublasLt");
  app.add_option("--json", jsonPath, "append one line a size to this file");
  CLI11_PARSE(app, argc, argv);
  bench.numbers = dtype == "bf16" ? Numbers::BF16 : dtype == "f16" ? Numbers::F16 : dtype == "fp8" ? Numbers::Fp8 : Numbers::Fp8Blocks;
  check(heddle_device_open(deviceName.c_str(), &bench.device), "device");
  check(heddle_stream_create(bench.device, &bench.stream), "stream");
  check(heddle_event_create(bench.device, &bench.start), "event");
  check(heddle_event_create(bench.device, &bench.stop), "event");
  check(heddle_alloc(bench.device, bench.workspaceBytes, &bench.workspace), "workspace");
  check(bench.peer.open(library));
  heddle_module module;
  check(heddle_module_load_file(bench.device, package.c_str(), &module), "package");
  auto kernelFor = [&](const std::string &size) {
    std::string name = kernelName.empty() ? heddle_module_kernel_name(module, 0) : kernelName;
    heddle_kernel kernel;
    heddle_status status = heddle_module_kernel(module, (name + "_" + size).c_str(), &kernel);
    if (status)
      check(heddle_module_kernel(module, name.c_str(), &kernel), "kernel");
    return kernel;
  };
  if (!sizesPath.empty())
    for (std::string &s : readSizes(sizesPath))
      sizes.push_back(std::move(s));
  if (sizes.empty())
    sizes = sizesOfKernels(module, kernelName);
  if (sizes.empty())
    check("expected --size, --sizes or kernels named NAME_MxNxK, got none");
  if (kernelName.empty())
    if (std::string name = heddle_module_kernel_name(module, 0); name.ends_with("_" + sizes[0]))
      kernelName = name.substr(0, name.size() - sizes[0].size() - 1);
  bench.fillPool();
  FILE *json = jsonPath.empty() ? nullptr : std::fopen(jsonPath.c_str(), "a");
  for (const std::string &s : sizes) {
    long m, n, k;
    if (std::sscanf(s.c_str(), "%ldx%ldx%ld", &m, &n, &k) != 3 || m < 1 || n < 1 || k < 1)
      check("expected a size MxNxK, got " + s);
    bench.size(kernelFor(s), m, n, k, json);
  }
  double logs = 0;
  for (double ratio : bench.ratios)
    logs += std::log(ratio);
  std::printf("geometric mean of %zu ratios %.3f, least %.3f\n", bench.ratios.size(),
              std::exp(logs / double(bench.ratios.size())),
              *std::min_element(bench.ratios.begin(), bench.ratios.end()));
  if (json)
    std::fclose(json);
  return 0;
}
