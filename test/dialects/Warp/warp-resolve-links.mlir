// Accumulators go where the target's tensor cores keep them; engines that the target lacks
// give way to those it has; multiplications that it lacks are refused.
// RUN: heddle-opt %s --warp-resolve-links --split-input-file --verify-diagnostics | FileCheck %s
// RUN: heddle-opt %s --warp-resolve-links --split-input-file --verify-diagnostics | heddle-opt --split-input-file | FileCheck %s

!acc = !warp.acc<128x64xf32>
// mma.sync and wgmma accumulate in registers, one slot.
// CHECK-LABEL: warp.kernel @sm80
warp.kernel @sm80(%a: f32) attributes {target = "sm_80"} {
  // CHECK: warp.pipe "sums" : <regs, 1, !warp.acc<128x64xf32>>
  %p = warp.pipe "sums" : !warp.pipe<accumulator, 2, !acc>
}

// CHECK-LABEL: warp.kernel @sm90
warp.kernel @sm90(%a: f32) attributes {target = "sm_90a"} {
  // CHECK: %[[P:.*]] = warp.pipe "sums" : <regs, 1, !warp.acc<128x64xf32>>
  %p = warp.pipe "sums" : !warp.pipe<accumulator, 2, !acc>
  warp.stage @mma {
    // CHECK: %[[C:.*]] = warp.acquire %[[P]] : !warp.pipe<regs, 1, !warp.acc<128x64xf32>>
    %c = warp.acquire %p : !warp.pipe<accumulator, 2, !acc>
    // CHECK: warp.commit %[[P]], %[[C]] : <regs, 1, !warp.acc<128x64xf32>>, !warp.acc<128x64xf32>
    warp.commit %p, %c : !warp.pipe<accumulator, 2, !acc>, !acc
  }
}

// tcgen05 accumulates in tensor memory and keeps the slots.
// CHECK-LABEL: warp.kernel @sm100
warp.kernel @sm100(%a: f32) attributes {target = "sm_100a"} {
  // CHECK: warp.pipe "sums" : <tmem, 2, !warp.acc<128x64xf32>>
  %p = warp.pipe "sums" : !warp.pipe<accumulator, 2, !acc>
  // CHECK: warp.pipe "tiles" : <smem, 3, !warp.tile<8x64xbf16>>
  %q = warp.pipe "tiles" : !warp.pipe<smem, 3, !warp.tile<8x64xbf16>>
}

!tiles = !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
// CHECK-LABEL: warp.kernel @no_bulk
warp.kernel @no_bulk(%m: memref<?x?xbf16>) attributes {target = "sm_89"} {
  %z = arith.constant 0 : index
  %p = warp.pipe "tiles" : !tiles
  warp.stage @load {
    %t = warp.acquire %p : !tiles
    // CHECK: warp.copy %{{.*}} to %{{.*}} engine{{ +}}async
    warp.copy %m[%z, %z] to %t engine bulk : memref<?x?xbf16>, !warp.tile<8x64xbf16>
    warp.commit %p : !tiles
  }
  warp.stage @store {
    %t = warp.wait %p : !tiles
    // CHECK: warp.copy %{{.*}} to %{{.*}} engine{{ +}}threads
    warp.copy %t to %m[%z, %z] engine bulk : !warp.tile<8x64xbf16>, memref<?x?xbf16>
    warp.release %p : !tiles
  }
}

// CHECK-LABEL: warp.kernel @bulk
warp.kernel @bulk(%m: memref<?x?xbf16>) attributes {target = "sm_120a"} {
  %z = arith.constant 0 : index
  %p = warp.pipe "tiles" : !tiles
  warp.stage @load {
    %t = warp.acquire %p : !tiles
    // CHECK: warp.copy %{{.*}} to %{{[0-9]+}} : memref
    warp.copy %m[%z, %z] to %t engine bulk : memref<?x?xbf16>, !warp.tile<8x64xbf16>
    warp.commit %p : !tiles
  }
}

// Sums of 8-bit products that the tensor cores keep short leave them after each slot.
!bytes = !warp.pipe<smem, 2, !warp.tile<128x128xf8E4M3FN>>
!byte_sums = !warp.pipe<accumulator, 1, !warp.acc<128x128xf32>>
// CHECK-LABEL: warp.kernel @short
warp.kernel @short(%x: f32) attributes {target = "sm_90a"} {
  %t = arith.constant true
  %p = warp.pipe "p" : !bytes
  %q = warp.pipe "q" : !byte_sums
  warp.stage @mma {
    %a = warp.wait %p : !bytes
    %c = warp.acquire %q : !byte_sums
    // CHECK: warp.mma {{.*}} promote :
    %r = warp.mma %a, %a, %c accumulate %t : !warp.tile<128x128xf8E4M3FN>, !warp.tile<128x128xf8E4M3FN>, !warp.acc<128x128xf32>
  }
}
// CHECK-LABEL: warp.kernel @long
warp.kernel @long(%x: f32) attributes {target = "sm_100a"} {
  %t = arith.constant true
  %p = warp.pipe "p" : !bytes
  %q = warp.pipe "q" : !byte_sums
  warp.stage @mma {
    %a = warp.wait %p : !bytes
    %c = warp.acquire %q : !byte_sums
    // CHECK: warp.mma
    // CHECK-NOT: promote
    // CHECK-SAME: <128x128xf32>
    %r = warp.mma %a, %a, %c accumulate %t : !warp.tile<128x128xf8E4M3FN>, !warp.tile<128x128xf8E4M3FN>, !warp.acc<128x128xf32>
  }
}

// -----
// expected-error@+1 {{expected a target, as attribute or as option of warp-resolve-links, got none}}
warp.kernel @none(%a: f32) {
}

// -----
warp.kernel @cluster(%a: f32) attributes {target = "sm_80"} {
  // expected-error@+1 {{expected a target whose copies are multicast in clusters for link cluster, got sm_80}}
  %p = warp.pipe "p" : !warp.pipe<cluster, 2, !warp.tile<8x64xbf16>>
}

// -----
// sm_120a has clusters, but ptxas advises against its multicast.
warp.kernel @slow_multicast(%a: f32) attributes {target = "sm_120a"} {
  // expected-error@+1 {{expected a target whose copies are multicast in clusters for link cluster, got sm_120a}}
  %p = warp.pipe "p" : !warp.pipe<cluster, 2, !warp.tile<8x64xbf16>>
}

// -----
// expected-error@+1 {{expected a target with clusters for a cluster of 2 x 1, got sm_89}}
warp.kernel @no_clusters(%a: f32) attributes {target = "sm_89"} {
  %c1 = arith.constant 1 : index
  %s = warp.work_stream(%c1, %c1, %c1) raster 8 cluster [2, 1]
}

// -----
// expected-error@+1 {{expected at most 8 CTAs a cluster on sm_90a, got 4 x 4}}
warp.kernel @too_large(%a: f32) attributes {target = "sm_90a"} {
  %c1 = arith.constant 1 : index
  %s = warp.work_stream(%c1, %c1, %c1) raster 8 cluster [4, 4]
}

// -----
warp.kernel @two_shapes(%a: f32) attributes {target = "sm_90a"} {
  %c1 = arith.constant 1 : index
  %s = warp.work_stream(%c1, %c1, %c1) raster 8 cluster [2, 1]
  // expected-error@+1 {{expected one cluster shape in a kernel, [2, 1], got [1, 1]}}
  %t = warp.work_stream(%c1, %c1, %c1) raster 8
}

// -----
// Threads of one CTA cannot fill the slots of another.
!tiles = !warp.pipe<cluster, 2, !warp.tile<64x64xbf16>>
warp.kernel @threads(%m: memref<?x?xbf16>) attributes {target = "sm_90a"} {
  %c1 = arith.constant 1 : index
  %s = warp.work_stream(%c1, %c1, %c1) raster 8 cluster [1, 2]
  %p = warp.pipe "p" : !tiles
  warp.stage @load {
    warp.for_each(%i, %j, %b) in %s {
      %t = warp.acquire %p : !tiles
      // expected-error@+1 {{expected slots of pipe "p" of link cluster to be filled by bulk copies, got threads}}
      warp.copy %m[%i, %b] to %t engine threads : memref<?x?xbf16>, !warp.tile<64x64xbf16>
      warp.commit %p : !tiles
    }
  }
}

// -----
// CTAs of one row of the cluster have different tile columns.
!tiles = !warp.pipe<cluster, 2, !warp.tile<64x64xbf16>>
warp.kernel @not_shared(%m: memref<?x?xbf16>) attributes {target = "sm_90a"} {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %s = warp.work_stream(%c1, %c1, %c1) raster 8 cluster [1, 2]
  %p = warp.pipe "p" : !tiles
  warp.stage @load {
    warp.for_each(%i, %j, %b) in %s {
      %col = arith.muli %j, %c64 : index
      %t = warp.acquire %p : !tiles
      // expected-error@+1 {{expected offsets that are equal along a row of the cluster, to multicast the tile, got one that depends on the tile column}}
      warp.copy %m[%i, %col] to %t multicast row engine bulk : memref<?x?xbf16>, !warp.tile<64x64xbf16>
      warp.commit %p : !tiles
    }
  }
}

// -----
// The column comes in through what a loop carries.
!tiles = !warp.pipe<cluster, 2, !warp.tile<64x64xbf16>>
warp.kernel @carried(%m: memref<?x?xbf16>) attributes {target = "sm_90a"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = warp.work_stream(%c1, %c1, %c1) raster 8 cluster [1, 2]
  %p = warp.pipe "p" : !tiles
  warp.stage @load {
    warp.for_each(%i, %j, %b) in %s {
      %at = scf.for %k = %c0 to %c1 step %c1 iter_args(%x = %c0) -> (index) {
        %y = arith.addi %x, %j : index
        scf.yield %y : index
      }
      %t = warp.acquire %p : !tiles
      // expected-error@+1 {{expected offsets that are equal along a row of the cluster, to multicast the tile, got one that depends on the tile column}}
      warp.copy %m[%i, %at] to %t multicast row engine bulk : memref<?x?xbf16>, !warp.tile<64x64xbf16>
      warp.commit %p : !tiles
    }
  }
}

// -----
// 24 rows are 3 groups of 8, which 2 CTAs cannot divide.
!tiles = !warp.pipe<cluster, 2, !warp.tile<24x64xbf16>>
warp.kernel @indivisible(%m: memref<?x?xbf16>) attributes {target = "sm_90a"} {
  %c1 = arith.constant 1 : index
  %s = warp.work_stream(%c1, %c1, %c1) raster 8 cluster [1, 2]
  %p = warp.pipe "p" : !tiles
  warp.stage @load {
    warp.for_each(%i, %j, %b) in %s {
      %t = warp.acquire %p : !tiles
      // expected-error@+1 {{expected a tile that 2 CTAs can divide into multiples of 8 rows of a panel, got 24 rows}}
      warp.copy %m[%i, %b] to %t multicast row engine bulk : memref<?x?xbf16>, !warp.tile<24x64xbf16>
      warp.commit %p : !tiles
    }
  }
}

// -----
// The CTA with more iterations would wait for copies that the other never makes.
!tiles = !warp.pipe<cluster, 2, !warp.tile<64x64xbf16>>
warp.kernel @uneven(%m: memref<?x?xbf16>) attributes {target = "sm_90a"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = warp.work_stream(%c1, %c1, %c1) raster 8 cluster [2, 1]
  %p = warp.pipe "p" : !tiles
  warp.stage @load {
    warp.for_each(%i, %j, %b) in %s {
      %end = arith.addi %i, %c1 : index
      // expected-error@+1 {{expected as many iterations in every CTA of a cluster around the verbs of pipe "p", got a bound that depends on the tile row}}
      scf.for %k = %c0 to %end step %c1 {
        %t = warp.acquire %p : !tiles
        warp.copy %m[%j, %k] to %t multicast col engine bulk : memref<?x?xbf16>, !warp.tile<64x64xbf16>
        warp.commit %p : !tiles
      }
    }
  }
}

// -----
warp.kernel @tmem(%a: f32) attributes {target = "sm_90a"} {
  // expected-error@+1 {{expected a target with tensor memory for link tmem, got sm_90a}}
  %p = warp.pipe "p" : !warp.pipe<tmem, 2, !warp.acc<128x64xf32>>
}

// -----
warp.kernel @regs(%a: f32) attributes {target = "sm_103a"} {
  // expected-error@+1 {{expected link tmem, since the tensor cores of sm_103a accumulate in tensor memory, got regs}}
  %p = warp.pipe "p" : !warp.pipe<regs, 1, !warp.acc<128x64xf32>>
}

// -----
!ab = !warp.pipe<smem, 2, !warp.tile<64x128xf8E4M3FN>>
!sums = !warp.pipe<accumulator, 1, !warp.acc<64x64xf32>>
warp.kernel @type(%x: f32) attributes {target = "sm_80"} {
  %t = arith.constant true
  %p = warp.pipe "p" : !ab
  %q = warp.pipe "q" : !sums
  warp.stage @mma {
    %a = warp.wait %p : !ab
    %c = warp.acquire %q : !sums
    // expected-error@+1 {{expected an operand type that the tensor cores of sm_80 take, got 'f8E4M3FN' for a; targets that take it: sm_89, sm_90a, sm_100a, sm_103a, sm_120a}}
    %r = warp.mma %a, %a, %c accumulate %t : !warp.tile<64x128xf8E4M3FN>, !warp.tile<64x128xf8E4M3FN>, !warp.acc<64x64xf32>
  }
}

// -----
!ab = !warp.pipe<smem, 2, !warp.tile<64x64xi16>>
!sums = !warp.pipe<accumulator, 1, !warp.acc<64x64xf32>>
warp.kernel @integers(%x: f32) attributes {target = "sm_80"} {
  %t = arith.constant true
  %p = warp.pipe "p" : !ab
  %q = warp.pipe "q" : !sums
  warp.stage @mma {
    %a = warp.wait %p : !ab
    %c = warp.acquire %q : !sums
    // expected-error@+1 {{expected operand a to be f32, f16, bf16, f8E4M3FN or f8E5M2, got 'i16'}}
    %r = warp.mma %a, %a, %c accumulate %t : !warp.tile<64x64xi16>, !warp.tile<64x64xi16>, !warp.acc<64x64xf32>
  }
}

// -----
!ab = !warp.pipe<smem, 2, !warp.tile<64x32xf32>, !warp.tile<64x32xf32, mn>>
!sums = !warp.pipe<accumulator, 1, !warp.acc<64x64xf32>>
warp.kernel @major(%x: f32) attributes {target = "sm_90a"} {
  %t = arith.constant true
  %p = warp.pipe "p" : !ab
  %q = warp.pipe "q" : !sums
  warp.stage @mma {
    %a, %b = warp.wait %p : !ab
    %c = warp.acquire %q : !sums
    // expected-error@+1 {{expected operand b of 'f32' to be k-major, got '!warp.tile<64x32xf32, mn>'; a copy by threads can transpose}}
    %r = warp.mma %a, %b, %c accumulate %t : !warp.tile<64x32xf32>, !warp.tile<64x32xf32, mn>, !warp.acc<64x64xf32>
  }
}

// -----
!ab = !warp.pipe<smem, 2, !warp.tile<32x64xf16>, !warp.tile<64x64xf16>>
!sums = !warp.pipe<accumulator, 1, !warp.acc<32x64xf32>>
warp.kernel @rows(%x: f32) attributes {target = "sm_90a"} {
  %t = arith.constant true
  %p = warp.pipe "p" : !ab
  %q = warp.pipe "q" : !sums
  warp.stage @mma {
    %a, %b = warp.wait %p : !ab
    %c = warp.acquire %q : !sums
    // expected-error@+1 {{expected accumulator rows to be a multiple of 64 on sm_90a, got 32}}
    %r = warp.mma %a, %b, %c accumulate %t : !warp.tile<32x64xf16>, !warp.tile<64x64xf16>, !warp.acc<32x64xf32>
  }
}

// -----
!ab = !warp.pipe<smem, 2, !warp.tile<64x64xf16>, !warp.tile<64x64xf16>>
!sums = !warp.pipe<accumulator, 1, !warp.acc<64x64xf32>>
warp.kernel @lanes(%x: f32) attributes {target = "sm_100a"} {
  %t = arith.constant true
  %p = warp.pipe "p" : !ab
  %q = warp.pipe "q" : !sums
  warp.stage @mma {
    %a, %b = warp.wait %p : !ab
    %c = warp.acquire %q : !sums
    // expected-error@+1 {{expected 128 accumulator rows, the lanes of tensor memory, on sm_100a, got 64}}
    %r = warp.mma %a, %b, %c accumulate %t : !warp.tile<64x64xf16>, !warp.tile<64x64xf16>, !warp.acc<64x64xf32>
  }
}
