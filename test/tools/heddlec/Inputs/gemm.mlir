heddle.kernel @gemm(%a: tensor<512x512xbf16>, %b: tensor<512x512xbf16>) -> tensor<512x512xbf16> {
  %0 = heddle.gemm %a, %b transpose_b : (tensor<512x512xbf16>, tensor<512x512xbf16>) -> tensor<512x512xf32>
  %1 = arith.truncf %0 : tensor<512x512xf32> to tensor<512x512xbf16>
  heddle.return %1 : tensor<512x512xbf16>
}
