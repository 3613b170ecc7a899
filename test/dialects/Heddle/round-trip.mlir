// RUN: heddle-opt %s | heddle-opt | FileCheck %s
// RUN: heddle-opt %s --mlir-print-op-generic | heddle-opt | FileCheck %s

// Names of arguments survive, attributes of arguments and results print in place.
// CHECK-LABEL: heddle.kernel @kernel(
// CHECK-SAME: %x: tensor<?x64xbf16> {heddle.dims = ["T", "H"], heddle.layout = strided<[?, 1]>},
// CHECK-SAME: %w: tensor<64x32xbf16>)
// CHECK-SAME: -> (tensor<?x32xbf16> {heddle.layout = strided<[40, 1]>, heddle.name = "y"})
// CHECK-SAME: attributes {schedule = "stages=3"}
heddle.kernel @kernel(%x: tensor<?x64xbf16> {heddle.dims = ["T", "H"], heddle.layout = strided<[?, 1]>},
                      %w: tensor<64x32xbf16>)
    -> (tensor<?x32xbf16> {heddle.name = "y", heddle.layout = strided<[40, 1]>})
    attributes {schedule = "stages=3"} {
  // CHECK: %[[D:.*]] = heddle.gemm %x, %w : (tensor<?x64xbf16>, tensor<64x32xbf16>) -> tensor<?x32xbf16>
  %0 = heddle.gemm %x, %w : (tensor<?x64xbf16>, tensor<64x32xbf16>) -> tensor<?x32xbf16>
  // CHECK: heddle.return %[[D]] : tensor<?x32xbf16>
  heddle.return %0 : tensor<?x32xbf16>
}

// A name that is not the SSA value's prints as an attribute.
// CHECK-LABEL: heddle.kernel @names(
// CHECK-SAME: %weights: tensor<8x8xf16>, %arg1: tensor<8x8xf16>)
heddle.kernel @names(%0: tensor<8x8xf16> {heddle.name = "weights"}, %1: tensor<8x8xf16>) -> tensor<8x8xf16> {
  %2 = heddle.gemm %0, %1 : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16>
  heddle.return %2 : tensor<8x8xf16>
}

// Every clause of a product, and a batch.
// CHECK-LABEL: heddle.kernel @gemm
heddle.kernel @gemm(%a: tensor<?x16x?xf32>, %b: tensor<?x8x16xf32>) -> tensor<?x?x8xf32> {
  // CHECK: heddle.gemm %a, %b transpose_a transpose_b accumulate f32 precision tf32 : (tensor<?x16x?xf32>, tensor<?x8x16xf32>) -> tensor<?x?x8xf32>
  %0 = heddle.gemm %a, %b transpose_a transpose_b accumulate f32 precision tf32
    : (tensor<?x16x?xf32>, tensor<?x8x16xf32>) -> tensor<?x?x8xf32>
  heddle.return %0 : tensor<?x?x8xf32>
}

// Element-wise ops, beside those of arith and math.
// CHECK-LABEL: heddle.kernel @elementwise
heddle.kernel @elementwise(%a: tensor<?x16xf16>, %b: tensor<16x8xf16>, %bias: tensor<8xf32>,
                           %alpha: f32) -> tensor<?x8xf32> {
  %0 = heddle.gemm %a, %b : (tensor<?x16xf16>, tensor<16x8xf16>) -> tensor<?x8xf32>
  // CHECK: heddle.broadcast %bias along [1] : tensor<8xf32> to tensor<?x8xf32>
  %1 = heddle.broadcast %bias along [1] : tensor<8xf32> to tensor<?x8xf32>
  // CHECK: heddle.splat %alpha : tensor<?x8xf32>
  %2 = heddle.splat %alpha : tensor<?x8xf32>
  %3 = math.fma %0, %2, %1 : tensor<?x8xf32>
  // CHECK: heddle.relu %{{.*}} : tensor<?x8xf32>
  %4 = heddle.relu %3 : tensor<?x8xf32>
  // CHECK: heddle.silu %{{.*}} : tensor<?x8xf32>
  %5 = heddle.silu %4 : tensor<?x8xf32>
  // CHECK: heddle.gelu %{{[0-9]*}} : tensor<?x8xf32>
  %6 = heddle.gelu %5 form erf : tensor<?x8xf32>
  // CHECK: heddle.gelu %{{[0-9]*}} form tanh : tensor<?x8xf32>
  %7 = heddle.gelu %6 form tanh : tensor<?x8xf32>
  heddle.return %7 : tensor<?x8xf32>
}

// Scales of 8-bit operands, fine along K; those of b in the other order.
// CHECK-LABEL: heddle.kernel @scales
heddle.kernel @scales(%a: tensor<?x512xf8E4M3FN>, %b: tensor<256x512xf8E5M2>, %s: tensor<?x4xf32>, %t: tensor<4x2xf32>) -> tensor<?x256xf32> {
  // CHECK: heddle.gemm %a, %b transpose_b scale_a %s by [1, 128] scale_b %t by [128, 128] transposed_scale_b : (tensor<?x512xf8E4M3FN>, tensor<256x512xf8E5M2>, tensor<?x4xf32>, tensor<4x2xf32>) -> tensor<?x256xf32>
  %0 = heddle.gemm %a, %b transpose_b scale_a %s by [1, 128] scale_b %t by [128, 128] transposed_scale_b : (tensor<?x512xf8E4M3FN>, tensor<256x512xf8E5M2>, tensor<?x4xf32>, tensor<4x2xf32>) -> tensor<?x256xf32>
  heddle.return %0 : tensor<?x256xf32>
}

// Groups of rows, of K, and in spaces of their own.
// CHECK-LABEL: heddle.kernel @groups_along_m
heddle.kernel @groups_along_m(%a: tensor<?x512xbf16>, %b: tensor<8x256x512xbf16>, %g: tensor<9xi32>) -> tensor<?x256xf32> {
  // CHECK: heddle.gemm %a, %b transpose_b groups %g along_m : (tensor<?x512xbf16>, tensor<8x256x512xbf16>, tensor<9xi32>) -> tensor<?x256xf32>
  %0 = heddle.gemm %a, %b transpose_b groups %g along_m : (tensor<?x512xbf16>, tensor<8x256x512xbf16>, tensor<9xi32>) -> tensor<?x256xf32>
  heddle.return %0 : tensor<?x256xf32>
}

// CHECK-LABEL: heddle.kernel @groups_along_k
heddle.kernel @groups_along_k(%a: tensor<?x512xbf16>, %b: tensor<?x256xbf16>, %g: tensor<8xi32>) -> tensor<8x512x256xf32> {
  // CHECK: heddle.gemm %a, %b transpose_a groups %g along_k aligned 128 : (tensor<?x512xbf16>, tensor<?x256xbf16>, tensor<8xi32>) -> tensor<8x512x256xf32>
  %0 = heddle.gemm %a, %b transpose_a groups %g along_k aligned 128 : (tensor<?x512xbf16>, tensor<?x256xbf16>, tensor<8xi32>) -> tensor<8x512x256xf32>
  heddle.return %0 : tensor<8x512x256xf32>
}

// CHECK-LABEL: heddle.kernel @groups_masked
heddle.kernel @groups_masked(%a: tensor<8x?x512xbf16>, %b: tensor<8x256x512xbf16>, %g: tensor<8xi32>) -> (tensor<8x?x256xf32>, tensor<1xi32>) {
  // CHECK: %[[D:.*]], %[[STATE:.*]] = heddle.gemm %a, %b transpose_b groups %g masked expected 20 : (tensor<8x?x512xbf16>, tensor<8x256x512xbf16>, tensor<8xi32>) -> (tensor<8x?x256xf32>, tensor<1xi32>)
  // CHECK: heddle.return %[[D]], %[[STATE]]
  %0, %1 = heddle.gemm %a, %b transpose_b groups %g masked expected 20 : (tensor<8x?x512xbf16>, tensor<8x256x512xbf16>, tensor<8xi32>) -> (tensor<8x?x256xf32>, tensor<1xi32>)
  heddle.return %0, %1 : tensor<8x?x256xf32>, tensor<1xi32>
}

// CHECK-LABEL: heddle.kernel @gather
heddle.kernel @gather(%a: tensor<?x512xbf16>, %b: tensor<8x256x512xbf16>, %rows: tensor<?xi32>, %g: tensor<9xi32>) -> tensor<?x256xf32> {
  // CHECK: heddle.gemm %a, %b transpose_b gather %rows groups %g along_m : (tensor<?x512xbf16>, tensor<8x256x512xbf16>, tensor<?xi32>, tensor<9xi32>) -> tensor<?x256xf32>
  %0 = heddle.gemm %a, %b transpose_b gather %rows groups %g along_m : (tensor<?x512xbf16>, tensor<8x256x512xbf16>, tensor<?xi32>, tensor<9xi32>) -> tensor<?x256xf32>
  heddle.return %0 : tensor<?x256xf32>
}
