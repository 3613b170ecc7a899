//===- CuBlasLt.cpp - the peer, opened at run time ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CuBlasLt.h"
#include <cstring>
#include <cublasLt.h>
#include <dlfcn.h>

using namespace heddle::bench;

namespace {
struct Functions {
  decltype(&cublasLtCreate) create;
  decltype(&cublasLtDestroy) destroy;
  decltype(&cublasLtMatmulDescCreate) descCreate;
  decltype(&cublasLtMatmulDescDestroy) descDestroy;
  decltype(&cublasLtMatmulDescSetAttribute) descSet;
  decltype(&cublasLtMatrixLayoutCreate) layoutCreate;
  decltype(&cublasLtMatrixLayoutDestroy) layoutDestroy;
  decltype(&cublasLtMatmulPreferenceCreate) preferenceCreate;
  decltype(&cublasLtMatmulPreferenceDestroy) preferenceDestroy;
  decltype(&cublasLtMatmulPreferenceSetAttribute) preferenceSet;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic;
  decltype(&cublasLtMatmul) matmul;
} f;

template <typename T> bool find(void *library, const char *name, T &out) {
  out = reinterpret_cast<T>(dlsym(library, name));
  return out != nullptr;
}
} // namespace

static_assert(sizeof(cublasLtMatmulAlgo_t) <= 64);

std::string CuBlasLt::open(const std::string &path) {
  const char *names[] = {path.c_str(), "libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"};
  for (const char *name : names)
    if (!library && *name)
      library = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
  if (!library)
    return "libcublasLt cannot be opened: give its path with --cublaslt";
  bool all = find(library, "cublasLtCreate", f.create) && find(library, "cublasLtDestroy", f.destroy) &&
             find(library, "cublasLtMatmulDescCreate", f.descCreate) &&
             find(library, "cublasLtMatmulDescDestroy", f.descDestroy) &&
             find(library, "cublasLtMatmulDescSetAttribute", f.descSet) &&
             find(library, "cublasLtMatrixLayoutCreate", f.layoutCreate) &&
             find(library, "cublasLtMatrixLayoutDestroy", f.layoutDestroy) &&
             find(library, "cublasLtMatmulPreferenceCreate", f.preferenceCreate) &&
             find(library, "cublasLtMatmulPreferenceDestroy", f.preferenceDestroy) &&
             find(library, "cublasLtMatmulPreferenceSetAttribute", f.preferenceSet) &&
             find(library, "cublasLtMatmulAlgoGetHeuristic", f.heuristic) &&
             find(library, "cublasLtMatmul", f.matmul);
  if (!all)
    return "libcublasLt lacks a function that is needed";
  if (f.create(reinterpret_cast<cublasLtHandle_t *>(&handle)) != CUBLAS_STATUS_SUCCESS)
    return "cublasLtCreate failed";
  return "";
}

std::string CuBlasLt::prepare(int64_t m, int64_t n, int64_t k, Numbers numbers, void *space, uint64_t bytes, int count) {
  release();
  workspace = space, workspaceBytes = bytes;
  bool eight = numbers == Numbers::Fp8 || numbers == Numbers::Fp8Blocks;
  cudaDataType_t type = eight ? CUDA_R_8F_E4M3 : numbers == Numbers::BF16 ? CUDA_R_16BF : CUDA_R_16F;
  cudaDataType_t result = eight ? CUDA_R_16BF : type;
  auto *op = reinterpret_cast<cublasLtMatmulDesc_t *>(&operation);
  if (f.descCreate(op, CUBLAS_COMPUTE_32F, CUDA_R_32F) != CUBLAS_STATUS_SUCCESS)
    return "cublasLtMatmulDescCreate failed";
  // Row-major D = A B^T is column-major D^T = B A^T: the first operand is transposed.
  cublasOperation_t transpose = CUBLAS_OP_T, plain = CUBLAS_OP_N;
  f.descSet(*op, CUBLASLT_MATMUL_DESC_TRANSA, &transpose, sizeof transpose);
  f.descSet(*op, CUBLASLT_MATMUL_DESC_TRANSB, &plain, sizeof plain);
  if (eight) {
    // The peer's first operand is our B.
    f.descSet(*op, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &scaleB, sizeof scaleB);
    f.descSet(*op, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, &scaleA, sizeof scaleA);
    int8_t fast = fastAccumulate;
    f.descSet(*op, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof fast);
  }
#if CUBLAS_VERSION >= 120900
  if (numbers == Numbers::Fp8Blocks) {
    int32_t first = CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F, second = CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F;
    if (f.descSet(*op, CUBLASLT_MATMUL_DESC_A_SCALE_MODE, &first, sizeof first) != CUBLAS_STATUS_SUCCESS ||
        f.descSet(*op, CUBLASLT_MATMUL_DESC_B_SCALE_MODE, &second, sizeof second) != CUBLAS_STATUS_SUCCESS)
      return "this cuBLASLt has no block scales";
  }
#else
  if (numbers == Numbers::Fp8Blocks)
    return "built with a cuBLASLt without block scales";
#endif
  f.layoutCreate(reinterpret_cast<cublasLtMatrixLayout_t *>(&layoutB), type, k, n, k);
  f.layoutCreate(reinterpret_cast<cublasLtMatrixLayout_t *>(&layoutA), type, k, m, k);
  f.layoutCreate(reinterpret_cast<cublasLtMatrixLayout_t *>(&layoutD), result, n, m, n);
  cublasLtMatmulPreference_t preference;
  f.preferenceCreate(&preference);
  f.preferenceSet(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes);
  std::vector<cublasLtMatmulHeuristicResult_t> results(count);
  int found = 0;
  auto layout = [](void *p) { return static_cast<cublasLtMatrixLayout_t>(p); };
  cublasStatus_t status = f.heuristic(static_cast<cublasLtHandle_t>(handle), *op, layout(layoutB), layout(layoutA),
                                      layout(layoutD), layout(layoutD), preference, count, results.data(), &found);
  f.preferenceDestroy(preference);
  if (status != CUBLAS_STATUS_SUCCESS || !found)
    return "cuBLASLt knows no configuration for this product";
  for (int i = 0; i < found; ++i) {
    Algorithm a{};
    std::memcpy(a.bytes, &results[i].algo, sizeof results[i].algo);
    algorithms.push_back(a);
  }
  return "";
}

std::string CuBlasLt::run(int configuration, const void *a, const void *b, void *d, void *stream) {
  float one = 1, zero = 0;
  auto layout = [](void *p) { return static_cast<cublasLtMatrixLayout_t>(p); };
  cublasStatus_t status = f.matmul(
      static_cast<cublasLtHandle_t>(handle), static_cast<cublasLtMatmulDesc_t>(operation), &one, b, layout(layoutB), a,
      layout(layoutA), &zero, d, layout(layoutD), d, layout(layoutD),
      reinterpret_cast<const cublasLtMatmulAlgo_t *>(algorithms[configuration].bytes), workspace, workspaceBytes,
      static_cast<cudaStream_t>(stream));
  return status == CUBLAS_STATUS_SUCCESS ? "" : "cublasLtMatmul failed with status " + std::to_string(status);
}

void CuBlasLt::release() {
  algorithms.clear();
  if (operation)
    f.descDestroy(static_cast<cublasLtMatmulDesc_t>(operation));
  for (void **layout : {&layoutA, &layoutB, &layoutD}) {
    if (*layout)
      f.layoutDestroy(static_cast<cublasLtMatrixLayout_t>(*layout));
    *layout = nullptr;
  }
  operation = nullptr;
}

CuBlasLt::~CuBlasLt() {
  if (!library)
    return;
  if (handle) {
    release();
    f.destroy(static_cast<cublasLtHandle_t>(handle));
  }
  dlclose(library);
}
