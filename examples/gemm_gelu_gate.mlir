// A gated layer: D = gelu(A * B^T) * gate, where `gate` is a tensor of D's shape, and small results
// are dropped. Any arith and math operation on tensors of D's shape may follow a product.
heddle.kernel @gemm_gelu_gate(%A: tensor<?x2048xf16>, %B: tensor<8192x2048xf16>,
                              %gate: tensor<?x8192xf16>) -> tensor<?x8192xf16> {
  %0 = heddle.gemm %A, %B transpose_b : (tensor<?x2048xf16>, tensor<8192x2048xf16>) -> tensor<?x8192xf32>
  %1 = heddle.gelu %0 form tanh : tensor<?x8192xf32>
  %2 = arith.extf %gate : tensor<?x8192xf16> to tensor<?x8192xf32>
  %3 = arith.mulf %1, %2 : tensor<?x8192xf32>
  %least = arith.constant 1.0e-4 : f32
  %zero = arith.constant 0.0 : f32
  %4 = heddle.splat %least : tensor<?x8192xf32>
  %5 = heddle.splat %zero : tensor<?x8192xf32>
  %6 = math.absf %3 : tensor<?x8192xf32>
  %7 = arith.cmpf olt, %6, %4 : tensor<?x8192xf32>
  %8 = arith.select %7, %5, %3 : tensor<?x8192xi1>, tensor<?x8192xf32>
  %9 = arith.truncf %8 : tensor<?x8192xf32> to tensor<?x8192xf16>
  heddle.return %9 : tensor<?x8192xf16>
}
