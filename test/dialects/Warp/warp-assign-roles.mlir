// Stages become roles: joined through registers where accumulators live there, dealt to
// warps by what their instructions need.
// RUN: heddle-opt %s --warp-assign-roles --split-input-file --verify-diagnostics | FileCheck %s
// RUN: heddle-opt %s --warp-assign-roles --split-input-file --verify-diagnostics | heddle-opt --split-input-file | FileCheck %s

!ops = !warp.pipe<smem, 4, !warp.tile<128x64xbf16>, !warp.tile<64x64xbf16>>
!regs = !warp.pipe<regs, 1, !warp.acc<128x64xf32>>
!acc = !warp.acc<128x64xf32>

// One elected thread loads; the epilogue moves in with the mma that feeds it, on whole
// warpgroups. The schedule's registers pass the pool check: 40 + 2 x 232 of 3 x 168.
// CHECK-LABEL: warp.kernel @hopper
// CHECK-SAME: num_warps = 12 : i64
warp.kernel @hopper(%m: memref<?x?xbf16>, %d: memref<?x?xf32>) attributes {target = "sm_90a",
    schedule = #warp.schedule<tile_m = 128, tile_n = 64, tile_k = 64, stages = 4, load_warps = 4,
      mma_warps = 8, epilogue_warps = 0, acc_stages = 1, store_stages = 0, load_registers = 40,
      mma_registers = 232, raster = 8, copy = bulk, store = direct, ctas_per_sm = 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %yes = arith.constant true
  %s = warp.work_stream(%c1, %c1, %c1) raster 1
  %p = warp.pipe "operands" : !ops
  // CHECK: %[[SUMS:.*]] = warp.pipe "sums"
  %q = warp.pipe "sums" : !regs
  // CHECK: warp.role @load stages ["load"] warps 0 to 1 registers 40 {
  warp.stage @load {
    warp.for_each(%i, %j, %b) in %s {
      scf.for %k = %c0 to %c1 step %c1 {
        %x, %y = warp.acquire %p : !ops
        warp.copy %m[%i, %k] to %x engine bulk : memref<?x?xbf16>, !warp.tile<128x64xbf16>
        warp.copy %m[%j, %k] to %y engine bulk : memref<?x?xbf16>, !warp.tile<64x64xbf16>
        warp.commit %p : !ops
      }
    }
  }
  // CHECK: warp.role @mma stages ["mma", "epilogue"] warps 4 to 12 registers 232 {
  // CHECK-NEXT: warp.for_each(%[[I:.*]], %[[J:.*]], %{{.*}}) in
  // CHECK-NEXT: %[[FIRST:.*]] = warp.acquire %[[SUMS]]
  // CHECK-NEXT: %[[SUM:.*]] = scf.for
  // CHECK: }
  // CHECK-NOT: warp.commit %[[SUMS]]
  // CHECK-NOT: warp.wait %[[SUMS]]
  // CHECK: warp.store %[[SUM]] to %{{.*}}[%[[I]], %[[J]]]
  // CHECK-NOT: warp.release %[[SUMS]]
  // CHECK-NOT: warp.stage
  warp.stage @mma {
    warp.for_each(%i, %j, %b) in %s {
      %first = warp.acquire %q : !regs
      %sum = scf.for %k = %c0 to %c1 step %c1 iter_args(%acc = %first) -> (!acc) {
        %x, %y = warp.wait %p : !ops
        %next = warp.mma %x, %y, %acc accumulate %yes : !warp.tile<128x64xbf16>, !warp.tile<64x64xbf16>, !acc
        warp.release %p after %next : !ops, !acc
        scf.yield %next : !acc
      }
      warp.commit %q, %sum : !regs, !acc
    }
  }
  warp.stage @epilogue {
    warp.for_each(%i, %j, %b) in %s {
      %sum = warp.wait %q : !regs
      warp.store %sum to %d[%i, %j] : !acc, memref<?x?xf32> {
      ^bb0(%e: f32, %ei: index, %ej: index):
        warp.yield %e : f32
      }
      warp.release %q : !regs
    }
  }
}

// -----
!ops = !warp.pipe<smem, 4, !warp.tile<128x64xbf16>, !warp.tile<64x64xbf16>>
!tmem = !warp.pipe<tmem, 2, !warp.acc<128x64xf32>>
!out = !warp.pipe<smem, 2, !warp.tile<128x32xf32>>
!acc = !warp.acc<128x64xf32>
// Load, mma and store are one thread's work each and share the first warpgroup; who reads
// tensor memory starts at a multiple of 4.
// CHECK-LABEL: warp.kernel @blackwell
// CHECK-SAME: num_warps = 8 : i64
warp.kernel @blackwell(%m: memref<?x?xbf16>, %d: memref<?x?xf32>) attributes {target = "sm_100a"} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %p = warp.pipe "operands" : !ops
  %q = warp.pipe "sums" : !tmem
  %o = warp.pipe "out" : !out
  // CHECK: warp.role @load stages ["load"] warps 0 to 1 {
  warp.stage @load {
    %x, %y = warp.acquire %p : !ops
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !warp.tile<128x64xbf16>
    warp.copy %m[%c0, %c0] to %y engine bulk : memref<?x?xbf16>, !warp.tile<64x64xbf16>
    warp.commit %p : !ops
  }
  // CHECK: warp.role @mma stages ["mma"] warps 1 to 2 {
  // CHECK: warp.commit %{{.*}}, %{{.*}} : <tmem
  warp.stage @mma {
    %first = warp.acquire %q : !tmem
    %x, %y = warp.wait %p : !ops
    %sum = warp.mma %x, %y, %first accumulate %yes : !warp.tile<128x64xbf16>, !warp.tile<64x64xbf16>, !acc
    warp.release %p after %sum : !ops, !acc
    warp.commit %q, %sum : !tmem, !acc
  }
  // CHECK: warp.role @store stages ["store"] warps 2 to 3 {
  // CHECK: warp.role @epilogue stages ["epilogue"] warps 4 to 8 {
  warp.stage @epilogue {
    %sum = warp.wait %q : !tmem
    %t = warp.acquire %o : !out
    warp.pack %sum columns 0 at (%c0, %c0) to %t : !acc, !warp.tile<128x32xf32> {
    ^bb0(%e: f32, %ei: index, %ej: index):
      warp.yield %e : f32
    }
    warp.commit %o : !out
    warp.release %q : !tmem
  }
  warp.stage @store {
    %t = warp.wait %o : !out
    warp.copy %t to %d[%c0, %c0] engine bulk : !warp.tile<128x32xf32>, memref<?x?xf32>
    warp.release %o : !out
  }
}

// -----
!a = !warp.pipe<smem, 2, !warp.tile<128x64xbf16>>
// A stage's own warps win; threads that load get four.
// CHECK-LABEL: warp.kernel @warps
// CHECK-SAME: num_warps = 6 : i64
warp.kernel @warps(%m: memref<?x?xbf16>) attributes {target = "sm_80"} {
  %c0 = arith.constant 0 : index
  %p = warp.pipe "a" : !a
  %q = warp.pipe "b" : !a
  // CHECK: warp.role @load stages ["load"] warps 0 to 4 {
  warp.stage @load {
    %x = warp.acquire %p : !a
    warp.copy %m[%c0, %c0] to %x engine async : memref<?x?xbf16>, !warp.tile<128x64xbf16>
    warp.commit %p : !a
  }
  // CHECK: warp.role @store stages ["store"] warps 4 to 6 {
  warp.stage @store warps 2 {
    %x = warp.wait %p : !a
    warp.copy %x to %m[%c0, %c0] engine threads : !warp.tile<128x64xbf16>, memref<?x?xbf16>
    warp.release %p : !a
  }
}

// -----
!regs = !warp.pipe<regs, 1, !warp.acc<128x64xf32>>
!out = !warp.pipe<smem, 2, !warp.tile<128x64xbf16>>
!acc = !warp.acc<128x64xf32>
// Loops that run in step become one, with the values that both carry.
// CHECK-LABEL: warp.kernel @nested
warp.kernel @nested(%d: memref<?x?xf32>, %n: memref<?xf32>) attributes {target = "sm_90a"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count = memref.dim %n, %c0 : memref<?xf32>
  %s = warp.work_stream(%c1, %c1, %c1) raster 1
  %q = warp.pipe "sums" : !regs
  // CHECK: warp.role @mma stages ["mma", "epilogue"]
  // CHECK: warp.for_each
  // CHECK: %[[R:.*]]:2 = scf.for %[[T:.*]] = {{.*}} iter_args(%[[U:.*]] = %{{.*}}, %[[V:.*]] = %{{.*}}) -> (index, index)
  // CHECK: %[[A:.*]] = warp.acquire
  // CHECK: warp.store %[[A]] to %{{.*}}[%[[T]], %[[V]]]
  // CHECK: scf.yield
  // CHECK: memref.load %{{.*}}[%[[R]]#0]
  warp.stage @mma {
    warp.for_each(%i, %j, %b) in %s {
      %r = scf.for %t = %c0 to %count step %c1 iter_args(%u = %c0) -> (index) {
        %a = warp.acquire %q : !regs
        warp.commit %q, %a : !regs, !acc
        %u2 = arith.addi %u, %t : index
        scf.yield %u2 : index
      }
      %unused = memref.load %n[%r] : memref<?xf32>
    }
  }
  warp.stage @epilogue {
    warp.for_each(%i, %j, %b) in %s {
      %zero = arith.constant 0 : index
      %count2 = memref.dim %n, %zero : memref<?xf32>
      %r = scf.for %t = %c0 to %count2 step %c1 iter_args(%v = %c1) -> (index) {
        %sum = warp.wait %q : !regs
        warp.store %sum to %d[%t, %v] : !acc, memref<?x?xf32> {
        ^bb0(%e: f32, %ei: index, %ej: index):
          warp.yield %e : f32
        }
        warp.release %q : !regs
        %v2 = arith.muli %v, %t : index
        scf.yield %v2 : index
      }
    }
  }
}

// -----
!regs = !warp.pipe<regs, 1, !warp.acc<128x64xf32>>
!acc = !warp.acc<128x64xf32>
warp.kernel @levels(%d: memref<?x?xf32>) attributes {target = "sm_90a"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{regs pipe "sums" from stage "mma" to stage "epilogue": expected commit and wait in equally many loops, got 1 and 0}}
  %q = warp.pipe "sums" : !regs
  warp.stage @mma {
    scf.for %t = %c0 to %c1 step %c1 {
      %a = warp.acquire %q : !regs
      warp.commit %q, %a : !regs, !acc
    }
  }
  warp.stage @epilogue {
    %sum = warp.wait %q : !regs
    warp.release %q : !regs
  }
}

// -----
!regs = !warp.pipe<regs, 1, !warp.acc<128x64xf32>>
!acc = !warp.acc<128x64xf32>
warp.kernel @bounds(%n: memref<?x?xf32>) attributes {target = "sm_90a"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m0 = memref.dim %n, %c0 : memref<?x?xf32>
  %m1 = memref.dim %n, %c1 : memref<?x?xf32>
  // expected-error@+1 {{regs pipe "sums" from stage "mma" to stage "epilogue": expected loops of equal iterations around commit and wait}}
  %q = warp.pipe "sums" : !regs
  warp.stage @mma {
    // expected-note@+1 {{loop around the commit}}
    scf.for %t = %c0 to %m0 step %c1 {
      %a = warp.acquire %q : !regs
      warp.commit %q, %a : !regs, !acc
    }
  }
  warp.stage @epilogue {
    // expected-note@+1 {{loop around the wait}}
    scf.for %t = %c0 to %m1 step %c1 {
      %sum = warp.wait %q : !regs
      warp.release %q : !regs
    }
  }
}

// -----
!regs = !warp.pipe<regs, 1, !warp.acc<128x64xf32>>
!acc = !warp.acc<128x64xf32>
warp.kernel @twice(%n: memref<?x?xf32>) attributes {target = "sm_90a"} {
  // expected-error@+1 {{expected one acquire, one commit and one wait a consumer on regs pipe "sums", got 2, 2 and 1 in 1 consumers}}
  %q = warp.pipe "sums" : !regs
  warp.stage @mma {
    %a = warp.acquire %q : !regs
    warp.commit %q, %a : !regs, !acc
    %b = warp.acquire %q : !regs
    warp.commit %q, %b : !regs, !acc
  }
  warp.stage @epilogue {
    %sum = warp.wait %q : !regs
    warp.release %q : !regs
  }
}

// -----
warp.kernel @unresolved(%n: memref<?x?xf32>) attributes {target = "sm_90a"} {
  // expected-error@+1 {{expected a resolved link (run warp-resolve-links), got accumulator}}
  %q = warp.pipe "sums" : !warp.pipe<accumulator, 1, !warp.acc<128x64xf32>>
  warp.stage @nothing {
  }
}

// -----
// 40/240 hangs an H200: 40 + 240 + 240 of 3 x 168.
!ops = !warp.pipe<smem, 4, !warp.tile<128x64xbf16>, !warp.tile<64x64xbf16>>
!regs = !warp.pipe<regs, 1, !warp.acc<128x64xf32>>
// expected-error@+1 {{expected the warpgroups to share 504 registers (168 at launch x 3 warpgroups), got 520 (40 + 240 + 240)}}
warp.kernel @pool(%m: memref<?x?xbf16>) attributes {target = "sm_90a",
    schedule = #warp.schedule<tile_m = 128, tile_n = 64, tile_k = 64, stages = 4, load_warps = 4,
      mma_warps = 8, epilogue_warps = 0, acc_stages = 1, store_stages = 0, load_registers = 40,
      mma_registers = 240, raster = 8, copy = bulk, store = direct, ctas_per_sm = 1>} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %p = warp.pipe "operands" : !ops
  %q = warp.pipe "sums" : !regs
  warp.stage @load {
    %x, %y = warp.acquire %p : !ops
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !warp.tile<128x64xbf16>
    warp.copy %m[%c0, %c0] to %y engine bulk : memref<?x?xbf16>, !warp.tile<64x64xbf16>
    warp.commit %p : !ops
  }
  warp.stage @mma {
    %first = warp.acquire %q : !regs
    %x, %y = warp.wait %p : !ops
    %sum = warp.mma %x, %y, %first accumulate %yes : !warp.tile<128x64xbf16>, !warp.tile<64x64xbf16>, !warp.acc<128x64xf32>
    warp.release %p after %sum : !ops, !warp.acc<128x64xf32>
    warp.commit %q, %sum : !regs, !warp.acc<128x64xf32>
  }
  warp.stage @epilogue {
    %sum = warp.wait %q : !regs
    warp.release %q : !regs
  }
}

// -----
// expected-error@+1 {{expected load_registers and mma_registers to be 0, since sm_80 cannot move registers between warps, got 40 and 232}}
warp.kernel @no_setmaxnreg(%m: memref<?x?xbf16>) attributes {target = "sm_80",
    schedule = #warp.schedule<tile_m = 128, tile_n = 64, tile_k = 64, stages = 4, load_warps = 4,
      mma_warps = 8, epilogue_warps = 0, acc_stages = 1, store_stages = 0, load_registers = 40,
      mma_registers = 232, raster = 8, copy = async, store = direct, ctas_per_sm = 1>} {
  warp.stage @nothing {
  }
}

// -----
!a = !warp.pipe<smem, 2, !warp.tile<128x64xbf16>>
// expected-error@+1 {{expected at most 32 warps a CTA on sm_90a, got 40: load 20 store 20}}
warp.kernel @too_many(%m: memref<?x?xbf16>) attributes {target = "sm_90a"} {
  %c0 = arith.constant 0 : index
  %p = warp.pipe "a" : !a
  warp.stage @load warps 20 {
    %x = warp.acquire %p : !a
    warp.copy %m[%c0, %c0] to %x engine async : memref<?x?xbf16>, !warp.tile<128x64xbf16>
    warp.commit %p : !a
  }
  warp.stage @store warps 20 {
    %x = warp.wait %p : !a
    warp.copy %x to %m[%c0, %c0] engine threads : !warp.tile<128x64xbf16>, memref<?x?xbf16>
    warp.release %p : !a
  }
}

// -----
!ops = !warp.pipe<smem, 2, !warp.tile<64x64xbf16>>
!regs = !warp.pipe<regs, 1, !warp.acc<64x64xf32>>
warp.kernel @warpgroups(%m: memref<?x?xbf16>) attributes {target = "sm_90a"} {
  %yes = arith.constant true
  %p = warp.pipe "operands" : !ops
  %q = warp.pipe "sums" : !regs
  // expected-error@+1 {{expected warps that can divide '!warp.acc<64x64xf32>' into 64 rows a warpgroup of 4 warps, got 8 warps}}
  warp.stage @mma warps 8 {
    %first = warp.acquire %q : !regs
    %x = warp.wait %p : !ops
    %sum = warp.mma %x, %x, %first accumulate %yes : !warp.tile<64x64xbf16>, !warp.tile<64x64xbf16>, !warp.acc<64x64xf32>
    warp.release %p after %sum : !ops, !warp.acc<64x64xf32>
    warp.commit %q, %sum : !regs, !warp.acc<64x64xf32>
  }
  warp.stage @epilogue {
    %sum = warp.wait %q : !regs
    warp.release %q : !regs
  }
}

// -----
// expected-error@+1 {{expected at least one role, got none}}
warp.kernel @empty(%m: memref<?x?xbf16>) attributes {target = "sm_90a"} {
}

// -----
// Roles that somebody else has assigned are kept.
// CHECK-LABEL: warp.kernel @assigned
// CHECK-SAME: num_warps = 12 : i64
warp.kernel @assigned(%m: memref<?x?xbf16>) attributes {target = "sm_90a"} {
  // CHECK: warp.role @a stages ["a"] warps 8 to 12 {
  warp.role @a stages ["a"] warps 8 to 12 {
  }
}

// -----
warp.kernel @both(%m: memref<?x?xbf16>) attributes {target = "sm_90a"} {
  // expected-error@+1 {{expected either stages or roles in a kernel, got both}}
  warp.role @a stages ["a"] warps 8 to 12 {
  }
  warp.stage @nothing {
  }
}

// -----
!p = !warp.pipe<smem, 2, !warp.tile<128x64xbf16>>
!tmem = !warp.pipe<tmem, 1, !warp.acc<128x128xf32>>
!acc = !warp.acc<128x128xf32>
// Threads that load fit beside the mma's warp, before the warpgroup of the epilogue.
// CHECK-LABEL: warp.kernel @gap
// CHECK-SAME: num_warps = 8 : i64
// CHECK: warp.role @mma stages ["mma"] warps 0 to 1 {
// CHECK: warp.role @load stages ["load"] warps 1 to 3 {
// CHECK: warp.role @epilogue stages ["epilogue"] warps 4 to 8 {
warp.kernel @gap(%m: memref<?x?xbf16>, %d: memref<?x?xf32>) attributes {target = "sm_100a"} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %p = warp.pipe "operands" : !p
  %q = warp.pipe "sums" : !tmem
  warp.stage @load warps 2 {
    %x = warp.acquire %p : !p
    warp.copy %m[%c0, %c0] to %x engine async : memref<?x?xbf16>, !warp.tile<128x64xbf16>
    warp.commit %p : !p
  }
  warp.stage @mma {
    %first = warp.acquire %q : !tmem
    %x = warp.wait %p : !p
    %sum = warp.mma %x, %x, %first accumulate %yes : !warp.tile<128x64xbf16>, !warp.tile<128x64xbf16>, !acc
    warp.release %p after %sum : !p, !acc
    warp.commit %q, %sum : !tmem, !acc
  }
  warp.stage @epilogue {
    %sum = warp.wait %q : !tmem
    warp.store %sum to %d[%c0, %c0] : !acc, memref<?x?xf32> {
    ^bb0(%e: f32, %ei: index, %ej: index):
      warp.yield %e : f32
    }
    warp.release %q : !tmem
  }
}

// -----
!p = !warp.pipe<smem, 2, !warp.tile<128x64xbf16>>
!regs = !warp.pipe<regs, 1, !warp.acc<128x128xf32>>
!acc = !warp.acc<128x128xf32>
// The warp that stores in bulk is one of the schedule's load warps; those that load have as
// many registers and share its warpgroup.
// CHECK-LABEL: warp.kernel @loaders_and_storer
// CHECK-SAME: num_warps = 12 : i64
// CHECK: warp.role @store stages ["store"] warps 0 to 1 registers 40 {
// CHECK: warp.role @load stages ["load"] warps 1 to 4 registers 40 {
// CHECK: warp.role @mma stages ["mma", "epilogue"] warps 4 to 12 registers 232 {
warp.kernel @loaders_and_storer(%m: memref<?x?xbf16>) attributes {target = "sm_90a",
    schedule = #warp.schedule<tile_m = 128, tile_n = 128, tile_k = 64, stages = 2, load_warps = 4,
      mma_warps = 8, epilogue_warps = 0, acc_stages = 1, store_stages = 2, load_registers = 40,
      mma_registers = 232, raster = 8, copy = async, store = bulk, ctas_per_sm = 1>} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %p = warp.pipe "operands" : !p
  %q = warp.pipe "sums" : !regs
  %o = warp.pipe "out" : !p
  warp.stage @load {
    %x = warp.acquire %p : !p
    warp.copy %m[%c0, %c0] to %x engine async : memref<?x?xbf16>, !warp.tile<128x64xbf16>
    warp.commit %p : !p
  }
  warp.stage @mma {
    %first = warp.acquire %q : !regs
    %x = warp.wait %p : !p
    %sum = warp.mma %x, %x, %first accumulate %yes : !warp.tile<128x64xbf16>, !warp.tile<128x64xbf16>, !acc
    warp.release %p after %sum : !p, !acc
    warp.commit %q, %sum : !regs, !acc
  }
  warp.stage @epilogue {
    %sum = warp.wait %q : !regs
    %t = warp.acquire %o : !p
    warp.pack %sum columns 0 at (%c0, %c0) to %t : !acc, !warp.tile<128x64xbf16> {
    ^bb0(%e: f32, %ei: index, %ej: index):
      %h = arith.truncf %e : f32 to bf16
      warp.yield %h : bf16
    }
    warp.commit %o : !p
    warp.release %q : !regs
  }
  warp.stage @store {
    %t = warp.wait %o : !p
    warp.copy %t to %m[%c0, %c0] engine bulk : !warp.tile<128x64xbf16>, memref<?x?xbf16>
    warp.release %o : !p
  }
}
