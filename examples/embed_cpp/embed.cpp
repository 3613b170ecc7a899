// Runs a GEMM of a Heddle package from a C++ program.
//
//   heddlec gemm.mlir --arch=sm_80,sm_90a,sm_100a -o gemm.hdl
//   embed_cpp gemm.hdl cuda:0
//
// Returns 0 when the result is right, 1 when it is wrong, 2 when a call failed.
#include <heddle-rt/heddle.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>

namespace {

constexpr int64_t M = 300, N = 200, K = 136;

// bf16 is the upper half of a float. Small integers fit without rounding.
uint16_t toBF16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return uint16_t(bits >> 16);
}

float aAt(int64_t m, int64_t k) { return float((m * 3 + k) % 7 - 3); }
float bAt(int64_t n, int64_t k) { return float((n + k * 5) % 5 - 2); }

int fail(const char *what, const heddle::Status &status) {
  std::fprintf(stderr, "%s: %s\n", what, status.text().c_str());
  return 2;
}

int64_t wrongElements(const std::vector<float> &d) {
  int64_t wrong = 0;
  for (int64_t m = 0; m < M; ++m)
    for (int64_t n = 0; n < N; ++n) {
      float expected = 0;
      for (int64_t k = 0; k < K; ++k)
        expected += aAt(m, k) * bAt(n, k);
      wrong += !(std::abs(d[size_t(m * N + n)] - expected) <= 1e-3f);
    }
  return wrong;
}

int run(const char *package, const char *name) {
  auto device = heddle::Device::open(name);
  if (!device)
    return fail("open the device", device.status());
  auto module = device->loadFile(package);
  if (!module)
    return fail("load the package", module.status());
  auto kernel = module->kernel("gemm");
  if (!kernel)
    return fail("find the kernel", kernel.status());
  auto stream = device->createStream();
  if (!stream)
    return fail("create a stream", stream.status());

  std::vector<uint16_t> a, b;
  for (int64_t m = 0; m < M; ++m)
    for (int64_t k = 0; k < K; ++k)
      a.push_back(toBF16(aAt(m, k)));
  for (int64_t n = 0; n < N; ++n)
    for (int64_t k = 0; k < K; ++k)
      b.push_back(toBF16(bAt(n, k)));
  std::vector<float> d(M * N);

  auto deviceA = device->alloc(a.size() * 2), deviceB = device->alloc(b.size() * 2),
       deviceD = device->alloc(d.size() * 4);
  for (auto *buffer : {&deviceA, &deviceB, &deviceD})
    if (!*buffer)
      return fail("allocate", buffer->status());
  if (auto status = deviceA->upload(a.data(), a.size() * 2, *stream); !status)
    return fail("copy A", status);
  if (auto status = deviceB->upload(b.data(), b.size() * 2, *stream); !status)
    return fail("copy B", status);

  heddle_launch_options options = {};
  options.stream = *stream;
  if (auto status = kernel->launch({heddle::Tensor{HEDDLE_BF16, deviceA->data(), {M, K}, {}},
                                    heddle::Tensor{HEDDLE_BF16, deviceB->data(), {N, K}, {}},
                                    heddle::Tensor{HEDDLE_F32, deviceD->data(), {M, N}, {}}},
                                   options);
      !status)
    return fail("launch", status);
  if (auto status = deviceD->download(d.data(), d.size() * 4, *stream); !status)
    return fail("run the kernel", status);

  int64_t wrong = wrongElements(d);
  std::printf("%lldx%lldx%lld: %s\n", (long long)M, (long long)N, (long long)K,
              wrong ? "wrong" : "right");
  return wrong ? 1 : 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s PACKAGE DEVICE\n", argv[0]);
    return 2;
  }
  return run(argv[1], argv[2]);
}
