// RUN: heddle-opt %s --convert-warp-to-nvvm --canonicalize --cse --split-input-file | FileCheck %s

!tile = !warp.tile<64x64xbf16>
!out = !warp.pipe<smem, 2, !tile>
!regs = !warp.pipe<regs, 1, !warp.acc<64x256xf32>>

// Four chunks of a long element region are one loop that stays one. A thread has 32 elements of a
// chunk; the code is there for 16 of them, which a switch takes from its 128 registers.
// CHECK-LABEL: llvm.func @long_chunks
warp.kernel @long_chunks() attributes {target = "sm_90a", num_warps = 4 : i64, shared_bytes = 20480 : i64} {
  // CHECK-DAG: %[[FIRST:.*]] = arith.constant 0 : i32
  // CHECK-DAG: %[[END:.*]] = arith.constant 256 : i32
  // CHECK-DAG: %[[STEP:.*]] = arith.constant 64 : i32
  // CHECK-DAG: %[[HALF:.*]] = arith.constant 32 : i32
  %zero = arith.constant 0 : index
  %accs = warp.pipe "accumulator" : !regs
  %out = warp.pipe "out" {offset = 1024 : i64, barriers = 0 : i64, producers = 4 : i64, consumers = 1 : i64} : !out
  warp.role @mma stages ["mma"] warps 0 to 4 {
    %acc = warp.acquire %accs : !regs
    // CHECK: scf.for %[[CHUNK:.*]] = %[[FIRST]] to %[[END]] step %[[STEP]]
    // CHECK: ptx.mbarrier_wait
    // CHECK: %[[TO:.*]] = arith.addi %[[CHUNK]], %[[STEP]]
    // CHECK: scf.for %[[COL:.*]] = %[[CHUNK]] to %[[TO]] step %[[HALF]]
    // CHECK: scf.index_switch {{.*}} -> f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32
    // CHECK: case 6
    // CHECK-NOT: case 7
    // CHECK: default
    // CHECK-COUNT-16: math.tanh
    // CHECK-NOT: math.tanh
    // CHECK-COUNT-2: ptx.stmatrix
    // CHECK: nvvm.bar.warp.sync
    // CHECK-NOT: ptx.mbarrier_wait
    // CHECK: llvm.return
    %t0 = warp.acquire %out : !out
    warp.pack %acc columns 0 at (%zero, %zero) to %t0 : !warp.acc<64x256xf32>, !tile {
    ^bb0(%x: f32, %i: index, %j: index):
      %y = math.tanh %x : f32
      %z = arith.truncf %y : f32 to bf16
      warp.yield %z : bf16
    }
    warp.commit %out : !out
    %t1 = warp.acquire %out : !out
    warp.pack %acc columns 64 at (%zero, %zero) to %t1 : !warp.acc<64x256xf32>, !tile {
    ^bb0(%x: f32, %i: index, %j: index):
      %y = math.tanh %x : f32
      %z = arith.truncf %y : f32 to bf16
      warp.yield %z : bf16
    }
    warp.commit %out : !out
    %t2 = warp.acquire %out : !out
    warp.pack %acc columns 128 at (%zero, %zero) to %t2 : !warp.acc<64x256xf32>, !tile {
    ^bb0(%x: f32, %i: index, %j: index):
      %y = math.tanh %x : f32
      %z = arith.truncf %y : f32 to bf16
      warp.yield %z : bf16
    }
    warp.commit %out : !out
    %t3 = warp.acquire %out : !out
    warp.pack %acc columns 192 at (%zero, %zero) to %t3 : !warp.acc<64x256xf32>, !tile {
    ^bb0(%x: f32, %i: index, %j: index):
      %y = math.tanh %x : f32
      %z = arith.truncf %y : f32 to bf16
      warp.yield %z : bf16
    }
    warp.commit %out : !out
  }
}

// -----

!tile = !warp.tile<64x64xbf16>
!out = !warp.pipe<smem, 2, !tile>
!regs = !warp.pipe<regs, 1, !warp.acc<64x128xf32>>

// Chunks with different work stay two.
// CHECK-LABEL: llvm.func @different_chunks
warp.kernel @different_chunks() attributes {target = "sm_90a", num_warps = 4 : i64, shared_bytes = 20480 : i64} {
  %zero = arith.constant 0 : index
  %accs = warp.pipe "accumulator" : !regs
  %out = warp.pipe "out" {offset = 1024 : i64, barriers = 0 : i64, producers = 4 : i64, consumers = 1 : i64} : !out
  warp.role @mma stages ["mma"] warps 0 to 4 {
    %acc = warp.acquire %accs : !regs
    // CHECK: ptx.mbarrier_wait
    // CHECK-COUNT-16: math.tanh
    // CHECK-NOT: math.tanh
    // CHECK: ptx.mbarrier_wait
    // CHECK-COUNT-16: math.erf
    // CHECK-NOT: math.erf
    %t0 = warp.acquire %out : !out
    warp.pack %acc columns 0 at (%zero, %zero) to %t0 : !warp.acc<64x128xf32>, !tile {
    ^bb0(%x: f32, %i: index, %j: index):
      %y = math.tanh %x : f32
      %z = arith.truncf %y : f32 to bf16
      warp.yield %z : bf16
    }
    warp.commit %out : !out
    %t1 = warp.acquire %out : !out
    warp.pack %acc columns 64 at (%zero, %zero) to %t1 : !warp.acc<64x128xf32>, !tile {
    ^bb0(%x: f32, %i: index, %j: index):
      %y = math.erf %x : f32
      %z = arith.truncf %y : f32 to bf16
      warp.yield %z : bf16
    }
    warp.commit %out : !out
  }
}

// -----

!tile = !warp.tile<64x64xbf16>
!out = !warp.pipe<smem, 2, !tile>
!regs = !warp.pipe<regs, 1, !warp.acc<64x128xf32>>

// A conversion each is straight-line code, the fastest.
// CHECK-LABEL: llvm.func @short_chunks
warp.kernel @short_chunks() attributes {target = "sm_90a", num_warps = 4 : i64, shared_bytes = 20480 : i64} {
  %zero = arith.constant 0 : index
  %accs = warp.pipe "accumulator" : !regs
  %out = warp.pipe "out" {offset = 1024 : i64, barriers = 0 : i64, producers = 4 : i64, consumers = 1 : i64} : !out
  warp.role @mma stages ["mma"] warps 0 to 4 {
    %acc = warp.acquire %accs : !regs
    // CHECK-NOT: scf.for
    // CHECK-NOT: scf.index_switch
    // CHECK-COUNT-64: arith.truncf
    // CHECK: llvm.return
    %t0 = warp.acquire %out : !out
    warp.pack %acc columns 0 at (%zero, %zero) to %t0 : !warp.acc<64x128xf32>, !tile {
    ^bb0(%x: f32, %i: index, %j: index):
      %z = arith.truncf %x : f32 to bf16
      warp.yield %z : bf16
    }
    warp.commit %out : !out
    %t1 = warp.acquire %out : !out
    warp.pack %acc columns 64 at (%zero, %zero) to %t1 : !warp.acc<64x128xf32>, !tile {
    ^bb0(%x: f32, %i: index, %j: index):
      %z = arith.truncf %x : f32 to bf16
      warp.yield %z : bf16
    }
    warp.commit %out : !out
  }
}

// -----

!ops = !warp.pipe<smem, 1, !warp.tile<64x64xbf16>, !warp.tile<128x64xbf16>>
!regs = !warp.pipe<regs, 1, !warp.acc<64x128xf32>>

// The form that takes any alignment is small whatever it does: 4 warps have 64 x 32 elements each,
// and the loop holds the code for 16 rows of them, 16 elements of a thread.
// CHECK-LABEL: llvm.func @any_alignment
warp.kernel @any_alignment(%d: memref<?x?xf32> {warp.name = "D", warp.dims = ["M", "N"]}) attributes {
    target = "sm_80", num_warps = 4 : i64, shared_bytes = 25600 : i64, heddle.variant = "unaligned"} {
  %zero = arith.constant 0 : index
  %more = arith.constant true
  %ops = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 4 : i64} : !ops
  %accs = warp.pipe "accumulator" : !regs
  warp.role @mma stages ["mma"] warps 0 to 4 {
    %none = warp.acquire %accs : !regs
    %a, %b = warp.wait %ops : !ops
    %acc = warp.mma %a, %b, %none accumulate %more : !warp.tile<64x64xbf16>, !warp.tile<128x64xbf16>, !warp.acc<64x128xf32>
    // CHECK: scf.for
    // CHECK: scf.index_switch
    // CHECK: case 2
    // CHECK-NOT: case 3
    // CHECK-COUNT-16: llvm.store {{.*}} : f32
    // CHECK-NOT: llvm.store {{.*}} : f32
    // CHECK: llvm.return
    warp.store %acc to %d[%zero, %zero] : !warp.acc<64x128xf32>, memref<?x?xf32> {
    ^bb0(%x: f32, %i: index, %j: index):
      warp.yield %x : f32
    }
    warp.release %ops : !ops
  }
}

// -----

!tile = !warp.tile<64x64xbf16>
!out = !warp.pipe<smem, 2, !tile>
!regs = !warp.pipe<regs, 1, !warp.acc<64x64xf32>>

// A region that reads a matrix is built for 8 elements, whose loads are on their way together.
// CHECK-LABEL: llvm.func @reads_a_matrix
warp.kernel @reads_a_matrix(%c: memref<64x64xf32> {warp.name = "C"}) attributes {target = "sm_90a", num_warps = 4 : i64,
    shared_bytes = 20480 : i64} {
  %zero = arith.constant 0 : index
  %accs = warp.pipe "accumulator" : !regs
  %out = warp.pipe "out" {offset = 1024 : i64, barriers = 0 : i64, producers = 4 : i64, consumers = 1 : i64} : !out
  warp.role @mma stages ["mma"] warps 0 to 4 {
    %acc = warp.acquire %accs : !regs
    // CHECK: scf.for
    // CHECK-COUNT-8: llvm.load {{.*}} -> f32
    // CHECK-NOT: llvm.load {{.*}} -> f32
    // CHECK: llvm.return
    %t = warp.acquire %out : !out
    warp.pack %acc columns 0 at (%zero, %zero) to %t : !warp.acc<64x64xf32>, !tile {
    ^bb0(%x: f32, %i: index, %j: index):
      %r = warp.read %c[%i, %j] : memref<64x64xf32>
      %s = arith.addf %x, %r : f32
      %u = math.tanh %s : f32
      %v = math.erf %u : f32
      %z = arith.truncf %v : f32 to bf16
      warp.yield %z : bf16
    }
    warp.commit %out : !out
  }
}

// -----

!acc = !warp.pipe<tmem, 1, !warp.acc<128x128xf32>>

// Tensor memory has run-time addresses: no switch. What is loaded in a turn is waited for in it.
// CHECK-LABEL: llvm.func @tensor_memory
warp.kernel @tensor_memory(%d: memref<128x128xf32> {warp.name = "D"}) attributes {target = "sm_100a", num_warps = 4 : i64,
    shared_bytes = 1024 : i64, tmem_columns = 128 : i64, tmem_address = 64 : i64} {
  %zero = arith.constant 0 : index
  %accs = warp.pipe "accumulator" {offset = 0 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 4 : i64} : !acc
  warp.role @epilogue stages ["epilogue"] warps 0 to 4 {
    %acc = warp.wait %accs : !acc
    // CHECK: scf.for %[[COL:.*]] = %{{.*}} to %{{.*}} step %{{.*}}
    // CHECK-NEXT: %[[AT:.*]] = arith.addi %{{.*}}, %[[COL]]
    // CHECK-NEXT: %[[RAW:.*]]:16 = ptx.tcgen05_load %[[AT]]
    // CHECK-NEXT: ptx.tcgen05_wait_load %[[RAW]]#0
    // CHECK-NOT: scf.index_switch
    // CHECK-COUNT-16: math.tanh
    // CHECK-NOT: math.tanh
    // CHECK-NOT: ptx.tcgen05_load
    // CHECK: llvm.return
    warp.store %acc to %d[%zero, %zero] : !warp.acc<128x128xf32>, memref<128x128xf32> {
    ^bb0(%x: f32, %i: index, %j: index):
      %y = math.tanh %x : f32
      warp.yield %y : f32
    }
    warp.release %accs : !acc
  }
}
