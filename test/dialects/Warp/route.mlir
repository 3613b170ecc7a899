// RUN: heddle-opt %s --split-input-file --verify-diagnostics -o %t
// RUN: FileCheck %s < %t

// CHECK-LABEL: warp.kernel @all
warp.kernel @all(%s: memref<?x256xf32>, %b: memref<256xf32>, %i: memref<?x8xi32>, %w: memref<?x8xf32>) {
  %n = arith.constant 0 : index
  warp.stage @route warps 4 {
    // CHECK: warp.route %{{.*}}[%{{.*}}] bias %{{.*}} to %{{.*}}, %{{.*}} top 8 groups 8 keep 4 sigmoid normalise scale 2.500000e+00 : memref<?x256xf32>, memref<?x8xi32>, memref<?x8xf32>, memref<256xf32>
    warp.route %s[%n] bias %b to %i, %w top 8 groups 8 keep 4 sigmoid normalise scale 2.5 : memref<?x256xf32>, memref<?x8xi32>, memref<?x8xf32>, memref<256xf32>
  }
}

// -----
// CHECK-LABEL: warp.kernel @least
warp.kernel @least(%s: memref<?x5xbf16>, %i: memref<?x1xi32>, %w: memref<?x1xf32>) {
  %n = arith.constant 0 : index
  warp.stage @route warps 4 {
    // CHECK: warp.route %{{.*}}[%{{.*}}] to %{{.*}}, %{{.*}} top 1 : memref<?x5xbf16>, memref<?x1xi32>, memref<?x1xf32>
    warp.route %s[%n] to %i, %w top 1 : memref<?x5xbf16>, memref<?x1xi32>, memref<?x1xf32>
  }
}
