// RUN: heddle-opt %s | heddle-opt | FileCheck %s

// The three lists of types stay apart when they are read back.
// CHECK-LABEL: @multiply
llvm.func @multiply(%c: f32, %a: i32) -> f32 {
  // CHECK: ptx.mma_sync "bf16" k 16({{.*}}) : (f32, f32, f32, f32), (i32, i32, i32, i32), (i32, i32) -> f32, f32, f32, f32
  %d:4 = ptx.mma_sync "bf16" k 16(%c, %c, %c, %c), (%a, %a, %a, %a), (%a, %a) : (f32, f32, f32, f32), (i32, i32, i32, i32), (i32, i32) -> f32, f32, f32, f32
  llvm.return %d#0 : f32
}
