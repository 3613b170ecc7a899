// RUN: heddle-opt %s --split-input-file --verify-diagnostics

warp.kernel @c0(%s: memref<?x?xf32>, %i: memref<?x8xi32>, %w: memref<?x8xf32>) {
  %n = arith.constant 0 : index
  warp.stage @route warps 4 {
    // expected-error@+1 {{expected scores of tokens x experts with the number of experts known, got 'memref<?x?xf32>'}}
    warp.route %s[%n] to %i, %w top 8 : memref<?x?xf32>, memref<?x8xi32>, memref<?x8xf32>
  }
}

// -----

warp.kernel @c1(%s: memref<?x64xf16>, %i: memref<?x8xi32>, %w: memref<?x8xf32>) {
  %n = arith.constant 0 : index
  warp.stage @route warps 4 {
    // expected-error@+1 {{expected scores of f32 or bf16, got 'f16'}}
    warp.route %s[%n] to %i, %w top 8 : memref<?x64xf16>, memref<?x8xi32>, memref<?x8xf32>
  }
}

// -----

warp.kernel @c2(%s: memref<?x64xf32>, %i: memref<?x33xi32>, %w: memref<?x33xf32>) {
  %n = arith.constant 0 : index
  warp.stage @route warps 4 {
    // expected-error@+1 {{expected top to be from 1 to 32, got 33}}
    warp.route %s[%n] to %i, %w top 33 : memref<?x64xf32>, memref<?x33xi32>, memref<?x33xf32>
  }
}

// -----

warp.kernel @c3(%s: memref<?x64xf32>, %i: memref<?x8xi32>, %w: memref<?x8xf32>) {
  %n = arith.constant 0 : index
  warp.stage @route warps 4 {
    // expected-error@+1 {{expected groups to be from 1 to 32 and to divide the 64 experts, got 7}}
    warp.route %s[%n] to %i, %w top 8 groups 7 keep 4 : memref<?x64xf32>, memref<?x8xi32>, memref<?x8xf32>
  }
}

// -----

warp.kernel @c4(%s: memref<?x64xf32>, %i: memref<?x9xi32>, %w: memref<?x9xf32>) {
  %n = arith.constant 0 : index
  warp.stage @route warps 4 {
    // expected-error@+1 {{expected keep to be from 1 to the 8 groups and to leave at least top 9 experts, got 1}}
    warp.route %s[%n] to %i, %w top 9 groups 8 keep 1 : memref<?x64xf32>, memref<?x9xi32>, memref<?x9xf32>
  }
}

// -----

warp.kernel @c5(%s: memref<?x64xf32>, %b: memref<64xbf16>, %i: memref<?x8xi32>, %w: memref<?x8xf32>) {
  %n = arith.constant 0 : index
  warp.stage @route warps 4 {
    // expected-error@+1 {{expected a bias in f32 for each of the 64 experts, got 'memref<64xbf16>'}}
    warp.route %s[%n] bias %b to %i, %w top 8 : memref<?x64xf32>, memref<?x8xi32>, memref<?x8xf32>, memref<64xbf16>
  }
}

// -----

warp.kernel @c6(%s: memref<?x64xf32>, %i: memref<?x4xi32>, %w: memref<?x8xf32>) {
  %n = arith.constant 0 : index
  warp.stage @route warps 4 {
    // expected-error@+1 {{expected ids of tokens x 8, got 'memref<?x4xi32>'}}
    warp.route %s[%n] to %i, %w top 8 : memref<?x64xf32>, memref<?x4xi32>, memref<?x8xf32>
  }
}

// -----

warp.kernel @c7(%s: memref<?x64xf32>, %i: memref<?x8xf32>, %w: memref<?x8xf32>) {
  %n = arith.constant 0 : index
  warp.stage @route warps 4 {
    // expected-error@+1 {{expected ids of i32 and weights of f32, got 'f32' and 'f32'}}
    warp.route %s[%n] to %i, %w top 8 : memref<?x64xf32>, memref<?x8xf32>, memref<?x8xf32>
  }
}
