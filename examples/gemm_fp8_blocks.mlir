// FP8 with fine-grained scales: one for each row of A by 128 of K, one for each 128 x 128 block of B.
// Partial sums over 128 of K are scaled and added up in f32.
// not for sm_80: its tensor cores do not take FP8
heddle.kernel @gemm_fp8_blocks(%A: tensor<?x7168xf8E4M3FN>, %B: tensor<2112x7168xf8E4M3FN>,
                               %scale_a: tensor<?x56xf32>, %scale_b: tensor<17x56xf32>) -> tensor<?x2112xbf16> {
  %0 = heddle.gemm %A, %B transpose_b scale_a %scale_a by [1, 128] scale_b %scale_b by [128, 128] accumulate f32
    : (tensor<?x7168xf8E4M3FN>, tensor<2112x7168xf8E4M3FN>, tensor<?x56xf32>, tensor<17x56xf32>) -> tensor<?x2112xf32>
  %1 = arith.truncf %0 : tensor<?x2112xf32> to tensor<?x2112xbf16>
  heddle.return %1 : tensor<?x2112xbf16>
}
