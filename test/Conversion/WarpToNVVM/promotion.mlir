// RUN: heddle-opt %s --convert-warp-to-nvvm --canonicalize --cse --split-input-file | FileCheck %s

!tile = !warp.tile<128x128xf8E4M3FN>
!ops = !warp.pipe<smem, 2, !tile, !warp.tile<16x128xf8E5M2>>
!acc = !warp.acc<128x16xf32>
!regs = !warp.pipe<regs, 1, !acc>

// A warpgroup with two blocks of 64 rows: each product is waited for and added in f32, with the
// scales of two rows a block (one address, 8 and 64 rows further) and of one block of columns. Once
// the second is done the slot goes back, and only then it is added. Sums start at zero; the second
// product reads the registers of the first.
// CHECK-LABEL: llvm.func @wgmma
warp.kernel @wgmma(%sa: memref<?x4xf32> {warp.name = "sa", warp.dims = ["M", "kb"]},
                   %sb: memref<1x4xf32> {warp.name = "sb", warp.dims = ["n", "kb"]},
                   %d: memref<?x16xf32> {warp.name = "D", warp.dims = ["M", "N"]})
    attributes {target = "sm_90a", num_warps = 4 : i64, shared_bytes = 40960 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c128 = arith.constant 128 : index
  %ops = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 4 : i64} : !ops
  %sums = warp.pipe "accumulator" : !regs
  warp.role @mma stages ["mma"] warps 0 to 4 {
    %first = warp.acquire %sums : !regs
    // The scales of the first K block are loaded before the loop, those of the next one (the last
    // one's again) once the first product is on its way. The column's scale is asked for by threads
    // that have rows.
    // CHECK: %[[FIRST:.*]] = ptx.load_below {{.*}} + 0, 0 of %[[LEFT:.*]] : <1>
    // CHECK: llvm.store %[[FIRST]], %[[S0:.*]] : f32, !llvm.ptr
    // CHECK: scf.for %[[K:.*]] = %{{.*}} to %[[END:.*]] step %{{.*}} iter_args(%[[OLD:.*]] = %{{.*}}) -> (vector<16xf32>)
    %sum = scf.for %k = %c0 to %c4 step %c1 iter_args(%old = %first) -> (!acc) {
      %a, %b = warp.wait %ops : !ops
      %later = arith.cmpi ne, %k, %c0 : index
      %k0 = arith.muli %k, %c128 : index
      // CHECK: ptx.mbarrier_wait
      // CHECK: %[[ROW:.*]] = llvm.load %[[S0]] : !llvm.ptr -> f32
      // CHECK: %[[SCALE:.*]] = arith.mulf %[[ROW]], %{{.*}} : f32
      // CHECK: %[[RAW:.*]]:8 = "ptx.wgmma_block"
      // CHECK-SAME: b_type = "e5m2"
      // CHECK-SAME: type = "e4m3"
      // CHECK: %[[NEXT:.*]] = arith.addi %[[K]],
      // CHECK: %[[MORE:.*]] = arith.cmpi slt, %[[NEXT]], %[[END]] : index
      // CHECK: arith.select %[[MORE]], %[[NEXT]], %[[K]] : index
      // CHECK: %[[LOADED:.*]] = ptx.load_below %[[AT:.*]] + 0, 0 of %[[LEFT]] : <1>
      // CHECK: ptx.load_below %[[AT]] + 128, 8 of %[[LEFT]] : <1>
      // CHECK: ptx.load_below %[[AT]] + 1024, 64 of %[[LEFT]] : <1>
      // CHECK: ptx.load_below %[[AT]] + 1152, 72 of %[[LEFT]] : <1>
      // CHECK: ptx.load_below %{{.*}} + 0, 0 of %[[LEFT]] : <1>
      // CHECK: llvm.store %[[LOADED]], %[[S0]] : f32, !llvm.ptr
      // CHECK: %[[PARTIAL:.*]]:8 = "ptx.wgmma_wait"(%[[RAW]]#0,
      // CHECK: math.fma %[[PARTIAL]]#0, %[[SCALE]], %{{.*}} : f32
      // CHECK: %[[AGAIN:.*]]:8 = "ptx.wgmma_block"(%[[PARTIAL]]#0,
      // CHECK: %[[SECOND:.*]]:8 = "ptx.wgmma_wait"(%[[AGAIN]]#0,
      // CHECK: ptx.mbarrier_arrive_if
      // CHECK: math.fma %[[SECOND]]#0
      // CHECK: scf.yield
      %new = warp.mma %a, %b, %old accumulate %later scales %sa[%c0, %k0] by [1, 128], %sb[%c0, %k0] by [128, 128] : !tile, !warp.tile<16x128xf8E5M2>, !acc, memref<?x4xf32>, memref<1x4xf32>
      warp.release %ops : !ops
      scf.yield %new : !acc
    }
    warp.store %sum to %d[%c0, %c0] : !acc, memref<?x16xf32> {
    ^bb0(%e: f32, %i: index, %j: index):
      warp.yield %e : f32
    }
  }
}

// -----

!tile = !warp.tile<16x128xf8E4M3FN>
!ops = !warp.pipe<smem, 2, !tile, !warp.tile<8x128xf8E4M3FN>>
!acc = !warp.acc<16x8xf32>
!regs = !warp.pipe<regs, 1, !acc>

// mma.sync: four instructions sum up K = 128 from zero, then the accumulator gets the sum.
// CHECK-LABEL: llvm.func @mma_sync
warp.kernel @mma_sync(%d: memref<?x8xf32> {warp.name = "D", warp.dims = ["M", "N"]})
    attributes {target = "sm_89", num_warps = 1 : i64, shared_bytes = 10240 : i64} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  %ops = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 1 : i64} : !ops
  %sums = warp.pipe "accumulator" : !regs
  warp.role @mma stages ["mma"] warps 0 to 1 {
    %old = warp.acquire %sums : !regs
    %a, %b = warp.wait %ops : !ops
    // CHECK: %[[ONE:.*]]:4 = ptx.mma_sync "e4m3" k 32(%[[ZERO]], %[[ZERO]], %[[ZERO]], %[[ZERO]])
    // CHECK: %[[TWO:.*]]:4 = ptx.mma_sync "e4m3" k 32(%[[ONE]]#0,
    // CHECK: %[[THREE:.*]]:4 = ptx.mma_sync "e4m3" k 32(%[[TWO]]#0,
    // CHECK: %[[FOUR:.*]]:4 = ptx.mma_sync "e4m3" k 32(%[[THREE]]#0,
    // CHECK: arith.addf %[[FOUR]]#0,
    %new = warp.mma %a, %b, %old accumulate %yes promote : !tile, !warp.tile<8x128xf8E4M3FN>, !acc
    warp.release %ops : !ops
    warp.store %new to %d[%c0, %c0] : !acc, memref<?x8xf32> {
    ^bb0(%e: f32, %i: index, %j: index):
      warp.yield %e : f32
    }
  }
}

// -----

// Results of 8 bits: two numbers a conversion, bytes from there on.
!acc = !warp.acc<16x8xf32>
!regs = !warp.pipe<regs, 1, !acc>
// CHECK-LABEL: llvm.func @bytes
warp.kernel @bytes(%d: memref<?x8xf8E5M2> {warp.name = "D", warp.dims = ["M", "N"]})
    attributes {target = "sm_89", num_warps = 1 : i64, shared_bytes = 1024 : i64} {
  %c0 = arith.constant 0 : index
  %sums = warp.pipe "accumulator" : !regs
  warp.role @epilogue stages ["epilogue"] warps 0 to 1 {
    %acc = warp.acquire %sums : !regs
    // CHECK: %[[TWO:.*]] = ptx.cvt_f8x2 %{{.*}}, %{{.*}} to "e5m2"
    // CHECK: arith.trunci %[[TWO]] : i16 to i8
    // CHECK: llvm.store
    warp.store %acc to %d[%c0, %c0] : !acc, memref<?x8xf8E5M2> {
    ^bb0(%e: f32, %i: index, %j: index):
      %x = arith.truncf %e : f32 to f8E5M2
      warp.yield %x : f8E5M2
    }
  }
}
