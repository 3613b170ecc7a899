/* Runs a GEMM of a Heddle package from a C program.
 *
 *   heddlec gemm.mlir --arch=sm_80,sm_90a,sm_100a -o gemm.hdl
 *   embed_c gemm.hdl cuda:0
 *
 * Returns 0 when the result is right, 1 when it is wrong, 2 when a call failed. */
#include <heddle-rt/heddle.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 300, N = 200, K = 136 };

/* Prints an error and gives 1; 0 when there is none. */
static int failed(heddle_status status, const char *what) {
  if (!status)
    return 0;
  fprintf(stderr, "%s: %s: %s (%s)\n", what, heddle_code_name(heddle_status_code(status)),
          heddle_status_message(status), heddle_status_location(status));
  heddle_status_destroy(status);
  return 1;
}

/* bf16 is the upper half of a float. Small integers fit without rounding. */
static uint16_t to_bf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return (uint16_t)(bits >> 16);
}

static float a_at(int m, int k) { return (float)((m * 3 + k) % 7 - 3); }
static float b_at(int n, int k) { return (float)((n + k * 5) % 5 - 2); }

static heddle_arg matrix(heddle_dtype dtype, void *data, const int64_t *shape) {
  heddle_arg arg = {0};
  arg.kind = HEDDLE_TENSOR;
  arg.dtype = dtype;
  arg.data = data;
  arg.rank = 2;
  arg.shape = shape;
  return arg;
}

static int wrong_elements(const float *d) {
  int wrong = 0;
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n) {
      float expected = 0;
      for (int k = 0; k < K; ++k)
        expected += a_at(m, k) * b_at(n, k);
      if (!(fabsf(d[m * N + n] - expected) <= 1e-3f) && wrong++ == 0)
        fprintf(stderr, "D[%d][%d]: expected %g, got %g\n", m, n, expected, d[m * N + n]);
    }
  return wrong;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s PACKAGE DEVICE\n", argv[0]);
    return 2;
  }
  static uint16_t a[M * K], b[N * K];
  static float d[M * N];
  for (int m = 0; m < M; ++m)
    for (int k = 0; k < K; ++k)
      a[m * K + k] = to_bf16(a_at(m, k));
  for (int n = 0; n < N; ++n)
    for (int k = 0; k < K; ++k)
      b[n * K + k] = to_bf16(b_at(n, k));

  int result = 2;
  heddle_device device = NULL;
  heddle_module module = NULL;
  heddle_kernel kernel = NULL;
  heddle_stream stream = NULL;
  void *device_a = NULL, *device_b = NULL, *device_d = NULL;
  if (failed(heddle_device_open(argv[2], &device), "open the device") ||
      failed(heddle_module_load_file(device, argv[1], &module), "load the package") ||
      failed(heddle_module_kernel(module, "gemm", &kernel), "find the kernel") ||
      failed(heddle_stream_create(device, &stream), "create a stream") ||
      failed(heddle_alloc(device, sizeof(a), &device_a), "allocate A") ||
      failed(heddle_alloc(device, sizeof(b), &device_b), "allocate B") ||
      failed(heddle_alloc(device, sizeof(d), &device_d), "allocate D") ||
      failed(heddle_copy(device, device_a, a, sizeof(a), stream), "copy A") ||
      failed(heddle_copy(device, device_b, b, sizeof(b), stream), "copy B"))
    goto done;

  const int64_t shape_a[] = {M, K}, shape_b[] = {N, K}, shape_d[] = {M, N};
  const heddle_arg args[] = {matrix(HEDDLE_BF16, device_a, shape_a),
                             matrix(HEDDLE_BF16, device_b, shape_b),
                             matrix(HEDDLE_F32, device_d, shape_d)};
  heddle_launch_options options = {0};
  options.stream = stream;
  if (failed(heddle_launch(kernel, args, 3, &options), "launch") ||
      failed(heddle_copy(device, d, device_d, sizeof(d), stream), "copy D") ||
      failed(heddle_stream_sync(device, stream), "run the kernel"))
    goto done;

  result = wrong_elements(d) ? 1 : 0;
  printf("%dx%dx%d: %s\n", M, N, K, result ? "wrong" : "right");

done:
  failed(heddle_free(device, device_a), "free A");
  failed(heddle_free(device, device_b), "free B");
  failed(heddle_free(device, device_d), "free D");
  failed(heddle_stream_destroy(device, stream), "destroy the stream");
  heddle_module_unload(module);
  heddle_device_close(device);
  return result;
}
