// RUN: heddle-opt %s --convert-heddle-to-warp='target=sm_90a schedule="store=direct,store_stages=0"' --split-input-file | FileCheck %s

// Everything after the product happens on one f32 element at a time: the bias is read at the
// column, scalars and constants are used as they are, one rounding at the end.
// CHECK-LABEL: warp.kernel @bias_scale
// CHECK: warp.store
// CHECK: ^bb0(%[[X:.*]]: f32, %[[I:.*]]: index, %[[J:.*]]: index):
// CHECK: %[[SCALED:.*]] = arith.mulf %[[X]], %arg3 : f32
// CHECK: %[[BIAS:.*]] = warp.read %arg2[%[[J]]] : memref<64xf32>
// CHECK: %[[SUM:.*]] = arith.addf %[[SCALED]], %[[BIAS]] : f32
// CHECK: %[[ZERO:.*]] = arith.constant 0.0
// CHECK: %[[RELU:.*]] = arith.maximumf %[[SUM]], %[[ZERO]] : f32
// CHECK: %[[OUT:.*]] = arith.truncf %[[RELU]] : f32 to bf16
// CHECK: warp.yield %[[OUT]] : bf16
heddle.kernel @bias_scale(%A: tensor<?x64xbf16>, %B: tensor<64x64xbf16>, %bias: tensor<64xf32>, %alpha: f32) -> tensor<?x64xbf16> {
  %0 = heddle.gemm %A, %B transpose_b : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xf32>
  %1 = heddle.splat %alpha : tensor<?x64xf32>
  %2 = arith.mulf %0, %1 : tensor<?x64xf32>
  %3 = heddle.broadcast %bias along [1] : tensor<64xf32> to tensor<?x64xf32>
  %4 = arith.addf %2, %3 : tensor<?x64xf32>
  %5 = heddle.relu %4 : tensor<?x64xf32>
  %6 = arith.truncf %5 : tensor<?x64xf32> to tensor<?x64xbf16>
  heddle.return %6 : tensor<?x64xbf16>
}

// -----

// A residual is read at the element; in a batch its first index is that of the product. A column
// vector is read at the row.
// CHECK-LABEL: warp.kernel @residual
// CHECK: warp.for_each(%{{.*}}, %{{.*}}, %[[B:.*]]) in
// CHECK: warp.store
// CHECK: ^bb0(%[[X:.*]]: f32, %[[I:.*]]: index, %[[J:.*]]: index):
// CHECK: %[[C:.*]] = warp.read %arg2[%{{.*}}, %[[I]], %[[J]]] : memref<?x32x64xf16>
// CHECK: %[[CF:.*]] = arith.extf %[[C]] : f16 to f32
// CHECK: arith.addf %[[X]], %[[CF]]
// CHECK: warp.read %arg3[%[[I]]] : memref<32xf32>
heddle.kernel @residual(%A: tensor<?x32x64xf16>, %B: tensor<?x64x64xf16>, %C: tensor<?x32x64xf16>, %rows: tensor<32xf32>) -> tensor<?x32x64xf32> {
  %0 = heddle.gemm %A, %B transpose_b : (tensor<?x32x64xf16>, tensor<?x64x64xf16>) -> tensor<?x32x64xf32>
  %1 = arith.extf %C : tensor<?x32x64xf16> to tensor<?x32x64xf32>
  %2 = arith.addf %0, %1 : tensor<?x32x64xf32>
  %3 = heddle.broadcast %rows along [1] : tensor<32xf32> to tensor<?x32x64xf32>
  %4 = arith.mulf %2, %3 : tensor<?x32x64xf32>
  heddle.return %4 : tensor<?x32x64xf32>
}

// -----

// Narrow arithmetic is f32 arithmetic, rounded after each operation.
// CHECK-LABEL: warp.kernel @narrow
// CHECK: ^bb0(%[[X:.*]]: f32, %{{.*}}: index, %{{.*}}: index):
// CHECK: %[[N:.*]] = arith.truncf %[[X]] : f32 to bf16
// CHECK: %[[W:.*]] = arith.extf %[[N]] : bf16 to f32
// CHECK: %[[S:.*]] = arith.addf %[[W]], %[[W]] : f32
// CHECK: %[[OUT:.*]] = arith.truncf %[[S]] : f32 to bf16
// CHECK: warp.yield %[[OUT]] : bf16
heddle.kernel @narrow(%A: tensor<?x64xbf16>, %B: tensor<64x64xbf16>) -> tensor<?x64xbf16> {
  %0 = heddle.gemm %A, %B transpose_b : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16>
  %1 = arith.addf %0, %0 : tensor<?x64xbf16>
  heddle.return %1 : tensor<?x64xbf16>
}

// -----

// Activations, comparisons and choices.
// CHECK-LABEL: warp.kernel @activations
// CHECK: ^bb0(%[[X:.*]]: f32, %{{.*}}: index, %{{.*}}: index):
// CHECK: %[[NEG:.*]] = arith.negf %[[X]]
// CHECK: %[[E:.*]] = math.exp %[[NEG]]
// CHECK: %[[DEN:.*]] = arith.addf %[[E]], %{{.*}}
// CHECK: %[[SILU:.*]] = arith.divf %[[X]], %[[DEN]] fastmath<afn>
// CHECK: %[[ERF:.*]] = math.erf
// CHECK: %[[HALF:.*]] = arith.mulf %[[SILU]], %{{.*}}
// CHECK: %[[GELU:.*]] = math.fma %[[HALF]], %[[ERF]], %[[HALF]]
// CHECK: %[[LESS:.*]] = arith.cmpf olt, %[[GELU]], %[[X]]
// CHECK: arith.select %[[LESS]], %[[GELU]], %[[X]]
heddle.kernel @activations(%A: tensor<?x64xbf16>, %B: tensor<64x64xbf16>) -> tensor<?x64xf32> {
  %0 = heddle.gemm %A, %B transpose_b : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xf32>
  %1 = heddle.silu %0 : tensor<?x64xf32>
  %2 = heddle.gelu %1 : tensor<?x64xf32>
  %3 = arith.cmpf olt, %2, %0 : tensor<?x64xf32>
  %4 = arith.select %3, %2, %0 : tensor<?x64xi1>, tensor<?x64xf32>
  heddle.return %4 : tensor<?x64xf32>
}
