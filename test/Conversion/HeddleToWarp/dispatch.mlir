// RUN: heddle-opt %s --convert-heddle-to-warp=target=sm_90a | FileCheck %s
// RUN: heddle-opt %s --convert-heddle-to-warp=target=sm_80 | FileCheck %s --check-prefix=THREADS

// A piece is a row. Each rank's slot for a token is its own, so that nothing is counted first.
// CHECK-LABEL: warp.kernel @there(
// CHECK-SAME: memref<?x?x64xbf16> {warp.dims = ["world", "T", "H"], warp.name = "rows", warp.symmetric}
// CHECK-SAME: comm_schedule = #warp.comm_schedule<ctas = 16, warps = 8, chunk = 128, stages = 16, keep = normal>
// CHECK-SAME: heddle.variant = "bulk"
// CHECK: warp.peer_pipe "recv" push over
// CHECK: warp.peer_pipe "meta" push over
// CHECK: warp.pipe "pieces" : <smem, 16, !warp.tile<1x64xbf16, linear>>
// CHECK: warp.stage @load warps 1 {
// CHECK: warp.transfer %{{.*}}[%{{.*}}] to %{{.*}} count %{{.*}} engine bulk
// CHECK: warp.stage @send warps 1 {
// CHECK: warp.peer_release
// CHECK: warp.peer_acquire
// CHECK: %[[THERE:.*]] = warp.has_expert %{{.*}}[%{{.*}}] of %{{.*}} experts 4 : memref<?x2xi32>
// CHECK: %[[SENT:.*]] = arith.andi %{{.*}}, %[[THERE]]
// CHECK: arith.select %[[SENT]]
// CHECK: warp.transfer %{{.*}} to %{{.*}}[%{{.*}}] count %{{.*}} engine bulk
// CHECK: warp.peer_commit
// CHECK: warp.peer_wait
// CHECK: warp.stage @choices warps 4 {
// CHECK: warp.kernel @there__unaligned(
// CHECK: warp.stage @copy warps 8 {
// CHECK: engine threads :
// THREADS: heddle.variant = "threads"
// THREADS: engine threads width 8 :
heddle.kernel @there(%x: tensor<?x64xbf16>, %ids: tensor<?x2xi32>, %weights: tensor<?x2xf32>)
    -> (tensor<?x?x64xbf16> {heddle.name = "rows"}, tensor<?x?x2xi32>, tensor<?x?x2xf32>) {
  %rows, %i, %w = heddle.dispatch %x by %ids, %weights experts 4
    : (tensor<?x64xbf16>, tensor<?x2xi32>, tensor<?x2xf32>)
    -> (tensor<?x?x64xbf16>, tensor<?x?x2xi32>, tensor<?x?x2xf32>)
  heddle.return %rows, %i, %w : tensor<?x?x64xbf16>, tensor<?x?x2xi32>, tensor<?x?x2xf32>
}

// CHECK-LABEL: warp.kernel @back(
// CHECK: warp.peer_pipe "ready" pull over
// CHECK: warp.stage @load warps 1 {
// CHECK: warp.stage @sum warps 8 {
// CHECK: warp.spread_add
// CHECK: warp.spread_store
// CHECK: warp.peer_release
heddle.kernel @back(%rows: tensor<?x?x64xbf16>, %ids: tensor<?x2xi32>) -> tensor<?x64xbf16> {
  %y = heddle.combine %rows by %ids experts 4 : (tensor<?x?x64xbf16>, tensor<?x2xi32>) -> tensor<?x64xbf16>
  heddle.return %y : tensor<?x64xbf16>
}

// CHECK-LABEL: warp.kernel @lists(
// CHECK-SAME: nodes = [{arg = 0 : i64, index_map = array<i64: 0>, op = "expert_offset", value = 4.000000e+00 : f64}, {arg = 0 : i64, index_map = array<i64: 0, 1, 2>, op = "expert_entry", value = 4.000000e+00 : f64}]
// CHECK: %[[R:.*]] = warp.rank
// CHECK: warp.stage @list warps 32 {
// CHECK: warp.for_each(%[[E:.*]], %{{.*}}, %{{.*}}) in
// CHECK: warp.list_experts %{{.*}} of %[[R]] expert %[[E]] to
heddle.kernel @lists(%ids: tensor<?x?x2xi32>) -> (tensor<5xi32>, tensor<?x?x2xi32>) {
  %offsets, %list = heddle.expert_lists %ids experts 4 : tensor<?x?x2xi32> -> (tensor<5xi32>, tensor<?x?x2xi32>)
  heddle.return %offsets, %list : tensor<5xi32>, tensor<?x?x2xi32>
}
