// RUN: heddle-opt %s --convert-ptx-to-llvm --split-input-file --verify-diagnostics | FileCheck %s

// Operands are numbered after the results, and an op that touches memory says so.
// CHECK-LABEL: @operands
llvm.func @operands(%map: !llvm.ptr, %target: i32, %barrier: i32, %x: i32) {
  // CHECK: llvm.inline_asm has_side_effects
  // CHECK-SAME: [$0], [$1, {$3, $4}], [$2];", "r,l,r,r,r,~{memory}"
  // CHECK-SAME: %arg1, %arg0, %arg2, %arg3, %arg3 : (i32, !llvm.ptr, i32, i32, i32) -> ()
  ptx.bulk_tensor_load %target, %map[%x, %x], %barrier : !llvm.ptr
  llvm.return
}

// -----

// The text of an op without results is taken as it is, references included.
// CHECK-LABEL: @fixed_text
llvm.func @fixed_text(%barrier: i32) {
  // CHECK: llvm.inline_asm has_side_effects "mbarrier.arrive.shared.b64 _, [$0];", "r,~{memory}" %arg0
  ptx.mbarrier_arrive %barrier
  llvm.return
}

// -----

// Values that pass through share registers: results first, then operands tied by number; several
// results come as a struct.
// CHECK-LABEL: @tied
llvm.func @tied(%a: f32, %b: f32) -> f32 {
  // CHECK: %[[ALL:.*]] = llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 0;", "=f,=f,0,1,~{memory}" %arg0, %arg1 : (f32, f32) -> !llvm.struct<(f32, f32)>
  // CHECK: %[[FIRST:.*]] = llvm.extractvalue %[[ALL]][0]
  // CHECK: %[[SECOND:.*]] = llvm.extractvalue %[[ALL]][1]
  %0:2 = "ptx.wgmma_wait"(%a, %b) {pending = 0 : i32} : (f32, f32) -> (f32, f32)
  // CHECK: llvm.fadd %[[FIRST]], %[[SECOND]]
  %1 = llvm.fadd %0#0, %0#1 : f32
  llvm.return %1 : f32
}

// -----

// More results than operands cannot be tied.
llvm.func @mistied(%a: f32) -> f32 {
  // expected-error@+1 {{expected at most 0 tied operands, got 1}}
  "ptx.wgmma_wait"(%a) {pending = 0 : i32} : (f32) -> ()
  llvm.return %a : f32
}

// -----

// What comes from tensor memory passes through the wait in the same registers.
// CHECK-LABEL: @tensor_memory
llvm.func @tensor_memory(%address: i32) {
  // CHECK: "tcgen05.ld.sync.aligned.32x32b.x2.b32 {$0, $1}, [$2];", "=f,=f,r,~{memory}" %arg0
  %raw:2 = ptx.tcgen05_load %address : f32, f32
  // CHECK: "tcgen05.wait::ld.sync.aligned;", "=f,=f,0,1,~{memory}"
  %x:2 = ptx.tcgen05_wait_load %raw#0, %raw#1 : f32, f32
  llvm.return
}

// -----

// CTAs of a cluster: a copy to all in a mask, an address in another, arrivals there and waits for
// them, with and without ordering of what threads did.
// CHECK-LABEL: @cluster
llvm.func @cluster(%map: !llvm.ptr, %x: i32, %ctas: i16) {
  // CHECK: "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [$0], [$1, {$4, $5}], [$2], $3;", "r,l,r,h,r,r,~{memory}"
  ptx.bulk_tensor_load_multicast %x, %map[%x, %x], %x to %ctas : !llvm.ptr
  // CHECK: "mapa.shared::cluster.u32 $0, $1, $2;", "=r,r,r,~{memory}"
  %there = ptx.map_shared %x, %x
  // CHECK: @p mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [$0];
  ptx.mbarrier_arrive_remote_if %there if %x
  // CHECK: @p mbarrier.arrive.release.cluster.shared::cluster.b64 _, [$0];
  ptx.mbarrier_arrive_remote_if %there if %x release
  // CHECK: mbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 p, [$0], $1;
  ptx.mbarrier_wait_cluster %x, %x
  // CHECK: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [$0], $1;
  ptx.mbarrier_wait_cluster %x, %x acquire
  llvm.return
}
