// RUN: heddle-opt %s --lower-to-llvm | FileCheck %s

// An index is 32 bits, in loops, comparisons and constants alike.
// CHECK-LABEL: @index_is_32_bit
llvm.func @index_is_32_bit(%n: i32) {
  // CHECK-DAG: %[[ZERO:.*]] = llvm.mlir.constant(0 : index) : i32
  // CHECK-DAG: %[[ONE:.*]] = llvm.mlir.constant(1 : index) : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = arith.index_cast %n : i32 to index
  // CHECK: ^[[HEAD:.*]](%[[I:.*]]: i32):
  // CHECK-NEXT: llvm.icmp "slt" %[[I]], %arg0 : i32
  scf.for %i = %c0 to %size step %c1 {
    // CHECK: ptx.mbarrier_arrive
    ptx.mbarrier_arrive %n
  }
  llvm.return
}

// Accumulators are carried through loops as one vector.
// CHECK-LABEL: @carried_vector
llvm.func @carried_vector(%n: i32, %x: f32) -> vector<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = arith.index_cast %n : i32 to index
  // CHECK: llvm.mlir.poison : vector<4xf32>
  %init = ub.poison : vector<4xf32>
  // CHECK: ^{{.*}}(%{{.*}}: i32, %[[ACC:.*]]: vector<4xf32>):
  %sum = scf.for %i = %c0 to %size step %c1 iter_args(%acc = %init) -> vector<4xf32> {
    // CHECK: llvm.insertelement %{{.*}}, %[[ACC]]
    %0 = vector.insert %x, %acc[1] : f32 into vector<4xf32>
    scf.yield %0 : vector<4xf32>
  }
  llvm.return %sum : vector<4xf32>
}

// What other passes lower stays.
// CHECK-LABEL: @others_stay
llvm.func @others_stay() {
  // CHECK: nvvm.barrier
  nvvm.barrier
  // CHECK: ptx.bulk_commit_group
  ptx.bulk_commit_group
  llvm.return
}

// What is said of a loop reaches its latch, where LLVM looks for it.
// CHECK-LABEL: llvm.func @annotated
llvm.func @annotated(%n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // CHECK: llvm.cond_br
  // CHECK: llvm.br {{.*}} {loop_annotation = #{{.*}}}
  scf.for %i = %zero to %n step %one : i32 {
    scf.yield
  } {llvm.loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>}
  llvm.return
}
