heddle.kernel @experts(%a: tensor<?x64xbf16>, %b: tensor<4x32x64xbf16>, %offsets: tensor<5xi32>) -> tensor<?x32xf32> {
  %0 = heddle.gemm %a, %b transpose_b groups %offsets along_m
    : (tensor<?x64xbf16>, tensor<4x32x64xbf16>, tensor<5xi32>) -> tensor<?x32xf32>
  heddle.return %0 : tensor<?x32xf32>
}
