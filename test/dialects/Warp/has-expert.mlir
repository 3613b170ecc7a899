// RUN: heddle-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: warp.kernel @k
warp.kernel @k(%ids: memref<?x8xi32>) {
  %t = arith.constant 1 : i64
  warp.stage @s {
    // CHECK: warp.has_expert %{{.*}}[%{{.*}}] of %{{.*}} experts 32 : memref<?x8xi32>
    %0 = warp.has_expert %ids[%t] of %t experts 32 : memref<?x8xi32>
  }
}

// CHECK-LABEL: warp.kernel @lists
warp.kernel @lists(%ids: memref<?x?x8xi32>, %offsets: memref<33xi32>, %list: memref<?x?x8xi32>) {
  %r = arith.constant 1 : i64
  %e = arith.constant 1 : index
  warp.stage @s warps 4 {
    // CHECK: warp.list_experts %{{.*}} of %{{.*}} expert %{{.*}} to %{{.*}}, %{{.*}} experts 32 : memref<?x?x8xi32>, memref<33xi32>, memref<?x?x8xi32>
    warp.list_experts %ids of %r expert %e to %offsets, %list experts 32 : memref<?x?x8xi32>, memref<33xi32>, memref<?x?x8xi32>
  }
}

// -----
warp.kernel @k(%ids: memref<?x?x8xi32>, %offsets: memref<32xi32>, %list: memref<?x?x8xi32>) {
  %r = arith.constant 1 : i64
  %e = arith.constant 1 : index
  warp.stage @s warps 4 {
    // expected-error@+1 {{expected 33 offsets, got 'memref<32xi32>'}}
    warp.list_experts %ids of %r expert %e to %offsets, %list experts 32 : memref<?x?x8xi32>, memref<32xi32>, memref<?x?x8xi32>
  }
}

// -----
warp.kernel @k(%ids: memref<?x?x8xf32>, %offsets: memref<33xi32>, %list: memref<?x?x8xi32>) {
  %r = arith.constant 1 : i64
  %e = arith.constant 1 : index
  warp.stage @s warps 4 {
    // expected-error@+1 {{expected ids of i32, contiguous, got 'memref<?x?x8xf32>'}}
    warp.list_experts %ids of %r expert %e to %offsets, %list experts 32 : memref<?x?x8xf32>, memref<33xi32>, memref<?x?x8xi32>
  }
}

// -----
warp.kernel @k(%ids: memref<?x?xi32>) {
  %t = arith.constant 1 : i64
  warp.stage @s {
    // expected-error@+1 {{expected ids of i32, contiguous, with their number a token known, got 'memref<?x?xi32>'}}
    %0 = warp.has_expert %ids[%t] of %t experts 32 : memref<?x?xi32>
  }
}

// -----
warp.kernel @k(%ids: memref<?x8xi32>) {
  %t = arith.constant 1 : i64
  warp.stage @s {
    // expected-error@+1 {{expected at least 1 expert, got 0}}
    %0 = warp.has_expert %ids[%t] of %t experts 0 : memref<?x8xi32>
  }
}
