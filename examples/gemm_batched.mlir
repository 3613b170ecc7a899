// A batch of products, as in attention: scores[b] = scale * Q[b] * K[b]^T. The number of products
// and the lengths are known only at run time, the head size is 128.
heddle.kernel @scores(%Q: tensor<?x?x128xbf16>, %K: tensor<?x?x128xbf16>, %scale: f32)
    -> (tensor<?x?x?xf32> {heddle.name = "S"}) {
  %0 = heddle.gemm %Q, %K transpose_b : (tensor<?x?x128xbf16>, tensor<?x?x128xbf16>) -> tensor<?x?x?xf32>
  %1 = heddle.splat %scale : tensor<?x?x?xf32>
  %2 = arith.mulf %0, %1 : tensor<?x?x?xf32>
  heddle.return %2 : tensor<?x?x?xf32>
}
