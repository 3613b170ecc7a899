// RUN: heddle-opt %s --split-input-file --verify-diagnostics | heddle-opt --split-input-file | FileCheck %s

// One result a column; the wait passes on what was loaded.
// CHECK-LABEL: @load
// CHECK-SAME: %[[ADDRESS:[a-z0-9]+]]: i32
llvm.func @load(%address: i32) {
  // CHECK: %[[RAW:.*]]:2 = ptx.tcgen05_load %[[ADDRESS]] : f32, f32
  %raw:2 = ptx.tcgen05_load %address : f32, f32
  // CHECK: ptx.tcgen05_wait_load %[[RAW]]#0, %[[RAW]]#1 : f32, f32
  %x:2 = ptx.tcgen05_wait_load %raw#0, %raw#1 : f32, f32
  llvm.return
}

// -----

llvm.func @three_columns(%address: i32) {
  // expected-error @below {{expected a power of two of columns, at most 128, got 3}}
  %x:3 = ptx.tcgen05_load %address : f32, f32, f32
  llvm.return
}

// -----

// A wait that ties nothing would order nothing.
llvm.func @nothing_loaded() {
  // expected-error @below {{expected the values that were loaded}}
  "ptx.tcgen05_wait_load"() : () -> ()
  llvm.return
}
