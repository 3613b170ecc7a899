// RUN: heddle-opt %s --convert-heddle-to-warp='target=sm_90a schedule="tile=128x256x64,stages=4,load_warps=4,mma_warps=8,store=direct,store_stages=0"' | FileCheck %s
// RUN: heddle-opt %s --convert-heddle-to-warp='target=sm_90a schedule="tile=128x128x64,stages=4,store=bulk,store_stages=2"' | FileCheck %s --check-prefix=BULK

// The network of a product: load, mma and epilogue stages joined by two pipes, with one loop over
// K in the first two. The first product of a tile overwrites the accumulator.
// CHECK-LABEL: warp.kernel @gemm(
// CHECK-SAME: %[[A:.*]]: memref<?x7168xbf16> {warp.dims = ["M", "K"], warp.name = "A"}
// CHECK-SAME: %[[B:.*]]: memref<2112x7168xbf16> {warp.dims = ["N", "K"], warp.name = "B"}
// CHECK-SAME: %[[D:.*]]: memref<?x2112xbf16> {warp.dims = ["M", "N"], warp.name = "D"}
// CHECK-SAME: heddle.variant = "bulk"
// CHECK-SAME: tile_m = 128, tile_n = 256, tile_k = 64, stages = 4
// CHECK-SAME: target = "sm_90a"
// CHECK: %[[M:.*]] = memref.dim %[[D]]
// CHECK: %[[ROWS:.*]] = arith.ceildivui %[[M]], %c128
// CHECK: %[[COLS:.*]] = arith.ceildivui %c2112, %c256
// CHECK: %[[STEPS:.*]] = arith.ceildivui %c7168, %c64
// CHECK: %[[WORK:.*]] = warp.work_stream(%[[ROWS]], %[[COLS]], %c1)
// CHECK: %[[OPS:.*]] = warp.pipe "operands" : <smem, 4, !warp.tile<128x64xbf16>, !warp.tile<256x64xbf16>>
// CHECK: %[[ACC:.*]] = warp.pipe "accumulator" : <accumulator, 1, !warp.acc<128x256xf32>>
// CHECK-NOT: warp.pipe
// CHECK: warp.stage @load
// CHECK: warp.for_each(%[[I:.*]], %[[J:.*]], %{{.*}}) in %[[WORK]]
// CHECK-DAG: %[[ROW:.*]] = arith.muli %[[I]], %c128
// CHECK-DAG: %[[COL:.*]] = arith.muli %[[J]], %c256
// CHECK: scf.for %[[STEP:.*]] = %c0 to %[[STEPS]] step %c1
// CHECK: %[[SLOT:.*]]:2 = warp.acquire %[[OPS]]
// CHECK: %[[K:.*]] = arith.muli %[[STEP]], %c64
// CHECK: warp.copy %[[A]][%[[ROW]], %[[K]]] to %[[SLOT]]#0
// CHECK: warp.copy %[[B]][%[[COL]], %[[K]]] to %[[SLOT]]#1
// CHECK: warp.commit %[[OPS]]
// CHECK: warp.stage @mma
// CHECK: %[[FIRST:.*]] = warp.acquire %[[ACC]]
// CHECK: %[[SUM:.*]] = scf.for %[[STEP:.*]] = %c0 to %[[STEPS]] step %c1 iter_args(%[[CARRIED:.*]] = %[[FIRST]])
// CHECK: %[[SLOT:.*]]:2 = warp.wait %[[OPS]]
// CHECK: %[[LATER:.*]] = arith.cmpi ne, %[[STEP]], %c0
// CHECK: %[[NEXT:.*]] = warp.mma %[[SLOT]]#0, %[[SLOT]]#1, %[[CARRIED]] accumulate %[[LATER]]
// CHECK: warp.release %[[OPS]] after %[[NEXT]]
// CHECK: scf.yield %[[NEXT]]
// CHECK: warp.commit %[[ACC]], %[[SUM]]
// CHECK: warp.stage @epilogue
// CHECK: %[[DONE:.*]] = warp.wait %[[ACC]]
// CHECK: warp.store %[[DONE]] to %[[D]][%{{.*}}, %{{.*}}]
// CHECK: ^bb0(%[[X:.*]]: f32, %{{.*}}: index, %{{.*}}: index):
// CHECK: %[[Y:.*]] = arith.truncf %[[X]] : f32 to bf16
// CHECK: warp.yield %[[Y]]
// CHECK: warp.release %[[ACC]]
// CHECK-NOT: warp.stage

// Results that leave by bulk copies go through a third pipe, a 128-byte panel at a time.
// BULK-LABEL: warp.kernel @gemm(
// BULK: %[[ACC:.*]] = warp.pipe "accumulator"
// BULK: %[[OUT:.*]] = warp.pipe "out" : <smem, 2, !warp.tile<128x64xbf16>>
// BULK: warp.stage @epilogue
// BULK: %[[DONE:.*]] = warp.wait %[[ACC]]
// BULK: %[[TILE:.*]] = warp.acquire %[[OUT]]
// BULK: warp.pack %[[DONE]] columns 0 at(%{{.*}}, %{{.*}}) to %[[TILE]]
// BULK: warp.commit %[[OUT]]
// BULK: %[[TILE:.*]] = warp.acquire %[[OUT]]
// BULK: warp.pack %[[DONE]] columns 64 at(%{{.*}}, %{{.*}}) to %[[TILE]]
// BULK: warp.commit %[[OUT]]
// BULK-NOT: warp.pack
// BULK: warp.release %[[ACC]]
// BULK: warp.stage @store
// BULK: %[[TILE:.*]] = warp.wait %[[OUT]]
// BULK: warp.copy %[[TILE]] to %{{.*}}[%[[ROW:.*]], %[[COL:.*]]] :
// BULK: warp.release %[[OUT]]
// BULK: %[[TILE:.*]] = warp.wait %[[OUT]]
// BULK: %[[NEXT:.*]] = arith.addi %[[COL]], %c64
// BULK: warp.copy %[[TILE]] to %{{.*}}[%[[ROW]], %[[NEXT]]] :
// BULK: warp.release %[[OUT]]
heddle.kernel @gemm(%A: tensor<?x7168xbf16>, %B: tensor<2112x7168xbf16>) -> tensor<?x2112xbf16> {
  %d = heddle.gemm %A, %B transpose_b : (tensor<?x7168xbf16>, tensor<2112x7168xbf16>) -> tensor<?x2112xbf16>
  heddle.return %d : tensor<?x2112xbf16>
}
