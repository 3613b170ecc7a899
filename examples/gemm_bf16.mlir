// D[M,2112] = A[M,7168] * B[2112,7168]^T in bf16, summed in f32. M is known only when the
// kernel runs, so one package serves every batch of tokens.
//
//   heddlec gemm_bf16.mlir --arch=sm_90a -o gemm_bf16.hdl
//   heddle-run gemm_bf16.hdl --size M=4096
heddle.kernel @gemm_bf16(%A: tensor<?x7168xbf16>, %B: tensor<2112x7168xbf16>) -> tensor<?x2112xbf16> {
  %d = heddle.gemm %A, %B transpose_b accumulate f32
    : (tensor<?x7168xbf16>, tensor<2112x7168xbf16>) -> tensor<?x2112xbf16>
  heddle.return %d : tensor<?x2112xbf16>
}
