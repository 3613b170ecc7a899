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

std::string CuBlasLt::prepare(int64_t m, int64_t n, int64_t k, bool bf16, void *space, uint64_t bytes, int count) {
  release();
  workspace = space, workspaceBytes = bytes;
  cudaDataType_t type = bf16 ? CUDA_R_16BF : CUDA_R_16F;
  auto *op = reinterpret_cast<cublasLtMatmulDesc_t *>(&operation);
  if (f.descCreate(op, CUBLAS_COMPUTE_32F, CUDA_R_32F) != CUBLAS_STATUS_SUCCESS)
    return "cublasLtMatmulDescCreate failed";
  // Row-major D = A B^T is column-major D^T = B A^T: the first operand is transposed.
  cublasOperation_t transpose = CUBLAS_OP_T, plain = CUBLAS_OP_N;
  f.descSet(*op, CUBLASLT_MATMUL_DESC_TRANSA, &transpose, sizeof transpose);
  f.descSet(*op, CUBLASLT_MATMUL_DESC_TRANSB, &plain, sizeof plain);
  f.layoutCreate(reinterpret_cast<cublasLtMatrixLayout_t *>(&layoutB), type, k, n, k);
  f.layoutCreate(reinterpret_cast<cublasLtMatrixLayout_t *>(&layoutA), type, k, m, k);
  f.layoutCreate(reinterpret_cast<cublasLtMatrixLayout_t *>(&layoutD), type, n, m, n);
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
