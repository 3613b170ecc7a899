// A scale for each row of A by 128 of K and for each 128 x 128 of B: partial sums leave the tensor
// cores every 128 of K.
heddle.kernel @blocks(%A: tensor<?x512xf8E4M3FN>, %B: tensor<256x512xf8E4M3FN>,
                      %scale_a: tensor<?x4xf32>, %scale_b: tensor<2x4xf32>) -> tensor<?x256xbf16> {
  %0 = heddle.gemm %A, %B transpose_b scale_a %scale_a by [1, 128] scale_b %scale_b by [128, 128] accumulate f32
    : (tensor<?x512xf8E4M3FN>, tensor<256x512xf8E4M3FN>, tensor<?x4xf32>, tensor<2x4xf32>) -> tensor<?x256xf32>
  %1 = arith.truncf %0 : tensor<?x256xf32> to tensor<?x256xbf16>
  heddle.return %1 : tensor<?x256xbf16>
}
