// Operations of all ranks: they print as they parse, and say what is wrong with them.
// RUN: heddle-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: heddle.kernel @gather
heddle.kernel @gather(%x: tensor<?x512xbf16>) -> tensor<?x?x512xbf16> {
  // CHECK: heddle.all_gather %x : tensor<?x512xbf16> to tensor<?x?x512xbf16>
  %0 = heddle.all_gather %x : tensor<?x512xbf16> to tensor<?x?x512xbf16>
  heddle.return %0 : tensor<?x?x512xbf16>
}
// CHECK-LABEL: heddle.kernel @swap
heddle.kernel @swap(%x: tensor<?x64xf8E4M3FN>) -> tensor<?x64xf8E4M3FN> {
  // CHECK: heddle.all_to_all %x : tensor<?x64xf8E4M3FN> to tensor<?x64xf8E4M3FN>
  %0 = heddle.all_to_all %x : tensor<?x64xf8E4M3FN> to tensor<?x64xf8E4M3FN>
  heddle.return %0 : tensor<?x64xf8E4M3FN>
}
// CHECK-LABEL: heddle.kernel @scatter
heddle.kernel @scatter(%x: tensor<?x?xbf16>) -> tensor<?xbf16> {
  // CHECK: heddle.reduce_scatter %x : tensor<?x?xbf16> to tensor<?xbf16>
  %0 = heddle.reduce_scatter %x : tensor<?x?xbf16> to tensor<?xbf16>
  heddle.return %0 : tensor<?xbf16>
}
// CHECK-LABEL: heddle.kernel @reduce
heddle.kernel @reduce(%x: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: heddle.all_reduce %x : tensor<?xf32> to tensor<?xf32>
  %0 = heddle.all_reduce %x : tensor<?xf32> to tensor<?xf32>
  heddle.return %0 : tensor<?xf32>
}
// CHECK-LABEL: heddle.kernel @spread
heddle.kernel @spread(%x: tensor<?xf16>) -> tensor<?xf16> {
  // CHECK: heddle.rank_broadcast %x root 1 : tensor<?xf16> to tensor<?xf16>
  %0 = heddle.rank_broadcast %x root 1 : tensor<?xf16> to tensor<?xf16>
  heddle.return %0 : tensor<?xf16>
}
// CHECK-LABEL: heddle.kernel @meet
heddle.kernel @meet() {
  // CHECK: heddle.barrier
  heddle.barrier
  heddle.return
}

// -----

heddle.kernel @rank(%x: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  // expected-error@+1 {{expected the result of rank 3, one more for the ranks, got 'tensor<?x512xbf16>'}}
  %0 = heddle.all_gather %x : tensor<?x512xbf16> to tensor<?x512xbf16>
  heddle.return %0 : tensor<?x512xbf16>
}

// -----

heddle.kernel @count(%x: tensor<?xbf16>) -> tensor<8x?xbf16> {
  // expected-error@+1 {{expected dimension 0 of the result, the number of ranks, to be ?, got 8}}
  %0 = heddle.all_gather %x : tensor<?xbf16> to tensor<8x?xbf16>
  heddle.return %0 : tensor<8x?xbf16>
}

// -----

heddle.kernel @parts(%x: tensor<64xbf16>) -> tensor<?x65xbf16> {
  // expected-error@+1 {{expected the result of parts like 'tensor<64xbf16>', got 'tensor<?x65xbf16>'}}
  %0 = heddle.all_gather %x : tensor<64xbf16> to tensor<?x65xbf16>
  heddle.return %0 : tensor<?x65xbf16>
}

// -----

heddle.kernel @sum(%x: tensor<?xf8E5M2>) -> tensor<?xf8E5M2> {
  // expected-error@+1 {{expected elements of f32, f16 or bf16 to sum, got 'f8E5M2'}}
  %0 = heddle.all_reduce %x : tensor<?xf8E5M2> to tensor<?xf8E5M2>
  heddle.return %0 : tensor<?xf8E5M2>
}

// -----

heddle.kernel @static(%x: tensor<4x64xbf16>) -> tensor<4x64xbf16> {
  // expected-error@+1 {{expected dimension 0, the number of ranks, to be ?, got 4}}
  %0 = heddle.all_to_all %x : tensor<4x64xbf16> to tensor<4x64xbf16>
  heddle.return %0 : tensor<4x64xbf16>
}

// -----

heddle.kernel @root(%x: tensor<?xf16>) -> tensor<?xf16> {
  // expected-error@+1 {{expected a root from 0 to 2147483647, got -1}}
  %0 = heddle.rank_broadcast %x root -1 : tensor<?xf16> to tensor<?xf16>
  heddle.return %0 : tensor<?xf16>
}

// -----

heddle.kernel @name(%x: tensor<?x?xf16> {heddle.dims = ["W", "M"]}) -> tensor<?xf16> {
  // expected-error@+1 {{expected dimension 0 of the parts to be named world, the number of ranks, got W}}
  %0 = heddle.reduce_scatter %x : tensor<?x?xf16> to tensor<?xf16>
  heddle.return %0 : tensor<?xf16>
}
