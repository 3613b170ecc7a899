// FP8 with one scale a tensor: D = (scale_a * scale_b) * A * B^T. Mixed e4m3 and e5m2 work as well;
// a scale a row or column would be a tensor with heddle.broadcast in place of heddle.splat.
// not for sm_80: its tensor cores do not take FP8
heddle.kernel @gemm_fp8(%A: tensor<?x7168xf8E4M3FN>, %B: tensor<2112x7168xf8E4M3FN>, %scale_a: f32, %scale_b: f32) -> tensor<?x2112xbf16> {
  %0 = heddle.gemm %A, %B transpose_b accumulate f32
    : (tensor<?x7168xf8E4M3FN>, tensor<2112x7168xf8E4M3FN>) -> tensor<?x2112xf32>
  %scale = arith.mulf %scale_a, %scale_b : f32
  %1 = heddle.splat %scale : tensor<?x2112xf32>
  %2 = arith.mulf %0, %1 : tensor<?x2112xf32>
  %3 = arith.truncf %2 : tensor<?x2112xf32> to tensor<?x2112xbf16>
  heddle.return %3 : tensor<?x2112xbf16>
}
