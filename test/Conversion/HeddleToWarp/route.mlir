// RUN: heddle-opt %s --convert-heddle-to-warp=target=sm_90a | FileCheck %s

// A stage whose warps take a token each; results are arguments after the others.
// CHECK-LABEL: warp.kernel @k(
// CHECK-SAME: memref<?x64xf32, strided<[?, 1]>> {warp.dims = ["T", "E"], warp.name = "scores"}
// CHECK-SAME: memref<64xf32> {warp.dims = ["E"], warp.name = "bias"}
// CHECK-SAME: memref<?x6xi32> {warp.dims = ["T", "top"], warp.name = "ids"}
// CHECK-SAME: memref<?x6xf32> {warp.dims = ["T", "top"], warp.name = "weights"}
// CHECK-SAME: constraints = [{expr = ["T"], kind = "at_least", value = 0 : i64, what = "size T"}
// CHECK-SAME: flops = ["T", 64, "mul"]
// CHECK-SAME: nodes = [{arg = 0 : i64, index_map = array<i64: 0, 1>, op = "route_id", route = {bias = 1 : i64, groups = 4 : i64, keep = 2 : i64, normalise, scale = 1.500000e+00 : f64, sigmoid, top = 6 : i64}}, {arg = 0 : i64, index_map = array<i64: 0, 1>, op = "route_weight"
// CHECK-SAME: outputs = [{arg = 2 : i64, node = 0 : i64}, {arg = 3 : i64, node = 1 : i64}]
// CHECK-SAME: symbols = ["T", "scores.stride0"]
// CHECK: %[[TILES:.*]] = arith.ceildivui
// CHECK: %[[S:.*]] = warp.work_stream(%[[TILES]], %{{.*}}, %{{.*}}) raster 1
// CHECK: warp.stage @route warps 4 {
// CHECK: warp.for_each(%[[I:.*]], %{{.*}}, %{{.*}}) in %[[S]] {
// CHECK: %[[ROW:.*]] = arith.muli %[[I]],
// CHECK: warp.route %{{.*}}[%[[ROW]]] bias %{{.*}} to %{{.*}}, %{{.*}} top 6 groups 4 keep 2 sigmoid normalise scale 1.500000e+00
heddle.kernel @k(%scores: tensor<?x64xf32> {heddle.layout = strided<[?, 1]>}, %bias: tensor<64xf32>)
    -> (tensor<?x6xi32> {heddle.name = "ids"}, tensor<?x6xf32> {heddle.name = "weights"}) {
  %ids, %weights = heddle.route %scores bias %bias top 6 groups 4 keep 2 by sigmoid normalise scale 1.5
    : (tensor<?x64xf32>, tensor<64xf32>) -> (tensor<?x6xi32>, tensor<?x6xf32>)
  heddle.return %ids, %weights : tensor<?x6xi32>, tensor<?x6xf32>
}
