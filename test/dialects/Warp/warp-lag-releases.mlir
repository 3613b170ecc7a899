// Where multiplications run in the background into registers, slots go back one iteration
// late and results are read behind a wait.
// RUN: heddle-opt %s --warp-lag-releases --split-input-file --verify-diagnostics | FileCheck %s

!ops = !warp.pipe<smem, 4, !warp.tile<64x64xbf16>>
!regs = !warp.pipe<regs, 1, !warp.acc<64x64xf32>>
!tile = !warp.tile<64x64xbf16>
!acc = !warp.acc<64x64xf32>

// CHECK-LABEL: warp.kernel @loop
warp.kernel @loop(%d: memref<?x?xf32>) attributes {target = "sm_90a"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %yes = arith.constant true
  // CHECK: %[[P:.*]] = warp.pipe "p"
  // CHECK: %[[Q:.*]] = warp.pipe "q"
  %p = warp.pipe "p" : !ops
  %q = warp.pipe "q" : !ops
  %s = warp.pipe "sums" : !regs
  warp.role @mma stages ["mma"] warps 0 to 4 {
    %first = warp.acquire %s : !regs
    // CHECK: %[[SUM:.*]] = scf.for
    %sum = scf.for %k = %c0 to %c1 step %c1 iter_args(%acc = %first) -> (!acc) {
      %a = warp.wait %p : !ops
      %b = warp.wait %q : !ops
      // CHECK: %[[NEXT:.*]] = warp.mma
      %next = warp.mma %a, %b, %acc accumulate %yes : !tile, !tile, !acc
      // CHECK-NEXT: warp.release %[[P]] lag 1 after %[[NEXT]]
      // CHECK-NEXT: warp.release %[[Q]] lag 1 after %[[NEXT]]
      warp.release %p after %next : !ops, !acc
      warp.release %q after %next : !ops, !acc
      // CHECK-NEXT: scf.yield %[[NEXT]]
      scf.yield %next : !acc
    }
    // The last slots go back after the loop, in the order of the loop.
    // CHECK: %[[DONE:.*]] = warp.mma_wait %[[SUM]]
    // CHECK-NEXT: warp.release %[[P]] :
    // CHECK-NEXT: warp.release %[[Q]] :
    // CHECK-NEXT: warp.store %[[DONE]]
    warp.store %sum to %d[%c0, %c0] : !acc, memref<?x?xf32> {
    ^bb0(%e: f32, %i: index, %j: index):
      warp.yield %e : f32
    }
  }
}

// Two multiplications an iteration: both releases go behind the second, so that one wait,
// for all groups but this iteration's two, serves them.
// CHECK-LABEL: warp.kernel @chain
warp.kernel @chain(%d: memref<?x?xf32>) attributes {target = "sm_90a"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %yes = arith.constant true
  // CHECK: %[[P:.*]] = warp.pipe "p"
  // CHECK: %[[Q:.*]] = warp.pipe "q"
  %p = warp.pipe "p" : !ops
  %q = warp.pipe "q" : !ops
  %s = warp.pipe "sums" : !regs
  warp.role @mma stages ["mma"] warps 0 to 4 {
    %first = warp.acquire %s : !regs
    %sum = scf.for %k = %c0 to %c1 step %c1 iter_args(%acc = %first) -> (!acc) {
      %a = warp.wait %p : !ops
      // CHECK: %[[ONE:.*]] = warp.mma
      %one = warp.mma %a, %a, %acc accumulate %yes : !tile, !tile, !acc
      // CHECK-NEXT: warp.wait %[[Q]]
      warp.release %p after %one : !ops, !acc
      %b = warp.wait %q : !ops
      // CHECK: %[[TWO:.*]] = warp.mma
      %two = warp.mma %b, %b, %one accumulate %yes : !tile, !tile, !acc
      // CHECK-NEXT: warp.release %[[P]] lag 1 after %[[ONE]]
      // CHECK-NEXT: warp.release %[[Q]] lag 1 after %[[TWO]]
      warp.release %q after %two : !ops, !acc
      scf.yield %two : !acc
    }
    // CHECK: warp.mma_wait
    // CHECK-NEXT: warp.release %[[P]] :
    // CHECK-NEXT: warp.release %[[Q]] :
  }
}

// Outside of such a loop there is no later iteration to wait for.
// CHECK-LABEL: warp.kernel @straight
warp.kernel @straight(%d: memref<?x?xf32>) attributes {target = "sm_90a"} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  // CHECK: %[[P:.*]] = warp.pipe "p"
  %p = warp.pipe "p" : !ops
  %s = warp.pipe "sums" : !regs
  warp.role @mma stages ["mma"] warps 0 to 4 {
    %first = warp.acquire %s : !regs
    %a = warp.wait %p : !ops
    // CHECK: %[[SUM:.*]] = warp.mma
    %sum = warp.mma %a, %a, %first accumulate %yes : !tile, !tile, !acc
    // CHECK-NEXT: %[[DONE:.*]] = warp.mma_wait %[[SUM]]
    // CHECK-NEXT: warp.release %[[P]] :
    warp.release %p after %sum : !ops, !acc
    // CHECK-NEXT: warp.store %[[DONE]]
    warp.store %sum to %d[%c0, %c0] : !acc, memref<?x?xf32> {
    ^bb0(%e: f32, %i: index, %j: index):
      warp.yield %e : f32
    }
  }
}

// A result that is read without any release is waited for too.
// CHECK-LABEL: warp.kernel @read_only
warp.kernel @read_only(%d: memref<?x?xf32>) attributes {target = "sm_90a"} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %p = warp.pipe "p" : !ops
  %s = warp.pipe "sums" : !regs
  warp.role @mma stages ["mma"] warps 0 to 4 {
    %first = warp.acquire %s : !regs
    %a = warp.wait %p : !ops
    // CHECK: %[[SUM:.*]] = warp.mma
    %sum = warp.mma %a, %a, %first accumulate %yes : !tile, !tile, !acc
    // CHECK-NEXT: %[[DONE:.*]] = warp.mma_wait %[[SUM]]
    // CHECK-NEXT: warp.store %[[DONE]]
    warp.store %sum to %d[%c0, %c0] : !acc, memref<?x?xf32> {
    ^bb0(%e: f32, %i: index, %j: index):
      warp.yield %e : f32
    }
    warp.release %p : !ops
  }
}

// mma.sync is done when it returns; tcgen05 releases by its own commit.
// CHECK-LABEL: warp.kernel @synchronous
warp.kernel @synchronous(%d: memref<?x?xf32>) attributes {target = "sm_120a"} {
  %yes = arith.constant true
  %p = warp.pipe "p" : !ops
  %s = warp.pipe "sums" : !regs
  warp.role @mma stages ["mma"] warps 0 to 4 {
    %first = warp.acquire %s : !regs
    %a = warp.wait %p : !ops
    // CHECK: %[[SUM:.*]] = warp.mma
    %sum = warp.mma %a, %a, %first accumulate %yes : !tile, !tile, !acc
    // CHECK-NEXT: warp.release %{{.*}} after %[[SUM]]
    // CHECK-NEXT: }
    warp.release %p after %sum : !ops, !acc
  }
}

// -----
// expected-error@+1 {{expected a target (run warp-resolve-links), got none}}
warp.kernel @no_target(%d: memref<?x?xf32>) {
}

// -----

!bytes = !warp.pipe<smem, 4, !warp.tile<64x128xf8E4M3FN>>
!regs = !warp.pipe<regs, 1, !warp.acc<64x64xf32>>
!tile = !warp.tile<64x128xf8E4M3FN>
!acc = !warp.acc<64x64xf32>

// One that promotes is done when it returns: its slot goes back at once and nothing waits.
// CHECK-LABEL: warp.kernel @promoted
warp.kernel @promoted(%d: memref<?x?xf32>) attributes {target = "sm_90a"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %yes = arith.constant true
  %p = warp.pipe "p" : !bytes
  %s = warp.pipe "sums" : !regs
  warp.role @mma stages ["mma"] warps 0 to 4 {
    %first = warp.acquire %s : !regs
    %sum = scf.for %k = %c0 to %c1 step %c1 iter_args(%acc = %first) -> (!acc) {
      %a = warp.wait %p : !bytes
      // CHECK: %[[NEXT:.*]] = warp.mma {{.*}} promote
      %next = warp.mma %a, %a, %acc accumulate %yes promote : !tile, !tile, !acc
      // CHECK-NEXT: warp.release %{{.*}} : <smem
      warp.release %p after %next : !bytes, !acc
      // CHECK-NEXT: scf.yield %[[NEXT]]
      scf.yield %next : !acc
    }
    // CHECK-NOT: warp.mma_wait
    // CHECK: warp.store
    warp.store %sum to %d[%c0, %c0] : !acc, memref<?x?xf32> {
    ^bb0(%e: f32, %i: index, %j: index):
      warp.yield %e : f32
    }
  }
}
