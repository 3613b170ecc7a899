// D = alpha * A * B^T + beta * C, with rows of A, C and D further apart than they are long: slices
// of wider tensors. Strides are elements; `?` is a stride known only at run time.
heddle.kernel @gemm_residual(
    %A: tensor<?x4096xbf16> {heddle.layout = strided<[?, 1]>}, %B: tensor<4096x4096xbf16>,
    %C: tensor<?x4096xbf16> {heddle.layout = strided<[?, 1]>}, %alpha: f32, %beta: f32)
    -> (tensor<?x4096xbf16> {heddle.layout = strided<[?, 1]>}) {
  %0 = heddle.gemm %A, %B transpose_b : (tensor<?x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<?x4096xf32>
  %1 = heddle.splat %alpha : tensor<?x4096xf32>
  %2 = arith.mulf %0, %1 : tensor<?x4096xf32>
  %3 = arith.extf %C : tensor<?x4096xbf16> to tensor<?x4096xf32>
  %4 = heddle.splat %beta : tensor<?x4096xf32>
  %5 = math.fma %3, %4, %2 : tensor<?x4096xf32>
  %6 = arith.truncf %5 : tensor<?x4096xf32> to tensor<?x4096xbf16>
  heddle.return %6 : tensor<?x4096xbf16>
}
