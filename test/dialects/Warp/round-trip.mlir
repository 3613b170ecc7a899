// Every op, type and attribute of the dialect survives printing and parsing.
// RUN: heddle-opt %s | heddle-opt | FileCheck %s
// RUN: heddle-opt %s --mlir-print-op-generic | heddle-opt | FileCheck %s

// CHECK-LABEL: warp.kernel @arguments(
// CHECK-SAME: memref<?x64xbf16> {warp.dims = ["M", "K"], warp.name = "A"}
// CHECK-SAME: f32 {warp.name = "alpha"}
// CHECK-SAME: target = "sm_90a"
warp.kernel @arguments(%a: memref<?x64xbf16> {warp.name = "A", warp.dims = ["M", "K"]},
                       %alpha: f32 {warp.name = "alpha"}) attributes {target = "sm_90a"} {
}

// CHECK-LABEL: warp.kernel @schedule
// CHECK-SAME: schedule = #warp.schedule<tile_m = 128, tile_n = 256, tile_k = 64, stages = 4, load_warps = 4, mma_warps = 8, epilogue_warps = 0, acc_stages = 1, store_stages = 2, load_registers = 40, mma_registers = 232, raster = 8, copy = bulk, store = bulk, ctas_per_sm = 1>
warp.kernel @schedule() attributes {schedule = #warp.schedule<tile_m = 128, tile_n = 256,
    tile_k = 64, stages = 4, load_warps = 4, mma_warps = 8, epilogue_warps = 0, acc_stages = 1,
    store_stages = 2, load_registers = 40, mma_registers = 232, raster = 8, copy = bulk,
    store = bulk, ctas_per_sm = 1>} {
  %unused = arith.constant 0 : index
}

// CHECK-LABEL: warp.kernel @stages_and_roles
warp.kernel @stages_and_roles() {
  // CHECK: warp.stage @load {
  warp.stage @load {
  }
  // CHECK: warp.stage @scale warps 4 {
  warp.stage @scale warps 4 {
  }
  // CHECK: warp.role @a stages ["x", "y"] warps 0 to 1 {
  warp.role @a stages ["x", "y"] warps 0 to 1 {
  }
  // CHECK: warp.role @b stages ["z"] warps 4 to 12 registers 232 {
  warp.role @b stages ["z"] warps 4 to 12 registers 232 {
  }
}

// CHECK-LABEL: warp.kernel @work
warp.kernel @work() {
  %n = arith.constant 3 : index
  // CHECK: %[[S:.*]] = warp.work_stream(%[[N:.*]], %[[N]], %[[N]]) raster 8
  %s = warp.work_stream(%n, %n, %n) raster 8
  warp.stage @t {
    // CHECK: warp.for_each(%{{.*}}, %{{.*}}, %{{.*}}) in %[[S]] {
    warp.for_each(%i, %j, %b) in %s {
    }
  }
}

// CHECK-LABEL: warp.kernel @pipes
warp.kernel @pipes() {
  // CHECK: warp.pipe "a" : <accumulator, 2, !warp.acc<128x64xf32>>
  %a = warp.pipe "a" : !warp.pipe<accumulator, 2, !warp.acc<128x64xf32>>
  // CHECK: warp.pipe "b" : <regs, 1, !warp.acc<64x256xf32>>
  %b = warp.pipe "b" : !warp.pipe<regs, 1, !warp.acc<64x256xf32>>
  // CHECK: warp.pipe "c" {barriers = 0 : i64, consumers = 8 : i64, offset = 1024 : i64, producers = 1 : i64} : <smem, 4, !warp.tile<128x64xbf16>, !warp.tile<64x64xf16, mn>>
  %c = warp.pipe "c" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 8 : i64} : !warp.pipe<smem, 4, !warp.tile<128x64xbf16>, !warp.tile<64x64xf16, mn>>
  // CHECK: warp.pipe "d" : <tmem, 2, !warp.acc<128x256xf32>>
  %d = warp.pipe "d" : !warp.pipe<tmem, 2, !warp.acc<128x256xf32>>
  // CHECK: warp.pipe "e" : <cluster, 2, !warp.tile<128x128xf8E4M3FN>>
  %e = warp.pipe "e" : !warp.pipe<cluster, 2, !warp.tile<128x128xf8E4M3FN>>
}

// CHECK-LABEL: warp.kernel @verbs
warp.kernel @verbs() {
  %p = warp.pipe "p" : !warp.pipe<smem, 2, !warp.tile<128x64xbf16>, !warp.tile<64x64xbf16>>
  %q = warp.pipe "q" : !warp.pipe<accumulator, 1, !warp.acc<128x64xf32>>
  warp.stage @producer {
    // CHECK: %[[A:.*]]:2 = warp.acquire %[[P:.*]] : !warp.pipe<smem, 2, !warp.tile<128x64xbf16>, !warp.tile<64x64xbf16>>
    %a, %b = warp.acquire %p : !warp.pipe<smem, 2, !warp.tile<128x64xbf16>, !warp.tile<64x64xbf16>>
    // CHECK: warp.fence <proxy_async>
    warp.fence <proxy_async>
    // CHECK: warp.commit %[[P]] : <smem
    warp.commit %p : !warp.pipe<smem, 2, !warp.tile<128x64xbf16>, !warp.tile<64x64xbf16>>
  }
  warp.stage @mma {
    %yes = arith.constant true
    // CHECK: %[[C:.*]] = warp.acquire %[[Q:.*]] : !warp.pipe<accumulator, 1, !warp.acc<128x64xf32>>
    %c = warp.acquire %q : !warp.pipe<accumulator, 1, !warp.acc<128x64xf32>>
    // CHECK: %[[T:.*]]:2 = warp.wait %[[P]] : !warp.pipe<smem
    %a, %b = warp.wait %p : !warp.pipe<smem, 2, !warp.tile<128x64xbf16>, !warp.tile<64x64xbf16>>
    // CHECK: %[[R:.*]] = warp.mma %[[T]]#0, %[[T]]#1, %[[C]] accumulate %{{.*}} : <128x64xbf16>, <64x64xbf16>, <128x64xf32>
    %r = warp.mma %a, %b, %c accumulate %yes : !warp.tile<128x64xbf16>, !warp.tile<64x64xbf16>, !warp.acc<128x64xf32>
    // CHECK: warp.release %[[P]] lag 1 after %[[R]] : <smem, 2, !warp.tile<128x64xbf16>, !warp.tile<64x64xbf16>>, !warp.acc<128x64xf32>
    warp.release %p lag 1 after %r : !warp.pipe<smem, 2, !warp.tile<128x64xbf16>, !warp.tile<64x64xbf16>>, !warp.acc<128x64xf32>
    // CHECK: warp.release %[[P]] after %[[R]] : <smem
    warp.release %p after %r : !warp.pipe<smem, 2, !warp.tile<128x64xbf16>, !warp.tile<64x64xbf16>>, !warp.acc<128x64xf32>
    // CHECK: %[[W:.*]] = warp.mma_wait %[[R]] : <128x64xf32>
    %w = warp.mma_wait %r : !warp.acc<128x64xf32>
    // CHECK: warp.release %[[P]] : <smem
    warp.release %p : !warp.pipe<smem, 2, !warp.tile<128x64xbf16>, !warp.tile<64x64xbf16>>
    // CHECK: warp.commit %[[Q]], %[[W]] : <accumulator, 1, !warp.acc<128x64xf32>>, !warp.acc<128x64xf32>
    warp.commit %q, %w : !warp.pipe<accumulator, 1, !warp.acc<128x64xf32>>, !warp.acc<128x64xf32>
    // CHECK: warp.fence <tmem_before>
    warp.fence <tmem_before>
    // CHECK: warp.fence <tmem_after>
    warp.fence <tmem_after>
  }
}

// CHECK-LABEL: warp.kernel @tiles
warp.kernel @tiles(%m: memref<?x?xbf16>, %bias: memref<?xf32>, %d: memref<?x?x?xbf16>) {
  %zero = arith.constant 0 : index
  %p = warp.pipe "p" : !warp.pipe<smem, 2, !warp.tile<128x64xbf16>, !warp.tile<128x64xbf16>, !warp.tile<64x64xbf16, mn>>
  %q = warp.pipe "q" : !warp.pipe<accumulator, 1, !warp.acc<128x64xf32>>
  warp.stage @s {
    %x, %y, %z = warp.acquire %p : !warp.pipe<smem, 2, !warp.tile<128x64xbf16>, !warp.tile<128x64xbf16>, !warp.tile<64x64xbf16, mn>>
    // CHECK: warp.copy %{{.*}}[%{{.*}}, %{{.*}}] to %[[S:.*]]#0 : memref<?x?xbf16>, !warp.tile<128x64xbf16>
    warp.copy %m[%zero, %zero] to %x engine bulk : memref<?x?xbf16>, !warp.tile<128x64xbf16>
    // CHECK: warp.copy %{{.*}} to %[[S]]#0 engine{{ +}}async : memref
    warp.copy %m[%zero, %zero] to %x engine async : memref<?x?xbf16>, !warp.tile<128x64xbf16>
    // CHECK: warp.copy %{{.*}} to %[[S]]#2 transposed : memref
    warp.copy %m[%zero, %zero] to %z transposed : memref<?x?xbf16>, !warp.tile<64x64xbf16, mn>
    // CHECK: warp.copy %{{.*}} to %[[S]]#0 transposed engine{{ +}}threads : memref
    warp.copy %m[%zero, %zero] to %x transposed engine threads : memref<?x?xbf16>, !warp.tile<128x64xbf16>
    // CHECK: warp.copy %[[S]]#0 to %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : !warp.tile<128x64xbf16>, memref<?x?x?xbf16>
    warp.copy %x to %d[%zero, %zero, %zero] : !warp.tile<128x64xbf16>, memref<?x?x?xbf16>
    // CHECK: warp.map %[[S]]#0 to %[[S]]#1 : <128x64xbf16>, <128x64xbf16> {
    warp.map %x to %y : !warp.tile<128x64xbf16>, !warp.tile<128x64xbf16> {
    ^bb0(%e: bf16, %i: index, %j: index):
      // CHECK: warp.yield %{{.*}} : bf16
      warp.yield %e : bf16
    }
    %acc = warp.wait %q : !warp.pipe<accumulator, 1, !warp.acc<128x64xf32>>
    // CHECK: warp.store %{{.*}} to %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : <128x64xf32>, memref<?x?x?xbf16> {
    warp.store %acc to %d[%zero, %zero, %zero] : !warp.acc<128x64xf32>, memref<?x?x?xbf16> {
    ^bb0(%e: f32, %i: index, %j: index):
      // CHECK: warp.read %{{.*}}[%{{.*}}] : memref<?xf32>
      %v = warp.read %bias[%j] : memref<?xf32>
      %w = arith.addf %e, %v : f32
      %t = arith.truncf %w : f32 to bf16
      warp.yield %t : bf16
    }
    // CHECK: warp.pack %{{.*}} columns 0 at(%{{.*}}, %{{.*}}) to %[[S]]#0 : <128x64xf32>, <128x64xbf16> {
    warp.pack %acc columns 0 at (%zero, %zero) to %x : !warp.acc<128x64xf32>, !warp.tile<128x64xbf16> {
    ^bb0(%e: f32, %i: index, %j: index):
      %t = arith.truncf %e : f32 to bf16
      warp.yield %t : bf16
    }
  }
}

// CTAs of a cluster take blocks of tiles and share what they copy.
// CHECK-LABEL: warp.kernel @cluster
!shared = !warp.pipe<cluster, 2, !warp.tile<64x64xbf16>, !warp.tile<64x64xbf16>>
warp.kernel @cluster(%m: memref<?x?xbf16>) {
  %c1 = arith.constant 1 : index
  // CHECK: warp.work_stream(%{{.*}}, %{{.*}}, %{{.*}}) raster 8 cluster [2, 4]
  %s = warp.work_stream(%c1, %c1, %c1) raster 8 cluster [2, 4]
  %p = warp.pipe "p" : !shared
  warp.stage @load {
    warp.for_each(%i, %j, %b) in %s {
      %x, %y = warp.acquire %p : !shared
      // CHECK: warp.copy %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}} multicast row : memref
      warp.copy %m[%i, %b] to %x multicast row engine bulk : memref<?x?xbf16>, !warp.tile<64x64xbf16>
      // CHECK: warp.copy %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}} multicast col : memref
      warp.copy %m[%j, %b] to %y multicast col : memref<?x?xbf16>, !warp.tile<64x64xbf16>
      warp.commit %p : !shared
    }
  }
}

!bytes = !warp.tile<128x128xf8E4M3FN>
!sums = !warp.acc<128x128xf32>
// CHECK-LABEL: warp.kernel @promotion
warp.kernel @promotion(%sa: memref<?x4xf32>, %sb: memref<4x2xf32>) {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %p = warp.pipe "p" : !warp.pipe<smem, 2, !bytes, !bytes>
  warp.stage @mma {
    %a, %b = warp.wait %p : !warp.pipe<smem, 2, !bytes, !bytes>
    // CHECK: %[[ZERO:.*]] = warp.zero : <128x128xf32>
    %zero = warp.zero : !sums
    // CHECK: %[[PLAIN:.*]] = warp.mma %{{.*}}, %{{.*}}, %[[ZERO]] accumulate %{{.*}} promote : <128x128xf8E4M3FN>
    %plain = warp.mma %a, %b, %zero accumulate %yes promote : !bytes, !bytes, !sums
    // CHECK: %[[SCALED:.*]] = warp.mma %{{.*}}, %{{.*}}, %[[PLAIN]] accumulate %{{.*}} scales %arg0[%{{.*}}, %{{.*}}] by [1, 128], %arg1[%{{.*}}, %{{.*}}] by [128, 128] {transposed_scale_b} : {{.*}}, memref<?x4xf32>, memref<4x2xf32>
    %scaled = warp.mma %a, %b, %plain accumulate %yes scales %sa[%c0, %c0] by [1, 128], %sb[%c0, %c0] by [128, 128] {transposed_scale_b} : !bytes, !bytes, !sums, memref<?x4xf32>, memref<4x2xf32>
    // CHECK: warp.promote %[[SCALED]] to %[[PLAIN]] scales %arg0[%{{.*}}, %{{.*}}] by [1, 128], %arg1[%{{.*}}, %{{.*}}] by [128, 128] : <128x128xf32>, memref<?x4xf32>, memref<4x2xf32>
    %more = warp.promote %scaled to %plain scales %sa[%c0, %c0] by [1, 128], %sb[%c0, %c0] by [128, 128] : !sums, memref<?x4xf32>, memref<4x2xf32>
    warp.release %p : !warp.pipe<smem, 2, !bytes, !bytes>
  }
}

// CHECK-LABEL: warp.kernel @groups
warp.kernel @groups(%a: memref<?x64xbf16>, %d: memref<?x128xf32>, %counts: memref<8xi32>, %bad: memref<1xi32>) {
  %c1 = arith.constant 1 : index
  %n = memref.dim %a, %c1 : memref<?x64xbf16>
  // CHECK: %[[G:.*]] = warp.groups %arg2 counts limit %{{.*}} align 16 by 128 status %arg3 : memref<8xi32>, memref<1xi32>
  %g = warp.groups %counts counts limit %n align 16 by 128 status %bad : memref<8xi32>, memref<1xi32>
  // CHECK: %[[S:.*]] = warp.work_stream(%{{.*}}, %{{.*}}, %{{.*}}) raster 8 groups %[[G]]
  %s = warp.work_stream(%n, %c1, %c1) raster 8 groups %g
  %p = warp.pipe "p" : !warp.pipe<smem, 2, !warp.tile<128x64xbf16>>
  warp.stage @load {
    // CHECK: warp.for_each(%[[I:.*]], %[[J:.*]], %[[GROUP:.*]], %[[FIRST:.*]], %[[SIZE:.*]]) in %[[S]]
    warp.for_each(%i, %j, %group, %first, %size) in %s {
      %t = warp.acquire %p : !warp.pipe<smem, 2, !warp.tile<128x64xbf16>>
      // CHECK: warp.copy %arg0[%[[FIRST]], %[[J]]] to %{{.*}} before %[[SIZE]]
      warp.copy %a[%first, %j] to %t before %size engine bulk : memref<?x64xbf16>, !warp.tile<128x64xbf16>
      warp.commit %p : !warp.pipe<smem, 2, !warp.tile<128x64xbf16>>
      %acc = warp.zero : !warp.acc<128x128xf32>
      // CHECK: warp.store %{{.*}} to %arg1[%[[FIRST]], %[[J]]] before %[[SIZE]]
      warp.store %acc to %d[%first, %j] before %size : !warp.acc<128x128xf32>, memref<?x128xf32> {
      ^bb0(%x: f32, %row: index, %col: index):
        warp.yield %x : f32
      }
    }
  }
}
