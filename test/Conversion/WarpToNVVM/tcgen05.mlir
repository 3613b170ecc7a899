// RUN: heddle-opt %s --convert-warp-to-nvvm --canonicalize --cse --split-input-file | FileCheck %s

// Warp 0 allocates tensor memory; its address is read after the CTA's barrier. Once all threads
// are through, the same warp frees it.
// CHECK-LABEL: llvm.func @allocation
warp.kernel @allocation() attributes {target = "sm_100a", num_warps = 8 : i64, shared_bytes = 1024 : i64,
                                      tmem_columns = 256 : i64, tmem_address = 96 : i64} {
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK-DAG: %[[COLUMNS:.*]] = arith.constant 256 : i32
  // CHECK-DAG: %[[PLACE:.*]] = arith.constant 96 : i32
  // CHECK: %[[WARP:.*]] = nvvm.shfl.sync
  // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[WARP]], %[[ZERO]]
  // CHECK: scf.if %[[FIRST]]
  // CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %[[PLACE]]
  // CHECK: %[[SLOT:.*]] = llvm.inttoptr %[[AT]] : i32 to !llvm.ptr<3>
  // CHECK-NEXT: nvvm.tcgen05.alloc %[[SLOT]], %[[COLUMNS]]
  // CHECK-NEXT: nvvm.tcgen05.relinquish_alloc_permit
  // CHECK: nvvm.tcgen05.fence <before>
  // CHECK-NEXT: nvvm.barrier
  // CHECK-NEXT: nvvm.tcgen05.fence <after>
  // CHECK: %[[BASE:.*]] = llvm.load volatile %{{.*}} : !llvm.ptr<3> -> i32
  // CHECK: nvvm.bar.warp.sync
  // CHECK-NEXT: nvvm.tcgen05.fence <before>
  // CHECK-NEXT: nvvm.barrier
  // CHECK: scf.if %[[FIRST]]
  // CHECK-NEXT: nvvm.tcgen05.fence <after>
  // CHECK-NEXT: %[[POINTER:.*]] = llvm.inttoptr %[[BASE]] : i32 to !llvm.ptr<6>
  // CHECK-NEXT: nvvm.tcgen05.dealloc %[[POINTER]], %[[COLUMNS]]
  // CHECK: llvm.return
  %c0 = arith.constant 0 : index
}

// -----

!ops = !warp.pipe<smem, 1, !warp.tile<128x64xbf16>, !warp.tile<256x64xbf16>>
!acc = !warp.pipe<tmem, 2, !warp.acc<128x256xf32>>

// A panel of K is four instructions, 32 bytes apart in both operands; only the first may drop what
// the accumulator holds. Descriptors: 128-byte swizzle, 1024 bytes between groups of 8 rows.
// Instruction: f32 += bf16 * bf16, n = 256, m = 128. Slots of the accumulator are 256 columns apart.
// CHECK-LABEL: llvm.func @k_major
warp.kernel @k_major() attributes {target = "sm_100a", num_warps = 1 : i64, shared_bytes = 50176 : i64,
                                   tmem_columns = 512 : i64, tmem_address = 64 : i64} {
  // CHECK-DAG: %[[DESCRIPTOR:.*]] = arith.constant 4611756662049538048 : i64
  // CHECK-DAG: %[[INSTRUCTION:.*]] = arith.constant 138413200 : i32
  // CHECK-DAG: %[[EIGHT:.*]] = arith.constant 8 : i32
  // CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : i64
  // CHECK-DAG: %[[FOUR:.*]] = arith.constant 4 : i64
  // CHECK-DAG: %[[SIX:.*]] = arith.constant 6 : i64
  %ops = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 1 : i64} : !ops
  %accs = warp.pipe "accumulator" {offset = 0 : i64, barriers = 16 : i64, producers = 1 : i64, consumers = 4 : i64} : !acc
  // CHECK: %[[BASE:.*]] = llvm.load volatile
  warp.role @mma stages ["mma"] warps 0 to 1 {
    %more = arith.constant false
    // CHECK: %[[COLUMN:.*]] = arith.shli %{{.*}}, %[[EIGHT]] : i32
    // CHECK: %[[TARGET:.*]] = arith.addi %[[BASE]], %[[COLUMN]] : i32
    %acc = warp.acquire %accs : !acc
    %a, %b = warp.wait %ops : !ops
    // CHECK: %[[D:.*]] = llvm.inttoptr %[[TARGET]] : i32 to !llvm.ptr<6>
    // CHECK: %[[A0:.*]] = arith.ori %{{.*}}, %[[DESCRIPTOR]]
    // CHECK: %[[B0:.*]] = arith.ori %{{.*}}, %[[DESCRIPTOR]]
    // CHECK: nvvm.tcgen05.mma %[[D]], %[[A0]], %[[B0]], %[[INSTRUCTION]], %false {{.*}}kind = #nvvm.tcgen05_mma_kind<f16>
    // CHECK: %[[A1:.*]] = arith.addi %[[A0]], %[[TWO]]
    // CHECK: %[[B1:.*]] = arith.addi %[[B0]], %[[TWO]]
    // CHECK: nvvm.tcgen05.mma %[[D]], %[[A1]], %[[B1]], %[[INSTRUCTION]], %true
    // CHECK: %[[A2:.*]] = arith.addi %[[A0]], %[[FOUR]]
    // CHECK: nvvm.tcgen05.mma %[[D]], %[[A2]], %{{.*}}, %[[INSTRUCTION]], %true
    // CHECK: %[[A3:.*]] = arith.addi %[[A0]], %[[SIX]]
    // CHECK: nvvm.tcgen05.mma %[[D]], %[[A3]], %{{.*}}, %[[INSTRUCTION]], %true
    // CHECK-NOT: nvvm.tcgen05.mma
    %next = warp.mma %a, %b, %acc accumulate %more : !warp.tile<128x64xbf16>, !warp.tile<256x64xbf16>, !warp.acc<128x256xf32>
    // Both pipes hear of it when the multiplications are done.
    // CHECK: nvvm.tcgen05.commit
    warp.release %ops after %next : !ops, !warp.acc<128x256xf32>
    // CHECK: nvvm.tcgen05.commit
    warp.commit %accs, %next : !acc, !warp.acc<128x256xf32>
  }
}

// -----

!ops = !warp.pipe<smem, 1, !warp.tile<128x32xf16, mn>, !warp.tile<64x32xf16, mn>>
!acc = !warp.pipe<tmem, 1, !warp.acc<128x64xf32>>

// MN-major operands: bits 15 and 16 of the instruction, panels of 32 x 128 bytes apart (256 units of
// 16 bytes), 16 rows of K (128 units) between instructions.
// CHECK-LABEL: llvm.func @mn_major
warp.kernel @mn_major() attributes {target = "sm_103a", num_warps = 1 : i64, shared_bytes = 13312 : i64,
                                    tmem_columns = 64 : i64, tmem_address = 64 : i64} {
  // CHECK-DAG: %[[DESCRIPTOR:.*]] = arith.constant 4611756662066249728 : i64
  // CHECK-DAG: %[[INSTRUCTION:.*]] = arith.constant 135364624 : i32
  // CHECK-DAG: %[[STEP:.*]] = arith.constant 128 : i64
  %ops = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 1 : i64} : !ops
  %accs = warp.pipe "accumulator" {offset = 0 : i64, barriers = 16 : i64, producers = 1 : i64, consumers = 4 : i64} : !acc
  warp.role @mma stages ["mma"] warps 0 to 1 {
    %more = arith.constant true
    %acc = warp.acquire %accs : !acc
    %a, %b = warp.wait %ops : !ops
    // CHECK: %[[A0:.*]] = arith.ori %{{.*}}, %[[DESCRIPTOR]]
    // CHECK: nvvm.tcgen05.mma %{{.*}}, %[[A0]], %{{.*}}, %[[INSTRUCTION]], %true
    // CHECK: %[[A1:.*]] = arith.addi %[[A0]], %[[STEP]]
    // CHECK: nvvm.tcgen05.mma %{{.*}}, %[[A1]], %{{.*}}, %[[INSTRUCTION]], %true
    // CHECK-NOT: nvvm.tcgen05.mma
    %next = warp.mma %a, %b, %acc accumulate %more : !warp.tile<128x32xf16, mn>, !warp.tile<64x32xf16, mn>, !warp.acc<128x64xf32>
    warp.commit %accs, %next : !acc, !warp.acc<128x64xf32>
  }
}

// -----

!ops = !warp.pipe<smem, 1, !warp.tile<128x256xf8E4M3FN>, !warp.tile<64x256xf8E5M2>>
!acc = !warp.pipe<tmem, 1, !warp.acc<128x64xf32>>

// 8-bit types may differ. The second panel of K starts where the first ends: 128 rows of 128 bytes
// (1024 units) on in a, 64 rows (512 units) in b.
// CHECK-LABEL: llvm.func @panels
warp.kernel @panels() attributes {target = "sm_100a", num_warps = 1 : i64, shared_bytes = 50176 : i64,
                                  tmem_columns = 64 : i64, tmem_address = 64 : i64} {
  // CHECK-DAG: %[[INSTRUCTION:.*]] = arith.constant 135267344 : i32
  // CHECK-DAG: %[[A_PANEL:.*]] = arith.constant 1024 : i64
  // CHECK-DAG: %[[B_PANEL:.*]] = arith.constant 512 : i64
  %ops = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 1 : i64} : !ops
  %accs = warp.pipe "accumulator" {offset = 0 : i64, barriers = 16 : i64, producers = 1 : i64, consumers = 4 : i64} : !acc
  warp.role @mma stages ["mma"] warps 0 to 1 {
    %more = arith.constant true
    %acc = warp.acquire %accs : !acc
    %a, %b = warp.wait %ops : !ops
    // CHECK-COUNT-4: nvvm.tcgen05.mma {{.*}}kind = #nvvm.tcgen05_mma_kind<f8f6f4>
    // CHECK: %[[A4:.*]] = arith.addi %{{.*}}, %[[A_PANEL]]
    // CHECK: %[[B4:.*]] = arith.addi %{{.*}}, %[[B_PANEL]]
    // CHECK: nvvm.tcgen05.mma %{{.*}}, %[[A4]], %[[B4]], %[[INSTRUCTION]], %true
    // CHECK-COUNT-3: nvvm.tcgen05.mma
    // CHECK-NOT: nvvm.tcgen05.mma
    %next = warp.mma %a, %b, %acc accumulate %more : !warp.tile<128x256xf8E4M3FN>, !warp.tile<64x256xf8E5M2>, !warp.acc<128x64xf32>
    warp.commit %accs, %next : !acc, !warp.acc<128x64xf32>
  }
}

// -----

!acc = !warp.pipe<tmem, 1, !warp.acc<128x48xf32>>

// Each warp reads the 32 rows of its quarter (bits 21 and up of the address), a row a thread, 32
// columns and then the 16 that remain. The second load is on its way while the first is stored; all
// have come before the slot is released.
// CHECK-LABEL: llvm.func @quarters
warp.kernel @quarters(%d: memref<128x48xf32> {warp.name = "D"}) attributes {target = "sm_100a", num_warps = 8 : i64,
    shared_bytes = 1024 : i64, tmem_columns = 64 : i64, tmem_address = 64 : i64} {
  // CHECK-DAG: %[[TWENTYONE:.*]] = arith.constant 21 : i32
  // CHECK-DAG: %[[COLUMN:.*]] = arith.constant 32 : i32
  %accs = warp.pipe "accumulator" {offset = 0 : i64, barriers = 16 : i64, producers = 1 : i64, consumers = 4 : i64} : !acc
  warp.role @epilogue stages ["epilogue"] warps 4 to 8 {
    %c0 = arith.constant 0 : index
    %acc = warp.wait %accs : !acc
    // CHECK: %[[QUARTER:.*]] = arith.shli %{{.*}}, %[[TWENTYONE]] : i32
    // CHECK: %[[ADDRESS:.*]] = arith.addi %{{.*}}, %[[QUARTER]] : i32
    // CHECK: %[[FIRST:.*]]:32 = ptx.tcgen05_load %[[ADDRESS]] :
    // CHECK: %[[READY:.*]]:32 = ptx.tcgen05_wait_load %[[FIRST]]#0, %[[FIRST]]#1,
    // CHECK: %[[AT:.*]] = arith.addi %[[ADDRESS]], %[[COLUMN]] : i32
    // CHECK: %[[SECOND:.*]]:16 = ptx.tcgen05_load %[[AT]] :
    // CHECK: vector.from_elements %[[READY]]#0, %[[READY]]#1, %[[READY]]#2, %[[READY]]#3 : vector<4xf32>
    // CHECK: ptx.tcgen05_wait_load %[[SECOND]]#0,
    warp.store %acc to %d[%c0, %c0] : !warp.acc<128x48xf32>, memref<128x48xf32> {
    ^bb0(%x: f32, %i: index, %j: index):
      warp.yield %x : f32
    }
    // CHECK-NOT: ptx.tcgen05
    // CHECK: nvvm.tcgen05.fence <before>
    // CHECK: nvvm.bar.warp.sync
    // CHECK: ptx.mbarrier_arrive_if
    warp.fence <tmem_before>
    warp.release %accs : !acc
  }
}

// -----

!acc = !warp.pipe<tmem, 1, !warp.acc<128x64xf32>>

// Of eight warps the second four take the second 16 of each 32 columns.
// CHECK-LABEL: llvm.func @shared_columns
warp.kernel @shared_columns(%d: memref<128x64xf32> {warp.name = "D"}) attributes {target = "sm_100a",
    num_warps = 8 : i64, shared_bytes = 1024 : i64, tmem_columns = 64 : i64, tmem_address = 64 : i64} {
  // CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : i32
  // CHECK-DAG: %[[FOUR:.*]] = arith.constant 4 : i32
  // CHECK-DAG: %[[NEXT:.*]] = arith.constant 32 : i32
  // CHECK: %[[WARP:.*]] = nvvm.shfl.sync
  %accs = warp.pipe "accumulator" {offset = 0 : i64, barriers = 16 : i64, producers = 1 : i64, consumers = 8 : i64} : !acc
  warp.role @epilogue stages ["epilogue"] warps 0 to 8 {
    %c0 = arith.constant 0 : index
    %acc = warp.wait %accs : !acc
    // CHECK: %[[GROUP:.*]] = arith.shrui %[[WARP]], %[[TWO]] : i32
    // CHECK: %[[SIXTEENTH:.*]] = arith.shli %[[GROUP]], %[[FOUR]] : i32
    // CHECK: %[[ADDRESS:.*]] = arith.addi %{{.*}}, %[[SIXTEENTH]] : i32
    // CHECK: ptx.tcgen05_load %[[ADDRESS]] :
    // CHECK: %[[AT:.*]] = arith.addi %[[ADDRESS]], %[[NEXT]] : i32
    // CHECK: %{{.*}}:16 = ptx.tcgen05_load %[[AT]] :
    // CHECK-NOT: ptx.tcgen05_load
    warp.store %acc to %d[%c0, %c0] : !warp.acc<128x64xf32>, memref<128x64xf32> {
    ^bb0(%x: f32, %i: index, %j: index):
      warp.yield %x : f32
    }
    warp.release %accs : !acc
  }
}

// -----

!ops = !warp.pipe<smem, 3, !warp.tile<128x64xbf16>, !warp.tile<16x64xbf16>>
!acc = !warp.pipe<tmem, 1, !warp.acc<128x16xf32>>

// Slots are released by arrivals that come when multiplications are done. The producer waits for
// those of all three slots before it ends, and the CTA with it.
// CHECK-LABEL: llvm.func @drained
warp.kernel @drained(%m: memref<128x64xbf16>, %n: memref<16x64xbf16>) attributes {target = "sm_100a", num_warps = 2 : i64,
    shared_bytes = 56320 : i64, tmem_columns = 32 : i64, tmem_address = 64 : i64} {
  %c0 = arith.constant 0 : index
  %ops = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 1 : i64} : !ops
  %accs = warp.pipe "accumulator" {offset = 0 : i64, barriers = 48 : i64, producers = 1 : i64, consumers = 4 : i64} : !acc
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i32
  // CHECK-DAG: %[[SLOTS:.*]] = arith.constant 3 : i32
  warp.role @load stages ["load"] warps 0 to 1 {
    %a, %b = warp.acquire %ops : !ops
    warp.copy %m[%c0, %c0] to %a engine bulk : memref<128x64xbf16>, !warp.tile<128x64xbf16>
    warp.copy %n[%c0, %c0] to %b engine bulk : memref<16x64xbf16>, !warp.tile<16x64xbf16>
    // CHECK-COUNT-2: ptx.bulk_tensor_load
    // CHECK: scf.for %{{.*}} = %[[ZERO]] to %[[SLOTS]] step %[[ONE]]
    // CHECK: ptx.mbarrier_wait
    warp.commit %ops : !ops
  }
  warp.role @mma stages ["mma"] warps 1 to 2 {
    %more = arith.constant false
    %acc = warp.acquire %accs : !acc
    %a, %b = warp.wait %ops : !ops
    %next = warp.mma %a, %b, %acc accumulate %more : !warp.tile<128x64xbf16>, !warp.tile<16x64xbf16>, !warp.acc<128x16xf32>
    warp.release %ops after %next : !ops, !warp.acc<128x16xf32>
    // The accumulator's readers arrive themselves.
    // CHECK: nvvm.tcgen05.mma
    // CHECK-NOT: scf.for
    warp.commit %accs, %next : !acc, !warp.acc<128x16xf32>
  }
}
