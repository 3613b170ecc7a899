heddle.kernel @gemm(%A: tensor<?x64xbf16>, %B: tensor<64x64xbf16>) -> tensor<?x64xbf16> {
  %d = heddle.gemm %A, %B transpose_b accumulate f32
    : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16>
  heddle.return %d : tensor<?x64xbf16>
}
