// D = silu(A * B^T + bias), all of it in one kernel: the element-wise work is done on the f32
// sums before they leave the multiprocessor, and rounded once.
heddle.kernel @linear_silu(%A: tensor<?x7168xbf16>, %B: tensor<4096x7168xbf16>,
                           %bias: tensor<4096xf32>) -> tensor<?x4096xbf16> {
  %0 = heddle.gemm %A, %B transpose_b : (tensor<?x7168xbf16>, tensor<4096x7168xbf16>) -> tensor<?x4096xf32>
  %1 = heddle.broadcast %bias along [1] : tensor<4096xf32> to tensor<?x4096xf32>
  %2 = arith.addf %0, %1 : tensor<?x4096xf32>
  %3 = heddle.silu %2 : tensor<?x4096xf32>
  %4 = arith.truncf %3 : tensor<?x4096xf32> to tensor<?x4096xbf16>
  heddle.return %4 : tensor<?x4096xbf16>
}
