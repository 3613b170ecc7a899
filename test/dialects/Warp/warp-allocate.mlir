// Slots and barriers get their places, barriers their arrival counts; what does not fit is
// refused with limit, need and have.
// RUN: heddle-opt %s --warp-allocate --split-input-file --verify-diagnostics | FileCheck %s

!ops = !warp.pipe<smem, 4, !warp.tile<128x64xbf16>, !warp.tile<64x64xbf16>>
!regs = !warp.pipe<regs, 1, !warp.acc<128x64xf32>>
!out = !warp.pipe<smem, 2, !warp.tile<128x64xbf16>>
!a = !warp.tile<128x64xbf16>
!b = !warp.tile<64x64xbf16>
!acc = !warp.acc<128x64xf32>

// The bulk copies' thread arrives once on full barriers, the 8 warps of the consumer once
// each on empty ones, and the other way round for the packed result.
// CHECK-LABEL: warp.kernel @hopper
// CHECK-SAME: shared_bytes = 132096 : i64
warp.kernel @hopper(%m: memref<?x?xbf16>) attributes {target = "sm_90a"} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  // CHECK: warp.pipe "operands" {barriers = 0 : i64, consumers = 8 : i64, offset = 1024 : i64, producers = 1 : i64}
  %p = warp.pipe "operands" : !ops
  // CHECK: warp.pipe "sums" : <regs
  %s = warp.pipe "sums" : !regs
  // CHECK: warp.pipe "out" {barriers = 64 : i64, consumers = 1 : i64, offset = 99328 : i64, producers = 8 : i64}
  %o = warp.pipe "out" : !out
  warp.role @load stages ["load"] warps 0 to 1 {
    %x, %y = warp.acquire %p : !ops
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !a
    warp.copy %m[%c0, %c0] to %y engine bulk : memref<?x?xbf16>, !b
    warp.commit %p : !ops
  }
  warp.role @mma stages ["mma", "epilogue"] warps 4 to 12 {
    %c = warp.acquire %s : !regs
    %x, %y = warp.wait %p : !ops
    %r = warp.mma %x, %y, %c accumulate %yes : !a, !b, !acc
    %w = warp.mma_wait %r : !acc
    warp.release %p : !ops
    %t = warp.acquire %o : !out
    warp.pack %w columns 0 at (%c0, %c0) to %t : !acc, !a {
    ^bb0(%e: f32, %i: index, %j: index):
      %h = arith.truncf %e : f32 to bf16
      warp.yield %h : bf16
    }
    warp.commit %o : !out
  }
  warp.role @store stages ["store"] warps 1 to 2 {
    %t = warp.wait %o : !out
    warp.copy %t to %m[%c0, %c0] engine bulk : !a, memref<?x?xbf16>
    warp.release %o : !out
  }
}

// cp.async arrives for each thread; two consumers count together.
// CHECK-LABEL: warp.kernel @ampere
warp.kernel @ampere(%m: memref<?x?xbf16>) attributes {target = "sm_80"} {
  %c0 = arith.constant 0 : index
  // CHECK: warp.pipe "a" {barriers = 0 : i64, consumers = 6 : i64, offset = 1024 : i64, producers = 128 : i64}
  %p = warp.pipe "a" : !out
  // CHECK: warp.pipe "b" {barriers = 32 : i64, consumers = 2 : i64, offset = 33792 : i64, producers = 4 : i64}
  %q = warp.pipe "b" : !out
  warp.role @load stages ["load"] warps 0 to 4 {
    %x = warp.acquire %p : !out
    warp.copy %m[%c0, %c0] to %x engine async : memref<?x?xbf16>, !a
    warp.commit %p : !out
  }
  warp.role @copy stages ["copy"] warps 4 to 8 {
    %x = warp.wait %p : !out
    %y = warp.acquire %q : !out
    warp.map %x to %y : !a, !a {
    ^bb0(%e: bf16, %i: index, %j: index):
      warp.yield %e : bf16
    }
    warp.commit %q : !out
    warp.release %p : !out
  }
  warp.role @store stages ["store"] warps 8 to 10 {
    %x = warp.wait %p : !out
    %y = warp.wait %q : !out
    warp.copy %y to %m[%c0, %c0] engine threads : !a, memref<?x?xbf16>
    warp.release %p : !out
    warp.release %q : !out
  }
}

// Tensor memory: columns in a row, the whole rounded up to a power of two; its address lies
// behind the barriers.
// CHECK-LABEL: warp.kernel @blackwell
// CHECK-SAME: tmem_address = 112 : i64, tmem_columns = 256 : i64
!tmem = !warp.pipe<tmem, 2, !warp.acc<128x64xf32>>
!tmem1 = !warp.pipe<tmem, 1, !warp.acc<128x64xf32>>
warp.kernel @blackwell(%m: memref<?x?xf32>, %z: memref<128x64xbf16>) attributes {target = "sm_100a"} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  // CHECK: warp.pipe "operands" {barriers = 0 : i64, consumers = 1 : i64, offset = 1024 : i64, producers = 4 : i64}
  %p = warp.pipe "operands" : !ops
  // CHECK: warp.pipe "sums" {barriers = 64 : i64, consumers = 4 : i64, offset = 0 : i64, producers = 1 : i64}
  %s = warp.pipe "sums" : !tmem
  // CHECK: warp.pipe "more" {barriers = 96 : i64, consumers = 4 : i64, offset = 128 : i64, producers = 1 : i64}
  %t = warp.pipe "more" : !tmem1
  warp.role @load stages ["load"] warps 8 to 12 {
    %x, %y = warp.acquire %p : !ops
    warp.copy %z[%c0, %c0] to %x engine threads : memref<128x64xbf16>, !a
    warp.copy %z[%c0, %c0] to %y engine threads : memref<128x64xbf16>, !b
    warp.commit %p : !ops
  }
  warp.role @mma stages ["mma"] warps 0 to 1 {
    %c = warp.acquire %s : !tmem
    %d = warp.acquire %t : !tmem1
    %x, %y = warp.wait %p : !ops
    %r = warp.mma %x, %y, %c accumulate %yes : !a, !b, !acc
    %q = warp.mma %x, %y, %d accumulate %yes : !a, !b, !acc
    warp.release %p after %q : !ops, !acc
    warp.commit %s, %r : !tmem, !acc
    warp.commit %t, %q : !tmem1, !acc
  }
  warp.role @epilogue stages ["epilogue"] warps 4 to 8 {
    %u = warp.wait %s : !tmem
    %v = warp.wait %t : !tmem1
    warp.store %u to %m[%c0, %c0] : !acc, memref<?x?xf32> {
    ^bb0(%e: f32, %i: index, %j: index):
      warp.yield %e : f32
    }
    warp.release %s : !tmem
    warp.release %t : !tmem1
  }
}

// -----
!big = !warp.pipe<smem, 8, !warp.tile<256x64xbf16>>
// expected-error@+1 {{expected at most 232448 bytes of shared memory on sm_90a, got 263168 (1024 barriers + 8 x 32768 big)}}
warp.kernel @shared(%m: memref<?x?xbf16>) attributes {target = "sm_90a"} {
  %c0 = arith.constant 0 : index
  %p = warp.pipe "big" : !big
  warp.role @load stages ["load"] warps 0 to 1 {
    %x = warp.acquire %p : !big
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !warp.tile<256x64xbf16>
    warp.commit %p : !big
  }
  warp.role @store stages ["store"] warps 1 to 2 {
    %x = warp.wait %p : !big
    warp.copy %x to %m[%c0, %c0] engine bulk : !warp.tile<256x64xbf16>, memref<?x?xbf16>
    warp.release %p : !big
  }
}

// -----
!tmem = !warp.pipe<tmem, 3, !warp.acc<128x256xf32>>
!ops = !warp.pipe<smem, 1, !warp.tile<128x64xbf16>, !warp.tile<256x64xbf16>>
!acc = !warp.acc<128x256xf32>
// expected-error@+1 {{expected at most 512 columns of tensor memory on sm_100a, got 1024 (3 x 256 sums, rounded up to a power of two)}}
warp.kernel @columns(%m: memref<?x?xbf16>) attributes {target = "sm_100a"} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %p = warp.pipe "operands" : !ops
  %s = warp.pipe "sums" : !tmem
  warp.role @load stages ["load"] warps 0 to 1 {
    %x, %y = warp.acquire %p : !ops
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !warp.tile<128x64xbf16>
    warp.copy %m[%c0, %c0] to %y engine bulk : memref<?x?xbf16>, !warp.tile<256x64xbf16>
    warp.commit %p : !ops
  }
  warp.role @mma stages ["mma"] warps 1 to 2 {
    %c = warp.acquire %s : !tmem
    %x, %y = warp.wait %p : !ops
    %r = warp.mma %x, %y, %c accumulate %yes : !warp.tile<128x64xbf16>, !warp.tile<256x64xbf16>, !acc
    warp.release %p after %r : !ops, !acc
    warp.commit %s, %r : !tmem, !acc
  }
  warp.role @epilogue stages ["epilogue"] warps 4 to 8 {
    %r = warp.wait %s : !tmem
    warp.release %s : !tmem
  }
}

// -----
!p = !warp.pipe<smem, 64, !warp.tile<8x64xbf16>>
// expected-error@+1 {{expected at most 1024 bytes of barriers, got 2048}}
warp.kernel @barriers(%m: memref<?x?xbf16>) attributes {target = "sm_90a"} {
  %c0 = arith.constant 0 : index
  %p = warp.pipe "p" : !p
  %q = warp.pipe "q" : !p
  warp.role @load stages ["load"] warps 0 to 1 {
    %x = warp.acquire %p : !p
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !warp.tile<8x64xbf16>
    warp.commit %p : !p
    %y = warp.acquire %q : !p
    warp.copy %m[%c0, %c0] to %y engine bulk : memref<?x?xbf16>, !warp.tile<8x64xbf16>
    warp.commit %q : !p
  }
  warp.role @store stages ["store"] warps 1 to 2 {
    %x = warp.wait %p : !p
    warp.copy %x to %m[%c0, %c0] engine bulk : !warp.tile<8x64xbf16>, memref<?x?xbf16>
    warp.release %p : !p
    %y = warp.wait %q : !p
    warp.copy %y to %m[%c0, %c0] engine bulk : !warp.tile<8x64xbf16>, memref<?x?xbf16>
    warp.release %q : !p
  }
}

// -----
!p = !warp.pipe<smem, 2, !warp.tile<8x64xbf16>, !warp.tile<8x64xbf16>>
warp.kernel @mixed(%m: memref<?x?xbf16>) attributes {target = "sm_90a"} {
  %c0 = arith.constant 0 : index
  %p = warp.pipe "p" : !p
  warp.role @load stages ["load"] warps 0 to 4 {
    %x, %y = warp.acquire %p : !p
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !warp.tile<8x64xbf16>
    // expected-error@+1 {{expected slots of pipe "p" to be filled in one way, got the copy engine and threads}}
    warp.copy %m[%c0, %c0] to %y engine threads : memref<?x?xbf16>, !warp.tile<8x64xbf16>
    warp.commit %p : !p
  }
  warp.role @store stages ["store"] warps 4 to 5 {
    %x, %y = warp.wait %p : !p
    warp.release %p : !p
  }
}

// -----
!p = !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
warp.kernel @unwritten(%m: memref<?x?xbf16>) attributes {target = "sm_90a"} {
  // expected-error@+1 {{expected role "load" to write to pipe "p", got no write}}
  %p = warp.pipe "p" : !p
  warp.role @load stages ["load"] warps 0 to 4 {
    %x = warp.acquire %p : !p
    warp.commit %p : !p
  }
  warp.role @store stages ["store"] warps 4 to 5 {
    %x = warp.wait %p : !p
    warp.release %p : !p
  }
}

// -----
!p = !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
warp.kernel @stages(%m: memref<?x?xbf16>) attributes {target = "sm_90a"} {
  %p = warp.pipe "p" : !p
  // expected-error@+1 {{expected roles (run warp-assign-roles), got a stage}}
  warp.stage @load {
    %x = warp.acquire %p : !p
    warp.commit %p : !p
  }
  warp.stage @store {
    %x = warp.wait %p : !p
    warp.release %p : !p
  }
}

// -----
!p = !warp.pipe<smem, 2, !warp.tile<8x64xbf16>, !warp.tile<8x64xbf16>>
warp.kernel @half_written(%m: memref<?x?xbf16>) attributes {target = "sm_80"} {
  %c0 = arith.constant 0 : index
  %p = warp.pipe "p" : !p
  warp.role @load stages ["load"] warps 0 to 4 {
    // expected-error@+1 {{expected a write to part 1 of a slot of pipe "p", got 0}}
    %x, %y = warp.acquire %p : !p
    warp.copy %m[%c0, %c0] to %x engine async : memref<?x?xbf16>, !warp.tile<8x64xbf16>
    warp.commit %p : !p
  }
  warp.role @store stages ["store"] warps 4 to 5 {
    %x, %y = warp.wait %p : !p
    warp.release %p : !p
  }
}

// -----
!p = !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
// The barrier would count more bytes than a slot has.
warp.kernel @twice(%m: memref<?x?xbf16>) attributes {target = "sm_90a"} {
  %c0 = arith.constant 0 : index
  %p = warp.pipe "p" : !p
  warp.role @load stages ["load"] warps 0 to 1 {
    // expected-error@+1 {{expected one bulk copy to part 0 of a slot of pipe "p", got 2}}
    %x = warp.acquire %p : !p
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !warp.tile<8x64xbf16>
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !warp.tile<8x64xbf16>
    warp.commit %p : !p
  }
  warp.role @store stages ["store"] warps 4 to 5 {
    %x = warp.wait %p : !p
    warp.release %p : !p
  }
}
