// Every op of the dialect is read as it is printed. tcgen05.mlir has those of tensor memory.
// RUN: heddle-opt %s | heddle-opt | FileCheck %s
// RUN: heddle-opt %s --mlir-print-op-generic | heddle-opt | FileCheck %s

// CHECK-LABEL: @numbers
llvm.func @numbers(%x: f32, %y: f32) {
  // CHECK: ptx.ex2_approx %arg0
  %0 = ptx.ex2_approx %x
  // CHECK: ptx.rsqrt_approx %arg0
  %1 = ptx.rsqrt_approx %x
  // CHECK: ptx.div_full %arg0, %arg1
  %2 = ptx.div_full %x, %y
  llvm.return
}

// CHECK-LABEL: @copies
llvm.func @copies(%map: !llvm.ptr, %at: i32, %barrier: i32, %x: i32, %ctas: i16) {
  // CHECK: ptx.prefetch_tensormap %arg0 : !llvm.ptr
  ptx.prefetch_tensormap %map : !llvm.ptr
  // CHECK: ptx.bulk_tensor_load %arg1, %arg0[%arg3, %arg3, %arg3], %arg2 : !llvm.ptr
  ptx.bulk_tensor_load %at, %map[%x, %x, %x], %barrier : !llvm.ptr
  // CHECK: ptx.bulk_tensor_load_multicast %arg1, %arg0[%arg3], %arg2 to %arg4 : !llvm.ptr
  ptx.bulk_tensor_load_multicast %at, %map[%x], %barrier to %ctas : !llvm.ptr
  // CHECK: ptx.bulk_tensor_store %arg1, %arg0[%arg3, %arg3] : !llvm.ptr
  ptx.bulk_tensor_store %at, %map[%x, %x] : !llvm.ptr
  // CHECK: ptx.bulk_commit_group
  ptx.bulk_commit_group
  // CHECK: ptx.bulk_wait_group_read 1
  ptx.bulk_wait_group_read 1
  // CHECK: ptx.bulk_wait_group 0
  ptx.bulk_wait_group 0
  llvm.return
}

// CHECK-LABEL: @matrices
llvm.func @matrices(%at: i32, %v: i32) {
  // CHECK: ptx.stmatrix %arg0, %arg1, %arg1 transposed
  ptx.stmatrix %at, %v, %v transposed
  // CHECK: ptx.ldmatrix %arg0 transposed : i32, i32, i32, i32
  %m:4 = ptx.ldmatrix %at transposed : i32, i32, i32, i32
  // CHECK: ptx.ldmatrix %arg0 : i32
  %n = ptx.ldmatrix %at : i32
  llvm.return
}

// CHECK-LABEL: @barriers
llvm.func @barriers(%barrier: i32, %n: i32) {
  // CHECK: ptx.mbarrier_init %arg0, %arg1
  ptx.mbarrier_init %barrier, %n
  // CHECK: ptx.mbarrier_arrive_expect_tx %arg0, %arg1
  ptx.mbarrier_arrive_expect_tx %barrier, %n
  // CHECK: ptx.mbarrier_arrive %arg0
  ptx.mbarrier_arrive %barrier
  // CHECK: ptx.mbarrier_arrive_if %arg0 if %arg1
  ptx.mbarrier_arrive_if %barrier if %n
  // CHECK: ptx.mbarrier_wait %arg0, %arg1
  ptx.mbarrier_wait %barrier, %n
  // CHECK: ptx.mbarrier_poll %arg0, %arg1
  ptx.mbarrier_poll %barrier, %n
  // CHECK: %[[THERE:.*]] = ptx.map_shared %arg0, %arg1
  %there = ptx.map_shared %barrier, %n
  // CHECK: ptx.mbarrier_arrive_remote_if %[[THERE]] if %arg1{{$}}
  ptx.mbarrier_arrive_remote_if %there if %n
  // CHECK: ptx.mbarrier_arrive_remote_if %[[THERE]] if %arg1 release
  ptx.mbarrier_arrive_remote_if %there if %n release
  // CHECK: ptx.mbarrier_wait_cluster %arg0, %arg1{{$}}
  ptx.mbarrier_wait_cluster %barrier, %n
  // CHECK: ptx.mbarrier_wait_cluster %arg0, %arg1 acquire
  ptx.mbarrier_wait_cluster %barrier, %n acquire
  llvm.return
}

// CHECK-LABEL: @warpgroups
llvm.func @warpgroups(%c: f32, %a: i64, %flag: i32) {
  // CHECK: %[[SUM:.*]]:4 = "ptx.wgmma_block"(%arg0, %arg0, %arg0, %arg0, %arg1, %arg1, %arg2) <{a_step = 2 : i32, b_step = 2 : i32, k = 16 : i32, n = 8 : i32, steps = 4 : i32, type = "bf16"}>
  %0:4 = "ptx.wgmma_block"(%c, %c, %c, %c, %a, %a, %flag) {type = "bf16", n = 8 : i32, k = 16 : i32, steps = 4 : i32, a_step = 2 : i32, b_step = 2 : i32} : (f32, f32, f32, f32, i64, i64, i32) -> (f32, f32, f32, f32)
  // CHECK: "ptx.wgmma_wait"(%[[SUM]]#0, %[[SUM]]#1) <{pending = 0 : i32}>
  %1:2 = "ptx.wgmma_wait"(%0#0, %0#1) {pending = 0 : i32} : (f32, f32) -> (f32, f32)
  llvm.return
}
