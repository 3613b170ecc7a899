// The four layouts of a product, in fp16. `transpose_a` says that A lies in memory as K x M,
// `transpose_b` that B lies as N x K. Every size is known only at run time.

// A: M x K, B: N x K (weights of a linear layer)
heddle.kernel @gemm_nt(%A: tensor<?x?xf16>, %B: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %d = heddle.gemm %A, %B transpose_b : (tensor<?x?xf16>, tensor<?x?xf16>) -> tensor<?x?xf16>
  heddle.return %d : tensor<?x?xf16>
}
// A: M x K, B: K x N (the gradient of the input)
heddle.kernel @gemm_nn(%A: tensor<?x?xf16>, %B: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %d = heddle.gemm %A, %B : (tensor<?x?xf16>, tensor<?x?xf16>) -> tensor<?x?xf16>
  heddle.return %d : tensor<?x?xf16>
}
// A: K x M, B: K x N (the gradient of the weights)
heddle.kernel @gemm_tn(%A: tensor<?x?xf16>, %B: tensor<?x?xf16>) -> tensor<?x?xf32> {
  %d = heddle.gemm %A, %B transpose_a : (tensor<?x?xf16>, tensor<?x?xf16>) -> tensor<?x?xf32>
  heddle.return %d : tensor<?x?xf32>
}
// A: K x M, B: N x K
heddle.kernel @gemm_tt(%A: tensor<?x?xf16>, %B: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %d = heddle.gemm %A, %B transpose_a transpose_b : (tensor<?x?xf16>, tensor<?x?xf16>) -> tensor<?x?xf16>
  heddle.return %d : tensor<?x?xf16>
}
