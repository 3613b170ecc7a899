// RUN: heddle-opt %s --convert-heddle-to-warp=target=sm_90a | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: heddle-opt %s --convert-heddle-to-warp=target=sm_80 | FileCheck %s --check-prefixes=CHECK,SM80

// 16-bit operands keep the order they have in memory: A of K x M gives tiles with M contiguous.
// CHECK-LABEL: warp.kernel @tn
// CHECK: warp.pipe "operands" : <smem, {{.*}}, !warp.tile<{{[0-9x]*}}xf16, mn>, !warp.tile<{{[0-9x]*}}xf16, mn>>
// CHECK: warp.copy %arg0[%[[K:.*]], %[[ROW:.*]]] to %{{.*}}#0 transposed
// CHECK: warp.copy %arg1[%[[K]], %[[COL:.*]]] to %{{.*}}#1 transposed
heddle.kernel @tn(%A: tensor<512x256xf16>, %B: tensor<512x1024xf16>) -> tensor<256x1024xf16> {
  %d = heddle.gemm %A, %B transpose_a : (tensor<512x256xf16>, tensor<512x1024xf16>) -> tensor<256x1024xf16>
  heddle.return %d : tensor<256x1024xf16>
}

// 32-bit operands are multiplied with K contiguous only: threads transpose on the way in.
// CHECK-LABEL: warp.kernel @tf32
// CHECK-SAME: tile_k = 32
// CHECK-SAME: copy = threads
// CHECK: warp.pipe "operands" : <smem, {{.*}}, !warp.tile<{{[0-9]*}}x32xf32>, !warp.tile<{{[0-9]*}}x32xf32>>
// CHECK: warp.copy %arg0[%[[ROW:.*]], %[[K:.*]]] to %{{.*}}#0 engine threads
// CHECK: warp.copy %arg1[%[[K]], %[[COL:.*]]] to %{{.*}}#1 transposed engine threads
heddle.kernel @tf32(%A: tensor<256x512xf32>, %B: tensor<512x1024xf32>) -> tensor<256x1024xf32> {
  %d = heddle.gemm %A, %B precision tf32 : (tensor<256x512xf32>, tensor<512x1024xf32>) -> tensor<256x1024xf32>
  heddle.return %d : tensor<256x1024xf32>
}

// A batch index comes first in every offset.
// CHECK-LABEL: warp.kernel @batch
// CHECK-SAME: warp.dims = ["B", "M", "K"]
// CHECK: %[[BATCH:.*]] = memref.dim %arg2, %c0
// CHECK: warp.work_stream(%{{.*}}, %{{.*}}, %[[BATCH]])
// CHECK: warp.stage @load
// CHECK: warp.for_each(%{{.*}}, %{{.*}}, %[[B:.*]]) in
// CHECK: warp.copy %arg0[%[[B]], %{{.*}}, %{{.*}}] to
// CHECK: warp.copy %arg1[%[[B]], %{{.*}}, %{{.*}}] to
heddle.kernel @batch(%A: tensor<?x256x512xbf16>, %B: tensor<?x1024x512xbf16>) -> tensor<?x256x1024xbf16> {
  %d = heddle.gemm %A, %B transpose_b : (tensor<?x256x512xbf16>, tensor<?x1024x512xbf16>) -> tensor<?x256x1024xbf16>
  heddle.return %d : tensor<?x256x1024xbf16>
}

// The engine is what the target has.
// CHECK-LABEL: warp.kernel @engine
// SM90-SAME: copy = bulk
// SM80-SAME: copy = async
// SM80: warp.copy %arg0{{.*}} engine async
heddle.kernel @engine(%A: tensor<256x512xbf16>, %B: tensor<1024x512xbf16>) -> tensor<256x1024xbf16> {
  %d = heddle.gemm %A, %B transpose_b : (tensor<256x512xbf16>, tensor<1024x512xbf16>) -> tensor<256x1024xbf16>
  heddle.return %d : tensor<256x1024xbf16>
}
