// What an instruction does not take is refused by its op.
// RUN: heddle-opt %s --split-input-file --verify-diagnostics

llvm.func @ex2(%x: f64) {
  // expected-error @below {{operand #0 must be 32-bit float, but got 'f64'}}
  %0 = "ptx.ex2_approx"(%x) : (f64) -> f32
  llvm.return
}

// -----

llvm.func @rsqrt(%x: f64) {
  // expected-error @below {{operand #0 must be 32-bit float, but got 'f64'}}
  %0 = "ptx.rsqrt_approx"(%x) : (f64) -> f32
  llvm.return
}

// -----

llvm.func @div(%x: f32, %y: f16) {
  // expected-error @below {{operand #1 must be 32-bit float, but got 'f16'}}
  %0 = "ptx.div_full"(%x, %y) : (f32, f16) -> f32
  llvm.return
}

// -----

llvm.func @prefetch(%x: i32) {
  // expected-error @below {{operand #0 must be LLVM pointer type, but got 'i32'}}
  "ptx.prefetch_tensormap"(%x) : (i32) -> ()
  llvm.return
}

// -----

llvm.func @no_coordinates(%m: !llvm.ptr, %x: i32) {
  // expected-error @below {{expected 1 to 5 coordinates, got 0}}
  "ptx.bulk_tensor_load"(%x, %m, %x) : (i32, !llvm.ptr, i32) -> ()
  llvm.return
}

// -----

llvm.func @multicast_of_six(%m: !llvm.ptr, %x: i32, %c: i16) {
  // expected-error @below {{expected 1 to 5 coordinates, got 6}}
  ptx.bulk_tensor_load_multicast %x, %m[%x, %x, %x, %x, %x, %x], %x to %c : !llvm.ptr
  llvm.return
}

// -----

llvm.func @store_of_six(%m: !llvm.ptr, %x: i32) {
  // expected-error @below {{expected 1 to 5 coordinates, got 6}}
  ptx.bulk_tensor_store %x, %m[%x, %x, %x, %x, %x, %x] : !llvm.ptr
  llvm.return
}

// -----

llvm.func @commit(%x: i32) {
  // expected-error @below {{requires zero operands}}
  "ptx.bulk_commit_group"(%x) : (i32) -> ()
  llvm.return
}

// -----

llvm.func @wait_read() {
  // expected-error @below {{attribute 'pending' failed to satisfy constraint: 32-bit signless integer attribute whose value is non-negative}}
  "ptx.bulk_wait_group_read"() {pending = -1 : i32} : () -> ()
  llvm.return
}

// -----

llvm.func @wait_group() {
  // expected-error @below {{attribute 'pending' failed to satisfy constraint: 32-bit signless integer attribute whose value is non-negative}}
  "ptx.bulk_wait_group"() {pending = -1 : i32} : () -> ()
  llvm.return
}

// -----

llvm.func @stmatrix(%x: i32) {
  // expected-error @below {{expected 1, 2 or 4 matrices, got 3}}
  ptx.stmatrix %x, %x, %x, %x
  llvm.return
}

// -----

llvm.func @ldmatrix(%x: i32) {
  // expected-error @below {{expected 1, 2 or 4 matrices, got 3}}
  %m:3 = ptx.ldmatrix %x : i32, i32, i32
  llvm.return
}

// -----

llvm.func @mma_sync_registers(%c: f32, %x: i32) {
  // expected-error @below {{expected 4 accumulators, 4 registers of a and 2 of b, got 4, 2 and 2}}
  %d:4 = ptx.mma_sync "bf16" k 16(%c, %c, %c, %c), (%x, %x), (%x, %x) : (f32, f32, f32, f32), (i32, i32), (i32, i32) -> f32, f32, f32, f32
  llvm.return
}

// -----

llvm.func @mma_sync_k(%c: f32, %x: i32) {
  // expected-error @below {{expected k 8 for tf32, got 16}}
  %d:4 = ptx.mma_sync "tf32" k 16(%c, %c, %c, %c), (%x, %x, %x, %x), (%x, %x) : (f32, f32, f32, f32), (i32, i32, i32, i32), (i32, i32) -> f32, f32, f32, f32
  llvm.return
}

// -----

llvm.func @mbarrier_wait(%x: i64) {
  // expected-error @below {{operand #0 must be 32-bit signless integer, but got 'i64'}}
  "ptx.mbarrier_wait"(%x, %x) : (i64, i64) -> ()
  llvm.return
}

// -----

llvm.func @mbarrier_poll(%x: i64) {
  // expected-error @below {{operand #0 must be 32-bit signless integer, but got 'i64'}}
  "ptx.mbarrier_poll"(%x, %x) : (i64, i64) -> ()
  llvm.return
}

// -----

llvm.func @mbarrier_arrive(%x: i64) {
  // expected-error @below {{operand #0 must be 32-bit signless integer, but got 'i64'}}
  "ptx.mbarrier_arrive"(%x) : (i64) -> ()
  llvm.return
}

// -----

llvm.func @mbarrier_arrive_if(%x: i64) {
  // expected-error @below {{operand #0 must be 32-bit signless integer, but got 'i64'}}
  "ptx.mbarrier_arrive_if"(%x, %x) : (i64, i64) -> ()
  llvm.return
}

// -----

llvm.func @mbarrier_arrive_expect_tx(%x: i64) {
  // expected-error @below {{operand #0 must be 32-bit signless integer, but got 'i64'}}
  "ptx.mbarrier_arrive_expect_tx"(%x, %x) : (i64, i64) -> ()
  llvm.return
}

// -----

llvm.func @mbarrier_init(%x: i64) {
  // expected-error @below {{operand #0 must be 32-bit signless integer, but got 'i64'}}
  "ptx.mbarrier_init"(%x, %x) : (i64, i64) -> ()
  llvm.return
}

// -----

llvm.func @mbarrier_wait_cluster(%x: i64) {
  // expected-error @below {{operand #0 must be 32-bit signless integer, but got 'i64'}}
  "ptx.mbarrier_wait_cluster"(%x, %x) : (i64, i64) -> ()
  llvm.return
}

// -----

llvm.func @mbarrier_arrive_remote_if(%x: i64) {
  // expected-error @below {{operand #0 must be 32-bit signless integer, but got 'i64'}}
  "ptx.mbarrier_arrive_remote_if"(%x, %x) : (i64, i64) -> ()
  llvm.return
}

// -----

llvm.func @map_shared(%x: i64) {
  // expected-error @below {{operand #0 must be 32-bit signless integer, but got 'i64'}}
  %0 = "ptx.map_shared"(%x, %x) : (i64, i64) -> i32
  llvm.return
}

// -----

llvm.func @wgmma_n(%c: f32, %a: i64, %x: i32) {
  // expected-error @below {{expected n to be a multiple of 8 in 8..256, got 12}}
  %r:4 = "ptx.wgmma_block"(%c, %c, %c, %c, %a, %a, %x) {type = "bf16", n = 12 : i32, k = 16 : i32, steps = 4 : i32, a_step = 2 : i32, b_step = 2 : i32} : (f32, f32, f32, f32, i64, i64, i32) -> (f32, f32, f32, f32)
  llvm.return
}

// -----

llvm.func @wgmma_accumulators(%c: f32, %a: i64, %x: i32) {
  // expected-error @below {{expected 4 accumulators a thread, got 2}}
  %r:2 = "ptx.wgmma_block"(%c, %c, %a, %a, %x) {type = "bf16", n = 8 : i32, k = 16 : i32, steps = 4 : i32, a_step = 2 : i32, b_step = 2 : i32} : (f32, f32, i64, i64, i32) -> (f32, f32)
  llvm.return
}

// -----

llvm.func @wgmma_type(%c: f32, %a: i64, %x: i32) {
  // expected-error @below {{expected type bf16, f16, tf32, e4m3 or e5m2, got f64}}
  %r:4 = "ptx.wgmma_block"(%c, %c, %c, %c, %a, %a, %x) {type = "f64", n = 8 : i32, k = 16 : i32, steps = 4 : i32, a_step = 2 : i32, b_step = 2 : i32} : (f32, f32, f32, f32, i64, i64, i32) -> (f32, f32, f32, f32)
  llvm.return
}

// -----

llvm.func @wgmma_k(%c: f32, %a: i64, %x: i32) {
  // expected-error @below {{expected k 32 for e4m3, got 16}}
  %r:4 = "ptx.wgmma_block"(%c, %c, %c, %c, %a, %a, %x) {type = "e4m3", n = 8 : i32, k = 16 : i32, steps = 4 : i32, a_step = 2 : i32, b_step = 2 : i32} : (f32, f32, f32, f32, i64, i64, i32) -> (f32, f32, f32, f32)
  llvm.return
}

// -----

llvm.func @wgmma_steps(%c: f32, %a: i64, %x: i32) {
  // expected-error @below {{expected at least 1 step, got 0}}
  %r:4 = "ptx.wgmma_block"(%c, %c, %c, %c, %a, %a, %x) {type = "bf16", n = 8 : i32, k = 16 : i32, steps = 0 : i32, a_step = 2 : i32, b_step = 2 : i32} : (f32, f32, f32, f32, i64, i64, i32) -> (f32, f32, f32, f32)
  llvm.return
}

// -----

llvm.func @wgmma_mn(%c: f32, %a: i64, %x: i32) {
  // expected-error @below {{expected 16-bit operands where one is MN-major, got k 8}}
  %r:4 = "ptx.wgmma_block"(%c, %c, %c, %c, %a, %a, %x) {type = "tf32", n = 8 : i32, k = 8 : i32, steps = 4 : i32, a_step = 2 : i32, b_step = 2 : i32, a_mn_major} : (f32, f32, f32, f32, i64, i64, i32) -> (f32, f32, f32, f32)
  llvm.return
}

// -----

llvm.func @wgmma_wait(%x: f32) {
  // expected-error @below {{attribute 'pending' failed to satisfy constraint: 32-bit signless integer attribute whose value is non-negative}}
  %0 = "ptx.wgmma_wait"(%x) {pending = -1 : i32} : (f32) -> f32
  llvm.return
}
