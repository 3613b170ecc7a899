// RUN: heddle-opt %s --lower-to-llvm --split-input-file --verify-diagnostics | FileCheck %s

// What no pass of ours makes, but people may write: it takes several tries until it is converted.
// CHECK-LABEL: llvm.func @transposed
llvm.func @transposed(%p: !llvm.ptr) {
  // CHECK-NOT: vector.
  // CHECK: llvm.store
  %v = arith.constant dense<1.0> : vector<4x4xf32>
  %t = vector.transpose %v, [1, 0] : vector<4x4xf32> to vector<4x4xf32>
  %row = vector.extract %t[1] : vector<4xf32> from vector<4x4xf32>
  llvm.store %row, %p : vector<4xf32>, !llvm.ptr
  llvm.return
}

// -----

// What cannot be converted is named where it stands.
llvm.func @parallel(%p: !llvm.ptr, %x: f32) {
  // expected-error@+1 {{failed to legalize operation 'scf.forall'}}
  scf.forall (%i) in (4) {
    llvm.store %x, %p : f32, !llvm.ptr
  }
  llvm.return
}
