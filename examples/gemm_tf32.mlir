// f32 in, f32 out, multiplied in TF32: 10 bits of mantissa, the range of f32. The spec says so,
// since it loses bits.
heddle.kernel @gemm_tf32(%A: tensor<?x4096xf32>, %B: tensor<2048x4096xf32>) -> tensor<?x2048xf32> {
  %d = heddle.gemm %A, %B transpose_b precision tf32
    : (tensor<?x4096xf32>, tensor<2048x4096xf32>) -> tensor<?x2048xf32>
  heddle.return %d : tensor<?x2048xf32>
}
