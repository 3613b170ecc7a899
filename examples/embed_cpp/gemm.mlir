// D[M,N] = A[M,K] * B[N,K]^T, bf16 in, f32 out, every size known only at run time.
heddle.kernel @gemm(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>) -> tensor<?x?xf32> {
  %0 = heddle.gemm %a, %b transpose_b : (tensor<?x?xbf16>, tensor<?x?xbf16>) -> tensor<?x?xf32>
  heddle.return %0 : tensor<?x?xf32>
}
