// In tensor memory each K block's partial sum gets a slot of its own, and its consumer adds them up.
// RUN: heddle-opt %s --warp-split-promotion --split-input-file --verify-diagnostics | FileCheck %s

!tile = !warp.tile<128x128xf8E4M3FN>
!acc = !warp.acc<128x128xf32>
!ops = !warp.pipe<smem, 2, !tile, !tile>
!sums = !warp.pipe<tmem, 2, !acc>

// CHECK-LABEL: warp.kernel @blocks
warp.kernel @blocks(%sa: memref<?x4xf32>, %sb: memref<2x4xf32>, %d: memref<?x256xf32>) attributes {target = "sm_100a"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c128 = arith.constant 128 : index
  %s = warp.work_stream(%c1, %c1, %c1) raster 1
  %p = warp.pipe "operands" : !ops
  // CHECK: %[[SUMS:.*]] = warp.pipe "sums"
  %q = warp.pipe "sums" : !sums
  // CHECK: warp.stage @mma
  warp.stage @mma {
    warp.for_each(%i, %j, %b) in %s {
      %row = arith.muli %i, %c128 : index
      %col = arith.muli %j, %c128 : index
      %c = warp.acquire %q : !sums
      // CHECK: scf.for %{{[a-z0-9]+}} = %{{.*}} to %{{.*}} step %{{[a-z0-9_]+}} {
      %r = scf.for %k = %c0 to %c4 step %c1 iter_args(%old = %c) -> (!acc) {
        // CHECK-NEXT: %[[SLOT:.*]] = warp.acquire %[[SUMS]]
        %x, %y = warp.wait %p : !ops
        %later = arith.cmpi ne, %k, %c0 : index
        %k0 = arith.muli %k, %c128 : index
        // CHECK: %[[NO:[a-z0-9]+]] = arith.constant false
        // CHECK: %[[ONE:.*]] = warp.mma %{{.*}}, %{{.*}}, %[[SLOT]] accumulate %[[NO]] : <128x128xf8E4M3FN>, <128x128xf8E4M3FN>, <128x128xf32>
        %new = warp.mma %x, %y, %old accumulate %later scales %sa[%row, %k0] by [1, 128], %sb[%col, %k0] by [128, 128] : !tile, !tile, !acc, memref<?x4xf32>, memref<2x4xf32>
        // CHECK: warp.release %{{.*}} after %[[ONE]]
        warp.release %p after %new : !ops, !acc
        // CHECK: warp.commit %[[SUMS]], %[[ONE]]
        scf.yield %new : !acc
      }
      warp.commit %q, %r : !sums, !acc
    }
  }
  // CHECK: warp.stage @epilogue
  warp.stage @epilogue {
    warp.for_each(%i, %j, %b) in %s {
      // CHECK: %[[ROW:.*]] = arith.muli
      %row = arith.muli %i, %c128 : index
      %col = arith.muli %j, %c128 : index
      // CHECK: %[[ZERO:.*]] = warp.zero
      // CHECK: %[[ALL:.*]] = scf.for {{.*}} iter_args(%[[SUM:.*]] = %[[ZERO]])
      // CHECK: %[[PART:.*]] = warp.wait %[[SUMS]]
      // CHECK: %[[NEXT:.*]] = warp.promote %[[PART]] to %[[SUM]] scales %{{.*}}[%{{.*}}, %{{.*}}] by [1, 128], %{{.*}} by [128, 128]
      // CHECK: warp.release %[[SUMS]]
      // CHECK: scf.yield %[[NEXT]]
      // CHECK: warp.store %[[ALL]]
      %all = warp.wait %q : !sums
      warp.store %all to %d[%row, %col] : !acc, memref<?x256xf32> {
      ^bb0(%e: f32, %m: index, %n: index):
        warp.yield %e : f32
      }
      warp.release %q : !sums
    }
  }
}

// -----

!tile = !warp.tile<128x128xf8E4M3FN>
!acc = !warp.acc<128x128xf32>
!ops = !warp.pipe<smem, 2, !tile, !tile>
!sums = !warp.pipe<tmem, 2, !acc>

warp.kernel @twice(%x: f32) attributes {target = "sm_100a"} {
  %yes = arith.constant true
  %p = warp.pipe "operands" : !ops
  %q = warp.pipe "sums" : !sums
  warp.stage @mma {
    %c = warp.acquire %q : !sums
    %a, %b = warp.wait %p : !ops
    // expected-error@+1 {{cannot promote sums in tensor memory: expected an accumulator that is the only value the loop around it carries}}
    %r = warp.mma %a, %b, %c accumulate %yes promote : !tile, !tile, !acc
    warp.release %p after %r : !ops, !acc
    warp.commit %q, %r : !sums, !acc
  }
}

// -----

// Accumulators in registers stay where they are.
!tile = !warp.tile<64x128xf8E4M3FN>
!acc = !warp.acc<64x64xf32>
// CHECK-LABEL: warp.kernel @registers
warp.kernel @registers(%x: f32) attributes {target = "sm_90a"} {
  %yes = arith.constant true
  %p = warp.pipe "operands" : !warp.pipe<smem, 2, !tile>
  %q = warp.pipe "sums" : !warp.pipe<regs, 1, !acc>
  warp.stage @mma {
    %c = warp.acquire %q : !warp.pipe<regs, 1, !acc>
    %a = warp.wait %p : !warp.pipe<smem, 2, !tile>
    // CHECK: warp.mma {{.*}} promote
    %r = warp.mma %a, %a, %c accumulate %yes promote : !tile, !tile, !acc
    warp.release %p after %r : !warp.pipe<smem, 2, !tile>, !acc
    warp.commit %q, %r : !warp.pipe<regs, 1, !acc>, !acc
  }
}
